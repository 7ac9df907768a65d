"""A run on the MLflow server, and read back from it.

Parameters, a loss a step, system metrics each second, code version, environment, a checkpoint as artifact, device
hours and cost. What is compared is what the server gives back, not what was sent. An unreachable server fails this
check only.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from . import local_mlflow, tracking_client, training
from .inventory import code_version
from .job import Job
from .local_mlflow import MISSING
from .options import Options
from .result import Figure, Outcome, cost, failed, passed, skipped
from .system_metrics import Sampler
from .tracking_client import Client, Point, TrackingError

STEPS = 20
STEP_S = 0.16
"""Shortest step: twenty last a little over three seconds, so that system metrics are sampled three times."""

LOCAL_START_S = 300.0
"""How long the local server may take to start while it lives. It reads some thousand files first: a second or two from
memory, minutes from a cold disk of a busy machine."""

ROUND_S = 15.0
"""How long the head waits for it before it says so to the others, for which it must be less than one collective may
take."""

WIDTH = 128
CLOSED = "http://127.0.0.1:9"
"""The discard port, where nothing listens: the seeded fault."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    uri = job.options.tracking_uri
    if job.broken("tracking"):
        uri = CLOSED
    elif uri == "none":
        return skipped("no tracking server in this run (tracking_uri is `none`)")
    elif uri == "local":
        uri = os.environ.get("SMOKE_TRACKING_URI", MISSING)
        if uri == MISSING:
            return failed(
                "tracking_uri is `local`, which needs the mlflow package and the wrapper: give the stack's MLflow "
                "server, or `none` to do without"
            )
    client: Client | None = None
    run_id, problem = "", ""
    before = time.perf_counter()
    if job.options.tracking_uri == "local" and not job.broken("tracking"):
        problem = _started(job, uri)
        if problem:
            return failed(problem)
    if job.head:
        try:
            client = tracking_client.open_client(uri, job.options.tracking_client)
            run_id = client.start(experiment(job.options), job.options.job_name, _params(job), _tags(job))
        except TrackingError as error:
            problem = str(error)
    problem = job.broadcast(problem)
    if problem:
        return failed(problem)
    sampler = Sampler() if job.head else None
    points, state = _train(job)
    wrong: list[str] = []
    if client is not None and sampler is not None:
        points += sampler.stop()
        try:
            wrong = _prove(job, client, run_id, points, state)
        except TrackingError as error:
            wrong = [str(error)]
    wrong = job.broadcast(wrong)
    seconds = time.perf_counter() - before
    if wrong:
        return failed("; ".join(wrong), details={"uri": uri, "run_id": run_id})
    return passed(
        f"run {run_id} with {len(points)} values and a checkpoint of {len(state)} bytes read back from {uri}",
        figure=Figure("values read back", float(len(points)), ""),
        details={"uri": uri, "run_id": run_id, "seconds": seconds},
    )


def _started(job: Job, uri: str) -> str:
    """Waits for the local server, as long as it lives; what is wrong with it, on every rank, or nothing."""
    home = Path(os.environ.get(local_mlflow.HOME, ""))
    before = time.monotonic()
    while True:
        found = job.broadcast(_asked(uri, home, time.monotonic() - before) if job.head else None)
        if found is not None:
            return str(found)


def _asked(uri: str, home: Path, waited_s: float) -> str | None:
    """What is wrong with the server, empty where it answers; None where it is still starting, which is told."""
    limit_s = min(ROUND_S, LOCAL_START_S - waited_s)
    try:
        if tracking_client.is_ready(uri, limit_s, lambda: local_mlflow.ended(home)):
            return ""
    except TrackingError as error:
        return str(error)
    waited_s += limit_s
    if waited_s >= LOCAL_START_S:
        return (
            f"the local MLflow server lives, and does not answer after {waited_s:.0f} s: the disk or the machine is "
            "too busy for it; run once more, or without it (tracking_uri `none`)"
        )
    print(f"smoke: the local MLflow server is still starting after {waited_s:.0f} s", flush=True)
    return None


def experiment(options: Options) -> str:
    """The experiment; one a user by default, because with MLflow's authentication only its maker may add runs to it."""
    user = os.environ.get("MLFLOW_TRACKING_USERNAME", "")
    return options.tracking_experiment or "-".join(part for part in ("trainyard-smoke", user) if part)


def _params(job: Job) -> dict[str, str]:
    options = job.options
    return {
        "world_size": str(job.world_size),
        "nodes": str(job.nodes),
        "instance": job.instance,
        "device": str((job.inventories[0]["device"] or {}).get("name", "")),
        "seed": str(options.seed),
        "steps": str(STEPS),
        "width": str(WIDTH),
        "backend": job.backend,
    }


def _tags(job: Job) -> dict[str, str]:
    options = job.options
    version = code_version(options.code_version)
    tags = {
        "smoke.stack": options.stack,
        "smoke.pool": options.pool,
        "smoke.target": options.target,
        "smoke.capacity": options.capacity,
        "smoke.image": options.image,
        "smoke.code_version": version,
        "smoke.usd_per_node_hour": str(options.usd_per_node_hour) if options.usd_per_node_hour else "unknown",
        **{f"smoke.version.{name}": value for name, value in job.inventories[0]["versions"].items()},
    }
    if not version.startswith("sha256:"):
        # MLflow finds the commit only where the script lies in a git tree, which a container's does not.
        tags["mlflow.source.git.commit"] = version
    return {key: value for key, value in tags.items() if value}


def _train(job: Job) -> tuple[list[Point], bytes]:
    """A loss a step from all ranks together, and the checkpoint's bytes (the same on every rank)."""
    model = training.make_model(job.options.seed, WIDTH, 2, device=job.device)
    wrapped: torch.nn.Module = model
    if job.world_size > 1:
        wrapped = DistributedDataParallel(model, device_ids=[job.local_rank] if job.cuda else None)
    optimizer = training.make_optimizer(model)
    points = []
    for step in range(1, STEPS + 1):
        before = time.perf_counter()
        inputs, targets = training.batch(job.options.seed, step, job.rank, 32, WIDTH)
        loss = training.train_step(wrapped, optimizer, inputs.to(job.device), targets.to(job.device)).item()
        points.append(Point("loss", loss, int(time.time() * 1000), step))
        time.sleep(max(0.0, STEP_S - (time.perf_counter() - before)))
    stream = io.BytesIO()
    torch.save({name: value.cpu() for name, value in training.state(model, optimizer, STEPS).items()}, stream)
    return points, stream.getvalue()


def _prove(job: Job, client: Client, run_id: str, points: list[Point], state: bytes) -> list[str]:
    """Sends everything, reads everything back; what does not agree, one sentence each."""
    started = float(os.environ.get("SMOKE_STARTED", time.time()))
    spent = cost(job.options, job.world_size, time.time() - started)
    now = int(time.time() * 1000)
    points += [Point("device_hours", spent["device_hours"], now, STEPS)]
    if spent["usd"] is not None:
        points += [Point("cost_usd", spent["usd"], now, STEPS)]
    environment = json.dumps({"versions": job.inventories[0]["versions"], "options": dataclasses.asdict(job.options)})
    client.log(run_id, points)
    client.upload(run_id, "checkpoint/state.pt", state)
    client.upload(run_id, "environment.json", environment.encode())
    client.finish(run_id)

    run = client.read(run_id)
    wrong: list[str] = []
    if run.status != "FINISHED":
        wrong.append(f"the run is {run.status} on the server, not FINISHED")
    sent: dict[str, Any] = {"parameter": (_params(job), run.params), "tag": (_tags(job), run.tags)}
    for label, (mine, theirs) in sent.items():
        lost = [key for key, value in mine.items() if theirs.get(key) != value]
        if lost:
            wrong.append(f"{label} {', '.join(lost)} did not come back from the server")
    for key in dict.fromkeys(point.key for point in points):
        mine_ = sorted((p.step, p.value) for p in points if p.key == key)
        theirs_ = sorted((p.step, p.value) for p in client.history(run_id, key))
        if mine_ != theirs_:
            wrong.append(f"metric {key}: {len(mine_)} values were sent, {len(theirs_)} came back, or others")
    keys = {point.key for point in points}
    if not any(key.startswith("system/cpu") for key in keys):
        wrong.append("no system metrics were sampled")
    if job.cuda and not any(key.startswith("system/gpu") for key in keys):
        wrong.append("no GPU metrics were sampled: nvidia-smi is not in the container (NVIDIA_DRIVER_CAPABILITIES "
                     "must hold `utility`)")  # fmt: skip
    back = client.download(run_id, "checkpoint/state.pt")
    if hashlib.sha256(back).digest() != hashlib.sha256(state).digest():
        wrong.append(f"the checkpoint came back with {len(back)} bytes, other than the {len(state)} that were stored: "
                     "look at the artifact store")  # fmt: skip
    if client.download(run_id, "environment.json") != environment.encode():
        wrong.append("environment.json came back different")
    return wrong
