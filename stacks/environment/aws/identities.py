"""What runs on the cluster, as roles of AWS through EKS Pod Identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.database import Database
from trainyard.components.aws.identity import PodRole
from trainyard.components.aws.managed_prometheus import figures_reader_policy, figures_writer_policy
from trainyard.components.aws.on_cluster import autoscaler, drivers, team_logs
from trainyard.components.aws.storage import StorageTiers
from trainyard.components.aws.workload_policies import (
    BucketPart,
    alertmanager_policy,
    autoscaler_policy,
    bucket_mount_policy,
    efs_csi_policy,
    efs_mount_policy,
    fsx_csi_policy,
    mlflow_policy,
)
from trainyard.components.k8s import mlflow
from trainyard.conventions import INGEST_NAMESPACE, MLFLOW_NAMESPACE, TRAINER_SERVICE_ACCOUNT, data_prefix, team_prefix
from trainyard.conventions.monitoring import (
    ALERTMANAGER_ACCOUNT,
    FIGURES_READER,
    MONITORING_NAMESPACE,
    PROMETHEUS_ACCOUNT,
)
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment.aws.keys import Keys
from trainyard.stacks.environment.aws.storage import ARTIFACTS_PREFIX
from trainyard.stacks.environment.ground import WorkloadIdentity, resource_prefix


def identity(roles: Mapping[str, PodRole], workload: str) -> WorkloadIdentity:
    """EKS Pod Identity binds a role by the names of namespace and service account; nothing is written on the latter."""
    return WorkloadIdentity(wait_for=[roles[workload]] if workload in roles else [])


def pod_roles(
    plan: Plan[AwsPlan],
    planned: ClusterPlan,
    cluster: Cluster,
    storage: StorageTiers,
    database: Database | None,
    log_group: team_logs.TeamLogGroup | None,
    keys: Keys,
    alert_topics: Sequence[pulumi.Input[str]],
    workspace_arn: pulumi.Input[str] | None,
    opts: pulumi.ResourceOptions,
) -> dict[str, PodRole]:
    """The AWS rights of everything that runs on a cluster, by workload."""
    checkpoints, data = storage.checkpoints_bucket, storage.data_bucket
    prefix = resource_prefix(plan, planned)
    roles: dict[str, PodRole] = {}

    def add(workload: str, namespace: str, account: str, policy: dict[str, Any], description: str) -> None:
        roles[workload] = PodRole(
            f"{prefix}{workload}-role",
            {
                "cluster_name": cluster.cluster_name,
                "cluster_arn": cluster.cluster_arn,
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
            efs_csi_policy(storage.shared["arn"]),
            "EFS driver: looks mount targets up",
        )
        add(
            "efs-mounts",
            drivers.NAMESPACE,
            drivers.EFS_NODE_SERVICE_ACCOUNT,
            efs_mount_policy(storage.shared["arn"], list(storage.shared["access_point_arns"].values())),
            "EFS driver on the nodes: mounts the directories of the teams",
        )
    if database is not None and plan.tracks(planned):
        policy = mlflow_policy(
            bucket_arn=storage.artifacts_bucket["arn"],
            prefix=ARTIFACTS_PREFIX,
            secret_arn=database.secret_arn,
            key_arn=keys.tracking.key_arn,
            region=plan.ground.region,
        )
        add("mlflow", MLFLOW_NAMESPACE, mlflow.SERVICE_ACCOUNT, policy, "MLflow: artifacts, database password")
    if log_group is not None:
        add(
            "team-logs",
            team_logs.NAMESPACE,
            team_logs.NAME,
            team_logs.team_logs_policy(log_group.log_group_arn),
            "Agent on every node: what the teams' containers write",
        )
    if alert_topics:
        policy = alertmanager_policy(topic_arns=alert_topics, key_arn=keys.platform.key_arn, region=plan.ground.region)
        add("alertmanager", MONITORING_NAMESPACE, ALERTMANAGER_ACCOUNT, policy, "Alertmanager: tells people of alerts")
    if workspace_arn is not None:
        policy = figures_writer_policy(workspace_arn)
        add("figures-writer", MONITORING_NAMESPACE, PROMETHEUS_ACCOUNT, policy, "Prometheus: hands figures on")
        policy = figures_reader_policy(workspace_arn)
        add("figures-reader", MONITORING_NAMESPACE, FIGURES_READER, policy, "Whoever asks for figures: reads them")
    policy = bucket_mount_policy(
        read_write=[BucketPart(data["arn"], data_prefix(), keys.data.key_arn)], region=plan.ground.region
    )
    add("ingest", INGEST_NAMESPACE, INGEST_NAMESPACE, policy, "Pods that write the data")
    for team in planned.teams:
        part = team.name if plan.core.storage.data_access == "team" else None
        policy = bucket_mount_policy(
            read_write=[BucketPart(checkpoints["arn"], team_prefix(team.name), keys.checkpoints.key_arn)],
            read_only=[BucketPart(data["arn"], data_prefix(part), keys.data.key_arn)],
            region=plan.ground.region,
        )
        description = f"Training pods of team {team.name}: data, and checkpoints of their own"
        add(f"team-{team.name}", team.namespace, TRAINER_SERVICE_ACCOUNT, policy, description)
    return roles
