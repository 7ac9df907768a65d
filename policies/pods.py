"""Pod templates, wherever a Kubernetes object keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from trainyard import cards
from trainyard.policies.rules import Config
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at

TYPES = tuple(card.type for card in cards.BY_TYPE.values() if card.pod_spec or card.job_templates)
RUNTIMES = tuple(type_ for type_ in TYPES if type_.endswith("TrainingRuntime"))
"""Templates that nothing runs as they are: a TrainJob fills in its image and its resources."""


def pod_specs(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every pod spec of an object with its path. A TrainJob has parts of one: what its patches say of its runtime's."""
    if is_train_job(resource):
        for at, patch in enumerate(list_at(resource.inputs, "spec", "runtimePatches")):
            jobs = list_at(patch, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
            yield from _of_jobs(f"runtimePatches[{at}].", jobs)
        return
    card = cards.of(resource.type)
    if card.pod_spec:
        yield card.pod_spec, value_at(resource.inputs, *card.pod_spec.split("."))
        return
    yield from _of_jobs("", list_at(resource.inputs, *card.job_templates.split(".")))


def is_train_job(resource: RecordedResource) -> bool:
    """Whether it is a TrainJob: what it leaves out, its runtime says."""
    return resource.type.endswith(":TrainJob")


def _of_jobs(where: str, jobs: list[Any]) -> Iterator[tuple[str, Any]]:
    for index, job in enumerate(jobs):
        yield f"{where}replicatedJobs[{index}]", value_at(job, "template", "spec", "template", "spec")


def place(resource: RecordedResource) -> str:
    """`namespace/name` of an object; the namespace is empty where it has none."""
    metadata = value_at(resource.inputs, "metadata")
    return f"{value_at(metadata, 'namespace', default='')}/{value_at(metadata, 'name')}"


def system_workloads(default: list[str], description: str) -> dict[str, Any]:
    """The configuration of a policy that some workloads of the system are excepted from."""
    globs = {"type": "array", "items": {"type": "string"}, "default": default, "description": description}
    return {"systemWorkloads": globs}


def is_of_the_system(resource: RecordedResource, config: Config) -> bool:
    """Whether a policy with `system_workloads` excepts an object."""
    return any(fnmatchcase(place(resource), pattern) for pattern in config["systemWorkloads"])


def containers(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every container and init container of an object, as (where it is, container).

    What a TrainJob says of its nodes' container it says as `trainer`, in the same fields but for the resources.
    """
    if is_train_job(resource):
        yield "trainer", value_at(resource.inputs, "spec", "trainer")
    for _, spec in pod_specs(resource):
        for kind in ("initContainers", "containers"):
            for container in list_at(spec, kind):
                yield f"container {value_at(container, 'name')}", container
