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
