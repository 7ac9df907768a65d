"""Pod templates, wherever a Kubernetes object keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs

from trainyard import cards
from trainyard.policies.reading import at, items

TYPES = tuple(card.type for card in cards.BY_TYPE.values() if card.pod_spec or card.job_templates)


def pod_specs(resource: PolicyResource | ResourceValidationArgs) -> Iterator[tuple[str, Any]]:
    """Every pod spec of an object with its path."""
    card = cards.of(resource.resource_type)
    if card.pod_spec:
        yield card.pod_spec, at(resource.props, *card.pod_spec.split("."))
        return
    for index, job in enumerate(items(resource.props, *card.job_templates.split("."))):
        yield f"replicatedJobs[{index}]", at(job, "template", "spec", "template", "spec")


def containers(resource: PolicyResource | ResourceValidationArgs) -> Iterator[tuple[str, Any]]:
    """Every container and init container of an object, as (where it is, container)."""
    for _, spec in pod_specs(resource):
        for kind in ("initContainers", "containers"):
            for container in items(spec, kind):
                yield f"container {at(container, 'name')}", container
