"""A real Prometheus over a month that was: raw series are imported, our own rules are evaluated over them."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None or shutil.which("promtool") is None,
    reason="prometheus is not installed (Debian: prometheus)",
)

Series = tuple[str, Mapping[str, str], Iterable[tuple[int, float]]]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def openmetrics(series: Sequence[Series]) -> str:
    """Samples as promtool imports them; the series of one metric come after one another."""
    lines, said = [], ""
    for metric, labels, samples in sorted(series, key=lambda item: item[0]):
        if metric != said:
            lines.append(f"# TYPE {metric} gauge")
            said = metric
        text = ",".join(f'{key}="{value}"' for key, value in labels.items())
        lines.extend(f"{metric}{{{text}}} {value:g} {at}" for at, value in samples)
    return "\n".join([*lines, "# EOF", ""])


class Prometheus:
    """A server on a folder of blocks, which is started anew to see those that came to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.data.mkdir()
        (folder / "prometheus.yml").write_text("scrape_configs: []\n")
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def __enter__(self) -> Prometheus:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def take(self, series: Sequence[Series]) -> None:
        text = self.folder / "series.txt"
        text.write_text(openmetrics(series))
        _promtool("openmetrics", str(text), str(self.data))

    def evaluate(self, groups: Sequence[Mapping[str, Any]], start: int, end: int) -> None:
        """Rules over the span of time, as if they had been evaluated then; each sees only what was there before."""
        rules, made = self.folder / "rules.yaml", self.folder / "made"
        rules.write_text(yaml.safe_dump({"groups": list(groups)}))
        span = ("--start", str(start), "--end", str(end), "--url", self.url, "--output-dir", str(made))
        _promtool("rules", *span, str(rules))
        self.stop()
        for block in made.iterdir():
            block.rename(self.data / block.name)
        self.start()

    def start(self) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={self.folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={self.data}",
                "--storage.tsdb.retention.time=100y",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=error",
            ]
        )
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise AssertionError("Prometheus is not ready after half a minute")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)
            self.process = None

    def range(self, expression: str, start: int, end: int, step: int) -> list[tuple[dict[str, str], list[Any]]]:
        query = urllib.parse.urlencode({"query": expression, "start": start, "end": end, "step": step})
        with urllib.request.urlopen(f"{self.url}/api/v1/query_range?{query}", timeout=60) as answer:
            return [(row["metric"], row["values"]) for row in json.load(answer)["data"]["result"]]


def _promtool(*arguments: str) -> None:
    command = [
        "promtool",
        "tsdb",
        "create-blocks-from",
        "--max-block-duration=500h",
        *arguments,
    ]  # few, so that it is quick
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
