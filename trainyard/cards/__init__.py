"""What is known of a resource type, in one entry: ids, outputs, service operation, seconds, price, tags, state.

Every other table of types derives from the cards: the rehearsal's ids and outputs, its checks against Amazon's models
and its critical path, the price rules, and the policies' lists of what is stateful, tagged or encrypted. Plain data: a
new type is a new card here, and a rule of its own where its price or its mistakes need code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from trainyard.cards import gcp, kubernetes, pulumi
from trainyard.cards.aws import buckets, compute, database, eks, identity, network, operations, storage
from trainyard.cards.card import Card

_FAMILIES: Final = (network, compute, eks, storage, buckets, database, identity, operations, gcp, kubernetes, pulumi)

BY_TYPE: Final[Mapping[str, Card]] = {
    card.type: card for family in _FAMILIES for card in family.CARDS if not card.type.endswith("*")
}
"""The cards of single types."""

_BY_BEGINNING: Final[Mapping[str, Card]] = {
    card.type.removesuffix("*"): card for family in _FAMILIES for card in family.CARDS if card.type.endswith("*")
}


@cache
def of(type_: str) -> Card:
    """The card of a type; the one of the longest beginning that fits where it has none of its own."""
    own = BY_TYPE.get(type_)
    if own is not None:
        return own
    return _BY_BEGINNING[max((start for start in _BY_BEGINNING if type_.startswith(start)), key=len)]
