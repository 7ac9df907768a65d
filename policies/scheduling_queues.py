"""Scheduling: every team has a queue, no queue is everybody's, and work that can wait waits."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions import GPU_RESOURCE, OFF_PEAK_LOCAL_QUEUE, SMOKE_LOCAL_QUEUE, TEAM_LABEL
from trainyard.conventions.monitoring import OFF_PEAK_KEEPER
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queues import CLUSTER_QUEUE, LOCAL_QUEUE, gpu_quotas
from trainyard.recorded.read import UnreadableInput, is_set, list_at, mapping_at, mappings_at, text_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DEPLOYMENT, NAMESPACE


@stack_rule(
    "team-without-queue",
    "Every team's namespace has a queue that lets this team in.",
    types=(NAMESPACE, CLUSTER_QUEUE, LOCAL_QUEUE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6",),
    fix="Leave the queues to the plan; each of teams gets one.",
)
def team_without_queue(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A LocalQueue whose ClusterQueue exists and selects the namespace's team label.

    That of smoke jobs is nobody's, and that of work that can wait is closed by day.
    """
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
            and value_at(local.inputs, "metadata", "name") not in (SMOKE_LOCAL_QUEUE, OFF_PEAK_LOCAL_QUEUE)
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


@stack_rule(
    "off-peak-work-does-not-wait",
    "Queues of work that can wait are held by day, own nothing and take nothing.",
    types=(CLUSTER_QUEUE, LOCAL_QUEUE, DEPLOYMENT),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Leave these queues to the plan; offPeak says from when to when they are open.",
)
def off_peak_work_does_not_wait(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Without a keeper such a queue is one more for each team, by day too; with quota it takes what people wait for."""
    locals_ = [
        queue
        for queue in resources.of(LOCAL_QUEUE)
        if value_at(queue.inputs, "metadata", "name", unknown="") == OFF_PEAK_LOCAL_QUEUE
    ]
    if not locals_:
        raise NotApplicable("no work has hours")
    held = _held(resources)
    queues = {text_at(queue.inputs, "metadata", "name"): queue for queue in resources.of(CLUSTER_QUEUE)}
    for local in locals_:
        namespace = text_at(local.inputs, "metadata", "namespace")
        if (namespace, OFF_PEAK_LOCAL_QUEUE) not in held:
            yield local, f"no keeper holds {OFF_PEAK_LOCAL_QUEUE} of {namespace} by day"
        queue = queues.get(text_at(local.inputs, "spec", "clusterQueue"))
        if queue is None:
            continue
        owned = sum(gpus for _, gpus in gpu_quotas(queue))
        if owned:
            yield (
                queue,
                f"it owns {count(owned, 'GPU')}: by day these are lent, and taken back from whoever has them at night",
            )
        reclaim = value_at(queue.inputs, "spec", "preemption", "reclaimWithinCohort", default="Never")
        if reclaim != "Never":
            yield queue, f"spec.preemption.reclaimWithinCohort is {reclaim}: it takes what others have"


def _held(resources: Resources) -> set[tuple[str, str]]:
    """Namespace and name of the queues that a keeper's configuration names. Raises UnreadableInput for what is none."""
    found = set()
    for deployment in resources.of(DEPLOYMENT):
        if value_at(deployment.inputs, "metadata", "name", unknown="") != OFF_PEAK_KEEPER:
            continue
        for container in mappings_at(deployment.inputs, "spec", "template", "spec", "containers"):
            for text in list_at(container, "args"):
                try:
                    found |= {(queue["namespace"], queue["name"]) for queue in json.loads(text)["queues"]}
                except (ValueError, KeyError, TypeError) as error:
                    raise UnreadableInput("args", f"no configuration of the keeper: {error!r}") from error
    return found
