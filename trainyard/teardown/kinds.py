"""The types of resources by what becomes of them at the end: what may stay, its settings, what is given up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from trainyard.recorded.types import GCP_BACKUP_VAULT, SAGEMAKER_DOMAIN

Group = Literal["data", "artifacts", "tracking", "homes"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)
"""What may stay: data sets, checkpoints and all else that holds something; what runs wrote to the tracking server, and
registered models; the tracking server's own database, as a copy; and people's own files."""

BUCKET: Final = "aws:s3/bucket:Bucket"
ROLE: Final = "aws:iam/role:Role"
KEY: Final = "aws:kms/key:Key"
DATABASE: Final = "aws:rds/instance:Instance"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
LUSTRE_LINK: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
CACHE: Final = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
REPOSITORY: Final = "aws:ecr/repository:Repository"
CLUSTER: Final = "aws:eks/cluster:Cluster"

GCP_BUCKET: Final = "gcp:storage/bucket:Bucket"
GCP_FOLDER: Final = "gcp:storage/managedFolder:ManagedFolder"
GCP_KEY: Final = "gcp:kms/cryptoKey:CryptoKey"
GCP_DATABASE: Final = "gcp:sql/databaseInstance:DatabaseInstance"
GCP_FILES: Final = "gcp:filestore/instance:Instance"
GCP_VAULT: Final = GCP_BACKUP_VAULT
GCP_LUSTRE: Final = "gcp:lustre/instance:Instance"
GCP_ACCOUNT: Final = "gcp:serviceaccount/account:Account"
GCP_CLUSTER: Final = "gcp:container/cluster:Cluster"

KEYS: Final = (KEY, GCP_KEY)
"""A key goes with what it opens."""

COPIED: Final = (DATABASE, LUSTRE, GCP_DATABASE, GCP_FILES)
"""What stays as a copy: the thing itself stands in the network that goes."""

PARTS: Final = ("gcp:sql/database:Database", "gcp:sql/user:User")
"""What goes with the instance that it is in, and is not deleted by itself: no user is that owns a table."""

HOLDS_NOTHING: Final = (GCP_CLUSTER, "gcp:secretmanager/regionalSecret:RegionalSecret", *PARTS)
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

NO_SETTING: Final = ("aws:efs/mountTarget:MountTarget",)
"""What names a file system and stands in a network that goes."""

GIVEN_UP: Final[Mapping[str, Mapping[str, Any]]] = {
    BUCKET: {"forceDestroy": True},
    DATABASE: {"skipFinalSnapshot": True, "deletionProtection": False},
    CLUSTER: {"deletionProtection": False},
    REPOSITORY: {"forceDelete": True},
    GCP_BUCKET: {"forceDestroy": True},
    GCP_FOLDER: {"forceDestroy": True},
    GCP_KEY: {"deletionPolicy": "DELETE"},
    GCP_DATABASE: {"deletionProtection": False},
    GCP_CLUSTER: {"deletionProtection": False},
    GCP_FILES: {"deletionProtectionEnabled": False},
}
"""What a provider has to find in the state to delete what is not to stay."""
