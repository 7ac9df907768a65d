"""What the SDK's docstrings of inputs say of their values: lists, ranges, lengths, forms. `generate_provider` asks."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

_POSSIBLE: Final = re.compile(
    r"(?:Possible values(?: are)?:|(?:Each value )?(?:must|may) be one of:?|Valid values are:?) "
    r"((?:`[^`]+`(?:, (?:and |or )?| and | or )?)+)(?:\.|$)",
    re.IGNORECASE,
)
_DURATION: Final = re.compile(
    r"(ending with|ends? in|terminated by|ends? with|suffixed with) [`'\"]s[`'\"]", re.IGNORECASE
)
_NUMBER: Final = r"`?(-?\d[\d,]*(?:\.\d+)?)`?"
_RANGES: Final = tuple(
    re.compile(text, re.IGNORECASE)
    for text in (
        rf"(?:integer value |must be |value must be |values? )(?:in )?between {_NUMBER}(?: \([^)]*\))? and "
        rf"{_NUMBER}(?: \([^)]*\))?(?:[.,)]| inclusive|$)",
        rf"Valid range is {_NUMBER} to {_NUMBER}",
        rf"(?:value of the field )?must be in \[{_NUMBER}, {_NUMBER}\]",
        rf"must be greater than or equal to {_NUMBER}(?: \w+)? and (?:must be )?less than or equal to {_NUMBER}\b",
    )
)
_NOT_FOR_ALL: Final = re.compile(r"octal|\b0 disables|disables it|hyperdisk|IOPS|slots|shutdown grace", re.IGNORECASE)
"""Words of docstrings whose range is in another notation, or not of every value that is taken."""
_LONGEST: Final = re.compile(r"Must be <= (\d+) chars")


def documented(args: Any, snake: str, annotation: str) -> dict[str, Any]:
    """What the SDK's docstring of an input says of its values, in the words that the provider's generator writes."""
    described = inspect.getattr_static(args, snake, None)
    text = " ".join((getattr(getattr(described, "fget", None), "__doc__", None) or "").split())
    found: dict[str, Any] = {}
    match = _POSSIBLE.search(text)
    if match and "str" in annotation:
        # Some authors write a word as Go does, in quotation marks, which are none of the value's.
        found["in"] = [word.strip("\"'") for word in re.findall(r"`([^`]+)`", match[1])]
    if "str" in annotation:
        if _DURATION.search(text):
            found["form"] = "duration"
        elif re.search(r"RFC ?3339", text) and "HH:MM" not in text:
            found["form"] = "date"
        if match := _LONGEST.search(text):
            found["length"] = [None, int(match[1])]
    if re.search(r"\b(int|float)\b", annotation) and not _NOT_FOR_ALL.search(text):
        for pattern in _RANGES:
            if match := pattern.search(text):
                bounds = (bound.replace(",", "") for bound in match.groups())
                found["range"] = [float(bound) if "." in bound else int(bound) for bound in bounds]
                break
    return found
