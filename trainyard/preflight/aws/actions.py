"""The IAM actions that whoever runs `pulumi up` needs, by the types that the program makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard import cards
from trainyard.catalog.tables import tree
from trainyard.recorded.model import RecordedResource

TABLE: Final = "actions.yaml"


@cache
def _table() -> Mapping[str, Any]:
    return tree(files("trainyard.preflight.aws").joinpath(TABLE))


def actions_of(type_: str) -> tuple[str, ...]:
    """The actions that making a resource of a type takes; none where nobody has said."""
    card, table = cards.of(type_), _table()
    found: list[str] = list(table["types"].get(type_, ()))
    for call in card.model.calls if card.model is not None else ():
        service, operation = call.split(".")[:2]
        found += table["renamed"].get(
            f"{service}.{operation}", [f"{table['prefixes'].get(service, service)}:{operation}"]
        )
    return tuple(dict.fromkeys((*found, *table["besides"].get(type_, ()))))


def needed(resources: Iterable[RecordedResource]) -> dict[str, list[RecordedResource]]:
    """Every action that the recorded resources take, with those that take it; what is only read takes none here."""
    found: dict[str, list[RecordedResource]] = {}
    for resource in resources:
        if resource.is_made and resource.package == "aws" and not resource.read:
            for action in actions_of(resource.type):
                found.setdefault(action, []).append(resource)
    return found
