"""PostgreSQL on Cloud SQL for the tracking server: private, encrypted, backed up in its own region.

The password is made by the program, kept in Secret Manager and given to the database write-only, so that it is in no
state. Cloud SQL rotates none by itself: a higher `password_version` does.
"""

import re
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.secretmanager as secretmanager
import pulumi_gcp.sql as sql
import pulumi_random as random

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

FLAGS = {
    "cloudsql.enable_pgaudit": "on",
    "log_checkpoints": "on",
    "log_connections": "on",
    "log_disconnections": "on",
    "log_duration": "on",
    "log_hostname": "on",
    "log_lock_waits": "on",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "error",
    "log_statement": "ddl",
    "log_temp_files": "0",
}
"""What is logged: what Checkov's CKV_GCP_51 to 57, 108 to 111 and CKV2_GCP_13 to 17 ask for (3.3.30)."""

IAM_LOGIN = {"cloudsql.iam_authentication": "on"}
"""Accounts log in with a token (Cloud SQL, "IAM authentication", as generally known)."""

LOG_DAYS = 7
"""Days of logs by which the database can be brought back to any moment: the most that the edition keeps (Cloud SQL,
"Point-in-time recovery", 2026-11)."""

_CUSTOM = re.compile(r"db-custom-(\d+)-(\d+)")
DATABASE, USER = "mlflow", "mlflow"


class CloudSqlDatabaseArgs(TypedDict):
    """What `CloudSqlDatabase` needs."""

    region: pulumi.Input[str]
    """Region of the instance, its backups and its secret."""
    network_id: pulumi.Input[str]
    """`VpcNetwork.network_id`: the instance is reached from there only."""
    key_id: pulumi.Input[str]
    """Key of the instance, in its region."""
    database_version: str
    """Such as `POSTGRES_18`."""
    tier: str
    """`db-custom-CPUS-MIB`: 1 or an even number of CPUs up to 96, 0.9 to 6.5 GiB each in steps of 256 MiB."""
    disk_gib: int
    """Size of the disk, GiB; it grows by itself."""
    max_disk_gib: int
    """How far the disk grows, GiB."""
    highly_available: bool
    """Whether a standby in another zone takes over."""
    backup_days: int
    """How many daily backups are kept, 1 to 365."""
    labels: dict[str, pulumi.Input[str]]
    """Labels on the bill, which a provider's defaults do not reach."""
    deletion_protection: bool
    """Whether a destroy, or a change that replaces the instance, is refused."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the instance."""
    iam_login: NotRequired[bool]
    """Whether accounts of Google Cloud may be its users too, with a token in place of a password. Default: no."""
    password_version: NotRequired[int]
    """A higher number is another password. Default: 1."""


class CloudSqlDatabase(pulumi.ComponentResource):
    """The instance with one database and one user.

    `depends_on` is what it waits for: `VpcNetwork.private`, services, the rights of Cloud SQL and of Secret Manager on
    the key.
    """

    instance_name: pulumi.Output[str]
    """Name of the instance."""
    address: pulumi.Output[str]
    """Private address of the instance."""
    connection_name: pulumi.Output[str]
    """PROJECT:REGION:INSTANCE."""
    password: pulumi.Output[str]
    """Password of the user, secret."""
    secret_id: pulumi.Output[str]
    """Id of the secret that holds the password: projects/PROJECT/locations/REGION/secrets/NAME."""
    secret_name: pulumi.Output[str]
    """Name of that secret alone."""
    server_ca: pulumi.Output[str]
    """Certificates of the instance's own authority, PEM: the one that signs today, and the next as soon as it is there.
    The server's certificate names the instance and not its address: libpq's `verify-ca` is how it is checked."""

    def __init__(self, name: str, args: CloudSqlDatabaseArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a tier, disk or number of backups that Cloud SQL refuses."""
        super().__init__("trainyard:index:CloudSqlDatabase", name, None, opts)
        _check(args)
        child = pulumi.ResourceOptions(parent=self)
        version = args.get("password_version", 1)
        flags = FLAGS | (IAM_LOGIN if args.get("iam_login", False) else {})
        password = random.RandomPassword(
            f"{name}-password", length=40, special=False, keepers={"version": str(version)}, opts=child
        )
        instance = sql.DatabaseInstance(
            name,
            region=args["region"],
            database_version=args["database_version"],
            encryption_key_name=args["key_id"],
            deletion_protection=args["deletion_protection"],
            settings={
                # Newer versions of PostgreSQL default to an edition that takes no custom tier.
                "edition": "ENTERPRISE",
                "tier": args["tier"],
                "availability_type": "REGIONAL" if args["highly_available"] else "ZONAL",
                "disk_type": "PD_SSD",
                "disk_size": args["disk_gib"],
                "disk_autoresize": True,
                "disk_autoresize_limit": args["max_disk_gib"],
                "user_labels": args["labels"],
                "deletion_protection_enabled": args["deletion_protection"],
                "retain_backups_on_delete": True,
                "ip_configuration": {
                    "ipv4_enabled": False,
                    "private_network": args["network_id"],
                    "ssl_mode": "ENCRYPTED_ONLY",
                    # An authority for this one instance: whoever has a certificate of it is the instance. One that a
                    # region shares signs for everybody's instances there.
                    "server_ca_mode": "GOOGLE_MANAGED_INTERNAL_CA",
                    "enable_private_path_for_google_cloud_services": False,
                },
                "backup_configuration": {
                    "enabled": True,
                    "start_time": "03:00",
                    "location": args["region"],  # its default is a multi-region
                    "point_in_time_recovery_enabled": True,
                    # No more days of logs than there are backups for them to go on from.
                    "transaction_log_retention_days": min(LOG_DAYS, args["backup_days"]),
                    "backup_retention_settings": {"retained_backups": args["backup_days"], "retention_unit": "COUNT"},
                },
                "maintenance_window": {"day": 7, "hour": 4, "update_track": "stable"},
                "insights_config": {"query_insights_enabled": True},
                "database_flags": [{"name": key, "value": value} for key, value in sorted(flags.items())],
            },
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"], depends_on=prerequisites(opts)),
        )
        kept = pulumi.ResourceOptions(parent=self, protect=args["protect"])
        database = sql.Database(f"{name}-{DATABASE}", name=DATABASE, instance=instance.name, opts=kept)
        sql.User(
            f"{name}-{USER}",
            name=USER,
            instance=instance.name,
            password_wo=password.result,
            password_wo_version=version,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[database]),
        )
        secret = secretmanager.RegionalSecret(
            f"{name}-password",
            secret_id=f"{name}-password",
            location=args["region"],
            labels=args["labels"],
            customer_managed_encryption={"kms_key_name": args["key_id"]},
            opts=pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=prerequisites(opts))),
        )
        secretmanager.RegionalSecretVersion(
            f"{name}-password",
            secret=secret.id,
            secret_data_wo=password.result,
            secret_data_wo_version=str(version),
            opts=child,
        )
        self.instance_name = instance.name
        self.address = instance.private_ip_address
        self.connection_name = instance.connection_name
        self.password = pulumi.Output.secret(password.result)
        self.secret_id, self.secret_name = secret.id, secret.secret_id
        # All that Cloud SQL trusts for the instance, the next one among them: what the instance itself says is the one
        # in use, and a client that knows no other is shut out by a rotation.
        trusted = sql.get_ca_certs_output(
            instance=instance.name, opts=pulumi.InvokeOutputOptions(parent=self, depends_on=[instance])
        )
        self.server_ca = trusted.certs.apply(lambda found: bundle([each.cert for each in found]))
        register(self)


def bundle(certificates: list[str]) -> str:
    """Certificates as one file, in an order that does not come and go. Raises RuntimeError where there is none."""
    if not certificates:
        raise RuntimeError("Cloud SQL lists no authority for the certificate of its instance: nobody could check it")
    return "".join(f"{text}\n" for text in sorted(text.strip() for text in certificates))


def _check(args: CloudSqlDatabaseArgs) -> None:
    match = _CUSTOM.fullmatch(args["tier"])
    cpus, mib = (int(match[1]), int(match[2])) if match else (0, 0)
    fits = cpus == 1 or (cpus % 2 == 0 and 2 <= cpus <= 96)
    if not fits or mib % 256 or mib < 3840 or not 0.9 * 1024 * cpus <= mib <= 6.5 * 1024 * cpus:
        raise ValueError(
            f"tier: got {args['tier']!r}; db-custom-CPUS-MIB with 1 or an even number of CPUs up to 96, and 0.9 to 6.5 "
            "GiB each in steps of 256 MiB, 3840 at least"
        )
    if not 10 <= args["disk_gib"] <= args["max_disk_gib"]:
        raise ValueError(f"disk_gib: got {args['disk_gib']}; 10 up to max_disk_gib, which is {args['max_disk_gib']}")
    if not 1 <= args["backup_days"] <= 365:
        raise ValueError(f"backup_days: got {args['backup_days']}; 1 to 365")
    if not re.fullmatch(r"POSTGRES_(1[4-9]|2\d)", args["database_version"]):
        raise ValueError(f"database_version: got {args['database_version']!r}; such as POSTGRES_18")
