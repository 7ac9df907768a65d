"""The jobs of a recording as queues see them: Job, JobSet and TrainJob, with the pods that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import UnknownInput, UnreadableInput, as_number, list_at, mapping_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.queues.kubernetes.model import PodSet, Workload

PREFIX: Final = "kueue.x-k8s.io/"
QUEUE_LABEL: Final = f"{PREFIX}queue-name"
PRIORITY_LABEL: Final = f"{PREFIX}priority-class"
LEAST_ANNOTATION: Final = f"{PREFIX}job-min-parallelism"
GATE_ANNOTATION: Final = f"{PREFIX}admission-gated-by"
_TOPOLOGY: Final = {
    f"{PREFIX}podset-required-topology": "required",
    f"{PREFIX}podset-preferred-topology": "preferred",
    f"{PREFIX}podset-unconstrained-topology": "unconstrained",
}

JOB: Final = "kubernetes:batch/v1:Job"
JOB_SET: Final = "kubernetes:jobset.x-k8s.io/*:JobSet"
TRAIN_JOB: Final = "kubernetes:trainer.kubeflow.org/*:TrainJob"
RUNTIME: Final = "kubernetes:trainer.kubeflow.org/*:ClusterTrainingRuntime"
FRAMEWORKS: Final = {
    "Job": "batch/job", "JobSet": "jobset.x-k8s.io/jobset", "TrainJob": "trainer.kubeflow.org/trainjob",
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
    pod_labels: tuple[Mapping[str, str], ...]  # of its pod templates
    workload: Workload | None  # None where its pods are not known, or are of a kind that is not read

    @property
    def queue(self) -> str:
        """The LocalQueue that it names; empty where it names none."""
        return self.labels.get(QUEUE_LABEL, "")


def queued_jobs(resources: Resources) -> Iterator[QueuedJob]:
    """Every object that says something to Kueue, and every Job, JobSet and TrainJob. What is not known is left out."""
    for resource in resources.all:
        kind = resource.type.rpartition(":")[2]
        if kind not in FRAMEWORKS or not resource.type.startswith("kubernetes:"):
            continue
        try:
            labels = _texts(resource.inputs, "metadata", "labels")
            if kind not in ("Job", "JobSet", "TrainJob") and QUEUE_LABEL not in labels:
                continue
            namespace = str(value_at(resource.inputs, "metadata", "namespace", default="default"))
            name = str(value_at(resource.inputs, "metadata", "name", default=resource.name))
        except UnknownInput:
            continue
        try:
            pod_sets = tuple(_pod_sets(kind, resource, resources))
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
                _gated(resource),
            )
        yield QueuedJob(resource, kind, namespace, labels, tuple(_pod_labels(kind, resource)), workload)


def pod_requests(spec: Any) -> dict[str, float]:
    """What a pod of a spec asks the scheduler for. Raises UnknownInput, and UnreadableInput for no quantity."""
    always: dict[str, float] = {}
    for container in mappings_at(spec, "containers"):
        _add(always, _requests(container))
    most: dict[str, float] = {}
    beside: dict[str, float] = {}  # init containers that go on running
    for container in mappings_at(spec, "initContainers"):
        asked = _requests(container)
        if value_at(container, "restartPolicy") == "Always":
            _add(beside, asked)
            now = dict(beside)
        else:
            now = dict(beside)
            _add(now, asked)
        for name, amount in now.items():
            most[name] = max(most.get(name, 0.0), amount)
    _add(always, beside)
    found = {name: max(always.get(name, 0.0), most.get(name, 0.0)) for name in (*always, *most)}
    _add(found, _amounts(mapping_at(spec, "overhead")))
    return found


def _requests(container: Mapping[str, Any]) -> dict[str, float]:
    return _amounts({**mapping_at(container, "resources", "limits"), **mapping_at(container, "resources", "requests")})


def _amounts(given: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for name, text in given.items():
        amount = quantity(text)
        if amount is None:
            raise UnreadableInput(name, f"{text!r} is not a quantity")
        found[name] = amount
    return found


def _add(total: dict[str, float], more: Mapping[str, float]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0.0) + amount


def pod_set(
    name: str, count: int, template: Any, least: int | None = None, extra: Mapping[str, Any] | None = None
) -> PodSet:
    """Pods of a template. `extra` is a patch of its spec: selectors are joined, the rest is added.

    Raises:
        UnknownInput: what decides is not known yet.
        UnreadableInput: a request is no quantity.
    """
    spec = value_at(template, "spec", default={})
    parts = [spec, extra or {}]
    terms = [
        tuple(dict(one) for one in mappings_at(term, "matchExpressions"))
        for part in parts
        for term in mappings_at(
            part, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
        )
    ]
    for term in terms:
        for one in term:
            list_at(one, "values")
    notes = mapping_at(template, "metadata", "annotations")
    asked = next(((kind, str(notes[key])) for key, kind in _TOPOLOGY.items() if key in notes), None)
    if asked is not None and asked[0] == "unconstrained":
        asked = ("unconstrained", "")
    return PodSet(
        name,
        count,
        pod_requests(spec),
        least,
        {key: str(value) for part in parts for key, value in mapping_at(part, "nodeSelector").items()},
        tuple(terms),
        tuple(mapping_at(one) for part in parts for one in mappings_at(part, "tolerations")),
        asked,
    )


def _pod_sets(kind: str, resource: RecordedResource, resources: Resources) -> Iterator[PodSet]:
    inputs = resource.inputs
    if kind == "Job":
        least = as_number(value_at(inputs, "metadata", "annotations", LEAST_ANNOTATION))
        template = value_at(inputs, "spec", "template", default={})
        yield pod_set("main", _pods_of_job(value_at(inputs, "spec")), template, None if least is None else int(least))
    elif kind == "JobSet":
        yield from _replicated(mappings_at(inputs, "spec", "replicatedJobs"))
    elif kind == "TrainJob":
        yield from _of_train_job(inputs, resources)


def _replicated(jobs: list[Mapping[str, Any]]) -> Iterator[PodSet]:
    for job in jobs:
        spec = value_at(job, "template", "spec", default={})
        count = _number(job, "replicas") * _pods_of_job(spec)
        yield pod_set(str(value_at(job, "name")), count, value_at(spec, "template", default={}))


def _of_train_job(inputs: Mapping[str, Any], resources: Resources) -> Iterator[PodSet]:
    name = value_at(inputs, "spec", "runtimeRef", "name")
    runtime = next(
        (one for one in resources.of(RUNTIME) if value_at(one.inputs, "metadata", "name", unknown=None) == name), None
    )
    if runtime is None or value_at(inputs, "spec", "runtimeRef", "kind", default="ClusterTrainingRuntime") != (
        "ClusterTrainingRuntime"
    ):
        return
    trainer = value_at(inputs, "spec", "trainer", default={})
    nodes = as_number(value_at(trainer, "numNodes")) or as_number(
        value_at(runtime.inputs, "spec", "mlPolicy", "numNodes", default=1)
    )
    own = mapping_at(trainer, "resourcesPerNode")
    for job in mappings_at(runtime.inputs, "spec", "template", "spec", "replicatedJobs"):
        job_name = str(value_at(job, "name"))
        found = pod_set(
            job_name,
            _number(job, "replicas") * _pods_of_job(value_at(job, "template", "spec")),
            value_at(job, "template", "spec", "template", default={}),
            extra=_patch(inputs, job_name),
        )
        if value_at(job, "template", "metadata", "labels", "trainer.kubeflow.org/trainjob-ancestor-step") == "trainer":
            # What the TrainJob asks for a node is merged over the runtime's.
            requests = dict(found.requests) | _amounts({**mapping_at(own, "limits"), **mapping_at(own, "requests")})
            found = PodSet(
                job_name,
                int(nodes or 1),
                requests,
                None,
                found.selector,
                found.terms,
                found.tolerations,
                found.topology,
            )
        yield found


def _patch(inputs: Mapping[str, Any], job_name: str) -> Mapping[str, Any]:
    merged: dict[str, Any] = {}
    for patch in mappings_at(inputs, "spec", "runtimePatches"):
        for job in mappings_at(patch, "trainingRuntimeSpec", "template", "spec", "replicatedJobs"):
            if value_at(job, "name") == job_name:
                merged |= mapping_at(job, "template", "spec", "template", "spec")
    return merged


def _pods_of_job(spec: Any) -> int:
    parallel = as_number(value_at(spec, "parallelism", default=1))
    completions = as_number(value_at(spec, "completions"))
    if parallel is None:
        raise UnreadableInput("parallelism", "is no number")
    return int(parallel if completions is None else min(parallel, completions))


def _number(entry: Mapping[str, Any], key: str) -> int:
    found = as_number(value_at(entry, key, default=1))
    if found is None:
        raise UnreadableInput(key, "is no number")
    return int(found)


def _texts(value: Any, *path: str) -> dict[str, str]:
    return {key: str(text) for key, text in mapping_at(value, *path).items()}


def _gated(resource: RecordedResource) -> bool:
    return bool(value_at(resource.inputs, "metadata", "annotations", GATE_ANNOTATION, unknown=True))


def _pod_labels(kind: str, resource: RecordedResource) -> Iterator[Mapping[str, str]]:
    """Labels of what a job makes, of its pods and of the jobs in it, as far as they are known."""
    try:
        if kind == "Job":
            yield _texts(resource.inputs, "spec", "template", "metadata", "labels")
        elif kind == "JobSet":
            for job in mappings_at(resource.inputs, "spec", "replicatedJobs"):
                yield _texts(job, "template", "metadata", "labels")
                yield _texts(job, "template", "spec", "template", "metadata", "labels")
    except UnknownInput:
        return
