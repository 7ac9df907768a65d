"""From a stack's configuration to its settings and plan, or to one error that names every mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.plan.make import make_plan
from trainyard.plan.parts import Plan
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import StackConfig, read_stack
from trainyard.settings.common import Settings
from trainyard.settings.read import STAND_INS, namespace_values, read_settings


@dataclass(frozen=True, slots=True)
class Resolved:
    """A stack's settings and plan, and what works and should be changed in its file, a line each."""

    settings: Settings
    plan: Plan
    warnings: tuple[str, ...]


def resolve(config: Mapping[str, str], stack: str) -> Resolved:
    """The settings and the plan of a stack.

    Args:
        config: values of the project's namespace as the engine hands them to a program: every value text, objects
            and arrays as JSON.
        stack: the stack's name.

    Raises:
        SettingsError: with every problem of the settings, of what must fit together, and of the plan.
    """
    reading = read_settings(config)
    problems = list(reading.problems)
    plan = None
    try:
        plan = make_plan(reading.settings, stack)
    except SettingsError as error:
        stood_in = {key for key in STAND_INS if key in reading.wrong}
        problems += [problem for problem in reading.new(error.problems) if problem.key not in stood_in]
    if problems or plan is None:
        raise SettingsError(dict.fromkeys(problems))
    return Resolved(reading.settings, plan, reading.warnings)


def resolve_stack(project: Path, stack: str | Path) -> Resolved:
    """The settings and the plan of a stack of a project, by its name or the path of its file; raises `SettingsError`.

    The program does not run.
    """
    return resolve_config(read_stack(project, stack))


def resolve_config(config: StackConfig) -> Resolved:
    """The settings and the plan of a stack file that was read; raises `SettingsError`."""
    if config.problems:
        raise SettingsError(config.problems)
    return resolve(namespace_values(config.values), config.stack)
