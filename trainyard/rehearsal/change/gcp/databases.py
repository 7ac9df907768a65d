"""Instances of Cloud SQL: what the service refuses to change, and what restarts one.

A version never goes down; a disk grows only, and the provider makes a new instance of one that would shrink
(`resource_sql_database_instance.go` of Terraform's Google provider: `ForceNewIfChange` with `IsDiskShrinkage`; Cloud
SQL documentation, "About instance settings" and "Upgrade the database major version in-place"; read 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.types import CLOUD_SQL
from trainyard.rehearsal.change.model import Change, Operation, Step

RESTARTING: Final = ("settings.tier", "settings.edition", "settings.diskType", "settings.locationPreference")
"""Inputs of which another value restarts an instance; some flags of a database do too."""


def check(change: Change) -> Iterator[Finding]:
    """What Cloud SQL would refuse of a change in place, and what cannot be taken back."""
    for step in change.of_type(CLOUD_SQL):
        if step.operation is not Operation.UPDATE or step.was is None or step.now is None:
            continue
        (engine, before), (other, after) = version(step.was), version(step.now)
        if engine and other and engine != other:
            yield _refused(step, f"{engine} {before} -> {other} {after}: an instance keeps its engine")
        elif engine and after < before:
            yield _refused(step, f"{engine} {before} -> {after}: Cloud SQL never goes back to an earlier version")
        elif engine and after > before:
            yield Finding.of(
                step.now,
                "change-database-version",
                f"{engine} {before} -> {after} is another major version: the instance is down while it is upgraded,"
                " and does not come back from it",
                path="databaseVersion",
                hint="take a backup, and try it on a clone first",
                level="warning",
            )


def version(instance: RecordedResource) -> tuple[str, int]:
    """The engine and its major version, of `POSTGRES_18`; an empty name where neither is told."""
    text = str(value_at(instance.inputs, "databaseVersion", unknown=None))
    found = re.match(r"([A-Z]+)_(\d+)", text)
    return (found[1], int(found[2])) if found else ("", 0)


def restarting(step: Step) -> list[str]:
    """The inputs by which a change in place restarts an instance."""
    return [path for path in (*RESTARTING, "databaseVersion") if step.changed(path) is not None]


def _refused(step: Step, message: str) -> Finding:
    return Finding.of(
        step.resource,
        "change-database-version",
        message,
        path="databaseVersion",
        hint="restore a backup from before the upgrade into a new instance",
    )
