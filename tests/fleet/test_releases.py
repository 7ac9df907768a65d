"""Another release in an environment of its own: made once, by pip, and by pip alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trainyard.fleet import releases
from trainyard.fleet.releases import Shelf, ask, python_of
from trainyard.problems import SettingsError
from trainyard.review.change.source import without_ours

MAIN = """\
import sys

def main():
    print(*sys.argv[1:])
    sys.exit(3)
"""


def wheel(folder: Path, version: str) -> Path:
    """A release that says back what it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"trainyard-{version}-py3-none-any.whl"
    info = f"trainyard-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("trainyard/__init__.py", "")
        archive.writestr("trainyard/cli/__init__.py", "")
        archive.writestr("trainyard/cli/main.py", MAIN)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: trainyard\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository's folder of wheels. Pip itself looks at a folder where somebody else took the name."""
    folder, public = tmp_path / "wheels", tmp_path / "public"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(public))
    wheel(folder, "0.0.9")
    wheel(public, "0.0.9")
    wheel(public, "0.0.8")
    return folder


def version_of(python: Path) -> str:
    command = [str(python), "-c", "import importlib.metadata as m; print(m.version('trainyard'))"]
    return subprocess.run(
        command, env=without_ours(os.environ), capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_version_is_installed_once(index: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(2) as both:
        pythons = list(both.map(lambda _: python_of("0.0.9", "--to", Shelf(tmp_path / "wheels"), tmp_path), range(2)))
    assert pythons[0] == pythons[1]
    again = python_of("0.0.9", "--to", Shelf(tmp_path / "wheels"), tmp_path)
    assert version_of(again) == "0.0.9"
    assert ask(again, "fleet", "diff") == 3
    assert capfd.readouterr().out == "fleet diff\n"


def test_a_wheel_is_known_by_what_is_in_it(index: Path, tmp_path: Path) -> None:
    built = wheel(tmp_path / "one", "0.0.7")
    first = python_of(str(built), "--to", Shelf(), tmp_path)
    assert version_of(first) == "0.0.7"
    with zipfile.ZipFile(built, "a") as archive:
        archive.writestr("trainyard/more.py", "")
    assert python_of(str(built), "--to", Shelf(), tmp_path) != first


def test_an_installation_that_was_cut_off_is_made_again(index: Path, tmp_path: Path) -> None:
    python = python_of("0.0.9", "--to", Shelf(index), tmp_path)
    (python.parents[2] / "complete").unlink()
    python.unlink()
    assert version_of(python_of("0.0.9", "--to", Shelf(tmp_path / "wheels"), tmp_path)) == "0.0.9"


def test_a_python_is_taken_as_it_is(tmp_path: Path) -> None:
    assert python_of(sys.executable, "--before", Shelf(), tmp_path) == Path(sys.executable)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("latest", "--to latest: got neither a file that is there nor a version; must"),
        ("no/such.whl", "neither a file"),
        ("0.0.1", "--to 0.0.1: got no wheel of it; must be a release whose wheel lies in wheels/"),
        ("0.0.8", "got no wheel of it"),  # that pip would find, as in a public index
        ("1.0 --index-url=https://evil.example", "neither a file"),
    ],
)
def test_what_is_no_release_is_told(index: Path, tmp_path: Path, release: str, said: str) -> None:
    with pytest.raises(SettingsError) as told:
        python_of(release, "--to", Shelf(index), tmp_path)
    assert said in str(told.value)


def test_an_index_that_the_agency_keeps_is_asked_and_no_other(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://public.invalid/simple")
    asked: list[tuple[str, ...]] = []

    def pip(where: str, *arguments: str) -> None:
        asked.append(arguments)
        if "download" in arguments:
            wheel(Path(arguments[arguments.index("--dest") + 1]), "0.0.8")

    monkeypatch.setattr(releases, "_pip", pip)
    monkeypatch.setattr(releases.venv, "create", lambda *_, **__: None)
    python_of("0.0.8", "--to", Shelf(index, "https://wheels.agency.example/simple"), tmp_path)
    fetched, installed = asked
    assert fetched[:2] == ("--isolated", "download"), "no index of the environment's or the machine's"
    assert fetched[fetched.index("--index-url") + 1] == "https://wheels.agency.example/simple"
    assert "--no-deps" in fetched and fetched[-1] == "trainyard==0.0.8"
    assert installed[-1].endswith("fetched/trainyard-0.0.8-py3-none-any.whl"), "the file, and no name"


def test_another_python_does_not_find_our_trainyard(tmp_path: Path) -> None:
    (tmp_path / "ours" / "trainyard").mkdir(parents=True)
    (tmp_path / "library").mkdir()
    given = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "ours"), str(tmp_path / "library")]), "HOME": "/"}
    assert without_ours(given) == {"PYTHONPATH": str(tmp_path / "library"), "HOME": "/"}
    assert without_ours({"PYTHONPATH": str(tmp_path / "ours")}) == {}
