"""Security: whom a resource's own policy lets in. Not everybody, and no other account beyond what it was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.access import (
    DELIVERS,
    account_of,
    lets_everybody_in,
    named_accounts,
    names_source,
    whole_account,
)
from trainyard.policies.grants import EVERYBODY, GRANTS, PRIVATE, grants
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import called, statements
from trainyard.recorded.read import is_set, list_at, mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AWS_BUDGET,
    AWS_PROVIDER,
    BACKUP_VAULT_POLICY,
    BUCKET,
    BUCKET_ACCESS_POINT,
    BUCKET_ACCESS_POINT_POLICY,
    BUCKET_POLICY,
    ECR_CREATION_TEMPLATE,
    ECR_REGISTRY_POLICY,
    EFS_POLICY,
    EVENT_BUS_POLICY,
    FUNCTION_PERMISSION,
    FUNCTION_URL,
    KEY_GRANT,
    KEY_POLICY,
    KEYS,
    LOG_RESOURCE_POLICY,
    QUEUE_POLICY,
    REPOSITORY_POLICY,
    ROLE,
    SECRET_POLICY,
    SNS_TOPIC,
    SNS_TOPIC_POLICY,
)

BUCKETS = (BUCKET, BUCKET_POLICY)
GUARDED = (
    *KEYS,
    KEY_POLICY,
    SNS_TOPIC,
    SNS_TOPIC_POLICY,
    QUEUE_POLICY,
    SECRET_POLICY,
    REPOSITORY_POLICY,
    ECR_CREATION_TEMPLATE,
    ECR_REGISTRY_POLICY,
    EFS_POLICY,
    BACKUP_VAULT_POLICY,
    BUCKET_ACCESS_POINT,
    BUCKET_ACCESS_POINT_POLICY,
    EVENT_BUS_POLICY,
    LOG_RESOURCE_POLICY,
    ROLE,
)
"""Types with a policy of their own that says who may use them, buckets apart."""

_USE = re.compile(
    r"[a-z0-9-]+:(Get|List|Describe|Head|BatchGet|BatchCheck|Decrypt|Encrypt|ReEncrypt|GenerateDataKey|AssumeRole|TagSession"
    r"|SetSourceIdentity"
    r"|Publish|Receive|Client(Mount|Write)|ConsoleAccess)[A-Za-z]*\*?",
    re.IGNORECASE,
)
"""Actions that use a resource as it is. All others change, delete or give it away."""

_OF_THE_REQUEST = re.compile(r"aws:SecureTransport|s3:TlsVersion|s3:x-amz-.*|aws:RequestedRegion", re.IGNORECASE)
"""Condition keys that say how a request is made, not by whom: whoever may make it makes it so."""

_DOCUMENT = {ROLE: "assumeRolePolicy", ECR_CREATION_TEMPLATE: "repositoryPolicy", LOG_RESOURCE_POLICY: "policyDocument"}
"""Where the policy is that is not called so."""


def _documents(resource: RecordedResource) -> list[Any]:
    return statements(resource.inputs, _DOCUMENT.get(resource.type, "policy"))


@resource_rule(
    "resource-open-to-everybody",
    "No key, topic, queue, secret, repository, file system or role lets everybody in by its own policy.",
    types=(*GUARDED, *GRANTS, FUNCTION_URL, FUNCTION_PERMISSION),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Name the accounts, roles or services that are meant, or add a condition that does (aws:PrincipalOrgID).",
)
def resource_open_to_everybody(resource: RecordedResource, _: Config) -> Iterator[str]:
    """A star is everybody in every account of AWS; what is denied to everybody, or to all but some, lets nobody in."""
    if resource.type.startswith("gcp:"):
        for grant in grants(resource):
            for member in set(EVERYBODY) & set(grant.members):
                yield f"gives {grant.role} to {member}"
        return
    if resource.type == FUNCTION_URL and value_at(resource.inputs, "authorizationType") == "NONE":
        yield "authorizationType is NONE: whoever knows the address calls the function"
    if resource.type == FUNCTION_PERMISSION and value_at(resource.inputs, "principal") == "*":
        named = any(is_set(resource.inputs, key) for key in ("sourceArn", "sourceAccount", "principalOrgId"))
        if not named:
            yield "principal is * and no source is named: everybody calls the function"
    for statement in _documents(resource):
        if lets_everybody_in(statement):
            yield f"{called(statement)} lets everybody in"


@stack_rule(
    "other-account-in-charge",
    "No other account may change, delete or pass on what is the environment's, nor use it as a whole account.",
    types=(*BUCKETS, *GUARDED, KEY_GRANT, AWS_BUDGET, *GRANTS),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.16", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.5.23"),
    fix="Name one role of that account and the actions it needs, or the account in accountIds where it is yours too.",
    config={
        "accountIds": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[0-9]{12}$"},
            "default": [],
            "description": "Accounts of yours besides the stack's own.",
        }
    },
)
def other_account_in_charge(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """The stack's own account is the budget's, and those that its provider may deploy to.

    One role or user of another account may read, decrypt or publish: that is how audits and shared data work.
    """
    for holder in resources.of(*GRANTS):
        for grant in grants(holder):
            for member in filter(PRIVATE.fullmatch, grant.members):
                yield holder, f"gives {grant.role} to {member}, an account that no organisation can close"
    own = {*config["accountIds"], *own_accounts(resources)}
    if len(own) == len(config["accountIds"]):
        raise NotApplicable("nothing says which account is the stack's own")
    for resource in resources.of(*BUCKETS, *GUARDED):
        for statement in _documents(resource):
            if value_at(statement, "Effect") != "Allow":
                continue
            for account, principal in named_accounts(statement):
                if account not in own and _in_charge(statement, principal):
                    yield resource, f"{called(statement)} gives {_actions(statement)} to {principal}"
    for resource in resources.of(*BUCKETS):
        for statement in _documents(resource):
            service = next((who for who in texts_at(statement, "Principal", "Service") if who in DELIVERS), None)
            writes = any("putobject" in str(action).lower() for action in list_at(statement, "Action"))
            if service and writes and value_at(statement, "Effect") == "Allow" and not names_source(statement):
                yield resource, f"{called(statement)} lets {service} write for whichever account asks it to"
    for key_grant in resources.of(KEY_GRANT):
        account = account_of(str(value_at(key_grant.inputs, "granteePrincipal", default="")))
        if account and account not in own:
            yield key_grant, f"lets account {account} use the key"


def own_accounts(resources: Resources) -> Iterator[str]:
    """The accounts that are the stack's own, as far as anything says which."""
    for budget in resources.of(AWS_BUDGET):
        yield from map(str, list_at(budget.inputs, "accountId"))
    for provider in resources.of(AWS_PROVIDER):
        allowed = value_at(provider.inputs, "allowedAccountIds", unknown=None)
        yield from map(str, json.loads(allowed) if isinstance(allowed, str) else allowed or ())


def _in_charge(statement: Any, principal: str) -> bool:
    beyond_use = is_set(statement, "NotAction") or not all(
        _USE.fullmatch(str(action)) for action in list_at(statement, "Action")
    )
    return beyond_use or (whole_account(principal) and not _asks_who(statement))


def _asks_who(statement: Any) -> bool:
    """Whether a condition asks for more of a caller than that its request is well made."""
    tests = mapping_at(statement, "Condition").values()
    return any(not _OF_THE_REQUEST.fullmatch(key) for test in tests for key in mapping_at(test))


def _actions(statement: Any) -> str:
    return ", ".join(map(str, list_at(statement, "Action"))) or "everything but some actions"
