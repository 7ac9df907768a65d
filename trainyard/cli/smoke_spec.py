"""What `trainyard smoke` runs: from the command line, and a stack's plan where one is named, to a `SmokeSpec`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from trainyard.cli.smoke_targets import Target
from trainyard.conventions import MLFLOW_CREDENTIALS_SECRET, Capacity, team_prefix
from trainyard.plan.model import Plan, PoolPlan
from trainyard.plan.smoke import (
    CORES_PER_GPU,
    MAX_NODES,
    MEMORY_PER_GPU_GIB,
    PRIORITY,
    environment,
    mounts,
    pool_job,
    pool_of,
    scratch_path,
    team_of,
)
from trainyard.problems import nearest
from trainyard.smoke_jobs.ddp.entrypoint import visible_gpus
from trainyard.smoke_jobs.ddp.options import CHECKS, Options
from trainyard.smoke_jobs.launch.job import BASELINE, LaunchError, SmokeSpec, job_name

LOCAL_PROCESSES = 2
"""Without GPUs: the least that is distributed."""


@dataclass(frozen=True, slots=True)
class Given:
    """The command line; None and empty texts were not given. Times in seconds."""

    target: Target
    nproc: int | None
    nodes: int | None
    image: str
    instance: str
    gpu: str
    gpus: int | None
    timeout_s: int
    start_timeout_s: int
    checkpoint_uri: str
    data_path: str
    tracking_uri: str
    partition: str
    checks: tuple[str, ...]
    breaks: tuple[str, ...]
    set_options: tuple[str, ...]  # KEY=VALUE
    baseline: Path | None
    capacity: Capacity | None


def of_command_line(given: Given) -> SmokeSpec:
    """The job without a stack. Raises LaunchError."""
    if given.capacity:
        raise LaunchError(f"--capacity {given.capacity}: is for a stack's pool with --target kubernetes or trainjob")
    local = given.target is Target.local
    gpus = given.gpus or 0
    processes = given.nproc or (visible_gpus() or LOCAL_PROCESSES if local else 0)
    spec = SmokeSpec(
        nodes=given.nodes or 1,
        processes_per_node=processes,
        cpu=4 + CORES_PER_GPU * gpus if gpus else max(1, processes),
        memory_gib=16 + MEMORY_PER_GPU_GIB * gpus if gpus else 4,
    )
    return _with_given(spec, given)


def of_stack(plan: Plan, pool: str | None, team: str | None, given: Given) -> SmokeSpec:
    """The job on a pool of a stack, through a team's queue; here without them. Raises LaunchError, NoSuchName."""
    if given.target is Target.local:
        return replace(of_command_line(given), stack=plan.stack)
    owner, chosen = team_of(plan, team), pool_of(plan, pool)
    on_cluster = given.target in (Target.kubernetes, Target.trainjob)
    group = _node_group(chosen, given.capacity, on_cluster)
    job = pool_job(plan, chosen, owner, given.nodes or MAX_NODES, given.capacity)
    scratch = scratch_path(plan, group) if on_cluster else ""
    spec = SmokeSpec(
        name=job_name(job.pool.name, given.capacity or ""),
        stack=plan.stack,
        pool=job.pool.name,
        nodes=job.nodes,
        gpus_per_node=job.pool.gpus_per_node,
        instance=f"ml.{job.pool.instance_type}" if given.target is Target.sagemaker else job.pool.instance_type,
        gpu=job.gpu,
        gpu_memory_gib=job.pool.gpu_memory_gib,
        capacity=given.capacity or "",
        transport=job.transport,
        usd_per_node_hour=job.usd_per_node_hour,
        image=plan.smoke.image if on_cluster else "",
        environment=tuple(environment(plan).items()),
        cpu=job.cpu,
        memory_gib=job.memory_gib,
        shared_memory_gib=job.shared_memory_gib,
        efa_interfaces=job.pool.efa_interfaces,
        hugepages_mib=job.hugepages_mib,
        namespace=owner.namespace,
        queue=owner.local_queue if on_cluster else "",
        priority=PRIORITY if on_cluster else "",
        mounts=tuple(mounts(plan).items()) if on_cluster else (),
        # The bucket's name is known to the engine only; without --checkpoint-uri the team's scratch has to do.
        checkpoint_uri=f"{scratch}/checkpoints" if scratch else "",
        data_path=scratch,
        tracking_secret=MLFLOW_CREDENTIALS_SECRET
        if on_cluster and plan.mlflow.enabled and not given.tracking_uri
        else "",
        rerun_on=job.rerun_on,
    )
    if given.nodes and given.nodes > job.nodes:
        raise LaunchError(
            f"--nodes {given.nodes}: pool {job.pool.name} has {job.nodes} in its largest node group"
            + (f" of capacity {given.capacity}" if given.capacity else "")
            + ", and a job never spans two"
        )
    spec = _with_given(spec, given)
    if on_cluster:
        _needs_checkpoint_tier(spec, owner.name)
    return spec


def _node_group(pool: PoolPlan, capacity: Capacity | None, on_cluster: bool) -> str:
    """The name of the pool's node group of that capacity, or the pool's where the queue picks one.

    Raises LaunchError.
    """
    if capacity is None:
        return pool.name
    if not on_cluster:
        raise LaunchError(f"--capacity {capacity}: only --target kubernetes and trainjob choose among a pool's nodes")
    groups = {group.capacity: group.name for group in pool.node_groups}
    if capacity not in groups:
        raise LaunchError(f"--capacity {capacity}: pool {pool.name} has nodes of {', '.join(groups)} only")
    return groups[capacity]


def _needs_checkpoint_tier(spec: SmokeSpec, team: str) -> None:
    """Refuses here what the worker would refuse after it has waited for nodes. Raises LaunchError."""
    needing = {"checkpoint", "interruption"} & set(spec.options.get("checks", CHECKS))
    if spec.nodes > 1 and needing and not (spec.checkpoint_uri or spec.options.get("checkpoint_uri")):
        raise LaunchError(
            f"--checkpoint-uri: {' and '.join(sorted(needing))} on {spec.nodes} nodes need a tier that all of them "
            "reach, and this stack has no Lustre: "
            f"give s3://BUCKET/{team_prefix(team)}smoke with the bucket of checkpoints"
        )


def _with_given(spec: SmokeSpec, given: Given) -> SmokeSpec:
    """What the command line says wins over the stack."""
    changes: dict[str, Any] = {
        "processes_per_node": given.nproc,
        "image": given.image,
        "instance": given.instance,
        "gpu": given.gpu,
        "gpus_per_node": given.gpus,
        "checkpoint_uri": given.checkpoint_uri,
        "data_path": given.data_path,
        "tracking_uri": given.tracking_uri,
        "queue": given.partition,
    }
    return replace(
        spec,
        timeout_s=given.timeout_s,
        start_timeout_s=given.start_timeout_s,
        options=_options(given),
        files=_files(given),
        **{name: value for name, value in changes.items() if value},
    )


def _options(given: Given) -> dict[str, Any]:
    values: dict[str, Any] = dict(_assignment(text) for text in given.set_options)
    if given.checks:
        values["checks"] = list(given.checks)
    if given.breaks:
        values["breaks"] = list(given.breaks)
    if given.baseline is not None and given.target is Target.local:
        values["baseline"] = str(given.baseline.absolute())
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


def _files(given: Given) -> dict[str, str]:
    """A baseline travels with the worker where that is not here."""
    if given.baseline is None or given.target is Target.local:
        return {}
    try:
        return {BASELINE: given.baseline.read_text(encoding="utf-8")}
    except OSError as error:
        raise LaunchError(f"--baseline {given.baseline}: {error.strerror}") from None
