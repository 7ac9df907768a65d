"""`rehearse`: a whole stack, run twice offline, checked, and told as data."""

from __future__ import annotations

import os
import runpy
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.capture import Captured, capturing
from trainyard.problems import SettingsError
from trainyard.recorded.model import Finding, RecordedResource, masked
from trainyard.rehearsal.engine.failures import exception_chain, failure_findings
from trainyard.rehearsal.engine.loop import rare_collections
from trainyard.rehearsal.engine.project import StackConfig, read_stack
from trainyard.rehearsal.engine.recorder import Deployment, Recording, record
from trainyard.rehearsal.engine.rules import check_both_runs, check_recording
from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
from trainyard.rehearsal.graph import Step, critical_path, proves
from trainyard.rehearsal.refusals import ValueContext, check_values
from trainyard.rehearsal.refusals.schema import check_schema

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

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the program wrong."""
        return tuple(finding for finding in self.findings if finding.level == "error")

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
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Rehearsal:
    """Runs the project's program as `pulumi preview` and as `pulumi up` would, offline, and checks what it makes.

    `stack` is a name or the path of a stack file; `config_overrides` replace configuration keys; `stack_outputs` are
    the outputs of other stacks that the program may refer to. Raises `SettingsError` when the configuration is wrong
    (with what the engine refuses and what the program's own settings refuse); a wrong program is told in `findings`.
    """
    started = time.perf_counter()
    config = read_stack(project_dir.resolve(), stack, config_overrides)
    seconds = {"settings": time.perf_counter() - started}
    deployment = Deployment(
        project=config.project,
        stack=config.stack,
        root_directory=str(config.root),
        config=config.values,
        secret_keys=sorted(config.secret_keys),
        stack_outputs=stack_outputs or {},
    )
    recordings: dict[str, Recording] = {}
    captured = Captured()
    for phase, preview in (("preview", True), ("known", False)):
        before = time.perf_counter()
        with capturing() as heard:
            recordings[phase] = _run(config, deployment, preview=preview, timeout_seconds=timeout_seconds)
        seconds[phase] = time.perf_counter() - before
        _raise_settings_errors(config, recordings[phase])
        captured = heard if heard.plan else captured
        if recordings[phase].hang is not None:
            recordings.setdefault("known", Recording(preview=False))
            break
    before = time.perf_counter()
    preview_run, known_run = recordings["preview"], recordings["known"]
    best = known_run if known_run.resources else preview_run
    findings = _findings(config, captured, preview_run, known_run, best)
    seconds["checks"] = time.perf_counter() - before
    before = time.perf_counter()
    path = critical_path(best.resources)
    seconds["critical_path"] = time.perf_counter() - before
    seconds["total"] = time.perf_counter() - started
    return Rehearsal(
        stack=config.stack,
        settings=captured.settings,
        plan=captured.plan,
        resources=tuple(sorted(best.resources, key=lambda resource: resource.urn)),
        outputs=best.stack_outputs,
        findings=findings,
        critical_path=path,
        seconds=seconds,
        preview=preview_run,
        known=known_run,
    )


def _findings(
    config: StackConfig, captured: Captured, preview: Recording, known: Recording, best: Recording
) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for run in (preview, known):
        found += failure_findings(run, config.root)
        found += check_recording(run, config.placeholders)
    found += check_both_runs(preview, known)
    schema = list(check_schema(best.resources, best.classes))
    values = check_values(_unique(best.resources), _value_context(captured.plan, best.resources))
    found += schema
    found += [finding for finding in values if not any(_about_the_same(finding, other) for other in schema)]
    return tuple(_ordered(found))


def _about_the_same(value: Finding, schema: Finding) -> bool:
    """Whether a finding on a value only repeats what the schema says of the same place, or of one around or in it."""
    if value.urn != schema.urn or schema.level != "error":
        return False
    inner, outer = sorted((value.path, schema.path), key=len, reverse=True)
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


KUBERNETES_VERSION = "1.35"
"""The schemas that objects are checked against where neither the plan nor a cluster of the stack names a version."""


def _value_context(plan: Mapping[str, Any], resources: Iterable[RecordedResource]) -> ValueContext:
    """Version and region as the plan says; a program that publishes no plan is asked through its resources."""
    version = next((cluster.get("kubernetes_version") for cluster in plan.get("clusters") or ()), None)
    region = (plan.get("ground") or {}).get("region")
    for resource in resources:
        if resource.type == "aws:eks/cluster:Cluster":
            version = version or resource.inputs.get("version")
        elif resource.type == "pulumi:providers:aws":
            region = region or resource.inputs.get("region")
    return ValueContext(
        kubernetes_version=version if isinstance(version, str) else KUBERNETES_VERSION,
        region=region if isinstance(region, str) else "",
    )


def _unique(resources: Sequence[RecordedResource]) -> list[RecordedResource]:
    """One of each URN: a duplicate is reported once, as such."""
    return list({resource.urn: resource for resource in resources}.values())


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Each finding once, errors first, then by place."""
    return sorted(
        dict.fromkeys(findings),
        key=lambda f: (f.level != "error", f.component, f.type, f.name, f.path, f.rule, f.message, f.urn),
    )


def _raise_settings_errors(config: StackConfig, recording: Recording) -> None:
    """Settings that the engine or the program refuses, together; one of both on a key is enough."""
    raised = exception_chain(recording.error) if recording.error is not None else []
    problems = [problem for error in raised if isinstance(error, SettingsError) for problem in error.problems]
    keys = {problem.key.split(".")[0].split("[")[0] for problem in problems}
    problems += [problem for problem in config.problems if problem.key not in keys]
    if problems:
        raise SettingsError(problems)


_one_at_a_time = threading.Lock()


def _run(config: StackConfig, deployment: Deployment, *, preview: bool, timeout_seconds: float) -> Recording:
    main = config.main if config.main.is_dir() else config.main.parent
    file = main / "__main__.py" if config.main.is_dir() else config.main

    def program() -> None:
        runpy.run_path(str(file), run_name="__main__")

    with _one_at_a_time, _as_the_engine_starts(main), piecewise_imports():
        return record(program, preview=preview, deployment=deployment, timeout_seconds=timeout_seconds)


@contextmanager
def _as_the_engine_starts(main: Path) -> Iterator[None]:
    """The working directory and first import folder that the language host gives a program; put back afterwards.

    Modules that the program imports by bare name from its folder are forgotten: the next project may have its own
    of the same name.
    """
    directory, path, before = Path.cwd(), list(sys.path), set(sys.modules)
    os.chdir(main)
    sys.path.insert(0, str(main))
    try:
        yield
    finally:
        sys.path[:] = path
        os.chdir(directory)
        for name in sys.modules.keys() - before:
            file = getattr(sys.modules[name], "__file__", None)
            top = main / name.split(".")[0]
            if file is not None and (file == f"{top}.py" or file.startswith(f"{top}{os.sep}")):
                del sys.modules[name]
