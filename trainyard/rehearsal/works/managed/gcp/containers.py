"""What a container on Cloud Run is started with: variables that its command reads, files that it is sent as text, and
the address that its server listens on.

A program that the stack ships in a variable writes files below a folder, and words of the command name them there: both
are told twice, so that they can differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from trainyard.recorded.types import GCP_RUN_JOB, GCP_RUN_SERVICE
from trainyard.rehearsal.context import Stack, View, show

_READS: Final = re.compile(r"os\.environ(?:\[\s*|\.pop\(\s*)['\"](?P<name>\w+)['\"]\s*[\])](?!\s*=[^=])")
"""What a program cannot do without: `pop` with a second argument can."""
_SETS: Final = re.compile(
    r"os\.environ\[\s*['\"](\w+)['\"]\s*\]\s*=[^=]|os\.environ\.setdefault\(\s*['\"](\w+)['\"]"
    r"|['\"](\w+)['\"]\s+(?:not\s+)?in\s+os\.environ"
)
"""What it sets itself, or asks for before it reads it."""
_OWN: Final = (
    "PORT", "K_SERVICE", "K_REVISION", "K_CONFIGURATION", "PATH", "HOME", "CLOUD_RUN_JOB", "CLOUD_RUN_EXECUTION",
    "CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_ATTEMPT", "CLOUD_RUN_TASK_COUNT",
)  # fmt: skip
_FILES, _FOLDER = "TRAINYARD_FILES", "TRAINYARD_HOME"
_PATH: Final = re.compile(r"(?:^|[=\s])(?P<path>/[\w.@/-]+)")
_LOCAL: Final = re.compile(r"--host[= ](?:127\.0\.0\.1|localhost|::1)\b|--bind[= ](?:127\.0\.0\.1|localhost)\b")
_WORKERS: Final = re.compile(r"\b(?:mlflow|gunicorn|uvicorn)\b.*--workers[= ]0\b")
"""A server that is told to have no workers. What trains loads data with its workers, and may want none."""


def check(stack: Stack) -> None:
    """Every container of services and jobs."""
    for type_, at in ((GCP_RUN_SERVICE, "template.containers"), (GCP_RUN_JOB, "template.template.containers")):
        for view in stack.of_type(type_):
            containers = list(view.items(at))
            for path, container in containers:
                first = type_ == GCP_RUN_SERVICE and (len(containers) == 1 or bool(container.get("ports")))
                _container(view, path, first=first)


def _container(view: View, path: str, *, first: bool) -> None:
    if any(view.blurred(f"{path}.{key}") for key in ("envs", "args", "commands")):
        return
    told = {str(each.get("name")): each.get("value") for _, each in view.items(f"{path}.envs")}
    words = [*view.texts(f"{path}.commands"), *view.texts(f"{path}.args")]
    # An image has variables of its own, which nothing tells here: only the program that puts our files is known.
    for word in words:
        own = {*_OWN, *told, *(name for found in _SETS.findall(word) for name in found)}
        for name in dict.fromkeys(found["name"] for found in _READS.finditer(word)) if _FILES in word else ():
            if name not in own:
                message = f"its command reads the variable {name}, which it is not told: it ends at once"
                view.error("run-variable", f"{path}.envs", message, allowed=name)
    line = " ".join(words)
    if first and _LOCAL.search(line):
        message = "listens on its own address alone, and Cloud Run asks from outside the container"
        view.error("run-port", f"{path}.args", message, allowed="every address, as 0.0.0.0")
    if first and _WORKERS.search(line):
        view.error("run-workers", f"{path}.args", "is told to have no workers: nobody answers", allowed="1 or more")
    _files(view, path, told, words)


def _files(view: View, path: str, told: Mapping[str, object], words: list[str]) -> None:
    """Files that are named lie where they are put, under the name that they have there."""
    folder, text = told.get(_FOLDER), told.get(_FILES)
    try:
        files = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        message = f"{_FILES} is no JSON: the container ends at once"
        view.error("run-variable", f"{path}.envs", message, allowed="an object of names and texts")
        return
    if not isinstance(folder, str) or not isinstance(files, dict):
        return
    for word in words:
        for found in _PATH.finditer(word):
            where, _, name = found["path"].rpartition("/")
            if name in files and where != folder.rstrip("/"):
                message = f"asks for {found['path']}, and {name} is put into {folder}"
                view.error("run-variable", f"{path}.args", message, allowed=f"{folder}/{name}")
            elif where == folder.rstrip("/") and name not in files:
                message = f"asks for {show(found['path'])}, which is not among the files that are put there"
                view.error("run-variable", f"{path}.args", message, allowed=", ".join(sorted(map(str, files))))
