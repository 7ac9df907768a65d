"""What `trainyard smoke` runs: from the command line, and a stack's plan where one is named, to a `SmokeSpec`."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from trainyard.cli import smoke_managed
from trainyard.cli.smoke_options import JobOptions, Target
from trainyard.conventions import Capacity
from trainyard.plan.parts import Plan, PoolPlan
from trainyard.plan.smoke import cores_for, memory_gib_for, proves, smoke_job, smoke_spec
from trainyard.problems import SettingsError, nearest
from trainyard.smoke_jobs.ddp.entrypoint import visible_gpus
from trainyard.smoke_jobs.ddp.options import TIMEOUT_S, Options
from trainyard.smoke_jobs.launch.job import BASELINE, LaunchError, SmokeSpec
from trainyard.smoke_jobs.launch.pod import IN_TEAM_STORAGE
from trainyard.user_files import read_text

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = "SMOKE_"
"""How the variables begin by which a launcher tells the worker its options and its place."""

LOCAL_PROCESSES = 2
"""Processes of a local job on a machine without GPUs: the fewest that are distributed."""


SWEEP_LEVEL = "standard"
"""The least level of a sweep where none is given: quick measures no figure of a node's hardware that it could be
compared by with the others."""


def of_command_line(target: Target, options: JobOptions, *, sweep: bool = False) -> SmokeSpec:
    """The job without a stack; of a `sweep`, the largest of its jobs. Raises LaunchError."""
    local = target is Target.local
    gpus = options.gpus or 0
    processes = options.nproc or (visible_gpus() or LOCAL_PROCESSES if local else 0)
    spec = SmokeSpec(
        nodes=options.nodes or (2 if sweep else 1),
        level=SWEEP_LEVEL if sweep else "quick",
        processes_per_node=processes,
        cpu=cores_for(gpus) if gpus else max(1, processes),
        memory_gib=memory_gib_for(gpus) if gpus else 4,
    )
    return _overridden(spec, target, options)


def of_stack(plan: Plan, target: Target, options: JobOptions, *, sweep: bool = False) -> SmokeSpec:
    """The job on a pool of a stack, through a team's queue; here without them. Raises LaunchError, NoSuchName."""
    if target is Target.local:
        return replace(of_command_line(target, options), stack=plan.core.stack)
    if not plan.clusters:
        return _overridden(smoke_managed.spec_of(plan, target), target, options)
    cluster = plan.clusters[0]
    chosen = cluster.pool(options.pool)
    on_cluster = target in (Target.kubernetes, Target.trainjob)
    capacity: Capacity | None = options.capacity.value if options.capacity else None
    owner = cluster.team(options.team) if options.team else proves(cluster, chosen, capacity)
    _check_capacity(chosen, capacity)
    job = smoke_job(cluster, chosen, owner, capacity, options.nodes)
    if options.nodes and options.nodes > job.nodes:
        raise LaunchError(
            f"--nodes {options.nodes}: pool {chosen.name} has {job.nodes} in its largest node group"
            + (f" of capacity {capacity}" if capacity else "")
            + ", and a job never spans two"
        )
    spec = smoke_spec(plan, cluster, job)
    if sweep and spec.level == "quick" and chosen.node.pods_per_gpu == 1:  # of a turn on a GPU there is no measure
        spec = replace(spec, level=SWEEP_LEVEL)
    if on_cluster:
        # The bucket's name is known to the cluster only.
        tier = f"{IN_TEAM_STORAGE}/smoke/{spec.name}"
        secret = "" if options.tracking_uri else spec.tracking_secret
        return _overridden(replace(spec, checkpoint_uri=tier, tracking_secret=secret), target, options)
    instance = f"ml.{spec.instance}" if target is Target.sagemaker else spec.instance
    elsewhere = replace(
        spec, instance=instance, image="", queue="", priority="", mounts=(), data_path="", tracking_secret="",
        driver="",  # the plan knows its own nodes' only
    )  # fmt: skip
    return _overridden(elsewhere, target, options)


def _check_capacity(pool: PoolPlan, capacity: Capacity | None) -> None:
    """A capacity is one of the pool's. Raises LaunchError."""
    if capacity is None:
        return
    capacities = [group.capacity for group in pool.node_groups]
    if capacity not in capacities:
        raise LaunchError(f"--capacity {capacity}: pool {pool.name} has nodes of {', '.join(capacities)} only")


def _overridden(spec: SmokeSpec, target: Target, options: JobOptions) -> SmokeSpec:
    """What the command line says wins over the stack."""
    changes: dict[str, Any] = {
        "processes_per_node": options.nproc,
        "image": options.image,
        "instance": options.instance,
        "gpu": options.gpu,
        "gpus_per_node": options.gpus,
        "checkpoint_uri": options.checkpoint_uri,
        "data_path": options.data_path,
        "tracking_uri": options.tracking_uri,
        "transport": options.transport.value if options.transport else "",
    }
    if options.transport and spec.nodes < 2:
        raise LaunchError(f"--transport {options.transport.value} is between nodes, and this job has one: --nodes 2")
    level = options.level.value if options.level else spec.level
    return replace(
        spec,
        level=level,
        timeout_s=TIMEOUT_S[level] if options.timeout is None else max(1, round(options.timeout * 60)),
        start_timeout_s=round(options.start_timeout * 60),
        environment=tuple((dict(spec.environment) | dict(map(_variable, options.env or ()))).items()),
        options=_worker_options(target, options),
        files=_files(target, options),
        **{name: value for name, value in changes.items() if value},
    )


def _variable(text: str) -> tuple[str, str]:
    """NAME=VALUE of `--env`; raises LaunchError."""
    name, equals, value = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise LaunchError(f"--env {name}: NAME=VALUE is needed, the name of letters, digits and _")
    if name.startswith(_OURS):
        raise LaunchError(f"--env {name}: variables that begin with {_OURS} are the job's own; --set has its options")
    return name, value


def _worker_options(target: Target, options: JobOptions) -> dict[str, Any]:
    values: dict[str, Any] = dict(_assignment(text) for text in options.set_options or ())
    if options.checks:
        values["checks"] = options.checks
    if options.breaks:
        values["breaks"] = options.breaks
    if options.baseline is not None and target is Target.local:
        values["baseline"] = str(options.baseline.absolute())
    return values


def _assignment(text: str) -> tuple[str, Any]:
    """KEY=VALUE with the value in the option's own type; raises LaunchError."""
    known = {field.name: getattr(Options(), field.name) for field in fields(Options)}
    key, equals, value = text.partition("=")
    key = key.strip().replace("-", "_")
    if not equals:
        raise LaunchError(f"--set {text}: KEY=VALUE is needed")
    if key not in known:
        hint = nearest(key, known)
        raise LaunchError(f"--set {text}: the worker has no option {key!r}{'; ' + hint if hint else ''}")
    default = known[key]
    try:
        if isinstance(default, bool):
            return key, {"true": True, "false": False}[value.lower()]
        if isinstance(default, tuple):
            return key, [part for part in value.split(",") if part]
        return key, type(default)(value)
    except (KeyError, ValueError):
        raise LaunchError(f"--set {text}: {type(default).__name__} is needed") from None


def _files(target: Target, options: JobOptions) -> dict[str, str]:
    """A baseline travels with the worker where that is not here."""
    if options.baseline is None or target is Target.local:
        return {}
    try:
        return {BASELINE: read_text(options.baseline, f"--baseline {options.baseline}")}
    except SettingsError as error:
        raise LaunchError(str(error)) from None
