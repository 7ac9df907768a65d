"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from trainyard.cli.project import fail


def write_whole(path: Path, text: str) -> None:
    """Writes `text` to `path` ('-': standard output). What was there stays until all of the new text is on the disk.

    A link is followed; a pipe or a device (`/dev/stdout`) is written to, not replaced.
    """
    if str(path) == "-":
        sys.stdout.write(text)
        return
    temporary = None
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        path = path.resolve()
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
        fail(f"{path}: cannot be written: {error.strerror}")


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
