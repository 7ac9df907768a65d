"""Programs that ask by annotation to be scraped, where Prometheus goes by monitors alone.

Source: Prometheus operator, "FAQ" ("the Prometheus Operator does not support annotation-based discovery of services"),
2026-11. Told where kube-prometheus-stack is the only one that scrapes, without targets of its own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.monitoring import CHART
from trainyard.recorded.read import UnreadableInput, known_texts
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place

_ASKED: Final = "prometheus.io/scrape"
_OTHERS: Final = (
    "ScrapeConfig.monitoring.coreos.com", "PodMonitoring.monitoring.googleapis.com",
    "ClusterPodMonitoring.monitoring.googleapis.com", "OpenTelemetryCollector.opentelemetry.io",
)  # fmt: skip
_SCRAPERS: Final = (
    "otel",
    "opentelemetry",
    "vector",
    "alloy",
    "grafana-agent",
    "datadog",
    "telegraf",
    "cloudwatch",
    "prometheus",
)
"""Words of other programs that go by such annotations."""


def check(cluster: Cluster) -> None:
    """Every recorded pod that is annotated."""
    charts = [(release, (release.text("chart") or "").rpartition("/")[2]) for release in cluster.releases]
    own = [release for release, chart in charts if chart == CHART]
    if not own or cluster.of(*_OTHERS) or not cluster.makes_everything or _others(cluster, charts):
        return
    if any("scrapeconfig" in path.lower() and text for one in own for path, text in known_texts(one.mapping("values"))):
        return
    monitors = ("additionalPodMonitors", "additionalServiceMonitors")
    if any(one.value(f"values.prometheus.{key}") for one in own for key in monitors):
        return  # which pods those mean is the chart's to say
    for pod in cluster.pods:
        path = f"{pod.path.removesuffix('spec')}metadata.annotations"
        if str(pod.view.mapping(path).get(_ASKED)).lower() == "true" and not _monitored(pod, cluster):
            pod.view.error(
                "programs-unscraped", f"{path}[{_ASKED!r}]",
                f"is read by nothing: the stack's Prometheus goes by monitors, and none means {pod.title}",
                allowed="a PodMonitor or ServiceMonitor",
            )  # fmt: skip


def _others(cluster: Cluster, charts: list[tuple[View, str]]) -> bool:
    if any(word in chart for _, chart in charts for word in _SCRAPERS if chart != CHART):
        return True
    images = " ".join(str(one.body.get("image")) for pod in cluster.pods for one in pod.containers)
    add_ons = " ".join(
        str(view.inputs.get("addonName")) for view in cluster.stack.views if view.type.endswith(":Addon")
    )
    return any(word in images or word in add_ons for word in _SCRAPERS)


def _monitored(pod: Pod, cluster: Cluster) -> bool:
    if pod.labels is None or pod.namespace is None:
        return True
    try:
        return any(_means(view, pod, labels) for view, labels in _asked(pod, cluster))
    except UnreadableInput:
        return True


def _asked(pod: Pod, cluster: Cluster) -> Iterator[tuple[View, dict[str, object]]]:
    """Each monitor with the labels that it goes by: the pod's, or its services'."""
    for view in cluster.of("PodMonitor.monitoring.coreos.com"):
        yield view, dict(pod.labels or {})
    services = [
        one
        for one in cluster.of("Service")
        if place(one) == pod.namespace
        and selects({"matchLabels": dict(one.mapping("spec.selector"))}, pod.labels or {})
    ]
    for view in cluster.of("ServiceMonitor.monitoring.coreos.com"):
        for service in services:
            yield view, dict(service.mapping("metadata.labels"))


def _means(view: View, pod: Pod, labels: dict[str, object]) -> bool:
    names = listed(view.value("spec.namespaceSelector.matchNames"))
    is_any = view.flag("spec.namespaceSelector.any") is True
    where = names or [place(view)]
    return (is_any or pod.namespace in where) and selects(view.value("spec.selector"), labels)
