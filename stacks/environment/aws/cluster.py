"""A cluster on AWS: the components of one, and what its workloads need of the ground as a `Ground`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws
import pulumi_kubernetes
import pulumi_random
import pulumi_tls

from trainyard.capture import derived
from trainyard.components.aws.bastion import Bastion
from trainyard.components.aws.cluster import Cluster, ClusterArgs
from trainyard.components.aws.database import Database
from trainyard.components.aws.existing_network import AnyNetwork
from trainyard.components.aws.gpu_launch import GpuNodeGroupArgs, GpuPoolArgs
from trainyard.components.aws.gpu_nodes import GpuNodeGroups
from trainyard.components.aws.identity import PodRole
from trainyard.components.aws.managed_prometheus import (
    ManagedPrometheus,
    ManagedPrometheusArgs,
    ManagedRules,
    ManagedRulesArgs,
)
from trainyard.components.aws.on_cluster.fabric import UNRATIONED_RESOURCES
from trainyard.components.aws.on_cluster.kube_system import kube_system_walls
from trainyard.components.aws.on_cluster.team_logs import TeamLogGroup, TeamLogGroupArgs
from trainyard.components.aws.on_cluster.volumes import ingest_volume, team_volumes
from trainyard.components.aws.storage import StorageTiers
from trainyard.components.aws.watchdog import Watchdog, WatchdogArgs
from trainyard.components.k8s.monitoring_values import MESSAGE, SUBJECT, AlertRouteArgs, RemoteFiguresArgs
from trainyard.conventions import CPU_NODES, INGEST_GROUP, SYSTEM_NODES, gpu_node_labels, team_group
from trainyard.conventions.aws import RESERVATION_KINDS, tunnel_port
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import ClusterPlan, NodeGroupPlan, Plan, PoolPlan
from trainyard.stacks.environment.aws import on_cluster as aws_on_cluster
from trainyard.stacks.environment.aws.account import token_options
from trainyard.stacks.environment.aws.addresses import direct_names, network_addresses
from trainyard.stacks.environment.aws.identities import identity, pod_roles
from trainyard.stacks.environment.aws.keys import Keys
from trainyard.stacks.environment.aws.storage import ARTIFACTS_PREFIX, mlflow_database, mounted, uri
from trainyard.stacks.environment.ground import Ground, KeptFigures, WorkloadIdentity, resource_prefix


@dataclass(frozen=True)
class MadeCluster:
    """A cluster of the plan with its nodes."""

    planned: ClusterPlan
    cluster: Cluster
    gpu_nodes: GpuNodeGroups
    way_in: Sequence[pulumi.Resource]
    """What whoever deploys reaches the API through, which has to be there when objects are made and when they go."""


@dataclass(frozen=True)
class Shared:
    """What all clusters of the environment use."""

    account: pulumi.Input[str]
    network: AnyNetwork
    keys: Keys
    storage: StorageTiers
    database: Database | None
    alert_topic: pulumi.Output[str]


def make_cluster(
    plan: Plan[AwsPlan],
    planned: ClusterPlan,
    account: pulumi.Input[str],
    network: AnyNetwork,
    keys: Keys,
    deployer: pulumi.Input[str],
    bastion: Bastion | None,
    aws: pulumi_aws.Provider,
) -> MadeCluster:
    """Makes control plane and nodes. `deployer` administers a cluster for which the plan names nobody."""
    cluster = _cluster(plan, planned, account, network, keys, deployer, bastion, _after(aws, network.ways_out))
    after_nodes = _after(aws, cluster.nodes_wait_for)
    gpu_nodes = _gpu_nodes(plan, planned, network, cluster, keys, after_nodes)
    return MadeCluster(planned, cluster, gpu_nodes, [bastion] if bastion is not None else [])


def _after(aws: pulumi_aws.Provider, waited_for: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(providers=[aws], depends_on=list(waited_for))


def make_grounds(
    plan: Plan[AwsPlan], clusters: Sequence[MadeCluster], shared: Shared, opts: pulumi.ResourceOptions
) -> dict[str, Ground]:
    """Makes the rights of the clusters' pods and what only AWS needs on them; the ground of each by its name."""
    if not clusters:
        return {}
    makers: list[pulumi.ProviderResource] = [pulumi_random.Provider("random"), pulumi_tls.Provider("tls")]
    return {made.planned.name: _ground(plan, made, shared, makers, opts) for made in clusters}


def _ground(
    plan: Plan[AwsPlan],
    made: MadeCluster,
    shared: Shared,
    makers: Sequence[pulumi.ProviderResource],
    opts: pulumi.ResourceOptions,
) -> Ground:
    planned, cluster, storage = made.planned, made.cluster, shared.storage
    prefix, addresses = resource_prefix(plan, planned), network_addresses(plan.ground.network, shared.network)
    log_group = _team_log_group(plan, planned, shared.keys, opts)
    watchdog = _watchdog(plan, planned, shared, opts)
    figures = _figures(plan, planned, shared, watchdog, opts)
    topics = [shared.alert_topic, watchdog.topic_arn] if watchdog and not figures else []
    workspace = figures.workspace_arn if figures else None
    roles = pod_roles(plan, planned, cluster, storage, shared.database, log_group, shared.keys, topics, workspace, opts)

    def kubernetes_after(name: str, *waited_for: pulumi.Resource) -> pulumi_kubernetes.Provider:
        return pulumi_kubernetes.Provider(
            f"{prefix}{name}",
            kubeconfig=cluster.own_kubeconfig,
            cluster_identifier=planned.name,
            opts=pulumi.ResourceOptions(depends_on=list(waited_for)),
        )

    # CoreDNS and its like get through to nobody without these, so they come before it, while nodes still start; and
    # they go last, since every workload's provider waits for them.
    early = kubernetes_after("kubernetes-walls", *cluster.api_ready, *made.way_in)
    walls = kube_system_walls(f"{prefix}kube-system", addresses, early, cluster.api_ready)
    kubernetes = kubernetes_after("kubernetes", *cluster.ready, *made.way_in, *walls)
    providers = [kubernetes, *makers]
    on_cluster = aws_on_cluster.build(
        plan,
        planned,
        providers=providers,
        node_groups=made.gpu_nodes.node_group_names,
        log_group=log_group,
        addresses=addresses,
        roles=roles,
        volume_key=shared.keys.platform.key_arn,
    )
    volumes = mounted(plan, storage)
    return Ground(
        kubeconfig=cluster.kubeconfig,
        providers=providers,
        volumes={team.name: team_volumes(team.name, volumes) for team in planned.teams},
        volumes_wait_for=on_cluster.drivers.ready,
        checkpoints_uri=uri(storage.checkpoints_bucket),
        artifacts_uri=pulumi.Output.concat(uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
        database=mlflow_database(plan, shared.database) if plan.tracks(planned) else None,
        mlflow_identity=identity(roles, "mlflow"),
        team_identities={team.name: identity(roles, f"team-{team.name}") for team in planned.teams},
        ingest_volume=ingest_volume(volumes),
        ingest_identity=identity(roles, "ingest"),
        addresses=addresses,
        direct_names=direct_names(plan.ground.region),
        environment=dict(planned.smoke.environment),
        own_registries=[pulumi.Output.concat(shared.account, f".dkr.ecr.{plan.ground.region}.amazonaws.com")],
        system_nodes=SYSTEM_NODES,
        cpu_nodes=CPU_NODES,
        node_labels={group.name: gpu_node_labels(group.pool, group.capacity) for group in planned.node_groups},
        gpu_add_ons=["nvidia-device-plugin", "dcgm-exporter"],  # the image of the nodes has the driver only
        device_plugins=aws_on_cluster.device_plugins(plan, planned),
        unrationed_resources=UNRATIONED_RESOURCES,
        autoscaled_groups={
            name: pulumi.Output.concat("eks-", group, "-") for name, group in made.gpu_nodes.node_group_names.items()
        },
        node_images=made.gpu_nodes.node_images,
        jobs_wait_for=on_cluster.ready,
        block_storage_class=on_cluster.block_storage_class,
        alert_route=_alert_route(plan, shared, watchdog) if watchdog else None,
        figures=_kept(plan, planned, figures, roles, opts) if figures else None,
        alertmanager_identity=identity(roles, "alertmanager"),
    )


def _watchdog(
    plan: Plan[AwsPlan], planned: ClusterPlan, shared: Shared, opts: pulumi.ResourceOptions
) -> Watchdog | None:
    if planned.monitoring is None:
        return None
    args: WatchdogArgs = {
        "key_arn": shared.keys.platform.key_arn,
        "alert_topic_arn": shared.alert_topic,
        "cluster_name": planned.name,
        "runbooks": planned.monitoring.runbooks,
    }
    if planned.monitoring.managed:
        args["figures_account_id"] = shared.account
    return Watchdog(f"{resource_prefix(plan, planned)}watchdog", args, opts)


def _figures(
    plan: Plan[AwsPlan], planned: ClusterPlan, shared: Shared, watchdog: Watchdog | None, opts: pulumi.ResourceOptions
) -> ManagedPrometheus | None:
    """The workspace, where the plan gives the figures to the service."""
    own = planned.monitoring
    if own is None or not own.managed or watchdog is None:
        return None
    args: ManagedPrometheusArgs = {
        "cluster_name": planned.name,
        "key_arn": shared.keys.platform.key_arn,
        "retention_days": own.retention_days,
        "log_retention_days": plan.ground.control_plane(planned.name).log_retention_days,
        "protect": plan.core.protect,
        "route": _alert_route(plan, shared, watchdog),
        "alert_topic_arn": shared.alert_topic,
        "runbooks": own.runbooks,
    }
    return ManagedPrometheus(f"{resource_prefix(plan, planned)}figures", args, opts)


def _kept(
    plan: Plan[AwsPlan],
    planned: ClusterPlan,
    figures: ManagedPrometheus,
    roles: Mapping[str, PodRole],
    opts: pulumi.ResourceOptions,
) -> KeptFigures:
    remote: RemoteFiguresArgs = {
        "endpoint": figures.endpoint,
        "region": plan.ground.region,
        "reader_image": plan.core.pins.image("mlflow"),  # the smallest of the platform's images with Python
    }

    def evaluate(rules: Mapping[str, Any]) -> ManagedRules:
        args: ManagedRulesArgs = {"workspace_id": figures.workspace_id, "rules": rules}
        return ManagedRules(f"{resource_prefix(plan, planned)}figures-rules", args, opts)

    needed = WorkloadIdentity(wait_for=[roles["figures-writer"], roles["figures-reader"]])
    return KeptFigures(remote=remote, evaluate=evaluate, identity=needed)


def _alert_route(plan: Plan[AwsPlan], shared: Shared, watchdog: Watchdog) -> AlertRouteArgs:
    signed = {"sigv4": {"region": plan.ground.region}}
    return {
        "integration": "sns_configs",
        "alerts": {"topic_arn": shared.alert_topic, **signed, "subject": SUBJECT, "message": MESSAGE},
        "watchdog": {"topic_arn": watchdog.topic_arn, **signed},
    }


def _team_log_group(
    plan: Plan[AwsPlan], planned: ClusterPlan, keys: Keys, opts: pulumi.ResourceOptions
) -> TeamLogGroup | None:
    """Where the teams' containers' lines go, where the plan keeps them."""
    days = plan.ground.audit.container_log_retention_days
    if days is None:
        return None
    args: TeamLogGroupArgs = {"cluster_name": planned.name, "key_arn": keys.platform.key_arn, "retention_days": days}
    return TeamLogGroup(f"{resource_prefix(plan, planned)}team-log-group", args, opts)


def _cluster(
    plan: Plan[AwsPlan],
    planned: ClusterPlan,
    account: pulumi.Input[str],
    network: AnyNetwork,
    keys: Keys,
    deployer: pulumi.Input[str],
    bastion: Bastion | None,
    opts: pulumi.ResourceOptions,
) -> Cluster:
    control_plane, system_nodes = plan.ground.control_plane(planned.name), planned.system_nodes
    clients: dict[str, pulumi.Input[str]] = {group: group for group in control_plane.access.security_groups}
    if bastion is not None:
        clients["bastion"] = bastion.security_group_id
    on_it = [team.name for team in planned.teams]
    args: ClusterArgs = {
        "cluster_name": planned.name,
        "region": plan.ground.region,
        "account_id": account,
        "kubernetes_version": planned.kubernetes_version,
        "node_release": control_plane.node_release,
        "service_cidr": plan.ground.network.service_cidr,
        "subnet_ids": [network.control_subnet_ids[zone] for zone in control_plane.zones],
        "node_subnet_ids": [network.private_subnet_ids[zone] for zone in system_nodes.zones],
        "public_access_cidrs": planned.public_access_cidrs,
        "api_clients": clients,
        "token_options": token_options(plan),
        "api_client_cidrs": control_plane.access.networks,
        "log_types": control_plane.log_types,
        "log_retention_days": control_plane.log_retention_days,
        "key_arn": keys.platform.key_arn,
        # Who is named to deploy has to be let in, or nothing is made on the cluster.
        "admin_principal_arns": list(dict.fromkeys((*plan.ground.deployers, *control_plane.admin_principal_arns))),
        "deployer_principal_arn": deployer,
        "group_principal_arns": {
            INGEST_GROUP: plan.core.storage.ingest_principals,
            **{team_group(team.name): team.principals for team in plan.core.teams if team.name in on_it},
        },
        "add_ons": [{"name": add_on.name, "version": add_on.version} for add_on in control_plane.add_ons],
        "system_nodes": {
            "instance_types": system_nodes.instance_types,
            "min_nodes": system_nodes.min_nodes,
            "max_nodes": system_nodes.max_nodes,
            "disk_gib": system_nodes.disk_gib,
        },
        "tags": plan.core.lasting_tags,
        "changing_tags": plan.core.changing_tags,
        "deletion_protection": control_plane.deletion_protection,
        "node_sessions": control_plane.node_sessions,
        "protect": plan.core.protect,
    }
    if bastion is not None:
        args["tunnel_port"] = int(derived(str(tunnel_port(planned.name)), planned.name))
    if planned.cpu_pool is not None:
        args["cpu_pool"] = {
            "instance_types": planned.cpu_pool.instance_types,
            "min_nodes": planned.cpu_pool.min_nodes,
            "max_nodes": planned.cpu_pool.max_nodes,
            "disk_gib": planned.cpu_pool.disk_gib,
        }
    return Cluster(f"{resource_prefix(plan, planned)}cluster", args, opts)


def _gpu_nodes(
    plan: Plan[AwsPlan],
    planned: ClusterPlan,
    network: AnyNetwork,
    cluster: Cluster,
    keys: Keys,
    opts: pulumi.ResourceOptions,
) -> GpuNodeGroups:
    return GpuNodeGroups(
        f"{resource_prefix(plan, planned)}gpu-nodes",
        {
            "cluster_name": cluster.cluster_name,
            "cluster_security_group_id": cluster.security_group_id,
            "kubernetes_version": planned.kubernetes_version,
            "node_release": plan.ground.control_plane(planned.name).node_release,
            "node_role_arn": cluster.node_role_arn,
            "vpc_id": network.vpc_id,
            "subnet_ids": network.private_subnet_ids,
            "key_arn": keys.platform.key_arn,
            "pools": _pools(planned),
            "tags": plan.core.lasting_tags,
            "changing_tags": plan.core.changing_tags,
        },
        opts,
    )


def _pools(planned: ClusterPlan) -> list[GpuPoolArgs]:
    return [_pool(pool) for pool in planned.pools]


def _pool(pool: PoolPlan) -> GpuPoolArgs:
    args: GpuPoolArgs = {
        "name": pool.name,
        "gpu": pool.node.gpu,
        "gpus_per_node": pool.node.gpus,
        "efa_interfaces": pool.node.fabric_interfaces,
        "network_cards": pool.node.network_cards,
        "local_nvme_gb": pool.node.local_nvme_gb,
        "root_disk_gib": pool.node.root_disk_gib,
        "node_groups": [_node_group(group) for group in pool.node_groups],
    }
    if pool.node.mig_profile:
        args["mig"] = {"profile": pool.node.mig_profile, "instances": pool.node.pods_per_gpu}
    else:
        args["time_slices"] = pool.node.pods_per_gpu
    return args


def _node_group(group: NodeGroupPlan) -> GpuNodeGroupArgs:
    bound = group.reservation
    return {
        "name": group.name,
        "capacity": group.capacity,
        "instance_types": group.instance_types,
        "min_nodes": group.min_nodes,
        "max_nodes": group.max_nodes,
        "zones": group.zones,
        "placement_group": group.placement_group,
        "reservation": {
            "id": bound.id,
            "kind": RESERVATION_KINDS[bound.kind],
            "availability_zone": bound.availability_zone,
            "empty_at": bound.empty_at,
        }
        if bound
        else None,
    }
