"""Nodes of GKE: whether their image exists, and their GPUs come to work.

What a machine, its GPUs, disks and zones may be is told with the values. Sources: GKE, "Node images", "Run GPUs in
Standard node pools" and "Cloud Storage FUSE CSI driver", as generally known in 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import GKE_CLUSTER, HELM_RELEASE, VOLUME
from trainyard.rehearsal.context import Stack, View

IMAGES: Final = ("COS_CONTAINERD", "UBUNTU_CONTAINERD", "WINDOWS_LTSC_CONTAINERD", "WINDOWS_SAC_CONTAINERD")
"""Images that nodes may have; those with Docker are gone since 1.24."""
_DAEMON_SETS: Final = "kubernetes:apps/v1:DaemonSet"
_DRIVERS: Final = ("gpu-operator", "driver-installer", "nvidia-driver")
"""What the charts and images that install drivers are called by."""
_FUSE: Final = "gcsfuse.csi.storage.gke.io"
_FUSE_ON: Final = "addonsConfig.gcsFuseCsiDriverConfig.enabled"


def check(stack: Stack) -> None:
    """Notes nodes that are not made, GPUs that no pod gets, and volumes that no node mounts."""
    for view in stack.of_type(GKE_NODE_POOL):
        _image(view)
        _driver(stack, view)
    _buckets(stack)


def _image(view: View) -> None:
    path = "nodeConfig.imageType"
    image = view.text(path)
    if image is None:
        return
    if image.upper() not in IMAGES:
        view.error(
            "machine-image", path, f"{image} is no image of nodes", allowed=", ".join(IMAGES[:2]),
            hint=nearest(image.upper(), IMAGES),
        )  # fmt: skip
    elif image.upper().startswith("WINDOWS") and view.entries("nodeConfig.guestAccelerators"):
        words = f"{image} beside GPUs, whose driver and device plugin are for Linux"
        view.error("machine-image", path, words, allowed=IMAGES[0])


def _driver(stack: Stack, view: View) -> None:
    for path, _ in view.items("nodeConfig.guestAccelerators"):
        at = f"{path}.gpuDriverInstallationConfig.gpuDriverVersion"
        if view.text(at) == "INSTALLATION_DISABLED" and not _is_installed_otherwise(stack):
            view.warning(
                "machine-gpu-driver",
                at,
                "nothing recorded installs the driver of its GPUs: no pod gets one",
                allowed="DEFAULT or LATEST, or the GPU operator",
            )


def _is_installed_otherwise(stack: Stack) -> bool:
    """Whether a chart or a DaemonSet of the stack's may install drivers."""
    made = [*stack.of_type(HELM_RELEASE), *stack.of_type(_DAEMON_SETS)]
    texts = (text for view in made for _, text in known_texts(view.inputs))
    return any(driver in text for text in texts for driver in _DRIVERS)


def _buckets(stack: Stack) -> None:
    """Volumes that are buckets need the driver, which a cluster of Standard has where it is told to."""
    clusters = stack.of_type(GKE_CLUSTER)
    if len(clusters) != 1 or clusters[0].flag("enableAutopilot") or clusters[0].is_unknown("addonsConfig"):
        return
    (cluster,) = clusters
    volumes = [view.name for view in stack.of_type(VOLUME) if view.text("spec.csi.driver") == _FUSE]
    off = cluster.lacks(_FUSE_ON) or cluster.flag(_FUSE_ON) is False
    if volumes and off and not cluster.resource.read:
        cluster.error(
            "machine-no-driver",
            _FUSE_ON,
            f"{len(volumes)} volumes are buckets ({volumes[0]}), and nodes have no driver for them",
            allowed="true",
        )
