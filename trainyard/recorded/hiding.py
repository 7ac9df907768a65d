"""Keeps secret inputs out of sentences: a reader takes their marks off, and a message may quote what was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from trainyard.recorded.model import SECRET_TEXT, RecordedResource, has_secret, leaves

_SHORTEST: Final = 3
"""Characters of a text that is looked for at all. A shorter one is found in words that have nothing to do with it."""


def secrets_hidden(resources: Iterable[RecordedResource]) -> Callable[[str], str]:
    """A function that puts `[secret]` wherever a secret text of one of these resources stands in a sentence.

    It stands there where no letter or digit goes on with it: `postgres` of `rds.postgres.db.t4g.large`, and not of
    `postgresql`.
    """
    found = {
        text
        for resource in resources
        if has_secret(resource.inputs)
        for _, text, secret in leaves(resource.inputs)
        if secret and isinstance(text, str) and len(text) >= _SHORTEST
    }
    if not found:
        return lambda sentence: sentence
    either = "|".join(re.escape(text) for text in sorted(found, key=len, reverse=True))
    pattern = re.compile(f"(?<![A-Za-z0-9])(?:{either})(?![A-Za-z0-9])")
    return lambda sentence: pattern.sub(SECRET_TEXT, sentence)
