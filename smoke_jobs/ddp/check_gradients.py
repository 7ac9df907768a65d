"""DDP on N ranks equals one process on the same global batch, and all ranks hold the same parameters.

float64, SGD with momentum, five steps: the only difference is the order of summation, so parameters agree to
`TOLERANCE` relative to their size. Between ranks no difference at all is allowed: checksums of each parameter's bytes
are gathered and must be equal.
"""

from __future__ import annotations

from collections import Counter

import torch
from torch.nn.parallel import DistributedDataParallel

from . import training
from .job import Job
from .result import Figure, Outcome, failed, passed, skipped

TOLERANCE = 1e-9
"""Largest relative difference; float64 rounds at 1e-16, five steps and a mean over ranks stay far below 1e-12."""

WIDTH, DEPTH, STEPS, BATCH = 64, 2, 5, 16


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: there is no gradient to exchange")
    with training.deterministic():
        together = _distributed(job)
        job.synchronize()  # gradients that did not all come are nobody's fault here
        alone = _single(job)
    wrong = _differences_between_ranks(job, together)
    if wrong:
        return failed(wrong)
    worst_name, worst = "", 0.0
    for (name, a), b in zip(together.named_parameters(), alone.parameters(), strict=True):
        difference = float(((a - b).abs().max() / b.abs().max().clamp_min(1e-3)).detach())
        if difference >= worst:
            worst_name, worst = name, difference
    figure = Figure("largest relative difference", worst, "", better="lower")
    threshold = {
        "value": TOLERANCE, "tolerance": 0.0, "floor": TOLERANCE, "kind": "gate", "met": worst <= TOLERANCE,
        "source": "rounding of float64 over five steps", "date": "2026-11-20",
    }  # fmt: skip
    if worst > TOLERANCE:
        return failed(
            f"after {STEPS} steps {worst_name} differs by {worst:.1e} (relative) between DDP on {job.world_size} ranks "
            f"and one process on the same batch, {TOLERANCE:.0e} is allowed: gradients are not averaged correctly",
            figure=figure,
            threshold=threshold,
        )
    return passed(
        f"equal to one process within {worst:.0e}, identical on all ranks", figure=figure, threshold=threshold
    )


def _batch(job: Job, step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    inputs, targets = training.batch(job.options.seed, step, rank, BATCH, WIDTH, torch.float64)
    return inputs.to(job.device), targets.to(job.device)


def _train(job: Job, model: torch.nn.Module, ranks: list[int], perturb: bool = False) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(STEPS):
        batches = [_batch(job, step, rank) for rank in ranks]
        inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(inputs), targets).backward()  # type: ignore[no-untyped-call]
        if perturb:
            gradient = next(model.parameters()).grad
            assert gradient is not None
            gradient.view(-1)[0] += 1e-3
        optimizer.step()


def _distributed(job: Job) -> torch.nn.Module:
    model = training.make_model(job.options.seed, WIDTH, DEPTH, torch.float64, job.device)
    wrapped = DistributedDataParallel(model, device_ids=[job.local_rank] if job.cuda else None)
    _train(job, wrapped, [job.rank], job.broken("gradients") and job.rank == job.world_size - 1)
    return model


def _single(job: Job) -> torch.nn.Module:
    model = training.make_model(job.options.seed, WIDTH, DEPTH, torch.float64, job.device)
    _train(job, model, list(range(job.world_size)))
    return model


def _differences_between_ranks(job: Job, model: torch.nn.Module) -> str:
    """Empty, or a sentence that names parameter and rank."""
    names = [name for name, _ in model.named_parameters()]
    everyone = job.gather([training.checksum(parameter) for parameter in model.parameters()])
    for index, name in enumerate(names):
        sums = [one[index] for one in everyone]
        usual, count = Counter(sums).most_common(1)[0]
        if count < len(sums):
            odd = [rank for rank, value in enumerate(sums) if value != usual]
            hosts = {job.inventories[rank]["host"] for rank in odd}
            return (
                f"parameter {name} differs on rank {', '.join(map(str, odd))} ({', '.join(sorted(hosts))}): its "
                "gradients were not those of the others; suspect its device's memory or a code path that skips the "
                "all-reduce"
            )
    return ""
