import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import CHECKS, LEVELS, Options, from_document
from trainyard.smoke_jobs.ddp.result import Figure, Outcome, cost, empty_document, failed, passed


def document() -> dict[str, Any]:
    options = from_document({"nodes": 2, "nproc_per_node": 4, "usd_per_node_hour": 10.0})
    made = empty_document(options, time.time())
    made["checks"] = [passed("fine").entry(name, 1.0) for name in LEVELS["quick"]]
    made["verdict"], made["exit_code"] = "pass", 0
    return made


def test_a_complete_document_keeps_the_schema() -> None:
    assert result.problems(document()) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d: d.pop("cost"), "key 'cost' is missing"),
        (lambda d: d.update(extra=1), "key 'extra' is unknown"),
        (lambda d: d["checks"].pop(), "not those of the level"),
        (lambda d: d["checks"][0].pop("reason"), "reason"),
        (lambda d: d["checks"][0].update(reason=""), "no reason"),
        (lambda d: d["checks"][0].update(verdict="ok"), "verdict 'ok'"),
        (lambda d: d["checks"][0].update(verdict="below"), "below threshold without a figure"),
        (lambda d: d.update(exit_code=10), "does not belong"),
        (lambda d: d["checks"][0].update(verdict="fail"), "not what the checks say"),
        (lambda d: d.update(schema="other/1"), "not a trainyard.smoke/1"),
    ],
)
def test_what_the_schema_refuses(change: Any, text: str) -> None:
    made = copy.deepcopy(document())
    change(made)
    assert any(text in problem for problem in result.problems(made))


def test_the_ways_that_never_ran_on_hardware_are_named_with_the_checks_that_took_them() -> None:
    made = document()
    assert result.unproven(made) == {}, "on CPUs all of it was tried"
    made["topology"]["device"] = "cuda"
    made["checks"] = [passed("fine").entry(name, 1.0) for name in ("devices", "sharded", "transport", "dcgm")]
    assert result.unproven(made) == {"fabric": ["transport"], "dcgm": ["dcgm"]}
    made["topology"]["nodes"] = 1
    made["checks"][3] = result.skipped("dcgmi is not in the image").entry("dcgm", 0.0)
    assert result.unproven(made) == {}, "what a GPU alone is asked ran on one"
    assert {name for names in result.UNPROVEN.values() for name in names} <= set(CHECKS)


def test_a_failure_outweighs_a_slow_figure() -> None:
    verdicts = ["pass", "below", "skipped"]
    assert result.overall([{"verdict": v} for v in verdicts]) == "below"
    assert result.overall([{"verdict": v} for v in [*verdicts, "fail"]]) == "fail"
    assert result.overall([{"verdict": "skipped"}]) == "pass"


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "result.json"
    result.write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="Out of range float"):
        result.write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]


def test_the_line_is_one_line_of_json_without_the_bulk() -> None:
    made = document()
    made["checks"][0]["details"] = {"long": "x\ny"}
    line = result.line(made)
    assert "\n" not in line
    short = json.loads(line.removeprefix(result.LINE_PREFIX))
    assert short["verdict"] == "pass" and "curves" not in short and "details" not in short["checks"][0]


def test_the_table_gives_figures_limits_and_reasons() -> None:
    made = document()
    outcome = Outcome(
        "below", "too slow: look there", Figure("latency", 2.0, "s", "lower"), {"floor": 1.5, "kind": "gate"}
    )
    made["checks"][7] = outcome.entry("data", 3.21)
    made["errors"] = [{"rank": 3, "host": "n1", "message": "died"}]
    text = result.table(made)
    assert "latency 2 s" in text and "<= 1.5 (gate)" in text and "3.2" in text
    assert "data: too slow: look there" in text and "rank 3 on n1: died" in text
    assert "devices: " not in text  # passed, so there is nothing to say


def test_cost_counts_nodes_and_devices() -> None:
    options = from_document({"nodes": 2, "usd_per_node_hour": 10.0})
    assert cost(options, 16, 1800) == {"device_hours": 8.0, "node_hours": 1.0, "usd": 10.0}
    assert cost(Options(), 2, 60)["usd"] is None


def test_reasons_are_sentences_of_what_failed() -> None:
    assert failed("x").entry("data", 0.1234)["seconds"] == 0.123
