"""Pod templates, wherever a Kubernetes object keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard import cards
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at

TYPES = tuple(card.type for card in cards.BY_TYPE.values() if card.pod_spec or card.job_templates)
TRAIN_JOB = "kubernetes:trainer.kubeflow.org/*:TrainJob"
"""Names a runtime, which has the pod template, and may give it an environment and resources of its own."""
RUNTIMES = tuple(type_ for type_ in TYPES if type_.endswith("TrainingRuntime"))
"""Templates that nothing runs as they are: a TrainJob fills in its image and its resources."""


def pod_specs(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every pod spec of an object with its path."""
    card = cards.of(resource.type)
    if card.pod_spec:
        yield card.pod_spec, value_at(resource.inputs, *card.pod_spec.split("."))
        return
    for index, job in enumerate(list_at(resource.inputs, *card.job_templates.split("."))):
        yield f"replicatedJobs[{index}]", value_at(job, "template", "spec", "template", "spec")


def place(resource: RecordedResource) -> str:
    """`namespace/name` of an object; the namespace is empty where it has none."""
    metadata = value_at(resource.inputs, "metadata")
    return f"{value_at(metadata, 'namespace', default='')}/{value_at(metadata, 'name')}"


def containers(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every container and init container of an object, as (where it is, container)."""
    for _, spec in pod_specs(resource):
        for kind in ("initContainers", "containers"):
            for container in list_at(spec, kind):
                yield f"container {value_at(container, 'name')}", container


def environments(resource: RecordedResource) -> Iterator[tuple[str, list[Any]]]:
    """The environment variables of every container, and those that a TrainJob adds, as (where they are, variables)."""
    if resource.type.endswith(":TrainJob"):
        yield "trainer", list_at(resource.inputs, "spec", "trainer", "env")
        for override in list_at(resource.inputs, "spec", "podTemplateOverrides"):
            for kind in ("initContainers", "containers"):
                for container in list_at(override, "spec", kind):
                    yield f"container {value_at(container, 'name')}", list_at(container, "env")
        return
    for where, container in containers(resource):
        yield where, list_at(container, "env")
