"""Pods that are never made, never start or are never asked: numbers of zero, and ways of a pod that lead nowhere.

Sources: Kubernetes documentation, "Jobs" (`parallelism: 0` pauses a job; `completions: 0` is done at once;
`ttlSecondsAfterFinished: 0` deletes it as it ends), "Pod readiness" (a gate is false until somebody sets its
condition), "Images" (`Never` pulls none), "DNS for Services and Pods" (`Default` asks the node's name server, and so
does `ClusterFirst` on the host's network), "Service Internal Traffic Policy", "Deployments" (`minReadySeconds`),
JobSet API, as generally known (2026-11).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, known_texts
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place

_READ_SECONDS: Final = 60
"""Seconds that a finished job stays at the least, so that whoever waits for it still finds how it ended."""
_START_SECONDS: Final = 3
"""Seconds that any container may take to answer at the least: a Python program has its modules read by then."""
_PROGRESS_SECONDS: Final = 600
"""`progressDeadlineSeconds` where none is given."""
_ROLL_SECONDS: Final = 60
"""Seconds that a pod takes to be placed, pulled and ready at the least, beside what it has to stay ready."""
_GATES: Final = ("elbv2.k8s.aws", "cloud.google.com/", "cilium.io/", "kueue.x-k8s.io/")
"""Conditions that controllers of clouds set."""
_NAME: Final = re.compile(r"\b([a-z0-9][a-z0-9-]*)\.([a-z0-9][a-z0-9-]*)\.svc\b")
_SETS: Final = (
    "JobSet.jobset.x-k8s.io", "ClusterTrainingRuntime.trainer.kubeflow.org", "TrainingRuntime.trainer.kubeflow.org",
)  # fmt: skip
_SCALERS: Final = ("ScaledObject.keda.sh", "ScaledJob.keda.sh")
_RESOURCES: Final = (
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "google.com/tpu",
    "nvidia.com/gpu",
    "vpc.amazonaws.com/efa",
)
_KEEPERS: Final = "keepers."
"""The package of Trainyard's keepers: of another program nobody here knows what its arguments mean."""
_WAITS: Final = ("idle_seconds", "grace_seconds", "sample_seconds", "interval_seconds")
"""Numbers of a program's configuration of which zero leaves no time at all."""


def check(stack: Stack, cluster: Cluster) -> None:
    """Every pod and every object that makes pods."""
    _counts(cluster)
    for view in cluster.of("Deployment"):
        _ready_for(view)
    for service in cluster.of("Service"):
        _local(service, cluster)
    is_cloud = bool(stack.of_type(EKS_CLUSTER) or stack.of_type(GKE_CLUSTER))
    said = [str(one.value("values")) for one in cluster.releases]
    for pod in cluster.pods:
        _gates(pod, said)
        _names(pod, cluster)
        for container in pod.containers:
            if is_cloud and container.body.get("imagePullPolicy") == "Never":
                pod.view.error(
                    "programs-never", f"{container.path}.imagePullPolicy",
                    f"is Never: a new node has no image, and {pod.title} does not start on it", allowed="IfNotPresent",
                )  # fmt: skip
            _quick(pod, container.path, container.body)
            if any(text.startswith(_KEEPERS) for _, text in known_texts(container.body.get("command"))):
                _no_time(pod, container.path, container.body)


def _counts(cluster: Cluster) -> None:
    for view in cluster.of("Job"):
        if view.number("spec.completions") == 0:
            view.error(
                "programs-never", "spec.completions", "is 0: it is done before a pod runs", allowed="1 or more"
            )  # fmt: skip
        elif view.number("spec.parallelism") == 0:
            view.warning(
                "programs-never", "spec.parallelism", "is 0: it is paused, and none of its pods runs",
                allowed="1 or more",
            )  # fmt: skip
        kept = view.number("spec.ttlSecondsAfterFinished")
        if kept is not None and kept < _READ_SECONDS:
            view.warning(
                "programs-never", "spec.ttlSecondsAfterFinished",
                f"is {kept:g}: the job is gone as it ends, and whoever waits for it does not learn how",
                allowed=f"{_READ_SECONDS} or more",
            )  # fmt: skip
    for view in cluster.of("CronJob"):
        if cluster.stack.context.ours and view.number("spec.failedJobsHistoryLimit") == 0:
            view.warning(
                "programs-never", "spec.failedJobsHistoryLimit",
                "is 0: a job is gone as it fails, and nobody reads why", allowed="1 or more",
            )  # fmt: skip
    for path, view, count in _sets(cluster):
        if count == 0:
            view.error("programs-never", path, "is 0: the job has no pod", allowed="1 or more")
    for view in cluster.of("Deployment", "StatefulSet"):
        if view.number("spec.replicas") == 0 and not _is_scaled(view, cluster):
            asked = [one for one in cluster.of("Service") if _serves(one, view) and not _is_answered(one, cluster)]
            note = view.error if asked else view.warning
            why = f"Service {asked[0].text('metadata.name')} has nobody who answers" if asked else "it never runs"
            note("programs-never", "spec.replicas", f"is 0: {why}", allowed="1 or more")


def _sets(cluster: Cluster) -> Iterator[tuple[str, View, float | None]]:
    for view in cluster.of(*_SETS):
        for base in ("spec.replicatedJobs", "spec.template.spec.replicatedJobs"):
            for path, _ in view.items(base):
                yield f"{path}.replicas", view, view.number(f"{path}.replicas")
                for key in ("parallelism", "completions"):
                    at = f"{path}.template.spec.{key}"
                    yield at, view, view.number(at)


def _is_scaled(view: View, cluster: Cluster) -> bool:
    """Whether something that scales from zero has the object."""
    name = view.text("metadata.name")
    return cluster.is_rendered_elsewhere or any(
        one.text("spec.scaleTargetRef.name") == name and place(one) == place(view) for one in cluster.of(*_SCALERS)
    )


def _serves(service: View, view: View) -> bool:
    wanted, labels = service.mapping("spec.selector"), view.mapping("spec.template.metadata.labels")
    return bool(wanted) and place(service) == place(view) and wanted.items() <= labels.items()


def _is_answered(service: View, cluster: Cluster) -> bool:
    """Whether pods that run answer for a service: those of the other colour, where one of two is off."""
    return any(
        view.number("spec.replicas") != 0 and _serves(service, view) for view in cluster.of("Deployment", "StatefulSet")
    )


def _ready_for(view: View) -> None:
    """A pod has to stay ready for so long that the rollout is called failed first."""
    least = view.number("spec.minReadySeconds")
    given = view.number("spec.progressDeadlineSeconds")
    whole = _PROGRESS_SECONDS if given is None else given
    if least and least + min(_ROLL_SECONDS, least) > whole and not view.is_unknown("spec.progressDeadlineSeconds"):
        view.error(
            "programs-deadline", "spec.minReadySeconds",
            f"is {least:g}, and a rollout is called failed after {whole:g} s: no pod is available by then",
            allowed=f"a progressDeadlineSeconds of {least + 2 * _ROLL_SECONDS:g} or more",
        )  # fmt: skip


def _quick(pod: Pod, path: str, body: Mapping[str, Any]) -> None:
    """A probe that gives up before any program is there."""
    kind = "startupProbe" if isinstance(body.get("startupProbe"), Mapping) else "livenessProbe"
    probe = body.get(kind)
    if not isinstance(probe, Mapping) or UNKNOWN in probe.values():
        return
    numbers = [
        as_number(probe.get(key)) if probe.get(key) is not None else default
        for key, default in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3))
    ]
    if None not in numbers:
        delay, period, failures = (float(one or 0) for one in numbers)
        if delay + period * failures < _START_SECONDS:
            pod.view.error(
                "programs-deadline", f"{path}.{kind}",
                f"kills the container {delay + period * failures:g} s after its start: no program answers by then",
                allowed=f"initialDelaySeconds and failureThreshold times periodSeconds of {10 * _START_SECONDS} s",
            )  # fmt: skip


def _gates(pod: Pod, said: list[str]) -> None:
    for path, gate in pod.view.items(f"{pod.path}.readinessGates"):
        kind = gate.get("conditionType")
        if isinstance(kind, str) and not any(one in kind for one in _GATES) and not any(kind in one for one in said):
            pod.view.warning(
                "programs-never", f"{path}.conditionType",
                f"nothing in the stack sets {show(kind)}: the pods of {pod.title} are never ready",
            )  # fmt: skip


def _names(pod: Pod, cluster: Cluster) -> None:
    """A pod that asks the node's name server, and is told names that only the cluster's knows."""
    policy = pod.spec.get("dnsPolicy")
    outside = policy == "Default" or (pod.spec.get("hostNetwork") is True and policy in (None, "ClusterFirst"))
    if not outside or pod.spec.get("dnsConfig") is not None:
        return
    for container in pod.containers:
        for key in ("command", "args", "env"):
            for below, text in known_texts(_asked(container.body.get(key))):
                for name, space in _NAME.findall(text) if len(text) < 4000 else ():
                    service = cluster.find("Service", space, name)
                    if service is None or not _is_own(service, pod):
                        allowed = "ClusterFirst" if policy == "Default" else "ClusterFirstWithHostNet"
                        pod.view.error(
                            "programs-never", f"{pod.path}.dnsPolicy",
                            f"is {policy or 'ClusterFirst, on the network of the host'}: {pod.title} asks the node's "
                            f"name server, which does not know {name}.{space}.svc "
                            f"({container.path}.{key}{below if below.startswith('[') else ''})", allowed=allowed,
                        )  # fmt: skip
                        return


def _asked(given: Any) -> Any:
    """Without the list of what is reached past a proxy, whose names are compared and not looked up."""
    if not isinstance(given, list):
        return given
    return ["" if isinstance(one, Mapping) and _is_no_proxy(one.get("name")) else one for one in given]


def _is_no_proxy(name: Any) -> bool:
    return isinstance(name, str) and name.lower() == "no_proxy"


def _is_own(service: View, pod: Pod) -> bool:
    wanted = service.mapping("spec.selector")
    return bool(wanted) and pod.labels is not None and selects({"matchLabels": wanted}, pod.labels)


def _local(service: View, cluster: Cluster) -> None:
    """Traffic that stays on a node, to pods that are on some nodes only."""
    if service.text("spec.internalTrafficPolicy") != "Local" or not service.mapping("spec.selector"):
        return
    namespace = place(service)
    pods = (
        cluster.selected({"matchLabels": service.mapping("spec.selector")}, namespace) if namespace is not None else []
    )
    if pods and all(pod.view.text("kind") in ("Deployment", "StatefulSet", "ReplicaSet") for pod in pods):
        service.error(
            "programs-never", "spec.internalTrafficPolicy",
            f"is Local: a caller on a node without a pod of {pods[0].title} reaches nobody", allowed="Cluster",
        )  # fmt: skip


def _no_time(pod: Pod, path: str, body: Mapping[str, Any]) -> None:
    """What a keeper waits, of its configuration in JSON."""
    for key in ("command", "args"):
        for index, text in enumerate(listed(body.get(key))):
            if not isinstance(text, str) or not text.startswith("{"):
                continue
            try:
                told = json.loads(text)
            except ValueError as error:
                if text.endswith("}") and '":' in text and "{{" not in text:
                    pod.view.error(
                        "programs-never", f"{path}.{key}[{index}]",
                        f"is no JSON ({error}): the program that reads it ends",
                    )  # fmt: skip
                continue
            resource = told.get("resource") if isinstance(told, dict) else None
            hint = nearest(resource, _RESOURCES, cutoff=0.9) if isinstance(resource, str) else ""
            if hint and resource not in _RESOURCES:
                pod.view.error(
                    "programs-never", f"{path}.{key}[{index}]",
                    f"looks for pods with {show(resource)}, which no node offers", hint=hint,
                )  # fmt: skip
            numbers = {name: as_number(told.get(name)) for name in _WAITS if isinstance(told, dict) and name in told}
            for name, seconds in numbers.items():
                if seconds is not None and seconds <= 0:
                    pod.view.error(
                        "programs-never", f"{path}.{key}[{index}]",
                        f"{name} is {seconds:g}: what has just begun is ended", allowed="1 or more",
                    )  # fmt: skip
            idle, sample = numbers.get("idle_seconds"), numbers.get("sample_seconds")
            if idle and sample and sample > idle:
                pod.view.error(
                    "programs-never", f"{path}.{key}[{index}]",
                    f"looks every {sample:g} s whether something was idle for {idle:g} s: one look decides",
                    allowed=f"sample_seconds of less than {idle:g}",
                )  # fmt: skip
