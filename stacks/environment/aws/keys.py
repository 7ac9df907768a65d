"""The environment's keys, one for each class of data, and who administers them."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws

from trainyard.components.aws.buckets import bucket_arn_pattern
from trainyard.components.aws.cluster import control_role_name
from trainyard.components.aws.encryption import EnvironmentKey, EnvironmentKeyArgs
from trainyard.components.aws.storage import tier_name
from trainyard.conventions.aws import principal_patterns
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment.ground import resource_prefix


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


def administrators(plan: Plan, aws: pulumi_aws.Provider) -> list[pulumi.Input[str]]:
    """Patterns of the ARNs of whoever administers what only administrators may: those who deploy, and the clusters'."""
    named: list[pulumi.Input[str]] = [*plan.ground.deployers, *plan.ground.admin_principal_arns]
    if plan.ground.deployers:
        return list(dict.fromkeys(named))
    caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws))
    # At most two patterns: a list of outputs has to have its length before the caller is known.
    return [*named, caller.arn.apply(lambda arn: principal_patterns(arn)[0]), caller.arn.apply(_last_pattern)]


def _last_pattern(arn: str) -> str:
    return principal_patterns(arn)[-1]


def make_keys(plan: Plan, account: pulumi.Input[str], aws: pulumi_aws.Provider) -> Keys:
    """Makes the keys."""
    administrator_arns = administrators(plan, aws)

    def common(name: str, purpose: str) -> EnvironmentKeyArgs:
        return {
            "alias": f"alias/{plan.core.name}-{name}",
            "purpose": purpose,
            "account_id": account,
            "region": plan.ground.region,
            "administrator_arns": administrator_arns,
            "protect": plan.core.protect,
        }

    def key(name: str, args: EnvironmentKeyArgs) -> EnvironmentKey:
        return EnvironmentKey(name, args, pulumi.ResourceOptions(providers=[aws]))

    def bucket(purpose: str) -> list[pulumi.Input[str]]:
        return [bucket_arn_pattern(tier_name(plan.core.name, purpose))]

    data: EnvironmentKeyArgs = {
        **common("data", "Data: bucket, file systems"),
        "bucket_arns": bucket("data"),
        "services": ["elasticfilesystem", "fsx"],
        "log_groups": ["/aws/fsx/*"],
    }
    checkpoints: EnvironmentKeyArgs = {**common("checkpoints", "Checkpoints"), "bucket_arns": bucket("checkpoints")}
    tracking: EnvironmentKeyArgs = {
        **common("tracking", "Experiment tracking: artifacts, database, its password"),
        "bucket_arns": bucket("artifacts"),
        "services": ["rds", "secretsmanager"],
        "log_groups": ["/aws/rds/*"],
    }
    platform: EnvironmentKeyArgs = {
        **common("platform", "Platform: secrets of clusters, volumes, logs, alerts"),
        "services": ["ec2"],
        "log_groups": ["*"],
        "role_arns": [
            pulumi.Output.concat("arn:aws:iam::", account, f":role/{control_role_name(_cluster_name(plan, planned))}-*")
            for planned in plan.clusters
        ],
        "publishers": ["sns.amazonaws.com", "budgets.amazonaws.com", "costalerts.amazonaws.com"],
        "node_volumes": True,
        "create_autoscaling_role": plan.ground.create_autoscaling_role,
    }
    return Keys(
        data=key("data", data),
        checkpoints=key("checkpoints", checkpoints),
        tracking=key("tracking", tracking),
        platform=key("platform", platform),
    )


def _cluster_name(plan: Plan, planned: ClusterPlan) -> str:
    return f"{resource_prefix(plan, planned)}cluster"
