"""A real Prometheus over a month that was: it is handed raw series, and our own rules are evaluated over them."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.remote_write import HEADERS, encoded_labels, message

needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is not installed (Debian: prometheus)"
)

Labels = Mapping[str, str]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Prometheus:
    """A server that reads nothing by itself and takes what it is handed, of whatever time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "prometheus.yml").write_text("scrape_configs: []\n")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        # One connection for all: a month is some twenty thousand requests. A request opens it where it is not open.
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._encoded: dict[tuple[str, tuple[tuple[str, str], ...]], bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Prometheus:
        self._process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={self.folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={self.folder / 'data'}",
                "--storage.tsdb.retention.time=100y",
                "--web.enable-remote-write-receiver",
                f"--web.listen-address={self.url.removeprefix('http://')}",
                "--log.level=error",
            ],
            # The month is small: to look for garbage at every few megabytes would be half of all work.
            env={**os.environ, "GOGC": "off", "GOMEMLIMIT": "512MiB", "GOMAXPROCS": "1"},
        )
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                    return self
            except OSError:
                time.sleep(0.1)
        raise AssertionError("Prometheus is not ready after a minute")

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=60)

    def take(self, samples: Iterable[tuple[str, Labels, int, float]]) -> None:
        """Samples, each with its metric, labels and moment; those of a series in the order of time."""
        by_series: dict[bytes, list[tuple[int, float]]] = {}
        for metric, labels, at, value in samples:
            key = metric, tuple(labels.items())
            if key not in self._encoded:
                self._encoded[key] = encoded_labels(metric, labels)
            by_series.setdefault(self._encoded[key], []).append((at, value))
        if by_series:
            self._ask("POST", "/api/v1/write", message(by_series.items()), HEADERS)

    def evaluate(self, rules: Sequence[Mapping[str, Any]], times: Sequence[int]) -> None:
        """Records what rules say at these moments, which are evenly spaced; a rule sees what those before it recorded.

        As `promtool tsdb create-blocks-from rules` does it, so that a month takes seconds.
        """
        step = times[1] - times[0] if len(times) > 1 else 60
        for rule in rules:
            own = {key: str(value) for key, value in rule.get("labels", {}).items()}
            self.take(
                (rule["record"], {**_without_name(labels), **own}, int(at), float(value))
                for labels, values in self.range(rule["expr"], times[0], times[-1], step)
                for at, value in values
            )

    def range(self, expression: str, start: int, end: int, step: int) -> list[tuple[dict[str, str], list[Any]]]:
        query = urllib.parse.urlencode({"query": expression, "start": start, "end": end, "step": step})
        answer = json.loads(self._ask("GET", f"/api/v1/query_range?{query}"))
        return [(row["metric"], row["values"]) for row in answer["data"]["result"]]

    def _ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """What it answers. Raises AssertionError where it refuses."""
        self._connection.request(method, path, body or None, dict(headers or {}))
        answer = self._connection.getresponse()
        said = answer.read()
        assert answer.status < 300, f"{urllib.parse.unquote_plus(path)}: {said.decode()}"
        return said

    def firing(self, rule: Mapping[str, Any], start: int, end: int, step: int) -> list[tuple[dict[str, str], int, int]]:
        """When an alert fires between two moments: the labels of each, from when and till when.

        It fires once its expression has held for the rule's `for` without a break; the rule is evaluated each `step`.
        """
        lasts = _seconds(rule.get("for", "0m"))
        found = []
        for labels, values in self.range(rule["expr"], start, end, step):
            spans: list[list[int]] = []
            for at in (int(moment) for moment, _ in values):
                if spans and at - spans[-1][1] == step:
                    spans[-1][1] = at
                else:
                    spans.append([at, at])
            found += [(labels, first + lasts, last) for first, last in spans if last - first >= lasts]
        return found


def _seconds(duration: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([smhd])", duration).groups()  # type: ignore[union-attr]
    return int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[unit]


def _without_name(labels: Labels) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key != "__name__"}
