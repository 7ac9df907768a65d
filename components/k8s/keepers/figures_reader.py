"""Signs what the cluster asks of Amazon Managed Service for Prometheus: whoever asks needs no credentials.

    python -m keepers.figures_reader CONFIGURATION

It answers as Prometheus does, for reads alone, and asks the workspace with the role that EKS Pod Identity gives its
pod. It runs in an image with Python and uses the standard library only. CONFIGURATION is JSON: {"endpoint": URL of the
workspace with a slash at its end, "region": NAME, "port": NUMBER}.

Signature Version 4 is Amazon's (IAM user guide, "Create a signed AWS API request", 2026-11).
"""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SERVICE = "aps"
LONGEST = 2**20
"""Bytes of a question; the longest expression of a dashboard has a few thousand."""
SECONDS = 60
"""How long the service may take, as long as a keeper waits for an answer."""
RENEWED_BEFORE_SECONDS = 300
"""Credentials are asked for anew so long before they end."""
READS = re.compile(r"/api/v1/(query|query_range|series|labels|label/[A-Za-z_:][A-Za-z0-9_:]*/values|metadata)")
"""What may be asked: the reads of Prometheus' API that the service answers. Not its rules, alerts or writes."""


@dataclass(frozen=True)
class Credentials:
    """What a request is signed with; `ends` is in seconds of the clock."""

    key_id: str
    secret: str
    token: str
    ends: float


def credentials() -> Credentials:
    """Those of the pod's role, from the agent of its node. Raises OSError or ValueError."""
    try:
        address = os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"]
        token = Path(os.environ["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]).read_text(encoding="utf-8").strip()
    except KeyError as error:
        raise ValueError(f"the pod has no role: {error} is not set, its Pod Identity association is missing") from error
    request = urllib.request.Request(address, headers={"Authorization": token})  # noqa: S310 - the agent's
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        found = json.load(answer)
    try:
        ends = datetime.fromisoformat(found["Expiration"].replace("Z", "+00:00")).timestamp()
        return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found["Token"], ends)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("the agent answered without credentials") from error


class Kept:
    """Credentials until they are about to end; several threads ask for them."""

    def __init__(self, fetch: Callable[[], Credentials] = credentials) -> None:
        self._fetch, self._lock = fetch, threading.Lock()
        self._own: Credentials | None = None

    def now(self) -> Credentials:
        """Those that hold. Raises OSError or ValueError."""
        with self._lock:
            if self._own is None or time.time() > self._own.ends - RENEWED_BEFORE_SECONDS:
                self._own = self._fetch()
            return self._own


def signed(
    method: str, url: str, body: bytes, content_type: str, own: Credentials, region: str, at: datetime
) -> dict[str, str]:
    """The headers of a request that is signed."""
    parts = urllib.parse.urlsplit(url)
    moment = at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": parts.netloc, "x-amz-date": moment, "x-amz-security-token": own.token}
    if content_type:
        headers["content-type"] = content_type
    names = sorted(headers)
    pairs = sorted(
        (urllib.parse.quote(key, safe="-_.~"), urllib.parse.quote(value, safe="-_.~"))
        for key, value in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    )
    canonical = "\n".join(
        (
            method,
            urllib.parse.quote(parts.path, safe="/-_.~"),
            "&".join(f"{key}={value}" for key, value in pairs),
            *(f"{name}:{' '.join(headers[name].split())}" for name in names),
            "",
            ";".join(names),
            hashlib.sha256(body).hexdigest(),
        )
    )
    scope = f"{moment[:8]}/{region}/{SERVICE}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{own.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, to_sign.encode(), "sha256").hexdigest()
    authorization = (
        f"AWS4-HMAC-SHA256 Credential={own.key_id}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    return {**{name: value for name, value in headers.items() if name != "host"}, "Authorization": authorization}


def target(endpoint: str, path: str) -> str | None:
    """The address of a question at the service; None for what may not be asked."""
    asked = urllib.parse.urlsplit(path)
    if not READS.fullmatch(asked.path):
        return None
    # Spelled anew, so that what is sent is what was signed.
    pairs = urllib.parse.parse_qsl(asked.query, keep_blank_values=True)
    query = urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote, safe="-_.~")
    return f"{endpoint}{asked.path[1:]}" + (f"?{query}" if query else "")


class Handler(BaseHTTPRequestHandler):
    """Reads of Prometheus' API; GET / says that it is there."""

    timeout = SECONDS
    configuration: Mapping[str, Any] = {}
    kept = Kept()

    def do_GET(self) -> None:
        """A question, or whether it is there."""
        if self.path == "/":
            self._answer(200, b"")
        else:
            self._ask("GET", b"")

    def do_POST(self) -> None:
        """A question in a form, as Grafana asks."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self._answer(411, b"")
        elif int(length) > LONGEST:
            self._answer(413, b"")
        else:
            self._ask("POST", self.rfile.read(int(length)))

    def _ask(self, method: str, body: bytes) -> None:
        url = target(self.configuration["endpoint"], self.path)
        if url is None:
            self._answer(403, _error("only reads of figures are passed on"))
            return
        kind = self.headers.get("Content-Type", "") if body else ""
        try:
            own = self.kept.now()
            headers = signed(method, url, body, kind, own, self.configuration["region"], datetime.now(UTC))
            request = urllib.request.Request(url, body or None, headers, method=method)  # noqa: S310 - configured
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
                code, found = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                code, found = error.code, error.read()
            print(json.dumps({"asked": url.partition("?")[0], "status": code}), flush=True)
        except (OSError, ValueError) as error:
            code, found = 502, _error(f"the service was not asked: {error}")
            print(json.dumps({"asked": url.partition("?")[0], "problem": str(error)}), flush=True)
        self._answer(code, found)

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing of what went well."""


def _error(text: str) -> bytes:
    """As Prometheus says that it does not answer."""
    return json.dumps({"status": "error", "errorType": "unavailable", "error": text}).encode()


def main(arguments: Sequence[str]) -> int:
    """Answers at the port for as long as its pod lives."""
    try:
        configuration = json.loads(arguments[0])
        port = int(configuration["port"])
        Handler.configuration = {"endpoint": configuration["endpoint"], "region": configuration["region"]}
    except (IndexError, KeyError, TypeError, ValueError):
        print(__doc__, file=sys.stderr)
        return 2
    with ThreadingHTTPServer(("", port), Handler) as server:
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
