"""NVIDIA's own diagnostic, `dcgmi diag`, on every node at once, where it is installed.

It asks for what no training shows: permissions, the NVML of the driver, PCIe and memory paths. It wants the GPUs to
itself, so it runs after all that measures, with the caches of this job given back; `dcgm_level` chooses how deep.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import torch

from .job import Job
from .result import Figure, Outcome, failed, passed, skipped

LIMIT_S = {1: 120.0, 2: 900.0, 3: 2400.0, 4: 10800.0}
"""How long a level may take: the awslabs health checks saw 2.5 to 10.5 minutes at 2 and up to 2.25 h at 4."""

BROKEN = {"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": [
    {"name": "memory", "results": [{"gpu_id": "3", "status": "Fail", "warnings": [{"warning": "row remap failed"}]}]}
]}]}}  # fmt: skip
"""What the seeded fault reads."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    mine = None
    if job.exclusive and not job.broken("dcgm"):
        return skipped(f"{job.exclusive}, and dcgmi diag is another one: `nvidia-smi -c DEFAULT`")
    if job.cuda:
        torch.cuda.empty_cache()
    if job.local_rank == 0:
        mine = (job.host, _diagnosed(job))
    # On the store: it takes longer than a collective may.
    said = dict(entry for entry in job.exchange("dcgm", mine) if entry is not None)
    ran = {host: problems for host, problems in said.items() if problems is not None}
    wrong = [f"{host}: {problem}" for host, problems in ran.items() for problem in problems]
    if wrong:
        return failed("; ".join(wrong) + "; drain the node")
    if not ran:
        return skipped("dcgmi is not in the image of any node")
    left_out = sorted(set(said) - set(ran))
    return passed(
        f"level {job.options.dcgm_level} passed on {len(ran)} node(s)"
        + (f"; not installed on {', '.join(left_out)}" if left_out else ""),
        figure=Figure("nodes diagnosed", float(len(ran)), ""),
    )


def _diagnosed(job: Job) -> list[str] | None:
    """What the diagnostic says is wrong on this node; None where it is not installed."""
    if job.broken("dcgm"):
        return list(problems(BROKEN)) if job.node_rank == job.nodes - 1 else []
    if shutil.which("dcgmi") is None or not job.cuda:
        return None
    level = job.options.dcgm_level
    command = ["dcgmi", "diag", "-r", str(level), "-j"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S[level], check=False)
    except subprocess.TimeoutExpired:
        return [f"dcgmi diag -r {level} did not end in {LIMIT_S[level]:.0f} s"]
    try:
        return list(problems(json.loads(ran.stdout[ran.stdout.index("{") :])))
    except ValueError:
        said = " ".join((ran.stdout + ran.stderr).split())[:200]
        return [f"dcgmi diag -r {level} ended with {ran.returncode} and no answer: {said}"]


def problems(document: Any, name: str = "") -> Iterator[str]:
    """One sentence for each test that failed, in whatever depth this version of DCGM tells it."""
    if isinstance(document, list):
        for item in document:
            yield from problems(item, name)
    elif isinstance(document, dict):
        name = str(document.get("name") or document.get("category") or name)
        if str(document.get("status", "")).lower() == "fail" and not _half_wired(document):
            which = document.get("gpu_id", document.get("gpu_ids", document.get("entity_id", "")))
            texts = [str(w.get("warning", w) if isinstance(w, dict) else w) for w in _list(document.get("warnings"))]
            yield (
                f"dcgm test {name} failed"
                + (f" on GPU {which}" if which != "" else "")
                + (f": {'; '.join(texts)}" if texts else "")
            )
        for value in document.values():
            if isinstance(value, dict | list):
                yield from problems(value, name)


_WIDTH = re.compile(r"link width of (\d+)X?\b.* minimum allowed link width of (\d+)", re.IGNORECASE)
"""DCGM asks for 16 lanes of every GPU, and AWS gives the L4 of g6 eight (aws-parallelcluster-cookbook#2803)."""


def _half_wired(result: dict[str, Any]) -> bool:
    """Whether all that is wrong is half of the lanes: check devices compares them with those of the other devices."""
    said = [str(w.get("warning", w) if isinstance(w, dict) else w) for w in _list(result.get("warnings"))]
    found = [_WIDTH.search(text) for text in said]
    return bool(found) and all(width is not None and 2 * int(width[1]) >= int(width[2]) for width in found)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []
