"""Every text that a program is told, in a cluster and on Cloud Run: commands, arguments, environment, config maps,
secrets, values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.read import known_texts
from trainyard.recorded.types import GCP_RUN_JOB, GCP_RUN_SERVICE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_LONGEST: Final = 20_000  # characters; what is longer is a program or a dashboard


def told(cluster: Cluster) -> Sequence[tuple[View, str, str]]:
    """The resource, the path in its inputs and the text; read once for all checks of a recording."""
    return cluster.stack.once(_read)


def _read(stack: Stack) -> tuple[tuple[View, str, str], ...]:
    return tuple(_told(stack.once(Cluster)))


def _told(cluster: Cluster) -> Iterator[tuple[View, str, str]]:
    for pod in cluster.pods:
        for container in pod.containers:
            for key in ("command", "args", "env"):
                for below, text in known_texts(container.body.get(key)):
                    yield pod.view, f"{container.path}.{key}{_below(below)}", text
    for view in cluster.of("ConfigMap", "Secret"):
        for part in ("data", "stringData"):
            for key, text in view.mapping(part).items():
                if isinstance(text, str) and len(text) <= _LONGEST and not key.endswith((".py", ".sh", ".json")):
                    yield view, f"{part}.{key}", text
    for type_, at in ((GCP_RUN_SERVICE, "template.containers"), (GCP_RUN_JOB, "template.template.containers")):
        for view in cluster.stack.of_type(type_):
            for path, entry in view.items(at):
                for key in ("commands", "args", "envs"):
                    for below, text in known_texts(entry.get(key)):
                        if len(text) <= _LONGEST:
                            yield view, f"{path}.{key}{_below(below)}", text
    for release in cluster.releases:
        for below, text in known_texts(release.mapping("values")):
            yield release, f"values.{below}", text


def _below(path: str) -> str:
    return path if path.startswith("[") or not path else f".{path}"
