"""Reading and writing objects of recorded buckets: the requests to S3, and those to KMS that come with them.

Sources, read 2026-11: Amazon S3 User Guide, "Using server-side encryption with AWS KMS keys" (reading asks for
kms:Decrypt, writing for kms:GenerateDataKey, in parts for both) and "Reducing the cost of SSE-KMS with Amazon S3 Bucket
Keys" (the encryption context is the bucket's ARN, without bucket keys the object's).
"""

from __future__ import annotations

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.works.rights.aws.needs.model import Deed
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of


def listing(bucket: RecordedResource, prefix: str) -> Deed:
    """Listing what is below a prefix."""
    return Deed("s3:ListBucket", arn_of(bucket), {"s3:prefix": prefix})


def reading(places: Places, bucket: RecordedResource, name: str) -> tuple[Deed, ...]:
    """Reading an object."""
    return (Deed("s3:GetObject", f"{arn_of(bucket)}/{name}"), *of_key(places, bucket, name, "kms:Decrypt"))


def writing(places: Places, bucket: RecordedResource, name: str) -> tuple[Deed, ...]:
    """Writing an object."""
    return (Deed("s3:PutObject", f"{arn_of(bucket)}/{name}"), *of_key(places, bucket, name, "kms:GenerateDataKey"))


def of_key(places: Places, bucket: RecordedResource, name: str, action: str) -> tuple[Deed, ...]:
    """What comes to a request to S3 of an encrypted bucket: what it asks of the key; nothing where none is recorded."""
    key = places.key_of(bucket)
    if not key:
        return ()
    arn = arn_of(bucket) if places.has_bucket_key(bucket) else f"{arn_of(bucket)}/{name}"
    region = key.split(":")[3]
    return (
        Deed(action, key, {"kms:ViaService": f"s3.{region}.amazonaws.com", "kms:EncryptionContext:aws:s3:arn": arn}),
    )
