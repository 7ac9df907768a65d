"""moto as the judge, where it really refuses: our verdict is the same, or ours is the stricter one and says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ParamValidationError
from moto import mock_aws

from tests.rehearsal.refusals.builders import ACCOUNT, findings, policy, resource
from trainyard.rehearsal.refusals.aws.eks import instance_types

S = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}
POLICIES = {
    "right": policy(S),
    "several": policy({**S, "Sid": "A"}, {**S, "Sid": "B", "Action": ["s3:PutObject", "s3:List*"]}),
    "no prefix": policy({**S, "Action": "GetObject"}),
    "no arn": policy({**S, "Resource": "data"}),
    "same sid": policy({**S, "Sid": "A"}, {**S, "Sid": "A"}),
    "empty": policy(),
    "effect": policy({**S, "Effect": "Maybe"}),
    "version": json.dumps({"Version": "2020-01-01", "Statement": [S]}),
    "no json": "{",
    "list": "[]",
    "no action": policy({"Effect": "Allow", "Resource": "*"}),
    "no resource": policy({"Effect": "Allow", "Action": "s3:GetObject"}),
    "both": policy({**S, "NotAction": "s3:PutObject"}),
}


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "testing")
    with mock_aws():
        yield lambda service: boto3.client(service, region_name="us-east-1")


def refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (ClientError, ParamValidationError):
        return True
    return False


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_judged_as_moto_does(name: str, cloud: Callable[[str], Any]) -> None:
    ours = findings([resource("aws:iam/policy:Policy", "p", {"name": "p", "policy": POLICIES[name]})])
    theirs = refused(lambda: cloud("iam").create_policy(PolicyName="p", PolicyDocument=POLICIES[name]))
    assert bool(ours) is theirs, [str(item) for item in ours]


def test_a_principal_in_an_identitys_policy_is_refused_by_us_alone(cloud: Callable[[str], Any]) -> None:
    """IAM refuses it ("should not specify a principal"); moto lets it pass."""
    document = policy({**S, "Principal": {"AWS": "*"}})
    assert not refused(lambda: cloud("iam").create_policy(PolicyName="p", PolicyDocument=document))
    found = findings([resource("aws:iam/policy:Policy", "p", {"name": "p", "policy": document})])
    assert [item.rule for item in found] == ["iam-principal"]


@pytest.mark.parametrize("block", ["10.20.0.0/20", "10.20.16.0/20", "10.30.0.0/20", "10.0.0.0/8", "10.20.0.128/25"])
def test_subnets_are_judged_as_moto_does(block: str, cloud: Callable[[str], Any]) -> None:
    ec2 = cloud("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/24")
    theirs = refused(lambda: ec2.create_subnet(VpcId=vpc, CidrBlock=block))
    ours = findings(
        [
            resource("aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "10.20.0.0/16"}, "vpc-1"),
            resource("aws:ec2/subnet:Subnet", "first", {"vpcId": "vpc-1", "cidrBlock": "10.20.0.0/24"}),
            resource("aws:ec2/subnet:Subnet", "second", {"vpcId": "vpc-1", "cidrBlock": block}),
        ]
    )
    assert bool(ours) is theirs, [str(item) for item in ours]


@pytest.mark.parametrize("size", [63, 64])
def test_database_identifiers_are_judged_as_moto_does(size: int, cloud: Callable[[str], Any]) -> None:
    name = "a" * size
    theirs = refused(
        lambda: cloud("rds").create_db_instance(
            DBInstanceIdentifier=name, DBInstanceClass="db.t4g.medium", Engine="postgres", AllocatedStorage=20
        )
    )
    ours = [
        f
        for f in findings([resource("aws:rds/instance:Instance", "db", {"identifier": name})])
        if f.path == "identifier"
    ]
    assert bool(ours) is theirs


def test_a_node_group_with_a_disk_beside_its_template_is_refused_by_both(cloud: Callable[[str], Any]) -> None:
    eks = cloud("eks")
    role = f"arn:aws:iam::{ACCOUNT}:role/node"
    eks.create_cluster(name="c", roleArn=role, resourcesVpcConfig={"subnetIds": ["subnet-1"]})
    assert refused(
        lambda: eks.create_nodegroup(
            clusterName="c",
            nodegroupName="n",
            subnets=["subnet-1"],
            nodeRole=role,
            diskSize=50,
            launchTemplate={"id": "lt-1"},
        )
    )
    inputs = {"clusterName": "c", "diskSize": 50, "launchTemplate": {"id": "lt-1", "version": "1"}}
    found = findings([resource("aws:eks/nodeGroup:NodeGroup", "n", inputs)])
    assert ("launch-template-conflict", "diskSize") in [(item.rule, item.path) for item in found]


def test_every_instance_type_that_moto_offers_is_known(cloud: Callable[[str], Any]) -> None:
    pages = cloud("ec2").get_paginator("describe_instance_types").paginate()
    offered = {item["InstanceType"] for page in pages for item in page["InstanceTypes"]}
    assert len(offered) > 1000
    assert sorted(offered - set(instance_types())) == []
