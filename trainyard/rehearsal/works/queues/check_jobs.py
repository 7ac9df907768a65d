"""Jobs: each finds its queue and its priority, and the queue would admit it if nothing else ran."""

from __future__ import annotations

import difflib
from typing import Final

from trainyard.conventions import ACCELERATORS
from trainyard.problems import nearest
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.queues.kubernetes.jobs import (
    FRAMEWORKS,
    LEAST_ANNOTATION,
    MAX_SECONDS_LABEL,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    QueuedJob,
)
from trainyard.rehearsal.works.queues.kubernetes.manager import CLAIMS_UNCOUNTED
from trainyard.rehearsal.works.queues.kubernetes.model import ClusterQueue, LocalQueue, NoWorkload, Pending
from trainyard.rehearsal.works.queues.room import ALWAYS_RESPECTED, Room

_UNNAMED: Final = ("Job", "CronJob", "JobSet", "TrainJob")
_LABELS: Final = (QUEUE_LABEL, PRIORITY_LABEL)


def check_jobs(stack: Stack, room: Room) -> None:
    """Every rule about jobs that the stack makes."""
    views = {view.resource.urn: view for view in stack.views}
    for job in room.jobs:
        view = views[job.resource.urn]
        _labels(view, job)
        _notes(view, job)
        if not job.queue and _elsewhere(view, room, job):
            continue
        if job.queue and _not_managed(view, room, job):
            continue
        local = _local(view, room, job)
        known = _priority(view, room, job)
        if local is not None and known:
            _admitted(view, room, job, local)


def _labels(view: View, job: QueuedJob) -> None:
    """A label that is nearly one of Kueue's is none."""
    for key in job.labels:
        domain, _, name = key.rpartition("/")
        for wanted in _LABELS:
            ours, _, own = wanted.rpartition("/")
            near = difflib.SequenceMatcher(None, f"{domain}/{name}", wanted).ratio() >= 0.8
            if key != wanted and near and wanted not in job.labels and (domain == ours or name == own):
                view.error(
                    "queues-label",
                    f"{job.at}.labels[{show(key)}]",
                    "is no label of Kueue's: the job is treated as if it were not there",
                    allowed=wanted,
                )


def _notes(view: View, job: QueuedJob) -> None:
    """What is said at the wrong place, or is no number that the webhook takes."""
    for key in _LABELS:
        if key in job.annotations and key not in job.labels:
            view.error(
                "queues-label-place",
                f"{job.at}.annotations[{key}]",
                "is an annotation, which nobody reads",
                allowed="a label of this name",
            )
    longest = job.labels.get(MAX_SECONDS_LABEL)
    if longest is not None and not (longest.isdecimal() and int(longest) > 0):
        view.error(
            "queues-label",
            f"{job.at}.labels[{MAX_SECONDS_LABEL}]",
            f"got {show(longest)}: the webhook refuses the job",
            allowed="whole seconds, more than 0",
        )
    least = job.annotations.get(LEAST_ANNOTATION)
    if least is None or job.kind not in ("Job", "CronJob") or job.workload is None:
        return
    count = job.workload.pod_sets[0].count
    if not (least.isdecimal() and 0 < int(least) < count):
        view.error(
            "queues-label",
            f"{job.at}.annotations[{LEAST_ANNOTATION}]",
            f"got {show(least)} of {count} pods: the webhook refuses the job",
            allowed=f"1 to {count - 1}" if count > 1 else "a job of several pods",
        )


def _elsewhere(view: View, room: Room, job: QueuedJob) -> bool:
    """Whether a job that names no queue is none of Kueue's business, or says it where nobody reads it."""
    manager = room.manager
    if any(QUEUE_LABEL in labels for labels in job.pod_labels):
        if manager is not None and "pod" not in (manager.frameworks or ()):
            view.error(
                "queues-label-place",
                f"{job.at}.labels",
                f"{QUEUE_LABEL} stands {_aside(job)}, where nobody reads it",
                allowed=f"the label on the {'Job of its jobTemplate' if job.kind == 'CronJob' else job.kind} itself",
            )
        return True
    if manager is None or job.kind not in _UNNAMED:
        return True
    if manager.frameworks is not None and FRAMEWORKS[job.kind] not in manager.frameworks:
        return True
    has_default = (job.namespace, "default") in room.configuration.locals
    if room.is_managed(job.namespace) is True and not has_default and not manager.manages_unnamed:
        _outside(view, room, job)
    return not (manager.manages_unnamed or has_default) or room.is_managed(job.namespace) is not True


def _aside(job: QueuedJob) -> str:
    """Where a queue's name stands beside the job that it is of."""
    return "on the CronJob or on its pods" if job.kind == "CronJob" else f"on what the {job.kind} makes"


def _outside(view: View, room: Room, job: QueuedJob) -> None:
    queued = any(namespace == job.namespace for namespace, _ in room.configuration.locals)
    if queued and job.workload and any({*ACCELERATORS} & {*pods.requests} for pods in job.workload.pod_sets):
        view.warning(
            "queues-outside",
            f"{job.at}.labels",
            "has GPUs or TPU chips and names no queue, though its namespace has one: it starts at once, beside every "
            "quota",
            allowed=f"the label {QUEUE_LABEL}",
        )


def _not_managed(view: View, room: Room, job: QueuedJob) -> bool:
    manager = room.manager
    if manager is None:
        return False
    framework = FRAMEWORKS[job.kind]
    if manager.frameworks is not None and framework not in manager.frameworks:
        view.error(
            "queues-unmanaged",
            "kind",
            f"Kueue does not manage a {job.kind} here: it would start at once, beside every quota",
            allowed=f"{framework} in integrations.frameworks of the manager's configuration",
        )
        return True
    if manager.version is not None and manager.version >= ALWAYS_RESPECTED and room.is_managed(job.namespace) is False:
        view.error(
            "queues-unmanaged",
            "metadata.namespace",
            f"the manager's managedJobsNamespaceSelector does not mean namespace {job.namespace}: the job would start "
            "at once, beside every quota",
            allowed="a namespace with the labels of the selector",
        )
        return True
    return False


def _local(view: View, room: Room, job: QueuedJob) -> LocalQueue | None:
    name = job.queue or "default"
    found = room.configuration.locals.get((job.namespace, name))
    made_here = job.namespace in room.configuration.namespaces
    if found is not None or not made_here or not room.recorded.missing("LocalQueue", f"{job.namespace}/{name}"):
        return found
    there = [own for namespace, own in room.configuration.locals if namespace == job.namespace]
    if job.queue:
        view.error(
            "queues-no-local-queue",
            f"{job.at}.labels[{QUEUE_LABEL}]",
            f"LocalQueue {name} doesn't exist in namespace {job.namespace}: the job waits for ever",
            allowed=", ".join(sorted(there)) or "a LocalQueue of that namespace",
            hint=nearest(name, there),
        )
    else:
        view.error(
            "queues-no-local-queue",
            f"{job.at}.labels",
            f"names no queue, namespace {job.namespace} has no LocalQueue default and the manager holds such jobs: it "
            "waits for ever",
            allowed=f"the label {QUEUE_LABEL}",
        )
    return None


def _priority(view: View, room: Room, job: QueuedJob) -> bool:
    name = job.labels.get(PRIORITY_LABEL, "")
    if name and room.recorded.missing("WorkloadPriorityClass", name):
        view.error(
            "queues-no-priority",
            f"{job.at}.labels[{PRIORITY_LABEL}]",
            f"there is no WorkloadPriorityClass {name}: the job stays suspended, without a Workload or an event",
            allowed=", ".join(sorted(room.configuration.priorities)),
            hint=nearest(name, room.configuration.priorities),
        )
    return not name or name in room.configuration.priorities


def _admitted(view: View, room: Room, job: QueuedJob, local: LocalQueue) -> None:
    queue = room.queue_of(local)
    if job.workload is None or room.manager is None or queue is None or not room.is_sure(queue):
        return
    if room.cluster.inactive(queue) or room.admits(queue, job.namespace) is not True or local.stop != "None":
        return  # told of the queue
    claims = sorted({name for pods in job.workload.pod_sets for name in pods.claims})
    if claims and room.manager.keeps_claims_out:
        gates = ", ".join(sorted(CLAIMS_UNCOUNTED))
        view.error(
            "queues-claims",
            "spec",
            f"its pods claim devices ({', '.join(claims)}), of whose class the manager's deviceClassMappings say "
            "nothing: it is never admitted",
            allowed=f"a mapping of the class to a resource that the queue counts, or featureGates {gates}: false",
        )
        return
    verdict = room.cluster.fits_empty(job.workload)
    if isinstance(verdict, NoWorkload) or not isinstance(verdict, Pending) or verdict.reserved or job.workload.gated:
        return
    view.error(
        "queues-never-admitted",
        "spec",
        f"queue {queue.name} never admits it, though nothing else ran: {_telling(verdict.reason)}",
        allowed=_cure(room, queue, verdict.reason),
    )


def _telling(reason: str) -> str:
    """The parts of a reason that say what is missing; the others are flavors that the job does not mean."""
    parts = reason.split(", insufficient")
    parts = [parts[0], *(f"insufficient{part}" for part in parts[1:])]
    told = [part for part in parts if part.startswith(("insufficient", "resource", "untolerated"))]
    return "; ".join(told or parts)


def _cure(room: Room, queue: ClusterQueue, reason: str) -> str:
    if reason.startswith("resource"):
        covered = sorted({name for group in queue.groups for name in group.covered})
        return f"requests of {', '.join(covered)} alone, or the resource in excludeResourcePrefixes of the manager"
    most = max((room.cluster.tree[queue.name].most(key) for key in queue.quotas), default=0.0)
    return f"a shape that one flavor of the queue can hold, at most {most:g}" if "maximum capacity" in reason else ""
