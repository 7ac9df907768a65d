"""Another release of Trainyard, in an environment of its own: installed once, kept, and asked by its Python."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from trainyard.fleet.keeper import alone_in
from trainyard.problems import Problem, SettingsError
from trainyard.review.change.source import COMMAND, without_ours

ALLOWED: Final = "must be a version such as 1.4.0, a wheel or source archive of Trainyard, or the python that has one"
SECONDS: Final = 1800.0
"""An installation that takes longer is given up: the clouds' packages are a few hundred megabytes."""

_VERSION: Final = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
_ARCHIVES: Final = (".whl", ".tar.gz")
_COMPLETE: Final = "complete"


def python_of(release: str, option: str, cache: Path | None = None) -> Path:
    """The Python that has a release: as it is named, or of an environment that is made for it, with pip, and kept.

    `option` is where the release was named, for errors. The environment is made again where an installation was cut
    off; two commands at once make it once. Raises `SettingsError` where there is no such release, or pip fails.
    """
    path = Path(release).expanduser()
    if path.is_file() and not path.name.endswith(_ARCHIVES):
        return path.absolute()
    if path.is_file():
        wanted, name = str(path.absolute()), f"{path.name}-{_digest(path)[:16]}"
    elif _VERSION.fullmatch(release):
        wanted, name = f"trainyard=={release}", release
    else:
        there = "neither a file that is there nor a version"
        raise SettingsError([Problem(f"{option} {release}", there, ALLOWED)])
    folder = (cache or cache_folder()) / name
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        environment = folder / "environment"
        if not (folder / _COMPLETE).exists():
            _install(wanted, environment, f"{option} {release}")
            (folder / _COMPLETE).touch()
    return environment / "bin" / "python"


def cache_folder() -> Path:
    """Where releases are kept: below `XDG_CACHE_HOME`, else below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainyard" / "releases"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _install(wanted: str, environment: Path, where: str) -> None:
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "--disable-pip-version-check"]
    command = [*pip, "install", "--quiet", wanted]
    try:
        run = subprocess.run(
            command, env=without_ours(os.environ), capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise SettingsError([Problem(where, f"not installed within {SECONDS:.0f} seconds", ALLOWED)]) from None
    if run.returncode:
        lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")] or run.stderr.splitlines()
        said = " ".join(lines[-1].split()) if lines else f"exit code {run.returncode}"
        raise SettingsError([Problem(where, f"pip could not install it: {said}", ALLOWED)])


def ask(python: Path, *arguments: str) -> int:
    """Runs a command of another release here, with our terminal: its exit code."""
    command = [str(python), "-P", "-c", COMMAND, *arguments]
    return subprocess.run(command, env=without_ours(os.environ), check=False).returncode
