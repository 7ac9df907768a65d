"""A request of customJobs.create against Google's own description of it: members, kinds, values, forms.

Source: `custom_job.json`, which `generate` writes from the discovery document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.problems import nearest

_DURATION: Final = re.compile(r"\d+(\.\d{1,9})?s")


@cache
def _schemas() -> Mapping[str, Mapping[str, Any]]:
    text = files("trainyard.rehearsal.works.managed.gcp").joinpath("custom_job.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = json.loads(text)["schemas"]
    return found


def wrong(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What Google refuses of a request: the path, and why."""
    yield from _object(body, "CustomJob", "")


def _object(value: Any, name: str, path: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping):
        yield path, f"{value!r} is no {name}"
        return
    members = _schemas()[name]
    for key, item in value.items():
        where = f"{path}.{key}" if path else str(key)
        if key not in members:
            near = nearest(str(key), list(members))
            yield where, f"no such member of {name}{f'; {near}' if near else ''}"
        elif item is not None:
            yield from _value(item, members[key], where)


def _value(value: Any, kind: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(kind, list):
        if value not in kind:
            yield path, f"{value!r}; one of {', '.join(kind)}"
    elif isinstance(kind, Mapping):
        yield from _inside(value, kind, path)
    elif (told := _plain(value, kind)) is not None:
        yield path, f"{value!r} is {told}"


def _inside(value: Any, kind: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    if "of" in kind:
        yield from _object(value, kind["of"], path)
    elif "list" in kind:
        if not isinstance(value, list):
            yield path, f"{value!r} is no list"
            return
        for index, item in enumerate(value):
            yield from _value(item, kind["list"], f"{path}[{index}]")
    elif not isinstance(value, Mapping):
        yield path, f"{value!r} is no mapping"
    else:
        for key, item in value.items():
            yield from _value(item, kind["map"], f"{path}.{key}")


def _plain(value: Any, kind: str) -> str | None:
    """Why a value is not of a plain kind; JSON of Google's takes a whole number as text too."""
    if kind == "boolean":
        return None if isinstance(value, bool) else "neither true nor false"
    if kind in ("integer", "int64"):
        good = re.fullmatch(r"-?\d+", str(value)) is not None and not isinstance(value, bool)
        return None if good else "no whole number"
    if kind == "duration":
        return None if isinstance(value, str) and _DURATION.fullmatch(value) else "no duration: seconds, such as 3600s"
    return None if kind != "string" or isinstance(value, str) else "no text"
