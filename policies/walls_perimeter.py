"""Walls around the network: buckets are used from inside, unknown names are not looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.access import everybody
from trainyard.policies.names import anybodys
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import list_at, mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_POLICY,
    DNS_FIREWALL_ASSOCIATION,
    DNS_FIREWALL_CONFIG,
    DNS_FIREWALL_NAMES,
    DNS_FIREWALL_RULE,
    DNS_FIREWALL_RULES,
    VPC,
)

_NOT_EQUAL = re.compile(r"(StringNotEquals|StringNotLike|ArnNotEquals|ArnNotLike)(IfExists)?")
"""IfExists or not: a negated operator holds where the request does not have the key."""

_NETWORK = re.compile(r"aws:Source(Vpc|Vpce|VpcArn)", re.IGNORECASE)
_WHOM = re.compile(r"aws:(PrincipalArn|PrincipalServiceName|CalledVia)", re.IGNORECASE)
_SERVICES = re.compile(r"aws:(PrincipalIsAWSService|ViaAWSService)", re.IGNORECASE)
_OBJECTS = ("s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject")
"""What a binding has to refuse from outside, each."""

_EVERYBODY = re.compile(r"[*?]+|arn:[^:]*:(iam|sts)::[0-9*?]*:((role|user|assumed-role)/)?[*?]+", re.IGNORECASE)


@stack_rule(
    "bucket-without-network-binding",
    "Objects of a bucket are read and written from the network, by whoever has the right.",
    types=(BUCKET, BUCKET_POLICY),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-4", "ISO 27001:2022 A.8.3"),
    fix="Use the storage tiers as they are; their bucket policies deny objects where aws:SourceVpc is another.",
)
def bucket_without_network_binding(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Without it, credentials that leave a pod are good for its bucket from anywhere. Named principals, and services of
    AWS, may be let out."""
    for bucket in resources.of(BUCKET):
        bound = {
            action
            for statement in _statements_about(bucket, resources)
            if _binds(statement)
            for action in _OBJECTS
            if _covers(statement, action)
        }
        missing = [action for action in _OBJECTS if action not in bound]
        if missing:
            yield bucket, f"{', '.join(missing)} from outside of the network is denied by no bucket policy"


def _statements_about(bucket: RecordedResource, resources: Resources) -> Iterator[Any]:
    """What the policies of a bucket say."""
    for policy in resources.referring(bucket, "bucket", BUCKET_POLICY):
        yield from statements(policy.inputs, "policy")


def _covers(statement: Any, action: str) -> bool:
    actions = [str(pattern).lower() for pattern in list_at(statement, "Action")]
    resources = [str(resource) for resource in list_at(statement, "Resource")]
    whole = any(resource == "*" or resource.partition("/")[2] == "*" for resource in resources)
    return whole and any(fnmatchcase(action.lower(), pattern) for pattern in actions)


def _binds(statement: Any) -> bool:
    """Whether a statement denies everybody outside of a network but those whom it names, and services of AWS."""
    if value_at(statement, "Effect") != "Deny" or not everybody(statement):
        return False
    in_network = False
    for operator, test in mapping_at(statement, "Condition").items():
        for key in mapping_at(test):
            values = [str(value) for value in list_at(test, key)]
            negated = _NOT_EQUAL.fullmatch(operator)
            if negated and _NETWORK.fullmatch(key):
                in_network = bool(values) and not any("*" in value for value in values)
            elif _SERVICES.fullmatch(key) and operator.startswith("Bool"):
                if values != ["false"]:
                    return False
            elif not negated or not _WHOM.fullmatch(key) or any(map(_EVERYBODY.fullmatch, values)):
                return False
    return in_network


_OWNERS = re.compile(r"aws:Principal(Account|OrgID|OrgPaths)", re.IGNORECASE)


@stack_rule(
    "bucket-without-owner-binding",
    "A bucket's policy denies whoever is of another account or organisation, whatever else lets him in.",
    types=(BUCKET, BUCKET_POLICY),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 AC-3", "ISO 27001:2022 A.5.23"),
    fix="Use the storage tiers as they are; their bucket policies deny where aws:PrincipalAccount is another.",
)
def bucket_without_owner_binding(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """S3 lets another account in where a policy or an access point allows it: one statement denies them all, so that
    none that comes later opens the bucket. Services of AWS have no account, and may be let by."""
    for bucket in resources.of(BUCKET):
        found = list(
            _statements_about(bucket, resources)
        )  # one that is not known yet is asked for before any is judged
        if not any(_denies_others(statement) for statement in found):
            yield bucket, "no bucket policy denies other accounts (aws:PrincipalAccount, aws:PrincipalOrgID)"


def _denies_others(statement: Any) -> bool:
    """Whether a statement denies everything to everybody but who is of an account or organisation, and services."""
    if value_at(statement, "Effect") != "Deny" or not everybody(statement):
        return False
    actions = [str(action).lower() for action in list_at(statement, "Action")]
    named = False
    for operator, test in mapping_at(statement, "Condition").items():
        for key in mapping_at(test):
            values = [str(value) for value in list_at(test, key)]
            if _NOT_EQUAL.fullmatch(operator) and _OWNERS.fullmatch(key):
                named = bool(values) and not any(not value.strip("*?") for value in values)
            elif not _SERVICES.fullmatch(key) and not (_NOT_EQUAL.fullmatch(operator) and _WHOM.fullmatch(key)):
                return False
    return named and bool({"*", "s3:*"} & set(actions)) and _covers(statement, "s3:GetObject")


@stack_rule(
    "dns-open",
    "Names that nothing in the network needs are not looked up.",
    types=(
        VPC,
        DNS_FIREWALL_ASSOCIATION,
        DNS_FIREWALL_CONFIG,
        DNS_FIREWALL_RULE,
        DNS_FIREWALL_RULES,
        DNS_FIREWALL_NAMES,
    ),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SC-7(10)", "ISO 27001:2022 A.8.12"),
    fix="Leave aws.dnsFirewall at block, and name what is needed besides in aws.dnsAllow.",
)
def dns_open(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Whoever owns a domain reads what is asked of it: names are a way out for data where addresses are none."""
    vpcs = resources.of(VPC)
    if not vpcs:
        raise NotApplicable("there is no VPC")
    for vpc in vpcs:
        groups = [
            group
            for group in resources.of(DNS_FIREWALL_RULES)
            for association in resources.referring(group, "firewallRuleGroupId", DNS_FIREWALL_ASSOCIATION)
            if association in resources.referring(vpc, "vpcId", DNS_FIREWALL_ASSOCIATION)
        ]
        if not any(set(_about_every_name(resources, group)) == {"BLOCK"} for group in groups):
            yield vpc, "no DNS firewall refuses the names that it does not list"
    for names in resources.of(DNS_FIREWALL_NAMES):
        rules = resources.referring(names, "firewallDomainListId", DNS_FIREWALL_RULE)
        if any(value_at(rule.inputs, "action") != "BLOCK" for rule in rules):
            for name in filter(anybodys, texts_at(names.inputs, "domains")):
                yield names, f"{name} is looked up: a name below it is anybody's to have"
    for config in resources.of(DNS_FIREWALL_CONFIG):
        if value_at(config.inputs, "firewallFailOpen") == "ENABLED":
            yield config, "firewallFailOpen is ENABLED: every name is looked up while the firewall does not answer"


def _about_every_name(resources: Resources, group: RecordedResource) -> Iterator[str]:
    """What the rules of a group do with whatever name."""
    rules = resources.referring(group, "firewallRuleGroupId", DNS_FIREWALL_RULE)
    for names in resources.of(DNS_FIREWALL_NAMES):
        if "*" in map(str, list_at(names.inputs, "domains")):
            for rule in resources.referring(names, "firewallDomainListId", DNS_FIREWALL_RULE):
                if rule in rules:
                    yield str(value_at(rule.inputs, "action"))
