"""What a member of a team sends to the API server: pods, and the jobs that a queue admits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.conventions import ACCELERATORS, CPU_ONLY_PRIORITY, GPU_RESOURCE, TPU_RESOURCE
from trainyard.rehearsal.works.rights.kubernetes.admission import Request

Made = dict[str, Any]
NAME: Final = "a"
MEMBER: Final = Request(None, "ada")
"""Somebody of a team. Which team, and what its namespace is, `guards` fills in."""

GPU: Final = {GPU_RESOURCE: "1", "cpu": "1", "memory": "1Gi"}
TPU: Final = {TPU_RESOURCE: "4", "cpu": "1", "memory": "1Gi"}
CPU: Final = {"cpu": "1", "memory": "1Gi"}


def container(asked: Mapping[str, str], **more: Any) -> Made:
    """A container that asks for this much."""
    return {"name": "a", "resources": {"limits": dict(asked), "requests": dict(asked)}, **more}


def pod_spec(asked: Mapping[str, str], **spec: Any) -> Made:
    """The spec of a pod as the API server fills it in; without GPUs it is counted as such pods are."""
    counted = {} if {*ACCELERATORS} & {*asked} else {"priorityClassName": CPU_ONLY_PRIORITY}
    filled = {"restartPolicy": "Never", "serviceAccountName": "default", "terminationGracePeriodSeconds": 30}
    return {"containers": [container(asked)], **filled, **counted, **spec}


def pod(asked: Mapping[str, str], **spec: Any) -> Made:
    """A pod of a member's."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(), "spec": pod_spec(asked, **spec)}


def metadata() -> Made:
    """What every object has."""
    return {"name": NAME, "labels": {}, "annotations": {}}


def job(asked: Mapping[str, str] = GPU, **spec: Any) -> Made:
    """A Job whose pods have this spec."""
    template = {"metadata": metadata(), "spec": pod_spec(asked, **spec)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(), "spec": {"template": template}}


def job_set(asked: Mapping[str, str] = GPU, **spec: Any) -> Made:
    """A JobSet of one job."""
    inner = job(asked, **spec)
    jobs = [{"name": "a", "replicas": 1, "template": {"metadata": metadata(), "spec": inner["spec"]}}]
    return {"kind": "JobSet", "metadata": metadata(), "spec": {"replicatedJobs": jobs}}


def train_job(asked: Mapping[str, str] = GPU, **spec: Any) -> Made:
    """A TrainJob that patches the pods of its runtime, which has the name of the Trainer's own."""
    template = {"metadata": metadata(), "spec": spec}
    jobs = [{"name": "node", "template": {"spec": {"template": template}}}]
    patch = {"manager": "a.example/a", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}
    return {
        "kind": "TrainJob",
        "metadata": metadata(),
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {"numNodes": 1, "resourcesPerNode": container(asked)["resources"]},
            **({"runtimePatches": [patch]} if spec else {}),
        },
    }


KINDS: Final[Mapping[str, tuple[str, Callable[..., Made]]]] = {
    "jobs": ("batch", job),
    "jobsets": ("jobset.x-k8s.io", job_set),
    "trainjobs": ("trainer.kubeflow.org", train_job),
}
"""What a queue admits, by plural: group and maker."""


def asks(item: Made, **request: Any) -> Request:
    """A member's request."""
    return replace(MEMBER, item=item, **request)
