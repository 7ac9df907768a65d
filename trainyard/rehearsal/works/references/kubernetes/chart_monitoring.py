"""What the monitoring stack takes from the cluster: monitors and rules by their labels, dashboards by theirs.

Sources: kube-prometheus-stack 88.5.3, values.yaml and templates/prometheus/prometheus.yaml (a selector that is not
given takes what carries `release: RELEASE`, unless `…SelectorNilUsesHelmValues` is false); grafana 10.x, values.yaml,
`sidecar`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.monitoring import CHART
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place, values_from_elsewhere

_GROUP: Final = "monitoring.coreos.com"
_TAKEN: Final = {
    "serviceMonitor": "ServiceMonitor", "podMonitor": "PodMonitor", "probe": "Probe", "rule": "PrometheusRule",
    "scrapeConfig": "ScrapeConfig",
}  # fmt: skip
_OTHER_READERS: Final = ("victoria", "alloy", "k8s-monitoring", "opentelemetry", "datadog", "thanos", "mimir", "loki")
"""Charts, by a part of their name, that read monitors and rules too."""
_SPEC: Final = "prometheus.prometheusSpec"


def check(cluster: Cluster) -> None:
    """Every check of what monitoring takes."""
    stacks = [release for release in cluster.releases if _chart(release) == CHART]
    for release in stacks:
        if len(stacks) == 1 and not _others_read(cluster):
            _taken(release, cluster)
        _dashboards(release, "grafana.", _SIDECARS_OF_KPS, cluster)
    for release in cluster.releases:
        if _chart(release) == "grafana":
            _dashboards(release, "", _SIDECARS_OF_GRAFANA, cluster)


def _chart(release: View) -> str:
    return (release.text("chart") or "").rstrip("/").rpartition("/")[2]


def _others_read(cluster: Cluster) -> bool:
    """Whether something besides the one release may read monitors, so that it is no matter what that one takes."""
    return (
        bool(cluster.of(f"Prometheus.{_GROUP}", f"PrometheusAgent.{_GROUP}", f"ThanosRuler.{_GROUP}"))
        or cluster.is_rendered_elsewhere
        or any(part in _chart(release) for release in cluster.releases for part in _OTHER_READERS)
        or any(not _chart(release) for release in cluster.releases)
    )


def _taken(release: View, cluster: Cluster) -> None:
    if values_from_elsewhere(release) or release.value("values.prometheus.enabled") is False:
        return
    if release.value("values.thanosRuler.enabled") is True:
        return
    for word, kind in _TAKEN.items():
        base = f"values.{_SPEC}.{word}"
        selector, path = release.value(f"{base}Selector"), f"{base}Selector"
        if release.blurred(path) or release.is_unknown(f"values.{_SPEC}"):
            continue
        if not selector:
            switch = f"{base}SelectorNilUsesHelmValues"
            name = release.text("name")
            if release.is_unknown(switch) or name is None:
                continue
            selector, path = {}, f"{base}NamespaceSelector"
            if release.value(switch) is not False:
                selector, path = {"matchLabels": {"release": name}}, switch
        _of_kind(release, kind, selector, path, release.value(f"{base}NamespaceSelector"), cluster)


def _of_kind(release: View, kind: str, selector: Any, path: str, where: Any, cluster: Cluster) -> None:
    views = [
        view
        for view in cluster.of(f"{kind}.{_GROUP}")
        if not view.is_unknown("metadata") and not view.blurred("metadata.labels")
    ]
    try:
        missed = [view for view in views if not _is_taken(view, selector, where, cluster)]
    except UnreadableInput:
        return
    if not missed:
        return
    wanted = _said(selector) if selector else "in namespaces of its namespaceSelector"
    if len(missed) == len(views):
        names = ", ".join(sorted(str(view.text("metadata.name")) for view in missed)[:3])
        release.error(
            "reference-monitor-unread",
            path,
            f"Prometheus takes a {kind} {wanted} only, and none of the stack's is one ({names}): nobody reads them",
            allowed="false, or the labels that they have" if path.endswith("Values") else "labels that they have",
        )
        return
    for view in missed:
        view.error(
            "reference-monitor-unread",
            "metadata.labels",
            f"the Prometheus of release {release.text('name') or release.name} takes a {kind} {wanted} only: "
            "nobody reads this one",
            allowed=wanted.removeprefix("with "),
        )


def _is_taken(view: View, selector: Any, where: Any, cluster: Cluster) -> bool:
    if not selects(selector, view.mapping("metadata.labels")):
        return False
    namespace = place(view)
    labels = cluster.labels_of_namespaces.get(namespace or "default")
    return not isinstance(where, Mapping) or not where or labels is None or selects(where, labels)


def _said(selector: Mapping[str, Any]) -> str:
    pairs = selector.get("matchLabels")
    told = [f"{key}: {value}" for key, value in (pairs if isinstance(pairs, Mapping) else {}).items()]
    for one in listed(selector.get("matchExpressions")):
        values = ", ".join(map(str, listed(one.get("values"))))
        told.append(f"{one.get('key')} {one.get('operator')} {values}".strip())
    return f"with {' and '.join(told)}"


@dataclass(frozen=True, slots=True)
class _Sidecar:
    word: str  # below `sidecar`
    label: str
    value: str
    namespace: str  # empty: that of the release; ALL: every one
    enabled: bool


_SIDECARS_OF_KPS: Final = (
    _Sidecar("dashboards", "grafana_dashboard", "1", "ALL", enabled=True),
    _Sidecar("datasources", "grafana_datasource", "1", "", enabled=True),
)
_SIDECARS_OF_GRAFANA: Final = (
    _Sidecar("dashboards", "grafana_dashboard", "", "", enabled=False),
    _Sidecar("datasources", "grafana_datasource", "", "", enabled=False),
)


def _dashboards(release: View, prefix: str, sidecars: Sequence[_Sidecar], cluster: Cluster) -> None:
    """Config maps that are dashboards or sources of data, and that the sidecar does not take."""
    if values_from_elsewhere(release) or release.value("values.grafana.enabled") is False:
        return
    if sum("grafana" in _chart(one) or _chart(one) == CHART for one in cluster.releases) > 1:
        return
    for sidecar in sidecars:
        base = f"values.{prefix}sidecar.{sidecar.word}"
        keys = ("enabled", "label", "labelValue", "searchNamespace")
        if any(release.is_unknown(path) for path in (f"values.{prefix}sidecar", base, *(f"{base}.{k}" for k in keys))):
            continue
        held = [view for view in cluster.of("ConfigMap") if _is_for(sidecar.word, view)]
        held = [view for view in held if not _is_used(view, release, cluster)]
        enabled = release.value(f"{base}.enabled")
        is_on = sidecar.enabled if enabled is None else enabled is True
        label = release.text(f"{base}.label") or sidecar.label
        given = release.value(f"{base}.labelValue")
        value = sidecar.value if given is None else str(given)
        spaces = _spaces(release, f"{base}.searchNamespace", sidecar.namespace)
        missed = [view for view in held if not (is_on and _has(view, label, value, spaces))]
        wanted = f"{label}: {value}" if value else f"the label {label}"
        if missed and len(missed) == len(held):
            reason = (
                f"the sidecar is off, and nobody loads {len(missed)} config maps of the stack"
                if not is_on
                else f"the sidecar takes config maps with {wanted} in {', '.join(sorted(spaces)) or 'any namespace'} "
                f"alone, and none of the stack's {len(missed)} is one"
            )
            release.error("reference-sidecar", base, f"{reason}: {missed[0].text('metadata.name')} is not shown")
            continue
        _foldered(release, base, held)
        for view in missed:
            view.error(
                "reference-sidecar",
                "metadata.labels",
                f"Grafana's sidecar takes config maps with {wanted} in {', '.join(sorted(spaces)) or 'any namespace'} "
                "alone: this one is not shown",
                allowed=wanted,
            )


def _foldered(release: View, base: str, held: Sequence[View]) -> None:
    """The annotation that says a dashboard's folder."""
    key = release.text(f"{base}.folderAnnotation")
    given = [view.mapping("metadata.annotations") for view in held if not view.blurred("metadata.annotations")]
    others = sorted({str(name) for one in given for name in one if "folder" in str(name)})
    if key and others and not any(key in one for one in given):
        release.warning(
            "reference-sidecar", f"{base}.folderAnnotation",
            f"is {show(key)}, which no dashboard of the stack has: they lie in no folder", allowed=", ".join(others),
        )  # fmt: skip


def _spaces(release: View, path: str, default: str) -> set[str]:
    """The namespaces that a sidecar looks in; empty for all."""
    given = release.value(path)
    text = ",".join(map(str, given)) if isinstance(given, list) else str(given or default)
    if text == "ALL":
        return set()
    return {part.strip() for part in text.split(",") if part.strip()} or {release.text("namespace") or "default"}


def _has(view: View, label: str, value: str, spaces: set[str]) -> bool:
    found = view.mapping("metadata.labels").get(label)
    if view.blurred("metadata.labels") or view.is_unknown("metadata"):
        return True
    namespace = place(view)
    is_there = namespace is None or not spaces or (namespace or "default") in spaces
    return is_there and found is not None and (not value or str(found) == value)


def _is_for(word: str, view: View) -> bool:
    for key, text in view.mapping("data").items():
        if not isinstance(text, str):
            continue
        if word == "dashboards" and key.endswith(".json") and '"panels"' in text and '"schemaVersion"' in text:
            try:
                return isinstance(json.loads(text).get("panels"), list)
            except (ValueError, AttributeError):
                return False
        if word == "datasources" and key.endswith((".yaml", ".yml")) and text.lstrip().startswith("apiVersion: 1"):
            return "\ndatasources:" in text
    return False


def _is_used(view: View, release: View, cluster: Cluster) -> bool:
    """Whether a chart's values name it, or a pod of the stack mounts it."""
    name = str(view.text("metadata.name"))
    if name in str(release.mapping("values")):
        return True
    return any(
        volume.get("configMap", {}).get("name") == name
        for pod in cluster.pods
        for volume in listed(pod.spec.get("volumes"))
        if isinstance(volume, Mapping) and isinstance(volume.get("configMap"), Mapping)
    )
