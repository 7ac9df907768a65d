"""Security: what a right to use a key is for. One bucket, through the store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.access import named_accounts, whole_account
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.security_keys import encrypts_bucket
from trainyard.recorded.policy_documents import GRANTING, called, granting, statements
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_ENCRYPTION,
    KEY,
    KEY_GRANT,
    KEY_POLICY,
    ROLE_POLICY,
)

_READS = re.compile(r"\*|kms:(\*|Decrypt|GenerateDataKey[A-Za-z]*\*?|ReEncrypt[A-Za-z]*\*?)", re.IGNORECASE)
_NAMING = ("StringEquals", "StringLike", "ArnEquals", "ArnLike")


@stack_rule(
    "key-use-not-bound-to-its-bucket",
    "A right to use a bucket's key is for that bucket, through S3.",
    types=(KEY, KEY_POLICY, BUCKET, BUCKET_ENCRYPTION, ROLE_POLICY, KEY_GRANT, *GRANTING),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.24"),
    fix="Add the conditions kms:ViaService and kms:EncryptionContext:aws:s3:arn; to a grant, an encryption context.",
)
def key_use_not_bound_to_its_bucket(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A bare kms:Decrypt decrypts whatever else the key has encrypted, from wherever the ciphertext came."""
    keys = [
        key
        for key in resources.of(KEY)
        if any(encrypts_bucket(resources, key, bucket) for bucket in resources.of(BUCKET))
    ]
    for key in keys:
        for policy in (key, *resources.referring(key, "keyId", KEY_POLICY)):
            for statement in statements(policy.inputs, "policy"):
                if any(whole_account(who) for _, who in named_accounts(statement)):
                    for message in _through_s3(statement):
                        yield policy, message
    for policy in (*resources.of(ROLE_POLICY), *granting(resources)):
        made_of_ours = any(key.urn in policy.property_dependencies.get("policy", ()) for key in keys)
        for statement in statements(policy.inputs, "policy") if keys else ():
            for message in _unbound(statement, made_of_ours=made_of_ours):
                yield policy, message
    for grant in resources.of(KEY_GRANT):
        if any(key.urn in grant.property_dependencies.get("keyId", ()) for key in keys) and not any(
            mapping_at(constraint, kind)
            for constraint in list_at(grant.inputs, "constraints")
            for kind in ("encryptionContextEquals", "encryptionContextSubset")
        ):
            yield grant, "has no encryption context: it decrypts all that the key has encrypted"


def _unbound(statement: Any, *, made_of_ours: bool) -> Iterator[str]:
    """What is wrong with a statement. Which of its keys a policy means cannot be told before there are any: one that is
    made of a bucket's key is held to it with all keys that it names."""
    if value_at(statement, "Effect") != "Allow":
        return
    reads = any(_READS.fullmatch(str(action)) for action in list_at(statement, "Action"))
    named = [str(each) for each in list_at(statement, "Resource")]
    any_key = any(each == "*" or each.endswith(":key/*") for each in named)
    if "*" in list_at(statement, "Action") and "*" in named:  # all rights to everything: wildcard-admin
        return
    if not reads or not (any_key or (made_of_ours and any(":key/" in each for each in named))):
        return
    through, bound = _held(statement)
    if not through:
        yield f"{called(statement)} uses a bucket's key through any service"
    elif not bound and any(each.startswith(("s3.", "*")) for each in through):
        yield f"{called(statement)} uses a bucket's key for any bucket"


def _through_s3(statement: Any) -> Iterator[str]:
    """What is wrong with a statement of the key's own for the whole account: what is not through S3 IAM decides."""
    reads = any(_READS.fullmatch(str(action)) for action in list_at(statement, "Action"))
    through, bound = _held(statement)
    s3 = any(each.startswith("s3.") for each in through)
    if value_at(statement, "Effect") == "Allow" and reads and s3 and not bound:
        yield f"{called(statement)} lets the key be used for any bucket"


def _held(statement: Any) -> tuple[list[str], bool]:
    """The services that a use of a key is held to, and whether it is held to what is encrypted."""
    through: list[str] = []
    bound = False
    for operator, test in mapping_at(statement, "Condition").items():
        for key in mapping_at(test):
            if operator in _NAMING and key.lower() == "kms:viaservice":
                through += map(str, list_at(test, key))
            if operator in _NAMING and key.lower().startswith("kms:encryptioncontext:"):
                bound = any(set(str(each)) - {"*", "?"} for each in list_at(test, key))
    return through, bound
