"""What Prometheus is to ask, against the ports and ways that pods and charts answer at.

Sources: the annotations `prometheus.io/port` and `prometheus.io/path` as the charts' example configuration reads them
(prometheus-community/helm-charts); charts/kueue, charts/jobset (metrics are served with TLS on 8443 as port `https`),
NVIDIA/dcgm-exporter `pkg/dcgmexporter` (a line of the list is FIELD, TYPE, HELP; it ends at any other), 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.recorded.monitoring import SCRAPED
from trainyard.recorded.read import UnreadableInput, as_number
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import is_near
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place

_PORT: Final = "prometheus.io/port"
_SERVED: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    "kueue": (frozenset({"https"}), frozenset({"https"})),
    "jobset": (frozenset({"https"}), frozenset({"https"})),
    "dcgm-exporter": (frozenset({"metrics"}), frozenset()),
    "cluster-autoscaler": (frozenset({"http"}), frozenset()),
}
"""Ports by name of a chart's services, and those of them that answer with TLS alone."""
_AUTHENTICATED: Final = ("bearerTokenFile", "bearerTokenSecret", "authorization", "basicAuth", "oauth2")
"""By what a scrape says who asks; charts' metrics with TLS ask the API server who may."""
_NAME: Final = "app.kubernetes.io/name"
_TYPES: Final = ("counter", "gauge", "histogram", "label", "summary")


def check(cluster: Cluster) -> None:
    """Annotations, monitors and the exporter's list."""
    for pod in cluster.pods:
        path = f"{pod.path.removesuffix('spec')}metadata.annotations"
        numbers = pod.port_numbers()
        if pod.ports_are_known and numbers:
            _annotated(pod.view, path, numbers, pod.title)
    for release in cluster.releases:
        chart = (release.text("chart") or "").rpartition("/")[2]
        namespace = release.text("namespace") or ""
        known = {
            number
            for pod in cluster.chart_pods.get(namespace, ())
            if pod.title.rpartition("/")[2].startswith(chart) and pod.ports
            for number in pod.ports.values()
        }
        for path in _annotations(release.mapping("values"), "values") if known else ():
            _annotated(release, path, known, chart)
        if chart == "dcgm-exporter":
            _fields(release)
            _list(release)
    for kind, endpoints in SCRAPED:
        for view in cluster.of(kind):
            for path, entry in view.items(endpoints):
                asked = entry.get("path")
                if isinstance(asked, str) and asked != "/metrics" and is_near(asked, "/metrics"):
                    view.error(
                        "reference-monitor-path", f"{path}.path", f"asks {show(asked)}: nobody answers there",
                        allowed="/metrics",
                    )  # fmt: skip
            if kind.startswith("ServiceMonitor"):
                _of_chart(view, endpoints, cluster)
            else:
                _other_key(view, cluster)


def _annotations(values: Any, path: str) -> Iterator[str]:
    """Where a chart's values give pods annotations."""
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if key == "podAnnotations" and isinstance(value, Mapping):
            yield f"{path}.{key}"
        else:
            yield from _annotations(value, f"{path}.{key}")


def _annotated(view: View, path: str, numbers: set[int], title: str) -> None:
    given = view.mapping(path).get(_PORT)
    number = as_number(given)
    if number is not None and int(number) not in numbers:
        view.warning(
            "reference-monitor-port", f"{path}.{_PORT}",
            f"is {show(given)}, and {title} answers at {', '.join(map(str, sorted(numbers)))}: nothing is scraped",
            allowed=f"one of {', '.join(map(str, sorted(numbers)))}",
        )  # fmt: skip


def _of_chart(view: View, endpoints: str, cluster: Cluster) -> None:
    """A service that a chart makes, whose ports a table knows."""
    wanted = view.mapping("spec.selector.matchLabels")
    names, secure = _SERVED.get(str(wanted.get(_NAME)), (frozenset(), frozenset()))
    charts = [(one.text("chart") or "").rpartition("/")[2] for one in cluster.releases]
    recorded = [one for one in cluster.of("Service") if wanted.items() <= one.mapping("metadata.labels").items()]
    if not names or wanted.get(_NAME) not in charts or recorded:
        return
    # A class of scrapes says for all of its monitors who asks, and whose certificates are taken.
    by_class = view.has("spec.scrapeClass") or any(
        one.has(path)
        for path, those in (
            ("values.prometheus.prometheusSpec.scrapeClasses", cluster.releases),
            ("spec.scrapeClasses", cluster.of("Prometheus.monitoring.coreos.com")),
        )
        for one in those
    )
    for path, entry in view.items(endpoints):
        port = entry.get("port")
        if isinstance(port, str) and port not in names:
            view.error(
                "reference-port", f"{path}.port", f"no service of chart {wanted[_NAME]} has a port {show(port)}",
                allowed=" or ".join(sorted(names)), hint=nearest(port, names),
            )  # fmt: skip
        elif by_class:
            continue
        elif port in secure and not has_unknown(entry) and not any(entry.get(key) for key in _AUTHENTICATED):
            view.error(
                "reference-monitor-path", f"{path}.bearerTokenFile",
                f"is missing: chart {wanted[_NAME]} answers at {port} those alone who say who they are, and Prometheus "
                "is refused each time", allowed="/var/run/secrets/kubernetes.io/serviceaccount/token",
            )  # fmt: skip
        elif port in secure and not has_unknown(entry) and not entry.get("tlsConfig"):
            view.error(
                "reference-monitor-path", f"{path}.tlsConfig",
                f"is missing: chart {wanted[_NAME]} answers with a certificate of its own, which is not taken",
                allowed="insecureSkipVerify, or the authority of its certificate",
            )  # fmt: skip
        elif port in secure and entry.get("scheme") in (None, "http", "HTTP") and not has_unknown(entry):
            view.error(
                "reference-monitor-path", f"{path}.scheme",
                f"asks {port} of chart {wanted[_NAME]} without TLS, and is answered with it alone", allowed="https",
            )  # fmt: skip


def _other_key(view: View, cluster: Cluster) -> None:
    """Pods are meant by the right values under another key."""
    wanted, named = view.mapping("spec.selector.matchLabels"), listed(view.value("spec.namespaceSelector.matchNames"))
    namespace = str(named[0]) if len(named) == 1 else place(view)
    if not wanted or namespace is None or has_unknown(view.value("spec.selector")):
        return
    try:
        if any(
            selects({"matchLabels": wanted}, pod.labels or {}) for pod in cluster.pods_by_namespace.get(namespace, ())
        ):
            return
        charted = cluster.chart_pods.get(namespace, ())
        if any(selects({"matchLabels": wanted}, pod.labels) for pod in charted):
            return
    except UnreadableInput:
        return
    for pod in charted:
        if set(map(str, wanted.values())) <= set(map(str, pod.labels.values())) and not set(wanted) & set(pod.labels):
            right = ", ".join(f"{key}: {value}" for key, value in pod.labels.items() if value in wanted.values())
            view.warning(
                "reference-monitor-selects-nothing", "spec.selector.matchLabels",
                f"means {', '.join(f'{key}: {value}' for key, value in wanted.items())}, and {pod.title} has {right}",
                allowed=right,
            )  # fmt: skip
            return


def _list(release: View) -> None:
    """Arguments that have the exporter read a list of its image, beside a list of one's own."""
    words = release.texts("values.arguments")
    if any(word.partition("=")[0] in ("-m", "--configmap-data") for word in words):
        return  # a config map outranks each file
    for index, word in enumerate(words):
        flag, _, value = word.partition("=")
        if flag in ("-f", "--collectors"):
            file = value or (words[index + 1] if index + 1 < len(words) else "")
            mounted = [one.get("mountPath") for _, one in release.items("values.extraVolumeMounts")]
            if release.has("values.customMetrics") and file.startswith("/etc/dcgm-exporter/") and not mounted:
                release.error(
                    "programs-exporter", f"values.arguments[{index}]",
                    f"has the exporter read {show(file)} of its image, and customMetrics is read by nobody",
                    allowed="no such argument, or no customMetrics",
                )  # fmt: skip


def _fields(release: View) -> None:
    """The list of what DCGM's exporter reads: one line that it does not understand ends it."""
    for number, line in enumerate((release.text("values.customMetrics") or "").splitlines(), 1):
        parts = [part.strip() for part in line.split(",", 2)]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(parts) < 3 or parts[1] not in _TYPES:
            given = parts[1] if len(parts) > 1 else ""
            release.error(
                "programs-exporter", "values.customMetrics",
                f"line {number}: the exporter ends at {show(line[:60])}",
                allowed=f"FIELD, one of {', '.join(_TYPES)}, a help text", hint=nearest(given, _TYPES),
            )  # fmt: skip
