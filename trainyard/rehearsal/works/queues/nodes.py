"""The nodes behind the flavors: which groups they are, and what these hold at most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from math import inf

from trainyard.catalog import cpu_instance, gke_nodes, instance
from trainyard.conventions import GPU_RESOURCE
from trainyard.conventions.gcp import TPU_FAMILIES
from trainyard.conventions.quantities import GIBIBYTE
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NodeGroup, gpu_model
from trainyard.recorded.node_labels import have_labels
from trainyard.recorded.read import UnknownInput, is_set
from trainyard.recorded.taints import taints_of
from trainyard.rehearsal.works.queues.kubernetes.model import Configuration, Flavor, Node

_MOST_NODES = 256
"""So many nodes of a group are played one by one, where topology decides. More make no difference to any shape."""


def groups_by_flavor(groups: list[NodeGroup], configuration: Configuration) -> dict[str, list[NodeGroup]]:
    """The node groups of each flavor; a flavor of which that is not known for sure is left out."""
    found = {}
    for name, flavor in configuration.flavors.items():
        answers = [(group, have_labels(group, flavor.node_labels)) for group in groups]
        if groups and flavor.node_labels and None not in [answer for _, answer in answers]:
            found[name] = [group for group, answer in answers if answer]
    return found


def gpus_of_node(groups: list[NodeGroup]) -> int | None:
    """GPUs of each node of some groups, as pods are told of them; None where they differ, or are not known."""
    known: set[int | None] = set()
    for group in groups:
        if group.resource.type == EKS_NODE_GROUP:
            each = {_gpus(type_) for type_ in group.instance_types}
        elif group.gpus_per_node or group.tpu_chips_per_node:
            each = {group.gpus_per_node}
        else:  # machines that come with GPUs need not say so
            each = {found.gpus if (found := gke_nodes.machine(type_)) else None for type_ in group.instance_types}
        known |= {None if gpus is None else gpus * group.pods_per_gpu for gpus in each}
    return next(iter(known)) if len(known) == 1 else None


def _gpus(type_: str) -> int | None:
    if gpu_model(type_) is not None:
        return max(instance(type_).gpus, 1)
    return 0 if _cpus(type_) is not None else None


def have_no_gpus(groups: list[NodeGroup]) -> bool:
    """Whether the nodes of all of some groups have no GPU for sure."""
    return bool(groups) and gpus_of_node(groups) == 0 and not any(group.gpu_models for group in groups)


def have_no_tpus(groups: list[NodeGroup]) -> bool:
    """Whether the nodes of all of some groups have no TPU chips for sure: by their machines' names."""
    return bool(groups) and not any(
        not group.instance_types or type_.startswith(TPU_FAMILIES) for group in groups for type_ in group.instance_types
    )


def slice_of(groups: list[NodeGroup]) -> int | None:
    """TPU chips that a job on some groups takes at once: of a slice of several machines, which is a group, those of all
    of them; None where groups differ, or have none."""
    found = {
        group.tpu_chips_per_node * (group.max_nodes if is_set(group.resource.inputs, "placementPolicy") else 1)
        for group in groups
    }
    return next(iter(found)) or None if len(found) == 1 else None


def most_of(groups: list[NodeGroup], resource: str) -> float | None:
    """What some groups hold of cores, bytes or GPUs with all of their nodes; None where that is not known.

    Of cores and bytes it is the capacity: what pods get of it is less.
    """
    if resource == GPU_RESOURCE:
        each = gpus_of_node(groups)
        return None if each is None else float(each * sum(group.max_nodes for group in groups))
    per_type: Mapping[str, Callable[[str], float | None]] = {"cpu": _cpus, "memory": _bytes}
    if resource not in per_type or any(group.resource.type != EKS_NODE_GROUP for group in groups):
        return None
    total = 0.0
    for group in groups:
        of_types = [per_type[resource](type_) for type_ in group.instance_types]
        if not of_types or None in of_types:
            return None
        total += group.max_nodes * max(amount for amount in of_types if amount is not None)
    return total


def _cpus(type_: str) -> float | None:
    try:
        return float(instance(type_).vcpus)
    except KeyError:
        pass
    try:
        return float(cpu_instance(type_).vcpus)
    except KeyError:
        return None


def _bytes(type_: str) -> float | None:
    try:
        return instance(type_).memory_gib * GIBIBYTE
    except KeyError:
        pass
    try:
        return cpu_instance(type_).memory_gib * GIBIBYTE
    except KeyError:
        return None


def nodes_of(flavors: Mapping[str, Flavor], by_flavor: Mapping[str, list[NodeGroup]]) -> Iterator[Node]:
    """All nodes that groups of topology-aware flavors can have: with their GPUs, and enough of all else."""
    groups = {
        group.resource.urn: group
        for name, found in by_flavor.items()
        if flavors[name].topology is not None
        for group in found
    }
    for group in groups.values():
        try:
            taints = tuple(taints_of(group))
        except UnknownInput:
            taints = ()
        free: dict[str, float] = defaultdict(lambda: inf)
        free[GPU_RESOURCE] = float(group.gpus_per_node * group.pods_per_gpu)
        for index in range(min(group.max_nodes, _MOST_NODES)):
            yield Node(f"{group.name}-{index}", group.labels, free, taints)
