"""What `trainyard rehearse` prints, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trainyard.cli.main import app

PROJECT = Path(__file__).parents[2]


def test_a_page_on_standard_output_is_alone_there() -> None:
    ended = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT), "--html", "-"])
    assert ended.exit_code == 0, ended.output
    assert ended.stdout.lstrip().lower().startswith("<!doctype html>")
    assert ended.stdout.rstrip().endswith("</html>")
    # EKS calls capacity in a reservation on-demand; the label of its nodes knows better.
    assert "gpu-nodes-train-reserved: 0 to 1 nodes, reserved, p4d.24xlarge" in ended.stdout
    assert "Kubernetes 1.35, API private only" in ended.stdout


def test_two_things_cannot_both_have_standard_output() -> None:
    ended = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT), "--html", "-", "--json", "-"])
    assert ended.exit_code == 2
    assert "only one of them can have standard output" in ended.stderr


def test_two_files_are_never_written_over_each_other(tmp_path: Path) -> None:
    both = str(tmp_path / "both")
    ended = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT), "--html", both, "--json", both])
    assert ended.exit_code == 2
    assert "one would be written over the other" in ended.stderr and not Path(both).exists()


def test_the_tree_is_behind_an_option() -> None:
    short = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT)])
    assert short.exit_code == 0
    assert len(short.stdout.splitlines()) <= 10
    assert " expected, " in short.stdout and "`pulumi up --stack demo`" in short.stdout
    long = CliRunner().invoke(app, ["rehearse", "demo", "--tree", "-C", str(PROJECT)])
    assert long.stdout.startswith("demo is sound") and "gpu-nodes  GpuNodeGroups" in long.stdout
    assert "Critical path of the first up" in long.stdout


def test_a_stack_that_breaks_policies_says_so_in_every_output(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.open.yaml"
    demo = (PROJECT / "stacks" / "Pulumi.uae-aws.yaml").read_text(encoding="utf-8")
    file.write_text(f"{demo}  trainyard:protect: false\n", encoding="utf-8")
    data, page = tmp_path / "open.json", tmp_path / "open.html"
    outputs = ["--json", str(data), "--html", str(page)]
    ended = CliRunner().invoke(app, ["rehearse", str(file), "-C", str(PROJECT), *outputs])
    assert ended.exit_code == 1
    headline = json.loads(data.read_text(encoding="utf-8"))["verdict"]["headline"]
    assert headline.startswith("open must not be deployed: ")
    assert ended.stdout.startswith(f"{headline}.\n") and headline in page.read_text(encoding="utf-8")


def test_wrong_settings_are_in_the_document_and_on_the_page(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.odd.yaml"
    file.write_text("config:\n  trainyard:client: acme\n  trainyard:region: us-esat-1\n", encoding="utf-8")
    data, page = tmp_path / "odd.json", tmp_path / "odd.html"
    outputs = ["--json", str(data), "--html", str(page)]
    ended = CliRunner().invoke(app, ["rehearse", str(file), "-C", str(PROJECT), *outputs])
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "region: got us-esat-1" in ended.stderr
    document = json.loads(data.read_text(encoding="utf-8"))
    assert document["verdict"]["exit_code"] == 2
    assert {problem["key"]: problem["line"] for problem in document["problems"]}["region"] == 3
    assert "us-esat-1" in page.read_text(encoding="utf-8")


def test_the_change_from_a_file_is_told_in_every_output(tmp_path: Path) -> None:
    earlier, data, page = tmp_path / "earlier.json", tmp_path / "now.json", tmp_path / "now.html"
    of = ["-C", str(PROJECT)]
    CliRunner().invoke(app, ["rehearse", "demo", *of, "--json", str(earlier)])
    document = json.loads(earlier.read_text(encoding="utf-8"))
    vpc = next(each for each in document["resources"] if each["name"] == "network-vpc")
    vpc["inputs"]["cidrBlock"] = "10.77.0.0/16"
    earlier.write_text(json.dumps(document), encoding="utf-8")
    ended = CliRunner().invoke(
        app, ["rehearse", "demo", *of, "--from", str(earlier), "--json", str(data), "--html", str(page)]
    )
    assert ended.exit_code == 3
    assert ended.stdout.startswith("demo must not be changed like this: ")
    assert "change-other-network" in ended.stdout and "replaced Vpc network/network-vpc" in ended.stdout
    told = json.loads(data.read_text(encoding="utf-8"))
    assert told["verdict"]["state"] == "unsafe-change" and told["change"]["counts"]["replaced"] > 10
    shown = page.read_text(encoding="utf-8")
    assert "must not be changed like this" in shown and '<h2 id="change">The change</h2>' in shown
    assert "the way out of the network" in shown and "Vpc network/network-vpc" in shown


def test_from_nothing_is_a_wrong_command() -> None:
    ended = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT), "--from", "no-such-thing"])
    assert ended.exit_code == 2 and "must be a git reference, or a file" in ended.stderr


@pytest.fixture
def referring(tmp_path: Path) -> Path:
    """A project whose program looks up another stack's network; the file of that stack's outputs lies in it."""
    (tmp_path / "Pulumi.yaml").write_text("name: mini\nruntime: python\n")
    (tmp_path / "Pulumi.prod.yaml").write_text("config: {}\n")
    (tmp_path / "__main__.py").write_text(
        'import pulumi\npulumi.export("vpc", pulumi.StackReference("acme/network/prod").require_output("vpcId"))\n'
    )
    (tmp_path / "network.json").write_text('{"vpcId": "vpc-1", "password": "[secret]"}')
    return tmp_path


def test_what_another_stack_hands_on_is_a_file_of_outputs(referring: Path) -> None:
    file = referring / "network.json"
    call = ["rehearse", "prod", "--project", str(referring), "--json", "-"]
    untold = json.loads(CliRunner().invoke(app, call).stdout)
    told = json.loads(CliRunner().invoke(app, [*call, "--stack-outputs", f"network/prod={file}"]).stdout)
    assert [finding["rule"] for finding in untold["findings"]] == ["stack-unchecked"]
    assert told["findings"] == [] and told["outputs"]["vpc"] == "vpc-1"


@pytest.mark.parametrize("stacks", [["prod"], ["prod", "dev"]])
def test_a_check_is_told_what_another_stack_hands_on(referring: Path, stacks: list[str]) -> None:
    """In this process, and where others judge."""
    (referring / "Pulumi.dev.yaml").write_text("config: {}\n")
    told = ["--stack-outputs", f"network/prod={referring / 'network.json'}"]
    for options, rules in (([], ["stack-unchecked"]), (told, [])):
        call = ["check", *stacks, "--project", str(referring), "--format", "json", "--jobs", "2", *options]
        found = json.loads(CliRunner().invoke(app, call).stdout)["stacks"]
        assert [[finding["rule"] for finding in one["findings"]] for one in found] == [rules] * len(stacks)


@pytest.mark.parametrize("command", [["cost"], ["explain"], ["preflight"]])
def test_every_command_that_rehearses_is_told_what_another_stack_hands_on(referring: Path, command: list[str]) -> None:
    """A program that has to know it: `gone` is in no file."""
    program = referring / "__main__.py"
    program.write_text(program.read_text().replace('"vpcId"', '"gone"'))
    if command == ["preflight"]:  # which reads our settings, whatever the program is
        (referring / "Pulumi.yaml").write_text("name: trainyard\nruntime: python\n")
        (referring / "Pulumi.prod.yaml").write_bytes((PROJECT / "stacks" / "Pulumi.demo.yaml").read_bytes())
    topic = ["rights"] if command == ["explain"] else []
    call = [*command, "prod", *topic, "--project", str(referring)]
    untold = CliRunner().invoke(app, call)
    told = CliRunner().invoke(app, [*call, "--stack-outputs", f"network/prod={referring / 'network.json'}"])
    assert "gone" not in untold.output + untold.stderr
    assert "gone" in told.output + told.stderr


@pytest.mark.parametrize("command", [["rehearse"], ["check"], ["cost"], ["explain", "rights"], ["preflight"]])
def test_a_file_of_outputs_is_given_with_the_name_of_its_stack(tmp_path: Path, command: list[str]) -> None:
    verb, *topic = command
    ended = CliRunner().invoke(app, [verb, "demo", *topic, "--stack-outputs", str(tmp_path / "network.json")])
    assert ended.exit_code == 2 and "STACK=FILE" in ended.output
    missing = tmp_path / "missing.json"
    ended = CliRunner().invoke(app, [verb, "demo", *topic, "--stack-outputs", f"network/prod={missing}"])
    assert ended.exit_code == 2 and "got no such file" in ended.stderr
