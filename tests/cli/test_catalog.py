import json
import re

import pytest
from typer.testing import CliRunner

from trainyard.cli.catalog import app
from trainyard.refresh.model import Change, Quote, Refresh, RefreshError, Skipped

CELLS = {"usd": "0.05", "region": "us-east-1", "source": "a test", "date": "2026-11-21"}
NAT = Quote("aws_services.csv", (("key", "nat-gateway"),), "usd", 0.05, "USD an hour", CELLS)
FOUND = Refresh(
    changes=(Change(NAT, 0.045, "2026-06-01"),),
    skipped=(Skipped("aws_services.csv", "eks.control-plane.extended", "no product is known for it"),),
    clouds=("aws",),
    failures={"gcp": "no Google credentials: set GOOGLE_API_KEY"},
)


@pytest.fixture
def asked(monkeypatch):
    calls = []

    def refresh(folder, **arguments):
        calls.append(arguments)
        return FOUND

    monkeypatch.setattr("trainyard.refresh.refresh.refresh", refresh)
    return calls


@pytest.fixture
def applied(monkeypatch):
    calls = []

    def apply(changes, folder):
        calls.append(tuple(changes))
        return ("aws_services.csv",)

    monkeypatch.setattr("trainyard.refresh.tables.apply", apply)
    return calls


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_differences_are_shown_and_nothing_is_written(asked, applied):
    result = run("refresh")
    text = " ".join(result.output.split())
    assert result.exit_code == 0
    assert "nat-gateway 0.045 0.05 +11.1 % USD an hour" in text
    assert "1 differ, 0 confirmed, 1 left as they are (aws)" in text
    assert "gcp was left out: no Google credentials: set GOOGLE_API_KEY" in text
    assert "nothing is written; --apply writes them" in text
    assert applied == []


def test_apply_writes_what_was_found(asked, applied, tmp_path):
    data = tmp_path / "found.json"
    result = run("refresh", "--apply", "--region", "eu-west-1", "--cloud", "aws", "--json", str(data))
    assert result.exit_code == 0, result.output
    assert applied == [FOUND.changes]
    assert asked[0]["region"] == "eu-west-1" and asked[0]["clouds"] == ["aws"]
    assert "written: aws_services.csv" in result.output
    told = json.loads(data.read_text())
    assert told["written"] == ["aws_services.csv"]
    assert told["changes"][0]["percent"] == pytest.approx(11.11)


def test_no_cloud_that_answers_is_an_error(monkeypatch):
    def refresh(folder, **arguments):
        raise RefreshError("aws: no AWS credentials: set AWS_PROFILE")

    monkeypatch.setattr("trainyard.refresh.refresh.refresh", refresh)
    result = run("refresh")
    assert result.exit_code == 2
    assert "set AWS_PROFILE" in result.output


def test_an_unknown_region_is_told_before_anything_is_asked(asked):
    result = run("refresh", "--region", "eu-wst-1")
    assert result.exit_code == 2
    assert "did you mean eu-west-1?" in " ".join(result.output.split())
    assert asked == []


def test_the_catalogue_is_listed_by_table_and_by_row():
    tables = run("list")
    assert "aws_services.csv" in tables.output and "spot.csv" in tables.output
    rows = json.loads(run("list", "p4d", "--json", "-").output)
    assert {row["table"] for row in rows} >= {"aws_instances.csv", "spot.csv"}
    assert all("p4d" in row["name"] for row in rows)
    old = json.loads(run("list", "--stale", "--json", "-").output)
    assert all(row["stale"] for row in old)
    assert "no price in the catalogue is like that" in run("list", "no-such-thing").output
    rows = run("list", "fsx").output.splitlines()[1:]
    assert all(re.search(r"\d{4}-\d\d-\d\d", row) for row in rows), "a line a row"
