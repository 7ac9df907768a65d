"""Annotations of jobs and of their pods: jobs that grow and shrink, and pods that ask for a place in a topology.

Kueue's webhooks refuse what does not go together, and read nothing of what is said otherwise or elsewhere
(`pkg/controller/jobframework/{validation,tas_validation,tas}.go` and `jobs/*/*_webhook.go` of 0.18.0 and 0.19.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import UnreadableInput, mapping_at, mappings_at, value_at
from trainyard.recorded.types import TRAINING_RUNTIME
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.queues.kubernetes.jobs import (
    ELASTIC_ANNOTATION,
    FRAMEWORKS,
    LEAST_ANNOTATION,
    PREFERRED_TOPOLOGY,
    REQUIRED_TOPOLOGY,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    TOPOLOGIES,
    UNCONSTRAINED_TOPOLOGY,
    QueuedJob,
    runtime_templates,
)
from trainyard.rehearsal.works.queues.kubernetes.manager import ELASTIC
from trainyard.rehearsal.works.queues.kubernetes.model import Manager
from trainyard.rehearsal.works.queues.room import Room
from trainyard.rehearsal.works.workloads.read import JOB_TEMPLATE

_GROWING: Final = frozenset({"Job", "CronJob", "RayCluster", "RayJob", "RayService"})
"""Kinds that may be elastic (`supportedElasticJobGVKs`)."""
_ON_PODS: Final = frozenset({"Job", "CronJob", "JobSet"})
"""Kinds whose topology is read from their pods' templates alone."""
_BOOLEANS: Final = frozenset({"1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"})
"""What Go takes for a boolean."""
_MOST: Final = 2**31 - 1
"""A size is a whole number of 32 bits."""


def check_annotations(stack: Stack, room: Room) -> None:
    """Every rule about annotations, for a manager that is known and looks after the kind."""
    manager = room.manager
    if manager is None:
        return
    for job in room.jobs:
        if manager.frameworks is not None and FRAMEWORKS[job.kind] not in manager.frameworks:
            continue
        view = stack.view_of(job.resource)
        _elastic(view, manager, job)
        if manager.sees_topology:
            _misplaced(view, job)
            try:
                for path, notes, count in _templates(job):
                    _topology(view, f"{path}.metadata.annotations", notes, count, "the webhook refuses the job")
            except UnreadableInput:
                continue
    if manager.sees_topology and (manager.frameworks is None or FRAMEWORKS["TrainJob"] in manager.frameworks):
        for runtime in stack.resources.of(TRAINING_RUNTIME):
            try:
                for path, template in runtime_templates(runtime):
                    notes = mapping_at(template, "metadata", "annotations")
                    where = f"{path}.metadata.annotations"
                    _topology(stack.view_of(runtime), where, notes, None, "every TrainJob of this runtime is refused")
            except UnreadableInput:
                continue


def _elastic(view: View, manager: Manager, job: QueuedJob) -> None:
    at = f"{job.metadata}.annotations[{ELASTIC_ANNOTATION}]"
    said = job.annotations.get(ELASTIC_ANNOTATION)
    if said is None:
        if ELASTIC_ANNOTATION in job.labels:
            where = f"{job.metadata}.labels[{ELASTIC_ANNOTATION}]"
            view.error("queues-label-place", where, "is a label, which nobody reads", allowed="an annotation")
        return
    if said != "true":
        if said.lower() in ("true", "yes", "on", "1", "t"):
            told = f"{show(said)} is not `true`: the job is not elastic, and who changes its size suspends it"
            view.error("queues-elastic", at, told, allowed="true")
        return
    gate, _ = ELASTIC
    if manager.is_elastic is False:
        told = f"the manager's gate {gate} is off: the job is not elastic, and who changes its size suspends it"
        view.error("queues-elastic", at, told, allowed=f"featureGates {gate}: true of the manager's configuration")
    if not manager.is_elastic:
        return
    if job.kind not in _GROWING:
        kinds = "a Job, RayCluster, RayJob or RayService"
        view.error("queues-elastic", at, f"a {job.kind} is never elastic: the webhook refuses it", allowed=kinds)
        return
    if job.kind in ("Job", "CronJob"):
        _goes_with(view, manager, job, at)


def _goes_with(view: View, manager: Manager, job: QueuedJob, at: str) -> None:
    """What an elastic Job may not have besides."""
    if LEAST_ANNOTATION in job.annotations:
        told = f"stands beside {LEAST_ANNOTATION}: the webhook refuses a job that is both"
        view.error("queues-elastic", at, told, allowed="one of the two")
    if not manager.sees_topology:
        return
    try:
        asked = [
            key for _, notes, _ in _templates(job) for key in (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY) if key in notes
        ]
    except UnreadableInput:
        return
    if asked:
        told = f"its pods have {asked[0]}: the webhook refuses an elastic job that asks for a topology"
        view.error("queues-elastic", at, told, allowed="a job that is not elastic, or pods without it")


def _misplaced(view: View, job: QueuedJob) -> None:
    for key in (*TOPOLOGIES, SLICE_TOPOLOGY, SLICE_SIZE):
        if job.kind in _ON_PODS and key in job.annotations:
            where = f"{job.metadata}.annotations[{key}]"
            told = f"stands on the {job.kind}, where nobody reads it"
            view.error("queues-label-place", where, told, allowed="the annotation on the template of its pods")


def _templates(job: QueuedJob) -> Iterator[tuple[str, Mapping[str, Any], int | None]]:
    """The pod templates of a job of a kind that is read: path, annotations, and how many pods, where that is known.

    Raises:
        UnreadableInput: they are not known.
    """
    inputs = job.resource.inputs
    if job.kind in ("Job", "CronJob"):
        at = (*(JOB_TEMPLATE if job.kind == "CronJob" else ()), "spec", "template")
        count = job.workload.pod_sets[0].count if job.workload is not None else None
        yield ".".join(at), mapping_at(value_at(inputs, *at), "metadata", "annotations"), count
    elif job.kind == "JobSet":
        jobs = list(mappings_at(inputs, "spec", "replicatedJobs"))
        pods = job.workload.pod_sets if job.workload is not None else ()
        for number, one in enumerate(jobs):
            notes = mapping_at(one, "template", "spec", "template", "metadata", "annotations")
            path = f"spec.replicatedJobs[{number}].template.spec.template"
            yield path, notes, pods[number].count if len(pods) == len(jobs) else None


def _topology(view: View, at: str, notes: Mapping[str, Any], count: int | None, refused: str) -> None:
    """What the annotations of one template ask of topology, as the webhook reads it."""
    asked = [key for key in TOPOLOGIES if key in notes]
    if len(asked) > 1:
        view.error("queues-topology-request", at, f"has {' and '.join(asked)}: {refused}", allowed="one of the three")
    free = notes.get(UNCONSTRAINED_TOPOLOGY)
    if isinstance(free, str) and free not in _BOOLEANS:
        where = f"{at}[{UNCONSTRAINED_TOPOLOGY}]"
        view.error("queues-topology-request", where, f"got {show(free)}: {refused}", allowed="true")
    size = notes.get(SLICE_SIZE)
    if SLICE_TOPOLOGY in notes and SLICE_SIZE not in notes:
        where, told = f"{at}[{SLICE_TOPOLOGY}]", f"has no {SLICE_SIZE} beside it: {refused}"
        view.error("queues-topology-request", where, told, allowed=f"{SLICE_SIZE} too: how many pods a slice has")
    if SLICE_SIZE in notes and SLICE_TOPOLOGY not in notes:
        where, told = f"{at}[{SLICE_SIZE}]", f"has no {SLICE_TOPOLOGY} beside it: {refused}"
        view.error("queues-topology-request", where, told, allowed=f"{SLICE_TOPOLOGY} too: where a slice lies")
    if not isinstance(size, str):
        return
    # Go takes a sign before the digits, and neither spaces nor underscores within them.
    number = int(size) if size.lstrip("+-").isdecimal() and size.isascii() and len(size) < 12 else 0
    if not 0 < number <= (_MOST if count is None else count):
        most = f" of {count} pods" if number > 0 and count is not None else ""
        where, told = f"{at}[{SLICE_SIZE}]", f"got {show(size)}{most}: {refused}"
        allowed = "a whole number of pods, at least 1" if count is None else f"1 to {count}"
        view.error("queues-topology-request", where, told, allowed=allowed)
