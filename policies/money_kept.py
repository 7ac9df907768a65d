"""Money, whether it is kept: a budget that holds somebody, and idle jobs that give their GPUs back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.stack_settings import setting
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.monitoring import prometheus_stacks
from trainyard.recorded.node_groups import NODE_GROUP_PARTS, gpu_node_groups
from trainyard.recorded.queues import LOCAL_QUEUE
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DEPLOYMENT, HELM_RELEASE


def keepers(resources: Resources, program: str) -> Iterator[tuple[RecordedResource, Mapping[str, Any]]]:
    """Each Deployment that runs a keeper, with its configuration; one of no replicas runs nothing."""
    for found in resources.of(DEPLOYMENT):
        spec = value_at(found.inputs, "spec", default={})
        if value_at(spec, "replicas", default=1) == 0:
            continue
        for container in value_at(spec, "template", "spec", "containers", default=[]):
            command = value_at(container, "command", default=[])
            arguments = value_at(container, "args", default=[])
            if f"keepers.{program}" in command and arguments:
                yield found, json.loads(arguments[0])


def team_queues(resources: Resources) -> dict[str, set[str]]:
    """Names of the LocalQueues by namespace."""
    found: dict[str, set[str]] = {}
    for queue in resources.of(LOCAL_QUEUE):
        metadata = value_at(queue.inputs, "metadata")
        found.setdefault(value_at(metadata, "namespace"), set()).add(value_at(metadata, "name"))
    return found


@stack_rule(
    "budget-holds-nobody",
    "Where the client says what may be spent, something must hold a team whose part of it is gone.",
    types=(DEPLOYMENT, LOCAL_QUEUE),
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Leave teamBudgets.hold out, or set it true; name in teamBudgets.exempt who is only told.",
)
def budget_holds_nobody(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A budget that the profile guessed holds nobody on purpose, and so does one of a stack without queues."""
    del config
    if not setting("monthlyBudgetUsd"):
        raise NotApplicable("the budget is the profile's guess")
    queues = team_queues(resources)
    if not queues:
        raise NotApplicable("no queues")
    there = list(keepers(resources, "budgets"))
    if not there:
        yield None, f"monthlyBudgetUsd is set, and nothing holds the queues of {len(queues)} namespaces"
        return
    exempt = json.loads(setting("teamBudgets") or "{}").get("exempt") or ()
    held: dict[str, set[str]] = {}
    for _, configuration in there:
        for own in configuration["teams"].values():
            held.setdefault(own["namespace"], set()).update(own["queues"])
    unheld = [namespace for namespace in queues if namespace not in held]
    if len(unheld) > len(exempt):
        yield (
            there[0][0],
            f"does not hold the queues of {', '.join(sorted(unheld))}, and exempt are {count(len(exempt), 'team')}",
        )
    for namespace, own_queues in queues.items():
        missing = sorted(own_queues - held[namespace]) if namespace in held else []
        if missing:
            yield there[0][0], f"leaves {', '.join(missing)} of {namespace} open when the team's others are held"


@stack_rule(
    "idle-jobs-keep-their-gpus",
    "A job that computes nothing must give its GPUs back within the hour, where somebody measures what GPUs do.",
    types=(DEPLOYMENT, LOCAL_QUEUE, HELM_RELEASE, *NODE_GROUP_PARTS),
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Leave idleJobs.evict on and idleJobs.afterMinutes within the hour; keep-until is for who needs longer.",
    config={"maxIdleMinutes": {"type": "number", "minimum": 1, "default": 60}},
)
def idle_jobs_keep_their_gpus(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Without queues, GPUs or Prometheus there is nobody to evict, or nobody who would know."""
    queues = team_queues(resources)
    if not queues or not list(gpu_node_groups(resources)):
        raise NotApplicable("no queues that lead to GPUs")
    if not list(prometheus_stacks(resources)):
        raise NotApplicable("nothing measures what GPUs do")
    there = list(keepers(resources, "idle"))
    if not there:
        yield None, f"jobs of {len(queues)} namespaces keep their GPUs whatever they do with them"
    watched = {namespace for _, configuration in there for namespace in configuration["namespaces"]}
    for found, configuration in there:
        minutes = float(configuration["idle_seconds"]) / 60
        if minutes > config["maxIdleMinutes"]:
            yield found, f"waits for {minutes:g} idle minutes; at most {config['maxIdleMinutes']:g} are allowed"
    if there and queues.keys() - watched:
        yield there[0][0], f"does not look at jobs of {', '.join(sorted(queues.keys() - watched))}"


POLICIES: Final = (budget_holds_nobody, idle_jobs_keep_their_gpus)
"""Those of this module."""
