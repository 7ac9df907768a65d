"""IAM policies of what runs in the cluster, one function a workload, each a plain policy document.

They hold what the program does with AWS and nothing else: no wildcard action, a resource or a condition on everything
that changes something. ARNs may be outputs; `PodRole` resolves them. The EBS driver, an
add-on of the cluster, uses AWS's managed policy (`add_ons.py`), which AWS keeps in step with the driver.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from trainyard.components.aws.key_policies import BUCKET_CONTEXT

Policy = dict[str, Any]
Statement = dict[str, Any]

_OBJECT_READS = ["s3:GetObject"]
_OBJECT_WRITES = ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]


def autoscaler_policy(cluster_name: str) -> Policy:
    """Cluster Autoscaler with automatic discovery.

    It may read about every group and instance type, for which AWS knows no narrower resource, and may change only
    groups that carry the tag of this cluster, which EKS puts on the groups of managed node groups.
    Source: the "full features" policy of the autoscaler's AWS guide, version 1.35, narrowed by the tag.
    """
    return _policy(
        {
            "Sid": "Discover",
            "Effect": "Allow",
            "Action": [
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "autoscaling:DescribeTags",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
            ],
            "Resource": "*",
        },
        {
            "Sid": "ReadEmptyNodeGroups",
            "Effect": "Allow",
            "Action": ["eks:DescribeNodegroup"],
            "Resource": f"arn:aws:eks:*:*:nodegroup/{cluster_name}/*/*",
        },
        {
            "Sid": "ScaleOwnGroups",
            "Effect": "Allow",
            "Action": ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            "Resource": "*",
            "Condition": {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"}},
        },
    )


def fsx_csi_policy() -> Policy:
    """FSx for Lustre driver, for file systems that the stack makes.

    Volumes are static, so the driver looks file systems up and no more. Without the right to create one, nobody can
    order 1.2 TiB through a PersistentVolumeClaim, outside of the plan and of the budget.
    """
    return _policy(
        {"Sid": "LookUp", "Effect": "Allow", "Action": ["fsx:DescribeFileSystems"], "Resource": "*"},
    )


def efs_csi_policy(file_system_arn: pulumi.Input[str]) -> Policy:
    """EFS driver's controller, for the one file system that the stack makes: it looks the mount target up."""
    return _policy(
        {
            "Sid": "LookUp",
            "Effect": "Allow",
            "Action": [
                "elasticfilesystem:DescribeAccessPoints",
                "elasticfilesystem:DescribeFileSystems",
                "elasticfilesystem:DescribeMountTargets",
            ],
            "Resource": file_system_arn,
        },
        {
            "Sid": "Zones",
            "Effect": "Allow",
            "Action": ["ec2:DescribeAvailabilityZones"],
            "Resource": "*",
        },
    )


def efs_mount_policy(file_system_arn: pulumi.Input[str], access_point_arns: Sequence[pulumi.Input[str]]) -> Policy:
    """EFS driver's node part, which mounts with a role of its own: through the teams' access points, and not as root.

    The driver knows no pod's role. What a team mounts is what its volumes name, and teams make none.
    """
    return _policy(
        {
            "Sid": "MountDirectories",
            "Effect": "Allow",
            "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
            "Resource": file_system_arn,
            "Condition": {"StringEquals": {"elasticfilesystem:AccessPointArn": list(access_point_arns)}},
        },
    )


@dataclass(frozen=True)
class BucketPart:
    """What lies below a prefix of a bucket, and the key that encrypts it."""

    arn: pulumi.Input[str]
    """ARN of the bucket."""
    prefix: str
    """Ends with a slash; "" is the whole bucket."""
    key_arn: pulumi.Input[str]
    """KMS key of its objects."""


def bucket_mount_policy(
    *,
    read_write: Sequence[BucketPart] = (),
    read_only: Sequence[BucketPart] = (),
    region: pulumi.Input[str],
) -> Policy:
    """Mountpoint for S3, mounting as the pod's own service account: what one team may see of the buckets.

    The driver itself needs no role: its volumes say `authenticationSource: pod`. Raises ValueError without a bucket, or
    for a prefix that would let in its longer siblings ("teams/a" also means "teams/ab/").
    """
    everything = [*read_write, *read_only]
    if not everything:
        raise ValueError("bucket_mount_policy: needs a bucket in read_write or read_only")
    for part in everything:
        if part.prefix and (not part.prefix.endswith("/") or part.prefix.startswith("/")):
            raise ValueError(
                f"bucket_mount_policy: prefix {part.prefix!r} has to end, and must not begin, with a slash"
            )
    statements: list[Statement] = [
        {
            "Sid": f"List{number}",
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": part.arn,
            **({"Condition": {"StringLike": {"s3:prefix": [part.prefix, f"{part.prefix}*"]}}} if part.prefix else {}),
        }
        for number, part in enumerate(everything, start=1)
    ]
    statements.append(
        {"Sid": "Read", "Effect": "Allow", "Action": _OBJECT_READS, "Resource": [_objects(part) for part in everything]}
    )
    if read_write:
        statements.append(
            {
                "Sid": "Write",
                "Effect": "Allow",
                "Action": _OBJECT_WRITES,
                "Resource": [_objects(part) for part in read_write],
            }
        )
    keys = [
        _use_key(f"Key{number}", part.key_arn, region, "s3", _of_bucket(part.arn), write=part in read_write)
        for number, part in enumerate(everything, start=1)
    ]
    return _policy(*statements, *keys)


def _objects(part: BucketPart) -> pulumi.Output[str]:
    return pulumi.Output.concat(part.arn, "/", part.prefix, "*")


def mlflow_policy(
    *,
    bucket_arn: pulumi.Input[str],
    prefix: str,
    secret_arn: pulumi.Input[str],
    key_arn: pulumi.Input[str],
    region: pulumi.Input[str],
) -> Policy:
    """MLflow server: its prefix of the artifacts bucket, and the password of its database.

    `prefix` has no slash at its ends. Deleting is part of MLflow's API; the bucket keeps superseded versions.
    """
    return _policy(
        {
            "Sid": "ListArtifacts",
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": bucket_arn,
            "Condition": {"StringLike": {"s3:prefix": [f"{prefix}/*"]}},
        },
        {
            "Sid": "Artifacts",
            "Effect": "Allow",
            "Action": [*_OBJECT_READS, *_OBJECT_WRITES],
            "Resource": pulumi.Output.concat(bucket_arn, "/", prefix, "/*"),
        },
        {
            "Sid": "DatabasePassword",
            "Effect": "Allow",
            "Action": ["secretsmanager:GetSecretValue"],
            "Resource": secret_arn,
        },
        _use_key("KeyOfArtifacts", key_arn, region, "s3", _of_bucket(bucket_arn), write=True),
        _use_key(
            "KeyOfPassword",
            key_arn,
            region,
            "secretsmanager",
            {"StringEquals": {"kms:EncryptionContext:SecretARN": secret_arn}},
            write=False,
        ),
    )


def alertmanager_policy(
    *, topic_arns: Sequence[pulumi.Input[str]], key_arn: pulumi.Input[str], region: pulumi.Input[str]
) -> Policy:
    """Alertmanager: publishing to the environment's topics, and the key that encrypts what it publishes."""
    of_topics = {"StringEquals": {"kms:EncryptionContext:aws:sns:topicArn": list(topic_arns)}}
    return _policy(
        {"Sid": "Alerts", "Effect": "Allow", "Action": ["sns:Publish"], "Resource": list(topic_arns)},
        _use_key("KeyOfAlerts", key_arn, region, "sns", of_topics, write=True),
    )


def _policy(*statements: Statement) -> Policy:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def _of_bucket(bucket_arn: pulumi.Input[str]) -> dict[str, Any]:
    """The condition that a key is used for what lies in this bucket."""
    return {"ArnLike": {BUCKET_CONTEXT: [bucket_arn, pulumi.Output.concat(bucket_arn, "/*")]}}


def _use_key(
    sid: str,
    key_arn: pulumi.Input[str],
    region: pulumi.Input[str],
    service: str,
    condition: dict[str, Any],
    *,
    write: bool,
) -> Statement:
    """Use of a key through the named service only, for what the condition says."""
    through = {"kms:ViaService": pulumi.Output.concat(service, ".", region, ".amazonaws.com")}
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": ["kms:Decrypt", *(["kms:GenerateDataKey"] if write else [])],
        "Resource": key_arn,
        "Condition": {**condition, "StringEquals": {**condition.get("StringEquals", {}), **through}},
    }
