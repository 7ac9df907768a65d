"""The register of rules: a function for some resource types, run on each resource of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from trainyard.rehearsal.refusals.context import Stack, View

Rule = Callable[[View, Stack], None]

_RULES: dict[str, list[Rule]] = defaultdict(list)


def rule(*types: str) -> Callable[[Rule], Rule]:
    """Registers a function for resource types; `""` stands for every type."""

    def register(function: Rule) -> Rule:
        for type_ in types:
            _RULES[type_].append(function)
        return function

    return register


def rules_of(type_: str) -> list[Rule]:
    """The rules of one resource type, in the order of registration."""
    return [*_RULES.get(type_, ()), *_RULES.get("", ())]
