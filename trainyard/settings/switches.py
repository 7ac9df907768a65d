"""What is switched off, and what is said beside it that nothing reads then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from trainyard.problems import Problem, shown
from trainyard.settings.types import Model

if TYPE_CHECKING:
    from trainyard.settings.common import Settings

_BLOCKS: Final = {
    "idleJobs.evict": ("idle_jobs",),
    "mlflow.enabled": ("mlflow",),
    "monitoring.enabled": ("monitoring",),
    "smoke.enabled": ("smoke",),
    "storage.lustre.enabled": ("storage", "lustre"),
}
"""Switch -> the block that it stands in."""

_READ_ALL_THE_SAME: Final = ("mlflow.image", "monitoring.runbooks", "smoke.image", "smoke.level")
"""The platform's own programs run in the first; alarms of the cloud's own, of the record and the backups, name the
second; drills and runtimes run in the third; a smoke job that somebody starts by hand has the level."""
_TOLD_ELSEWHERE: Final = ("mlflow.signOn.",)

_BY_FIGURES: Final = {"teamBudgets": ("team_budgets", "hold"), "idleJobs": ("idle_jobs", "evict")}
"""Blocks that go by what the monitoring measures, and what of each acts on a team or its jobs."""


def switch_checks(settings: Settings) -> Iterator[Problem]:
    """What is to act by the monitoring's figures does nothing without them, and somebody relies on it."""
    if settings.monitoring.enabled is not False:
        return
    acting = {f"{key}.{act}": (getattr(settings, field), act) for key, (field, act) in _BY_FIGURES.items()}
    if settings.team_budgets.hold:
        acting["teamBudgets.drainAfterHours"] = (settings.team_budgets, "drain_after_hours")
    for where, (block, name) in acting.items():
        value = getattr(block, name)
        if name in block.model_fields_set and value is not None and value is not False:
            yield Problem(where, shown(value), "needs monitoring.enabled, whose figures it goes by", "leave it out")


def switch_advice(settings: Settings) -> Iterator[str]:
    """A value beside a switch that is off: whoever switches a thing off for a month leaves it so, whoever believes in
    the value is told."""
    for switch, way in _BLOCKS.items():
        block: Model = settings
        for name in way:
            block = getattr(block, name)
        yield from _unread_beside(switch, block)
    yield from _unmeasured(settings)
    for name, pool in settings.gpu_pools.items():
        yield from _unread_beside(f"gpuPools.{name}.enabled", pool)


def _unmeasured(settings: Settings) -> Iterator[str]:
    """What goes by figures that nobody takes, where nothing of it was to act."""
    if settings.monitoring.enabled is False:
        refused = {problem.key for problem in switch_checks(settings)}
        for key, (field, act) in _BY_FIGURES.items():
            block = getattr(settings, field)
            # Where its own switch is off too, that one has told of an idle job's minutes.
            told = f"{key}.{act}" in _BLOCKS and getattr(block, act) is False
            for where, value in () if told else _given(block, f"{key}."):
                if where not in refused:
                    yield f"{where} {shown(value)} is read only where monitoring.enabled is true"


def _unread_beside(switch: str, block: Model) -> Iterator[str]:
    """What a block says although its switch, the last part of a setting's key, is off."""
    prefix, _, own = switch.rpartition(".")
    if getattr(block, own) is not False:
        return
    for where, value in _given(block, f"{prefix}."):
        if where not in _READ_ALL_THE_SAME and not where.startswith(_TOLD_ELSEWHERE):
            yield f"{where} {shown(value)} is read only where {switch} is true"


def _given(block: Model, prefix: str) -> Iterator[tuple[str, object]]:
    """What the stack file says and is not the default, key by key; what is off too is of one mind with the switch."""
    for name, field in type(block).model_fields.items():
        value, key = getattr(block, name), prefix + (field.alias or name)
        if isinstance(value, Model):
            yield from _given(value, f"{key}.")
        elif name in block.model_fields_set and value is not False and value != field.default:
            yield key, value
