from pathlib import Path

import pytest

from trainyard.refresh.model import Change, Quote, RefreshError
from trainyard.refresh.tables import Table, apply, compare


def quote(table="aws_services.csv", key="nat-gateway", value=0.05):
    cells = {"usd": f"{value:g}", "source": "a test, with a comma", "date": "2026-11-21"}
    return Quote(table, (("key", key),), "usd", value, "USD an hour", cells)


def spot(value=50.0):
    key = (("cloud", "aws"), ("region", "us-east-1"), ("match", "p4d.24xlarge"))
    return Quote("spot.csv", key, "savings_percent", value, "%", {"savings_percent": f"{value:g}"})


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_one_row_changes_and_every_other_keeps_its_text(folder):
    before = (folder / "aws_services.csv").read_text().splitlines()
    apply([Change(quote(), 0.045, "")], folder)
    after = (folder / "aws_services.csv").read_text().splitlines()
    assert [one for one, other in zip(before, after, strict=True) if one != other] == [before[1]]
    assert Table(folder, "aws_services.csv").rows[0]["source"] == "a test, with a comma"


@pytest.mark.parametrize("value", [0.045 * 6, 0.045 / 6, -1.0])
def test_a_price_out_of_all_proportion_is_left_for_a_person(folder, value):
    changes, skipped = compare([quote(value=value)], folder)
    assert changes == ()
    assert "cannot be right" in skipped[0].reason


def test_an_equal_price_is_confirmed(folder):
    (change,), _ = compare([quote(value=0.045)], folder)
    assert not change.differs and change.percent == pytest.approx(0)
    assert change.old_date == "2026-06-01"


def test_all_tables_are_written_or_none(folder, monkeypatch):
    before = snapshot(folder)
    replace, done = Path.replace, []

    def second_fails(self, target):
        if done:
            raise OSError(28, "No space left on device")
        done.append(target)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", second_fails)
    with pytest.raises(RefreshError, match="No space left on device; it is as it was"):
        apply([Change(quote(), 0.045, ""), Change(spot(), 67.0, "")], folder)
    assert done, "the first table was in place"
    assert snapshot(folder) == before, "and is back, without temporary files"


def test_a_table_that_cannot_be_written_leaves_nothing_behind(folder, monkeypatch):
    before = snapshot(folder)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trainyard.refresh.tables.os.fsync", full)
    with pytest.raises(RefreshError, match="No space left"):
        apply([Change(quote(), 0.045, "")], folder)
    assert snapshot(folder) == before
