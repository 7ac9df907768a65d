"""Comparisons with a number of another unit: a ratio with a percentage, a percentage with a ratio.

Sources: NVIDIA, "DCGM API reference", field identifiers (DCGM_FI_PROF_... of activity are ratios from 0 to 1,
..._UTIL percentages from 0 to 100, ..._FB_... mebibytes), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.watching.promql import selectors

_RATIO: Final = re.compile(r"DCGM_FI_PROF_(?!.*BYTES)\w*(?:ACTIVE|OCCUPANCY|ISSUED)")
_PERCENT: Final = re.compile(r"DCGM_FI_DEV_\w*UTIL|\w+_percent")
_PIECES: Final = re.compile(r"\b(?:and|or|unless)\b(?:\s+(?:on|ignoring)\s*\([^)]*\))?")
_COMPARED: Final = re.compile(
    r"^(?P<left>.*?)(?P<by>[<>]=?|==)\s*(?:bool\s*)?(?P<number>\d+(?:\.\d+)?)\s*\)*\s*$", re.S
)
_CHANGES: Final = re.compile(
    r"[*/+%^]|\s-\s|\b(?:sum|count|rate|increase|delta|deriv|sum_over_time|count_over_time|count_values|vector|time"
    r"|histogram_quantile|predict_linear|stddev|topk|bottomk|changes|resets|timestamp)\b"
)


def compared(view: View, path: str, expression: str) -> None:
    """Notes a comparison that always holds, or never, because its number is of another unit."""
    for left, by, number in _comparisons(expression):
        metrics = {one.metric for one in selectors(left)}
        if not metrics or _CHANGES.search(_without_matchers(left)):
            continue
        if all(_RATIO.fullmatch(one) for one in metrics) and number > 1:
            words = f"is a ratio from 0 to 1, and is compared with {number:g}: {_always(by)}"
            view.error(
                "watching-unit", path, f"{show(sorted(metrics)[0])} {words}", allowed="0 to 1, or the ratio * 100"
            )
        elif all(_PERCENT.fullmatch(one) for one in metrics) and 0 < number < 1:
            words = f"is a percentage, and is compared with {number:g}"
            # An average over hours of a GPU that does nothing is below one percent.
            view.warning("watching-unit", path, f"{show(sorted(metrics)[0])} {words}", allowed="0 to 100")


def _always(by: str) -> str:
    return "it always holds" if by.startswith("<") else "it never holds"


def _comparisons(expression: str) -> Iterator[tuple[str, str, float]]:
    for piece in _PIECES.split(expression):
        found = _COMPARED.match(piece.strip())
        left = _without_matchers(found["left"]) if found is not None else ""
        # With a bracket more than it opens, the comparison is of something around this piece.
        if found is not None and not re.search(r"[<>]|==", left) and left.count(")") <= left.count("("):
            yield found["left"], found["by"], float(found["number"])


def _without_matchers(text: str) -> str:
    """An expression without what stands in braces, brackets and quotes."""
    return re.sub(r"\{[^}]*\}|\[[^\]]*\]|\"[^\"]*\"", "", text)
