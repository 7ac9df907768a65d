"""Storage classes whose driver makes no disk, volumes that are deleted with the first claim, mounts that write nothing.

Sources: kubernetes-sigs/aws-ebs-csi-driver docs/parameters.md; gcp-compute-persistent-disk-csi-driver, README;
Kubernetes, "Volume binding mode" (with `Immediate` a zone is chosen before the pod is placed), "Reclaiming"; what
`DeleteVolume` of each driver does, its README, as generally known (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.drivers import EBS_DRIVER, PD_DRIVER
from trainyard.recorded.types import GKE_NODE_POOL
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.classes import zones_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_TYPES: Final = {
    EBS_DRIVER: ("gp2", "gp3", "io1", "io2", "sbp1", "sbg1", "sc1", "st1", "standard"),
    PD_DRIVER: (
        "dynamic", "hyperdisk-balanced", "hyperdisk-balanced-high-availability", "hyperdisk-extreme", "hyperdisk-ml",
        "hyperdisk-throughput", "pd-balanced", "pd-extreme", "pd-ssd", "pd-standard",
    ),
}  # fmt: skip
_KEYS: Final = {
    EBS_DRIVER: (
        "allowAutoIOPSIncreaseOnModify", "allowautoiopspergbincrease", "blockAttachUntilInitialized", "blockExpress",
        "blocksize", "bytesperinode", "encrypted", "ext4bigalloc", "ext4clustersize", "ext4encryptionsupport", "fstype",
        "inodesize", "iops", "iopspergb", "kmskeyid", "numberofinodes", "throughput", "type",
        "volumeInitializationRate", "xfssectorsize",
    ),
    PD_DRIVER: (
        "availability-class", "disk-encryption-kms-key", "enable-confidential-storage", "labels",
        "provisioned-iops-on-create", "provisioned-throughput-on-create", "replication-type", "resource-tags",
        "storage-pools", "type", "use-allowed-disk-topology",
    ),
}  # fmt: skip
"""Parameters of a class; EBS compares them in small letters, and takes any that begins with `tagSpecification_`."""
_FSTYPES: Final = ("btrfs", "ext2", "ext3", "ext4", "ntfs", "xfs")
_FSTYPE: Final = ("csi.storage.k8s.io/fstype", "fstype", "fsType")
_SHARED: Final = {
    "efs.csi.aws.com": "the driver deletes its access point",
    "fsx.csi.aws.com": "the driver deletes the whole file system",
    "gcsfuse.csi.storage.gke.io": "the driver deletes nothing, and the volume stays Failed",
    "s3.csi.aws.com": "the driver deletes nothing, and the volume stays Failed",
    "filestore.csi.storage.gke.io": "the driver deletes the whole instance",
}
"""Drivers of what many share, and what becomes of a recorded volume with `Delete` when its claim goes."""
_READ_ONLY: Final = ("ro", "read-only")


def check(cluster: Cluster, groups: Sequence[View]) -> None:
    """Every class and every recorded volume; `groups` are those of nodes whose zones their subnets say."""
    for view in cluster.of("StorageClass"):
        driver = view.text("provisioner") or ""
        if driver in _TYPES:
            _parameters(view, driver)
            _binding(view, groups, cluster)
        if driver == PD_DRIVER:
            _machines(view, cluster)
    for view in cluster.of("PersistentVolume"):
        driver = view.text("spec.csi.driver") or ""
        if view.text("spec.persistentVolumeReclaimPolicy") == "Delete" and driver in _SHARED:
            view.error(
                "programs-volume", "spec.persistentVolumeReclaimPolicy",
                f"is Delete: with its claim, {_SHARED[driver]}", allowed="Retain",
            )  # fmt: skip
        _writes(view)
    _read_beside_writers(cluster)
    for view, path, claim in _claims(cluster):
        _shared(view, path, claim, cluster)


_ONLY_PERSISTENT: Final = ("e2", "f1", "g1", "n1", "n2", "n2d", "t2a", "t2d", "c2", "c2d", "a2", "g2")
_ONLY_HYPERDISK: Final = ("c4", "c4a", "c4d", "n4", "n4a", "n4d", "h4d", "x4", "m4", "a4", "a4x", "g4")
"""Machine families that take no Hyperdisk Balanced, and that take no Persistent Disk (Compute Engine, "About Hyperdisk"
and "About Persistent Disk", machine series support, as generally known, 2026-11)."""


def _machines(view: View, cluster: Cluster) -> None:
    """A class of disks that no machine of the cluster takes: its pods start nowhere. Where machines with accelerators
    alone take it, most pods with a claim start nowhere."""
    pools = cluster.stack.of_type(GKE_NODE_POOL)
    everywhere = [(one.text("nodeConfig.machineType") or "").partition("-")[0] for one in pools]
    plain = [one for one in pools if not one.has("nodeConfig.guestAccelerators")]
    names = [one.text("nodeConfig.machineType") for one in plain]
    families = [name.partition("-")[0] for name in names if name is not None and not name.startswith("ct")]
    kind = str(view.mapping("parameters").get("type") or "pd-standard")
    refused = _ONLY_PERSISTENT if kind.startswith("hyperdisk-balanced") else _ONLY_HYPERDISK
    is_told = kind.startswith(("hyperdisk-balanced", "pd-"))
    if is_told and families and None not in names and all(one in refused for one in families):
        tell = view.error if all(one in refused for one in everywhere) else view.warning
        tell(
            "programs-storage-class", "parameters.type",
            f"is {kind}, and machines of {', '.join(sorted(set(families)))} take no such disk: no pod with one starts",
            allowed="pd-balanced" if refused is _ONLY_PERSISTENT else "hyperdisk-balanced",
        )  # fmt: skip


_BLOCKS: Final = (EBS_DRIVER, PD_DRIVER)
_MANY: Final = ("ReadWriteMany", "ReadOnlyMany")


def _claims(cluster: Cluster) -> Iterator[tuple[View, str, Mapping[str, Any]]]:
    """Claims of one's own, those of a set's pods, and those that a chart makes."""
    for view in cluster.of("PersistentVolumeClaim"):
        if not view.has("spec.volumeName"):
            yield view, "spec", view.mapping("spec")
    for view in cluster.of("StatefulSet"):
        for path, one in view.items("spec.volumeClaimTemplates"):
            if isinstance(one.get("spec"), Mapping):
                yield view, f"{path}.spec", one["spec"]
    for release in cluster.releases:
        yield from ((release, path, one) for path, one in _told(release.mapping("values"), "values"))


def _told(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Where values say of a claim both its class and by whom it is written, in either spelling of charts."""
    if isinstance(value, Mapping):
        if value.get("enabled") is False or value.get("existingClaim"):
            return  # the chart makes none there
        if "accessModes" in value and ("storageClassName" in value or "storageClass" in value):
            yield path, value
        elif "storageAccessModes" in value and "storageClass" in value:
            yield path, {"accessModes": value["storageAccessModes"], "storageClassName": value["storageClass"]}
        for key, one in value.items():
            yield from _told(one, f"{path}.{key}")


def _shared(view: View, path: str, claim: Mapping[str, Any], cluster: Cluster) -> None:
    """A disk is of one node: a claim that many nodes may write is never bound."""
    name, modes = claim.get("storageClassName", claim.get("storageClass")), listed(claim.get("accessModes"))
    made = next(
        (one for one in cluster.of("StorageClass") if name is not None and one.text("metadata.name") == name), None
    )
    found = [one for one in modes if one in _MANY]
    is_raw = claim.get("volumeMode") == "Block"
    is_ml = made is not None and "hyperdisk-ml" in str(made.mapping("parameters").get("type"))
    if made is None or made.text("provisioner") not in _BLOCKS or not found or is_raw or is_ml:
        return
    if found[0] == "ReadOnlyMany" and (made.text("provisioner") == PD_DRIVER or len(modes) > 1):
        return
    view.error(
        "programs-claim", f"{path}.accessModes",
        f"has {found[0]}, and {show(name)} makes disks of {made.text('provisioner')}, which one node has at a time: no "
        "volume is made", allowed="ReadWriteOnce, or a class of shared files",
    )  # fmt: skip


def _parameters(view: View, driver: str) -> None:
    given = view.mapping("parameters")
    types, known = _TYPES[driver], _KEYS[driver]
    kind = given.get("type")
    if isinstance(kind, str) and kind not in types:
        view.error(
            "programs-storage-class", "parameters.type", f"there is no disk of type {show(kind)}: no volume is made",
            allowed=f"one of {', '.join(types)}", hint=nearest(kind, types),
        )  # fmt: skip
    for key, value in given.items():
        small = str(key).lower() if driver == EBS_DRIVER else str(key)
        if key in _FSTYPE:
            if isinstance(value, str) and value not in _FSTYPES:
                view.error(
                    "programs-storage-class", f"parameters.{key}", f"{show(value)} is made on no disk: none is mounted",
                    allowed="ext4 or xfs", hint=nearest(value, _FSTYPES),
                )  # fmt: skip
        elif small not in {one.lower() for one in known} and not small.startswith(("tagspecification", "csi.storage")):
            hint = nearest(str(key), known, cutoff=0.8)
            if hint:
                view.error(
                    "programs-storage-class", f"parameters.{key}",
                    "is no parameter of the driver: no volume is made", hint=hint,
                )  # fmt: skip


def _binding(view: View, groups: Sequence[View], cluster: Cluster) -> None:
    """A zone is chosen before the pod is placed, and some nodes are not in every zone."""
    if view.text("volumeBindingMode") not in (None, "Immediate") or view.is_unknown("volumeBindingMode"):
        return
    zones = len(zones_of(cluster))
    narrow = [
        group.name for group in groups if 0 < len(group.entries("subnetIds")) < zones and not group.blurred("subnetIds")
    ]
    if zones > 1 and narrow and not view.has("allowedTopologies"):
        view.warning(
            "programs-storage-class", "volumeBindingMode",
            f"is Immediate: a disk is made in any of {zones} zones before its pod is placed, and nodes of "
            f"{', '.join(narrow[:3])} are not in all of them", allowed="WaitForFirstConsumer",
        )  # fmt: skip


def _read_beside_writers(cluster: Cluster) -> None:
    """One of several volumes for claims of one name, that cannot be written to though its modes say so, as all do."""
    found: dict[tuple[str, str], list[View]] = {}
    for view in cluster.of("PersistentVolume"):
        driver, claim = view.text("spec.csi.driver"), view.text("spec.claimRef.name")
        modes = view.texts("spec.accessModes")
        if driver and claim and modes and all(mode.startswith("ReadWrite") for mode in modes):
            found.setdefault((driver, claim), []).append(view)
    for (_, claim), views in found.items():
        read = [view for view in views if view.flag("spec.csi.readOnly")]
        if not read or len(read) * 2 >= len(views):
            continue
        for view in read:
            view.warning(
                "programs-volume", "spec.csi.readOnly",
                f"is true, and its claim may write ({', '.join(view.texts('spec.accessModes'))}), as claims {claim} "
                "elsewhere do: each write fails", allowed="false, or ReadOnlyMany",
            )  # fmt: skip


def _writes(view: View) -> None:
    modes, options = view.texts("spec.accessModes"), view.texts("spec.mountOptions")
    found = next((one for one in options if one in _READ_ONLY), "")
    if found and modes and all(mode.startswith("ReadWrite") for mode in modes) and not view.flag("spec.csi.readOnly"):
        view.warning(
            "programs-volume", "spec.mountOptions",
            f"has {found}, and claims are let write ({', '.join(modes)}): each write fails",
            allowed="ReadOnlyMany, or no such option",
        )  # fmt: skip
