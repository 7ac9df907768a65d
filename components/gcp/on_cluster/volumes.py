"""Google Cloud's buckets as sources of volumes, by Cloud Storage FUSE.

- `data`: read only, by the mount and not by the pod's good will; all of them, or the team's own part.
- `checkpoints`: the team's own folder of the checkpoints bucket.

Access is that of the pod's own service account. GKE mounts through a container beside the pod's own, which the
annotation `gke-gcsfuse/volumes` asks for (`plan.gcp.make.FUSE_ANNOTATIONS`).

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

from typing import Final, TypedDict

import pulumi

from trainyard.components.k8s.volumes import VolumeSourceArgs
from trainyard.conventions import CHECKPOINTS_CLAIM, DATA_CLAIM, data_prefix, team_prefix

DRIVER = "gcsfuse.csi.storage.gke.io"

TRAINING_PROFILE: Final = "gcsfusecsi-training"
"""StorageClass of Google's profile for data that are read again and again."""
CHECKPOINTING_PROFILE: Final = "gcsfusecsi-checkpointing"
"""StorageClass of Google's profile for large files that are written once and read by a restart."""

NOMINAL_CAPACITY_GIB = 1024
"""Capacity that Kubernetes is told of every bucket; nothing measures it, and it never changes."""


class BucketVolumesArgs(TypedDict):
    """The buckets of an environment, as far as pods mount them."""

    data_bucket: pulumi.Input[str]
    """Name of the data bucket."""
    data_per_team: bool
    """Whether a team sees its own part of the data, below its `data_prefix`, instead of all of them."""
    checkpoints_bucket: pulumi.Input[str]
    """Name of the checkpoints bucket."""


def team_volumes(team: str, storage: BucketVolumesArgs) -> dict[str, VolumeSourceArgs]:
    """What a team mounts, by the name of the claim."""
    part = team if storage["data_per_team"] else None
    data = _bucket(storage["data_bucket"], data_prefix(part), "ReadOnlyMany")
    checkpoints = _bucket(
        storage["checkpoints_bucket"], team_prefix(team), "ReadWriteMany", "metadata-cache:ttl-secs:0"
    )
    data["storage_class"], checkpoints["storage_class"] = TRAINING_PROFILE, CHECKPOINTING_PROFILE
    return {DATA_CLAIM: data, CHECKPOINTS_CLAIM: checkpoints}


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
