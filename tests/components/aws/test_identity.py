"""PodRole: who can take the role, and what a policy may not say."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.components.aws.recordings import ATTACHMENT, ROLE, ROLE_POLICY, create_roles, document
from tests.pulumi_harness import Recording, record
from trainyard.components.aws.identity import LONGEST_ROLE_NAME, PodRole, least_privilege

CLUSTER_ARN = "arn:aws:eks:us-east-1:111122223333:cluster/acme-production"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
READ = {
    "Version": "2012-10-17",
    "Statement": [{"Sid": "Read", "Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}],
}


def arguments(**changes: Any) -> Any:
    return {
        "cluster_name": "acme-production",
        "cluster_arn": CLUSTER_ARN,
        "namespace": "mlflow",
        "service_accounts": ["server", "backup"],
        "policy": READ,
        "description": "Tracking server",
        **changes,
    }


def recorded(name: str = "tracking", preview: bool = False, **changes: Any) -> Recording:
    return record(lambda: PodRole(name, arguments(**changes)), preview=preview)


def test_only_the_named_service_accounts_of_the_cluster_of_the_account_can_take_it() -> None:
    trust = document(recorded().one(ROLE), "assumeRolePolicy")["Statement"]
    assert len(trust) == 1
    assert trust[0]["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert trust[0]["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert trust[0]["Condition"] == {
        "StringEquals": {
            "aws:SourceAccount": "111122223333",
            "aws:RequestTag/eks-cluster-arn": CLUSTER_ARN,
            "aws:RequestTag/kubernetes-namespace": "mlflow",
            "aws:RequestTag/kubernetes-service-account": ["server", "backup"],
        }
    }


def test_an_association_for_each_service_account_once_the_role_may_do_its_work() -> None:
    recording = recorded(managed_policy_arns=["arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"])
    permissions = {r.urn for r in (*recording.of_type(ROLE_POLICY), *recording.of_type(ATTACHMENT))}
    assert len(permissions) == 2
    associations = recording.of_type(ASSOCIATION)
    assert {a.inputs["serviceAccount"] for a in associations} == {"server", "backup"}
    for association in associations:
        assert association.inputs["namespace"] == "mlflow"
        assert permissions <= set(association.dependencies)


def test_without_a_policy_it_may_do_nothing() -> None:
    args = arguments()
    del args["policy"]
    recording = record(lambda: PodRole("nothing", args))
    assert not recording.of_type(ROLE_POLICY)
    assert not recording.of_type(ATTACHMENT)


def test_outputs_stand_anywhere_in_the_policy() -> None:
    def program() -> None:
        arn = pulumi.Output.concat("arn:aws:s3:::", pulumi.Output.from_input("data"), "/*")
        PodRole(
            "reader",
            arguments(
                policy={
                    "Version": "2012-10-17",
                    "Statement": [{"Sid": "R", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [arn]}],
                }
            ),
        )

    written = document(record(program).one(ROLE_POLICY), "policy")
    assert written["Statement"][0]["Resource"] == ["arn:aws:s3:::data/*"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ({"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"}, r"statement All: action '\*'"),
        ({"Effect": "Allow", "Action": ["s3:GetObject", "s3:*"], "Resource": "*"}, r"number 1: action 's3:\*'"),
        ({"Sid": "Rest", "Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, "Rest: NotAction"),
        ({"Sid": "Rest", "Effect": "Allow", "Action": "s3:GetObject", "NotResource": "x"}, "Rest: NotResource"),
    ],
)
def test_a_policy_that_allows_everything_is_refused(statement: dict[str, Any], message: str) -> None:
    for statements in (statement, [statement]):
        policy = {"Version": "2012-10-17", "Statement": statements}
        with pytest.raises(ValueError, match=message):
            least_privilege(policy)
    with pytest.raises(Exception, match=message):
        recorded(policy=policy)


def test_a_deny_may_be_as_wide_as_it_likes() -> None:
    deny = {"Statement": [{"Effect": "Deny", "Action": "*", "NotResource": "arn:aws:s3:::data"}]}
    assert least_privilege(deny) is deny


def test_names_that_iam_would_refuse() -> None:
    longest = "r" * LONGEST_ROLE_NAME
    assert recorded(longest).one(ROLE).name == longest
    with pytest.raises(ValueError, match="57 characters, a role's name holds at most 56"):
        recorded(longest + "r")
    with pytest.raises(ValueError, match="service_accounts is empty"):
        recorded(service_accounts=[])


def test_first_preview_registers_the_same_resources() -> None:
    known, unknown = recorded(), recorded(preview=True)
    assert {(r.type, r.name) for r in known.resources} == {(r.type, r.name) for r in unknown.resources}


def test_iam_takes_it() -> None:
    recording = recorded(managed_policy_arns=["arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"])
    assert create_roles(recording) == {"tracking": {"AmazonEKS_CNI_Policy", "tracking-policy"}}


def test_iam_refuses_a_managed_policy_that_does_not_exist() -> None:
    recording = recorded(managed_policy_arns=["arn:aws:iam::aws:policy/AmazonEKSCNIPolicy"])
    with pytest.raises(Exception, match="AmazonEKSCNIPolicy"):
        create_roles(recording)
