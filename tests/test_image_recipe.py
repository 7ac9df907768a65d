"""The pipeline that builds the tracking server's image: what it may, and what it does step by step."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.shared import ROOT

CI = ROOT / "docs" / "ci"
RECIPE = CI / "tracking-image.yml"
DIGEST = "sha256:" + "ab" * 32
REPOSITORY = "123456789012.dkr.ecr.us-east-1.amazonaws.com/mlflow"


def recipe() -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(RECIPE.read_text())
    return found


def step(name: str) -> dict[str, Any]:
    (found,) = [each for each in recipe()["jobs"]["build"]["steps"] if str(each.get("name", "")).startswith(name)]
    return dict(found)


def test_it_runs_nothing_of_a_request_and_waits_for_its_environment() -> None:
    found = recipe()
    assert set(found[True]) == {"workflow_dispatch", "push"}, "no pull request starts it"
    assert found[True]["push"]["branches"] == ["main"]
    job = found["jobs"]["build"]
    assert found["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert job["if"] == "github.ref == 'refs/heads/main'", "nor another branch by hand"
    assert job["environment"] == "trainyard-images"
    assert "secrets." not in RECIPE.read_text()


def test_its_actions_are_those_of_the_other_workflows() -> None:
    pattern = r"uses: ([\w./-]+@[0-9a-f]{40} # v\S+)"
    others = (ROOT / ".github" / "workflows" / "trainyard.yml").read_text()
    used = re.findall(pattern, RECIPE.read_text())
    assert len(used) == RECIPE.read_text().count("uses: ") == 2
    assert set(used) <= set(re.findall(pattern, others))


def test_no_script_holds_an_expression_and_credentials_come_after_the_build() -> None:
    steps = recipe()["jobs"]["build"]["steps"]
    assert all("${{" not in each.get("run", "") for each in steps)
    order = [each.get("name", each.get("uses", "").partition("@")[0]) for each in steps]
    credentials = order.index("aws-actions/configure-aws-credentials")
    assert order.index("Build") < order.index("Try it, as its pod runs it") < credentials < order.index("Push")


def test_its_role_pushes_to_one_repository() -> None:
    (trust,) = json.loads((CI / "image-role-trust.json").read_text())["Statement"]
    subject = trust["Condition"]["StringEquals"]["token.actions.githubusercontent.com:sub"]
    assert subject.endswith(":environment:trainyard-images")
    log_in, push = json.loads((CI / "image-role-rights.json").read_text())["Statement"]
    assert log_in["Action"] == ["ecr:GetAuthorizationToken"], "which knows no resource"
    assert push["Resource"] == ["arn:aws:ecr:REGION:ACCOUNT:repository/mlflow"]
    assert not [action for action in push["Action"] if re.search("Delete|Create|Policy|Tag", action)]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Docker and the cloud's tool, which write down what they are asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    asked = tmp_path / "asked"
    (folder / "docker").write_text(
        f'#!/bin/sh\necho "docker $*" >> {asked}\ncase "$1" in image) echo {REPOSITORY}@{DIGEST};; login) cat;; esac\n'
    )
    (folder / "aws").write_text(f'#!/bin/sh\necho "aws $*" >> {asked}\necho token\n')
    for file in folder.iterdir():
        file.chmod(0o755)
    return tmp_path


def run(tools: Path, name: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{tools / 'bin'}:{os.environ['PATH']}",
        "GITHUB_SHA": "0123456789abcdef" * 2,
        "GITHUB_OUTPUT": str(tools / "output"),
        "GITHUB_STEP_SUMMARY": str(tools / "summary"),
        **variables,
    }
    command = ["bash", "-e", "-o", "pipefail", "-c", step(name)["run"]]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


def test_it_prints_the_image_by_digest_for_the_stack_file(tools: Path) -> None:
    base = f"python:3.11-slim-bookworm@{DIGEST}"
    built = run(tools, "Build", BASE=base, REPOSITORY=REPOSITORY)
    assert built.returncode == 0, built.stderr
    image = (tools / "output").read_text().strip().removeprefix("image=")
    assert re.fullmatch(rf"{re.escape(REPOSITORY)}:\d+\.\d+\.\d+-0123456789ab", image)
    assert run(tools, "Try", IMAGE=image).returncode == 0
    pushed = run(tools, "Push", IMAGE=image)
    assert pushed.returncode == 0, pushed.stderr
    assert f"pulumi config set --path 'trainyard:mlflow.image' '{image}@{DIGEST}'" in (tools / "summary").read_text()
    asked = (tools / "asked").read_text()
    assert f"--build-arg BASE={base}" in asked
    assert "docker login --username AWS --password-stdin 123456789012.dkr.ecr.us-east-1.amazonaws.com\n" in asked
    assert f"docker push {image}\n" in asked


@pytest.mark.parametrize("base", ["", "python:3.11-slim-bookworm"])
def test_a_base_without_a_digest_is_refused(tools: Path, base: str) -> None:
    built = run(tools, "Build", BASE=base, REPOSITORY=REPOSITORY)
    assert built.returncode == 1
    assert "no image by digest" in built.stderr
    assert not (tools / "asked").exists()


def test_an_image_that_the_registry_gave_no_digest_is_not_named(tools: Path) -> None:
    docker = tools / "bin" / "docker"
    docker.write_text(docker.read_text().replace(f"@{DIGEST}", ""))
    assert run(tools, "Push", IMAGE=f"{REPOSITORY}:3.17.2-0").returncode != 0
    assert not (tools / "summary").exists()


def test_what_it_tries_is_what_the_image_is_for() -> None:
    """Every package that the recipe of the image names is imported, and the user is the pod's."""
    tried = step("Try")["run"]
    packages = (ROOT / "images" / "mlflow" / "requirements.in").read_text()
    named = re.findall(r"^([a-z][a-z0-9-]+)", packages, re.MULTILINE)
    modules = {"psycopg2-binary": "psycopg2"}
    assert len(named) == 5
    for package in named:
        assert modules.get(package, package.replace("-", "_")) in tried
    assert "--user 10001:10001" in tried
    assert "--read-only" in tried
