"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on the cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

import pulumi
import pulumi_aws
import pulumi_kubernetes
import pulumi_random

from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.encryption import EnvironmentKey
from trainyard.components.aws.gpu_launch import GpuPoolArgs
from trainyard.components.aws.gpu_nodes import GpuNodeGroups
from trainyard.components.aws.identity import AGENT_CIDR, AGENT_PORT
from trainyard.components.aws.network import Network
from trainyard.components.aws.on_cluster.fabric import UNRATIONED_RESOURCES
from trainyard.components.aws.on_cluster.volumes import team_volumes
from trainyard.conventions import team_group
from trainyard.plan.model import Plan
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
    aws = _provider(plan)
    on_aws = pulumi.ResourceOptions(providers=[aws])
    account = _account(plan, aws)
    tags = dict(plan.tags)
    cluster_name = plan.name

    key = EnvironmentKey(
        "key",
        {
            "alias": f"alias/{plan.name}",
            "account_id": account,
            "region": plan.region,
            "protect": plan.protect,
            "create_autoscaling_role": plan.create_autoscaling_role,
        },
        on_aws,
    )
    network = Network(
        "network",
        {
            "cidr": plan.network.cidr,
            "zones": [
                {
                    "name": zone.name,
                    "public_cidr": zone.public_cidr,
                    "private_cidr": zone.private_cidr,
                    "isolated_cidr": zone.isolated_cidr,
                }
                for zone in plan.network.zones
            ],
            "nat_gateways": plan.network.nat_gateways,
            "gateway_endpoints": plan.network.gateway_endpoints,
            "interface_endpoints": plan.network.interface_endpoints,
            "region": plan.region,
            "flow_log_retention_days": plan.network.flow_log_retention_days,
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
            "region": plan.region,
            "kubernetes_version": plan.cluster.kubernetes_version,
            "service_cidr": plan.network.service_cidr,
            "subnet_ids": nodes_in,
            "node_subnet_ids": nodes_in,
            "public_access_cidrs": plan.cluster.public_access_cidrs,
            "log_types": plan.cluster.log_types,
            "log_retention_days": plan.cluster.log_retention_days,
            "key_arn": key.key_arn,
            "admin_principal_arns": plan.cluster.admin_principal_arns,
            "group_principal_arns": {team_group(team.name): team.principal_arns for team in plan.teams},
            "add_ons": [{"name": add_on.name, "version": add_on.version} for add_on in plan.cluster.add_ons],
            "system_nodes": {
                "instance_types": plan.cluster.system_nodes.instance_types,
                "min_nodes": plan.cluster.system_nodes.min_nodes,
                "max_nodes": plan.cluster.system_nodes.max_nodes,
                "disk_gib": plan.cluster.system_nodes.disk_gib,
            },
            "tags": tags,
            "deletion_protection": plan.cluster.deletion_protection,
        },
        on_aws,
    )
    gpu_nodes = GpuNodeGroups(
        "gpu-nodes",
        {
            "cluster_name": cluster.cluster_name,
            "cluster_security_group_id": cluster.security_group_id,
            "kubernetes_version": plan.cluster.kubernetes_version,
            "node_role_arn": cluster.node_role_arn,
            "vpc_id": network.vpc_id,
            "subnet_ids": network.private_subnet_ids,
            "key_arn": key.key_arn,
            "pools": _pools(plan),
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
            "budget_name": plan.name,
            "scope": {"key": "project", "value": tags["project"]},
            "monthly_usd": plan.budget.monthly_usd,
            "actual_percents": plan.budget.actual_percents,
            "forecast_percents": plan.budget.forecast_percents,
            "emails": plan.budget.alert_emails,
            "anomaly_threshold_usd": plan.budget.anomaly_threshold_usd,
            "anomaly_detection": plan.budget.anomaly_detection,
            "activate_cost_tags": plan.budget.activate_cost_tags,
            "cost_tag_keys": list(tags),
        },
        on_aws,
    )
    kubernetes = pulumi_kubernetes.Provider(
        "kubernetes",
        kubeconfig=cluster.kubeconfig,
        cluster_identifier=plan.name,
        opts=pulumi.ResourceOptions(depends_on=cluster.ready),
    )
    providers = [kubernetes, pulumi_random.Provider("random")]
    lustre = lustre_volume(plan, storage)
    on_cluster = aws_on_cluster.build(
        plan,
        providers=providers,
        node_groups=gpu_nodes.node_group_names,
        lustre=lustre,
        roles=roles,
    )
    volumes = mounted(plan, storage, lustre)
    return Ground(
        providers=providers,
        volumes={team.name: team_volumes(team.name, volumes) for team in plan.teams},
        volumes_wait_for=on_cluster.drivers.ready,
        checkpoints_uri=uri(storage.checkpoints_bucket),
        artifacts_uri=pulumi.Output.concat(uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
        database=mlflow_database(plan, database),
        mlflow_identity=identity(roles, "mlflow"),
        team_identities={team.name: identity(roles, f"team-{team.name}") for team in plan.teams},
        identity_endpoints=[{"cidr": AGENT_CIDR, "port": AGENT_PORT}],
        # boto3 reads the second name only, the other SDKs the first.
        environment={"AWS_REGION": plan.region, "AWS_DEFAULT_REGION": plan.region},
        device_plugins=aws_on_cluster.device_plugins(plan),
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
        region=plan.region,
        allowed_account_ids=[plan.account_id] if plan.account_id else None,
        default_tags={"tags": dict(plan.tags)},
    )


def _account(plan: Plan, aws: pulumi_aws.Provider) -> pulumi.Input[str]:
    if plan.account_id is not None:
        return plan.account_id
    caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws))
    account: pulumi.Output[str] = caller.account_id
    return account


def _pools(plan: Plan) -> list[GpuPoolArgs]:
    """The plan's pools under the names that the component gives them, which are the plan's own."""
    return [cast(GpuPoolArgs, _only(GpuPoolArgs, asdict(pool))) for pool in plan.pools]


def _only(args: type, values: dict[str, Any]) -> dict[str, Any]:
    return {key: values[key] for key in args.__annotations__}
