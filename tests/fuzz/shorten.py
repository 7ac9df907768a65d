"""Cuts a failing settings file down to what makes it fail."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.files import Case, Values, file_text
from tests.fuzz.judge import Outcome

MOST_TRIES = 120


def shortened(case: Case, outcome: Outcome, judge: Callable[[Case], Outcome]) -> tuple[Case, Outcome]:
    """The file without whatever it fails without, and how it fails then: in the same way as before."""
    if case.text != file_text(case.values):
        return case, outcome  # the fault may be in how it is written
    tries = 0
    changed = True
    while changed:
        changed = False
        for path in sorted(_places(case.values), key=len):
            smaller = _without(case.values, path)
            if smaller is None or tries >= MOST_TRIES:
                continue
            tries += 1
            candidate = replace(case, values=smaller, text=file_text(smaller))
            found = judge(candidate)
            if (found.kind, _head(found)) == (outcome.kind, _head(outcome)):
                case, outcome, changed = candidate, found, True
    return case, outcome


def _head(outcome: Outcome) -> str:
    """What kind of failure it is, without what differs from file to file."""
    return outcome.why.split(":")[0]


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _without(values: Values, path: tuple[Any, ...]) -> Values | None:
    """A copy without what is at a path; None where a former cut took that already."""
    found = copy.deepcopy(values)
    node: Any = found
    try:
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return found
