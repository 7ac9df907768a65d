"""Published verdicts on memory, does this training fit that GPU, and what the recommender says.

`published_memory.csv`: `recompute` yes, no or ? (not said: both ways are allowed); `not_covered` names what the
formulas do not have, empty where they apply.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from tests.advice.asking import request_of
from trainyard.advice import Ways, estimate
from trainyard.advice.estimation import Verdict
from trainyard.advice.hardware import nodes_with

CASES = Path(__file__).with_name("published_memory.csv")
_RECOMPUTE = {"yes": (True,), "no": (False,), "?": (False, True)}


@dataclass(frozen=True)
class Case:
    """A published verdict and ours, for the way that takes the least of those that the source allows."""

    row: dict[str, str]
    verdict: Verdict

    @property
    def right(self) -> bool:
        """Whether both say the same."""
        return self.verdict.fits == (self.row["verdict"] == "fits")

    @property
    def covered(self) -> bool:
        """Whether the formulas speak of it."""
        return not self.row["not_covered"]


def cases() -> list[Case]:
    """All of them."""
    with CASES.open(encoding="utf-8") as lines:
        return [Case(row, _verdict(row)) for row in csv.DictReader(lines)]


def summary() -> str:
    """The sentence of docs/recommender.md."""
    every = cases()
    covered = [case for case in every if case.covered]
    clear = [case for case in covered if not case.verdict.tight]
    right, all_right = (sum(case.right for case in group) for group in (clear, covered))
    return (
        f"Of {len(every)} published verdicts the formulas cover {len(covered)}; {all_right} of these come out right. "
        f"{len(covered) - len(clear)}\nare within 5 % of what a GPU holds, which `trainyard estimate` calls too close; "
        f"of the other {len(clear)}, {right} are\nright ({right / len(clear):.0%}). Said not to fit and published as "
        f"fitting: {sum(not case.right and not case.verdict.fits for case in clear)}.\n"
    )


def _verdict(row: dict[str, str]) -> Verdict:
    gpus = int(row["gpus"])
    node, nodes, _ = nodes_with(
        "A100-80GB",  # only its memory counts
        gpus,
        per_node=min(8, gpus),
        gpu_memory_gib=float(row["gpu_memory_gib"]),
        host_memory_gib=float(row["host_memory_gib"] or 2000),
    )
    ways = Ways(
        strategies=(row["strategy"],),  # type: ignore[arg-type]  # a row of ours
        recompute=_RECOMPUTE[row["recompute"]],
        micro_batch=int(row["micro_batch"]),
    )
    request = request_of(row | {"tokens": "1e9"})  # any number: it changes no memory
    return min(estimate(request, node, nodes, ways).verdicts, key=lambda verdict: verdict.needed_gib)
