"""One rank under torchrun: runs the checks in order and agrees with the others on each verdict."""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch.distributed as dist

from . import check_counters, flight, result, thresholds
from .ends import after, second_hand
from .inventory import code_version
from .job import Job, RankMissing, Unfit
from .notice import Notice, leave_at_once
from .options import UsageError, listed, parse
from .pulse import PULSE_S, Pulse
from .result import Figure, Outcome

_EXCHANGE = ("alltoall", "adapters", "gradients", "sharded", "interruption", "scaling")
"""Checks that mean nothing where collectives give wrong answers."""

STOPPED = 128 + 15
"""Exit code of a rank that torchrun stopped; the wrapper knows whether that was a preemption."""


def main(argv: Sequence[str]) -> int:
    """Runs one rank. Under the wrapper 0 means that result.json says the rest; without it, the verdict's own code."""
    try:
        options = parse(argv, os.environ)
    except UsageError as error:
        print("\n".join(f"smoke: {problem}" for problem in error.problems), file=sys.stderr)
        if os.environ["RANK"] == "0":
            print(result.line(result.unusable(error.problems)), flush=True)
        return result.EXIT["usage"]
    # Without the wrapper (plain torchrun) its part is done here; the run's id is the same on all ranks.
    scratch = Path(tempfile.gettempdir()) / f"smoke-{os.environ['TORCHELASTIC_RUN_ID']}"
    options = dataclasses.replace(
        options,
        nodes=options.nodes or max(1, int(os.environ["WORLD_SIZE"]) // int(os.environ["LOCAL_WORLD_SIZE"])),
        nproc_per_node=options.nproc_per_node or int(os.environ["LOCAL_WORLD_SIZE"]),
        result_dir=str(Path(options.result_dir).absolute()),
        scratch_dir=options.scratch_dir or str(scratch),
    )
    mark = _Mark(Path(options.result_dir))

    def stop() -> None:
        mark.write("stopped")
        os._exit(STOPPED)

    Notice(stop)
    try:
        job = Job(options, os.environ)
        code = Runner(job, mark).run()
    except BaseException as error:
        mark.write("raised", "".join(traceback.format_exception_only(error)).strip())
        traceback.print_exc()
        leave_at_once(1)
    mark.write("finished")
    return 0 if os.environ.get("SMOKE_WRAPPED") else code


class _Mark:
    """ranks/rank-N.json: how far this rank came, for whoever has to say which one died."""

    def __init__(self, folder: Path) -> None:
        self.rank = int(os.environ["RANK"])
        self.path = folder / "ranks" / f"rank-{self.rank}.json"
        self.met = ""  # what was caught in the check that runs
        self.write("started")

    def write(self, state: str, message: str = "") -> None:
        """Writes it; where a check was being left because of something, that is told besides, or it is all that is
        told where this rank only saw that another was gone."""
        if state == "caught":
            self.met = message
        elif state == "raised":
            message = after(message, self.met)
        document = {"rank": self.rank, "host": socket.gethostname(), "pid": os.getpid(), "state": state}
        result.write_json(self.path, document | {"message": message})

    def go_on(self) -> None:
        """What was caught in an earlier check has been told, and explains nothing of what comes."""
        if self.met:
            self.met = ""
            self.write("started")


class Posted(NamedTuple):
    """What a rank says of a check: its outcome, whether it lost its process groups, and where it stood then."""

    outcome: Outcome
    lost: bool = False
    stood: flight.Stand | None = None


class Runner:
    """Runs the checks; every rank holds the same entries afterwards."""

    def __init__(self, job: Job, mark: _Mark) -> None:
        self.job = job
        self.mark = mark
        self.checking = "rendezvous"
        self.listed = listed(job.options)
        self.pulse: Pulse | None = None
        self.started = float(os.environ.get("SMOKE_STARTED", time.time()))
        self.document = result.empty_document(job.options, self.started)
        self.document["topology"] |= {
            "nodes": job.nodes,
            "world_size": job.world_size,
            "ranks_per_node": job.local_world_size,
            "device": job.device.type,
            "backend": job.backend,
        }
        self.document["job"]["instance"] = job.instance
        self.document["job"]["code_version"] = code_version(job.options.code_version)
        self.figures: dict[str, list[Figure]] = {}  # of each check
        self.verdicts: dict[str, str] = {}

    def run(self) -> int:
        """All checks, then result.json; the exit code."""
        job = self.job
        before = time.monotonic()
        try:
            job.connect(lambda: self.checking)
            job.make_groups()
        except Unfit as error:  # without process groups, so that nothing else can be asked
            self._add("rendezvous", result.passed(f"{job.world_size} ranks announced themselves"), _since(before))
            self._add("devices", result.failed(str(error)), 0.0)
        except RankMissing as error:
            outcome = result.failed(str(error))
            self._add("rendezvous", outcome, _since(before))
            if not hasattr(job, "store"):
                raise
        self.pulse = job.watch
        for number, name in enumerate(self.listed, start=1):
            if name not in self.verdicts:
                self._check(number, name)
        return self._finish()

    def _check(self, number: int, name: str) -> None:
        job = self.job
        before = time.monotonic()
        self.checking = name
        outcome, seconds = self._skip(name), 0.0
        if outcome is None:
            module = import_module(f"{__package__}.check_{name}")
            self.mark.go_on()
            try:
                mine: Outcome = module.run(job)
                job.synchronize()  # a verdict on what a collective left that did not end is none
                job.post(f"{name}/{job.rank}", Posted(mine))
            except Exception as error:
                mine = result.failed(f"rank {job.rank} on {job.host}: {_text(error)}")
                if not _found_out(error):
                    mine.details["traceback"] = traceback.format_exc()
                # Before anything that may hang or take this process down: it may be the one who knows why.
                self.mark.write("caught", f"{_text(error)} (in check {name})")
                stood = None if isinstance(error, result.CheckFailed) else flight.stand(job.clock_s)
                job.post(f"{name}/{job.rank}", Posted(mine, True, stood))
                job.leave()  # which can hang, or raise once more, where the device is lost
            if job.head:
                merged = merge(self._collected(name), self._kept, job.hosts)
                job.post(f"{name}/all", (*merged, time.monotonic() - before))
            outcome, lost, seconds = job.read(f"{name}/all")
            if lost:
                job.renew()
        if outcome.verdict == "skipped" and (seeded := seeded_in(name, job.options.breaks)):
            outcome = result.failed(f"{seeded} was seeded, and nobody looked for it: {outcome.reason}")
        self._add(name, outcome, seconds)
        if name == "rendezvous" and job.inventories:
            self._describe()
            if "counters" in job.options.checks:
                job.counters_before = check_counters.take(job)
        if job.head:
            figure = result.figure_text(self.document["checks"][-1]["figure"])
            text = figure if figure and outcome.verdict == "pass" else outcome.reason
            print(
                f"smoke: [{number:2}/{len(self.listed)}] {name:<12} {outcome.verdict:<8} {seconds:5.1f} s  {text}",
                flush=True,
            )
        self._save("progress.json")

    def _collected(self, name: str) -> list[Posted]:
        """Every rank's outcome of a check. Raises RankMissing where one stays away, after which the job ends."""
        posted = self.job.collect(name, lambda posted: bool(posted.lost))
        away = sorted(set(range(self.job.world_size)) - posted.keys())
        if away:
            first = next(each.outcome.reason for each in posted.values() if each.lost)
            said = (
                f"did not come back from check {name} in the {self.job.patience_s:.0f} s after another had "
                f"failed ({first}): it lives, so its GPU, its driver or a file system hangs; look at its log, at "
                "dmesg, and for Xid errors"
            )
            assert self.pulse is not None, "a check runs after the ranks have met"
            self.pulse.tell(dict.fromkeys(away, said))
            raise RankMissing(f"rank {', '.join(map(str, away))} {said}")
        return [posted[rank] for rank in range(self.job.world_size)]

    def _kept(self, stands: Sequence[flight.Stand | None]) -> dict[int, str]:
        """Rank -> how it kept the others in a collective; empty where nobody can tell."""
        limit_s = self.job.options.collective_timeout_s
        assert self.pulse is not None, "a check runs after the ranks have met"
        paused = {
            rank: f"gave no sign of life for {seconds:.0f} s"
            for rank, seconds in self.pulse.pauses().items()
            if seconds > limit_s / 2 + PULSE_S
        }
        if 0 in paused:  # this process, which heard nobody meanwhile
            return {0: paused[0]}
        return paused or flight.behind(stands, limit_s)

    def _skip(self, name: str) -> Outcome | None:
        if name not in self.job.options.checks and name != "rendezvous":  # the others build on it
            return result.skipped("not asked for")
        if self.verdicts.get("rendezvous") == "fail":
            return result.skipped("needs rendezvous, which failed")
        if self.job.watch is not None and not dist.is_initialized():
            return result.skipped("needs devices, which failed: there are no process groups")
        if self.verdicts.get("collectives") == "fail" and name in _EXCHANGE:
            return result.skipped("needs collectives, which failed")
        return None

    def _add(self, name: str, outcome: Outcome, seconds: float) -> None:
        self.verdicts[name] = outcome.verdict
        self.document["checks"].append(outcome.entry(name, seconds))
        for curve, points in outcome.curves.items():
            self.document["curves"][curve] += points
        self.figures[name] = ([outcome.figure] if outcome.figure else []) + outcome.figures

    def _describe(self) -> None:
        job = self.job
        hosts: dict[str, dict[str, Any]] = {}
        for inventory in job.inventories:
            host = hosts.setdefault(
                inventory["host"],
                {"host": inventory["host"], "node_rank": inventory["node_rank"], "ranks": [], "devices": [],
                 "nics": inventory["nics"]},
            )  # fmt: skip
            host["ranks"].append(inventory["rank"])
            if inventory["device"]:
                host["devices"].append({key: inventory["device"][key] for key in ("name", "uuid", "memory_gib")})
        self.document["topology"]["hosts"] = list(hosts.values())
        self.document["topology"]["model"] = (job.inventories[0]["device"] or {}).get("name", "")
        self.document["versions"] |= job.inventories[0]["versions"]

    def _save(self, name: str) -> None:
        seconds = time.time() - self.started
        self.document["timings"]["seconds"] = round(seconds, 3)
        self.document["cost"] = result.cost(self.job.options, self.job.world_size, seconds)
        self.document["figures"] = [dataclasses.asdict(f) for figures in self.figures.values() for f in figures]
        self.document["unproven"] = result.unproven(self.document)
        if self.job.local_rank == 0:  # each node gets its copy, so each wrapper knows the code
            result.write_json(Path(self.job.options.result_dir) / name, self.document)

    def _finish(self) -> int:
        job = self.job
        if job.options.baseline:
            if job.head:
                self._compare()
                job.post("compared", self.document["checks"])
            self.document["checks"] = job.read("compared")
        verdict = result.overall(self.document["checks"])
        self.document["verdict"], self.document["exit_code"] = verdict, result.EXIT[verdict]
        self._save("result.json")
        if job.head and job.options.record_baseline and verdict == "pass":
            thresholds.write_baseline(Path(job.options.record_baseline), self.document)
        if self.pulse is not None:
            self.pulse.stop()
        # The store lives in rank 0: it may only go when the others are done with it.
        job.store.add("done", 1)
        if job.head:
            limit = job.options.rank_timeout_s if self.verdicts.get("rendezvous") != "fail" else 2.0
            deadline = time.monotonic() + limit
            while job.store.add("done", 0) < job.world_size and time.monotonic() < deadline:
                time.sleep(0.01)
        if self.verdicts.get("rendezvous") != "fail":
            job.leave()
        return int(self.document["exit_code"])

    def _compare(self) -> None:
        """Turns the verdict of a check to `below` where any of its figures dropped against the baseline's of that name.

        Every figure counts, not only the one that the check shows: which message size that is changes from run to run.
        """
        options = self.job.options
        baseline = thresholds.read_baseline(Path(options.baseline))
        mine = thresholds.identity(self.document)
        if baseline["identity"] != mine:
            different = [key for key in mine if mine[key] != baseline["identity"].get(key)]
            text = ", ".join(f"{k} {baseline['identity'].get(k)!r} against {mine[k]!r} here" for k in different)
            raise ValueError(f"baseline {options.baseline} is of another machine: {text}")
        for check in self.document["checks"]:
            dropped = thresholds.drops(baseline, self.figures[check["name"]], options.baseline_drop)
            if dropped:
                check["details"]["baseline"] = dropped
                if check["verdict"] == "pass":
                    check["verdict"] = "below"
                    check["reason"] = f"worse than the recorded baseline: {dropped[0]}"


def seeded_in(check: str, breaks: Sequence[str]) -> str:
    """The first fault among those that were asked for which this check has to find; empty where there is none. One that
    is not looked for must not end in a pass: whoever seeds it wants to see it found."""
    return next((name for name in breaks if name == check or name.startswith(f"{check}-")), "")


Kept = Callable[[Sequence[flight.Stand | None]], Mapping[int, str]]
"""From where each rank stood: which of them kept the others, and how."""


def merge(posted: Sequence[Posted], kept: Kept, hosts: Sequence[str]) -> tuple[Outcome, bool]:
    """Rank 0's outcome, worsened by what other ranks found; and whether any rank lost its process groups.

    Where every rank only saw that a collective did not end, the ranks that `kept` the others are named.
    """
    order = {"skipped": 0, "pass": 0, "below": 1, "fail": 2}
    outcomes = [each.outcome for each in posted]
    merged = outcomes[0]
    lost = any(each.lost for each in posted)
    # Those that raised because a peer left come second to the peer that had the reason.
    worst = max(outcomes, key=lambda o: (order[o.verdict], not second_hand(o.reason)))
    if worst is not merged and (order[worst.verdict] > order[merged.verdict] or lost):
        worst.details.setdefault("other_ranks", [o.reason for o in outcomes if o is not worst and o.verdict == "fail"])
        merged = worst
    if any(each.stood for each in posted):
        merged.details["stood_in"] = [str(each.stood) if each.stood else "" for each in posted]
        named = kept([each.stood for each in posted]) if second_hand(merged.reason) else {}
        if named:
            merged.details["seen"] = merged.reason
            said = "; ".join(f"rank {rank} on {hosts[rank]} {how}" for rank, how in named.items())
            merged.reason = f"{said}: its process or its GPU was held up; look at its log, at dmesg, and for Xid errors"
    return merged, lost


def _since(before: float) -> float:
    return time.monotonic() - before


def _found_out(error: BaseException) -> bool:
    """Whether a check found something out itself, and did not only meet what it tells of (`from None` keeps that)."""
    return isinstance(error, result.CheckFailed) and error.__context__ is None


def _text(error: BaseException) -> str:
    if isinstance(error, result.CheckFailed):
        return str(error)
    text = str(error).strip().splitlines() or ["no message"]
    if text[0].startswith("Caught "):  # from a loader's process: its traceback ends with the message
        return text[-1]
    return f"{type(error).__name__}: {text[0]}"
