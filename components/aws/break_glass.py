"""The role for the day on which nobody else can reach the clusters: nobody takes it on an ordinary day.

Who may take it are users named one by one, with a second factor entered within the hour, through the region's own
endpoint of STS: that is where the alarm listens (`security_alerts`). It administers the clusters, lets
people into them again, and reads their logs. It changes no identity, no key, no bucket and nothing of the record.
"""

from collections.abc import Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_aws.eks as eks
import pulumi_aws.iam as iam

from trainyard.components.aws.identity import CLUSTER_ADMIN, check_role_name
from trainyard.components.aws.policy_documents import allow, document
from trainyard.components.outputs import register

SECOND_FACTOR_SECONDS = 3600
"""How long ago the second factor may have been entered."""

SESSION_SECONDS = 3600
"""How long a session lasts; IAM takes no less."""


class BreakGlassArgs(TypedDict):
    """What `BreakGlass` needs."""

    account_id: pulumi.Input[str]
    """AWS account, 12 digits."""
    region: pulumi.Input[str]
    """Region whose endpoint of STS hands the role out."""
    user_arns: Sequence[str]
    """IAM users who may take the role, at least one. A role's session does not say whether its owner had a second
    factor."""
    cluster_names: Sequence[pulumi.Input[str]]
    """Clusters that it administers."""


class BreakGlass(pulumi.ComponentResource):
    """The role, and its entry in each cluster."""

    role_arn: pulumi.Output[str]
    """ARN of the role."""

    def __init__(self, name: str, args: BreakGlassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for no user, and for a name that IAM would refuse."""
        if not args["user_arns"]:
            raise ValueError(f"{name}: user_arns is empty; the role could be taken by nobody")
        super().__init__("trainyard:index:BreakGlass", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = iam.Role(
            check_role_name(f"{name}-role"),
            description="For the day on which nobody else can reach the clusters. Whoever takes it sets off an alarm",
            max_session_duration=SESSION_SECONDS,
            assume_role_policy=document([_trust(args)]),
            opts=child,
        )
        self.role_arn = role.arn
        iam.RolePolicy(f"{name}-policy", role=role.name, policy=document(_rights(args)), opts=child)
        for number, cluster_name in enumerate(args["cluster_names"]):
            entry = eks.AccessEntry(
                f"{name}-cluster-{number}",
                cluster_name=cluster_name,
                principal_arn=role.arn,
                type="STANDARD",
                opts=child,
            )
            eks.AccessPolicyAssociation(
                f"{name}-cluster-{number}",
                cluster_name=cluster_name,
                principal_arn=role.arn,
                policy_arn=CLUSTER_ADMIN,
                access_scope={"type": "cluster"},
                opts=pulumi.ResourceOptions(parent=self, depends_on=[entry]),
            )
        register(self)


def _trust(args: BreakGlassArgs) -> dict[str, Any]:
    return {
        "Sid": "NamedUsersWithSecondFactor",
        "Effect": "Allow",
        "Principal": {"AWS": list(args["user_arns"])},
        "Action": "sts:AssumeRole",
        "Condition": {
            "Bool": {"aws:MultiFactorAuthPresent": "true"},
            "NumericLessThan": {"aws:MultiFactorAuthAge": str(SECOND_FACTOR_SECONDS)},
            "StringEquals": {"aws:RequestedRegion": args["region"]},
        },
    }


def _rights(args: BreakGlassArgs) -> list[dict[str, Any]]:
    region, account = args["region"], args["account_id"]

    def ours(service: str, resource: pulumi.Input[str]) -> pulumi.Output[str]:
        return pulumi.Output.concat("arn:aws:", service, ":", region, ":", account, ":", resource)

    clusters = [ours("eks", pulumi.Output.concat("cluster/", cluster)) for cluster in args["cluster_names"]]
    entries = [ours("eks", pulumi.Output.concat("access-entry/", cluster, "/*")) for cluster in args["cluster_names"]]
    return [
        allow(
            "ReachClusters",
            [
                "eks:AccessKubernetesApi",
                "eks:CreateAccessEntry",
                "eks:DescribeCluster",
                "eks:ListAccessEntries",
                "eks:UpdateClusterConfig",
            ],
            clusters,
        ),
        allow(
            "MendEntries", ["eks:AssociateAccessPolicy", "eks:DeleteAccessEntry", "eks:DescribeAccessEntry"], entries
        ),
        allow(
            "ReadRecord",
            ["logs:GetLogEvents", "logs:FilterLogEvents", "logs:DescribeLogStreams"],
            [ours("logs", "log-group:/aws/eks/*")],
        ),
    ]
