"""Samples of this node's load once a second, under the names that MLflow gives them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

from .tracking_client import Point


class Sampler:
    """Samples in a thread until `stop`, which returns the points. GPUs through nvidia-smi, if there are any."""

    def __init__(self, interval_s: float = 1.0) -> None:
        self.interval_s = interval_s
        self.points: list[Point] = []
        self._end = threading.Event()
        self._busy, self._total = _cpu()
        self._thread = threading.Thread(target=self._loop, name="system-metrics", daemon=True)
        self._thread.start()

    def _loop(self) -> None:
        step = 0
        while not self._end.wait(self.interval_s):
            now = int(time.time() * 1000)
            for key, value in (self._host() | _gpus()).items():
                self.points.append(Point(f"system/{key}", value, now, step))
            step += 1

    def _host(self) -> dict[str, float]:
        busy, total = _cpu()
        share = 100 * (busy - self._busy) / max(1, total - self._total)
        self._busy, self._total = busy, total
        memory = {}
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            memory[name] = int(rest.split()[0]) * 1024
        used = memory["MemTotal"] - memory["MemAvailable"]
        disk = shutil.disk_usage(os.sep)
        return {
            "cpu_utilization_percentage": share,
            "system_memory_usage_megabytes": used / 1e6,
            "system_memory_usage_percentage": 100 * used / memory["MemTotal"],
            "disk_usage_percentage": 100 * disk.used / disk.total,
        }

    def stop(self) -> list[Point]:
        """The points; no more are taken."""
        self._end.set()
        self._thread.join()
        return self.points


def _cpu() -> tuple[int, int]:
    numbers = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = numbers[3] + numbers[4]
    return sum(numbers) - idle, sum(numbers)


_FIELDS = ("utilization.gpu", "memory.used", "memory.total", "power.draw")


def _gpus() -> dict[str, float]:
    if shutil.which("nvidia-smi") is None:
        return {}
    ran = subprocess.run(
        ["nvidia-smi", f"--query-gpu=index,{','.join(_FIELDS)}", "--format=csv,noheader,nounits"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    found: dict[str, float] = {}
    for line in ran.stdout.splitlines() if ran.returncode == 0 else ():
        index, *values = (part.strip() for part in line.split(","))
        try:
            busy, used, total, watts = (float(value) for value in values)
        except ValueError:
            continue  # "[N/A]": MIG devices have no utilisation
        found[f"gpu_{index}_utilization_percentage"] = busy
        found[f"gpu_{index}_memory_usage_percentage"] = 100 * used / total
        found[f"gpu_{index}_memory_usage_megabytes"] = used
        found[f"gpu_{index}_power_usage_watts"] = watts
    return found
