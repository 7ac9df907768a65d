"""The workflows: sound YAML, no credentials beside a pull request's own code, and nothing called that is not there."""

import os
import re
import subprocess

import pytest
import yaml

from tests.shared import ROOT
from trainyard.cli.main import app

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = ROOT / ".ci" / "run"
OTHER_PYTHONS = ROOT / ".ci" / "try_python"
PYTHONS = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())


def read(file):
    content = yaml.safe_load(file.read_text())
    return {**content, "on": content[True]}  # YAML 1.1 takes the key `on` for a boolean


def steps(file):
    return [step for job in read(file)["jobs"].values() for step in job["steps"]]


def commands(file):
    return "\n".join(step["run"] for step in steps(file) if "run" in step).replace("\\\n", " ")


def make_targets():
    rules = re.findall(r"^([a-z./ -]+):(?!=)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    return {target for rule in rules for target in rule.split()}


def test_there_is_one_for_the_code_and_one_for_the_stacks():
    assert [file.name for file in WORKFLOWS] == ["tests.yml", "trainyard.yml"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_each_runs_on_pull_requests_and_main_with_no_rights_by_default(file):
    workflow = read(file)
    assert set(workflow["on"]) == {"pull_request", "push"}
    assert workflow["on"]["push"] == {"branches": ["main"]}
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_an_action_has_one_version_wherever_it_is_used():
    used = {step["uses"] for file in WORKFLOWS for step in steps(file) if "uses" in step}
    assert all(re.fullmatch(r"[\w.-]+(/[\w.-]+)+@v\d+", action) for action in used)
    assert len({action.split("@")[0] for action in used}) == len(used)


def test_the_tests_run_without_secrets_and_leave_no_token_behind():
    [file] = [file for file in WORKFLOWS if file.name == "tests.yml"]
    assert "secrets." not in file.read_text()
    assert steps(file)[0]["with"] == {"persist-credentials": False}
    assert ".ci/run" in commands(file).split()


@pytest.mark.parametrize("file", [*WORKFLOWS, CI], ids=lambda file: file.name)
def test_what_is_called_is_there(file):
    text = file.read_text() if file == CI else commands(file)
    for target in re.findall(r"\bmake ([a-z]+)", text):
        assert target in make_targets()
    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    for verb in re.findall(r"(?:bin/trainyard|main\(\)\") ([a-z]+)", text):
        assert verb in verbs
    for lock in re.findall(r"requirements[\w.-]*", file.read_text()):
        assert (ROOT / lock).is_file()


def test_ci_runs_the_tests_and_the_checks():
    assert os.access(CI, os.X_OK)
    assert re.findall(r"^make (\w+)$", CI.read_text(), flags=re.MULTILINE) == ["test", "check"]


def test_ci_runs_on_every_python_that_the_project_names():
    [file] = [file for file in WORKFLOWS if file.name == "tests.yml"]
    assert PYTHONS[0] == "3.11"
    assert read(file)["jobs"]["tests"]["strategy"]["matrix"]["python"] == PYTHONS
    assert "PYTHON" in file.read_text()
    assert f".ci/try_python {' '.join(PYTHONS[1:])}\n" in CI.read_text()


def test_a_python_that_is_not_there_is_named_and_left_out():
    told = subprocess.run([OTHER_PYTHONS, "3.99"], capture_output=True, text=True, check=True)
    assert told.stdout == "Python 3.99: is not on this machine, not tried\n"


def test_a_python_that_fails_fails_the_run(tmp_path):
    (tmp_path / "python3.98").write_text('#!/bin/sh\n[ "$1" = -c ] || exit 7\n')
    (tmp_path / "python3.98").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    told = subprocess.run([OTHER_PYTHONS, "3.98"], env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 7


def test_every_target_is_declared_and_described():
    text = (ROOT / "Makefile").read_text()
    [phony] = re.findall(r"^\.PHONY: (.+)$", text, flags=re.MULTILINE)
    described = set(re.findall(r"^([a-z]+):.*## \S", text, flags=re.MULTILINE))
    assert described | {"clean"} == set(phony.split())
