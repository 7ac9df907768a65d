"""Who is told at once: somebody takes the role for emergencies, the record is switched off, GuardDuty finds something.

Rules of EventBridge on what CloudTrail and GuardDuty report, to a topic of its own: whoever may publish to the topic of
the budget cannot drown these. EventBridge publishes by the topic's policy alone; a role on the target makes delivery to
an encrypted topic fail (Amazon EventBridge User Guide, "Using resource-based policies", 2026-11).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.sns as sns

from trainyard.components.outputs import register

LEAST_SEVERITY = 4
"""Severity of GuardDuty's findings from which somebody is told: medium and above (general
knowledge of GuardDuty's levels)."""

READ_ONLY_TOO = "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"
"""State of a rule that gets read-only calls too; CloudTrail calls AssumeRole one."""

SWITCHES = (
    "DeleteTrail",
    "PutEventSelectors",
    "StopLogging",
    "UpdateTrail",
    "DeleteDetector",
    "DisassociateFromAdministratorAccount",
    "UpdateDetector",
)
"""What switches the record or the search for attacks off, as CloudTrail names it."""


class SecurityAlertsArgs(TypedDict):
    """What `SecurityAlerts` needs."""

    key_arn: pulumi.Input[str]
    """KMS key of the topic. Its policy must let EventBridge and SNS use it."""
    emails: Sequence[str]
    """Addresses that are written to, once each has confirmed its subscription. May be empty: then the topic alone is
    told."""
    role_arns: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Roles that nobody takes on an ordinary day, by a short name that stays. Default: none."""
    findings: bool
    """Whether the account has a GuardDuty detector, whose findings are told."""


class SecurityAlerts(pulumi.ComponentResource):
    """An encrypted topic with its subscriptions, and a rule for each thing that somebody is told of."""

    topic_arn: pulumi.Output[str]
    """ARN of the topic that security alerts go to."""

    def __init__(self, name: str, args: SecurityAlertsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Rules before the topic's policy, which names them; targets after it, or the first event is dropped."""
        super().__init__("trainyard:index:SecurityAlerts", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        topic = sns.Topic(f"{name}-topic", kms_master_key_id=args["key_arn"], signature_version=2, opts=child)
        self.topic_arn = topic.arn
        for email in args["emails"]:
            sns.TopicSubscription(f"{name}-{email}", topic=topic.arn, protocol="email", endpoint=email, opts=child)
        rules: dict[str, cloudwatch.EventRule] = {}

        def rule(short: str, description: str, pattern: dict[str, Any], state: str = "ENABLED") -> None:
            rules[f"{name}-{short}"] = cloudwatch.EventRule(
                f"{name}-{short}",
                description=description,
                event_pattern=pulumi.Output.json_dumps(pattern),
                state=state,
                opts=child,
            )

        for short, arn in args.get("role_arns", {}).items():
            rule(short, f"Somebody takes the role {short}", role_taken(arn), READ_ONLY_TOO)
        rule("record-off", "Somebody changes what is recorded", switched_off())
        if args["findings"]:
            rule("findings", "GuardDuty has found something", finding())
        policy = sns.TopicPolicy(
            f"{name}-topic-policy",
            arn=topic.arn,
            policy=pulumi.Output.json_dumps(_topic_policy(topic.arn, [made.arn for made in rules.values()])),
            opts=child,
        )
        for rule_name, made in rules.items():
            cloudwatch.EventTarget(
                rule_name,
                rule=made.name,
                arn=topic.arn,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
            )
        register(self)


def role_taken(role_arn: pulumi.Input[str]) -> dict[str, Any]:
    """Events of somebody who takes, or tries to take, a role."""
    return {
        "source": ["aws.sts"],
        "detail-type": ["AWS API Call via CloudTrail"],
        "detail": {
            "eventSource": ["sts.amazonaws.com"],
            "eventName": ["AssumeRole"],
            "requestParameters": {"roleArn": [role_arn]},
        },
    }


def switched_off() -> dict[str, Any]:
    """Events of somebody who changes a trail or a detector."""
    return {
        "source": ["aws.cloudtrail", "aws.guardduty"],
        "detail-type": ["AWS API Call via CloudTrail"],
        "detail": {
            "eventSource": ["cloudtrail.amazonaws.com", "guardduty.amazonaws.com"],
            "eventName": list(SWITCHES),
        },
    }


def finding() -> dict[str, Any]:
    """Events of a finding that somebody should look at."""
    return {
        "source": ["aws.guardduty"],
        "detail-type": ["GuardDuty Finding"],
        "detail": {"severity": [{"numeric": [">=", LEAST_SEVERITY]}]},
    }


def _topic_policy(topic_arn: pulumi.Output[str], rule_arns: Sequence[pulumi.Output[str]]) -> dict[str, Any]:
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Rules",
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sns:Publish",
                "Resource": topic_arn,
                "Condition": {"ArnEquals": {"aws:SourceArn": list(rule_arns)}},
            }
        ],
    }
