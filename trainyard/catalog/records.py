"""Reads the rows of a table of facts as a dataclass, whose fields say what their columns hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from trainyard.catalog.spread import Spread, spread
from trainyard.catalog.tables import CATALOG, rows

Record = TypeVar("Record")
Row = Mapping[str, str]


def records(kind: type[Record], table: str, package: str = CATALOG, /, **columns: str) -> Iterator[Record]:
    """The rows of a table beside a package's modules: a field has the column of its name, or that of `columns`.

    Text, numbers, `yes` or `no`, words in a tuple and a `Spread` are understood; a field that is a dataclass is read
    from the same row. An empty cell is None where a field may be that, else the field's default.

    Raises:
        KeyError: the table lacks a column.
        ValueError: a cell does not hold what its field wants; the text names table, column and row.
    """
    read = _record(kind, columns)
    for row in rows(table, package):
        try:
            yield read(row)
        except ValueError as error:
            raise ValueError(f"{table}: {error} in {row}") from None


def _record(kind: type[Any], columns: Mapping[str, str]) -> Callable[[Row], Any]:
    hints = get_type_hints(kind)
    readers = {
        field.name: _field(columns.get(field.name, field.name), hints[field.name], field.default)
        for field in dataclasses.fields(kind)
    }
    return lambda row: kind(**{name: read(row) for name, read in readers.items()})


def _field(column: str, hint: Any, default: Any) -> Callable[[Row], Any]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _record(hint, {})
    if get_origin(hint) is UnionType:  # X | None
        hint, default = get_args(hint)[0], None

    def read(row: Row) -> Any:
        if hint is Spread:
            found = spread(row, column, "_percent" if f"{column}_percent" in row else "")
        else:
            try:
                found = _CELLS[hint](row[column]) if row[column] or hint is str else None
            except ValueError as error:
                raise ValueError(f"{column}: {error}") from None
        if found is None and default is dataclasses.MISSING:
            raise ValueError(f"{column} is empty")
        return default if found is None else found

    return read


def _yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text == "yes"


_CELLS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    bool: _yes,
    tuple[str, ...]: lambda text: tuple(text.split()),
}
