"""Pods of runtimes against the limit ranges of the namespaces that jobs are queued in: a TrainJob is taken, and each of
its pods is refused.

Source: the admission plugin LimitRanger of Kubernetes 1.35 (a container without a limit gets the default, also where it
requests more, which is invalid), as generally known (2026-11). What a TrainJob says itself is not known: only what
stands in the runtime is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.quantities import quantity
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place
from trainyard.rehearsal.works.references.kubernetes.limits import by_namespace, entries, part_of, wrong
from trainyard.rehearsal.works.workloads.model import Workload
from trainyard.rehearsal.works.workloads.read import workloads

_QUEUE: Final = "LocalQueue.kueue.x-k8s.io"


def check(cluster: Cluster) -> None:
    """Every template of the stack in every namespace that has a queue."""
    found = by_namespace(cluster, "LimitRange")
    queued = sorted({space for view in cluster.of(_QUEUE) if (space := place(view)) is not None})
    ranges = {space: found[space] for space in queued if found.get(space)}
    if not ranges:
        return
    views = {view.resource.urn: view for view in cluster.views}
    for workload in workloads(cluster.stack.resources):
        view = views.get(workload.resource.urn)
        if view is None or not workload.is_template or workload.origin != "object":
            continue
        own = {space: held for space, held in ranges.items() if workload.namespace in (None, "", space)}
        _template(view, workload, own, everywhere=bool(own) and (bool(workload.namespace) or len(own) == len(queued)))


def _template(view: View, workload: Workload, ranges: Mapping[str, list[View]], *, everywhere: bool) -> None:
    """A limit that a range gives is meant for no container that requests more; a least or a most may be meant so,
    unless no queue's namespace takes the pods."""
    for path, container in workload.containers():
        resources = container.get("resources")
        refusals = {
            space: (limits, why, key in part_of(entry, "default") and not _limited(resources, key))
            for space, held in ranges.items()
            for limits, entry in entries(held, "Container")
            for key in dict.fromkeys(name for part in ("default", "max", "min") for name in part_of(entry, part))
            if (why := wrong(resources, entry, key))
        }
        told = [one for one in refusals.values() if one[2]]
        if not told and everywhere and len(refusals) == len(ranges):
            told = list(refusals.values())
        if told:
            limits, why, _ = told[0]
            view.error(
                "reference-limit-range", workload.at(f"{path}.resources"),
                f"{why} by LimitRange {limits.name}: TrainJobs that say nothing else are taken, and their pods are "
                "refused", allowed="requests and limits within the range, or another range",
            )  # fmt: skip


def _limited(resources: Any, key: str) -> bool:
    return quantity(part_of(resources, "limits").get(key)) is not None
