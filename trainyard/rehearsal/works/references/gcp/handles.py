"""Handles of volumes whose driver mounts a file system once a node, by its handle.

The kubelet asks such a driver to mount what a handle means at one place of the node, and pods' mounts are bound to
that: two volumes of one handle that name different folders are one there, and the second pod gets the first one's.

Source: Kubernetes CSI, `NodeStageVolume`; the drivers of Filestore and Lustre have the capability STAGE_UNSTAGE_VOLUME
(gcp-filestore-csi-driver, 2026-06-24; lustre-csi-driver, 2026-08-19). Cloud Storage FUSE mounts for each pod.
"""

from __future__ import annotations

from typing import Final

from trainyard.conventions.gcp import FILESTORE_DRIVER, LUSTRE_DRIVER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_STAGED: Final = (FILESTORE_DRIVER, LUSTRE_DRIVER)
_ATTRIBUTES: Final = "spec.csi.volumeAttributes"


def check(cluster: Cluster) -> None:
    """Every two volumes of one handle that mean different folders."""
    first: dict[tuple[str, str], View] = {}
    for view in cluster.of("PersistentVolume"):
        driver, handle = view.text("spec.csi.driver"), view.text("spec.csi.volumeHandle")
        if driver not in _STAGED or handle is None or view.blurred(_ATTRIBUTES):
            continue
        other = first.setdefault((driver, handle), view)
        if other is not view and other.mapping(_ATTRIBUTES) != view.mapping(_ATTRIBUTES):
            words = (
                f"{show(handle)} is {other.name}'s too: a node takes both for one, and mounts either's folder for both"
            )
            view.error("reference-volume-handle", "spec.csi.volumeHandle", words, allowed="a handle of its own")
