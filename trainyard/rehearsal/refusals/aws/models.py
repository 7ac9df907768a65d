"""Amazon's service models as botocore ships them: enums, lengths, ranges, patterns.

botocore's own loader is not used: importing it costs 150 ms, and all that is needed is the newest `service-2.json.gz`
of a service in its data folder. Reading and parsing the models of the sixteen services of a medium environment takes
about 120 ms (2026-11-21), of which ec2 is 45.
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


_SENT: Final = frozenset(
    {
        "DescribeHyperParameterTuningJob", "DescribeNotebookInstance", "DescribeProcessingJob", "DescribeTrainingJob",
        "DescribeTransformJob",
    }
)  # fmt: skip
"""Operations whose answer a service sends as an event, so that it is asked for."""


@cache
def _data_folder() -> Path:
    found = importlib.util.find_spec("botocore")
    if found is None or found.origin is None:
        raise ModelMissingError("botocore is not installed")
    return Path(found.origin).parent / "data"


@cache
def _document(service: str) -> dict[str, Any]:
    versions = sorted(_data_folder().glob(f"{service}/*/service-2.json.gz"))
    if not versions:
        raise ModelMissingError(f"botocore has no service {service}")
    read = json.loads(gzip.decompress(versions[-1].read_bytes()), object_hook=_without_prose)
    operations, shapes = read["operations"], read["shapes"]
    asked = {operation["input"]["shape"] for operation in operations.values() if "input" in operation}
    asked |= {operations[name]["output"]["shape"] for name in _SENT & operations.keys()}
    return {"operations": operations, "shapes": {name: shapes[name] for name in _reached(asked, shapes)}}


def _reached(names: set[str], shapes: Mapping[str, Any]) -> set[str]:
    """These shapes and all that they are made of. What only answers are made of is half of a model, and never asked."""
    found, left = set(names), list(names)
    while left:
        raw = shapes[left.pop()]
        parts = [*raw.get("members", {}).values(), *(raw[key] for key in ("member", "key", "value") if key in raw)]
        new = {part["shape"] for part in parts} - found
        found |= new
        left += new
    return found


def _without_prose(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a model without its documentation, which is half of a model's text; members have such names too."""
    if isinstance(part.get("documentation"), str):
        del part["documentation"]
    return part


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape of a service's model."""

    service: str
    name: str

    @property
    def _raw(self) -> dict[str, Any]:
        raw: dict[str, Any] = _document(self.service)["shapes"][self.name]
        return raw

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


@cache
def compiled(pattern: str) -> re.Pattern[str] | None:
    """A model's pattern for Python, or None.

    The models write Java's dialect. A pattern with Unicode classes (`\\p{L}`) or with flags in the middle has no
    counterpart in `re` and is left out: such texts go unchecked rather than wrongly refused.
    """
    for java, python in _JAVA[1:]:
        pattern = pattern.replace(java, python)
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
        return Shape(service, _document(service)["operations"][name]["input"]["shape"])
    except KeyError:
        raise ModelMissingError(f"botocore's {service} has no operation {name}") from None


def operations(service: str) -> frozenset[str]:
    """The names of a service's calls."""
    return frozenset(_document(service)["operations"])
