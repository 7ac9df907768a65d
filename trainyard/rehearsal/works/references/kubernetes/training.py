"""Training jobs: the runtime, the jobs in it and the containers that they name.

Source: Kubeflow Trainer 2.3 and JobSet 0.12, API references, as generally known: a TrainJob's settings reach the job
that is labelled as the trainer, and in it the container `node`; a JobSet's policies name its replicated jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, leaves
from trainyard.recorded.read import follow, known_texts
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place, values_from_elsewhere

_TRAINER: Final = "trainer.kubeflow.org"
_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
_STEPS: Final = ("trainer", "dataset-initializer", "model-initializer")
_NODE: Final = "node"
_FRAMEWORK: Final = "trainer.kubeflow.org/framework"
_FRAMEWORKS: Final = ("deepspeed", "jax", "mlx", "torch", "torchtune", "xgboost")
"""What the Python client makes a trainer of; a runtime without the label it does not list at all (Kubeflow Trainer,
"Runtime Guide", 2026-11)."""
_FIRST_RANK: Final = "TRAINJOB-node-0-0.TRAINJOB"
"""What the policy `torch` tells every rank of the first (kubeflow/trainer, `pkg/runtime/framework/plugins/torch`)."""
SETS: Final = {
    "JobSet.jobset.x-k8s.io": "spec",
    f"ClusterTrainingRuntime.{_TRAINER}": "spec.template.spec",
    f"TrainingRuntime.{_TRAINER}": "spec.template.spec",
}
"""Kinds that hold a set of jobs, and where."""


def check(cluster: Cluster) -> None:
    """Every check of a training job."""
    for kind, path in SETS.items():
        for view in cluster.of(kind):
            _set(view, path)
            _host_names(view, path)
            if _TRAINER in kind:
                _framework(view)
                _runtime(view, path)
    _of_teams(cluster)
    for view in cluster.of(f"TrainJob.{_TRAINER}"):
        _train_job(view, cluster)
    for pod in cluster.pods:
        _classes(pod, cluster)


def _of_teams(cluster: Cluster) -> None:
    """What the pods of a runtime ask of the namespace that a job is in: each team has it, or its people make it."""
    spaces = [str(view.value("metadata.name")) for view in cluster.of("Namespace") if cluster.is_teams(_name(view))]
    for pod in cluster.pods if spaces else ():
        if not (pod.view.text("kind") or "").startswith("ClusterTraining"):
            continue
        asked = [("ServiceAccount", f"{pod.path}.serviceAccountName", pod.spec.get("serviceAccountName"))]
        asked += [
            ("PersistentVolumeClaim", f"{path}.persistentVolumeClaim.claimName", follow(one, *_CLAIM))
            for path, one in pod.view.items(f"{pod.path}.volumes")
        ]
        for kind, path, name in asked:
            made = {one for space in spaces for one in cluster.names(kind, space)}
            if not isinstance(name, str) or name in made | {"default"} or not made:
                continue
            near = nearest_of(name, made)
            if near or cluster.stack.context.ours:
                pod.view.error(
                    "reference-missing", path,
                    f"no team's namespace has a {kind} {show(name)}: pods of jobs with this runtime do not start",
                    allowed=f"one of {', '.join(sorted(made)[:8])}", hint=f"did you mean {near}?" if near else "",
                )  # fmt: skip


_CLAIM: Final = ("persistentVolumeClaim", "claimName")


def _name(view: View) -> str:
    return view.text("metadata.name") or ""


def _jobs(view: View, path: str) -> list[str] | None:
    names = [entry.get("name") for _, entry in view.items(f"{path}.replicatedJobs")]
    if view.blurred(f"{path}.replicatedJobs") or UNKNOWN in names:
        return None
    return [str(name) for name in names]


def _set(view: View, path: str) -> None:
    known = _jobs(view, path)
    if known is None:
        return
    for where, name in _named_jobs(view, path):
        if name not in known:
            view.error(
                "reference-replicated-job",
                where,
                f"no replicated job {show(name)}",
                allowed=f"one of {', '.join(known)}",
                hint=nearest(name, known),
            )


def _host_names(view: View, path: str) -> None:
    """A set that gives its pods no names, and a program in it that is told one."""
    name = view.text("metadata.name")
    if view.flag(f"{path}.network.enableDNSHostnames") is not False or name is None:
        return
    for job, entry in view.items(f"{path}.replicatedJobs"):
        if view.has(f"{job}.template.spec.template.spec.subdomain"):
            continue  # names by a service of its own
        told = f"{name}-{entry.get('name')}-0-0."
        for _, text in known_texts(view.value(f"{job}.template.spec.template.spec")):
            if told in text:
                view.error(
                    "reference-host-names", f"{path}.network.enableDNSHostnames",
                    f"is false, and a container looks for {told}...: its pods have no names, no rank finds the first",
                    allowed="true",
                )  # fmt: skip
                return


def _named_jobs(view: View, path: str) -> Iterator[tuple[str, str]]:
    lists = [f"{path}.successPolicy.targetReplicatedJobs"]
    lists += [f"{rule}.targetReplicatedJobs" for rule, _ in view.items(f"{path}.failurePolicy.rules")]
    for where in lists:
        for index, name in enumerate(view.texts(where)):
            yield f"{where}[{index}]", name
    coordinator = view.text(f"{path}.coordinator.replicatedJob")
    if coordinator is not None:
        yield f"{path}.coordinator.replicatedJob", coordinator
    for job, _ in view.items(f"{path}.replicatedJobs"):
        for where, other in view.items(f"{job}.dependsOn"):
            if isinstance(other.get("name"), str):
                yield f"{where}.name", other["name"]


def _framework(view: View) -> None:
    """The label by which the client finds a runtime, and knows what trainer it has."""
    if view.is_unknown("metadata.labels") or view.is_unknown("metadata") or view.blurred("metadata.labels"):
        return
    labels = view.mapping("metadata.labels")
    given = labels.get(_FRAMEWORK)
    if given is None:
        near = nearest_of(_FRAMEWORK, labels)
        view.warning(
            "reference-framework", "metadata.labels",
            f"has no {_FRAMEWORK}: the Python client does not list the runtime, and sends it no job",
            allowed=f"one of {', '.join(_FRAMEWORKS)}", hint=f"did you mean {_FRAMEWORK} by {near}?" if near else "",
        )  # fmt: skip
    elif given not in _FRAMEWORKS and (near := nearest(str(given), _FRAMEWORKS)):
        view.warning(
            "reference-framework", f"metadata.labels[{_FRAMEWORK}]",
            f"is {show(given)}, of which the Python client knows no trainer",
            allowed=f"one of {', '.join(_FRAMEWORKS)}", hint=near,
        )  # fmt: skip


def _runtime(view: View, path: str) -> None:
    """A runtime whose trainer is not found takes a TrainJob's image, arguments and number of nodes nowhere."""
    if view.blurred(f"{path}.replicatedJobs") or not view.entries(f"{path}.replicatedJobs"):
        return
    steps: dict[str, str] = {}
    for job, _ in view.items(f"{path}.replicatedJobs"):
        labels = f"{job}.template.metadata.labels"
        if any(view.is_unknown(part) for part in (labels, f"{job}.template.metadata", f"{job}.template")):
            return
        step = view.mapping(labels).get(_STEP)
        if step is UNKNOWN:
            return
        if isinstance(step, str):
            steps[step] = job
            if step not in _STEPS:
                view.error(
                    "reference-trainer-step",
                    f"{labels}",
                    f"{_STEP} is {show(step)}",
                    allowed=f"one of {', '.join(_STEPS)}",
                    hint=nearest(step, _STEPS),
                )
                return
    if "trainer" not in steps:
        near = [
            nearest_of(_STEP, view.mapping(f"{job}.template.metadata.labels"))
            for job, _ in view.items(f"{path}.replicatedJobs")
        ]
        found = next(filter(None, near), "")
        view.error(
            "reference-trainer-step",
            f"{path}.replicatedJobs",
            f"no job has the label {_STEP}: trainer"
            + (f"; one has {found}" if found else "")
            + ", so what a TrainJob says of its trainer reaches none",
        )
        return
    job = steps["trainer"]
    name = view.text(f"{job}.name")
    if name not in (None, _NODE) and view.has("spec.mlPolicy.torch"):
        view.error(
            "reference-replicated-job", f"{job}.name",
            f"is {show(name)}, and every rank looks for the first at {_FIRST_RANK}: no job of two nodes starts",
            allowed=_NODE,
        )  # fmt: skip
    containers = [entry.get("name") for _, entry in view.items(f"{job}.template.spec.template.spec.containers")]
    if containers and _NODE not in containers and UNKNOWN not in containers:
        view.error(
            "reference-container",
            f"{job}.template.spec.template.spec.containers",
            f"has {', '.join(map(str, containers))}, and a TrainJob's trainer is container {_NODE!r}",
            allowed=f"a container named {_NODE}",
        )


def _train_job(view: View, cluster: Cluster) -> None:
    name, kind = view.text("spec.runtimeRef.name"), view.text("spec.runtimeRef.kind") or "ClusterTrainingRuntime"
    namespace = place(view)
    if name is None or namespace is None:
        return
    key = f"{kind}.{_TRAINER}"
    where = namespace if kind == "TrainingRuntime" else ""
    runtime = cluster.find(key, where, name)
    if runtime is None:
        near = nearest_of(name, cluster.names(key, where))
        other = "TrainingRuntime" if kind == "ClusterTrainingRuntime" else "ClusterTrainingRuntime"
        swapped = cluster.find(f"{other}.{_TRAINER}", namespace if other == "TrainingRuntime" else "", name)
        if near or swapped is not None or (not where and _makes_every_runtime(cluster, key)):
            meant = f"kind {other}" if swapped is not None else near
            view.error(
                "reference-runtime",
                "spec.runtimeRef" + (".kind" if swapped is not None else ".name"),
                f"no {kind} {show(name)}: no job is made of it",
                allowed=", ".join(sorted(cluster.names(key, where))),
                hint=f"did you mean {meant}?" if meant else "",
            )
        return
    known = _jobs(runtime, "spec.template.spec")
    for patch, _ in view.items("spec.runtimePatches"):
        base = f"{patch}.trainingRuntimeSpec.template.spec.replicatedJobs"
        for path, entry in view.items(base):
            if known is not None and isinstance(entry.get("name"), str) and entry["name"] not in known:
                view.error(
                    "reference-replicated-job",
                    f"{path}.name",
                    f"runtime {name} has no replicated job {show(entry['name'])}",
                    allowed=f"one of {', '.join(known)}",
                    hint=nearest(entry["name"], known),
                )


def _makes_every_runtime(cluster: Cluster, kind: str) -> bool:
    """Whether the runtimes of a cluster are those of the recording: it makes the cluster, and its chart brings none."""
    brought = (leaf for view in cluster.releases for leaf in leaves(view.resource.inputs.get("values")))
    return (
        cluster.makes_everything
        and not cluster.is_blurred(kind, "")
        and not any(map(values_from_elsewhere, cluster.releases))
        and not any(path.startswith("runtimes.") and value in (True, UNKNOWN) for path, value, _ in brought)
    )


def _classes(pod: Pod, cluster: Cluster) -> None:
    """Classes and schedulers that are nearly the name of one that is there; clouds and charts bring others."""
    made: Mapping[str, tuple[list[str], str]] = {
        "runtimeClassName": (cluster.names("RuntimeClass", ""), "RuntimeClass"),
        "schedulerName": (["default-scheduler"], "scheduler"),
    }
    for key, (known, title) in made.items():
        name: Any = pod.spec.get(key)
        near = nearest_of(name, known) if isinstance(name, str) and name not in known else ""
        if near:
            pod.view.error(
                "reference-class", f"{pod.path}.{key}", f"no {title} {show(name)}", hint=f"did you mean {near}?"
            )
    for index, reference in enumerate(listed(pod.spec.get("resourceClaims"))):
        name = reference.get("resourceClaimTemplateName") if isinstance(reference, Mapping) else None
        if isinstance(name, str) and pod.namespace is not None:
            near = nearest_of(name, cluster.names("ResourceClaimTemplate", pod.namespace))
            if near and cluster.find("ResourceClaimTemplate", pod.namespace, name) is None:
                pod.view.error(
                    "reference-class",
                    f"{pod.path}.resourceClaims[{index}].resourceClaimTemplateName",
                    f"no ResourceClaimTemplate {show(name)}",
                    hint=f"did you mean {near}?",
                )
