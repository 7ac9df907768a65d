import json
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from tests.policies.mutants import edit, put
from tests.shared import ROOT
from trainyard.cli.explain import explain
from trainyard.recorded.types import ADD_ON

app = typer.Typer()
app.command("explain")(explain)


@app.command("nothing")
def _nothing() -> None:
    """So that `explain` stays a command of its own name."""


@pytest.fixture(autouse=True)
def _once(monkeypatch, rehearsed):
    """The stack is rehearsed once a session."""
    monkeypatch.setattr("trainyard.rehearsal.rehearse.rehearse", lambda *_, **__: rehearsed("uae-aws"))


def run(*arguments):
    return CliRunner().invoke(app, ["explain", *arguments, "--project", str(ROOT)])


def test_what_a_team_reaches_for_people_and_for_machines(tmp_path):
    data = tmp_path / "reach.json"
    result = run("uae-aws", "reach", "triage", "--json", str(data))
    assert result.exit_code == 0, result.output
    assert "Pods of triage on the network" in result.stdout
    found = json.loads(data.read_text())
    assert (found["team"], found["namespace"]) == ("triage", "team-triage")
    assert {"network", "aws", "volumes", "queues", "people", "service_accounts"} <= set(found)
    assert json.loads(run("uae-aws", "reach", "triage", "--json", "-").stdout) == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("uae-aws", "reach", "triag"), "no team 'triag'; its teams are"),
        (("uae-aws", "reach"), "name a team; its teams are"),
        (("uae-aws", "fsx", "triage"), "triage: nothing follows 'fsx'"),
        (("nowhere", "reach", "triage"), "nowhere"),
    ],
)
def test_a_question_without_an_answer_says_what_may_be_asked(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_cannot_be_read_is_said_without_a_traceback(monkeypatch, rehearsed):
    known = rehearsed("uae-aws")
    broken = edit(ADD_ON, "cluster-vpc-cni", put("configurationValues", value="{"))(known.resources)
    monkeypatch.setattr(
        "trainyard.rehearsal.rehearse.rehearse", lambda *_, **__: replace(known, resources=tuple(broken))
    )
    result = run("uae-aws", "reach", "triage")
    assert result.exit_code == 3
    assert "cannot be told: configurationValues: no JSON" in result.stderr


def test_what_is_paid_while_no_job_runs_and_what_assurance_decides_of_it():
    told = json.loads(run("demo", "costs", "--json", "-").stdout)
    assert told["stack"] == "demo"
    assert told["floor"][-1]["what"] == "together"
    assert told["assurance"][0]["setting"] == "storage.lustre.enabled"
    some = run("demo", "costs", "database")
    assert some.exit_code == 0 and "mlflow.database.multiAz" in some.stdout and "NAT" not in some.stdout
