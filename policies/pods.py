"""Pod templates, wherever a Kubernetes object keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs

from trainyard.policies.reading import at, items

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


def pod_specs(resource: PolicyResource | ResourceValidationArgs) -> Iterator[tuple[str, Any]]:
    """Every pod spec of an object with its path."""
    path = _TEMPLATES.get(resource.resource_type)
    if path is not None:
        yield ".".join((*path, "spec")), at(resource.props, *path, "spec")
        return
    for index, job in enumerate(items(resource.props, *_JOB_SETS[resource.resource_type], "replicatedJobs")):
        yield f"replicatedJobs[{index}]", at(job, "template", "spec", "template", "spec")


def containers(resource: PolicyResource | ResourceValidationArgs) -> Iterator[tuple[str, Any]]:
    """Every container and init container of an object, as (where it is, container)."""
    for _, spec in pod_specs(resource):
        for kind in ("initContainers", "containers"):
            for container in items(spec, kind):
                yield f"container {at(container, 'name')}", container
