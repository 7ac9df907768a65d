"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on the cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import pulumi
import pulumi_aws
import pulumi_aws.eks as eks
import pulumi_kubernetes
import pulumi_random

from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.database import Database
from trainyard.components.aws.encryption import EnvironmentKey
from trainyard.components.aws.gpu_launch import GpuNodeGroupArgs, GpuPoolArgs
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
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment import aws_on_cluster
from trainyard.stacks.environment.ground import MLFLOW_NAMESPACE, Ground, WorkloadIdentity

ARTIFACTS_PREFIX = "mlflow"
"""Of MLflow's artifacts in their bucket."""


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
    storage = _storage(plan, account, network, cluster, key, on_aws)
    database = _database(plan, account, network, cluster, key, on_aws)
    roles = _pod_roles(plan, cluster, storage, database, key, on_aws)
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
    lustre = _lustre_volume(plan, storage)
    on_cluster = aws_on_cluster.build(
        plan,
        planned,
        providers=providers,
        node_groups={name: group.node_group_name for name, group in gpu_nodes.node_groups.items()},
        lustre=lustre,
        roles=roles,
    )
    volumes = _volumes(plan, storage, lustre)
    return Ground(
        providers=providers,
        volumes={team.name: team_volumes(team.name, volumes) for team in plan.core.teams},
        volumes_wait_for=on_cluster.drivers.ready,
        checkpoints_uri=_uri(storage.checkpoints_bucket),
        artifacts_uri=pulumi.Output.concat(_uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
        database=_mlflow_database(plan, database),
        mlflow_identity=_identity(roles, "mlflow"),
        team_identities={team.name: _identity(roles, f"team-{team.name}") for team in plan.core.teams},
        identity_endpoints=[{"cidr": AGENT_CIDR, "port": AGENT_PORT}],
        environment=dict(planned.smoke.environment),
        device_plugins=aws_on_cluster.device_plugins(plan, planned),
        unrationed_resources=UNRATIONED_RESOURCES,
        node_images={name: _node_image(group) for name, group in gpu_nodes.node_groups.items()},
        jobs_wait_for=on_cluster.ready,
        outputs={
            "clusterName": cluster_name,
            "kubeconfig": cluster.kubeconfig,
            "dataBucket": storage.data_bucket.name,
            "checkpointsBucket": storage.checkpoints_bucket.name,
            "artifactsBucket": storage.artifacts_bucket.name,
            "budget": budget.budget_name,
            "alertTopic": budget.topic_arn,
        },
    )


def _uri(bucket: BucketReference) -> pulumi.Output[str]:
    return pulumi.Output.concat("s3://", bucket.name)


def _identity(roles: Mapping[str, PodRole], workload: str) -> WorkloadIdentity:
    """EKS Pod Identity binds a role by the names of namespace and service account; nothing is written on the latter."""
    return WorkloadIdentity(wait_for=[roles[workload]] if workload in roles else [])


def _node_image(group: eks.NodeGroup) -> pulumi.Output[str]:
    """Release of the image, which brings kernel, GPU driver and container runtime, and the launch template's version.

    EKS keeps a node group at its release until somebody updates it, and reports what it has; an update made outside of
    the engine is seen after a refresh.
    """
    template = group.launch_template.apply(lambda found: found.version if found else "")
    return pulumi.Output.format("{0}, template {1}", group.release_version, template)


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


def _storage(
    plan: Plan,
    account: pulumi.Input[str],
    network: Network,
    cluster: Cluster,
    key: EnvironmentKey,
    opts: pulumi.ResourceOptions,
) -> StorageTiers:
    tiers, lustre = plan.core.storage, plan.ground.lustre
    return StorageTiers(
        plan.core.name,
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
            "shared_file_system_subnet_ids": network.private_subnet_ids if plan.ground.shared_file_system else None,
            "shared_directories": [team.name for team in plan.core.teams],
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
    if not plan.core.mlflow.enabled:
        return None
    return Database(
        f"{plan.core.name}-mlflow",
        {
            "account_id": account,
            "vpc_id": network.vpc_id,
            "subnet_ids": list(network.isolated_subnet_ids.values()),
            "client_security_group_ids": {"cluster": cluster.security_group_id},
            "key_arn": key.key_arn,
            "engine_version": plan.ground.database.engine_version,
            "instance_class": plan.ground.database.instance_class,
            "storage_gib": plan.ground.database.storage_gib,
            "max_storage_gib": plan.ground.database.max_storage_gib,
            "multi_az": plan.ground.database.multi_az,
            "backup_retention_days": plan.ground.database.backup_retention_days,
            "deletion_protection": plan.ground.database.deletion_protection,
            "protect": plan.core.protect,
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
        "cidrs": [zone.isolated_cidr for zone in plan.ground.network.zones],
    }


def _lustre_volume(plan: Plan, storage: StorageTiers) -> LustreVolumeArgs | None:
    if storage.lustre is None or plan.ground.lustre is None:
        return None
    return {
        "file_system_id": storage.lustre.id,
        "dns_name": storage.lustre.dns_name,
        "mount_name": storage.lustre.mount_name,
        "capacity_gib": plan.ground.lustre.capacity_gib,
    }


def _volumes(plan: Plan, storage: StorageTiers, lustre: LustreVolumeArgs | None) -> StorageVolumesArgs:
    volumes: StorageVolumesArgs = {
        "region": plan.ground.region,
        "data_bucket": storage.data_bucket.name,
        "checkpoints_bucket": storage.checkpoints_bucket.name,
    }
    if lustre is not None:
        volumes["lustre"] = lustre
    if storage.shared is not None:
        volumes["shared"] = {
            "file_system_id": storage.shared.id,
            "access_point_ids": storage.shared.access_point_ids,
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
    (planned,) = plan.clusters
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
        autoscaler_policy(planned.name),
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
            efs_csi_policy(storage.shared.arn),
            "EFS driver: looks mount targets up",
        )
    if database is not None:
        policy = mlflow_policy(
            bucket_arn=storage.artifacts_bucket.arn,
            prefix=ARTIFACTS_PREFIX,
            secret_arn=database.secret_arn,
            key_arn=key.key_arn,
            region=plan.ground.region,
        )
        add("mlflow", MLFLOW_NAMESPACE, mlflow.SERVICE_ACCOUNT, policy, "MLflow: artifacts, database password")
    for team in planned.teams:
        policy = bucket_mount_policy(
            read_write=[(checkpoints.arn, team_prefix(team.name))],
            read_only=[(data.arn, "")],
            key_arn=key.key_arn,
            region=plan.ground.region,
        )
        description = f"Training pods of team {team.name}: data, and checkpoints of their own"
        add(f"team-{team.name}", team.namespace, TRAINER_SERVICE_ACCOUNT, policy, description)
    return roles
