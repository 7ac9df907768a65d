"""Reads CSV tables of facts."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files

CATALOG = "trainyard.catalog"


def rows(name: str, package: str = CATALOG) -> Iterator[dict[str, str]]:
    """The rows of a table beside a package's modules, keyed by its heading."""
    lines = iter(csv.reader(files(package).joinpath(name).read_text(encoding="utf-8").splitlines()))
    heading = next(lines)
    for line in lines:
        yield dict(zip(heading, line, strict=True))


def number(text: str) -> float | None:
    """A number, or None for an empty cell: not established."""
    return float(text) if text else None
