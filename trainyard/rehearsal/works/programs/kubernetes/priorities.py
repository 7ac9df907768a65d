"""Classes of priority that keep pods from ever starting: below what the autoscaler looks at, or of pods that are none.

Sources: kubernetes/autoscaler, FAQ, "How does Cluster Autoscaler work with Pod Priority and Preemption?" (pods below
`expendable-pods-priority-cutoff`, -10 by default, start no node; GKE, "About GKE cluster autoscaling", has the same);
what the guard on pods asks, `components/k8s/pod_rules.py` (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.conventions import CPU_ONLY_PRIORITY, GPU_RESOURCE, TPU_RESOURCE
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_CUT_OFF: Final = -10
_FLAG: Final = "values.extraArgs.expendable-pods-priority-cutoff"
_PAUSE: Final = "pause"
_CHIPS: Final = (GPU_RESOURCE, TPU_RESOURCE)
_MIG: Final = "nvidia.com/mig-"


def check(cluster: Cluster) -> None:
    """Every class that pods of the stack have, and every pod of a team's."""
    _expendable(cluster)
    if cluster.stack.context.ours and cluster.of("ValidatingAdmissionPolicy"):
        for pod in cluster.pods:
            if pod.namespace is None or (cluster.is_teams(pod.namespace) and _is_made_by_a_job(pod)):
                _guarded(pod)


def _expendable(cluster: Cluster) -> None:
    told = [as_number(one.value(_FLAG)) for one in cluster.releases if one.has(_FLAG)]
    least = min((one for one in told if one is not None), default=_CUT_OFF)
    used: dict[str, list[Pod]] = {}
    for pod in cluster.pods:
        name = pod.spec.get("priorityClassName")
        if pod.view.text("kind") == "DaemonSet":
            continue  # they run on nodes that others start
        if isinstance(name, str) and not any(_PAUSE in str(one.body.get("image")) for one in pod.containers):
            used.setdefault(name, []).append(pod)
    for view in cluster.of("PriorityClass"):
        value, pods = view.number("value"), used.get(view.text("metadata.name") or "", [])
        if value is not None and value < least and pods:
            # Work that takes what is left over, and waits for it, may be meant.
            view.warning(
                "programs-priority", "value",
                f"is {value:g}, and the autoscaler starts no node for pods below {least:g}: {pods[0].title} waits "
                "until somebody else's node has room", allowed=f"{least:g} or more",
            )  # fmt: skip


def _is_made_by_a_job(pod: Pod) -> bool:
    return pod.view.text("kind") in ("Job", "CronJob", "JobSet")


def _guarded(pod: Pod) -> None:
    """The guard on pods lets those without GPUs be of one class, and those with GPUs be of none."""
    name, path = pod.spec.get("priorityClassName"), f"{pod.path}.priorityClassName"
    if not pod.containers_are_known or (name is not None and not isinstance(name, str)):
        return
    asked = [
        (key, quantity(amount))
        for container in pod.containers
        for part in ("limits", "requests")
        for key, amount in _amounts(follow(container.body, "resources", part)).items()
        if key in _CHIPS or str(key).startswith(_MIG)
    ]
    has_gpus = any(amount is None or amount for _, amount in asked)
    if has_gpus and name == CPU_ONLY_PRIORITY:
        pod.view.error(
            "programs-priority", path,
            f"is {show(name)}, the class of pods without GPUs, and {pod.title} asks for {asked[0][0]}: the guard on "
            "pods refuses each", allowed="none: the queue decides who goes first",
        )  # fmt: skip
    elif not has_gpus and name != CPU_ONLY_PRIORITY and pod.namespace is not None and not _may_be_patched(pod):
        pod.view.error(
            "programs-priority", path,
            f"is {show(name) if name else 'missing'}, and {pod.title} asks for no GPU: the guard on pods refuses each",
            allowed=CPU_ONLY_PRIORITY,
        )  # fmt: skip


def _amounts(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _may_be_patched(pod: Pod) -> bool:
    """Whether something of the pod is claimed instead of asked for."""
    return bool(listed(pod.spec.get("resourceClaims")))
