"""Files are written whole or not at all, and what is no file is written to, not replaced."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
import typer

from trainyard.cli.files import check_outputs, clash, write_whole


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text("before, and longer")
    write_whole(file, "after")
    assert file.read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_new_file_has_the_rights_that_the_mask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "out.json", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "out.json").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "after"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through")
    reader.join(timeout=10)
    assert read == ["through"]
    assert pipe.is_fifo()


def test_a_device_is_not_replaced() -> None:
    write_whole(Path("/dev/null"), "nothing")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("where", ["missing/out.json", "."])
def test_what_cannot_be_written_is_told(tmp_path: Path, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        write_whole(tmp_path / where, "x")
    assert ended.value.exit_code == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_two_outputs_never_go_to_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert clash({"--json": tmp_path / "a", "--html": tmp_path / "b", "--junit": None}) == ""
    assert clash({"--json": Path("/dev/null"), "--html": Path("/dev/null")}) == ""
    assert "over the other" in clash({"--json": tmp_path / "a", "--html": tmp_path / "x" / ".." / "a"})
    assert "over the other" in clash({"--json": tmp_path / "a", "--html": tmp_path / "link"})
    assert "standard output" in clash({"--json": Path("-"), "--html": Path("-")})


def test_outputs_are_looked_at_before_anything_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_outputs({"--json": tmp_path / "new.json", "--html": Path("-"), "--junit": None})
    with pytest.raises(typer.Exit) as ended:
        check_outputs({"--json": None, "--html": tmp_path / "missing" / "page.html"})
    assert ended.value.exit_code == 2
    assert "--html" in capsys.readouterr().err


def test_a_folder_that_takes_no_file_is_told_before_the_work_and_not_after_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(typer.Exit):
        check_outputs({"--json": Path("/proc/x.json")})
    assert "--json /proc/x.json: cannot be written" in capsys.readouterr().err
    check_outputs({"--json": Path("/dev/stdout"), "--html": Path("/dev/null")})
