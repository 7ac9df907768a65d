"""Writes docs/explanation/idle-floor.md: demo's idle floor before decision 0044 and today, line by line.

`make golden` writes it: the figures before stand in `floor.yaml` with where they are from, those of today come out of
the priced rehearsal. A line of today without a row there is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from trainyard.cost.model import LineItem

FILE = Path(__file__).parent / "floor.yaml"
HEAD = """\
# The idle floor of demo, before and after

Written by `make golden` from the priced rehearsal of `demo`: what is paid in a month in which no job runs, in USD.
"Before" is what the same team and pools came to until the medium profile chose for the customer's money
(`docs/decisions/0044-assurance.md`), as `trainyard cost demo --json` of that program priced it on {read}; the prices of
both are those of the catalogue. Traffic, requests and logs come on top in both. `trainyard explain demo costs` says the
source of each price, and what `assurance: high` would add again.

| line | before | after | difference | setting | why |
|---|---:|---:|---:|---|---|
"""


class UntoldError(AssertionError):
    """Something is paid for that no row of the file tells of."""


def floor_page(lines: Iterable[LineItem]) -> str:
    """The page. Raises UntoldError."""
    told: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    paid = [line for line in lines if line.usd.floor > 0]
    rows = [(row, sum(line.usd.floor for line in paid if _is_of(line, row))) for row in told["rows"]]
    without = [f"{line.type}: {line.what}" for line in paid if not any(_is_of(line, row) for row, _ in rows)]
    if without:
        raise UntoldError(f"tests/floor.yaml has no row for {'; '.join(without)}")
    return HEAD.format(read=told["read"]) + "".join(_table(rows))


def _is_of(line: LineItem, row: Mapping[str, Any]) -> bool:
    return line.type == row["type"] and line.what.startswith(row.get("what", ""))


def _table(rows: Iterable[tuple[Mapping[str, Any], float]]) -> Iterator[str]:
    """What fell most comes first; in the end the sums, with and without the reservation."""
    ordered = sorted(rows, key=lambda each: (each[1] - each[0]["was"], -each[0]["was"]))
    for row, now in ordered:
        key = f"`{row['key']}`" if "key" in row else ""
        yield f"| {row['line']} | {_amounts(row['was'], now)} | {key} | {row.get('why', '')} |\n"
    own = [(row["was"], now) for row, now in ordered if row.get("key") != "gpuPools.train.reserved"]
    yield f"| **beside the reservation** | {_amounts(*map(sum, zip(*own, strict=True)))} | | |\n"
    yield f"| **together** | {_amounts(sum(row['was'] for row, _ in ordered), sum(now for _, now in ordered))} | | |\n"


def _amounts(was: float, now: float) -> str:
    difference = round(now, 2) - round(was, 2)
    return f"{was:,.2f} | {now:,.2f} | {f'{difference:+,.2f}' if abs(difference) >= 0.005 else 'the same'}"
