"""Needs are known by what resources are and refer to: somebody else's cluster, correct and with a mistake."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.policies.truth import UNKNOWN, kubernetes, made
from tests.rehearsal.works.rights.foreign import (
    ACCOUNT,
    MANAGED,
    REGION,
    arn,
    by,
    by_account,
    document,
    inline,
    role,
    stack,
)
from tests.rehearsal.works.rights.test_check import findings


def rules(**changes):
    """The rules that a changed stack breaks."""
    return {finding.rule for finding in findings(stack(**changes), REGION)}


def test_a_correct_stack_lacks_nothing():
    assert findings(stack(), REGION) == []


READER = {"Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::raw-images/in/*"}
TAGGED = {"StringEquals": {"aws:PrincipalOrgID": "o-0123456789"}}
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:alarms"
TIDY = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:tidy"
FUNCTION = made(
    "aws:lambda/function:Function",
    "tidy",
    {"name": "tidy", "role": arn("role", "somebody-elses")},
    id="tidy",
    outputs={"arn": TIDY},
)
CALL = made(
    "aws:sns/topicSubscription:TopicSubscription", "tidy", {"topic": TOPIC, "protocol": "lambda", "endpoint": TIDY}
)
REPLICATION = made(
    "aws:s3/bucketReplicationConfig:BucketReplicationConfig",
    "copy",
    {
        "bucket": "raw-images",
        "role": arn("role", "copier"),
        "rules": [{"filter": {"prefix": "in/"}, "destination": {"bucket": "arn:aws:s3:::copies"}}],
    },
)
_READS = (
    {"Action": ["s3:GetReplicationConfiguration", "s3:ListBucket"], "Resource": "arn:aws:s3:::raw-images"},
    {"Action": "s3:GetObjectVersion*", "Resource": "arn:aws:s3:::raw-images/in/*"},
)
READS = inline("copier", *_READS)
COPIES = inline("copier", *_READS, {"Action": "s3:Replicate*", "Resource": "arn:aws:s3:::copies/*"})


def all_of(role_name, *arns):
    """What attaches all managed policies of a role, and takes every other one away."""
    given = {"roleName": role_name, "policyArns": list(arns)}
    return made("aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive", role_name, given)


OF_IPV6 = {
    "cluster": made(
        "aws:eks/cluster:Cluster",
        "prod",
        {"name": "prod", "roleArn": arn("role", "control"), "kubernetesNetworkConfig": {"ipFamily": "ipv6"}},
        id="prod",
    ),
    "cni": made(
        "aws:eks/addon:Addon",
        "cni",
        {"clusterName": "prod", "addonName": "vpc-cni", "serviceAccountRoleArn": arn("role", "cni")},
    ),
    "cni-role": role("cni", by_account("kube-system", "aws-node")),
}
"""Pods have addresses of IPv6, of a prefix of the one interface that a node has from the start."""

_DESCRIBED = [f"ec2:Describe{what}" for what in ("Instances", "Tags", "NetworkInterfaces", "InstanceTypes")]
_TAGS = {"Action": "ec2:CreateTags", "Resource": "arn:aws:ec2:*:*:network-interface/*"}

RIGHT = {
    "pods with addresses of IPv6": {
        **OF_IPV6,
        "cni-rights": inline("cni", {"Action": ["ec2:AssignIpv6Addresses", *_DESCRIBED], "Resource": "*"}, _TAGS),
    },
    "a role of another stack": {"control": None},
    "a policy that nobody has the text of": {
        "node-role": role("nodes", by("ec2.amazonaws.com"), f"arn:aws:iam::{ACCOUNT}:policy/of-another-stack")
    },
    "a policy that is not known yet": {
        "loader-policy": inline("loader", READER)
        and made("aws:iam/rolePolicy:RolePolicy", "x", {"role": "loader", "policy": UNKNOWN})
    },
    "rights in a policy of their own": {
        "loader-policy": made(
            "aws:iam/policy:Policy",
            "own",
            {"policy": document(READER)},
            id=arn("policy", "own"),
            outputs={"arn": arn("policy", "own")},
        ),
        "attachment": made(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            "own",
            {"role": "loader", "policyArn": arn("policy", "own")},
        ),
    },
    "policies that are attached all together": {
        "loader-policy": made(
            "aws:iam/policy:Policy",
            "own",
            {"policy": document(READER)},
            id=arn("policy", "own"),
            outputs={"arn": arn("policy", "own")},
        ),
        "attachment": all_of("loader", arn("policy", "own"), f"{MANAGED}CloudWatchAgentServerPolicy"),
    },
    "a condition that depends on who asks": {"loader-policy": inline("loader", {**READER, "Condition": TAGGED})},
    "a role by its name": {
        "profile": made("aws:iam/instanceProfile:InstanceProfile", "nodes", {"role": "nodes"}),
    },
    "the node's role for the volumes, which pods reach": {
        "ebs": made("aws:eks/addon:Addon", "ebs", {"clusterName": "prod", "addonName": "aws-ebs-csi-driver"}),
        "ebs-role": None,
        "node-role": role(
            "nodes",
            by("ec2.amazonaws.com"),
            f"{MANAGED}AmazonEKSWorkerNodePolicy",
            f"{MANAGED}AmazonEC2ContainerRegistryReadOnly",
            f"{MANAGED}AmazonEKS_CNI_Policy",
            f"{MANAGED}service-role/AmazonEBSCSIDriverPolicy",
        ),
    },
    "a service account of a chart": {
        "release": made("kubernetes:helm.sh/v3:Release", "argo", {"namespace": "argo", "chart": "argo-workflows"}),
        "argo": kubernetes("core/v1:Namespace", "argo"),
    },
    "no add-ons here at all": {"cni": None, "agent": None, "ebs": None, "ebs-role": None},
    "automatic mode has the agent": {
        "agent": None,
        "cluster": made(
            "aws:eks/cluster:Cluster",
            "prod",
            {"name": "prod", "roleArn": arn("role", "control"), "computeConfig": {"enabled": True}},
            id="prod",
        ),
    },
    "the newer policy of volumes": {
        "ebs-role": role(
            "ebs",
            by_account("kube-system", "ebs-csi-controller-sa"),
            f"{MANAGED}AmazonEBSCSIDriverPolicyV2",
        ),
    },
    "a function with its permission": {
        "function": FUNCTION,
        "call": CALL,
        "permission": made(
            "aws:lambda/permission:Permission",
            "tidy",
            {"function": "tidy", "principal": "sns.amazonaws.com", "sourceArn": TOPIC},
        ),
    },
    "a replicated bucket": {
        "replication": REPLICATION,
        "copier": role("copier", by("s3.amazonaws.com")),
        "rights": COPIES,
    },
    "a bucket of somebody else": {
        "logging": made(
            "aws:s3/bucketLogging:BucketLogging", "raw", {"bucket": "raw-images", "targetBucket": "central-logs"}
        )
    },
    "a topic of somebody else": {
        "alarm": made(
            "aws:cloudwatch/metricAlarm:MetricAlarm",
            "hot",
            {"name": "hot", "alarmActions": [f"arn:aws:sns:{REGION}:999999999999:central"]},
        )
    },
    "an alarm that scales": {
        "alarm": made(
            "aws:cloudwatch/metricAlarm:MetricAlarm",
            "hot",
            {"name": "hot", "alarmActions": [f"arn:aws:automate:{REGION}:ec2:stop", 7, None]},
        )
    },
    "wrong kinds": {
        "loader": kubernetes("apps/v1:Deployment", "loader", "loading", spec={"template": {"spec": {"containers": 3}}}),
        "topic-policy": made("aws:sns/topicPolicy:TopicPolicy", "p", {"arn": 3, "policy": "[]"}),
        "odd": made("aws:iam/rolePolicy:RolePolicy", "odd", {"role": 5, "policy": {"Statement": "x"}}),
    },
}


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT.keys())
def test_what_is_right_or_unknown_is_left_alone(changes):
    assert rules(**changes) == set()


WRONG = {
    "pods with addresses of IPv6, whose role gives those of IPv4": (
        {
            **OF_IPV6,
            "cni-rights": inline(
                "cni", {"Action": ["ec2:AssignPrivateIpAddresses", *_DESCRIBED], "Resource": "*"}, _TAGS
            ),
        },
        "rights-program-lacks",
    ),
    "the control plane's role is for nodes": (
        {"control": role("control", by("ec2.amazonaws.com"), f"{MANAGED}AmazonEKSClusterPolicy")},
        "rights-role-untrusted",
    ),
    "nodes pull nothing": (
        {
            "node-role": role(
                "nodes",
                by("ec2.amazonaws.com"),
                f"{MANAGED}AmazonEKSWorkerNodePolicy",
                f"{MANAGED}AmazonEKS_CNI_Policy",
            )
        },
        "rights-role-lacks",
    ),
    "nobody gives pods addresses": (
        {
            "node-role": role(
                "nodes",
                by("ec2.amazonaws.com"),
                f"{MANAGED}AmazonEKSWorkerNodePolicy",
                f"{MANAGED}AmazonEC2ContainerRegistryReadOnly",
            )
        },
        "rights-program-lacks",
    ),
    "the provider's subject is another account": (
        {
            "ebs-role": role(
                "ebs",
                by_account("kube-system", "ebs-csi-node-sa"),
                f"{MANAGED}service-role/AmazonEBSCSIDriverPolicy",
            )
        },
        "rights-binding-untrusted",
    ),
    "the annotated role is for Pod Identity": (
        {"loader-role": role("loader", by("pods.eks.amazonaws.com"))},
        "rights-binding-untrusted",
    ),
    "the pod uses a bucket that its role does not know": (
        {"loader-policy": inline("loader", {"Action": "s3:*", "Resource": "arn:aws:s3:::raw-image/*"})},
        "rights-pod-lacks",
    ),
    "the pod's policies are attached all together, and none is of a bucket": (
        {"loader-policy": None, "attachment": all_of("loader", f"{MANAGED}CloudWatchAgentServerPolicy")},
        "rights-pod-lacks",
    ),
    "objects on the bucket": (
        {"loader-policy": inline("loader", {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::raw-images"})},
        "rights-statement-nothing",
    ),
    "the queue lets in another bucket": (
        {
            "notification": made(
                "aws:s3/bucketNotification:BucketNotification",
                "uploads",
                {"bucket": "raw-image", "queues": [{"queueArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:uploads"}]},
            )
        },
        "rights-delivery",
    ),
    "the function's role is for nodes": (
        {"function": made("aws:lambda/function:Function", "tidy", {"name": "tidy", "role": arn("role", "nodes")})},
        "rights-role-untrusted",
    ),
    "the pod may not leave its boundary": (
        {
            "loader-role": role(
                "loader", by_account("loading", "loader"), permissionsBoundary=f"{MANAGED}AmazonEKS_CNI_Policy"
            )
        },
        "rights-pod-lacks",
    ),
    "the function lets in no topic": ({"function": FUNCTION, "call": CALL}, "rights-delivery"),
    "the function lets in another topic": (
        {
            "function": FUNCTION,
            "call": CALL,
            "permission": made(
                "aws:lambda/permission:Permission",
                "tidy",
                {"function": "tidy", "principal": "sns.amazonaws.com", "sourceArn": f"{TOPIC}-2"},
            ),
        },
        "rights-delivery",
    ),
    "the copier may not write": (
        {"replication": REPLICATION, "copier": role("copier", by("s3.amazonaws.com")), "rights": READS},
        "rights-role-lacks",
    ),
    "no agent": ({"agent": None}, "rights-no-pod-identity-agent"),
}


@pytest.mark.parametrize(("changes", "rule"), WRONG.values(), ids=WRONG.keys())
def test_what_lacks_a_right_is_told(changes, rule):
    assert rule in rules(**changes)


def test_a_refusal_says_who_what_and_why():
    changes = {"loader-policy": inline("loader", {"Action": "s3:*", "Resource": "arn:aws:s3:::raw-image/*"})}
    found = [one for one in findings(stack(**changes), REGION) if one.rule == "rights-pod-lacks"]
    assert "Deployment loading/loader, as loading/loader, cannot use s3://raw-images/in" in found[0].message
    assert "nothing that role loader has allows s3:ListBucket" in found[0].message


def test_a_resource_that_is_only_looked_up_is_left_alone():
    resources = [
        replace(found, read=True) if found.type == "aws:sqs/queue:Queue" else found
        for found in stack(**{"queue-policy": None})
    ]
    assert findings(resources, REGION) == []
