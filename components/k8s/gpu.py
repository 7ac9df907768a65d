"""What makes a GPU node usable: the NVIDIA device plugin, the DCGM exporter and the device plugins of its ground.

The image of the nodes brings the driver and the container toolkit but not the device plugin, so the plugin's own chart
is enough; the GPU operator would bring a second driver stack only to switch it off. Feature discovery is off too: the
queues select nodes by labels of ours, and it would add an agent on every node of the cluster.

Everything runs on the nodes of the GPU pools only, tolerates their taints, and is a privileged node agent by nature:
it lives in kube-system, which enforces no pod security level.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import yaml

from trainyard.components.k8s.charts import ChartArgs, release
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import GPU_RESOURCE, POOL_LABEL, gpu_node_tolerations, time_slices_config
from trainyard.monitoring.series import gpu_series_file

NAMESPACE = "kube-system"
DEVICE_PLUGIN = "nvidia-device-plugin"
METRICS = "dcgm-exporter"
_WHOLE_GPUS = "whole-gpus"


class DevicePluginArgs(TypedDict):
    """A device plugin that the nodes of one ground need besides: that of their fabric."""

    name: str
    """Name of the chart's release."""
    chart: ChartArgs
    """The chart of the device plugin."""
    values: Mapping[str, Any]
    """The chart's values. They say which nodes it runs on and have it tolerate these nodes' taints."""


class GpuEnablementArgs(TypedDict):
    """Arguments of `GpuEnablement`."""

    pools: Sequence[str]
    """Names of the GPU pools, the values of the label `ml.platform/pool` on their nodes. At least one."""
    device_plugin_chart: NotRequired[ChartArgs]
    """The chart `nvidia-device-plugin`. Default: the nodes bring a device plugin; two would fight over their GPUs."""
    dcgm_exporter_chart: NotRequired[ChartArgs]
    """The chart `dcgm-exporter`. Default: there is one already."""
    device_plugins: NotRequired[Sequence[DevicePluginArgs]]
    """Further device plugins. Default: none."""
    mig: NotRequired[Sequence[str]]
    """Values of the label `nvidia.com/device-plugin.config` of nodes whose GPUs are partitioned: `mig-7-1g.10gb`. The
    plugin tells of each instance as a GPU (its strategy `single`). Default: none."""
    time_slices: NotRequired[Sequence[int]]
    """Numbers of pods, each at least 2, that take turns on a GPU somewhere: on nodes whose label
    `nvidia.com/device-plugin.config` is `time-slices-N`. Default: a GPU is one pod's everywhere."""
    gives_by_mounts: NotRequired[bool]
    """Whether the container toolkit of the nodes takes GPUs from mounts, and from no variable of a pod's. Default
    False: from the variable, as the toolkit comes; a pod without a request that sets it sees every GPU of its node."""
    service_monitors: NotRequired[bool]
    """Makes a ServiceMonitor for the DCGM exporter. Default False: its definition comes with the monitoring stack."""


class GpuEnablement(pulumi.ComponentResource):
    """Device plugins and GPU metrics for the GPU pools."""

    namespace: str
    """Namespace that the agents run in."""

    def __init__(self, name: str, args: GpuEnablementArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError where no pool is given."""
        super().__init__("trainyard:index:GpuEnablement", name, {}, opts)
        if not args["pools"]:
            raise ValueError(f"{name}: pools is empty; without GPU pools leave this component out")
        before = prerequisites(opts)
        monitors = args.get("service_monitors", False)
        own = (
            (
                DEVICE_PLUGIN,
                args.get("device_plugin_chart"),
                device_plugin_values(
                    args["pools"], args.get("gives_by_mounts", False), args.get("time_slices", ()), args.get("mig", ())
                ),
            ),
            (METRICS, args.get("dcgm_exporter_chart"), dcgm_exporter_values(args["pools"], monitors)),
        )
        plugins: list[DevicePluginArgs] = [
            {"name": plugin, "chart": chart, "values": values} for plugin, chart, values in own if chart is not None
        ]
        for plugin in [*plugins, *args.get("device_plugins", ())]:
            release(
                f"{name}-{plugin['name']}",
                plugin["chart"],
                release_name=plugin["name"],
                namespace=NAMESPACE,
                values=plugin["values"],
                parent=self,
                depends_on=before,
            )
        self.namespace = NAMESPACE
        register(self)


def device_plugin_values(
    pools: Sequence[str],
    gives_by_mounts: bool = False,
    time_slices: Sequence[int] = (),
    mig: Sequence[str] = (),
) -> dict[str, Any]:
    """Values of `nvidia-device-plugin`. Where it gives by mounts, the chart gives it SYS_ADMIN: it sees GPUs itself."""
    shared = {"config": _configurations(time_slices, mig)} if time_slices or mig else {}
    return {
        **shared,
        "fullnameOverride": "nvidia-device-plugin",
        "affinity": _on_pools(pools),
        "tolerations": gpu_node_tolerations("spot"),
        "priorityClassName": "system-node-critical",
        "migStrategy": "none",
        "deviceListStrategy": "volume-mounts" if gives_by_mounts else "envvar",
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
        "tolerations": gpu_node_tolerations("spot"),
        "priorityClassName": "system-node-critical",
        # As the chart has it, and the toolkit of the nodes asks: else the agent would see no GPU (`gives_by_mounts`).
        "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}},
        "serviceMonitor": {"enabled": service_monitor, "honorLabels": True},
        "customMetrics": gpu_series_file(),
        "podAnnotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9400"},
        "resources": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"cpu": "500m", "memory": "1Gi"},
        },
    }


def _configurations(time_slices: Sequence[int], mig: Sequence[str]) -> dict[str, Any]:
    """What the plugin does by the label of a node: what it always does, or GPUs that are told of several times, by
    turns or by the instances that they are partitioned into.

    The first has to be there: of one configuration alone the chart takes that for nodes without the label too.
    """
    found = {_WHOLE_GPUS: yaml.safe_dump({"version": "v1"})}
    for slices in sorted(set(time_slices)):
        # Two turns need not be on two GPUs, so that a pod that asks for two is refused and not deceived.
        sharing = {
            "renameByDefault": False,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": GPU_RESOURCE, "replicas": slices}],
        }
        found[time_slices_config(slices)] = yaml.safe_dump({"version": "v1", "sharing": {"timeSlicing": sharing}})
    for name in sorted(set(mig)):
        # `single`: all instances of a node are alike, and each is one nvidia.com/gpu, as guards and queues ration it.
        found[name] = yaml.safe_dump({"version": "v1", "flags": {"migStrategy": "single"}})
    return {"map": found, "default": _WHOLE_GPUS}


def _on_pools(pools: Sequence[str]) -> dict[str, Any]:
    expression = {"key": POOL_LABEL, "operator": "In", "values": sorted(pools)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}],
            }
        }
    }
