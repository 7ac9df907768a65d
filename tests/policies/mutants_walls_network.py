"""Mutants of the walls in and around the network: each opens one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.policies.mutants import Change, Mutant, Resources, drop, edit, put
from trainyard.recorded.model import RecordedResource

ADD_ON = "aws:eks/addon:Addon"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
RULE = "aws:route53/resolverFirewallRule:ResolverFirewallRule"
ASSOCIATION = "aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation"
NAMES = "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList"
MODE = "NETWORK_POLICY_ENFORCING_MODE"
HTTPS = [{"protocol": "TCP", "port": 443}]


def plugin(change: Callable[[dict[str, Any]], Any]) -> Change:
    """Configures the network plugin otherwise."""

    def into(inputs: dict[str, Any]) -> None:
        configuration = json.loads(inputs["configurationValues"])
        change(configuration)
        inputs["configurationValues"] = json.dumps(configuration)

    return edit(ADD_ON, "cluster-vpc-cni", into)


def statement(type_: str, name: str, sid: str, change: Callable[[dict[str, Any]], Any]) -> Change:
    """Changes one statement of a policy, where the document is known."""

    def into(inputs: dict[str, Any]) -> None:
        if isinstance(inputs["policy"], str):
            document = json.loads(inputs["policy"])
            (found,) = [one for one in document["Statement"] if one["Sid"] == sid]
            change(found)
            inputs["policy"] = json.dumps(document)

    return edit(type_, name, into)


def outside(change: Callable[[dict[str, Any]], Any]) -> Change:
    """Changes who may use objects of the checkpoints from outside."""
    return statement(BUCKET_POLICY, "acme-demo-checkpoints-policy", "DenyObjectsOutsideNetwork", change)


def rule(name: str, direction: str, **parts: Any) -> Change:
    """Adds a rule to a network policy."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"].setdefault(direction, []).append({key.rstrip("_"): value for key, value in parts.items()})

    return edit(POLICY, name, into)


def without_walls(beginning: str) -> Change:
    """Takes the network policies of a component out."""

    def change(resources: Resources) -> list[RecordedResource]:
        found = [one for one in resources if one.type != POLICY or not one.name.startswith(beginning)]
        assert len(found) < len(resources)
        return found

    return change


def _but_writes(found: dict[str, Any]) -> None:
    found["Action"] = [action for action in found["Action"] if "Put" not in action]


WALLS_NETWORK = (
    Mutant(
        "bucket-without-network-binding",
        "every role of the account may be outside",
        change=outside(put("Condition", "ArnNotLike", value={"aws:PrincipalArn": "arn:aws:iam::123456789012:role/*"})),
    ),
    Mutant("network-policies-not-strict", "nothing enforced", change=plugin(put("enableNetworkPolicy", value="false"))),
    Mutant("network-policies-not-strict", "standard mode", change=plugin(put("env", MODE, value="standard"))),
    Mutant("network-policies-not-strict", "no mode", change=plugin(lambda found: found["env"].pop(MODE))),
    Mutant("namespace-without-network-policy", "Kueue without walls", change=without_walls("kueue-")),
    Mutant("namespace-without-network-policy", "kube-system without walls", change=without_walls("kube-system-")),
    Mutant(
        "namespace-without-network-policy",
        "some pods only",
        change=lambda resources: edit(
            POLICY, "kueue-allow-platform", put("spec", "podSelector", value={"matchLabels": {"app": "kueue"}})
        )(drop(POLICY, "kueue-default-deny")(resources)),
    ),
    Mutant(
        "platform-namespace-open", "a rule without peers", change=rule("kueue-allow-platform", "ingress", ports=HTTPS)
    ),
    Mutant(
        "platform-namespace-open",
        "every namespace",
        change=rule("kueue-allow-platform", "ingress", from_=[{"namespaceSelector": {}}], ports=HTTPS),
    ),
    Mutant(
        "platform-namespace-open",
        "out to everybody",
        change=rule("runtimes-jobset-allow-platform", "egress", ports=HTTPS),
    ),
    Mutant(
        "team-egress-reaches-network",
        "HTTPS to everywhere",
        change=rule("teams-vision-allow-dns", "egress", to=[{"ipBlock": {"cidr": "0.0.0.0/0"}}], ports=HTTPS),
    ),
    Mutant(
        "team-egress-reaches-network",
        "HTTPS to nobody named",
        change=rule("teams-vision-allow-dns", "egress", ports=HTTPS),
    ),
    Mutant(
        "team-egress-reaches-network",
        "HTTPS to every namespace",
        change=rule("teams-vision-allow-dns", "egress", to=[{"namespaceSelector": {}}], ports=HTTPS),
    ),
    Mutant(
        "team-egress-reaches-network",
        "the nodes' network",
        change=rule("teams-vision-allow-dns", "egress", to=[{"ipBlock": {"cidr": "10.0.32.0/19"}}], ports=HTTPS),
    ),
    Mutant(
        "endpoint-without-policy",
        "S3 without one",
        change=edit(ENDPOINT, "network-s3", lambda inputs: inputs.pop("policy")),
    ),
    Mutant(
        "endpoint-without-policy",
        "anybody's buckets",
        change=statement(ENDPOINT, "network-s3", "OwnBuckets", lambda found: found.pop("Condition")),
    ),
    Mutant(
        "endpoint-without-policy",
        "own credentials, anybody's buckets",
        change=statement(
            ENDPOINT,
            "network-s3",
            "OwnBuckets",
            put("Condition", value={"StringEquals": {"aws:PrincipalAccount": "111122223333"}}),
        ),
    ),
    Mutant(
        "endpoint-without-policy",
        "writes to others",
        change=statement(ENDPOINT, "network-s3", "ImagesAndPackages", put("Action", value=["s3:*"])),
    ),
    Mutant(
        "bucket-without-network-binding",
        "no binding",
        change=outside(put("Condition", "StringNotEquals", value={"aws:SourceVpc": "vpc-*"})),
    ),
    Mutant("bucket-without-network-binding", "reads alone", change=outside(_but_writes)),
    Mutant(
        "bucket-without-network-binding",
        "everybody is let out",
        change=outside(put("Condition", "ArnNotLike", "aws:PrincipalArn", value=["arn:aws:iam::*:*"])),
    ),
    Mutant(
        "bucket-without-network-binding",
        "services alone are held",
        change=outside(put("Condition", "Bool", "aws:ViaAWSService", value="true")),
    ),
    Mutant("dns-open", "counted alone", change=edit(RULE, "dns-others", put("action", value="ALERT"))),
    Mutant("dns-open", "in front of nothing", change=drop(ASSOCIATION, "dns-association")),
    Mutant("dns-open", "some names alone", change=edit(NAMES, "dns-everything", put("domains", value=["*.xyz"]))),
    Mutant("dns-open", "every name is allowed", change=edit(NAMES, "dns-allowed", put("domains", value=["*"]))),
    Mutant("dns-open", "switched off", overrides={"aws": {"dnsFirewall": "off"}}),
)
