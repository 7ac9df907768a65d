"""Names that rules, routes, monitors and dashboards share: severities, jobs of targets, sources of data, alerts.

Sources: Prometheus Operator, "API reference" (a target's `job` is its service's name, or what a relabeling says);
Grafana documentation, "Dashboard JSON model" (a panel whose source of data is unknown shows nothing), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import GCP_LOG_METRIC
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.alert_routes import configurations
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.watching.dashboards import dashboards, sources
from trainyard.rehearsal.works.watching.exporters import MONITORS, SCRAPES
from trainyard.rehearsal.works.watching.promql import selectors

_NEAR: Final = 0.8
_RULE: Final = "PrometheusRule.monitoring.coreos.com"
_JOBS: Final = frozenset(
    {"apiserver", "kubelet", "node-exporter", "kube-state-metrics", "coredns", "kube-dns", "prometheus", "alertmanager",
     "kube-proxy", "kube-scheduler", "kube-controller-manager", "kube-etcd", "grafana", "prometheus-operator"}
)  # fmt: skip
"""Jobs that kube-prometheus-stack makes itself."""
_MATCHER: Final = re.compile(r"severity\s*=~?\s*\"?([\w|-]+)\"?")
_SOURCE: Final = "prometheus"
_ALERT: Final = re.compile(r"jsonPayload\.alert\s*!?=\s*\"([^\"]+)\"")


def check(stack: Stack, cluster: Cluster) -> None:
    """Notes names that are nearly others, and sources that are not there."""
    every = list(rules(cluster))
    _severities(every, cluster)
    _jobs(every, cluster)
    _sources(cluster)
    _objects(every, cluster)
    alerts = {str(rule.get("alert")) for _, _, rule in every if isinstance(rule.get("alert"), str)}
    for metric in stack.of_type(GCP_LOG_METRIC) if alerts else ():
        for name in _ALERT.findall(metric.text("filter") or ""):
            if name not in alerts and (hint := nearest(name, alerts, cutoff=_NEAR)):
                metric.error(
                    "watching-name", "filter", f"no alert is called {show(name)}: no entry is meant", hint=hint
                )


def rules(cluster: Cluster) -> Iterator[tuple[View, str, Mapping[str, Any]]]:
    """Every rule that Prometheus is given, with where it stands."""
    for view in cluster.of(_RULE):
        for path, _ in view.items("spec.groups"):
            for here, one in view.items(f"{path}.rules"):
                yield view, here, one


def _severities(rules: list[tuple[View, str, Mapping[str, Any]]], cluster: Cluster) -> None:
    routed: set[str] = set()
    for config in configurations(cluster):
        for text in _matchers(config.get("route")):
            for found in _MATCHER.findall(text):
                routed |= set(found.split("|"))
    for view, path, rule in rules if routed else ():
        labels = rule.get("labels")
        given = labels.get("severity") if isinstance(labels, Mapping) else None
        if isinstance(given, str) and given not in routed and (hint := nearest(given, routed, cutoff=_NEAR)):
            view.error("watching-name", f"{path}.labels.severity", f"no route is for {show(given)}", hint=hint)


def _matchers(route: Any) -> Iterator[str]:
    if isinstance(route, Mapping):
        yield from (str(one) for one in listed(route.get("matchers")))
        match = route.get("match")
        yield from (f"{key}={value}" for key, value in (match.items() if isinstance(match, Mapping) else ()))
        for one in listed(route.get("routes")):
            yield from _matchers(one)


def _jobs(rules: list[tuple[View, str, Mapping[str, Any]]], cluster: Cluster) -> None:
    """A job that no target has, where all that tells Prometheus of targets is a monitor that is recorded."""
    if cluster.of(*SCRAPES) or any(_scrapes_more(release) for release in cluster.releases):
        return
    made = {
        str(one["replacement"])
        for view in cluster.of(*MONITORS)
        for kind in ("endpoints", "podMetricsEndpoints")
        for path, _ in view.items(f"spec.{kind}")
        for _, one in view.items(f"{path}.relabelings")
        if one.get("targetLabel") == "job" and isinstance(one.get("replacement"), str)
    }
    by_label = [label for view in cluster.of(*MONITORS) if (label := view.text("spec.jobLabel")) is not None]
    known = made | _JOBS
    for view in cluster.of("Service"):
        labels = view.mapping("metadata.labels")
        known |= {str(view.value("metadata.name")), *(str(labels[one]) for one in by_label if one in labels)}
    for view, path, rule in rules if made else ():
        for selector in selectors(rule["expr"]) if isinstance(rule.get("expr"), str) else ():
            for matcher in selector.matchers:
                value = matcher.value
                if matcher.label == "job" and matcher.operator == "=" and value not in known:
                    hint = nearest(value, made | _JOBS, cutoff=_NEAR)
                    if hint and not any(_is_further(value, one) for one in made | _JOBS):
                        view.error(
                            "watching-name", f"{path}.expr", f"no target has the job {show(value)}: there is no answer",
                            hint=hint,
                        )  # fmt: skip


def _is_further(name: str, known: str) -> bool:
    """Whether a name is another with a word more, as `alertmanager-main`: one of somebody's own, and no slip."""
    return name.startswith(f"{known}-") or name.endswith(f"-{known}")


def _scrapes_more(release: View) -> bool:
    """Whether a chart is told of targets in Prometheus' own words, or of what is not known."""
    return release.is_unknown("values") or any(
        "scrapeconfig" in path.lower() for path, _ in known_texts(release.mapping("values"))
    )


def _sources(cluster: Cluster) -> None:
    """Sources of data that dashboards name, where the chart's Grafana has its own alone."""
    releases = [one for one in cluster.releases if (one.text("chart") or "").endswith("kube-prometheus-stack")]
    if len(releases) != 1 or releases[0].has("valueYamlFiles") or releases[0].value("values.grafana.enabled") is False:
        return
    grafana = releases[0]
    if grafana.has("values.grafana.additionalDataSources") or grafana.has("values.grafana.datasources"):
        return
    if any("\ndatasources:" in str(text) for view in cluster.of("ConfigMap") for text in view.mapping("data").values()):
        return
    own = grafana.text("values.grafana.sidecar.datasources.uid") or _SOURCE
    for view, path, text in dashboards(cluster):
        for uid in sources(text):
            if uid not in (own, "alertmanager") and "$" not in uid and not uid.startswith("-"):
                view.error(
                    "watching-source", path,
                    f"Grafana has no source of data {show(uid)}: the panels show nothing", allowed=own,
                )  # fmt: skip


_NAMED: Final = {
    "deployment": "Deployment", "daemonset": "DaemonSet", "statefulset": "StatefulSet", "cronjob": "CronJob",
    "persistentvolumeclaim": "PersistentVolumeClaim",
}  # fmt: skip
"""Labels of kube-state-metrics that are the name of an object, by its kind."""
_PLAIN: Final = re.compile(r"[a-z0-9.|-]+")


def _objects(every: list[tuple[View, str, Mapping[str, Any]]], cluster: Cluster) -> None:
    """A rule that names objects, of which one is nearly called so and is not named itself."""
    for view, path, rule in every:
        for selector in selectors(rule["expr"]) if isinstance(rule.get("expr"), str) else ():
            if not selector.metric.startswith("kube_"):
                continue
            for matcher in selector.matchers:
                kind = _NAMED.get(matcher.label)
                if kind is None or matcher.operator not in ("=", "=~") or not _PLAIN.fullmatch(matcher.value):
                    continue
                named = matcher.value.split("|")
                made = {str(one.value("metadata.name")) for one in cluster.of(kind)}
                for name in named:
                    near = nearest_of(name, made - set(named)) if name not in made else ""
                    if near:
                        view.error(
                            "watching-name", f"{path}.expr",
                            f"asks for the {kind} {show(name)}, which is not there, and not for {show(near)}",
                            hint=f"did you mean {near}?",
                        )  # fmt: skip
