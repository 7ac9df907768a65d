"""PostgreSQL on RDS, for MLflow's tracking data and its users."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.iam as iam
import pulumi_aws.rds as rds
from pulumi_aws.rds.outputs import InstanceMasterUserSecret

from trainyard.components.aws.policy_documents import service_trust
from trainyard.components.aws.security_rules import access_group
from trainyard.components.outputs import register

PORT = 5432

USERNAME = "mlflow"
"""The master user. RDS reserves `admin`, `rdsadmin` and `postgres`-like names for itself."""

MONITORING_SECONDS = 60

_NAME = re.compile(r"[a-z](-?[a-z0-9])*")
_LOG_RETENTION_DAYS = 365
_LOG_EXPORTS = ("postgresql", "upgrade")


class DatabaseArgs(TypedDict):
    """Size and place of the database."""

    account_id: pulumi.Input[str]
    """Id of the AWS account, 12 digits."""
    vpc_id: pulumi.Input[str]
    """Id of the VPC that the subnets are in."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the database, in at least two zones and without a route to the internet."""
    client_security_group_ids: Mapping[str, pulumi.Input[str]]
    """Groups that may connect, by a short name that stays (`cluster`)."""
    key_arn: pulumi.Input[str]
    """KMS key of the storage, the snapshots, the password's secret, the logs and the query statistics."""
    engine_version: str
    """Major version, or major and minor ("17", "17.6"). Minor versions are upgraded by RDS."""
    instance_class: pulumi.Input[str]
    """RDS instance class, such as `db.t4g.medium`."""
    storage_gib: int
    """Size of the gp3 storage at the start, GiB; at least 20."""
    max_storage_gib: int
    """Size up to which RDS grows the storage, GiB; at least a tenth above `storage_gib`."""
    multi_az: pulumi.Input[bool]
    """Whether a standby in a second zone takes over."""
    backup_retention_days: int
    """Days that daily backups with point-in-time recovery are kept, 1 to 35."""
    deletion_protection: pulumi.Input[bool]
    """Whether AWS refuses to delete the database."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the database."""
    restore_from: NotRequired[str | None]
    """Name or ARN of the snapshot that the database is made from, of one under `key_arn`. Another one, or none, makes
    the database anew. Default: it begins empty."""
    database_name: NotRequired[str]
    """Name of the first database in the instance. Default `mlflow`."""


class Database(pulumi.ComponentResource):
    """A private, encrypted PostgreSQL instance.

    RDS makes the master password, keeps it in Secrets Manager under the environment's key and rotates it every seven
    days, so it is neither in the program nor in the stack's state. Only TLS connections are accepted. Deleting the
    instance leaves a final snapshot.
    """

    identifier: pulumi.Output[str]
    """Identifier of the instance."""
    address: pulumi.Output[str]
    """DNS name of the instance."""
    port: pulumi.Output[int]
    """TCP port that the instance listens on."""
    database_name: pulumi.Output[str]
    """Name of the first database."""
    username: pulumi.Output[str]
    """Name of the master user."""
    secret_arn: pulumi.Output[str]
    """ARN of the secret with the master password."""
    security_group_id: pulumi.Output[str]
    """Id of the instance's security group."""

    def __init__(self, name: str, args: DatabaseArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the field, for a value that RDS would refuse."""
        _check(name, args)
        super().__init__("trainyard:index:Database", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        # A group of its own. Without egress rules nothing leaves: a database has nobody to call.
        group = access_group(
            name,
            service="PostgreSQL",
            description="PostgreSQL",
            port=PORT,
            vpc_id=args["vpc_id"],
            client_security_group_ids=args["client_security_group_ids"],
            parent=self,
        )
        self.security_group_id = group.id
        subnets = rds.SubnetGroup(
            f"{name}-subnets",
            description="Isolated subnets of the database",
            subnet_ids=list(args["subnet_ids"]),
            opts=child,
        )
        parameters = rds.ParameterGroup(
            f"{name}-parameters",
            family=f"postgres{args['engine_version'].split('.')[0]}",
            description="TLS only, with an audit trail",
            parameters=[
                {"name": "rds.force_ssl", "value": "1"},
                {"name": "log_statement", "value": "ddl"},
                {"name": "log_min_duration_statement", "value": "1000"},  # ms
                {"name": "log_connections", "value": "1"},
                {"name": "log_disconnections", "value": "1"},
            ],
            opts=child,
        )
        # RDS would make these groups itself, unencrypted and kept for ever, and leave them behind.
        log_groups = [
            cloudwatch.LogGroup(
                f"{name}-log-{export}",
                name=f"/aws/rds/instance/{name}/{export}",
                retention_in_days=_LOG_RETENTION_DAYS,
                kms_key_id=args["key_arn"],
                opts=child,
            )
            for export in _LOG_EXPORTS
        ]
        monitoring_role, monitoring_policy = self._monitoring_role(name, args)
        instance = rds.Instance(
            name,
            identifier=name,
            engine="postgres",
            snapshot_identifier=args.get("restore_from"),
            engine_version=args["engine_version"],
            instance_class=args["instance_class"],
            parameter_group_name=parameters.name,
            db_name=args.get("database_name", "mlflow"),
            port=PORT,
            username=USERNAME,
            manage_master_user_password=True,
            master_user_secret_kms_key_id=args["key_arn"],
            iam_database_authentication_enabled=True,
            db_subnet_group_name=subnets.name,
            vpc_security_group_ids=[group.id],
            publicly_accessible=False,
            multi_az=args["multi_az"],
            ca_cert_identifier="rds-ca-rsa2048-g1",
            storage_type="gp3",
            allocated_storage=args["storage_gib"],
            max_allocated_storage=args["max_storage_gib"],
            storage_encrypted=True,
            kms_key_id=args["key_arn"],
            backup_retention_period=args["backup_retention_days"],
            backup_window="01:00-02:00",  # UTC
            maintenance_window="sun:03:00-sun:04:00",  # UTC; RDS refuses one that overlaps the backup's
            copy_tags_to_snapshot=True,
            delete_automated_backups=True,
            skip_final_snapshot=False,
            # Unique to this instance, or the second environment of this name could not be destroyed.
            final_snapshot_identifier=pulumi.Output.concat(subnets.name, _final(args.get("restore_from"))),
            deletion_protection=args["deletion_protection"],
            auto_minor_version_upgrade=True,
            allow_major_version_upgrade=False,
            apply_immediately=False,
            database_insights_mode="standard",
            performance_insights_enabled=True,
            performance_insights_kms_key_id=args["key_arn"],
            performance_insights_retention_period=7,  # days; what standard mode includes
            monitoring_interval=MONITORING_SECONDS,
            monitoring_role_arn=monitoring_role.arn,
            enabled_cloudwatch_logs_exports=list(_LOG_EXPORTS),
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=args["protect"],
                delete_before_replace=True,  # the identifier is fixed: the log groups are named after it
                depends_on=[monitoring_policy, *log_groups],
            ),
        )
        self.identifier = instance.identifier
        self.address = instance.address
        self.port = instance.port
        self.database_name = instance.db_name
        self.username = instance.username
        self.secret_arn = instance.master_user_secrets.apply(_secret_arn)
        register(self)

    def _monitoring_role(self, name: str, args: DatabaseArgs) -> tuple[iam.Role, iam.RolePolicyAttachment]:
        role = iam.Role(
            f"{name}-monitoring",
            description="Lets RDS publish the operating system metrics of the database",
            assume_role_policy=service_trust(
                "monitoring.rds.amazonaws.com",
                args["account_id"],
                pulumi.Output.concat("arn:aws:rds:*:", args["account_id"], ":db:", name),
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        attachment = iam.RolePolicyAttachment(
            f"{name}-monitoring-policy",
            role=role.name,
            policy_arn="arn:aws:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole",
            opts=pulumi.ResourceOptions(parent=self),
        )
        return role, attachment


def _final(restored_from: str | None) -> str:
    """How the name of the last snapshot ends: the database that was restored outlives the one before it, whose last
    snapshot has the plain name."""
    return f"-final-{hashlib.sha256(restored_from.encode()).hexdigest()[:6]}" if restored_from else "-final"


def _secret_arn(secrets: Sequence[InstanceMasterUserSecret]) -> str:
    arn = secrets[0].secret_arn if secrets else None
    if arn is None:
        raise ValueError("RDS manages no master password of the database: it has no secret")
    return arn


def _check(name: str, args: DatabaseArgs) -> None:
    # 45: the monitoring role's logical name has 11 more, and IAM allows 56 before Pulumi's suffix.
    if len(name) > 45 or not _NAME.fullmatch(name):
        raise ValueError(
            f"database {name!r}: at most 45 lower-case letters, digits and single hyphens, a letter first, "
            "no hyphen last"
        )
    if not re.fullmatch(r"[1-9][0-9]*(\.[0-9]+)?", args["engine_version"]):
        raise ValueError(f"{name}: engine_version is {args['engine_version']!r}, must be like '17' or '17.6'")
    if not 1 <= args["backup_retention_days"] <= 35:
        raise ValueError(f"{name}: backup_retention_days is {args['backup_retention_days']}, must be 1 to 35")
    if args["storage_gib"] < 20:
        raise ValueError(f"{name}: storage_gib is {args['storage_gib']}, must be at least 20")
    if args["max_storage_gib"] * 10 < args["storage_gib"] * 11:
        raise ValueError(
            f"{name}: max_storage_gib is {args['max_storage_gib']}, must be at least a tenth above "
            f"storage_gib, which is {args['storage_gib']}"
        )
    if len(args["subnet_ids"]) < 2:
        raise ValueError(f"{name}: subnet_ids has {len(args['subnet_ids'])}, must name subnets of two zones or more")
