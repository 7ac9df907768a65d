"""A correct cluster as somebody else would write it: IRSA beside Pod Identity, names of their own, policies by hand."""

from __future__ import annotations

import json
from typing import Any

from tests.policies.truth import kubernetes, made

ACCOUNT, REGION = "111122223333", "eu-west-1"
OIDC = f"arn:aws:iam::{ACCOUNT}:oidc-provider/oidc.eks.{REGION}.amazonaws.com/id/ABC"
ISSUER = OIDC.partition(":oidc-provider/")[2]
MANAGED = "arn:aws:iam::aws:policy/"


def document(*statements: dict[str, Any]) -> str:
    """A policy of statements that allow unless they say otherwise."""
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **one} for one in statements]})


def arn(kind: str, name: str) -> str:
    """An ARN of IAM."""
    return f"arn:aws:iam::{ACCOUNT}:{kind}/{name}"


def role(name: str, trust: dict[str, Any], *attached: str, **more: Any):
    """A role with managed policies."""
    inputs = {"name": name, "assumeRolePolicy": document(trust), "managedPolicyArns": list(attached), **more}
    return made("aws:iam/role:Role", name, inputs, id=name, outputs={"arn": arn("role", name)})


def by(service: str) -> dict[str, Any]:
    """A statement that lets a service take a role."""
    return {"Principal": {"Service": service}, "Action": "sts:AssumeRole"}


def by_account(namespace: str, account: str) -> dict[str, Any]:
    """A statement that lets a service account take a role through the OIDC provider."""
    condition = {f"{ISSUER}:sub": f"system:serviceaccount:{namespace}:{account}", f"{ISSUER}:aud": "sts.amazonaws.com"}
    return {
        "Principal": {"Federated": OIDC},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": condition},
    }


def inline(of: str, *statements: dict[str, Any]):
    """The policy in a role."""
    return made("aws:iam/rolePolicy:RolePolicy", f"{of}-inline", {"role": of, "policy": document(*statements)})


def bucket(name: str):
    """A bucket."""
    return made("aws:s3/bucket:Bucket", name, {"bucket": name}, id=name, outputs={"arn": f"arn:aws:s3:::{name}"})


def stack(**changes: Any) -> list[Any]:
    """The whole: a cluster with managed nodes, drivers by IRSA, one program by Pod Identity, an alarm, a queue."""
    annotation = {"eks.amazonaws.com/role-arn": arn("role", "loader")}
    topic = f"arn:aws:sns:{REGION}:{ACCOUNT}:alarms"
    queue = f"arn:aws:sqs:{REGION}:{ACCOUNT}:uploads"
    resources = {
        "cluster": made(
            "aws:eks/cluster:Cluster", "prod", {"name": "prod", "roleArn": arn("role", "control")}, id="prod"
        ),
        "control": role("control", by("eks.amazonaws.com"), f"{MANAGED}AmazonEKSClusterPolicy"),
        "nodes": made(
            "aws:eks/nodeGroup:NodeGroup",
            "workers",
            {"clusterName": "prod", "nodeGroupName": "workers", "nodeRoleArn": arn("role", "nodes")},
        ),
        "node-role": role(
            "nodes",
            by("ec2.amazonaws.com"),
            f"{MANAGED}AmazonEKSWorkerNodePolicy",
            f"{MANAGED}AmazonEC2ContainerRegistryReadOnly",
            f"{MANAGED}AmazonEKS_CNI_Policy",
        ),
        "cni": made("aws:eks/addon:Addon", "cni", {"clusterName": "prod", "addonName": "vpc-cni"}),
        "agent": made("aws:eks/addon:Addon", "agent", {"clusterName": "prod", "addonName": "eks-pod-identity-agent"}),
        "ebs": made(
            "aws:eks/addon:Addon",
            "ebs",
            {
                "clusterName": "prod",
                "addonName": "aws-ebs-csi-driver",
                "serviceAccountRoleArn": arn("role", "ebs"),
            },
        ),
        "ebs-role": role(
            "ebs",
            by_account("kube-system", "ebs-csi-controller-sa"),
            f"{MANAGED}service-role/AmazonEBSCSIDriverPolicy",
        ),
        "namespace": kubernetes("core/v1:Namespace", "loading"),
        "account": kubernetes("core/v1:ServiceAccount", "loader", "loading", annotations=annotation),
        "loader-role": role("loader", by_account("loading", "loader")),
        "loader-policy": inline(
            "loader",
            {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::raw-images"},
            {"Action": ["s3:GetObject*", "s3:PutObject"], "Resource": "arn:aws:s3:::raw-images/in/*"},
        ),
        "bucket": bucket("raw-images"),
        "loader": kubernetes(
            "apps/v1:Deployment",
            "loader",
            "loading",
            spec={
                "template": {
                    "spec": {
                        "serviceAccountName": "loader",
                        "containers": [{"name": "main", "args": ["--from=s3://raw-images/in"]}],
                    }
                }
            },
        ),
        "plain": kubernetes(
            "apps/v1:Deployment",
            "minio-client",
            "loading",
            spec={
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "main",
                                "args": ["s3://raw-images/in"],
                                "env": [{"name": "AWS_ACCESS_KEY_ID", "valueFrom": {"secretKeyRef": {"name": "x"}}}],
                            }
                        ]
                    }
                }
            },
        ),
        "association": made(
            "aws:eks/podIdentityAssociation:PodIdentityAssociation",
            "elsewhere",
            {"clusterName": "prod", "namespace": "argo", "serviceAccount": "runner", "roleArn": arn("role", "runner")},
        ),
        "runner": role(
            "runner",
            {"Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": ["sts:AssumeRole", "sts:TagSession"]},
            f"{MANAGED}AmazonS3ReadOnlyAccess",
        ),
        "topic": made("aws:sns/topic:Topic", "alarms", {"name": "alarms"}, id=topic, outputs={"arn": topic}),
        "alarm": made("aws:cloudwatch/metricAlarm:MetricAlarm", "hot", {"name": "hot", "alarmActions": [topic]}),
        "queue": made("aws:sqs/queue:Queue", "uploads", {"name": "uploads"}, id="url", outputs={"arn": queue}),
        "queue-policy": made(
            "aws:sqs/queuePolicy:QueuePolicy",
            "uploads",
            {
                "queueUrl": "url",
                "policy": document(
                    {
                        "Principal": {"Service": "s3.amazonaws.com"},
                        "Action": "sqs:SendMessage",
                        "Resource": queue,
                        "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:raw-images"}},
                    }
                ),
            },
        ),
        "notification": made(
            "aws:s3/bucketNotification:BucketNotification",
            "uploads",
            {"bucket": "raw-images", "queues": [{"queueArn": queue, "events": ["s3:ObjectCreated:*"]}]},
        ),
        "function": made(
            "aws:lambda/function:Function", "tidy", {"name": "tidy", "role": arn("role", "somebody-elses")}
        ),
    }
    return [found for found in {**resources, **changes}.values() if found is not None]
