"""Roles of Kubernetes service accounts through EKS Pod Identity.

A `PodRole` starts with no permission at all: it may do what its policy and managed policies say, and only the named
service accounts of the one cluster can become it. No OIDC provider, no annotation on the service account; the
`eks-pod-identity-agent` add-on hands out the credentials, so pods need no instance metadata.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.eks as eks
import pulumi_aws.iam as iam

from trainyard.components.outputs import register

CLUSTER_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
"""Access policy of an entry that administers a cluster."""

AGENT_CIDR = "169.254.170.23/32"
AGENT_PORT = 80
"""Where the agent of the node hands out credentials (EKS User Guide, "Pod Identity Agent", 2026-11)."""

LONGEST_ROLE_NAME = 56
"""Longest logical name of a role, in characters: IAM takes 64 and Pulumi appends `-` and seven digits."""


def control_role_name(name: str) -> str:
    """Logical name of the control plane's role of the cluster `name`."""
    return f"{name}-control"


class PodRoleArgs(TypedDict):
    """What `PodRole` needs."""

    cluster_name: pulumi.Input[str]
    """Cluster whose pods may take the role."""
    cluster_arn: pulumi.Input[str]
    """ARN of that cluster: no cluster of its name in another region or account gets the role."""
    namespace: pulumi.Input[str]
    """Kubernetes namespace of the service accounts."""
    service_accounts: Sequence[str]
    """Names of the service accounts, at least one. Plain text: they name resources."""
    policy: NotRequired[pulumi.Input[Mapping[str, Any]]]
    """IAM policy document; outputs may stand anywhere in it. Default: none."""
    managed_policy_arns: NotRequired[Sequence[str]]
    """ARNs of managed policies to attach. Default: none."""
    description: pulumi.Input[str]
    """What the role is for, one line of plain ASCII."""


def pod_trust(cluster_arn: str, namespace: str, service_accounts: Sequence[str]) -> dict[str, Any]:
    """The trust policy: the account, the cluster, the namespace and the service accounts, each as EKS says it.

    EKS sets the tags itself (EKS User Guide, "Create IAM role with trust policy required by EKS Pod Identity", read
    2026-11). `aws:SourceAccount` was seen to hold on a live cluster, `aws:SourceArn` to refuse every pod where it named
    the association (mountpoint-s3-csi-driver issue 781, 2026-04); the tag names the cluster, so it is not asked for.
    """
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "PodIdentity",
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": {
                    "StringEquals": {
                        "aws:SourceAccount": cluster_arn.split(":")[4],
                        "aws:RequestTag/eks-cluster-arn": cluster_arn,
                        "aws:RequestTag/kubernetes-namespace": namespace,
                        "aws:RequestTag/kubernetes-service-account": list(service_accounts),
                    }
                },
            }
        ],
    }


def least_privilege(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    """The policy, unchanged. Raises ValueError, naming the statement, when it allows all actions of a service.

    That is an Allow with `*`, `service:*`, `NotAction` or `NotResource`.
    """
    statements = policy["Statement"]
    for number, statement in enumerate([statements] if isinstance(statements, Mapping) else statements, start=1):
        if statement["Effect"] != "Allow":
            continue
        sid = statement.get("Sid", f"number {number}")
        for inverted in ("NotAction", "NotResource"):
            if inverted in statement:
                raise ValueError(f"policy statement {sid}: {inverted} in an Allow grants whatever AWS adds later")
        actions = statement["Action"]
        for action in [actions] if isinstance(actions, str) else actions:
            if action == "*" or action.endswith(":*"):
                raise ValueError(f"policy statement {sid}: action {action!r} allows everything; name the actions")
    return policy


def check_role_name(name: str) -> str:
    """The logical name of a role, unchanged. Raises ValueError for one that IAM refuses with Pulumi's suffix on."""
    if len(name) > LONGEST_ROLE_NAME:
        raise ValueError(f"role {name!r}: {len(name)} characters, a role's name holds at most {LONGEST_ROLE_NAME}")
    return name


class PodRole(pulumi.ComponentResource):
    """An IAM role and its Pod Identity association with each service account.

    `associations` lists the associations: pods of the service accounts must start after them, or keep running without
    a role until they are restarted.
    """

    role_arn: pulumi.Output[str]
    """ARN of the role."""
    role_name: pulumi.Output[str]
    """Name of the role, with Pulumi's suffix."""

    def __init__(self, name: str, args: PodRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a name that IAM would refuse, for no service account and for a policy of wildcards."""
        super().__init__("trainyard:index:PodRole", name, None, opts)
        check_role_name(name)
        accounts = list(args["service_accounts"])
        if not accounts:
            raise ValueError(f"{name!r}: service_accounts is empty; the role could be taken by nobody")
        trust = pulumi.Output.all(args["cluster_arn"], args["namespace"]).apply(
            lambda known: pod_trust(known[0], known[1], accounts)
        )
        role = iam.Role(
            name,
            assume_role_policy=pulumi.Output.json_dumps(trust),
            description=args["description"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        permissions: list[pulumi.Resource] = []
        if "policy" in args:
            document = pulumi.Output.from_input(args["policy"]).apply(lambda known: json.dumps(least_privilege(known)))
            permissions.append(
                iam.RolePolicy(
                    f"{name}-policy", role=role.name, policy=document, opts=pulumi.ResourceOptions(parent=self)
                )
            )
        for arn in args.get("managed_policy_arns", ()):
            permissions.append(
                iam.RolePolicyAttachment(
                    f"{name}-{arn.rsplit('/', 1)[-1]}",
                    role=role.name,
                    policy_arn=arn,
                    opts=pulumi.ResourceOptions(parent=self),
                )
            )
        self.associations = [
            eks.PodIdentityAssociation(
                f"{name}-{account}",
                cluster_name=args["cluster_name"],
                namespace=args["namespace"],
                service_account=account,
                role_arn=role.arn,
                # A pod that starts before its role may do anything keeps failing until it is restarted.
                opts=pulumi.ResourceOptions(parent=self, depends_on=permissions),
            )
            for account in accounts
        ]
        self.role_arn = role.arn
        self.role_name = role.name
        register(self)
