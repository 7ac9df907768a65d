"""The environment's keys, one for each class of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from trainyard.components.aws.buckets import bucket_arn_pattern
from trainyard.components.aws.encryption import EnvironmentKey, EnvironmentKeyArgs
from trainyard.components.aws.identity import control_role_name
from trainyard.components.aws.storage import tier_name
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment.ground import resource_prefix

PUBLISHERS = ("sns", "budgets", "costalerts", "events", "cloudwatch")
"""Services that publish to the environment's topics."""


@dataclass(frozen=True)
class Keys:
    """A key each for what different people and programs read."""

    data: EnvironmentKey
    """Data bucket, file systems."""
    checkpoints: EnvironmentKey
    """Checkpoints bucket."""
    tracking: EnvironmentKey
    """Artifacts bucket, the tracking server's database and its password."""
    platform: EnvironmentKey
    """Secrets of the clusters, volumes of nodes and pods, logs, alerts."""


def make_keys(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    administrators: Sequence[pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> Keys:
    """Makes the keys. `administrators` may change them."""

    def common(name: str, purpose: str) -> EnvironmentKeyArgs:
        return {
            "alias": f"alias/{plan.core.name}-{name}",
            "purpose": purpose,
            "account_id": account,
            "region": plan.ground.region,
            "administrator_arns": administrators,
            "protect": plan.core.protect,
        }

    def key(name: str, args: EnvironmentKeyArgs) -> EnvironmentKey:
        return EnvironmentKey(name, args, opts)

    def bucket(purpose: str) -> list[pulumi.Input[str]]:
        return [bucket_arn_pattern(tier_name(plan.core.name, purpose))]

    managed = plan.ground.managed is not None
    editors = ["ec2", "sagemaker"] if managed else []  # homes and disks of editors
    data: EnvironmentKeyArgs = {
        **common("data", "Data: bucket, file systems"),
        "bucket_arns": bucket("data"),
        "services": ["elasticfilesystem", "fsx", *editors],
        "log_groups": ["/aws/fsx/*"],
    }
    checkpoints: EnvironmentKeyArgs = {**common("checkpoints", "Checkpoints"), "bucket_arns": bucket("checkpoints")}
    tracking: EnvironmentKeyArgs = {
        **common("tracking", "Experiment tracking: artifacts, database, its password"),
        "bucket_arns": bucket("artifacts"),
        "services": ["rds", "secretsmanager", *(["sagemaker"] if managed else [])],  # and disks of jobs
        "log_groups": ["/aws/rds/*"],
    }
    platform: EnvironmentKeyArgs = {
        **common("platform", "Platform: secrets of clusters, volumes, logs, alerts"),
        "services": ["ec2", "sns", *(["aps"] if keeps_figures(plan) else [])],
        "log_groups": ["*"],
        "role_arns": [
            pulumi.Output.concat(
                "arn:aws:iam::",
                account,
                f":role{plan.ground.roles.path}{control_role_name(_cluster_name(plan, planned))}-*",
            )
            for planned in plan.clusters
        ],
        "publishers": [
            f"{service}.amazonaws.com" for service in (*PUBLISHERS, *(["aps"] if keeps_figures(plan) else []))
        ],
        "node_volumes": bool(plan.ground.control_planes),
        "create_autoscaling_role": plan.ground.create_autoscaling_role,
    }
    return Keys(
        data=key("data", data),
        checkpoints=key("checkpoints", checkpoints),
        tracking=key("tracking", tracking),
        platform=key("platform", platform),
    )


def keeps_figures(plan: Plan[AwsPlan]) -> bool:
    """Whether Amazon Managed Service for Prometheus keeps the figures of a cluster."""
    return any(planned.monitoring is not None and planned.monitoring.managed for planned in plan.clusters)


def _cluster_name(plan: Plan[AwsPlan], planned: ClusterPlan) -> str:
    return f"{resource_prefix(plan, planned)}cluster"
