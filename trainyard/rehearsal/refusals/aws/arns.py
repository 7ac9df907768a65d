"""What an ARN is of: an input for a role takes no policy, one for a name takes no ARN, and a key is of this region.

Sources: the service authorization reference (ARN formats) and the API reference of each input, read 2026-11; that an
alarm tells topics of its own region alone is CloudWatch's ("Only us-east-1 is supported").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from trainyard.recorded.read import known_texts
from trainyard.recorded.types import EVENT_TARGET, FUNCTION
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "role": (r"iam:.*:role/.+", "a role (arn:aws:iam::ACCOUNT:role/NAME)"),
    "policy": (r"iam:.*:policy/.+", "a policy (arn:aws:iam::ACCOUNT:policy/NAME)"),
    "profile": (r"iam:.*:instance-profile/.+", "an instance profile (arn:aws:iam::ACCOUNT:instance-profile/NAME)"),
    "key": (r"kms:.*:(key|alias)/.+", "a key (arn:aws:kms:REGION:ACCOUNT:key/ID)"),
    "topic": (r"sns:.*", "a topic (arn:aws:sns:REGION:ACCOUNT:NAME)"),
    "bucket": (r"s3:::[^/]+|s3(express|-outposts)?:[^:]+:.*", "a bucket (arn:aws:s3:::NAME)"),
    "certificate": (r"acm:.*|iam:.*:server-certificate/.+", "a certificate of ACM"),
    "secret": (r"secretsmanager:.*:secret:.+", "a secret (arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME)"),
    "log group": (r"logs:.*:log-group:.+", "a log group (arn:aws:logs:REGION:ACCOUNT:log-group:NAME)"),
    "queue": (r"sqs:.*", "a queue (arn:aws:sqs:REGION:ACCOUNT:NAME)"),
    "function": (r"lambda:.*:function:.+", "a function (arn:aws:lambda:REGION:ACCOUNT:function:NAME)"),
    "files": (r"elasticfilesystem:.*:file-system/.+", "a file system"),
    "balancer": (r"elasticloadbalancing:.*", "a load balancer"),
    "targets": (r"elasticloadbalancing:.*", "a target group"),
    "vault": (r"backup:.*", "a vault (arn:aws:backup:REGION:ACCOUNT:backup-vault:NAME)"),
}
_ENDINGS: Final = (
    ("rolearn", "role"), ("permissionsboundary", "policy"), ("policyarns", "policy"), ("kmskeyarn", "key"),
    ("kmskeyid", "key"), ("kmsmasterkeyid", "key"), ("encryptionkeyarn", "key"), ("topicarn", "topic"),
    ("topicarns", "topic"), ("bucketarn", "bucket"), ("certificatearn", "certificate"), ("secretarn", "secret"),
    ("credentialarn", "secret"), ("loggrouparn", "log group"), ("logsgrouparn", "log group"), ("sqsqueuearn", "queue"),
    ("lambdaarn", "function"), ("lambdafunctionarn", "function"), ("filesystemarn", "files"),
    ("loadbalancerarn", "balancer"), ("targetgrouparn", "targets"), ("vaultarn", "vault"),
)  # fmt: skip
"""How the names of inputs end, and what their ARNs are of, on every type of AWS."""
_OF_TYPE: Final[Mapping[tuple[str, str], str]] = {
    ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "policyArn"): "policy",
    ("aws:iam/userPolicyAttachment:UserPolicyAttachment", "policyArn"): "policy",
    ("aws:iam/groupPolicyAttachment:GroupPolicyAttachment", "policyArn"): "policy",
    (FUNCTION, "role"): "role",
    ("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "role"): "role",
    ("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "destination.bucket"): "bucket",
    ("aws:batch/computeEnvironment:ComputeEnvironment", "serviceRole"): "role",
    ("aws:batch/computeEnvironment:ComputeEnvironment", "computeResources.instanceRole"): "profile",
    ("aws:codebuild/project:Project", "serviceRole"): "role",
    ("aws:sns/topicSubscription:TopicSubscription", "topic"): "topic",
    ("aws:eks/cluster:Cluster", "provider.keyArn"): "key",
    ("aws:s3/bucketNotification:BucketNotification", "queueArn"): "queue",
    ("aws:sagemaker/domain:Domain", "executionRole"): "role",
}
"""Inputs whose own name says less."""
_NAMED: Final = re.compile(r"(?:^|[a-z])(?:[Nn]ames?|[Bb]ucket)$|^(?:rule|repository)$")
_EITHER: Final = frozenset(
    {"eventBusName", "functionName", "modelPackageGroupName", "modelPackageName", "serviceName", "streamName"}
)
"""Inputs that take a name or an ARN."""
_FREE: Final = re.compile(r"(^|\.)(tags|tagsAll|dimensions|variables|environmentVariables|parameters|metadata)\.")
"""Maps whose keys are the program's own."""
_OTHER_REGIONS: Final = re.compile(r"replica|primary|destination|copy|copies|source", re.IGNORECASE)
_ALARMS: Final = ("aws:cloudwatch/metricAlarm:MetricAlarm", "aws:cloudwatch/compositeAlarm:CompositeAlarm")


@cache
def _plain(path: str) -> str:
    return re.sub(r"\[\d+\]", "", path)


@cache
def _wanted(type_: str, plain: str) -> str:
    """What the ARN at a path is of; empty where that is not known."""
    for (own, path), kind in _OF_TYPE.items():
        if own == type_ and (plain == path or plain.endswith(f".{path}")):
            return kind
    name = plain.rpartition(".")[2].lower()
    return next((kind for ending, kind in _ENDINGS if name.endswith(ending)), "")


def arns(view: View) -> None:
    """Each ARN that an input holds, and each name that is one."""
    if not view.type.startswith("aws:"):
        return
    region = view.region
    for path, value in known_texts(view.inputs):
        if not value.startswith("arn:"):
            if (view.type, _plain(path)) in _OF_TYPE and _plain(path).endswith("destination.bucket"):
                view.error("aws-arn", path, f"got {show(value)}", allowed="the ARN of a bucket (arn:aws:s3:::NAME)")
            continue
        plain = _plain(path)
        if _FREE.search(plain):
            continue
        name, kind = plain.rpartition(".")[2], _wanted(view.type, plain)
        partition, _, rest = value.removeprefix("arn:").partition(":")
        if kind and not re.fullmatch(_KINDS[kind][0], rest):
            view.error("aws-arn-kind", path, f"got {show(value)}", allowed=f"the ARN of {_KINDS[kind][1]}")
        elif not kind and _NAMED.search(name) and name not in _EITHER and _is_whole(name, rest):
            view.error("aws-name", path, f"got the ARN {show(value)}", allowed="the name alone")
        elif region and partition != _partition(region) and partition.startswith("aws"):
            view.error("aws-partition", path, f"{show(value)} is of another partition than {region}",
                       allowed=f"arn:{_partition(region)}:…")  # fmt: skip
        elif region and kind == "key" and not _OTHER_REGIONS.search(plain) and rest.split(":")[1] not in ("", region):
            view.error("aws-arn-region", path, f"{show(value)} is of another region than {region}",
                       allowed=f"a key of {region}")  # fmt: skip


def _is_whole(name: str, rest: str) -> bool:
    """Whether an ARN stands where a name is wanted: for a bucket, that of an access point will do."""
    return not name.lower().endswith("bucket") or rest.startswith("s3:::")


def _partition(region: str) -> str:
    return "aws-cn" if region.startswith("cn-") else "aws-us-gov" if region.startswith("us-gov-") else "aws"


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
