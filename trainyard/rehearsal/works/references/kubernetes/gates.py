"""Conditions that a pod waits for before it counts as ready, and who in the stack sets them.

Sources: Kubernetes, "Pod readiness" (`readinessGates`: a condition that nobody sets counts as false); AWS Load Balancer
Controller, "Pod readiness gate"; GKE, "Container-native load balancing" (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_OF_AMAZON: Final = ("target-health.elbv2.k8s.aws/", "target-health.alb.ingress.k8s.aws/")
_OF_GOOGLE: Final = "cloud.google.com/load-balancer-neg-ready"
_CHART: Final = "aws-load-balancer-controller"


def check(cluster: Cluster) -> None:
    """Every condition of these that a pod waits for, on a cluster of which all is recorded."""
    if not cluster.makes_everything:
        return
    for pod in cluster.pods:
        for index, gate in enumerate(listed(pod.spec.get("readinessGates"))):
            name = gate.get("conditionType") if isinstance(gate, Mapping) else None
            if isinstance(name, str) and _has_no_setter(name, cluster):
                pod.view.error(
                    "reference-readiness-gate", f"{pod.path}.readinessGates[{index}].conditionType",
                    f"nothing in the stack sets {show(name)}: the pods of {pod.title} are never ready",
                    allowed="no gate, or the controller that sets it",
                )  # fmt: skip


def _has_no_setter(name: str, cluster: Cluster) -> bool:
    if name == _OF_GOOGLE:
        return not cluster.stack.of_type(GKE_CLUSTER)
    if not name.startswith(_OF_AMAZON):
        return False
    charts = {(release.text("chart") or "").rstrip("/").rpartition("/")[2] for release in cluster.releases}
    by_itself = any(
        not view.lacks("kubernetesNetworkConfig.elasticLoadBalancing") for view in cluster.stack.of_type(EKS_CLUSTER)
    )
    return _CHART not in charts and not by_itself
