"""How many connections a database of a cloud takes where nobody says it.

Sources: PostgreSQL, `max_connections`; RDS user guide, "Quotas and constraints" (it is LEAST(DBInstanceClassMemory /
9531392, 5000) where no parameter says it, of which all of the class's memory is the most); Cloud SQL for PostgreSQL,
"Configure database flags" (by memory); AWS, "DB instance classes" (memory by family and size) (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.conventions.quantities import GIBIBYTE

KEPT: Final = 3
"""Connections of those that are an administrator's (`superuser_reserved_connections`)."""

_GIB_OF_LARGE: Final = {"m": 8, "r": 16, "t": 8, "c": 4}
_SMALL: Final = {"micro": 1, "small": 2, "medium": 4}
_FAMILY: Final = re.compile(r"[mrtc]\d+[a-z]*")
_TIMES: Final = re.compile(r"(\d*)xlarge")
_BYTES_EACH: Final = 9531392
_MOST: Final = 5000
_OF_MEMORY: Final = ((120, 1000), (60, 800), (30, 600), (15, 500), (7.5, 400), (6, 200), (3.75, 100), (0, 50))
"""GiB from which Cloud SQL takes so many connections."""
_SHARED_CORE: Final = {"db-f1-micro": 25.0, "db-g1-small": 50.0}
_CUSTOM: Final = re.compile(r"db-custom-\d+-(\d+)")
_OPTIMIZED: Final = re.compile(r"db-perf-optimized-N-(\d+)")
_GIB_OF_A_CORE: Final = 8
"""Memory of each core of a tier of Enterprise Plus, which says cores alone."""


def of_rds(class_: str) -> float | None:
    """Those of PostgreSQL on RDS by class, such as `db.t4g.medium`; None for a class that is not known."""
    memory = _gib(class_)
    return None if memory is None else float(min(memory * GIBIBYTE // _BYTES_EACH, _MOST))


def of_cloud_sql(tier: str) -> float | None:
    """Those of PostgreSQL on Cloud SQL by tier, such as `db-custom-2-7680`; None for a tier that is not known."""
    custom, optimized = _CUSTOM.fullmatch(tier), _OPTIMIZED.fullmatch(tier)
    if custom is not None:
        memory = int(custom[1]) / 1024
    elif optimized is not None:
        memory = float(int(optimized[1]) * _GIB_OF_A_CORE)
    else:
        return _SHARED_CORE.get(tier)
    return next(float(most) for least, most in _OF_MEMORY if memory >= least)


def _gib(name: str) -> float | None:
    """The memory of a class; None where the family or the size is not known."""
    parts = name.split(".")
    large = _GIB_OF_LARGE.get(parts[1][:1]) if len(parts) == 3 and _FAMILY.fullmatch(parts[1]) else None
    if large is None:
        return None
    if parts[2] in _SMALL and parts[1].startswith("t"):
        return _SMALL[parts[2]]
    found = _TIMES.fullmatch(parts[2])
    return large if parts[2] == "large" else large * 2 * int(found[1] or 1) if found else None
