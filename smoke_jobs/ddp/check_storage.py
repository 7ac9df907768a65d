"""Folders of the job as a file system: small-file operations a second, and reads that no cache of the reader helps.

On each folder that all nodes reach (the data tier, a mounted checkpoint tier): every rank creates, renames, reads and
removes small files; then writes a large one, and reads that of a rank of the next node, so that what it reads is in no
memory of its own. On one node, where nobody else can write it, it is larger than the node's memory, up to `MOST_GIB`
and as far as `WRITE_S` go; above that the kernel is asked to forget the file. `storage_gib` says another size.
Nothing is published that fits every tier, so the figures are reported, and compared with `--baseline`.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
import zlib
from pathlib import Path
from typing import Any

from . import samples
from .job import Job
from .options import Options
from .result import Figure, Outcome, failed, passed, skipped

SMALL_BYTES = 4096
BLOCK_BYTES = 4 << 20

LEAST_GIB, MOST_GIB = 16.0, 256.0
"""What the ranks of a node write together where GPUs are and nothing else is asked for, at least and at most."""

OF_MEMORY = 1.1
"""Of the memory of a node that stands alone, so that what is read cannot all be in it."""

FREE_SHARE = 0.5
"""Of the room on a tier that is taken at most, by all nodes together."""

WRITE_S = 120.0
"""Seconds after which a rank writes no further block: a tier of 0.1 GB/s would take a job's whole time."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    folders = _folders(job)
    if not folders:
        return skipped("no data_path and no checkpoint_uri that is a folder: nothing that all nodes share")
    figures: list[Figure] = []
    wrong: list[str] = []
    name = job.broadcast(uuid.uuid4().hex[:12])
    for label, folder in folders.items():
        entries = _on(job, label, folder / f"smoke-storage-{name}")
        wrong += [f"{label} {folder}, rank {e['rank']} on {e['host']}: {e['wrong']}" for e in entries if e["wrong"]]
        if not wrong:
            figures += [
                Figure(f"{label} operations", sum(e["operations"] for e in entries), "1/s"),
                Figure(f"{label} read", sum(e["read"] for e in entries), "GB/s"),
                Figure(f"{label} write", sum(e["write"] for e in entries), "GB/s"),
            ]
    if wrong:
        return failed("; ".join(wrong))
    size = BLOCK_BYTES * sum(e["blocks"] for e in entries if e["host"] == job.host) / 2**30
    cached = (
        "written by another node"
        if job.nodes > 1
        else "more than its memory"
        if size > _memory_gib()
        else "dropped from the cache before, as far as the file system does that"
    )
    return passed(
        "; ".join(f"{figure.name} {figure.value:.4g} {figure.unit}" for figure in figures)
        + f"; {size:.3g} GiB a node, {cached}",
        figure=figures[0],
        figures=figures[1:],
    )


def _folders(job: Job) -> dict[str, Path]:
    options, found = job.options, {}
    if options.data_path and not options.data_glob:
        found["data tier"] = Path(options.data_path)
    if options.checkpoint_uri and "://" not in options.checkpoint_uri:
        found["checkpoint tier"] = Path(options.checkpoint_uri)
    if not found and job.nodes == 1:
        found["scratch"] = Path(options.scratch_dir)
    return found


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def wanted_gib(options: Options, cuda: bool, nodes: int, memory_gib: float) -> float:
    """What the ranks of a node write together, at most."""
    if options.storage_gib:
        return options.storage_gib
    if not cuda:
        return 0.016
    return LEAST_GIB if nodes > 1 else min(MOST_GIB, max(LEAST_GIB, OF_MEMORY * memory_gib))


def _blocks(job: Job, folder: Path) -> int:
    """Blocks that a rank writes at most: what is wanted, and half of the room that is there."""
    gib = wanted_gib(job.options, job.cuda, job.nodes, _memory_gib())
    room = FREE_SHARE * shutil.disk_usage(folder).free / job.world_size
    return max(1, int(min(gib * 2**30 / job.local_world_size, room) / BLOCK_BYTES))


def _on(job: Job, label: str, folder: Path) -> list[dict[str, Any]]:
    """What each rank found. Ranks wait for each other on the store: a slow tier takes longer than a collective may."""
    mine: dict[str, Any] = {
        "rank": job.rank,
        "host": job.host,
        "wrong": "",
        "operations": 0.0,
        "read": 0.0,
        "write": 0.0,
        "blocks": 0,
    }
    data = os.urandom(BLOCK_BYTES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mine["operations"] = _operations(folder / f"small-{job.rank}", 500 if job.cuda else 20)
        mine["write"], mine["blocks"] = _write(folder / f"large-{job.rank}", data, _blocks(job, folder))
    except OSError as error:
        mine["wrong"] = f"cannot be used: {error}"
    told = None if mine["wrong"] else (zlib.crc32(data), mine["blocks"])
    written: list[tuple[int, int] | None] = job.exchange(f"storage/{label}/written", told)
    other = (job.rank + (job.local_world_size if job.nodes > 1 else 1)) % job.world_size
    its = written[other]
    if not mine["wrong"] and its is not None:
        crc = its[0] ^ int(job.broken("storage") and job.rank == job.world_size - 1)
        try:
            mine["read"], same = _read(folder / f"large-{other}", crc, its[1])
            mine["wrong"] = "" if same else f"what rank {other} wrote comes back changed"
        except OSError as error:
            mine["wrong"] = f"the file of rank {other} cannot be read: {error}"
    entries: list[dict[str, Any]] = job.exchange(f"storage/{label}/read", mine)
    if job.head and not job.options.keep_files:  # all have read; what is wrong with the folder has been told
        shutil.rmtree(folder, ignore_errors=True)
    return entries


def _operations(folder: Path, count: int) -> float:
    """Operations a second: create, rename, look, read, remove."""
    folder.mkdir()
    data = b"x" * SMALL_BYTES
    before = time.perf_counter()
    for number in range(count):
        path, final = folder / f"new-{number}", folder / f"file-{number}"
        path.write_bytes(data)
        path.replace(final)
        final.stat()
        final.read_bytes()
        final.unlink()
    seconds = time.perf_counter() - before
    folder.rmdir()
    return 5 * count / seconds


def _write(path: Path, data: bytes, blocks: int) -> tuple[float, int]:
    """GB/s, and the number of blocks that were written in `WRITE_S`."""
    before, count = time.perf_counter(), 0
    with path.open("wb") as stream:
        while count < blocks and (count == 0 or time.perf_counter() - before < WRITE_S):
            stream.write(data)
            count += 1
        stream.flush()
        os.fsync(stream.fileno())
    return count * len(data) / (time.perf_counter() - before) / 1e9, count


def _read(path: Path, crc: int, blocks: int) -> tuple[float, bool]:
    """GB/s, and whether every block is what was written."""
    samples.drop_cache([path])
    same, count, taken = True, 0, 0.0
    with path.open("rb", buffering=0) as stream:
        while True:
            before = time.perf_counter()
            block = stream.read(BLOCK_BYTES)
            taken += time.perf_counter() - before
            if not block:
                break
            count += 1
            same = same and zlib.crc32(block) == crc
    return count * BLOCK_BYTES / taken / 1e9, same and count == blocks
