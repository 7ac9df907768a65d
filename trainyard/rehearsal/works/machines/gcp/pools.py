"""Nodes of GKE: whether their image exists, and their GPUs come to work.

What a machine, its GPUs, disks and zones may be is told with the values. Sources: GKE, "Node images", "Run GPUs in
Standard node pools" and "Cloud Storage FUSE CSI driver", as generally known in 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.conventions import CAPACITY_LABEL
from trainyard.conventions.gcp import FABRIC_INTERFACES, RDMA_DEVICE_CLASS
from trainyard.problems import nearest
from trainyard.recorded.drivers import FUSE_DRIVER
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import follow
from trainyard.recorded.types import DAEMON_SET, GKE_CLUSTER, HELM_RELEASE, RESOURCE_CLAIM_TEMPLATE, VOLUME
from trainyard.rehearsal.context import Stack, View

IMAGES: Final = ("COS_CONTAINERD", "UBUNTU_CONTAINERD", "WINDOWS_LTSC_CONTAINERD", "WINDOWS_SAC_CONTAINERD")
"""Images that nodes may have; those with Docker are gone since 1.24."""
_RESERVATIONS: Final = ("SPECIFIC_RESERVATION", "ANY_RESERVATION", "ANY_RESERVATION_THEN_FAIL")
_PROFILE: Final = "networkConfig.acceleratorNetworkProfile"
_DRIVERS: Final = ("gpu-operator", "driver-installer", "nvidia-driver")
"""What the charts and images that install drivers are called by."""
_FUSE_ON: Final = "addonsConfig.gcsFuseCsiDriverConfig.enabled"


def check(stack: Stack) -> None:
    """Notes nodes that are not made, GPUs that no pod gets, and volumes that no node mounts."""
    for view in stack.of_type(GKE_NODE_POOL):
        _image(view)
        _driver(stack, view)
        _bought(view)
    _buckets(stack)
    _interfaces(stack)


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


def _bought(view: View) -> None:
    """Nodes are bought as their label says, by which queues, alerts and the bill go."""
    path = "nodeConfig.labels"
    told = view.mapping(path).get(CAPACITY_LABEL)
    if not isinstance(told, str) or view.is_unknown("nodeConfig"):
        return
    affinity = "nodeConfig.reservationAffinity"
    keys = ("nodeConfig.spot", "nodeConfig.preemptible", "nodeConfig.flexStart", affinity, "queuedProvisioning")
    if any(map(view.is_unknown, (*keys, f"{affinity}.consumeReservationType", "queuedProvisioning.enabled"))):
        return
    reserved = view.text(f"{affinity}.consumeReservationType") in _RESERVATIONS
    spot = bool(view.flag("nodeConfig.spot") or view.flag("nodeConfig.preemptible"))
    queued = bool(view.flag("nodeConfig.flexStart") or view.flag("queuedProvisioning.enabled"))
    are = {"reserved": reserved, "spot": spot, "flex-start": queued, "on-demand": not (reserved or spot or queued)}
    if are.get(told) is False:
        real = next(kind for kind, so in are.items() if so)
        view.error(
            "machine-capacity", f"{path}.{CAPACITY_LABEL.replace('.', '~')}",
            f"says {told}, and its nodes are {real}: queues, alerts and the bill take them for what they are not",
            allowed=f"{real}, or nodes that are {told}",
        )  # fmt: skip


def _interfaces(stack: Stack) -> None:
    """A claim of fast interfaces that no machine of the cluster has."""
    pools = stack.of_type(GKE_NODE_POOL)
    machines = [pool.text("nodeConfig.machineType") for pool in pools if pool.has(_PROFILE)]
    most = max((FABRIC_INTERFACES.get(machine or "", 0) for machine in machines), default=0)
    if None in machines or not most or any(machine not in FABRIC_INTERFACES for machine in machines):
        return
    for template in stack.of_type(RESOURCE_CLAIM_TEMPLATE):
        for path, request in template.items("spec.spec.devices.requests"):
            count = template.number(f"{path}.exactly.count")
            if (
                follow(request, "exactly", "deviceClassName") == RDMA_DEVICE_CLASS
                and count is not None
                and count > most
            ):
                words = f"{count:g} interfaces, and a machine has {most} at most: no pod with the claim is placed"
                template.error("machine-interfaces", f"{path}.exactly.count", words, allowed=f"at most {most}")


def _is_installed_otherwise(stack: Stack) -> bool:
    """Whether a chart or a DaemonSet of the stack's may install drivers."""
    made = [*stack.of_type(HELM_RELEASE), *stack.of_type(DAEMON_SET)]
    texts = (text for view in made for _, text in view.known_texts)
    return any(driver in text for text in texts for driver in _DRIVERS)


def _buckets(stack: Stack) -> None:
    """Volumes that are buckets need the driver, which a cluster of Standard has where it is told to."""
    clusters = stack.of_type(GKE_CLUSTER)
    if len(clusters) != 1 or clusters[0].flag("enableAutopilot") or clusters[0].is_unknown("addonsConfig"):
        return
    (cluster,) = clusters
    volumes = [view.name for view in stack.of_type(VOLUME) if view.text("spec.csi.driver") == FUSE_DRIVER]
    off = cluster.lacks(_FUSE_ON) or cluster.flag(_FUSE_ON) is False
    if volumes and off and not cluster.resource.read:
        cluster.error(
            "machine-no-driver",
            _FUSE_ON,
            f"{len(volumes)} volumes are buckets ({volumes[0]}), and nodes have no driver for them",
            allowed="true",
        )
