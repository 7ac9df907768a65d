"""The price rules: a resource type's card names its rule, or says why it is free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Final

from trainyard import cards
from trainyard.cards.card import Free
from trainyard.cost.context import CostEntry, PriceContext
from trainyard.cost.rules import audit, compute, kubernetes, network, services, storage
from trainyard.cost.rules.gcp import compute as gcp_compute
from trainyard.cost.rules.gcp import network as gcp_network
from trainyard.cost.rules.gcp import services as gcp_services
from trainyard.cost.rules.gcp import storage as gcp_storage
from trainyard.recorded.model import RecordedResource

Rule = Callable[[RecordedResource, PriceContext], Iterable[CostEntry]]
"""A pure function: a resource, with the recording for its references, to what is paid for. Yields nothing for a
resource whose settings cost nothing (a gateway endpoint). Raises `NotPriced` for what it cannot price."""

USES_NOTHING = "as it is set, it costs nothing"
"""Why a resource whose rule yields nothing is free, such as a gateway endpoint."""

_MODULES: Final[Mapping[str, ModuleType]] = {
    "audit": audit,
    "compute": compute,
    "gcp.compute": gcp_compute,
    "gcp.network": gcp_network,
    "gcp.services": gcp_services,
    "gcp.storage": gcp_storage,
    "kubernetes": kubernetes,
    "network": network,
    "services": services,
    "storage": storage,
}


@cache
def rule_of(type_: str) -> Rule | None:
    """The price rule of a type; None where it is free or nobody has said anything of it."""
    card = cards.BY_TYPE.get(type_)
    if card is None or not isinstance(card.price, str):
        return None
    module, _, function = card.price.rpartition(".")
    rule: Rule = getattr(_MODULES[module], function)
    return rule


def free_reason(type_: str) -> str | None:
    """Why resources of that type cost nothing; None where they have a rule or nobody has said so."""
    price = cards.of(type_).price
    return price.free if isinstance(price, Free) else None
