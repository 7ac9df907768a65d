"""Files of certificates and of private keys, where a program is told one in place of the other: it does not start.

Only what an ending says is believed: of `.crt` and `.key`, as Secrets of type `kubernetes.io/tls` have them; a
`.pem` may hold both.

Sources: Kubernetes, "TLS Secrets" (`tls.crt`, `tls.key`); flags of Uvicorn, etcd, Prometheus and Kubernetes' own
programs as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container

_FLAG: Final = re.compile(r"(?<![\w-])--?([A-Za-z][\w.-]*)(?:[= ]((?!-)[^\s,;]+))?")
_CERTIFICATES: Final = (".crt", ".cer", ".cert")
_KEYS: Final = (".key",)
_OTHER: Final = re.compile(r"cert|pub|verif|trust|account|signer")
"""Names of keys that are not private, or may be a certificate's (`--service-account-key-file`)."""


def check(cluster: Cluster) -> None:
    """Every flag and variable of a container that names such a file."""
    for pod in cluster.pods:
        for container in pod.containers:
            for path, name, value in _told(container):
                said = _meant(name) if "/" in value or "file" in name.lower() else ""
                if said == "certificate" and value.endswith(_KEYS):
                    words = f"{name} is a certificate's, and {show(value)} is a private key by its name"
                elif said == "key" and value.endswith(_CERTIFICATES):
                    words = f"{name} is a private key's, and {show(value)} is a certificate by its name"
                else:
                    continue
                pod.view.error("programs-key-file", path, f"{words}: the program does not start")


def _meant(name: str) -> str:
    text = name.lower()
    if "key" in text:
        is_files = re.search(r"ssl|tls|private|key[._-]?file|^key$", text) is not None
        return "key" if is_files and _OTHER.search(text) is None else ""
    return "certificate" if "cert" in text else ""


def _told(container: Container) -> Iterator[tuple[str, str, str]]:
    """Where, by which name, and the file."""
    for key in ("command", "args"):
        words = listed(container.body.get(key))
        for index, word in enumerate(words):
            if not isinstance(word, str) or not word.startswith("-") or not _is_near(word):
                continue
            after = words[index + 1] if index + 1 < len(words) else None
            for found in _FLAG.finditer(word):
                value = found[2] or (after if found.end() == len(word) and isinstance(after, str) else "")
                if value and not value.startswith("-"):
                    yield f"{container.path}.{key}[{index}]", f"--{found[1]}", value
    for index, one in enumerate(listed(container.body.get("env"))):
        if isinstance(one, Mapping) and isinstance(one.get("value"), str) and isinstance(one.get("name"), str):
            yield f"{container.path}.env[{index}].value", one["name"], one["value"]


def _is_near(word: str) -> bool:
    return len(word) < 4096 and ("cert" in word or "key" in word)
