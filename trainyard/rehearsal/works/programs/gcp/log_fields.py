"""Fields of log entries that filters ask for, against what the program writes that they mean.

A filter on entries of pods whose program the stack sends as text (a config map that they mount) asks for fields of its
JSON lines: one that stands nowhere in that program's text is written by nobody. Source: Cloud Logging documentation,
"Logging query language" and "Structured logging" (`severity`, `message` and others are taken out of `jsonPayload`);
Alertmanager's webhook (`status` is `firing` or `resolved`), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.read import follow, known_texts
from trainyard.recorded.types import GCP_LOG_METRIC
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.works.programs.gcp.alerts import PODS_BY_NAME
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_NAMESPACE: Final = re.compile(r"namespace_name\"?\s*=\s*\"([^\"]+)\"")
_FIELD: Final = re.compile(r"jsonPayload\.([A-Za-z_]\w*)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
"""A field is written as a text, as an argument's name or as a field of a class."""
_STATUS: Final = re.compile(r"jsonPayload\.status\s*=\s*\"([^\"]*)\"")
_STATUSES: Final = ("firing", "resolved")
_ALWAYS: Final = re.compile(r"jsonPayload\.alert\s*=\s*\"Watchdog\"")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every metric of logs that counts the lines of recorded pods."""
    for metric in stack.of_type(GCP_LOG_METRIC):
        text = metric.text("filter") or ""
        pods, namespace = PODS_BY_NAME.search(text), _NAMESPACE.search(text)
        if pods is None or namespace is None:
            continue
        prefix = pods[1].rstrip("-")
        meant = [
            pod
            for pod in cluster.pods_by_namespace.get(namespace[1], ())
            if str(pod.view.text("metadata.name")).startswith(prefix)
        ]
        written = {name for pod in meant for name in _written(pod, cluster)}
        if not written:
            continue
        asked = [("filter", name) for name in _FIELD.findall(text)]
        for key, extractor in metric.mapping("labelExtractors").items():
            asked += [(f"labelExtractors.{key}", name) for name in _FIELD.findall(str(extractor))]
        asked += [("valueExtractor", name) for name in _FIELD.findall(metric.text("valueExtractor") or "")]
        for path, name in dict.fromkeys(asked):
            if name not in written:
                metric.error(
                    "programs-filter", path,
                    f"asks for jsonPayload.{name}, which the program of {meant[0].title} does not write",
                )  # fmt: skip
        if "alertname" in written:
            _status(metric, text)


def _status(metric: View, text: str) -> None:
    for status in _STATUS.findall(text):
        if status not in _STATUSES:
            metric.error(
                "programs-filter", "filter", f"an alert's status is never {show(status)}",
                allowed=" or ".join(_STATUSES),
            )  # fmt: skip
        elif status != "firing" and _ALWAYS.search(text):
            metric.error(
                "programs-filter", "filter", "the alert Watchdog always fires, and is never told as resolved",
                allowed="firing",
            )  # fmt: skip


def _written(pod: Pod, cluster: Cluster) -> Iterator[str]:
    """Words in the programs that a pod mounts."""
    for volume in listed(pod.spec.get("volumes")):
        name = follow(volume, "configMap", "name")
        view = cluster.find("ConfigMap", pod.namespace or "", name) if isinstance(name, str) else None
        for path, text in known_texts(view.mapping("data")) if view is not None else ():
            if path.endswith(".py"):
                yield from _WORD.findall(text)
