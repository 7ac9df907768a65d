"""Checks volumes on Google Cloud: drivers that the cluster brings, and file systems that are recorded.

A driver of GKE's is an add-on of the cluster: without it a volume binds, and no pod with it starts.

Source: sources of the drivers (lustre-csi-driver, 2026-08-19; gcp-filestore-csi-driver, 2026-06-24); GKE's add-ons in
the documentation of pulumi_gcp 10.2.0. The persistent disk's driver is on where nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.conventions.gcp import FILESTORE_DRIVER, LUSTRE_DRIVER
from trainyard.recorded.read import follow
from trainyard.recorded.types import FILESTORE, GCP_LUSTRE, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.references.kubernetes.team_folders import folder_of


@dataclass(frozen=True, slots=True)
class _Driver:
    add_on: str  # of `addonsConfig`
    attributes: tuple[str, ...] = ()  # that a volume has to give
    by_default: bool = False  # whether it is on where nothing is said


_DRIVERS: Final[Mapping[str, _Driver]] = {
    LUSTRE_DRIVER: _Driver("lustreCsiDriverConfig", ("ip", "filesystem")),
    FILESTORE_DRIVER: _Driver("gcpFilestoreCsiDriverConfig", ("ip", "volume")),
    "gcsfuse.csi.storage.gke.io": _Driver("gcsFuseCsiDriverConfig"),
    "pd.csi.storage.gke.io": _Driver("gcePersistentDiskCsiDriverConfig", by_default=True),
}
_OF_GKE: Final = re.compile(r"^[a-z]+\.csi\.storage\.gke\.io$")
_CLASSES: Final = {
    **dict.fromkeys(
        (
            "standard-rwx", "premium-rwx", "zonal-rwx", "regional-rwx", "enterprise-rwx", "enterprise-multishare-rwx",
        ),
        FILESTORE_DRIVER,
    ),
    **dict.fromkeys(("standard-rwo", "premium-rwo"), "pd.csi.storage.gke.io"),
}  # fmt: skip
"""Classes that GKE brings, by the driver: they are there with it alone (GKE, "Access Filestore instances with the
Filestore CSI driver" and "Using the Compute Engine persistent disk CSI Driver", as generally known in 2026-11)."""
_CLASS_KEYS: Final = ("storageClassName", "storageClass")
_ATTRIBUTES: Final = "spec.csi.volumeAttributes"
_MOUNT_POINT: Final = "mountpoint"
"""What Lustre takes in place of both attributes."""


def check(cluster: Cluster) -> None:
    """Every check of a volume or a class of a driver of GKE's."""
    stack = cluster.stack
    clusters = [view for view in stack.of_type(GKE_CLUSTER) if not view.resource.read]
    made = set(cluster.names("StorageClass", ""))
    for view in stack.views:
        if not view.type.startswith("kubernetes:"):
            continue
        if len(clusters) == 1 and not cluster.is_blurred("StorageClass", ""):
            _claims(view, clusters[0], made)
        if view.type.endswith(":PersistentVolume"):
            _driver(view, "spec.csi.driver", clusters)
            _volume(view, cluster)
        elif view.type.endswith(":StorageClass"):
            _driver(view, "provisioner", clusters)


def _driver(view: View, path: str, clusters: list[View]) -> None:
    name = view.text(path)
    if name is None:
        return
    driver = _DRIVERS.get(name)
    if driver is None:
        near = nearest_of(name, _DRIVERS) if clusters and _OF_GKE.match(name) else ""
        if near:
            view.error("reference-driver", path, f"there is no driver {show(name)}", hint=f"did you mean {near}?")
        return
    where = f"addonsConfig.{driver.add_on}.enabled"
    if len(clusters) == 1 and _is_off(clusters[0], driver):
        words = f"driver {name} is not switched on in {clusters[0].name}: the volume binds, and no pod with it starts"
        view.error("reference-driver", path, words, allowed=f"{where} on the cluster")


def _is_off(cluster: View, driver: _Driver) -> bool:
    """Whether a driver is off for sure; Autopilot has those of disks, buckets and Filestore on."""
    where = f"addonsConfig.{driver.add_on}.enabled"
    if cluster.is_unknown("addonsConfig") or cluster.is_unknown(where) or cluster.flag("enableAutopilot"):
        return False
    given = cluster.value(where)
    return given is not True and not (given is None and driver.by_default)


def _claims(view: View, cluster: View, made: set[str]) -> None:
    """Claims, of one's own or in a chart's values, of a class that comes with a driver which is off."""
    if not view.type.endswith((":PersistentVolumeClaim", ":StatefulSet", ":Release")):
        return
    for path, name in view.known_texts:
        if path.rpartition(".")[2] in _CLASS_KEYS and name in _CLASSES and name not in made:
            driver = _DRIVERS[_CLASSES[name]]
            if _is_off(cluster, driver) and not (view.type.endswith("Claim") and view.has("spec.volumeName")):
                words = (
                    f"class {show(name)} comes with a driver that is off in {cluster.name}: the claim is never bound"
                )
                view.error(
                    "reference-driver", path, words, allowed=f"addonsConfig.{driver.add_on}.enabled on the cluster"
                )


def _volume(view: View, cluster: Cluster) -> None:
    driver = view.text("spec.csi.driver") or ""
    known, given = _DRIVERS.get(driver), view.mapping(_ATTRIBUTES)
    if known is None or view.is_unknown(_ATTRIBUTES):
        return
    for key in known.attributes if not given.get(_MOUNT_POINT) else ():
        if given.get(key) in (None, ""):
            near = nearest_of(key, given)
            view.error(
                "reference-volume-attribute",
                f"{_ATTRIBUTES}.{key}",
                "is missing, and the driver cannot mount the volume without it",
                hint=f"did you mean {key} by {near}?" if near else "",
            )
    if driver == LUSTRE_DRIVER:
        system = _lustre(view, given, cluster.stack)
        if system is not None and _lustre_squashes(system):
            _owned_by_group(view, system, cluster)
    if driver == FILESTORE_DRIVER:
        system = _filestore(view, given, cluster.stack)
        # Of a volume of many nodes the kubelet changes no owner (gcp-filestore-csi-driver, docs/kubernetes/fsgroup.md).
        if system is not None and _filestore_squashes(system) and view.texts("spec.accessModes") == ["ReadWriteOnce"]:
            _owned_by_group(view, system, cluster)


def _lustre_squashes(system: View) -> bool:
    """Whether root of every client is somebody else on the file system."""
    base = "accessRulesOptions"
    if system.is_unknown(base) or system.blurred(f"{base}.accessRules") or not system.has(base):
        return False
    modes = [rule.get("squashMode") for _, rule in system.items(f"{base}.accessRules")]
    return "ROOT_SQUASH" in (*modes, system.text(f"{base}.defaultSquashMode")) and "NO_SQUASH" not in modes


def _filestore_squashes(system: View) -> bool:
    path = "fileShares.nfsExportOptions"
    modes = [option.get("squashMode") for _, option in system.items(path)]
    return bool(modes) and not system.blurred(path) and set(modes) == {"ROOT_SQUASH"}


def _owned_by_group(view: View, system: View, cluster: Cluster) -> None:
    """A pod whose group gets the top, which is root's in a new file system: the node changes its owner as root, who may
    not where root is squashed. Folders below it may have their owner already."""
    if folder_of(view, cluster)[1] is not None:
        return
    place, claim = view.text("spec.claimRef.namespace"), view.text("spec.claimRef.name")
    for pod in cluster.pods_by_namespace.get(place or "", ()) if claim is not None else ():
        claims = [follow(volume, "persistentVolumeClaim", "claimName") for volume in listed(pod.spec.get("volumes"))]
        if claim in claims and follow(pod.spec, "securityContext", "fsGroup") is not None:
            system.error(
                "reference-file-system",
                "accessRulesOptions" if system.type == GCP_LUSTRE else "fileShares.nfsExportOptions",
                f"squashes root of every client, and {pod.title} gives the volume {view.text('metadata.name')} to its "
                "group, which the node does as root: the folder stays root's",
                allowed="NO_SQUASH for the nodes" if system.type == GCP_LUSTRE else "NO_ROOT_SQUASH for the nodes",
            )
            return


def _lustre(view: View, given: Mapping[str, object], stack: Stack) -> View | None:
    """Address and name of a file system of the stack."""
    made = _lustre_at(stack)
    mounted = str(given.get(_MOUNT_POINT) or "").partition("@tcp:/")
    ip, name = (mounted[0], mounted[2]) if mounted[1] else (given.get("ip"), given.get("filesystem"))
    system = made.get(ip) if isinstance(ip, str) else None
    if system is None:
        _nowhere(view, ip, list(made), _files_at(stack))
        return None
    own = system.text("filesystem")
    if isinstance(name, str) and own is not None and name.partition("/")[0] != own:
        view.error(
            "reference-file-system",
            f"{_ATTRIBUTES}.filesystem",
            f"got {show(name)}, and {system.name} is called {own}",
            allowed=f"{own}, or a folder below it",
        )
    return system


def _filestore(view: View, given: Mapping[str, object], stack: Stack) -> View | None:
    """Address and share of an instance of the stack."""
    made = _files_at(stack)
    ip, share = given.get("ip"), given.get("volume")
    system_ = made.get(ip) if isinstance(ip, str) else None
    if system_ is None:
        _nowhere(view, ip, list(made), _lustre_at(stack))
        return None
    own = system_.text("fileShares.name")
    if isinstance(share, str) and own is not None and share.lstrip("/").partition("/")[0] != own:
        view.error(
            "reference-file-system",
            f"{_ATTRIBUTES}.volume",
            f"got {show(share)}, and the share of {system_.name} is called {own}",
            allowed=f"{own}, or a directory below it",
        )
    return system_


def _lustre_at(stack: Stack) -> dict[str, View]:
    """Recorded file systems of Lustre by their addresses."""
    return {
        str(point).partition("@")[0]: system
        for system in stack.of_type(GCP_LUSTRE)
        if isinstance(point := system.resource.outputs.get("mountPoint"), str)
    }


def _files_at(stack: Stack) -> dict[str, View]:
    """Recorded instances of Filestore by their addresses."""
    made: dict[str, View] = {}
    for system in stack.of_type(FILESTORE):
        found = follow(system.resource.outputs, "networks")
        for network in found if isinstance(found, list) else ():
            addresses = follow(network, "ipAddresses")
            made |= {address: system for address in addresses or () if isinstance(address, str)}
    return made


def _nowhere(view: View, ip: object, made: list[str], others: Mapping[str, View]) -> None:
    """An address that is nearly one of the stack's, or one of the other kind of file systems; somebody else's may have
    any other."""
    if isinstance(ip, str) and ip in others:
        words = f"{ip} is the address of {others[ip].name}, which this driver does not mount"
        view.error("reference-file-system", f"{_ATTRIBUTES}.ip", words, allowed=", ".join(made))
        return
    if not isinstance(ip, str) or not made:
        return
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", ip):
        view.error(
            "reference-file-system", f"{_ATTRIBUTES}.ip", f"got {show(ip)}", allowed="an address, like 10.0.16.2"
        )
    elif near := nearest_of(ip, made):
        view.error(
            "reference-file-system",
            f"{_ATTRIBUTES}.ip",
            f"no file system of the stack has {ip}",
            hint=f"did you mean {near}?",
        )
