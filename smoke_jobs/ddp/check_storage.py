"""Folders of the job as a file system: small-file operations a second, and reads that no cache of the reader helps.

On each folder that all nodes reach (the data tier, a mounted checkpoint tier): every rank creates, renames, reads and
removes small files; then writes a large one, and reads that of a rank of the next node, so that what it reads is in no
memory of its own. On one node the kernel is asked to forget the file; `storage_gib` above the node's memory makes sure.
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
from .result import Figure, Outcome, failed, passed, skipped

SMALL_BYTES = 4096
BLOCK_BYTES = 4 << 20


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
    size = _blocks(job) * BLOCK_BYTES * job.local_world_size / 2**30
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cached = (
        "written by another node"
        if job.nodes > 1
        else "more than its memory"
        if size > memory
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


def _blocks(job: Job) -> int:
    gib = job.options.storage_gib or (16.0 if job.cuda else 0.016)
    return max(1, int(gib * 2**30 / BLOCK_BYTES / job.local_world_size))


def _on(job: Job, label: str, folder: Path) -> list[dict[str, Any]]:
    """What each rank found. Ranks wait for each other on the store: a slow tier takes longer than a collective may."""
    mine: dict[str, Any] = {
        "rank": job.rank,
        "host": job.host,
        "wrong": "",
        "operations": 0.0,
        "read": 0.0,
        "write": 0.0,
    }
    data = os.urandom(BLOCK_BYTES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mine["operations"] = _operations(folder / f"small-{job.rank}", 500 if job.cuda else 20)
        mine["write"] = _write(folder / f"large-{job.rank}", data, _blocks(job))
    except OSError as error:
        mine["wrong"] = f"cannot be used: {error}"
    crcs = job.exchange(f"storage/{label}/written", "" if mine["wrong"] else zlib.crc32(data))
    other = (job.rank + (job.local_world_size if job.nodes > 1 else 1)) % job.world_size
    if not mine["wrong"] and crcs[other] != "":
        crc = int(crcs[other]) ^ int(job.broken("storage") and job.rank == job.world_size - 1)
        try:
            mine["read"], same = _read(folder / f"large-{other}", crc, _blocks(job))
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


def _write(path: Path, data: bytes, blocks: int) -> float:
    before = time.perf_counter()
    with path.open("wb") as stream:
        for _ in range(blocks):
            stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    return blocks * len(data) / (time.perf_counter() - before) / 1e9


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
