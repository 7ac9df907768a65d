"""Policies of the workloads: what they allow, and that AWS's grammar takes them."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping
from typing import Any

import boto3
import pulumi
import pytest
from moto import mock_aws

from tests.pulumi_harness import plain, record
from trainyard.components.aws import workload_policies as policies
from trainyard.components.aws.identity import PodRole, least_privilege
from trainyard.components.aws.workload_policies import BucketPart

KEY = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-4000-8000-333333333333"
OTHER_KEY = KEY.replace("key/1", "key/2")
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:rds!db-1-AbCdEf"
EFS = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
ACCESS_POINT = "arn:aws:elasticfilesystem:us-east-1:123456789012:access-point/fsap-0123456789abcdef0"
BUCKET, OTHER = "arn:aws:s3:::acme-artifacts", "arn:aws:s3:::acme-data"


def _made(name: str) -> dict[str, Any]:
    return {
        "autoscaler": lambda: policies.autoscaler_policy("acme-production"),
        "fsx": policies.fsx_csi_policy,
        "efs": lambda: policies.efs_csi_policy(EFS),
        "efs-mounts": lambda: policies.efs_mount_policy(EFS, [ACCESS_POINT]),
        "team": lambda: policies.bucket_mount_policy(
            read_write=[BucketPart(BUCKET, "teams/vision/", KEY)],
            read_only=[BucketPart(OTHER, "", OTHER_KEY)],
            region="us-east-1",
        ),
        "reader": lambda: policies.bucket_mount_policy(read_only=[BucketPart(OTHER, "", KEY)], region="us-east-1"),
        "mlflow": lambda: policies.mlflow_policy(
            bucket_arn=BUCKET, prefix="mlflow", secret_arn=SECRET, key_arn=KEY, region="us-east-1"
        ),
    }[name]()


NAMES = ("autoscaler", "fsx", "efs", "efs-mounts", "team", "reader", "mlflow")


def resolved(name: str) -> dict[str, Any]:
    """The document as it reaches AWS, through the role that carries it."""

    def program() -> None:
        PodRole(
            "role",
            {
                "cluster_name": "acme-production",
                "cluster_arn": "arn:aws:eks:us-east-1:111122223333:cluster/acme-production",
                "namespace": "kube-system",
                "service_accounts": ["account"],
                "policy": _made(name),
                "description": "test",
            },
        )

    inputs = plain(record(program).one("aws:iam/rolePolicy:RolePolicy").inputs)
    found: dict[str, Any] = json.loads(inputs["policy"])
    return found


def allows(document: Mapping[str, Any], action: str, resource: str, context: Mapping[str, str] | None = None) -> bool:
    """Whether a document allows an action, for the operators that these documents use."""

    def listed(value: Any) -> list[str]:
        return [value] if isinstance(value, str) else list(value)

    def holds(condition: Mapping[str, Mapping[str, Any]]) -> bool:
        for operator, keys in condition.items():
            assert operator in ("StringEquals", "StringLike", "ArnLike")
            for key, patterns in keys.items():
                given = (context or {}).get(key)
                match = str.__eq__ if operator == "StringEquals" else fnmatch.fnmatchcase
                if given is None or not any(match(given, pattern) for pattern in listed(patterns)):
                    return False
        return True

    return any(
        action in listed(statement["Action"])
        and any(fnmatch.fnmatchcase(resource, pattern) for pattern in listed(statement["Resource"]))
        and holds(statement.get("Condition", {}))
        for statement in document["Statement"]
    )


@mock_aws
@pytest.mark.parametrize("name", NAMES)
def test_the_grammar_is_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "test")
    document = resolved(name)
    least_privilege(document)
    boto3.client("iam", region_name="us-east-1").create_policy(PolicyName=name, PolicyDocument=json.dumps(document))
    sids = [statement["Sid"] for statement in document["Statement"]]
    assert len(sids) == len(set(sids))


def test_the_autoscaler_changes_groups_of_its_cluster_only() -> None:
    document = resolved("autoscaler")
    group = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/eks-train"
    own = {"aws:ResourceTag/k8s.io/cluster-autoscaler/acme-production": "owned"}
    other = {"aws:ResourceTag/k8s.io/cluster-autoscaler/another": "owned"}
    for action in ("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"):
        assert allows(document, action, group, own)
        assert not allows(document, action, group, other)
        assert not allows(document, action, group)
    assert allows(document, "eks:DescribeNodegroup", "arn:aws:eks:us-east-1:1:nodegroup/acme-production/train/x")
    assert not allows(document, "eks:DescribeNodegroup", "arn:aws:eks:us-east-1:1:nodegroup/another/train/x")


def test_everything_without_a_resource_or_condition_only_reads() -> None:
    for name in NAMES:
        for statement in resolved(name)["Statement"]:
            if statement["Resource"] == "*" and "Condition" not in statement:
                for action in statement["Action"]:
                    assert action.split(":")[1].startswith(("Describe", "Get")), (name, action)


def test_a_team_writes_below_its_prefix_and_reads_the_data() -> None:
    document = resolved("team")
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
        assert allows(document, action, f"{BUCKET}/teams/vision/step-1/model")
        assert not allows(document, action, f"{BUCKET}/teams/visionary/step-1/model")
        assert not allows(document, action, f"{BUCKET}/teams/language/step-1/model")
    assert allows(document, "s3:GetObject", f"{OTHER}/shard-1")
    assert not allows(document, "s3:PutObject", f"{OTHER}/shard-1")
    assert allows(document, "s3:ListBucket", BUCKET, {"s3:prefix": "teams/vision/"})
    assert not allows(document, "s3:ListBucket", BUCKET, {"s3:prefix": "teams/"})
    assert allows(document, "s3:ListBucket", OTHER)


def test_keys_are_used_through_the_service_only_and_for_the_bucket_only() -> None:
    via, of = {"kms:ViaService": "s3.us-east-1.amazonaws.com"}, "kms:EncryptionContext:aws:s3:arn"
    through, elsewhere = {**via, of: BUCKET}, {**via, of: "arn:aws:s3:::another"}
    team, reader = resolved("team"), resolved("reader")
    assert allows(team, "kms:GenerateDataKey", KEY, through)
    assert allows(team, "kms:Decrypt", KEY, {**via, of: f"{BUCKET}/teams/vision/step-1"})  # without a Bucket Key
    for context in ({of: BUCKET}, via, elsewhere):
        assert not allows(team, "kms:GenerateDataKey", KEY, context)
    assert allows(team, "kms:Decrypt", OTHER_KEY, {**via, of: OTHER})
    assert not allows(team, "kms:Decrypt", OTHER_KEY, through)
    assert not allows(team, "kms:GenerateDataKey", OTHER_KEY, {**via, of: OTHER})
    assert allows(reader, "kms:Decrypt", KEY, {**via, of: OTHER})
    assert not allows(reader, "kms:GenerateDataKey", KEY, {**via, of: OTHER})


def test_mlflow_decrypts_its_own_password_only() -> None:
    via, of = {"kms:ViaService": "secretsmanager.us-east-1.amazonaws.com"}, "kms:EncryptionContext:SecretARN"
    assert allows(resolved("mlflow"), "kms:Decrypt", KEY, {**via, of: SECRET})
    assert not allows(resolved("mlflow"), "kms:Decrypt", KEY, {**via, of: SECRET.replace("db-1", "db-2")})
    assert not allows(resolved("mlflow"), "kms:GenerateDataKey", KEY, {**via, of: SECRET})


def test_mlflow_keeps_to_its_prefix_and_its_secret() -> None:
    document = resolved("mlflow")
    assert allows(document, "s3:PutObject", f"{BUCKET}/mlflow/1/model")
    assert not allows(document, "s3:PutObject", f"{BUCKET}/other/1/model")
    assert allows(document, "secretsmanager:GetSecretValue", SECRET)
    assert not allows(document, "secretsmanager:GetSecretValue", SECRET.replace("db-1", "db-2"))
    assert not allows(document, "secretsmanager:PutSecretValue", SECRET)


def test_nobody_orders_a_file_system_through_a_claim() -> None:
    assert not allows(resolved("fsx"), "fsx:CreateFileSystem", "*")
    assert not allows(resolved("efs"), "elasticfilesystem:CreateAccessPoint", "*")


def test_the_efs_driver_mounts_through_the_access_points_of_its_file_system_and_not_as_root() -> None:
    document, own = resolved("efs-mounts"), {"elasticfilesystem:AccessPointArn": ACCESS_POINT}
    other = {"elasticfilesystem:AccessPointArn": ACCESS_POINT.replace("fsap-0", "fsap-1")}
    assert allows(document, "elasticfilesystem:ClientWrite", EFS, own)
    assert not allows(document, "elasticfilesystem:ClientRootAccess", EFS, own)
    assert not allows(document, "elasticfilesystem:ClientMount", EFS, other)
    assert not allows(document, "elasticfilesystem:ClientMount", EFS)


def test_the_efs_driver_looks_its_own_file_system_up_only() -> None:
    assert allows(resolved("efs"), "elasticfilesystem:DescribeMountTargets", EFS)
    assert not allows(resolved("efs"), "elasticfilesystem:DescribeMountTargets", EFS.replace("fs-0", "fs-1"))


@pytest.mark.parametrize("prefix", ["teams/vision", "/teams/vision/"])
def test_a_prefix_that_lets_others_in_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="has to end, and must not begin, with a slash"):
        policies.bucket_mount_policy(read_write=[BucketPart(BUCKET, prefix, KEY)], region="us-east-1")


def test_no_bucket_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a bucket"):
        policies.bucket_mount_policy(region="us-east-1")


def test_arns_may_be_outputs() -> None:
    made: list[Any] = []

    def program() -> None:
        bucket = pulumi.Output.from_input(BUCKET)
        document = policies.mlflow_policy(
            bucket_arn=bucket, prefix="mlflow", secret_arn=SECRET, key_arn=KEY, region="us-east-1"
        )
        pulumi.Output.json_dumps(document).apply(made.append)

    record(program)
    assert f"{BUCKET}/mlflow/*" in made[0]
