"""What makes a GPU node usable: the NVIDIA device plugin, the DCGM exporter and, where there is a fabric, EFA's plugin.

EKS's AL2023 NVIDIA image brings the driver and the container toolkit but not the device plugin, so the plugin's own
chart is enough; the GPU operator would bring a second driver stack only to switch it off. Feature discovery is off
too: the queues select nodes by labels of ours, and it would add an agent on every node of the cluster.

Everything runs on the nodes of the GPU pools only, tolerates their taints, and is a privileged node agent by nature:
it lives in kube-system, which enforces no pod security level.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.helm.v3 as helm

from trainyard.components.k8s.charts import ChartArgs, release
from trainyard.components.k8s.conventions import prerequisites
from trainyard.conventions import GPU_TOLERATION, POOL_LABEL, SPOT_TOLERATION

NAMESPACE = "kube-system"
EFA_REPOSITORY = "eks/aws-efa-k8s-device-plugin"
DEFAULT_REGISTRY_ACCOUNT = "602401143452"
REGISTRY_ACCOUNTS: Mapping[str, str] = {
    "af-south-1": "877085696533",
    "ap-east-1": "800184023465",
    "ap-east-2": "533267051163",
    "ap-south-2": "900889452093",
    "ap-southeast-3": "296578399912",
    "ap-southeast-4": "491585149902",
    "ap-southeast-5": "151610086707",
    "ap-southeast-6": "333609536671",
    "ap-southeast-7": "121268973566",
    "ca-west-1": "761377655185",
    "eu-central-2": "900612956339",
    "eu-south-1": "590381155156",
    "eu-south-2": "455263428931",
    "il-central-1": "066635153087",
    "me-central-1": "759879836304",
    "me-south-1": "558608220178",
    "mx-central-1": "730335286997",
}
"""Accounts of the EKS image registries in regions that are opted into; all others have `DEFAULT_REGISTRY_ACCOUNT`.
Source: the table "Amazon container image registries" of the EKS guide, as the EKS AMI's own script has it, 2026-11."""


class GpuEnablementArgs(TypedDict):
    """Arguments of `GpuEnablement`."""

    region: str
    """AWS region: EFA's image comes from its registry."""
    pools: Sequence[str]
    """Names of the GPU pools, the values of the label `ml.platform/pool` on their nodes. At least one."""
    efa_instance_types: Sequence[str]
    """Instance types of the pools that have EFA interfaces; empty when none has: the plugin is then left out."""
    device_plugin_chart: ChartArgs
    """The chart `nvidia-device-plugin`."""
    dcgm_exporter_chart: ChartArgs
    """The chart `dcgm-exporter`."""
    efa_plugin_chart: NotRequired[ChartArgs]
    """The chart `aws-efa-k8s-device-plugin`; needed when `efa_instance_types` is not empty."""
    service_monitors: NotRequired[bool]
    """Makes a ServiceMonitor for the DCGM exporter. Default False: its definition comes with the monitoring stack."""


class GpuEnablement(pulumi.ComponentResource):
    """Device plugins and GPU metrics for the GPU pools."""

    releases: list[helm.Release]

    def __init__(self, name: str, args: GpuEnablementArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError without a pool, or when there are EFA interfaces and no chart for their plugin."""
        super().__init__("trainyard:index:GpuEnablement", name, {}, opts)
        if not args["pools"]:
            raise ValueError(f"{name}: pools is empty; without GPU pools leave this component out")
        before = prerequisites(opts)
        charts: list[tuple[str, ChartArgs, dict[str, Any]]] = [
            ("nvidia-device-plugin", args["device_plugin_chart"], device_plugin_values(args["pools"])),
            (
                "dcgm-exporter",
                args["dcgm_exporter_chart"],
                dcgm_exporter_values(args["pools"], args.get("service_monitors", False)),
            ),
        ]
        if args["efa_instance_types"]:
            if "efa_plugin_chart" not in args:
                types = ", ".join(args["efa_instance_types"])
                raise ValueError(f"{name}: {types} have EFA interfaces, which need efa_plugin_chart")
            values = efa_plugin_values(args["region"], args["efa_instance_types"])
            charts.append(("aws-efa-k8s-device-plugin", args["efa_plugin_chart"], values))
        self.releases = [
            release(
                f"{name}-{chart_name}",
                chart,
                release_name=chart_name,
                namespace=NAMESPACE,
                values=values,
                parent=self,
                depends_on=before,
            )
            for chart_name, chart, values in charts
        ]
        self.register_outputs({"releases": [made.name for made in self.releases]})


def device_plugin_values(pools: Sequence[str]) -> dict[str, Any]:
    """Values of `nvidia-device-plugin`."""
    return {
        "fullnameOverride": "nvidia-device-plugin",
        "affinity": _on_pools(pools),
        "tolerations": _tolerations(),
        "priorityClassName": "system-node-critical",
        "migStrategy": "none",
        # A node whose driver does not come up must not join as one without GPUs: the pod fails and is seen.
        "failOnInitError": True,
        "gfd": {"enabled": False},
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"},
            "limits": {"cpu": "500m", "memory": "256Mi"},
        },
    }


def dcgm_exporter_values(pools: Sequence[str], service_monitor: bool = False) -> dict[str, Any]:
    """Values of `dcgm-exporter`. It names pod and namespace of the job that has the GPU."""
    return {
        "fullnameOverride": "dcgm-exporter",
        "affinity": _on_pools(pools),
        "tolerations": _tolerations(),
        "priorityClassName": "system-node-critical",
        "serviceMonitor": {"enabled": service_monitor},
        "podAnnotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9400"},
        "resources": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"cpu": "500m", "memory": "1Gi"},
        },
    }


def efa_plugin_values(region: str, instance_types: Sequence[str]) -> dict[str, Any]:
    """Values of `aws-efa-k8s-device-plugin`, whose own list of tolerations is empty."""
    return {
        "fullnameOverride": "aws-efa-k8s-device-plugin",
        "image": {"repository": f"{registry(region)}/{EFA_REPOSITORY}"},
        "supportedInstanceLabels": {
            "keys": ["node.kubernetes.io/instance-type"],
            "values": sorted(set(instance_types)),
        },
        "tolerations": _tolerations(),
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "200m", "memory": "128Mi"},
        },
    }


def registry(region: str) -> str:
    """The EKS image registry of a region."""
    return f"{REGISTRY_ACCOUNTS.get(region, DEFAULT_REGISTRY_ACCOUNT)}.dkr.ecr.{region}.amazonaws.com"


def _on_pools(pools: Sequence[str]) -> dict[str, Any]:
    expression = {"key": POOL_LABEL, "operator": "In", "values": sorted(pools)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}],
            }
        }
    }


def _tolerations() -> list[dict[str, str]]:
    return [dict(GPU_TOLERATION), dict(SPOT_TOLERATION)]
