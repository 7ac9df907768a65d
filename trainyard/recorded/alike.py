"""What was worked out of a value before, for the next value that is equal: clients of one release have most in common.

A key is a digest of all that an answer depends on, never an identity: nothing of a stack lives on in a key, and what is
equal is found again in the next stack that a process judges. Of what holds a mark (`UNKNOWN`, `Secret`), or anything
else than plain data, there is no key, and nothing is remembered: a secret stays with its stack.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, Generic, TypeVar

Answer = TypeVar("Answer")

_PLAIN_FORMAT: Final = 2
"""The last format of `marshal` that writes equal values alike, whatever is shared in them or interned (its
documentation): it tells 1 from 1.0 and from True, and keeps the order of a mapping, since messages follow it. Each text
stands in it in UTF-8, and each tuple begins with `(`, as no mapping and no list does (CPython 3.11, Python/marshal.c).
"""


def written(value: Any) -> bytes | None:
    """A plain value as `marshal` writes it; None where it holds, at any depth, a mark or something that is no plain
    data. A tenth of the time of a walk through it."""
    try:
        return marshal.dumps(value, _PLAIN_FORMAT)
    except ValueError:
        return None


def content(*values: Any) -> bytes | None:
    """A digest of plain values; None where one of them holds a mark or something that is no plain data."""
    found = written(values)
    return None if found is None else digest(found)


def digest(text: bytes) -> bytes:
    """What stands for a text, for whoever holds none of it."""
    return hashlib.sha256(text).digest()


class Memo(Generic[Answer]):
    """Answers by the content of what was asked: `most` of them, then it begins anew.

    An answer is handed to whoever asks, so it has to be one that nobody changes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: dict[bytes, Answer] = {}

    def of(self, key: bytes | None, work: Callable[[], Answer]) -> Answer:
        """The answer to what has this key; worked out where nobody asked before, or there is no key."""
        if key is None:
            return work()
        if key in self._answers:
            return self._answers[key]
        answer = work()
        if len(self._answers) >= self._most:
            self._answers = {}
        self._answers[key] = answer
        return answer


class SoundGiven:
    """What a check found nothing wrong with, by content and by what it was answered when it asked about other things.

    It asks the same again of the same content as long as it is answered the same, and then finds nothing again: what is
    kept is every question with its answer.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: dict[bytes, tuple[tuple[Hashable, Any], ...]] = {}

    def holds(self, key: bytes, ask: Callable[[Any], Any]) -> bool:
        """Whether nothing was found with this content, and `ask` answers each question as it was answered then."""
        found = self._answers.get(key)
        return found is not None and all(ask(question) == answer for question, answer in found)

    def add(self, key: bytes, answers: Mapping[Hashable, Any]) -> None:
        """Remembers one; where there are many it begins anew."""
        if len(self._answers) >= self._most:
            self._answers = {}
        self._answers[key] = tuple(answers.items())


class Sound:
    """What a check found nothing wrong with, by content: as `Memo`, for a check that only notes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys: set[bytes] = set()

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def add(self, key: bytes) -> None:
        """Remembers one; where there are many it begins anew."""
        if len(self._keys) >= self._most:
            self._keys = set()
        self._keys.add(key)
