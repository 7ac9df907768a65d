"""Objects that a role's own policy lets it read or write, of a bucket that is encrypted with a recorded key: without
that key it does neither.

Source: Amazon S3 User Guide, "Using server-side encryption with AWS KMS keys" (2026-11): the caller of S3 has to be
allowed kms:Decrypt or kms:GenerateDataKey by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements, texts_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import BUCKET, IAM_POLICY, ROLE_POLICY, ROLE_POLICY_ATTACHMENT
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.needs.model import Need
from trainyard.rehearsal.works.rights.aws.needs.objects import of_key
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_USES: Final = {"s3:GetObject": ("read", "kms:Decrypt"), "s3:PutObject": ("write", "kms:GenerateDataKey")}


def needs(places: Places) -> Iterator[Need]:
    """What the key of each bucket has to allow whom a policy lets at its objects."""
    stack = places.stack
    encrypted = [bucket for bucket in stack.resources.of(BUCKET) if places.key_of(bucket) and arn_of(bucket)]
    if not encrypted:
        return
    for policy in stack.of_type(ROLE_POLICY):
        yield from _granted(places, policy, policy.text("role"), encrypted)
    for attachment in stack.of_type(ROLE_POLICY_ATTACHMENT):
        own = attachment.referred("policyArn", IAM_POLICY)
        if own is not None:
            yield from _granted(places, own, attachment.text("role"), encrypted)


def _granted(places: Places, policy: View, role: str | None, encrypted: list[RecordedResource]) -> Iterator[Need]:
    taken = places.role(role or "")
    if taken is None:
        return
    found, caller = taken
    try:
        said = list(statements(policy.resource.inputs, "policy"))
    except UnreadableInput:
        return
    for bucket in encrypted:
        for action, (verb, of) in _USES.items():
            name = next((name for one in said if (name := _name(one, action, arn_of(bucket))) is not None), None)
            deeds = of_key(places, bucket, name, of) if name is not None else ()
            if deeds:
                purpose = f"{verb} what it may {verb} of bucket {bucket.name}"
                yield Need(policy, "policy", "rights-key", (caller,), f"role {found.name}", purpose, deeds)


def _name(statement: Mapping[str, Any], action: str, arn: str) -> str | None:
    """An object that a statement allows an action on, by its own name and the bucket's; None for none."""
    if statement.get("Effect") != "Allow" or action not in texts_of(statement.get("Action")):
        return None
    for text in texts_of(statement.get("Resource")):
        if text.startswith(f"{arn}/"):
            return text.removeprefix(f"{arn}/").replace("*", "x")
    return None
