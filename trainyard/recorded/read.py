"""Reading recorded inputs: the one place that knows what a path, an unknown and a secret are.

Every function takes a mapping of inputs, or a part of one, and a path of keys and indices into it. The marks of
secrecy are taken off. What happens at an unknown is the caller's choice: `value_at` raises `UnknownInput` unless it is
told what to give instead; `is_set` and `length_at` hold for unknowns too; `known_texts` passes them over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from trainyard.recorded.model import UNKNOWN, Secret


class UnreadableInput(Exception):  # noqa: N818 (says what cannot be read and why; callers tell it as it is)
    """An input that cannot be read as what is asked for. `what` is its path, `reason` says why."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{what}: {reason}")


class UnknownInput(UnreadableInput):
    """An input that is not known before the resource exists."""

    def __init__(self, path: Sequence[str | int]) -> None:
        super().__init__(path_text(path), "not known before the resource exists")


_PLAIN: Final = frozenset((str, int, float, bool, dict, list, type(None)))
"""Types that are no mark, asked for first in what is read a hundred thousand times a stack."""

_TEXTLESS: Final = frozenset((int, float, bool, type(None)))
"""Types of values that hold no text."""

RAISE: Final = object()
"""What `value_at` does at an unknown when it is not told otherwise."""


def follow(value: Any, *path: str | int) -> Any:
    """What lies at `path` with its marks: None where there is nothing, `UNKNOWN` at and below an unknown.

    What lies in a secret is a `Secret` too.
    """
    secret = False
    for part in path:
        if type(value) is dict:  # nearly always, and read a hundred thousand times a stack
            value = value.get(part)
            continue
        if value is None or type(value) is str:
            return None
        if isinstance(value, Secret):
            value, secret = value.value, True
        if value is UNKNOWN:
            return UNKNOWN
        if type(value) is not list and isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(part, int) and _is_list(value):
            value = value[part] if part < len(value) else None
        else:
            return None
    return Secret(value) if secret and value is not None and not isinstance(value, Secret) else value


def value_at(value: Any, *path: str | int, default: Any = None, unknown: Any = RAISE) -> Any:
    """What lies at `path`; `default` where there is nothing or null, `unknown` where it is not known.

    Raises:
        UnknownInput: the value is not known, and no `unknown` is given.
    """
    found = value
    for part in path:  # as `follow`, which is asked only about what is not plain
        if type(found) is not dict:
            found = _bare(follow(value, *path))
            break
        found = found.get(part)
    else:
        found = _bare(found)
    if found is UNKNOWN:
        if unknown is RAISE:
            above = (path[:end] for end in range(len(path) + 1))
            raise UnknownInput(next(part for part in above if _bare(follow(value, *part)) is UNKNOWN))
        return unknown
    return default if found is None else found


def text_at(value: Any, *path: str | int) -> str | None:
    """The text at `path`, such as a name that something is found by; None where there is nothing.

    Raises:
        UnknownInput: it is not known.
        UnreadableInput: it is no text.
    """
    found = value_at(value, *path)
    if found is not None and not isinstance(found, str):
        raise UnreadableInput(path_text(path), f"{type(found).__name__} is not a text")
    return found


def is_set(value: Any, *path: str | int) -> bool:
    """Whether something is set at `path`, known or not. False and an empty text, list or mapping are nothing."""
    found = value_at(value, *path, unknown=True)
    if type(found) in _PLAIN:  # of numbers, only those are nothing that are no truth values
        return bool(found) or type(found) in (int, float)
    return not (isinstance(found, (str, Sequence, Mapping)) and not found)


def is_on(value: Any, *path: str | int) -> bool:
    """Whether the flag at `path` is on; AWS writes some of them as text. Raises `UnknownInput`."""
    return value_at(value, *path) in (True, "true", "True")


def list_at(value: Any, *path: str | int) -> list[Any]:
    """The elements at `path`; none where there is nothing. A single value counts as a list of one.

    Raises:
        UnknownInput: the list or one of its elements is not known.
    """
    found = value_at(value, *path)
    if found is None:
        return []
    if not _is_list(found):
        return [found]
    return [_part(item, (*path, index)) for index, item in enumerate(found)]


def texts_at(value: Any, *path: str | int) -> list[str]:
    """The elements at `path`, which are texts. Raises as `list_at` does, and `UnreadableInput` for others."""
    found = list_at(value, *path)
    for item in found:
        if not isinstance(item, str):
            raise UnreadableInput(path_text(path), f"{item!r} is not a text")
    return found


def mappings_at(value: Any, *path: str | int) -> list[Mapping[str, Any]]:
    """The elements at `path` that are mappings. Raises `UnknownInput` as `list_at` does."""
    return [item for item in list_at(value, *path) if type(item) is dict or isinstance(item, Mapping)]


def length_at(value: Any, *path: str | int) -> int:
    """How many elements the list at `path` has, known or not; 0 where there is no list.

    Raises:
        UnknownInput: the list as a whole is not known.
    """
    found = value_at(value, *path)
    return len(found) if _is_list(found) else 0


def mapping_at(value: Any, *path: str | int) -> dict[str, Any]:
    """The mapping at `path`; empty where there is none.

    Raises:
        UnknownInput: the mapping or one of its entries is not known.
    """
    found = value_at(value, *path)
    if found is None or (type(found) is not dict and not isinstance(found, Mapping)):
        return {}
    return {str(key): _part(item, (*path, str(key))) for key, item in found.items()}


def number_at(value: Any, *path: str | int, default: float | None = None, least: float = 0) -> float:
    """The finite number of `least` or more at `path`; one that is written as text is read.

    Raises:
        UnknownInput: it is not known.
        UnreadableInput: it is no such number, or absent and without a default.
    """
    found = value_at(value, *path)
    if found is None and default is not None:
        return default
    number = as_number(found)
    if number is None:
        raise UnreadableInput(path_text(path), f"{found!r} is not a number")
    if not math.isfinite(number) or number < least:
        wanted = f"a number of {least:g} or more" if math.isfinite(least) else "a finite number"
        raise UnreadableInput(path_text(path), f"{found!r} is not {wanted}")
    return number


def as_number(value: Any) -> float | None:
    """A finite number, also one written as text, as providers read it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    return value if isinstance(value, int) else number


def split_url(text: str) -> SplitResult | None:
    """The parts of an address; None for what is none, as one with a bracket that is not closed."""
    try:
        return urlsplit(text)
    except ValueError:
        return None


def known_texts(value: Any, path: str = "", *, exclude: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Every known text in `value`, with its path below `path`: `rules[0].id`. Keys of `exclude` are passed over."""
    found: list[tuple[str, str]] = []
    _gather(value, path, exclude, found)
    return iter(found)


def _gather(value: Any, path: str, exclude: frozenset[str], found: list[tuple[str, str]]) -> None:
    """Adds the known texts: a list, since generators in generators take twice as long."""
    value = _bare(value)
    kind = type(value)
    if kind is str:
        found.append((path, value))
    elif kind is dict:
        for key, item in value.items():
            if type(item) not in _TEXTLESS and key not in exclude:
                _gather(item, f"{path}.{key}" if path else str(key), exclude, found)
    elif kind is list:
        for index, item in enumerate(value):
            if type(item) not in _TEXTLESS:
                _gather(item, f"{path}[{index}]", exclude, found)
    elif kind in _TEXTLESS:
        return
    elif isinstance(value, str):
        found.append((path, value))
    elif isinstance(value, Mapping):
        _gather(dict(value), path, exclude, found)
    elif _is_list(value):
        _gather(list(value), path, exclude, found)


def path_text(path: Sequence[str | int]) -> str:
    """A path as text: `rules[0].id` for ("rules", 0, "id")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


_STEP: Final = re.compile(r"[^.\[\]]+|\[\d+\]")


@lru_cache(maxsize=4096)
def steps(path: str) -> tuple[str | int, ...]:
    """A path's steps: ("rules", 0, "id") for `rules[0].id`."""
    return tuple(int(part[1:-1]) if part.startswith("[") else part for part in _STEP.findall(path))


def _part(item: Any, path: Sequence[str | int]) -> Any:
    found = _bare(item)
    if found is UNKNOWN:
        raise UnknownInput(path)
    return found


def _bare(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    while isinstance(value, Secret):
        value = value.value
    return value


def _is_list(value: Any) -> bool:
    kind = type(value)
    if kind in _PLAIN:
        return kind is list
    return isinstance(value, Sequence) and not isinstance(value, str)
