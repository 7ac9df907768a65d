"""AWS's storage as sources of volumes: buckets, FSx for Lustre and EFS, each with the driver that mounts it.

- `data`: the FSx for Lustre file system, or, where the environment has none, the data bucket read-only. Shared by the
  teams; POSIX ownership decides who writes (files that came from the bucket belong to root and are readable).
- `scratch`, where the environment has FSx for Lustre: the team's own folder `teams/<team>` of the file system, beside
  the linked directory: fast, writable (`LustreFolders` makes it so), and on no bucket. No other team's pods see it.
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
from trainyard.conventions import CHECKPOINTS_CLAIM, DATA_CLAIM, HOME_CLAIM, SCRATCH_CLAIM, team_prefix

EFS_DRIVER = "efs.csi.aws.com"
FSX_DRIVER = "fsx.csi.aws.com"
S3_DRIVER = "s3.csi.aws.com"

UNSIZED_CAPACITY_GIB = 1024
"""Capacity that Kubernetes is told of a bucket or an EFS file system, which have no size."""


class LustreVolumeArgs(TypedDict):
    """An FSx for Lustre file system, as pods mount it."""

    file_system_id: pulumi.Input[str]
    """Id of the file system, `fs-…`."""
    dns_name: pulumi.Input[str]
    """Host name of the file system."""
    mount_name: pulumi.Input[str]
    """Name that it is mounted by, with the directory to mount where that is not its root: `abcdefgh/data`."""
    capacity_gib: int
    """Size of the file system, GiB."""


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
    if lustre is None:
        data = _bucket(
            storage["data_bucket"],
            handle=f"{team}-{DATA_CLAIM}",
            access_mode="ReadOnlyMany",
            mount_options=[f"region {storage['region']}", "read-only"],
        )
        volumes = {DATA_CLAIM: data, CHECKPOINTS_CLAIM: checkpoints}
    else:
        volumes = {
            DATA_CLAIM: lustre_source(lustre, f"-{team}-{DATA_CLAIM}"),
            CHECKPOINTS_CLAIM: checkpoints,
            SCRATCH_CLAIM: lustre_source(team_folder(lustre, team), f"-{team}-{SCRATCH_CLAIM}"),
        }
    if shared is not None:
        volumes[HOME_CLAIM] = _home(shared, team)
    return volumes


def lustre_source(lustre: LustreVolumeArgs, handle_suffix: str) -> VolumeSourceArgs:
    """The file system as a volume.

    Kubernetes wants a handle of its own for every volume, so `handle_suffix` is put behind the file system's id. The
    driver mounts by dnsname and mountname and uses the handle only to tell its calls apart (aws-fsx-csi-driver
    pkg/driver/node.go, 2026-04-21).
    """
    return {
        "driver": FSX_DRIVER,
        "handle": pulumi.Output.concat(lustre["file_system_id"], handle_suffix),
        "attributes": {"dnsname": lustre["dns_name"], "mountname": lustre["mount_name"]},
        "mount_options": ["flock"],
        "access_mode": "ReadWriteMany",
        "capacity_gib": lustre["capacity_gib"],
    }


def file_system_root(lustre: LustreVolumeArgs) -> LustreVolumeArgs:
    """The same file system, mounted at its root: `abcdefgh/data` -> `abcdefgh`."""
    mount_name = pulumi.Output.from_input(lustre["mount_name"]).apply(lambda text: text.partition("/")[0])
    return {**lustre, "mount_name": mount_name}


def team_folder(lustre: LustreVolumeArgs, team: str) -> LustreVolumeArgs:
    """The same file system, mounted at a team's folder beside the linked directory."""
    root = file_system_root(lustre)
    return {**root, "mount_name": pulumi.Output.concat(root["mount_name"], f"/{team_prefix(team)}".rstrip("/"))}


def _bucket(
    bucket: pulumi.Input[str], *, handle: str, access_mode: str, mount_options: Sequence[str]
) -> VolumeSourceArgs:
    return {
        "driver": S3_DRIVER,
        "handle": handle,
        "attributes": {"bucketName": bucket, "authenticationSource": "pod"},
        "mount_options": mount_options,
        "access_mode": access_mode,
        "capacity_gib": UNSIZED_CAPACITY_GIB,
    }


def _home(shared: SharedVolumeArgs, team: str) -> VolumeSourceArgs:
    return {
        "driver": EFS_DRIVER,
        "handle": pulumi.Output.concat(shared["file_system_id"], "::", shared["access_point_ids"][team]),
        # None: the driver encrypts in transit unless told otherwise, which an access point needs.
        "mount_options": [],
        "access_mode": "ReadWriteMany",
        "capacity_gib": UNSIZED_CAPACITY_GIB,
    }
