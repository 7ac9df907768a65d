"""Cluster Autoscaler: GPU nodes appear when a pod is waiting for them and go when none runs there any more.

What it leaves to the caller: the role of the service account (`workload_policies.autoscaler_policy`) and its Pod
Identity association, which has to exist before the pods start (name it in `depends_on`), and the tags of the groups.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.charts import ChartArgs, over_nodes, release
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import SYSTEM_NODES, SYSTEM_TOLERATION

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"

PRIORITIES: Mapping[str, int] = {"reserved": 50, "spot": 30, "on-demand": 20}
"""What the expander tries first: capacity that is paid for anyway, then the cheapest."""


class ClusterAutoscalerArgs(TypedDict):
    """Arguments of `ClusterAutoscaler`."""

    chart: ChartArgs
    """The chart `cluster-autoscaler`."""
    cluster_name: str
    """Name of the EKS cluster. The autoscaler finds the node groups that carry its tag."""
    region: pulumi.Input[str]
    """AWS region of the cluster."""
    node_groups: Mapping[str, Sequence[pulumi.Input[str]]]
    """Capacity (reserved, spot, on-demand) to the names of its EKS node groups, for the order of preference."""
    image_tag: str
    """Tag of the autoscaler's image, of the cluster's minor version: it simulates that version's scheduler."""
    scale_down_after_minutes: NotRequired[int]
    """How long a node has to be without work before it goes. Default 10."""


class ClusterAutoscaler(pulumi.ComponentResource):
    """The Cluster Autoscaler as two replicas, one of which leads."""

    namespace: str
    """Namespace that the autoscaler runs in."""
    service_account_name: str
    """Name of the autoscaler's service account."""

    def __init__(self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a capacity in `node_groups` that is not reserved, spot or on-demand."""
        super().__init__("trainyard:index:ClusterAutoscaler", name, {}, opts)
        self.namespace = NAMESPACE
        self.service_account_name = SERVICE_ACCOUNT
        release(
            f"{name}-release",
            args["chart"],
            release_name="cluster-autoscaler",
            namespace=NAMESPACE,
            values=autoscaler_values(args),
            parent=self,
            depends_on=prerequisites(opts),
        )
        register(self)


def expander_priorities(
    node_groups: Mapping[str, Sequence[pulumi.Input[str]]],
) -> dict[str, list[pulumi.Input[str]]]:
    """Priority to patterns of Auto Scaling group names. EKS calls the group of a node group `eks-<name>-<uuid>`.

    Everything else comes last. Raises ValueError for an unknown capacity.
    """
    unknown = sorted(set(node_groups) - set(PRIORITIES))
    if unknown:
        raise ValueError(f"node_groups: unknown capacity {', '.join(unknown)}; known: {', '.join(PRIORITIES)}")
    found: dict[str, list[pulumi.Input[str]]] = {
        str(priority): [pulumi.Output.concat("^eks-", group, "-.*$") for group in node_groups[capacity]]
        for capacity, priority in PRIORITIES.items()
        if node_groups.get(capacity)
    }
    return {**found, "1": [".*"]}


def autoscaler_values(args: ClusterAutoscalerArgs) -> dict[str, Any]:
    """Values of the chart."""
    return {
        "fullnameOverride": "cluster-autoscaler",
        "cloudProvider": "aws",
        "awsRegion": args["region"],
        "autoDiscovery": {"clusterName": args["cluster_name"]},
        "image": {"tag": args["image_tag"]},
        "replicaCount": 2,
        "podDisruptionBudget": {"maxUnavailable": 1},
        "rbac": {"create": True, "serviceAccount": {"create": True, "name": SERVICE_ACCOUNT}},
        "nodeSelector": dict(SYSTEM_NODES),
        "tolerations": [dict(SYSTEM_TOLERATION)],
        "priorityClassName": "system-cluster-critical",
        "topologySpreadConstraints": over_nodes({"app.kubernetes.io/instance": "cluster-autoscaler"}),
        "resources": {
            "requests": {"cpu": "100m", "memory": "600Mi"},
            "limits": {"cpu": "1", "memory": "600Mi"},
        },
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containerSecurityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "podAnnotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "8085"},
        "serviceMonitor": {"enabled": False},  # its definition comes with the monitoring stack
        "prometheusRule": {"enabled": False},
        "expanderPriorities": expander_priorities(args["node_groups"]),
        "extraArgs": _flags(args.get("scale_down_after_minutes", 10)),
    }


def _flags(scale_down_after_minutes: int) -> dict[str, str]:
    return {
        # A queue's pod names its pool and capacity, so mostly one group fits; a pod that does not gets the order
        # reserved, spot, on-demand, and of equals the one that leaves the least unused.
        "expander": "priority,least-waste",
        "balance-similar-node-groups": "true",
        # Training pods have memory volumes, and so does every driver: with the default no GPU node would ever go.
        "skip-nodes-with-local-storage": "false",
        "skip-nodes-with-system-pods": "false",
        "ignore-daemonsets-utilization": "true",
        "scale-down-unneeded-time": f"{scale_down_after_minutes}m",
        "scale-down-delay-after-add": f"{scale_down_after_minutes}m",
        # A GPU node goes only when no GPU of it is in use (one of 8 is 0.125): training is never moved to save a
        # node. Not 0: "below 0" would hold for no node at all.
        "scale-down-gpu-utilization-threshold": "0.01",
        # The default of 15 minutes, with room for the large GPU nodes, which boot and pull slowest.
        "max-node-provision-time": "20m",
        "v": "2",
    }
