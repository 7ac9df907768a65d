"""RDS instances: inputs that go together, reserved names, windows.

Source: RDS user guide as generally known; the length of the identifier is refused by moto too (2026-11-21).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import (
    DATABASE,
    DATABASE_CLUSTER,
    DATABASE_CLUSTER_INSTANCE,
    DATABASE_PARAMETERS,
    DATABASE_SUBNETS,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.eks import zones_of
from trainyard.rehearsal.refusals.rules import Rules

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_RESERVED_USERS = {
    "postgres": {"admin", "rdsadmin", "rds_superuser", "rdsrepladmin", "rdstopmgr", "public", "none"},
    "mysql": {"rdsadmin", "rdsrepladmin"},
    "mariadb": {"rdsadmin", "rdsrepladmin"},
}
_LOGS = {
    "postgres": ("postgresql", "upgrade", "iam-db-auth-error"),
    "mysql": ("audit", "error", "general", "slowquery", "iam-db-auth-error"),
    "mariadb": ("audit", "error", "general", "slowquery"),
}
_WEEK = 7 * 24 * 60


def together(view: View) -> None:
    """Inputs that need or exclude each other."""
    managed = view.flag("manageMasterUserPassword")
    for key in ("password", "passwordWo"):
        if managed and view.has(key):
            view.error("rds-password", key, "given beside manageMasterUserPassword", allowed="one of them")
    copied = any(
        view.has(key) for key in ("replicateSourceDb", "snapshotIdentifier", "restoreToPointInTime", "s3Import")
    )
    if not copied:
        if (
            not managed
            and not view.is_unknown("manageMasterUserPassword")
            and view.lacks("password")
            and view.lacks("passwordWo")
        ):
            view.error(
                "rds-password",
                "manageMasterUserPassword",
                "no password",
                allowed="manageMasterUserPassword, or a password",
            )
        for key in ("username", "engine", "allocatedStorage"):
            if view.lacks(key):
                view.error("rds-required", key, "is missing", allowed="needed unless the database is a copy")
    interval = view.number("monitoringInterval")
    if interval and view.lacks("monitoringRoleArn"):
        view.error(
            "rds-monitoring",
            "monitoringRoleArn",
            f"is missing with monitoringInterval {interval:g}",
            allowed="the ARN of a role that trusts monitoring.rds.amazonaws.com",
        )
    if view.has("monitoringRoleArn") and interval == 0:
        view.error("rds-monitoring", "monitoringInterval", "0 with a monitoring role", allowed="1, 5, 10, 15, 30 or 60")
    if (
        view.has("kmsKeyId")
        and not view.flag("storageEncrypted")
        and not view.is_unknown("storageEncrypted")
        and not copied
    ):
        view.error("rds-encrypted", "storageEncrypted", "a key is given without encryption", allowed="true")
    insights = view.flag("performanceInsightsEnabled")
    for key in ("performanceInsightsKmsKeyId", "performanceInsightsRetentionPeriod"):
        if view.has(key) and not insights and not view.is_unknown("performanceInsightsEnabled"):
            view.error(
                "rds-insights", key, "given without performanceInsightsEnabled", allowed="performanceInsightsEnabled"
            )
    if (
        not view.flag("skipFinalSnapshot")
        and not view.is_unknown("skipFinalSnapshot")
        and view.lacks("finalSnapshotIdentifier")
    ):
        view.error(
            "rds-final-snapshot",
            "finalSnapshotIdentifier",
            "is missing: the database could not be destroyed",
            allowed="a name, or skipFinalSnapshot",
        )


def engine(view: View) -> None:
    """User names, logs, database names and versions by engine."""
    name = view.text("engine")
    if name is None or name not in _LOGS:
        return
    user = view.text("username")
    if user is not None:
        if user.lower() in _RESERVED_USERS[name] or (name == "postgres" and user.lower().startswith("pg_")):
            view.error("rds-username", "username", f"{show(user)} is reserved by {name}", allowed="another name")
        elif not re.fullmatch(r"[A-Za-z]\w{0,62}", user) or (name == "mysql" and len(user) > 16):
            view.error(
                "rds-username", "username", f"got {show(user)}", allowed="letters, digits and '_', begins with a letter"
            )
    for index, log in enumerate(view.entries("enabledCloudwatchLogsExports")):
        if isinstance(log, str) and log not in _LOGS[name]:
            view.error(
                "rds-logs",
                f"enabledCloudwatchLogsExports[{index}]",
                f"{show(log)} is no log of {name}",
                allowed=f"one of {', '.join(_LOGS[name])}",
                hint=nearest(log, _LOGS[name]),
            )
    database = view.text("dbName")
    if database is not None and not re.fullmatch(
        r"[A-Za-z_]\w{0,62}" if name == "postgres" else r"[A-Za-z]\w{0,63}", database
    ):
        view.error(
            "rds-db-name", "dbName", f"got {show(database)}", allowed="letters, digits and '_', begins with a letter"
        )
    version = view.text("engineVersion")
    if version is not None and name == "postgres" and not re.fullmatch(r"\d\d(\.\d+)?(-R\d+)?|9\.6\.\d+", version):
        view.error("rds-version", "engineVersion", f"got {show(version)}", allowed="must look like 17 or 17.6")


def storage(view: View) -> None:
    """Storage sizes and what belongs to a storage type."""
    size, most = view.number("allocatedStorage"), view.number("maxAllocatedStorage")
    if size is not None and most not in (None, 0) and most is not None and most < size:
        view.error(
            "rds-storage",
            "maxAllocatedStorage",
            f"{most:g} is below allocatedStorage {size:g}",
            allowed=f"0, or at least {size:g} GiB",
        )
    kind = view.text("storageType")
    if kind in ("gp3", "io1", "io2") and size is not None and size < (20 if kind == "gp3" else 100):
        view.error(
            "rds-storage",
            "allocatedStorage",
            f"got {size:g} GiB for {kind}",
            allowed=f"at least {20 if kind == 'gp3' else 100}",
        )
    if view.has("storageThroughput") and kind not in ("gp3", None):
        view.error("rds-storage", "storageThroughput", f"given for {kind}", allowed="gp3")
    if kind in ("io1", "io2") and view.lacks("iops"):
        view.error("rds-storage", "iops", f"is missing for {kind}", allowed="needed with io1 and io2")
    if kind == "gp3" and size is not None and size < 400 and (view.has("iops") or view.has("storageThroughput")):
        view.error(
            "rds-storage",
            "iops",
            f"given for gp3 of {size:g} GiB",
            allowed="from 400 GiB on; below, 3000 IOPS are fixed",
        )


def _minutes(text: str) -> tuple[int, int] | None:
    """A window as minutes of the week; a daily one as minutes of the day."""
    found = re.fullmatch(r"(?:([a-z]{3}):)?(\d\d):(\d\d)-(?:([a-z]{3}):)?(\d\d):(\d\d)", text.lower())
    if found is None or bool(found[1]) != bool(found[4]):
        return None
    span = _WEEK if found[1] else 24 * 60
    try:
        days = (_DAYS.index(found[1]) if found[1] else 0, _DAYS.index(found[4]) if found[4] else 0)
    except ValueError:
        return None
    start = days[0] * 1440 + int(found[2]) * 60 + int(found[3])
    end = days[1] * 1440 + int(found[5]) * 60 + int(found[6])
    return start, end if end > start else end + span


def windows(view: View) -> None:
    """Long enough, and the maintenance window apart from every day's backup window."""
    backup, maintenance = view.text("backupWindow"), view.text("maintenanceWindow")
    daily = _minutes(backup) if backup else None
    weekly = _minutes(maintenance) if maintenance else None
    for path, window in (("backupWindow", daily), ("maintenanceWindow", weekly)):
        if window is not None and window[1] - window[0] < 30:
            view.error("rds-window", path, f"{window[1] - window[0]} minutes long", allowed="at least 30 minutes")
    if daily is None or weekly is None or view.number("backupRetentionPeriod") == 0:
        return
    for day in range(-1, 8):
        start, end = daily[0] + day * 1440, daily[1] + day * 1440
        if any(start < weekly[1] + shift and weekly[0] + shift < end for shift in (-_WEEK, 0)):
            view.error(
                "rds-window-overlap",
                "maintenanceWindow",
                f"{maintenance} overlaps the backup window {backup}",
                allowed="windows apart",
            )
            return


def subnet_group(view: View) -> None:
    """The subnets of a DB subnet group lie in at least two zones."""
    zones = zones_of(view, "subnetIds")
    if zones is not None and len(zones) == 1:
        view.error(
            "rds-zones", "subnetIds", f"all in zone {next(iter(zones))}", allowed="subnets in at least two zones"
        )


_BEGINS: Final = {
    "mysql": (
        "innodb_",
        "binlog_",
        "slow_query_log",
        "character_set_",
        "max_allowed_packet",
        "sql_mode",
        "performance_schema",
    ),
    "postgres": ("log_min_", "log_statement", "pgaudit.", "work_mem", "shared_preload_libraries", "autovacuum"),
}
"""How parameters begin that one engine alone has."""


def parameter_group(view: View) -> None:
    """Family against the engine of the instances that use it; no parameter twice."""
    family = view.text("family")
    for other in view.stack.of_type(DATABASE):
        version, name = other.text("engineVersion"), other.text("engine")
        if family and version and name == "postgres" and other.referred("parameterGroupName", view.type) is view:
            wanted = f"postgres{version.partition('.')[0]}"
            if family != wanted:
                view.error(
                    "rds-family",
                    "family",
                    f"got {show(family)}, used by {other.name} of version {version}",
                    allowed=wanted,
                )
    seen: set[str] = set()
    for path, entry in view.items("parameters"):
        name = entry.get("name")
        if isinstance(name, str) and name in seen:
            view.error("rds-parameter", f"{path}.name", f"{show(name)} is given twice", allowed="each parameter once")
        if isinstance(name, str):
            seen.add(name)
            engine = next((engine for engine, begins in _BEGINS.items() if name.startswith(begins)), "")
            own = (engine, f"aurora-{engine}", *(("mariadb",) if engine == "mysql" else ()))
            if family and engine and not family.startswith(own):
                message = f"{show(name)} is of {engine}, and the family is {family}: it is refused"
                view.error("rds-parameter", f"{path}.name", message, allowed=f"a parameter of {family}")


_LIBRARIES: Final = ("auto_explain", "pg_cron", "pg_hint_plan", "pg_partman_bgw", "pgaudit", "pglogical")
"""Extensions of PostgreSQL whose parameters do nothing before they are preloaded (Amazon RDS User Guide, "Supported
PostgreSQL extensions"); `pg_stat_statements` is preloaded by RDS itself."""
_SPACES: Final = {"cron": "pg_cron"}


def preloaded(view: View) -> None:
    """A parameter of an extension stands beside the extension in the list of what is preloaded."""
    given = {str(entry.get("name")): entry.get("value") for _, entry in view.items("parameters")}
    loaded = given.get("shared_preload_libraries", "")
    if not isinstance(loaded, str) or view.blurred("parameters"):
        return
    for path, entry in view.items("parameters"):
        space, dot, _ = str(entry.get("name")).partition(".")
        library = _SPACES.get(space, space)
        if dot and library in _LIBRARIES and library not in [one.strip() for one in loaded.split(",")]:
            view.warning(
                "rds-preload", f"{path}.name", f"is of {library}, which is not preloaded: it does nothing",
                allowed=f"shared_preload_libraries with {library}, pending-reboot",
            )  # fmt: skip


def serverless(view: View) -> None:
    """Instances of Aurora Serverless are made in a cluster that says how much capacity they may have.

    Amazon Aurora User Guide, "Creating a DB cluster that uses Aurora Serverless v2" (2026-11). A range of provisioned
    instances has no effect.
    """
    cluster = view.referred("clusterIdentifier", DATABASE_CLUSTER)
    path = "serverlessv2ScalingConfiguration"
    if view.text("instanceClass") == "db.serverless" and cluster is not None and not cluster.resource.read:
        if cluster.lacks(path) and cluster.text("engineMode") in (None, "provisioned"):
            told = f"is missing, and instance {view.name} is of db.serverless"
            cluster.error("rds-serverless", path, told, allowed="minCapacity and maxCapacity")
        elif cluster.text("engineMode") == "serverless":
            told = f"is serverless (v1), which has no instances, and {view.name} is one"
            cluster.error("rds-serverless", "engineMode", told, allowed="provisioned")


RULES: Final[Rules] = {
    serverless: (DATABASE_CLUSTER_INSTANCE,),
    preloaded: (DATABASE_PARAMETERS, "aws:rds/clusterParameterGroup:ClusterParameterGroup"),
    together: (DATABASE,),
    engine: (DATABASE,),
    storage: (DATABASE,),
    windows: (DATABASE,),
    subnet_group: (DATABASE_SUBNETS,),
    parameter_group: (DATABASE_PARAMETERS,),
}
