"""Keys that are switched off while something is encrypted with them.

Source: AWS KMS developer guide, "Enable and disable keys", and "How unusable KMS keys affect data keys" (2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import Stack

_KEY: Final = "aws:kms/key:Key"
_OWN: Final = ("aws:kms/", "aws:iam/", "pulumi:")


def check(stack: Stack) -> None:
    """Every key that is disabled and named by what encrypts with it."""
    for key in stack.of_type(_KEY):
        if key.flag("isEnabled") is not False:
            continue
        names = {str(key.resource.outputs.get("arn")), str(key.resource.id)} - {"None", ""}
        users = [
            resource.name
            for resource in stack.resources.all
            if not resource.type.startswith(_OWN)
            and any(text in names for path, text in known_texts(dict(resource.inputs)) if "olicy" not in path)
        ]
        if users:
            key.error(
                "programs-key-disabled",
                "isEnabled",
                f"is false, and {users[0]}{f' and {len(users) - 1} more' if len(users) > 1 else ''} need the key: "
                "what is encrypted with it is neither read nor written",
                allowed="true",
            )
