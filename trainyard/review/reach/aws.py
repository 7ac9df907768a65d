"""What a team's pods may do in AWS: asked of the evaluator, for every recorded thing that has rights to it.

Objects are asked for by prefix: those that any policy or volume of the stack names, and one that none names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import known_texts, texts_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    BUCKET,
    EFS,
    IAM_POLICY,
    KEY,
    QUEUE,
    REPOSITORY,
    ROLE,
    ROLE_POLICY,
    SECRETS_MANAGER_SECRET,
    SNS_TOPIC,
    VOLUME,
)
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights
from trainyard.review.reach.asked import Asked, Deeds, ask, row_of
from trainyard.review.reach.model import Row, Section

ELSEWHERE: Final = "elsewhere/"
"""A prefix that no policy names."""

_OBJECT: Final = re.compile(r"arn:[^:]*:s3:::(?P<bucket>[^/*]+)/(?P<prefix>[^*?$]*)")

_OF_OBJECTS: Final[Deeds] = {
    "read": "s3:GetObject",
    "write": "s3:PutObject",
    "delete": "s3:DeleteObject",
    "delete old versions": "s3:DeleteObjectVersion",
}
_OF_BUCKETS: Final[Deeds] = {
    "change its policy": "s3:PutBucketPolicy",
    "change its life cycle": "s3:PutLifecycleConfiguration",
    "delete it": "s3:DeleteBucket",
}
_OF_THE_REST: Final[Mapping[str, tuple[str, Deeds]]] = {
    KEY: (
        "key",
        {
            "decrypt by itself": "kms:Decrypt",
            "change its policy": "kms:PutKeyPolicy",
            "grant it to others": "kms:CreateGrant",
            "schedule its deletion": "kms:ScheduleKeyDeletion",
        },
    ),
    SECRETS_MANAGER_SECRET: (
        "secret",
        {"read": "secretsmanager:GetSecretValue", "write": "secretsmanager:PutSecretValue"},
    ),
    REPOSITORY: ("repository", {"pull": "ecr:BatchGetImage", "push": "ecr:PutImage"}),
    EFS: ("file system", {"mount": "elasticfilesystem:ClientMount", "write": "elasticfilesystem:ClientWrite"}),
    ROLE: ("role", {"take it": "sts:AssumeRole", "change it": "iam:PutRolePolicy", "hand it on": "iam:PassRole"}),
    SNS_TOPIC: ("topic", {"publish": "sns:Publish"}),
    QUEUE: ("queue", {"read": "sqs:ReceiveMessage", "write": "sqs:SendMessage"}),
}


def in_aws(rights: Rights, resources: Resources, namespace: str, service_accounts: Iterable[str]) -> Section:
    """What pods of a namespace may do with everything that is recorded, by service account.

    Raises:
        UnknownInput: a policy that decides is not known yet.
    """
    rows: list[Row] = []
    for account in service_accounts:
        found = _of_pod(rights, resources, Pod(namespace, account))
        rows += (Row(row.what, row.may, f"{account}: {row.why}") for row in found)
    return Section("aws", "Its pods in AWS, by service account", tuple(rows))


def _of_pod(rights: Rights, resources: Resources, pod: Pod) -> tuple[Row, ...]:
    """First what it may, then in one row what not."""
    caller, reason = rights.aws.pod(pod)
    if caller is None:
        return (Row(("anything",), (), reason),)
    rows: list[Row] = []
    refused: list[str] = []
    for bucket in resources.of(BUCKET):
        of_bucket = list(_bucket(rights, resources, pod, bucket))
        rows += of_bucket
        if not of_bucket:
            refused.append(f"bucket {bucket.name}")
    for type_, (kind, deeds) in _OF_THE_REST.items():
        for found in resources.of(type_):
            arn = arn_of(found)
            through = _through_s3(rights, resources, pod, arn) if type_ == KEY else ()
            row = row_of(f"{kind} {found.name}", (*ask(rights, pod, deeds, arn), *through))
            if row:
                rows.append(row)
            else:
                refused.append(f"{kind} {found.name}")
    return (*rows, *([Row(tuple(refused), (), f"no policy lets {caller} do anything")] if refused else []))


def _bucket(rights: Rights, resources: Resources, pod: Pod, bucket: RecordedResource) -> Iterator[Row]:
    arn = arn_of(bucket)
    prefixes = {ELSEWHERE, *_prefixes(resources, arn.rpartition(":")[2])}
    told: dict[str, tuple[Asked, ...]] = {}
    for prefix in sorted(prefixes):
        listed = rights.may(pod, "s3:ListBucket", arn, {"s3:prefix": prefix})
        asked = (Asked("list", listed), *ask(rights, pod, _OF_OBJECTS, f"{arn}/{prefix}object"))
        told[prefix] = tuple(one for one in asked if not one.verdict.refused)
    everywhere = {one.deed for one in told[ELSEWHERE]}
    row = row_of(f"bucket {bucket.name}", (*told.pop(ELSEWHERE), *ask(rights, pod, _OF_BUCKETS, arn)))
    if row:
        yield row
    for prefix, asked in told.items():
        row = row_of(f"bucket {bucket.name}, {prefix}", (one for one in asked if one.deed not in everywhere))
        if row:
            yield row


def _prefixes(resources: Resources, bucket: str) -> Iterator[str]:
    """Prefixes of a bucket that policies and volumes name."""
    for policy in resources.of(ROLE_POLICY, IAM_POLICY):
        for statement in statements(policy.inputs, "policy"):
            for _, text in known_texts(statement.get("Resource")):
                found = _OBJECT.match(text)
                if found and found["bucket"] == bucket and found["prefix"]:
                    yield found["prefix"]
    for volume in resources.of(VOLUME):
        if any(text == bucket for _, text in known_texts(volume.inputs.get("spec"))):
            for option in texts_at(volume.inputs, "spec", "mountOptions"):
                if option.startswith("prefix "):
                    yield option.removeprefix("prefix ")


def _through_s3(rights: Rights, resources: Resources, pod: Pod, key: str) -> Iterator[Asked]:
    """Objects' own way to a key: S3 asks for it, in the name of who reads."""
    region = key.split(":")[3] if key.count(":") >= 5 else ""
    for bucket in resources.of(BUCKET):
        context = {"kms:ViaService": f"s3.{region}.amazonaws.com", "kms:EncryptionContext:aws:s3:arn": arn_of(bucket)}
        verdict = rights.may(pod, "kms:Decrypt", key, context)
        yield Asked(f"decrypt through bucket {bucket.name}", verdict)
