"""Addresses of services: those that charts make have their own names and ports, and a server takes its own name.

Sources: prometheus-community/helm-charts, `charts/kube-prometheus-stack` (names from `fullnameOverride`, ports of its
services, 88.5.3); MLflow documentation, "Network security": a request with a Host that `--allowed-hosts` leaves out is
refused (3.17.2, 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.monitoring import CHART
from trainyard.recorded.read import known_texts
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_URL: Final = re.compile(
    r"\bhttps?://(([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?)(?::(\d+))?(?=[/\s\"',]|$)"
)
_NEAR: Final = 0.8


def check(cluster: Cluster) -> None:
    """Every address that programs are told."""
    texts = [one for one in told(cluster) if "://" in one[2]]
    made = dict(_of_charts(cluster))
    for view, path, text in texts if made else ():
        for _, name, namespace, port in dict.fromkeys(_URL.findall(text)):
            _charted(view, path, (namespace, name), int(port) if port else None, made)
    for pod in cluster.pods:
        _hosts(pod, texts, cluster)


def _of_charts(cluster: Cluster) -> Iterator[tuple[tuple[str, str], frozenset[int]]]:
    for release in cluster.releases:
        full, namespace = release.text("values.fullnameOverride"), release.text("namespace")
        chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
        if chart != CHART or not full or not namespace or release.has("valueYamlFiles"):
            continue
        port = release.number("values.prometheus.service.port") or 9090
        yield (namespace, f"{full}-prometheus"), frozenset({int(port), 8080})
        port = release.number("values.alertmanager.service.port") or 9093
        yield (namespace, f"{full}-alertmanager"), frozenset({int(port), 8080})
        grafana = release.text("values.grafana.fullnameOverride")
        if grafana is not None:
            yield (namespace, grafana), frozenset({int(release.number("values.grafana.service.port") or 80)})


def _charted(
    view: View, path: str, service: tuple[str, str], port: int | None, made: dict[tuple[str, str], frozenset[int]]
) -> None:
    namespace, name = service
    ports = made.get(service)
    if ports is not None and port is not None and port not in ports:
        view.error(
            "programs-address", path, f"asks {name}.{namespace} on {port}, where nothing listens",
            allowed=f"one of {', '.join(map(str, sorted(ports)))}",
        )  # fmt: skip
    elif ports is None:
        names = [other for where, other in made if where == namespace]
        hint = nearest(name, names, cutoff=_NEAR)
        if hint:
            view.error("programs-address", path, f"there is no service {show(name)} in {namespace}", hint=hint)


def _hosts(pod: Pod, texts: list[tuple[View, str, str]], cluster: Cluster) -> None:
    """A tracking server that is asked by a name that it does not take."""
    for container in pod.containers:
        words = [text for key in ("command", "args") for _, text in known_texts(container.body.get(key))]
        given = next((one.partition("=")[2] for one in words if one.startswith("--allowed-hosts=")), None)
        if given is None or UNKNOWN in (container.body.get("command"), container.body.get("args")):
            continue
        allowed = [one.strip() for one in given.split(",")]
        for namespace, name in _services(pod, cluster):
            for view, path, text in texts:
                for host, its_name, its_namespace, port in dict.fromkeys(_URL.findall(text)):
                    full = f"{host}:{port}" if port else host
                    if (its_namespace, its_name) == (namespace, name) and not any(
                        fnmatchcase(full, one) or fnmatchcase(host, one) for one in allowed
                    ):
                        view.error(
                            "programs-host",
                            path,
                            f"asks the server by {full}, which its --allowed-hosts leave out: it answers 403",
                            allowed=", ".join(allowed[:6]),
                        )


def _services(pod: Pod, cluster: Cluster) -> Iterator[tuple[str, str]]:
    for view in cluster.of("Service"):
        name, namespace = view.text("metadata.name"), view.text("metadata.namespace")
        selector = view.mapping("spec.selector")
        if name is None or namespace is None or namespace != pod.namespace or pod.labels is None:
            continue
        if not selector or UNKNOWN in selector.values():
            continue
        if selects({"matchLabels": dict(selector)}, pod.labels):
            yield namespace, name
