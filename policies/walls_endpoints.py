"""Walls around the network: what goes through its endpoints is the environment's own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.security_trust import own_accounts
from trainyard.recorded.policy_documents import called, statements
from trainyard.recorded.read import is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_BUDGET, AWS_PROVIDER, EKS_CLUSTER, VPC, VPC_ENDPOINT

_EQUAL = re.compile(r"(ForAnyValue:)?(StringEquals|ArnEquals)(IgnoreCase)?")
_READS = re.compile(r"[a-z0-9-]+:(Get|List|Describe|Head|BatchGet|BatchCheck)[A-Za-z]*\*?", re.IGNORECASE)
_ACCOUNTS = re.compile(r"aws:(Principal|Resource)Account", re.IGNORECASE)


@stack_rule(
    "endpoint-without-policy",
    "Every endpoint has a policy that says whose principals and whose resources may be used through it.",
    types=(VPC_ENDPOINT, AWS_BUDGET, AWS_PROVIDER, VPC, EKS_CLUSTER),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Use the network as it is, or ask for aws:PrincipalAccount and aws:ResourceAccount, or the organisation's.",
    config={
        "accountIds": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[0-9]{12}$"},
            "default": [],
            "description": "Accounts of yours besides the stack's own.",
        }
    },
)
def endpoint_without_policy(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Without one, AWS lets everything through: somebody else's credentials, to somebody else's bucket. Others'
    resources that are named may be read. What goes to S3 is data: there it is asked whose bucket it is."""
    own = set(own_accounts(resources))
    own |= set(config["accountIds"]) if own else own
    s3 = [one for one in resources.of(VPC_ENDPOINT) if str(value_at(one.inputs, "serviceName")).endswith(".s3")]
    for vpc in resources.of(VPC) if resources.of(EKS_CLUSTER) and not s3 else ():
        if vpc.read:
            continue  # whose network it is decides on its endpoints
        yield vpc, "has no endpoint of S3: pods reach everybody's buckets, and no policy asks whose they are"
    for endpoint in resources.of(VPC_ENDPOINT):
        if not is_set(endpoint.inputs, "policy"):
            yield endpoint, "has no policy: it lets everybody's credentials through to everybody's resources"
            continue
        data = str(value_at(endpoint.inputs, "serviceName", default="")).endswith(".s3")
        for statement in statements(endpoint.inputs, "policy"):
            if value_at(statement, "Effect") != "Allow" or _reads_what_is_named(statement):
                continue
            if not _of_owners(statement, "Resource" if data else "(Principal|Resource)"):
                yield endpoint, f"{called(statement)} lets through what is not the environment's own"
            for key, account in _foreign(statement, own):
                yield endpoint, f"{called(statement)} lets through {key} {account}, which is not the environment's own"


def _foreign(statement: Any, own: Collection[str]) -> Iterator[tuple[str, str]]:
    """The accounts that a statement asks for and that are somebody else's, where it is known which are not."""
    for operator, test in mapping_at(statement, "Condition").items() if own else ():
        for key in mapping_at(test) if _EQUAL.fullmatch(operator) else ():
            if _ACCOUNTS.fullmatch(key):
                yield from ((key, str(value)) for value in list_at(test, key) if str(value) not in own)


def _of_owners(statement: Any, whose: str) -> bool:
    """Whether a statement asks whose a principal or a resource is."""
    asked = re.compile(rf"aws:{whose}(Account|OrgID|OrgPaths|Arn)", re.IGNORECASE)
    return any(
        asked.fullmatch(key) and values and not any("*" in str(value) or "?" in str(value) for value in values)
        for operator, test in mapping_at(statement, "Condition").items()
        if _EQUAL.fullmatch(operator)
        for key, values in ((key, list_at(test, key)) for key in mapping_at(test))
    )


def _reads_what_is_named(statement: Any) -> bool:
    actions = [str(action) for action in list_at(statement, "Action")]
    holders = [str(resource).split(":", 5)[-1].partition("/")[0] for resource in list_at(statement, "Resource")]
    named = bool(holders) and not any("*" in holder or "?" in holder for holder in holders)
    return named and bool(actions) and all(map(_READS.fullmatch, actions))
