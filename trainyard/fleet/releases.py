"""Another release of Trainyard, in an environment of its own: installed once, kept, and asked by its Python."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainyard.fleet.keeper import alone_in
from trainyard.problems import Problem, SettingsError
from trainyard.review.change.source import COMMAND, without_ours

ALLOWED: Final = "must be a version such as 1.4.0, a wheel or source archive of Trainyard, or the python that has one"
NO_INDEX: Final = (
    "must be a release whose wheel lies in {wheels}, or in the index that fleet.yaml names (`index`): Trainyard is in "
    "no public index, and whoever takes the name there would be run"
)
SECONDS: Final = 1800.0
"""An installation that takes longer is given up: the clouds' packages are a few hundred megabytes."""

_VERSION: Final = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
_ARCHIVES: Final = (".whl", ".tar.gz")
_COMPLETE: Final = "complete"


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where a release is found by its version."""

    wheels: Path | None = None  # the repository's own folder of wheels
    index: str | None = None  # URL of an index that the agency keeps; None: no index is asked for Trainyard

    def wheel(self, version: str) -> Path | None:
        """The wheel of a version in the folder; None where none lies there."""
        found = sorted(self.wheels.glob(f"trainyard-{version}-*.whl")) if self.wheels is not None else []
        return found[0] if found else None


def python_of(release: str, option: str, shelf: Shelf, cache: Path | None = None) -> Path:
    """The Python that has a release: as it is named, or of an environment that is made for it, with pip, and kept.

    A version is the wheel on the shelf, else in the agency's own index; no public index is asked for it, where anybody
    may have taken the name. What it needs comes from where pip finds everything.
    `option` is where the release was named, for errors. The environment is made again where an installation was cut
    off; two commands at once make it once. Raises `SettingsError` where there is no such release, or pip fails.
    """
    path = Path(release).expanduser()
    if path.is_file() and not path.name.endswith(_ARCHIVES):
        return path.absolute()
    wheel: Path | None = path if path.is_file() else None
    if wheel is None:
        if not _VERSION.fullmatch(release):
            there = "neither a file that is there nor a version"
            raise SettingsError([Problem(f"{option} {release}", there, ALLOWED)])
        wheel = shelf.wheel(release)
    if wheel is None and shelf.index is None:
        where = f"{shelf.wheels.name}/" if shelf.wheels is not None else "a folder of the repository"
        raise SettingsError([Problem(f"{option} {release}", "no wheel of it", NO_INDEX.format(wheels=where))])
    if wheel is not None:
        name = f"{wheel.name}-{_digest(wheel)[:16]}"
    else:  # what one index has under a name is not what another has
        name = f"{release}-{hashlib.sha256(str(shelf.index).encode()).hexdigest()[:16]}"
    folder = (cache or cache_folder()) / name
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        environment = folder / "environment"
        if not (folder / _COMPLETE).exists():
            fetched = wheel or _fetched(release, str(shelf.index), folder, f"{option} {release}")
            _install(str(fetched.absolute()), environment, f"{option} {release}")
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
    _pip(where, "--python", str(environment / "bin" / "python"), "install", "--quiet", wanted)


def _fetched(version: str, index: str, folder: Path, where: str) -> Path:
    """The wheel of a version from the agency's own index, and from nowhere else."""
    place = folder / "fetched"
    shutil.rmtree(place, ignore_errors=True)
    only = ("--no-deps", "--only-binary", ":all:", "--index-url", index, "--dest", str(place))
    _pip(where, "--isolated", "download", "--quiet", *only, f"trainyard=={version}")
    return next(place.glob("*.whl"))


def _pip(where: str, *arguments: str) -> None:
    """Runs pip; raises `SettingsError` with the last of what it said where it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    try:
        run = subprocess.run(
            command,
            env=without_ours(os.environ),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise SettingsError([Problem(where, f"not installed within {SECONDS:.0f} seconds", ALLOWED)]) from None
    if run.returncode:
        lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")] or run.stderr.splitlines()
        said = " ".join(lines[-1].split()) if lines else f"exit code {run.returncode}"
        raise SettingsError([Problem(where, f"pip could not install it: {said}", ALLOWED)])


def ask(python: Path, *arguments: str) -> int:
    """Runs a command of another release here, with our terminal: its exit code. Raises `SettingsError`."""
    command = [str(python), "-P", "-c", COMMAND, *arguments]
    try:
        return subprocess.run(command, env=without_ours(os.environ), check=False).returncode
    except OSError as error:
        raise SettingsError([Problem(str(python), f"cannot be run: {error.strerror}", ALLOWED)]) from None
