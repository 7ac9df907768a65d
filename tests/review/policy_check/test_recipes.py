"""The CI recipes: offline first, credentials only where there are some, and no option that the command lacks."""

import re

import pytest
import typer
import yaml

from tests.shared import ROOT
from trainyard.cli.check import Format, check

GITHUB = ROOT / ".github" / "workflows" / "trainyard.yml"
GITLAB = ROOT / "docs" / "ci" / "gitlab-ci.yml"


def github():
    return yaml.safe_load(GITHUB.read_text())["jobs"]


def gitlab():
    return yaml.safe_load(GITLAB.read_text())


def test_github_checks_without_credentials_and_previews_after_it():
    jobs = github()
    assert "secrets." not in yaml.dump(jobs["check"])
    assert "id-token" not in jobs["check"]["permissions"]
    # What it runs is the pull request's own code: the token that may comment must not lie in .git/config.
    assert jobs["check"]["steps"][0]["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert jobs["preview"]["needs"] == "check"
    assert "vars.TRAINYARD_STACK != ''" in jobs["preview"]["if"]
    assert "pulumi preview --non-interactive" in jobs["preview"]["steps"][-1]["run"]
    assert "--policy-pack policies" in jobs["preview"]["steps"][-1]["run"]


def test_gitlab_checks_without_credentials_and_previews_after_it():
    jobs = gitlab()
    assert jobs["stages"] == ["check", "tell"]
    assert jobs["trainyard:preview"]["needs"] == ["trainyard:check"]
    assert "id_tokens" not in jobs["trainyard:check"]
    [rule] = jobs["trainyard:preview"]["rules"]
    assert rule["if"].startswith('$TRAINYARD_STACK && $CI_PIPELINE_SOURCE == "merge_request_event" && ')
    assert "--policy-pack policies" in jobs["trainyard:preview"]["script"][-1]
    assert jobs["trainyard:check"]["artifacts"]["reports"]["junit"] == "trainyard.xml"


@pytest.mark.parametrize("file", [GITHUB, GITLAB], ids=["github", "gitlab"])
def test_the_recipes_use_options_that_there_are(file):
    app = typer.Typer()
    app.command()(check)
    known = {option for parameter in typer.main.get_command(app).params for option in parameter.opts}
    text = file.read_text().replace("\\\n", " ")
    used = re.findall(r"check (--all[^|;&\n]*)", text)
    assert len(used) == 2, "the target branch, and the change in all formats at once"
    for line in used:
        assert set(re.findall(r"--[a-z-]+", line)) <= known
        assert set(re.findall(r"--format (\w+)", line)) <= {form.value for form in Format}
