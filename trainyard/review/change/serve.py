"""A release that rehearses many stacks in one process, for another that compares them with its own (`many`).

A request is a line of JSON, and so is the answer to each: the outcome is in a file when the answer comes. Releases talk
with each other so: what a request or an answer has is added to, and nothing of it ever means something else.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TextIO

from trainyard.problems import in_one_line
from trainyard.rehearsal.engine.loop import rare_collections
from trainyard.rehearsal.engine.recorder import resources_forgotten
from trainyard.rehearsal.shape.once import judging_many
from trainyard.review.review import judge
from trainyard.review.workers import THRESHOLDS

READY: Final = {"serves": 1}
"""What is said first, before any request: the form of the requests."""


def serve(requests: Iterable[str], answers: TextIO) -> None:
    """Answers requests until there are no more: `stack`, `project` and `outcome` are paths, the last one to write."""
    _say(answers, READY)
    for line in requests:
        request = json.loads(line)
        outcome = Path(request["outcome"])
        try:
            with rare_collections(), resources_forgotten(), judging_many():
                _rehearse(Path(request["project"]), Path(request["stack"]), outcome)
        except Exception as error:  # told, and the next stack is another one
            _say(answers, {"failed": in_one_line(error)})
        else:
            _say(answers, {"outcome": str(outcome)})


def _rehearse(project: Path, stack_file: Path, outcome: Path) -> None:
    """Writes what `trainyard rehearse --json` would, whole or not at all."""
    unfinished = outcome.with_suffix(".part")
    unfinished.write_text(json.dumps(judge(project, stack_file).as_json()), encoding="utf-8")
    unfinished.replace(outcome)


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def main() -> None:
    """Serves at the standard input and output, which the programs of the stacks get nothing of."""
    gc.set_threshold(*THRESHOLDS)
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(sys.stderr.fileno(), 1)
    serve(requests, answers)
    gc.freeze()  # its end would else look for garbage among all that the SDKs are
