"""Kueue's objects together: what its webhooks refuse, and what they accept and no job ever survives.

Source: seen on a live Kueue 0.19.2 with Kubernetes 1.35.4 (2026-11-21); its webhooks for limits of a Cohort without a
parent ("must be nil when parent is empty", 2026-11).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, Final

from trainyard.conventions import ACCELERATORS, GPU_RESOURCE
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NodeGroup, gpu_model
from trainyard.recorded.node_labels import have_labels, node_groups_of
from trainyard.recorded.quantities import quantity
from trainyard.recorded.queue_manager import is_kueue, minor_version
from trainyard.recorded.queues import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, RESOURCE_FLAVOR
from trainyard.recorded.read import UnknownInput, follow, value_at
from trainyard.recorded.taints import TAINT_EFFECTS, taints_of
from trainyard.recorded.tolerations import may_tolerate
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.refusals.kubernetes.index import Objects, object_name
from trainyard.rehearsal.refusals.kubernetes.kueue_manager import check_manager
from trainyard.rehearsal.refusals.kubernetes.pod_parts import PARTS

_KNOWN_VERSION: Final = (0, 19)
"""The schemas and the fields of the configuration are those of this version."""


def is_known_version(stack: Stack) -> bool:
    """Whether the Kueue of a stack is the one that its objects are judged by, as far as the stack says which it is."""
    released = [resource for resource in stack.resources.of(HELM_RELEASE) if _is_kueue(resource)]
    return all(minor_version(resource) == _KNOWN_VERSION for resource in released if resource.inputs.get("version"))


def _is_kueue(resource: RecordedResource) -> bool:
    try:
        return is_kueue(resource)
    except UnknownInput:
        return False


def check(stack: Stack, objects: Objects) -> None:
    """Every rule about queues and flavors."""
    flavors = {name: view for view in stack.of_type(RESOURCE_FLAVOR) if (name := object_name(view))}
    released = [view for view in stack.of_type(HELM_RELEASE) if _is_kueue(view.resource)]
    # What a stack makes none of, somebody else may have made; not where the stack brings Kueue itself.
    names_known = ("ResourceFlavor", "") not in objects.blurred and bool(flavors or released)
    used = {local.text("spec.clusterQueue") for local in stack.of_type(LOCAL_QUEUE)}
    for queue in stack.of_type(CLUSTER_QUEUE):
        _queue(queue, flavors if names_known else None, used)
    for cohort in stack.of_type(COHORT):
        _cohort(cohort)
    queues_known = bool(stack.of_type(CLUSTER_QUEUE) or released)
    for local in stack.of_type(LOCAL_QUEUE):
        target = local.text("spec.clusterQueue")
        if target is None and local.lacks("spec.clusterQueue"):
            local.error("kueue-local-queue", "spec.clusterQueue", "is missing", allowed="the name of a ClusterQueue")
        elif target is not None and queues_known and objects.lacks("ClusterQueue", "", target):
            local.error(
                "kueue-local-queue",
                "spec.clusterQueue",
                f"no ClusterQueue {show(target)}",
                hint=nearest(target, objects.names("ClusterQueue", "")),
            )
    groups = node_groups_of(stack.resources)
    of_flavor = {name: _groups_of(flavor, groups) for name, flavor in flavors.items()}
    _quotas(stack, of_flavor)
    topologies_known = bool(objects.names("Topology", "") or released)
    for name, flavor in flavors.items():
        _flavor(flavor, objects if topologies_known else None, of_flavor[name])
    for release in released if is_known_version(stack) else ():
        check_manager(release)


def _queue(queue: View, flavors: Mapping[str, View] | None, used: Collection[str | None]) -> None:
    cohort = queue.has("spec.cohortName") or queue.has("spec.cohort")  # as v1beta1 calls it
    # One that nobody may use and no queue of a namespace names has what is left over, for the others of its cohort.
    lends = cohort and queue.text("metadata.name") not in used
    if queue.lacks("spec.namespaceSelector") and not queue.is_unknown("spec") and not lends:
        queue.error(
            "kueue-namespace-selector",
            "spec.namespaceSelector",
            "is missing: no namespace may use the queue",
            allowed="a selector on the team's namespace",
        )
    elif queue.value("spec.namespaceSelector") == {}:
        queue.warning(
            "kueue-namespace-selector",
            "spec.namespaceSelector",
            "lets every namespace use the queue",
            allowed="a selector on the team's namespace",
        )
    reclaim, borrow = (
        queue.text("spec.preemption.reclaimWithinCohort"),
        queue.text("spec.preemption.borrowWithinCohort.policy"),
    )
    if reclaim in (None, "Never") and borrow not in (None, "Never"):
        queue.error(
            "kueue-preemption",
            "spec.preemption.borrowWithinCohort.policy",
            f"{borrow} with reclaimWithinCohort Never",
            allowed="Never, or another reclaimWithinCohort",
        )
    _resource_groups(queue, flavors, "" if cohort else "spec.cohortName")


def _cohort(cohort: View) -> None:
    """A Cohort's own quotas are held to what a queue's are; its parent is what it borrows from and lends to."""
    parent = cohort.has("spec.parentName") or cohort.has("spec.parent")  # as v1alpha1 calls it
    _resource_groups(cohort, None, "" if parent else "spec.parentName")


def _resource_groups(queue: View, flavors: Mapping[str, View] | None, orphan: str) -> None:
    """Quotas of a queue or a Cohort; `orphan`: where it would name what is above it, if it names none."""
    seen_resources: set[str] = set()
    seen_flavors: set[str] = set()
    for path, group in queue.items("spec.resourceGroups"):
        covered = [item for item in listed(group.get("coveredResources")) if isinstance(item, str)]
        for index, resource in enumerate(covered):
            if resource in seen_resources:
                queue.error(
                    "kueue-covered",
                    f"{path}.coveredResources[{index}]",
                    f"{show(resource)} is covered twice",
                    allowed="one group a resource",
                )
            seen_resources.add(resource)
        for here, flavor in queue.items(f"{path}.flavors"):
            name = flavor.get("name")
            if isinstance(name, str):
                if name in seen_flavors:
                    queue.error(
                        "kueue-flavor", f"{here}.name", f"{show(name)} is given twice", allowed="one group a flavor"
                    )
                seen_flavors.add(name)
                if flavors is not None and name not in flavors:
                    queue.error(
                        "kueue-flavor",
                        f"{here}.name",
                        f"no ResourceFlavor {show(name)}: the whole queue stays inactive",
                        hint=nearest(name, flavors),
                    )
            _resources(queue, here, flavor, covered, orphan)


def _resources(queue: View, path: str, flavor: Mapping[str, Any], covered: list[str], orphan: str) -> None:
    given = [follow(item, "name") for item in listed(flavor.get("resources"))]
    clear = not queue.blurred(f"{path}.resources") and not queue.blurred(f"{path.rpartition('.')[0]}.coveredResources")
    if clear and UNKNOWN not in given and given != covered:
        queue.error(
            "kueue-covered",
            f"{path}.resources",
            f"lists {', '.join(map(str, given)) or 'nothing'}",
            allowed=f"the covered resources in their order: {', '.join(covered)}",
        )
    for here, resource in queue.items(f"{path}.resources"):
        nominal = resource.get("nominalQuota")
        amount = quantity(nominal)
        if amount is not None and amount < 0:
            queue.error("kueue-quota", f"{here}.nominalQuota", f"got {nominal}", allowed="at least 0")
        if "/" in str(resource.get("name")):
            for key in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                devices = quantity(resource.get(key))
                if devices is not None and devices % 1:
                    words = f"got {resource[key]}: devices are counted whole, and this is {math.ceil(devices)}"
                    queue.error("kueue-quota", f"{here}.{key}", words, allowed="a whole number")
        for key in ("borrowingLimit", "lendingLimit"):
            if resource.get(key) is not None and orphan and not queue.is_unknown(orphan):
                above = "parent" if orphan == "spec.parentName" else "cohort"
                queue.error("kueue-cohort", f"{here}.{key}", f"given without a {above}", allowed=orphan)
        lending = quantity(resource.get("lendingLimit"))
        if lending is not None and amount is not None and lending > amount:
            queue.error(
                "kueue-quota",
                f"{here}.lendingLimit",
                f"{lending:g} is above nominalQuota {amount:g}",
                allowed="at most nominalQuota",
            )


def _groups_of(flavor: View, groups: list[NodeGroup] | None) -> list[NodeGroup] | None:
    """The node groups whose nodes carry a flavor's labels; None where that is not known, or it names no label."""
    wanted = flavor.mapping("spec.nodeLabels")
    if not groups or not wanted or UNKNOWN in wanted.values():
        return None
    labels = {key: str(value) for key, value in wanted.items()}
    fitting = [(group, have_labels(group, labels)) for group in groups]
    return None if None in [answer for _, answer in fitting] else [group for group, answer in fitting if answer]


def _flavor(flavor: View, objects: Objects | None, groups: list[NodeGroup] | None) -> None:
    topology = flavor.text("spec.topologyName")
    if topology is not None and objects is not None and objects.lacks("Topology", "", topology):
        flavor.error(
            "kueue-topology",
            "spec.topologyName",
            f"no Topology {show(topology)}",
            hint=nearest(topology, objects.names("Topology", "")),
        )
    if topology is not None and not flavor.mapping("spec.nodeLabels") and not flavor.is_unknown("spec.nodeLabels"):
        flavor.error(
            "kueue-topology", "spec.nodeLabels", "is missing", allowed="at least one label beside topologyName"
        )
    PARTS["tolerations"](flavor, "spec.tolerations", flavor.value("spec.tolerations"))  # they become those of pods
    for path, entry in flavor.items("spec.tolerations"):
        for key, choices in (("operator", ("Equal", "Exists")), ("effect", TAINT_EFFECTS)):
            value = entry.get(key)
            if isinstance(value, str) and value not in choices:
                allowed = f"one of {', '.join(choices)}"
                flavor.error("kueue-toleration", f"{path}.{key}", f"got {show(value)}", allowed=allowed)
    if groups is None:
        return
    if not groups:
        flavor.error(
            "kueue-flavor-labels",
            "spec.nodeLabels",
            "no node group has these labels: jobs would be admitted and stay Pending",
            allowed="labels of a node group",
        )
    if flavor.blurred("spec.tolerations"):
        return
    tolerations = [item for item in flavor.entries("spec.tolerations") if isinstance(item, Mapping)]
    for group in groups:
        for taint in _taints(group):
            if taint["effect"] != "PreferNoSchedule" and not any(may_tolerate(item, taint) for item in tolerations):
                flavor.error(
                    "kueue-flavor-tolerations",
                    "spec.tolerations",
                    f"nothing tolerates {taint['key']}={taint['value']} of node group {group.name}: "
                    "jobs would be admitted and stay Pending",
                    allowed="every taint of the node group",
                )


def _taints(group: NodeGroup) -> list[dict[str, str]]:
    try:
        return taints_of(group)
    except UnknownInput:
        return []


def _quotas(stack: Stack, of_flavor: Mapping[str, list[NodeGroup] | None]) -> None:
    """Quota of all queues together against the GPUs, or TPU chips, that the flavor's node groups can hold."""
    totals: dict[tuple[str, str], float] = {}
    last: dict[tuple[str, str], tuple[View, str]] = {}
    for queue in (*stack.of_type(CLUSTER_QUEUE), *stack.of_type(COHORT)):
        for path, _ in queue.items("spec.resourceGroups"):
            for here, flavor in queue.items(f"{path}.flavors"):
                for at, resource in queue.items(f"{here}.resources"):
                    amount, name = quantity(resource.get("nominalQuota")), flavor.get("name")
                    counted = resource.get("name")
                    if counted in ACCELERATORS and isinstance(name, str) and amount is not None:
                        key = (name, str(counted))
                        totals[key] = totals.get(key, 0) + amount
                        last[key] = (queue, f"{at}.nominalQuota")
    for (name, counted), total in totals.items():
        groups = of_flavor.get(name)
        held = [most for group in groups or [] if (most := _held(group, counted)) is not None]
        if not groups or len(held) < len(groups):
            continue
        most = sum(held)
        if total > most:
            view, path = last[name, counted]
            what = "GPUs" if counted == GPU_RESOURCE else "TPU chips"
            view.error(
                "kueue-quota-nodes",
                path,
                f"flavor {name} has a quota of {total:g} {what} in all, its nodes hold {most:g}",
                allowed=f"at most {most:g} over all queues",
            )


def _held(group: NodeGroup, counted: str) -> float | None:
    """What the node group tells pods of at most, of one resource; None where that is not known for sure."""
    if counted == GPU_RESOURCE:
        return _gpus(group)
    chips = group.tpu_chips_per_node * group.max_nodes
    return float(chips) if chips else None


def _gpus(group: NodeGroup) -> float | None:
    """GPUs that the node group tells pods of at most; None where that is not known for sure."""
    inputs = group.resource.inputs
    sized = group.resource.type != EKS_NODE_GROUP or value_at(inputs, "scalingConfig", "maxSize") is not None
    known = bool(group.gpu_models) and (
        group.resource.type != EKS_NODE_GROUP or all(gpu_model(type_) for type_ in group.instance_types)
    )
    return group.gpus_offered if known and sized and group.max_nodes else None
