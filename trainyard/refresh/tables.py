"""The catalogue's CSV tables as text: read, changed row by row, and written all together or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from trainyard.refresh.model import Change, Quote, RefreshError, Skipped

LARGEST_FACTOR = 5.0
"""A price that moved by more is taken for a wrong filter, not for a new price, and left for a person to look at."""


def catalog_folder() -> Path:
    """Where the tables are: beside `trainyard.catalog`."""
    from trainyard import catalog

    return Path(str(catalog.__file__)).parent


class Table:
    """One CSV table; rows that nobody changes keep their text to the byte."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._lines = (folder / name).read_text(encoding="utf-8").splitlines()
        self.heading = next(csv.reader(self._lines[:1]))
        self.rows = [dict(zip(self.heading, row, strict=True)) for row in csv.reader(self._lines[1:])]

    def find(self, key: Iterable[tuple[str, str]]) -> int | None:
        """Index of the row with these cells; None where there is none."""
        wanted = tuple(key)
        for index, row in enumerate(self.rows):
            if all(row[column] == value for column, value in wanted):
                return index
        return None

    def put(self, quote: Quote) -> None:
        """Writes a quote into its row, or as a new row at the end."""
        index = self.find(quote.key)
        if index is None:
            row = dict.fromkeys(self.heading, "") | dict(quote.key) | dict(quote.cells)
            self.rows.append(row)
            self._lines.append(self._text(row))
            return
        self.rows[index] = self.rows[index] | dict(quote.cells)
        self._lines[index + 1] = self._text(self.rows[index])

    def _text(self, row: Mapping[str, str]) -> str:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="").writerow([row[column] for column in self.heading])
        return buffer.getvalue()

    @property
    def text(self) -> str:
        """The whole table as the file's text."""
        return "\n".join(self._lines) + "\n"


def compare(quotes: Iterable[Quote], folder: Path) -> tuple[tuple[Change, ...], tuple[Skipped, ...]]:
    """Each quote beside the catalogue's row; what is out of all proportion is skipped."""
    tables: dict[str, Table] = {}
    changes, skipped = [], []
    for quote in quotes:
        table = tables.setdefault(quote.table, Table(folder, quote.table))
        index = table.find(quote.key)
        row = table.rows[index] if index is not None else {}
        old = float(row[quote.figure]) if row.get(quote.figure) else None
        date = row.get("price_date") or row.get("date") or ""
        if quote.value < 0 or (old and not old / LARGEST_FACTOR <= quote.value <= old * LARGEST_FACTOR):
            reason = f"{quote.value:g} {quote.unit} in place of {old:g} cannot be right: look at it yourself"
            skipped.append(Skipped(quote.table, quote.name, reason))
            continue
        changes.append(Change(quote, old, date))
    return tuple(changes), tuple(skipped)


def apply(changes: Iterable[Change], folder: Path) -> tuple[str, ...]:
    """Writes the changes into the tables and returns the tables' names.

    Every table is written to the disk beside its place first; then they are put in place. Where that fails half way,
    those already in place are put back.

    Raises:
        RefreshError: a table cannot be written; all are as they were.
    """
    tables: dict[str, Table] = {}
    for change in changes:
        tables.setdefault(change.quote.table, Table(folder, change.quote.table)).put(change.quote)
    before = {name: (folder / name).read_bytes() for name in tables}
    ready: dict[str, Path] = {}
    placed: list[str] = []
    try:
        for name, table in tables.items():
            ready[name] = _written(folder, name, table.text)
        for name, path in ready.items():
            path.replace(folder / name)
            placed.append(name)
    except OSError as error:
        for name in placed:
            (folder / name).write_bytes(before[name])
        raise RefreshError(f"the catalogue in {folder} cannot be written: {error.strerror}; it is as it was") from error
    finally:
        for path in ready.values():
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
    return tuple(tables)


def _written(folder: Path, name: str, text: str) -> Path:
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
    except OSError:
        Path(temporary).unlink()
        raise
    return Path(temporary)
