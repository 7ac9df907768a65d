"""Instances of Cloud SQL for PostgreSQL: whether a machine of that name is sold, in that edition, for that version.

Sources: Cloud SQL for PostgreSQL, "Instance settings" and "Introduction to Cloud SQL editions" (machine types of each
edition, versions of Enterprise Plus, its default from PostgreSQL 16 on), Terraform's `google_sql_database_instance`
(`tier`), and the API's answer "Only custom or shared-core instance Billing Tier type allowed for PostgreSQL database"
(read 2026-11). Machines of a series that is not listed here may be new: nothing is said of them.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.rehearsal.context import Stack, View, show

_TYPE: Final = "gcp:sql/databaseInstance:DatabaseInstance"
_CUSTOM: Final = re.compile(r"db-custom-(\d+)-(\d+)")
_PLUS: Final = re.compile(r"db-perf-optimized-N-(\d+)")
_PLUS_CORES: Final = (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)
_OF_MYSQL: Final = re.compile(r"db-n1-(standard|highmem)-\d+")
_SHARED: Final = ("db-f1-micro", "db-g1-small")
_VERSION: Final = re.compile(r"POSTGRES_(\d+)")
_PLUS_SINCE: Final = 12
_PLUS_BY_DEFAULT: Final = 16
_MOST_CORES: Final = 96
_STEP_MB: Final = 256
_LEAST_MB: Final = 3840
_MB_A_CORE: Final = (0.9 * 1024, 6.5 * 1024)
_PATH: Final = "settings.tier"
_ENTERPRISE, _ENTERPRISE_PLUS = "ENTERPRISE", "ENTERPRISE_PLUS"


def check(stack: Stack) -> None:
    """Looks at every instance of PostgreSQL that the stack makes."""
    for view in stack.of_type(_TYPE):
        version, tier = _VERSION.match(view.text("databaseVersion") or ""), view.text(_PATH)
        if version is None or tier is None or view.resource.read:
            continue
        if _OF_MYSQL.fullmatch(tier):
            _error(view, f"{tier} is no machine for PostgreSQL", "db-custom-CORES-MEGABYTES, such as db-custom-2-7680")
            continue
        _edition(view, tier, int(version[1]))
        custom = _CUSTOM.fullmatch(tier)
        if custom is not None:
            _custom(view, int(custom[1]), int(custom[2]))
        plus = _PLUS.fullmatch(tier)
        if plus is not None and int(plus[1]) not in _PLUS_CORES:
            cores = ", ".join(str(count) for count in _PLUS_CORES)
            _error(view, f"there is no {tier}", f"db-perf-optimized-N- and one of {cores}")


def _edition(view: View, tier: str, version: int) -> None:
    said = view.text("settings.edition")
    if said is None and not view.lacks("settings.edition"):
        return
    edition = said or (_ENTERPRISE_PLUS if version >= _PLUS_BY_DEFAULT else _ENTERPRISE)
    words = f"of edition {edition}" if said else f"of edition {edition}, which PostgreSQL {version} has by default,"
    if edition == _ENTERPRISE_PLUS and (_CUSTOM.fullmatch(tier) or tier in _SHARED):
        _error(view, f"no instance {words} is a {tier}", "db-perf-optimized-N-2 and larger, or edition ENTERPRISE")
    elif edition == _ENTERPRISE and _PLUS.fullmatch(tier):
        _error(view, f"no instance {words} is a {tier}", "db-custom-CORES-MEGABYTES, or edition ENTERPRISE_PLUS")
    if said == _ENTERPRISE_PLUS and version < _PLUS_SINCE:
        view.error(
            "machines-database-edition", "settings.edition", f"is {show(said)}, which has no PostgreSQL {version}",
            allowed=f"PostgreSQL {_PLUS_SINCE} and later, or edition ENTERPRISE",
        )  # fmt: skip


def _custom(view: View, cores: int, megabytes: int) -> None:
    least, most = (int(cores * each) for each in _MB_A_CORE)
    if cores != 1 and (cores % 2 or not 2 <= cores <= _MOST_CORES):
        _error(view, f"{cores} cores", f"1, or an even number to {_MOST_CORES}")
    elif megabytes % _STEP_MB:
        near = megabytes // _STEP_MB * _STEP_MB
        _error(view, f"{megabytes} MB of memory", f"a multiple of {_STEP_MB}: {near} or {near + _STEP_MB}")
    elif not max(_LEAST_MB, least) <= megabytes <= most:
        _error(view, f"{megabytes} MB of memory for {cores} cores", f"from {max(_LEAST_MB, least)} to {most}")


def _error(view: View, message: str, allowed: str) -> None:
    view.error("machines-database-class", _PATH, message, allowed=allowed)
