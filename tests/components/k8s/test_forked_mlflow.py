"""A program that is a fork of a process with MLflow is one of its own, and so is what it starts or becomes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.components.k8s.mlflow_support import SERVER_MODULES, Process, needs, wait_for

PROGRAM = """
import json, os, subprocess, sys

def told(**more):
    def shown(part):
        return open(f"/proc/self/{part}", "rb").read().rstrip(b"\\0").decode().split("\\0")
    environment = dict(each.partition("=")[::2] for each in shown("environ"))
    print(json.dumps({
        "argv": sys.argv[1:], "shown": shown("cmdline")[1:], "own": environment == dict(os.environ),
        "marker": os.environ["MARKER"], "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0),
        "folder": os.getcwd(), "client": "mlflow" in sys.modules, "server": "mlflow.server" in sys.modules,
        "left": hasattr(sys, "left"), "path": sys.path[0], **more,
    }), flush=True)

if sys.argv[1] == "child":
    told(read=sys.stdin.read())
    sys.exit(7)
if sys.argv[1] == "first":
    os.execvpe(sys.executable, [sys.executable, sys.argv[0], "second"], {**os.environ, "MARKER": "second's"})
told()
sys.left = "nothing of this is the child's"
child = subprocess.run([sys.executable, sys.argv[0], "child", "x"], env={**os.environ, "MARKER": "child's"}, input="in",
                       cwd="/", text=True, stdout=None)
print(json.dumps({"code": child.returncode}), flush=True)
sys.exit(3)
"""


def test_a_program_what_it_becomes_and_what_it_starts_are_processes_of_their_own(tmp_path: Path) -> None:
    needs(*SERVER_MODULES)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    process = Process.start([sys.executable, str(program), "first"], {"MARKER": "first's"}, tmp_path, mlflow=True)
    wait_for(lambda: process.popen.poll() is not None, "the program", 60)
    assert process.stop() == 3, process.log
    said: list[dict[str, Any]] = [json.loads(line) for line in process.log.splitlines()]
    second, child, ended = said
    common = {"client": True, "server": False, "left": False, "own": True, "path": str(tmp_path)}
    assert second == {
        **common,
        "argv": ["second"],
        "shown": [str(program), "second"],
        "marker": "second's",
        "pid": process.popen.pid,
        "parent": os.getpid(),
        "session": process.popen.pid,
        "folder": str(tmp_path),
    }
    assert child == {
        **common,
        "argv": ["child", "x"],
        "shown": [str(program), "child", "x"],
        "marker": "child's",
        "pid": child["pid"],
        "parent": process.popen.pid,
        "session": process.popen.pid,
        "folder": "/",
        "read": "in",
    }
    assert ended == {"code": 7} and child["pid"] != process.popen.pid


@pytest.mark.parametrize(
    ("code", "status", "says"),
    [("raise ValueError('no')", 1, "ValueError: no"), ("import sys; sys.exit('told')", 1, "told"), ("", 0, "")],
)
def test_how_a_program_ends_is_seen(tmp_path: Path, code: str, status: int, says: str) -> None:
    needs(*SERVER_MODULES)
    process = Process.start([sys.executable, "-c", code], {}, tmp_path, mlflow=True)
    wait_for(lambda: process.popen.poll() is not None, "the program", 60)
    assert process.stop() == status
    assert says in process.log
