"""Pods that mount a bucket of Google Cloud: GKE puts the program that mounts it beside them only where they ask for it.

Source: GKE documentation, "Access Cloud Storage buckets with the Cloud Storage FUSE CSI driver": the annotation
`gke-gcsfuse/volumes: "true"` on the pod; without it the volume is not mounted and the pod does not start (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.drivers import FUSE_DRIVER
from trainyard.recorded.read import follow
from trainyard.recorded.types import GCP_BUCKET
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_ANNOTATION: Final = "gke-gcsfuse/volumes"


def check(cluster: Cluster) -> None:
    """Every pod with such a volume."""
    made = {str(view.text("name") or view.resource.outputs.get("name")) for view in cluster.stack.of_type(GCP_BUCKET)}
    for view in cluster.of("PersistentVolume"):
        name = view.text("spec.csi.volumeHandle")
        if view.text("spec.csi.driver") != FUSE_DRIVER or name is None or name in made:
            continue
        if near := nearest_of(name, made - {"None"}):
            view.warning(
                "programs-bucket-mount", "spec.csi.volumeHandle", f"the stack makes no bucket {show(name)}",
                hint=f"did you mean {near}?",
            )  # fmt: skip
    for view in cluster.of("PersistentVolume"):
        if view.text("spec.csi.driver") == FUSE_DRIVER:
            _stale(view)
    for pod in cluster.pods:
        path = f"{pod.path.removesuffix('spec')}metadata.annotations"
        if pod.view.is_unknown(path) or pod.view.is_unknown(path.rpartition(".")[0]):
            continue
        if pod.view.mapping(path).get(_ANNOTATION) != "true" and (name := _mounts(pod, cluster)):
            pod.view.error(
                "programs-bucket-mount", path,
                f"{pod.title} mounts {name}, and does not ask for the program that mounts it: no pod starts",
                allowed=f'{_ANNOTATION}: "true"',
            )  # fmt: skip


def _stale(view: View) -> None:
    """A volume that several write, and whose mount asks once for what is there and never again."""
    told = [(f"spec.mountOptions[{n}]", one) for n, one in enumerate(view.texts("spec.mountOptions"))]
    given = view.mapping("spec.csi.volumeAttributes").get("metadataCacheTTLSeconds")
    if view.flag("spec.csi.readOnly") or any(option == "ro" for _, option in told):
        return
    for path, option in (*told, ("spec.csi.volumeAttributes", f"metadata-cache:ttl-secs:{given}")):
        is_for_ever = re.fullmatch(r"(?:metadata-cache:|stat-cache-)ttl(?:-secs)?[:=]-1", option.strip())
        if is_for_ever and "ReadWriteMany" in view.texts("spec.accessModes"):
            # Right where each node reads what was there before, or what it wrote itself: usual for training data.
            view.warning(
                "programs-mount-option", path,
                f"is {option}: what another node writes is not seen until a pod starts anew, and the volume is written "
                "by many", allowed="metadata-cache:ttl-secs:0",
            )  # fmt: skip


def _mounts(pod: Pod, cluster: Cluster) -> str:
    for volume in listed(pod.spec.get("volumes")):
        if follow(volume, "csi", "driver") == FUSE_DRIVER:
            return str(follow(volume, "name"))
        name = follow(volume, "persistentVolumeClaim", "claimName")
        spaces = [pod.namespace] if pod.namespace is not None else sorted(cluster.pods_by_namespace)
        for space in spaces if isinstance(name, str) else ():
            claim = cluster.find("PersistentVolumeClaim", space or "", str(name))
            bound = _bound(claim, cluster) if claim is not None else None
            if bound is not None and bound.text("spec.csi.driver") == FUSE_DRIVER:
                return f"claim {name}"
    return ""


def _bound(claim: View, cluster: Cluster) -> View | None:
    return cluster.find("PersistentVolume", "", claim.text("spec.volumeName") or "")
