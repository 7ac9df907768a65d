"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on the cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import pulumi
import pulumi_aws
import pulumi_kubernetes
import pulumi_random

from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.database import Database
from trainyard.components.aws.encryption import EnvironmentKey
from trainyard.components.aws.gpu_launch import GpuPoolArgs
from trainyard.components.aws.gpu_nodes import GpuNodeGroups
from trainyard.components.aws.identity import AGENT_CIDR, AGENT_PORT, PodRole
from trainyard.components.aws.network import Network
from trainyard.components.aws.on_cluster import autoscaler, drivers
from trainyard.components.aws.on_cluster.database_password import secrets_manager_password
from trainyard.components.aws.on_cluster.fabric import UNRATIONED_RESOURCES
from trainyard.components.aws.on_cluster.volumes import LustreVolumeArgs, StorageVolumesArgs, team_volumes
from trainyard.components.aws.storage import BucketReference, StorageTiers
from trainyard.components.aws.workload_policies import (
    autoscaler_policy,
    bucket_mount_policy,
    efs_csi_policy,
    fsx_csi_policy,
    mlflow_policy,
)
from trainyard.components.k8s import mlflow
from trainyard.components.k8s.mlflow import MlflowDatabaseArgs
from trainyard.conventions import TRAINER_SERVICE_ACCOUNT, team_group, team_prefix
from trainyard.plan.model import Plan
from trainyard.stacks.environment import aws_on_cluster
from trainyard.stacks.environment.ground import MLFLOW_NAMESPACE, Ground, WorkloadIdentity

ARTIFACTS_PREFIX = "mlflow"
"""Of MLflow's artifacts in their bucket."""


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
    storage = _storage(plan, account, network, cluster, key, on_aws)
    database = _database(plan, account, network, cluster, key, on_aws)
    roles = _pod_roles(plan, cluster, storage, database, key, on_aws)
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
    lustre = _lustre_volume(plan, storage)
    on_cluster = aws_on_cluster.build(
        plan,
        providers=providers,
        node_groups=gpu_nodes.node_group_names,
        lustre=lustre,
        roles=roles,
    )
    volumes = _volumes(plan, storage, lustre)
    return Ground(
        providers=providers,
        volumes={team.name: team_volumes(team.name, volumes) for team in plan.teams},
        volumes_wait_for=on_cluster.drivers.ready,
        checkpoints_uri=_uri(storage.checkpoints_bucket),
        artifacts_uri=pulumi.Output.concat(_uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
        database=_mlflow_database(plan, database),
        mlflow_identity=_identity(roles, "mlflow"),
        team_identities={team.name: _identity(roles, f"team-{team.name}") for team in plan.teams},
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


def _uri(bucket: BucketReference) -> pulumi.Output[str]:
    return pulumi.Output.concat("s3://", bucket["name"])


def _identity(roles: Mapping[str, PodRole], workload: str) -> WorkloadIdentity:
    """EKS Pod Identity binds a role by the names of namespace and service account; nothing is written on the latter."""
    return WorkloadIdentity(wait_for=[roles[workload]] if workload in roles else [])


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


def _storage(
    plan: Plan,
    account: pulumi.Input[str],
    network: Network,
    cluster: Cluster,
    key: EnvironmentKey,
    opts: pulumi.ResourceOptions,
) -> StorageTiers:
    tiers, lustre = plan.storage, plan.storage.lustre
    return StorageTiers(
        plan.name,
        {
            "account_id": account,
            "vpc_id": network.vpc_id,
            "client_security_group_ids": {"cluster": cluster.security_group_id},
            "key_arn": key.key_arn,
            "checkpoint_expire_days": tiers.checkpoint_expire_days,
            "checkpoint_keep_versions": tiers.checkpoint_keep_versions,
            "multipart_cleanup_days": tiers.multipart_cleanup_days,
            "artifact_retention_days": tiers.artifact_retention_days,
            "artifact_transition_days": tiers.artifact_transition_days,
            "protect": tiers.protect,
            "lustre": {
                "subnet_id": network.private_subnet_ids[lustre.zone],
                "capacity_gib": lustre.capacity_gib,
                "throughput_mbps_per_tib": lustre.throughput_mbps_per_tib,
            }
            if lustre
            else None,
            "shared_file_system_subnet_ids": network.private_subnet_ids if tiers.shared_file_system else None,
            "shared_directories": [team.name for team in plan.teams],
        },
        opts,
    )


def _database(
    plan: Plan,
    account: pulumi.Input[str],
    network: Network,
    cluster: Cluster,
    key: EnvironmentKey,
    opts: pulumi.ResourceOptions,
) -> Database | None:
    if not plan.mlflow.enabled:
        return None
    return Database(
        f"{plan.name}-mlflow",
        {
            "account_id": account,
            "vpc_id": network.vpc_id,
            "subnet_ids": list(network.isolated_subnet_ids.values()),
            "client_security_group_ids": {"cluster": cluster.security_group_id},
            "key_arn": key.key_arn,
            "engine_version": plan.database.engine_version,
            "instance_class": plan.database.instance_class,
            "storage_gib": plan.database.storage_gib,
            "max_storage_gib": plan.database.max_storage_gib,
            "multi_az": plan.database.multi_az,
            "backup_retention_days": plan.database.backup_retention_days,
            "deletion_protection": plan.database.deletion_protection,
            "protect": plan.protect,
        },
        opts,
    )


def _mlflow_database(plan: Plan, database: Database | None) -> MlflowDatabaseArgs | None:
    if database is None:
        return None
    return {
        "address": database.address,
        "port": database.port,
        "name": database.database_name,
        "username": database.username,
        "password": secrets_manager_password(database.secret_arn),
        "cidrs": [zone.isolated_cidr for zone in plan.network.zones],
    }


def _lustre_volume(plan: Plan, storage: StorageTiers) -> LustreVolumeArgs | None:
    if storage.lustre is None or plan.storage.lustre is None:
        return None
    return {
        "file_system_id": storage.lustre["id"],
        "dns_name": storage.lustre["dns_name"],
        "mount_name": storage.lustre["mount_name"],
        "capacity_gib": plan.storage.lustre.capacity_gib,
    }


def _volumes(plan: Plan, storage: StorageTiers, lustre: LustreVolumeArgs | None) -> StorageVolumesArgs:
    volumes: StorageVolumesArgs = {
        "region": plan.region,
        "data_bucket": storage.data_bucket["name"],
        "checkpoints_bucket": storage.checkpoints_bucket["name"],
    }
    if lustre is not None:
        volumes["lustre"] = lustre
    if storage.shared is not None:
        volumes["shared"] = {
            "file_system_id": storage.shared["id"],
            "access_point_ids": storage.shared["access_point_ids"],
        }
    return volumes


def _pod_roles(
    plan: Plan,
    cluster: Cluster,
    storage: StorageTiers,
    database: Database | None,
    key: EnvironmentKey,
    opts: pulumi.ResourceOptions,
) -> dict[str, PodRole]:
    """The AWS rights of everything that runs in the cluster, by workload."""
    checkpoints, data = storage.checkpoints_bucket, storage.data_bucket
    roles: dict[str, PodRole] = {}

    def add(workload: str, namespace: str, account: str, policy: dict[str, Any], description: str) -> None:
        roles[workload] = PodRole(
            f"{workload}-role",
            {
                "cluster_name": cluster.cluster_name,
                "namespace": namespace,
                "service_accounts": [account],
                "policy": policy,
                "description": description,
            },
            opts,
        )

    add(
        "autoscaler",
        autoscaler.NAMESPACE,
        autoscaler.SERVICE_ACCOUNT,
        autoscaler_policy(plan.name),
        "Cluster Autoscaler: sizes of the cluster's own node groups",
    )
    if storage.lustre is not None:
        add(
            "fsx-driver",
            drivers.NAMESPACE,
            drivers.FSX_SERVICE_ACCOUNT,
            fsx_csi_policy(),
            "FSx for Lustre driver: looks file systems up",
        )
    if storage.shared is not None:
        add(
            "efs-driver",
            drivers.NAMESPACE,
            drivers.EFS_SERVICE_ACCOUNT,
            efs_csi_policy(storage.shared["arn"]),
            "EFS driver: looks mount targets up",
        )
    if database is not None:
        policy = mlflow_policy(
            bucket_arn=storage.artifacts_bucket["arn"],
            prefix=ARTIFACTS_PREFIX,
            secret_arn=database.secret_arn,
            key_arn=key.key_arn,
            region=plan.region,
        )
        add("mlflow", MLFLOW_NAMESPACE, mlflow.SERVICE_ACCOUNT, policy, "MLflow: artifacts, database password")
    for team in plan.teams:
        policy = bucket_mount_policy(
            read_write=[(checkpoints["arn"], team_prefix(team.name))],
            read_only=[(data["arn"], "")],
            key_arn=key.key_arn,
            region=plan.region,
        )
        description = f"Training pods of team {team.name}: data, and checkpoints of their own"
        add(f"team-{team.name}", team.namespace, TRAINER_SERVICE_ACCOUNT, policy, description)
    return roles
