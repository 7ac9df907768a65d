"""What is kept of a stack's cloud: merged, whole, and refused where somebody else wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainyard.fleet.known import Known, Smoke, Spend, known_of, note
from trainyard.problems import SettingsError

SMOKE = Smoke("pass", "2026-11-20T10:00:00+00:00", "pulumi up")
SPEND = Spend(1234.5, None, 70_000.0, "2026-11-23T10:00:00+00:00")


def test_what_nobody_asked_is_none_and_one_answer_leaves_the_other(tmp_path: Path) -> None:
    assert known_of("acme", tmp_path) == Known()
    assert Known().as_json() == {"smoke": None, "spend": None}, "never zero"
    note("acme", tmp_path, smoke=SMOKE)
    note("acme", tmp_path, spend=SPEND)
    assert known_of("acme", tmp_path) == Known(SMOKE, SPEND)
    assert known_of("acme", tmp_path).as_json()["spend"]["month"] == "2026-11"
    assert known_of("globex", tmp_path) == Known(), "each its own"


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"layout": 9}', '{"layout": 1, "spend": null, "smoke": {"at": "x"}}', "{"]
)
def test_a_file_of_somebody_else_is_refused_and_left(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".pulumi-homes" / "acme" / "known.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"\.pulumi-homes/acme/known\.json"):
        note("acme", tmp_path / ".pulumi-homes", smoke=SMOKE)
    assert path.read_text() == text


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    note("acme", tmp_path, spend=SPEND)
    path = tmp_path / "acme" / "known.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"smoke": {"verdict": "pass", "at": "soon", "by": "x"}}))
    with pytest.raises(SettingsError, match="take it away to ask anew"):
        known_of("acme", tmp_path)
