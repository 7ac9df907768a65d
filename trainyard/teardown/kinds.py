"""The types of resources by what becomes of them at the end: what may stay, its settings, what is given up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from trainyard.recorded.types import (
    BUCKET,
    CLOUD_SQL,
    DATABASE,
    EFS_MOUNT_TARGET,
    EKS_CLUSTER,
    FILESTORE,
    GCP_BACKUP_VAULT,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_DATABASE_USER,
    GCP_MANAGED_FOLDER,
    GCP_REGIONAL_SECRET,
    GCP_SQL_DATABASE,
    GKE_CLUSTER,
    KEY,
    LUSTRE,
    REPOSITORY,
    SAGEMAKER_DOMAIN,
)

Group = Literal["data", "artifacts", "tracking", "homes"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)
"""What may stay: data sets, checkpoints and all else that holds something; what runs wrote to the tracking server, and
registered models; the tracking server's own database, as a copy; and people's own files."""


GCP_VAULT: Final = GCP_BACKUP_VAULT

KEYS: Final = (KEY, GCP_CRYPTO_KEY)
"""A key goes with what it opens."""

COPIED: Final = (DATABASE, LUSTRE, CLOUD_SQL, FILESTORE)
"""What stays as a copy: the thing itself stands in the network that goes."""

PARTS: Final = (GCP_SQL_DATABASE, GCP_DATABASE_USER)
"""What goes with the instance that it is in, and is not deleted by itself: no user is that owns a table."""

HOLDS_NOTHING: Final = (GKE_CLUSTER, GCP_REGIONAL_SECRET, *PARTS)
"""What counts as holding something while it stands, and has nothing that could be kept: the secret is the password of a
database that goes."""

GROUP_OF: Final[tuple[tuple[str, Group], ...]] = (
    ("aws:rds/", "tracking"),
    ("aws:sagemaker/mlflow", "tracking"),
    ("aws:sagemaker/modelPackageGroup", "artifacts"),
    (SAGEMAKER_DOMAIN, "homes"),
    ("aws:efs/", "homes"),
    ("gcp:filestore/", "homes"),
    ("gcp:sql/", "tracking"),
    ("gcp:vertex/", "tracking"),
)
"""The kind of what a type holds, by the beginning of its token; everything else is data."""

SETTINGS: Final = (
    ("aws:s3/bucket*", "bucket"),
    ("aws:efs/*", "fileSystemId"),
    ("aws:iam/rolePolic*", "role"),
    ("gcp:storage/bucketIAM*", "bucket"),
    ("gcp:storage/managedFolder*", "bucket"),
    ("gcp:kms/cryptoKeyIAM*", "cryptoKeyId"),
)
"""Types that are settings of another resource, and the input that names it: without them what stays is open, shut, or
not what it was."""

NO_SETTING: Final = (EFS_MOUNT_TARGET,)
"""What names a file system and stands in a network that goes."""

GIVEN_UP: Final[Mapping[str, Mapping[str, Any]]] = {
    BUCKET: {"forceDestroy": True},
    DATABASE: {"skipFinalSnapshot": True, "deletionProtection": False},
    EKS_CLUSTER: {"deletionProtection": False},
    REPOSITORY: {"forceDelete": True},
    GCP_BUCKET: {"forceDestroy": True},
    GCP_MANAGED_FOLDER: {"forceDestroy": True},
    GCP_CRYPTO_KEY: {"deletionPolicy": "DELETE"},
    CLOUD_SQL: {"deletionProtection": False},
    GKE_CLUSTER: {"deletionProtection": False},
    FILESTORE: {"deletionProtectionEnabled": False},
}
"""What a provider has to find in the state to delete what is not to stay."""
