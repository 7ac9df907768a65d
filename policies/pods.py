"""Pod templates, wherever a Kubernetes object keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at

_TEMPLATES: dict[str, tuple[str, ...]] = {
    "kubernetes:core/v1:Pod": (),
    "kubernetes:apps/v1:Deployment": ("spec", "template"),
    "kubernetes:apps/v1:StatefulSet": ("spec", "template"),
    "kubernetes:apps/v1:DaemonSet": ("spec", "template"),
    "kubernetes:batch/v1:Job": ("spec", "template"),
    "kubernetes:batch/v1:CronJob": ("spec", "jobTemplate", "spec", "template"),
}
_JOB_SETS = {
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet": ("spec",),
    "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime": ("spec", "template", "spec"),
    "kubernetes:trainer.kubeflow.org/v1alpha1:TrainingRuntime": ("spec", "template", "spec"),
}
TYPES = (*_TEMPLATES, *_JOB_SETS)


def pod_specs(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every pod spec of an object with its path."""
    path = _TEMPLATES.get(resource.type)
    if path is not None:
        yield ".".join((*path, "spec")), value_at(resource.inputs, *path, "spec")
        return
    for index, job in enumerate(list_at(resource.inputs, *_JOB_SETS[resource.type], "replicatedJobs")):
        yield f"replicatedJobs[{index}]", value_at(job, "template", "spec", "template", "spec")


def containers(resource: RecordedResource) -> Iterator[tuple[str, Any]]:
    """Every container and init container of an object, as (where it is, container)."""
    for _, spec in pod_specs(resource):
        for kind in ("initContainers", "containers"):
            for container in list_at(spec, kind):
                yield f"container {value_at(container, 'name')}", container
