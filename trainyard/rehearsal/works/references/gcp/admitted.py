"""Whom a file system of Google Cloud lets in, and as whom: nodes that mount it have the addresses of their subnet.

An export of Filestore names addresses; a client of no export is refused ("access denied by server"). A rule of Managed
Lustre names addresses too, and whoever is of none of them is squashed as the default says.

Source: Filestore, "Configure IP-based access rules", and Managed Lustre, `accessRulesOptions` (pulumi_gcp 10.2.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.conventions.gcp import FILESTORE_DRIVER, LUSTRE_DRIVER
from trainyard.recorded.read import UnknownInput
from trainyard.recorded.types import FILESTORE, GCP_LUSTRE, GCP_NETWORK, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.gcp.network import node_addresses, subnet_of
from trainyard.rehearsal.works.flows.gcp.places import by_number
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_IN_NETWORKS: Final = (
    (FILESTORE, FILESTORE_DRIVER, "networks[0].network"),
    (GCP_LUSTRE, LUSTRE_DRIVER, "network"),
)
_EXPORTS: Final = "fileShares.nfsExportOptions"
_RULES: Final = "accessRulesOptions.accessRules"


def check(cluster: Cluster) -> None:
    """Every file system that a volume mounts, where the nodes' addresses are known."""
    stack = cluster.stack
    volumes: dict[str, list[View]] = {}
    for view in cluster.of("PersistentVolume"):
        volumes.setdefault(view.text("spec.csi.driver") or "", []).append(view)
    mounted = [
        (system, path, mounts)
        for type_, driver, path in _IN_NETWORKS
        for system in (stack.of_type(type_) if driver in volumes else ())
        if (mounts := [volume for volume in volumes[driver] if _is_of(volume, system)])
    ]
    for system, path, _ in mounted:
        _network(system, path, stack)
    nodes = _nodes(stack)
    if nodes is None:
        return
    for system, _, mounts in mounted:
        if system.type == FILESTORE:
            _filestore(system, nodes, mounts)
        else:
            _lustre(system, nodes)


def _is_of(volume: View, system: View) -> bool:
    """Whether a volume's handle, `modeInstance/LOCATION/NAME/...` or `PROJECT/LOCATION/NAME/...`, names a file system:
    others are for machines beside the cluster."""
    outputs = system.resource.outputs
    place = system.text("location") or system.text("zone") or outputs.get("location")
    name = system.text("name") or system.text("instanceId") or outputs.get("name")
    handle = f"/{volume.text('spec.csi.volumeHandle') or ''}/".replace("/instances/", "/")
    return isinstance(name, str) and f"/{place}/{name}/" in handle


def _network(system: View, path: str, stack: Stack) -> None:
    """What nodes mount is in their network: what is peered with it is not reached through it."""
    networks = [view.referred("network", GCP_NETWORK) for view in stack.of_type(GKE_CLUSTER)]
    text = system.text(path)
    if (
        not text
        or by_number(text)
        or not networks
        or None in networks
        or system.referred(path, GCP_NETWORK) in networks
    ):
        return
    own = ", ".join(sorted({view.name for view in networks if view is not None}))
    words = f"is {text}, and the nodes that mount it are in {own}: they do not reach it"
    system.error("reference-file-system", path, words, allowed=f"network {own}")


def _nodes(stack: Stack) -> Addresses | None:
    clusters = stack.resources.of(GKE_CLUSTER)
    if not clusters or any(subnet_of(stack.resources, cluster) is None for cluster in clusters):
        return None
    try:
        return node_addresses(stack.resources)
    except (UnknownInput, ValueError):
        return None  # a range that is not known yet, or none; that is told with the values


def _ranges(entry: Mapping[str, Any], key: str) -> Addresses | None:
    """The addresses of an entry; None where it names none, or where one is not known."""
    given = entry.get(key)
    if not isinstance(given, list) or not given or not all(isinstance(text, str) for text in given):
        return None
    try:
        return Addresses.of(*given)
    except ValueError:
        return None  # told with the values


def _filestore(system: View, nodes: Addresses, volumes: list[View]) -> None:
    entries = list(system.items(_EXPORTS))
    if not entries or system.blurred(_EXPORTS):
        return
    found = [(path, entry, _ranges(entry, "ipRanges")) for path, entry in entries]
    if any(ranges is None for _, _, ranges in found):
        return
    let_in = Addresses.union(ranges for _, _, ranges in found if ranges is not None)
    if nodes - let_in:
        system.error(
            "reference-file-system", f"{found[0][0]}.ipRanges",
            f"lets in {let_in}, and nodes, which mount it, have {nodes}: their mounts are refused",
            allowed=str(nodes),
        )  # fmt: skip
        return
    writes = [one.name for one in volumes if one.flag("spec.csi.readOnly") is not True and _writes(one)]
    for path, entry, ranges in found:
        if entry.get("accessMode") == "READ_ONLY" and ranges is not None and nodes & ranges and writes:
            others = Addresses.union(
                more
                for at, one, more in found
                if at != path and one.get("accessMode") != "READ_ONLY" and more is not None
            )
            if nodes & ranges - others:
                system.error(
                    "reference-file-system", f"{path}.accessMode",
                    f"READ_ONLY for the nodes, and {writes[0]} is mounted to write", allowed="READ_WRITE",
                )  # fmt: skip


def _writes(volume: View) -> bool:
    return any(mode != "ReadOnlyMany" for mode in volume.texts("spec.accessModes"))


def _lustre(system: View, nodes: Addresses) -> None:
    squashes = system.text("accessRulesOptions.defaultSquashMode") == "ROOT_SQUASH"
    rules = [(path, rule, _ranges(rule, "ipAddressRanges")) for path, rule in system.items(_RULES)]
    if not squashes or system.blurred(_RULES) or any(ranges is None for _, _, ranges in rules):
        return
    free = [(path, ranges) for path, rule, ranges in rules if rule.get("squashMode") == "NO_SQUASH" and ranges]
    let_in = Addresses.union(ranges for _, ranges in free)
    if free and nodes - let_in:
        tell = system.warning if nodes & let_in else system.error  # some nodes alone may be who makes folders
        tell(
            "reference-file-system", f"{free[0][0]}.ipAddressRanges",
            f"does not squash root of {free[0][1]}, and nodes, which mount it, have {nodes}: root of theirs is "
            "squashed, and a folder stays root's", allowed=str(nodes),
        )  # fmt: skip
