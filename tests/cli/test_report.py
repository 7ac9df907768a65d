"""`trainyard report`: what it writes, what it refuses before it rehearses, and how it ends."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml
from typer.testing import CliRunner

from tests.review.handover.test_proposal import ANSWERS
from tests.shared import ROOT
from tests.smoke_jobs.report.support import document
from trainyard.cli.main import app
from trainyard.review.handover import pdf

AGENCY = {"name": "Northwind AI", "colour": "#0b5c58", "waitingPercent": 25,
          "prices": {"assessment": [15000, 35000], "build": [60000, 150000]}}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the small example stack, answers beside it, and an agency."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "Pulumi.yaml", folder / "Pulumi.yaml")
    (folder / "stacks").mkdir()
    for name in ("__main__.py", "Pulumi.small-aws.yaml", "Pulumi.small-aws.lock.yaml"):
        shutil.copy(ROOT / "stacks" / name, folder / "stacks" / name)
    (folder / "stacks" / "Pulumi.small-aws.answers.yaml").write_text(yaml.safe_dump(ANSWERS))
    (folder / "fleet.yaml").write_text(yaml.safe_dump({"agency": AGENCY}))
    return folder


def run(*words, project):
    return CliRunner().invoke(app, ["report", *map(str, words), "-C", str(project)])


def test_a_handover_is_written_and_printed(project, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(
        '#!/bin/sh\nfor a in "$@"; do case "$a" in --print-to-pdf=*) printf "%%PDF-1.4" > "${a#*=}";; esac; done\n'
    )
    browser.chmod(0o755)
    page, printed = tmp_path / "h.html", tmp_path / "h.pdf"
    done = run("small-aws", "-o", page, "--pdf", printed, "--browser", browser, project=project)
    assert done.exit_code == 0, done.output
    assert f"Wrote {page} and {printed}." in done.output.replace("\n", " ")
    text = page.read_text(encoding="utf-8")
    assert "Northwind AI" in text and "initech" in text and "times as fast" in text
    assert printed.read_bytes() == b"%PDF-1.4"


def test_a_proposal_from_answers_alone_writes_nothing_else(project, tmp_path, monkeypatch):
    answers = tmp_path / "globex.answers.yaml"
    small = {**ANSWERS, "people": {"teamSize": 3, "hourlyUsd": 95}, "money": {}}
    answers.write_text(yaml.safe_dump(small))
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in (project / "stacks").iterdir())
    done = run("--proposal", "--answers", answers, project=project)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "globex-proposal.html").read_text(encoding="utf-8")
    assert "<h1>globex</h1>" in text and "until it has paid for itself" in text
    assert sorted(path.name for path in (project / "stacks").iterdir()) == before


def test_a_proposal_on_google_cloud_comes_before_the_project(project, tmp_path, monkeypatch):
    answers = tmp_path / "hooli.answers.yaml"
    there = {"cloud": "gcp", "region": "us-central1"}
    several = {**ANSWERS, "where": there, "people": {"teamSize": 10, "hourlyUsd": 95}, "money": {}}
    answers.write_text(yaml.safe_dump(several))
    monkeypatch.chdir(tmp_path)
    done = run("--proposal", "--answers", answers, project=project)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "hooli-proposal.html").read_text(encoding="utf-8")
    assert "<h1>hooli</h1>" in text and "Google Cloud" in text
    assert "your-project" in text
    assert "100000000000" not in text and "000000-000000" not in text


def test_standard_output_holds_the_page_alone(project):
    done = run("small-aws", "--proposal", "-o", "-", project=project)
    assert done.exit_code == 0 and done.stdout.startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")


def test_a_stack_that_violates_a_policy_has_its_handover_and_the_exit_code(project, tmp_path):
    stack = yaml.safe_load((ROOT / "stacks" / "Pulumi.small-aws.yaml").read_text(encoding="utf-8"))
    stack["config"] |= {"trainyard:protect": False, "trainyard:environment": "production"}
    file = tmp_path / "Pulumi.bad.yaml"
    file.write_text(yaml.safe_dump(stack))
    done = run(file, "-o", tmp_path / "bad.html", project=project)
    assert done.exit_code == 1 and "must not be deployed" in done.output
    assert 'class="verdict bad"' in (tmp_path / "bad.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a stack"),
        (("--proposal",), "name a stack"),
        (("small-awz",), "no stack"),
        (("small-aws", "--browser", "chromium"), "is for --pdf"),
        (("small-aws", "--pdf", "-"), "a PDF goes into a file"),
        (("small-aws", "--pdf", "x.pdf", "--browser", "no-such-browser"), "there is no such program"),
        (("small-aws", "-o", "/no/such/folder/x.html"), "there is no folder"),
        (("small-aws", "--answers", "absent.yaml"), "no such file"),
        (("small-aws", "--proposal", "--smoke", "x.json"), "a proposal comes before"),
    ],
)
def test_what_is_wrong_is_refused_with_a_remedy(project, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    done = run(*words, project=project)
    assert done.exit_code == 2 and said in " ".join(done.output.split()), done.output
    assert not list(tmp_path.glob("*.html"))


def test_without_a_browser_nothing_is_rehearsed(project, monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    done = run("small-aws", "--pdf", "x.pdf", project=project)
    assert done.exit_code == 2 and "install Chromium" in " ".join(done.output.split())


def test_the_result_of_another_stack_is_refused(project, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps(document(stack="demo")))
    done = run("small-aws", "-o", tmp_path / "x.html", "--smoke", tmp_path / "r.json", project=project)
    assert done.exit_code == 2 and "must be of small-aws" in " ".join(done.output.split())


def test_wrong_settings_of_the_stack_or_the_agency_are_told(project, tmp_path):
    bad = tmp_path / "Pulumi.bad.yaml"
    bad.write_text("config:\n  trainyard:client: acme\n")
    done = run(bad, "-o", tmp_path / "x.html", project=project)
    assert done.exit_code == 2 and "problem" in done.output
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", other / "Pulumi.yaml")
    (other / "fleet.yaml").write_text("agency: {name: N, colour: green}\n")
    (other / "stacks").symlink_to(ROOT / "stacks")
    done = run("small-aws", "-o", tmp_path / "x.html", project=other)
    assert done.exit_code == 2 and "agency.colour" in done.output and not (tmp_path / "x.html").exists()


def test_a_proposal_without_answers_says_how_to_get_them(project, tmp_path):
    shutil.copy(ROOT / "stacks" / "Pulumi.small-aws.yaml", tmp_path / "Pulumi.fresh.yaml")
    done = run(tmp_path / "Pulumi.fresh.yaml", "--proposal", "-o", tmp_path / "x.html", project=project)
    assert done.exit_code == 2 and "there are no answers" in done.output
    assert "Pulumi.fresh.answers.yaml" in done.output.replace("\n", ""), "the file that they belong into"


def test_the_help_names_every_option():
    done = CliRunner().invoke(app, ["report", "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    for option in ("--output", "--pdf", "--smoke", "--answers", "--proposal", "--browser", "--project"):
        assert option in done.output
