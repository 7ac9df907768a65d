"""The jobs of a recording as queues see them: Job, JobSet and TrainJob, with the pods that they make.

A CronJob is seen as the Jobs that it makes, which have the labels of its `jobTemplate` (Kueue documentation, "Run A
CronJob", 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import (
    UnknownInput,
    UnreadableInput,
    as_number,
    list_at,
    mapping_at,
    mappings_at,
    steps,
    value_at,
)
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.placement.kubernetes.requests import requested
from trainyard.rehearsal.works.queues.kubernetes.model import PodSet, Workload
from trainyard.rehearsal.works.workloads import read as workloads
from trainyard.rehearsal.works.workloads.model import Workload as PodsOf

PREFIX: Final = "kueue.x-k8s.io/"
QUEUE_LABEL: Final = workloads.QUEUE_LABEL
PRIORITY_LABEL: Final = f"{PREFIX}priority-class"
LEAST_ANNOTATION: Final = f"{PREFIX}job-min-parallelism"
MAX_SECONDS_LABEL: Final = f"{PREFIX}max-exec-time-seconds"
GATE_ANNOTATION: Final = f"{PREFIX}admission-gated-by"
_TOPOLOGY: Final = {
    f"{PREFIX}podset-required-topology": "required",
    f"{PREFIX}podset-preferred-topology": "preferred",
    f"{PREFIX}podset-unconstrained-topology": "unconstrained",
}

_READ: Final = ("Job", "CronJob", "JobSet", "TrainJob")
"""Kinds whose pods are read."""
_TEMPLATE: Final = ("spec", "jobTemplate")

RUNTIME: Final = "kubernetes:trainer.kubeflow.org/*:ClusterTrainingRuntime"
FRAMEWORKS: Final = {
    "Job": "batch/job", "CronJob": "batch/job", "JobSet": "jobset.x-k8s.io/jobset",
    "TrainJob": "trainer.kubeflow.org/trainjob",
    "RayJob": "ray.io/rayjob", "RayCluster": "ray.io/raycluster", "RayService": "ray.io/rayservice",
    "MPIJob": "kubeflow.org/mpijob", "PyTorchJob": "kubeflow.org/pytorchjob", "TFJob": "kubeflow.org/tfjob",
    "XGBoostJob": "kubeflow.org/xgboostjob", "JAXJob": "kubeflow.org/jaxjob", "PaddleJob": "kubeflow.org/paddlejob",
    "AppWrapper": "workload.codeflare.dev/appwrapper", "Pod": "pod", "Deployment": "deployment",
    "StatefulSet": "statefulset", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/leaderworkerset",
    "SparkApplication": "sparkoperator.k8s.io/sparkapplication",
}  # fmt: skip
"""What the manager calls the kinds that it can manage."""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A recorded object of a kind that Kueue can manage."""

    resource: RecordedResource
    kind: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    pod_labels: tuple[Mapping[str, str], ...]  # of its pod templates
    workload: Workload | None  # None where its pods are not known, or are of a kind that is not read
    at: str = "metadata"  # where its labels and annotations stand

    @property
    def queue(self) -> str:
        """The LocalQueue that it names; empty where it names none."""
        return self.labels.get(QUEUE_LABEL, "")


def queued_jobs(resources: Resources) -> Iterator[QueuedJob]:
    """Every object that says something to Kueue, and everything of `_READ`. What is not known is left out."""
    makes: dict[str, list[PodsOf]] = {}
    for one in workloads.workloads(resources):
        makes.setdefault(one.resource.urn, []).append(one)
    for resource in resources.all:
        kind = resource.type.rpartition(":")[2]
        if kind not in FRAMEWORKS or not resource.type.startswith("kubernetes:"):
            continue
        at = (*_made_by(kind), "metadata")
        try:
            labels = _texts(resource.inputs, *at, "labels")
            annotations = _texts(resource.inputs, *at, "annotations")
            if kind not in _READ and QUEUE_LABEL not in labels:
                continue
            namespace = str(value_at(resource.inputs, "metadata", "namespace", default="default"))
            name = str(value_at(resource.inputs, "metadata", "name", default=resource.name))
        except UnknownInput:
            continue
        try:
            made = makes.get(resource.urn, ()) if kind in _READ else ()
            pod_sets = tuple(_pod_set(one, resources) for one in made)
        except UnreadableInput:
            pod_sets = ()
        workload = None
        if pod_sets:
            workload = Workload(
                f"{namespace}/{name}",
                namespace,
                labels.get(QUEUE_LABEL, "default"),
                pod_sets,
                labels.get(PRIORITY_LABEL, ""),
                bool(value_at(resource.inputs, *at, "annotations", GATE_ANNOTATION, unknown=True)),
            )
        pod_labels = tuple(_pod_labels(kind, resource))
        yield QueuedJob(resource, kind, namespace, labels, annotations, pod_labels, workload, ".".join(at))


def _made_by(kind: str) -> tuple[str, ...]:
    """Where the job of a kind stands in its object."""
    return _TEMPLATE if kind == "CronJob" else ()


def _pod_set(of: PodsOf, resources: Resources) -> PodSet:
    """The pods of one template as their queue counts them.

    Raises:
        UnknownInput: what decides is not known yet.
        UnreadableInput: a number is none.
    """
    if of.replicas is None:
        raise UnreadableInput(of.path, "how many pods there are is not known")
    count, least = of.replicas, None
    if of.kind in ("Job", "CronJob"):
        job = value_at(of.resource.inputs, *_made_by(of.kind))
        completions = as_number(value_at(job, "spec", "completions"))
        count = count if completions is None else min(count, int(completions))
        fewest = as_number(value_at(job, "metadata", "annotations", LEAST_ANNOTATION))
        least = None if fewest is None else int(fewest)
    terms = [
        tuple(mapping_at(one) for one in mappings_at(term, "matchExpressions"))
        for term in mappings_at(
            of.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
        )
    ]
    for one in (one for term in terms for one in term):
        list_at(one, "values")
    return PodSet(
        of.name,
        count,
        requested(of.spec),
        least,
        _texts(of.spec, "nodeSelector"),
        tuple(terms),
        tuple(mapping_at(one) for one in mappings_at(of.spec, "tolerations")),
        tuple(str(claim.get("name")) for claim in mappings_at(of.spec, "resourceClaims")),
        _topology(of, resources),
    )


def _topology(of: PodsOf, resources: Resources) -> tuple[str, str] | None:
    """What annotations of the pods ask of topology; of a TrainJob, those of its runtime."""
    if of.kind == "TrainJob":
        name = value_at(of.resource.inputs, "spec", "runtimeRef", "name")
        templates = [
            value_at(job, "template", "spec", "template")
            for runtime in resources.of(RUNTIME)
            if value_at(runtime.inputs, "metadata", "name") == name
            for job in mappings_at(runtime.inputs, "spec", "template", "spec", "replicatedJobs")
        ]
    else:
        templates = [value_at(of.resource.inputs, *steps(of.path)[:-1])]
    for notes in (mapping_at(template, "metadata", "annotations") for template in templates):
        for key, kind in _TOPOLOGY.items():
            if key in notes:
                return kind, "" if kind == "unconstrained" else str(notes[key])
    return None


def _texts(value: Any, *path: str) -> dict[str, str]:
    return {key: str(text) for key, text in mapping_at(value, *path).items()}


def _pod_labels(kind: str, resource: RecordedResource) -> Iterator[Mapping[str, str]]:
    """Labels of what a job makes, of its pods and of the jobs in it, and of what makes it, as far as they are known."""
    try:
        if kind in ("Job", "CronJob"):
            yield _texts(resource.inputs, *_made_by(kind), "spec", "template", "metadata", "labels")
        if kind == "CronJob":
            yield _texts(resource.inputs, "metadata", "labels")
        if kind == "JobSet":
            for job in mappings_at(resource.inputs, "spec", "replicatedJobs"):
                yield _texts(job, "template", "metadata", "labels")
                yield _texts(job, "template", "spec", "template", "metadata", "labels")
    except UnknownInput:
        return
