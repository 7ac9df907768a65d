"""What the recorded exporters answer: the metrics of each and their labels, as their documents have them.

The lists are `works/inventories/metrics.json`. An exporter that the stack does not make may be of another version or
configured otherwise: of it only a slip of the pen is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.monitoring import rules_of
from trainyard.recorded.read import follow
from trainyard.recorded.types import AMP_RULES
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, values_from_elsewhere
from trainyard.rehearsal.works.watching.other_programs import OTHERS

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
_GPU_LABELS: Final = (
    "gpu", "UUID", "uuid", "gpu_uuid", "device", "modelName", "model_name", "Hostname", "hostname", "nvlink",
    "nvswitch", "cpu", "cpucore", "pci_bus_id", "GPU_I_PROFILE", "GPU_I_ID", "exported_namespace",
    "exported_pod", "exported_container", "err_code", "err_msg", "xid", "window_size_in_ms", "hpc_job", "vgpu",
)  # fmt: skip
"""What DCGM's exporter says of each GPU (its `internal/pkg/rendermetrics`, with the pods that hold it); attributes that
a field brings stand beside them."""
MONITORS: Final = ("ServiceMonitor.monitoring.coreos.com", "PodMonitor.monitoring.coreos.com")
SCRAPES: Final = ("ScrapeConfig.monitoring.coreos.com", "Probe.monitoring.coreos.com")
"""What else tells Prometheus of targets, whose jobs have names of their own (prometheus-operator, "API reference")."""


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
    brought = _relabeled(cluster)
    return sorted((brought.seen(one) for one in found), key=lambda one: -len(one.prefix))


@dataclass(frozen=True, slots=True)
class _Relabeled:
    """What relabelings make of metrics before Prometheus keeps them; of which metrics is not followed."""

    labels: Mapping[str, Sequence[str]]
    names: Mapping[str, Metric]
    any_label: bool  # some are named by an expression
    any_name: bool

    def seen(self, family: Family) -> Family:
        """A family as Prometheus answers it."""
        if not (self.labels or self.names or self.any_label or self.any_name):
            return family
        metrics = {
            name: one
            if one.labels is None
            else Metric({**self.labels, **one.labels}, one.is_closed and not self.any_label)
            for name, one in family.metrics.items()
        }
        own = {name: one for name, one in self.names.items() if name.startswith(family.prefix)}
        absent = {name: why for name, why in family.absent.items() if name not in own}
        return replace(
            family, metrics={**metrics, **own}, is_closed=family.is_closed and not self.any_name, absent=absent
        )


def _relabeled(cluster: Cluster) -> _Relabeled:
    given: list[Any] = [view.mapping("spec") for view in cluster.of(*MONITORS, *SCRAPES)]
    given += [view.mapping("values") for view in cluster.releases]
    labels: set[str] = set()
    names: set[str] = set()
    any_label = False
    for rule in (rule for one in given for rule in _rules_of(one)):
        target = rule.get("targetLabel", rule.get("target_label"))
        if str(rule.get("action")).lower() == "labelmap" or (isinstance(target, str) and "$" in target):
            any_label = True
        elif target == "__name__":
            names.add(str(rule.get("replacement", "$1")))
        elif isinstance(target, str):
            labels.add(target)
    written = {name for name in names if "$" not in name}
    metrics = dict.fromkeys(sorted(written), Metric(None))
    return _Relabeled(dict.fromkeys(sorted(labels - OF_TARGETS), ()), metrics, any_label, written != names)


def _rules_of(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every rule of relabeling, however its list is spelled; a label of the target's object that is taken over too."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            word = str(key).replace("_", "").lower()
            if word.endswith(("relabelings", "relabelconfigs")):
                yield from (one for one in listed(item) if isinstance(one, Mapping))
            elif word in ("targetlabels", "podtargetlabels"):
                texts = (one for one in listed(item) if isinstance(one, str))
                yield from ({"targetLabel": re.sub(r"[^a-zA-Z0-9_]", "_", one)} for one in texts)
            else:
                yield from _rules_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from _rules_of(item)


@cache
def _of_others() -> tuple[Family, ...]:
    names = {"node_": inventory()["node-exporter"], **OTHERS}
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


def _state(cluster: Cluster) -> Family:
    """kube-state-metrics, with what its values collect and the labels of objects that they let by."""
    releases = _charts(cluster, *_STATE)
    source, known = "kube-state-metrics", inventory()["kube-state-metrics"]
    metrics = dict(_of_objects())
    metrics |= {name: one for name, one in _of_custom_resources(cluster) if name.startswith("kube_")}
    absent: dict[str, str] = {}
    if len(releases) != 1 or values_from_elsewhere(releases[0]):
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
                own = allowed.get(name.removeprefix("kube_").removesuffix(f"_{kind}"), ())
                metrics[name] = _with_labels(known[name], word, [*own, *allowed.get("*", ())])
    return Family("kube_", source, metrics, True, absent)


def _of(labels: Mapping[str, Sequence[str]]) -> Metric:
    is_closed = not any(re.search(r"_[A-Z]+(_[A-Z]+)*$", label) for label in labels)
    return Metric(labels, is_closed)


def _with_labels(labels: Mapping[str, Sequence[str]], word: str, allowed: Sequence[str]) -> Metric:
    own = {label: values for label, values in labels.items() if not label.startswith(f"{word}_")}
    if "*" in allowed:
        return Metric(own, False)
    return Metric({**own, **{f"{word}_{_spelled(one)}": [] for one in allowed}})


def _spelled(label: str) -> str:
    """A label of an object as kube-state-metrics writes it (its `internal/store/utils.go`): poolName as pool_name."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"[^a-zA-Z0-9_]", "_", label)).lower()


def _allowed(texts: Sequence[Any]) -> Iterator[tuple[str, Sequence[str]]]:
    for text in texts:
        for what, names in re.findall(r"(\w+|\*)=\[([^\]]*)\]", str(text)):
            yield _singular(what), [one.strip() for one in names.split(",")]


def _singular(word: str) -> str:
    collectors = inventory()["collectors"]
    ends = (word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    return next((one for one in ends if one in collectors), word)


def _gpus(cluster: Cluster) -> Family:
    """DCGM's exporter, with the list of fields that its values give it."""
    known = inventory()["dcgm-exporter"]
    source, releases = "DCGM's exporter", _charts(cluster, "dcgm-exporter")
    labels = dict.fromkeys((*_GPU_LABELS, *(name for name in known if name.endswith("_VERSION"))), ())
    if len(releases) != 1 or values_from_elsewhere(releases[0]) or releases[0].is_unknown("values.customMetrics"):
        return Family("DCGM_", source, {name: Metric(None) for name in known}, False)
    given = releases[0].text("values.customMetrics")
    if given is not None:
        lines = [[part.strip() for part in line.split(",")] for line in given.splitlines()]
        lines = [line for line in lines if len(line) > 1 and not line[0].startswith("#")]
        labels |= dict.fromkeys((line[0] for line in lines if line[1] == "label"), ())
        known = [line[0] for line in lines if line[1] != "label"]
    absent = {}
    added = releases[0].value("values.securityContext.capabilities.add")
    is_plain = isinstance(added, list) and "SYS_ADMIN" not in added
    if cluster.stack.context.ours and is_plain and releases[0].flag("values.securityContext.privileged") is not True:
        # Nodes of somebody else may have the driver let everybody profile (`NVreg_RestrictProfilingToAdminUsers=0`).
        why = "values.securityContext.capabilities.add has no SYS_ADMIN, without which DCGM does not profile"
        absent = {name: why for name in known if name.startswith("DCGM_FI_PROF_")}
    return Family("DCGM_", source, {name: Metric(labels, is_closed=False) for name in known}, True, absent)


def _queues(cluster: Cluster) -> Family:
    """Kueue, and what kube-state-metrics is told to say of its objects."""
    metrics = dict(_of_queues())
    own = dict(_of_custom_resources(cluster))
    releases = _charts(cluster, "kueue")
    version = releases[0].text("version") or "" if len(releases) == 1 else ""
    metrics |= {name: one for name, one in own.items() if name.startswith("kueue_")}
    text = releases[0].text("values.managerConfig.controllerManagerConfigYaml") if len(releases) == 1 else None
    absent = {}
    if text is not None and not re.search(r"^\s+enableClusterQueueResources:\s*true\s*$", text, re.MULTILINE):
        why = "the manager's metrics.enableClusterQueueResources is not true"
        absent = {name: why for name in _OF_RESOURCES if name not in own}
    return Family("kueue_", "Kueue", metrics, version.removeprefix("v").startswith("0.19."), absent)


_OF_RESOURCES: Final = (
    "kueue_cluster_queue_resource_usage", "kueue_cluster_queue_resource_reservation",
    "kueue_cluster_queue_nominal_quota", "kueue_cluster_queue_borrowing_limit", "kueue_cluster_queue_lending_limit",
)  # fmt: skip
"""What Kueue tells where it is asked to (its documentation, "Prometheus Metrics", optional metrics, 0.19)."""


def _of_custom_resources(cluster: Cluster) -> Iterator[tuple[str, Metric]]:
    for release in _charts(cluster, *_STATE):
        base = (
            "values." if (release.text("chart") or "").endswith("kube-state-metrics") else "values.kube-state-metrics."
        )
        if release.flag(f"{base}customResourceState.enabled") is False:
            continue
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


def recorded(cluster: Cluster) -> frozenset[str] | None:
    """Figures that rules of the stack record; None where one is not known."""
    names = [
        one["record"]
        for rule in cluster.of("PrometheusRule.monitoring.coreos.com")
        for path, _ in rule.items("spec.groups")
        for _, one in rule.items(f"{path}.rules")
        if one.get("record") is not None
    ]
    names += [
        one["record"] for view in cluster.stack.of_type(AMP_RULES) for one in rules_of(view.resource) if "record" in one
    ]
    return None if UNKNOWN in names else frozenset(name for name in names if isinstance(name, str))


def _recorded(cluster: Cluster) -> Iterator[Family]:
    """Figures that rules of the stack record, by the words before their first mark."""
    found: dict[str, dict[str, Metric]] = {}
    for name in sorted(recorded(cluster) or ()):
        found.setdefault(re.split(r"[:_]", name, maxsplit=1)[0], {})[name] = Metric(None)
    for mark, metrics in found.items():
        if f"{mark}_" not in OTHERS and mark not in ("kube", "node", "kueue", "DCGM"):
            yield Family(mark, RULES, metrics, False)
