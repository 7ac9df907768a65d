"""A data file that was read once is not read again, and what is kept of it is never of another text."""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from trainyard.catalog import kept as module
from trainyard.catalog.tables import tree

TEXT = "beds: {narrow: 3, since: 2026-11-27}\n"
MEANT = {"beds": {"narrow": 3, "since": datetime.date(2026, 11, 27)}}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one each time that a file is taken apart."""
    found: list[int] = []
    load = module.kept

    def counted(file: Any, text: bytes, read: Any) -> Any:
        def noted() -> Any:
            found.append(1)
            return read()

        return load(file, text, noted)

    monkeypatch.setattr("trainyard.catalog.tables.kept", counted)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "beds.yaml"
    made.write_text(TEXT)
    return made


def beside(file: Path) -> list[str]:
    return sorted(path.name for path in (file.parent / "__pycache__").iterdir())


def test_the_second_reader_takes_nothing_apart_and_has_the_same(file: Path, reads: list[int]) -> None:
    first, second = tree(file), tree(file)
    assert first == second == MEANT
    assert first is not second
    assert len(reads) == 1
    assert beside(file) == [f"beds.yaml.{sys.implementation.cache_tag}"]


def test_another_text_is_read_whatever_its_file_says_of_its_age(file: Path, reads: list[int]) -> None:
    tree(file)
    before = file.stat()
    file.write_text(TEXT.replace("3", "4"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert tree(file)["beds"]["narrow"] == 4
    file.write_text(TEXT)
    assert tree(file) == MEANT
    assert len(reads) == 3
    assert len(beside(file)) == 1


@pytest.mark.parametrize("harm", [lambda text: b"", lambda text: text[:-3], lambda text: text[:70] + b"x" + text[71:]])
def test_what_is_damaged_is_read_again(file: Path, reads: list[int], harm: Any) -> None:
    tree(file)
    (kept,) = (file.parent / "__pycache__").iterdir()
    kept.write_bytes(harm(kept.read_bytes()))
    assert tree(file) == tree(file) == MEANT
    assert len(reads) == 2


def test_nothing_is_written_where_python_writes_no_byte_code(
    file: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert tree(file) == tree(file) == MEANT
    assert not (file.parent / "__pycache__").exists()
    assert len(reads) == 2


def test_a_folder_that_nothing_can_be_written_to_does_no_harm(file: Path, reads: list[int]) -> None:
    (file.parent / "__pycache__").write_text("a file")
    assert tree(file) == tree(file) == MEANT
    assert len(reads) == 2


def test_a_disk_that_is_full_leaves_nothing_behind(
    file: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert tree(file) == MEANT
    assert beside(file) == []


def test_what_is_no_yaml_is_an_error_each_time(file: Path, reads: list[int]) -> None:
    file.write_text("beds: {narrow: 3, narrow: 4}")
    for _ in range(2):
        with pytest.raises(Exception, match="is there twice"):
            tree(file)


def test_another_user_of_the_same_installation_reads_it_too(file: Path, reads: list[int]) -> None:
    tree(file)
    (kept,) = (file.parent / "__pycache__").iterdir()
    assert kept.stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize("why", ["no byte code", "no folder"])
def test_nothing_is_made_ready_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", why == "no byte code")
    (tmp_path / "__pycache__").write_text("a file")
    module.keep(tmp_path / "__pycache__" / "kept", lambda: pytest.fail("was made"))
