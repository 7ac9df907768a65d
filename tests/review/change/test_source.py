"""What a stack is compared with: a commit, a rehearsal's JSON, an engine's state; and what is none of these."""

import json
import os
import subprocess
import sys

import pytest

from tests.review.change.state import exported
from tests.shared import ROOT
from trainyard.problems import SettingsError
from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.rehearsal.change.earlier import Earlier, from_json
from trainyard.review.change.review import review_change
from trainyard.review.change.source import COMMAND, find_source
from trainyard.review.review import judge

PROGRAM = """
import pulumi
import pulumi_aws as aws
from pulumi_aws import Provider

config = pulumi.Config()
on = pulumi.ResourceOptions(provider=Provider("aws", region="us-east-1"))
bucket = aws.s3.Bucket("data", bucket=config.require("bucket"), opts=on)
"""
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]


@pytest.fixture(scope="module")
def demo(rehearsed):
    return rehearsed("demo")


@pytest.fixture
def repository(tmp_path):
    """A project of one bucket in a folder of a repository, committed as `v1`."""
    folder = tmp_path / "repository" / "infra"
    folder.mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: mini\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "Pulumi.dev.yaml").write_text("config:\n  mini:bucket: first\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"], ["tag", "v1"]):
        subprocess.run([*GIT, *command], cwd=folder.parent, check=True, capture_output=True)
    return folder


def test_a_rehearsals_json_is_the_rehearsal(demo):
    document = json.loads(json.dumps(demo.as_json()))
    found = review_change(from_json(document, "demo.json"), demo)
    assert found.nothing and found.source == "demo.json"
    assert found.change.unseen, "masked secrets cannot be compared, and that is said"


def test_what_differs_in_a_json(demo):
    document = json.loads(json.dumps(demo.as_json()))
    (group,) = (
        each for each in document["resources"] if each["name"] == "gpu-nodes-train-spot" and "NodeGroup" in each["type"]
    )
    group["inputs"]["scalingConfig"]["maxSize"] = 1
    found = review_change(from_json(document, "demo.json"), demo)
    assert found.summary.startswith("1 changed, ")
    assert [line[3] for line in found.lines()] == ["scalingConfig.maxSize 1 -> 2"]


@pytest.mark.parametrize("stack", ["demo", "large-aws"])
def test_a_state_has_ids_of_its_own_and_is_the_same_stack(stack, rehearsed):
    found = review_change(from_json(exported(rehearsed(stack)), "state.json"), rehearsed(stack))
    assert found.nothing, list(found.lines())
    assert found.findings == () and found.change.deployed


def test_what_differs_from_a_state(demo):
    state = exported(demo)
    resources = {each["urn"].rsplit("::")[-1]: each for each in state["deployment"]["resources"]}
    resources["gpu-nodes-train-spot"]["inputs"]["instanceTypes"] = ["p3.16xlarge"]
    resources["network-vpc"]["inputs"]["cidrBlock"] = "10.77.0.0/16"
    state["deployment"]["resources"].append(
        {**resources["network-vpc"], "urn": "urn:pulumi:demo::trainyard::aws:ec2/vpc:Vpc::old", "delete": True}
    )
    state["deployment"]["pending_operations"] = [{}]
    found = review_change(from_json(state, "state.json"), demo)
    assert {finding.rule for finding in found.findings} >= {"change-ends-jobs", "change-other-network"}
    replaced = {line[2] for line in found.lines() if line[0] == "replaced"}
    assert any("gpu-nodes-train-spot" in names for names in replaced)
    assert len(found.change.notes) == 2, "what waits for deletion, and what was interrupted"


def test_an_empty_state_makes_everything(demo):
    found = review_change(from_json({"version": 3, "deployment": {"resources": []}}, "state.json"), demo)
    assert set(found.counts) - {"made"} == {key for key, number in found.counts.items() if not number}
    assert found.findings == ()


@pytest.mark.parametrize(
    "document",
    [
        [],
        "text",
        {},
        {"stack": "a", "verdict": {}, "problems": []},
        {"resources": [{"urn": "a"}]},
        {"deployment": {"resources": "many"}},
        {"resources": ["text"]},
    ],
)
def test_what_is_neither(document):
    with pytest.raises(SettingsError, match="rehearse --json"):
        from_json(document, "a.json")


def test_a_commit_is_rehearsed_by_its_own_program(repository):
    (repository / "__main__.py").write_text(PROGRAM.replace('"data"', '"other"'))
    found = judge(repository, repository / "Pulumi.dev.yaml", since=find_source("v1", repository))
    assert {(line[0], line[2]) for line in found.change.lines()} == {("made", "other"), ("deleted", "data")}
    assert found.change.source.startswith("v1 (")
    assert found.verdict.state == "unsafe-change" and found.verdict.exit_code == 3
    assert found.as_json()["change"]["counts"]["deleted"] == 1


@pytest.mark.parametrize("outputs", [{"name": "training-data"}, {"name": Secret(UNKNOWN)}])
def test_a_commit_knows_of_other_stacks_what_its_successor_does(repository, outputs):
    program = PROGRAM.replace('config.require("bucket")', 'pulumi.StackReference("a/names/dev").get_output("name")')
    (repository / "__main__.py").write_text(program)
    subprocess.run([*GIT, "commit", "-qam", "named elsewhere"], cwd=repository, check=True, capture_output=True)
    (repository / "__main__.py").write_text(program.replace('("name")', '("name").apply(lambda name: name + "-2")'))
    since, told = find_source("HEAD", repository), {"a/names/dev": outputs}
    found = judge(repository, repository / "Pulumi.dev.yaml", since=since, stack_outputs=told)
    known = isinstance(outputs["name"], str)
    assert {line[0] for line in found.change.lines()} == ({"replaced"} if known else set())


def test_a_stack_that_was_not_there_is_new(repository):
    (repository / "Pulumi.new.yaml").write_text("config:\n  mini:bucket: second\n")
    found = judge(repository, repository / "Pulumi.new.yaml", since=find_source("v1", repository))
    assert [line[0] for line in found.change.lines()] == ["made"]
    assert found.change.change.notes == (f"there is no stack new in {found.change.source}",)


def test_a_commit_that_cannot_be_rehearsed_is_told_and_blames_nobody(repository):
    (repository / "Pulumi.dev.yaml").write_text("config: [broken\n")
    subprocess.run([*GIT, "commit", "-qam", "broken"], cwd=repository, check=True, capture_output=True)
    (repository / "Pulumi.dev.yaml").write_text("config:\n  mini:bucket: first\n")
    found = judge(repository, repository / "Pulumi.dev.yaml", since=find_source("HEAD", repository))
    assert [finding.rule for finding in found.change.findings] == ["change-not-compared"]
    assert found.verdict.warnings == 1 and found.verdict.state != "unsafe-change"


@pytest.mark.parametrize("text", ["no-such-branch", "--output=x", "v1:Pulumi.yaml"])
def test_what_names_neither_a_file_nor_a_commit(text, repository):
    with pytest.raises(SettingsError, match="no file and no commit"):
        find_source(text, repository)


def test_a_project_outside_of_a_repository(tmp_path):
    (tmp_path / "Pulumi.yaml").write_text("name: mini\nruntime: python\n")
    with pytest.raises(SettingsError, match="lies in no git repository"):
        find_source("main", tmp_path)


def test_a_file_is_a_file_whatever_git_says(tmp_path):
    (tmp_path / "main").write_text("{}")
    assert find_source(str(tmp_path / "main"), ROOT).file == tmp_path / "main"


def test_what_is_there_is_said(demo):
    found = review_change(Earlier("nothing", (), notes=("a note",)), demo)
    assert found.as_json()["notes"] == ["a note"]


def test_another_release_begins_as_quickly_as_it_can(tmp_path):
    command = tmp_path / "trainyard" / "cli"
    command.mkdir(parents=True)
    for package in (command.parent, command):
        (package / "__init__.py").touch()
    (command / "main.py").write_text("def main(): print('as it was')")
    (command / "__main__.py").write_text("def main(): print('quickly')")

    def said():
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run([sys.executable, "-P", "-c", COMMAND], env=environment, capture_output=True, text=True)
        return run.stdout.strip() or run.stderr

    assert said() == "quickly"
    (command / "__main__.py").unlink()
    assert said() == "as it was", "a release that has no other beginning"
