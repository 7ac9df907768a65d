"""The stack's tracking address in the hands of the real client: MLflow with AWS's plug-in, signed for that app."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from tests.conftest import MANAGED

KEY_ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
"""Those of AWS's own examples of signatures."""
ANSWERS = {
    "/api/2.0/mlflow/experiments/get-by-name": {"experiment": {"experiment_id": "7", "name": "vision"}},
    "/api/2.0/mlflow/runs/create": {"run": {"info": {"run_id": "r1", "experiment_id": "7", "status": "RUNNING"}}},
    "/api/2.0/mlflow/runs/log-batch": {},
}


class App(BaseHTTPRequestHandler):
    """Answers as an MLflow server does, and keeps what it was asked."""

    asked: ClassVar[list[tuple[str, str, dict[str, str], bytes]]] = []

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {key.lower(): value for key, value in self.headers.items()}
        type(self).asked.append((self.command, self.path, headers, body))
        text = json.dumps(ANSWERS.get(urlsplit(self.path).path, {})).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = _answer  # noqa: N815 (the standard library's names)

    def log_message(self, *_: Any) -> None:
        """Nothing is said."""


@pytest.fixture
def app() -> Iterator[str]:
    App.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), App)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def signature(method: str, path: str, headers: dict[str, str], body: bytes, region: str, service: str) -> str:
    """Signature version 4 of a request, by AWS's description of it ("Create a signed AWS API request")."""
    given = headers["authorization"]
    signed = given.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    parts = urlsplit(path)
    query = "&".join(
        sorted(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in parse_qsl(parts.query, True))
    )
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed)
    asked = [method, quote(parts.path, safe="/-_.~"), query, lines, ";".join(signed), hashlib.sha256(body).hexdigest()]
    day = headers["x-amz-date"][:8]
    scope = f"{day}/{region}/{service}/aws4_request"
    digest = hashlib.sha256("\n".join(asked).encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


@pytest.mark.parametrize("stack", MANAGED)
def test_the_client_signs_for_the_app_of_the_stack(rehearsed: Any, app: str, monkeypatch: Any, stack: str) -> None:
    pytest.importorskip("sagemaker_mlflow", reason="the extra dev has it")
    import mlflow

    found = rehearsed(stack)
    arn, region = found.outputs["mlflowTrackingUri"], found.outputs["region"]
    monkeypatch.setenv("SAGEMAKER_MLFLOW_CUSTOM_ENDPOINT", app)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(arn)
    try:
        client = mlflow.MlflowClient(tracking_uri=arn)
        experiment = client.get_experiment_by_name("vision")
        run = client.create_run(experiment.experiment_id)
        client.log_batch(run.info.run_id, params=[mlflow.entities.Param("lr", "0.1")])
    finally:
        mlflow.set_tracking_uri(before)
    assert len(App.asked) >= 3
    for method, path, headers, body in App.asked:
        assert headers["x-sm-mlflow-app-arn"] == arn
        assert f"Credential={KEY_ID}/" in headers["authorization"]
        assert f"/{region}/sagemaker/aws4_request" in headers["authorization"]
        told = headers["authorization"].partition("Signature=")[2]
        assert told == signature(method, path, headers, body, region, "sagemaker"), path
    assert b'"lr"' in App.asked[-1][3]
