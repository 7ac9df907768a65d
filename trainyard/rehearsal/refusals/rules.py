"""What a rule is, and how the tables of the modules become one: a function for some types, run on each resource."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from trainyard.rehearsal.context import View

Rule = Callable[[View], None]
"""Looks at one resource, which knows the recording that it is part of, and notes its findings there."""

Rules = Mapping[Rule, tuple[str, ...]]
"""The rules of one module with their resource types, in the order in which they speak."""

EVERY_TYPE: Final = ""
"""Instead of a type, of a rule that looks at every resource; it speaks after those of the type."""


def by_type(tables: Iterable[Rules]) -> dict[str, list[Rule]]:
    """The rules of each type, in the order of the tables."""
    found: dict[str, list[Rule]] = defaultdict(list)
    for table in tables:
        for rule, types in table.items():
            for type_ in types:
                found[type_].append(rule)
    return dict(found)
