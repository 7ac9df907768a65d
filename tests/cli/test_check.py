"""`trainyard check`: arguments, formats, exit codes."""

import json
import re
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
    assert f"demo: {len(POLICIES)} policies, 0 mandatory" in result.output


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
        (("demo", "--compare", "x.json"), "add --format markdown"),
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
    assert "no policy can be judged" in result.output
    assert "broken" in result.output
