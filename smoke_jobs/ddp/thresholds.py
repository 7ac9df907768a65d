"""Thresholds and baselines: data with a source, compared per message size and never over a sweep's average.

A record of thresholds.csv:

    instance    pattern of instance types (`p5.*`); `*` for all that have GPUs; `cpu` where there is none, whose figures
                say more of what else the machine does than of a fabric, so that they are references. SageMaker's
                `ml.p5.48xlarge` is p5.48xlarge; `gpu:H100` for a word in the name of the device, whatever it is in
    nodes       `1`, `2-4`, `4+` or `*`
    metric      all_reduce, all_gather, reduce_scatter (bus bandwidth), scaling_efficiency, accelerator_utilisation, …
    min_bytes, max_bytes  window of message sizes, as nccl-tests counts them; empty where a size has no meaning
    statistic   median or p05 of the repetitions at one size
    value, unit the published figure;  tolerance  share of it that may be missing
    kind        gate: below value x (1 - tolerance) (above value x (1 + tolerance) where lower is better) the check
                ends `below`; reference: reported only
    nccl        range that the figure holds for, `>=2.19,<3`, or empty
    source, date
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from .result import Figure, write_json

CPU = "cpu"
"""The instance of a run without GPUs."""

GPU = "gpu:"
"""What the instance of a record begins with that speaks of a device."""

STATISTICS = ("median", "p05")
FIELDS = (
    "instance", "nodes", "metric", "min_bytes", "max_bytes", "statistic", "value", "unit", "better", "tolerance",
    "kind", "nccl", "source", "date",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Threshold:
    """One record; see the module's docstring."""

    instance: str
    nodes: str
    metric: str
    min_bytes: int
    max_bytes: int
    statistic: str
    value: float
    unit: str
    better: Literal["higher", "lower"]
    tolerance: float
    kind: Literal["gate", "reference"]
    nccl: str
    source: str
    date: str

    @property
    def floor(self) -> float:
        """The worst figure that meets the threshold."""
        return self.value * (1 - self.tolerance if self.better == "higher" else 1 + self.tolerance)

    def met(self, value: float) -> bool:
        """Whether a figure is good enough."""
        return value >= self.floor if self.better == "higher" else value <= self.floor

    def applies(self, instance: str, nodes: int, metric: str, size: int | None, nccl: str, model: str = "") -> bool:
        """Whether the record speaks of this run; `size` None where the metric has none."""
        return (
            metric == self.metric
            and self._speaks_of(instance, model)
            and _in_nodes(self.nodes, nodes)
            and (size is None or self.min_bytes <= size <= self.max_bytes)
            and _in_versions(self.nccl, nccl)
        )

    def _speaks_of(self, instance: str, model: str) -> bool:
        if self.instance.startswith(GPU):
            return re.search(rf"\b{re.escape(self.instance.removeprefix(GPU))}\b", model, re.IGNORECASE) is not None
        if CPU in (instance, self.instance):
            return instance == self.instance
        return fnmatchcase(_bare(instance), self.instance)

    def entry(self, value: float | None) -> dict[str, Any]:
        """The threshold of a check in result.json."""
        return {
            "value": self.value,
            "tolerance": self.tolerance,
            "floor": self.floor,
            "kind": self.kind,
            "source": self.source,
            "date": self.date,
            "met": None if value is None else self.met(value),
        }


def load(path: Path) -> tuple[Threshold, ...]:
    """The records of a file; raises ValueError with line and column of a wrong one."""
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    thresholds = []
    for number, row in enumerate(rows, start=2):
        if tuple(row) != FIELDS:
            raise ValueError(f"{path.name}: columns must be {', '.join(FIELDS)}")
        where = f"{path.name} line {number}"
        if row["statistic"] not in STATISTICS:
            raise ValueError(
                f"{where}: statistic {row['statistic']!r}; {' or '.join(STATISTICS)}, never a sweep average"
            )
        if row["kind"] not in ("gate", "reference") or row["better"] not in ("higher", "lower"):
            raise ValueError(f"{where}: kind is gate or reference, better is higher or lower")
        if not row["source"] or not re.fullmatch(r"\d{4}-\d\d(-\d\d)?", row["date"]):
            raise ValueError(f"{where}: a figure needs its source and a date (YYYY-MM or YYYY-MM-DD)")
        thresholds.append(
            Threshold(
                instance=row["instance"],
                nodes=row["nodes"],
                metric=row["metric"],
                min_bytes=int(row["min_bytes"] or 0),
                max_bytes=int(row["max_bytes"] or 2**62),
                statistic=row["statistic"],
                value=float(row["value"]),
                unit=row["unit"],
                better="higher" if row["better"] == "higher" else "lower",
                tolerance=float(row["tolerance"]),
                kind="gate" if row["kind"] == "gate" else "reference",
                nccl=row["nccl"],
                source=row["source"],
                date=row["date"],
            )
        )
    return tuple(thresholds)


def select(
    thresholds: Sequence[Threshold],
    *,
    instance: str,
    nodes: int,
    metric: str,
    size: int | None = None,
    nccl: str = "",
    model: str = "",
) -> Threshold | None:
    """The record to compare with: gates before references, a named instance or device before a pattern, then the
    highest floor.

    The highest floor, because bandwidth grows with the message: of two windows that hold the size, the one that
    starts higher up says more.
    """
    fitting = [t for t in thresholds if t.applies(instance, nodes, metric, size, nccl, model)]
    key = lambda t: (t.kind == "gate", len(t.instance.replace("*", "")), t.floor)  # noqa: E731
    return max(fitting, key=key, default=None)


def _bare(instance: str) -> str:
    return instance.removeprefix("ml.")


def _in_nodes(pattern: str, nodes: int) -> bool:
    if pattern == "*":
        return True
    if pattern.endswith("+"):
        return nodes >= int(pattern[:-1])
    low, _, high = pattern.partition("-")
    return int(low) <= nodes <= int(high or low)


def _in_versions(pattern: str, version: str) -> bool:
    if not pattern:
        return True
    if not version:
        return False
    have = _version(version)
    for part in pattern.split(","):
        match = re.fullmatch(r"(>=|<)([\d.]+)", part.strip())
        if match is None:
            raise ValueError(f"NCCL range {pattern!r}: parts are >=X or <X")
        if not (have >= _version(match[2]) if match[1] == ">=" else have < _version(match[2])):
            return False
    return True


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def identity(document: dict[str, Any]) -> dict[str, Any]:
    """What must be equal for two runs to be comparable."""
    topology = document["topology"]
    return {
        "instance": document["job"]["instance"],
        "nodes": topology["nodes"],
        "world_size": topology["world_size"],
        "model": topology["model"],
        "nccl": document["versions"].get("nccl", ""),
    }


def write_baseline(path: Path, document: dict[str, Any]) -> None:
    """Keeps the figures of a run that passed."""
    figures = {f["name"]: {"value": f["value"], "unit": f["unit"], "better": f["better"]} for f in document["figures"]}
    write_json(path, {"identity": identity(document), "recorded": document["timings"]["started"], "figures": figures})


def read_baseline(path: Path) -> dict[str, Any]:
    """A baseline; raises ValueError where the file does not hold one."""
    try:
        document = json.loads(path.read_text())
        if {"identity", "recorded", "figures"} <= document.keys():
            return dict(document)
    except (OSError, ValueError, AttributeError) as error:
        raise ValueError(f"baseline {path} cannot be read: {error}") from None
    raise ValueError(f"{path} does not hold a baseline; write one with --record-baseline")


def drops(baseline: dict[str, Any], figures: Sequence[Figure], drop: float) -> list[str]:
    """One sentence for each figure that is worse than the baseline's by more than `drop` (a share)."""
    found = []
    for figure in figures:
        old = baseline["figures"].get(figure.name)
        if old is None or old["value"] == 0:
            continue
        ratio = figure.value / old["value"]
        worse = ratio < 1 - drop if figure.better == "higher" else ratio > 1 + drop
        if worse:
            found.append(
                f"{figure.name} is {figure.value:.4g} {figure.unit}, the baseline of {baseline['recorded'][:10]} "
                f"{old['value']:.4g} ({abs(ratio - 1):.0%} worse, {drop:.0%} allowed)"
            )
    return found
