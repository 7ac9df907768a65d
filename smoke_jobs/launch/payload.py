"""The worker's files as a launcher ships them: flat, whole, and small enough for a ConfigMap.

`smoke_jobs/ddp` is read at render time, so a rendering always carries the worker of the installed version. `start.py`
of this package goes with it, as the one file that a container is told to run.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from trainyard.capture import derived

WORKER = Path(__file__).resolve().parent.parent / "ddp"
START = Path(__file__).resolve().with_name("start.py")

LIMIT_BYTES = 900 * 1024
"""An etcd request may have 1.5 MiB, a ConfigMap 1 MiB; the rest of the object needs room too."""

FOLDER = "ddp"
"""Name of the folder that the files must lie in: it is the package's name there."""


class PayloadTooLargeError(Exception):
    """The worker outgrew a ConfigMap."""


def files(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """File name to text: every module and data file of the worker, `start.py`, and `extra`.

    Raises PayloadTooLargeError above `LIMIT_BYTES`.
    """
    found = {**_own(WORKER, START), **(extra or {})}
    size = sum(len(name.encode()) + len(text.encode()) for name, text in found.items())
    if size > LIMIT_BYTES:
        raise PayloadTooLargeError(
            f"the worker is {size} bytes, a ConfigMap takes {LIMIT_BYTES}: "
            "move data files of smoke_jobs/ddp into the image"
        )
    return found


def in_folder(extra: Mapping[str, str], below: str = "") -> dict[str, str]:
    """The files as objects of a bucket: keys in the folder `ddp`, `below` what the launcher has for a prefix."""
    return {f"{below}{FOLDER}/{name}": text for name, text in files(extra).items()}


@lru_cache(maxsize=1)
def _own(worker: Path, start: Path) -> dict[str, str]:
    """The worker's own files, which are those of this release: read once a process."""
    found = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(worker.iterdir())
        if path.suffix in (".py", ".csv", ".json") and not path.name.startswith(".")
    }
    return found | {start.name: start.read_text(encoding="utf-8")}


@lru_cache(maxsize=256)
def digest_of_files(files: tuple[tuple[str, str], ...]) -> str:
    """`digest` of files by name, as JSON; every job of a process has the same, or one file more."""
    return _digest(json.dumps(dict(files), sort_keys=True))


def digest(content: str) -> str:
    """Eight hexadecimal digits that stand for a content."""
    return derived(_digest(content), content)


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def digest_with_files(files: tuple[tuple[str, str], ...], objects: object) -> str:
    """`digest` of the JSON of `{"code": files, "objects": objects}`: the files, which jobs share, are hashed once."""
    found = _hash_of_files(files).copy()
    found.update(f', "objects": {json.dumps(objects, sort_keys=True)}}}'.encode())
    return found.hexdigest()[:8]


@lru_cache(maxsize=256)
def _hash_of_files(files: tuple[tuple[str, str], ...]) -> hashlib._Hash:
    return hashlib.sha256(f'{{"code": {json.dumps(dict(files), sort_keys=True)}'.encode())


def archive(content: Mapping[str, str]) -> bytes:
    """A gzipped tar with the files in the folder `ddp`; equal files give equal bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in sorted(content.items()):
            data = text.encode()
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def archive_text(content: Mapping[str, str], width: int = 120) -> str:
    """The archive as lines of base64, for a script that carries it."""
    text = base64.b64encode(archive(content)).decode()
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))
