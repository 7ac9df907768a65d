"""An identity provider on this machine: its keys over TLS, tokens of all kinds, and a proxy that leads to it alone."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import socket
import socketserver
import ssl
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, KeySet, RSAKey

from tests.components.k8s.certificates import certificate

HOST = "login.issuer.example"
ISSUER = f"https://{HOST}/tenant"
KEYS_PATH = "/tenant/keys"
AUDIENCE = "client-of-the-tracking-server"


def rsa(name: str, bits: int = 2048) -> RSAKey:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # of a key that is too short, which is the point of it
        return RSAKey.generate_key(bits, {"kid": name, "use": "sig"})


def curve(name: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": name, "use": "sig"})


def claims(**changes: Any) -> dict[str, Any]:
    """What a good token of a member of the team vision says; None takes a claim away."""
    now = int(time.time())
    found = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "0f3a",
        "email": "ada@acme.example",
        "iat": now,
        "nbf": now,
        "exp": now + 600,
        "groups": ["everybody", "ml-vision"],
        **changes,
    }
    return {name: value for name, value in found.items() if value is not None}


def signed(key: RSAKey | ECKey, said: dict[str, Any] | None = None, **header: Any) -> str:
    """A token that a key signed; `header` is put over what it says of itself."""
    algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
    head = {"alg": algorithm, "kid": key.kid, **header}
    said = claims() if said is None else said
    return jwt.encode({k: v for k, v in head.items() if v is not None}, said, key, algorithms=[head["alg"]])


def by_hand(header: dict[str, Any], said: dict[str, Any], secret: bytes | None = None) -> str:
    """A token that no library makes: without a signature, or with one of a shared secret."""

    def part(content: bytes) -> str:
        return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

    text = f"{part(json.dumps(header).encode())}.{part(json.dumps(said).encode())}"
    return f"{text}.{part(hmac.new(secret, text.encode(), hashlib.sha256).digest()) if secret else ''}"


@dataclass
class Issuer:
    """The provider; `keys` are what it publishes now, and `asked` what was asked of it."""

    keys: list[RSAKey | ECKey]
    proxy: str = ""
    asked: list[str] = field(default_factory=list)
    tunnels: list[str] = field(default_factory=list)
    out: bool = False
    """Whether it answers nobody at the moment."""
    redirect: str = ""
    """Where it sends whoever asks, instead."""

    def published(self) -> bytes:
        return json.dumps(KeySet(list(self.keys)).as_dict(private=False)).encode()


@contextlib.contextmanager
def issuer(*keys: RSAKey | ECKey) -> Iterator[Issuer]:
    """Runs it, and a proxy before it that opens HOST:443 and nothing else."""
    found = Issuer(list(keys))

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            good = self.path == KEYS_PATH and not found.out
            self.send_response(302 if found.redirect else 200 if good else 503)
            if found.redirect:
                self.send_header("Location", found.redirect)
            self.end_headers()
            self.wfile.write(found.published() if good else b"out of order")

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    with tempfile.TemporaryDirectory() as name:
        text, key = certificate(HOST)
        file = Path(name) / "both.pem"
        file.write_text(text + key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
    server.socket = context.wrap_socket(server.socket, server_side=True)

    class Tunnel(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            line = self.rfile.readline().decode()
            while self.rfile.readline().strip():
                pass
            found.tunnels.append(line.split()[1])
            if line.split()[:2] != ["CONNECT", f"{HOST}:443"]:
                self.wfile.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            with socket.create_connection(("127.0.0.1", server.server_port)) as there:
                back = threading.Thread(target=_pass_on, args=(there, self.connection), daemon=True)
                back.start()
                _pass_on(self.connection, there)
                back.join(5)

    proxy = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Tunnel)
    proxy.daemon_threads = True
    found.proxy = f"http://127.0.0.1:{proxy.server_address[1]}"
    for each in (server, proxy):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        for each in (server, proxy):
            each.shutdown()
            each.server_close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while content := source.recv(65536):
            target.sendall(content)
        target.shutdown(socket.SHUT_WR)
