"""What is known of a resource type, in one entry: ids, outputs, service operation, seconds, price, tags, state.

Every other table of types derives from the cards: the rehearsal's ids and outputs, its checks against Amazon's models
and its critical path, the price rules, and the policies' lists of what is stateful, tagged or encrypted. Plain data, in
the YAML files beside this module: a new type is a new entry there, and a rule of its own where its price or its
mistakes need code. `card` says what an entry may hold.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from trainyard.cards.card import Card
from trainyard.cards.load import Cards, entries

_EVERY: Final = {
    type_: entry for file in sorted(Path(__file__).parent.rglob("*.yaml")) for type_, entry in entries(file).items()
}

BY_TYPE: Final = Cards({type_: entry for type_, entry in _EVERY.items() if not type_.endswith("*")})
"""The cards that are of one resource type, by that type."""

_OF_MANY: Final = Cards({type_: entry for type_, entry in _EVERY.items() if type_.endswith("*")})


@cache
def of(type_: str) -> Card:
    """The card of a type; the one of the longest beginning that fits where it has none of its own."""
    own: Card | None = BY_TYPE.get(type_)
    if own is not None:
        return own
    return _OF_MANY[max((begins for begins in _OF_MANY if type_.startswith(begins.removesuffix("*"))), key=len)]
