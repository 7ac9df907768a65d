"""A checkpoint of a model sharded by FSDP2, restored on another number of ranks: bit for bit.

What a job does that comes back smaller after it lost a node. All ranks save their shards to the checkpoint tier; half
of them, a mesh of their own, build the model anew with other weights and load. Every full tensor is compared.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import torch
from torch.distributed import fsdp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

from . import checkpoints, training
from .job import Job
from .result import CheckFailed, Figure, Outcome, failed, passed, skipped
from .tier import TierError, clear, open_tier

fully_shard: Callable[..., Any] | None = getattr(fsdp, "fully_shard", None)
"""FSDP2; None before torch 2.6."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: nothing to shard over")
    if fully_shard is None:
        return skipped(f"torch {torch.__version__} has no fully_shard (FSDP2 came with 2.6)")
    if job.nodes > 1 and not job.options.checkpoint_uri:
        return skipped(f"no checkpoint_uri: {job.nodes} nodes need a tier that all of them reach")
    root = job.options.checkpoint_uri or f"{job.options.scratch_dir}/checkpoints"
    uri = f"{root.rstrip('/')}/smoke-{job.broadcast(uuid.uuid4().hex[:12])}"
    try:
        return _try(job, uri)
    except CheckpointException as error:
        causes = [f"rank {rank}: {cause[0]}" for rank, cause in sorted(error.failures.items())]
        raise CheckFailed(f"a sharded checkpoint on {root} failed: {'; '.join(causes)}") from None
    except TierError as error:
        raise CheckFailed(f"the checkpoint tier {root} failed: {error}") from None
    finally:
        if job.head and not job.options.keep_files:
            clear(uri)


def _try(job: Job, uri: str) -> Outcome:
    tier = open_tier(uri)
    half = job.world_size // 2
    # Process groups of a mesh are made by all ranks together, also by those that are not in it.
    everyone = DeviceMesh(job.device.type, list(range(job.world_size)))
    half_of_them = job.group(range(half))  # a mesh would make its own, with a limit of ten minutes
    some_host = job.group(range(half), backend="gloo")
    saved = _sharded(job, job.options.seed, everyone)
    size = sum(value.numel() * value.element_size() for value in saved.values())
    job.barrier()
    before = time.perf_counter()
    checkpoints.save(dict(saved), tier, 1, job.host_group)
    seconds = max(job.gather(time.perf_counter() - before))
    wanted = {name: value.full_tensor().cpu() for name, value in saved.items()}
    job.synchronize()
    if job.broken("sharded"):
        name = next(iter(wanted))
        wanted[name].view(-1)[3] += 1
    wrong = ""
    if job.rank < half:
        some = DeviceMesh.from_group(half_of_them, job.device.type)
        loaded = _sharded(job, job.options.seed + 1, some)
        checkpoints.restore(dict(loaded), tier, 1, some_host)
        found = {name: value.full_tensor().cpu() for name, value in loaded.items()}
        job.synchronize()
        wrong = next((name for name, value in found.items() if not torch.equal(value, wanted[name])), "")
    wrong = next(filter(None, job.gather(wrong)), "")
    figure = Figure("sharded checkpoint write", size / seconds / 1e9, "GB/s")
    if wrong:
        return failed(
            f"parameter {wrong} saved by {job.world_size} ranks is another one where {half} load it: shards of the "
            "checkpoint tier are mixed up or damaged",
            figure=figure,
        )
    return passed(
        f"{size / 2**20:.0f} MiB in {job.world_size} shards restored bit for bit on {half} rank(s)", figure=figure
    )


def _sharded(job: Job, seed: int, mesh: DeviceMesh) -> dict[str, Any]:
    """The parameters of a model sharded over a mesh, by name."""
    width, depth = (4096, 8) if job.cuda else (256, 3)
    model = training.make_model(seed, width, depth, device=job.device)
    assert fully_shard is not None, "checked before"
    fully_shard(model, mesh=mesh)
    found = {name: parameter.detach() for name, parameter in model.named_parameters()}
    assert all(isinstance(value, DTensor) for value in found.values())
    return found
