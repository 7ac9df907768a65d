"""Google Cloud's buckets as sources of volumes, by Cloud Storage FUSE.

- `data`: read only, by the mount and not by the pod's good will; all of them, or the team's own part.
- `checkpoints`: the team's own folder of the checkpoints bucket.

Access is that of the pod's own service account. GKE mounts through a container beside the pod's own, which the
annotation `gke-gcsfuse/volumes` asks for (`plan.gcp.make.FUSE_ANNOTATIONS`).
"""

from collections.abc import Sequence
from typing import TypedDict

import pulumi

from trainyard.components.k8s.volumes import VolumeSourceArgs
from trainyard.conventions import CHECKPOINTS_CLAIM, DATA_CLAIM, data_prefix, team_prefix

DRIVER = "gcsfuse.csi.storage.gke.io"

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
    return {
        DATA_CLAIM: _bucket(storage["data_bucket"], data_prefix(part), "ReadOnlyMany"),
        CHECKPOINTS_CLAIM: _bucket(storage["checkpoints_bucket"], team_prefix(team), "ReadWriteMany"),
    }


def ingest_volume(storage: BucketVolumesArgs) -> VolumeSourceArgs:
    """All data, to write."""
    return _bucket(storage["data_bucket"], data_prefix(), "ReadWriteMany")


def _bucket(bucket: pulumi.Input[str], prefix: str, access_mode: str) -> VolumeSourceArgs:
    options: Sequence[str] = ["implicit-dirs", f"only-dir={prefix.rstrip('/')}"]
    return {
        "driver": DRIVER,
        "handle": bucket,
        # A team may list its own folder and nothing of the bucket beside it, which is what the driver tries first.
        "attributes": {"skipCSIBucketAccessCheck": "true"},
        "mount_options": options,
        "access_mode": access_mode,
        "capacity_gib": NOMINAL_CAPACITY_GIB,
    }
