"""What `trainyard fleet diff` prints of a release: steps, price and policies."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fleet.fleets import clients, project, settings
from tests.shared import ROOT
from trainyard.cli.fleet_changes import FEW, as_markdown, compared, print_changes
from trainyard.cli.fleet_live import _spend
from trainyard.cli.fleet_releases import _change, _not_deployable
from trainyard.cli.fleet_tables import print_stacks
from trainyard.fleet.clients import Entry, read_client
from trainyard.fleet.live import UnknownError
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
    print_changes(compared(found, {"globex": one}, {"globex": _change(one)}))
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
    assert ("new-rule globex: cluster did not violate it before" in text) == (
        before is not None and violations == [NEW]
    )


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
    print_changes(compared(found, told_each, changes))
    text = " ".join(capsys.readouterr().out.split())
    assert text.count("is protected and would be replaced") == 1
    assert "change-protected c1, c2, c3" in text
    assert "rds.Instance c1-mlflow and 4 like it is protected and would be replaced; take the change back" in text
    assert "change-slow c5: takes long" in text
    assert "The wave stops at 5 of 6 stacks: change-protected of rds.Instance in 5." in text


def a_hundred(folder: Path, changes: dict[str, Any]) -> Any:
    """What a release changes in a hundred stacks; `changes` of those that are not as the others."""
    names = [f"c{number:03d}" for number in range(100)]
    found = clients(project(folder, {name: settings(name) for name in names}))
    return compared(found, dict.fromkeys(names, told(None, None, [])), {name: lost(name) for name in names} | changes)


def lost(name: str, **more: Any) -> dict[str, Any]:
    what = f"is protected, and {name}-{name}-data with it"
    finding = {"level": "error", "rule": "change-protected", "type": "aws:rds/instance:Instance", "message": what}
    counts = {"made": 2, "changed": 3, "replaced": 2, "deleted": 0}
    return {"counts": counts, "findings": [{**finding, "name": f"{name}-mlflow", **more}]}


def test_a_hundred_clients_are_a_screen_and_whoever_is_not_as_the_others_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"c042": {"counts": {"made": 1, "changed": 0, "replaced": 0, "deleted": 0}, "findings": []}}
    print_changes(a_hundred(tmp_path, other))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5, "a heading, two kinds of stacks, why, and that the wave stops"
    assert lines[1].split()[:7] == ["c000,", "c001,", "c002", "and", "96", "more", "rest"]
    assert lines[2].split()[:6] == ["c042", "rest", "1", "0", "0", "0"]
    assert "c042" not in lines[3] and "rds.Instance c000-mlflow and 98 like it" in lines[3]
    assert lines[4] == "The wave stops at 99 of 100 stacks: change-protected of rds.Instance in 99."


def test_causes_are_told_apart_and_the_most_frequent_comes_first(tmp_path: Path) -> None:
    bucket = {
        f"c00{number}": lost(f"c00{number}", type="aws:s3/bucket:Bucket", rule="change-data") for number in range(3)
    }
    found = a_hundred(tmp_path, bucket)
    assert found.stops.endswith(": change-protected of rds.Instance in 97, change-data of s3.Bucket in 3.")
    text = as_markdown(found)
    assert text.startswith("## The wave stops at 100 of 100 stacks: ")
    assert text.count("**change-") == 2 and "c000, c001, c002:" in text
    assert text.count("\n| ") == 3, "two lines of the heading, and one for all: the same happens to them"


def test_a_stack_counts_once_for_a_cause_however_often_it_is_found(tmp_path: Path) -> None:
    names = ["c1", "c2"]
    found = clients(project(tmp_path, {name: settings(name) for name in names}))
    twice = {name: {"counts": {}, "findings": [*lost(name)["findings"], *lost(name, path="kmsKeyId")["findings"]]}
             for name in names}  # fmt: skip
    change = compared(found, dict.fromkeys(names, told(None, None, [])), twice)
    assert change.stops == "The wave stops at 2 of 2 stacks: change-protected of rds.Instance in 2."


def test_a_policy_that_many_violate_newly_is_told_once_and_of_how_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newly = {
        f"c{number:03d}": {
            "counts": {},
            "policies": {"new": [{"policy": "own-keys", "name": f"c{number:03d}-c{number:03d}-homes"}], "gone": []},
        }
        for number in range(100)
    }
    print_changes(a_hundred(tmp_path, newly))
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "own-keys all 100 stacks: c000-c000-homes and 99 like it did not violate it before"


def test_a_few_stacks_have_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"c{number:02d}" for number in range(FEW)]
    found = clients(project(tmp_path, {name: settings(name) for name in names}))
    print_changes(compared(found, dict.fromkeys(names, told(None, None, [])), {name: lost(name) for name in names}))
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1 : FEW + 1]] == names


def test_an_upgrade_says_once_what_keeps_a_hundred_stacks_from_it() -> None:
    def one(stack: str, why: str, *, deployable: bool = False) -> Any:
        state = SimpleNamespace(deployable=deployable)
        return SimpleNamespace(verdict=SimpleNamespace(state=state, headline=f"{stack} {why}"))

    told_each = {
        f"c{number:03d}": one(f"c{number:03d}", "must not be changed like this: 1 error") for number in range(99)
    }
    told_each["globex"] = one("globex", "has wrong settings: 1 problem")
    told_each["well"] = one("well", "can be deployed", deployable=True)
    many, other = _not_deployable(told_each)
    assert many.startswith("c000, c001") and many.endswith("and 79 more must not be changed like this: 1 error")
    assert other == "globex has wrong settings: 1 problem"


def test_the_list_ends_with_what_all_are_and_says_why_one_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["acme", "globex", "hooli"]
    folder = project(tmp_path, {name: settings(name) for name in names})
    (folder / "fleet.yaml").write_text(
        "stacks:\n  hooli: {frozen: change freeze until 12 December}\n", encoding="utf-8"
    )
    found = clients(folder)

    def verdict(state: State, expected: float | None) -> Any:
        money = None if expected is None else SimpleNamespace(expected=expected, budget=None)
        wrong = {"headline": f"hooli is {state.value}", "next_steps": ("mend one", "mend two"), "stack": "hooli"}
        counts = {"errors": 5, "mandatory": 0}
        return SimpleNamespace(verdict=SimpleNamespace(state=state, money=money, as_json=dict, **wrong, **counts))

    told_each = {"acme": verdict(State.SOUND, 1200), "globex": verdict(State.SOUND, 800.4)}
    print_stacks(found, told_each | {"hooli": verdict(State.REFUSED, None)})
    lines = capsys.readouterr().out.splitlines()
    assert lines[-6:-1] == [
        "hooli is left alone: change freeze until 12 December",
        "hooli is refused.",
        "  mend one",
        "  mend two",
        "  `trainyard check hooli` tells the rest",
    ]
    assert lines[-1] == (
        f"3 stacks: 2 sound, 1 {State.REFUSED.value}; 2,000 USD a month expected, without 1 that have no price."
    )


@pytest.mark.parametrize(("stack", "said"), [("demo-gcp", True), ("small-gcp", False)])
def test_who_tells_what_a_month_cost_on_google_cloud(stack: str, said: bool) -> None:
    """Its budgets do not; the ledger of a cluster tells its GPUs, and where there is none nobody is sent to it."""
    client = read_client(ROOT, ROOT / "stacks" / f"Pulumi.{stack}.yaml", Entry())
    with pytest.raises(UnknownError, match="the billing console all of it") as found:
        _spend(client)
    assert (f"`trainyard chargeback {stack}` tells what its GPUs cost" in str(found.value)) is said
