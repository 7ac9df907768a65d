"""Policies of pods that use a bucket."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pulumi
import pytest
from moto import mock_aws

from components.aws.bucket_policies import read_only_policy, read_write_policy
from tests.components.aws.api_shape import KEY_ARN, REGION
from tests.pulumi_harness import record

BUCKET_ARN = "arn:aws:s3:::acme-checkpoints"


def by_sid(policy: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {statement["Sid"]: statement for statement in policy["Statement"]}


@pytest.mark.parametrize("prefix", ["vision", "vision/", "/vision/"])
@pytest.mark.parametrize("make", [read_only_policy, read_write_policy])
def test_a_prefix_is_a_folder(make: Any, prefix: str) -> None:
    found = by_sid(make(BUCKET_ARN, KEY_ARN, prefix))
    assert found["ListObjects"]["Resource"] == BUCKET_ARN
    # vision2/ is another team's: neither listed nor read.
    assert found["ListObjects"]["Condition"] == {"StringLike": {"s3:prefix": ["vision/*"]}}
    assert found["UseObjects"]["Resource"] == f"{BUCKET_ARN}/vision/*"


@pytest.mark.parametrize("make", [read_only_policy, read_write_policy])
def test_without_prefix_the_whole_bucket(make: Any) -> None:
    found = by_sid(make(BUCKET_ARN, KEY_ARN))
    assert "Condition" not in found["ListObjects"]
    assert found["UseObjects"]["Resource"] == f"{BUCKET_ARN}/*"


def test_reading_takes_no_more_than_reading() -> None:
    found = by_sid(read_only_policy(BUCKET_ARN, KEY_ARN, "vision"))
    assert {sid: statement["Action"] for sid, statement in found.items()} == {
        "ListObjects": ["s3:ListBucket"],
        "UseObjects": ["s3:GetObject"],
        "UseKey": ["kms:Decrypt"],
    }
    assert found["UseKey"]["Resource"] == KEY_ARN


def test_writing_in_parts_but_never_deleting_versions() -> None:
    found = by_sid(read_write_policy(BUCKET_ARN, KEY_ARN, "vision"))
    assert {sid: statement["Action"] for sid, statement in found.items()} == {
        "ListObjects": ["s3:ListBucket"],
        "UseObjects": [
            "s3:GetObject",
            "s3:PutObject",
            "s3:DeleteObject",
            "s3:AbortMultipartUpload",
            "s3:ListMultipartUploadParts",
        ],
        "UseKey": ["kms:Decrypt", "kms:GenerateDataKey"],
    }


@pytest.mark.parametrize("prefix", ["*", "vis?on", "${aws:username}"])
def test_a_prefix_cannot_widen_the_policy(prefix: str) -> None:
    with pytest.raises(ValueError, match="mean something else in a policy"):
        read_only_policy(BUCKET_ARN, KEY_ARN, prefix)


def test_outputs_stay_outputs_and_give_the_same_document() -> None:
    seen: list[str] = []

    def program() -> None:
        policy = read_write_policy(pulumi.Output.from_input(BUCKET_ARN), pulumi.Output.from_input(KEY_ARN), "vision")
        pulumi.Output.json_dumps(policy).apply(seen.append)

    record(program)
    assert json.loads(seen[0]) == read_write_policy(BUCKET_ARN, KEY_ARN, "vision")


@mock_aws
@pytest.mark.parametrize("prefix", ["", "vision"])
def test_iam_accepts_them(prefix: str) -> None:
    iam = boto3.client("iam", region_name=REGION)
    for make in (read_only_policy, read_write_policy):
        document = json.dumps(make(BUCKET_ARN, KEY_ARN, prefix))
        arn = iam.create_policy(PolicyName=make.__name__, PolicyDocument=document)["Policy"]["Arn"]
        version = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]
        assert version["Document"] == json.loads(document)
