"""How queues share, read from what was recorded: in which stacks an owner does not get back what it lent.

Rehearsal and policies ask the same questions here. Source: 34 scenarios and three stacks on a live Kueue 0.19.2,
2026-11-22 (docs/decisions/0012-quotas-in-whole-nodes.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.conventions import CPU_ONLY_PRIORITY, FAIR_SHARING_STRATEGIES, taken_whole
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NODE_GROUP_TYPES, node_group
from trainyard.recorded.node_labels import have_labels
from trainyard.recorded.quantities import quantity
from trainyard.recorded.queue_manager import MANAGER_CONFIGURATION, managers
from trainyard.recorded.queues import CLUSTER_QUEUE, COHORT, RESOURCE_FLAVOR, cohort_of, nominal_gpus
from trainyard.recorded.read import list_at, mapping_at, mappings_at, text_at, value_at
from trainyard.recorded.resources import Resources


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that a queue, a manager or a namespace's quota says and should not."""

    path: str  # of the input
    message: str
    allowed: str  # what it may be


@dataclass(frozen=True, slots=True)
class Sharing:
    """What the queues of a stack have in common."""

    roots: Mapping[str, str]  # cohort to the top of its tree, where it has a parent
    queues: Mapping[str, int]  # how many queues there are in the tree of a cohort, by its top
    whole_nodes: Mapping[str, int]  # flavor to GPUs of a node, where jobs take its nodes whole
    fair: bool  # whether the manager shares by weight

    def lends(self, queue: RecordedResource) -> bool:
        """Whether a queue has somebody to lend to. Raises UnknownInput."""
        cohort = cohort_of(queue)
        return cohort is not None and self.queues.get(self.roots.get(cohort, cohort), 0) > 1


def sharing_of(resources: Resources) -> Sharing:
    """What the queues of a stack have in common.

    Raises:
        UnknownInput: a part of it is not known yet.
        UnreadableInput: a size of a node group is not a number of 0 or more.
    """
    parents = {
        value_at(cohort.inputs, "metadata", "name"): parent
        for cohort in resources.of(COHORT)
        if (parent := value_at(cohort.inputs, "spec", "parentName")) is not None
    }
    roots = {}
    for cohort in parents:
        top = cohort
        for _ in parents:  # at most as many steps as there are parents: a circle ends too
            top = parents.get(top, top)
        roots[cohort] = top
    cohorts = [cohort_of(queue) for queue in resources.of(CLUSTER_QUEUE)]
    return Sharing(
        roots=roots,
        queues=Counter(roots.get(name, name) for name in cohorts if name is not None),
        whole_nodes=_whole_nodes(resources),
        fair=any("fairSharing" in configuration for _, configuration in managers(resources)),
    )


def _whole_nodes(resources: Resources) -> dict[str, int]:
    groups = [node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES)]
    found = {}
    for flavor in resources.of(RESOURCE_FLAVOR):
        labels = mapping_at(flavor.inputs, "spec", "nodeLabels")
        fitting = [group for group in groups if labels and have_labels(group, labels)]
        if fitting and all(
            taken_whole(group.gpus_per_node, group.fabric_interfaces, group.pods_per_gpu) for group in fitting
        ):
            found[str(value_at(flavor.inputs, "metadata", "name"))] = max(group.gpus_per_node for group in fitting)
    return found


def queue_flaws(queue: RecordedResource, sharing: Sharing) -> Iterator[Flaw]:
    """Why jobs of a queue would not get back what it lent, or not in proportion to its weight.

    Raises:
        UnknownInput: a part of the queue is not known yet.
    """
    if not sharing.lends(queue):
        return
    owned = [
        (path, flavor, gpus) for path, flavor, given in nominal_gpus(queue) if (gpus := quantity(given)) is not None
    ]
    reclaim = value_at(queue.inputs, "spec", "preemption", "reclaimWithinCohort", default="Never")
    if reclaim != "Any" and any(gpus for _, _, gpus in owned):
        yield Flaw(
            "spec.preemption.reclaimWithinCohort",
            f"{reclaim}: what the queue owns and has lent it does not get back for every job of its own",
            "Any",
        )
    for path, flavor, gpus in owned:
        node = sharing.whole_nodes.get(flavor)
        if node and gpus % node:
            yield Flaw(
                path,
                f"{count(gpus, 'GPU')} of flavor {flavor}, whose nodes have {node} and are taken "
                "whole: a part of a node "
                "gives no whole-node job anything back",
                f"a multiple of {node}",
            )
    if not sharing.fair:
        return
    borrow = value_at(queue.inputs, "spec", "preemption", "borrowWithinCohort", "policy", default="Never")
    if borrow != "Never":
        yield Flaw(
            "spec.preemption.borrowWithinCohort.policy", f"{borrow} is ignored where the manager shares fairly", "Never"
        )
    weight = quantity(value_at(queue.inputs, "spec", "fairSharing", "weight"))
    if weight is not None and weight <= 0:
        yield Flaw(
            "spec.fairSharing.weight", f"{weight:g}: the queue is behind all others for ever", "the GPUs that it owns"
        )


def manager_flaws(configuration: Mapping[str, Any]) -> Iterator[Flaw]:
    """Why one team's job would lose its nodes to a smaller one of another team's."""
    strategies = tuple(map(str, list_at(configuration, "fairSharing", "preemptionStrategies")))
    if strategies and strategies != FAIR_SHARING_STRATEGIES:
        yield Flaw(
            ".".join(MANAGER_CONFIGURATION),
            f"fairSharing.preemptionStrategies {', '.join(strategies)}: a job of half a node evicts another team's job "
            "that fills a whole node",
            f"[{', '.join(FAIR_SHARING_STRATEGIES)}]",
        )


_COUNTS_PODS = ("pods", "count/pods", "cpu", "memory", "ephemeral-storage")
_COUNTS_PODS_PREFIXES = ("requests.", "limits.", "hugepages-")
_OF_CLAIMS = "requests.storage"
_NOT_OF_GPU_PODS = ("Terminating", "BestEffort", "CrossNamespacePodAffinity")
"""Scopes that leave training pods out: a deadline of the pod's own, no requests, affinity across namespaces."""


def quota_flaws(quota: RecordedResource) -> Iterator[Flaw]:
    """What a ResourceQuota counts of pods with GPUs, which a queue has admitted already.

    A pod that waits counts too: a hundred waiting CPU pods make a GPU job "exceeded quota" after its admission, and it
    keeps its GPUs. A quota that counts pods of named priority classes only leaves them alone, because they have none.

    Raises:
        UnknownInput: a part of the quota is not known yet.
    """
    scopes = set(list_at(quota.inputs, "spec", "scopes"))
    for expression in mappings_at(quota.inputs, "spec", "scopeSelector", "matchExpressions"):
        scope, operator = text_at(expression, "scopeName"), value_at(expression, "operator")
        if scope == "PriorityClass" and operator in ("In", "Exists"):
            return
        scopes.add(scope)
    if scopes & set(_NOT_OF_GPU_PODS):
        return
    for name in mapping_at(quota.inputs, "spec", "hard"):
        if name in _COUNTS_PODS or (name.startswith(_COUNTS_PODS_PREFIXES) and name != _OF_CLAIMS):
            yield Flaw(
                f"spec.hard.{name}",
                "counts pods that only wait against a job that its queue has admitted: it keeps its GPUs without a pod",
                f"a scope that leaves pods with GPUs out: PriorityClass In [{CPU_ONLY_PRIORITY}]",
            )


def narrow_quota_flaws(quota: RecordedResource, queues: Iterable[RecordedResource]) -> Iterator[Flaw]:
    """What a ResourceQuota counts and has less of than the cluster queues of its namespace admit by themselves.

    Whoever counts as much as the queues may count pods with GPUs: whether others wait beside them nobody knows of a
    program that is somebody else's.

    Raises:
        UnknownInput: a part of quota or queues is not known yet.
    """
    admitted: defaultdict[str, float] = defaultdict(float)
    for queue in queues:
        for group in mappings_at(queue.inputs, "spec", "resourceGroups"):
            for flavor in mappings_at(group, "flavors"):
                for given in mappings_at(flavor, "resources"):
                    admitted[text_at(given, "name") or ""] += quantity(value_at(given, "nominalQuota")) or 0
    hard = mapping_at(quota.inputs, "spec", "hard")
    for flaw in quota_flaws(quota):
        name = flaw.path.removeprefix("spec.hard.")
        most, counted = admitted[name.removeprefix("requests.")], quantity(hard[name])
        if counted is not None and counted < most:
            short = f"is below the {most:g} that its queue admits: what is admitted gets no pods"
            yield replace(flaw, message=short, allowed=f"at least {most:g}")
