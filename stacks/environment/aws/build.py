"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on the cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

import pulumi
import pulumi_aws
import pulumi_kubernetes
import pulumi_random

from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.encryption import EnvironmentKey
from trainyard.components.aws.gpu_launch import GpuNodeGroupArgs, GpuPoolArgs
from trainyard.components.aws.gpu_nodes import GpuNodeGroups
from trainyard.components.aws.identity import AGENT_CIDR, AGENT_PORT
from trainyard.components.aws.network import Network
from trainyard.components.aws.on_cluster.fabric import UNRATIONED_RESOURCES
from trainyard.components.aws.on_cluster.volumes import team_volumes
from trainyard.conventions import team_group
from trainyard.plan.parts import ClusterPlan, NodeGroupPlan, Plan
from trainyard.stacks.environment.aws import on_cluster as aws_on_cluster
from trainyard.stacks.environment.aws.identities import identity, pod_roles
from trainyard.stacks.environment.aws.storage import (
    ARTIFACTS_PREFIX,
    lustre_volume,
    make_database,
    make_storage,
    mlflow_database,
    mounted,
    uri,
)
from trainyard.stacks.environment.ground import Ground


def build(plan: Plan) -> Ground:
    """Makes the account, and what only AWS needs on the cluster."""
    (planned,) = plan.clusters
    aws = _provider(plan)
    on_aws = pulumi.ResourceOptions(providers=[aws])
    account = _account(plan, aws)
    key = _key(plan, account, on_aws)
    network = _network(plan, planned, key, on_aws)
    cluster = _cluster(plan, planned, network, key, on_aws)
    after_nodes = pulumi.ResourceOptions(providers=[aws], depends_on=cluster.nodes_wait_for)
    gpu_nodes = _gpu_nodes(plan, planned, network, cluster, key, after_nodes)
    storage = make_storage(plan, account, network, cluster, key, on_aws)
    database = make_database(plan, account, network, cluster, key, on_aws)
    roles = pod_roles(plan, cluster, storage, database, key, on_aws)
    budget = _budget(plan, account, key, on_aws)
    kubernetes = pulumi_kubernetes.Provider(
        "kubernetes",
        kubeconfig=cluster.kubeconfig,
        cluster_identifier=plan.core.name,
        opts=pulumi.ResourceOptions(depends_on=cluster.ready),
    )
    providers = [kubernetes, pulumi_random.Provider("random")]
    lustre = lustre_volume(plan, storage)
    on_cluster = aws_on_cluster.build(
        plan,
        planned,
        providers=providers,
        node_groups=gpu_nodes.node_group_names,
        lustre=lustre,
        roles=roles,
    )
    volumes = mounted(plan, storage, lustre)
    return Ground(
        providers=providers,
        volumes={team.name: team_volumes(team.name, volumes) for team in plan.core.teams},
        volumes_wait_for=on_cluster.drivers.ready,
        checkpoints_uri=uri(storage.checkpoints_bucket),
        artifacts_uri=pulumi.Output.concat(uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
        database=mlflow_database(plan, database),
        mlflow_identity=identity(roles, "mlflow"),
        team_identities={team.name: identity(roles, f"team-{team.name}") for team in plan.core.teams},
        identity_endpoints=[{"cidr": AGENT_CIDR, "port": AGENT_PORT}],
        environment=dict(planned.smoke.environment),
        device_plugins=aws_on_cluster.device_plugins(plan, planned),
        unrationed_resources=UNRATIONED_RESOURCES,
        node_images=gpu_nodes.node_images,
        jobs_wait_for=on_cluster.ready,
        outputs={
            "clusterName": planned.name,
            "kubeconfig": cluster.kubeconfig,
            "dataBucket": storage.data_bucket["name"],
            "checkpointsBucket": storage.checkpoints_bucket["name"],
            "artifactsBucket": storage.artifacts_bucket["name"],
            "budget": budget.budget_name,
            "alertTopic": budget.topic_arn,
        },
    )


def _key(plan: Plan, account: pulumi.Input[str], opts: pulumi.ResourceOptions) -> EnvironmentKey:
    return EnvironmentKey(
        "key",
        {
            "alias": f"alias/{plan.core.name}",
            "account_id": account,
            "region": plan.ground.region,
            "protect": plan.core.protect,
            "create_autoscaling_role": plan.ground.create_autoscaling_role,
        },
        opts,
    )


def _network(plan: Plan, planned: ClusterPlan, key: EnvironmentKey, opts: pulumi.ResourceOptions) -> Network:
    own = plan.ground.network
    return Network(
        "network",
        {
            "cidr": own.cidr,
            "zones": [
                {
                    "name": zone.name,
                    "public_cidr": zone.public_cidr,
                    "private_cidr": zone.private_cidr,
                    "isolated_cidr": zone.isolated_cidr,
                }
                for zone in own.zones
            ],
            "nat_gateways": own.nat_gateways,
            "gateway_endpoints": own.gateway_endpoints,
            "interface_endpoints": own.interface_endpoints,
            "region": plan.ground.region,
            "flow_log_retention_days": own.flow_log_retention_days,
            "key_arn": key.key_arn,
            "cluster_name": planned.name,
        },
        opts,
    )


def _cluster(
    plan: Plan, planned: ClusterPlan, network: Network, key: EnvironmentKey, opts: pulumi.ResourceOptions
) -> Cluster:
    control_plane, system_nodes = plan.ground.control_plane(planned.name), planned.system_nodes
    nodes_in = list(network.private_subnet_ids.values())
    return Cluster(
        "cluster",
        {
            "cluster_name": planned.name,
            "region": plan.ground.region,
            "kubernetes_version": planned.kubernetes_version,
            "service_cidr": plan.ground.network.service_cidr,
            "subnet_ids": nodes_in,
            "node_subnet_ids": nodes_in,
            "public_access_cidrs": planned.public_access_cidrs,
            "log_types": control_plane.log_types,
            "log_retention_days": control_plane.log_retention_days,
            "key_arn": key.key_arn,
            "admin_principal_arns": control_plane.admin_principal_arns,
            "group_principal_arns": {team_group(team.name): team.principals for team in plan.core.teams},
            "add_ons": [{"name": add_on.name, "version": add_on.version} for add_on in control_plane.add_ons],
            "system_nodes": {
                "instance_types": system_nodes.instance_types,
                "min_nodes": system_nodes.min_nodes,
                "max_nodes": system_nodes.max_nodes,
                "disk_gib": system_nodes.disk_gib,
            },
            "tags": dict(plan.core.tags),
            "deletion_protection": control_plane.deletion_protection,
        },
        opts,
    )


def _gpu_nodes(
    plan: Plan,
    planned: ClusterPlan,
    network: Network,
    cluster: Cluster,
    key: EnvironmentKey,
    opts: pulumi.ResourceOptions,
) -> GpuNodeGroups:
    return GpuNodeGroups(
        "gpu-nodes",
        {
            "cluster_name": cluster.cluster_name,
            "cluster_security_group_id": cluster.security_group_id,
            "kubernetes_version": planned.kubernetes_version,
            "node_role_arn": cluster.node_role_arn,
            "vpc_id": network.vpc_id,
            "subnet_ids": network.private_subnet_ids,
            "key_arn": key.key_arn,
            "pools": _pools(planned),
            "tags": dict(plan.core.tags),
        },
        opts,
    )


def _budget(plan: Plan, account: pulumi.Input[str], key: EnvironmentKey, opts: pulumi.ResourceOptions) -> BudgetAlerts:
    own, alerts, tags = plan.core.budget, plan.ground.alerts, dict(plan.core.tags)
    return BudgetAlerts(
        "budget",
        {
            "account_id": account,
            "key_arn": key.key_arn,
            "budget_name": plan.core.name,
            "scope": {"key": "project", "value": tags["project"]},
            "monthly_usd": own.monthly_usd,
            "actual_percents": own.actual_percents,
            "forecast_percents": own.forecast_percents,
            "emails": own.alert_emails,
            "anomaly_threshold_usd": own.anomaly_threshold_usd,
            "anomaly_detection": alerts.anomaly_detection,
            "activate_cost_tags": alerts.activate_cost_tags,
            "cost_tag_keys": list(tags),
        },
        opts,
    )


def _provider(plan: Plan) -> pulumi_aws.Provider:
    return pulumi_aws.Provider(
        "aws",
        region=plan.ground.region,
        allowed_account_ids=[plan.ground.account_id] if plan.ground.account_id else None,
        default_tags={"tags": dict(plan.core.tags)},
    )


def _account(plan: Plan, aws: pulumi_aws.Provider) -> pulumi.Input[str]:
    if plan.ground.account_id is not None:
        return plan.ground.account_id
    caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws))
    account: pulumi.Output[str] = caller.account_id
    return account


def _pools(planned: ClusterPlan) -> list[GpuPoolArgs]:
    return [
        {
            "name": pool.name,
            "gpu": pool.node.gpu,
            "gpus_per_node": pool.node.gpus,
            "efa_interfaces": pool.node.fabric.interfaces if pool.node.fabric else 0,
            "network_cards": pool.node.network_cards,
            "local_nvme_gb": pool.node.local_nvme_gb,
            "root_disk_gib": pool.node.root_disk_gib,
            "node_groups": [_node_group(group) for group in pool.node_groups],
        }
        for pool in planned.pools
    ]


_RESERVATION_KINDS = {"reservation": "odcr", "block": "capacity-block"}


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
            "kind": _RESERVATION_KINDS[bound.kind],
            "availability_zone": bound.availability_zone,
        }
        if bound
        else None,
    }
