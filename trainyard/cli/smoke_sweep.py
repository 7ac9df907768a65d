"""`trainyard smoke STACK --sweep`: a job on every node of a pool, then on pairs, then on swapped pairs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from trainyard.conventions import POOL_LABEL, gpu_node_labels
from trainyard.problems import count
from trainyard.smoke_jobs.ddp.result import EXIT, size_text
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec
from trainyard.smoke_jobs.sweep import Nodes, Ran, Verdict, isolate, medians, rounds, table

if TYPE_CHECKING:
    from trainyard.smoke_jobs.launch.follow import CheckDone, Ended, View

Run = Callable[[SmokeSpec, "View"], "Ended"]
"""One job of the sweep, from its submission to its end. Raises LaunchError."""

FIGURES: Final = ("compute of", "memory within", "memory host", "memory device", "busbw all_to_all")
"""How the figures begin that nodes are compared by: those of the hardware, not of what all share. All are of level
standard; besides them the bandwidth of the largest all-reduce, which every level has."""

LARGEST: Final = "all_reduce"
"""The collective whose largest message nodes and pairs are compared by: what training does most."""


_WHY_NOT: Final = "that takes three jobs of one size with the same figure, and level standard measures them"


class _Told:
    """Shows the progress of one of many jobs: only its checks that did not pass, and what it waits for."""

    def __init__(self, view: View, nodes: Nodes, lock: threading.Lock, given_up: threading.Event) -> None:
        self._view, self._name, self._lock, self._given_up = view, " + ".join(nodes), lock, given_up

    def status(self, text: str) -> None:
        """See View."""
        with self._lock:
            self._view.status(f"{self._name}: {text}")

    def still_wanted(self) -> None:
        """See View: Ctrl-C reaches the main thread alone, and each job is cancelled by the thread that follows it."""
        if self._given_up.is_set():
            raise KeyboardInterrupt

    def check_done(self, done: CheckDone) -> None:
        """See View."""
        if done.verdict in ("fail", "below"):
            with self._lock:
                self._view.status(f"{self._name}: {done.name} {done.verdict}: {done.text}")


def selector(spec: SmokeSpec) -> dict[str, str]:
    """The labels of the nodes that are swept."""
    return gpu_node_labels(spec.pool, spec.capacity) if spec.capacity else {POOL_LABEL: spec.pool}


def sweep(spec: SmokeSpec, nodes: Sequence[str], run: Run, view: View) -> list[Ran]:
    """Runs the jobs, each round all at once: the queue decides how many run beside each other.

    Raises LaunchError where the pool has no nodes now.
    """
    if not nodes:
        raise LaunchError(
            f"--sweep: pool {spec.pool} has no nodes now; it sweeps those that are up, so start them first (a job on "
            "each, or the pool's minimum)"
        )
    results = _round(spec, [(name,) for name in nodes], run, view)
    for pairs in rounds([ran.nodes[0] for ran in results if ran.passed]):
        results += _round(spec, pairs, run, view)
    return results


def _round(spec: SmokeSpec, jobs: Sequence[Nodes], run: Run, view: View) -> list[Ran]:
    lock, given_up = threading.Lock(), threading.Event()

    def one(nodes: Nodes) -> Ran:
        try:
            ended = run(replace(spec, nodes=len(nodes), hosts=nodes), _Told(view, nodes, lock, given_up))
        except LaunchError as error:
            return Ran(nodes, None, str(error))
        return read(nodes, ended)

    with ThreadPoolExecutor(max_workers=max(1, len(jobs))) as pool:
        try:
            return list(pool.map(one, jobs))
        except BaseException:
            given_up.set()
            view.status("stopping: every job is cancelled")
            raise


def read(nodes: Nodes, ended: Ended) -> Ran:
    """What a job of the sweep says of its nodes: nothing, where it was reclaimed or had none in time."""
    document: dict[str, Any] = ended.document or {}
    checks = document.get("checks", [])
    wrong = [f"{check['name']}: {check['reason']}" for check in checks if check["verdict"] in ("fail", "below")]
    wrong += [str(error["message"]) for error in document.get("errors", [])]
    figures = {
        figure["name"]: float(figure["value"])
        for figure in document.get("figures", [])
        if figure["better"] == "higher" and figure["name"].startswith(FIGURES)
    } | _bandwidth(document)
    if not document or document["verdict"] == "preempted":
        return Ran(nodes, None, ended.reason or "; ".join(wrong) or "it was reclaimed")
    return Ran(nodes, document["verdict"] == "pass", "; ".join(wrong) or ended.reason, figures)


def _bandwidth(document: dict[str, Any]) -> dict[str, float]:
    """The bus bandwidth of the largest all-reduce of a job, by the name that its check gives it, in GB/s."""
    points = [p for p in document.get("curves", {}).get("bandwidth", []) if p["collective"] == LARGEST]
    if not points:
        return {}
    point = max(points, key=lambda each: int(each["bytes"]))
    return {f"busbw {LARGEST} {size_text(point['bytes'])}": float(point["busbw_gb_s"])}


def told(results: Sequence[Ran]) -> tuple[str, dict[str, Any], int]:
    """The sweep as text, as a document, and its exit code."""
    verdict: Verdict = isolate(results)
    lines = [table(results), ""]
    lines += [f"bad node {name}: {reason}" for name, reason in verdict.bad_nodes.items()]
    lines += [f"bad link {' - '.join(nodes)}: {reason}" for nodes, reason in verdict.bad_links.items()]
    lines += [f"no verdict on {' + '.join(nodes)}" for nodes in verdict.unknown]
    if verdict.passed:
        compared = sorted({name for size in (1, 2) for name in medians(results, size)})
        lines.append(
            f"{count(sum(len(ran.nodes) == 1 for ran in results), 'node')} passed, alone and with their peers; "
            + (f"compared by {', '.join(compared)}" if compared else f"not compared: {_WHY_NOT}")
        )
    wrong = bool(verdict.bad_nodes or verdict.bad_links)
    code = EXIT["fail"] if wrong else EXIT["error"] if verdict.unknown else EXIT["pass"]
    document = {
        "schema": "trainyard.smoke-sweep/1",
        "exit_code": code,
        "jobs": [asdict(ran) for ran in results],
        "bad_nodes": dict(verdict.bad_nodes),
        "bad_links": [{"nodes": nodes, "reason": reason} for nodes, reason in verdict.bad_links.items()],
        "unknown": verdict.unknown,
    }
    return "\n".join(lines), document, code
