"""The words by which one client differs from another that is alike, as far as nothing depends on their letters.

A word is a run of ASCII letters and digits. What is renamed is words, never parts of them: whatever compares, splits or
joins texts at other characters does the same to both clients.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from trainyard.rehearsal.shape.lexicon import Lexicon

SHORTEST: Final = 3
"""Letters of the shortest word that is renamed: shorter ones stand everywhere by chance."""
_LITERAL_WITHIN: Final = 4
"""Letters of the shortest word of the rules that is looked for within a name; one of three, at its ends only."""

SETTINGS: Final = (
    *("client", "environment", "owner", "costCentre", "alertEmails", "teamEmails"),
    *("aws.accountId", "aws.profile", "gcp.project", "gcp.projectNumber", "gcp.billingAccount"),
)
"""Settings that say who a client is."""

_LONG_NUMBER: Final = 6
"""Digits of the shortest number that is renamed, such as an account's: shorter ones are ports, sizes and years too."""
_NUMBERED: Final = re.compile(r"[A-Za-z]+[-_][0-9]{3,}")
"""Such as a cost centre, `ml-1200`."""
_WORD: Final = re.compile(r"[0-9A-Za-z]+")
_LETTERS: Final = string.ascii_lowercase + string.digits
_NUMBER: Final = re.compile(r"\d+")
_CHANCE: Final = re.compile(rb"(?=.*\d)(?=.*[a-f])[0-9a-f]+")
"""Digits of a digest or an id: nobody means another word by them."""
_BOOLEANS: Final = frozenset({b"yes", b"off", b"true", b"false", b"null", b"none", b"nan", b"inf"})
"""What a reader of YAML takes for something else than a text."""


def identity_texts(stack: str, settings: Mapping[str, Any]) -> list[str]:
    """What names a client: its stack and the settings that say who it is, in a fixed order."""
    found = [stack]
    for key in SETTINGS:
        value: Any = settings
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        found += [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    return found


_OF_AN_IDENTITY: Final = re.compile(
    rf"""^(\s+)["']?(?:[\w-]+:)?(?:{"|".join({key.rpartition(".")[2] for key in SETTINGS})})["']?:.*(?:\n\1\s*-.*)*$""",
    re.MULTILINE,
)


def likeness(stack: str, text: str) -> str:
    """What a stack's file says besides who the client is, as far as that is seen without reading it: files that have it
    in common are probably of one shape."""
    found = _OF_AN_IDENTITY.sub("", text)
    return re.sub(rf"\b{re.escape(stack)}\b", "", found)


def renameable(texts: Iterable[str], lexicon: Lexicon) -> tuple[str, ...]:
    """The words of these texts that may be any other of their form, each once, in their order.

    None of them is a word of the rules, holds one, or is a slip of the pen from one; none is another's part or slip.
    """
    found = [word for word in dict.fromkeys(_words(texts)) if _is_free(word, lexicon)]
    folded = [word.lower() for word in found]
    return tuple(
        word
        for word, small in zip(found, folded, strict=True)
        if not any(
            other is not word and (small in folded_other or folded_other in small or folded_other in slips(small))
            for other, folded_other in zip(found, folded, strict=True)
        )
    )


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if _NUMBERED.fullmatch(text):
            yield text
        elif text.isascii():
            yield from _WORD.findall(text)


def _is_free(word: str, lexicon: Lexicon) -> bool:
    small = word.lower().encode()
    if _NUMBERED.fullmatch(word):
        return True  # what is renamed is the number, where it stands behind the same letters
    if len(small) < SHORTEST or lexicon.knows(small) or small in _BOOLEANS:
        return False
    if small.isdigit():
        return len(small) >= _LONG_NUMBER
    for start in range(len(small)):
        for end in range(start + SHORTEST, len(small) + 1):
            at_an_end = start == 0 or end == len(small)
            if (at_an_end or end - start >= _LITERAL_WITHIN) and small[start:end] in lexicon.within:
                return False
    return lexicon.within.isdisjoint(slip.encode() for slip in slips(word.lower()))


def slips(word: str) -> frozenset[str]:
    """What a slip of the pen makes of a word: a letter left out, put in or changed, or two turned round.

    Names that are nearly one another are what some rules ask for (`trainyard.rehearsal.near`). Another number is no
    slip, as there: numbered things are things of their own; nor is a number of a name.
    """
    if _NUMBERED.fullmatch(word):
        return frozenset()
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {
        *(left + right[1:] for left, right in parts if right),
        *(left + right[1] + right[0] + right[2:] for left, right in parts if len(right) > 1),
        *(left + letter + right[1:] for left, right in parts if right for letter in _LETTERS),
        *(left + letter + right for left, right in parts for letter in _LETTERS),
    }
    unnumbered = _NUMBER.sub("#", word)
    return frozenset(slip for slip in found if not slip.isdigit() and _NUMBER.sub("#", slip) != unnumbered)


def form(word: str) -> str:
    """What a rule may see of a word without asking which it is: its length, and of each character whether it is a
    small letter, a capital or a digit; whether it might be a hexadecimal number; of a number, whether it begins with 0.
    """
    if _NUMBERED.fullmatch(word):
        return re.sub(r"[1-9]", "9", word)
    kinds = "".join("9" if each.isdigit() else "A" if each.isupper() else "a" for each in word)
    hexadecimal = all(each in string.hexdigits for each in word)
    return kinds + ("x" if hexadecimal else "") + ("0" if word.isdigit() and word[0] == "0" else "")


def forms(words: Sequence[str]) -> str:
    """The forms of several words, and how they are ordered among each other."""
    return json.dumps([list(map(form, words)), [sorted(words).index(word) for word in words]])


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What is asked of a text for any word: it is the same for all stacks of one shape, and takes long to find."""

    words: bytes  # in small letters, with a space at both sides of each
    patterns: frozenset[str]

    @classmethod
    def of(cls, text: bytes) -> Vocabulary:
        """The words and the patterns of a text, as `content.written` writes it."""
        told = set(text.translate(_WORDS_AND_STARS).split())
        told.update(found.lower() for found in _BEHIND_A_LENGTH.findall(text))
        told = {each for each in told if len(each) >= SHORTEST and not _CHANCE.fullmatch(each)}
        patterns = {each.decode() for each in told if b"*" in each or b"?" in each}
        return cls(_joined(told), frozenset(each for each in patterns if each.strip("*?")))

    def without(self, other: Vocabulary) -> Vocabulary:
        """What another does not say."""
        told = set(self.words.split()).difference(other.words.split())
        return Vocabulary(_joined(told), self.patterns - other.patterns)


def _joined(words: Set[bytes]) -> bytes:
    return b" %b " % b" ".join(words)


def far_from(said: Vocabulary, words: Iterable[str]) -> bool:
    """Whether nothing in what is left of a stack's normal form is nearly one of the words that were taken out of it,
    begins or ends as one does, or is a pattern that would mean one: by that one client's word might be told from
    another's."""
    told = set(said.words.split())
    return not any(_is_near(word.lower(), told, said) for word in words)


def says_nothing_of(told: Any, words: Iterable[str]) -> bool:
    """Whether what somebody wrote for all clients, such as a configuration, means none by one of these words; a pattern
    in it may mean any."""
    text = repr(told).lower()
    if _PATTERN.search(text):
        return False
    names = list(words)
    meant = (part for name in names for part in (name.lower(), *_ends(name.lower())))
    return not any(part in text for part in meant) and far_from(Vocabulary.of(text.encode(errors="replace")), names)


def _is_near(word: str, told: Set[bytes], said: Vocabulary) -> bool:
    whole = word.encode()
    return (
        b" %b" % whole in said.words  # it begins or ends another
        or b"%b " % whole in said.words
        or not told.isdisjoint(end.encode() for end in _ends(word))
        or not told.isdisjoint(slip.encode() for slip in slips(word))
        or any(fnmatchcase(word, pattern) for pattern in said.patterns)
    )


def _ends(word: str) -> Iterator[str]:
    """Its beginnings and endings, which rules may ask for. Short numbers are none: nobody means a name by them."""
    for length in range(SHORTEST, len(word)):
        yield from (end for end in (word[:length], word[-length:]) if not end.isdigit() or length >= _LONG_NUMBER)


_PATTERN: Final = re.compile(r"[*?^$|+\\]")
_BEHIND_A_LENGTH: Final = re.compile(rb"\x8c[0-9A-Za-z]([0-9A-Za-z*?]+)")
"""The first word of a text whose length, a byte in front of it, looks like a letter (`renaming.py`)."""
_WORDS_AND_STARS: Final = bytes(
    code if chr(code) in "*?" else ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ")
    for code in range(256)
)
