"""`trainyard preflight`, as a person calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.account.answers import aws
from tests.account.demo import subject
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.cli.preflight import _alike, _print
from trainyard.preflight import tools
from trainyard.preflight.aws import endpoint
from trainyard.preflight.model import Answer, Line, Preflight, Subject

__all__ = ["subject"]  # the fixture


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["preflight", *arguments, "--project", str(ROOT)])


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path with nothing on it but what a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(endpoint, "reaches", lambda host, port: False)
    return folder


def program(folder: Path, name: str, text: str = "") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_without_credentials_it_tells_what_needs_none_and_how_to_get_them(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    done = run("demo")
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert "tools: pulumi" in done.output
    assert "192 vCPUs are needed" in done.output
    assert "AWS_PROFILE" in done.output
    assert done.output.count("after `aws sso login`") == 2, "once where it matters, once at the end"


def test_a_new_account_is_told_what_will_fail(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with aws(monkeypatch):
        done = run("demo", "--json", "-")
    assert done.exit_code == 1, done.output
    document = json.loads(done.stdout)
    assert document["credentials"] is True
    assert document["fails"] + document["fine"] + document["unknown"] == len(document["lines"])
    failing = {(line["check"], line["what"]) for line in document["lines"] if line["answer"] == "will fail"}
    assert ("tools", "pulumi") in failing
    assert ("service-linked roles", "AWSServiceRoleForAutoScaling") in failing
    assert all(line["remedy"] for line in document["lines"] if line["answer"] == "will fail")


def test_a_stack_that_is_not_there_is_told() -> None:
    done = run("dmo")
    assert done.exit_code == 2
    assert "did you mean demo" in done.output


def test_programs_are_looked_for(programs: Path, subject: Subject) -> None:
    missing = {line.what: line.answer for line in tools.check(subject)}
    assert missing == {
        "pulumi": Answer.FAILS,
        "aws": Answer.FAILS,
        "session-manager-plugin": Answer.FAILS,
        "kubectl": Answer.UNKNOWN,
    }
    for name in ("aws", "session-manager-plugin", "kubectl"):
        program(programs, name)
    program(programs, "pulumi", 'if [ "$1" = version ]; then echo v3.272.0; else echo "[]"; fi')
    found = {line.what: line for line in tools.check(subject)}
    assert [found[name].answer for name in missing] == [Answer.FINE] * 4
    aws_plugin = found["plugin aws"]
    assert aws_plugin.answer is Answer.UNKNOWN
    assert re.fullmatch(r"pulumi plugin install resource aws \d+\.\d+\.\d+", aws_plugin.command)


@pytest.mark.parametrize(
    ("said", "answer"), [("v3.100.0", Answer.UNKNOWN), ("v4.0.0", Answer.FINE), ("", Answer.UNKNOWN)]
)
def test_an_old_pulumi_is_told(programs: Path, subject: Subject, said: str, answer: Answer) -> None:
    program(programs, "pulumi", f"echo {said}")
    assert {line.what: line.answer for line in tools.check(subject)}["pulumi"] is answer


def test_plugins_that_are_there_are_fine(programs: Path, subject: Subject) -> None:
    wanted = tools._installed("pulumi_aws")
    program(programs, "pulumi", f"""echo '[{{"name": "aws", "version": "{wanted}"}}]'""")
    assert {line.what: line.answer for line in tools.check(subject)}["plugin aws"] is Answer.FINE


def test_what_is_told_alike_is_told_once() -> None:
    """Without credentials most of it is; what has figures or a command of its own keeps its line."""
    nobody = "there are no AWS credentials"
    job = (nobody, "look it up in the console")
    lines = [
        *(Line("quotas", f"ml.g{number}.xlarge", Answer.UNKNOWN, *job) for number in range(7)),
        Line("quotas", "P instances", Answer.UNKNOWN, f"192 vCPUs; {nobody}", "look it up", "aws service-quotas"),
        Line("offerings", "whether the zones sell them", Answer.UNKNOWN, nobody),
        Line("rights", "whether it may", Answer.UNKNOWN, nobody),
        Line("identity", "who asks", Answer.FAILS, nobody, "set AWS_PROFILE"),
    ]
    assert [len(same) for same in _alike(lines)] == [7, 1, 2, 1]


def test_whatever_will_fail_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has to be asked for."""
    names = [f"ml.g{number}.xlarge" for number in range(12)]
    lines = tuple(Line("quotas", name, Answer.FAILS, "none is left", "ask for more") for name in names)
    _print(Preflight("acme", lines, has_credentials=True), every=False)
    assert f"will fail   quotas: {', '.join(names)}\n" in capsys.readouterr().out


def test_a_hundred_quotas_are_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    told = ("1 for a job; there are no AWS credentials", "look it up in the console")
    lines = tuple(Line("quotas", f"ml.g{number}.xlarge", Answer.UNKNOWN, *told) for number in range(100))
    more = tuple(
        Line(check, "whether", Answer.UNKNOWN, "there are no AWS credentials") for check in ("rights", "versions")
    )
    _print(Preflight("acme", (*lines, *more), has_credentials=False), every=False)
    text = capsys.readouterr().out
    assert (
        "cannot know quotas: ml.g0.xlarge, ml.g1.xlarge, ml.g2.xlarge, ml.g3.xlarge, ml.g4.xlarge and 95 more" in text
    )
    assert "cannot know rights, versions\n" in text and text.count("\n") == 6
    assert "102 cannot know" in text, "each is counted"
