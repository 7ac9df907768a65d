import json

import pytest
import typer
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.cost import cost

app = typer.Typer()
app.command("cost")(cost)


@app.command("nothing")
def _nothing() -> None:
    """So that `cost` stays a command of its own name."""


def run(*arguments):
    return CliRunner().invoke(app, ["cost", *arguments, "--project", str(ROOT)])


def test_a_stack_is_priced_for_people_and_for_machines(tmp_path):
    page, data = tmp_path / "cost.html", tmp_path / "cost.json"
    result = run("demo", "--json", str(data), "--html", str(page), "--compare")
    assert result.exit_code == 0, result.output
    found = json.loads(data.read_text())
    assert found["currency"] == "USD" and found["floor"] < found["expected"] < found["ceiling"]
    assert {other["name"] for other in found["alternatives"]} >= {"as it is", "all on demand", "always on"}
    assert f"{found['expected']:,.0f}" in result.output
    assert "</html>" in page.read_text()


def test_json_on_standard_output_is_json_alone():
    result = run("demo", "--json", "-", "--utilisation", "0", "--spot-share", "100", "--assume", "data_bucket_gb=0")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["assumptions"]["utilisation_percent"]["value"] == 0
    data = next(
        line for line in found["lines"] if (line["resource"], line["what"]) == ("acme-demo-data", "stored objects")
    )
    assert data["expected"] == 0
    nodes = [line for line in found["lines"] if line["resource"] == "gpu-nodes-train-spot"]
    assert all(line["expected"] == 0 for line in nodes)


def test_over_budget_fails_only_when_asked():
    dear = ("demo", "--utilisation", "100", "--spot-saving", "0")
    assert run(*dear).exit_code == 0
    result = run(*dear, "--fail-over-budget")
    assert result.exit_code == 1
    assert "USD over the budget of 70,000 USD" in result.output
    assert run("demo", "--fail-over-budget").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--assume", "nat_gb"), "must be KEY=VALUE with a number"),
        (("--assume", "nat_gb=much"), "must be KEY=VALUE with a number"),
        (("--assume", "natgb=5"), "did you mean nat_gb?"),
        (("--utilisation", "170"), "must be between 0 and 100"),
    ],
)
def test_a_wrong_assumption_is_told(arguments, said):
    result = run("demo", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_an_unknown_stack_is_told():
    result = run("demu")
    assert result.exit_code == 2
    assert "did you mean demo?" in " ".join(result.output.split())
