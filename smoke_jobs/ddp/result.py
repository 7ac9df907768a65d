"""result.json: what a run found out, its schema, and the exit codes.

    schema      "trainyard.smoke/1"
    job         {id, name, stack, pool, target, level, instance, capacity, image, code_version}
    topology    {nodes, world_size, ranks_per_node, device: "cuda"|"cpu", backend, model,
                 hosts: [{host, node_rank, ranks, devices: [{name, uuid, memory_gib}], nics}]}
    versions    {python, torch, cuda, nccl, driver, …}: strings, "" where there is none
    checks      one entry each of those that the level has or that were asked for, in the order of options.CHECKS:
                 {name, verdict: pass|fail|below|skipped, reason: one sentence a platform engineer can act on,
                  figure: null | {name, value, unit, better: higher|lower},
                  threshold: null | {value, tolerance, floor, kind: gate|reference, source, date, met: bool|null},
                  seconds, details: {…}}
    curves      {bandwidth: [{collective, bytes, algbw_gb_s, busbw_gb_s, seconds_median, seconds_p95, iterations}],
                 scaling: [{ranks, nodes, samples_per_second, efficiency, expected}]}
                 bytes as nccl-tests counts them; 1 GB/s = 10^9 B/s
    figures     [{name, value, unit, better}]: every figure, what a baseline holds
    verdict     pass|fail|below|preempted|timeout|error; usage where the options were wrong, which is only printed
    exit_code   EXIT[verdict]
    timings     {started: UTC ISO 8601, seconds}
    cost        {device_hours, node_hours, usd: number|null}
    errors      [{rank, host, message}] of ranks that raised or died
    unproven    {fabric|dcgm: [check]}: of what ran, what this project has tried on CPUs and with records
                only, never on such hardware; empty where there was none

The file is written whole or not at all, and last. `SMOKE_RESULT {json}` on one line is the same without `details`,
`curves` and `figures`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from .options import CHECKS, LEVELS, Options

_UTC = timezone.utc  # noqa: UP017 - images with Python 3.10 have no datetime.UTC

SCHEMA = "trainyard.smoke/1"
Verdict = Literal["pass", "fail", "below", "skipped"]

EXIT = {"pass": 0, "error": 1, "usage": 2, "fail": 10, "below": 20, "preempted": 75, "timeout": 124}
"""Exit codes. 75 is EX_TEMPFAIL of sysexits.h, 124 is what timeout(1) gives."""

LINE_PREFIX = "SMOKE_RESULT "


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with its unit, and which way is better."""

    name: str
    value: float
    unit: str
    better: Literal["higher", "lower"] = "higher"


@dataclass(slots=True)
class Outcome:
    """What a check returns. `reason` is one sentence; on fail or below it says what to look at."""

    verdict: Verdict
    reason: str
    figure: Figure | None = None
    threshold: dict[str, Any] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)  # further ones, for the baseline
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def entry(self, name: str, seconds: float) -> dict[str, Any]:
        """The check's entry in result.json."""
        return {
            "name": name,
            "verdict": self.verdict,
            "reason": self.reason,
            "figure": asdict(self.figure) if self.figure else None,
            "threshold": self.threshold,
            "seconds": round(seconds, 3),
            "details": self.details,
        }


def passed(reason: str, **rest: Any) -> Outcome:
    """A pass."""
    return Outcome("pass", reason, **rest)


def failed(reason: str, **rest: Any) -> Outcome:
    """A failure: something is wrong, not slow."""
    return Outcome("fail", reason, **rest)


class CheckFailed(Exception):  # noqa: N818 - a verdict
    """A check failed on this rank while others may wait for it; the runner frees them. The text is the reason."""


def skipped(reason: str, **rest: Any) -> Outcome:
    """Not applicable here, or not possible because of another check; the reason says which."""
    return Outcome("skipped", reason, **rest)


def empty_document(options: Options, started: float) -> dict[str, Any]:
    """A result document without checks; times in seconds since the epoch."""
    world = options.nodes * options.nproc_per_node
    return {
        "schema": SCHEMA,
        "job": {
            "id": f"{options.job_name}-{datetime.fromtimestamp(started, _UTC):%Y%m%dT%H%M%SZ}",
            "name": options.job_name,
            "stack": options.stack,
            "pool": options.pool,
            "target": options.target,
            "level": options.level,
            "instance": options.instance,
            "capacity": options.capacity,
            "image": options.image,
            "code_version": options.code_version,
        },
        "topology": {
            "nodes": options.nodes,
            "world_size": world,
            "ranks_per_node": options.nproc_per_node,
            "device": "",
            "backend": "",
            "model": "",
            "hosts": [],
        },
        "versions": {"python": sys.version.split()[0]},
        "checks": [],
        "curves": {"bandwidth": [], "scaling": []},
        "figures": [],
        "verdict": "error",
        "exit_code": EXIT["error"],
        "timings": {"started": datetime.fromtimestamp(started, _UTC).isoformat(), "seconds": 0.0},
        "cost": cost(options, world, 0.0),
        "errors": [],
        "unproven": {},
    }


def unusable(problems: Sequence[str]) -> dict[str, Any]:
    """What a result would hold of a job that was told wrong options, one sentence each: no check ran."""
    document = empty_document(Options(), time.time())
    document["checks"] = [skipped("the options are wrong").entry(name, 0.0) for name in LEVELS["quick"]]
    document["verdict"], document["exit_code"] = "usage", EXIT["usage"]
    document["errors"] = [{"rank": -1, "host": socket.gethostname(), "message": problem} for problem in problems]
    return document


UNPROVEN: Mapping[str, tuple[str, ...]] = {
    "fabric": ("collectives", "alltoall", "transport", "adapters", "counters"),
    "dcgm": ("dcgm",),
}
"""Ways through a check that only a fast network between nodes, or DCGM has, and that none of these has run yet.
Whoever runs the job on such hardware and sees a check do right takes it out. Those of a device ran on an H200 and an
H100 on 2026-11-26: torch 2.11.0, CUDA 13.0, driver 580.159.04; those that exchange data with NCCL 2.28.9 between two
processes on one GPU, through sockets (`docs/smoke.md`)."""


def unproven(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """The ways of `UNPROVEN` that this run took, with the checks that took them."""
    topology = document["topology"]
    if topology["device"] != "cuda":
        return {}
    ran = [check["name"] for check in document["checks"] if check["verdict"] != "skipped"]
    ways = {"fabric": topology["nodes"] > 1, "dcgm": True}
    found = {way: [name for name in ran if name in UNPROVEN[way]] for way, taken in ways.items() if taken}
    return {way: names for way, names in found.items() if names}


def unproven_text(document: Mapping[str, Any]) -> str:
    """`never tried on such hardware by this project: fabric (transport); dcgm (dcgm)`, or empty."""
    ways = "; ".join(f"{way} ({', '.join(names)})" for way, names in document.get("unproven", {}).items())
    return f"never tried on such hardware by this project: {ways}" if ways else ""


def cost(options: Options, world_size: int, seconds: float) -> dict[str, Any]:
    """Device hours, node hours and USD (None where the price is unknown) of a run until now."""
    node_hours = options.nodes * seconds / 3600
    usd = round(node_hours * options.usd_per_node_hour, 6) if options.usd_per_node_hour else None
    return {"device_hours": round(world_size * seconds / 3600, 6), "node_hours": round(node_hours, 6), "usd": usd}


def overall(checks: Sequence[Mapping[str, Any]]) -> str:
    """The verdict of a complete run: a failure outweighs a slow figure."""
    verdicts = {check["verdict"] for check in checks}
    return "fail" if "fail" in verdicts else "below" if "below" in verdicts else "pass"


def write_json(path: Path, document: Any) -> None:
    """Writes whole or not at all: a temporary file in the same folder, synced, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as stream:
            json.dump(document, stream, indent=1, allow_nan=False)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def line(document: Mapping[str, Any]) -> str:
    """The line for log collectors."""
    short = {key: value for key, value in document.items() if key not in ("curves", "figures")}
    short["checks"] = [{k: v for k, v in check.items() if k != "details"} for check in document["checks"]]
    return LINE_PREFIX + json.dumps(short, separators=(",", ":"), allow_nan=False)


def figure_text(figure: Mapping[str, Any] | None) -> str:
    """`busbw all_reduce 4 MiB 0.52 GB/s`, or an empty string."""
    return f"{figure['name']} {figure['value']:.4g} {figure['unit']}".rstrip() if figure else ""


def size_text(size: int) -> str:
    """`4 MiB`."""
    for unit, step in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= step:
            return f"{size / step:.4g} {unit}"
    return f"{size} B"


def table(document: Mapping[str, Any]) -> str:
    """The plain-text table for a terminal."""
    rows = [("check", "verdict", "seconds", "figure", "threshold")]
    for check in document["checks"]:
        limit = check["threshold"]
        sign = "<=" if check["figure"] and check["figure"]["better"] == "lower" else ">="
        text = f"{sign} {limit['floor']:.4g} ({limit['kind']})" if limit else ""
        rows.append((check["name"], check["verdict"], f"{check['seconds']:.1f}", figure_text(check["figure"]), text))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    lines += [f"{c['name']}: {c['reason']}" for c in document["checks"] if c["verdict"] != "pass"]
    lines += [f"rank {error['rank']} on {error['host']}: {error['message']}" for error in document["errors"]]
    lines += [text] if (text := unproven_text(document)) else []
    cost = document["cost"]
    money = "cost unknown (no price given)" if cost["usd"] is None else f"{cost['usd']:.2f} USD"
    lines.append(
        f"{document['job']['name']}: {document['verdict']} (exit {document['exit_code']}) in "
        f"{document['timings']['seconds']:.1f} s, {cost['device_hours']:.4f} device hours, {money}"
    )
    return "\n".join(lines)


_KEYS = {
    "schema", "job", "topology", "versions", "checks", "curves", "figures",
    "verdict", "exit_code", "timings", "cost", "errors", "unproven",
}  # fmt: skip
_CHECK_KEYS = {"name", "verdict", "reason", "figure", "threshold", "seconds", "details"}


def problems(document: Any) -> list[str]:
    """What is wrong with a result document, one sentence each; empty when it keeps the schema."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return [f"not a {SCHEMA} document"]
    found = [f"key {key!r} is missing" for key in sorted(_KEYS - document.keys())]
    found += [f"key {key!r} is unknown" for key in sorted(document.keys() - _KEYS)]
    if found:
        return found
    names = [check.get("name") for check in document["checks"]]
    level = LEVELS.get(document["job"].get("level", "quick"), CHECKS)
    if names != [name for name in CHECKS if name in level or name in names]:
        found.append("checks are not those of the level in their order")
    for check in document["checks"]:
        label = f"check {check.get('name')}"
        if set(check) != _CHECK_KEYS:
            found.append(f"{label}: keys {sorted(set(check) ^ _CHECK_KEYS)} missing or unknown")
            continue
        if check["verdict"] not in ("pass", "fail", "below", "skipped"):
            found.append(f"{label}: verdict {check['verdict']!r}")
        if not check["reason"]:
            found.append(f"{label}: no reason")
        if check["figure"] is not None and set(check["figure"]) != {"name", "value", "unit", "better"}:
            found.append(f"{label}: figure has keys {sorted(check['figure'])}")
        if check["verdict"] == "below" and not check["figure"]:
            found.append(f"{label}: below threshold without a figure")
    if document["verdict"] not in EXIT or EXIT[document["verdict"]] != document["exit_code"]:
        found.append(f"verdict {document['verdict']!r} does not belong to exit code {document['exit_code']}")
    if document["verdict"] in ("pass", "fail", "below") and overall(document["checks"]) != document["verdict"]:
        found.append(f"verdict {document['verdict']!r} is not what the checks say")
    return found
