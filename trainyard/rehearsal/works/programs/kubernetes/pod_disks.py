"""Disks of pods: one that a single node may hold at a time, and what a pod may keep on its node.

Sources: Kubernetes documentation, "Persistent Volumes" (ReadWriteOnce: one node, ReadWriteOncePod: one pod),
"Deployments" (a rolling update starts pods before it ends others) and "Local ephemeral storage" (what lies in an
`emptyDir` counts against the limits of all containers, and the kubelet evicts a pod above them) (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.conventions.quantities import GIBIBYTE
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_DISK: Final = "ephemeral-storage"
_DISKS: Final = ("ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "pd.csi.storage.gke.io")
"""Drivers of disks that hang on one node; others share files, whatever a claim's mode says."""


def check(cluster: Cluster) -> None:
    """Every pod with a claim or a folder of its own."""
    for pod in cluster.pods:
        _rolling(pod, cluster)
        _scratch(pod)


def _rolling(pod: Pod, cluster: Cluster) -> None:
    if pod.view.text("kind") != "Deployment" or pod.namespace is None:
        return
    replicas = pod.view.number("spec.replicas")
    recreates = pod.view.text("spec.strategy.type") == "Recreate" or pod.view.is_unknown("spec.strategy")
    surge = pod.view.value("spec.strategy.rollingUpdate.maxSurge")
    starts_first = not recreates and (as_number(surge) != 0 and surge != "0%")
    for path, volume in pod.view.items(f"{pod.path}.volumes"):
        name = follow(volume, "persistentVolumeClaim", "claimName")
        claim = cluster.find("PersistentVolumeClaim", pod.namespace, name) if isinstance(name, str) else None
        modes = claim.texts("spec.accessModes") if claim is not None else []
        driver = _driver(claim, cluster) if claim is not None else None
        if not modes or not set(modes) <= {"ReadWriteOnce", "ReadWriteOncePod"} or driver not in (*_DISKS, None):
            continue
        if (replicas or 1) > 1:
            tell = pod.view.error if driver is not None else pod.view.warning
            tell(
                "programs-pod-disk", f"{path}.persistentVolumeClaim.claimName",
                f"{show(name)} is of one node at a time ({modes[0]}), and {replicas:g} pods of {pod.title} ask for it: "
                "those on other nodes never start", allowed="1 replica, a StatefulSet, or ReadWriteMany",
            )  # fmt: skip
        elif starts_first and replicas != 0:
            pod.view.warning(
                "programs-pod-disk", "spec.strategy",
                f"starts the next pod before the last one is gone, and {show(name)} is of one node at a time "
                f"({modes[0]}): on another node it waits for ever", allowed="type Recreate, or maxSurge 0",
            )  # fmt: skip


def _driver(claim: View, cluster: Cluster) -> str | None:
    """What makes the volume of a claim; None where that is not known."""
    volume = cluster.find("PersistentVolume", "", claim.text("spec.volumeName") or "")
    if volume is not None:
        return volume.text("spec.csi.driver")
    kind = cluster.find("StorageClass", "", claim.text("spec.storageClassName") or "")
    return kind.text("provisioner") if kind is not None else None


def _scratch(pod: Pod) -> None:
    limits = [
        quantity(given) if isinstance(given := follow(one.body, "resources", "limits", _DISK), (str, int)) else None
        for one in pod.containers
        if not one.is_init or one.body.get("restartPolicy") == "Always"
    ]
    known = [one for one in limits if one is not None]
    if not known or len(known) != len(limits):
        return
    for index, volume in enumerate(listed(pod.spec.get("volumes"))):
        held = volume.get("emptyDir") if isinstance(volume, Mapping) else None
        size = held.get("sizeLimit") if isinstance(held, Mapping) and held.get("medium") != "Memory" else None
        given = quantity(size) if isinstance(size, (str, int)) else None
        if given is not None and given > sum(known):
            pod.view.error(
                "programs-pod-disk", f"{pod.path}.volumes[{index}].emptyDir.sizeLimit",
                f"is {size}, and {pod.title} is evicted from {sum(known) / GIBIBYTE:g} GiB on, which the limits of its "
                "containers say", allowed=f"less than the sum of limits.{_DISK}",
            )  # fmt: skip
