"""Scheduling: every team has a queue, and no queue is everybody's."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions import GPU_RESOURCE, SMOKE_LOCAL_QUEUE, TEAM_LABEL
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queues import CLUSTER_QUEUE, LOCAL_QUEUE
from trainyard.recorded.read import is_set, list_at, mapping_at, text_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE


@stack_rule(
    "team-without-queue",
    "Every team's namespace has a queue that lets this team in.",
    types=(NAMESPACE, CLUSTER_QUEUE, LOCAL_QUEUE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6",),
    fix="Leave the queues to the plan; each of teams gets one.",
)
def team_without_queue(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A LocalQueue whose ClusterQueue exists and selects the namespace's team label; that of smoke jobs is nobody's."""
    queues = {text_at(queue.inputs, "metadata", "name"): queue for queue in resources.of(CLUSTER_QUEUE)}
    for namespace in resources.of(NAMESPACE):
        labels = mapping_at(namespace.inputs, "metadata", "labels")
        if TEAM_LABEL not in labels:
            continue
        name = value_at(namespace.inputs, "metadata", "name")
        targets = [
            queues.get(text_at(local.inputs, "spec", "clusterQueue"))
            for local in resources.of(LOCAL_QUEUE)
            if value_at(local.inputs, "metadata", "namespace") == name
            and value_at(local.inputs, "metadata", "name") != SMOKE_LOCAL_QUEUE
        ]
        if not targets:
            yield namespace, f"{name} has no LocalQueue"
        elif not any(
            queue and mapping_at(queue.inputs, "spec", "namespaceSelector", "matchLabels").items() <= labels.items()
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
def queue_admits_everything(resource: RecordedResource, _: Config) -> Iterator[str]:
    """An empty selector is everybody: any LocalQueue may point at any ClusterQueue, the selector is the only fence."""
    selector = value_at(resource.inputs, "spec", "namespaceSelector")
    if selector is None:
        yield "namespaceSelector is missing: nobody is admitted"
    elif not is_set(selector, "matchLabels") and not is_set(selector, "matchExpressions"):
        yield "namespaceSelector is empty: every namespace is admitted"
    elif not is_set(selector, "matchLabels") and not any(
        value_at(expression, "operator") == "In" for expression in list_at(selector, "matchExpressions")
    ):
        yield "namespaceSelector names no team: whoever has, or lacks, a label is admitted"
    groups = list_at(resource.inputs, "spec", "resourceGroups")
    covered = [name for group in groups for name in list_at(group, "coveredResources")]
    if GPU_RESOURCE not in covered:
        yield f"no quota for {GPU_RESOURCE}: jobs with GPUs pass it or wait for ever"
