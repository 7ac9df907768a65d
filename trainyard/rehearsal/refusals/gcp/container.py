"""GKE: what a cluster and its node pools need of each other, of their machines and of the region.

Source: validators of the provider (terraform-provider-google-beta, 2026-08-21), the blueprints of cluster-toolkit
(2026-06-25), discovery documents (google-api-python-client 2.202.0, autumn 2026); what is from the documentation says
so.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.conventions.gcp import (
    DRANET_FAMILIES,
    GKE_ACCELERATORS,
    HYPERDISK_FAMILIES,
    LOCAL_SSDS,
    LONGEST_FLEX_START_SECONDS,
    SPREAD_FAMILIES,
)
from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import GKE_CLUSTER, GKE_NODE_POOL
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.forms import LIKE_A_ZONE, REGION
from trainyard.rehearsal.refusals.rules import Rules

MACHINES: Final[Mapping[str, tuple[str, Mapping[str, int]]]] = {
    "g2-standard-": ("nvidia-l4", {"4": 1, "8": 1, "12": 1, "16": 1, "24": 2, "32": 1, "48": 4, "96": 8}),
    "g4-standard-": ("nvidia-rtx-pro-6000", {"48": 1, "96": 2, "192": 4, "384": 8}),
    "a2-highgpu-": ("nvidia-tesla-a100", {"1g": 1, "2g": 2, "4g": 4, "8g": 8}),
    "a2-megagpu-": ("nvidia-tesla-a100", {"16g": 16}),
    "a2-ultragpu-": ("nvidia-a100-80gb", {"1g": 1, "2g": 2, "4g": 4, "8g": 8}),
    "a3-highgpu-": ("nvidia-h100-80gb", {"1g": 1, "2g": 2, "4g": 4, "8g": 8}),
    "a3-megagpu-": ("nvidia-h100-mega-80gb", {"8g": 8}),
    "a3-ultragpu-": ("nvidia-h200-141gb", {"8g": 8}),
    "a4-highgpu-": ("nvidia-b200", {"8g": 8}),
}
"""Families of machines with GPUs: their accelerator, and how many a size has."""


ENDED: Final = (1, 30)
"""The newest minor version whose support has ended in the extended channel too: 24 months (GKE release schedule, as
generally known; July 2026)."""
_CLOSED: Final = ("g2-", "a2-", "a3-")
"""Families that get no more sizes."""
_OLDER: Final = ("nvidia-tesla-k80", "nvidia-tesla-p4", "nvidia-tesla-p100", "nvidia-tesla-v100", "nvidia-gb200")
"""Accelerators that are no GPU of the catalogue and exist."""


def cluster(view: View) -> None:
    """Ranges, network policies, authorised networks and what removing the first pool asks for."""
    _location(view)
    if view.value("datapathProvider") == "ADVANCED_DATAPATH" and view.flag("networkPolicy.enabled"):
        view.error(
            "gke-network-policy",
            "networkPolicy.enabled",
            "beside Dataplane V2, which enforces network policies itself",
            allowed="false, or no ADVANCED_DATAPATH",
        )
    if view.flag("enableMultiNetworking") and view.value("datapathProvider") not in (None, "ADVANCED_DATAPATH"):
        view.error(
            "gke-multi-networking",
            "enableMultiNetworking",
            "without Dataplane V2",
            allowed="datapathProvider ADVANCED_DATAPATH",
        )
    if view.flag("removeDefaultNodePool") and (view.has("nodeVersion") or view.has("nodePools")):
        path = "nodeVersion" if view.has("nodeVersion") else "nodePools"
        view.error("gke-default-pool", path, "beside removeDefaultNodePool", allowed="node pools of their own")
    if view.flag("removeDefaultNodePool") and view.lacks("initialNodeCount"):
        view.error("gke-default-pool", "initialNodeCount", "is missing", allowed="1: GKE makes a pool to remove")
    if view.flag("enableAutopilot"):
        for path in ("nodeConfig", "removeDefaultNodePool", "nodePools", "addonsConfig.networkPolicyConfig"):
            if view.has(path) and view.value(path) is not False:
                view.error("gke-autopilot", path, "on Autopilot, which has no nodes of one's own", allowed="nothing")
    _ranges(view)
    _master_range(view)
    _authorised(view)
    started = re.match(r"(\d+)\.(\d+)", view.text("minMasterVersion") or "")
    if started and (int(started[1]), int(started[2])) <= ENDED:
        path, allowed = "minMasterVersion", f"later than {'.'.join(map(str, ENDED))}, which no channel has any more"
        view.warning("gke-version", path, show(view.text(path)), allowed=allowed)
    pool = view.text("workloadIdentityConfig.workloadPool")
    if pool is not None and not re.fullmatch(r"[a-z][a-z0-9.:-]{4,}\.svc\.id\.goog", pool):
        view.error(
            "gke-workload-pool", "workloadIdentityConfig.workloadPool", show(pool), allowed="PROJECT.svc.id.goog"
        )
    group = view.text("authenticatorGroupsConfig.securityGroup")
    if group is not None and not re.fullmatch(r"gke-security-groups@[^@\s]+\.[^@\s]+", group):
        path = "authenticatorGroupsConfig.securityGroup"
        view.error("gke-groups", path, show(group), allowed="gke-security-groups@DOMAIN")
    state, key = view.value("databaseEncryption.state"), "databaseEncryption.keyName"
    if state == "ENCRYPTED" and view.lacks(key):
        view.error("gke-encryption", key, "is missing", allowed="a key in the cluster's region")
    _maintenance(view)
    _key_location(view, key)


def _location(view: View) -> None:
    location = view.text("location")
    if location is not None and not (LIKE_A_ZONE.fullmatch(location) or REGION.fullmatch(location)):
        view.error("gcp-location", "location", show(location), allowed="a region or a zone, like europe-west4")
    for index, zone in enumerate(view.entries("nodeLocations")):
        if isinstance(zone, str) and not LIKE_A_ZONE.fullmatch(zone):
            view.error("gcp-location", f"nodeLocations[{index}]", show(zone), allowed="a zone, like europe-west4-b")
        elif isinstance(zone, str) and location is not None and not zone.startswith(f"{_region_of(location)}-"):
            allowed = f"zones of {_region_of(location)}"
            view.error("gke-zone", f"nodeLocations[{index}]", f"{zone} is not in {location}", allowed=allowed)


def _region_of(location: str) -> str:
    return location if REGION.fullmatch(location) else location.rpartition("-")[0]


def _ranges(view: View) -> None:
    base = "ipAllocationPolicy"
    for what in ("cluster", "services"):
        name, block = f"{base}.{what}SecondaryRangeName", f"{base}.{what}Ipv4CidrBlock"
        if view.has(name) and view.has(block):
            view.error("gke-ranges", block, f"beside {what}SecondaryRangeName", allowed="one of both")
    if view.has(base) and view.has("clusterIpv4Cidr"):
        view.error("gke-ranges", "clusterIpv4Cidr", "beside ipAllocationPolicy", allowed="one of both")


def _master_range(view: View) -> None:
    path = "privateClusterConfig.masterIpv4CidrBlock"
    block = view.text(path)
    if block is not None and not block.endswith("/28"):
        view.error("gke-control-range", path, show(block), allowed="a /28")
    if view.has(path) and view.has("privateClusterConfig.privateEndpointSubnetwork"):
        view.error("gke-control-range", path, "beside privateEndpointSubnetwork", allowed="one of both")


def _authorised(view: View) -> None:
    for path, entry in view.items("masterAuthorizedNetworksConfig.cidrBlocks"):
        text = entry.get("cidrBlock")
        if not isinstance(text, str):
            continue
        try:
            ipaddress.ip_network(text)
        except ValueError:
            view.error(
                "gke-authorised", f"{path}.cidrBlock", show(text), allowed="a network address, like 203.0.113.0/24"
            )


def _maintenance(view: View) -> None:
    windows = [
        key
        for key in ("dailyMaintenanceWindow", "recurringWindow", "recurringMaintenanceWindow")
        if view.has(f"maintenancePolicy.{key}")
    ]
    if view.has("maintenancePolicy") and not view.is_unknown("maintenancePolicy") and len(windows) != 1:
        view.error(
            "gke-maintenance",
            "maintenancePolicy",
            f"has {' and '.join(windows) or 'no window'}",
            allowed="exactly one of dailyMaintenanceWindow, recurringWindow and recurringMaintenanceWindow",
        )
    start = view.text("maintenancePolicy.dailyMaintenanceWindow.startTime")
    if start is not None and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", start):
        view.error(
            "gke-maintenance", "maintenancePolicy.dailyMaintenanceWindow.startTime", show(start), allowed="HH:MM"
        )
    if len(view.entries("maintenancePolicy.maintenanceExclusions")) > 20:
        view.error("gke-maintenance", "maintenancePolicy.maintenanceExclusions", "more than 20", allowed="at most 20")


def _key_location(view: View, path: str) -> None:
    """A key encrypts what is in its own location."""
    key, location = view.text(path), view.text("location")
    match = re.search(r"/locations/([^/]+)/keyRings/", key or "")
    if match and location is not None and match[1] != _region_of(location):
        view.error("gcp-key-location", path, f"a key in {match[1]}", allowed=f"a key in {_region_of(location)}")


def node_pool(view: View) -> None:
    """How nodes are bought, counted and placed, and what their machine has."""
    _counts(view)
    _bought(view)
    _placed(view)
    _machine(view)
    _location_of_pool(view)
    surge = [view.number(f"upgradeSettings.{key}") for key in ("maxSurge", "maxUnavailable")]
    if surge == [0, 0]:
        allowed = "one of both above 0: an upgrade has to start with a node"
        view.error("gke-upgrade", "upgradeSettings", "maxSurge and maxUnavailable are 0", allowed=allowed)
    disk = view.number("nodeConfig.diskSizeGb")
    if disk is not None and disk < 10:
        view.error("gke-disk", "nodeConfig.diskSizeGb", show(disk), allowed="at least 10 GB")


def _location_of_pool(view: View) -> None:
    _location(view)
    of = view.referred("cluster", GKE_CLUSTER)
    own, cluster_in = view.text("location"), of.text("location") if of is not None else None
    if own and cluster_in and own != cluster_in:
        view.error("gke-pool-location", "location", f"{own}; its cluster is in {cluster_in}", allowed=cluster_in)


def _counts(view: View) -> None:
    scaling = view.mapping("autoscaling")
    zonal = [key for key in ("minNodeCount", "maxNodeCount") if scaling.get(key) is not None]
    total = [key for key in ("totalMinNodeCount", "totalMaxNodeCount") if scaling.get(key) is not None]
    if zonal and total:
        view.error("gke-counts", f"autoscaling.{zonal[0]}", f"beside {total[0]}", allowed="counts a zone, or in total")
    for least, most in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
        low, high = as_number(scaling.get(least)), as_number(scaling.get(most))
        if low is not None and high is not None and low > high:
            view.error(
                "gke-counts", f"autoscaling.{least}", f"{low:.0f} above {most}, {high:.0f}", allowed=f"at most {most}"
            )
        if scaling.get(least) is not None and least in scaling and scaling.get(most) is None:
            view.error("gke-counts", f"autoscaling.{most}", "is missing", allowed=f"a number, beside {least}")
        if high is not None and high < 1:
            view.error("gke-counts", f"autoscaling.{most}", show(high), allowed="at least 1")


def _bought(view: View) -> None:
    node = view.mapping("nodeConfig")
    ways = [key for key in ("spot", "preemptible", "flexStart") if node.get(key) is True]
    if len(ways) > 1:
        view.error("gke-capacity", f"nodeConfig.{ways[0]}", f"beside {ways[1]}", allowed="one of them")
    affinity = view.value("nodeConfig.reservationAffinity.consumeReservationType")
    if affinity == "SPECIFIC_RESERVATION":
        if ways:
            view.error(
                "gke-capacity", f"nodeConfig.{ways[0]}", "on a reservation", allowed="neither spot nor flexStart"
            )
        key = view.text("nodeConfig.reservationAffinity.key")
        if key != "compute.googleapis.com/reservation-name" and not view.is_unknown(
            "nodeConfig.reservationAffinity.key"
        ):
            allowed = "compute.googleapis.com/reservation-name"
            view.error("gke-reservation", "nodeConfig.reservationAffinity.key", show(key), allowed=allowed)
        values = view.entries("nodeConfig.reservationAffinity.values")
        if len(values) != 1 and not view.blurred("nodeConfig.reservationAffinity.values"):
            path = "nodeConfig.reservationAffinity.values"
            view.error("gke-reservation", path, f"{len(values)} reservations", allowed="exactly one")
    if node.get("flexStart") is True:
        _flex_start(view)
    elif view.has("nodeConfig.maxRunDuration") and not view.is_unknown("nodeConfig.flexStart"):
        view.error("gke-flex-start", "nodeConfig.maxRunDuration", "without flexStart", allowed="flexStart, or nothing")
    if view.flag("queuedProvisioning.enabled"):
        least = view.number("autoscaling.totalMinNodeCount") or view.number("autoscaling.minNodeCount")
        if least:
            view.error("gke-queued", "autoscaling", f"at least {least:.0f} nodes", allowed="0: the queue starts them")
        if view.value("placementPolicy.type") == "COMPACT":
            view.error("gke-queued", "placementPolicy.type", "COMPACT with queued provisioning", allowed="nothing")


def _flex_start(view: View) -> None:
    unknown = view.is_unknown("management") or view.is_unknown("management.autoRepair")
    if view.flag("management.autoRepair") is not False and not unknown:
        view.error("gke-flex-start", "management.autoRepair", "on a flexStart pool", allowed="false")
    if view.value("nodeConfig.reservationAffinity.consumeReservationType") not in (None, "NO_RESERVATION"):
        path = "nodeConfig.reservationAffinity.consumeReservationType"
        view.error("gke-flex-start", path, "on a flexStart pool", allowed="NO_RESERVATION")
    for path in ("nodeCount", "initialNodeCount"):
        if view.number(path):
            view.error("gke-flex-start", path, "on a flexStart pool", allowed="nothing: nodes come for jobs")
    text = view.text("nodeConfig.maxRunDuration")
    if text is not None:
        match = re.fullmatch(r"(\d+)s", text)
        if not match or not 0 < int(match[1]) <= LONGEST_FLEX_START_SECONDS:
            view.error(
                "gke-flex-start",
                "nodeConfig.maxRunDuration",
                show(text),
                allowed=f"up to {LONGEST_FLEX_START_SECONDS}s",
            )


def _placed(view: View) -> None:
    if view.value("placementPolicy.type") != "COMPACT":
        return
    if view.value("upgradeSettings.strategy") == "BLUE_GREEN":
        view.error("gke-compact", "upgradeSettings.strategy", "BLUE_GREEN on a COMPACT pool", allowed="SURGE")
    zones = view.entries("nodeLocations")
    if len(zones) > 1:
        view.error("gke-compact", "nodeLocations", f"{len(zones)} zones of a COMPACT pool", allowed="one")
    machine = view.text("nodeConfig.machineType")
    if machine is not None and machine.startswith(SPREAD_FAMILIES):
        allowed = "a machine that is placed, such as c3, n2, g2 or a3"
        view.error("gke-compact", "nodeConfig.machineType", f"{show(machine)} of a COMPACT pool", allowed=allowed)


def _machine(view: View) -> None:
    machine = view.text("nodeConfig.machineType")
    gpus = [(path, entry) for path, entry in view.items("nodeConfig.guestAccelerators")]
    for path, entry in gpus:
        type_ = entry.get("type")
        if isinstance(type_, str) and type_ not in (*GKE_ACCELERATORS, *_OLDER) and nearest(type_, GKE_ACCELERATORS):
            view.warning(
                "gke-accelerator",
                f"{path}.type",
                f"{show(type_)} is not known here",
                hint=nearest(type_, GKE_ACCELERATORS),
            )
    if machine is None:
        return
    family = next((family for family in MACHINES if machine.startswith(family)), None)
    if family is None:
        if gpus and not machine.startswith(("n1-", "a4x-", "g4-")):
            allowed = "n1, or a machine that has GPUs"
            view.error("gke-accelerator", "nodeConfig.guestAccelerators", f"{machine} takes no GPU", allowed=allowed)
    else:
        _accelerators(view, machine, *MACHINES[family], size=machine.removeprefix(family), gpus=gpus)
    disk = view.text("nodeConfig.diskType")
    if disk is not None and disk.startswith("pd-") and machine.startswith(HYPERDISK_FAMILIES):
        view.error("gke-disk", "nodeConfig.diskType", f"{show(disk)} of {machine}", allowed="hyperdisk-balanced")
    path = "nodeConfig.ephemeralStorageLocalSsdConfig.localSsdCount"
    ssds, has = view.number(path), LOCAL_SSDS.get(machine)
    if ssds and has is not None and not math.isclose(ssds, has):
        view.error("gke-local-ssd", path, f"{ssds:.0f}; {machine} has {has}", allowed=str(has))
    if view.has("networkConfig.acceleratorNetworkProfile") and not machine.startswith(DRANET_FAMILIES):
        path = "networkConfig.acceleratorNetworkProfile"
        view.error(
            "gke-fast-network", path, f"{machine} has no fast interfaces", allowed=f"{', '.join(DRANET_FAMILIES)}…"
        )


def _accelerators(
    view: View, machine: str, wanted: str, sizes: Mapping[str, int], *, size: str, gpus: list[tuple[str, Any]]
) -> None:
    if size not in sizes:
        if machine.startswith(_CLOSED):
            known = [f"{machine.removesuffix(size)}{each}" for each in sizes]
            path, words = "nodeConfig.machineType", f"{show(machine)} is not known here"
            view.warning("gke-machine", path, words, allowed=", ".join(known), hint=nearest(machine, known))
        return  # a size that came later, or a part of a GPU
    if not gpus:
        if not view.is_unknown("nodeConfig.guestAccelerators"):
            allowed = f"{sizes[size]} of {wanted}"
            view.error(
                "gke-accelerator", "nodeConfig.guestAccelerators", f"missing; {machine} has GPUs", allowed=allowed
            )
        return
    path, entry = gpus[0]
    type_, count = entry.get("type"), as_number(entry.get("count"))
    if isinstance(type_, str) and type_ != wanted:
        view.error("gke-accelerator", f"{path}.type", f"{show(type_)}; {machine} has {wanted}", allowed=wanted)
    if count is not None and count != sizes[size]:
        allowed = str(sizes[size])
        view.error("gke-accelerator", f"{path}.count", f"{count:.0f}; {machine} has {sizes[size]}", allowed=allowed)


RULES: Rules = {cluster: (GKE_CLUSTER,), node_pool: (GKE_NODE_POOL,)}
