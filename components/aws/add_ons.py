"""The managed add-ons of an EKS cluster: which must be there, in what order, with which settings and roles."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.eks as eks

from trainyard.components.aws.identity import PodRole, PodRoleArgs
from trainyard.components.aws.policy_documents import allow
from trainyard.conventions import SYSTEM_NODES, SYSTEM_TOLERATION

BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""Add-ons without which no node becomes Ready, or no pod gets a role."""
REQUIRED = (*BEFORE_NODES, "coredns")

_ON_SYSTEM_NODES: Mapping[str, Any] = {"nodeSelector": dict(SYSTEM_NODES), "tolerations": [dict(SYSTEM_TOLERATION)]}

# What runs as Deployments belongs to the platform's nodes; the others are on every node, whatever its taints.
# The network plugin enforces NetworkPolicy objects, strictly: a pod reaches nothing before its policies are there, and
# one without a policy never does. (In standard mode pods start with everything open.) It hands out addresses in blocks
# of 16: more pods a node.
# Its schema wants texts throughout, also where they mean a truth value or a number.
_CONFIGURATION: Mapping[str, Mapping[str, Any]] = {
    "vpc-cni": {
        "enableNetworkPolicy": "true",
        "env": {
            "ENABLE_PREFIX_DELEGATION": "true",
            "NETWORK_POLICY_ENFORCING_MODE": "strict",
            "WARM_PREFIX_TARGET": "1",
        },
    },
    "coredns": _ON_SYSTEM_NODES,
    "metrics-server": _ON_SYSTEM_NODES,
    "aws-ebs-csi-driver": {"controller": _ON_SYSTEM_NODES},
}


class AddOnArgs(TypedDict):
    """A managed add-on."""

    name: str
    """Name of the add-on, such as `coredns`. Plain text: it names resources."""
    version: NotRequired[pulumi.Input[str] | None]
    """Version; None (the default) takes what EKS gives for the Kubernetes version."""


def check_add_ons(add_ons: Sequence[AddOnArgs]) -> None:
    """Raises ValueError, naming the add-ons, when one is missing without which nothing runs, or one is there twice."""
    names = [add_on["name"] for add_on in add_ons]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ValueError(f"add_ons: {', '.join(missing)} missing; no node becomes Ready, or no pod resolves a name")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"add_ons: {', '.join(twice)} named twice")


def make_add_on(
    name: str,
    cluster_name: pulumi.Input[str],
    add_on: AddOnArgs,
    opts: pulumi.ResourceOptions,
) -> eks.Addon:
    """The add-on, named `{name}-{add-on}`. This program is the only source of its settings."""
    configuration = _CONFIGURATION.get(add_on["name"])
    return eks.Addon(
        f"{name}-{add_on['name']}",
        cluster_name=cluster_name,
        addon_name=add_on["name"],
        addon_version=add_on.get("version"),
        configuration_values=pulumi.Output.json_dumps(configuration) if configuration is not None else None,
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        opts=opts,
    )


def make_role(
    name: str,
    cluster_name: pulumi.Input[str],
    cluster_arn: pulumi.Input[str],
    add_on_name: str,
    key_arn: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> PodRole | None:
    """The role of an add-on that calls AWS, named `{name}-cni` or `{name}-ebs`; None for one that does not."""
    args: PodRoleArgs
    if add_on_name == "vpc-cni":
        args = {
            "cluster_name": cluster_name,
            "cluster_arn": cluster_arn,
            "namespace": "kube-system",
            "service_accounts": ["aws-node"],
            "managed_policy_arns": ["arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"],
            "description": "Network plugin: addresses of pods",
        }
        return PodRole(f"{name}-cni", args, opts)
    if add_on_name == "aws-ebs-csi-driver":
        args = {
            "cluster_name": cluster_name,
            "cluster_arn": cluster_arn,
            "namespace": "kube-system",
            "service_accounts": ["ebs-csi-controller-sa"],
            "policy": {"Version": "2012-10-17", "Statement": _use_key_for_volumes(key_arn)},
            "managed_policy_arns": ["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"],
            "description": "Block storage driver: volumes of pods, encrypted with the environment key",
        }
        return PodRole(f"{name}-ebs", args, opts)
    return None


def _use_key_for_volumes(key_arn: pulumi.Input[str]) -> list[dict[str, Any]]:
    use = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
    return [
        allow("EncryptVolumes", use, [key_arn]),
        allow(
            "AttachEncryptedVolumes",
            ["kms:CreateGrant", "kms:ListGrants", "kms:RevokeGrant"],
            [key_arn],
            {"Bool": {"kms:GrantIsForAWSResource": "true"}},
        ),
    ]
