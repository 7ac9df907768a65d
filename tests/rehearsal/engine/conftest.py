"""Programs that see a provider's SDK as nobody imported it before, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

Fresh = Callable[..., str]
"""Runs a program with arguments where no SDK of a provider is imported, and gives what it prints."""

# To import Pulumi's own SDK takes most of what such a program does; it imports none of a provider's.
_LOOP = """
import json, os, signal, sys
import pulumi

assert not any(name.startswith(("pulumi_", "trainyard")) for name in sys.modules)
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(120)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, file in ((1, asked["stdout"]), (2, asked["stderr"])):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv[1:] = asked["arguments"]
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
exec(compile(asked["program"], "<program>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fresh]:
    """Forks each program of one interpreter."""
    folder: Path = tmp_path_factory.mktemp("fresh")
    said = {name: str(folder / name) for name in ("stdout", "stderr")}
    command = [sys.executable, "-c", _LOOP]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def run(program: str, *arguments: str) -> str:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps({"program": program, "arguments": arguments, **said}) + "\n")
            process.stdin.flush()
            code = process.stdout.readline().strip()
            assert code == "0", Path(said["stderr"]).read_text("utf-8")
            return Path(said["stdout"]).read_text("utf-8")

        yield run
