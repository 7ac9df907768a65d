"""Where the command looks for stacks: where Pulumi.yaml says, as the engine does."""

import sys
import threading

import pytest
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.cli.project import find_stack, progress, stack_files


def project(folder, more=""):
    (folder / "Pulumi.yaml").write_text(f"name: trainyard\nruntime: python\n{more}")
    (folder / "__main__.py").write_text("")
    return folder


def write(folder, *stacks):
    folder.mkdir(exist_ok=True)
    for stack in stacks:
        (folder / f"Pulumi.{stack}.yaml").write_text("config: {}\n")


@pytest.mark.parametrize("given", ["", "stackConfigDir: config\n"])
def test_stack_files_lie_where_the_project_file_says(tmp_path, given):
    write(tmp_path / "stacks", "other")
    write(tmp_path / "config" if given else tmp_path, "dev", "prod")
    folder = project(tmp_path, given)
    assert [file.name for file in stack_files(folder)] == ["Pulumi.dev.yaml", "Pulumi.prod.yaml"]
    assert find_stack(folder, "prod").parent == (tmp_path / "config" if given else tmp_path)


@pytest.mark.parametrize("command", ["rehearse", "check", "cost", "explain"])
def test_a_stack_that_is_not_there_is_told_with_those_that_are(tmp_path, command):
    write(tmp_path, "staging", "production")
    done = CliRunner().invoke(app, [command, "stagging", "--project", str(project(tmp_path))])
    assert done.exit_code == 2
    assert "no stack 'stagging'; there is production, staging in" in done.output
    assert "did you mean staging?" in done.output


@pytest.mark.parametrize("command", ["rehearse", "check", "cost", "explain"])
def test_the_projects_own_file_is_no_stack(tmp_path, command):
    folder = project(tmp_path)
    done = CliRunner().invoke(app, [command, str(folder / "Pulumi.yaml"), "--project", str(folder)])
    assert done.exit_code == 2
    assert done.output.endswith("is the project's file; a stack's is Pulumi.STACK.yaml\n")


@pytest.mark.parametrize("content", ["[a, list]\n", "a: b: c\n"])
def test_a_project_file_that_cannot_be_read_is_no_traceback(tmp_path, content):
    (tmp_path / "Pulumi.yaml").write_text(content)
    for arguments in (["rehearse", "dev"], ["check", "--all"]):
        done = CliRunner().invoke(app, [*arguments, "--project", str(tmp_path)])
        assert done.exit_code == 2
        assert "Pulumi.yaml: got" in done.output


def test_every_verb_says_the_same_of_a_file_without_settings(tmp_path):
    project(tmp_path)
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text().replace("stackConfigDir: stacks\n", ""))
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "__main__.py").write_text((ROOT / "stacks" / "__main__.py").read_text())
    (tmp_path / "Pulumi.empty.yaml").write_text("")
    said = [
        CliRunner().invoke(app, [verb, "empty", "--project", str(tmp_path)]).stderr
        for verb in ("explain", "rehearse", "cost")
    ]
    assert "client: got nothing; this key is required" in said[0] and "teamSize" in said[0]
    assert said[0] == said[1] == said[2]


def test_a_project_without_stacks_has_nothing_to_check(tmp_path):
    done = CliRunner().invoke(app, ["check", "--all", "--project", str(project(tmp_path))])
    assert done.exit_code == 2
    assert "there is no stack in" in done.output


@pytest.mark.parametrize("command", [("explain",), ("check",), ("cost",), ("smoke", "--target", "slurm", "--render")])
def test_keys_at_their_old_place_are_told(tmp_path, command):
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "__main__.py").write_text((ROOT / "stacks" / "__main__.py").read_text())
    demo = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text()
    (tmp_path / "stacks" / "Pulumi.old.yaml").write_text(f'{demo}  trainyard:awsAccountId: "123456789012"\n')
    done = CliRunner().invoke(app, [command[0], "old", *command[1:], "--project", str(tmp_path)])
    assert done.exit_code == 0, done.output
    told, silent = (done.stdout, done.stderr) if command[0] == "check" else (done.stderr, done.stdout)
    assert "awsAccountId has moved to aws.accountId" in " ".join(told.split())
    assert "has moved" not in silent, "told once: in a report that has findings, else beside what is asked for"


def test_no_thread_of_a_spinner_is_left_behind_it(monkeypatch):
    """A worker is forked of a process that has one thread, and started anew, seconds later, of one that has two."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    before = threading.active_count()
    with progress("looking") as say:
        assert threading.active_count() == before + 1
        say("looking on")
    assert threading.active_count() == before
    with pytest.raises(KeyError), progress("looking"):
        raise KeyError
    assert threading.active_count() == before
