"""The environment's KMS keys, one for each class of data: a right to one of them is no right to the others.

Manages a key, its policy (`key_policies`) and its alias.
"""

import re
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.iam as iam
import pulumi_aws.kms as kms

from trainyard.components.aws.key_policies import KeyUses, key_policy
from trainyard.components.outputs import register

_ALIAS = re.compile(r"alias/[0-9A-Za-z_/-]{1,250}")


class EnvironmentKeyArgs(TypedDict):
    """What `EnvironmentKey` needs."""

    alias: str
    """Alias of the key, `alias/…`: letters, digits, `_`, `/` and `-` after the prefix."""
    purpose: str
    """What it encrypts, in a few words of plain ASCII."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits; nobody of another account may use the key."""
    region: pulumi.Input[str]
    """Region whose services may use the key."""
    administrator_arns: Sequence[pulumi.Input[str]]
    """Roles and users that may change the key, its policy and its grants, whoever deploys among them; wildcards are
    patterns. The account's root user always may, and nobody else does."""
    services: NotRequired[Sequence[str]]
    """Services besides S3 through which roles of the account may use the key, as their IAM policies say: `rds`.
    Default: none."""
    bucket_arns: NotRequired[Sequence[pulumi.Input[str]]]
    """Buckets whose objects roles of the account may encrypt and decrypt with it, as their IAM policies say; wildcards
    are patterns. Default: none."""
    log_groups: NotRequired[Sequence[str]]
    """Names of the log groups that it encrypts; wildcards are patterns. Default: none."""
    role_arns: NotRequired[Sequence[pulumi.Input[str]]]
    """Roles that may use the key themselves, as their IAM policies say; wildcards are patterns. Default: none."""
    publishers: NotRequired[Sequence[str]]
    """Services that publish to topics which it encrypts: `budgets.amazonaws.com`. Default: none."""
    node_volumes: NotRequired[bool]
    """Whether it encrypts the volumes of nodes, which Auto Scaling launches. Default False."""
    deletion_window_days: NotRequired[pulumi.Input[int]]
    """Days between the key's deletion and its end, 7 to 30. Default 30."""
    protect: bool
    """Whether Pulumi refuses to take the key out of the stack. It never deletes the key itself."""
    create_autoscaling_role: NotRequired[bool]
    """Whether to create AWSServiceRoleForAutoScaling. Default False: every account that ever had an Auto Scaling
    group has it, and a second one is refused. A key policy may not name a role that does not exist, so an account
    that never had one needs True. Counts where `node_volumes` is True."""


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
        key = kms.Key(
            f"{name}-key",
            description=f"{args['purpose']} ({args['alias']})",
            deletion_window_in_days=args.get("deletion_window_days", 30),
            enable_key_rotation=True,
            multi_region=False,
            policy=pulumi.Output.json_dumps(self._policy(name, args)),
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

    def _policy(self, name: str, args: EnvironmentKeyArgs) -> pulumi.Output[dict[str, Any]]:
        def made(known: list[Any]) -> dict[str, Any]:
            account, region, autoscaling, administrators, buckets, roles = known
            log_groups = [f"arn:aws:logs:{region}:{account}:log-group:{group}" for group in args.get("log_groups", ())]
            uses = KeyUses(
                services=args.get("services", ()),
                bucket_arns=buckets,
                log_group_arns=log_groups,
                role_arns=roles,
                publishers=args.get("publishers", ()),
                autoscaling_role_arn=autoscaling,
            )
            return key_policy(account, region, administrators, uses)

        return pulumi.Output.all(
            args["account_id"],
            args["region"],
            self._autoscaling_role(name, args) if args.get("node_volumes", False) else "",
            pulumi.Output.all(*args["administrator_arns"]),
            pulumi.Output.all(*args.get("bucket_arns", ())),
            pulumi.Output.all(*args.get("role_arns", ())),
        ).apply(made)

    def _autoscaling_role(self, name: str, args: EnvironmentKeyArgs) -> pulumi.Output[str]:
        if args.get("create_autoscaling_role", False):
            role = iam.ServiceLinkedRole(
                f"{name}-autoscaling",
                aws_service_name="autoscaling.amazonaws.com",
                # Other Auto Scaling groups of the account come to rely on it.
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
            return role.arn
        return pulumi.Output.concat(
            "arn:aws:iam::",
            args["account_id"],
            ":role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
        )
