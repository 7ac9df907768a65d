"""What a thing of AWS has one of, told twice: the second call overwrites the first, and each update the other's again.

Source: the API of each service, which puts the whole (`PutBucketPolicy`, `PutBucketLifecycleConfiguration`,
`PutFileSystemPolicy`, `SetTopicAttributes`, `CreateOrUpdateTags`), 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import (
    AUTOSCALING_TAG,
    BUCKET_ENCRYPTION,
    BUCKET_LOGGING,
    BUCKET_NOTIFICATION,
    BUCKET_OBJECT_LOCK,
    BUCKET_POLICY,
    BUCKET_PUBLIC_ACCESS,
    BUCKET_REPLICATION,
    BUCKET_VERSIONING,
    ECR_LIFECYCLE,
    EFS_BACKUP_POLICY,
    EFS_POLICY,
    KEY_POLICY,
    LIFECYCLE,
    QUEUE_POLICY,
    REPOSITORY_POLICY,
    SECRET_POLICY,
    SNS_TOPIC_POLICY,
)
from trainyard.rehearsal.context import Stack

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


def check(stack: Stack) -> None:
    """Two of one type for one thing."""
    for type_, paths in _ONE_OF:
        seen: dict[tuple[object, ...], str] = {}
        for view in stack.of_type(type_):
            named = tuple(view.text(path) for path in paths)
            if None in named or view.resource.read:
                continue
            # A thing of that name may be in each region, which a resource says itself since version 7 of the provider.
            first = seen.setdefault((view.resource.provider, view.value("region"), *named), view.name)
            if first != view.name:
                view.error(
                    "reference-twice", paths[0],
                    f"{first} is of {' and '.join(map(str, named))} too, which has one of it: the later call "
                    "overwrites what the other made", allowed="one for each",
                )  # fmt: skip
