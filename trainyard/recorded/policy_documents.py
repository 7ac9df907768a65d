"""IAM policy documents among recorded inputs: JSON text, or a mapping where a program writes one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import known_texts, list_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import IAM_ATTACHMENTS, IAM_POLICY, IAM_USER, ROLE


def document(inputs: Any, *path: str | int) -> Mapping[str, Any]:
    """The policy document at `path`; empty where there is none, or where it is no JSON object."""
    found = value_at(inputs, *path)
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except json.JSONDecodeError:
            return {}
    return found if isinstance(found, Mapping) else {}


def statements(inputs: Any, *path: str | int) -> list[Mapping[str, Any]]:
    """The statements of the policy document at `path`; none where there is no document."""
    return mappings_at(document(inputs, *path), "Statement")


def texts_of(value: Any) -> list[str]:
    """The texts of a part of a statement, such as its actions: one text, or a list of them."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def asks_whether(statement: Any, key: str, said: str) -> bool:
    """Whether a statement is for requests of which a condition `Bool` holds: `said` is `true` or `false`.

    The value may be a text, a truth value, or a list of one.
    """
    return {str(one).lower() for one in list_at(statement, "Condition", "Bool", key)} == {said}


def title_of(statement: Mapping[str, Any], index: int) -> str:
    """What a statement is called in a finding: by its `Sid`, or by its place, of which the first is index 0."""
    return f"statement {statement.get('Sid') or index + 1}"


def called(statement: Any) -> str:
    """As `title_of`, where its place is not at hand."""
    name = value_at(statement, "Sid", default="")
    return f"statement {name}" if name else "a statement"


GRANTING: Final = (IAM_POLICY, ROLE, IAM_USER, *IAM_ATTACHMENTS)
"""What `granting` asks for: a policy of the pack sees only the types that it declares."""
_GIVES: Final = ((ROLE, "managedPolicyArns"), *((type_, "policyArn") for type_ in IAM_ATTACHMENTS))


def granting(resources: Resources) -> list[RecordedResource]:
    """The managed policies that may give somebody a right: all but those that are only the boundary of roles or users.

    A boundary allows nothing by itself, however much it lets through (IAM User Guide, "Permissions boundaries for IAM
    entities", 2026-11).
    """
    policies = resources.of(IAM_POLICY)
    if not policies:
        return []
    bounding, attached, named = set(), set(), set()
    for holder in resources.of(ROLE, IAM_USER):
        bounding |= {policy.urn for policy in resources.referred(holder, "permissionsBoundary", IAM_POLICY)}
    for type_, path in _GIVES:
        for holder in resources.of(type_):
            attached |= {policy.urn for policy in resources.referred(holder, path, IAM_POLICY)}
            arns = known_texts(value_at(holder.inputs, path, unknown=None))
            named |= {
                arn.rpartition("/")[2] for _, arn in arns
            }  # by its ARN, with the account's number, it may be told
    return [
        policy
        for policy in policies
        if policy.urn not in bounding - attached or value_at(policy.inputs, "name", unknown=None) in named
    ]


def but_boundaries(resources: Resources, *types: str) -> list[RecordedResource]:
    """Every resource of some types, without the managed policies that give nobody a right (`granting`)."""
    may_give = {policy.urn for policy in granting(resources)}
    return [found for found in resources.of(*types) if found.type != IAM_POLICY or found.urn in may_give]
