"""What an ARN is of: an input for a role takes no policy, one for a name takes no ARN, and a key is of this region.

Sources: the service authorization reference (ARN formats) and the API reference of each input, read 2026-11; that an
alarm tells topics of its own region alone is CloudWatch's ("Only us-east-1 is supported").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from trainyard.partitions import partition_of
from trainyard.recorded.types import (
    BUCKET_REPLICATION,
    COMPOSITE_ALARM,
    EVENT_TARGET,
    FUNCTION,
    METRIC_ALARM,
    SECRET_VERSION,
    TRAIL,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.made_up import is_made_up
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "role": (r"iam:.*:role/.+", "a role (arn:aws:iam::ACCOUNT:role/NAME)"),
    "policy": (r"iam:.*:policy/.+", "a policy (arn:aws:iam::ACCOUNT:policy/NAME)"),
    "profile": (r"iam:.*:instance-profile/.+", "an instance profile (arn:aws:iam::ACCOUNT:instance-profile/NAME)"),
    "key": (r"kms:.*:(key|alias)/.+", "a key (arn:aws:kms:REGION:ACCOUNT:key/ID)"),
    "topic": (r"sns:.*", "a topic (arn:aws:sns:REGION:ACCOUNT:NAME)"),
    "bucket": (r"s3:::[^/]+|s3(express|-outposts)?:[^:]+:.*", "a bucket (arn:aws:s3:::NAME)"),
    "table bucket": (r"s3tables:.*:bucket/.+", "a table bucket (arn:aws:s3tables:REGION:ACCOUNT:bucket/NAME)"),
    "vector bucket": (r"s3vectors:.*:bucket/.+", "a vector bucket (arn:aws:s3vectors:REGION:ACCOUNT:bucket/NAME)"),
    "certificate": (r"acm:.*|iam:.*:server-certificate/.+", "a certificate of ACM"),
    "certificate of DMS": (r"dms:.*:cert:.+", "a certificate of DMS (arn:aws:dms:REGION:ACCOUNT:cert:ID)"),
    "secret": (r"secretsmanager:.*:secret:.+", "a secret (arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME)"),
    "log group": (r"logs:.*:log-group:.+", "a log group (arn:aws:logs:REGION:ACCOUNT:log-group:NAME)"),
    "queue": (r"sqs:.*", "a queue (arn:aws:sqs:REGION:ACCOUNT:NAME)"),
    "function": (r"lambda:.*:function:.+", "a function (arn:aws:lambda:REGION:ACCOUNT:function:NAME)"),
    "files": (r"elasticfilesystem:.*:file-system/.+", "a file system"),
    "files of FSx": (r"fsx:.*:file-system/.+", "a file system (arn:aws:fsx:REGION:ACCOUNT:file-system/ID)"),
    "balancer": (r"elasticloadbalancing:.*", "a load balancer"),
    "targets": (r"elasticloadbalancing:.*", "a target group"),
    "vault": (r"backup:.*", "a vault (arn:aws:backup:REGION:ACCOUNT:backup-vault:NAME)"),
}
_ENDINGS: Final = (
    ("rolearn", "role"), ("permissionsboundary", "policy"), ("policyarns", "policy"), ("kmskeyarn", "key"),
    ("kmskeyid", "key"), ("kmsmasterkeyid", "key"), ("encryptionkeyarn", "key"), ("topicarn", "topic"),
    ("topicarns", "topic"), ("tablebucketarn", "table bucket"), ("vectorbucketarn", "vector bucket"),
    ("bucketarn", "bucket"), ("certificatearn", "certificate"), ("secretarn", "secret"),
    ("credentialarn", "secret"), ("loggrouparn", "log group"), ("logsgrouparn", "log group"), ("sqsqueuearn", "queue"),
    ("lambdaarn", "function"), ("lambdafunctionarn", "function"), ("fsxfilesystemarn", "files of FSx"),
    ("filesystemarn", "files"), ("loadbalancerarn", "balancer"), ("targetgrouparn", "targets"), ("vaultarn", "vault"),
)  # fmt: skip
"""How the names of inputs end, and what their ARNs are of, on every type of AWS: the first that fits."""
_OF_TYPE: Final[Mapping[tuple[str, str], str]] = {
    ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "policyArn"): "policy",
    ("aws:iam/userPolicyAttachment:UserPolicyAttachment", "policyArn"): "policy",
    ("aws:iam/groupPolicyAttachment:GroupPolicyAttachment", "policyArn"): "policy",
    (FUNCTION, "role"): "role",
    (BUCKET_REPLICATION, "role"): "role",
    (BUCKET_REPLICATION, "destination.bucket"): "bucket",
    ("aws:batch/computeEnvironment:ComputeEnvironment", "serviceRole"): "role",
    ("aws:batch/computeEnvironment:ComputeEnvironment", "computeResources.instanceRole"): "profile",
    ("aws:codebuild/project:Project", "serviceRole"): "role",
    ("aws:sns/topicSubscription:TopicSubscription", "topic"): "topic",
    ("aws:eks/cluster:Cluster", "provider.keyArn"): "key",
    ("aws:s3/bucketNotification:BucketNotification", "queueArn"): "queue",
    ("aws:sagemaker/domain:Domain", "executionRole"): "role",
    ("aws:dms/endpoint:Endpoint", "certificateArn"): "certificate of DMS",
}
"""Inputs whose own name says less."""
_NAMED: Final = re.compile(r"(?:^|[a-z])(?:[Nn]ames?|[Bb]ucket)$|^(?:rule|repository)$")
_EITHER: Final = frozenset(
    {"eventBusName", "functionName", "modelPackageGroupName", "modelPackageName", "serviceName", "streamName"}
)
"""Inputs that take a name or an ARN."""
_EITHER_OF: Final = frozenset(
    {(TRAIL, "snsTopicName"), ("aws:ssm/association:Association", "name"),
     ("aws:lambda/layerVersionPermission:LayerVersionPermission", "layerName")}
)  # fmt: skip
"""Those whose name elsewhere is a name's alone."""
_FREE: Final = re.compile(r"(^|\.)(tags|tagsAll|dimensions|variables|environmentVariables|parameters|metadata)\.")
"""Maps whose keys are the program's own."""
_KEPT: Final = frozenset(
    {("aws:ssm/parameter:Parameter", "value"), ("aws:ssm/parameter:Parameter", "insecureValue"),
     (SECRET_VERSION, "secretString")}
)  # fmt: skip
"""Inputs that only keep a text: whatever it names may be anywhere."""
_OTHER_REGIONS: Final = re.compile(r"replica|primary|destination|copy|copies|source", re.IGNORECASE)
_WITH_THE_BUCKET: Final = frozenset(
    {(TRAIL, "kmsKeyId"), ("aws:cfg/deliveryChannel:DeliveryChannel", "s3KmsKeyArn"),
     ("aws:guardduty/publishingDestination:PublishingDestination", "kmsKeyArn")}
)  # fmt: skip
"""Keys that lie where the bucket does to which things are brought; a distribution of images names its own region."""
_ALARMS: Final = (METRIC_ALARM, COMPOSITE_ALARM)


@dataclass(frozen=True, slots=True)
class _Place:
    """What is known of an input by its type and path."""

    kind: str  # what its ARN is of; empty where that is not known
    name: str  # its own name where it takes a name and no ARN; else empty
    elsewhere: bool  # whether it may name what is in another region


@cache
def _place(type_: str, path: str) -> _Place | None:
    plain = re.sub(r"\[\d+\]", "", path)
    if _FREE.search(plain) or (type_, plain) in _KEPT:
        return None
    name = plain.rpartition(".")[2]
    kind = next(
        (kind for (own, at), kind in _OF_TYPE.items() if own == type_ and (plain == at or plain.endswith(f".{at}"))),
        next((kind for ending, kind in _ENDINGS if name.lower().endswith(ending)), ""),
    )
    either = name in _EITHER or (type_, plain) in _EITHER_OF
    named = not kind and _NAMED.search(name) is not None and not either
    elsewhere = _OTHER_REGIONS.search(plain) is not None or (type_, plain) in _WITH_THE_BUCKET
    return _Place(kind, name if named else "", elsewhere or plain.startswith("distributions."))


_FORMS: Final = {kind: re.compile(pattern) for kind, (pattern, _) in _KINDS.items()}


def arns(view: View) -> None:
    """Each ARN that an input holds, and each name that is one."""
    if not view.type.startswith("aws:"):
        return
    for path, value in view.known_texts:
        if value.startswith("arn:"):
            _arn(view, path, value)
        elif path.endswith("destination.bucket") and view.type == BUCKET_REPLICATION:
            view.error("aws-arn", path, f"got {show(value)}", allowed="the ARN of a bucket (arn:aws:s3:::NAME)")


def _arn(view: View, path: str, value: str) -> None:
    place = _place(view.type, path)
    if place is None:
        return
    region = view.region
    partition, _, rest = value[4:].partition(":")
    own = partition_of(region)
    if place.kind and not _FORMS[place.kind].fullmatch(rest):
        if is_made_up(view, value):
            return
        view.error("aws-arn-kind", path, f"got {show(value)}", allowed=f"the ARN of {_KINDS[place.kind][1]}")
    elif place.name and _is_whole(place.name, rest):
        view.error("aws-name", path, f"got the ARN {show(value)}", allowed="the name alone")
    elif region and partition != own and partition.startswith("aws"):
        view.error("aws-partition", path, f"{show(value)} is of another partition than {region}",
                   allowed=f"arn:{own}:…")  # fmt: skip
    elif region and place.kind == "key" and not place.elsewhere and rest.split(":")[1] not in ("", region):
        view.error("aws-arn-region", path, f"{show(value)} is of another region than {region}",
                   allowed=f"a key of {region}")  # fmt: skip


def _is_whole(name: str, rest: str) -> bool:
    """Whether an ARN stands where a name is wanted: for a bucket, that of an access point will do."""
    return not name.lower().endswith("bucket") or rest.startswith("s3:::")


def told_here(view: View) -> None:
    """An alarm tells topics of its region; a rule's target lies there too, but for a bus."""
    region = view.region
    paths = ("arn",) if view.type == EVENT_TARGET else ("alarmActions", "okActions", "insufficientDataActions")
    for path in paths:
        for value in view.texts(path) or [view.text(path) or ""]:
            parts = value.split(":")
            if region and len(parts) > 4 and parts[2] in ("sns", "sqs", "lambda", "logs") and parts[3] != region:
                view.error("aws-arn-region", path, f"{show(value)} is of another region than {region}",
                           allowed=f"one of {region}")  # fmt: skip


RULES: Final[Rules] = {
    told_here: (*_ALARMS, EVENT_TARGET),
    arns: (EVERY_TYPE,),
}
