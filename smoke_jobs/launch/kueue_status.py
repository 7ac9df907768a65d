"""Why a job does not run yet, in one line, from what Kueue and Kubernetes say. Pure functions over API objects.

Facts (Kueue 0.19.2): a pending workload of the same shape as one that was refused has no condition at all, so no
condition means "waiting for quota" and the reason stands at an older workload of the queue; a priority class that does
not exist gives neither a workload nor an event; a message names every flavor, foreign ones too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Object = dict[str, Any]

QUEUE_LABEL, PRIORITY_LABEL = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"

_USEFUL = ("insufficient", "untolerated")
_PARTS = re.compile(
    r"[,;] (?=insufficient|untolerated|flavor |couldn't|could not)|: (?=insufficient|untolerated|flavor )"
)

_BROKEN_WAITS = {
    "ErrImagePull": "the image cannot be pulled",
    "ImagePullBackOff": "the image cannot be pulled",
    "InvalidImageName": "the image's name is wrong",
    "CreateContainerConfigError": "a Secret or ConfigMap that the pod names is not there",
    "CreateContainerError": "the container cannot be made",
}


def condition(item: Object, kind: str) -> Object:
    """The condition of that type, or an empty one."""
    return next((found for found in item.get("status", {}).get("conditions") or [] if found["type"] == kind), {})


def is_true(item: Object, kind: str) -> bool:
    """Whether the condition is there and true."""
    return bool(condition(item, kind).get("status") == "True")


def useful(message: str) -> str:
    """The parts of Kueue's message that say why; all of it where none is known."""
    parts = [part.strip() for part in _PARTS.split(message)]
    kept = [part for part in parts if part.startswith(_USEFUL)]
    return "; ".join(dict.fromkeys(kept)) or message


def of_job(workloads: Sequence[Object], uid: str) -> Object | None:
    """The Kueue workload that belongs to a job."""
    return next(
        (
            item
            for item in workloads
            if any(owner.get("uid") == uid for owner in item["metadata"].get("ownerReferences") or [])
        ),
        None,
    )


def waiting_for_quota(job: Object, workloads: Sequence[Object]) -> str | None:
    """Why the job is not admitted, or None once it is."""
    workload = of_job(workloads, job["metadata"]["uid"])
    queue = job["metadata"]["labels"].get(QUEUE_LABEL, "")
    if workload is None:
        if not job["spec"].get("suspend"):
            return None  # no queue manages it
        priority = job["metadata"]["labels"].get(PRIORITY_LABEL)
        hint = f"; does the WorkloadPriorityClass {priority} exist?" if priority else ""
        return f"waiting for Kueue to take the job into queue {queue}{hint}"
    if workload.get("spec", {}).get("active") is False:
        return f"Kueue gave up on it: {condition(workload, 'Evicted').get('message', 'it was deactivated')}"
    if is_true(workload, "Admitted"):
        return None
    if is_true(workload, "Evicted"):
        return f"evicted, waiting in queue {queue} again: {useful(condition(workload, 'Evicted').get('message', ''))}"
    reserved = condition(workload, "QuotaReserved")
    if reserved.get("message"):
        return f"waiting for quota in queue {queue}: {useful(reserved['message'])}"
    older = _older_reason(workload, workloads)
    return f"waiting for quota in queue {queue}" + (f": {older} (said of an older job of the queue)" if older else "")


def _older_reason(workload: Object, workloads: Sequence[Object]) -> str:
    created = workload["metadata"].get("creationTimestamp", "")
    same_queue = [
        other
        for other in workloads
        if other.get("spec", {}).get("queueName") == workload.get("spec", {}).get("queueName")
        and other["metadata"].get("creationTimestamp", "") <= created
        and other is not workload
        and condition(other, "QuotaReserved").get("status") == "False"
    ]
    same_queue.sort(key=lambda other: other["metadata"].get("creationTimestamp", ""))
    return useful(condition(same_queue[-1], "QuotaReserved").get("message", "")) if same_queue else ""


def flavors(workload: Object | None) -> str:
    """The flavors that a workload was admitted to."""
    sets = ((workload or {}).get("status", {}).get("admission") or {}).get("podSetAssignments") or []
    return ", ".join(sorted({flavor for item in sets for flavor in (item.get("flavors") or {}).values()}))


def starting(pods: Sequence[Object], wanted: int, failed_creates: Sequence[str]) -> str:
    """What an admitted job's pods are waiting for."""
    if not pods:
        return f"admitted, but no pod was made: {failed_creates[-1]}" if failed_creates else "admitted, making pods"
    reasons = list(dict.fromkeys(reason for pod in pods if (reason := pod_reason(pod))))
    running = sum(pod.get("status", {}).get("phase") == "Running" for pod in pods)
    return f"{running} of {wanted} pods run" + (f": {'; '.join(reasons)}" if reasons else "")


def pod_reason(pod: Object) -> str:
    """Why a pod does not run, or an empty text."""
    if pod.get("status", {}).get("phase") != "Pending":
        return ""
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return f"no node yet ({scheduled.get('message', 'unschedulable')})"
    for status in pod.get("status", {}).get("containerStatuses") or []:
        waiting = status.get("state", {}).get("waiting") or {}
        reason = waiting.get("reason", "")
        if reason in _BROKEN_WAITS:
            return f"{_BROKEN_WAITS[reason]}: {waiting.get('message', reason)}"
    return "pulling the image and mounting volumes"
