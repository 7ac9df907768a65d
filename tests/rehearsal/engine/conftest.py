"""Programs that see a provider's SDK as nobody imported it before, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forks import ANSWERED
from tests.shared import ROOT

Fresh = Callable[..., str]
"""Runs a program with arguments where no SDK of a provider is imported, and gives what it prints."""

# To import Pulumi's own SDK takes most of what such a program does; it imports none of a provider's.
_READY = """
import json, os, signal, sys
import pulumi

assert not any(name.startswith(("pulumi_", "trainyard")) for name in sys.modules)
"""
_RUN = """
exec(compile(asked["program"], "<program>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fresh]:
    """Forks each program of one interpreter."""
    folder: Path = tmp_path_factory.mktemp("fresh")
    said = {name: str(folder / name) for name in ("stdout", "stderr")}
    command = [sys.executable, "-c", _READY + ANSWERED + _RUN]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def run(program: str, *arguments: str) -> str:
            assert process.stdin is not None and process.stdout is not None
            asked = {"program": program, "arguments": arguments, "cwd": str(ROOT), "environment": {}, **said}
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            code = process.stdout.readline().strip()
            assert code == "0", Path(said["stderr"]).read_text("utf-8")
            return Path(said["stdout"]).read_text("utf-8")

        yield run
