"""What `trainyard fleet diff` prints of a release: steps, price and policies."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fleet.fleets import clients, project, settings
from trainyard.cli.fleet_releases import _change
from trainyard.cli.fleet_tables import print_changes
from trainyard.review.formats.names import Format
from trainyard.review.verdict import State

OLD, NEW = {"policy": "old-rule", "name": "bucket"}, {"policy": "new-rule", "name": "cluster"}


def told(expected: float | None, before: Any, violations: list[dict[str, str]]) -> Any:
    """What is left of a stack whose change was judged."""
    change = {"counts": {"made": 1, "changed": 2, "replaced": 0, "deleted": 0}, "findings": [], "steps": []}
    document = {"change": {**change, **({"before": before} if before else {})}, "violations": violations}
    money = SimpleNamespace(expected=expected) if expected is not None else None
    return SimpleNamespace(
        verdict=SimpleNamespace(money=money, state=State.SOUND), parts={Format.JSON: json.dumps(document)}
    )


def printed(folder: Path, one: Any, capsys: pytest.CaptureFixture[str]) -> str:
    found = clients(project(folder, {"globex": settings("globex")}))
    print_changes(found, {"globex": one}, {"globex": _change(one)})
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("expected", "before", "violations", "said"),
    [
        (120.0, {"expected_usd": 100.0, "violations": [OLD]}, [NEW], "1 2 0 0 +20 +1 -1 sound"),
        (100.0, {"expected_usd": 1100.0, "violations": [OLD]}, [OLD], "1 2 0 0 -1,000 as they are sound"),
        (100.0, {"expected_usd": 100.001, "violations": []}, [], "1 2 0 0 as it is as they are sound"),
        (None, {"expected_usd": 100.0, "violations": []}, [], "1 2 0 0 ? as they are sound"),
        (100.0, {"expected_usd": None, "violations": []}, [], "1 2 0 0 ? as they are sound"),
        (100.0, None, [NEW], "1 2 0 0 ? ? sound"),
    ],
)
def test_price_and_policies_are_told_beside_the_steps(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    expected: float | None,
    before: Any,
    violations: list[dict[str, str]],
    said: str,
) -> None:
    text = printed(tmp_path, told(expected, before, violations), capsys)
    assert said in text
    assert ("new-rule globex: new of cluster" in text) == (before is not None and violations == [NEW])


def test_what_stops_many_clients_is_said_once_with_the_resource_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"c{number}" for number in range(6)]
    found = clients(project(tmp_path, {name: settings(name) for name in names}))
    lost = {"level": "error", "rule": "change-protected", "type": "aws:rds/instance:Instance", "path": "dbName",
            "message": "is protected and would be replaced", "hint": "take the change back"}  # fmt: skip
    told_each, changes = {}, {}
    for name in names:
        told_each[name] = told(None, None, [])
        findings = [{**lost, "name": f"{name}-mlflow"}]
        if name == "c5":
            findings.append({**lost, "level": "warning", "rule": "change-slow", "name": "", "message": "takes long"})
        changes[name] = {"counts": {}, "findings": findings}
    changes["c0"] = None
    print_changes(found, told_each, changes)
    text = " ".join(capsys.readouterr().out.split())
    assert text.count("is protected and would be replaced") == 1
    assert "change-protected c1, c2, c3" in text
    assert "rds.Instance c1-mlflow is protected and would be replaced; take the change back" in text
    assert "change-slow c5: takes long" in text
    assert "The wave stops at 5 of 6 stacks." in text
