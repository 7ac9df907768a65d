"""Sharded sample files on the data tier: made for the check, or the user's own, and read as a training loader would.

A shard holds fixed-size samples one after another. Ours begin with a header (number of the sample, crc32 of its
rest), so that a reader knows that it got the right bytes; of the user's files only the bytes are read.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from torch.utils.data import DataLoader, Dataset, Sampler

from .notice import ignore_in_loader_worker
from .result import write_json

SAMPLE_BYTES = 114_660
"""Mean size of a ResNet-50 sample in MLPerf Storage (114.66 kB), 2025-06."""

SHARD_SAMPLES = 64
HEADER = struct.Struct("<QI")
INDEX = "smoke-samples.json"


class Damaged(Exception):  # noqa: N818 - a verdict on a sample
    """A sample is not what was written."""


def generate(folder: Path, count: int, part: int, parts: int, seed: int) -> None:
    """Writes the shards whose number is `part` modulo `parts`; the index is written last, by `publish`."""
    folder.mkdir(parents=True, exist_ok=True)
    noise = (zlib.crc32(str(seed).encode()).to_bytes(4, "little") * (SAMPLE_BYTES // 4 + 1))[
        : SAMPLE_BYTES - HEADER.size
    ]
    for shard in range(part, -(-count // SHARD_SAMPLES), parts):
        with (folder / f"shard-{shard:05d}.bin").open("wb") as stream:
            for number in range(shard * SHARD_SAMPLES, min(count, (shard + 1) * SHARD_SAMPLES)):
                body = number.to_bytes(8, "little") + noise[8:]
                stream.write(HEADER.pack(number, zlib.crc32(body)) + body)
            stream.flush()
            os.fsync(stream.fileno())


def publish(folder: Path, count: int) -> None:
    """Says how many samples the folder holds, after all shards were written."""
    write_json(folder / INDEX, {"samples": count, "sample_bytes": SAMPLE_BYTES, "shard_samples": SHARD_SAMPLES})


def published(folder: Path) -> int:
    """The number of samples of ours in the folder; 0 where there are none."""
    path = folder / INDEX
    return int(json.loads(path.read_text())["samples"]) if path.exists() else 0


class Samples(Dataset[int]):
    """Item i is the number of bytes read for sample i; ours are verified, and raise Damaged."""

    def __init__(self, files: list[Path], count: int, verify: bool) -> None:
        self.files, self.count, self.verify = files, count, verify
        if not verify:  # the user's files: as many whole records as each holds
            self.places = [
                (file, start)
                for file in files
                for start in range(0, file.stat().st_size - SAMPLE_BYTES + 1, SAMPLE_BYTES)
            ][:count]
            self.count = len(self.places)
        self.slow_seconds = 0.0  # a seeded fault: what a slow tier takes for each sample

    def __len__(self) -> int:
        """Number of samples."""
        return self.count

    def __getitem__(self, index: int) -> int:
        """Reads one sample; its bytes."""
        if self.verify:
            file, start = self.files[index // SHARD_SAMPLES], index % SHARD_SAMPLES * SAMPLE_BYTES
        else:
            file, start = self.places[index]
        descriptor = os.open(file, os.O_RDONLY)
        try:
            data = os.pread(descriptor, SAMPLE_BYTES, start)
        finally:
            os.close(descriptor)
        if self.slow_seconds:
            time.sleep(self.slow_seconds)
        if self.verify:
            if len(data) != SAMPLE_BYTES:
                raise Damaged(f"sample {index} in {file} is cut short: {len(data)} of {SAMPLE_BYTES} bytes")
            number, crc = HEADER.unpack_from(data)
            if number != index or crc != zlib.crc32(memoryview(data)[HEADER.size :]):
                raise Damaged(f"sample {index} in {file} is damaged")
        return len(data)


class Share(Sampler[int]):
    """This rank's samples: every `ranks`-th, cut to the same number on all ranks."""

    def __init__(self, count: int, rank: int, ranks: int) -> None:
        self.numbers = range(rank, count - count % ranks, ranks)

    def __iter__(self) -> Iterator[int]:
        """The numbers, in order."""
        return iter(self.numbers)

    def __len__(self) -> int:
        """How many."""
        return len(self.numbers)


def loader(samples: Samples, rank: int, ranks: int, workers: int, batch: int) -> DataLoader[int]:
    """A DataLoader with worker processes over this rank's share.

    They come from a server of their own, never by a fork of the rank: once EFA has pinned huge pages a fork of the
    process has to copy them, and fails for want of memory.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch.utils.data"])
    return DataLoader(
        samples,
        batch_size=batch,
        sampler=Share(len(samples), rank, ranks),
        num_workers=workers,
        worker_init_fn=ignore_in_loader_worker,
        multiprocessing_context=context,
        prefetch_factor=4,
        drop_last=False,
    )


def drop_cache(files: list[Path]) -> None:
    """Asks the kernel to forget the files' pages, so that the next read goes to the tier."""
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
