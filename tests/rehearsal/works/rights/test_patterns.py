"""How IAM compares texts of a policy with those of a request (user guide, elements Action and Resource)."""

import pytest

from trainyard.rehearsal.works.rights.aws.patterns import names_action, names_resource


@pytest.mark.parametrize(
    ("pattern", "action", "expected"),
    [
        ("s3:GetObject", "s3:GetObject", True),
        ("S3:getobject", "s3:GetObject", True),  # in any case
        ("s3:Get*", "s3:GetObjectVersion", True),
        ("s3:GetObject", "s3:GetObjectVersion", False),
        ("s3:Get?bject", "s3:GetObject", True),
        ("*", "kms:Decrypt", True),
        ("s3:*", "s3express:CreateSession", False),
    ],
)
def test_actions(pattern, action, expected):
    assert names_action(pattern, action) is expected


@pytest.mark.parametrize(
    ("pattern", "arn", "expected"),
    [
        ("*", "arn:aws:s3:::b/k", True),
        ("arn:aws:s3:::b/teams/a/*", "arn:aws:s3:::b/teams/a/x", True),
        ("arn:aws:s3:::b/teams/a/*", "arn:aws:s3:::b/teams/ab/x", False),
        ("arn:aws:s3:::b/teams/a*", "arn:aws:s3:::b/teams/ab/x", True),  # why a prefix ends in a slash
        ("arn:aws:s3:::b", "arn:aws:s3:::b/k", False),
        ("arn:aws:s3:::B", "arn:aws:s3:::b", False),  # case counts
        ("arn:aws:iam::*:role/x", "arn:aws:iam::111122223333:role/x", True),
        ("arn:aws:ec2:*:111122223333:volume/*", "arn:aws:ec2:us-east-1:111122223333:volume/vol-1", True),
        ("arn:aws:logs:us-*-1:1*3:log-group:*", "arn:aws:logs:us-east-1:123:log-group:a:log-stream:b", True),
        ("arn:aws:e*s:us-east-1:1:cluster/x", "arn:aws:eks:us-east-1:1:cluster/x", True),
        ("arn:aws:e*2:1:x", "arn:aws:ec2:us-east-1:2:1:x", False),  # stays within its part
        ("arn:aws:s3:::b/${aws:PrincipalTag/team}/*", "arn:aws:s3:::b/vision/x", True),
        ("arn:aws:s3:::b/${aws:PrincipalTag/none}/*", "arn:aws:s3:::b//x", False),
        ("arn:aws:s3:::b/${*}", "arn:aws:s3:::b/x", False),
    ],
)
def test_resources(pattern, arn, expected):
    assert names_resource(pattern, arn, {"aws:principaltag/team": ("vision",)}) is expected
