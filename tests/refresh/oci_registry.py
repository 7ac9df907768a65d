"""A small registry on this machine: manifests by tag and digest, with a token for whoever asks, or trouble."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

INDEX = "application/vnd.oci.image.index.v1+json"


class Registry:
    """What it holds and what it was asked."""

    def __init__(self):
        self.manifests, self.asked, self.trouble = {}, [], []
        self.token, self.said_digest, self.realm = "anonymous-token", None, None

    def put(self, repository, tag, content):
        """Pushes a manifest; its digest."""
        body = json.dumps(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": [], "annotations": {"v": content}}
        ).encode()
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        self.manifests[repository, digest] = self.manifests[repository, tag] = body
        return digest


@contextmanager
def serving():
    """The registry and its `host:port`."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            registry.asked.append((self.path, dict(self.headers)))
            if registry.trouble:
                return self.answer(registry.trouble.pop(0), b"", {"Retry-After": "0"})
            url = urlsplit(self.path)
            if url.path == "/token":
                assert parse_qs(url.query)["scope"][0].endswith(":pull")
                return self.answer(200, json.dumps({"token": registry.token}).encode())
            if self.headers.get("Authorization") != "Bearer anonymous-token":
                realm = registry.realm or f"http://{self.headers['Host']}/token"
                repository = url.path.removeprefix("/v2/").partition("/manifests/")[0]
                challenge = f'Bearer realm="{realm}",service="here",scope="repository:{repository}:pull"'
                return self.answer(401, b"", {"WWW-Authenticate": challenge})
            repository, _, wanted = url.path.removeprefix("/v2/").partition("/manifests/")
            body = registry.manifests.get((repository, wanted))
            if body is None:
                return self.answer(404, b"{}")
            digest = registry.said_digest or f"sha256:{hashlib.sha256(body).hexdigest()}"
            return self.answer(200, body, {"Content-Type": INDEX, "Docker-Content-Digest": digest})

        def answer(self, status, body, headers=None):
            self.send_response(status)
            for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield registry, f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
