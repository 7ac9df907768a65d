"""Storage drivers: FSx for Lustre, Mountpoint for S3, and EFS where the environment has a shared file system.

Their node parts run on every node, whatever its taints: a pod that mounts a volume may land anywhere. Volumes of all
three are static (`volumes.py`), so the controllers order nothing. Mountpoint's volumes are mounted with the role of
the pod that uses them; FSx and EFS look their file systems up, and EFS mounts, with roles of the driver's own. The
caller gives these to the service accounts named here (`workload_policies`), before the pods start: name them in
`depends_on`.
"""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from trainyard.components.aws.on_cluster.kube_system import BUCKET_MOUNTS, KUBE_SYSTEM_FLOWS
from trainyard.components.k8s.charts import ChartArgs, over_nodes, release
from trainyard.components.k8s.flows import fence
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.objects import add_on_namespace, named
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import SYSTEM_NODES, SYSTEM_TOLERATION, gpu_node_tolerations

NAMESPACE = "kube-system"
FSX_SERVICE_ACCOUNT = "fsx-csi-controller-sa"
EFS_SERVICE_ACCOUNT = "efs-csi-controller-sa"
EFS_NODE_SERVICE_ACCOUNT = "efs-csi-node-sa"
S3_SERVICE_ACCOUNT = "s3-csi-driver-sa"

_EVERY_TAINT = [*gpu_node_tolerations("spot"), {"operator": "Exists"}]
"""Names the taints of our nodes and, besides, tolerates what an administrator adds."""

_AGENT = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}}


class StorageDriversArgs(TypedDict):
    """Arguments of `StorageDrivers`."""

    region: pulumi.Input[str]
    """AWS region of the cluster."""
    fsx_chart: NotRequired[ChartArgs]
    """The chart `aws-fsx-csi-driver`; left out, the driver is not installed."""
    s3_chart: NotRequired[ChartArgs]
    """The chart `aws-mountpoint-s3-csi-driver`; left out, the driver is not installed."""
    efs_chart: NotRequired[ChartArgs]
    """The chart `aws-efs-csi-driver`; left out, the driver is not installed."""
    addresses: NotRequired[AddressesArgs]
    """Where the ground has what network policies name by address. Default: unknown, and the pods that mount buckets get
    no network policies."""


class StorageDrivers(pulumi.ComponentResource):
    """The CSI drivers of an environment's storage tiers; `ready` is what volumes have to wait for."""

    namespace: str
    """Namespace that the drivers run in."""

    def __init__(self, name: str, args: StorageDriversArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:StorageDrivers", name, {}, opts)
        before = prerequisites(opts)
        if "s3_chart" in args:
            before = [*before, *self._mounts_namespace(name, args, before)]
        charts: list[tuple[str, ChartArgs | None, dict[str, Any]]] = [
            ("fsx", args.get("fsx_chart"), fsx_values(args["region"])),
            ("s3", args.get("s3_chart"), s3_values()),
            ("efs", args.get("efs_chart"), efs_values()),
        ]
        # Annotated here: a resource list at class level would be taken for an output of the component.
        self.ready: list[pulumi.Resource] = [
            release(
                f"{name}-{suffix}",
                chart,
                release_name=f"{suffix}-csi-driver",
                namespace=NAMESPACE,
                values=values,
                parent=self,
                depends_on=before,
            )
            for suffix, chart, values in charts
            if chart is not None
        ]
        self.namespace = NAMESPACE
        register(self)

    def _mounts_namespace(
        self, name: str, args: StorageDriversArgs, before: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        """The namespace of the pods that mount buckets, ours so that its walls stand before the first of them."""
        namespace = add_on_namespace(f"{name}-mounts-namespace", BUCKET_MOUNTS.namespace, self, depends_on=before)
        if "addresses" not in args:
            return [namespace]
        walls = fence(
            f"{name}-mounts",
            BUCKET_MOUNTS.namespace,
            KUBE_SYSTEM_FLOWS,
            args["addresses"],
            inside=named(namespace, BUCKET_MOUNTS.namespace),
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(before)),
        )
        return [namespace, *walls]


def fsx_values(region: pulumi.Input[str]) -> dict[str, Any]:
    """Values of `aws-fsx-csi-driver`. Its security contexts cannot be set: no template reads them."""
    return {
        "controller": {
            "replicaCount": 2,
            "region": region,
            "nodeSelector": dict(SYSTEM_NODES),
            "tolerations": [dict(SYSTEM_TOLERATION)],
            "serviceAccount": {"create": True, "name": FSX_SERVICE_ACCOUNT},
            "podDisruptionBudget": {"enabled": True},
            "resources": _AGENT,
            "topologySpreadConstraints": over_nodes({"app": "fsx-csi-controller"}),
        },
        "node": {
            "tolerateAllTaints": False,
            "tolerations": _EVERY_TAINT,
            "resources": _AGENT,
        },
    }


def s3_values() -> dict[str, Any]:
    """Values of `aws-mountpoint-s3-csi-driver`. Its controller has one replica; nothing waits for it but new mounts."""
    return {
        "controller": {
            "nodeSelector": dict(SYSTEM_NODES),
            "tolerations": [dict(SYSTEM_TOLERATION)],
            "resources": _AGENT,
        },
        "node": {
            "serviceAccount": {"create": True, "name": S3_SERVICE_ACCOUNT},
            # The chart's own switch tolerates everything and would leave the list out of sight.
            "tolerateAllTaints": False,
            "defaultTolerations": False,
            "tolerations": _EVERY_TAINT,
            "resources": _AGENT,
        },
        "mountpointPod": {"namespace": BUCKET_MOUNTS.namespace, "createNamespace": False},
        "supportLegacySystemDMounts": False,  # mounts of version 1, which no new cluster has
    }


def efs_values() -> dict[str, Any]:
    """Values of `aws-efs-csi-driver`."""
    return {
        "controller": {
            "replicaCount": 2,
            "nodeSelector": dict(SYSTEM_NODES),
            "tolerations": [dict(SYSTEM_TOLERATION)],
            "serviceAccount": {"create": True, "name": EFS_SERVICE_ACCOUNT},
            "podDisruptionBudget": {"enabled": True},
            "resources": _AGENT,
            "topologySpreadConstraints": over_nodes({"app": "efs-csi-controller"}),
        },
        "node": {
            "serviceAccount": {"create": True, "name": EFS_NODE_SERVICE_ACCOUNT},
            "tolerations": _EVERY_TAINT,
            "resources": _AGENT,
        },
    }
