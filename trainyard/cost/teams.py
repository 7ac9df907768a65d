"""A team's share of the cost: of each GPU node group, its quota's part; everything else is shared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.conventions import CAPACITY_LABEL, GPU_RESOURCE, POOL_LABEL
from trainyard.cost.model import NOTHING, Amounts, LineItem, Share
from trainyard.cost.scene import Scene, as_number, read, read_list, read_map
from trainyard.recorded.model import RecordedResource

CLUSTER_QUEUE = "ClusterQueue"
RESOURCE_FLAVOR = "ResourceFlavor"
SHARED = "shared"
"""Network, storage, system nodes, and GPU nodes that no queue has a quota of."""


def shares_of_teams(lines: Sequence[LineItem], scene: Scene, plan: Mapping[str, Any]) -> tuple[Share, ...]:
    """Cost by team, by the nominal GPU quotas of the recorded cluster queues; the last share is what is shared.

    The cents that rounding leaves go to the shared part, so that the shares add up to the lines.
    """
    quotas = _quotas(scene)
    sums: dict[str, Amounts] = {team: NOTHING for parts in quotas.values() for team in parts}
    for line in lines:
        parts = quotas.get((line.pool, line.capacity), {}) if line.pool else {}
        held = sum(parts.values())
        for team, gpus in parts.items():
            if held:
                sums[team] = sums[team] + line.usd.times(gpus / held)
    total = sum((line.usd for line in lines), NOTHING)
    teams = {team: usd.rounded() for team, usd in sums.items()}
    rest = total + sum(teams.values(), NOTHING).times(-1)
    budgets = {
        str(team.get("name")): team.get("monthly_budget_usd") for team in (plan.get("core") or {}).get("teams") or ()
    }
    shares = [Share(team, "", usd, budgets.get(team)) for team, usd in teams.items()]
    return (*shares, Share(SHARED, "", rest.rounded()))


def _quotas(scene: Scene) -> dict[tuple[str, str], dict[str, float]]:
    """GPUs by team, for each pool in each capacity, as the flavors' node labels name them."""
    flavors: dict[str, tuple[str, str]] = {}
    for resource in _of_kind(scene, RESOURCE_FLAVOR):
        labels = read_map(resource, "spec", "nodeLabels")
        flavors[str(read(resource, "metadata", "name"))] = (
            str(labels.get(POOL_LABEL, "")),
            str(labels.get(CAPACITY_LABEL, "")),
        )
    quotas: dict[tuple[str, str], dict[str, float]] = {}
    for resource in _of_kind(scene, CLUSTER_QUEUE):
        team = str(read(resource, "metadata", "name"))
        for flavor, gpus in _nominal(resource):
            if gpus and flavor in flavors:
                parts = quotas.setdefault(flavors[flavor], {})
                parts[team] = parts.get(team, 0.0) + gpus
    return quotas


def _nominal(queue: RecordedResource) -> Iterator[tuple[str, float]]:
    """Flavor and GPUs of each quota of a queue; what is no quota is passed over: the schema check says so."""
    for group in _mappings(read_list(queue, "spec", "resourceGroups")):
        for flavor in _mappings(group.get("flavors")):
            for entry in _mappings(flavor.get("resources")):
                if entry.get("name") == GPU_RESOURCE:
                    yield str(flavor.get("name")), as_number(entry.get("nominalQuota"), "nominalQuota")


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _of_kind(scene: Scene, kind: str) -> Iterable[RecordedResource]:
    return (
        resource
        for resource in scene.resources
        if resource.type.startswith("kubernetes:kueue.x-k8s.io/") and resource.type.endswith(f":{kind}")
    )
