"""Scheduling: what Kueue's manager is told. A job without a queue must be held, or every quota is a suggestion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import labels_of, team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queue_manager import MANAGER_CONFIGURATION, is_kueue, manager_configuration
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import CONFIG_MAP, HELM_RELEASE, NAMESPACE

MANAGER_CONFIG_MAP = "kueue-manager-config"
MANAGER_CONFIG_KEY = "controller_manager_config.yaml"
"""Where Kueue's own manifests keep the configuration (kueue 0.19.2, config/components/manager)."""


@stack_rule(
    "jobs-outside-the-queue",
    "Kueue manages every job of a team, also one that names no queue.",
    types=(HELM_RELEASE, CONFIG_MAP, NAMESPACE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Use Kueue as it is; its manager is told manageJobsWithoutQueueName: true.",
)
def jobs_outside_the_queue(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """By default a job without a queue runs at once and takes GPUs that no quota counts."""
    for resource, text in _configurations(resources):
        told = manager_configuration(text)
        if value_at(told, "manageJobsWithoutQueueName") is not True:
            yield (
                resource,
                "manageJobsWithoutQueueName is not true: a job without a queue takes GPUs that no quota counts",
            )
        frameworks = list_at(told, "integrations", "frameworks")
        if frameworks and "batch/job" not in frameworks:
            yield resource, "integrations.frameworks lacks batch/job: plain jobs pass the queues by"
        selector = value_at(told, "managedJobsNamespaceSelector")
        for team in team_namespaces(resources) if selector is not None else ():
            if not selects(selector, labels_of(team)):
                name = value_at(team.inputs, "metadata", "name")
                yield resource, f"managedJobsNamespaceSelector leaves {name} out: its jobs pass the queues by"


def _configurations(resources: Resources) -> Iterator[tuple[RecordedResource, Any]]:
    """What Kueue's managers are told, by a chart or by Kueue's own manifests."""
    for release in filter(is_kueue, resources.of(HELM_RELEASE)):
        yield release, value_at(release.inputs, *MANAGER_CONFIGURATION)
    for found in resources.of(CONFIG_MAP):
        if value_at(found.inputs, "metadata", "name", unknown="") == MANAGER_CONFIG_MAP:
            yield found, mapping_at(found.inputs, "data").get(MANAGER_CONFIG_KEY)
