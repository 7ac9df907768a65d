"""A cluster on Google Cloud: the components of one, and what its workloads need of the ground as a `Ground`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi
import pulumi_kubernetes
import pulumi_random
import pulumi_tls

from trainyard.catalog import gcp as catalog
from trainyard.components.gcp.alerts import AlertMetrics, AlertPolicies, AlertPoliciesArgs
from trainyard.components.gcp.cluster import GkeCluster, GkeClusterArgs
from trainyard.components.gcp.database import CloudSqlDatabase
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.fabric_networks import FabricNetworks
from trainyard.components.gcp.gpu_nodes import GkeNodePools, GkePoolArgs
from trainyard.components.gcp.on_cluster.block_storage import DiskStorage
from trainyard.components.gcp.on_cluster.gpudirect import GpuDirect
from trainyard.components.gcp.on_cluster.pod_networks import PodNetworkArgs, PodNetworks
from trainyard.components.gcp.on_cluster.volumes import ingest_volume, team_volumes
from trainyard.components.gcp.shared_network import AnyVpc
from trainyard.components.gcp.storage import GcsStorageTiers
from trainyard.components.gcp.tpu_nodes import TpuSlices
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.node_daemon import NodeDaemonArgs
from trainyard.components.k8s.teams import SubjectArgs
from trainyard.conventions import CHECKPOINTS_CLAIM, CPU_NODES, SYSTEM_NODES, gpu_node_labels, gpudirect, pool_runtime
from trainyard.conventions.gcp import (
    DCGM_PODS,
    DCGM_SERIES,
    GOOGLE_APIS_CIDR,
    METADATA_CIDR,
    QUEUED_PROVISIONING,
    QUEUED_TAINT,
    kubeconfig_document,
)
from trainyard.conventions.pod_networks import device_mode
from trainyard.plan.gcp.market import accelerator
from trainyard.plan.gcp.parts import GcpNetworkPlan, GcpPlan
from trainyard.plan.parts import ClusterPlan, NodeGroupPlan, Plan, PoolPlan
from trainyard.plan.registries import repository
from trainyard.stacks.environment.gcp.identities import identity, people, pod_identities
from trainyard.stacks.environment.gcp.storage import (
    ARTIFACTS_PREFIX,
    Files,
    after,
    make_folders,
    mlflow_database,
    mounted,
    uri,
)
from trainyard.stacks.environment.gcp.tpus import jobs_of_slices, tpu_node_pools
from trainyard.stacks.environment.ground import Ground, NodeDaemon, Slices, resource_prefix

LONGEST_ACCOUNT_ID = 30


@dataclass(frozen=True)
class Shared:
    """What all clusters of the environment use."""

    network: AnyVpc
    keys: ProjectKeys
    storage: GcsStorageTiers
    files: Files
    database: CloudSqlDatabase | None
    services: Sequence[pulumi.Resource]
    """What everything waits for that asks an API of the project's."""
    ready: Sequence[pulumi.Resource]
    """What a job needs of the network: names that are answered with the addresses that its walls let by."""
    fabric: FabricNetworks | None
    """Networks of the fast interfaces, where GKE does not set them up itself."""


def make_ground(plan: Plan[GcpPlan], planned: ClusterPlan, shared: Shared, gcp: pulumi.ResourceOptions) -> Ground:
    """Makes control plane, nodes, the rights of the cluster's pods, and says what workloads need of them."""
    prefix, storage, own = resource_prefix(plan, planned), shared.storage, plan.ground
    cluster = GkeCluster(
        f"{prefix}cluster",
        _cluster(plan, planned, shared),
        after(gcp, [*shared.network.ways_out, *shared.network.ways_in, *shared.keys.granted["platform"]]),
    )
    GkeNodePools(
        f"{prefix}gpu-nodes",
        {
            "cluster_id": cluster.cluster_id,
            "region": own.region,
            "node_account_email": cluster.node_account_email,
            "key_id": shared.keys.key_ids["platform"],
            "labels": dict(own.labels),
            "pools": [_pool(pool, group, own, shared.fabric) for pool in planned.pools for group in pool.node_groups],
        },
        after(gcp, cluster.nodes_wait_for),
    )
    slices = _slices(prefix, own, cluster, shared, gcp)
    identities = pod_identities(plan, planned, cluster, storage, gcp)
    people(plan, planned, gcp)
    kubeconfig = pulumi.Output.json_dumps(
        kubeconfig_document(planned.name, pulumi.Output.concat("https://", cluster.dns_endpoint))
    )
    kubernetes = pulumi_kubernetes.Provider(
        f"{prefix}kubernetes",
        kubeconfig=kubeconfig,
        cluster_identifier=planned.name,
        opts=pulumi.ResourceOptions(depends_on=list(cluster.ready)),
    )
    asked_for = _pod_networks(prefix, shared.fabric, kubernetes)
    daemon, agents = _gpudirect(prefix, plan, planned, kubernetes)
    volumes = mounted(plan, storage, shared.files)
    folders = make_folders(prefix, plan, planned, volumes, pulumi.ResourceOptions(providers=[kubernetes]))
    watched = planned.monitoring is not None
    if watched:
        _tell(plan, planned, shared, cluster, gcp)
    disks = DiskStorage(
        f"{prefix}disks",
        {"key_id": shared.keys.key_ids["platform"], "labels": dict(own.labels)},
        pulumi.ResourceOptions(providers=[kubernetes]),
    )
    return Ground(
        kubeconfig=kubeconfig,
        providers=[kubernetes, pulumi_random.Provider(f"{prefix}random"), pulumi_tls.Provider(f"{prefix}tls")],
        volumes={team.name: team_volumes(team.name, volumes) for team in planned.teams},
        volumes_wait_for=storage.counted,
        checkpoints_uri=uri(storage.checkpoints_bucket),
        smoke_checkpoints=f"/{CHECKPOINTS_CLAIM}",
        artifacts_uri=pulumi.Output.concat(uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
        database=mlflow_database(plan, shared.database) if plan.tracks(planned) else None,
        mlflow_identity=identity(identities, "mlflow"),
        team_identities={team.name: identity(identities, f"team-{team.name}") for team in planned.teams},
        ingest_volume=ingest_volume(volumes),
        ingest_identity=identity(identities, "ingest"),
        addresses=addresses(own.network),
        direct_names=["storage.googleapis.com", ".storage.googleapis.com", "metadata.google.internal"],
        environment=dict(planned.smoke.environment),
        own_registries=[
            # Through a cache comes whatever anybody publishes: repositories of the project are then named one by one.
            *([] if own.image_cache else [f"{own.region}-docker.pkg.dev/{own.project}"]),
            *FUSE_REGISTRIES,
            *([repository(str(daemon.held_to["container"]["image"]))] if daemon is not None else []),
        ],
        system_nodes=SYSTEM_NODES,
        cpu_nodes=CPU_NODES,
        node_labels={group.name: gpu_node_labels(group.pool, group.capacity) for group in planned.node_groups},
        gpu_add_ons=[],  # GKE brings driver, device plugin and metrics
        device_plugins=[],
        queued={
            name: {
                "provisioning_class": QUEUED_PROVISIONING,
                "max_run_seconds": hours * 3600,
                "tolerations": [{"key": QUEUED_TAINT, "operator": "Exists", "effect": "NoSchedule"}],
            }
            for name, hours in own.run_hours
        },
        slices=slices,
        unrationed_resources=[],
        autoscaled_groups={},
        node_images={group.name: cluster.version for group in planned.node_groups},
        jobs_wait_for=[*shared.ready, *asked_for, *agents, *folders],
        node_daemon=daemon,
        block_storage_class=disks.storage_class,
        alerts_by_log=watched,
        gpu_exporter={"namespace": DCGM_PODS[0], "labels": {"app.kubernetes.io/name": DCGM_PODS[1]}},
        gpu_series=DCGM_SERIES,
        name_service=False,  # kube-dns, which says nothing where CoreDNS would
        subjects={team.name: [_subject(principal) for principal in team.principals] for team in plan.core.teams},
        ingest_subjects=[_subject(principal) for principal in plan.core.storage.ingest_principals],
    )


def _slices(
    prefix: str, own: GcpPlan, cluster: GkeCluster, shared: Shared, gcp: pulumi.ResourceOptions
) -> list[Slices]:
    """Makes the TPU slices, where there are some, and says what jobs know of them."""
    if not own.tpu_pools:
        return []
    made = TpuSlices(
        f"{prefix}tpu-slices",
        {
            "cluster_id": cluster.cluster_id,
            "region": own.region,
            "node_account_email": cluster.node_account_email,
            "key_id": shared.keys.key_ids["platform"],
            "labels": dict(own.labels),
            "pools": [args for pool in own.tpu_pools for args in tpu_node_pools(pool)],
        },
        after(gcp, cluster.nodes_wait_for),
    )
    return [jobs_of_slices(pool, made, cluster.version) for pool in own.tpu_pools]


def _tell(
    plan: Plan[GcpPlan], planned: ClusterPlan, shared: Shared, cluster: GkeCluster, gcp: pulumi.ResourceOptions
) -> None:
    """Makes what tells people of the cluster's alerts."""
    prefix, project = resource_prefix(plan, planned), plan.ground.project
    metrics = AlertMetrics(
        f"{prefix}alert-metrics", {"project": project, "cluster_name": planned.name}, after(gcp, shared.services)
    )
    args: AlertPoliciesArgs = {
        "project": project,
        "cluster_name": planned.name,
        "alerts_metric": metrics.alerts,
        "watchdog_metric": metrics.watchdog,
        "emails": plan.core.budget.alert_emails,
        "labels": dict(plan.ground.labels),
    }
    if planned.monitoring is not None:
        args["runbooks"] = planned.monitoring.runbooks
        if plan.ground.tpu_pools:
            args["idle_chip_minutes"] = planned.monitoring.thresholds.idle_gpu_minutes
    AlertPolicies(f"{prefix}alert-policies", args, after(gcp, cluster.ready))


FUSE_REGISTRIES = ("gke.gcr.io", "gcr.io/gke-release")
"""Where GKE's own container beside a pod that mounts a bucket comes from (gcs-fuse-csi-driver, as generally known)."""


def addresses(network: GcpNetworkPlan) -> AddressesArgs:
    """The service `kubernetes` has the first address of its range (Kubernetes, "Service ClusterIP allocation"); the
    metadata server resolves names and says who a pod is."""
    return {
        "own": list(network.cidrs),
        "nodes": [network.node_cidr],
        "services": network.service_cidr,
        "control_plane": [network.control_plane_cidr],
        "api_service": f"{IPv4Network(network.service_cidr)[1]}/32",
        "resolvers": [METADATA_CIDR],
        "cloud_services": [GOOGLE_APIS_CIDR],
        "object_store": [GOOGLE_APIS_CIDR],
        "identity": [{"cidr": METADATA_CIDR, "port": 80}, {"cidr": "169.254.169.252/32", "port": 988}],
    }


def _cluster(plan: Plan[GcpPlan], planned: ClusterPlan, shared: Shared) -> GkeClusterArgs:
    own, control_plane = plan.ground, plan.ground.control_plane(planned.name)
    (system_type,) = planned.system_nodes.instance_types
    args: GkeClusterArgs = {
        "cluster_name": planned.name,
        "project": own.project,
        "region": own.region,
        "zones": planned.system_nodes.zones,
        "network_id": shared.network.network_id,
        "subnetwork_id": shared.network.subnetwork_id,
        "control_plane_cidr": own.network.control_plane_cidr,
        "kubernetes_version": planned.kubernetes_version,
        "release_channel": control_plane.release_channel,
        "key_id": shared.keys.key_ids["platform"],
        "node_account_id": account_id(planned.name),
        "system_nodes": {
            "machine_type": system_type,
            "min_nodes": planned.system_nodes.min_nodes,
            "max_nodes": planned.system_nodes.max_nodes,
            "disk_gib": planned.system_nodes.disk_gib,
        },
        "labels": dict(own.labels),
        "deletion_protection": control_plane.deletion_protection,
    }
    if planned.cpu_pool is not None:
        (cpu_type,) = planned.cpu_pool.instance_types
        args["cpu_pool"] = {
            "machine_type": cpu_type,
            "min_nodes": planned.cpu_pool.min_nodes,
            "max_nodes": planned.cpu_pool.max_nodes,
            "disk_gib": planned.cpu_pool.disk_gib,
        }
    if control_plane.api_networks:
        args["ip_endpoint_cidrs"] = dict(control_plane.api_networks)
    if own.network.shared is not None:
        args["pod_range"], args["service_range"] = own.network.shared.pod_range, own.network.shared.service_range
    if own.lustre is not None:
        args["lustre"] = True
    if own.shared_files is not None:
        args["shared_files"] = True
    if own.authenticator_group is not None:
        args["authenticator_group"] = own.authenticator_group
    return args


def account_id(cluster: str) -> str:
    """Id of the nodes' account, cut to what Google takes."""
    return f"{cluster[: LONGEST_ACCOUNT_ID - len('-nodes')].rstrip('-')}-nodes"


def _pod_networks(
    prefix: str, fabric: FabricNetworks | None, kubernetes: pulumi_kubernetes.Provider
) -> list[pulumi.Resource]:
    """Makes what pods ask for by annotation, where the fast interfaces have networks of the stack's own."""
    if fabric is None:
        return []
    networks: list[PodNetworkArgs] = [
        {
            "name": name,
            "vpc": vpc,
            "subnet": fabric.subnetworks[name],
            "device_mode": device_mode(name),
        }
        for name, vpc in fabric.networks.items()
    ]
    made = PodNetworks(f"{prefix}pod-networks", {"networks": networks}, pulumi.ResourceOptions(providers=[kubernetes]))
    return made.ready


def _gpudirect(
    prefix: str, plan: Plan[GcpPlan], planned: ClusterPlan, kubernetes: pulumi_kubernetes.Provider
) -> tuple[NodeDaemon | None, list[pulumi.Resource]]:
    """Makes the agents of nodes with fast ordinary interfaces, and says what their pods have besides."""
    own = plan.ground.fabric_networks
    nodes = {pool.name: pool.node for pool in planned.pools if pool.node.fabric is not None and pool.node.fabric.daemon}
    if own is None or not own.transport or not nodes:
        return None, []
    transport, pins = gpudirect.TRANSPORTS[own.transport], plan.core.pins
    agents = GpuDirect(
        f"{prefix}gpudirect",
        {
            "transport": transport.name,
            "pools": list(nodes),
            "plugin_image": pins.image(transport.plugin),
            "injector_image": pins.image(gpudirect.INJECTOR),
            "pause_image": pins.image("pause"),
        },
        pulumi.ResourceOptions(providers=[kubernetes]),
    )
    held_to: NodeDaemonArgs = {
        "container": transport.container(pins.image(transport.daemon)),
        "node_folders": transport.node_folders,
        "annotations": dict([transport.device_annotation]),
        "gpus": next(iter(nodes.values())).gpus,  # a transport is of one machine
        "other_pools": [pool.name for pool in planned.pools if pool.name not in nodes],
        "runtimes": [pool_runtime(name) for name in nodes],
        "annotation_prefix": gpudirect.DEVICES_PREFIX,
    }
    if transport.worker_folders:
        held_to["worker_folders"] = transport.worker_folders
    if transport.sockets:
        held_to["socket_volume"] = transport.socket_volume
    daemon = NodeDaemon(held_to=held_to, volumes=transport.volumes, mounts=transport.worker_mounts)
    return daemon, agents.ready


def _pool(pool: PoolPlan, group: NodeGroupPlan, own: GcpPlan, fabric: FabricNetworks | None) -> GkePoolArgs:
    run_hours, local_ssds = dict(own.run_hours), dict(own.local_ssds)
    args: GkePoolArgs = {
        "name": group.name,
        "pool": pool.name,
        "capacity": group.capacity,
        "machine_type": pool.node.instance_type,
        "accelerator": accelerator(catalog.instance(pool.node.instance_type)),
        "gpus": pool.node.gpus,
        "min_nodes": group.min_nodes,
        "max_nodes": group.max_nodes,
        "zones": group.zones,
        "disk_gib": pool.node.root_disk_gib,
    }
    if pool.node.fabric is not None and fabric is None:
        args["fast_network"] = True
    elif pool.node.fabric is not None and fabric is not None:
        names = list(fabric.networks)
        args["additional_networks"] = [
            {"network": fabric.networks[name], "subnetwork": fabric.subnetworks[name]} for name in names
        ]
    if pool.node.mig_profile:
        args["mig_profile"] = pool.node.mig_profile
    elif pool.node.pods_per_gpu > 1:
        args["time_slices"] = pool.node.pods_per_gpu
    if pool.name in local_ssds:
        args["local_ssds"] = local_ssds[pool.name]
    if group.placement_group:
        args["compact"] = True
    if group.name in run_hours:
        args["max_run_seconds"] = run_hours[group.name] * 3600
    if group.reservation is not None:
        args["reservation"] = {"name": group.reservation.id, "zone": group.reservation.availability_zone}
    return args


def _subject(principal: str) -> SubjectArgs:
    """Who signs in, as RBAC names it: GKE says the address."""
    kind, _, name = principal.partition(":")
    return {"kind": "Group" if kind == "group" else "User", "name": name}
