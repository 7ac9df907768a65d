"""Condition operators of IAM, one case a rule of the user guide's pages on condition operators and context keys."""

import pytest

from trainyard.rehearsal.works.rights.aws.conditions import UnknownOperator, holds

GIVEN = {
    "aws:principalorgid": ("o-ours",),
    "s3:prefix": ("teams/vision/a",),
    "aws:sourcearn": ("arn:aws:eks:us-east-1:111122223333:cluster/demo",),
    "aws:sourceip": ("203.0.113.7",),
    "s3:tlsversion": ("1.2",),
    "aws:currenttime": ("2026-11-22T12:00:00+00:00",),
    "aws:securetransport": ("true",),
    "aws:tagkeys": ("team", "cost"),
    "aws:principaltag/team": ("vision",),
}

CASES = [
    # "String condition operators"
    ("StringEquals is exact", {"StringEquals": {"aws:PrincipalOrgID": "o-ours"}}, True),
    ("StringEquals knows case", {"StringEquals": {"aws:PrincipalOrgID": "O-OURS"}}, False),
    ("StringEquals knows no wildcard", {"StringEquals": {"s3:prefix": "teams/*"}}, False),
    ("StringEqualsIgnoreCase", {"StringEqualsIgnoreCase": {"aws:PrincipalOrgID": "O-OURS"}}, True),
    ("StringLike has wildcards", {"StringLike": {"s3:prefix": "teams/vision/*"}}, True),
    ("StringLike: ? is one character", {"StringLike": {"s3:prefix": "teams/vision/??"}}, False),
    ("StringNotLike", {"StringNotLike": {"s3:prefix": "teams/vision/*"}}, False),
    # "Conditions with multiple context keys or values": OR, AND, NOR
    ("one of several values", {"StringEquals": {"aws:PrincipalOrgID": ["o-other", "o-ours"]}}, True),
    ("a negated operator wants none of them", {"StringNotEquals": {"aws:PrincipalOrgID": ["o-x", "o-ours"]}}, False),
    ("every key", {"StringEquals": {"aws:PrincipalOrgID": "o-ours", "s3:prefix": "x"}}, False),
    ("every operator", {"StringEquals": {"s3:TlsVersion": "1.2"}, "Bool": {"aws:SecureTransport": "false"}}, False),
    ("keys in any case", {"StringEquals": {"AWS:principalorgID": "o-ours"}}, True),
    # keys that the request lacks
    ("a missing key fails", {"StringEquals": {"aws:SourceVpc": "vpc-1"}}, False),
    ("and holds when negated", {"StringNotEquals": {"aws:SourceVpc": "vpc-1"}}, True),
    ("…IfExists holds without the key", {"StringEqualsIfExists": {"aws:SourceVpc": "vpc-1"}}, True),
    ("…IfExists asks the key that is there", {"StringEqualsIfExists": {"aws:PrincipalOrgID": "o-x"}}, False),
    ("Null true: the key is absent", {"Null": {"aws:SourceVpc": "true"}}, True),
    ("Null false: the key is there", {"Null": {"aws:SourceVpc": "false"}}, False),
    ("Null of a key that is there", {"Null": {"s3:prefix": "false"}}, True),
    # "Numeric", "Date", "Boolean", "IP address"
    ("NumericLessThan", {"NumericLessThan": {"s3:TlsVersion": "1.3"}}, True),
    ("NumericGreaterThanEquals", {"NumericGreaterThanEquals": {"s3:TlsVersion": "1.2"}}, True),
    ("a number that is none", {"NumericEquals": {"s3:prefix": "1"}}, False),
    ("DateLessThan", {"DateLessThan": {"aws:CurrentTime": "2027-01-01T00:00:00Z"}}, True),
    ("DateGreaterThan", {"DateGreaterThan": {"aws:CurrentTime": "2027-01-01T00:00:00Z"}}, False),
    ("Bool", {"Bool": {"aws:SecureTransport": True}}, True),
    ("Bool of a text", {"Bool": {"aws:SecureTransport": "false"}}, False),
    ("IpAddress", {"IpAddress": {"aws:SourceIp": "203.0.113.0/24"}}, True),
    ("NotIpAddress", {"NotIpAddress": {"aws:SourceIp": ["203.0.113.0/24", "198.51.100.0/24"]}}, False),
    ("NotIpAddress without an address", {"NotIpAddress": {"aws:VpcSourceIp": "10.0.0.0/8"}}, True),
    # "ARN condition operators": each part apart
    ("ArnLike", {"ArnLike": {"aws:SourceArn": "arn:aws:eks:*:111122223333:cluster/*"}}, True),
    ("ArnEquals has wildcards too", {"ArnEquals": {"aws:SourceArn": "arn:aws:eks:*:111122223333:cluster/demo"}}, True),
    ("a wildcard stays in its part", {"ArnLike": {"aws:SourceArn": "arn:aws:eks:*:cluster/demo"}}, False),
    ("ArnNotLike", {"ArnNotLike": {"aws:SourceArn": "arn:aws:eks:*:111122223333:cluster/*"}}, False),
    # "Single-valued vs. multivalued context keys"
    ("ForAllValues: all are named", {"ForAllValues:StringEquals": {"aws:TagKeys": ["team", "cost", "x"]}}, True),
    ("ForAllValues: one is not", {"ForAllValues:StringEquals": {"aws:TagKeys": ["team"]}}, False),
    ("ForAllValues holds for no value", {"ForAllValues:StringEquals": {"x:y": ["team"]}}, True),
    ("ForAnyValue: one is named", {"ForAnyValue:StringEquals": {"aws:TagKeys": ["team"]}}, True),
    ("ForAnyValue fails for no value", {"ForAnyValue:StringEquals": {"x:y": ["team"]}}, False),
    ("ForAnyValue negated fails for no value", {"ForAnyValue:StringNotEquals": {"x:y": ["team"]}}, False),
    ("ForAnyValue negated", {"ForAnyValue:StringNotEquals": {"aws:TagKeys": ["team"]}}, True),
    # "Variables and tags"
    ("a variable", {"StringLike": {"s3:prefix": "teams/${aws:PrincipalTag/team}/*"}}, True),
    ("a variable without a value", {"StringLike": {"s3:prefix": "teams/${aws:PrincipalTag/owner}/*"}}, False),
    ("its default", {"StringLike": {"s3:prefix": "teams/${aws:PrincipalTag/owner, 'vision'}/*"}}, True),
    ("no default where it has a value", {"StringLike": {"s3:prefix": "${aws:PrincipalTag/team, 'teams'}/*"}}, False),
    ("a key of several values stands for none", {"StringLike": {"s3:prefix": "${aws:TagKeys}*"}}, False),
    ("a star that is one", {"StringLike": {"s3:prefix": "teams/${*}"}}, False),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_condition(condition, expected):
    assert holds({"Condition": condition}, GIVEN, variables=True) is expected


def test_without_a_version_variables_are_text():
    condition = {"StringLike": {"s3:prefix": "teams/${aws:PrincipalTag/team}/*"}}
    assert not holds({"Condition": condition}, GIVEN, variables=False)


def test_an_operator_that_does_not_exist_is_told():
    with pytest.raises(UnknownOperator, match="StringIs"):
        holds({"Condition": {"StringIs": {"a": "b"}}}, GIVEN, variables=True)
