"""The wrapper around torchrun: what a container, a batch script or a laptop runs. It may be PID 1.

It parses the options, finds its place among the nodes, calls the roll, starts torchrun, passes SIGTERM and SIGUSR1
on, bounds the wall clock, and turns what the ranks left in the result folder into the exit code that torchrun hides.
On every node the code is the same; node 0 prints the table and the `SMOKE_RESULT` line. result.json is there in every
case after the options were understood: where the ranks could not finish, from what was known until then. Where any node
was lost, whatever the ranks made of it, all are preempted, so that the job starts again as a whole; the head decides
(`peers.py`), and ends with 0 only where every node has ended.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import local_mlflow, nccl_log, result, supervise
from .ends import FAILURES, SILENT, errors_of, first_hand, second_hand
from .options import Options, UsageError, listed, parse, to_json
from .peers import SETTLE_S, Peers, alone
from .rollcall import call_roll
from .topology import Topology, detect

AFTER_TIMEOUT_S = 5.0
"""From SIGTERM to SIGKILL once the job has run out of time."""

AFTER_BREAK_S = 10.0
"""How long this node's ranks may go on once those of another node have ended without a result, or once they have left
theirs themselves: a process group that is given up can hang."""

AFTER_SILENCE_S = 5.0
"""How long a node whose ranks have missed another waits for what the other nodes say."""

AT_ONCE_S = 1.0
"""From SIGTERM to SIGKILL where a rank is silent: it hears the first no more than anything else."""


def main(argv: Sequence[str]) -> int:
    """Runs the job; the exit code of `result.EXIT`."""
    code = supervise.run_as_init()
    if code is not None:
        return code
    try:
        options = parse(argv, os.environ)
        topology = detect(options, os.environ)
        options = _complete(options, topology)
        scratch = _scratch(options)
    except UsageError as error:
        for problem in error.problems:
            print(f"smoke: {problem}", file=sys.stderr)
        print(result.line(result.unusable(error.problems)), flush=True)
        return result.EXIT["usage"]
    try:
        return _Run(dataclasses.replace(options, scratch_dir=str(scratch)), topology).run()
    finally:
        if not options.scratch_dir:
            shutil.rmtree(scratch, ignore_errors=True)


def _scratch(options: Options) -> Path:
    """The scratch folder, which can be written. Raises UsageError."""
    try:
        scratch = Path(options.scratch_dir or tempfile.mkdtemp(prefix="smoke-"))
        scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=scratch):
            return scratch
    except OSError as error:
        where = options.scratch_dir or "of its own, a temporary folder,"
        raise UsageError([f"scratch_dir {where} cannot be written: {error}; give a folder on a local disk"]) from None


def _complete(options: Options, topology: Topology) -> Options:
    gpus = visible_gpus()
    problems = []
    if topology.nodes > 1 and options.tracking_uri == "local" and "tracking" in options.checks:
        problems.append("tracking_uri: `local` is for one node; give the stack's MLflow server, or `none`")
    if topology.nodes > 1:
        for check in ("checkpoint", "interruption"):
            if check in options.checks and not options.checkpoint_uri:
                problems.append(f"checkpoint_uri: check {check} on several nodes needs a tier that all of them reach")
    for name in ("baseline", "thresholds"):
        needed = name == "thresholds" or topology.node_rank == 0
        if needed and getattr(options, name) and not Path(getattr(options, name)).is_file():
            problems.append(f"{name}: there is no file {getattr(options, name)}")
    if problems:
        raise UsageError(problems)
    return dataclasses.replace(
        options,
        nodes=topology.nodes,
        node_rank=topology.node_rank,
        head=topology.head,
        expected_hosts=topology.hosts,
        nproc_per_node=options.nproc_per_node or gpus or 1,
        instance=options.instance or ("" if gpus else "cpu"),
        result_dir=str(Path(options.result_dir).absolute()),
    )


def visible_gpus() -> int:
    """NVIDIA GPUs that this container may use, without importing torch."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = [path for path in Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    if chosen is not None:
        return min(len([part for part in chosen.split(",") if part.strip() not in ("", "-1")]), len(devices))
    return len(devices)


class _Stopped(Exception):  # noqa: N818 - what happened
    """SIGTERM came while this node waited for the others."""


class _Run:
    """One run of the job on this node."""

    def __init__(self, options: Options, topology: Topology) -> None:
        self.options = options
        self.topology = topology
        self.folder = Path(options.result_dir)
        self.marker = uuid.uuid4().hex
        self.started = time.time()
        self.deadline = time.monotonic() + options.timeout_s
        self.preempted = False
        self.again = ""  # why the job has to be run again: which node was lost, and how
        self.broken = ""  # the verdict of another node's ranks, where it came before ours had ended
        self.errors: list[dict[str, Any]] = []  # of our ranks, as in result.json
        self.cut = False  # our ranks were stopped because of that
        self.peers: Peers = alone()
        self.calling = False  # the roll
        self.process: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        self._prepare()
        for name in ("result.json", "progress.json", SILENT, FAILURES):
            (self.folder / name).unlink(missing_ok=True)  # a code must not be read from an earlier run
        for old in (self.folder / "ranks").glob("*.json"):
            old.unlink()
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        os.environ[supervise.MARKER] = self.marker
        problem, ended = "", "error"
        try:
            if self.topology.nodes > 1:
                problem = self._roll_call()
            if not problem and not self.preempted:
                ended = self._torchrun()
            self._settle(ended)
        finally:
            supervise.sweep(self.marker)
        code = self._finish(problem, ended)
        self.peers.close()
        return code

    def _prepare(self) -> None:
        """Makes the result folder; where it cannot be written the result lies in the scratch folder, and is printed."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            print(
                f"smoke: result_dir {self.folder} cannot be written ({error}): the result is printed only", flush=True
            )
            self.folder = Path(self.options.scratch_dir) / "result"
            self.folder.mkdir(parents=True)
            self.options = dataclasses.replace(self.options, result_dir=str(self.folder))

    def _on_signal(self, number: int, _frame: object) -> None:
        self.preempted = True
        self.peers.stopped()
        if self.calling:
            self.calling = False  # once: the next signal must not interrupt what the first has led to
            raise _Stopped
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def _roll_call(self) -> str:
        o, t = self.options, self.topology
        try:
            self.calling = True
            if self.preempted:  # the signal came just before
                return ""
            roll = call_roll(t.node_rank, t.nodes, t.head, o.port + 1, o.rendezvous_timeout_s, t.hosts, o.port)
            self.calling = False
        except _Stopped:
            return ""
        finally:
            self.calling = False
        if roll.problem:
            for line in roll.lines.values():
                line.close()
        else:
            self.peers = Peers(t.node_rank, roll.lines, roll.joined)
        return roll.problem

    def _torchrun(self) -> str:
        o, t = self.options, self.topology
        extra = {"SMOKE_OPTIONS": to_json(o), "SMOKE_WRAPPED": "1", "SMOKE_STARTED": str(self.started)}
        if o.tracking_uri == "local" and "tracking" in o.checks and "tracking" not in o.breaks:
            extra |= local_mlflow.start(Path(o.scratch_dir))
        extra |= self._interfaces()
        if t.named:
            extra["SMOKE_NODE_NAME"] = t.hosts[t.node_rank]
        if o.expect_transport:
            extra |= nccl_log.log_environment(Path(o.scratch_dir))
        launch = supervise.Launch(
            nodes=t.nodes,
            nproc=o.nproc_per_node,
            head=t.head,
            port=o.port,
            is_head=t.node_rank == 0,
            # the same on every node, different for every run
            run_id=f"{o.job_name}-{o.seed}-{os.environ.get('SMOKE_ATTEMPT', '0')}",
            max_restarts=o.max_restarts,
            shutdown_timeout_s=o.shutdown_timeout_s,
            join_timeout_s=o.rendezvous_timeout_s,
            logs=o.scratch_dir,
            address=t.hosts[t.node_rank] if t.named and t.nodes > 1 else "",
            failures=str(self.folder / FAILURES),
        )
        self.process = launch.start(extra)
        if self.preempted:  # the signal came while torchrun was being started
            self.process.terminate()
        broken_at = left_at = 0.0
        while supervise.wait(self.process, min(1.0, self.deadline - time.monotonic())) is None:
            if time.monotonic() >= self.deadline:
                supervise.stop(self.process, AFTER_TIMEOUT_S)
                return "timeout"
            if (self.folder / SILENT).exists():
                supervise.stop(self.process, AT_ONCE_S)
                return "silent"
            if self.peers.lost:  # its ranks are gone, and ours may wait for them until the job is out of time
                supervise.stop(self.process, AFTER_TIMEOUT_S)
                return "preempted"
            if self.peers.broken:  # likewise, and something is wrong: our ranks may have to say what
                broken_at = broken_at or time.monotonic()
                silent = self.peers.broken == "silent"  # there is no more to be heard
                if silent or time.monotonic() - broken_at > AFTER_BREAK_S:
                    self.broken, self.cut = self.peers.broken, True
                    supervise.stop(self.process, AT_ONCE_S if silent else AFTER_TIMEOUT_S)
                    return self.broken
            if (self.folder / "result.json").exists():
                left_at = left_at or time.monotonic()
                if time.monotonic() - left_at > o.rank_timeout_s + AFTER_BREAK_S:  # rank 0 waits so long for the others
                    supervise.stop(self.process, AFTER_TIMEOUT_S)
        self.broken = self.peers.broken
        if (self.folder / SILENT).exists():
            return "silent"
        return "preempted" if self.preempted else "error"

    def _interfaces(self) -> dict[str, str]:
        """The interface that gloo is to use between nodes: it would take that of the host's own name, which Debian and
        Ubuntu map to 127.0.1.1. NCCL finds its own; where the platform names one, both are told.
        """
        if self.topology.nodes == 1:
            return {}
        if self.topology.interface:
            names = {"GLOO_SOCKET_IFNAME": self.topology.interface, "NCCL_SOCKET_IFNAME": self.topology.interface}
        else:
            names = {"GLOO_SOCKET_IFNAME": self.peers.interface()}
        return {key: name for key, name in names.items() if name and key not in os.environ}

    def _settle(self, ended: str) -> None:
        """Has the job settled among the nodes; a signal that comes afterwards changes nothing."""
        there = (self.folder / "result.json").exists()
        verdict = "" if there else "preempted" if self.preempted else ended
        if verdict in ("error", "silent"):
            self.errors = errors_of(self.folder, stopped=self.cut)
        # The node of a silent rank may be as silent itself.
        limit_s = AFTER_SILENCE_S if verdict == "silent" else max(SETTLE_S, self.deadline - time.monotonic())
        lost = self.peers.settle(verdict, limit_s, self.errors)
        if self.preempted and not self.peers.settled:
            self.again = "the job was told to stop (SIGTERM)"
        else:
            self.again = lost

    def _finish(self, problem: str, ended: str) -> int:
        path = self.folder / "result.json"
        if path.exists() and not self.again:
            document: dict[str, Any] = json.loads(path.read_text())
            if document["verdict"] == "pass" and not self.peers.settled:
                _end_with(document, "timeout", f"{self.peers.missing()} did not end within the job's time")
        else:
            document = self._incomplete(problem, ended)
        document["unproven"] = result.unproven(document)
        try:
            result.write_json(path, document)
        except OSError as error:
            print(f"smoke: {path} cannot be written ({error}): the result is printed only", flush=True)
        if self.topology.node_rank == 0:
            print(result.table(document))
        print(result.line(document), flush=True)
        return int(document["exit_code"])

    def _incomplete(self, problem: str, ended: str) -> dict[str, Any]:
        """The result where the ranks did not write one: what was done, and why the rest was not."""
        document = result.empty_document(self.options, self.started)
        progress = self.folder / "progress.json"
        if progress.exists():
            document = json.loads(progress.read_text())
        names = listed(self.options)
        done = {check["name"]: check for check in document["checks"]}
        if self.again:
            done = {name: check for name, check in done.items() if not _may_be_of_the_end(check)}
        running = next((name for name in names if name not in done and name in self.options.checks), "")
        silent = ended == "silent" and not self.again
        verdict = (
            "fail" if problem or (silent and running) else "preempted" if self.again else "error" if silent else ended
        )
        if silent or verdict == "error":
            document["errors"] = first_hand([*self.errors, *self.peers.errors])
            message = "torchrun ended before a rank started"
            if self.broken:
                message = "the ranks of another node ended without a result; see its log"
            _end_with(document, verdict, "" if document["errors"] else message)
        else:  # where all checks had passed, no reason of a check says why the job was preempted
            document["errors"] = []
            _end_with(document, verdict, self.again if verdict == "preempted" else "")
        if silent and running:
            done[running] = result.failed("; ".join(map(_told, document["errors"]))).entry(running, 0.0)
        why = {
            "fail": "a rank is silent; see errors" if silent else "needs rendezvous, which failed",
            "preempted": f"{self.again} before this check was done; run it again",
            "timeout": f"the job ran out of its {self.options.timeout_s:.0f} s in check {running}",
            "error": "a rank died" + (f" in check {running}" if done else "") + "; see errors",
        }[verdict]
        for name in names:
            done.setdefault(name, result.skipped(why).entry(name, 0.0))
        if problem:
            done["rendezvous"] = result.failed(problem).entry("rendezvous", time.time() - self.started)
        document["checks"] = [done[name] for name in names]
        document["timings"]["seconds"] = round(time.time() - self.started, 3)
        document["cost"] = result.cost(self.options, document["topology"]["world_size"], time.time() - self.started)
        return document


def _may_be_of_the_end(check: Mapping[str, Any]) -> bool:
    """Whether a check may have failed only because the job was being stopped: it was slow, something went wrong within
    it, or it saw that others were gone. What it found out itself (a device of another model, a damaged byte) stays."""
    if check["verdict"] != "fail":
        return bool(check["verdict"] == "below")
    return "traceback" in check["details"] or second_hand(check["reason"])


def _end_with(document: dict[str, Any], verdict: str, message: str) -> None:
    """Sets the verdict, with a `message` of this node where it is not empty."""
    document["verdict"], document["exit_code"] = verdict, result.EXIT[verdict]
    if message:
        document["errors"].append({"rank": -1, "host": socket.gethostname(), "message": message})


def _told(error: dict[str, Any]) -> str:
    who = f"rank {error['rank']} on {error['host']} " if error["rank"] >= 0 else ""
    return f"{who}{error['message']}"
