"""EFS: home directories and code, a directory for each team, shared by every zone."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_aws.efs as efs

from trainyard.components.aws.policy_documents import document
from trainyard.components.aws.security_rules import access_group
from trainyard.components.outputs import register

NFS_PORT = 2049

HOME_DIRECTORY = "/home"
"""Directory of the file system that the teams' directories are in."""

HOME_USER_ID = 1000
"""POSIX user and group that every access through an access point has, whatever user the pod runs as."""


class SharedFileSystemArgs(TypedDict):
    """Where the file system can be mounted from."""

    account_id: pulumi.Input[str]
    """AWS account, 12 digits, whose roles may mount it as their IAM policies say."""
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
    default).

    It is mounted through an access point, over TLS and by a role that IAM lets, and in no other way: whoever merely
    reaches the mount targets sees nothing, and nobody is root.
    """

    file_system_id: pulumi.Output[str]
    """Id of the file system, `fs-…`."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system."""
    security_group_id: pulumi.Output[str]
    """Id of the mount targets' security group."""
    access_point_ids: dict[str, pulumi.Output[str]]
    """Id of each directory's access point, by the directory's name."""
    access_point_arns: dict[str, pulumi.Output[str]]
    """ARN of each directory's access point, by the directory's name."""

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
        points = {
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
            )
            for directory in args["directories"]
        }
        self.access_point_ids = {directory: point.id for directory, point in points.items()}
        self.access_point_arns = {directory: point.arn for directory, point in points.items()}
        efs.FileSystemPolicy(
            f"{name}-policy",
            file_system_id=file_system.id,
            policy=document(
                _statements(args["account_id"], file_system.arn, list(self.access_point_arns.values())),
            ),
            opts=child,
        )
        register(self)


def _statements(
    account_id: pulumi.Input[str], file_system_arn: pulumi.Output[str], access_point_arns: Sequence[pulumi.Output[str]]
) -> list[dict[str, Any]]:
    """Whoever may mount the file system; without a policy EFS lets in whoever reaches a mount target."""

    def statement(effect: str, sid: str, who: pulumi.Input[str], what: Sequence[str], condition: Any) -> dict[str, Any]:
        found = {
            "Sid": sid,
            "Effect": effect,
            "Principal": {"AWS": who},
            "Action": list(what),
            "Resource": file_system_arn,
        }
        return {**found, "Condition": condition} if condition else found

    every = ["ClientMount", "ClientWrite", "ClientRootAccess"]
    client = [f"elasticfilesystem:{action}" for action in every]
    denied = [
        statement("Deny", "DenyPlainNfs", "*", client, {"Bool": {"aws:SecureTransport": "false"}}),
        statement(
            "Deny", "DenyWithoutAccessPoint", "*", client, {"Null": {"elasticfilesystem:AccessPointArn": "true"}}
        ),
        statement("Deny", "DenyRoot", "*", ["elasticfilesystem:ClientRootAccess"], None),
    ]
    if not access_point_arns:
        return denied
    account = pulumi.Output.concat("arn:aws:iam::", account_id, ":root")
    condition = {
        "StringEquals": {"elasticfilesystem:AccessPointArn": list(access_point_arns)},
        "Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"},
    }
    return [statement("Allow", "MountAsIamSays", account, client[:2], condition), *denied]
