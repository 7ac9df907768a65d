"""What mounts a pod's buckets, and takes room on its node beside it.

Mountpoint for S3 makes a pod for each volume and node once the pod is scheduled, with the node's name and every
toleration: where the node is full, the pod waits for its volume without end. It requests nothing where the volume's
attributes name nothing, and takes one of the node's pods in any case (awslabs/mountpoint-s3-csi-driver,
pkg/podmounter/mppod/creator.go, and its issues 543 and 778; 2026-11). Pods of one node that mount the same volume with
the same rights share one; here each counts its own, as where service accounts differ.

GKE puts a container into every pod with buckets, which requests 250m of CPU, 256 MiB and 5 GiB of disk unless the pod's
annotations say otherwise (GKE, "Configure the Cloud Storage FUSE CSI driver sidecar container", as generally known).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainyard.conventions.gcp_files import FUSE_DISK_GIB
from trainyard.recorded.drivers import FUSE_DRIVER, S3_DRIVER
from trainyard.recorded.model import bare
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.rehearsal.works.workloads.model import Workload

_S3_REQUESTS: Final = {
    "cpu": "mountpointContainerResourcesRequestsCpu",
    "memory": "mountpointContainerResourcesRequestsMemory",
}
_FUSE_CONTAINER: Final = "gke-gcsfuse-sidecar"
_FUSE_REQUESTS: Final = {
    "cpu": ("gke-gcsfuse/cpu-request", "250m"),
    "memory": ("gke-gcsfuse/memory-request", "256Mi"),
    "ephemeral-storage": ("gke-gcsfuse/ephemeral-storage-request", f"{FUSE_DISK_GIB}Gi"),
}


@dataclass(frozen=True, slots=True)
class Mounts:
    """What comes beside a pod to mount its volumes: pods of their own, and what is requested for all of it."""

    pods: int = 0
    requests: Mapping[str, float] = field(default_factory=dict)

    def with_pod(self, requests: Mapping[str, float]) -> dict[str, float]:
        """What a node needs to have for a pod of these requests and what mounts its volumes."""
        found = dict(requests)
        for name, amount in self.requests.items():
            found[name] = found.get(name, 0.0) + amount
        return found


NO_MOUNTS: Final = Mounts()
"""What a pod without buckets has beside it: nothing."""


def mounts_of(workload: Workload, volumes: Iterator[tuple[str, Mapping[str, Any]]]) -> Mounts:
    """What mounts a workload's volumes, of which each has the name of its CSI driver and its attributes."""
    listed = list(volumes)
    of_s3 = [attributes for driver, attributes in listed if driver == S3_DRIVER]
    requests: dict[str, float] = {}
    for attributes in of_s3:
        _add(requests, {name: attributes.get(key) for name, key in _S3_REQUESTS.items()})
    by_hand = any(each.get("name") == _FUSE_CONTAINER for _, each in workload.containers())
    if any(driver == FUSE_DRIVER for driver, _ in listed) and not by_hand:
        notes = _annotations(workload)
        _add(requests, {name: notes.get(key, default) for name, (key, default) in _FUSE_REQUESTS.items()})
    return Mounts(len(of_s3), requests)


def _add(to: dict[str, float], given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        amount = quantity(value) if value is not None else None
        if amount:
            to[name] = to.get(name, 0.0) + amount


def _annotations(workload: Workload) -> Mapping[str, Any]:
    """Those of the pods; none where the object's own specification is not where they stand."""
    way = workload.path.split(".")
    if way[-1] != "spec":
        return {}
    found = bare(follow(workload.resource.inputs, *way[:-1], "metadata", "annotations"))
    return found if isinstance(found, Mapping) else {}
