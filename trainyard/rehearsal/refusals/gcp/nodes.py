"""GKE nodes: machines, disks, GPUs and how they are shared, labels, counts and what a reservation is called.

Source: Google's documentation of GKE node pools, Compute Engine machine families and GPU partitions as generally known
(autumn 2026); validators of the provider (2026-08-21).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.catalog import gcp as catalog
from trainyard.conventions.gcp import HYPERDISK_FAMILIES, LOCAL_SSDS, NO_STANDARD_DISK_FAMILIES, local_ssd_choices
from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_MACHINE,
    GCP_MACHINE_TEMPLATE,
    GCP_RESERVATION,
    GCP_SUBNETWORK,
    GKE_CLUSTER,
    GKE_NODE_POOL,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.container import MACHINES
from trainyard.rehearsal.refusals.rules import Rules

_DISKS: Final = (
    "pd-standard", "pd-balanced", "pd-ssd", "pd-extreme", "hyperdisk-balanced", "hyperdisk-extreme",
    "hyperdisk-throughput", "hyperdisk-ml", "hyperdisk-balanced-high-availability",
)  # fmt: skip
_IMAGES: Final = (
    "COS_CONTAINERD", "UBUNTU_CONTAINERD", "WINDOWS_LTSC_CONTAINERD", "WINDOWS_SAC_CONTAINERD", "COS", "UBUNTU",
)  # fmt: skip
_PLAIN_SIZES: Final[Mapping[str, tuple[str, ...]]] = {
    "e2-standard-": ("2", "4", "8", "16", "32"),
    "e2-highmem-": ("2", "4", "8", "16"),
    "e2-highcpu-": ("2", "4", "8", "16", "32"),
    "n1-standard-": ("1", "2", "4", "8", "16", "32", "64", "96"),
    "n1-highmem-": ("2", "4", "8", "16", "32", "64", "96"),
    "n1-highcpu-": ("2", "4", "8", "16", "32", "64", "96"),
    "n2-standard-": ("2", "4", "8", "16", "32", "48", "64", "80", "96", "128"),
    "n2-highmem-": ("2", "4", "8", "16", "32", "48", "64", "80", "96", "128"),
    "n2-highcpu-": ("2", "4", "8", "16", "32", "48", "64", "80", "96"),
    "n2d-standard-": ("2", "4", "8", "16", "32", "48", "64", "80", "96", "128", "224"),
    "n2d-highmem-": ("2", "4", "8", "16", "32", "48", "64", "80", "96"),
    "c2-standard-": ("4", "8", "16", "30", "60"),
    "c2d-standard-": ("2", "4", "8", "16", "32", "56", "112"),
    "c3-standard-": ("4", "8", "22", "44", "88", "176", "192-metal"),
    "c3-highmem-": ("4", "8", "22", "44", "88", "176", "192-metal"),
    "c3-highcpu-": ("4", "8", "22", "44", "88", "176", "192-metal"),
    "t2d-standard-": ("1", "2", "4", "8", "16", "32", "48", "60"),
    "t2a-standard-": ("1", "2", "4", "8", "16", "32", "48"),
    "n4-standard-": ("2", "4", "8", "16", "32", "48", "64", "80"),
    "n4-highmem-": ("2", "4", "8", "16", "32", "48", "64", "80"),
    "n4-highcpu-": ("2", "4", "8", "16", "32", "48", "64", "80"),
}
"""Sizes of the families that get no others, and of N4."""
_FAMILIES: Final = re.compile(
    r"(f1|g1|e2|n1|n2|n2d|n4|n4d|n4a|c2|c2d|c3|c3d|c4|c4a|c4d|t2d|t2a|h3|h4d|m1|m2|m3|m4|x4|z3|a2|a3|a4|a4x|g2|g4"
    r"|ct3|ct3p|ct4p|ct5lp|ct5l|ct5p|ct6e|tpu7x)-[a-z0-9-]+|custom-\d+-\d+(-ext)?"
)
_PARTITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "nvidia-tesla-a100": ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    "nvidia-a100-80gb": ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "nvidia-h100-80gb": ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "nvidia-h100-mega-80gb": ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "nvidia-h200-141gb": ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    "nvidia-b200": ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    "nvidia-gb200": ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"),
    "nvidia-rtx-pro-6000": ("1g.24gb", "2g.48gb", "4g.96gb"),
    "nvidia-l4": (),
    "nvidia-tesla-t4": (),
}
"""Instances that a GPU is cut into (NVIDIA MIG User Guide), by GKE's name of it; L4 and T4 have none."""
_RESERVED: Final = re.compile(
    r"(projects/[^/]+/reservations/)?(?P<name>[a-z]([-a-z0-9]*[a-z0-9])?)"
    r"(/reservationBlocks/[^/]+(/reservationSubBlocks/[^/]+)?)?"
)
_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_LABEL_KEY: Final = re.compile(rf"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?{_NAME}")
_OWN_PREFIXES: Final = ("kubernetes.io/", "k8s.io/")


def node_pool(view: View) -> None:
    """What a node is made of, and how many there may be."""
    _pods(view, "maxPodsPerNode")
    _disk(view)
    machine_type(view, "nodeConfig.machineType")
    _image(view)
    _gpus(view)
    _labels(view)
    _upgrades(view)
    _reservation(view)
    _local_ssds(view)
    _of_cluster(view)
    if view.flag("queuedProvisioning.enabled"):
        for key in ("spot", "preemptible"):
            if view.flag(f"nodeConfig.{key}"):
                view.error("gke-queued", f"nodeConfig.{key}", "with queued provisioning", allowed="false, or no queue")
    for key in ("maxNodeCount", "totalMaxNodeCount"):
        most = view.number(f"autoscaling.{key}")
        if most is not None and most > _MOST_NODES:
            view.error("gke-counts", f"autoscaling.{key}", show(most), allowed=f"at most {_MOST_NODES}")
    zones = view.texts("nodeLocations")
    for index, zone in enumerate(zones):
        if zone in zones[:index]:
            view.error("gke-zone", f"nodeLocations[{index}]", f"{zone} is there twice", allowed="each zone once")
    first = view.number("initialNodeCount")
    for low, high in (("minNodeCount", "maxNodeCount"),):
        least, most = view.number(f"autoscaling.{low}"), view.number(f"autoscaling.{high}")
        if first is not None and least is not None and most is not None and not least <= first <= most:
            view.error("gke-counts", "initialNodeCount", show(first), allowed=f"{least:.0f} to {most:.0f}")


_MOST_NODES: Final = 15_000
"""Nodes of a cluster, where Google has raised nothing."""


def _of_cluster(view: View) -> None:
    """A pool is no newer than its control plane, and its pods' range is one of the subnet's."""
    of = view.referred("cluster", GKE_CLUSTER)
    if of is None:
        return
    versions = [re.match(r"(\d+)\.(\d+)", text or "") for text in (view.text("version"), of.text("minMasterVersion"))]
    own, control = ([int(each) for each in match.groups()] if match else None for match in versions)
    if own is not None and control is not None and own > control:
        words = f"{view.text('version')}; the control plane is asked to be {of.text('minMasterVersion')}"
        view.error("gke-version", "version", words, allowed="at most the control plane's")
    elif own is not None and control is not None and own[0] == control[0] and own[1] < control[1] - 3:
        words = f"{view.text('version')}; the control plane is {of.text('minMasterVersion')}"
        view.error("gke-version", "version", words, allowed="at most three minor versions behind")
    name, subnet = view.text("networkConfig.podRange"), of.referred("subnetwork", GCP_SUBNETWORK)
    if name is not None and name == of.text("ipAllocationPolicy.servicesSecondaryRangeName"):
        words = f"{show(name)} is the range of {of.name}'s services"
        view.error("gke-ranges", "networkConfig.podRange", words, allowed="a range of pods")
    if name is None or subnet is None or view.flag("networkConfig.createPodRange"):
        return
    known = [str(entry.get("rangeName")) for _, entry in subnet.items("secondaryIpRanges")]
    hint = nearest(name, known)
    if hint and not subnet.blurred("secondaryIpRanges") and name not in known:  # others may be added elsewhere
        path, allowed = "networkConfig.podRange", ", ".join(known)
        view.error("gke-ranges", path, f"the subnet has no {show(name)}", allowed=allowed, hint=hint)


def cluster_pods(view: View) -> None:
    """How many pods a node has where a pool says nothing."""
    _pods(view, "defaultMaxPodsPerNode")
    if view.number("initialNodeCount") == 0 and not view.flag("enableAutopilot") and view.lacks("nodePools"):
        view.error("gke-default-pool", "initialNodeCount", "0", allowed="at least 1")


def _pods(view: View, path: str) -> None:
    pods = view.number(path)
    if pods is not None and not 8 <= pods <= 256:
        view.error("gke-pods", path, show(pods), allowed="8 to 256")


def _disk(view: View) -> None:
    for path in ("nodeConfig.diskType", "nodeConfig.bootDisk.diskType"):
        disk = view.text(path)
        if disk is not None and disk not in _DISKS:
            view.error("gke-disk", path, show(disk), allowed=", ".join(_DISKS), hint=nearest(disk, _DISKS))
        machine = view.text("nodeConfig.machineType") or ""
        if disk is not None and disk.startswith("hyperdisk-") and machine.startswith(("e2-", "n1-", "t2", "n2d-")):
            view.error("gke-disk", path, f"{show(disk)} of {machine}", allowed="pd-balanced, pd-ssd or pd-standard")
        only_hyperdisk = machine.startswith(HYPERDISK_FAMILIES)
        if disk == "pd-standard" and machine.startswith(NO_STANDARD_DISK_FAMILIES) and not only_hyperdisk:
            view.error("gke-disk", path, f"{show(disk)} of {machine}", allowed="pd-balanced or pd-ssd")
    for path in ("nodeConfig.diskSizeGb", "nodeConfig.bootDisk.sizeGb"):
        size = view.number(path)
        if size is not None and size > 65_536:
            view.error("gke-disk", path, show(size), allowed="10 to 65536 GB")


def machine_type(view: View, path: str) -> None:
    """A machine type that there is: of a known family, one of its sizes."""
    machine = view.text(path)
    if machine is None:
        return
    if not _FAMILIES.fullmatch(machine):
        known = [item.type for item in catalog.instances()]
        view.error("gke-machine", path, show(machine), allowed="like e2-standard-8", hint=nearest(machine, known))
        return
    family = re.match(r"[a-z0-9]+-[a-z]+-", machine)
    sizes = _PLAIN_SIZES.get(family[0] if family else "")
    if family and sizes is not None and machine.removeprefix(family[0]).removesuffix("-lssd") not in sizes:
        allowed = f"{family[0]}{', '.join(sizes)}"
        view.error("gke-machine", path, f"{show(machine)} is no size of {family[0]}*", allowed=allowed)
    elif family and family[0].startswith(("a2-", "a3-", "a4-", "g2-")) and family[0] not in MACHINES:
        known = [each for each in MACHINES if each.startswith(family[0][:3])]
        view.error("gke-machine", path, show(machine), allowed=", ".join(f"{each}…" for each in known))
    elif family and family[0] not in MACHINES and sizes is None and machine.startswith("ct"):
        known = [item.type for item in catalog.tpus()]
        if known and machine not in known:
            view.warning("gke-machine", path, f"{show(machine)} is not known here", hint=nearest(machine, known))


def _image(view: View) -> None:
    image = view.text("nodeConfig.imageType")
    if image is None:
        return
    if image.upper() not in _IMAGES:
        allowed = ", ".join(_IMAGES[:4])
        view.error("gke-image", "nodeConfig.imageType", show(image), allowed=allowed, hint=nearest(image, _IMAGES))
    elif image.upper() in ("COS", "UBUNTU"):
        allowed = f"{image.upper()}_CONTAINERD"
        view.error("gke-image", "nodeConfig.imageType", f"{show(image)}: images with Docker are gone", allowed=allowed)
    elif image.upper().startswith("WINDOWS") and view.entries("nodeConfig.guestAccelerators"):
        view.error("gke-image", "nodeConfig.imageType", f"{show(image)} with GPUs", allowed="COS_CONTAINERD")


def _gpus(view: View) -> None:
    for path, entry in view.items("nodeConfig.guestAccelerators"):
        partition, type_ = entry.get("gpuPartitionSize"), entry.get("type")
        known = _PARTITIONS.get(type_) if isinstance(type_, str) else None
        if isinstance(partition, str) and known is not None and partition and partition not in known:
            allowed = ", ".join(known) or "nothing: this GPU is not cut"
            hint = nearest(partition, known)
            view.error(
                "gke-partition", f"{path}.gpuPartitionSize", f"{show(partition)} of {type_}", allowed=allowed, hint=hint
            )
        sharing = entry.get("gpuSharingConfig")
        if not isinstance(sharing, Mapping):
            continue
        clients = as_number(sharing.get("maxSharedClientsPerGpu"))
        where = f"{path}.gpuSharingConfig"
        if clients is not None and not 2 <= clients <= 48:
            view.error("gke-sharing", f"{where}.maxSharedClientsPerGpu", show(clients), allowed="2 to 48")
        strategy = sharing.get("gpuSharingStrategy")
        if isinstance(strategy, str) and strategy not in ("TIME_SHARING", "MPS"):
            view.error("gke-sharing", f"{where}.gpuSharingStrategy", show(strategy), allowed="TIME_SHARING, MPS")


def _labels(view: View) -> None:
    for key, value in view.mapping("nodeConfig.labels").items():
        if not _LABEL_KEY.fullmatch(str(key)):
            view.error(
                "gke-node-label", "nodeConfig.labels", f"key {show(key)}", allowed="PREFIX/NAME as Kubernetes has it"
            )
        elif str(key).startswith(_OWN_PREFIXES):
            allowed = "a prefix of your own: GKE keeps these to itself"
            view.error("gke-node-label", "nodeConfig.labels", f"key {show(key)}", allowed=allowed)
        elif isinstance(value, str) and value and not re.fullmatch(_NAME, value):
            allowed = "at most 63 letters, digits, '-', '_' and '.', a letter or digit at both ends"
            view.error("gke-node-label", f"nodeConfig.labels.{key}", show(value), allowed=allowed)
    for path, taint in view.items("nodeConfig.taints"):
        name, text = taint.get("key"), taint.get("value")
        if isinstance(name, str) and not _LABEL_KEY.fullmatch(name):
            view.error("gke-taint", f"{path}.key", show(name), allowed="PREFIX/NAME as Kubernetes has it")
        if isinstance(text, str) and text and not re.fullmatch(_NAME, text):
            view.error("gke-taint", f"{path}.value", show(text), allowed="a value as Kubernetes has it")
    for index, tag in enumerate(view.texts("nodeConfig.tags")):
        if not re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", tag):
            view.error("gcp-tag", f"nodeConfig.tags[{index}]", show(tag), allowed="1 to 63 of a-z, 0-9 and '-'")


def _upgrades(view: View) -> None:
    surge, gone = (view.number(f"upgradeSettings.{key}") or 0 for key in ("maxSurge", "maxUnavailable"))
    if surge + gone > 20:
        words = f"maxSurge {surge:.0f} and maxUnavailable {gone:.0f}"
        view.error("gke-upgrade", "upgradeSettings", words, allowed="at most 20 together")
    of = view.referred("cluster", GKE_CLUSTER)
    channel = of.text("releaseChannel.channel") if of is not None else None
    if channel not in (None, "UNSPECIFIED") and view.flag("management.autoUpgrade") is False:
        view.error("gke-upgrade", "management.autoUpgrade", f"false in channel {channel}", allowed="true")


def _reservation(view: View) -> None:
    """A reservation by its name, and what is known of it where the stack makes it."""
    for index, text in enumerate(view.texts("nodeConfig.reservationAffinity.values")):
        path = f"nodeConfig.reservationAffinity.values[{index}]"
        match = _RESERVED.fullmatch(text)
        if match is None:
            allowed = "NAME, projects/PROJECT/reservations/NAME, and …/reservationBlocks/BLOCK after it"
            view.error("gke-reservation", path, show(text), allowed=allowed)
            continue
        for found in view.stack.of_type(GCP_RESERVATION):
            if match["name"] in (found.text("name"), found.resource.outputs.get("name")):
                _like_it(view, found)


def _like_it(view: View, found: View) -> None:
    zone, machine = found.text("zone"), found.text("specificReservation.instanceProperties.machineType")
    zones, own = view.texts("nodeLocations"), view.text("nodeConfig.machineType")
    if zone is not None and zones and zones != [zone] and not view.blurred("nodeLocations"):
        words = f"{', '.join(zones)}; {found.name} is in {zone}"
        view.error("gke-reservation", "nodeLocations", words, allowed=zone)
    if machine is not None and own is not None and machine != own:
        words = f"{own}; {found.name} holds {machine}"
        view.error("gke-reservation", "nodeConfig.machineType", words, allowed=machine)
    specific = "specificReservationRequired"
    if found.flag(specific) is not True and not found.is_unknown(specific):
        found.error("gke-reservation", specific, f"{view.name} asks for it by name", allowed="true")
    count, most = found.number("specificReservation.count"), view.number("autoscaling.totalMaxNodeCount")
    if count is not None and most is not None and most > count:
        words = f"{most:.0f} nodes; {found.name} holds {count:.0f}"
        view.warning("gke-reservation", "autoscaling.totalMaxNodeCount", words, allowed=f"at most {count:.0f}")


def _local_ssds(view: View) -> None:
    machine = view.text("nodeConfig.machineType") or ""
    for below in ("ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig"):
        path = f"nodeConfig.{below}.localSsdCount"
        count = view.number(path)
        if count and machine.startswith(("e2-", "t2", "c4-standard", "n4-", "h3-")) and not machine.endswith("-lssd"):
            view.error("gke-local-ssd", path, f"{count:.0f}; {machine} takes none", allowed="0")
        elif count and machine.startswith(("n1-", "n2-", "n2d-")) and count not in (1, 2, 3, 4, 5, 6, 7, 8, 16, 24):
            view.error("gke-local-ssd", path, show(count), allowed="1 to 8, 16 or 24")
        elif count and machine not in LOCAL_SSDS and (choices := local_ssd_choices(machine)) and count not in choices:
            allowed = " or ".join(map(str, choices))
            view.error("gke-local-ssd", path, f"{count:.0f}; {machine} takes {allowed}", allowed=allowed)


def reservation(view: View) -> None:
    """What a reservation holds: a machine that exists."""
    machine_type(view, "specificReservation.instanceProperties.machineType")


def machine(view: View) -> None:
    """A machine on its own."""
    _machine_of_instance(view, view.value("machineType"))


def _machine_of_instance(view: View, machine: Any) -> None:
    if isinstance(machine, str) and "/" not in machine:
        machine_type(view, "machineType")


RULES: Rules = {
    node_pool: (GKE_NODE_POOL,),
    cluster_pods: (GKE_CLUSTER,),
    reservation: (GCP_RESERVATION,),
    machine: (GCP_MACHINE, GCP_MACHINE_TEMPLATE),
}
