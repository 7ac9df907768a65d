"""One rank of the job inside the interruption check: trains, saves, may be killed, resumes.

Under torchrun like any user's job. `SMOKE_INTERRUPTION` holds the plan (`Plan`). The first attempt first trains
without any interruption and keeps those losses; then it trains again from the start with checkpoints. Kills are real:
the rank sends itself SIGKILL at its step, either between backward and optimizer, or inside a save, when its own bytes
are on the tier and the manifest is not. Each node's local rank 0 writes down the losses (they are means over all
ranks, so the same everywhere) as hexadecimal floats.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from . import checkpoints, training
from .notice import Notice, leave_at_once
from .result import EXIT, write_json
from .tier import open_tier

STEP_GRACE_S = 8.0
"""After SIGTERM: if no step ends within this, a peer is dead and the collective will not come back; leave."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A rank kills itself at a step; `phase` is `step` or `save`."""

    step: int
    rank: int
    phase: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What the inner job does. Attempt k (counted over restarts) suffers kills[k], if there is one."""

    folder: str  # records, local to the node
    tier: str
    seed: int
    steps: int
    save_every: int
    width: int
    depth: int
    batch: int
    kills: tuple[Kill, ...]
    pause_at: int  # wait for SIGTERM at this step (0: never), so that a notice always finds the job running
    lose_momenta: bool  # the seeded fault: a resume that forgets the optimizer's state
    timeout_s: float

    def to_json(self) -> str:
        """For SMOKE_INTERRUPTION."""
        return json.dumps(dataclasses.asdict(self))


def read_plan(text: str) -> Plan:
    """The plan that `to_json` wrote."""
    document = json.loads(text)
    return Plan(**document | {"kills": tuple(Kill(**kill) for kill in document["kills"])})


def main(_argv: Sequence[str]) -> int:
    """Trains to the end, or until a notice; 0, or 75 after a save on notice."""
    try:
        code = _Rank(read_plan(os.environ["SMOKE_INTERRUPTION"])).run()
    except Exception:
        traceback.print_exc()
        code = 1
    leave_at_once(code)


class _Rank:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.rank, self.local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
        # Restarts within one torchrun, after the attempts of earlier ones (a resubmitted job).
        self.attempt = int(os.environ.get("SMOKE_ATTEMPTS_BEFORE", "0")) + int(os.environ["TORCHELASTIC_RESTART_COUNT"])
        self.folder = Path(plan.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.progress = 0
        self.notice = Notice(self._watch)
        self.cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", self.local_rank) if self.cuda else torch.device("cpu")

    def _watch(self) -> None:
        """torchrun also sends SIGTERM when another rank died; then our collective may never come back."""
        seen = self.progress

        def look() -> None:
            if self.progress == seen:
                os._exit(128 + signal.SIGTERM)

        timer = threading.Timer(STEP_GRACE_S, look)
        timer.daemon = True
        timer.start()

    def run(self) -> int:
        if self.cuda:
            torch.cuda.set_device(self.device)
        limit = timedelta(seconds=self.plan.timeout_s)
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if self.cuda else "gloo",
            timeout=limit,
            device_id=self.device if self.cuda else None,
        )
        self.group = dist.new_group(timeout=limit, backend="gloo") if self.cuda else dist.group.WORLD
        with training.deterministic():
            if self.attempt == 0:
                self._reference()
            code = self._train()
        dist.destroy_process_group()
        return code

    def _reference(self) -> None:
        model, wrapped, optimizer = self._new()
        losses = {step: self._step(wrapped, optimizer, step) for step in range(1, self.plan.steps + 1)}
        if self.local_rank == 0:
            write_json(self.folder / "reference.json", losses)
        del model

    def _new(self) -> tuple[torch.nn.Module, torch.nn.Module, torch.optim.Optimizer]:
        plan = self.plan
        model = training.make_model(plan.seed, plan.width, plan.depth, device=self.device)
        wrapped = DistributedDataParallel(model, device_ids=[self.local_rank] if self.cuda else None)
        return model, wrapped, training.make_optimizer(model)

    def _step(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, step: int, kill: Kill | None = None
    ) -> str:
        plan = self.plan
        inputs, targets = training.batch(plan.seed, step, self.rank, plan.batch, plan.width)
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(inputs.to(self.device)), targets.to(self.device))
        loss.backward()  # type: ignore[no-untyped-call]
        if kill is not None and kill.phase == "step" and kill.step == step:
            self._die(kill)
        optimizer.step()
        mean = loss.detach().to("cpu", torch.float64)
        dist.all_reduce(mean, group=self.group)
        self.progress += 1
        return float(mean / dist.get_world_size()).hex()

    def _die(self, kill: Kill) -> None:
        if kill.rank == self.rank:
            record = dataclasses.asdict(kill) | {"attempt": self.attempt, "time": time.time()}
            write_json(self.folder / f"kill-{self.attempt}.json", record)
            os.kill(os.getpid(), signal.SIGKILL)

    def _train(self) -> int:
        plan, tier = self.plan, open_tier(self.plan.tier)
        model, wrapped, optimizer = self._new()
        found = checkpoints.newest_whole(tier, self.group)
        start = 0
        if found.step is not None:
            training.fill_optimizer(model, optimizer)
            state = training.state(model, optimizer, 0)
            checkpoints.restore(state, tier, found.step, self.group)
            start = training.load_state(model, optimizer, state, momenta=not plan.lose_momenta)
            if plan.lose_momenta:
                optimizer = training.make_optimizer(model)
        self._record({"resumed_from": start, "refused": found.refused})
        kill = plan.kills[self.attempt] if self.attempt < len(plan.kills) else None
        for step in range(start + 1, plan.steps + 1):
            loss = self._step(wrapped, optimizer, step, kill)
            self._record({"step": step, "loss": loss, "time": time.time()})
            if plan.pause_at == step:
                self.notice.given.wait(plan.timeout_s)
            # One rank that leaves alone would hang the others: all stop on the same step.
            told = torch.tensor([float(self.notice.given.is_set())])
            dist.all_reduce(told, op=dist.ReduceOp.MAX, group=self.group)
            if told.item():
                checkpoints.save(training.state(model, optimizer, step), tier, step, self.group)
                self._record({"saved_on_notice": step, "notice": self.notice.at, "time": time.time()})
                return EXIT["preempted"]
            if step % plan.save_every == 0 or (kill is not None and kill.phase == "save" and kill.step == step):
                self._save(model, optimizer, step, kill, tier)
        self._record({"finished": plan.steps, "time": time.time()})
        return 0

    def _save(self, model: Any, optimizer: Any, step: int, kill: Kill | None, tier: Any) -> None:
        state = training.state(model, optimizer, step)
        if kill is not None and kill.phase == "save" and kill.step == step:
            # Dies where a real save is weakest: bytes are on the tier, the manifest is not.
            put = tier.put

            def put_and_die(name: str, data: bytes) -> None:
                put(name, data)
                self._die(kill)

            tier.put = put_and_die
            checkpoints.save(state, tier, step, self.group)
        else:
            checkpoints.save(state, tier, step, self.group)
            if self.rank == 0:
                checkpoints.prune(tier, keep=3)

    def _record(self, entry: dict[str, Any]) -> None:
        if self.local_rank == 0:
            with (self.folder / f"attempt-{self.attempt}.jsonl").open("a") as stream:
                stream.write(json.dumps(entry) + "\n")
