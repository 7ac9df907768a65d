"""Amazon's models of types that no environment here makes: what other people's programs give AWS is checked by them.

The table is read when the first such type comes, so that a stack of ours does not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from trainyard import cards
from trainyard.cards.card import ServiceModel
from trainyard.catalog.tables import tree


@cache
def table() -> Mapping[str, ServiceModel]:
    """The models by resource type."""
    content = tree(files(__package__).joinpath("elsewhere.yaml"))
    return {
        type_: ServiceModel(
            tuple(entry["calls"]),
            entry.get("names") or {},
            *(tuple(entry.get(key) or ()) for key in ("undescribed", "caseless", "unset_by_zero")),
        )
        for type_, entry in content.items()
    }


def model_of(type_: str) -> ServiceModel | None:
    """What describes a type's inputs: its card, or the table where it has no card of its own."""
    if type_ in cards.BY_TYPE or not type_.startswith("aws:"):
        return cards.of(type_).model
    return table().get(type_)
