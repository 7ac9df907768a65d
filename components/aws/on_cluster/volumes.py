"""AWS's storage as sources of volumes: buckets, FSx for Lustre and EFS, each with the driver that mounts it.

- `data`: the data through the FSx for Lustre file system, or, where the environment has none, through the bucket. Read
  only, by the mount and not by the pod's good will; new data come in through the bucket (`ingest_volume`). All of them,
  or the team's own part.
- `scratch`, where the environment has FSx for Lustre: the team's own folder of the file system, beside the data: fast,
  writable, and on no bucket. No other team's pods see it.
- `checkpoints`: the team's own prefix of the checkpoints bucket. Mountpoint for S3 writes files in sequence and does
  not rename: save under the final name, or use the S3 API.
- `home`, where the environment has EFS: the team's own directory for code and notebooks, in every zone.

Access to the buckets is that of the pod's own service account (`authenticationSource: pod`), so a team's role needs
the bucket's list right and objects below its prefix. The driver gives the mount to the pod's `fsGroup`.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.volumes import VolumeSourceArgs
from trainyard.conventions import (
    CHECKPOINTS_CLAIM,
    DATA_CLAIM,
    HOME_CLAIM,
    SCRATCH_CLAIM,
    data_prefix,
    team_prefix,
)

EFS_DRIVER = "efs.csi.aws.com"
FSX_DRIVER = "fsx.csi.aws.com"
S3_DRIVER = "s3.csi.aws.com"

NOMINAL_CAPACITY_GIB = 1024
"""Capacity that Kubernetes is told of every file system and bucket. Nothing measures it, and it never changes: the API
server refuses a larger request of a claim whose volume was not made for it ("only dynamically provisioned pvc can be
resized"), so a file system that has grown would fail the next `up`."""


class LustreVolumeArgs(TypedDict):
    """An FSx for Lustre file system, as pods mount it."""

    file_system_id: pulumi.Input[str]
    """Id of the file system, `fs-…`."""
    dns_name: pulumi.Input[str]
    """Host name of the file system."""
    data_mount_name: pulumi.Input[str]
    """Name that the directory of the data is mounted by: `abcdefgh/data`."""
    scratch_mount_name: pulumi.Input[str]
    """Name that the directory of the teams' scratch folders is mounted by: `abcdefgh/scratch`."""


class SharedVolumeArgs(TypedDict):
    """An EFS file system with a directory for every team."""

    file_system_id: pulumi.Input[str]
    """Id of the file system, `fs-…`."""
    access_point_ids: Mapping[str, pulumi.Input[str]]
    """Id of the access point of each team's directory (`fsap-…`), by the team's name."""


class StorageVolumesArgs(TypedDict):
    """The storage of an environment, as far as pods mount it."""

    region: str
    """AWS region of the buckets."""
    data_bucket: pulumi.Input[str]
    """Name of the data bucket; mounted, read-only, where there is no `lustre`."""
    data_per_team: bool
    """Whether a team sees its own part of the data, below its `data_prefix`, instead of all of them."""
    checkpoints_bucket: pulumi.Input[str]
    """Name of the checkpoints bucket."""
    lustre: NotRequired[LustreVolumeArgs]
    """The data tier's file system, which the data bucket is linked to. Default: there is none, and no claim
    `scratch`."""
    shared: NotRequired[SharedVolumeArgs]
    """The shared file system. Default: there is none, and no claim `home`."""


def team_volumes(team: str, storage: StorageVolumesArgs) -> dict[str, VolumeSourceArgs]:
    """What a team mounts, by the name of the claim."""
    lustre, shared = storage.get("lustre"), storage.get("shared")
    checkpoints = _bucket(
        storage["checkpoints_bucket"],
        handle=f"{team}-{CHECKPOINTS_CLAIM}",
        access_mode="ReadWriteMany",
        mount_options=[f"region {storage['region']}", f"prefix {team_prefix(team)}", "allow-delete", "allow-overwrite"],
    )
    part = team if storage["data_per_team"] else None
    if lustre is None:
        mount = [f"region {storage['region']}", f"prefix {data_prefix(part)}", "read-only"]
        data = _bucket(
            storage["data_bucket"], handle=f"{team}-{DATA_CLAIM}", access_mode="ReadOnlyMany", mount_options=mount
        )
        volumes = {DATA_CLAIM: data, CHECKPOINTS_CLAIM: checkpoints}
    else:
        below = f"/{team_prefix(part)}".rstrip("/") if part else ""
        volumes = {
            DATA_CLAIM: _lustre(lustre, f"{team}-{DATA_CLAIM}", lustre["data_mount_name"], below, "ReadOnlyMany"),
            CHECKPOINTS_CLAIM: checkpoints,
            SCRATCH_CLAIM: _lustre(
                lustre,
                f"{team}-{SCRATCH_CLAIM}",
                lustre["scratch_mount_name"],
                f"/{team_prefix(team)}".rstrip("/"),
                "ReadWriteMany",
            ),
        }
    if shared is not None:
        volumes[HOME_CLAIM] = _home(shared, team)
    return volumes


def ingest_volume(storage: StorageVolumesArgs) -> VolumeSourceArgs:
    """All data, to write: through the bucket, from where the file system has them minutes later."""
    mount = [f"region {storage['region']}", f"prefix {data_prefix()}", "allow-delete", "allow-overwrite"]
    return _bucket(
        storage["data_bucket"], handle=f"ingest-{DATA_CLAIM}", access_mode="ReadWriteMany", mount_options=mount
    )


def _lustre(
    lustre: LustreVolumeArgs, handle: str, directory: pulumi.Input[str], below: str, access_mode: str
) -> VolumeSourceArgs:
    """A directory of the file system as a volume.

    Kubernetes wants a handle of its own for every volume, so `handle` is put behind the file system's id. The driver
    mounts by dnsname and mountname and uses the handle only to tell its calls apart (aws-fsx-csi-driver
    pkg/driver/node.go, 2026-04-21).
    """
    read_only = access_mode == "ReadOnlyMany"
    return {
        "driver": FSX_DRIVER,
        "handle": pulumi.Output.concat(lustre["file_system_id"], f"-{handle}"),
        "attributes": {"dnsname": lustre["dns_name"], "mountname": pulumi.Output.concat(directory, below)},
        "mount_options": ["flock", *(["ro"] if read_only else [])],
        "access_mode": access_mode,
        "capacity_gib": NOMINAL_CAPACITY_GIB,
    }


def _bucket(
    bucket: pulumi.Input[str], *, handle: str, access_mode: str, mount_options: Sequence[str]
) -> VolumeSourceArgs:
    return {
        "driver": S3_DRIVER,
        "handle": handle,
        "attributes": {"bucketName": bucket, "authenticationSource": "pod"},
        "mount_options": mount_options,
        "access_mode": access_mode,
        "capacity_gib": NOMINAL_CAPACITY_GIB,
    }


def _home(shared: SharedVolumeArgs, team: str) -> VolumeSourceArgs:
    return {
        "driver": EFS_DRIVER,
        "handle": pulumi.Output.concat(shared["file_system_id"], "::", shared["access_point_ids"][team]),
        # As the role of the driver's node part, which the file system's policy asks for. The driver encrypts in transit
        # whatever has an access point (aws-efs-csi-driver pkg/driver/node.go, read 2026-11-22).
        "mount_options": ["iam"],
        "access_mode": "ReadWriteMany",
        "capacity_gib": NOMINAL_CAPACITY_GIB,
    }
