"""FSx for Lustre: the fast side of the data tier, linked to the data bucket."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.ec2 as ec2
import pulumi_aws.fsx as fsx
import pulumi_aws.kms as kms
import pulumi_aws.s3 as s3

from trainyard.components.aws.key_policies import S3_CONTEXT
from trainyard.components.aws.security_rules import BOTH_DIRECTIONS, allow_tcp
from trainyard.components.outputs import register
from trainyard.conventions import TRAINER_GID, TRAINER_UID, data_prefix, scratch_prefix

LUSTRE_PORTS = ((988, 988), (1018, 1023))
"""TCP, between clients and servers, both ways (FSx for Lustre User Guide, "File system access control", 2026-11)."""

THROUGHPUTS_MBPS_PER_TIB = (125, 250, 500, 1000)
"""Throughputs that PERSISTENT_2 SSD is sold with, MB/s for each TiB (FSx API reference, PerUnitStorageThroughput,
2026-11)."""

DATA_DIRECTORY = f"/{data_prefix()}".rstrip("/")
"""Where the data appear in the file system."""

SCRATCH_DIRECTORY = f"/{scratch_prefix()}".rstrip("/")
"""Where the folders of the teams' scratch space are in the file system."""

_LOG_RETENTION_DAYS = 365


class LustreArgs(TypedDict):
    """Size and place of the file system."""

    subnet_id: pulumi.Input[str]
    """One subnet: the file system lives in a single zone, the zone of the GPU nodes that read from it."""
    capacity_gib: int
    """Storage capacity, GiB: 1200, or a multiple of 2400."""
    throughput_mbps_per_tib: int
    """MB/s for every TiB of capacity: 125, 250, 500 or 1000."""


class LustreFileSystemArgs(TypedDict):
    """A file system with the environment around it."""

    lustre: LustreArgs
    """Size and place of the file system."""

    account_id: pulumi.Input[str]
    """Id of the AWS account, 12 digits."""
    vpc_id: pulumi.Input[str]
    """Id of the VPC that the file system's subnet is in."""
    client_security_group_ids: Mapping[str, pulumi.Input[str]]
    """Groups of the nodes that mount the file system, by a short name that stays (`cluster`)."""
    key_arn: pulumi.Input[str]
    """KMS key of the file system, its log group and the objects of the data bucket."""
    data_bucket_name: pulumi.Input[str]
    """Name of the bucket that the directories are linked to, which encrypts what it gets."""
    data_bucket_arn: pulumi.Input[str]
    """ARN of that bucket, which has a Bucket Key."""
    data_folders: NotRequired[Sequence[str]]
    """Folders that the data directory has from the start, below it, each with a slash at its end: `teams/vision/`.
    Default: none."""
    scratch_folders: NotRequired[Sequence[str]]
    """Folders that training pods write to, below the scratch directory, each with a slash at its end. Default: none."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the file system."""


class LustreFileSystem(pulumi.ComponentResource):
    """A PERSISTENT_2 SSD file system whose `/data` mirrors `data/` of the data bucket.

    Objects that are new, changed or deleted in the bucket show in the file system. Files that are new or changed in
    the file system go to the bucket; files that are deleted do not delete their object, because the bucket is the
    data's home and the file system its cache.

    Root of a client is nobody's root here: it is squashed to the trainers' user. So nobody could make the folders of
    `/scratch` that the trainers write to. FSx makes them, of empty objects below `scratch/` of the bucket that say
    whose a folder is (FSx for Lustre User Guide, "POSIX metadata support for data repositories", 2026-11). That link
    brings new folders in and takes nothing out: what is written there is on no bucket.

    There are no file system backups: AWS takes none of a file system that is linked to a bucket (FSx for Lustre User
    Guide, "Using data repositories", 2026-11). What is under `/data` is in the versioned bucket; what is elsewhere in
    the file system is scratch.
    """

    file_system_id: pulumi.Output[str]
    """Id of the file system, `fs-…`."""
    dns_name: pulumi.Output[str]
    """Host name of the file system."""
    mount_name: pulumi.Output[str]
    """Name under which clients mount the root of the file system."""
    data_mount_name: pulumi.Output[str]
    """Name under which clients mount `/data` alone, so that a mount point shows the bucket and nothing above it;
    carries the link, which makes the directory. Source: FSx for Lustre User Guide, "Mounting specific filesets",
    2026-11."""
    scratch_mount_name: pulumi.Output[str]
    """Name under which clients mount `/scratch` alone; carries the link, which makes the folders."""
    security_group_id: pulumi.Output[str]
    """Id of the file servers' security group."""

    def __init__(self, name: str, args: LustreFileSystemArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a capacity or a throughput that AWS does not sell."""
        _check(name, args["lustre"])
        super().__init__("trainyard:index:LustreFileSystem", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = ec2.SecurityGroup(
            f"{name}-access",
            description="FSx for Lustre file servers",
            vpc_id=args["vpc_id"],
            opts=child,
        )
        self.security_group_id = group.id
        self._open_ports(name, args["client_security_group_ids"])
        log_group = cloudwatch.LogGroup(
            f"{name}-log",
            name=f"/aws/fsx/{name}",  # FSx accepts only names that begin so
            retention_in_days=_LOG_RETENTION_DAYS,
            kms_key_id=args["key_arn"],
            opts=child,
        )
        file_system = fsx.LustreFileSystem(
            name,
            subnet_ids=args["lustre"]["subnet_id"],  # a string in this SDK: one subnet
            security_group_ids=[group.id],
            deployment_type="PERSISTENT_2",
            storage_type="SSD",
            file_system_type_version="2.15",
            storage_capacity=args["lustre"]["capacity_gib"],
            per_unit_storage_throughput=args["lustre"]["throughput_mbps_per_tib"],
            metadata_configuration={"mode": "AUTOMATIC"},
            data_compression_type="LZ4",
            # Images that run as root write as the trainers do.
            root_squash_configuration={"root_squash": f"{TRAINER_UID}:{TRAINER_GID}"},
            kms_key_id=args["key_arn"],
            log_configuration={"destination": log_group.arn, "level": "WARN_ERROR"},
            automatic_backup_retention_days=0,  # see the class: AWS refuses backups beside a link
            skip_final_backup=True,
            weekly_maintenance_start_time="7:03:00",  # Sunday, UTC
            tags={"Name": name},
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
        )
        self.file_system_id = file_system.id
        self.dns_name = file_system.dns_name
        self.mount_name = file_system.mount_name
        links = self._link_data(name, args), self._link_scratch(name, args)
        self.data_mount_name, self.scratch_mount_name = (
            pulumi.Output.concat(self.mount_name, link.file_system_path) for link in links
        )
        self._lend_key(name, args, links)
        register(self)

    def _open_ports(self, name: str, clients: Mapping[str, pulumi.Input[str]]) -> None:
        servers = self.security_group_id
        for ports in LUSTRE_PORTS:
            suffix = str(ports[0])
            for direction in BOTH_DIRECTIONS:
                allow_tcp(
                    f"{name}-{direction}-self-{suffix}",
                    direction=direction,
                    security_group_id=servers,
                    peer_security_group_id=servers,
                    ports=ports,
                    description="Lustre between the file servers",
                    parent=self,
                )
            for client, client_group in clients.items():
                for direction in BOTH_DIRECTIONS:
                    allow_tcp(
                        f"{name}-{direction}-{client}-{suffix}",
                        direction=direction,
                        security_group_id=servers,
                        peer_security_group_id=client_group,
                        ports=ports,
                        description=f"Lustre between the file servers and {client}",
                        parent=self,
                    )
                # The servers open connections to their clients too, to call locks back.
                allow_tcp(
                    f"{name}-callback-{client}-{suffix}",
                    direction="ingress",
                    security_group_id=client_group,
                    peer_security_group_id=servers,
                    ports=ports,
                    description="Lustre from the file servers",
                    parent=self,
                )

    def _link_data(self, name: str, args: LustreFileSystemArgs) -> fsx.DataRepositoryAssociation:
        folders = self._folders(f"{name}-data", args, data_prefix(), args.get("data_folders", ()), "0040755", (0, 0))
        return fsx.DataRepositoryAssociation(
            f"{name}-data",
            file_system_id=self.file_system_id,
            file_system_path=DATA_DIRECTORY,
            data_repository_path=_repository(args, data_prefix()),
            batch_import_meta_data_on_create=True,
            delete_data_in_filesystem=False,
            s3={
                "auto_import_policy": {"events": ["NEW", "CHANGED", "DELETED"]},
                "auto_export_policy": {"events": ["NEW", "CHANGED"]},
            },
            tags={"Name": name},
            opts=pulumi.ResourceOptions(parent=self, depends_on=folders),
        )

    def _link_scratch(self, name: str, args: LustreFileSystemArgs) -> fsx.DataRepositoryAssociation:
        owner = (TRAINER_UID, TRAINER_GID)
        wanted = args.get("scratch_folders", ())
        folders = self._folders(f"{name}-scratch", args, scratch_prefix(), wanted, "0040770", owner)
        return fsx.DataRepositoryAssociation(
            f"{name}-scratch",
            file_system_id=self.file_system_id,
            file_system_path=SCRATCH_DIRECTORY,
            data_repository_path=_repository(args, scratch_prefix()),
            batch_import_meta_data_on_create=True,
            delete_data_in_filesystem=False,
            # Not what is deleted: a team that is left out keeps what it has written.
            s3={"auto_import_policy": {"events": ["NEW", "CHANGED"]}},
            tags={"Name": name},
            opts=pulumi.ResourceOptions(parent=self, depends_on=folders),
        )

    def _folders(
        self,
        name: str,
        args: LustreFileSystemArgs,
        prefix: str,
        folders: Sequence[str],
        permissions: str,
        owner: tuple[int, int],
    ) -> list[pulumi.Resource]:
        return [
            s3.BucketObjectv2(
                f"{name}-{folder.rstrip('/').replace('/', '-')}",
                bucket=args["data_bucket_name"],
                key=f"{prefix}{folder}",
                content="",
                metadata={
                    "user-agent": "aws-fsx-lustre",
                    "file-permissions": permissions,
                    "file-owner": str(owner[0]),
                    "file-group": str(owner[1]),
                    "file-atime": "0ns",
                    "file-mtime": "0ns",
                },
                opts=pulumi.ResourceOptions(parent=self),
            )
            for folder in folders
        ]

    def _lend_key(self, name: str, args: LustreFileSystemArgs, links: Sequence[fsx.DataRepositoryAssociation]) -> None:
        # A link makes a service-linked role for this file system, which must be let use the bucket's key. A grant and
        # not a statement of the key policy: a policy cannot name a role that does not exist yet.
        kms.Grant(
            f"{name}-data-key",
            key_id=args["key_arn"],
            grantee_principal=pulumi.Output.concat(
                "arn:aws:iam::",
                args["account_id"],
                ":role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_",
                self.file_system_id,
            ),
            operations=["Decrypt", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo", "DescribeKey"],
            # What S3 names where the bucket has a Bucket Key, as ours has: the bucket, not the object.
            constraints=[{"encryption_context_subset": {S3_CONTEXT: args["data_bucket_arn"]}}],
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(links)),
        )


def _repository(args: LustreFileSystemArgs, prefix: str) -> pulumi.Output[str]:
    return pulumi.Output.concat("s3://", args["data_bucket_name"], "/", prefix)


def _check(name: str, args: LustreArgs) -> None:
    capacity, throughput = args["capacity_gib"], args["throughput_mbps_per_tib"]
    if capacity != 1200 and (capacity <= 0 or capacity % 2400):
        raise ValueError(f"{name}: capacity_gib is {capacity}, must be 1200 or a multiple of 2400")
    if throughput not in THROUGHPUTS_MBPS_PER_TIB:
        allowed = ", ".join(map(str, THROUGHPUTS_MBPS_PER_TIB))
        raise ValueError(f"{name}: throughput_mbps_per_tib is {throughput}, must be one of {allowed}")
