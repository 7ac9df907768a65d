"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on the cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

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
from trainyard.plan.parts import ClusterPlan, Plan
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
    tags = dict(plan.core.tags)
    cluster_name = planned.name

    key = EnvironmentKey(
        "key",
        {
            "alias": f"alias/{plan.core.name}",
            "account_id": account,
            "region": plan.ground.region,
            "protect": plan.core.protect,
            "create_autoscaling_role": plan.ground.create_autoscaling_role,
        },
        on_aws,
    )
    network = Network(
        "network",
        {
            "cidr": plan.ground.network.cidr,
            "zones": [
                {
                    "name": zone.name,
                    "public_cidr": zone.public_cidr,
                    "private_cidr": zone.private_cidr,
                    "isolated_cidr": zone.isolated_cidr,
                }
                for zone in plan.ground.network.zones
            ],
            "nat_gateways": plan.ground.network.nat_gateways,
            "gateway_endpoints": plan.ground.network.gateway_endpoints,
            "interface_endpoints": plan.ground.network.interface_endpoints,
            "region": plan.ground.region,
            "flow_log_retention_days": plan.ground.network.flow_log_retention_days,
            "key_arn": key.key_arn,
            "cluster_name": cluster_name,
        },
        on_aws,
    )
    nodes_in = list(network.private_subnet_ids.values())
    cluster = Cluster(
        "cluster",
        {
            "cluster_name": cluster_name,
            "region": plan.ground.region,
            "kubernetes_version": planned.kubernetes_version,
            "service_cidr": plan.ground.network.service_cidr,
            "subnet_ids": nodes_in,
            "node_subnet_ids": nodes_in,
            "public_access_cidrs": planned.public_access_cidrs,
            "log_types": planned.control_plane.log_types,
            "log_retention_days": planned.control_plane.log_retention_days,
            "key_arn": key.key_arn,
            "admin_principal_arns": planned.control_plane.admin_principal_arns,
            "group_principal_arns": {team_group(team.name): team.principals for team in plan.core.teams},
            "add_ons": [{"name": add_on.name, "version": add_on.version} for add_on in planned.control_plane.add_ons],
            "system_nodes": {
                "instance_types": planned.system_nodes.instance_types,
                "min_nodes": planned.system_nodes.min_nodes,
                "max_nodes": planned.system_nodes.max_nodes,
                "disk_gib": planned.system_nodes.disk_gib,
            },
            "tags": tags,
            "deletion_protection": planned.control_plane.deletion_protection,
        },
        on_aws,
    )
    gpu_nodes = GpuNodeGroups(
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
            "tags": tags,
        },
        pulumi.ResourceOptions(providers=[aws], depends_on=cluster.nodes_wait_for),
    )
    storage = make_storage(plan, account, network, cluster, key, on_aws)
    database = make_database(plan, account, network, cluster, key, on_aws)
    roles = pod_roles(plan, cluster, storage, database, key, on_aws)
    budget = BudgetAlerts(
        "budget",
        {
            "account_id": account,
            "key_arn": key.key_arn,
            "budget_name": plan.core.name,
            "scope": {"key": "project", "value": tags["project"]},
            "monthly_usd": plan.core.budget.monthly_usd,
            "actual_percents": plan.core.budget.actual_percents,
            "forecast_percents": plan.core.budget.forecast_percents,
            "emails": plan.core.budget.alert_emails,
            "anomaly_threshold_usd": plan.core.budget.anomaly_threshold_usd,
            "anomaly_detection": plan.ground.alerts.anomaly_detection,
            "activate_cost_tags": plan.ground.alerts.activate_cost_tags,
            "cost_tag_keys": list(tags),
        },
        on_aws,
    )
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
            "clusterName": cluster_name,
            "kubeconfig": cluster.kubeconfig,
            "dataBucket": storage.data_bucket["name"],
            "checkpointsBucket": storage.checkpoints_bucket["name"],
            "artifactsBucket": storage.artifacts_bucket["name"],
            "budget": budget.budget_name,
            "alertTopic": budget.topic_arn,
        },
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
            "efa_interfaces": pool.node.fabric_interfaces,
            "network_cards": pool.node.network_cards,
            "local_nvme_gb": pool.node.local_nvme_gb,
            "root_disk_gib": pool.node.root_disk_gib,
            "node_groups": [cast(GpuNodeGroupArgs, asdict(group)) for group in pool.node_groups],
        }
        for pool in planned.pools
    ]
