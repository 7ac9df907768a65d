"""Files that are wrong before any setting is: each is a message that names the file, none a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import DEEPEST, read_stack

PROJECT = "name: trainyard\nmain: stacks\nstackConfigDir: stacks\n"

ANCHORS = "a: &a [1]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{used}'] * 10)}]\n" for used, name in zip("abcdef", "bcdefg", strict=True)
)
"""Seven lines that stand for more than a million values."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "__main__.py").write_text("")
    (tmp_path / "stacks" / "Pulumi.test.yaml").write_text("config:\n  trainyard:client: acme\n")
    return tmp_path


def problem(folder: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        read_stack(folder, "test")
    assert len(caught.value.problems) == 1
    return str(caught.value)


def test_a_good_file(folder: Path) -> None:
    assert read_stack(folder, "test").values == {"trainyard:client": "acme"}


@pytest.mark.parametrize("content", ["", "encryptionsalt: v1:abc\n", "config:\n", "# nothing\n"])
def test_a_file_without_configuration_is_an_empty_one(folder: Path, content: str) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text(content)
    assert read_stack(folder, "test").values == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x86\xff\x00\x01", "must be YAML in UTF-8"),
        (b"\xff\xfec\0o\0n\0", "must be YAML in UTF-8"),
        (b"- a\n- b\n", "got a list; must be a mapping"),
        (b"config: 5\n", "config: got 5; must be a mapping"),
        (b"config: [client]\n", "config: got a list; must be a mapping"),
        (b"config:\n\ttrainyard:client: x\n", "line 2"),
        (b"config:\n  trainyard:client: a\n  trainyard:client: b\n", '"trainyard:client" is there twice'),
        (b"config: &a\n  trainyard:client: *a\n", "nested"),
        (b"config:\n  trainyard:teams: " + b"[" * 3000 + b"]" * 3000, "nested"),
        (b"config:\n  trainyard:client: !!python/object:os.system x\n", "python/object"),
        (b"config:\n  trainyard:client: 2026-13-45\n", "month must be in 1..12"),
        (ANCHORS.encode(), "values"),
    ],
)
def test_a_wrong_file_is_told(folder: Path, content: bytes, words: str) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_bytes(content)
    told = problem(folder)
    assert told.startswith("Pulumi.test.yaml")
    assert words in told


def test_a_folder_in_the_place_of_the_file_is_told(folder: Path) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").unlink()
    (folder / "stacks" / "Pulumi.test.yaml").mkdir()
    with pytest.raises(SettingsError, match=r"can be read"):
        read_stack(folder, folder / "stacks" / "Pulumi.test.yaml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Pulumi.yaml: name: got nothing"),
        ("name: 5\n", "Pulumi.yaml: name: got 5"),
        ("name: x\n", "Pulumi.yaml: main: got nothing"),
        ("name: x\nmain: nowhere\n", 'Pulumi.yaml: main: got "nowhere"; must be a folder with a __main__.py'),
        (PROJECT + "config: [client]\n", "Pulumi.yaml: config: got a list"),
    ],
)
def test_a_wrong_project_is_told(folder: Path, content: str, words: str) -> None:
    (folder / "Pulumi.yaml").write_text(content)
    assert problem(folder).startswith(words)


def test_no_setting_comes_near_the_deepest_level(folder: Path) -> None:
    deep = DEEPEST - 4
    (folder / "stacks" / "Pulumi.test.yaml").write_text(f"config:\n  trainyard:storage: {'[' * deep}{']' * deep}\n")
    assert read_stack(folder, "test").values["trainyard:storage"].startswith("[[")
