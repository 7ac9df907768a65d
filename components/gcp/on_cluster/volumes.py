"""Google Cloud's storage as sources of volumes: buckets by Cloud Storage FUSE, Managed Lustre and Filestore.

- `data`: read only, by the mount and not by the pod's good will; all of them, or the team's own part.
- `checkpoints`: the team's own folder of the checkpoints bucket.
- `scratch`, where the environment has Managed Lustre: the team's own folder of it, fast, writable and on no bucket.
- `home`, where the environment has Filestore: the team's own directory for code and notebooks, in every zone.

The last two are mounted from the team's folder on, by the node: a pod sees nothing above it, and the folder has to be
there (`folders.py`). Lustre's driver mounts whatever stands behind the address as `filesystem`, a folder below it too,
and refuses a second volume of one such text on a node: a team's folder is a text of its own. Two mounts of the whole
file system it refuses (lustre-csi-driver, pkg/csi_driver/node.go, read 2026-11-26; Google documents the name alone).

Access to buckets is that of the pod's own service account. GKE mounts through a container beside the pod's own, which
the annotation `gke-gcsfuse/volumes` asks for (`plan.gcp.make.FUSE_ANNOTATIONS`).

Each is tuned by one of Google's profiles, a StorageClass that GKE brings from 1.35.1-gke.1616000: names of objects are
kept and fetched ahead, and a cache of files is sized by what the node has. GKE counts the objects of a folder first,
once a week, and holds pods until it has (scheduling gate `gke-gcsfuse/bucket-scan-pending`, two minutes at most): its
account has to be allowed to list the bucket. An older cluster binds the same volumes and mounts them without the
profile, so that an upgrade replaces none. Classes and their options: deploy/base/setup/profiles_setup.yaml of Google's
driver, read 2026-11-25.

What the profiles cost: a pod keeps what it has seen of an object for as long as it runs, which is right of data that
nobody overwrites and wrong of checkpoints, whose newest is often told by a file that is overwritten. So a mount of
checkpoints asks Cloud Storage each time (`metadata-cache:ttl-secs:0`): other nodes write there too.
"""

from collections.abc import Mapping
from typing import Final, NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.volumes import VolumeSourceArgs
from trainyard.conventions import (
    CHECKPOINTS_CLAIM,
    DATA_CLAIM,
    HOME_CLAIM,
    SCRATCH_CLAIM,
    data_prefix,
    scratch_prefix,
    team_prefix,
)
from trainyard.conventions.gcp import FILESTORE_DRIVER, LUSTRE_DRIVER

DRIVER = "gcsfuse.csi.storage.gke.io"

TRAINING_PROFILE: Final = "gcsfusecsi-training"
"""StorageClass of Google's profile for data that are read again and again."""
CHECKPOINTING_PROFILE: Final = "gcsfusecsi-checkpointing"
"""StorageClass of Google's profile for large files that are written once and read by a restart."""

NOMINAL_CAPACITY_GIB = 1024
"""Capacity that Kubernetes is told of every bucket; nothing measures it, and it never changes."""


class LustreVolumeArgs(TypedDict):
    """A file system of Managed Lustre, as pods mount it."""

    instance: pulumi.Input[str]
    """PROJECT/ZONE/INSTANCE."""
    address: pulumi.Input[str]
    """Address that clients mount from."""
    filesystem: str
    """Name of the file system."""


class FilestoreVolumeArgs(TypedDict):
    """A share of Filestore, as pods mount it."""

    instance: pulumi.Input[str]
    """REGION/INSTANCE."""
    address: pulumi.Input[str]
    """Address that nodes mount from."""
    share: str
    """Name of the share."""


class BucketVolumesArgs(TypedDict):
    """The storage of an environment, as far as pods mount it."""

    data_bucket: pulumi.Input[str]
    """Name of the data bucket."""
    data_per_team: bool
    """Whether a team sees its own part of the data, below its `data_prefix`, instead of all of them."""
    checkpoints_bucket: pulumi.Input[str]
    """Name of the checkpoints bucket."""
    lustre: NotRequired[LustreVolumeArgs]
    """The file system of scratch space. Default: there is none, and no claim `scratch`."""
    shared: NotRequired[FilestoreVolumeArgs]
    """The shared file system. Default: there is none, and no claim `home`."""


def team_volumes(team: str, storage: BucketVolumesArgs) -> dict[str, VolumeSourceArgs]:
    """What a team mounts, by the name of the claim."""
    part = team if storage["data_per_team"] else None
    data = _bucket(storage["data_bucket"], data_prefix(part), "ReadOnlyMany")
    checkpoints = _bucket(
        storage["checkpoints_bucket"], team_prefix(team), "ReadWriteMany", "metadata-cache:ttl-secs:0"
    )
    data["storage_class"], checkpoints["storage_class"] = TRAINING_PROFILE, CHECKPOINTING_PROFILE
    volumes = {DATA_CLAIM: data, CHECKPOINTS_CLAIM: checkpoints}
    if "lustre" in storage:
        volumes[SCRATCH_CLAIM] = _shared(
            lustre_source(storage["lustre"], f"{team}-{SCRATCH_CLAIM}", scratch_folder(team))
        )
    if "shared" in storage:
        volumes[HOME_CLAIM] = _shared(filestore_source(storage["shared"], f"{team}-{HOME_CLAIM}", home_folder(team)))
    return volumes


def scratch_folder(team: str) -> str:
    """Where a team's scratch space is in the file system: no slash at either end."""
    return scratch_prefix(team).rstrip("/")


def home_folder(team: str) -> str:
    """Where a team's home is in the share: no slash at either end."""
    return team_prefix(team).rstrip("/")


class SourceArgs(TypedDict):
    """What a driver mounts a file system by."""

    driver: str
    """Name of the driver."""
    handle: pulumi.Input[str]
    """What the driver knows the volume by."""
    attributes: Mapping[str, pulumi.Input[str]]
    """What it mounts."""


def lustre_source(lustre: LustreVolumeArgs, handle: str, below: str = "") -> SourceArgs:
    """The file system, or a folder of it. Kubernetes wants a handle of its own for every volume; `handle` ends it."""
    path = f"{lustre['filesystem']}/{below}" if below else lustre["filesystem"]
    return {
        "driver": LUSTRE_DRIVER,
        "handle": pulumi.Output.concat(lustre["instance"], f"/{handle}"),
        "attributes": {"ip": lustre["address"], "filesystem": path},
    }


def filestore_source(shared: FilestoreVolumeArgs, handle: str, below: str = "") -> SourceArgs:
    """The share, or a directory of it; `handle` ends the volume's own handle, as for Lustre."""
    path = f"{shared['share']}/{below}" if below else shared["share"]
    return {
        "driver": FILESTORE_DRIVER,
        "handle": pulumi.Output.concat("modeInstance/", shared["instance"], f"/{shared['share']}-{handle}"),
        "attributes": {"ip": shared["address"], "volume": path},
    }


def _shared(source: SourceArgs) -> VolumeSourceArgs:
    return {
        **source,
        "mount_options": [],
        "access_mode": "ReadWriteMany",
        "capacity_gib": NOMINAL_CAPACITY_GIB,
    }


def ingest_volume(storage: BucketVolumesArgs) -> VolumeSourceArgs:
    """All data, to write: by no profile, since who writes wants to see at once what there is."""
    return _bucket(storage["data_bucket"], data_prefix(), "ReadWriteMany")


def _bucket(bucket: pulumi.Input[str], prefix: str, access_mode: str, *further: str) -> VolumeSourceArgs:
    return {
        "driver": DRIVER,
        "handle": bucket,
        # A team may list its own folder and nothing of the bucket beside it, which is what the driver tries first.
        "attributes": {"skipCSIBucketAccessCheck": "true"},
        "mount_options": ["implicit-dirs", f"only-dir={prefix.rstrip('/')}", *further],
        "access_mode": access_mode,
        "capacity_gib": NOMINAL_CAPACITY_GIB,
    }
