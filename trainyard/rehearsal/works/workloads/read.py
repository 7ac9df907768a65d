"""The one reader of what runs pods in a recorded stack.

What cannot be read, or is not known yet, is left out or `UNKNOWN`, so that every reader decides for itself what it can
say of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final
from weakref import WeakKeyDictionary

from trainyard import cards
from trainyard.cards.card import Card
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import TRAIN_JOB
from trainyard.rehearsal.works.workloads.charts import merged, of_charts
from trainyard.rehearsal.works.workloads.model import Workload

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
"""Label of a job that names the LocalQueue of its namespace (Kueue 0.19)."""

_RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")
JOB_TEMPLATE: Final = ("spec", "jobTemplate")
"""Where the job of a CronJob is."""
_JOBS_OF_RUNTIME: Final = "template.spec.replicatedJobs"
_NODE: Final = "node"
"""Replicated job and container of a runtime that a TrainJob's `trainer` means, by convention and where there is no
label `trainer.kubeflow.org/trainjob-ancestor-step: trainer` (Kubeflow Trainer 2.3)."""
_STEP_LABEL: Final = "trainer.kubeflow.org/trainjob-ancestor-step"


_READ: Final[WeakKeyDictionary[Resources, tuple[Workload, ...]]] = WeakKeyDictionary()
"""What was read of recordings that are still looked at: six rooms ask for the workloads of the same one."""


def workloads(resources: Resources) -> list[Workload]:
    """Everything of a recording that runs pods, or is the template of what does; read once."""
    found = _READ.get(resources)
    if found is None:
        found = _READ[resources] = tuple(_workloads(resources))
    return list(found)


def _workloads(resources: Resources) -> list[Workload]:
    runtimes: dict[tuple[str, str, str], RecordedResource] = {}
    found: list[Workload] = []
    train_jobs = []
    for resource in resources.all:
        if not resource.type.startswith("kubernetes:"):
            continue
        if fnmatchcase(resource.type, TRAIN_JOB):
            train_jobs.append(resource)
            continue
        card = cards.BY_TYPE.get(resource.type)
        if card is None or not (card.pod_spec or card.job_templates):
            continue
        found += _of_object(resource, card)
        if _kind(resource) in _RUNTIMES:
            runtimes[_kind(resource), _namespace(resource) or "", _name(resource)] = resource
    for job in train_jobs:
        found += _of_train_job(job, runtimes)
    return [*found, *of_charts(resources)]


def _of_object(resource: RecordedResource, card: Card) -> Iterator[Workload]:
    inputs, kind = bare(dict(resource.inputs)), _kind(resource)
    if card.pod_spec:
        path = card.pod_spec.split(".")
        replicas = _replicas(kind, follow(inputs, *path[:-2]) if kind == "CronJob" else follow(inputs, "spec"))
        labels = follow(inputs, *path[:-1], "metadata", "labels")
        yield from _workload(resource, inputs, kind, card.pod_spec, labels, replicas)
        return
    jobs = follow(inputs, *card.job_templates.split("."))
    for index, job in enumerate(jobs if isinstance(jobs, list) else ()):
        path_text = f"{card.job_templates}[{index}].template.spec.template.spec"
        template = follow(job, "template", "spec")
        each = _replicas("Job", template)
        times = as_number(_or(follow(job, "replicas"), 1))
        replicas = None if each is None or times is None else int(each * times)
        labels = follow(template, "template", "metadata", "labels")
        name = follow(job, "name")
        suffix = f"/{name}" if isinstance(name, str) and len(jobs) > 1 else ""
        yield from _workload(resource, inputs, kind, path_text, labels, replicas, suffix, job)


def _workload(
    resource: RecordedResource,
    inputs: Mapping[str, Any],
    kind: str,
    path: str,
    labels: Any,
    replicas: int | None,
    suffix: str = "",
    job: Any = None,
) -> Iterator[Workload]:
    spec = follow(job, "template", "spec", "template", "spec") if job is not None else follow(inputs, *path.split("."))
    if not isinstance(spec, Mapping):
        return
    is_template = kind in _RUNTIMES
    namespace = _namespace(resource)
    yield Workload(
        resource=resource,
        name=_name(resource) + suffix,
        kind=kind,
        namespace="" if kind == "ClusterTrainingRuntime" else namespace or "default",
        labels=_texts(labels),
        spec=spec,
        replicas=replicas,
        path=path,
        queue=_queue(follow(inputs, *JOB_TEMPLATE) if kind == "CronJob" else inputs),
        is_template=is_template,
    )


def _of_train_job(
    job: RecordedResource, runtimes: Mapping[tuple[str, str, str], RecordedResource]
) -> Iterator[Workload]:
    """The pods of a TrainJob: its runtime's, with what the job says of them. None where its runtime is not recorded."""
    inputs, namespace = bare(dict(job.inputs)), _namespace(job) or "default"
    kind = _or(follow(inputs, "spec", "runtimeRef", "kind"), _RUNTIMES[0])
    name = follow(inputs, "spec", "runtimeRef", "name")
    runtime = runtimes.get((str(kind), "" if kind == _RUNTIMES[0] else namespace, str(name)))
    if runtime is None:
        return
    runs = bare(dict(runtime.inputs))
    replicated = follow(runs, "spec", *_JOBS_OF_RUNTIME.split("."))
    for index, one in enumerate(replicated if isinstance(replicated, list) else ()):
        spec = follow(one, "template", "spec", "template", "spec")
        if not isinstance(spec, Mapping):
            continue
        is_trainer = follow(one, "name") == _NODE or follow(one, "template", "metadata", "labels", _STEP_LABEL) == (
            "trainer"
        )
        nodes = as_number(
            _or(_or(follow(inputs, "spec", "trainer", "numNodes"), follow(runs, "spec", "mlPolicy", "numNodes")), 1)
        )
        if is_trainer:
            spec = filled(spec, follow(inputs, "spec", "trainer"))
        for patch in _patches(inputs, follow(one, "name")):
            spec = _patched(spec, patch)
        yield Workload(
            resource=job,
            name=_name(job) + (f"/{follow(one, 'name')}" if len(replicated) > 1 else ""),
            kind="TrainJob",
            namespace=namespace,
            labels=None,
            spec=spec,
            replicas=int(nodes or 1) if is_trainer else _replicas("Job", follow(one, "template", "spec")),
            path=f"spec.runtimeRef ({runtime.name}, {_JOBS_OF_RUNTIME}[{index}])",
            queue=_queue(inputs),
        )


def filled(spec: Mapping[str, Any], trainer: Any) -> Mapping[str, Any]:
    """A runtime's pod with what a TrainJob's `trainer` says of the container `node`."""
    containers = spec.get("containers")
    if not isinstance(trainer, Mapping) or not isinstance(containers, list):
        return spec
    replaced = {"image": "image", "command": "command", "args": "args"}
    given = {key: trainer[name] for name, key in replaced.items() if trainer.get(name) is not None}

    asked = trainer.get("resourcesPerNode")

    def one(container: Any) -> Any:
        if not isinstance(container, Mapping) or container.get("name") != _NODE:
            return container
        # Merged, resource by resource (2.3.0, `MergeResourceRequirements`).
        resources = {"resources": merged(container.get("resources"), asked)} if asked is not None else {}
        env = [*_list(container.get("env")), *_list(trainer.get("env"))]
        return {**container, **given, **resources, **({"env": env} if env else {})}

    return {**spec, "containers": [one(container) for container in containers]}


def _patches(inputs: Mapping[str, Any], name: Any) -> Iterator[Any]:
    for patch in _list(follow(inputs, "spec", "runtimePatches")):
        for job in _list(follow(patch, "trainingRuntimeSpec", *_JOBS_OF_RUNTIME.split("."))):
            if follow(job, "name") == name:
                yield follow(job, "template", "spec", "template", "spec")


def _patched(spec: Mapping[str, Any], patch: Any) -> Mapping[str, Any]:
    """A pod with a patch: mappings merge, tolerations and other lists of things without a name are added to."""
    if not isinstance(patch, Mapping):
        return spec
    found = dict(spec)
    for key, value in patch.items():
        if key in ("containers", "initContainers"):
            patches = {follow(item, "name"): item for item in _list(value)}
            found[key] = [merged(item, patches.get(follow(item, "name"))) for item in _list(found.get(key))]
        elif isinstance(value, list):
            found[key] = [*_list(found.get(key)), *value]
        else:
            found[key] = merged(found.get(key), value)
    return found


def _replicas(kind: str, spec: Any) -> int | None:
    """Pods at once of an object of a kind by its `spec`, or by a job's within it."""
    if kind == "DaemonSet":
        return None
    key = "parallelism" if kind in ("Job", "CronJob") else "replicas"
    number = as_number(_or(follow(spec, key), 1))
    return None if number is None else int(number)


def _queue(job: Any) -> str:
    found = follow(job, "metadata", "labels", QUEUE_LABEL)
    return found if isinstance(found, str) else ""


def _texts(labels: Any) -> dict[str, str] | None:
    if labels is None:
        return {}
    if not isinstance(labels, Mapping) or UNKNOWN in labels.values():
        return None
    return {str(key): str(value) for key, value in labels.items()}


def _kind(resource: RecordedResource) -> str:
    return resource.type.rpartition(":")[2]


def _name(resource: RecordedResource) -> str:
    found = bare(follow(resource.inputs, "metadata", "name"))
    return found if isinstance(found, str) else resource.name


def _namespace(resource: RecordedResource) -> str | None:
    found = bare(follow(resource.inputs, "metadata", "namespace"))
    return found if isinstance(found, str) else None


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()
