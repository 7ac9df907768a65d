"""What an action of a budget needs: its role attaches one policy to each of those that it is to hold.

Source: AWS Cost Management User Guide, "Configuring a budget action" (role for IAM policies); Service Authorization
Reference, "Condition keys for AWS IAM" (`iam:PolicyARN`), 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import BUDGET_ACTION
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_BASE: Final = "definition.iamActionDefinition"


def needs(places: Places) -> Iterator[Need]:
    """What every action that attaches a policy to recorded roles has to be allowed."""
    for view in places.stack.of_type(BUDGET_ACTION):
        taken = places.role(view.text("executionRoleArn") or "")
        policy = view.text(f"{_BASE}.policyArn")
        if taken is None or policy is None:
            continue
        own, caller = taken
        held = [
            (path, role) for path, name in places.named(view, f"{_BASE}.roles[]") if (role := places.account.role(name))
        ]
        for path, role in held:
            if arn := arn_of(role):
                by = f"action {view.name}, with role {own.name},"
                purpose = f"hold role {role.name} when the money is spent"
                deeds = (Deed("iam:AttachRolePolicy", arn, {"iam:PolicyARN": policy}),)
                yield Need(view, path, "rights-role-lacks", (caller,), by, purpose, deeds)
