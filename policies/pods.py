"""Pod templates, wherever a Kubernetes object keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard import cards
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at

TYPES = tuple(card.type for card in cards.BY_TYPE.values() if card.pod_spec or card.job_templates)


def pod_specs(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every pod spec of an object with its path."""
    card = cards.of(resource.type)
    if card.pod_spec:
        yield card.pod_spec, value_at(resource.inputs, *card.pod_spec.split("."))
        return
    for index, job in enumerate(list_at(resource.inputs, *card.job_templates.split("."))):
        yield f"replicatedJobs[{index}]", value_at(job, "template", "spec", "template", "spec")


def containers(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every container and init container of an object, as (where it is, container)."""
    for _, spec in pod_specs(resource):
        for kind in ("initContainers", "containers"):
            for container in list_at(spec, kind):
                yield f"container {value_at(container, 'name')}", container
