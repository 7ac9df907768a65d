"""The CI recipes: offline first, credentials only where there are some, and no option that the command lacks."""

import re

import pytest
import typer
import yaml

from tests.shared import ROOT
from trainyard.cli.check import Format, check
from trainyard.review.formats.markdown import MARKER

GITHUB = ROOT / ".github" / "workflows" / "trainyard.yml"
GITLAB = ROOT / "docs" / "ci" / "gitlab-ci.yml"
COMMENT = ROOT / "docs" / "ci" / "gitlab_comment.py"


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
    assert "vars.TRAINYARD_ROLE != ''" in jobs["preview"]["if"]
    [preview] = [step for step in jobs["preview"]["steps"] if step.get("uses", "").startswith("pulumi/actions")]
    assert (preview["with"]["command"], preview["with"]["policyPacks"]) == ("preview", "policies")


def test_gitlab_checks_without_credentials_and_previews_after_it():
    jobs = gitlab()
    assert jobs["stages"] == ["check", "preview"]
    assert "id_tokens" not in jobs["trainyard:check"]
    assert [rule["if"] for rule in jobs["trainyard:preview"]["rules"]] == [
        '$TRAINYARD_STATE && $CI_PIPELINE_SOURCE == "merge_request_event"'
    ]
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


def test_both_find_their_earlier_comment_by_the_same_line():
    assert f'"{MARKER}"' in GITHUB.read_text()
    assert f'MARKER = "{MARKER}"' in COMMENT.read_text()
