"""A stack's normal form: what was recorded, with a number in place of each word that is the client's own.

Of the normal form and the words what was recorded can be written again, so two stacks with one normal form are one
another, renamed: every place of a word is in it, and all that stands between the places.
"""

from __future__ import annotations

import hashlib
import re
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

_FEWEST_DIGITS: Final = 6
"""The fewest digits that a text shows of a digest."""
_SHORT_TEXT: Final = 0x8C
"""`SHORT_BINUNICODE` of Python's pickle: a byte with the length follows, then the text."""
_ALPHANUMERIC: Final = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_LETTER_FOLLOWS: Final = rb"(?![0-9A-Za-z\xc2-\xf4])"
"""No letter, nor the first byte of a character beyond ASCII, which might be one."""
_IN_A_UUID: Final = 32
_HEX: Final = re.compile(r"[0-9a-f]{6,}")
_RANDOM_AT_LEAST: Final = 32
"""Characters of what may be taken for a random key (`policies/secret_shapes.py`), which goes by its very letters."""
_TURNS_PERCENT: Final = 45
_TURNS_OF_SMALL_PERCENT: Final = 25
"""The fewest changes of kind in a hundred characters of such a text, with capitals and without."""
_WITHIN_A_TEXT: Final = frozenset(b".:@*$%~#&")
"""What no key has beside it: it is a text of its own, or a value in quotes."""
_IN_A_KEY: Final = frozenset(_ALPHANUMERIC | frozenset(b"+/_=-"))

Place = tuple[int, int, bytes]
"""Where a word begins and ends, and what stands for it."""


class AmbiguousError(Exception):
    """Two digests that cannot be told apart by the digits that are shown of them."""


class Renaming:
    """What stands for each word of a client's own, and for each digest that was made of such words.

    Args:
        words: the client's own, each once.
        derived: texts that were made of others by a digest, in the order in which they were made.
    """

    def __init__(self, words: Sequence[str], derived: Mapping[str, Sequence[str]]) -> None:
        self.words = tuple(words)
        self._numbers = {word: f"\0{number}\0" for number, word in enumerate(words)}
        self._pattern = _whole_words(words)
        self._digests: dict[str, tuple[str, str]] = {}  # by the first digits: the digest, and what stands for it
        self._begun: set[bytes] = set()  # those first digits, as they are written, in small letters and in capitals
        self._others: dict[str, str] = {}  # such as a port: the text, and what stands for it
        for made, of in derived.items():
            self._note(made, "\1".join(of))

    def _note(self, made: str, of: str) -> None:
        normal = self._normal_text(of)
        if normal == of:
            return  # the same for every client
        stands = hashlib.blake2b(normal.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        if len(made) < _FEWEST_DIGITS or not _HEX.fullmatch(made):
            self._others[made] = stands
            return
        known = self._digests.setdefault(made[:_FEWEST_DIGITS], (made, stands))
        if known != (made, stands):
            raise AmbiguousError(f"{known[0]} and {made}")
        first = made[:_FEWEST_DIGITS]
        self._begun |= {first.encode(), first.upper().encode()}

    def _normal_text(self, text: str) -> str:
        if "\0" in text:
            raise AmbiguousError("a text with a null character")
        found = self._pattern.sub(lambda match: self._numbers[match[0]], text) if self.words else text
        return _HEX.sub(self._stand_in, found) if self._digests else found

    def _stand_in(self, match: re.Match[str]) -> str:
        made, stands = self._digests.get(match[0][:_FEWEST_DIGITS], ("", ""))
        return f"\0{stands}.{len(match[0])}\0" if made.startswith(match[0]) else match[0]

    def template(self, text: str) -> str | None:
        """A text for the next client, to be filled in by its own renaming; None where it holds a digest."""
        digits = {found[:_FEWEST_DIGITS] for found in _HEX.findall(text.lower())}
        if "\0" in text or not digits.isdisjoint(self._digests) or any(other in text for other in self._others):
            return None
        return self._normal_text(text)

    def filled(self, template: str) -> str:
        """A template of another client's with this one's words in it."""
        return re.sub(r"\0(\d+)\0", lambda match: self.words[int(match[1])], template)

    def places(self, written: bytes) -> list[Place]:
        """Where words and digests stand in what was written, first to last; no two of them overlap."""
        words = [(word, f"w{number}".encode()) for number, word in enumerate(self.words)]
        words += [(text, f"o{stands}".encode()) for text, stands in self._others.items()]
        found = [place for word, stands in words for place in _of_word(word.encode(), stands, written)]
        if self._digests:
            found += self._of_digests(written)
        found.sort()
        long_ones = _long_ones(written)
        run, run_end = next(long_ones, _NO_MORE)
        kept: list[Place] = []
        last = 0
        for place in found:
            start, end, _ = place
            if start < last:
                continue
            while run_end <= start:
                run, run_end = next(long_ones, _NO_MORE)
            if run < end and _might_be_a_key(written, start, end):
                continue
            kept.append(place)
            last = end
        return kept

    def _of_digests(self, written: bytes) -> Iterator[Place]:
        begun = self._begun
        for marks in (_SMALL, _LARGE):
            marked = written.translate(marks)
            start = marked.find(_RUN)
            while start >= 0:
                end = marked.find(b" ", start)
                end = len(marked) if end < 0 else end
                if written[start : start + _FEWEST_DIGITS] in begun:
                    place = self._of_digest(written, start, end)
                    if place is not None:
                        yield place
                        end = place[1]
                start = marked.find(_RUN, end)

    def _of_digest(self, written: bytes, start: int, end: int) -> Place | None:
        """A run of hexadecimal digits, if a digest of the client's words begins with it, or a UUID made of one does."""
        if written[end : end + 1] in _LETTERS_OF_HEX or written[max(start, 1) - 1 : start] in _LETTERS_OF_HEX:
            return None  # capitals beside small letters
        shown = written[start:end].decode()
        small = shown.lower()
        made, stands = self._digests.get(small[:_FEWEST_DIGITS], ("", ""))
        if not made:
            return None
        case = "d" if shown == small else "D"
        if made.startswith(small):
            uuid = _uuid(made)
            if (
                len(made) >= _IN_A_UUID
                and end - start == uuid.index("-")
                and written[start : start + len(uuid)].decode("latin-1").lower() == uuid
            ):
                return start, start + len(uuid), f"{case}{stands}u".encode()
            return start, end, f"{case}{stands}".encode()
        return None


def normal_form(written: bytes, places: Sequence[Place]) -> tuple[bytes, bytes]:
    """What was written without the words, and where they stand and what stands for each: of both together and the words
    themselves it can be written again."""
    pieces: list[bytes] = []
    where = array("Q", [len(places)])
    last = 0
    for start, end, _ in places:
        pieces.append(written[last:start])
        where.extend((start, end))
        last = end
    pieces.append(written[last:])
    return b"".join(pieces), where.tobytes() + b"\0".join(stands for _, _, stands in places)


def _whole_words(words: Sequence[str]) -> re.Pattern[str]:
    one_of = "|".join(map(re.escape, words))
    return re.compile(rf"(?<![0-9A-Za-z])(?:{one_of})(?![0-9A-Za-z])")


def _of_word(word: bytes, stands: bytes, written: bytes) -> Iterator[Place]:
    """Where a word stands as a whole word: not within a longer one, which is another and stays as it is."""
    for match in re.finditer(re.escape(word) + _LETTER_FOLLOWS, written):
        start = match.start()
        before = written[start - 1] if start else 0
        begins_a_text = start > 1 and written[start - 2] == _SHORT_TEXT
        if begins_a_text or (before not in _ALPHANUMERIC and before < 0x80):
            yield start, match.end(), stands


def _uuid(digits: str) -> str:
    """As `synthesised.Subject.uuid` writes a digest."""
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def _long_ones(written: bytes) -> Iterator[tuple[int, int]]:
    """Where what is as long as a random key begins and ends, first to last: few places are within one."""
    marked = written.translate(_KEYS)
    start = marked.find(_LONG)
    while start >= 0:
        end = marked.find(b" ", start)
        yield start, len(marked) if end < 0 else end
        start = marked.find(_LONG, end) if end >= 0 else -1


def _might_be_a_key(written: bytes, start: int, end: int) -> bool:
    """Whether what stands here is of a long text that changes between letters, capitals and digits as often as chance
    does: then how often each letter is in it decides on what it is taken for."""
    while start and written[start - 1] in _IN_A_KEY and not (start > 1 and written[start - 2] == _SHORT_TEXT):
        start -= 1
    while end < len(written) and written[end] in _IN_A_KEY:
        end += 1
    if end - start < _RANDOM_AT_LEAST or {written[max(start, 1) - 1], *written[end : end + 1]} & _WITHIN_A_TEXT:
        return False
    text = written[start:end].decode()
    kinds = "".join(
        "9" if each.isdigit() else "A" if each.isupper() else "a" if each.islower() else "-" for each in text
    )
    if not {"9", "a"} <= set(kinds) or ("A" not in kinds and ("-" in kinds or _HEX.fullmatch(text))):
        return False
    turns = sum(one != other for one, other in pairwise(kinds))
    return 100 * turns >= (_TURNS_PERCENT if "A" in kinds else _TURNS_OF_SMALL_PERCENT) * len(text)


_KEYS: Final = bytes(ord("k") if code in _IN_A_KEY else ord(" ") for code in range(256))
_LONG: Final = b"k" * _RANDOM_AT_LEAST
_NO_MORE: Final = (sys.maxsize, sys.maxsize)
_LETTERS_OF_HEX: Final = frozenset(bytes([code]) for code in b"abcdefABCDEF")
_RUN: Final = b"h" * _FEWEST_DIGITS
_SMALL: Final = bytes(ord("h") if chr(code) in "0123456789abcdef" else ord(" ") for code in range(256))
_LARGE: Final = bytes(ord("h") if chr(code) in "0123456789ABCDEF" else ord(" ") for code in range(256))
