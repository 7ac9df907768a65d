"""Which recorded policies are asked about a caller, and which about a resource."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow, is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_POLICY,
    EFS,
    EFS_POLICY,
    IAM_POLICY,
    IAM_POLICY_ATTACHMENT,
    KEY,
    KEY_GRANT,
    KEY_POLICY,
    QUEUE,
    QUEUE_POLICY,
    REPOSITORY,
    REPOSITORY_POLICY,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    SECRET_POLICY,
    SECRETS_MANAGER_SECRET,
    SNS_TOPIC,
    SNS_TOPIC_POLICY,
)
from trainyard.rehearsal.works.rights.aws.documents import Document, read_document
from trainyard.rehearsal.works.rights.aws.managed import managed_policy

GUARDED: Final = {
    BUCKET: (BUCKET_POLICY, "bucket"),
    EFS: (EFS_POLICY, "fileSystemId"),
    KEY: (KEY_POLICY, "keyId"),
    QUEUE: (QUEUE_POLICY, "queueUrl"),
    REPOSITORY: (REPOSITORY_POLICY, "repository"),
    SECRETS_MANAGER_SECRET: (SECRET_POLICY, "secretArn"),
    SNS_TOPIC: (SNS_TOPIC_POLICY, "arn"),
}
"""Types that have a policy of their own in `policy`, with the type that holds one apart and what names the resource."""


@dataclass(frozen=True, slots=True)
class OwnPolicies:
    """What a role may do by its own policies."""

    documents: tuple[Document, ...]
    boundary: tuple[Document, ...] | None  # None: there is none, or its text is not known
    not_in_the_table: tuple[str, ...]
    boundary_unknown: bool


def arn_of(resource: RecordedResource) -> str:
    """The ARN of a recorded resource; empty where it is not known."""
    for place in (resource.outputs, resource.inputs):
        found = value_at(place, "arn", unknown=None)
        if isinstance(found, str):
            return found
    name = value_at(resource.inputs, "bucket", unknown=None) or resource.id
    return f"arn:aws:s3:::{name}" if resource.type == BUCKET and isinstance(name, str) else ""


def names_of(resource: RecordedResource) -> set[str]:
    """Texts that other resources name one by: its id, name, ARN."""
    given = (value_at(resource.inputs, key, unknown=None) for key in ("name", "bucket"))
    made = (value_at(resource.outputs, key, unknown=None) for key in ("name", "arn", "id", "url", "keyId"))
    return {text for text in (resource.id, *given, *made) if isinstance(text, str)}


def is_about(
    policy: RecordedResource, key: str, resource: RecordedResource, names: Collection[str] | None = None
) -> bool:
    """Whether an input of one resource names another one, known or not. `names` are those of the latter, where a caller
    asks often."""
    if refers(policy, key, resource):
        return True
    named = value_at(policy.inputs, key, unknown=None)
    return isinstance(named, str) and named in (names_of(resource) if names is None else names)


def own_policies(role: RecordedResource, resources: Resources) -> OwnPolicies:
    """The policies in a role, attached to it, and its boundary. Raises `UnknownInput` for one that is not known."""
    documents, missing, names = [], [], names_of(role)
    for number, inline in enumerate(list_at(role.inputs, "inlinePolicies"), start=1):
        name = value_at(inline, "name", default=number)
        documents.append(read_document(inline, "policy", what=f"policy {name} of role {role.name}", urn=role.urn))
    for policy in resources.of(ROLE_POLICY):
        if is_about(policy, "role", role, names):
            what = f"the policy {policy.name} of role {role.name}"
            documents.append(read_document(policy.inputs, "policy", what=what, urn=policy.urn))
    for arn, urn in _attached(role, resources, names):
        found = _managed(arn, urn, resources)
        if found is None:
            missing.append(arn.rsplit("/", 1)[-1])
        else:
            documents.append(found)
    bounded = is_set(role.inputs, "permissionsBoundary")
    boundary = _managed(str(value_at(role.inputs, "permissionsBoundary")), role.urn, resources) if bounded else None
    return OwnPolicies(
        tuple(documents),
        (boundary,) if boundary is not None else None,
        tuple(missing),
        boundary_unknown=bounded and boundary is None,
    )


def _attached(role: RecordedResource, resources: Resources, names: Collection[str]) -> Iterator[tuple[str, str]]:
    for arn in list_at(role.inputs, "managedPolicyArns"):
        yield str(arn), role.urn
    for attachment in resources.of(ROLE_POLICY_ATTACHMENT):
        if is_about(attachment, "role", role, names):
            yield str(value_at(attachment.inputs, "policyArn")), attachment.urn
    for attachment in resources.of(IAM_POLICY_ATTACHMENT):
        if not {str(name) for name in list_at(attachment.inputs, "roles")}.isdisjoint(names):
            yield str(value_at(attachment.inputs, "policyArn")), attachment.urn


def _managed(arn: str, urn: str, resources: Resources) -> Document | None:
    for policy in resources.of(IAM_POLICY):
        if arn in names_of(policy):
            return read_document(policy.inputs, "policy", what=f"the policy {policy.name}", urn=policy.urn)
    return managed_policy(arn, urn)


def trust_policy(role: RecordedResource) -> Document:
    """Who may take a role."""
    return read_document(role.inputs, "assumeRolePolicy", what=f"the trust policy of role {role.name}", urn=role.urn)


def guarding(resource: RecordedResource, resources: Resources, account: str) -> tuple[Document, ...]:
    """The policies on a resource, or what the service takes in their place. Raises `UnknownInput`."""
    if resource.type == ROLE:
        return (trust_policy(resource),)
    type_, key = GUARDED[resource.type]
    kind = resource.type.rpartition(":")[2].lower()
    what = f"the policy of {kind} {resource.name}"
    holders = [resource, *(policy for policy in resources.of(type_) if is_about(policy, key, resource))]
    found = [
        read_document(holder.inputs, "policy", what=what, urn=holder.urn)
        for holder in holders
        if follow(holder.inputs, "policy") is not None
    ]
    if not found and resource.type in _WITHOUT_ONE:
        said, allowed = _WITHOUT_ONE[resource.type]
        principal = allowed.get("Principal", {"AWS": account})
        stand_in = {"policy": {"Statement": [{"Effect": "Allow", "Resource": "*", **allowed, "Principal": principal}]}}
        found = [read_document(stand_in, "policy", what=f"{said} of {kind} {resource.name}", urn=resource.urn)]
    if resource.type == KEY:
        found += _grants(resource, resources)
    return tuple(found)


_WITHOUT_ONE: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    KEY: (
        "the default policy",  # AWS KMS Developer Guide, "Default key policy"
        {"Action": "kms:*"},
    ),
    EFS: (
        "the missing policy",  # Amazon EFS User Guide, "Default EFS file system policy": whoever reaches it may do all
        {
            "Principal": "*",
            "Action": [f"elasticfilesystem:Client{right}" for right in ("Mount", "Write", "RootAccess")],
        },
    ),
}
"""What a service takes for the policy of a resource that has none; for the own account where it names nobody."""


def _grants(key: RecordedResource, resources: Resources) -> Iterator[Document]:
    """Grants on a key, as the documents that they amount to (AWS KMS Developer Guide, "Grants in AWS KMS")."""
    for grant in resources.of(KEY_GRANT):
        if not is_about(grant, "keyId", key):
            continue
        statement = {
            "Effect": "Allow",
            "Principal": {"AWS": value_at(grant.inputs, "granteePrincipal")},
            "Action": [f"kms:{operation}" for operation in list_at(grant.inputs, "operations")],
            "Resource": "*",
            "Condition": {"StringEquals": _encryption_context(grant)},
        }
        what = f"the grant {grant.name} on key {key.name}"
        yield read_document({"policy": {"Statement": [statement]}}, "policy", what=what, urn=grant.urn)


def _encryption_context(grant: RecordedResource) -> dict[str, str]:
    """What the encryption context has to say; a grant on an equal context is taken for one on a part of it."""
    return {
        f"kms:EncryptionContext:{key}": str(value)
        for constraint in list_at(grant.inputs, "constraints")
        for kind in ("encryptionContextSubset", "encryptionContextEquals")
        for key, value in mapping_at(constraint, kind).items()
    }
