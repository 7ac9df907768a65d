"""Scheduling: what a team owns it gets back, and an admitted job gets its pods."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.recorded.node_groups import NODE_GROUP_PARTS
from trainyard.recorded.queue_manager import managers
from trainyard.recorded.queues import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, RESOURCE_FLAVOR
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.sharing import manager_flaws, queue_flaws, quota_flaws, sharing_of
from trainyard.recorded.types import HELM_RELEASE, RESOURCE_QUOTA


@stack_rule(
    "owner-cannot-reclaim",
    "A team's jobs, of whole nodes too, get back at once what the team owns and has lent.",
    types=(*NODE_GROUP_PARTS, CLUSTER_QUEUE, COHORT, RESOURCE_FLAVOR, HELM_RELEASE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Leave the queues to the plan; gpuPools.<pool>.owners says whose nodes are.",
)
def owner_cannot_reclaim(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Kueue accepts every one of these settings, and whole-node jobs wait for GPUs that are free by chance."""
    queues = resources.of(CLUSTER_QUEUE)
    if len(queues) < 2:
        raise NotApplicable("nobody to lend to")
    sharing = sharing_of(resources)
    for queue in queues:
        for flaw in queue_flaws(queue, sharing):
            yield queue, f"{flaw.path}: {flaw.message}"
    for release, configuration in managers(resources):
        for flaw in manager_flaws(configuration):
            yield release, f"{flaw.path}: {flaw.message}"


@stack_rule(
    "namespace-quota-counts-gpu-pods",
    "No quota of a namespace counts pods with GPUs, which its queue rations.",
    types=(RESOURCE_QUOTA, LOCAL_QUEUE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6",),
    fix="Count pods without GPUs only, by a scope on their PriorityClass.",
)
def namespace_quota_counts_gpu_pods(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A job over such a quota has been admitted: it keeps its GPUs and never has a pod."""
    queued = {value_at(local.inputs, "metadata", "namespace") for local in resources.of(LOCAL_QUEUE)} - {None}
    for quota in resources.of(RESOURCE_QUOTA):
        if value_at(quota.inputs, "metadata", "namespace") in queued:
            for flaw in quota_flaws(quota):
                yield quota, f"{flaw.path} {flaw.message}"
