"""What a data file of the project says, kept beside it once it was read: in `__pycache__`, as Python keeps byte code.

YAML takes longer to read than all else that a command begins with: a tenth of a second for the tables of a rehearsal,
in each of its processes. What was kept goes by the digest of the file's text, so that nobody has to clear it away, and
is not written where Python writes no byte code (`PYTHONDONTWRITEBYTECODE`, a folder of somebody else's).
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.resources.abc import Traversable
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Final

_FORM: Final = b"1"
"""Another one whenever the same text is read as something else."""

_DIGEST: Final = 32
"""Bytes of each of the two digests that a kept file begins with: of the text, and of what follows."""


def kept(file: Traversable, text: bytes, read: Callable[[], Any]) -> Any:
    """What `read` makes of a file's text; of one that was read before, what it made then.

    Args:
        file: a file of the project.
        text: what is in it.
        read: depends on nothing but the text, and gives plain data.
    """
    place = _place(file)
    if place is None:
        return read()
    digest = _digest(text)
    with suppress(OSError):
        found = place.read_bytes()
        made = found[2 * _DIGEST :]
        if found[: 2 * _DIGEST] == digest + _digest(made):
            return pickle.loads(made)  # noqa: S301 - what this very function wrote, where byte code is as well
    content = read()

    def written() -> bytes:
        made = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
        return digest + _digest(made) + made

    keep(place, written)
    return content


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(_FORM + content, digest_size=_DIGEST).digest()


def _place(file: Traversable) -> Path | None:
    """Where it is kept; None for a file of an archive, and where Python keeps nothing."""
    if not isinstance(file, Path):
        return None
    try:
        beside = Path(cache_from_source(str(file)))
    except NotImplementedError:
        return None
    return beside.with_name(f"{file.name}.{sys.implementation.cache_tag}")


def keep(place: Path, content: Callable[[], bytes]) -> None:
    """Writes what can be made again: whole or not at all; not where this user may not write, or Python writes no byte
    code. `content` is asked for only where it can be written."""
    if sys.dont_write_bytecode:
        return
    with suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content())
            Path(temporary).chmod(0o644)  # as secret as the source: whoever else runs this has it too
            Path(temporary).replace(place)
        except BaseException:  # a full disk: each try would leave one more
            Path(temporary).unlink(missing_ok=True)
            raise
