"""A database of RDS: its class and its parameters against its engine, its version and its family.

Parameters: `postgres_parameters.csv`, made from what PostgreSQL says of itself, with the names that later versions
brought. Classes: RDS user guide, "Supported DB engines for DB instance classes", as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from trainyard.catalog.tables import rows
from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import DATABASE, DATABASE_PARAMETERS
from trainyard.rehearsal.context import Stack, View, show

_CLASS = re.compile(r"db\.([a-z]+\d+[a-z]*)\.([a-z0-9.]+)")
_SIZE = re.compile(r"micro|small|medium|large|\d*xlarge|\d+xlarge\.tpc\d.mem\dx|metal")
_OLD: Final = frozenset({"m1", "m2", "m3", "m4", "r3", "r4", "t1", "t2"})
"""Generations that no version of PostgreSQL from 13 on runs on."""

_FAMILIES: Final = frozenset({
    "t3", "t4g", "m5", "m5d", "m6g", "m6gd", "m6i", "m6id", "m6idn", "m6in", "m7g", "m7i", "m8g", "m8gd", "r5", "r5b",
    "r5d", "r6g", "r6gd", "r6i", "r6id", "r6idn", "r6in", "r7g", "r7i", "r8g", "r8gd", "x1", "x1e", "x2g", "x2idn",
    "x2iedn", "x2iezn", "z1d", "c6gd",
})  # fmt: skip
"""Families of classes (RDS user guide, "DB instance class types", as generally known, 2026-11). Which region has which
is in no document that stays: a class that a region lacks is not told."""

_MOST_MINORS: Final = 30
"""More than any major version of PostgreSQL gets in the five years that it is kept (9.6 got 24)."""

_FIRST_MINORS: Final = {13: 1, 14: 1, 15: 2, 16: 1, 17: 1, 18: 1}
"""The first version of each major one that RDS took out of its preview (RDS for PostgreSQL release notes, as generally
known, 2026-11): there never was a .0."""
_WITHDRAWN: Final = {14: 17, 15: 12, 16: 8, 17: 4}
"""The last minor version of each major one that no instance is made of since 2026-05-01, and that those which run are
brought forward from (an operator's notice of AWS's announcement, lucaberton.com, read 2026-11)."""
_SINCE: Final = {
    "m6g": {13: 0, 12: 3}, "r6g": {13: 0, 12: 3}, "m7g": {14: 0, 13: 4}, "r7g": {14: 0, 13: 4}, "m6i": {14: 0, 13: 4},
    "r6i": {14: 0, 13: 4},
}  # fmt: skip
"""From which minor version of each major one, and of all later ones, PostgreSQL runs on a class (RDS user guide,
"Supported DB engines for DB instance classes", as generally known, 2026-11)."""

_EXPIRED: Final = frozenset({"rds-ca-2015", "rds-ca-2019"})
"""Authorities that ended on 2020-03-05 and 2024-08-22."""

_STEP_GIB: Final = 10
_STEP: Final = 0.1
"""How much storage grows at once by itself: 10 GiB or a tenth, whichever is more (RDS user guide, "Managing capacity
automatically with Amazon RDS storage autoscaling", 2026-11)."""

_ADVANCED_DAYS: Final = 465
"""Days that Database Insights keeps in its advanced mode: RDS refuses fewer, "set the retention period for Performance
Insights to at least 465 days" (pulumi-aws issue 5286, terraform-provider-aws issue 41952, read 2026-11)."""

_SIZES_OF_T4G: Final = ("micro", "small", "medium", "large", "xlarge", "2xlarge")
_BOOLEANS: Final = ("0", "1", "on", "off", "true", "false")
_LEVELS: Final = (
    "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error", "info", "fatal", "panic",
)  # fmt: skip
_CHOICES: Final = {
    "bytea_output": ("escape", "hex"),
    "client_min_messages": _LEVELS,
    "constraint_exclusion": ("partition", *_BOOLEANS),
    "default_transaction_isolation": ("serializable", "repeatable read", "read committed", "read uncommitted"),
    "log_error_verbosity": ("terse", "default", "verbose"),
    "log_min_error_statement": _LEVELS,
    "log_min_messages": _LEVELS,
    "log_statement": ("none", "ddl", "mod", "all"),
    "password_encryption": ("md5", "scram-sha-256"),
    "plan_cache_mode": ("auto", "force_generic_plan", "force_custom_plan"),
    "session_replication_role": ("origin", "replica", "local"),
    "synchronous_commit": ("local", "remote_write", "remote_apply", *_BOOLEANS),
    "track_functions": ("none", "pl", "all"),
}
"""What a parameter may be that is one of several words (PostgreSQL documentation of 13 to 18, as generally known)."""
_MILLISECONDS: Final = (100.0, "milliseconds", "at least a second, such as 30000, or 0 for no limit")
_LEAST: Final[Mapping[str, tuple[float, str, str]]] = {
    "statement_timeout": _MILLISECONDS,
    "transaction_timeout": _MILLISECONDS,
    "idle_in_transaction_session_timeout": _MILLISECONDS,
    "idle_session_timeout": _MILLISECONDS,
    "maintenance_work_mem": (8192.0, "kB", "at least 65536, which is its default"),
    "work_mem": (1024.0, "kB", "at least 4096, which is its default"),
    "shared_buffers": (4096.0, "pages of 8 kB", "a quarter of the memory, as RDS sets it by itself"),
    "max_wal_size": (32.0, "MB", "at least 1024, which is its default"),
}
"""By parameter the least that anybody means, its unit, and what is usual: one in seconds or MB is far below (PostgreSQL
documentation, "Resource Consumption", "Client Connection Defaults" and "Write Ahead Log", 2026-11)."""
_SWITCHES: Final = ("rds.force_ssl", "rds.logical_replication")
"""Parameters of RDS itself that are 0 or 1, and no word."""
_WORDS: Final = ("on", "off", "true", "false", "yes", "no")
_AT_START: Final = frozenset({
    "cron.database_name", "cron.log_run", "cron.log_statement", "cron.max_running_jobs", "cron.use_background_workers",
    "pg_stat_statements.max", "rds.logical_replication",
})  # fmt: skip
"""Parameters of RDS itself and of libraries that are read when the database starts (RDS user guide, "Performing logical
replication" and "pg_cron parameters"; PostgreSQL documentation, "pg_stat_statements", 2026-11)."""
_NEAR: Final = 0.85


@cache
def _parameters() -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in rows("postgres_parameters.csv", __package__)}


_LIBRARIES: Final = (
    "auto_explain", "orafce", "pg_bigm", "pg_cron", "pg_hint_plan", "pg_partman_bgw", "pg_prewarm", "pg_similarity",
    "pg_stat_statements", "pg_tle", "pg_transport", "pgactive", "pgaudit", "pglogical", "plprofiler", "plrust",
    "rdsutils",
)  # fmt: skip
"""Libraries that RDS for PostgreSQL loads at its start (its release notes, as generally known, 2026-11)."""


def check(stack: Stack) -> None:
    """Looks at every database and every group of parameters."""
    for database in stack.of_type(DATABASE):
        _class(database)
        group = database.referred("parameterGroupName", DATABASE_PARAMETERS)
        if group is not None:
            _family(database, group)
        _promises(database)
    for group in stack.of_type(DATABASE_PARAMETERS):
        if (group.text("family") or "").startswith("postgres"):
            _parameters_of(group)


def _class(database: View) -> None:
    name, engine = database.text("instanceClass"), database.text("engine")
    if name is None or engine is None or engine.startswith(("custom-", "db2")):
        return
    found = _CLASS.fullmatch(name)
    if found is None or not _SIZE.fullmatch(found[2]):
        database.error("machines-database-class", "instanceClass", f"got {show(name)}", allowed="such as db.t4g.medium")
    elif found[1] in ("t3", "t4g") and found[2] not in _SIZES_OF_T4G:
        sizes = ", ".join(f"db.{found[1]}.{size}" for size in _SIZES_OF_T4G)
        database.error("machines-database-class", "instanceClass", f"there is no {name}", allowed=f"one of {sizes}")
    elif engine == "postgres" and found[1] in _OLD and (_major(database.text("engineVersion")) or 0) >= 13:
        database.error(
            "machines-database-class",
            "instanceClass",
            f"PostgreSQL {database.text('engineVersion')} does not run on {name}: its generation is too old",
            allowed="a class of a later generation, such as db.t4g.medium or db.m7g.large",
        )
    elif found[1] not in _FAMILIES | _OLD:
        message = f"got {show(name)}, of a family that is not known of RDS"
        hint = nearest(found[1], _FAMILIES)
        database.warning("machines-database-class", "instanceClass", message, allowed="such as db.m7g.large", hint=hint)
    elif engine == "postgres" and found[1] in _SINCE:
        _since(database, name, _SINCE[found[1]])


def _since(database: View, name: str, since: Mapping[int, int]) -> None:
    """A class that came with a later minor version than the one that is asked for."""
    version = database.text("engineVersion") or ""
    minor = re.fullmatch(r"(\d+)\.(\d+)", version)
    first = since.get(int(minor[1])) if minor else None
    if minor and first is not None and int(minor[2]) < first:
        database.error(
            "machines-database-class", "instanceClass", f"PostgreSQL {version} does not run on {name}",
            allowed=f"PostgreSQL {minor[1]}.{first} or later, or another class",
        )  # fmt: skip


def _promises(database: View) -> None:
    """A version, a certificate and a depth of insights that RDS has."""
    version = database.text("engineVersion")
    minor = re.fullmatch(r"\d+\.(\d+)", version or "")
    if database.text("engine") == "postgres" and minor and int(minor[1]) > _MOST_MINORS:
        database.error(
            "machines-database-version", "engineVersion", f"there is no PostgreSQL {version}",
            allowed="a minor version that is released, or the major one alone",
        )  # fmt: skip
    elif database.text("engine") == "postgres" and minor:
        major, last = _major(version) or 0, int(minor[1])
        if last < _FIRST_MINORS.get(major, 0):
            database.error(
                "machines-database-version", "engineVersion", f"RDS never had PostgreSQL {version}",
                allowed=f"{major}, or {major}.{_FIRST_MINORS[major]} and later",
            )  # fmt: skip
        elif last <= _WITHDRAWN.get(major, -1):
            database.warning(
                "machines-database-version", "engineVersion", f"RDS makes no new instance of PostgreSQL {version}",
                allowed=f"{major}, or {major}.{_WITHDRAWN[major] + 1} and later",
            )  # fmt: skip
    certificate = database.text("caCertIdentifier")
    if certificate in _EXPIRED:
        database.error(
            "machines-database-certificate", "caCertIdentifier", f"{certificate} has expired",
            allowed="rds-ca-rsa2048-g1, rds-ca-rsa4096-g1 or rds-ca-ecc384-g1",
        )  # fmt: skip
    size, most = database.number("allocatedStorage"), database.number("maxAllocatedStorage")
    step = max(_STEP_GIB, (size or 0) * _STEP)
    if size is not None and most is not None and size < most < size + step:
        database.warning(
            "machines-database-storage", "maxAllocatedStorage",
            f"is {most:g}, and storage of {size:g} GiB grows by {step:g} GiB at the least: it never does",
            allowed=f"{size + step:g} or more",
        )  # fmt: skip
    kept = database.number("performanceInsightsRetentionPeriod")
    if database.text("databaseInsightsMode") == "advanced" and kept is not None and kept < _ADVANCED_DAYS:
        database.error(
            "machines-database-insights", "performanceInsightsRetentionPeriod",
            f"{kept:g} days with insights of mode advanced", allowed=f"{_ADVANCED_DAYS} and more",
        )  # fmt: skip


def _major(version: str | None) -> int | None:
    found = re.match(r"\d+", version or "")
    return int(found[0]) if found else None


def _family(database: View, group: View) -> None:
    engine, version, family = database.text("engine"), database.text("engineVersion"), group.text("family")
    if engine is None or version is None or family is None:
        return
    if engine == "postgres":
        wanted = f"postgres{_major(version)}"
    elif engine in ("mysql", "mariadb"):
        wanted = engine + ".".join(version.split(".")[:2])
    else:
        return
    if family != wanted:
        database.error(
            "machines-database-family",
            "parameterGroupName",
            f"parameter group {group.name} is of family {family}, and the engine is {engine} {version}",
            allowed=f"family {wanted}",
        )


def _parameters_of(group: View) -> None:
    for path, item in group.items("parameters"):
        name = item.get("name")
        if name == "shared_preload_libraries" and isinstance(item.get("value"), str):
            for library in filter(None, (one.strip() for one in item["value"].split(","))):
                hint = "" if library in _LIBRARIES else nearest(library, _LIBRARIES, cutoff=_NEAR)
                if hint:
                    group.error("machines-parameter", f"{path}.value", f"RDS has no {show(library)}", allowed=hint)
        if name in _SWITCHES and item.get("value") in _WORDS:
            group.error("machines-parameter", f"{path}.value", f"{name} is {show(item['value'])}", allowed="0 or 1")
        if name in _AT_START:
            _at_start(group, path, item)
        if not isinstance(name, str) or "." in name:  # rds.… and those of extensions
            continue
        known = _parameters().get(name)
        if known is None:
            meant = nearest(name, _parameters(), cutoff=_NEAR)
            if meant:  # a later version may have brought any other
                group.error(
                    "machines-parameter", f"{path}.name", f"PostgreSQL has no parameter {show(name)}", allowed=meant
                )
            continue
        value = item.get("value")
        if isinstance(value, str):
            _off_unit(group, path, name, value)
        wrong = _wrong_value(known, value) if isinstance(value, str) else ""
        if wrong:
            group.error("machines-parameter", f"{path}.value", f"{name} is {show(value)}", allowed=wrong)
        if known["static"] == "yes":
            _at_start(group, path, item)


def _at_start(group: View, path: str, parameter: Mapping[str, Any]) -> None:
    """A parameter that is read at the start alone."""
    if parameter.get("applyMethod", "immediate") == "immediate":
        group.error(
            "machines-parameter",
            f"{path}.applyMethod",
            f"{parameter['name']} takes effect when the database restarts, and RDS refuses to apply it at once",
            allowed="applyMethod pending-reboot",
        )


def _off_unit(group: View, path: str, name: str, value: str) -> None:
    """A number that was meant in another unit: a time that no query ends in, memory below what one sort takes."""
    least, unit, meant = _LEAST.get(name, (0.0, "", ""))
    number = as_number(value)
    if number is not None and 0 < number < least:
        group.error("machines-parameter", f"{path}.value", f"{name} is {show(value)}, which are {unit}", allowed=meant)


def _wrong_value(known: dict[str, str], value: str) -> str:
    """What a value may be, where it is something else; a formula of RDS (`{DBInstanceClassMemory/4}`) may be any."""
    if not value or "{" in value or "(" in value:
        return ""
    if known["type"] == "boolean" and value.lower() not in _BOOLEANS:
        return "0 or 1"
    choices = _CHOICES.get(known["name"])
    if choices is not None and value.lower() not in choices:
        return f"one of {', '.join(choices)}"
    if known["type"] in ("integer", "real"):
        number = as_number(value)
        if number is None:
            return f"a number from {known['min']} to {known['max']}, without a unit"
        if known["min"] and known["max"] and not float(known["min"]) <= number <= float(known["max"]):
            return f"from {known['min']} to {known['max']}"
    return ""
