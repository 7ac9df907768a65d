"""IAM policies of pods that use a bucket, or a prefix of one: what reading and writing take, and no more."""

from typing import Any

import pulumi

_READ = ["s3:GetObject"]
_WRITE = ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]


def read_only_policy(bucket_arn: pulumi.Input[str], key_arn: pulumi.Input[str], prefix: str = "") -> dict[str, Any]:
    """An IAM policy document that lets its holder list and read the objects under `prefix`.

    `prefix` is a folder (`vision` and `vision/` are the same); empty is the whole bucket. `key_arn` is the KMS key
    of the bucket's objects. Inputs that are outputs stay outputs within the document: use `Output.json_dumps`.
    """
    return _policy(bucket_arn, key_arn, prefix, object_actions=_READ, key_actions=["kms:Decrypt"])


def read_write_policy(bucket_arn: pulumi.Input[str], key_arn: pulumi.Input[str], prefix: str = "") -> dict[str, Any]:
    """As `read_only_policy`, and lets its holder write and delete objects, in parts too.

    A deletion leaves the version recoverable (the buckets are versioned); deleting versions is not granted.
    """
    return _policy(
        bucket_arn,
        key_arn,
        prefix,
        object_actions=[*_READ, *_WRITE],
        # Decrypt too: completing an upload in parts makes S3 read them again.
        key_actions=["kms:Decrypt", "kms:GenerateDataKey"],
    )


def _policy(
    bucket_arn: pulumi.Input[str],
    key_arn: pulumi.Input[str],
    prefix: str,
    *,
    object_actions: list[str],
    key_actions: list[str],
) -> dict[str, Any]:
    folder = prefix.strip("/")
    if any(character in folder for character in "*?$"):
        raise ValueError(f"prefix {prefix!r}: *, ? and $ mean something else in a policy")
    listing: dict[str, Any] = {
        "Sid": "ListObjects",
        "Effect": "Allow",
        "Action": ["s3:ListBucket"],
        "Resource": bucket_arn,
    }
    if folder:
        listing["Condition"] = {"StringLike": {"s3:prefix": [f"{folder}/*"]}}
    return {
        "Version": "2012-10-17",
        "Statement": [
            listing,
            {
                "Sid": "UseObjects",
                "Effect": "Allow",
                "Action": object_actions,
                "Resource": _concat(bucket_arn, f"/{folder}/*" if folder else "/*"),
            },
            {"Sid": "UseKey", "Effect": "Allow", "Action": key_actions, "Resource": key_arn},
        ],
    }


def _concat(head: pulumi.Input[str], tail: str) -> pulumi.Input[str]:
    return head + tail if isinstance(head, str) else pulumi.Output.concat(head, tail)
