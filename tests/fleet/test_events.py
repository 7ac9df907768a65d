"""The engine's event streams: of an update that went well, one that failed in the middle, one that was killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.fleets import pulumi
from tests.fleet.test_upgrade import bring, fleet
from trainyard.fleet.events import Failure, read
from trainyard.fleet.ledger import Ledger

STACK = "urn:pulumi:b::acme::pulumi:pulumi:Stack::acme-b"
NODES = "urn:pulumi:b::acme::trainyard:aws:NodeGroup$aws:eks/nodeGroup:NodeGroup::train-spot"
BUCKET = "urn:pulumi:b::acme::trainyard:aws:Storage$aws:s3/bucket:Bucket::checkpoints"


def step(kind: str, urn: str, operation: str, **more: Any) -> dict[str, Any]:
    """An event of one resource, as the engine writes it."""
    resource = {"op": operation, "urn": urn, "type": urn.split("::")[2].rsplit("$", 1)[-1], "provider": ""}
    return {kind: {"metadata": resource, **more}}


def error(urn: str, message: str) -> dict[str, Any]:
    return {"diagnosticEvent": {"urn": urn, "prefix": "", "message": message, "color": "raw", "severity": "error"}}


def summary(**changes: int) -> dict[str, Any]:
    spelt = {operation.replace("_", "-"): count for operation, count in changes.items()}
    told = {"maybeCorrupt": False, "durationSeconds": 900, "resourceChanges": spelt, "PolicyPacks": {}}
    return {"summaryEvent": told}


def stream(*events: dict[str, Any]) -> str:
    whole = ({"preludeEvent": {"config": {"trainyard:client": "b"}}}, *events)
    return "".join(
        json.dumps({"sequence": number, "timestamp": 1764111600 + number, **event}) + "\n"
        for number, event in enumerate(whole)
    )


BEGUN = (
    step("resourcePreEvent", BUCKET, "same"),
    step("resOutputsEvent", BUCKET, "same"),
    step("resourcePreEvent", NODES, "create-replacement"),
)
WELL = stream(
    *BEGUN,
    step("resOutputsEvent", NODES, "create-replacement"),
    summary(same=560, create=3, replace=1, create_replacement=1, delete_replaced=1),
    {"cancelEvent": {}},
)
BADLY = stream(
    *BEGUN,
    {"diagnosticEvent": {"urn": NODES, "message": "slow", "color": "raw", "severity": "warning"}},
    error(NODES, "<{%reset%}>\n  creating EKS Node Group: no capacity in us-east-1a\n  second line<{%reset%}>\n"),
    step("resOpFailedEvent", NODES, "create-replacement", status=2, steps=1),
    error(STACK, "update failed"),
    summary(same=1),
)
KILLED = stream(*BEGUN, summary(same=1)).rsplit('"durationSeconds"', 1)[0]


@pytest.mark.parametrize(
    ("text", "words", "bad"),
    [
        (WELL, "3 made, 1 replaced, 560 as they were, in 15 min", ""),
        (
            BADLY,
            "1 as they were, in 15 min",
            "aws:eks/nodeGroup:NodeGroup train-spot: creating EKS Node Group: no capacity in us-east-1a",
        ),
        (KILLED, *["how far it came is not told: the engine was ended before its summary"] * 2),
        ("", *["how far it came is not told: the engine was ended before its summary"] * 2),
        (stream(summary()), "nothing to do, in 15 min", ""),
    ],
)
def test_a_stream_tells_what_was_done_and_where_it_failed(tmp_path: Path, text: str, words: str, bad: str) -> None:
    (tmp_path / "events").write_text(text)
    found = read(tmp_path / "events")
    assert (found.words, found.ended_badly) == (words, bad)


def test_a_failure_without_a_reason_is_named(tmp_path: Path) -> None:
    (tmp_path / "events").write_text(stream(step("resOpFailedEvent", NODES, "create", status=2, steps=1)))
    assert read(tmp_path / "events").failures == [Failure("aws:eks/nodeGroup:NodeGroup", "train-spot", "")]
    assert read(tmp_path / "events").ended_badly.endswith("train-spot: no reason was given")


@pytest.mark.parametrize("damage", ["not JSON", '["a list"]', '{"summaryEvent": 1}', '{"diagnosticEvent": {}}', "\x00"])
def test_what_is_no_event_hides_no_other(tmp_path: Path, damage: str) -> None:
    first, rest = WELL.split("\n", 1)
    (tmp_path / "events").write_text("\n".join([first, damage, rest]))
    assert read(tmp_path / "events").changes["create"] == 3


def test_the_wave_says_what_each_stack_became(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    (tmp_path / "events").write_text(WELL)
    said: list[str] = []
    assert bring(folder, "canary", program, said=said) == []
    assert said[:2] == ["canary: b", "canary: b is done: 3 made, 1 replaced, 560 as they were, in 15 min"]
    assert not list((folder / "homes" / "b").glob("*.events")), "it has the inputs of everything"


def test_the_wave_names_what_failed_before_what_pulumi_said(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    (tmp_path / "events-b").write_text(BADLY)
    (tmp_path / "fail-b").touch()
    (failed,) = bring(folder, "canary", program)
    first, *rest = failed.told.splitlines()
    assert first == "aws:eks/nodeGroup:NodeGroup train-spot: creating EKS Node Group: no capacity in us-east-1a"
    assert rest[-1] == "error: update failed: quota"
    kept = Ledger.read(folder / "ledger")
    assert kept is not None
    assert kept.turns[0].told == failed.told


def test_an_engine_that_was_killed_is_told_as_such_and_taken_up_again(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    (tmp_path / "events-b").write_text(KILLED)
    (tmp_path / "kill-b").touch()
    (failed,) = bring(folder, "canary", program)
    assert failed.told.startswith("how far it came is not told")
    (tmp_path / "kill-b").unlink()
    (tmp_path / "events-b").write_text(WELL)
    assert bring(folder, "canary", program) == []
    assert (tmp_path / "ended").read_text().split() == ["b", "d"]
