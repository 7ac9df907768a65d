"""Autoscalers of pods and constraints of spreading that never come true.

Sources: Kubernetes documentation, "Horizontal Pod Autoscaling" (metrics of resources come from metrics-server, others
from an adapter that serves `custom.metrics.k8s.io` or `external.metrics.k8s.io`), "Pod Topology Spread Constraints"
(below `minDomains` the least is taken as 0, so that each domain takes `maxSkew` pods), 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.conventions import ZONE_LABEL
from trainyard.recorded.read import as_number
from trainyard.recorded.types import ADD_ON, EKS_CLUSTER
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.kubernetes.index import object_name
from trainyard.rehearsal.works.references.kubernetes.classes import zones_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod
from trainyard.rehearsal.works.workloads.scaled import Target, kept, scaled

_ADAPTERS: Final = ("adapter", "keda", "datadog", "stackdriver", "newrelic", "dynatrace", "kube-metrics")
"""Parts of the names of charts that serve metrics of pods and of the world outside."""
_SERVED: Final = ("Pods", "Object", "External")
_SERVER: Final = "metrics-server"


def check(stack: Stack, cluster: Cluster) -> None:
    """Every autoscaler of pods, and every pod that is spread."""
    charts = [(one.text("chart") or "").rpartition("/")[2] for one in cluster.releases]
    is_known = cluster.makes_everything and "" not in charts
    serves = any(part in chart for chart in charts for part in _ADAPTERS) or bool(cluster.of("APIService"))
    for view in cluster.of("HorizontalPodAutoscaler.autoscaling", "HorizontalPodAutoscaler"):
        for path, metric in view.items("spec.metrics"):
            kind = metric.get("type")
            if kind in _SERVED and is_known and not serves:
                view.error(
                    "programs-scaling", f"{path}.type",
                    f"is {kind}, and nothing in the stack serves such metrics: the number of pods never changes",
                    allowed="type Resource, or a chart of an adapter such as prometheus-adapter or keda",
                )  # fmt: skip
            elif kind == "Resource" and is_known and not _is_measured(stack, charts):
                view.error(
                    "programs-scaling", f"{path}.type",
                    "is Resource, and the stack has no metrics-server: the number of pods never changes",
                    allowed="the add-on metrics-server",
                )  # fmt: skip
    zones = zones_of(cluster)
    for pod in cluster.pods if zones else ():
        _spread(pod, len(zones), stack.once(scaled))


def _is_measured(stack: Stack, charts: list[str]) -> bool:
    """GKE brings it; EKS has an add-on or a chart."""
    add_ons = [view.text("addonName") for view in stack.of_type(ADD_ON)]
    return not stack.of_type(EKS_CLUSTER) or _SERVER in (*charts, *add_ons) or None in add_ons


def _spread(pod: Pod, zones: int, fewest: Mapping[Target, int | None]) -> None:
    target = (pod.namespace or "default", str(pod.view.text("kind")), object_name(pod.view) or "")
    replicas = kept(target, _replicas(pod.view), fewest)
    for path, one in pod.view.items(f"{pod.path}.topologySpreadConstraints"):
        least, skew = as_number(one.get("minDomains")), as_number(one.get("maxSkew")) or 1
        hard = one.get("whenUnsatisfiable") == "DoNotSchedule" and one.get("topologyKey") == ZONE_LABEL
        if hard and least is not None and least > zones and replicas is not None and replicas > zones * skew:
            pod.view.error(
                "placement-spread", f"{path}.minDomains",
                f"is {least:g}, and nodes are in {zones} zones: each takes {skew:g} of the {replicas} pods of "
                f"{pod.title}, the others wait", allowed=f"at most {zones}",
            )  # fmt: skip


def _replicas(view: View) -> int | None:
    given = 1 if view.lacks("spec.replicas") else view.number("spec.replicas")
    return None if given is None else int(given)
