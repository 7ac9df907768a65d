"""Scheduling: what Kueue's manager is told. A job without a queue must be held, or every quota is a suggestion."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queue_manager import MANAGER_CONFIGURATION, is_kueue, manager_configuration
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.types import CONFIG_MAP, HELM_RELEASE

MANAGER_CONFIG_MAP = "kueue-manager-config"
MANAGER_CONFIG_KEY = "controller_manager_config.yaml"
"""Where Kueue's own manifests keep the configuration (kueue 0.19.2, config/components/manager)."""


@resource_rule(
    "jobs-outside-the-queue",
    "Kueue manages every job of a team, also one that names no queue.",
    types=(HELM_RELEASE, CONFIG_MAP),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Use Kueue as it is; its manager is told manageJobsWithoutQueueName: true.",
)
def jobs_outside_the_queue(resource: RecordedResource, _: Config) -> Iterator[str]:
    """By default a job without a queue runs at once and takes GPUs that no quota counts."""
    if resource.type == HELM_RELEASE:
        if not is_kueue(resource):
            return
        text = value_at(resource.inputs, *MANAGER_CONFIGURATION)
    else:
        if value_at(resource.inputs, "metadata", "name", unknown="") != MANAGER_CONFIG_MAP:
            return
        text = mapping_at(resource.inputs, "data").get(MANAGER_CONFIG_KEY)
    told = manager_configuration(text)
    if value_at(told, "manageJobsWithoutQueueName") is not True:
        yield "manageJobsWithoutQueueName is not true: a job without a queue takes GPUs that no quota counts"
    frameworks = list_at(told, "integrations", "frameworks")
    if frameworks and "batch/job" not in frameworks:
        yield "integrations.frameworks lacks batch/job: plain jobs pass the queues by"
