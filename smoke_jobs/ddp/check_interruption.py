"""A rank is killed, the job is told to stop; each time it resumes exactly where the newest whole checkpoint was.

A job of its own under its own torchrun (`interrupted.py`), on the same nodes and devices:
1. It trains without interruption, keeping the losses.
2. It trains again; at a random step a random rank gets SIGKILL, between backward and optimizer or inside a save.
   torchrun restarts the ranks, which resume from the newest whole checkpoint. With `kills` above 1, again and again.
3. torchrun gets SIGTERM, as before a spot reclaim: all ranks stop on the same step and save; the job is preempted.
4. The job is started again, resumes from that save, and ends.
Every loss after a resume must equal the uninterrupted run's bit for bit. Figure: seconds from the kill to the first
new step, the slowest of all kills.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import socket
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from . import supervise
from .interrupted import Kill, Plan
from .job import Job
from .result import EXIT, Figure, Outcome, failed, passed, skipped
from .tier import clear

SAVE_EVERY = 3
STEPS_A_KILL = 5


class Broken(Exception):  # noqa: N818 - a verdict
    """The interruption did not go as it must; the text is the reason."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.exclusive:
        return skipped(f"{job.exclusive}, and this check starts a job of its own beside us: `nvidia-smi -c DEFAULT`")
    shared = job.broadcast((uuid.uuid4().hex[:12], job.options.head or socket.gethostname()))
    plan = make_plan(job, shared[0])
    if job.cuda:
        torch.cuda.empty_cache()  # the inner job uses the same devices
    # Two processes a device with communicators of their own fail where an adapter's huge pages are counted for one.
    job.leave()
    report: Report | str = ""
    if job.local_rank == 0:
        try:
            report = Supervisor(job, plan, shared[1]).run()
        except Broken as broken:
            report = f"{job.host}: {broken}"
        except Exception as error:  # the other ranks wait for a report, whatever it is
            report = f"{job.host}: the records of the inner job cannot be read: {type(error).__name__}: {error}"
    # The other ranks of the node wait here; the store waits without the limit of a collective.
    job.post(f"interrupted/{shared[0]}/{job.rank}", report)
    reports = [job.read(f"interrupted/{shared[0]}/{rank}") for rank in range(job.world_size)]
    job.renew()
    if job.head and not job.options.keep_files:
        clear(plan.tier)
    wrong = [text for text in reports if isinstance(text, str) and text]
    if wrong:
        return failed(wrong[0], details={"plan": dataclasses.asdict(plan)})
    return _outcome(job, plan, [r for r in reports if isinstance(r, Report)])


def _outcome(job: Job, plan: Plan, nodes: list[Report]) -> Outcome:
    killed = {kill: time_ for node in nodes for kill, time_ in node.killed.items()}
    seconds = {kill: nodes[0].resumed[kill] - time_ for kill, time_ in killed.items()}
    slowest = max(seconds.values())
    outcome = passed(
        f"{len(plan.kills)} of {len(plan.kills)} kills and 1 of 1 notices resumed exactly; kill to new step "
        f"{slowest:.1f} s, save on notice {nodes[0].save_seconds:.2f} s",
        figure=Figure("kill to resumed step", slowest, "s", better="lower"),
        details={
            "kills": [dataclasses.asdict(kill) for kill in plan.kills],
            "kill_to_resumed_seconds": [round(seconds[n], 3) for n in sorted(seconds)],
            "save_on_notice_seconds": nodes[0].save_seconds,
            "resubmitted_to_step_seconds": nodes[0].resubmit_seconds,
            "resumes": nodes[0].resumes,
            "refused": nodes[0].refused,
            "losses_compared": nodes[0].compared,
        },
    )
    return job.judge(
        outcome, "kill_to_resumed", "look at the image's import time, the tier's read speed, and the store"
    )


def make_plan(job: Job, name: str) -> Plan:
    """Kills at random steps and ranks, in random phases; the same on every rank for the same seed."""
    chance = random.Random(job.options.seed)  # noqa: S311 - not a secret
    kills: list[Kill] = []
    whole = SAVE_EVERY  # the first kill comes after the first checkpoint, so that there is something to resume from
    for _ in range(job.options.kills):
        # Not its first step after a resume: the time until that step is the figure.
        step = whole + 1 + chance.randint(1, STEPS_A_KILL)
        kills.append(Kill(step, chance.randrange(job.world_size), chance.choice(["step", "save"])))
        whole = (step - 1) // SAVE_EVERY * SAVE_EVERY  # where the job resumes from: the next kill comes after it
    notice = max(kill.step for kill in kills) + chance.randint(1, 4)
    tier = job.options.checkpoint_uri or f"{job.options.scratch_dir}/checkpoints"
    return Plan(
        folder=f"{job.options.scratch_dir}/interruption-{name}",
        tier=f"{tier.rstrip('/')}/interruption-{name}",
        seed=job.options.seed,
        steps=notice + SAVE_EVERY + 2,
        save_every=SAVE_EVERY,
        width=128,
        depth=2,
        batch=16,
        kills=tuple(kills),
        pause_at=notice,
        lose_momenta=job.broken("interruption"),
        timeout_s=job.options.collective_timeout_s,
    )


@dataclass(slots=True)
class Report:
    """What one node saw. Times in seconds since the epoch by its own clock."""

    killed: dict[int, float] = field(default_factory=dict)  # attempt -> time; only on the victim's node
    resumed: dict[int, float] = field(default_factory=dict)  # attempt that was killed -> time of the first new step
    resumes: list[int] = field(default_factory=list)  # step of the checkpoint that each attempt started from
    refused: list[str] = field(default_factory=list)
    save_seconds: float = 0.0
    resubmit_seconds: float = 0.0
    compared: int = 0


class Supervisor:
    """One node's share: starts its agent, sends the signals, reads the records."""

    def __init__(self, job: Job, plan: Plan, head: str) -> None:
        self.job, self.plan, self.head = job, plan, head
        self.folder = Path(plan.folder)

    def run(self) -> Report:
        """Raises Broken."""
        plan = self.plan
        first = self._start(plan, 0, 2)
        try:
            self._until_pause(first)
            first.terminate()
            noticed = time.time()
            if supervise.wait(first, plan.timeout_s) is None:
                raise Broken(f"the job did not end within {plan.timeout_s:.0f} s of SIGTERM")
        finally:
            supervise.stop(first, 0)
        records = self._records()
        saved = [entry for entry in records[-1] if "saved_on_notice" in entry]
        code = EXIT["preempted"] if saved else EXIT["error"]
        if code != EXIT["preempted"]:
            raise Broken("SIGTERM did not lead to a saved checkpoint: the ranks ended without one")
        resubmitted = time.time()
        second = self._start(dataclasses.replace(plan, pause_at=0), len(records), 3)
        try:
            ended = supervise.wait(second, plan.timeout_s)
        finally:
            supervise.stop(second, 0)
        if ended != 0:
            raise Broken(f"the job did not end well after it was started again (torchrun: {ended})")
        report = self._verify()
        report.save_seconds = saved[-1]["time"] - noticed
        report.resubmit_seconds = next(e["time"] for e in self._records()[-1] if "step" in e) - resubmitted
        return report

    def _start(self, plan: Plan, attempts_before: int, port: int) -> subprocess.Popen[bytes]:
        options = self.job.options
        launch = supervise.Launch(
            nodes=self.job.nodes,
            nproc=self.job.local_world_size,
            head=self.head,
            port=options.port + port,
            is_head=self.job.nodes == 1 or options.node_rank == 0,
            run_id=f"{Path(plan.folder).name}-{port}",
            max_restarts=len(plan.kills),
            shutdown_timeout_s=options.shutdown_timeout_s,
            join_timeout_s=options.rank_timeout_s,
            logs=options.scratch_dir,
            # As for the outer job: the host's own name may mean nothing to the others.
            address=os.environ.get("SMOKE_NODE_NAME", "") if self.job.nodes > 1 else "",
        )
        extra = {
            "SMOKE_ROLE": "interrupted",
            "SMOKE_INTERRUPTION": plan.to_json(),
            "SMOKE_ATTEMPTS_BEFORE": str(attempts_before),
            "TORCH_CPP_LOG_LEVEL": "ERROR",  # peers of a killed rank complain at length
        }
        if self.job.cuda:
            extra["NCCL_ALGO"] = "Ring"  # NVLS, which H100 and later take, does not add in the same order every time
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"torchrun-{port}.log").open("wb") as stream:
            return subprocess.Popen(
                launch.command(),
                env=supervise.environment(launch.nproc, extra),
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _until_pause(self, process: subprocess.Popen[bytes]) -> None:
        """Waits until the job stands at the step where the notice comes."""
        plan = self.plan
        deadline = time.monotonic() + plan.timeout_s * (1 + len(plan.kills) / 4)
        while time.monotonic() < deadline:
            attempts = self._records()
            if attempts and any(entry.get("step") == plan.pause_at for entry in attempts[-1]):
                return
            if supervise.wait(process, 0.05) is not None:
                tail = (self.folder / "torchrun-2.log").read_text(errors="replace").strip().splitlines()[-1:]
                raise Broken(
                    f"torchrun gave up after {len(attempts)} attempts of {len(plan.kills) + 1}: a killed rank was not "
                    f"restarted ({''.join(tail)})"
                )
        raise Broken(f"after {len(self._records())} attempts the job did not reach step {plan.pause_at}: it hangs")

    def _records(self) -> list[list[dict[str, Any]]]:
        """The entries of each attempt; a line that is being written is left out."""
        attempts: list[list[dict[str, Any]]] = []
        while (path := self.folder / f"attempt-{len(attempts)}.jsonl").exists():
            attempts.append(
                [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
            )
        return attempts

    def _verify(self) -> Report:
        reference: dict[str, str] = json.loads((self.folder / "reference.json").read_text())
        report, attempts = Report(), self._records()
        if len(attempts) != len(self.plan.kills) + 2:
            raise Broken(f"{len(attempts)} attempts, {len(self.plan.kills) + 2} expected: a rank died unasked")
        for number, entries in enumerate(attempts):
            start = entries[0]["resumed_from"]
            steps = [entry for entry in entries if "step" in entry]
            report.resumes.append(start)
            report.refused += entries[0]["refused"]
            for entry in steps:
                expected = reference[str(entry["step"])]
                if entry["loss"] != expected:
                    got, want = float.fromhex(entry["loss"]), float.fromhex(expected)
                    raise Broken(
                        f"resumed from step {start}, the loss at step {entry['step']} is {got!r}, the uninterrupted "
                        f"run had {want!r}: the checkpoint lacks a part of the state (optimizer, random numbers) or "
                        "the data order depends on the process"
                    )
                report.compared += 1
            killed = self.folder / f"kill-{number}.json"
            if killed.exists():
                report.killed[number] = json.loads(killed.read_text())["time"]
            if number < len(self.plan.kills):
                self._resumes_right(number, attempts)
                report.resumed[number] = next(e["time"] for e in attempts[number + 1] if "step" in e)
        notice = next(e["saved_on_notice"] for e in attempts[-2] if "saved_on_notice" in e)
        if report.resumes[-1] != notice:
            raise Broken(f"saved on notice at step {notice}, but resumed from step {report.resumes[-1]}")
        if not any(e.get("finished") == self.plan.steps for e in attempts[-1]):
            raise Broken("the last attempt did not reach the end")
        return report

    def _resumes_right(self, number: int, attempts: list[list[dict[str, Any]]]) -> None:
        """Attempt `number` was killed; the next must start from the newest checkpoint that was whole then."""
        kill = self.plan.kills[number]
        start = attempts[number][0]["resumed_from"]
        whole = max([start, *range(SAVE_EVERY, kill.step, SAVE_EVERY)])
        resumed = attempts[number + 1][0]["resumed_from"]
        if resumed != whole:
            raise Broken(
                f"killed at step {kill.step}, resumed from step {resumed}; step {whole} was the newest whole one"
            )
