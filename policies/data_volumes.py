"""Data: by whose rights a volume shows what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EBS_VOLUME, NAMESPACE, VOLUME

FUSE_DRIVER = "gcsfuse.csi.storage.gke.io"
S3_DRIVER, EFS_DRIVER, EBS_DRIVER = "s3.csi.aws.com", "efs.csi.aws.com", "ebs.csi.aws.com"
DISKS: Final = (
    "awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "azureFile", "iscsi", "fc", "cephfs", "rbd",
    "glusterfs", "portworxVolume", "vsphereVolume", "flexVolume",
)  # fmt: skip
"""Kinds of volumes that a node or a driver mounts for whoever has the claim (Kubernetes API reference, 1.35)."""


@stack_rule(
    "volume-with-the-drivers-rights",
    "A volume shows what its own pods may see, not all that the storage driver or the node reaches.",
    types=(VOLUME, NAMESPACE, EBS_VOLUME),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="S3: authenticationSource pod. EFS: an access point in volumeHandle, mount option iam. No nfs, no hostPath.",
)
def volume_with_the_drivers_rights(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A bucket is mounted by the pod's role; a file system through the access point of one directory, by a role. A disk
    is attached by the driver to whatever node asks: a team's is one that the stack makes."""
    teams = {value_at(found.inputs, "metadata", "name") for found in team_namespaces(resources)}
    own = {disk.urn for disk in resources.of(EBS_VOLUME)}
    for volume in resources.of(VOLUME):
        spec = value_at(volume.inputs, "spec")
        for message in _of_the_driver(spec):
            yield volume, message
        kind = next((kind for kind in DISKS if value_at(spec, kind) is not None), "")
        disk = kind or ("EBS" if value_at(spec, "csi", "driver") == EBS_DRIVER else "")
        made_here = own & set(volume.property_dependencies.get("spec", ()))
        if disk and not made_here and value_at(spec, "claimRef", "namespace") in teams:
            yield volume, f"a disk ({disk}) that the stack does not make: whatever is on it, the team reads"


def _of_the_driver(spec: Any) -> Iterator[str]:
    for kind in ("nfs", "hostPath", "local"):
        if value_at(spec, kind) is not None:
            yield f"{kind} shows whatever the node reaches"
    driver = value_at(spec, "csi", "driver")
    if driver == S3_DRIVER and value_at(spec, "csi", "volumeAttributes", "authenticationSource") != "pod":
        yield "authenticationSource is not pod: every pod sees what the driver may read"
    if driver == EFS_DRIVER:
        if not _access_point(spec):
            yield "names no access point: it shows the whole file system"
        if "iam" not in list_at(spec, "mountOptions"):
            yield "is mounted without iam: anonymous, whoever mounts it"
        if str(value_at(spec, "csi", "volumeAttributes", "encryptInTransit")).lower() == "false":
            yield "encryptInTransit is off"


def _access_point(spec: Any) -> str:
    handle = str(value_at(spec, "csi", "volumeHandle", default=""))
    point = handle.split(":")[2] if handle.count(":") == 2 else ""
    options = [str(each) for each in list_at(spec, "mountOptions")]
    return point or next((each for each in options if each.lower().startswith("accesspoint=")), "")
