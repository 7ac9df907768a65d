"""The table of price rules: one a resource type, or an entry of what is free with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from trainyard.cost.context import CostEntry, PriceContext
from trainyard.cost.rules.compute import RULES as _COMPUTE
from trainyard.cost.rules.free import free_reason
from trainyard.cost.rules.kubernetes import RULES as _KUBERNETES
from trainyard.cost.rules.network import RULES as _NETWORK
from trainyard.cost.rules.services import RULES as _SERVICES
from trainyard.cost.rules.storage import RULES as _STORAGE
from trainyard.recorded.model import RecordedResource

Rule = Callable[[RecordedResource, PriceContext], Iterable[CostEntry]]
"""A pure function: a resource, with the recording for its references, to what is paid for. Yields nothing for a
resource whose settings cost nothing (a gateway endpoint). Raises `NotPriced` for what it cannot price."""

RULES: Mapping[str, Rule] = {**_COMPUTE, **_NETWORK, **_STORAGE, **_SERVICES, **_KUBERNETES}

__all__ = ["RULES", "Rule", "free_reason"]
