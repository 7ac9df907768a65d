"""What kube-state-metrics is told of objects of other kinds: it may list them, and their fields are called so.

Sources: kubernetes/kube-state-metrics, "Custom Resource State Metrics" (rights beside, `rbac.extraRules` of the chart);
Kueue 0.19, `apis/kueue/v1beta2/workload_types.go`, 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_BASES: Final = {"kube-prometheus-stack": "values.kube-state-metrics.", "kube-state-metrics": "values."}
_BUILT_IN: Final = frozenset({
    "", "apps", "batch", "autoscaling", "policy", "networking.k8s.io", "storage.k8s.io", "certificates.k8s.io",
    "coordination.k8s.io", "admissionregistration.k8s.io", "rbac.authorization.k8s.io",
})  # fmt: skip
"""Groups of which its own role lists what it collects."""
_FIELDS: Final = {
    ("kueue.x-k8s.io", "Workload"): {
        "spec": ("active", "maximumExecutionTimeSeconds", "podSets", "preemptionGates", "priority", "priorityClassRef",
                 "queueName"),
        "status": ("accumulatedPastExecutionTimeSeconds", "admission", "admissionChecks", "clusterName", "conditions",
                   "nominatedClusterNames", "reclaimablePods", "requeueState", "resourceRequests", "schedulingStats",
                   "unhealthyNodes"),
    },
}  # fmt: skip
"""Fields of kinds that are often told of; versions bring more, so that only what is nearly one is told."""
_SLIP: Final = 0.8


def check(cluster: Cluster) -> None:
    """Every release that makes kube-state-metrics."""
    _spaces(cluster)
    for release in cluster.releases:
        base = _BASES.get((release.text("chart") or "").rstrip("/").rpartition("/")[2])
        if base is None or release.has("valueYamlFiles"):
            continue
        if release.flag(f"{base}customResourceState.enabled") is False:
            continue
        path = f"{base}customResourceState.config.spec.resources"
        for index, resource in enumerate(release.entries(path)):
            if isinstance(resource, Mapping) and not has_unknown(resource):
                _rights(release, base, f"{path}[{index}]", resource)
                _fields(release, f"{path}[{index}]", resource)


_QUEUE: Final = "LocalQueue.kueue.x-k8s.io"


def _spaces(cluster: Cluster) -> None:
    """It looks at some namespaces alone, and those where jobs are queued are none of them: of several releases, which
    may have shared the namespaces out, none does."""
    releases = [
        (one, base)
        for one in cluster.releases
        if (base := _BASES.get((one.text("chart") or "").rstrip("/").rpartition("/")[2])) is not None
        if one.flag("values.kubeStateMetrics.enabled") is not False
    ]
    queued = [
        name
        for view in cluster.of("Namespace")
        if (name := view.text("metadata.name")) is not None and cluster.names(_QUEUE, name)
    ]
    told: list[tuple[View, str, set[str]]] = []
    for release, base in releases:
        given, denied = release.value(f"{base}namespaces"), release.value(f"{base}namespacesDenylist")
        if release.has("valueYamlFiles") or not (isinstance(given, (str, list)) or isinstance(denied, (str, list))):
            return  # it looks at all, or may
        seen, unseen = _names(given), _names(denied)
        lost_here = {name for name in queued if (seen and name not in seen) or name in unseen}
        told.append((release, f"{base}{'namespaces' if seen else 'namespacesDenylist'}", lost_here))
    if not told:
        return
    release, path, _ = told[0]
    lost = sorted(set.intersection(*(names for _, _, names in told)))
    asked = [
        view.text("metadata.name")
        for view in cluster.of("PrometheusRule.monitoring.coreos.com")
        if "kube_" in str(view.value("spec.groups"))
    ]
    if lost and asked:
        release.error(
            "reference-state-metrics", path,
            f"leave out {', '.join(lost[:4])}, where jobs are queued: rules of {asked[0]} hear nothing of them",
            allowed="no such list, or one with them",
        )  # fmt: skip


def _names(value: Any) -> set[str]:
    found = value.split(",") if isinstance(value, str) else listed(value)
    return {str(one).strip() for one in found if str(one).strip()}


def _rights(release: View, base: str, path: str, resource: Mapping[str, Any]) -> None:
    group = follow(resource, "groupVersionKind", "group")
    is_others = release.flag(f"{base}rbac.create") is False or release.has(f"{base}rbac.useExistingRole")
    if not isinstance(group, str) or group in _BUILT_IN or is_others:
        return
    rules = [one for one in release.entries(f"{base}rbac.extraRules") if isinstance(one, Mapping)]
    may = any(
        {group, "*"} & set(listed(rule.get("apiGroups"))) and {"list", "*"} & set(listed(rule.get("verbs")))
        for rule in rules
    )
    if not may and not release.is_unknown(f"{base}rbac.extraRules"):
        # Another role may be bound to its account, beside the chart's own.
        release.warning(
            "reference-state-metrics", f"{base}rbac.extraRules",
            f"let kube-state-metrics list nothing of {group}, of which it is to tell ({path}): unless another role "
            "does, there are no figures",
            allowed=f"a rule with apiGroups [{group}] and verbs [list, watch]",
        )  # fmt: skip


def _fields(release: View, path: str, resource: Mapping[str, Any]) -> None:
    kind = follow(resource, "groupVersionKind", "group"), follow(resource, "groupVersionKind", "kind")
    known = _FIELDS.get((str(kind[0]), str(kind[1] or "Workload")))
    for where, way in _paths(resource, path) if known is not None else ():
        if len(way) > 1 and known is not None and way[0] in known and way[1] not in known[way[0]]:
            hint = nearest(str(way[1]), known[way[0]], cutoff=_SLIP)
            if hint:
                release.error(
                    "reference-state-metrics", where, f"{kind[1] or 'Workload'} has no {way[0]}.{way[1]}: there is no "
                    f"figure of {show('.'.join(map(str, way)))}", hint=hint,
                )  # fmt: skip


def _paths(resource: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[Any]]]:
    for index, metric in enumerate(listed(resource.get("metrics"))):
        each = metric.get("each") if isinstance(metric, Mapping) else None
        for kind, body in each.items() if isinstance(each, Mapping) else ():
            way = body.get("path") if isinstance(body, Mapping) else None
            if isinstance(way, list):
                yield f"{path}.metrics[{index}].each.{kind}.path", way
