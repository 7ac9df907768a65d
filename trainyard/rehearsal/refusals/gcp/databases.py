"""Cloud SQL: backups, flags, users and databases.

Source: Google's documentation of Cloud SQL for PostgreSQL as generally known (autumn 2026); descriptions in pulumi_gcp
10.2.0. Flags: those of the service's own list that environments set, with what they take.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Final

from trainyard.catalog import gcp as catalog
from trainyard.problems import count, nearest
from trainyard.recorded.types import CLOUD_SQL, GCP_DATABASE_USER, GCP_SQL_DATABASE, GKE_CLUSTER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_ON: Final = ("on", "off")
_LEVELS: Final = (
    "debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "error", "log", "fatal", "panic",
)  # fmt: skip
_FLAGS: Final[Mapping[str, tuple[str, ...] | str]] = {
    **dict.fromkeys(
        (
            "cloudsql.enable_pgaudit", "cloudsql.iam_authentication", "cloudsql.logical_decoding", "log_checkpoints",
            "log_connections", "log_disconnections", "log_duration", "log_hostname", "log_lock_waits", "autovacuum",
            "enable_hashjoin", "enable_seqscan", "log_executor_stats", "log_parser_stats", "log_planner_stats",
            "log_statement_stats", "track_activities", "track_counts", "track_io_timing", "hot_standby_feedback",
            "cloudsql.enable_pg_cron", "cloudsql.enable_pglogical", "cloudsql.enable_auto_explain",
            "cloudsql.enable_pg_hint_plan", "cloudsql.enable_anon", "cloudsql.enable_maintenance_mode",
            "cloudsql.pg_shadow_select_role", "cloudsql.enable_google_ml_integration", "pgaudit.log_catalog",
            "pgaudit.log_client", "pgaudit.log_parameter", "pgaudit.log_relation", "pgaudit.log_rows",
            "pgaudit.log_statement", "pgaudit.log_statement_once", "log_autovacuum_stats", "wal_compression",
            "log_recovery_conflict_waits", "log_replication_commands", "password.enforce_complexity",
        ),
        _ON,
    ),
    "log_statement": ("none", "ddl", "mod", "all"),
    "log_min_error_statement": _LEVELS,
    "log_min_messages": _LEVELS,
    "client_min_messages": _LEVELS,
    "log_error_verbosity": ("terse", "default", "verbose"),
    "default_transaction_isolation": ("serializable", "repeatable read", "read committed", "read uncommitted"),
    "track_functions": ("none", "pl", "all"),
    **dict.fromkeys(
        (
            "log_min_duration_statement", "log_temp_files", "max_connections", "work_mem", "maintenance_work_mem",
            "shared_buffers", "effective_cache_size", "statement_timeout", "lock_timeout", "temp_file_limit",
            "idle_in_transaction_session_timeout", "deadlock_timeout", "max_wal_size", "min_wal_size",
            "max_worker_processes",
            "max_parallel_workers", "max_parallel_workers_per_gather", "max_parallel_maintenance_workers",
            "checkpoint_timeout", "wal_buffers", "max_locks_per_transaction", "max_prepared_transactions",
            "max_replication_slots", "max_wal_senders", "autovacuum_max_workers", "autovacuum_naptime",
            "autovacuum_vacuum_threshold", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count",
            "log_autovacuum_min_duration", "log_rotation_age", "log_rotation_size", "track_activity_query_size",
            "default_statistics_target", "effective_io_concurrency", "huge_page_size", "random_seed",
        ),
        "a whole number",
    ),
}  # fmt: skip
"""Flags of PostgreSQL on Cloud SQL, with their values, or with what they are."""


_INSIGHTS: Final[Mapping[str, tuple[int, int]]] = {"queryStringLength": (256, 4500), "queryPlansPerMinute": (0, 20)}
"""Bytes of a query and plans a minute that are kept (Cloud SQL, "Use query insights", Enterprise edition)."""


def database(view: View) -> None:
    """Backups that are kept for as long as the edition keeps them, and flags that are some."""
    _backups(view)
    _insights(view)
    _size(view)
    _networks(view)
    if (view.text("databaseVersion") or "").startswith("POSTGRES"):
        _flags(view)
    cluster_regions = {
        text if text in catalog.regions() else text.rpartition("-")[0]
        for each in view.stack.of_type(GKE_CLUSTER)
        if (text := each.text("location")) is not None
    }
    region = view.text("region")
    alone = view.lacks("masterInstanceName") and len(view.stack.of_type(CLOUD_SQL)) == 1
    if region in catalog.regions() and cluster_regions and region not in cluster_regions and alone:
        words, allowed = f"{region}; the cluster is in {', '.join(sorted(cluster_regions))}", "the cluster's region"
        view.warning("gcp-region", "region", words, allowed=allowed)


def _insights(view: View) -> None:
    """What is kept of queries, which is less where the edition is not Enterprise Plus."""
    if view.value("settings.edition") != "ENTERPRISE":
        return
    for key, (least, most) in _INSIGHTS.items():
        path = f"settings.insightsConfig.{key}"
        given = view.number(path)
        if given is not None and not least <= given <= most:
            allowed = f"{least} to {most} in edition ENTERPRISE"
            view.error("gcp-sql-insights", path, show(given), allowed=allowed)


def _networks(view: View) -> None:
    """Who may come from the internet: public addresses, where the instance has one itself (Cloud SQL, "Authorize with
    authorized networks")."""
    base = "settings.ipConfiguration"
    for path, entry in view.items(f"{base}.authorizedNetworks"):
        text = entry.get("value")
        try:
            network = ipaddress.ip_network(text, strict=False) if isinstance(text, str) else None
        except ValueError:
            continue
        if network is not None and network.version == 4 and network.is_private and network.prefixlen > 0:
            words = f"{text} is private: nobody comes from there over the internet"
            view.error("gcp-sql-networks", f"{path}.value", words, allowed="public addresses, or privateNetwork")
        elif view.flag(f"{base}.ipv4Enabled") is False:
            view.warning("gcp-sql-networks", path, "beside ipv4Enabled false", allowed="nothing, or ipv4Enabled")


def _backups(view: View) -> None:
    base = "settings.backupConfiguration"
    kept = view.number(f"{base}.backupRetentionSettings.retainedBackups")
    if kept is not None and not 1 <= kept <= 365:
        view.error("gcp-sql-backups", f"{base}.backupRetentionSettings.retainedBackups", show(kept), allowed="1 to 365")
    days = view.number(f"{base}.transactionLogRetentionDays")
    plus = view.value("settings.edition") == "ENTERPRISE_PLUS" or view.lacks("settings.edition")
    most = 35 if plus else 7
    if days is not None and not view.is_unknown("settings.edition") and not 1 <= days <= most:
        path, allowed = f"{base}.transactionLogRetentionDays", f"1 to {most} days in this edition"
        view.error("gcp-sql-backups", path, show(days), allowed=allowed)
    elif (
        days is not None
        and kept is not None
        and days > kept
        and view.value(f"{base}.backupRetentionSettings.retentionUnit") != "UNSPECIFIED"
    ):
        path = f"{base}.transactionLogRetentionDays"
        words = f"{count(round(days), 'day')} of logs; {count(round(kept), 'backup')} are kept"
        view.error("gcp-sql-backups", path, words, allowed=f"at most {kept:.0f}")
    if view.flag(f"{base}.pointInTimeRecoveryEnabled") and view.flag(f"{base}.enabled") is False:
        view.error("gcp-sql-backups", f"{base}.pointInTimeRecoveryEnabled", "without backups", allowed="enabled: true")
    postgres = (view.text("databaseVersion") or "").startswith("POSTGRES")
    if postgres and view.flag(f"{base}.binaryLogEnabled"):
        view.error("gcp-sql-backups", f"{base}.binaryLogEnabled", "of PostgreSQL", allowed="pointInTimeRecoveryEnabled")
    mysql = (view.text("databaseVersion") or "").startswith("MYSQL")
    if mysql and view.flag(f"{base}.pointInTimeRecoveryEnabled"):
        view.error("gcp-sql-backups", f"{base}.pointInTimeRecoveryEnabled", "of MySQL", allowed="binaryLogEnabled")


def _size(view: View) -> None:
    size, limit = view.number("settings.diskSize"), view.number("settings.diskAutoresizeLimit")
    for path, number in (("settings.diskSize", size), ("settings.diskAutoresizeLimit", limit)):
        if number is not None and number > 65_536:
            view.error("gcp-sql-disk", path, show(number), allowed="at most 65536 GB")
    tier = view.text("settings.tier") or ""
    if re.fullmatch(r"db-(f1-micro|g1-small)", tier) and size is not None and size > 3062:
        view.error("gcp-sql-disk", "settings.diskSize", f"{size:.0f} of {tier}", allowed="at most 3062 GB")
    match = re.fullmatch(r"db-perf-optimized-N-(\d+)", tier)
    if tier.startswith("db-perf-optimized-") and (
        match is None or int(match[1]) not in (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)
    ):
        allowed = "db-perf-optimized-N- and 2, 4, 8, 16, 32, 48, 64, 80, 96 or 128"
        view.error("gcp-sql-tier", "settings.tier", show(tier), allowed=allowed)


def _flags(view: View) -> None:
    names: list[str] = []
    for path, entry in view.items("settings.databaseFlags"):
        name, value = entry.get("name"), entry.get("value")
        if not isinstance(name, str):
            continue
        if name in names:
            view.error("gcp-sql-flag", f"{path}.name", f"{show(name)} is there twice", allowed="each flag once")
        names.append(name)
        known = _FLAGS.get(name)
        if known is None:
            hint = nearest(name, _FLAGS, 0.72)
            if hint:
                view.error("gcp-sql-flag", f"{path}.name", f"{show(name)} is no flag that is known", hint=hint)
        elif isinstance(value, str) and isinstance(known, tuple) and value not in known:
            view.error("gcp-sql-flag", f"{path}.value", f"{show(value)} of {name}", allowed=", ".join(known))
        elif isinstance(value, str) and isinstance(known, str) and not re.fullmatch(r"-?\d+", value):
            view.error("gcp-sql-flag", f"{path}.value", f"{show(value)} of {name}", allowed=known)


def user(view: View) -> None:
    """A user that can log in: with a password, or as an account that IAM knows."""
    kind, name = view.text("type"), view.text("name")
    path = next((path for path in ("password", "passwordWo") if view.has(path)), None)
    if kind is not None and kind.startswith("CLOUD_IAM") and path is not None:
        view.error("gcp-sql-user", path, f"of a user of type {kind}", allowed="nothing: IAM lets it in")
    if name is None:
        return
    if kind == "CLOUD_IAM_SERVICE_ACCOUNT" and name.endswith(".gserviceaccount.com"):
        allowed = name.removesuffix(".gserviceaccount.com")
        view.error("gcp-sql-user", "name", show(name), allowed=f"{allowed}: PostgreSQL's names are short")
    elif kind in ("CLOUD_IAM_USER", "CLOUD_IAM_GROUP", "CLOUD_IAM_SERVICE_ACCOUNT") and "@" not in name:
        view.error("gcp-sql-user", "name", show(name), allowed="an address")
    elif kind in (None, "BUILT_IN") and (not name or len(name) > 63 or name.startswith(("pg_", "cloudsql"))):
        allowed = "1 to 63 characters, not 'pg_' or 'cloudsql' first"
        view.error("gcp-sql-user", "name", show(name), allowed=allowed)


def schema(view: View) -> None:
    """A database's name, characters and order."""
    name = view.text("name")
    if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}", name):
        allowed = "1 to 63 letters, digits, '_', '$' and '-', a letter or '_' first"
        view.error("gcp-sql-name", "name", show(name), allowed=allowed)
    of = view.referred("instance", CLOUD_SQL)
    postgres = of is not None and (of.text("databaseVersion") or "").startswith("POSTGRES")
    charset = view.text("charset")
    if postgres and charset is not None and charset.upper() not in ("UTF8", "SQL_ASCII", "LATIN1"):
        view.error("gcp-sql-charset", "charset", show(charset), allowed="UTF8")


RULES: Rules = {
    database: (CLOUD_SQL,),
    user: (GCP_DATABASE_USER,),
    schema: (GCP_SQL_DATABASE,),
}
