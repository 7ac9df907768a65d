"""Distributed checkpoints on the checkpoint tier: speed, stall, restored bit for bit, damage refused.

1. A synchronous save and an asynchronous one, which training steps run beside. Bytes a second of the first (whole
   checkpoint over the time that the slowest rank was blocked); stall is the time that a save blocks training.
2. The newest is restored into a model of other weights and compared with what was saved, byte for byte.
3. One byte of it is changed on the tier: it must be refused and the one before restored, byte for byte.
4. A save that stopped before its manifest must not count.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

import torch
from torch.distributed.checkpoint.api import CheckpointException

from . import checkpoints, training
from .job import Job
from .result import CheckFailed, Figure, Outcome, failed, passed
from .tier import Tier, TierError, clear, open_tier

WIDTH = 512
RATED_SHARE = 0.6
"""Of the tier's rated write speed that a save must reach (torchsnapshot's published runs reach 60-80 %)."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    root = job.options.checkpoint_uri or f"{job.options.scratch_dir}/checkpoints"
    uri = f"{root.rstrip('/')}/smoke-{job.broadcast(uuid.uuid4().hex[:12])}"
    try:
        tier = open_tier(uri)
    except TierError as error:
        tier = None
        problem = str(error)
    problems = [p for p in job.gather("" if tier is not None else problem) if p]
    if tier is None or problems:
        return failed(problems[0])
    try:
        return _try(job, tier)
    except CheckpointException as error:
        causes = [f"rank {rank}: {cause[0]}" for rank, cause in sorted(error.failures.items())]
        raise CheckFailed(f"the checkpoint tier {root} failed: {'; '.join(causes)}") from None
    except TierError as error:
        raise CheckFailed(f"the checkpoint tier {root} failed: {error}") from None
    finally:
        if job.head and not job.options.keep_files:
            clear(uri)


class _Training:
    """A model with an optimizer whose state has about the wanted size."""

    def __init__(self, job: Job, seed: int) -> None:
        self.job = job
        mib = job.options.checkpoint_mib or (1024 if job.cuda else 16)
        depth = max(1, round(mib * 2**20 / (3 * 4 * WIDTH * (WIDTH + 3))))  # weights and two moments, float32
        self.model = training.make_model(seed, WIDTH, depth, device=job.device)
        self.optimizer = training.make_optimizer(self.model)
        training.fill_optimizer(self.model, self.optimizer)

    def step(self, number: int) -> None:
        inputs, targets = training.batch(self.job.options.seed, number, 0, 4, WIDTH)
        training.train_step(self.model, self.optimizer, inputs.to(self.job.device), targets.to(self.job.device))

    def state(self, number: int) -> dict[str, Any]:
        return training.state(self.model, self.optimizer, number)


def _copy(state: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: value.detach().cpu().clone() for name, value in state.items()}


def _try(job: Job, tier: Tier) -> Outcome:
    group = job.host_group
    run = _Training(job, job.options.seed)
    run.step(1)
    saved = {1: _copy(run.state(1))}
    size = sum(t.numel() * t.element_size() for t in saved[1].values())
    job.synchronize()
    job.barrier()
    before = time.perf_counter()
    checkpoints.save(run.state(1), tier, 1, group)
    blocked = max(job.gather(time.perf_counter() - before))

    run.step(2)
    saved[2] = _copy(run.state(2))
    background = job.group(backend="gloo")  # its collectives run in a thread beside ours
    job.synchronize()
    job.barrier()
    before = time.perf_counter()
    future = checkpoints.save_behind(run.state(2), tier, 2, background)
    stall = max(job.gather(time.perf_counter() - before))
    steps = 0
    while not future.done() or steps < 3:
        run.step(3 + steps)  # changes the weights under the save: it must have its own copy
        steps += 1
    future.result()
    total = max(job.gather(time.perf_counter() - before))

    wrong = _restores(job, tier, saved)
    retries = sum(job.gather(tier.retries))
    speed = Figure("checkpoint write", size / blocked / 1e9, "GB/s")
    share = Figure("checkpoint stall share", stall / blocked, "", better="lower")
    details = {
        "bytes": size, "sync_blocked_seconds": blocked, "async_blocked_seconds": stall, "async_total_seconds": total,
        "steps_beside_async_save": steps, "tier_retries": retries,
    }  # fmt: skip
    if wrong:
        return failed(wrong, figure=speed, details=details)
    limit = job.threshold("checkpoint_stall_share")
    details["stall_threshold"] = limit.entry(share.value) if limit else None
    outcome = passed(
        f"{size / 2**20:.0f} MiB restored bit for bit, damage refused; a synchronous save blocks {blocked:.2f} s, "
        f"an asynchronous one {stall:.3f} s" + (f"; {retries} transient faults of the tier retried" if retries else ""),
        figure=speed,
        figures=[share],
        details=details,
    )
    rated = job.options.checkpoint_rated_gb_s
    if rated:
        floor = RATED_SHARE * rated
        outcome.threshold = {
            "value": rated, "tolerance": 1 - RATED_SHARE, "floor": floor, "kind": "gate", "met": speed.value >= floor,
            "source": "rated write speed of the tier", "date": "2026-11-20",
        }  # fmt: skip
        if speed.value < floor:
            outcome.verdict = "below"
            outcome.reason = (
                f"checkpoints are written at {speed.value:.3g} GB/s, {floor:.3g} is needed ({RATED_SHARE:.0%} of the "
                f"tier's rated {rated:g}): look at the tier's throughput mode and at the node's network limit"
            )
    return outcome


def _restores(job: Job, tier: Tier, saved: dict[int, dict[str, torch.Tensor]]) -> str:
    """Empty, or what went wrong. The seeded fault is a tier that damages what it was given."""
    if job.broken("checkpoint"):
        _damage(job, tier, 2)
        _damage(job, tier, 1)
    found = checkpoints.newest_whole(tier, job.host_group)
    if found.step != 2:
        what = f"only step {found.step} is whole" if found.step else "none is whole"
        return (
            f"two checkpoints were saved without an error, but on reading back {what}: {' | '.join(found.refused)}. "
            "The tier damages data: check its consistency mode and its mount options, and keep the previous tier"
        )
    wrong = _differs(job, tier, 2, saved[2])
    if wrong:
        return wrong
    _damage(job, tier, 2)
    job.barrier()
    if job.head:  # a third that stopped half-way: data without a manifest
        tier.put(f"{checkpoints.folder_name(3)}/rank-00000", b"half")
    job.barrier()
    found = checkpoints.newest_whole(tier, job.host_group)
    if found.step != 1 or len(found.refused) != 2:
        return f"a damaged and a half-written checkpoint were not both refused: step {found.step}, {found.refused}"
    return _differs(job, tier, 1, saved[1])


def _differs(job: Job, tier: Tier, step: int, saved: dict[str, torch.Tensor]) -> str:
    other = _Training(job, job.options.seed + 1)
    state = other.state(0)
    checkpoints.restore(state, tier, step, job.host_group)
    training.load_state(other.model, other.optimizer, state)
    restored = _copy(other.state(int(state["step"])))
    unequal = [name for name, value in saved.items() if not torch.equal(value, restored[name])]
    everyone = job.gather(unequal[:3])
    for rank, names in enumerate(everyone):
        if names:
            return f"step {step} restored on rank {rank} differs from what was saved in {', '.join(names)}"
    return ""


def _damage(job: Job, tier: Tier, step: int) -> None:
    if job.head:
        name = f"{checkpoints.folder_name(step)}/rank-00000"
        blob = bytearray(tier.get(name))
        blob[len(blob) // 2] ^= 1
        tier.put(name, bytes(blob))
    job.barrier()
