"""GPU node groups of either cloud, read from their resources: what they hold, how they are paid for, what they cost.

AWS: EKS node groups, whose instance types the catalogue knows. Google Cloud: GKE node pools with guest accelerators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pulumi_policy import PolicyResource, ResourceValidationArgs

from trainyard.catalog import cpu_instance, instance
from trainyard.conventions import CAPACITY_LABEL, POOL_LABEL
from trainyard.policies.reading import at, items, mapping, true

EKS = "aws:eks/nodeGroup:NodeGroup"
GKE = "gcp:container/nodePool:NodePool"
TYPES = (EKS, GKE)
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
POOL_TYPES = (*TYPES, LAUNCH_TEMPLATE)
"""What a stack policy on node groups declares: a Capacity Block names its instance type in the launch template."""


@dataclass(frozen=True, slots=True)
class NodePool:
    """One node group. `gpus` is what it holds at most; `usd_per_hour` None: the catalogue has no price."""

    name: str
    pool: str  # of the plan: the label; the resource's name where there is none
    labels: dict[str, str]
    instance_types: tuple[str, ...]
    gpu_models: tuple[str, ...]  # empty: no GPU
    gpus_per_node: int
    min_nodes: int
    max_nodes: int
    capacity: str  # reserved, spot, on-demand

    @property
    def gpus(self) -> int:
        """GPUs that the pool holds at most."""
        return self.max_nodes * self.gpus_per_node


def node_pool(resource: PolicyResource | ResourceValidationArgs) -> NodePool:
    """The node group that a resource describes."""
    return _gke(resource) if resource.resource_type == GKE else _eks(resource)


def gpu_pools(resources: Iterable[PolicyResource]) -> list[tuple[PolicyResource, NodePool]]:
    """Those of the node groups that have GPUs, with what they hold."""
    pools = [(resource, node_pool(resource)) for resource in resources]
    return [(resource, pool) for resource, pool in pools if pool.gpu_models]


def _eks(resource: PolicyResource | ResourceValidationArgs) -> NodePool:
    props = resource.props
    labels = {key: str(value) for key, value in mapping(props, "labels").items()}
    types = tuple(str(type_) for type_ in items(props, "instanceTypes")) or _of_template(resource)
    known = [found for found in map(_gpu_instance, types) if found is not None]
    spot = at(props, "capacityType") == "SPOT"
    block = at(props, "capacityType") == "CAPACITY_BLOCK"
    return NodePool(
        name=resource.name,
        pool=labels.get(POOL_LABEL, resource.name),
        labels=labels,
        instance_types=types,
        gpu_models=tuple(dict.fromkeys(found[0] for found in known)),
        gpus_per_node=min((found[1] for found in known), default=0),
        min_nodes=int(at(props, "scalingConfig", "minSize", default=0)),
        max_nodes=int(at(props, "scalingConfig", "maxSize", default=0)),
        # AWS's own word comes before the label, which alone tells a reserved node from another on demand.
        capacity="spot" if spot else "reserved" if block or labels.get(CAPACITY_LABEL) == "reserved" else "on-demand",
    )


def _of_template(resource: PolicyResource | ResourceValidationArgs) -> tuple[str, ...]:
    if not isinstance(resource, PolicyResource):
        return ()
    templates = resource.property_dependencies.get("launchTemplate", [])
    found = (at(template.props, "instanceType") for template in templates)
    return tuple(str(type_) for type_ in found if type_)


def _gpu_instance(type_: str) -> tuple[str, int] | None:
    try:
        found = instance(type_)
    except KeyError:
        return None
    return found.gpu, max(found.gpus, 1)


def _gke(resource: PolicyResource | ResourceValidationArgs) -> NodePool:
    node, scaling = at(resource.props, "nodeConfig"), at(resource.props, "autoscaling")
    accelerators = items(node, "guestAccelerators")
    labels = {key: str(value) for key, value in mapping(node, "labels").items()}
    zones = max(1, len(items(resource.props, "nodeLocations")))  # limits that are not totals hold for each zone
    fixed = at(resource.props, "nodeCount", default=0)
    reserved = at(node, "reservationAffinity", "consumeReservationType") == "SPECIFIC_RESERVATION"
    spot = true(node, "spot") or true(node, "preemptible")

    def nodes(which: str) -> int:
        total = at(scaling, f"total{which.title()}NodeCount")
        return int(total if total is not None else at(scaling, f"{which}NodeCount", default=fixed) * zones)

    return NodePool(
        name=resource.name,
        pool=labels.get(POOL_LABEL, resource.name),
        labels=labels,
        instance_types=(str(at(node, "machineType", default="")),),
        gpu_models=tuple(str(at(card, "type", default="")) for card in accelerators),
        gpus_per_node=int(sum(at(card, "count", default=0) for card in accelerators)),
        min_nodes=nodes("min"),
        max_nodes=nodes("max"),
        capacity=labels.get(CAPACITY_LABEL, "reserved" if reserved else "spot" if spot else "on-demand"),
    )


def gpu_of(type_: str) -> str | None:
    """The GPU model of an instance type; None where it has none."""
    found = _gpu_instance(type_)
    return found[0] if found else None


def usd_per_hour(type_: str) -> float | None:
    """On-demand list price of an instance type; None where the catalogue has none."""
    try:
        return instance(type_).usd_per_hour
    except KeyError:
        pass
    try:
        return cpu_instance(type_).usd_per_hour
    except KeyError:
        return None
