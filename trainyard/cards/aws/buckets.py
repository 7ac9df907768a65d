"""Buckets and their settings."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, Card, Free, Priced, estimate, service_model

_SETTING: Final = "a setting of a bucket; what is stored is billed with the bucket"

CARDS: Final = (
    Card("aws:s3/*", API_CALL, None, taggable=False, stateful=False, id="{input:bucket|{name}}"),
    Card(
        "aws:s3/bucket:Bucket",
        estimate(3),
        Priced("storage.bucket"),
        taggable=True,
        stateful=True,
        id="{input:bucket|{name}}",
        outputs={
            "bucketDomainName": "{id}.s3.{dns_suffix}",
            "bucketRegionalDomainName": "{id}.s3.{region}.{dns_suffix}",
            "bucketRegion": "{region}",
            "region": "{region}",
        },
        model=service_model(
            "s3.CreateBucket",
            names={"objectLockEnabled": "ObjectLockEnabledForBucket"},
            undescribed=(
                "accelerationStatus bucketPrefix corsRules forceDestroy grants lifecycleRules logging "
                "objectLockConfiguration policy replicationConfiguration requestPayer "
                "serverSideEncryptionConfiguration versioning website"
            ),
        ),
    ),
    Card(
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model(
            "s3.PutBucketLifecycleConfiguration.LifecycleConfiguration", "s3.PutBucketLifecycleConfiguration"
        ),
    ),
    Card(
        "aws:s3/bucketLogging:BucketLogging",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model("s3.PutBucketLogging.BucketLoggingStatus.LoggingEnabled", "s3.PutBucketLogging"),
    ),
    Card(
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model("s3.PutBucketOwnershipControls.OwnershipControls", "s3.PutBucketOwnershipControls"),
    ),
    Card(
        "aws:s3/bucketPolicy:BucketPolicy",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model("s3.PutBucketPolicy", undescribed="policy"),
    ),
    Card(
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model(
            "s3.PutPublicAccessBlock.PublicAccessBlockConfiguration",
            "s3.PutPublicAccessBlock",
            undescribed="skipDestroy",
        ),
    ),
    Card(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model("s3.PutBucketEncryption.ServerSideEncryptionConfiguration", "s3.PutBucketEncryption"),
    ),
    Card(
        "aws:s3/bucketVersioning:BucketVersioning",
        API_CALL,
        Free(_SETTING),
        taggable=False,
        stateful=False,
        id="{input:bucket|{name}}",
        model=service_model(
            "s3.PutBucketVersioning",
            names={"versioningConfiguration.mfaDelete": "MFADelete"},
            undescribed="versioningConfiguration.status",
        ),
    ),
)
