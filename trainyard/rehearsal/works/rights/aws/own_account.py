"""The account that a stack goes to, where nothing says which: its ARNs are synthesised, and those that it writes itself
are of the real one.

A program that names account 111122223333 in a condition, and whose provider names none, most likely goes there. It may
as well mean another company's. So what is refused has to be refused whichever of the named accounts is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.recorded.model import RecordedResource, Secret
from trainyard.recorded.read import is_set, known_texts
from trainyard.recorded.types import AWS_PROVIDER
from trainyard.rehearsal.context import Stack

_NUMBER: Final = re.compile(r"(?<![0-9A-Za-z])[0-9]{12}(?![0-9A-Za-z])")


def accounts_it_may_be(stack: Stack, synthesised: str) -> list[str]:
    """The accounts that a stack names besides the synthesised one; none where it is known which is its own.

    It is where a provider says so, and where the program asked for it (`getCallerIdentity`): then the synthesised
    number stands by itself or as the account's root, and no output of a resource looks like that.
    """
    if any(is_set(found.inputs, "allowedAccountIds") for found in stack.providers.of(AWS_PROVIDER)):
        return []
    of_aws = (found for found in stack.resources.all if found.package == "aws")
    texts = [text for found in of_aws for _, text in known_texts(found.inputs)]
    asked = re.compile(rf"(^|\"){synthesised}(\"|$)|:{synthesised}:root")
    if any(map(asked.search, texts)):
        return []
    return sorted({number for text in texts for number in _NUMBER.findall(text)} - {synthesised})


def in_account(resources: Iterable[RecordedResource], synthesised: str, account: str) -> list[RecordedResource]:
    """The resources as they would be in another account than the synthesised one."""
    return [
        replace(
            found,
            inputs=_renamed(found.inputs, synthesised, account),
            outputs=_renamed(found.outputs, synthesised, account),
            id=_renamed(found.id, synthesised, account),
        )
        for found in resources
    ]


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new) if old in value else value
    if isinstance(value, Secret):
        return Secret(_renamed(value.value, old, new))
    if isinstance(value, Mapping):
        return {key: _renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_renamed(item, old, new) for item in value]
    return value
