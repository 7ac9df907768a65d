"""Scheduling: every team has a queue, and no queue is everybody's."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import ResourceValidationArgs, Severity

from trainyard.conventions import TEAM_LABEL
from trainyard.policies.reading import at, given, items, mapping
from trainyard.policies.rules import Config, Resources, StackViolation, resource_rule, stack_rule

CLUSTER_QUEUE = "kubernetes:kueue.x-k8s.io/*:ClusterQueue"
LOCAL_QUEUE = "kubernetes:kueue.x-k8s.io/*:LocalQueue"
NAMESPACE = "kubernetes:core/v1:Namespace"
GPU = "nvidia.com/gpu"


@stack_rule(
    "team-without-queue",
    "Every team's namespace has a queue that lets this team in.",
    types=(NAMESPACE, CLUSTER_QUEUE, LOCAL_QUEUE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6",),
    fix="Leave the queues to the plan; each of teams gets one.",
)
def team_without_queue(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A LocalQueue whose ClusterQueue exists and selects the namespace's team label."""
    queues = {at(queue.props, "metadata", "name"): queue for queue in resources.of(CLUSTER_QUEUE)}
    for namespace in resources.of(NAMESPACE):
        labels = mapping(namespace.props, "metadata", "labels")
        if TEAM_LABEL not in labels:
            continue
        name = at(namespace.props, "metadata", "name")
        targets = [
            queues.get(at(local.props, "spec", "clusterQueue"))
            for local in resources.of(LOCAL_QUEUE)
            if at(local.props, "metadata", "namespace") == name
        ]
        if not targets:
            yield namespace, f"{name} has no LocalQueue"
        elif not any(
            queue and mapping(queue.props, "spec", "namespaceSelector", "matchLabels").items() <= labels.items()
            for queue in targets
        ):
            yield namespace, f"no queue of {name} leads to a ClusterQueue that admits the team {labels[TEAM_LABEL]}"


@resource_rule(
    "queue-admits-everything",
    "A queue admits the namespaces of its team and covers a resource; none is open to all.",
    types=(CLUSTER_QUEUE,),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Leave the queues to the plan; each selects its team's namespace label.",
)
def queue_admits_everything(resource: ResourceValidationArgs, _: Config) -> Iterator[str]:
    """An empty selector is everybody: any LocalQueue may point at any ClusterQueue, the selector is the only fence."""
    selector = at(resource.props, "spec", "namespaceSelector")
    if selector is None:
        yield "namespaceSelector is missing: nobody is admitted"
    elif not given(selector, "matchLabels") and not given(selector, "matchExpressions"):
        yield "namespaceSelector is empty: every namespace is admitted"
    elif not given(selector, "matchLabels") and not any(
        at(expression, "operator") == "In" for expression in items(selector, "matchExpressions")
    ):
        yield "namespaceSelector names no team: whoever has, or lacks, a label is admitted"
    covered = [
        name for group in items(resource.props, "spec", "resourceGroups") for name in items(group, "coveredResources")
    ]
    if GPU not in covered:
        yield f"no quota for {GPU}: jobs with GPUs pass it or wait for ever"
