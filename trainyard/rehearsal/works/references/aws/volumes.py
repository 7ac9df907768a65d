"""Checks volumes on AWS: drivers that are installed, ids of their form, and file systems and buckets that are recorded.

Source: documentation of the drivers for EBS, EFS, FSx for Lustre and Mountpoint for S3, static provisioning, as
as generally known, and so are the names of the add-ons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.read import follow
from trainyard.recorded.types import ADD_ON, AWS_PROVIDER, BUCKET, EKS_CLUSTER, HELM_RELEASE, LUSTRE
from trainyard.recorded.unseen import has_unseen_objects
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of


@dataclass(frozen=True, slots=True)
class _Driver:
    installers: tuple[str, ...]  # add-ons and charts
    handle: re.Pattern[str] | None = None
    handle_text: str = ""
    attributes: tuple[str, ...] = ()  # that a volume has to give
    modes: frozenset[str] = frozenset()  # access modes; empty: all


_DRIVERS: Final[Mapping[str, _Driver]] = {
    "ebs.csi.aws.com": _Driver(
        ("aws-ebs-csi-driver",),
        re.compile(r"vol-[0-9a-f]{8,17}"),
        "vol- and 17 hex digits",
        modes=frozenset({"ReadWriteOnce", "ReadWriteOncePod"}),
    ),
    "efs.csi.aws.com": _Driver(
        ("aws-efs-csi-driver",),
        re.compile(r"fs-[0-9a-f]{8,17}(:[^:]*)?(:fsap-[0-9a-f]{8,17})?"),
        "fs-ID, fs-ID:PATH or fs-ID::fsap-ID",
    ),
    "fsx.csi.aws.com": _Driver(("aws-fsx-csi-driver",), attributes=("dnsname", "mountname")),
    "s3.csi.aws.com": _Driver(("aws-mountpoint-s3-csi-driver",), attributes=("bucketName",)),
}
_NAMED: Final = re.compile(r"^(fs-[0-9a-f]+)\.fsx\.")
_OF_AMAZON: Final = re.compile(r"(ebs|efs|fsx|s3)[.-]csi[.-](amazon|aws)\b")
_REGION: Final = re.compile(r"(?:--)?region[ =]([a-z0-9-]+)")
_S3_SOURCES: Final = ("driver", "pod")


def check(stack: Stack) -> None:
    """Every check of a volume or a class of a driver of AWS."""
    views = [view for view in stack.views if view.type.startswith("kubernetes:")]
    volumes = [view for view in views if view.type.endswith(":PersistentVolume")]
    installed = _installed(stack, views)
    for view in volumes:
        _driver(view, "spec.csi.driver", installed)
        _volume(view, stack)
    for view in views:
        if view.type.endswith(":StorageClass"):
            _driver(view, "provisioner", installed)
            _key(view, stack)


def _installed(stack: Stack, views: list[View]) -> set[str] | None:
    """The add-ons and charts of the recording; None where there may be others: on a cluster that it does not make."""
    if not stack.resources.of(EKS_CLUSTER) or any(map(has_unseen_objects, stack.components)):
        return None
    found = {str(view.text("addonName")) for view in stack.views if view.type == ADD_ON}
    charts = [view.text("chart") for view in views if view.type == HELM_RELEASE]
    if None in charts or "None" in found:
        return None
    drivers = {view.text("metadata.name") for view in views if view.type.endswith(":CSIDriver")}
    for name in drivers & set(_DRIVERS):
        found |= set(_DRIVERS[str(name)].installers)
    return found | {str(chart).rpartition("/")[2] for chart in charts}


def _key(view: View, stack: Stack) -> None:
    """The key of a class of disks lies where its disks do."""
    found = re.match(r"arn:[\w-]+:kms:([a-z0-9-]+):", view.text("parameters.kmsKeyId") or "")
    region = stack.context.region
    if found is not None and region and found[1] != region and view.text("provisioner") == "ebs.csi.aws.com":
        view.error(
            "reference-key-region", "parameters.kmsKeyId", f"the key is in {found[1]}, and disks are made in {region}",
            allowed=f"a key of {region}",
        )  # fmt: skip


def _driver(view: View, path: str, installed: set[str] | None) -> None:
    name = view.text(path)
    if name is None:
        return
    driver = _DRIVERS.get(name)
    if driver is None:
        near = nearest_of(name, _DRIVERS) or (f"{name.partition('.')[0]}.csi.aws.com" if _OF_AMAZON.match(name) else "")
        if near:
            view.error("reference-driver", path, f"there is no driver {show(name)}", hint=f"did you mean {near}?")
        return
    if installed is not None and installed.isdisjoint(driver.installers):
        view.error(
            "reference-driver",
            path,
            f"driver {name} is not installed: the stack makes the cluster and has no add-on or chart of it",
            allowed=f"add-on or chart {driver.installers[0]}",
        )


def _volume(view: View, stack: Stack) -> None:
    driver = _DRIVERS.get(view.text("spec.csi.driver") or "")
    if driver is None:
        return
    handle = view.text("spec.csi.volumeHandle")
    if handle is not None and driver.handle is not None and not driver.handle.fullmatch(handle):
        view.error(
            "reference-volume-handle", "spec.csi.volumeHandle", f"got {show(handle)}", allowed=driver.handle_text
        )
    given = view.mapping("spec.csi.volumeAttributes")
    if not view.is_unknown("spec.csi.volumeAttributes"):
        for key in driver.attributes:
            if given.get(key) in (None, ""):
                near = nearest_of(key, given)
                view.error(
                    "reference-volume-attribute",
                    f"spec.csi.volumeAttributes.{key}",
                    "is missing, and the driver cannot mount the volume without it",
                    hint=f"did you mean {key} by {near}?" if near else "",
                )
    modes = view.texts("spec.accessModes")
    wrong = [mode for mode in modes if driver.modes and mode not in driver.modes]
    if wrong and view.text("spec.volumeMode") != "Block":
        view.error(
            "reference-access-mode",
            "spec.accessModes",
            f"has {', '.join(wrong)}, and a disk of EBS is attached to one node",
            allowed=f"one of {', '.join(sorted(driver.modes))}",
        )
    _bucket(view, given.get("bucketName"), stack)
    _region(view, given.get("bucketName"), stack)
    source = given.get("authenticationSource")
    if isinstance(source, str) and source not in _S3_SOURCES:
        view.error(
            "reference-volume-attribute",
            "spec.csi.volumeAttributes.authenticationSource",
            f"got {show(source)}",
            allowed="driver or pod",
        )
    _lustre(view, given, stack)


def _bucket(view: View, name: object, stack: Stack) -> None:
    """A bucket that is nearly one of the stack's."""
    if not isinstance(name, str):
        return
    known = [
        found for bucket in stack.resources.of(BUCKET) for found in _texts(bucket.id, bucket.outputs.get("bucket"))
    ]
    near = nearest_of(name, known) if name not in known else ""
    if near:
        view.error(
            "reference-bucket",
            "spec.csi.volumeAttributes.bucketName",
            f"no bucket {show(name)} is recorded",
            hint=f"did you mean {near}?",
        )


def _region(view: View, name: object, stack: Stack) -> None:
    """Mountpoint is told a region where the bucket is not: S3 sends it away, and the mount fails."""
    own = stack.context.region
    made = [
        bucket
        for bucket in stack.resources.of(BUCKET)
        if name in _texts(bucket.id, bucket.outputs.get("bucket")) and follow(bucket.inputs, "region") is None
    ]
    for index, option in enumerate(view.entries("spec.mountOptions")):
        found = _REGION.fullmatch(option) if isinstance(option, str) else None
        if found is not None and made and own and found[1] != own and len(_regions(stack)) < 2:
            view.error(
                "reference-bucket-region", f"spec.mountOptions[{index}]",
                f"{made[0].name} is in {own}, and Mountpoint asks for it in {found[1]}: no pod with the volume starts",
                allowed=f"region {own}",
            )  # fmt: skip


def _regions(stack: Stack) -> set[str]:
    """Regions of the recording's providers of AWS."""
    return {
        region
        for provider in stack.providers.all
        if provider.type == AWS_PROVIDER and isinstance(region := follow(provider.inputs, "region"), str)
    }


def _texts(*values: object) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _lustre(view: View, given: Mapping[str, object], stack: Stack) -> None:
    """The name in DNS, and the name to mount, of a file system of the stack."""
    name, mount = given.get("dnsname"), given.get("mountname")
    if not isinstance(name, str):
        return
    match = _NAMED.match(name)
    for system in stack.resources.of(LUSTRE):
        if match is None or system.id != match[1]:
            continue
        outputs = system.outputs
        right, to_mount = follow(outputs, "dnsName"), follow(outputs, "mountName")
        if isinstance(right, str) and name != right:
            view.error(
                "reference-file-system",
                "spec.csi.volumeAttributes.dnsname",
                f"got {show(name)}, and file system {system.name} has {right}",
            )
        if isinstance(mount, str) and isinstance(to_mount, str) and mount.partition("/")[0] != to_mount:
            view.error(
                "reference-file-system",
                "spec.csi.volumeAttributes.mountname",
                f"got {show(mount)}, and file system {system.name} is mounted by {to_mount}",
                allowed=f"{to_mount}, or a folder below it",
            )
