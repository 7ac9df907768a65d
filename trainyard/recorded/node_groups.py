"""Node groups of any cloud, read from what was recorded: what they hold, and how they are paid for.

AWS: EKS node groups with their launch templates, whose instance types the catalogue knows. Google Cloud: GKE node
pools with guest accelerators. Policies, cost and reports all read node groups here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.catalog import gcp, instance
from trainyard.catalog.mig import mig_profiles
from trainyard.conventions import (
    CAPACITY_LABEL,
    DEVICE_PLUGIN_LABEL,
    GPU_RESOURCE,
    POOL_LABEL,
    TPU_RESOURCE,
    Capacity,
    pods_per_gpu_of,
)
from trainyard.conventions.gcp import FABRIC_INTERFACES, GKE_ACCELERATORS
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, length_at, list_at, mapping_at, mappings_at, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EKS_NODE_GROUP as EKS_NODE_GROUP  # what reads node groups asks here
from trainyard.recorded.types import GKE_NODE_POOL as GKE_NODE_POOL
from trainyard.recorded.types import LAUNCH_TEMPLATE as LAUNCH_TEMPLATE

NODE_GROUP_TYPES = (EKS_NODE_GROUP, GKE_NODE_POOL)
EFA_INTERFACES = ("efa", "efa-only")
"""Kinds of network interface of a launch template that are Elastic Fabric Adapters."""
_SHARED = ("gpuSharingConfig", "maxSharedClientsPerGpu")
NODE_GROUP_PARTS = (*NODE_GROUP_TYPES, LAUNCH_TEMPLATE)
"""Types that a reader of node groups needs: reservations, and instance types of Capacity Blocks, stand in templates."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """One group of nodes that scale together, in any cloud, as its recorded resources describe it."""

    resource: RecordedResource
    template: RecordedResource | None  # the launch template, where it is recorded
    labels: Mapping[str, str]  # of the nodes
    instance_types: tuple[str, ...]  # in order of preference; empty: nobody says
    gpu_models: tuple[str, ...]  # by the catalogue's names where it has them; empty: no GPU
    gpus_per_node: int  # at most, where types differ
    fabric_interfaces: int  # fast interfaces between nodes, a node; 0 for the plain network
    min_nodes: int
    max_nodes: int
    capacity: Capacity
    in_capacity_block: bool  # paid for once, when the block is bought; its `capacity` is reserved
    from_queue: bool = False  # Google's flex-start: sold below the price on demand, for a time
    pods_per_gpu: int = 1  # that take turns on it, or have an instance of it
    tpu_chips_per_node: int = 0  # of a slice of TPUs; 0: none, or a machine that the catalogue does not have

    @property
    def name(self) -> str:
        """Logical name of the resource."""
        return self.resource.name

    @property
    def pool(self) -> str:
        """The pool of the plan, by the label of the nodes; the resource's name where there is none."""
        return self.labels.get(POOL_LABEL, self.resource.name)

    @property
    def gpus(self) -> int:
        """GPUs that the group holds at most."""
        return self.max_nodes * self.gpus_per_node

    @property
    def offered(self) -> dict[str, int]:
        """What a node tells pods of that jobs are counted by: GPUs, or TPU chips."""
        each = {GPU_RESOURCE: self.gpus_per_node * self.pods_per_gpu, TPU_RESOURCE: self.tpu_chips_per_node}
        return {resource: count for resource, count in each.items() if count}

    @property
    def gpus_offered(self) -> int:
        """GPUs that the group tells pods of at most: one that is shared counts as often as pods take turns on it."""
        return self.gpus * self.pods_per_gpu


def node_group(resource: RecordedResource, resources: Resources) -> NodeGroup:
    """The node group that a resource of `NODE_GROUP_TYPES` describes; `resources` holds its launch template, if any.

    Raises:
        UnknownInput: something of it is not known yet.
        UnreadableInput: a size is not a number of 0 or more.
    """
    return _gke(resource) if resource.type == GKE_NODE_POOL else _eks(resource, resources)


def gpu_node_groups(resources: Resources) -> list[NodeGroup]:
    """The recorded node groups that have GPUs. Raises as `node_group` does."""
    groups = (node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES))
    return [group for group in groups if group.gpu_models]


def tpu_node_groups(resources: Resources) -> list[NodeGroup]:
    """The recorded node groups that have TPU chips. Raises as `node_group` does."""
    groups = (node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES))
    return [group for group in groups if group.tpu_chips_per_node]


def gpu_model(instance_type: str) -> str | None:
    """The GPU model of an AWS instance type by the catalogue; None where it has none there."""
    found = _gpus(instance_type)
    return found[0] if found else None


def keeps_pods_off(resource: RecordedResource, keys: tuple[str, ...]) -> bool:
    """Whether the nodes of a group have a taint whose key begins with one of these, and that keeps off what does not
    tolerate it. One by which pods prefer other nodes does not.
    """
    of_nodes = mappings_at(resource.inputs, *(("nodeConfig",) if resource.type == GKE_NODE_POOL else ()), "taints")
    return any(
        str(value_at(taint, "key", default="")).startswith(keys)
        and value_at(taint, "effect") in ("NO_SCHEDULE", "NO_EXECUTE")
        for taint in of_nodes
    )


def targets_reservation(template: RecordedResource) -> bool:
    """Whether a launch template binds its instances to reservations, known or not yet known by id."""
    specification = value_at(template.inputs, "capacityReservationSpecification")
    only = value_at(specification, "capacityReservationPreference") == "capacity-reservations-only"
    return only or is_set(specification, "capacityReservationTarget")


def affine_to_reservation(pool: RecordedResource) -> bool:
    """Whether a GKE node pool takes its nodes out of one named reservation."""
    affinity = value_at(pool.inputs, "nodeConfig", "reservationAffinity", "consumeReservationType")
    return bool(affinity == "SPECIFIC_RESERVATION")


def _eks(resource: RecordedResource, resources: Resources) -> NodeGroup:
    template = next(iter(resources.referred(resource, "launchTemplate", LAUNCH_TEMPLATE)), None)
    key = (id(resource), id(template))
    found = resources.notes.get(key)
    if found is None:  # a stack is asked two hundred times
        found = resources.notes[key] = _of_eks(resource, template)
    group: NodeGroup = found
    return group


def _of_eks(resource: RecordedResource, template: RecordedResource | None) -> NodeGroup:
    inputs = resource.inputs
    launched = template.inputs if template is not None else {}
    types = tuple(map(str, list_at(inputs, "instanceTypes") or list_at(launched, "instanceType")))
    gpus = [found for found in map(_gpus, types) if found is not None]
    labels = _labels(inputs)
    kind = value_at(inputs, "capacityType")
    block = kind == "CAPACITY_BLOCK" or value_at(launched, "instanceMarketOptions", "marketType") == "capacity-block"
    return NodeGroup(
        resource=resource,
        template=template,
        labels=labels,
        instance_types=types,
        gpu_models=tuple(dict.fromkeys(model for model, _ in gpus)),
        gpus_per_node=max((count for _, count in gpus), default=0),
        fabric_interfaces=sum(
            value_at(interface, "interfaceType", unknown="") in EFA_INTERFACES
            for interface in mappings_at(launched, "networkInterfaces")
        ),
        min_nodes=int(number_at(inputs, "scalingConfig", "minSize", default=0)),
        max_nodes=int(number_at(inputs, "scalingConfig", "maxSize", default=0)),
        capacity=_capacity(
            reserved=block or (template is not None and targets_reservation(template)),
            spot=kind == "SPOT",
            labels=labels,
        ),
        in_capacity_block=block,
        pods_per_gpu=pods_per_gpu_of(labels.get(DEVICE_PLUGIN_LABEL, "")),
    )


def _gke(resource: RecordedResource) -> NodeGroup:
    node, scaling = value_at(resource.inputs, "nodeConfig"), value_at(resource.inputs, "autoscaling")
    accelerators = mappings_at(node, "guestAccelerators")
    models = (str(value_at(accelerator, "type", default="")) for accelerator in accelerators)
    labels = _labels(node)
    zones = max(1, len(list_at(resource.inputs, "nodeLocations")))  # limits that are not totals hold for each zone

    def nodes(which: str) -> int:
        total, each_zone = f"total{which.title()}NodeCount", f"{which}NodeCount"
        if is_set(scaling, total):
            return int(number_at(scaling, total))
        # What the autoscaler decides has no number of its own, which is known once there are nodes.
        first = number_at(resource.inputs, "initialNodeCount", default=0)
        fixed = 0 if scaling else number_at(resource.inputs, "nodeCount", default=first)
        return int(zones * number_at(scaling, each_zone, default=fixed))

    return NodeGroup(
        resource=resource,
        template=None,
        labels=labels,
        instance_types=tuple(map(str, list_at(node, "machineType"))),
        gpu_models=tuple(GKE_ACCELERATORS.get(model, model) for model in models),
        gpus_per_node=int(sum(number_at(accelerator, "count", default=0) for accelerator in accelerators)),
        fabric_interfaces=_gke_fabric(resource),
        min_nodes=nodes("min"),
        max_nodes=nodes("max"),
        capacity=_capacity(
            reserved=affine_to_reservation(resource),
            spot=is_on(node, "spot") or is_on(node, "preemptible"),
            labels=labels,
            queued=is_on(node, "flexStart"),
        ),
        in_capacity_block=False,
        from_queue=is_on(node, "flexStart"),
        pods_per_gpu=int(
            max((number_at(one, *_SHARED, default=1) * _instances(one) for one in accelerators), default=1)
        ),
        tpu_chips_per_node=tpu_chips(str(value_at(node, "machineType", default=""))),
    )


def tpu_chips(machine_type: str) -> int:
    """TPU chips of a machine type of Google Cloud; 0 where it has none, or is not in the catalogue."""
    return next((tpu.chips for tpu in gcp.tpus() if tpu.type == machine_type), 0)


def _instances(accelerator: Any) -> int:
    """How many instances each of its GPUs is partitioned into."""
    profile = str(value_at(accelerator, "gpuPartitionSize", default="") or "")
    known = mig_profiles(GKE_ACCELERATORS.get(str(value_at(accelerator, "type", default="")), ""))
    return known[profile].instances if profile in known else 1


def _gke_fabric(pool: RecordedResource) -> int:
    """Fast interfaces of a node: those that are named, or those that GKE sets up itself (DRANET)."""
    network = value_at(pool.inputs, "networkConfig", unknown=None)  # what GKE fills in is none that was asked for
    named = length_at(network, "additionalNodeNetworkConfigs")
    if not is_set(network, "acceleratorNetworkProfile"):
        return named
    machine = value_at(pool.inputs, "nodeConfig", "machineType", default="")
    return named or FABRIC_INTERFACES.get(str(machine), 1)


def _capacity(*, reserved: bool, spot: bool, labels: Mapping[str, str], queued: bool = False) -> Capacity:
    """The cloud's own word; the label comes last, which alone tells a reserved node from another on demand."""
    if spot or queued:
        return "spot" if spot else "flex-start"
    return "reserved" if reserved or labels.get(CAPACITY_LABEL) == "reserved" else "on-demand"


def _labels(inputs: Mapping[str, object]) -> dict[str, str]:
    return {key: str(label) for key, label in mapping_at(inputs, "labels").items()}


def _gpus(instance_type: str) -> tuple[str, int] | None:
    """GPU model and GPUs of an instance type; a part of a GPU counts as one."""
    try:
        found = instance(instance_type)
    except KeyError:
        return None
    return found.gpu, max(found.gpus, 1)
