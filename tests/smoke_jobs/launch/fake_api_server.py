"""An API server that holds a few objects in memory and answers the official client over HTTP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)/namespaces/(?P<namespace>[^/]+)/(?P<kind>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?P<log>/log)?"
)


class Server:
    """`objects[kind][name]` with kinds as in paths; `logs[pod]`; `refuse`: (method, kind or `pods/log`) to status."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
        self.logs: dict[str, str] = {}
        self.refuse: dict[tuple[str, str], int] = {}
        self.requests: list[tuple[str, str]] = []
        self.has_kueue = True

    def answer(self, method: str, url: str, body: bytes) -> tuple[int, Any]:
        parts = urlsplit(url)
        found = _PATH.fullmatch(parts.path)
        if found is None:
            return 404, _status(404, "no such path")
        kind, name = found["kind"], found["name"]
        self.requests.append((method, f"{kind}/{name}" if name else kind))
        asked = (method, f"{kind}/log" if found["log"] else kind)
        if asked in self.refuse:
            return self.refuse[asked], _status(self.refuse[asked], f"{kind} is forbidden")
        if kind == "workloads" and not self.has_kueue:
            return 404, _status(404, "the server could not find the requested resource")
        there = self.objects.setdefault(kind, {})
        if found["log"]:
            return (200, self.logs[name]) if name in self.logs else (400, _status(400, "container is waiting"))
        if method == "POST":
            item = json.loads(body)
            if item["metadata"]["name"] in there:
                return 409, _status(409, "already exists")
            item["metadata"].setdefault("uid", f"uid-{item['metadata']['name']}")
            there[item["metadata"]["name"]] = item
            return 201, item
        if name and name not in there:
            return 404, _status(404, f"{kind} {name} not found")
        if method == "DELETE":
            del there[name]
            return 200, _status(200, "")
        if name:
            return 200, there[name]
        items = list(there.values())
        for query in parse_qs(parts.query).get("labelSelector", []):
            key, _, value = query.partition("=")
            items = [item for item in items if item["metadata"].get("labels", {}).get(key) == value]
        return 200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items}


def _status(code: int, message: str) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """The server's address while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            code, content = server.answer(self.command, self.path, body)
            data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if isinstance(content, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        http.server_close()
