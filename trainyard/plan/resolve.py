"""From a stack's configuration to its settings and plan, or to one error that names every mistake."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard import catalog
from trainyard.plan.lock import NOTHING, Lock, gone_text, lock_path, read_lock, unlocked_text
from trainyard.plan.make import make_plan
from trainyard.plan.parts import Plan
from trainyard.plan.passed_over import without_passed_over
from trainyard.plan.smoke import waiting_text
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import StackConfig, read_stack, unseen_text
from trainyard.settings.common import Settings
from trainyard.settings.namespace import bare_keys, misplaced_keys, namespace_values
from trainyard.settings.read import NAMESPACE, STAND_INS, read_settings
from trainyard.settings.unseen import stand_in, without_values


@dataclass(frozen=True, slots=True)
class Resolved:
    """A stack's settings and plan, and what works and should be changed in its file, a line each."""

    settings: Settings
    plan: Plan
    warnings: tuple[str, ...]


def resolve(config: Mapping[str, str], stack: str, lock: Lock = NOTHING, shared: Collection[str] = ()) -> Resolved:
    """The settings and the plan of a stack.

    Args:
        config: values of the project's namespace as the engine hands them to a program: every value text, objects
            and arrays as JSON.
        stack: the stack's name.
        lock: what was decided for it before.
        shared: the keys that Pulumi.yaml gives to every stack, and this one leaves so.

    Raises:
        SettingsError: with every problem of the settings, of what must fit together, and of the plan.
    """
    reading = read_settings(config)
    problems = list(reading.problems)
    plan = None
    settings, noted = without_passed_over(reading, shared, lock)
    try:
        plan = make_plan(settings, stack, lock, noted)
    except SettingsError as error:
        stood_in = {key for key in STAND_INS if key in reading.wrong}
        problems += [problem for problem in reading.new(error.problems) if problem.key not in stood_in]
    if problems or plan is None:
        raise SettingsError(dict.fromkeys(problems))
    told = (*unlocked_text(plan, lock), *gone_text(plan, lock), *waiting_text(plan, lock), *_ending(plan))
    return Resolved(settings, plan, (*reading.warnings, *told))


def _ending(plan: Plan) -> Iterator[str]:
    """That a cluster has a version which no new one gets: its end is near, or here."""
    chosen = catalog.kubernetes_versions()
    for cluster in plan.clusters if plan.ground.kind == "aws" else ():
        known = catalog.known_kubernetes_versions()[cluster.kubernetes_version]
        if known.version not in chosen:
            yield (
                f"Kubernetes {known.version} is in standard support until {known.standard_support_until}, and EKS"
                f" upgrades the control plane by itself then: `trainyard upgrade {plan.core.stack} --kubernetes"
                f" {next(iter(chosen))}`"
            )


def resolve_all(
    values: Mapping[str, str],
    stack: str,
    secret_keys: Collection[str] = (),
    project: str = NAMESPACE,
    lock: Lock = NOTHING,
    shared: Collection[str] = (),
) -> Resolved:
    """The settings and the plan of a stack, from every key that the engine hands over, with its namespace.

    Args:
        values: as the engine hands them to a program; keys of other namespaces are passed over, misspelt ones are not.
        stack: the stack's name.
        secret_keys: those that hold something encrypted; no problem quotes their values.
        project: the project's name, under which the engine puts keys that have no namespace.
        lock: what was decided for the stack before.
        shared: the full keys that Pulumi.yaml gives to every stack, and this one leaves so.

    Raises:
        SettingsError: as `resolve` does, and for keys whose namespace was meant to be ours.
    """
    problems = list(misplaced_keys(values))
    try:
        resolved = resolve(namespace_values(values), stack, lock, namespace_values(dict.fromkeys(shared, "")))
    except SettingsError as error:
        problems += error.problems
    if problems:
        own = {key.removeprefix(f"{NAMESPACE}:") for key in secret_keys if key.startswith(f"{NAMESPACE}:")}
        raise SettingsError(without_values(problems, own))
    return replace(resolved, warnings=(*resolved.warnings, *bare_keys(values, project)))


def resolve_stack(project: Path, stack: str | Path) -> Resolved:
    """The settings and the plan of a stack of a project, by its name or the path of its file; raises `SettingsError`.

    The program does not run.
    """
    return resolve_config(read_stack(project, stack, stand_in=stand_in))


def resolve_config(config: StackConfig, lock: Lock | None = None) -> Resolved:
    """The settings and the plan of a stack file that was read; raises `SettingsError`.

    `lock` is what was decided before, by default what the lock beside the file says.
    """
    if lock is None:
        lock = read_lock(lock_path(config.file)) or NOTHING
    try:
        resolved = resolve_all(config.values, config.stack, config.secret_keys, config.project, lock, config.shared)
    except SettingsError as error:
        raise SettingsError(config.joined(error.problems)) from None
    if config.problems:
        raise SettingsError(config.problems)
    if not config.unseen:
        return resolved
    return replace(resolved, warnings=(*resolved.warnings, unseen_text(config.unseen)))
