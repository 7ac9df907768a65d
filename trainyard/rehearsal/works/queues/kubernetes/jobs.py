"""The jobs of a recording as queues see them: Job, CronJob, JobSet and TrainJob, with the pods that they make."""

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
from trainyard.recorded.types import TRAINING_RUNTIME
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
ELASTIC_ANNOTATION: Final = f"{PREFIX}elastic-job"
REQUIRED_TOPOLOGY: Final = f"{PREFIX}podset-required-topology"
PREFERRED_TOPOLOGY: Final = f"{PREFIX}podset-preferred-topology"
UNCONSTRAINED_TOPOLOGY: Final = f"{PREFIX}podset-unconstrained-topology"
SLICE_TOPOLOGY: Final = f"{PREFIX}podset-slice-required-topology"
SLICE_SIZE: Final = f"{PREFIX}podset-slice-size"
TOPOLOGIES: Final = {
    REQUIRED_TOPOLOGY: "required",
    PREFERRED_TOPOLOGY: "preferred",
    UNCONSTRAINED_TOPOLOGY: "unconstrained",
}
"""Annotations of pods of which a template may have one."""

_READ: Final = ("Job", "CronJob", "JobSet", "TrainJob")
"""Kinds whose pods are read."""

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
    """A recorded object of a kind that Kueue can manage, or a CronJob, whose jobs it manages."""

    resource: RecordedResource
    kind: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    unread: tuple[Mapping[str, str], ...]  # of its pod templates and the like
    workload: Workload | None  # None where its pods are not known, or are of a kind that is not read

    @property
    def metadata(self) -> str:
        """Where the labels stand that Kueue reads."""
        return ".".join((*_job_of(self.kind), "metadata"))

    @property
    def beside(self) -> str:
        """Where labels stand that Kueue does not read, in words."""
        return "on the CronJob or on its jobs' pods" if self.kind == "CronJob" else f"on what the {self.kind} makes"

    @property
    def queue(self) -> str:
        """The LocalQueue that it names; empty where it names none."""
        return self.labels.get(QUEUE_LABEL, "")


def queued_jobs(resources: Resources) -> Iterator[QueuedJob]:
    """Every object that says something to Kueue, and every Job, CronJob, JobSet and TrainJob. What is not known is left
    out."""
    makes: dict[str, list[PodsOf]] = {}
    for one in workloads.workloads(resources):
        makes.setdefault(one.resource.urn, []).append(one)
    for resource in resources.all:
        kind = resource.type.rpartition(":")[2]
        if kind not in FRAMEWORKS or not resource.type.startswith("kubernetes:"):
            continue
        try:
            labels = _texts(resource.inputs, *_job_of(kind), "metadata", "labels")
            annotations = _texts(resource.inputs, *_job_of(kind), "metadata", "annotations")
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
                bool(annotations.get(GATE_ANNOTATION)),
            )
        yield QueuedJob(resource, kind, namespace, labels, annotations, tuple(_unread(kind, resource)), workload)


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
        at = _job_of(of.kind)
        completions = as_number(value_at(of.resource.inputs, *at, "spec", "completions"))
        count = count if completions is None else min(count, int(completions))
        fewest = as_number(value_at(of.resource.inputs, *at, "metadata", "annotations", LEAST_ANNOTATION))
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
            template
            for runtime in resources.of(TRAINING_RUNTIME)
            if value_at(runtime.inputs, "metadata", "name") == name
            for _, template in runtime_templates(runtime)
        ]
    else:
        templates = [value_at(of.resource.inputs, *steps(of.path)[:-1])]
    for notes in (mapping_at(template, "metadata", "annotations") for template in templates):
        for key, kind in TOPOLOGIES.items():
            if key in notes:
                return kind, "" if kind == "unconstrained" else str(notes[key])
        if SLICE_TOPOLOGY in notes and SLICE_SIZE in notes:
            return "unconstrained", ""  # slices are placed each by itself, anywhere
    return None


def runtime_templates(runtime: RecordedResource) -> Iterator[tuple[str, Any]]:
    """The pod templates of a runtime's replicated jobs, with their paths. Raises UnreadableInput."""
    for number, job in enumerate(mappings_at(runtime.inputs, "spec", "template", "spec", "replicatedJobs")):
        path = f"spec.template.spec.replicatedJobs[{number}].template.spec.template"
        yield path, value_at(job, "template", "spec", "template")


def _texts(value: Any, *path: str) -> dict[str, str]:
    return {key: str(text) for key, text in mapping_at(value, *path).items()}


def _job_of(kind: str) -> tuple[str, ...]:
    """Where the job is in an object of a kind: a CronJob's labels are not those of the jobs that it makes."""
    return workloads.JOB_TEMPLATE if kind == "CronJob" else ()


def _unread(kind: str, resource: RecordedResource) -> Iterator[Mapping[str, str]]:
    """Labels of what a job makes, of its pods and of the jobs in it, as far as they are known; of a CronJob its own
    too, which its jobs do not get."""
    try:
        if kind in ("Job", "CronJob"):
            yield _texts(resource.inputs, *_job_of(kind), "spec", "template", "metadata", "labels")
        if kind == "CronJob":
            yield _texts(resource.inputs, "metadata", "labels")
        elif kind == "JobSet":
            for job in mappings_at(resource.inputs, "spec", "replicatedJobs"):
                yield _texts(job, "template", "metadata", "labels")
                yield _texts(job, "template", "spec", "template", "metadata", "labels")
    except UnknownInput:
        return
