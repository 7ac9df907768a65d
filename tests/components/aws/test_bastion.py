"""Bastion: nobody comes in, its role is worth nothing, and nothing replaces it while an `up` goes through it."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import pytest

from tests.pulumi_harness import Recording, record
from trainyard.components.aws.bastion import Bastion

MACHINE = "aws:ec2/instance:Instance"


@pytest.fixture(scope="module")
def recording() -> Recording:
    def program() -> None:
        Bastion(
            "bastion",
            {"vpc_id": "vpc-0a", "subnet_id": "subnet-0a", "instance_type": "t3.nano", "name_tag": "acme-bastion"},
        )

    return record(program)


def test_nobody_comes_in(recording: Recording) -> None:
    types = {resource.type for resource in recording.resources}
    assert not {type_ for type_ in types if "IngressRule" in type_ or "KeyPair" in type_}
    assert "ingress" not in recording.one("aws:ec2/securityGroup:SecurityGroup").inputs
    machine = recording.one(MACHINE).inputs
    assert machine["associatePublicIpAddress"] is False
    assert "keyName" not in machine and "userData" not in machine


def test_its_role_opens_sessions_and_nothing_else(recording: Recording) -> None:
    (statement,) = json.loads(recording.one("aws:iam/rolePolicy:RolePolicy").inputs["policy"])["Statement"]
    assert statement["Effect"] == "Allow"
    for forbidden in ("ssm:GetParameter", "ssm:SendCommand", "s3:GetObject", "eks:DescribeCluster", "ec2messages:X"):
        assert not any(fnmatchcase(forbidden, action) for action in statement["Action"]), forbidden
    assert not [resource for resource in recording.resources if "Attachment" in resource.type]


def test_who_takes_its_place_on_the_host_gets_no_credentials_by_the_old_way(recording: Recording) -> None:
    machine = recording.one(MACHINE).inputs
    assert machine["metadataOptions"]["httpTokens"] == "required"
    assert machine["rootBlockDevice"]["encrypted"] is True


def test_a_newer_image_does_not_replace_it(recording: Recording) -> None:
    assert recording.one(MACHINE).ignore_changes == ("ami",)
