"""What the recorded exporters answer: the metrics of each and their labels, as their documents have them.

The lists are `works/inventories/metrics.json`. An exporter that the stack does not make may be of another version or
configured otherwise: of it only a slip of the pen is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

OF_TARGETS: Final = frozenset(
    {
        "job", "instance", "namespace", "pod", "container", "endpoint", "service", "node", "cluster", "prometheus",
        "prometheus_replica", "le", "quantile", "__name__", "metrics_path", "tenant", "region", "environment",
    }
)  # fmt: skip
"""Labels that come with a target or from outside, whatever the exporter says (prometheus-operator, "API reference")."""
RULES: Final = "the stack's rules"
"""The source of figures that are recorded."""
_STATE: Final = ("kube-prometheus-stack", "kube-state-metrics", "prometheus")
_OTHERS: Final = {
    "kubelet_": (
        "kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes",
        "kubelet_volume_stats_used_bytes", "kubelet_volume_stats_inodes", "kubelet_volume_stats_inodes_free",
        "kubelet_volume_stats_inodes_used", "kubelet_running_pods", "kubelet_running_containers",
    ),
    "container_": (
        "container_cpu_usage_seconds_total", "container_memory_working_set_bytes", "container_memory_rss",
        "container_memory_usage_bytes", "container_network_receive_bytes_total",
        "container_network_transmit_bytes_total", "container_fs_usage_bytes", "container_fs_reads_bytes_total",
        "container_fs_writes_bytes_total", "container_cpu_cfs_throttled_periods_total", "container_oom_events_total",
    ),
    "alertmanager_": (
        "alertmanager_notifications_failed_total", "alertmanager_notifications_total", "alertmanager_alerts",
        "alertmanager_config_last_reload_successful", "alertmanager_cluster_members",
    ),
    "prometheus_": (
        "prometheus_rule_evaluation_failures_total", "prometheus_rule_group_iterations_missed_total",
        "prometheus_config_last_reload_successful", "prometheus_tsdb_head_series",
        "prometheus_notifications_dropped_total", "prometheus_tsdb_wal_corruptions_total",
        "prometheus_target_sync_length_seconds", "prometheus_remote_storage_samples_failed_total",
    ),
    "cluster_autoscaler_": (
        "cluster_autoscaler_unschedulable_pods_count", "cluster_autoscaler_nodes_count",
        "cluster_autoscaler_failed_scale_ups_total", "cluster_autoscaler_scaled_up_nodes_total",
        "cluster_autoscaler_scaled_down_nodes_total", "cluster_autoscaler_cluster_safe_to_autoscale",
        "cluster_autoscaler_errors_total", "cluster_autoscaler_scaled_up_gpu_nodes_total",
    ),
    "coredns_": (
        "coredns_dns_requests_total", "coredns_dns_responses_total", "coredns_cache_hits_total",
        "coredns_cache_misses_total", "coredns_dns_request_duration_seconds_bucket", "coredns_panics_total",
        "coredns_forward_healthcheck_broken_total",
    ),
}  # fmt: skip
"""Metrics of other programs that are often asked for, as generally known (2026-11); there are more."""
_GPU_LABELS: Final = (
    "gpu", "UUID", "uuid", "gpu_uuid", "device", "modelName", "model_name", "Hostname", "hostname", "nvlink",
    "nvswitch", "cpu", "cpucore", "pci_bus_id", "GPU_I_PROFILE", "GPU_I_ID", "exported_namespace",
    "exported_pod", "exported_container", "err_code", "err_msg", "xid", "window_size_in_ms", "hpc_job", "vgpu",
)  # fmt: skip
"""What DCGM's exporter says of each GPU (its `internal/pkg/rendermetrics`, with the pods that hold it); attributes that
a field brings stand beside them."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One that is answered."""

    labels: Mapping[str, Sequence[str]] | None  # each with its values, if they are few; None: not known
    is_closed: bool = True  # no other labels


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics with one beginning, and whether no other of it can be there."""

    prefix: str
    source: str
    metrics: Mapping[str, Metric]
    is_closed: bool
    absent: Mapping[str, str] = field(default_factory=dict)  # known ones that nobody answers here, and why


@cache
def inventory() -> Mapping[str, Any]:
    """The lists."""
    found: Mapping[str, Any] = json.loads(
        files("trainyard.rehearsal.works.inventories").joinpath("metrics.json").read_text()
    )
    return found


def families(cluster: Cluster) -> list[Family]:
    """What is answered in a recorded cluster; longer beginnings first."""
    found = [_state(cluster), _gpus(cluster), _queues(cluster), *_recorded(cluster), *_of_others()]
    return sorted(found, key=lambda one: -len(one.prefix))


@cache
def _of_others() -> tuple[Family, ...]:
    names = {"node_": inventory()["node-exporter"], **_OTHERS}
    return tuple(
        Family(prefix, f"the exporter of {prefix}*", dict.fromkeys(known, Metric(None)), False)
        for prefix, known in names.items()
    )


@cache
def _of_objects() -> Mapping[str, Metric]:
    return {name: _of(labels) for name, labels in inventory()["kube-state-metrics"].items()}


@cache
def _of_queues() -> Mapping[str, Metric]:
    return {name: Metric(labels, is_closed=False) for name, labels in inventory()["kueue"].items()}


def _charts(cluster: Cluster, *names: str) -> list[View]:
    return [one for one in cluster.releases if (one.text("chart") or "").rstrip("/").rpartition("/")[2] in names]


def _unread(release: View) -> bool:
    return release.is_unknown("values") or release.has("valueYamlFiles")


def _state(cluster: Cluster) -> Family:
    """kube-state-metrics, with what its values collect and the labels of objects that they let by."""
    releases = _charts(cluster, *_STATE)
    source, known = "kube-state-metrics", inventory()["kube-state-metrics"]
    metrics = dict(_of_objects())
    metrics |= {name: one for name, one in _of_custom_resources(cluster) if name.startswith("kube_")}
    absent: dict[str, str] = {}
    if len(releases) != 1 or _unread(releases[0]):
        return Family("kube_", source, metrics, False)
    release = releases[0]
    chart = (release.text("chart") or "").rpartition("/")[2]
    base = "values." if chart == source else f"values.{source}."
    collected = release.value(f"{base}collectors")
    if isinstance(collected, list) and all(isinstance(one, str) for one in collected):
        taken = {_singular(one) for one in collected}
        for collector, names in inventory()["collectors"].items():
            if collector not in taken:
                absent |= dict.fromkeys(names, f"{base}collectors has no {collector}s")
    for path, kind, word in (
        ("metricLabelsAllowlist", "labels", "label"),
        ("metricAnnotationsAllowList", "annotations", "annotation"),
    ):
        given = release.value(f"{base}{path}")
        if release.is_unknown(f"{base}{path}") or has_unknown(given):
            continue
        allowed = dict(_allowed(listed(given)))
        for name in known:
            if name.endswith(f"_{kind}"):
                metrics[name] = _with_labels(
                    known[name], word, allowed.get(name.removeprefix("kube_").removesuffix(f"_{kind}"), ())
                )
    return Family("kube_", source, metrics, True, absent)


def _of(labels: Mapping[str, Sequence[str]]) -> Metric:
    is_closed = not any(re.search(r"_[A-Z]+(_[A-Z]+)*$", label) for label in labels)
    return Metric(labels, is_closed)


def _with_labels(labels: Mapping[str, Sequence[str]], word: str, allowed: Sequence[str]) -> Metric:
    own = {label: values for label, values in labels.items() if not label.startswith(f"{word}_")}
    if "*" in allowed:
        return Metric(own, False)
    return Metric({**own, **{f"{word}_{re.sub(r'[^a-zA-Z0-9_]', '_', one)}": [] for one in allowed}})


def _allowed(texts: Sequence[Any]) -> Iterator[tuple[str, Sequence[str]]]:
    for text in texts:
        found = re.fullmatch(r"(\w+)=\[([^\]]*)\]", str(text))
        if found is not None:
            yield _singular(found[1]), [one.strip() for one in found[2].split(",")]


def _singular(word: str) -> str:
    collectors = inventory()["collectors"]
    ends = (word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    return next((one for one in ends if one in collectors), word)


def _gpus(cluster: Cluster) -> Family:
    """DCGM's exporter, with the list of fields that its values give it."""
    known = inventory()["dcgm-exporter"]
    source, releases = "DCGM's exporter", _charts(cluster, "dcgm-exporter")
    labels = dict.fromkeys((*_GPU_LABELS, *(name for name in known if name.endswith("_VERSION"))), ())
    if len(releases) != 1 or _unread(releases[0]) or releases[0].is_unknown("values.customMetrics"):
        return Family("DCGM_", source, {name: Metric(None) for name in known}, False)
    given = releases[0].text("values.customMetrics")
    if given is not None:
        lines = [[part.strip() for part in line.split(",")] for line in given.splitlines()]
        lines = [line for line in lines if len(line) > 1 and not line[0].startswith("#")]
        labels |= dict.fromkeys((line[0] for line in lines if line[1] == "label"), ())
        known = [line[0] for line in lines if line[1] != "label"]
    return Family("DCGM_", source, {name: Metric(labels, is_closed=False) for name in known}, True)


def _queues(cluster: Cluster) -> Family:
    """Kueue, and what kube-state-metrics is told to say of its objects."""
    metrics = dict(_of_queues())
    own = dict(_of_custom_resources(cluster))
    releases = _charts(cluster, "kueue")
    version = releases[0].text("version") or "" if len(releases) == 1 else ""
    metrics |= {name: one for name, one in own.items() if name.startswith("kueue_")}
    return Family("kueue_", "Kueue", metrics, version.removeprefix("v").startswith("0.19."))


def _of_custom_resources(cluster: Cluster) -> Iterator[tuple[str, Metric]]:
    for release in _charts(cluster, *_STATE):
        base = (
            "values." if (release.text("chart") or "").endswith("kube-state-metrics") else "values.kube-state-metrics."
        )
        for resource in release.entries(f"{base}customResourceState.config.spec.resources"):
            if not isinstance(resource, Mapping) or has_unknown(resource):
                continue
            prefix = resource.get("metricNamePrefix", "kube_customresource")
            common = {*_keys(resource.get("labelsFromPath")), *_keys(resource.get("commonLabels"))}
            for one in listed(resource.get("metrics")):
                if isinstance(one, Mapping):
                    kind = str(follow(one, "each", "type") or "").lower()
                    each = follow(one, "each", kind)
                    labels = common | _keys(one.get("labelsFromPath")) | _keys(one.get("commonLabels"))
                    if isinstance(each, Mapping):
                        labels |= _keys(each.get("labelsFromPath"))
                        labels |= {each["labelName"]} if isinstance(each.get("labelName"), str) else set()
                    words = [str(prefix), str(one.get("name"))] if prefix else [str(one.get("name"))]
                    given = {f"customresource_{word}" for word in ("group", "kind", "version")}
                    yield "_".join(words), Metric(dict.fromkeys(sorted(labels | given), ()))


def _keys(value: Any) -> set[str]:
    return {str(key) for key in value} if isinstance(value, Mapping) else set()


def _recorded(cluster: Cluster) -> Iterator[Family]:
    """Figures that rules of the stack record, by the words before their first mark."""
    found: dict[str, dict[str, Metric]] = {}
    for rule in cluster.of("PrometheusRule.monitoring.coreos.com"):
        for path, _ in rule.items("spec.groups"):
            for _, one in rule.items(f"{path}.rules"):
                name = one.get("record")
                if name is UNKNOWN:
                    return
                if isinstance(name, str):
                    mark = re.split(r"[:_]", name, maxsplit=1)[0]
                    found.setdefault(mark, {})[name] = Metric(None)
    for mark, metrics in found.items():
        if f"{mark}_" not in _OTHERS and mark not in ("kube", "node", "kueue", "DCGM"):
            yield Family(mark, RULES, metrics, False)
