"""The program that signs: its signature is botocore's, it passes on reads alone, and a refusal arrives as it is."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from unittest.mock import patch

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from trainyard.components.k8s.keepers import figures_reader
from trainyard.components.k8s.keepers.cluster_api import figures
from trainyard.components.k8s.keepers.figures_reader import Credentials, Handler, Kept, signed, target

AT = datetime(2026, 11, 26, 4, 5, 6, tzinfo=UTC)
OWN = Credentials("AKIDEXAMPLE", "a-secret/with+signs=", "a-token==", ends=2e9)
ENDPOINT = "https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-12/"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/v1/query?query=up&time=1764129906.000", b""),
        ("GET", "/api/v1/query?query=sum+by+%28team%29+%28a%7Bb%3D%22c+d%22%2C+e%3D~%22x%2By%22%7D%29&time=1", b""),
        ("GET", "/api/v1/series?match%5B%5D=up&match%5B%5D=a%2Fb&start=1", b""),
        ("GET", "/api/v1/label/__name__/values", b""),
        ("GET", "/api/v1/query?query=&time=1", b""),
        ("GET", "/api/v1/query?query=%C3%A4*~", b""),
        ("POST", "/api/v1/query_range", b"query=sum%28up%29&start=1&end=2&step=30"),
    ],
)
def test_the_signature_is_botocore_s(method: str, path: str, body: bytes) -> None:
    url = target(ENDPOINT, path)
    assert url is not None
    kind = "application/x-www-form-urlencoded" if body else ""
    own = signed(method, url, body, kind, OWN, "eu-west-1", AT)
    request = AWSRequest(method, url, headers={"content-type": kind} if kind else {}, data=body)
    with patch("botocore.auth.get_current_datetime", return_value=AT.replace(tzinfo=None)):
        SigV4Auth(BotoCredentials(OWN.key_id, OWN.secret, OWN.token), "aps", "eu-west-1").add_auth(request)
    assert own["Authorization"] == request.headers["Authorization"]


@pytest.mark.parametrize(
    "path",
    ["/api/v1/remote_write", "/api/v1/rules", "/api/v1/query/../remote_write", "/alertmanager/api/v2/silences", "//x/"],
)
def test_only_reads_are_passed_on(path: str) -> None:
    assert target(ENDPOINT, path) is None


def test_credentials_are_asked_for_anew_before_they_end() -> None:
    asked: list[float] = []

    def fetch() -> Credentials:
        asked.append(1)
        return Credentials("a", "b", "c", ends=ENDS[len(asked) - 1])

    kept = Kept(fetch)
    with patch(f"{figures_reader.__name__}.time.time", lambda: NOW[0]):
        assert kept.now() is kept.now() and len(asked) == 1
        NOW[0] = 3400.0
        kept.now()
    assert len(asked) == 2


NOW, ENDS = [0.0], [3600.0, 7200.0]


class Service(BaseHTTPRequestHandler):
    """The service: answers a query that is signed, refuses any other."""

    seen: ClassVar[list[Any]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, dict(self.headers)))
        signature = self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
        row = {"metric": {"team": "vision"}, "value": [1, "42"]}
        body = json.dumps({"status": "success", "data": {"result": [row]}} if signature else {"message": "no"}).encode()
        self.send_response(403 if not signature or "forbidden" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def reader() -> Iterator[str]:
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for handler in (Service, Handler)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    service, own = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
    configuration = {"endpoint": f"{service}/workspaces/ws-12/", "region": "eu-west-1"}
    with patch.object(Handler, "configuration", configuration), patch.object(Handler, "kept", Kept(lambda: OWN)):
        yield own
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_keeper_gets_its_figures_through_it(reader: str) -> None:
    assert figures(reader, 'max by (team) (spent{a="b"})', 1.0) == [({"team": "vision"}, 42.0)]
    path, headers = Service.seen[-1]
    assert path.startswith("/workspaces/ws-12/api/v1/query?query=max%20by")
    assert headers["X-Amz-Security-Token".title()] or headers["x-amz-security-token"]


def test_it_is_ready_and_a_refusal_is_an_error_to_who_asked(reader: str) -> None:
    with urllib.request.urlopen(f"{reader}/", timeout=30) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        figures(reader, "forbidden", 1.0)
    assert refused.value.code == 403
    refused.value.close()
    with pytest.raises(urllib.error.HTTPError) as not_passed:
        urllib.request.urlopen(f"{reader}/api/v1/rules", timeout=30)
    assert not_passed.value.code == 403
    not_passed.value.close()


def test_without_a_role_it_says_so_and_a_keeper_fails_static(reader: str, capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(Handler, "kept", Kept()), patch.dict("os.environ", clear=True):
        with pytest.raises(urllib.error.HTTPError) as caught:
            figures(reader, "up", 1.0)
        assert caught.value.code == 502
        caught.value.close()
    assert "Pod Identity association is missing" in capsys.readouterr().out
