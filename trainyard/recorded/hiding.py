"""Keeps secret inputs out of sentences: a reader takes their marks off, and a message may quote what was read.

The name of a user beside a password is no secret, and is marked as one all the same: the SDK marks the `stringData` of
a Kubernetes Secret as a whole. Hidden, it would blank every `admin` in whatever is told of the stack. So it is left
where nothing but such a mark makes it secret: its key says that it is a user, and it is a word. What was marked by
itself stays hidden, however short, as does a word that is a password somewhere too. A secret of a stack file is none of
these: only the engine can decrypt it, and a rehearsal has something else in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from trainyard.recorded.model import SECRET_TEXT, RecordedResource, Secret
from trainyard.recorded.read import follow

_SHORTEST: Final = 3
"""Characters of a text that is looked for at all. A shorter one is found in words that have nothing to do with it."""

_USER: Final = re.compile(r"(?i).*user([._-]?name)?")
"""Keys of who logs in: `user`, `username`, `POSTGRES_USER`, `admin-user`."""
_WORD: Final = re.compile(r"(?=.{1,20}\Z)[a-z]+([._-][a-z]+)*\d{0,3}")
"""What is called so and no key or token that stands where a user does, as some services want it."""


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


def _secret_texts(value: Any) -> Iterator[str]:
    """The texts of a value that are secret by a mark of their own, or within something marked that is no user."""
    left: list[tuple[str, Any, bool]] = [("", value, False)]
    while left:
        key, item, within = left.pop()
        if isinstance(item, Secret):
            if isinstance(item.value, str):
                yield item.value
            else:
                left.append((key, item.value, True))
        elif isinstance(item, Mapping):
            left += [(str(inner), each, within) for inner, each in item.items()]
        elif isinstance(item, (list, tuple)):
            left += [(key, each, within) for each in item]
        elif within and isinstance(item, str) and not (_USER.fullmatch(key) and _WORD.fullmatch(item)):
            yield item


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
            for text in _secret_texts(resource.inputs)
            if len(text) >= _SHORTEST and text not in shown
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
