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

_READ_ALL_THE_SAME: Final = ("mlflow.image", "smoke.image")
"""The platform's own programs run in the one, drills and runtimes in the other."""
_TOLD_ELSEWHERE: Final = ("mlflow.signOn.",)

_BY_FIGURES: Final = {"team_budgets": "teamBudgets", "idle_jobs": "idleJobs"}
"""Blocks that go by what the monitoring measures, by their fields."""


def switch_checks(settings: Settings) -> Iterator[Problem]:
    """What goes by the monitoring's figures does nothing without them, and somebody relies on it."""
    if settings.monitoring.enabled is False:
        for field, key in _BY_FIGURES.items():
            for where, value in _given(getattr(settings, field), f"{key}."):
                yield Problem(where, shown(value), "needs monitoring.enabled, whose figures it goes by", "leave it out")


def switch_advice(settings: Settings) -> Iterator[str]:
    """A value beside a switch that is off: whoever switches a thing off for a month leaves it so, whoever believes in
    the value is told."""
    for switch, way in _BLOCKS.items():
        block: Model = settings
        for name in way:
            block = getattr(block, name)
        yield from _unread_beside(switch, block)
    for name, pool in settings.gpu_pools.items():
        yield from _unread_beside(f"gpuPools.{name}.enabled", pool)


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
