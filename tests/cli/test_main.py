"""The command as a shell starts it: exit codes, closed pipes, other locales, colours, and options in every verb."""

import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from typing import get_type_hints

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli import explain
from trainyard.cli.main import app, main
from trainyard.cli.project import path_given

COMMAND = [sys.executable, "-c", "from trainyard.cli.main import main; main()"]
PLAIN = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR", "TERM", "COLUMNS")}


def run(*arguments, environment=None, **more):
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        capture_output=True,
        timeout=600,
        env={**PLAIN, "PYTHONPATH": str(ROOT), **(environment or {})},
        check=False,
        **more,
    )


def break_trainyard(monkeypatch):
    def broken(*_):
        raise TypeError("unsupported operand")

    monkeypatch.setattr(explain, "read_plan", broken)
    monkeypatch.setattr(sys, "argv", ["trainyard", "explain", "demo"])


def test_a_failure_of_trainyard_itself_has_a_code_and_a_sentence_of_its_own(monkeypatch, capsys):
    break_trainyard(monkeypatch)
    monkeypatch.delenv("TRAINYARD_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ended:
        main()
    said = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 70
    assert "Trainyard failed: TypeError: unsupported operand (test_main.py:" in said
    assert "says nothing of your stack" in said and "TRAINYARD_DEBUG=1" in said
    assert "Traceback" not in said


def test_debug_shows_its_traceback(monkeypatch, capsys):
    break_trainyard(monkeypatch)
    monkeypatch.setenv("TRAINYARD_DEBUG", "1")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_ctrl_c_is_no_verdict(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(explain, "read_plan", interrupted)
    done = CliRunner().invoke(app, ["explain", "demo"])
    assert (done.exit_code, done.output) == (130, "")


def test_ctrl_c_while_the_command_line_is_read_is_no_verdict(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(TyperGroup, "parse_args", interrupted)
    done = CliRunner().invoke(app, ["explain", "demo"])
    assert (done.exit_code, done.output) == (130, "")


def test_ctrl_c_while_the_command_is_imported_is_quiet(tmp_path):
    """As the installed command begins: by the entry point that the distribution names."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["trainyard"]
    module, _, name = entry.partition(":")
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import {name}; {name}()", "explain", "demo"],
        capture_output=True,
        timeout=300,
        env={**PLAIN, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("key", ["on", "yes", "1", "2.5", "null", "true"])
def test_a_pool_with_a_name_that_yaml_takes_for_something_else_is_no_traceback(tmp_path, key):
    file = tmp_path / "Pulumi.odd.yaml"
    demo = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text(encoding="utf-8")
    file.write_text(demo.replace("    train:\n", f"    {key}:\n"), encoding="utf-8")
    done = CliRunner().invoke(app, ["explain", str(file), "--project", str(ROOT)])
    assert done.exit_code in (0, 2), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.exit_code == 0 or "gpuPools" in done.stderr


def test_a_closed_pipe_is_quiet():
    with subprocess.Popen(
        [*COMMAND, "explain", "demo"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**PLAIN, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    ) as done:
        done.stdout.close()
        assert done.stderr.read() == b""
        assert done.wait(60) == 141


def within(seconds, holds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.1)
    return False


def processes(group):
    """How many processes a group has."""
    found = subprocess.run(["pgrep", "-g", str(group)], capture_output=True, check=False)
    return len(found.stdout.split())


@pytest.mark.skipif(shutil.which("pgrep") is None, reason="looks for processes with pgrep")
def test_ctrl_c_while_stacks_are_checked_is_quiet_and_ends_the_workers():
    done = subprocess.Popen(
        [*COMMAND, "check", "--all", "--jobs", "2"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**PLAIN, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert within(300, lambda: processes(done.pid) >= 3), "the command and two workers"
    os.killpg(done.pid, signal.SIGINT)
    out, err = done.communicate(timeout=30)
    assert (done.returncode, out, err) == (130, b"", b"")
    assert within(10, lambda: processes(done.pid) == 0)


def test_an_output_that_takes_ascii_only_gets_ascii():
    done = run("explain", "demo", environment={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("ascii")
    document = run("explain", "demo", "--json", "-", environment={"PYTHONIOENCODING": "ascii"})
    assert document.stdout.decode("utf-8").startswith("["), "a document is UTF-8 whatever the locale"
    page = run("cost", "demo", "--html", "-", environment={"PYTHONIOENCODING": "ascii"})
    assert '<meta charset="utf-8">' in page.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("environment", "options", "coloured"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"FORCE_COLOR": "1"}, ("--no-color",), False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, (), False),
    ],
)
def test_colours_are_for_terminals_and_who_asks_for_them(environment, options, coloured):
    done = run(*options, "catalog", "list", environment={"TERM": "xterm", **environment})
    assert done.returncode == 0, done.stderr
    assert (b"\x1b[" in done.stdout) is coloured


def test_a_row_of_a_table_in_a_pipe_is_one_line():
    rows = run("explain", "demo", environment={"COLUMNS": "40"}).stdout.decode().splitlines()
    assert rows[0].split() == ["key", "value", "source"]
    assert all(line[0] != " " for line in rows), "nothing goes on in the next line"
    assert len(rows) > 100


def commands(group=app, prefix=()):
    for info in group.registered_commands:
        yield (*prefix, info.name or info.callback.__name__), info.callback
    for info in group.registered_groups:
        yield from commands(info.typer_instance, (*prefix, info.name))


def options():
    """Every option of every verb, with the path's."""
    for verb, callback in commands():
        for hint in get_type_hints(callback, include_extras=True).values():
            for mark in getattr(hint, "__metadata__", ()):
                for name in (getattr(mark, "default", None), *(getattr(mark, "param_decls", None) or ())):
                    if isinstance(name, str) and name.startswith("--"):
                        yield verb, name, mark


PATHS = [(verb, name) for verb, name, mark in options() if mark.metavar in ("FILE", "DIR", "OLD")]


def test_the_options_that_are_paths_are_known():
    assert len(PATHS) > 20
    assert {verb[0] for verb, _ in PATHS} >= {"rehearse", "check", "cost", "recommend", "estimate", "explain", "smoke"}
    assert all(mark.parser is path_given for _, name, mark in options() if mark.metavar in ("FILE", "DIR", "OLD"))


@pytest.mark.parametrize("name", ["--json", "--html", "--output", "--project"])
def test_an_option_has_one_meaning_in_every_verb(name):
    found = [mark for _, option, mark in options() if option == name]
    assert len(found) >= 2
    assert {mark.parser for mark in found} == {path_given}
    assert len({mark.metavar for mark in found}) == 1


@pytest.mark.parametrize(("verb", "name"), PATHS, ids=lambda part: " ".join(part) if isinstance(part, tuple) else part)
def test_the_next_option_is_no_file(verb, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*verb, name, "--html"])
    assert done.exit_code == 2
    assert "--html is an option, not a file" in " ".join(done.output.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_file_may_begin_with_a_dash_where_its_folder_is_said():
    assert str(path_given("-")) == "-"
    assert path_given("./-x").name == "-x"


@pytest.mark.parametrize("verb", [(), ("cost",), ("fleet",), ("fleet", "check"), ("tracking",)], ids=" ".join)
def test_help_names_no_type_of_a_switch(verb):
    said = CliRunner().invoke(app, [*verb, "--help"]).output
    assert "--help" in said and "bool" not in said.lower()


def test_help_is_wrapped_to_the_terminal():
    said = CliRunner().invoke(app, ["fleet", "check", "--help"], env={"TERMINAL_WIDTH": "240", "COLUMNS": "240"}).output
    told = next(line for line in said.splitlines() if "Exit codes:" in line)
    assert "3 a program is wrong; 70 Trainyard failed." in told, "it is one line where the terminal has room"
