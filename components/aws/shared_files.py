"""EFS: home directories and code, a directory for each team, shared by every zone."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_aws.efs as efs

from trainyard.components.aws.security_rules import access_group
from trainyard.components.outputs import register

NFS_PORT = 2049

HOME_DIRECTORY = "/home"
"""Directory of the file system that the teams' directories are in."""

HOME_USER_ID = 1000
"""POSIX user and group that every access through an access point has, whatever user the pod runs as."""


class SharedFileSystemArgs(TypedDict):
    """Where the file system can be mounted from."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC that the subnets are in."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Subnets that get a mount target, one a zone, by the zone's name."""
    client_security_group_ids: Mapping[str, pulumi.Input[str]]
    """Groups of the nodes that mount the file system, by a short name that stays (`cluster`)."""
    directories: Sequence[str]
    """Names of the directories below /home, one a team, each with an access point: whoever mounts through it sees
    nothing else. Plain text: they name resources."""
    key_arn: pulumi.Input[str]
    """KMS key of the file system."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the file system."""


class SharedFileSystem(pulumi.ComponentResource):
    """An encrypted, regional, elastic file system with an access point a directory and daily backups (35 days, AWS's
    default)."""

    file_system_id: pulumi.Output[str]
    """Id of the file system, `fs-…`."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system."""
    security_group_id: pulumi.Output[str]
    """Id of the mount targets' security group."""
    access_point_ids: dict[str, pulumi.Output[str]]
    """Id of each directory's access point, by the directory's name."""

    def __init__(self, name: str, args: SharedFileSystemArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:SharedFileSystem", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = access_group(
            name,
            service="NFS",
            description="EFS mount targets",
            port=NFS_PORT,
            vpc_id=args["vpc_id"],
            client_security_group_ids=args["client_security_group_ids"],
            parent=self,
        )
        self.security_group_id = group.id
        file_system = efs.FileSystem(
            name,
            encrypted=True,
            kms_key_id=args["key_arn"],
            performance_mode="generalPurpose",
            throughput_mode="elastic",  # paid by what is read and written: home directories idle most of the time
            lifecycle_policies=[  # EFS takes one transition an entry
                {"transition_to_ia": "AFTER_30_DAYS"},
                {"transition_to_archive": "AFTER_90_DAYS"},
                {"transition_to_primary_storage_class": "AFTER_1_ACCESS"},
            ],
            tags={"Name": name},
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
        )
        self.file_system_id = file_system.id
        self.file_system_arn = file_system.arn
        for zone, subnet_id in args["subnet_ids"].items():
            efs.MountTarget(
                f"{name}-{zone}",
                file_system_id=file_system.id,
                subnet_id=subnet_id,
                security_groups=[group.id],
                opts=child,
            )
        efs.BackupPolicy(
            f"{name}-backup", file_system_id=file_system.id, backup_policy={"status": "ENABLED"}, opts=child
        )
        self.access_point_ids = {
            directory: efs.AccessPoint(
                f"{name}-home-{directory}",
                file_system_id=file_system.id,
                posix_user={"uid": HOME_USER_ID, "gid": HOME_USER_ID},
                root_directory={
                    "path": f"{HOME_DIRECTORY}/{directory}",
                    "creation_info": {"owner_uid": HOME_USER_ID, "owner_gid": HOME_USER_ID, "permissions": "0770"},
                },
                tags={"Name": f"{name}-home-{directory}"},
                opts=child,
            ).id
            for directory in args["directories"]
        }
        register(self)
