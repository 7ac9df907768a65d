"""What a thing of AWS has one of, told twice: the second call overwrites the first, and each update the other's again.

Source: the API of each service, which puts the whole (`PutBucketPolicy`, `PutBucketLifecycleConfiguration`,
`PutFileSystemPolicy`, `SetTopicAttributes`, `CreateOrUpdateTags`, `PutRule`, `PutMetricAlarm`), 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import (
    ACCESS_POLICY_ASSOCIATION,
    AUTOSCALING_TAG,
    BUCKET_ENCRYPTION,
    BUCKET_LOGGING,
    BUCKET_NOTIFICATION,
    BUCKET_OBJECT_LOCK,
    BUCKET_POLICY,
    BUCKET_PUBLIC_ACCESS,
    BUCKET_REPLICATION,
    BUCKET_VERSIONING,
    DASHBOARD,
    ECR_LIFECYCLE,
    EFS_BACKUP_POLICY,
    EFS_POLICY,
    EVENT_RULE,
    KEY_POLICY,
    LIFECYCLE,
    LOG_METRIC_FILTER,
    LOG_RESOURCE_POLICY,
    METRIC_ALARM,
    QUEUE,
    QUEUE_POLICY,
    REPOSITORY_POLICY,
    ROLE_POLICY,
    SECRET_POLICY,
    SNS_TOPIC,
    SNS_TOPIC_POLICY,
)
from trainyard.rehearsal.context import Stack, View

_ONE_OF: Final = (
    *(
        (type_, ("bucket",))
        for type_ in (
            BUCKET_ENCRYPTION, BUCKET_LOGGING, BUCKET_OBJECT_LOCK, BUCKET_POLICY, BUCKET_PUBLIC_ACCESS,
            BUCKET_REPLICATION, BUCKET_VERSIONING, LIFECYCLE, BUCKET_NOTIFICATION,
            "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        )
    ),
    (EFS_BACKUP_POLICY, ("fileSystemId",)),
    (EFS_POLICY, ("fileSystemId",)),
    (KEY_POLICY, ("keyId",)),
    (SNS_TOPIC_POLICY, ("arn",)),
    (QUEUE_POLICY, ("queueUrl",)),
    (REPOSITORY_POLICY, ("repository",)),
    (ECR_LIFECYCLE, ("repository",)),
    (SECRET_POLICY, ("secretArn",)),
    (AUTOSCALING_TAG, ("autoscalingGroupName", "tag.key")),
)  # fmt: skip
"""Types of which the thing that these inputs name has one."""

_NAMED: Final = (
    (ACCESS_POLICY_ASSOCIATION, ("clusterName", "principalArn", "policyArn")),
    (ROLE_POLICY, ("role", "name")),
    (EVENT_RULE, ("name", "eventBusName?")),
    (QUEUE, ("name",)),
    (SNS_TOPIC, ("name",)),
    (LOG_RESOURCE_POLICY, ("policyName",)),
    (METRIC_ALARM, ("name",)),
    (DASHBOARD, ("dashboardName",)),
    (LOG_METRIC_FILTER, ("logGroupName", "name")),
)
"""Types of which a second one of that name is no error: the call that makes one changes one that is there. `?` behind
an input that may be missing."""


def check(stack: Stack) -> None:
    """Two of one type for one thing, or of one name."""
    for type_, paths in _ONE_OF:
        for view, first, named in _second(stack, type_, paths):
            view.error(
                "reference-twice", paths[0],
                f"{first} is of {named} too, which has one of it: the later call overwrites what the other made",
                allowed="one for each",
            )  # fmt: skip
    for type_, paths in _NAMED:
        for view, first, named in _second(stack, type_, paths):
            view.error(
                "reference-twice", paths[0],
                f"{first} is called {named} too: the later call overwrites what the other made",
                allowed="a name of its own",
            )  # fmt: skip


def _second(stack: Stack, type_: str, paths: tuple[str, ...]) -> Iterator[tuple[View, str, str]]:
    """Each that is told the same as one before it, with that one's name and what both are told."""
    seen: dict[tuple[object, ...], str] = {}
    for view in stack.of_type(type_):
        named = tuple(view.text(path.rstrip("?")) for path in paths)
        given = [text for text, path in zip(named, paths, strict=True) if text is not None or not path.endswith("?")]
        if None in given or view.resource.read or any(view.is_unknown(path.rstrip("?")) for path in paths):
            continue
        # A thing of that name may be in each region, which a resource says itself since version 7 of the provider.
        first = seen.setdefault((view.resource.provider, view.value("region"), *named), view.name)
        if first != view.name:
            yield view, first, " and ".join(map(str, given))
