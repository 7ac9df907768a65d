"""Sizes that are told twice and contradict each other: disks, shared memory.

Sources: Prometheus, "Storage" (`storage.tsdb.retention.size`, of which the log of writes is a
part); Kubernetes, "Volumes", `emptyDir.sizeLimit`, as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.conventions.quantities import GIBIBYTE
from trainyard.problems import count
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_BINARY: Final = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "PB": 2**50}
_SHARED: Final = GIBIBYTE
"""Bytes of shared memory below which NCCL and loaders of data of a job with several GPUs end with "Bus error" (NCCL
user guide, "Shared memory")."""


def check(cluster: Cluster) -> None:
    """Every disk of Prometheus, every job's shared memory."""
    for release in cluster.releases:
        _kept(release)
    for pod in cluster.pods:
        _shared(pod)
        _gang(pod)
    _unshared(cluster)


def _kept(release: View) -> None:
    """What Prometheus may keep, against its disk."""
    base = "values.prometheus.prometheusSpec"
    size = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)i?B", release.text(f"{base}.retentionSize") or "")
    disk = quantity(release.value(f"{base}.storageSpec.volumeClaimTemplate.spec.resources.requests.storage"))
    if size is None or disk is None:
        return
    kept = float(size[1]) * _BINARY[f"{size[2]}B"]
    if kept >= disk:
        release.error(
            "programs-retention",
            f"{base}.retentionSize",
            f"keeps {size[0]} on a disk of {disk / GIBIBYTE:g} GiB: the disk is full before anything is deleted",
            allowed=f"{int(disk * 0.9 / GIBIBYTE)}GiB or less",
        )


def _shared(pod: Pod) -> None:
    """Shared memory of a job with several GPUs in a pod."""
    volumes = {
        str(one.get("name")): (path, one["emptyDir"])
        for path, one in pod.view.items(f"{pod.path}.volumes")
        if isinstance(one.get("emptyDir"), Mapping)
    }
    for container in pod.containers:
        limits = follow(container.body, "resources", "limits")
        gpus = quantity(limits.get("nvidia.com/gpu")) if isinstance(limits, Mapping) else None
        if gpus is None or gpus < 2:
            continue
        for mount in listed(container.body.get("volumeMounts")):
            if not isinstance(mount, Mapping) or mount.get("mountPath") != "/dev/shm":  # noqa: S108 (what it is)
                continue
            path, source = volumes.get(str(mount.get("name")), ("", {}))
            size = quantity(source.get("sizeLimit"))
            if size is not None and size < _SHARED:
                pod.view.error(
                    "programs-shared-memory",
                    f"{path}.emptyDir.sizeLimit",
                    f"{source.get('sizeLimit')} of shared memory for {count(gpus, 'GPU')}: NCCL and "
                    "loaders of data end with "
                    "'Bus error'",
                    allowed="1Gi or more",
                )


def _unshared(cluster: Cluster) -> None:
    """A pod of several GPUs without a volume of shared memory, where others of the stack have one: it gets the 64 MiB
    of its container runtime. What somebody leaves out everywhere may be meant so."""
    without: list[tuple[Pod, Container, float]] = []
    practised = False
    for pod in cluster.pods:
        for container in pod.containers:
            limits = follow(container.body, "resources", "limits")
            gpus = quantity(limits.get("nvidia.com/gpu")) if isinstance(limits, Mapping) else None
            if container.is_init or gpus is None or gpus < 2:
                continue
            mounts = [str(follow(one, "mountPath")) for one in listed(container.body.get("volumeMounts"))]
            if any(path.rstrip("/") == "/dev/shm" for path in mounts):  # noqa: S108 (what it is)
                practised = True
            elif not pod.spec.get("hostIPC"):
                without.append((pod, container, gpus))
    for pod, container, gpus in without if practised else ():
        # A job that reads its data itself may need none.
        pod.view.warning(
            "programs-shared-memory", f"{container.path}.volumeMounts",
            f"has no /dev/shm, which other pods of this stack have: {gpus:g} GPUs share the 64 MiB of the container "
            "runtime, and NCCL and loaders of data end with 'Bus error'",
            allowed="an emptyDir with medium Memory at /dev/shm",
        )  # fmt: skip


def _gang(pod: Pod) -> None:
    """Ranks that find each other by name have to run at once."""
    view, most = pod.view, pod.view.number("spec.completions")
    at_once = view.number("spec.parallelism")
    indexed = view.text("kind") == "Job" and view.text("spec.completionMode") == "Indexed" and "subdomain" in pod.spec
    if indexed and most is not None and at_once is not None and most > at_once > 1:
        view.error(
            "programs-gang", "spec.completions",
            f"{count(most, 'rank')} of which {at_once:g} run at once: each waits for those that are not there",
            allowed=f"{at_once:g}, as parallelism",
        )  # fmt: skip
