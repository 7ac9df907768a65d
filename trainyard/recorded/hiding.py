"""Keeps secret inputs out of sentences: a reader takes their marks off, and a message may quote what was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final

from trainyard.recorded.model import SECRET_TEXT, RecordedResource, leaves
from trainyard.recorded.read import follow

_SHORTEST: Final = 3
"""Characters of a text that is looked for at all. A shorter one is found in words that have nothing to do with it."""


def names_shown(resources: Iterable[RecordedResource]) -> frozenset[str]:
    """The names by which resources and their teams are called, which stand in everything that is told of them.

    A login may be called as the team that it is for, and is part of a secret.
    """
    found: set[str] = set()
    for resource in resources:
        labels = follow(resource.inputs, "metadata", "labels")
        named = [follow(resource.inputs, "metadata", key) for key in ("name", "namespace")]
        named += labels.values() if isinstance(labels, Mapping) else ()
        found.update(name for name in (resource.name, *named) if isinstance(name, str))
    return frozenset(found)


def secrets_hidden(resources: Iterable[RecordedResource], shown: frozenset[str] = frozenset()) -> Callable[[str], str]:
    """A function that puts `[secret]` wherever a secret text of one of these resources stands in a sentence.

    Those that are `shown` as names anyway stay.

    It stands there where no letter or digit goes on with it: `postgres` of `rds.postgres.db.t4g.large`, and not of
    `postgresql`.
    """
    looked_at = tuple(resources)

    @cache  # most stacks have nothing to say, and then nothing is looked for
    def secrets() -> frozenset[str]:
        return frozenset(
            text
            for resource in looked_at
            if resource.has_secrets
            for _, text, secret in leaves(resource.inputs)
            if secret and isinstance(text, str) and len(text) >= _SHORTEST and text not in shown
        )

    @cache  # nor is a pattern made of them before one stands in a sentence
    def pattern() -> re.Pattern[str]:
        either = "|".join(re.escape(text) for text in sorted(secrets(), key=len, reverse=True))
        return re.compile(f"(?<![A-Za-z0-9])(?:{either})(?![A-Za-z0-9])")

    def hidden(sentence: str) -> str:
        if not any(text in sentence for text in secrets()):
            return sentence
        return pattern().sub(SECRET_TEXT, sentence)

    return hidden
