"""Amazon's service models as botocore ships them: enums, lengths, ranges, patterns.

botocore's own loader is not used: importing it costs 150 ms, and all that is needed is the newest `service-2.json.gz`
of a service in its data folder. Parsing the models of the fifteen services of a medium environment whole takes 95 ms
(2026-11-26), a third of it ec2's, and a stack asks for a few of their shapes. So a model is taken apart at its lines,
and an entry is parsed when it is asked for.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final


class ModelMissingError(LookupError):
    """botocore has no such service, operation or member: the table of types is out of step with it."""


@cache
def _data_folder() -> Path:
    found = importlib.util.find_spec("botocore")
    if found is None or found.origin is None:
        raise ModelMissingError("botocore is not installed")
    return Path(found.origin).parent / "data"


_SERVICE: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_ENTRY: Final = b'\n    "'
"""What an entry of `operations` or `shapes` begins with, and nothing else in them: lines are indented by two spaces a
level, and a text of JSON has no line of its own."""


@cache
def _model(service: str) -> Mapping[str, Mapping[str, bytes]]:
    """The `operations` and the `shapes` of a service: by name, the rest of an entry's text."""
    if not _SERVICE.fullmatch(service):
        raise ModelMissingError(f"{service!r} is no name of a service")
    versions = sorted(_data_folder().glob(f"{service}/*/service-2.json.gz"))
    if not versions:
        raise ModelMissingError(f"botocore has no service {service}")
    text = gzip.decompress(versions[-1].read_bytes())
    return {section: entries(text, section) for section in ("operations", "shapes")}


def entries(text: bytes, section: str) -> dict[str, bytes]:
    """The entries of a section of a model: by name, the rest of the text, in which the value comes first.

    A model that is laid out in another way than botocore's is parsed whole.
    """
    begin = text.find(f'\n  "{section}":'.encode())
    if begin < 0:
        return {name: json.dumps(value).encode() for name, value in json.loads(text)[section].items()}
    parts = (part.partition(b'"') for part in text[begin : text.index(b"\n  }", begin)].split(_ENTRY)[1:])
    return {name.decode(): rest for name, _, rest in parts}


_parsed: Final = json.JSONDecoder().raw_decode


@cache
def _entry(service: str, section: str, name: str) -> dict[str, Any]:
    """An operation or a shape. `KeyError` where the service has none of the name."""
    text = _model(service)[section][name].decode()
    found: dict[str, Any] = _parsed(text, text.index("{"))[0]
    return found


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape of a service's model."""

    service: str
    name: str

    @property
    def _raw(self) -> dict[str, Any]:
        return _entry(self.service, "shapes", self.name)

    @property
    def kind(self) -> str:
        """structure, list, map, string, integer, long, double, boolean, timestamp, blob, …"""
        return str(self._raw["type"])

    @property
    def members(self) -> dict[str, Shape]:
        """A structure's members by name."""
        return {name: Shape(self.service, member["shape"]) for name, member in self._raw.get("members", {}).items()}

    @property
    def item(self) -> Shape:
        """A list's item."""
        return Shape(self.service, self._raw["member"]["shape"])

    @property
    def key(self) -> Shape:
        """A map's key."""
        return Shape(self.service, self._raw["key"]["shape"])

    @property
    def mapped(self) -> Shape:
        """A map's value."""
        return Shape(self.service, self._raw["value"]["shape"])

    @property
    def enum(self) -> tuple[str, ...]:
        """What a string may be; empty where it is free."""
        return tuple(self._raw.get("enum", ()))

    @property
    def least(self) -> float | None:
        """Smallest number, shortest text or fewest items."""
        return self._raw.get("min")

    @property
    def most(self) -> float | None:
        """Largest number, longest text or most items."""
        return self._raw.get("max")

    @property
    def required(self) -> tuple[str, ...]:
        """A structure's members that a request must have."""
        return tuple(self._raw.get("required", ()))

    @property
    def filled_in(self) -> frozenset[str]:
        """A structure's members that whoever sends the request makes up: tokens that tell one request from the next."""
        members = self._raw.get("members", {})
        return frozenset(name for name, member in members.items() if member.get("idempotencyToken"))

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """What a text must match as a whole; None where there is none, or none that Python can read."""
        return compiled(self._raw["pattern"]) if "pattern" in self._raw else None

    @property
    def pattern_text(self) -> str:
        """The pattern as the model spells it; empty where there is none."""
        return str(self._raw.get("pattern", ""))


_JAVA: Final = (
    (r"\p{L}", r"^\W\d_"),
    (r"\p{Alnum}", "a-zA-Z0-9"),
    (r"\p{ASCII}", r"\x00-\x7f"),
)


_CLASS: Final = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_TIMES: Final = r"(?P<times>[*+?]|\{\d*,?\d*\})?"
_GROUP: Final = re.compile(rf"\((?P<kind>\?(?::|<?[=!]))?(?P<body>(?:\\.|{_CLASS}|[^()\[\\])*)\){_TIMES}")
"""A group without groups in it, and how often it comes."""
_ATOM: Final = re.compile(rf"(?P<atom>\\.|{_CLASS}|[^\[\\]){_TIMES}\??")
_DONE: Final = "\ue000"
"""What stands for a group that was looked at."""


def _is_many(times: str | None) -> bool:
    """Whether a quantifier lets a thing come more than once, however often."""
    return times not in (None, "", "?", "{1}", "{0,1}")


def _is_endless(pattern: str) -> bool:
    """Whether a group repeats what repeats in it, with nothing between that tells one round from the next.

    `([a-z]+)*` divides a text in every way that there is before it says no; in `(/[a-z]+)*` the slash says where.
    """
    while (group := _GROUP.search(pattern)) is not None:
        if _is_many(group["times"]) and any(_is_blurred(part) for part in _alternatives(group["body"])):
            return True
        looks = group["kind"] not in (None, "?:")  # at what comes, and takes nothing
        pattern = pattern[: group.start()] + ("" if looks else _DONE + (group["times"] or "")) + pattern[group.end() :]
    return False


def _alternatives(body: str) -> list[list[tuple[str, str | None]]]:
    """The atoms of each alternative, with their quantifiers."""
    found: list[list[tuple[str, str | None]]] = [[]]
    for one in _ATOM.finditer(body):
        if one["atom"] == "|":
            found.append([])
        else:
            found[-1].append((one["atom"], one["times"]))
    return found


def _is_blurred(atoms: list[tuple[str, str | None]]) -> bool:
    many = [_letters(atom) for atom, times in atoms if _is_many(times) and atom != _DONE]
    once = [_letters(atom) for atom, times in atoms if times in (None, "", "{1}")]
    return bool(many) and not any(all(mark.isdisjoint(letters) for letters in many) for mark in once)


@cache
def _letters(atom: str) -> frozenset[str]:
    """The letters of ASCII that an atom stands for; none that Python cannot read."""
    try:
        return frozenset(letter for letter in map(chr, range(128)) if re.fullmatch(atom, letter))
    except re.error:
        return frozenset()


@cache
def compiled(pattern: str) -> re.Pattern[str] | None:
    """A model's pattern for Python, or None.

    The models write Java's dialect. A pattern with Unicode classes (`\\p{L}`) or with flags in the middle has no
    counterpart in `re` and is left out: such texts go unchecked rather than wrongly refused. So is one that
    `re` may try in twice as many ways with every character more.
    """
    for java, python in _JAVA[1:]:
        pattern = pattern.replace(java, python)
    if _is_endless(pattern):
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None


@cache
def operation(service: str, name: str) -> Shape:
    """The input of an operation.

    Raises:
        ModelMissingError: botocore does not have it.
    """
    try:
        return Shape(service, _entry(service, "operations", name)["input"]["shape"])
    except KeyError:
        raise ModelMissingError(f"botocore's {service} has no operation {name}") from None


def operations(service: str) -> frozenset[str]:
    """The names of a service's calls."""
    return frozenset(_model(service)["operations"])
