"""The network's perimeter: policies of endpoints, what binds buckets, and the firewall of names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.components.aws.recordings import document
from tests.components.aws.test_network import ENDPOINT, recorded
from tests.pulumi_harness import Recording, record
from trainyard.components.aws.buckets import Bucket
from trainyard.components.aws.dns_firewall import DnsFirewall, firewall_domains
from trainyard.components.aws.perimeter import REGION_BUCKETS

ACCOUNT = "111122223333"
OWN = {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": ACCOUNT}
RULE = "aws:route53/resolverFirewallRule:ResolverFirewallRule"


def policies(**changes: Any) -> dict[str, dict[str, Any]]:
    """Statements by id, by endpoint."""
    recording = recorded(account_id=ACCOUNT, interface_endpoints=["ecr.api", "ec2", "kms"], **changes)
    return {
        endpoint.inputs["serviceName"].removeprefix("com.amazonaws.us-east-1."): {
            statement["Sid"]: statement for statement in document(endpoint, "policy")["Statement"]
        }
        for endpoint in recording.of_type(ENDPOINT)
    }


def test_every_endpoint_takes_the_accounts_own() -> None:
    found = policies()
    assert set(found) == {"s3", "ecr.api", "ec2", "kms"}
    assert found["s3"]["OwnBuckets"]["Condition"] == {"StringEquals": OWN}
    assert found["kms"] == {"OwnResources": {**found["kms"]["OwnResources"], "Condition": {"StringEquals": OWN}}}
    # Images of nodes and of add-ons are AWS's.
    assert found["ec2"]["OwnPrincipals"]["Condition"] == {"StringEquals": {"aws:PrincipalAccount": ACCOUNT}}
    pull = found["ecr.api"]["PullImages"]
    assert pull["Condition"] == {"StringEquals": {"aws:PrincipalAccount": ACCOUNT}}
    assert not any(action.startswith(("ecr:Put", "ecr:Upload", "ecr:Initiate")) for action in pull["Action"])


def test_an_organisation_stands_for_its_accounts() -> None:
    condition = policies(organization_id="o-a1b2c3d4e5")["s3"]["OwnBuckets"]["Condition"]["StringEquals"]
    assert condition == {"aws:PrincipalOrgID": "o-a1b2c3d4e5", "aws:ResourceOrgID": "o-a1b2c3d4e5"}


def test_of_others_buckets_those_that_nodes_need_and_those_that_are_named_are_read() -> None:
    found = policies(public_buckets=["commoncrawl"])["s3"]
    images = found["ImagesAndPackages"]
    assert images["Action"] == ["s3:GetObject"]
    assert "arn:aws:s3:::prod-us-east-1-starport-layer-bucket/*" in images["Resource"]
    assert len(images["Resource"]) == len(REGION_BUCKETS)
    public = found["PublicBuckets"]
    assert public["Action"] == ["s3:GetObject", "s3:ListBucket"]
    assert public["Resource"] == ["arn:aws:s3:::commoncrawl", "arn:aws:s3:::commoncrawl/*"]
    assert "PublicBuckets" not in policies()["s3"]


def bucket(**owners: Any) -> list[dict[str, Any]]:
    args: Any = {
        "lifecycle_rules": [{"id": "x", "abort_uploads_days": 1}],
        "protect": False,
        "bound_to": {
            "owners": {"account_id": ACCOUNT, **owners},
            "vpc_id": "vpc-1",
            "admin_principal_arns": ["arn:aws:iam::111122223333:role/admin"],
        },
    }
    recording = record(lambda: Bucket("data", args))
    return list(document(recording.one("aws:s3/bucketPolicy:BucketPolicy"), "policy")["Statement"])


def test_whoever_runs_up_is_not_locked_out() -> None:
    """What manages a bucket, its policy above all, is denied to nobody of the account wherever he is."""
    for statement in bucket():
        asked = statement.get("Condition", {})
        if "aws:SourceVpc" not in asked.get("StringNotEquals", {}):
            continue
        of_pods = "Null" in asked
        assert of_pods or not any("Bucket" in action or action == "s3:*" for action in statement["Action"])


def test_the_way_out_is_the_administrators_and_services_of_aws() -> None:
    (objects,) = [found for found in bucket() if found["Sid"] == "DenyObjectsOutsideNetwork"]
    assert objects["Condition"]["ArnNotLike"]["aws:PrincipalArn"] == [
        "arn:aws:iam::111122223333:role/aws-service-role/*",
        "arn:aws:iam::111122223333:role/admin",
    ]
    assert objects["Condition"]["Bool"] == {"aws:PrincipalIsAWSService": "false", "aws:ViaAWSService": "false"}


def firewall(others: str) -> Recording:
    args: Any = {"vpc_id": "vpc-1", "names": [".hf.co", "pypi.org"], "others": others}
    return record(lambda: DnsFirewall("dns", args))


@pytest.mark.parametrize(("others", "action", "answer"), [("block", "BLOCK", "NXDOMAIN"), ("alert", "ALERT", None)])
def test_names_that_are_not_listed_come_last(others: str, action: str, answer: str | None) -> None:
    recording = firewall(others)
    allow, last = recording.one(RULE, "dns-allow").inputs, recording.one(RULE, "dns-others").inputs
    assert (allow["action"], last["action"], last.get("blockResponse")) == ("ALLOW", action, answer)
    assert allow["priority"] < last["priority"]
    assert allow["firewallDomainRedirectionAction"] == "TRUST_REDIRECTION_DOMAIN"
    lists = {
        found.name: found.inputs["domains"]
        for found in recording.of_type("aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList")
    }
    assert lists["dns-everything"] == ["*"]
    assert {"hf.co", "*.hf.co", "pypi.org", "*.amazonaws.com", "*.internal"} <= set(lists["dns-allowed"])
    assert "*" not in lists["dns-allowed"]
    association = recording.one("aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation")
    assert 100 < association.inputs["priority"] < 9900


def test_a_name_is_listed_once() -> None:
    domains = firewall_domains(["quay.io", ".quay.io"])
    assert len(domains) == len(set(domains))
    assert json.dumps(domains) == json.dumps(sorted(domains))
