"""A small team on Google Cloud whose runs MLflow tracks, and stand-ins for what it asks of Google."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.shared import ROOT

STACK = "small-gcp"
SERVICE, JOB = "tracking-server-service", "tracking-server-migration"
ACCESS_TOKEN = "token-of-the-servers-account"


def stack_file(folder: Path, managed: str = "{ trackedBy: mlflow }", *more: str) -> Path:
    """The example's stack file with MLflow in place of Experiments."""
    folder.mkdir(exist_ok=True)
    file = folder / f"Pulumi.{STACK}.yaml"
    lines = [f"  trainyard:managed: {managed}", *(f"  {line}" for line in more)]
    file.write_text((ROOT / "stacks" / file.name).read_text() + "\n".join(lines) + "\n")
    return file


class Google(ThreadingHTTPServer):
    """Metadata server, IAM Credentials, Secret Manager and Cloud Storage, as far as programs of ours ask them."""

    daemon_threads = True

    def __init__(self, secret: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.secret = secret
        self.objects: dict[str, bytes] = {}
        self.signed: list[dict[str, Any]] = []
        self.may_sign = True

    @property
    def host(self) -> str:
        """Its address without a scheme."""
        return f"127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Google

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/computeMetadata/v1/instance/service-accounts/default/token":
            ok = self.headers["Metadata-Flavor"] == "Google"
            self._say(200 if ok else 403, {"access_token": ACCESS_TOKEN, "expires_in": 3000})
        elif not self._known():
            self._say(401, {})
        elif parts.path.endswith("/versions/latest:access"):
            self._say(200, {"payload": {"data": base64.b64encode(self.server.secret.encode()).decode()}})
        elif parts.path.startswith("/storage/v1/b/"):
            _, _, _, _, bucket, _, name = parts.path.split("/")
            found = self.server.objects.get(f"gs://{bucket}/{unquote(name)}")
            self._say(200 if found is not None else 404, found if found is not None else {})
        else:
            self._say(404, {})

    def do_POST(self) -> None:
        parts, body = urlsplit(self.path), self.rfile.read(int(self.headers["Content-Length"]))
        if not self._known():
            self._say(401, {})
        elif parts.path.endswith(":signJwt"):
            claims = json.loads(json.loads(body)["payload"])
            self.server.signed.append(claims)
            text = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
            self._say(200 if self.server.may_sign else 403, {"signedJwt": f"head.{text}.signature"})
        elif parts.path.startswith("/upload/storage/v1/b/"):
            self.server.objects[f"gs://{parts.path.split('/')[5]}/{parse_qs(parts.query)['name'][0]}"] = body
            self._say(200, {})
        else:
            self._say(404, {})

    def _known(self) -> bool:
        return self.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}"

    def _say(self, status: int, content: object) -> None:
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Nothing is said."""


class Iap(ThreadingHTTPServer):
    """The door before a server: lets by what the client account signed for every path of it, under its own host
    name."""

    daemon_threads = True

    def __init__(self, behind: str, host: str, account: str) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.behind, self.host, self.account = behind, host, account
        self.turned_away = 0


class _Door(BaseHTTPRequestHandler):
    server: Iap

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self._let_in():
            self.server.turned_away += 1
            self._answer(401, b"Invalid IAP credentials")
            return
        headers = {"Host": self.server.host, "Content-Type": self.headers.get("Content-Type") or "text/plain"}
        data = body if self.command != "GET" else None
        asked = urllib.request.Request(f"{self.server.behind}{self.path}", data, headers, method=self.command)
        try:
            with urllib.request.urlopen(asked, timeout=120) as answer:
                self._answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read())
        except OSError:
            self._answer(503, b"no instance")

    do_GET = do_POST = do_PATCH = do_DELETE = _pass  # noqa: N815 (the standard library's names)

    def _let_in(self) -> bool:
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        parts = token.split(".")
        if kind != "Bearer" or len(parts) != 3:
            return False
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        now = time.time()
        return bool(
            claims["aud"] == f"https://{self.server.host}/*"
            and claims["iss"] == claims["sub"] == self.server.account
            and claims["iat"] <= now + 1 < claims["exp"] <= claims["iat"] + 3600
        )

    def _answer(self, status: int, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Nothing is said."""


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    """Has it answer; its address."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
