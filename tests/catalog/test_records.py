"""Tables of facts as dataclasses: what a cell may hold, and what is told of one that holds something else."""

from dataclasses import dataclass, field

import pytest

from trainyard.catalog import records as reading
from trainyard.catalog.records import records
from trainyard.catalog.spread import Spread


@dataclass(frozen=True, slots=True)
class Limits:
    days: int | None


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    usd: float
    sold: bool
    regions: tuple[str, ...]
    saved: Spread | None
    limits: Limits
    note: str
    layers: int = field(default=0)


ROW = {
    "type": "g5",
    "usd": "1.5",
    "sold": "yes",
    "regions": "a b",
    "saved_low_percent": "10",
    "saved_percent": "20",
    "saved_high_percent": "40",
    "days": "7",
    "note": "1",
    "layers": "12",
}


def read(monkeypatch, **cells):
    monkeypatch.setattr(reading, "rows", lambda table, package: iter([ROW | cells]))
    [found] = records(Fact, "facts.csv", name="type")
    return found


def test_every_kind_of_cell_is_read_by_its_fields_type(monkeypatch):
    assert read(monkeypatch) == Fact("g5", 1.5, True, ("a", "b"), Spread(0.1, 0.2, 0.4), Limits(7), "1", 12)


def test_an_empty_cell_is_none_or_the_default_and_stays_an_empty_text(monkeypatch):
    found = read(monkeypatch, saved_percent="", days="", layers="", note="", sold="no")
    assert found == Fact("g5", 1.5, False, ("a", "b"), None, Limits(None), "", 0)


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"usd": ""}, r"facts\.csv: usd is empty in .*'g5'"),
        ({"usd": "cheap"}, r"facts\.csv: usd: could not convert string to float: 'cheap' in .*'g5'"),
        ({"sold": "maybe"}, r"facts\.csv: sold: 'maybe' is neither yes nor no"),
        ({"days": "7.5"}, r"facts\.csv: days: invalid literal"),
        ({"saved_percent": "50"}, r"facts\.csv: saved not in order"),
    ],
)
def test_a_wrong_cell_is_told_with_its_table_column_and_row(monkeypatch, cells, told):
    with pytest.raises(ValueError, match=told):
        read(monkeypatch, **cells)


def test_a_column_that_is_missing_is_no_default(monkeypatch):
    monkeypatch.setattr(reading, "rows", lambda table, package: iter([{"type": "g5"}]))
    with pytest.raises(KeyError, match="usd"):
        list(records(Fact, "facts.csv", name="type"))
