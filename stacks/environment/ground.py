"""The contract between a ground (a cloud with a cluster on it) and what stands on it. It knows no cloud.

A ground's module makes everything that is its own, on the clusters too, and hands over a `Ground` for each; `cluster`
makes the rest of nothing but a plan and a `Ground`. So another ground is another module that returns a `Foundation`.

The clusters of an environment share its network, key, storage and database. Nodes, queues, namespaces and rights are
each cluster's own (`docs/decisions/0010-several-clusters.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pulumi

from trainyard.conventions import Capacity, gpu_node_labels
from trainyard.plan.parts import ClusterPlan, NodeGroupPlan, Plan

if TYPE_CHECKING:  # an environment without a cluster does not wait for the SDK of Kubernetes
    from trainyard.components.k8s.charts import ChartArgs
    from trainyard.components.k8s.gpu import DevicePluginArgs
    from trainyard.components.k8s.job_guard import PoolNodeArgs
    from trainyard.components.k8s.kueue import FlavorArgs, QueuedNodesArgs
    from trainyard.components.k8s.mlflow_args import MlflowDatabaseArgs
    from trainyard.components.k8s.monitoring import GpuExporterArgs
    from trainyard.components.k8s.monitoring_values import AlertRouteArgs, RemoteFiguresArgs
    from trainyard.components.k8s.network_rules import AddressesArgs
    from trainyard.components.k8s.node_daemon import NodeDaemonArgs
    from trainyard.components.k8s.runtimes import TpuRuntimeArgs
    from trainyard.components.k8s.teams import SubjectArgs
    from trainyard.components.k8s.volumes import VolumeSourceArgs


@dataclass(frozen=True, kw_only=True)
class NodeDaemon:
    """A daemon of the nodes' network, beside the training in each pod of a pool with a fabric."""

    held_to: NodeDaemonArgs
    """What it is, to which the teams' namespaces hold it."""
    volumes: Sequence[Mapping[str, Any]]
    """Volumes of a pod with it."""
    mounts: Sequence[Mapping[str, Any]]
    """What the training container mounts of them."""


@dataclass(frozen=True, kw_only=True)
class WorkloadIdentity:
    """What a service account needs to be a role of the ground. A ground without roles needs nothing."""

    annotations: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Annotations that the service account carries."""
    wait_for: Sequence[pulumi.Resource] = ()
    """What its pods start after: one that starts earlier runs without rights until somebody restarts it."""


@dataclass(frozen=True, kw_only=True)
class SliceToProve:
    """A slice, and for whom a job proves it."""

    name: str
    """Name of its node pool."""
    team: str
    capacity: Capacity
    node_labels: Mapping[str, str]
    """Labels of exactly its nodes, besides those of its pool."""
    node_image: pulumi.Input[str]
    """What a new node starts with."""
    advisory: bool
    """Whether nothing may wait for it: a queue lets its job in by what is free of a flavor, which may be another slice
    than this one, and the job would pend until its deadline in an environment where nothing is wrong."""


@dataclass(frozen=True, kw_only=True)
class Slices:
    """A pool of TPU slices of the ground's, as jobs see it."""

    runtime: TpuRuntimeArgs
    """What a job of it asks for."""
    node: PoolNodeArgs
    """What a machine of it has."""
    flavors: Sequence[FlavorArgs]
    """How its slices are had, in the order in which a queue tries them."""
    chip_hour_usd: Mapping[str, float]
    """USD an hour that a chip counts as, by flavor; a flavor without a price is not counted."""
    quotas: Mapping[str, Mapping[str, int]]
    """TPU chips that a team owns, by flavor and then by team; 0 where it is not named."""
    proofs: Sequence[SliceToProve]
    """The slices that a job proves."""


@dataclass(frozen=True, kw_only=True)
class KeptFigures:
    """A service of the cloud's that keeps a cluster's figures."""

    remote: RemoteFiguresArgs
    """How it is reached."""
    evaluate: Callable[[Mapping[str, Any]], object]
    """Gives it the rules, as a file of Prometheus; outputs may stand anywhere in it."""
    identity: WorkloadIdentity
    """What the service accounts of Prometheus and of who asks need to use it."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the workloads on one cluster need of the ground."""

    kubeconfig: pulumi.Output[str]
    """How people and tools reach the cluster."""
    providers: Sequence[pulumi.ProviderResource]
    """The Kubernetes provider, bound to the cluster, and the random provider. Everything made with the former waits
    for the cluster's nodes and add-ons, and is gone before they are."""

    volumes: Mapping[str, Mapping[str, VolumeSourceArgs]]
    """The storage tiers that pods mount: by team, then by the name of the claim."""
    volumes_wait_for: Sequence[pulumi.Resource]
    """What has to be there before a volume is made: storage drivers."""
    checkpoints_uri: pulumi.Output[str]
    """URI of the checkpoints tier, without a slash at its end; a team's checkpoints are below its `team_prefix`."""
    smoke_checkpoints: str | None = None
    """Where a team's own part of the checkpoints tier is mounted, for the smoke job where it does not speak to the
    object store itself. Default: the smoke job writes to `checkpoints_uri`."""
    artifacts_uri: pulumi.Output[str]
    """URI below which MLflow keeps its artifacts."""
    database: MlflowDatabaseArgs | None
    """Where the MLflow server's database is and how it gets its password; None where the plan has no server."""

    mlflow_identity: WorkloadIdentity
    """What the MLflow server's service account needs."""
    team_identities: Mapping[str, WorkloadIdentity]
    """What the service account of a team's training pods needs, by team."""
    ingest_volume: VolumeSourceArgs
    """The data, to write, for the namespace that they come in by."""
    ingest_identity: WorkloadIdentity
    """What the service account of the pods that write the data needs."""
    addresses: AddressesArgs
    """Where it has what network policies can only name by address."""
    direct_names: Sequence[str]
    """Names that pods reach without the egress proxy: the object store's."""
    environment: Mapping[str, pulumi.Input[str]]
    """Variables that programs need to find the ground's services."""

    own_registries: Sequence[pulumi.Input[str]]
    """Registries that belong to whom the ground belongs: teams may run what is in them."""
    system_nodes: Mapping[str, str]
    """Labels of the nodes of the platform's own pods; empty where the ground keeps none apart."""
    cpu_nodes: Mapping[str, str]
    """Labels of the nodes for people's pods without GPUs; empty where the ground keeps none apart."""
    node_labels: Mapping[str, Mapping[str, str]]
    """Labels that the nodes of a GPU node group have from their first second, by the plan's name of the group: queues
    find them by these. `gpu_node_labels` are among them, because jobs that prove a pool select by those."""
    gpu_add_ons: Sequence[Literal["nvidia-device-plugin", "dcgm-exporter"]]
    """What GPU nodes need that this ground's do not bring: a second device plugin would fight over their GPUs."""
    device_plugins: Sequence[DevicePluginArgs]
    """Device plugins that GPU nodes need besides the GPUs' own: that of the fabric."""
    unrationed_resources: Sequence[str]
    """Prefixes of the ground's own resources that queues do not count."""
    autoscaled_groups: Mapping[str, pulumi.Input[str]]
    """How the Cluster Autoscaler's name of a GPU node group begins, by the plan's name of the group; empty where the
    ground has another autoscaler."""
    node_images: Mapping[str, pulumi.Output[str]]
    """What a new node starts with, by the plan's name of the node group; a smoke job runs again when it changes."""
    jobs_wait_for: Sequence[pulumi.Resource]
    """What a job needs besides on the cluster: an autoscaler, prepared file systems."""

    queued: Mapping[str, QueuedNodesArgs] = field(default_factory=dict)
    """How jobs ask for nodes of flex-start, by the plan's name of the node group."""
    slices: Sequence[Slices] = ()
    """Pools of TPU slices, beside the plan's pools of GPUs. Default: there are none."""
    node_daemon: NodeDaemon | None = None
    """What the fabric of the plan's pools needs in each pod besides. Default: nothing."""
    block_storage_class: pulumi.Input[str] | None = None
    """StorageClass of the platform's own volumes. Default: the cluster's default."""
    alert_route: AlertRouteArgs | None = None
    """The way by which alerts leave the cluster. Default: none."""
    figures: KeptFigures | None = None
    """The cloud's service that keeps the figures. Default: Prometheus on the cluster does."""
    alerts_by_log: bool = False
    """Whether the ground's own monitoring reads alerts from a log on the cluster and tells people: no route then."""
    gpu_exporter: GpuExporterArgs | None = None
    """The pods of the ground's own that measure its GPUs. Default: `dcgm-exporter` of `gpu_add_ons`, if it is there."""
    gpu_series: frozenset[str] | None = None
    """What those measure; alerts on anything else are left out. Default: all that our own exporter does."""
    name_service: bool = True
    """Whether CoreDNS answers for the cluster's names, and gives figures."""
    alertmanager_identity: WorkloadIdentity = field(default_factory=lambda: WorkloadIdentity())
    """What Alertmanager's service account needs to use it."""
    subjects: Mapping[str, Sequence[SubjectArgs]] = field(default_factory=dict)
    """Who is of a team, as RBAC names them, by team. Default: the ground puts them into the team's group."""
    ingest_subjects: Sequence[SubjectArgs] = ()
    """Who runs the jobs that write the data, as RBAC names them. Default: the ground puts them into their group."""

    def flavor_labels(self, group: NodeGroupPlan) -> dict[str, str]:
        """Labels by which a queue finds the nodes of a group. Raises ValueError where jobs would not find them."""
        labels = dict(self.node_labels.get(group.name, {}))
        wanted = gpu_node_labels(group.pool, group.capacity)
        if not wanted.items() <= labels.items():
            got = ", ".join(f"{key}={value}" for key, value in labels.items()) or "none"
            raise ValueError(f"nodes of {group.name}: labels {got}; jobs select by {wanted}")
        return labels


@dataclass(frozen=True, kw_only=True)
class Foundation:
    """What a ground's module makes of a plan."""

    clusters: Mapping[str, Ground]
    """By the name of the cluster, each of the plan's."""
    outputs: Mapping[str, pulumi.Input[Any]]
    """What the stack reports of what the clusters share."""


def resource_prefix(plan: Plan, cluster: ClusterPlan) -> str:
    """Before the names of the resources of one cluster: nothing for the first, "burst-" for acme-demo-burst.

    It follows from the cluster's name and not from its place: a cluster that goes renames no other but the next first.
    """
    if cluster.name == plan.clusters[0].name:
        return ""
    return f"{cluster.name.removeprefix(f'{plan.core.name}-')}-"


def chart(plan: Plan, name: str) -> ChartArgs:
    """The pinned chart of that name."""
    pin = plan.core.pins.chart(name)
    args: ChartArgs = {"chart": pin.chart, "version": pin.version, "repository": pin.repository}
    if pin.values:
        args["image_values"] = dict(pin.values)
    return args
