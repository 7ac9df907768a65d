"""Security: what a team takes besides GPUs is bounded: claims, storage, pods without GPUs, priorities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.catalog.eks_nodes import machine, pods_of_prefixes
from trainyard.conventions import CPU_ONLY_PRIORITY, SYSTEM_PRIORITIES
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NODE_GROUP_PARTS
from trainyard.recorded.node_labels import node_groups_of
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import is_set, mapping_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import LIMIT_RANGE, NAMESPACE, RESOURCE_QUOTA, VOLUME

MOST: Final = {
    "pods": "15000", "persistentvolumeclaims": "10000", "requests.storage": "10Pi", "requests.cpu": "100000",
    "requests.memory": "1Pi",
}  # fmt: skip
"""More than this is no team's: a tenth of what a whole cluster may have is 15,000 pods (Kubernetes documentation,
"Considerations for large clusters", 150,000 pods, read 2026-11); of the rest, what no project of this size rents.
Where the stack's own nodes or volumes hold more, that is the end of it."""

ROOM_FOR_VOLUMES: Final = 2
"""Claims in what the stack's volumes hold: one that is replaced counts until the quota has noticed."""


@stack_rule(
    "team-without-quotas",
    "Every team's claims, its storage and its pods without GPUs are bounded, and none has a system priority.",
    types=(NAMESPACE, RESOURCE_QUOTA, LIMIT_RANGE, VOLUME, *NODE_GROUP_PARTS),
    severity=Severity.MEDIUM,
    controls=("CIS EKS 1.5.0 5.2.1", "NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Use the team namespaces as they are; each has its quotas, and what a container gets that asks for nothing.",
    config={
        "most": {
            "type": "object",
            "default": MOST,
            "description": "The most of each that still is a bound, as quantities of Kubernetes.",
        }
    },
)
def team_without_quotas(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A pod of a system class evicts the platform's own; claims and pods without a bound are other people's disks."""
    held = _held(resources)
    most = {
        counted: max(quantity(limit) or 0, held.get(counted, 0) if limit == MOST.get(counted) else 0)
        for counted, limit in {**MOST, **config["most"]}.items()
    }
    defaults = {
        value_at(found.inputs, "metadata", "namespace") for found in resources.of(LIMIT_RANGE) if _fills_in(found)
    }
    quotas = [(value_at(quota.inputs, "metadata", "namespace"), quota) for quota in resources.of(RESOURCE_QUOTA)]
    for team in team_namespaces(resources):
        name = value_at(team.inputs, "metadata", "name")
        own = [quota for namespace, quota in quotas if namespace == name]
        for counted in ("persistentvolumeclaims", "requests.storage"):
            if not any(counted in _hard(quota) and not _is_scoped(quota) for quota in own):
                yield team, f"{name}: no quota counts {counted}"
        for counted in ("requests.cpu", "requests.memory", "pods"):
            if not any(counted in _hard(quota) and CPU_ONLY_PRIORITY in _classes(quota) for quota in own):
                yield team, f"{name}: no quota counts {counted} of pods of class {CPU_ONLY_PRIORITY}"
        for quota in own:
            for counted, limit in most.items():
                if (found := quantity(_hard(quota).get(counted))) is not None and found > limit:
                    yield quota, f"{name}: {_hard(quota)[counted]} of {counted} is no bound (most: {limit:.0f})"
        must_ask = any(
            not _is_scoped(quota) and {"requests.memory", "limits.memory"} & set(_hard(quota)) for quota in own
        )
        if name not in defaults and not must_ask:
            yield team, f"{name}: no LimitRange says what a container gets that asks for no memory"
        for priority in SYSTEM_PRIORITIES:
            if not any(quantity(_hard(quota).get("pods")) == 0 and priority in _classes(quota) for quota in own):
                yield team, f"{name}: no quota of 0 pods for {priority}"


def _held(resources: Resources) -> dict[str, float]:
    """What all nodes and volumes that are recorded hold at their most; of machines that nobody knows, only pods."""
    held: Counter[str] = Counter()
    for group in node_groups_of(resources) or ():
        known = [found for found in map(machine, group.instance_types) if found is not None]
        cores, gib = max((one.vcpus for one in known), default=0), max((one.memory_gib for one in known), default=0)
        each = {"pods": pods_of_prefixes(cores), "requests.cpu": cores, "requests.memory": int(gib) << 30}
        held.update({counted: group.max_nodes * amount for counted, amount in each.items()})
    sizes = (
        quantity(value_at(volume.inputs, "spec", "capacity", "storage", unknown=None))
        for volume in resources.of(VOLUME)
    )
    held["requests.storage"] = ROOM_FOR_VOLUMES * int(sum(size or 0 for size in sizes))
    return dict(held)


def _fills_in(limits: RecordedResource) -> bool:
    """Whether it gives a container that asks for no memory a request or a limit."""
    return any(
        value_at(one, "type") == "Container"
        and (is_set(one, "defaultRequest", "memory") or is_set(one, "default", "memory"))
        for one in mappings_at(limits.inputs, "spec", "limits")
    )


def _hard(quota: RecordedResource) -> dict[str, Any]:
    return mapping_at(quota.inputs, "spec", "hard")


def _is_scoped(quota: RecordedResource) -> bool:
    return is_set(quota.inputs, "spec", "scopes") or is_set(quota.inputs, "spec", "scopeSelector")


def _classes(quota: RecordedResource) -> set[str]:
    """The priority classes whose pods a quota counts alone; of several expressions all have to hold."""
    expressions = mappings_at(quota.inputs, "spec", "scopeSelector", "matchExpressions")
    if is_set(quota.inputs, "spec", "scopes") or len(expressions) != 1:
        return set()
    (only,) = expressions
    named = (value_at(only, "scopeName"), value_at(only, "operator")) == ("PriorityClass", "In")
    return set(texts_at(only, "values")) if named else set()
