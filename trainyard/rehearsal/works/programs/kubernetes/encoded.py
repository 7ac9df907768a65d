"""Secrets whose values are not what a program reads: encoded once more than Kubernetes does, or with a line's end.

Source: Kubernetes documentation, "Secrets" (`stringData` is plain, `data` is encoded once), and the line's end that
`echo` writes, as generally known (2026-11). What is a certificate or has several lines ends with one.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_LEAST: Final = 12
"""Characters; shorter words may look encoded by chance."""
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_MEANT: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^\s]+|-----BEGIN [A-Z ]+-----[\s\S]*|\{[\s\S]*\"[\s\S]*:[\s\S]*\}\s*")
"""What nobody encodes for its own sake: an address, a certificate or key, JSON."""
_WORDS: Final = re.compile(r"(?i)pass|token|secret|(^|[-_.])(uri|url|key|user(name)?|dsn)$")
_SAYS_SO: Final = re.compile(r"(?i)b64|base64|encoded|^1password-credentials\.json$")
"""Keys whose reader decodes once more: those that say so, and the file of 1Password Connect, as its pages have it."""
_ENTRIES: Final = re.compile(r"(?i)(?:htpasswd|pgpass|(?:^|\.)passwd)$")
"""Files of lines with colons in them, each of which ends as a line does: of users, and of databases' passwords."""
_FILES: Final = (".crt", ".pem", ".json", ".yaml", ".yml", ".conf", ".ini", ".txt", ".env", ".sh", ".py", ".toml")


def check(cluster: Cluster) -> None:
    """Every recorded Secret."""
    for view in cluster.of("Secret"):
        if (view.text("type") or "Opaque") == "Opaque":
            _secret(view)


def _secret(view: View) -> None:
    for key, text in view.mapping("stringData").items():
        if isinstance(text, str):
            _value(view, f"stringData.{key}", key, text)
    for key, text in view.mapping("data").items():
        plain = _decoded(text) if isinstance(text, str) else None
        if plain is not None:
            _value(view, f"data.{key}", key, plain)


def _value(view: View, path: str, key: str, text: str) -> None:
    inner = _decoded(text.strip()) if len(text) >= _LEAST else None
    if inner is not None and _MEANT.fullmatch(inner) and not _SAYS_SO.search(key):
        view.error(
            "programs-encoded", path, "is encoded in base64 once more than programs decode", allowed="plain text"
        )
    elif text.endswith("\n") and "\n" not in text[:-1].strip("\n") and _is_word(key, text):
        view.error("programs-encoded", path, "ends with a line's end, which is no part of it", allowed="no line's end")


def _is_word(key: str, text: str) -> bool:
    """Whether a value is one word that a program compares or sends, rather than a file."""
    if ":" in text and _ENTRIES.search(key):
        return False
    return _WORDS.search(key) is not None and not key.endswith(_FILES) and not text.startswith("ssh-")


def _decoded(text: str) -> str | None:
    """What a text in base64 holds, where that is text."""
    if len(text) % 4 or not _ENCODED.fullmatch(text):
        return None
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
