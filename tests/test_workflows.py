"""The workflows: sound YAML, no credentials beside a pull request's own code, and nothing called that is not there."""

import json
import os
import re
import subprocess

import pytest
import yaml

from tests.shared import ROOT
from trainyard.cli.main import app

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = ROOT / ".ci" / "run"
CI_DOCUMENTS = ROOT / "docs" / "ci"
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
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"], "each job says what its token may"
        assert job["timeout-minutes"] <= 60
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_an_action_is_named_by_the_commit_of_a_release_and_is_one_wherever_it_is_used():
    used = [line for file in WORKFLOWS for line in re.findall(r"uses: (.+)", file.read_text())]
    assert all(re.fullmatch(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in used), used
    assert len({action.split("@")[0] for action in used}) == len(set(used))
    assert len(used) == sum("uses" in step for file in WORKFLOWS for step in steps(file))


def test_a_script_holds_no_expression():
    """What a request's author may name (a branch, a title) would be code of the shell."""
    for step in (step for file in WORKFLOWS for step in steps(file)):
        assert "${{" not in step.get("run", "")


def jobs():
    return [(f"{file.name}: {name}", job) for file in WORKFLOWS for name, job in read(file)["jobs"].items()]


def checkouts(job):
    return [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]


def runs_code_of_the_branch(job):
    """Whether its checkout is of the request itself."""
    return any("ref" not in step["with"] for step in checkouts(job))


@pytest.mark.parametrize(("name", "job"), jobs())
def test_what_runs_a_branch_s_code_has_no_token_within_reach(name, job):
    assert all(step["with"]["persist-credentials"] is False for step in checkouts(job))
    granted = {f"{scope}: {right}" for scope, right in job["permissions"].items()}
    if runs_code_of_the_branch(job):
        assert granted <= {"contents: read", *(["id-token: write"] if "environment" in job else [])}
        for step in job["steps"]:
            told = f"{step.get('env', '')}{step.get('with', '')}"
            assert "github.token" not in told and "GITHUB_TOKEN" not in told
            assert "secrets." not in told or "environment" in job


@pytest.mark.parametrize(("name", "job"), jobs())
def test_what_may_write_runs_nothing_of_a_branch(name, job):
    if "write" not in {right for scope, right in job["permissions"].items() if scope != "id-token"}:
        return
    assert not runs_code_of_the_branch(job)
    for step in checkouts(job):
        assert step["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
        assert step["with"]["path"] == "target"
    for step in job["steps"]:
        assert not re.search(r"\b(pip|make|trainyard) |\./", step.get("run", "").replace("trainyard.", ""))
        for program in re.findall(r"python3? (.+)", step.get("run", "")):
            assert program.startswith("-I target/"), "isolated, and of the target branch"


def test_the_preview_waits_for_reviewers_and_is_bound_to_its_environment():
    job = dict(jobs())["trainyard.yml: preview"]
    assert job["environment"] == "trainyard-preview"
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert "head.repo.full_name == github.repository" in job["if"]
    [engine] = [step for step in job["steps"] if step.get("uses", "").startswith("pulumi/actions@")]
    assert set(engine["with"]) == {"pulumi-version"}, "it starts nothing: its token would be in what it starts"
    assert f"pulumi=={engine['with']['pulumi-version']}" in (ROOT / "pyproject.toml").read_text()
    [statement] = json.loads((CI_DOCUMENTS / "preview-role-trust.json").read_text())["Statement"]
    bound = statement["Condition"]["StringEquals"]
    assert bound["token.actions.githubusercontent.com:sub"].endswith(f":environment:{job['environment']}")
    assert bound["token.actions.githubusercontent.com:aud"] == "sts.amazonaws.com"
    assert set(statement["Condition"]) == {"StringEquals"}


def test_the_role_of_the_preview_may_only_read():
    for statement in json.loads((CI_DOCUMENTS / "preview-role-rights.json").read_text())["Statement"]:
        assert statement["Effect"] == "Allow"
        assert all(re.fullmatch(r"[a-z0-9]+:(Get|List|Describe|Decrypt)\w*", action) for action in statement["Action"])
        assert all(resource != "*" and ":::*" not in resource for resource in statement["Resource"])


def test_a_secret_is_only_where_an_environment_is():
    for name, job in jobs():
        assert "secrets." not in yaml.safe_dump(job) or "environment" in job, name


def test_gitlab_s_jobs_keep_the_same_rules():
    text = (CI_DOCUMENTS / "gitlab-ci.yml").read_text()
    recipe = yaml.safe_load(text)
    check, comment, preview = (recipe[f"trainyard:{name}"] for name in ("check", "comment", "preview"))
    assert "environment" not in check and "id_tokens" not in check and "variables" not in recipe
    assert comment["environment"] == {"name": "trainyard/comment", "action": "access"}
    assert comment["variables"] == {"GIT_STRATEGY": "none"}
    assert [line for line in comment["script"] if "python3" in line] == [
        "python3 -I /tmp/target/docs/ci/comment.py trainyard.md"
    ]
    assert "default" not in recipe and "before_script" not in text, "else a job that may write would install the branch"
    assert preview["environment"]["name"] == "trainyard/preview"
    assert preview["rules"][0]["when"] == "manual"
    assert f"{yaml.safe_dump(preview)}".count("pip install") == yaml.safe_dump(preview).count("--no-deps")
    version = re.search(r'"pulumi==([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    assert preview["image"].endswith(f":{version}")


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
    assert re.findall(r"^(?:if ! )?make (\w+)\b", CI.read_text(), flags=re.MULTILINE) == ["test", "check"]


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
