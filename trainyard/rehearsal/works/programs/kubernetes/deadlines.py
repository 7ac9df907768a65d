"""Deadlines that are over before what they wait for can be there.

Sources: Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes" (a container is killed after
`initialDelaySeconds` and `failureThreshold` times `periodSeconds`), "Jobs" (`activeDeadlineSeconds` counts from when a
job is let go); PyTorch, "torchrun" (`TORCH_ELASTIC_SHUTDOWN_TIMEOUT`); Helm, `--timeout`, as generally known (2026-11).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow, known_texts
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_NODE_SECONDS: Final = 300
"""A GPU node from zero takes 3 to 8 minutes to be ready, and its image as long again (platform.md of the project's
facts, 2026-11)."""
_STARTS: Final = (
    (re.compile(r"\bmlflow server\b"), 30),
    (re.compile(r"\bjupyter(?:-lab|hub|lab)\b"), 15),
    (re.compile(r"\bslurmctld\b"), 10),
)
"""A command line, and the seconds that its program takes to answer at the least: MLflow loads its parts in each worker
and asks its database for the schema (seen with 3.17.2 on one core); others as generally known."""
_RELEASE_SECONDS: Final = 60
_PROGRESS_SECONDS: Final = 60
_CHECKPOINT_SECONDS: Final = 10
_GRACE_SECONDS: Final = 30
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_WAITS: Final = ("max-node-provision-time",)


Groups = Sequence[tuple[Mapping[str, Any], float | None]]
"""The labels of each group of nodes, and its least size where that is known."""


def check(stack: Stack, cluster: Cluster, groups: Groups) -> None:
    """Every probe, job, release and controller that waits for something."""
    for pod in cluster.pods:
        for container in pod.containers:
            _start(pod, container)
        _job(pod, groups)
        _end(pod)
    for view in cluster.of("Deployment"):
        seconds = view.number("spec.progressDeadlineSeconds")
        if seconds is not None and seconds < _PROGRESS_SECONDS and not view.is_unknown("spec.replicas"):
            view.error(
                "programs-deadline", "spec.progressDeadlineSeconds",
                f"is {seconds:g}: a rollout is called failed before an image is pulled and a program answers",
                allowed=f"{_PROGRESS_SECONDS} or more",
            )  # fmt: skip
    for release in stack.of_type(HELM_RELEASE):
        _release(release, groups)


def _start(pod: Pod, container: Container) -> None:
    words = " ".join(text for key in ("command", "args") for _, text in known_texts(container.body.get(key)))
    needed = next((seconds for pattern, seconds in _STARTS if pattern.search(words)), 0)
    if not needed:
        return
    startup = container.body.get("startupProbe")
    kind = "startupProbe" if startup is not None else "livenessProbe"
    probe = container.body.get(kind)
    if not isinstance(probe, Mapping) or any(value is UNKNOWN for value in probe.values()):
        return
    delay, period, failures = (
        as_number(probe.get(key)) if probe.get(key) is not None else default
        for key, default in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3))
    )
    if delay is None or period is None or failures is None:
        return
    given = delay + period * failures
    if given < needed:
        pod.view.error(
            "programs-deadline",
            f"{container.path}.{kind}",
            f"kills {show(container.name)} {given:g} s after its start, which takes {needed} s: it never comes up",
            allowed=f"initialDelaySeconds and failureThreshold times periodSeconds of {2 * needed} s or more",
        )


def _starts_at_zero(pod: Pod, groups: Groups) -> bool:
    """Whether every group that the pods may run on has no node to begin with."""
    wanted = dict(pod.spec.get("nodeSelector") or {}) if isinstance(pod.spec.get("nodeSelector"), Mapping) else {}
    terms = listed(
        follow(
            pod.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
        )
    )
    for one in listed(terms[0].get("matchExpressions")) if len(terms) == 1 and isinstance(terms[0], Mapping) else ():
        if isinstance(one, Mapping) and one.get("operator") == "In" and len(listed(one.get("values"))) == 1:
            wanted[str(one.get("key"))] = one["values"][0]
    able = [least for labels, least in groups if all(labels.get(key) == value for key, value in wanted.items())]
    return bool(wanted) and bool(able) and all(least == 0 for least in able)


def _job(pod: Pod, groups: Groups) -> None:
    path = pod.path.removesuffix(".template.spec")
    if path == pod.path or pod.view.text("kind") not in ("Job", "CronJob"):
        return
    given = pod.view.number(f"{path}.activeDeadlineSeconds")
    if given is None:
        return
    if given < _NODE_SECONDS and _starts_at_zero(pod, groups):
        pod.view.error(
            "programs-deadline",
            f"{path}.activeDeadlineSeconds",
            f"ends the job {given:g} s after it is let go, and its nodes start from zero, which takes "
            f"{_NODE_SECONDS} s and more: it never trains",
            allowed=f"{2 * _NODE_SECONDS} or more",
        )
    for container in pod.containers:
        for one in listed(container.body.get("env")):
            value = one.get("value") if isinstance(one, Mapping) else None
            if isinstance(value, str) and value.startswith("{") and '"timeout_s"' in value:
                longest = as_number(_of_json(value).get("timeout_s"))
                if longest is not None and longest >= given:
                    pod.view.error(
                        "programs-deadline",
                        f"{path}.activeDeadlineSeconds",
                        f"ends the job after {given:g} s, and its program may take {longest:g} s: it is "
                        "killed before it says why",
                        allowed=f"more than {longest:g}",
                    )


def _of_json(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _end(pod: Pod) -> None:
    """What a pod of a training job is given to write its checkpoint when it has to go."""
    given = pod.spec.get("terminationGracePeriodSeconds")
    grace = _GRACE_SECONDS if given is None else as_number(given)
    if grace is None or given is UNKNOWN:
        return
    for container in pod.containers:
        limits = follow(container.body, "resources", "limits")
        trains = isinstance(limits, Mapping) and (quantity(limits.get("nvidia.com/gpu")) or 0) > 0
        if trains and grace < _CHECKPOINT_SECONDS and pod.view.text("kind") not in ("Deployment", "DaemonSet"):
            pod.view.error(
                "programs-deadline", f"{pod.path}.terminationGracePeriodSeconds",
                f"gives {grace:g} s to a job that is evicted: no checkpoint is written in that",
                allowed=f"{_GRACE_SECONDS} or more",
            )  # fmt: skip
            return
        for index, one in enumerate(listed(container.body.get("env"))):
            if isinstance(one, Mapping) and one.get("name") == "TORCH_ELASTIC_SHUTDOWN_TIMEOUT":
                waits = as_number(one.get("value"))
                if waits is not None and waits >= grace:
                    pod.view.error(
                        "programs-deadline",
                        f"{container.path}.env[{index}].value",
                        f"lets workers take {waits:g} s to end, and the pod is killed after {grace:g} s",
                        allowed=f"less than {grace:g}",
                    )


def _release(release: View, groups: Groups) -> None:
    given = release.number("timeout")
    if given is not None and 0 < given < _RELEASE_SECONDS and release.value("skipAwait") is not True:
        release.error(
            "programs-deadline", "timeout",
            f"gives up after {given:g} s: images are not pulled and pods not ready by then",
            allowed=f"{5 * _RELEASE_SECONDS} or more",
        )  # fmt: skip
    from_zero = any(least == 0 for _, least in groups)
    for flag in _WAITS:
        path = f"values.extraArgs.{flag}"
        waits = _seconds(release.value(path))
        if from_zero and waits is not None and waits < _NODE_SECONDS:
            release.error(
                "programs-deadline", path,
                f"is {release.value(path)}: a GPU node takes {_NODE_SECONDS} s and more, and each is given up",
                allowed="15m or more",
            )  # fmt: skip
    text = release.text("values.managerConfig.controllerManagerConfigYaml") or ""
    found = re.search(r"^\s+recoveryTimeout:\s*\"?(\w+)", text, re.MULTILINE)
    waits = _seconds(found[1]) if found is not None else None
    if from_zero and waits is not None and waits < _NODE_SECONDS:
        release.error(
            "programs-deadline",
            "values.managerConfig.controllerManagerConfigYaml",
            f"waitForPodsReady.recoveryTimeout is {waits:g} s: a job that loses a pod is evicted before another node "
            "is there",
            allowed=f"more than {_NODE_SECONDS} s",
        )


def _seconds(value: Any) -> float | None:
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh])", value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
