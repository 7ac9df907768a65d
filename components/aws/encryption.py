"""The environment's one KMS key: secrets of the cluster, volumes, buckets, file systems, database, logs, alerts.

Manages the key, its policy and its alias. IAM policies give use of it to roles of the account; the key policy itself
only names what IAM policies cannot reach: services that use the key on their own behalf.
"""

import re
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.iam as iam
import pulumi_aws.kms as kms

from trainyard.components.outputs import register

_ALIAS = re.compile(r"alias/[0-9A-Za-z_/-]{1,250}")


PUBLISHERS = ("sns", "budgets", "costalerts", "events")
"""Services that publish to the environment's topics."""


class EnvironmentKeyArgs(TypedDict):
    """What `EnvironmentKey` needs."""

    alias: str
    """Alias of the key, `alias/…`: letters, digits, `_`, `/` and `-` after the prefix."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits; its root administers the key, and no service of another account may use it."""
    region: pulumi.Input[str]
    """Region whose CloudWatch Logs may use the key."""
    deletion_window_days: NotRequired[pulumi.Input[int]]
    """Days between the key's deletion and its end, 7 to 30. Default 30."""
    protect: bool
    """Whether Pulumi refuses to take the key out of the stack. It never deletes the key itself."""
    create_autoscaling_role: NotRequired[bool]
    """Whether to create AWSServiceRoleForAutoScaling. Default False: every account that ever had an Auto Scaling
    group has it, and a second one is refused. A key policy may not name a role that does not exist, so an account
    that never had one needs True."""


def key_policy(account_id: str, region: str, autoscaling_role_arn: str) -> dict[str, Any]:
    """The key policy. `Resource: "*"` means this key: a key policy knows no other."""
    everything = "*"
    use = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "AdministerThroughIam",
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{account_id}:root"},
                "Action": "kms:*",
                "Resource": everything,
            },
            {
                "Sid": "EncryptLogGroups",
                "Effect": "Allow",
                "Principal": {"Service": f"logs.{region}.amazonaws.com"},
                "Action": use,
                "Resource": everything,
                "Condition": {
                    "ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:{region}:{account_id}:log-group:*"}
                },
            },
            {
                # Whoever publishes to an encrypted topic needs a data key of its key: budgets, cost anomaly detection,
                # rules on events.
                "Sid": "PublishAlerts",
                "Effect": "Allow",
                "Principal": {"Service": [f"{service}.amazonaws.com" for service in PUBLISHERS]},
                "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
                "Resource": everything,
                "Condition": {"StringEquals": {"aws:SourceAccount": account_id}},
            },
            {
                # Auto Scaling launches the nodes: without these two statements a node group with encrypted volumes
                # comes up empty (Client.InvalidKMSKey.InvalidState).
                "Sid": "EncryptNodeVolumes",
                "Effect": "Allow",
                "Principal": {"AWS": autoscaling_role_arn},
                "Action": use,
                "Resource": everything,
            },
            {
                "Sid": "AttachNodeVolumes",
                "Effect": "Allow",
                "Principal": {"AWS": autoscaling_role_arn},
                "Action": "kms:CreateGrant",
                "Resource": everything,
                "Condition": {"Bool": {"kms:GrantIsForAWSResource": "true"}},
            },
        ],
    }


class EnvironmentKey(pulumi.ComponentResource):
    """A customer-managed key with yearly rotation, an explicit policy and an alias.

    A destroy leaves the key where it is: what it encrypted and the stack leaves behind stays readable. Whoever deletes
    the last of that schedules the key's deletion (`aws kms schedule-key-deletion`); until then it costs as before.
    """

    key_arn: pulumi.Output[str]
    """ARN of the key. Most services take nothing else: no alias, no bare id."""
    key_id: pulumi.Output[str]
    """Id of the key."""
    alias_name: pulumi.Output[str]
    """Alias of the key, with its prefix."""

    def __init__(self, name: str, args: EnvironmentKeyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for an alias that KMS refuses."""
        super().__init__("trainyard:index:EnvironmentKey", name, None, opts)
        if not _ALIAS.fullmatch(args["alias"]) or args["alias"].startswith("alias/aws/"):
            raise ValueError(f"alias {args['alias']!r}: alias/ and then letters, digits, _, / or -, not alias/aws/")
        account_id = pulumi.Output.from_input(args["account_id"])
        if args.get("create_autoscaling_role", False):
            role = iam.ServiceLinkedRole(
                f"{name}-autoscaling",
                aws_service_name="autoscaling.amazonaws.com",
                # Other Auto Scaling groups of the account come to rely on it.
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
            autoscaling_role_arn = role.arn
        else:
            autoscaling_role_arn = pulumi.Output.concat(
                "arn:aws:iam::",
                account_id,
                ":role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
            )
        policy = pulumi.Output.all(account_id, args["region"], autoscaling_role_arn).apply(
            lambda known: key_policy(known[0], known[1], known[2])
        )
        key = kms.Key(
            f"{name}-key",
            description=f"Everything at rest in the environment of {args['alias']}",
            deletion_window_in_days=args.get("deletion_window_days", 30),
            enable_key_rotation=True,
            multi_region=False,
            policy=pulumi.Output.json_dumps(policy),
            tags={"Name": name},
            # Never deleted by Pulumi: the database's final snapshot, what is left in buckets and every backup are
            # encrypted with it, and outlive the stack.
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"], retain_on_delete=True),
        )
        alias = kms.Alias(
            f"{name}-alias",
            name=args["alias"],
            target_key_id=key.key_id,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.key_arn = key.arn
        self.key_id = key.key_id
        self.alias_name = alias.name
        register(self)
