"""Published training runs, what the recommender says of them, how far off it is; no figure is computed from them.

`published_runs.csv`: `kind` is decoder (a language model that generates), encoder (also encoder-decoders, protein
models), record (contests for the shortest time, and nanochat, whose parameters are largely tables that are looked up)
or projection (hours that the authors worked out from a throughput). `set` says when a run was looked at:
docs/recommender.md.
"""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from pathlib import Path

from tests.advice import published_memory
from tests.advice.asking import request_of
from tests.shared import ROOT
from trainyard.advice.architectures import PACKAGE
from trainyard.advice.estimation import estimate
from trainyard.advice.fit import Fit
from trainyard.advice.hardware import Machine, nodes_with
from trainyard.advice.ranges import Range
from trainyard.advice.throughput import attention_recounted, count_factor, curve
from trainyard.catalog.tables import rows

RUNS = Path(__file__).with_name("published_runs.csv")
DOCS = ROOT / "docs"
DOCUMENT, LIST = DOCS / "recommender.md", DOCS / "published-runs.md"
MEASURED = {"A100-40GB", "A100-80GB", "H100"}
SETS = ("first", "second", "open", "sealed", "third")
FITTED_BEGIN, FITTED_END = (
    "<!-- fitted: written by tests/advice/published.py -->",
    "<!-- end of fitted -->",
)
MEMORY_BEGIN, MEMORY_END = "<!-- memory: written by tests/advice/published.py -->", "<!-- end of memory -->"
BEGIN, END = "<!-- runs: written by tests/advice/published.py -->", "<!-- end of runs -->"


@dataclass(frozen=True)
class Run:
    """A published run: its row, and the estimate of its GPU hours; `fit` None: said not to fit."""

    row: dict[str, str]
    fit: Fit | None
    estimate: Range | None

    @property
    def name(self) -> str:
        return self.row["name"]

    @property
    def published(self) -> float:
        return float(self.row["gpu_hours"])

    @property
    def error(self) -> float:
        """Of the typical estimate, relative to what was published; infinite where it is said not to fit."""
        return self.estimate.typical / self.published - 1 if self.estimate else float("inf")

    @property
    def inside(self) -> bool:
        return self.estimate is not None and self.estimate.holds(self.published)

    @property
    def covered(self) -> bool:
        """Whether the calibration speaks of it: a decoder, on a GPU that the tables have."""
        return self.row["kind"] == "decoder" and self.row["gpu"] in MEASURED


def machine(gpu: str, gpus_a_node: int, network_gbps: float) -> Machine:
    """A node of some GPUs of the catalogue."""
    return nodes_with(gpu, gpus_a_node, per_node=gpus_a_node, network_gbps=network_gbps, host_memory_gib=1152)[0]


def runs(file: Path = RUNS) -> list[Run]:
    """All published runs with their estimates."""
    found = []
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            node, nodes, _ = nodes_with(
                row["gpu"],
                int(row["gpus"]),
                per_node=int(row["node_gpus"]),
                network_gbps=float(row["network_gbps"]) if row["network_gbps"] else None,
            )
            answer = estimate(request_of(row), node, nodes)
            found.append(Run(row, answer.fit, answer.gpu_hours))
    return found


def summary(group: list[Run]) -> str:
    """Median error and share inside the range of some runs."""
    median = statistics.median(abs(run.error) for run in group)
    inside = sum(run.inside for run in group)
    return f"{len(group)} runs: median error {median:.0%}, {inside} inside the range ({inside / len(group):.0%})"


def groups(every: list[Run]) -> dict[str, list[Run]]:
    """The runs by what the calibration covers, by when they were looked at, and by size."""
    covered = [run for run in every if run.covered]

    def size(run: Run) -> int:
        return int(run.row["gpus"])

    return {
        "decoders on A100 and H100, third set": [run for run in covered if run.row["set"] == "third"],
        "decoders on A100 and H100, all sets": covered,
        "up to 8 GPUs": [run for run in covered if size(run) <= 8],
        "9 to 512 GPUs": [run for run in covered if 8 < size(run) <= 512],
        "more than 512 GPUs": [run for run in covered if size(run) > 512],
        "figures read at the source named": [run for run in covered if run.row["evidence"] == "read"],
        "decoders on other GPUs": [run for run in every if run.row["kind"] == "decoder" and not run.covered],
        "hours worked out from a throughput": [run for run in every if run.row["kind"] == "projection"],
        "encoders, encoder-decoders, protein models": [run for run in every if run.row["kind"] == "encoder"],
        "records": [run for run in every if run.row["kind"] == "record"],
        "everything": every,
    }


def summaries() -> str:
    """The summary table of docs/recommender.md."""
    every = runs()
    lines = [
        "| runs | number | median error | inside the range | median of estimate over published |",
        "|---|---|---|---|---|",
    ]
    for label, group in groups(every).items():
        if group:
            median = statistics.median(abs(run.error) for run in group)
            inside = statistics.fmean(run.inside for run in group)
            bias = 1 + statistics.median(run.error for run in group)
            lines.append(f"| {label} | {len(group)} | {median:.0%} | {inside:.0%} | {bias:.2f} |")
    return "\n".join(lines) + "\n"


def listed() -> str:
    """docs/published-runs.md."""
    lines = [
        "# Published training runs and what the recommender says of them",
        "",
        "Written by tests/advice/published.py; the figures are in `published_runs.csv` beside it. How the",
        "sets came about: `recommender.md`. `read`: the figure was read at the source named; `recalled`: the source is",
        "known, the figure from memory. GPU hours are without start-up; the range is the tool's, low to high.",
        "",
        "| run | set | kind | GPUs | published GPU hours | estimate (low-high) | error | inside | figures |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    order = {name: place for place, name in enumerate(SETS)}
    for run in sorted(runs(), key=lambda run: (order[run.row["set"]], run.row["kind"], run.name.lower())):
        row = run.row
        said, error = "does not fit", ""
        if run.estimate is not None:
            low, typical, high = (f"{value:,.0f}" for value in _three(run.estimate))
            said, error = f"{typical} ({low}-{high})", f"{run.error:+.0%}"
        notes = f"; {row['notes']}" if row["notes"] else ""
        figures = f"{row['evidence']}: {row['source']}{notes}".replace("|", "/")
        lines.append(
            f"| {run.name} | {row['set']} | {row['kind']} | {row['gpus']} {row['gpu']} | {run.published:,.0f} "
            f"| {said} | {error} | {'yes' if run.inside else 'no'} | {figures} |"
        )
    return "\n".join(lines) + "\n"


def _three(estimate: Range) -> tuple[float, float, float]:
    return estimate.low, estimate.typical, estimate.high


def drawn(row: dict[str, str]) -> float:
    """The curve's utilisation for a measurement of the table, attention counted as the table counts it."""
    params = float(row["params"])
    there = curve(row["gpu"], params) * count_factor(int(row["gpus"]))
    return there / attention_recounted(params, int(row["sequence_length"]))


def fitted_markdown() -> str:
    """The calibration's measurements beside the curve that is drawn through them."""
    lines = ["| GPU | GPUs | parameters | measured | curve |", "|---|---|---|---|---|"]
    for row in rows("mfu.csv", PACKAGE):
        reached = drawn(row)
        size = f"{float(row['params']) / 1e9:g}B"
        lines.append(f"| {row['gpu']} | {row['gpus']} | {size} | {row['mfu_percent']} % | {reached * 100:.1f} % |")
    return "\n".join(lines) + "\n"


def write() -> None:
    """Puts the summaries and the fitted table into docs/recommender.md, and writes docs/published-runs.md."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for begin, end, content in (
        (BEGIN, END, summaries()),
        (FITTED_BEGIN, FITTED_END, fitted_markdown()),
        (MEMORY_BEGIN, MEMORY_END, published_memory.summary()),
    ):
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}\n{content}{end}{after}"
    DOCUMENT.write_text(text, encoding="utf-8")
    LIST.write_text(listed(), encoding="utf-8")


if __name__ == "__main__":
    write()
