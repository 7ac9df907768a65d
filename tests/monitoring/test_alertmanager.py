"""A real Alertmanager with the configuration of a stack: which alert goes where, and what arrives at the log."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import WITH_CLUSTERS
from tests.ledger.prometheus import free_port
from trainyard.components.k8s.alert_log import ALERT_LOG_URL
from trainyard.components.k8s.keepers.alert_log import Handler
from trainyard.conventions.monitoring import PLATFORM_NAMESPACES
from trainyard.monitoring.alerts import all_alerts
from trainyard.monitoring.alerts.money import LADDER
from trainyard.monitoring.thresholds import Thresholds
from trainyard.recorded.monitoring import prometheus_stacks
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources

PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
needs_alertmanager = pytest.mark.skipif(
    PROGRAM is None or shutil.which("amtool") is None,
    reason="alertmanager is not installed (Debian: prometheus-alertmanager)",
)
pytestmark = needs_alertmanager

ALERTS = all_alerts(Thresholds(), PLATFORM_NAMESPACES)
ROUTES = {
    "alertname=GpuLost severity=critical": "topic",
    "alertname=QueueWaiting severity=warning team=nlp": "topic",
    "alertname=GpuProgramError severity=info": "nobody",
    **{f"alertname={alert.name} severity={alert.severity}": "topic" for alert in ALERTS if alert.name in LADDER},
    "alertname=Watchdog severity=info": "watchdog",
}


def configuration(rehearsed: Any, stack: str) -> dict[str, Any]:
    (release,) = prometheus_stacks(Resources(rehearsed(stack).resources))
    found: dict[str, Any] = value_at(release.inputs, "values", "alertmanager", "config")
    return found


def amtool(folder: Path, config: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    file = folder / "alertmanager.yaml"
    file.write_text(yaml.safe_dump(json.loads(json.dumps(config))))
    words = [word if word != "FILE" else str(file) for word in arguments]
    return subprocess.run(["amtool", *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("stack", WITH_CLUSTERS)
def test_every_alert_goes_where_it_should(rehearsed: Any, stack: str, tmp_path: Path) -> None:
    config = configuration(rehearsed, stack)
    checked = amtool(tmp_path, config, "check-config", "FILE")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    for labels, receiver in ROUTES.items():
        said = amtool(tmp_path, config, "config", "routes", "test", "--config.file", "FILE", *labels.split())
        assert said.stdout.strip() == receiver, labels + said.stderr


def test_a_step_of_the_ladder_is_told_once_in_a_month(rehearsed: Any) -> None:
    """Else half a budget would be told twice a day for two weeks."""
    (release,) = prometheus_stacks(Resources(rehearsed("demo").resources))
    values = value_at(release.inputs, "values", "alertmanager")
    (notice,) = [one for one in values["config"]["route"]["routes"] if one["matchers"] == ['severity="notice"']]
    hours = [
        int(text.removesuffix("h")) for text in (notice["repeat_interval"], values["alertmanagerSpec"]["retention"])
    ]
    assert 31 * 24 < hours[0] < hours[1], "what it has told it remembers for so long"


@contextmanager
def running(config: dict[str, Any], folder: Path) -> Iterator[str]:
    """An Alertmanager of its own; its address."""
    file, port = folder / "alertmanager.yaml", free_port()
    file.write_text(yaml.safe_dump(config))
    assert PROGRAM is not None
    with subprocess.Popen(
        [
            PROGRAM,
            f"--config.file={file}",
            f"--storage.path={folder}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def until(what: Any, seconds: float = 300) -> Any:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if found := what():
            return found
        time.sleep(0.1)
    pytest.fail("nothing came")


def tell(address: str, *alerts: dict[str, Any]) -> bool:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/api/v2/alerts", json.dumps(alerts).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


def test_what_alertmanager_sends_is_a_line_each(
    rehearsed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Critical, watchdog and what is for information, as Prometheus sends them."""
    lines: list[dict[str, str]] = []
    monkeypatch.setattr(sys.stdout, "write", lambda text: lines.extend(map(json.loads, text.splitlines())))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        text = json.dumps(configuration(rehearsed, "demo-gcp"))
        assert text.count(ALERT_LOG_URL) == 2
        text = text.replace(ALERT_LOG_URL, f"http://127.0.0.1:{server.server_port}/").replace('"10s"', '"0s"')
        with running(json.loads(text), tmp_path) as address:
            alerts = [
                {
                    "labels": {"alertname": name, "severity": severity, "cluster": "acme-demo-gcp", "namespace": "n"},
                    "annotations": {"summary": f"{name} says so", "runbook_url": f"docs/runbooks/{name}.md"},
                }
                for name, severity in (("QueueFiguresMissing", "critical"), ("Watchdog", "info"), ("Told", "info"))
            ]
            until(lambda: tell(address, *alerts))
            until(lambda: {line["alert"] for line in lines} >= {"QueueFiguresMissing", "Watchdog"})
            time.sleep(0.5)
        server.shutdown()
    by_name = {line["alert"]: line for line in lines}
    assert set(by_name) == {"QueueFiguresMissing", "Watchdog"}
    assert by_name["QueueFiguresMissing"]["severity"] == "CRITICAL"
    assert by_name["QueueFiguresMissing"]["summary"] == "QueueFiguresMissing says so"
    assert {line["status"] for line in lines} == {"firing"}
