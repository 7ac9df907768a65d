"""What a machine of a node can do: its processors, its memory that is encrypted, the interface that it needs.

Source: Compute Engine, "Minimum CPU platforms", "Confidential VM supported configurations", "Set the number of threads
per core" and "Using Google Virtual NIC"; GKE, "Creating an alpha cluster", as generally known in 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import GKE_CLUSTER, GKE_NODE_POOL
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_PLATFORMS: Final = (
    "Intel Sandy Bridge", "Intel Ivy Bridge", "Intel Haswell", "Intel Broadwell", "Intel Skylake",
    "Intel Cascade Lake", "Intel Ice Lake", "Intel Sapphire Rapids", "Intel Emerald Rapids", "Intel Granite Rapids",
    "AMD Rome", "AMD Milan", "AMD Genoa", "AMD Turin", "Ampere Altra", "Google Axion",
)  # fmt: skip
_WITH_PLATFORMS: Final = ("n1-", "n2-", "n2d-", "c2-", "c2d-", "c4-", "m1-", "m2-", "m3-", "a2-", "g2-", "custom-")
"""Families whose processors may be chosen."""
_WITHOUT_PLATFORMS: Final = ("e2-", "t2a-", "t2d-")
"""Families that are placed on any processors, or have one kind: a platform is refused. Others are not known to take
one, and newer ones may."""
_CONFIDENTIAL: Final = ("n2d-", "c2d-", "c3-standard-", "c3d-", "c4d-", "a3-highgpu-1g", "g4-")
"""Families with a technology of confidential machines."""
_NOT_CONFIDENTIAL: Final = ("e2-", "n1-", "n2-", "c2-", "t2a-", "t2d-", "a2-", "g2-", "m1-", "m2-", "m3-", "custom-")
"""Older families, of which is known that they have none."""
_NEEDS_GVNIC: Final = ("a3-", "a4-", "a4x-", "c3-", "c3d-", "c4", "n4-", "h3-", "t2a-", "g4-", "ct5", "ct6", "tpu7x-")
"""Families whose machines are made with gVNIC alone."""
_ONE_THREAD: Final = ("t2d-", "t2a-", "h3-", "e2-")
"""Families of which a core's threads cannot be chosen."""
_ONE_THREAD_PERHAPS: Final = ("c4a-", "n4a-")
"""Newer families, whose cores have one thread: what is asked for may be that one."""


def node_pool(view: View) -> None:
    """What a pool asks of its machine."""
    machine = view.text("nodeConfig.machineType")
    if machine is None:
        return
    path = "nodeConfig.minCpuPlatform"
    platform = view.text(path)
    if platform is not None and platform not in _PLATFORMS:
        hint = nearest(platform, _PLATFORMS)
        note = view.error if hint else view.warning
        note("gke-processor", path, show(platform), allowed=", ".join(_PLATFORMS), hint=hint)
    elif platform is not None and not machine.startswith(_WITH_PLATFORMS):
        note = view.error if machine.startswith(_WITHOUT_PLATFORMS) else view.warning
        note("gke-processor", path, f"{show(platform)} of {machine}", allowed="nothing: it cannot be chosen")
    path = "nodeConfig.confidentialNodes.enabled"
    if view.flag(path) and not machine.startswith(_CONFIDENTIAL):
        note = view.error if machine.startswith(_NOT_CONFIDENTIAL) else view.warning
        note("gke-confidential", path, f"true of {machine}", allowed=f"machines of {', '.join(_CONFIDENTIAL)}")
    path = "nodeConfig.advancedMachineFeatures.threadsPerCore"
    threads = view.number(path)
    if threads is not None and threads not in (0, 1, 2):
        view.error("gke-processor", path, show(view.value(path)), allowed="1 or 2")
    elif threads and machine.startswith((*_ONE_THREAD, *_ONE_THREAD_PERHAPS)):
        note = view.error if machine.startswith(_ONE_THREAD) else view.warning
        note("gke-processor", path, f"{threads:g} of {machine}", allowed="nothing: it cannot be chosen")
    path = "nodeConfig.gvnic.enabled"
    if view.flag(path) is False and machine.startswith(_NEEDS_GVNIC):
        view.error("gke-gvnic", path, f"false of {machine}", allowed="true: the machine has no other interface")
    elif view.flag(path) is False and view.entries("nodeConfig.guestAccelerators"):
        words = f"false of {machine}: its GPUs wait for a slower network"
        view.warning("gke-gvnic", path, words, allowed="true")


def alpha(view: View) -> None:
    """A cluster for trying out ends by itself, and follows no channel."""
    path = "enableKubernetesAlpha"
    if not view.flag(path):
        return
    channel = view.text("releaseChannel.channel")
    if channel not in (None, "UNSPECIFIED"):
        view.error("gke-alpha", path, f"true in channel {channel}", allowed="false, or no channel")
    else:
        words = "true: the cluster cannot be upgraded, and GKE deletes it after 30 days"
        view.warning("gke-alpha", path, words, allowed="false")


RULES: Rules = {node_pool: (GKE_NODE_POOL,), alpha: (GKE_CLUSTER,)}
