"""What a program reads out of a text that it looked up and somebody else wrote: a secret, a parameter, a file.

Such a text stands for one that may be anything (`wire.says_nothing`). A program that asks for it at once, and not as an
output, parses it there: `json.loads(get_secret_version(…).secret_string)["password"]`. Within the rehearsal that gives
a part of which nothing is known either, whatever its key; as an input of a resource it is unknown.

So has a map that a data source answers and of which nothing is known, such as the outputs of a CloudFormation stack or
the tags of a network, whatever key it is asked for.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import yaml

from trainyard.rehearsal.engine.synthesised import digest
from trainyard.rehearsal.engine.wire import LOOKED_UP, says_nothing

_PORT, _NUMBER = 443, 1


class Content(str):
    """A part of what was looked up: an object, a list, a number or a text, whichever the program takes it for.

    Its text is one that says nothing. Asked for a key or a place it gives another part; a list has one, and an object
    has every key that is asked for.
    """

    _key: str

    @classmethod
    def of(cls, text: str, key: str = "") -> Content:
        """The part of a text, or of another part, that stands at a key; the whole where it is empty."""
        mark = digest("content", text, key)
        found = cls(f"{LOOKED_UP}-{mark[:8]}-{mark[8:16]}")
        found._key = key
        return found

    def __getitem__(self, key: Any) -> Any:
        """Another part by a key or a place; of a range the text's own."""
        return super().__getitem__(key) if isinstance(key, slice) else Content.of(self, str(key))

    def __iter__(self) -> Iterator[Any]:
        """One part: how many a list has is not known."""
        yield Content.of(self, "0")

    def __contains__(self, item: object) -> bool:
        """The whole has whatever it is asked for; a part is a text like another."""
        return not self._key or (isinstance(item, str) and super().__contains__(item))

    def __int__(self) -> int:
        """A number that a port, or anything else, may have."""
        return _PORT if self._key.lower().endswith("port") else _NUMBER

    def __float__(self) -> float:
        """The same number."""
        return float(int(self))

    def get(self, key: Any, _: Any = None) -> Content:
        """As of an object that has the key."""
        return Content.of(self, str(key))

    pop = get

    def keys(self) -> list[str]:
        """None: which there are is not known."""
        return []

    def items(self) -> list[tuple[str, Any]]:
        """None, as of keys."""
        return []

    def values(self) -> list[Any]:
        """None, as of keys."""
        return []


class OpenMap(dict[str, Any]):
    """A map that somebody else wrote: it has every key that is asked for, and tells none by itself."""

    mark: str

    def __missing__(self, key: str) -> Content:
        """A part of which nothing is known."""
        return Content.of(self.mark, key)

    def __contains__(self, key: object) -> bool:
        """Whatever it is asked for: a program that looks first would end where it is not there."""
        return True

    def __bool__(self) -> bool:
        """That it holds anything is not known to be wrong."""
        return True

    def get(self, key: str, default: Any = None) -> Any:
        """A part, or what the program would do without one."""
        return self[key] if default is None else default


def opened(found: Any, mark: str = "") -> Any:
    """What a data source answers, with an `OpenMap` for each map that holds nothing. `mark` tells answers apart."""
    if type(found) is dict:
        if not found:
            made = OpenMap()
            made.mark = mark
            return made
        mark = f"{mark} {found.get('id', '')} {found.get('arn', '')}"
        return {key: opened(item, f"{mark} {key}") if type(item) in _HOLDS else item for key, item in found.items()}
    return [opened(item, f"{mark} {place}") for place, item in enumerate(found)] if type(found) is list else found


_HOLDS: Final = (dict, list)


def _parsed(parse: Callable[..., Any], text: Any, *arguments: Any, **options: Any) -> Any:
    """What `parse` makes of a text; of one that may be any a part of which nothing is known."""
    given = text.decode(errors="replace") if isinstance(text, bytes) else text
    if isinstance(given, str) and says_nothing(given):
        return Content.of(given)
    return parse(text, *arguments, **options)


_PARSERS: Final = ((json, "loads"), (yaml, "safe_load"), (yaml, "load"))
_runs = 0
_before: list[Any] = []
_switch = threading.Lock()


@contextmanager
def contents_may_be_anything() -> Iterator[None]:
    """Parses within the block what may be any text. Blocks may overlap."""
    global _runs
    with _switch:
        if _runs == 0:
            _before[:] = [vars(owner)[name] for owner, name in _PARSERS]
            for (owner, name), parse in zip(_PARSERS, _before, strict=True):
                setattr(owner, name, functools.partial(_parsed, parse))
        _runs += 1
    try:
        yield
    finally:
        with _switch:
            _runs -= 1
            if _runs == 0:
                for (owner, name), parse in zip(_PARSERS, _before, strict=True):
                    setattr(owner, name, parse)
