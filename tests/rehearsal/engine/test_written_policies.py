"""Documents as the provider's data source writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.engine.wire import says_nothing
from trainyard.rehearsal.engine.written_policies import policy_document


def written(**arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(policy_document(arguments)["json"])
    return found


def of(**statement: Any) -> Any:
    """The one statement that is made of these arguments."""
    (found,) = written(statements=[statement])["Statement"]
    return found


def test_a_document_with_something_unknown_in_it_is_unknown() -> None:
    statement = {"actions": ["s3:GetObject"], "resources": [UNKNOWN]}
    assert all(map(says_nothing, policy_document({"statements": [statement]}).values()))


EVERYBODY = {"type": "*", "identifiers": ["*"]}
ROLES = {"type": "AWS", "identifiers": ["arn:aws:iam::1:role/a", "arn:aws:iam::1:role/b"]}
ONE = {"type": "AWS", "identifiers": ["arn:aws:iam::1:role/c"]}
SERVICE = {"type": "Service", "identifiers": ["ec2.amazonaws.com"]}


@pytest.mark.parametrize(
    ("principals", "expected"),
    [
        ([EVERYBODY], "*"),
        ([{"type": "AWS", "identifiers": ["*"]}], {"AWS": "*"}),
        ([SERVICE], {"Service": "ec2.amazonaws.com"}),
        ([ROLES, ONE], {"AWS": [*ROLES["identifiers"], *ONE["identifiers"]]}),
        ([ONE, SERVICE], {"AWS": ONE["identifiers"][0], "Service": "ec2.amazonaws.com"}),
    ],
)
def test_principals_are_put_together_by_their_types(principals: list[Any], expected: Any) -> None:
    assert of(principals=principals, actions=["s3:*"])["Principal"] == expected


def test_conditions_on_one_key_are_put_together() -> None:
    asked = [{"test": "StringLike", "variable": "aws:userid", "values": [value]} for value in ("a", "b")]
    tls = {"test": "Bool", "variable": "aws:SecureTransport", "values": ["false"]}
    expected = {"StringLike": {"aws:userid": ["a", "b"]}, "Bool": {"aws:SecureTransport": "false"}}
    assert of(conditions=[*asked, tls])["Condition"] == expected


def test_variables_are_those_of_iam() -> None:
    assert of(resources=["arn:aws:s3:::home/&{aws:username}/*"])["Resource"] == "arn:aws:s3:::home/${aws:username}/*"


def test_a_document_builds_on_others_and_is_overridden_by_ids() -> None:
    def text(*statements: Any) -> str:
        return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})

    found = written(
        policyId="p",
        sourcePolicyDocuments=[text({"Sid": "A", "Action": "s3:*"}, {"Action": "sns:*"}), ""],
        statements=[{"sid": "A", "actions": ["s3:Get*"]}, {"sid": "B", "actions": ["sqs:*"]}],
        overridePolicyDocuments=[text({"Sid": "B", "Action": "kms:*"}, {"Sid": "C", "Action": "ec2:*"})],
    )
    assert found["Id"] == "p"
    assert [one["Action"] for one in found["Statement"]] == ["s3:Get*", "sns:*", "kms:*", "ec2:*"]
