"""Published training runs, what the recommender says of them, how far off it is; no figure is computed from them."""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from pathlib import Path

from stacks.sizing.recommend.architectures import Architecture, table
from stacks.sizing.recommend.data_need import checkpoint_need
from stacks.sizing.recommend.hardware import Machine, gpus
from stacks.sizing.recommend.hours import STARTUP_HOURS, run_hours
from stacks.sizing.recommend.parallelism import Fit, Work, choose
from stacks.sizing.recommend.ranges import Range
from stacks.sizing.recommend.throughput import COMPILED, utilisation

RUNS = Path(__file__).with_name("published_runs.csv")
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "recommender.md"
FITTED_BEGIN, FITTED_END = (
    "<!-- fitted: written by tests/sizing/recommend/published.py -->",
    "<!-- end of fitted -->",
)
BEGIN, END = "<!-- runs: written by tests/sizing/recommend/published.py -->", "<!-- end of runs -->"


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
        """Whether the formulas claim it: data parallel, a measured GPU, up to 512 of them, 120M to 70B parameters."""
        measured = self.fit is not None and self.fit.utilisation.measured and self.fit.utilisation.within
        return self.row["model_parallel"] == "no" and measured and 120e6 <= float(self.row["params"]) <= 70e9


def machine(gpu: str, gpus_a_node: int, network_gbps: float, memory_gib: float = 1152) -> Machine:
    fact = gpus()[gpu]
    usable = {"L40S": 44.7, "A10G": 22.4, "L4": 22.4}.get(gpu, fact.memory_gb)
    return Machine(
        "aws", f"{gpu} x{gpus_a_node}", fact, gpus_a_node, usable, memory_gib, 96,
        nvlink=fact.interconnect_gb_per_s > 100, network_gbps=network_gbps, fabric=True, usd_per_hour=1.0,
        on_demand=True, price_region="us-east-1", price_source="test", price_date="2026-11-01", regions=(),
    )  # fmt: skip


def runs() -> list[Run]:
    """All published runs with their estimates."""
    found = []
    with RUNS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            params = float(row["params"])
            model = Architecture(
                row["name"], "language", params, params, int(row["layers"]), int(row["hidden"]),
                int(row["vocabulary"]), 0, int(row["sequence"]), row["source"],
            )  # fmt: skip
            count = int(row["gpus"])
            nodes = max(1, count // 8)
            node = machine(row["gpu"], min(8, count), float(row["network_gbps"]))
            tokens = float(row["tokens"])
            batch = max(float(row["batch_tokens"]), float(count * model.sequence_length))
            work = Work(model, model.sequence_length, tokens, batch, 6, None, "bf16")
            fit = choose(work, node, nodes)
            estimate = None
            if fit is not None:
                save = checkpoint_need(params, True, nodes, max(node.network_gbps, 100)).save_seconds
                # What is published is training time: nodes and compilation, which are ours to pay, come off.
                hours = run_hours(tokens, fit, count, nodes, save, None)[0]
                start = STARTUP_HOURS
                hours = Range(hours.low - start.low, hours.typical - start.typical, hours.high - start.high)
                estimate = hours.times(count)
            found.append(Run(row, fit, estimate))
    return found


def summary(group: list[Run]) -> str:
    """Median error and share inside the range of some runs."""
    median = statistics.median(abs(run.error) for run in group)
    inside = sum(run.inside for run in group)
    return f"{len(group)} runs: median error {median:.0%}, {inside} inside the range ({inside / len(group):.0%})"


def markdown() -> str:
    """The table and the summaries of docs/recommender.md."""
    every = runs()
    lines = [
        "| run | GPUs | published GPU hours | estimate (low-high) | error | inside | formulas cover it | figures |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for run in every:
        assert run.estimate is not None
        low, typical, high = (f"{value:,.0f}" for value in _three(run.estimate))
        lines.append(
            f"| {run.name} | {run.row['gpus']} {run.row['gpu']} | {run.published:,.0f} | {typical} ({low}-{high}) "
            f"| {run.error:+.0%} | {'yes' if run.inside else 'no'} | {'yes' if run.covered else 'no'} "
            f"| {run.row['evidence']}: {run.row['source']} |"
        )
    groups = {
        "all": every,
        "covered by the formulas": [run for run in every if run.covered],
        "beyond them": [run for run in every if not run.covered],
        "looked at first": [run for run in every if run.row["set"] == "first"],
        "looked at second": [run for run in every if run.row["set"] == "second"],
        "figures read at the source named": [run for run in every if run.row["evidence"] == "read"],
    }
    return "\n".join([*lines, "", *(f"- {label}: {summary(group)}" for label, group in groups.items())]) + "\n"


def _three(estimate: Range) -> tuple[float, float, float]:
    return estimate.low, estimate.typical, estimate.high


def fitted_markdown() -> str:
    """The calibration's measurements beside the curve that is drawn through them."""
    lines = ["| GPU | GPUs | parameters | measured | curve |", "|---|---|---|---|---|"]
    for row in table("mfu.csv"):
        reached = utilisation(gpus()[row["gpu"]], float(row["params"]), int(row["gpus"])).mfu.typical / COMPILED
        size = f"{float(row['params']) / 1e9:g}B"
        lines.append(f"| {row['gpu']} | {row['gpus']} | {size} | {row['mfu_percent']} % | {reached * 100:.1f} % |")
    return "\n".join(lines) + "\n"


def write() -> None:
    """Puts the tables and summaries into docs/recommender.md, between their markers."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for begin, end, content in ((BEGIN, END, markdown()), (FITTED_BEGIN, FITTED_END, fitted_markdown())):
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}\n{content}{end}{after}"
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
