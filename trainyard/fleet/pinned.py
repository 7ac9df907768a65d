"""A stack that stays on a release of its own: judged by that release, and run by it in a view of the project.

Pulumi runs a project's program in the environment that Pulumi.yaml names. The view is a folder whose entries lead to
the project's own, and whose Pulumi.yaml names the release's environment instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from trainyard.fleet.clients import FILE, Client
from trainyard.fleet.releases import Shelf, python_of
from trainyard.problems import SettingsError, in_one_line
from trainyard.review.change.source import COMMAND, Source, rehearse_by, without_ours
from trainyard.review.formats.names import Format
from trainyard.review.told import Told
from trainyard.review.verdict import verdict_from, verdict_on_failure
from trainyard.user_files import LARGEST_OUTCOME_BYTES, read_json, read_yaml

PROJECT_FILE: Final = "Pulumi.yaml"
SECONDS: Final = 300.0
"""A release that has not judged a stack by then is given up."""


def held(client: Client, installed: str, shelf: Shelf, homes: Path) -> Client:
    """The client with its own release, where it is pinned to another one than is installed.

    Raises `SettingsError`, which names the pin, where that release is not to be had.
    """
    pin = client.entry.pin
    if pin is None or pin == installed:
        return client
    python = python_of(pin, f"{FILE}: stacks.{client.stack}.pin", shelf)
    return replace(client, python=python, view=view_of(client, python, homes / client.stack / "project"))


def view_of(client: Client, python: Path, folder: Path) -> Path:
    """The project as a release's program is run in it; made anew, since the project's files may be others now."""
    root = client.config.root
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        entry.unlink()
    for entry in root.iterdir():
        if entry.name != PROJECT_FILE:
            (folder / entry.name).symlink_to(entry.resolve())
    content: dict[str, Any] = dict(read_yaml(root / PROJECT_FILE, PROJECT_FILE))
    runtime = content.get("runtime")
    options = dict(runtime.get("options") or {}) if isinstance(runtime, Mapping) else {}
    content["runtime"] = {"name": "python", "options": options | {"virtualenv": str(python.parent.parent)}}
    (folder / PROJECT_FILE).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder


def told_by(client: Client, python: Path, since: Source | None = None) -> Told:
    """What a stack's own release says of it; with a source also what changed since it made the stack."""
    with tempfile.TemporaryDirectory(prefix="trainyard-pinned-") as name:
        outcome = Path(name) / "check.json"
        try:
            earlier = ["--from", str(_earlier(client, since, Path(name)))] if since is not None else []
            command = [str(python), "-P", "-c", COMMAND, "check", str(client.file)]
            said = subprocess.run(
                [*command, "--project", str(client.config.root), "--json", str(outcome), *earlier],
                env=without_ours(os.environ), capture_output=True, encoding="utf-8", errors="replace", check=False,
                timeout=SECONDS,
            )  # fmt: skip
            if not outcome.is_file():
                words = " ".join((said.stderr or said.stdout).split())[:400]
                return _failed(client, words or f"exit code {said.returncode}")
            (found,) = read_json(outcome, outcome.name, LARGEST_OUTCOME_BYTES)["stacks"]
            return Told(verdict_from(client.stack, found["verdict"]), parts={Format.JSON: json.dumps(found)})
        except (SettingsError, OSError, subprocess.TimeoutExpired, KeyError, TypeError, ValueError) as error:
            return _failed(client, in_one_line(error))


def _earlier(client: Client, since: Source, folder: Path) -> Path:
    if since.file is not None:
        return since.file
    assert since.interpreter is not None, "a fleet is compared with a release or a state"
    outcome = folder / "before.json"
    rehearse_by(since.interpreter, client.file, client.config.root, outcome, since.words)
    return outcome


def _failed(client: Client, why: str) -> Told:
    return Told(
        verdict_on_failure(client.stack, f"release {client.entry.pin}, to which it is pinned, gave no verdict: {why}")
    )
