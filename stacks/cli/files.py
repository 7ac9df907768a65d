"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from stacks.cli.project import fail


def write_whole(path: Path, text: str) -> None:
    """Writes `text` to `path` ('-': standard output). What was there stays until all of the new text is on the disk."""
    if str(path) == "-":
        sys.stdout.write(text)
        return
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
        fail(f"{path}: cannot be written: {error.strerror}")
