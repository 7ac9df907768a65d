"""Restores the newest checkpoint of a small training, trains on from it, and leaves the next one for the next time.

What is restored was written by the run before, a week ago as a rule: it has been through the tier's lifecycle,
versions, encryption and rights since. It counts when every byte agrees with its manifest, and when the model that it is
restored into, which began with other weights, has the loss that the checkpoint says. The last line on standard output
is the verdict, as JSON. Exit codes: 0 restored; 3 there was none, as the first time, and one was written; 10 it could
not be restored, or the next one not be written.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from typing import Any

import torch
from torch import nn
from torch.distributed.checkpoint.api import CheckpointException

from ..ddp import checkpoints, training
from ..ddp.tier import Tier, TierError, open_tier
from .exits import FAILED, FIRST, RESTORED

WIDTH, DEPTH, SEED, STEPS, BATCH = 512, 8, 20, 10, 64
"""A model of two million parameters: 25 MB with its optimizer's moments."""
KEPT = 3
"""Checkpoints that stay: where the newest is damaged, the one before says since when."""
CLOSE = 1e-3
"""How far two losses of one model may be apart, as a share: another release of torch, another processor."""


class _Sample:
    """The model with its optimizer; other weights for another seed."""

    def __init__(self, seed: int) -> None:
        self.model = training.make_model(seed, WIDTH, DEPTH)
        self.optimizer = training.make_optimizer(self.model)
        training.fill_optimizer(self.model, self.optimizer)

    def train(self, begin: int) -> None:
        for step in range(begin, begin + STEPS):
            training.train_step(self.model, self.optimizer, *training.batch(SEED, step, 0, BATCH, WIDTH))

    def loss(self) -> torch.Tensor:
        """On one batch that is always the same."""
        inputs, targets = training.batch(SEED, 0, 1, BATCH, WIDTH)
        with torch.no_grad():
            return nn.functional.mse_loss(self.model(inputs), targets)

    def state(self, number: int) -> dict[str, Any]:
        """What a checkpoint holds, with the loss that it has to have."""
        return training.state(self.model, self.optimizer, number) | {"loss": self.loss()}


def drill(tier: Tier) -> tuple[int, dict[str, Any]]:
    """The exit code and what is told; raises what the tier raises."""
    began = time.monotonic()
    found = checkpoints.newest_whole(tier)
    if found.refused:
        return FAILED, {"reason": f"the newest checkpoint is refused: {found.refused[0]}", "whole": found.step}
    sample, number = _Sample(SEED), found.step or 0
    if found.step is not None:
        sample = _Sample(SEED + 1)
        state = sample.state(0)
        checkpoints.restore(state, tier, number)
        training.load_state(sample.model, sample.optimizer, state)
        said, is_ = float(state["loss"]), float(sample.loss())
        if int(state["step"]) != number or not math.isclose(said, is_, rel_tol=CLOSE):
            return FAILED, {
                "reason": f"checkpoint {number} was restored, and its loss is {is_:.6g} in place of {said:.6g}"
            }
    restored_s = time.monotonic() - began
    sample.train(number * STEPS)
    written = sample.state(number + 1)
    checkpoints.save(written, tier, number + 1)
    again = _Sample(SEED + 2).state(0)
    checkpoints.restore(again, tier, number + 1)
    if wrong := [name for name, tensor in written.items() if not torch.equal(tensor, again[name])]:
        return FAILED, {"reason": f"checkpoint {number + 1} reads back otherwise than it was written: {wrong[0]}"}
    checkpoints.prune(tier, KEPT)
    told = {"restored": found.step, "written": number + 1, "restored_seconds": round(restored_s, 3)}
    if found.step is None:
        return FIRST, told | {"reason": "there was no checkpoint to restore: one is written for the next time"}
    return RESTORED, told


def main(arguments: list[str] | None = None) -> int:
    """Runs the drill on the tier that the command line names, and tells the verdict."""
    parser = argparse.ArgumentParser(prog="drill")
    parser.add_argument("--checkpoint-uri", required=True, help="s3://bucket/prefix or a folder")
    uri = parser.parse_args(arguments).checkpoint_uri
    try:
        code, told = drill(open_tier(uri))
    except CheckpointException as error:
        code, told = FAILED, {"reason": "; ".join(str(cause[0]) for cause in error.failures.values())}
    except (TierError, checkpoints.Refused) as error:
        code, told = FAILED, {"reason": str(error)}
    verdict = {RESTORED: "restored", FIRST: "first", FAILED: "failed"}[code]
    print(json.dumps({"drill": verdict, "tier": uri, **told}), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
