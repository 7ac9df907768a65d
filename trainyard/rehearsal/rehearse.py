"""`rehearse`: a whole stack, run offline as it is previewed and as it is made, checked, and told as data."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.capture import Captured, capturing, noting_derived, rehearsing
from trainyard.problems import SettingsError
from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.recorded.model import Finding, RecordedResource, masked
from trainyard.rehearsal.context import Case
from trainyard.rehearsal.engine.failures import exception_chain
from trainyard.rehearsal.engine.loop import rare_collections
from trainyard.rehearsal.engine.program import run_program, run_program_once
from trainyard.rehearsal.engine.project import StackConfig, StandIn, read_stack
from trainyard.rehearsal.engine.recorder import Deployment, Recording
from trainyard.rehearsal.findings import Elsewhere, case_of, checked_of, ordered, refused
from trainyard.rehearsal.graph import Step, critical_path, proves
from trainyard.rehearsal.shape.once import judged_once, sound

if TYPE_CHECKING:
    from trainyard.rehearsal.shape.sound import Shape

TIMEOUT_SECONDS = 120.0
"""A run that takes longer is given up as a hang; a stack of ten thousand resources takes half of it."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a rehearsal found. `resources`, `outputs` and `critical_path` are of the run with everything known."""

    stack: str
    settings: Mapping[str, Any]
    plan: Mapping[str, Any]
    resources: tuple[RecordedResource, ...]  # sorted by URN
    outputs: Mapping[str, Any]
    findings: tuple[Finding, ...]
    critical_path: tuple[Step, ...]
    seconds: Mapping[str, float]  # wall time by phase
    preview: Recording
    known: Recording
    other_settings: Mapping[str, str] = field(default_factory=dict)  # for others, by full key; none that is encrypted
    shape: Shape | None = field(default=None, repr=False, compare=False)  # where many stacks are judged

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the program wrong."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def readable(self) -> Sequence[RecordedResource]:
        """The resources, with inputs of a wrong kind unknown: what reports read, whatever the program says."""
        return without_wrong_kinds(self.resources, self.findings)

    @property
    def logged_warnings(self) -> tuple[str, ...]:
        """What the program logged as a warning, such as keys of the settings at their old place."""
        logged = ("logged", "warning")
        return tuple(finding.message for finding in self.findings if (finding.rule, finding.level) == logged)

    @property
    def minutes(self) -> float:
        """How long the first `pulumi up` takes at least, the smoke jobs included."""
        return self.critical_path[-1].finish / 60 if self.critical_path else 0.0

    @property
    def minutes_until_proof(self) -> float:
        """When the environment stands and the smoke jobs at the end of the critical path start."""
        proving = (step.finish - step.seconds for step in self.critical_path if proves(step))
        return next(proving, self.minutes * 60) / 60

    def as_json(self) -> dict[str, Any]:
        """Plain values, secrets masked, in a stable order, equal between runs except for `seconds`."""
        return {
            "stack": self.stack,
            "settings": masked(self.settings),
            "plan": masked(self.plan),
            "resources": [_resource_json(resource) for resource in self.resources],
            "outputs": masked(self.outputs),
            "findings": [finding.as_json() for finding in self.findings],
            "critical_path": [step.as_json() for step in self.critical_path],
            "seconds": {phase: round(value, 3) for phase, value in self.seconds.items()},
        }


def _resource_json(resource: RecordedResource) -> dict[str, Any]:
    found = {
        "urn": resource.urn,
        "type": resource.type,
        "name": resource.name,
        "parent": resource.parent,
        "component": resource.component,
        "custom": resource.custom,
        "provider": resource.provider,
        "inputs": masked(resource.inputs),
        "dependencies": list(resource.dependencies),
        "propertyDependencies": {key: list(urns) for key, urns in sorted(resource.property_dependencies.items())},
        "protect": resource.protect,
        "ignoreChanges": list(resource.ignore_changes),
        "replaceOnChanges": list(resource.replace_on_changes),
        "deleteBeforeReplace": resource.delete_before_replace,
        "retainOnDelete": resource.retain_on_delete,
        "customTimeouts": dict(resource.custom_timeouts),
        "fromCheck": list(resource.from_check),
    }
    if resource.read:
        found["read"] = True
    return found


@rare_collections()
def rehearse(
    project_dir: Path,
    stack: str | Path,
    *,
    config_overrides: Mapping[str, Any] | None = None,
    stack_outputs: Mapping[str, Mapping[str, Any]] | None = None,
    only_these_stacks: bool = False,
    stand_in: StandIn | None = None,
    elsewhere: Elsewhere | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Rehearsal:
    """Runs the project's program as `pulumi preview` and as `pulumi up` would, offline, and checks what it makes.

    `stack` is a name or the path of a stack file; `config_overrides` replace configuration keys; `stack_outputs` are
    the outputs of other stacks that the program may refer to, and `only_these_stacks` says that there are no others;
    `stand_in` gives what takes the place of values that only the engine can decrypt, which a finding names; `elsewhere`
    judges by the rules what was recorded, if it can. Raises
    `SettingsError` when the configuration is wrong (with what the engine refuses and what the program's own settings
    refuse); a wrong program is told in `findings`.
    """
    started = time.perf_counter()
    config = read_stack(project_dir.resolve(), stack, config_overrides, stand_in)
    seconds = {"settings": time.perf_counter() - started}
    if elsewhere is not None:
        elsewhere.configured(config.values)
    deployment = Deployment(
        project=config.project,
        stack=config.stack,
        root_directory=str(config.root),
        config=config.values,
        secret_keys=sorted(config.secret_keys),
        stack_outputs=stack_outputs or {},
        only_these_stacks=only_these_stacks,
    )
    remembered = sound()

    def unjudged(preview: Recording, known: Recording, captured: Captured) -> tuple[Rehearsal, Case]:
        best = checked_of(preview, known)
        run = Rehearsal(
            stack=config.stack,
            settings=captured.settings,
            plan=captured.plan,
            resources=tuple(sorted(best.resources, key=lambda resource: resource.urn)),
            outputs=best.stack_outputs,
            findings=(),
            critical_path=(),
            seconds=seconds,
            preview=preview,
            known=known,
            other_settings={
                key: text
                for key, text in config.values.items()
                if not key.startswith(f"{config.project}:") and key not in config.secret_keys
            }
            | dict(config.state),
        )
        return run, case_of(config, captured.plan, best)

    nothing: AbstractContextManager[Mapping[str, Sequence[str]]] = nullcontext({})
    with noting_derived() if remembered is not None else nothing as derived:
        preview_run, known_run, captured = _recorded(config, deployment, timeout_seconds, seconds)
    run, case = unjudged(preview_run, known_run, captured)
    if remembered is not None:
        before = time.perf_counter()
        shape = remembered.shape_of(config, captured.settings, captured.plan, preview_run, known_run, derived)
        run = replace(run, shape=shape)
        seconds["shape"] = time.perf_counter() - before

    def judged() -> list[Finding]:
        before = time.perf_counter()
        if elsewhere is not None:
            elsewhere.recorded(run, case)
        before_rules = refused(config, preview_run, known_run)
        seconds["refusals"] = time.perf_counter() - before
        by_rules = elsewhere.judged(before_rules) if elsewhere is not None else None
        if by_rules is None:
            from trainyard.rehearsal.judged import judged_by_rules  # all rules

            by_rules = judged_by_rules(case, lambda: before_rules)
        for phase, took in by_rules[1].items():
            seconds[phase] = seconds.get(phase, 0.0) + took
        return [*before_rules.engine, *before_rules.schema, *by_rules[0]]

    findings = judged_once(
        run.shape,
        ("refusals and works", datetime.datetime.now(datetime.UTC).date()),  # some refusals go by the day
        judged,
        keep=lambda found, _: None if found else (),
        again=lambda _, __: [],
    )
    before = time.perf_counter()
    path = critical_path(checked_of(preview_run, known_run).resources)
    seconds["critical_path"] = time.perf_counter() - before
    seconds["total"] = time.perf_counter() - started
    return replace(run, findings=ordered(findings), critical_path=path)


def _recorded(
    config: StackConfig,
    deployment: Deployment,
    timeout_seconds: float,
    seconds: dict[str, float],
) -> tuple[Recording, Recording, Captured]:
    """What a first preview and a run with everything known record, and what the program published.

    The program runs once for both where that can be (`two_views`), else for each. A preview that hangs is all there is.
    """
    before = time.perf_counter()
    with rehearsing(config.file), capturing() as captured:
        known, preview = run_program_once(config, deployment, timeout_seconds=timeout_seconds)
    seconds["known"] = time.perf_counter() - before
    if known is not None:
        _raise_settings_errors(config, known)
        if preview is not None:
            return preview, known, captured
    found = {True: preview, False: known}
    for is_preview, phase in ((True, "preview"), (False, "known")):
        recording = found.get(is_preview)
        if recording is None:
            before = time.perf_counter()
            with rehearsing(config.file), capturing() as heard:
                recording = run_program(config, deployment, preview=is_preview, timeout_seconds=timeout_seconds)
            seconds[phase] = seconds.get(phase, 0.0) + time.perf_counter() - before
            _raise_settings_errors(config, recording)
            captured = heard if heard.plan else captured
            found[is_preview] = recording
        if recording.hang is not None and is_preview:
            return recording, Recording(preview=False), captured
    preview, known = found[True], found[False]
    assert preview is not None and known is not None
    return preview, known, captured


def _raise_settings_errors(config: StackConfig, recording: Recording) -> None:
    """Settings that the engine or the program refuses, together; one of both on a key is enough."""
    raised = exception_chain(recording.error) if recording.error is not None else []
    told = [problem for error in raised if isinstance(error, SettingsError) for problem in error.problems]
    problems = config.joined(told)
    if problems:
        raise SettingsError(problems)
