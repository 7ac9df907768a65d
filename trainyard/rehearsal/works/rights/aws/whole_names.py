"""Statements that name a thing by a part of its ARN: what is compared is the whole of it.

Source: AWS Secrets Manager User Guide, "Secrets Manager secret ARNs in IAM policies": six random characters end the
ARN, and a policy that leaves them out matches none; a call may leave them out (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.policy_documents import statements, texts_of, title_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import IAM_POLICY, ROLE_POLICY, SECRETS_MANAGER_SECRET
from trainyard.rehearsal.context import Stack, show
from trainyard.rehearsal.works.rights.aws.patterns import names_resource
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_SECRET: Final = re.compile(r"arn:[\w-]+:secretsmanager:[^:]*:[^:]*:secret:(?P<name>[\w/+=.@!-]+)")


def check(stack: Stack) -> None:
    """Every statement about a secret of the stack."""
    secrets = {view.text("name"): view for view in stack.of_type(SECRETS_MANAGER_SECRET) if not view.resource.read}
    for type_ in (ROLE_POLICY, IAM_POLICY) if secrets else ():
        for view in stack.of_type(type_):
            try:
                found = statements(view.resource.inputs, "policy")
            except UnreadableInput:
                continue
            for index, one in enumerate(found):
                named = [_SECRET.fullmatch(text) for text in texts_of(one.get("Resource"))]
                for secret in (secrets.get(match["name"]) for match in named if match is not None):
                    if secret is None or one.get("Effect") != "Allow":
                        continue
                    if any(names_resource(text, arn_of(secret.resource), {}) for text in texts_of(one.get("Resource"))):
                        continue
                    view.error(
                        "rights-statement-nothing", f"policy.Statement[{index}]",
                        f"{title_of(one, index)} names secret {show(secret.text('name'))} without the end of its ARN: "
                        "it is about no secret", allowed="the secret's ARN, or its name with -?????? behind it",
                    )  # fmt: skip
