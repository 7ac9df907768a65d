"""The data tier against what the devices consume.

Every rank reads its share with a real loader (worker processes), three times: as fast as it can with a cold cache,
again warm, and then paced: each batch "trains" for as long as the device would take, as MLPerf Storage emulates
accelerators. Accelerator utilisation = time in training / (time in training + time waiting for a batch); the slowest
rank counts, and 0.90 is needed.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from pathlib import Path
from typing import Any

from . import samples
from .job import Job
from .result import CheckFailed, Figure, Outcome, passed, skipped

CONSUMED = (
    ("B300", 4063, "H100's 1,786 by ratio of peak BF16 (2250 against 989 TFLOPS)"),
    ("B200", 4063, "H100's 1,786 by ratio of peak BF16 (2250 against 989 TFLOPS)"),
    ("H200", 1786, "MLPerf Storage ResNet-50, as H100 (2025-06)"),
    ("H100", 1786, "MLPerf Storage ResNet-50: batch of 400 in 0.224 s (2025-06)"),
    ("A100", 920, "MLPerf Storage ResNet-50: batch of 400 in 0.435 s (2025-06)"),
    ("L40S", 1067, "A100's 920 by ratio of peak BF16 (362 against 312 TFLOPS)"),
    ("V100", 369, "A100's 920 by ratio of peak (125 against 312 TFLOPS)"),
    ("A10", 206, "A100's 920 by ratio of peak (70 against 312 TFLOPS)"),
    ("L4", 357, "A100's 920 by ratio of peak (121 against 312 TFLOPS)"),
    ("T4", 192, "A100's 920 by ratio of peak (65 against 312 TFLOPS)"),
)
"""Samples of 114.66 kB that one device consumes a second, by text in its model's name; first match."""

CPU_CONSUMED = (150, "a rate of ours for the CPU run: 17 MB/s a rank")

SLOW_S = 0.02
"""What the seeded fault adds to each sample."""


def consumed(job: Job) -> tuple[float, str]:
    """Samples a second of one device, and where the figure comes from."""
    if job.options.samples_per_second:
        return job.options.samples_per_second, "option samples_per_second"
    if not job.cuda:
        return CPU_CONSUMED
    model = str(job.inventories[0]["device"]["name"])
    return next(((rate, source) for text, rate, source in CONSUMED if text in model), (920, "as A100, model unknown"))


def run(job: Job) -> Outcome:
    """See the module's docstring. Skipped on several nodes without `data_path`: a stack may have no such folder."""
    if job.nodes > 1 and not job.options.data_path:
        return skipped(
            f"no data_path: {job.nodes} nodes need a folder that all of them reach, to write samples to or, with "
            "data_glob, to read from; a bucket that is mounted read only and empty is none"
        )
    base = Path(job.options.data_path or f"{job.options.scratch_dir}/data")
    made = None
    try:
        if job.options.data_glob:
            files, count, verify = sorted(base.glob(job.options.data_glob)), 2**31, False
            if not files:
                raise CheckFailed(f"no file matches {job.options.data_glob} below {base}")
        elif samples.published(base):  # a set that was left there to be used again
            count, verify = samples.published(base), True
            files = sorted(base.glob("shard-*.bin"))
        else:
            made = base / f"smoke-{job.broadcast(uuid.uuid4().hex[:12])}"
            count, verify = _count(job), True
            samples.generate(made, count, job.rank, job.world_size, job.options.seed)
            job.barrier()
            if job.head:
                samples.publish(made, count)
            job.barrier()
            files = sorted(made.glob("shard-*.bin"))
    except OSError as error:
        raise CheckFailed(f"the data tier {base} cannot be used: {error}") from None
    try:
        return _measure(job, samples.Samples(files, count, verify), files, base)
    finally:
        if job.head and made is not None and not job.options.keep_files:
            for path in made.iterdir():
                path.unlink()
            made.rmdir()


def _count(job: Job) -> int:
    mib = job.options.data_mib or (4096 if job.cuda else 48)
    return max(4 * job.world_size, int(mib * 2**20 / samples.SAMPLE_BYTES))


def _measure(job: Job, dataset: samples.Samples, files: list[Path], base: Path) -> Outcome:
    workers = job.options.data_workers or (4 if job.cuda else 1)
    rate, source = consumed(job)
    share = len(dataset) // job.world_size
    # At least ten batches, of 64 samples at most: a batch that is the whole share would be one long wait.
    batch = max(1, min(64, share // 10))
    loader = samples.loader(dataset, job.rank, job.world_size, workers, batch)
    if job.broken("data"):
        dataset.slow_seconds = SLOW_S

    def cold() -> None:
        job.barrier()
        samples.drop_cache(files[job.rank :: job.world_size])
        job.barrier()

    cold()
    cold_rate, bytes_rate = _full_speed(job, loader)
    warm_rate, _ = _full_speed(job, loader)
    cold()
    used, first = _paced(loader, rate, 2.0 if not job.cuda else 20.0)
    everyone: list[tuple[float, float]] = job.gather((used, first))
    slowest = min(range(job.world_size), key=lambda rank: everyone[rank][0])
    need = rate * job.world_size
    details: dict[str, Any] = {
        "samples": len(dataset), "sample_bytes": samples.SAMPLE_BYTES, "files": len(files), "loader_processes": workers,
        "needed_samples_per_second": need, "need_source": source, "warm_samples_per_second": warm_rate,
        "cold_bytes_per_second": bytes_rate, "seconds_to_first_batch": max(f for _, f in everyone),
        "utilisation": [u for u, _ in everyone],
    }  # fmt: skip
    outcome = passed(
        f"{cold_rate:.0f} samples/s cold and {warm_rate:.0f} warm delivered, the devices consume {need:.0f}",
        figure=Figure("accelerator utilisation", everyone[slowest][0], ""),
        figures=[Figure("data cold", cold_rate, "samples/s"), Figure("data warm", warm_rate, "samples/s")],
        details=details,
    )
    hint = (
        f"rank {slowest} on {job.inventories[slowest]['host']} waits for data; {base} delivers {cold_rate:.0f} "
        f"samples/s, {need:.0f} are consumed: raise the tier's throughput or the number of loader processes ({workers})"
    )
    return job.judge(outcome, "accelerator_utilisation", hint)


def _full_speed(job: Job, loader: Any) -> tuple[float, float]:
    """Samples and bytes a second of all ranks together; the time starts when the loader's processes deliver."""
    iterator = iter(loader)
    first = next(iterator)
    job.barrier()
    before = time.perf_counter()
    count, size = 0, 0
    for sizes in iterator:
        count, size = count + len(sizes), size + int(sizes.sum())
    seconds = time.perf_counter() - before
    everyone = job.gather((count or len(first), size or int(first.sum()), seconds))
    slowest = max(one[2] for one in everyone)
    return sum(one[0] for one in everyone) / slowest, sum(one[1] for one in everyone) / slowest


def _paced(loader: Any, rate: float, limit_s: float) -> tuple[float, float]:
    """Utilisation, and seconds to the first batch (which, as in MLPerf, does not count, in no pass)."""
    first, training, waiting = 0.0, 0.0, 0.0
    while training + waiting < limit_s:  # a small set is read again: a short measurement would be noise
        before = time.perf_counter()
        iterator = iter(loader)
        sizes = next(iterator)
        first = first or time.perf_counter() - before
        with contextlib.suppress(StopIteration):
            while training + waiting < limit_s:
                pause = len(sizes) / rate
                time.sleep(pause)
                training += pause
                before = time.perf_counter()
                sizes = next(iterator)
                waiting += time.perf_counter() - before
    return training / (training + waiting), first
