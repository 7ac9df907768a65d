"""Databases of RDS: what the service refuses to change.

An engine's version never goes down, another major version has to be allowed, and storage grows only (RDS user guide,
"Upgrading a DB instance engine version" and "Increasing DB instance storage capacity"; read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import as_number, is_on, value_at
from trainyard.recorded.types import DATABASE
from trainyard.rehearsal.change.model import Change, Operation


def check(change: Change) -> Iterator[Finding]:
    """What RDS would refuse of a change in place."""
    for step in change.of_type(DATABASE):
        if step.operation is not Operation.UPDATE or step.was is None or step.now is None:
            continue
        before, after = _version(step.was), _version(step.now)
        if before and after and _lower(after, before):
            yield Finding.of(
                step.now,
                "change-database-version",
                f"engine version {_text(before)} -> {_text(after)}: RDS never goes back to an earlier version",
                path="engineVersion",
                hint="restore a snapshot from before the upgrade into a new instance",
            )
        elif before and after and after[0] > before[0] and not _allows_major(step.now):
            yield Finding.of(
                step.now,
                "change-database-version",
                f"engine version {_text(before)} -> {_text(after)} is another major version, which nobody allowed",
                path="engineVersion",
                hint="set allowMajorVersionUpgrade, after a snapshot and a drill",
            )
        sizes = [as_number(value_at(each.inputs, "allocatedStorage", unknown=None)) for each in (step.was, step.now)]
        if sizes[0] is not None and sizes[1] is not None and sizes[1] < sizes[0]:
            yield Finding.of(
                step.now,
                "change-database-storage",
                f"allocated storage {sizes[0]:g} -> {sizes[1]:g} GiB: storage of RDS grows only",
                path="allocatedStorage",
                hint=f"keep {sizes[0]:g} GiB",
            )


def _allows_major(database: RecordedResource) -> bool:
    return is_on(database.inputs, "allowMajorVersionUpgrade")


def _version(database: RecordedResource) -> tuple[int, ...]:
    text = str(value_at(database.inputs, "engineVersion", unknown=None))
    parts = text.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()


def _lower(after: tuple[int, ...], before: tuple[int, ...]) -> bool:
    """Whether one version is below another as far as both say: 17 is not below 17.6."""
    length = min(len(after), len(before))
    return after[:length] < before[:length]


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
