"""Security: keys. Who changes one, what one key opens, and that a right to use it is for one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard import cards
from trainyard.policies.access import everybody, named_accounts, narrowed, whole_account
from trainyard.policies.grants import grants, is_agent
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.security_trust import own_accounts
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import GRANTING, asks_whether, called, granting, statements
from trainyard.recorded.read import is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AWS_BUDGET,
    AWS_PROVIDER,
    BUCKET,
    BUCKET_ENCRYPTION,
    DATABASE,
    EKS_CLUSTER,
    KEY,
    KEY_POLICY,
    ROLE_POLICY,
    SNS_TOPIC,
)

_WHOLE = frozenset({"kms:*", "*"})
_HARMLESS = re.compile(
    r"kms:(Decrypt|Encrypt|ReEncrypt[A-Za-z]*\*?|GenerateDataKey[A-Za-z]*\*?|Describe[A-Za-z]*\*?|Get[A-Za-z]*\*?"
    r"|List[A-Za-z]*\*?|CancelKeyDeletion|Verify[A-Za-z]*|Sign)",
    re.IGNORECASE,
)
"""Use of a key, a look at it, and what saves it: nothing that lets anybody else in, or loses what it encrypts."""

_NAMING = ("StringEquals", "StringLike", "ArnEquals", "ArnLike")
_ANYBODY = re.compile(r"arn:[^:]*:iam::[0-9*?]*:(\*|(role|user)/[*?]+)|[*?]+")

KEY_GRANTS = tuple(
    f"gcp:kms/{place}{iam}:*" for place in ("cryptoKey", "keyRing") for iam in ("IAMMember", "IAMBinding", "IAMPolicy")
)
"""Patterns of the types that give a key of Google Cloud, or its ring, away."""
_ADMINISTERS = ("roles/cloudkms.admin", "roles/owner", "roles/editor")
"""Roles of Google Cloud that change a key's policy and versions, where they are given on a key or its ring."""

CLASSES = {EKS_CLUSTER: "the cluster's secrets", DATABASE: "the database", SNS_TOPIC: "alerts"}
"""What, besides a bucket, has its own readers, by type."""


@stack_rule(
    "key-changed-by-the-account",
    "Only named administrators change a key, its policy and its grants.",
    types=(KEY, KEY_POLICY, AWS_BUDGET, AWS_PROVIDER, ROLE_POLICY, *GRANTING, *KEY_GRANTS),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-12", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.24"),
    fix="Allow the account the use of a key; changes of it, to aws:PrincipalArn of those who deploy (aws.deployers).",
)
def key_changed_by_the_account(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """The account as a principal is whomever its IAM lets: a role that IAM forgot to narrow then opens every key.

    Another account in charge is another rule's.
    """
    own = set(own_accounts(resources))
    for resource in resources.of(KEY, KEY_POLICY):
        of_its_own = resource.inputs.get("policy") is not None or resources.referring(resource, "keyId", KEY_POLICY)
        if resource.type == KEY and not of_its_own:
            yield resource, "has no policy of its own: with AWS's, whoever IAM lets changes it"
        for statement in statements(resource.inputs, "policy"):
            ours = [
                who
                for account, who in named_accounts(statement)
                if whole_account(who) and account in (own or {account})
            ]
            anybody = everybody(statement) and narrowed(statement)  # whoever is of an account or organisation
            if value_at(statement, "Effect") != "Allow" or not (ours or anybody) or _names_principals(statement):
                continue
            beyond = [action for action in map(str, list_at(statement, "Action")) if not _harmless(action, statement)]
            if beyond or is_set(statement, "NotAction"):
                yield (
                    resource,
                    f"{called(statement)} gives {', '.join(beyond) or 'all but some actions'} to whoever IAM lets",
                )
    for policy in (*resources.of(ROLE_POLICY), *granting(resources)):
        for statement in statements(policy.inputs, "policy"):
            if value_at(statement, "Effect") == "Allow" and _gives_grants(statement):
                yield policy, f"{called(statement)} changes a key, or gives grants of it to whomever its holder likes"
    for holder in resources.of(*KEY_GRANTS):
        for grant in grants(holder):
            who = [member for member in grant.members if not is_agent(member)] if grant.role in _ADMINISTERS else []
            if who:
                yield holder, f"{grant.role} lets {who[0]} say who uses the key"


_CHANGES = ("kms:creategrant", "kms:putkeypolicy", "kms:schedulekeydeletion", "kms:disablekey", "kms:*")


def _gives_grants(statement: Any) -> bool:
    """Whether one key may be changed, or grants of it given to anybody and not by a service of AWS for what it does.
    Any key is another rule's."""
    named = [str(each) for each in list_at(statement, "Resource")]
    asked = [action for action in map(str, list_at(statement, "Action")) if action.lower() in _CHANGES]
    held = {
        key.lower()
        for test in mapping_at(statement, "Condition").values()
        for key in mapping_at(test)
        if key.lower().startswith(("kms:grant", "kms:viaservice"))
    }
    any_key = any(each == "*" or each.endswith(":key/*") for each in named)
    return bool(asked) and bool(named) and not any_key and not held


def _harmless(action: str, statement: Any) -> bool:
    if action.lower() == "kms:creategrant":  # to a service of AWS, for what it does for the caller
        return asks_whether(statement, "kms:GrantIsForAWSResource", "true")
    return _HARMLESS.fullmatch(action) is not None


def _names_principals(statement: Any) -> bool:
    """Whether a condition names the roles and users that are meant."""
    for operator, test in mapping_at(statement, "Condition").items():
        for key in mapping_at(test):
            who = [str(each) for each in list_at(test, key)]
            if operator in _NAMING and key.lower() == "aws:principalarn" and who:
                return not any(_ANYBODY.fullmatch(each) for each in who)
    return False


@stack_rule(
    "key-shared-between-classes",
    "What different people and programs read is encrypted with different keys.",
    types=(KEY, BUCKET, BUCKET_ENCRYPTION, *CLASSES),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SC-12", "ISO 27001:2022 A.8.24"),
    fix="Use the environment's keys as they are: data, checkpoints, tracking and platform have one each.",
)
def key_shared_between_classes(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A right to one bucket's key must be no right to another's. A database may share the key of one bucket, which is
    its server's store."""
    for key in resources.of(KEY):
        buckets = [bucket.name for bucket in resources.of(BUCKET) if encrypts_bucket(resources, key, bucket)]
        others = [
            what
            for type_, what in CLASSES.items()
            if any(_made_of(found, cards.of(type_).key_input, key) for found in resources.of(type_))
        ]
        if len(buckets) > 1:
            yield key, f"encrypts {len(buckets)} buckets: {', '.join(buckets)}"
        apart = [what for what in others if what != CLASSES[DATABASE]]
        if apart and (buckets or len(others) > len(apart)):
            yield key, f"encrypts {' and '.join([*buckets, *others])}"


def _made_of(resource: RecordedResource, property_: str | None, key: RecordedResource) -> bool:
    return property_ is not None and key.urn in resource.property_dependencies.get(property_, ())


def encrypts_bucket(resources: Resources, key: RecordedResource, bucket: RecordedResource) -> bool:
    """Whether a key is that of a bucket's default encryption."""
    return any(_made_of(found, "rules", key) for found in resources.referring(bucket, "bucket", BUCKET_ENCRYPTION))
