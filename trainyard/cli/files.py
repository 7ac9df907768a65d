"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.cli.project import fail, settings_of, stack_files

if TYPE_CHECKING:
    from trainyard.fleet.clients import Entry


def clash(files: Mapping[str, Path | None]) -> str:
    """What is wrong where two outputs, by what they are called, are to go to one place; empty where none are."""
    for (name, file), (other, where) in combinations([(name, file) for name, file in files.items() if file], 2):
        if "-" in (str(file), str(where)):
            if str(file) == str(where):
                return f"{name} - and {other} -: only one of them can have standard output"
        elif file.resolve() == where.resolve() and not (file.exists() and not file.is_file()):
            return f"{name} {file} and {other} {where}: one would be written over the other"
    return ""


def check_outputs(files: Mapping[str, Path | None]) -> None:
    """Ends the command, before it does what takes long, where outputs cannot be written: by their options' names."""
    wrong = clash(files)
    if wrong:
        fail(wrong)
    for name, file in files.items():
        if file is None or str(file) == "-":
            continue
        if file.is_dir():
            fail(f"{name} {file}: is a folder, not a file")
        if not file.resolve().parent.is_dir():
            fail(f"{name} {file}: there is no folder {file.parent}")
        if not file.exists() or file.is_file():  # a pipe or a device is not replaced
            try:
                with tempfile.TemporaryFile(dir=file.resolve().parent):
                    pass
            except OSError as error:
                fail(f"{name} {file}: cannot be written: {error.strerror}")


def write_whole(path: Path, text: str, *, private: bool = False) -> None:
    """Writes `text` to `path` ('-': standard output). What was there stays until all of the new text is on the disk.

    With `private` nobody else may read it. A link is followed; a pipe or a device (`/dev/stdout`) is written to, not
    replaced.
    """
    if str(path) == "-":
        _print(text)
        return
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: Path, content: bytes, *, private: bool = False) -> None:
    """As `write_whole`, of what is no text, and never to standard output."""
    temporary = None
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        path = path.resolve()
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o600 if private else 0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
        fail(f"{path}: cannot be written: {error.strerror}")


def _print(text: str) -> None:
    """Writes to standard output: a document is UTF-8, whatever the locale says of what a person reads."""
    sys.stdout.flush()
    if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
        sys.stdout.write(text)
    else:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()


def write_json(path: Path, document: Any) -> None:
    """Writes a document as `write_whole` does, as JSON that a person can read."""
    write_whole(path, as_json(document))


def as_json(document: Any) -> str:
    """A document as JSON that a person can read."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _umask() -> int:
    """The mask of new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def note_stack(folder: Path, stack: str, change: Callable[[Entry], Entry]) -> None:
    """Changes what fleet.yaml says of one stack, and nothing else of it; one command at a time."""
    from trainyard.fleet.clients import FILE, alone_with_fleet, with_stack
    from trainyard.rehearsal.engine.project import stack_of

    with alone_with_fleet(folder), settings_of("of the fleet"):
        stacks = [stack_of(file) for file in stack_files(folder)]
        write_whole(folder / FILE, with_stack(folder, stacks, stack, change))


def write_new(folder: Path, content: dict[str, str]) -> None:
    """Writes all files or none. A file that came to be since it was looked for is not overwritten."""
    made: list[Path] = []
    try:
        for name, text in content.items():
            path = folder / name
            for parent in reversed([parent for parent in path.parents if not parent.exists()]):
                parent.mkdir()
                made.append(parent)
            with path.open("x", encoding="utf-8") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in reversed(made):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
        fail(f"{error.filename or folder}: cannot be written: {error.strerror}; nothing is")
