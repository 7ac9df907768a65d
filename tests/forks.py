"""Commands of an installed Trainyard as processes of their own, forked of one that is warm.

An interpreter that starts imports for two seconds what every command imports, and reads for three what every rehearsal
reads. The process that is forked has both: it rehearsed a stack itself, where it was told to.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

Command = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs the command with arguments, in the folder `cwd`, with what else its environment has."""

ANSWERED = """
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["cwd"])
        os.environ.update(asked["environment"])
        signal.alarm(600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, file in ((1, asked["stdout"]), (2, asked["stderr"])):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv[1:] = asked["arguments"]
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
"""
"""Forks a process for each line that it reads, tells its exit code, and goes on in it: in the folder and with the
arguments and what else of an environment is asked for, with what it says in the files that are named."""

_READY = """
import json, os, signal, sys
from trainyard.cli.main import main
import trainyard.review.review

first = json.loads(sys.stdin.readline())
if first:
    kept = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv[1:] = first
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    sys.stdout.flush()
    os.dup2(kept, 1)
"""


def of_a_shell() -> dict[str, str]:
    """The environment without what tells Python of this clone."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PULUMI"))}


@contextmanager
def forks(python: Path, folder: Path, first: Sequence[str] = (), cwd: Path | None = None) -> Iterator[Command]:
    """Commands of an interpreter's Trainyard.

    `folder` is where what they say is written. The process imports in `cwd`, and does `first` there before any other.
    """
    said = [folder / "stdout", folder / "stderr"]
    process = subprocess.Popen(
        [python, "-c", f"{_READY}{ANSWERED}main()"],
        cwd=cwd or folder,
        env=of_a_shell(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:

        def command(*arguments: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
            question = {
                "arguments": [str(argument) for argument in arguments],
                "cwd": str(cwd),
                "environment": more,
                **{file.name: str(file) for file in said},
            }
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            code = int(process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, *(file.read_text() for file in said))

        assert process.stdin is not None
        process.stdin.write(json.dumps(list(first)) + "\n")
        yield command
