"""Keys that are switched off, or of another kind, while something is encrypted with them; aliases of another key.

Source: AWS KMS developer guide, "Enable and disable keys", and "How unusable KMS keys affect data keys" (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.read import known_texts
from trainyard.recorded.types import KEY, KEY_ALIAS
from trainyard.rehearsal.context import Stack, View, show

_OWN: Final = ("aws:kms/", "aws:iam/", "pulumi:")


def check(stack: Stack) -> None:
    """Every key that is disabled and named by what encrypts with it, and every alias of another key than it says."""
    _aliases(stack)
    for key in stack.of_type(KEY):
        off = key.flag("isEnabled") is False
        if not off and not _is_asymmetric(key):
            continue
        names = {str(key.resource.outputs.get("arn")), str(key.resource.id)} - {"None", ""}
        users = [
            resource.name
            for resource in stack.resources.all
            if not resource.type.startswith(_OWN)
            and any(text in names for path, text in known_texts(dict(resource.inputs)) if "olicy" not in path)
        ]
        if not off:
            users = _encrypting(stack, names)
        if users and not off:
            at = "keyUsage" if key.text("keyUsage") not in (None, _ENCRYPTS) else "customerMasterKeySpec"
            key.error(
                "programs-key-kind", at,
                f"is {show(key.text(at))}, and {users[0]}{f' and {len(users) - 1} more' if len(users) > 1 else ''} "
                "encrypt with the key: services of AWS do so with symmetric ones alone",
                allowed=_ENCRYPTS if at == "keyUsage" else _SYMMETRIC,
            )  # fmt: skip
        elif users:
            key.error(
                "programs-key-disabled",
                "isEnabled",
                f"is false, and {users[0]}{f' and {len(users) - 1} more' if len(users) > 1 else ''} need the key: "
                "what is encrypted with it is neither read nor written",
                allowed="true",
            )


def _encrypting(stack: Stack, names: set[str]) -> list[str]:
    """What services of AWS encrypt with a key: others may name one for signing, as Route 53 does for its zones, and
    a program's variables may be for anything."""
    return [
        resource.name
        for resource in stack.resources.all
        if resource.type.startswith("aws:")
        and not resource.type.startswith((*_OWN, "aws:route53/"))
        and any(
            text in names and _OF_ENCRYPTION.search(path) and ".variables." not in path
            for path, text in known_texts(dict(resource.inputs))
        )
    ]


_OF_ENCRYPTION: Final = re.compile(r"(?i)(kms_?(master_?)?key(_?(id|arn))?|key_?arn)$")


def _is_asymmetric(key: View) -> bool:
    """Whether services of AWS cannot encrypt with a key (KMS developer guide, "Asymmetric keys in AWS KMS")."""
    return key.text("keyUsage") not in (None, _ENCRYPTS) or key.text("customerMasterKeySpec") not in (None, _SYMMETRIC)


_ENCRYPTS: Final = "ENCRYPT_DECRYPT"
_SYMMETRIC: Final = "SYMMETRIC_DEFAULT"


def _aliases(stack: Stack) -> None:
    """An alias that another key of the stack says to be its own, by its description or its tag Name."""
    keys = stack.of_type(KEY)
    for alias in stack.of_type(KEY_ALIAS):
        name, target = alias.text("name"), alias.referred("targetKeyId", KEY)
        if name is None or target is None:
            continue
        word = name.removeprefix("alias/")
        said = [
            key
            for key in keys
            if re.search(rf"{re.escape(name)}(?![\w/-])", key.text("description") or "")
            or key.mapping("tags").get("Name") == word
        ]
        if said and target not in said:
            alias.warning(
                "programs-key-alias", "targetKeyId",
                f"{show(name)} leads to key {target.name}, and key {said[0].name} says that it is its own: who goes by "
                "the name uses the other key", allowed=f"key {said[0].name}",
            )  # fmt: skip
