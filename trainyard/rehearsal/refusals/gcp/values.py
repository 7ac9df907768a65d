"""Values that an input may be, as Google's discovery documents enumerate them (`data/gcp_values.json`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_PREFIX: Final = "gcp:"


@cache
def _values() -> Mapping[str, Mapping[str, Sequence[str]]]:
    text = files("trainyard.rehearsal.refusals").joinpath("data", "gcp_values.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(text)["values"]
    return found


def value(view: View) -> None:
    """Texts that the API enumerates."""
    if not view.type.startswith(_PREFIX):
        return
    for path, allowed in _values().get(view.type, {}).items():
        for where, found in _reached(view.inputs, path.split("."), ""):
            # Words for "not said" are in the enums and mean nothing; the provider takes some of them.
            if isinstance(found, str) and found not in allowed and "UNSPECIFIED" not in found:
                view.error("gcp-value", where, show(found), allowed=", ".join(allowed), hint=nearest(found, allowed))


def _reached(value: Any, path: list[str], where: str) -> Iterator[tuple[str, Any]]:
    """Everything at a path, in every item of the lists on the way; unknown is not known to be wrong."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _reached(item, path, f"{where}[{index}]")
    elif not path:
        yield where, value
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _reached(value[path[0]], path[1:], f"{where}.{path[0]}" if where else path[0])


RULES: Rules = {value: (EVERY_TYPE,)}
