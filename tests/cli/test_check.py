"""`trainyard check`: arguments, formats, exit codes."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.check import check
from trainyard.policies.pack import POLICIES

app = typer.Typer(pretty_exceptions_enable=False)
app.command("check")(check)

STACK = """
config:
  trainyard:client: acme
  trainyard:cloud: aws
  trainyard:region: us-east-1
  trainyard:teamSize: 12
  trainyard:alertEmails: [ml@acme.example]
  pulumi:disable-default-providers: ["*"]
"""


def run(*arguments):
    return CliRunner().invoke(app, [*arguments, "--project", str(ROOT)])


@pytest.fixture(scope="module")
def unsound(tmp_path_factory):
    """A stack that may be deleted by accident."""
    file = tmp_path_factory.mktemp("stacks") / "Pulumi.unsound.yaml"
    file.write_text(STACK + "  trainyard:protect: false\n")
    return file


def test_the_demo_stack_passes():
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert f"{len(POLICIES)} judged: 0 mandatory and 0 advisory violations" in result.output
    assert result.output.startswith("demo is sound: nothing would be refused, all of it works, no policy is violated.")
    assert len(result.output.splitlines()) <= 10 and "within the budget of 70,000 USD" in result.output


def test_a_mandatory_violation_is_exit_1_and_says_what_to_change(unsound):
    result = run(str(unsound))
    assert result.exit_code == 1
    assert "mandatory high stateful-resource-unprotected" in result.output
    assert "Leave protect at true" in result.output
    assert "NIST 800-53r5 CP-9" in result.output


def test_a_policy_configuration_decides_levels(unsound, tmp_path):
    file = tmp_path / "policy.json"
    file.write_text('{"stateful-resource-unprotected": "advisory"}')
    result = run(str(unsound), "--policy-config", str(file))
    assert result.exit_code == 0
    assert "advisory high stateful-resource-unprotected" in result.output


def test_files_in_every_format(unsound, tmp_path):
    for form, read in (
        ("json", json.loads),
        ("sarif", json.loads),
        ("junit", lambda t: ElementTree.fromstring(t.encode())),
    ):
        file = tmp_path / form
        assert run(str(unsound), "--format", form, "--output", str(file)).exit_code == 1
        read(file.read_text())
    assert run("demo", "-f", "markdown", "--compare", str(tmp_path / "json")).output.count("### ") == 2


def test_a_comment_on_a_pull_request_tells_what_a_change_costs(tmp_path):
    earlier = tmp_path / "earlier.json"
    assert run("demo", "-f", "json", "-o", str(earlier)).exit_code == 0
    text = run("demo", "-f", "markdown", "--compare", str(earlier)).output
    assert "| USD a month | before | after | change |" in text
    [line] = [line for line in text.splitlines() if line.startswith("| ceiling |")]
    assert re.fullmatch(r"\| ceiling \| ([0-9,]+) \| \1 \| \+0 \|", line)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the stacks to check, or say --all"),
        (("demo", "--all"), "not both"),
        (("dmo",), "did you mean demo?"),
        (("demo", "--compare", "x.json"), "add --markdown FILE"),
        (("demo", "-f", "markdown", "--compare", "/nowhere.json"), "no such file"),
        (("demo", "--policy-config", "/nowhere.json"), "must be an existing file"),
    ],
)
def test_a_wrong_command_line_is_exit_2(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_wrong_settings_are_exit_2(tmp_path):
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(STACK.replace("us-east-1", "us-esat-1"))
    result = run(str(file))
    assert result.exit_code == 2
    assert "region" in result.output


def test_a_wrong_program_is_exit_3_and_no_pass(tmp_path):
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: trainyard\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n")
    (tmp_path / "stacks" / "__main__.py").write_text("raise RuntimeError('broken')\n")
    (tmp_path / "stacks" / "Pulumi.one.yaml").write_text("config: {}\n")
    result = CliRunner().invoke(app, ["--all", "--project", str(tmp_path)])
    assert result.exit_code == 3
    assert "one would fail: 1 error" in result.output
    assert "no policy and no price was judged yet" in result.output
    assert "broken" in result.output


def test_one_run_writes_every_format_for_every_stack_whatever_is_wrong_with_one(unsound, tmp_path):
    wrong = tmp_path / "Pulumi.wrong.yaml"
    wrong.write_text(STACK.replace("us-east-1", "us-esat-1"))
    files = {form: tmp_path / f"check.{form}" for form in ("json", "sarif", "junit", "markdown")}
    arguments = [part for form, file in files.items() for part in (f"--{form}", str(file))]
    result = run(str(wrong), str(unsound), "demo", *arguments)
    assert result.exit_code == 2, "of the worst"
    assert result.stdout.startswith("3 stacks: 1 sound, 1 violated, 1 wrong-settings.")
    document = json.loads(files["json"].read_text())
    assert [one["stack"] for one in document["stacks"]] == ["wrong", "unsound", "demo"]
    assert [one["verdict"]["exit_code"] for one in document["stacks"]] == [2, 1, 0]
    assert document["stacks"][2]["verdict"]["money"]["budget"] == 70000
    [log] = json.loads(files["sarif"].read_text())["runs"]
    lines = {
        result["ruleId"]: result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in log["results"]
    }
    assert lines["wrong-setting"] == 5, "the line of the region"
    assert lines["stateful-resource-unprotected"] == 9, "the line of protect"
    suites = ElementTree.fromstring(files["junit"].read_bytes())
    assert {suite.get("name"): suite.get("failures") for suite in suites} == {"wrong": "1", "unsound": "1", "demo": "0"}
    table = files["markdown"].read_text(encoding="utf-8")
    assert re.search(r"\| demo \| ✅ sound \| [\d,]+ \| 70,000 \|", table)


def test_a_machine_on_standard_output_leaves_the_log_to_people(unsound):
    result = run(str(unsound), "--sarif", "-")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["version"] == "2.1.0"
    assert "unsound must not be deployed" in result.stderr and "Leave protect at true" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("demo", "--sarif", "-", "--json", "-"), "only one of them can have standard output"),
        (("demo", "--sarif", "x", "--json", "x"), "one would be written over the other"),
        (("demo", "--sarif", "x", "--json", f"{Path.cwd()}/x"), "one would be written over the other"),
        (("demo", "--sarif", "/nonexistent/x"), "--sarif /nonexistent/x: there is no folder /nonexistent"),
        (("demo", "--json", "."), "--json .: is a folder"),
        (("demo", "--sarif", "x", "-f", "sarif"), "one of them is enough"),
        (("demo", "--sarif", "--json"), "--json is an option, not a file"),
        (("demo", "-j", "0"), "--jobs"),
    ],
)
def test_outputs_that_exclude_each_other_are_exit_2(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())


def test_a_policy_configuration_that_is_wrong_is_no_stacks_fault(tmp_path):
    file = tmp_path / "policy.json"
    file.write_text('{"no-such-policy": "advisory"}')
    result = run("demo", "--policy-config", str(file), "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert "in the policies' configuration" in said and "stack" not in said
    assert "no-such-policy" in result.output and not (tmp_path / "out.json").exists()


def test_text_in_a_file_is_plain_whatever_the_terminal(unsound, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = tmp_path / "check.txt"
    assert run(str(unsound), "-o", str(file)).exit_code == 1
    text = file.read_text(encoding="utf-8")
    assert text.startswith("unsound must not be deployed") and "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100
