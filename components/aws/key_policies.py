"""The policies of the environment's keys: who changes a key, and through which service its data are read.

Nobody uses a key by its policy alone, services apart that act on their own behalf (log groups, alerts, nodes): it names
the services that the account's roles may come through, and IAM says which role. A role that IAM gives every right of
KMS still reads nothing but through S3 and of the key's own buckets.

Whoever may change the policy may let anybody in, so that is for the administrators alone. The account's root user is
among them: it is what is left when every deployer has gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.conventions.aws import ROOT_USER

Statement = dict[str, Any]

USE = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")
"""What a service does with a key for whoever may use it."""

LOOK = (
    "kms:CancelKeyDeletion",
    "kms:DescribeKey",
    "kms:GetKeyPolicy",
    "kms:GetKeyRotationStatus",
    "kms:ListGrants",
    "kms:ListKeyPolicies",
    "kms:ListResourceTags",
)
"""What whoever IAM lets may do with any key of the environment: see it, as a preview does, and save it."""

S3_CONTEXT = "aws:s3:arn"
"""What S3 tells KMS of an object: the bucket's ARN where the bucket has a Bucket Key, else the object's (S3 User Guide,
"Reducing the cost of SSE-KMS with Amazon S3 Bucket Keys", 2026-11)."""

BUCKET_CONTEXT = f"kms:EncryptionContext:{S3_CONTEXT}"
"""The condition key for it."""

_ON_THIS_KEY = "*"
"""A key policy knows no other resource."""


@dataclass(frozen=True)
class KeyUses:
    """What one key is for. ARNs may hold wildcards."""

    services: Sequence[str] = ()
    """Services besides S3 through which the account's roles may use it: `rds`, `secretsmanager`, `ec2`."""
    bucket_arns: Sequence[str] = ()
    """Buckets whose objects it encrypts."""
    log_group_arns: Sequence[str] = ()
    """Log groups that CloudWatch Logs encrypts with it."""
    role_arns: Sequence[str] = ()
    """Roles that IAM may let use it without a service in between: a control plane, which encrypts secrets itself."""
    trail_arn: str = ""
    """Trail whose files CloudTrail encrypts with it."""
    publishers: Sequence[str] = ()
    """Services that publish to an encrypted topic: `budgets.amazonaws.com`."""
    autoscaling_role_arn: str = ""
    """The role that launches nodes with encrypted volumes; empty: no node has any."""


def key_policy(account_id: str, region: str, administrators: Sequence[str], uses: KeyUses) -> dict[str, Any]:
    """The policy of a key; `administrators` are ARNs of roles and users, which may hold wildcards."""
    account = {"AWS": f"arn:aws:iam::{account_id}:root"}
    ours = {"kms:CallerAccount": account_id}

    def allowed(sid: str, principal: Mapping[str, Any], actions: Sequence[str], condition: Any = None) -> Statement:
        statement = {
            "Sid": sid,
            "Effect": "Allow",
            "Principal": dict(principal),
            "Action": list(actions),
            "Resource": _ON_THIS_KEY,
        }
        return {**statement, "Condition": condition} if condition else statement

    def through(services: Sequence[str]) -> dict[str, Any]:
        return {**ours, "kms:ViaService": [f"{service}.{region}.amazonaws.com" for service in services]}

    who = sorted({*administrators, ROOT_USER.format(account=account_id)})
    statements = [
        # A condition and no principal: KMS refuses a policy that names a role which is not there (yet), and turns one
        # that has gone into an id that no role of its name ever has again.
        allowed("Administer", account, ["kms:*"], {"ArnLike": {"aws:PrincipalArn": who}}),
        allowed("LookAndSave", account, LOOK, {"StringEquals": ours}),
    ]
    if uses.bucket_arns:
        bound = [arn for bucket in uses.bucket_arns for arn in (bucket, f"{bucket}/*")]
        condition = {"StringEquals": through(["s3"]), "ArnLike": {BUCKET_CONTEXT: bound}}
        statements.append(allowed("UseForBuckets", account, USE, condition))
    if uses.services:
        statements += [
            allowed("UseThroughServices", account, USE, {"StringEquals": through(uses.services)}),
            allowed(
                "LendToServices",
                account,
                ["kms:CreateGrant"],
                {"StringEquals": through(uses.services), "Bool": {"kms:GrantIsForAWSResource": "true"}},
            ),
        ]
    if uses.role_arns:
        condition = {"StringEquals": ours, "ArnLike": {"aws:PrincipalArn": list(uses.role_arns)}}
        statements.append(allowed("UseByRoles", account, USE, condition))
    if uses.log_group_arns:
        condition = {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": list(uses.log_group_arns)}}
        statements.append(allowed("EncryptLogGroups", {"Service": f"logs.{region}.amazonaws.com"}, USE, condition))
    if uses.trail_arn:
        trail = {"aws:SourceArn": uses.trail_arn}
        of_it = {"StringLike": {"kms:EncryptionContext:aws:cloudtrail:arn": uses.trail_arn}}
        cloudtrail = {"Service": "cloudtrail.amazonaws.com"}
        statements += [
            allowed("EncryptFiles", cloudtrail, ["kms:GenerateDataKey*"], {"StringEquals": trail, **of_it}),
            # CloudTrail looks the key up when the trail is made, and the bucket's Bucket Key is used by it.
            allowed("UseBucketKey", cloudtrail, ["kms:Decrypt", "kms:DescribeKey"], {"StringEquals": trail}),
        ]
    if uses.publishers:
        # Whoever publishes to an encrypted topic needs a data key of its key.
        actions, condition = (
            ["kms:Decrypt", "kms:GenerateDataKey*"],
            {"StringEquals": {"aws:SourceAccount": account_id}},
        )
        statements.append(allowed("PublishAlerts", {"Service": list(uses.publishers)}, actions, condition))
    if uses.autoscaling_role_arn:
        # Auto Scaling launches the nodes: without these two statements a node group with encrypted volumes comes up
        # empty (Client.InvalidKMSKey.InvalidState).
        launcher = {"AWS": uses.autoscaling_role_arn}
        for_aws = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
        statements += [
            allowed("EncryptNodeVolumes", launcher, USE),
            allowed("AttachNodeVolumes", launcher, ["kms:CreateGrant"], for_aws),
        ]
    return {"Version": "2012-10-17", "Statement": statements}
