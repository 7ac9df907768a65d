"""Alerts as lines of a log: the program against what Alertmanager sends, and what the monitoring makes of it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from tests.components.k8s.checkers import check_plain_objects
from tests.components.k8s.test_monitoring import POLICY, arguments, values
from tests.pulumi_harness import Recording, plain, record
from trainyard.components.k8s.alert_log import ALERT_LOG_URL, PORT
from trainyard.components.k8s.keepers.alert_log import LONGEST, Handler
from trainyard.components.k8s.monitoring import Monitoring

DEPLOYMENT, SERVICE = "kubernetes:apps/v1:Deployment", "kubernetes:core/v1:Service"
ALERT = {
    "status": "firing",
    "labels": {"alertname": "QueueWaiting", "severity": "critical", "namespace": "team-nlp", "cluster": "acme-demo"},
    "annotations": {"summary": 'jobs wait\nfor "hours"', "runbook_url": "docs/runbooks/queue-waiting.md"},
    "startsAt": "2026-11-23T10:00:00Z",
}


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def post(server: ThreadingHTTPServer, body: bytes, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.request("POST", "/", body, headers)
    return connection.getresponse().status


def sent(*alerts: dict[str, Any]) -> bytes:
    return json.dumps({"version": "4", "status": "firing", "receiver": "topic", "alerts": alerts}).encode()


def test_each_alert_is_a_line(server: ThreadingHTTPServer, capsys: pytest.CaptureFixture[str]) -> None:
    resolved = {**ALERT, "status": "resolved"}
    assert post(server, sent(ALERT, resolved)) == 200
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["severity"], first["alert"], first["namespace"]) == ("CRITICAL", "QueueWaiting", "team-nlp")
    assert first["message"] == '[firing] QueueWaiting: jobs wait\nfor "hours"'
    assert first["runbook"] == "docs/runbooks/queue-waiting.md"
    assert (second["severity"], second["status"]) == ("INFO", "resolved")


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{}", 400), (b"no json", 400), (b'{"alerts": ["text"]}', 400), (b'{"alerts": []}', 200), (b"[]", 200)],
)
def test_what_is_no_alert_is_refused_and_writes_nothing(
    server: ThreadingHTTPServer, capsys: pytest.CaptureFixture[str], body: bytes, code: int
) -> None:
    assert post(server, body) == code
    assert capsys.readouterr().out == ""
    assert post(server, sent(ALERT)) == 200


def test_more_than_alertmanager_would_send_is_not_read(server: ThreadingHTTPServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.putrequest("POST", "/")
    connection.putheader("Content-Length", str(LONGEST + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413


def test_an_alert_without_labels_is_a_line_too(server: ThreadingHTTPServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert post(server, sent({"status": "firing", "labels": None, "annotations": None})) == 200
    assert json.loads(capsys.readouterr().out)["alert"] == ""


@pytest.fixture(scope="module")
def made() -> Recording:
    args = arguments(alert_log_image="example.com/python:3@sha256:" + "0" * 64)
    return record(lambda: Monitoring("monitoring", args))


def test_alertmanager_sends_to_its_service(made: Recording) -> None:
    config = values(made)["alertmanager"]["config"]
    receivers = {receiver["name"]: receiver for receiver in config["receivers"]}
    for name in ("topic", "watchdog"):
        assert receivers[name]["webhook_configs"][0]["url"] == ALERT_LOG_URL
    assert "sns_configs" not in json.dumps(config)
    service = plain(made.one(SERVICE, "monitoring-alert-log").inputs)
    name, space = service["metadata"]["name"], service["metadata"]["namespace"]
    assert f"http://{name}.{space}.svc:{PORT}/" == ALERT_LOG_URL
    deployment = plain(made.one(DEPLOYMENT, "monitoring-alert-log-deployment").inputs)
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()


def test_it_has_no_right_and_nothing_leaves_the_cluster(made: Recording) -> None:
    pod = plain(made.one(DEPLOYMENT, "monitoring-alert-log-deployment").inputs)["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["containers"][0]["args"] == [str(PORT)]
    assert not [resource for resource in made.resources if "rbac" in resource.type]
    walls = json.dumps([plain(resource.inputs) for resource in made.resources if resource.type == POLICY])
    usual = record(lambda: Monitoring("monitoring", arguments()))
    with_topic = json.dumps([plain(resource.inputs) for resource in usual.resources if resource.type == POLICY])
    assert "0.0.0.0/0" in with_topic
    assert "0.0.0.0/0" not in walls


def test_its_objects_are_what_kubernetes_takes(made: Recording) -> None:
    assert check_plain_objects(made) > 5
