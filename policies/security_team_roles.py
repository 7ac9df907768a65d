"""Security: what a team's pods may do in the cloud. Their own prefix, keys through the store, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.conventions import TEAM_LABEL, team_prefix
from trainyard.policies.grants import GRANTS
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.team_folders import beyond_their_folders
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    BUCKET,
    GCP_BUCKET,
    IAM_POLICY,
    IAM_POLICY_ATTACHMENT,
    NAMESPACE,
    POD_IDENTITY_ASSOCIATION,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    SERVICE_ACCOUNT,
)
from trainyard.rehearsal.works.rights.aws.account import IRSA
from trainyard.rehearsal.works.rights.aws.documents import Statement
from trainyard.rehearsal.works.rights.aws.recorded_policies import names_of, own_policies

_READS: Final = re.compile(r"s3:(Get|List)[A-Za-z]*\*?", re.IGNORECASE)
_WRITES: Final = re.compile(
    r"s3:(PutObject|PutObjectTagging|DeleteObject|AbortMultipartUpload|RestoreObject)", re.IGNORECASE
)
_OBJECTS: Final = re.compile(r"arn:[^:]*:s3:::(?P<bucket>[^/]+)(/(?P<key>.*))?")
_KEY_USES: Final = re.compile(r"kms:(Decrypt|Encrypt|GenerateDataKey[A-Za-z]*\*?|DescribeKey)", re.IGNORECASE)
_HARMLESS: Final = re.compile(
    r"elasticfilesystem:Client(Mount|Write)|(elasticfilesystem|fsx|ec2|ecr):Describe[A-Za-z]*\*?|sts:GetCallerIdentity"
    r"|ecr:(GetAuthorizationToken|BatchGetImage|GetDownloadUrlForLayer|BatchCheckLayerAvailability)",
    re.IGNORECASE,
)
_BOUND: Final = re.compile(r"kms:(ViaService|EncryptionContext:.+)", re.IGNORECASE)


@stack_rule(
    "team-role-beyond-its-prefix",
    "The role of a team's pods reads and writes below the team's prefix, and reads what the teams share.",
    types=(
        NAMESPACE,
        SERVICE_ACCOUNT,
        POD_IDENTITY_ASSOCIATION,
        ROLE,
        ROLE_POLICY,
        ROLE_POLICY_ATTACHMENT,
        IAM_POLICY,
        IAM_POLICY_ATTACHMENT,
        BUCKET,
        GCP_BUCKET,
        *GRANTS,
    ),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 5.2.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.3"),
    fix="Give the role the team's prefix, with the slash at its end, and no other right.",
    config={
        "sharedBuckets": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["*-data"],
            "description": "Logical names of buckets that every team may read as a whole (globs).",
        },
        "furtherActions": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Actions of other services that a team's pods may do (globs).",
        },
    },
)
def team_role_beyond_its_prefix(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A role is a team's where a service account of its namespace gets it, through Pod Identity or OIDC."""
    shared = {
        text
        for bucket in resources.of(BUCKET)
        if any(fnmatchcase(bucket.name, glob) for glob in config["sharedBuckets"])
        for text in names_of(bucket)
    }
    by_urn = {found.urn: found for found in resources.all}
    for team, role in sorted(_roles(resources), key=lambda found: (found[0], found[1].urn)):
        own = own_policies(role, resources)
        for name in own.not_in_the_table:
            yield role, f"{name} is attached, whose statements are not known, to the role of team {team}"
        for document in own.documents:
            for statement in document.statements:
                if statement.allows:
                    holder = by_urn.get(statement.urn, role)
                    for excess in _beyond(statement, team, shared, config["furtherActions"]):
                        yield holder, f"{statement.place} lets pods of team {team} {excess}"
    yield from beyond_their_folders(resources, config)


def _roles(resources: Resources) -> Iterator[tuple[str, RecordedResource]]:
    teams = {
        str(value_at(found.inputs, "metadata", "name")): str(value_at(found.inputs, "metadata", "labels", TEAM_LABEL))
        for found in team_namespaces(resources)
    }
    for association in resources.of(POD_IDENTITY_ASSOCIATION):
        team = teams.get(str(value_at(association.inputs, "namespace")))
        if team is not None:
            arn = value_at(association.inputs, "roleArn", unknown="")
            roles = _called(str(arn), resources) or resources.referred(association, "roleArn", ROLE)
            yield from ((team, role) for role in roles)
    for account in resources.of(SERVICE_ACCOUNT):
        team = teams.get(str(value_at(account.inputs, "metadata", "namespace")))
        annotations = mapping_at(account.inputs, "metadata", "annotations")
        if team is not None and IRSA in annotations:
            yield from ((team, role) for role in _called(str(annotations[IRSA]), resources))


def _called(arn: str, resources: Resources) -> list[RecordedResource]:
    """The roles of an ARN by their name: a policy is not told ARNs that a role has once it is made."""
    return [role for role in resources.of(ROLE) if {arn, arn.rsplit("/", 1)[-1]} & names_of(role)]


def _beyond(statement: Statement, team: str, shared: set[str], further: list[str]) -> Iterator[str]:
    raw = statement.raw
    if is_set(raw, "NotResource"):
        yield "use every resource but some"
        return
    texts = [str(text) for text in list_at(raw, "Resource")]
    for action in map(str, list_at(raw, "Action")):
        if _READS.fullmatch(action) or _WRITES.fullmatch(action):
            for text in texts:
                readable = _shared(text, shared) and _READS.fullmatch(action)
                if not (readable or _own(text, team) or _lists_own(raw, action, text, team)):
                    yield f"{action} on {text}"
        elif _KEY_USES.fullmatch(action):
            if not any(_BOUND.fullmatch(key) for test in _tests(raw) for key in test):
                yield f"{action} with a key whatever for: no condition names the service or what is encrypted"
        elif not _HARMLESS.fullmatch(action) and not any(fnmatchcase(action, glob) for glob in further):
            yield f"{action}, which is no part of training"


def _own(text: str, team: str) -> bool:
    """Whether an ARN is of objects below the team's prefix, also where the pod's namespace fills it in."""
    found = _OBJECTS.fullmatch(text)
    key = (found["key"] or "") if found else ""
    own = key.startswith(team_prefix(team)) or "${aws:PrincipalTag/kubernetes-namespace}/" in key
    return found is not None and "*" not in found["bucket"] and own


def _shared(text: str, shared: set[str]) -> bool:
    found = _OBJECTS.fullmatch(text)
    return found is not None and found["bucket"] in shared


def _lists_own(raw: Mapping[str, Any], action: str, text: str, team: str) -> bool:
    """Whether listing a bucket is held to the team's prefix by a condition, or lists nothing but the bucket's place."""
    if "/" in text or not action.lower().startswith("s3:list"):
        return action == "s3:GetBucketLocation"
    prefixes = [
        str(value)
        for operator, test in mapping_at(raw, "Condition").items()
        if operator in ("StringEquals", "StringLike")
        for key in mapping_at(test)
        if key.lower() == "s3:prefix"
        for value in list_at(test, key)
    ]
    return bool(prefixes) and all(prefix.startswith(team_prefix(team)) for prefix in prefixes)


def _tests(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [mapping_at(test) for test in mapping_at(raw, "Condition").values()]
