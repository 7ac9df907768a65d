"""Options of programs that pods run: one that the program does not know ends it.

Source: `mlflow server --help` of 3.17.2; `tests/rehearsal/works/programs/test_options.py` holds the list against the
version that is installed beside the tests. Of another version, which its image's tag says, only a slip is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow, known_texts
from trainyard.rehearsal.context import show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

MLFLOW_VERSION: Final = "3.17.2"
MLFLOW_SERVER: Final = frozenset(
    {
        "allowed-hosts", "app-name", "artifacts-destination", "artifacts-only", "backend-store-uri",
        "cors-allowed-origins", "default-artifact-root", "dev", "disable-security-middleware", "disable-workspaces",
        "enable-workspaces", "expose-prometheus", "gunicorn-opts", "host", "no-serve-artifacts", "port",
        "read-replica-backend-store-uri", "registry-store-uri", "secrets-cache-max-size", "secrets-cache-ttl",
        "serve-artifacts", "static-prefix", "trace-archival-config", "uvicorn-opts", "waitress-opts", "workers",
        "workspace-store-uri", "x-frame-options",
    }
)  # fmt: skip
"""Long options of `mlflow server`."""
_COUNTS: Final = frozenset({"workers", "port"})
_OF_PROGRAM: Final = frozenset({"help", "version"})
_HEALTH: Final = ("/health", "/version")
"""Paths that are answered without a password (`mlflow/server/__init__.py` of 3.17.2)."""
_OPTION: Final = re.compile(r"--([a-z][\w-]*)(=.*)?", re.DOTALL)
_NEAR: Final = 0.8
"""How like a known option one of another version has to be."""


def check(cluster: Cluster) -> None:
    """Every container that runs MLflow's server."""
    for pod in cluster.pods:
        for container in pod.containers:
            _server(pod, container)


def _server(pod: Pod, container: Container) -> None:
    is_pinned = str(container.body.get("image")).partition("@")[0].endswith(f":{MLFLOW_VERSION}")
    if "mlflow server" in " ".join(text for _, text in known_texts(container.body.get("command"))):
        _asked(pod, container)
    for path, name, value in _given(container):
        if name in _COUNTS and value is not None and as_number(value) == 0:
            pod.view.error("programs-option", path, f"--{name} is 0: nobody answers", allowed="1 or more")
        hint = nearest(name, MLFLOW_SERVER, cutoff=_NEAR)
        if name not in MLFLOW_SERVER | _OF_PROGRAM and (is_pinned or hint):
            pod.view.error(
                "programs-option",
                path,
                f"mlflow server has no option {show(f'--{name}')}, and ends",
                allowed=", ".join(f"--{one}" for one in sorted(MLFLOW_SERVER)),
                hint=f"--{hint}" if hint else "",
            )


def _asked(pod: Pod, container: Container) -> None:
    """Health is asked for where the server answers without a password."""
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        path = follow(container.body, kind, "httpGet", "path")
        if isinstance(path, str) and path not in _HEALTH and nearest(path, _HEALTH, cutoff=0.7):
            pod.view.error(
                "programs-health", f"{container.path}.{kind}.httpGet.path",
                f"mlflow server answers nothing at {show(path)}: the pod is never ready", allowed=" or ".join(_HEALTH),
            )  # fmt: skip


def _given(container: Container) -> Iterator[tuple[str, str, str | None]]:
    """Options behind the words `mlflow server`, each with its path."""
    if any(container.body.get(key) is UNKNOWN for key in ("command", "args")):
        return
    words = [
        (f"{container.path}.{key}{below}", text)
        for key in ("command", "args")
        for below, text in known_texts(container.body.get(key))
    ]
    texts = [text for _, text in words]
    starts = [index for index in range(len(texts) - 1) if texts[index] == "mlflow" and texts[index + 1] == "server"]
    for path, text in words[starts[0] + 2 :] if len(starts) == 1 else ():
        found = _OPTION.fullmatch(text)
        if found is not None:
            yield path, found[1], found[2][1:] if found[2] else None
