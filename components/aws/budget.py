"""Alerts when an environment spends more than it should: AWS Budgets and Cost Anomaly Detection.

Billing data is 8 to 24 hours late, so these are alarms, not brakes. All of them look at cost allocation tags, which
see nothing until the payer account has activated the keys; `activate_cost_tags` does it where that account is ours.
"""

import json
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.budgets as budgets
import pulumi_aws.costexplorer as costexplorer
import pulumi_aws.sns as sns

from trainyard.components.outputs import register

MAXIMUM_NOTIFICATIONS = 5
"""How many notifications a budget may have (AWS Budgets quotas, 2026-11)."""

MAXIMUM_EMAILS = 10
"""How many addresses a notification may have (AWS Budgets quotas, 2026-11)."""


class CostTag(TypedDict):
    """A tag that every resource of the environment carries, and nothing else in the account."""

    key: str
    """Key of the tag."""
    value: str
    """Value of the tag."""


class BudgetAlertsArgs(TypedDict):
    """What an environment may spend, and who hears of it."""

    account_id: pulumi.Input[str]
    """Id of the AWS account, 12 digits."""
    key_arn: pulumi.Input[str]
    """KMS key of the alert topic. Its policy must let budgets, costalerts, cloudwatch and SNS use it: AWS Budgets
    cannot publish through the AWS-managed key."""
    budget_name: str
    """Name of the budget: at most 100 characters, no colon or backslash."""
    scope: NotRequired[CostTag]
    """Selects the environment's costs. One tag, because the values of a budget's tag filter are alternatives: client
    and environment as two values would count every environment of the client. Default: all costs of the account, which
    needs no tag that billing has to have seen first."""
    services: NotRequired[Sequence[str]]
    """Counts these services of the account alone, as billing names them: `Amazon SageMaker`. For what people make and
    no stack tags. Not beside `scope`. Default: all."""
    event_rule_arns: NotRequired[Sequence[pulumi.Input[str]]]
    """Rules of EventBridge that may publish to the topic; wildcards are patterns. Default: none."""
    figures_service: NotRequired[bool]
    """Whether Amazon Managed Service for Prometheus may publish to the topic, for workspaces of the account. The key's
    policy must let `aps.amazonaws.com` use it. Default False."""
    monthly_usd: int
    """Budget of the whole environment, USD a month."""
    actual_percents: Sequence[int]
    """Percentages of the budget at which actual costs alert."""
    forecast_percents: Sequence[int]
    """Percentages of the budget at which the month's forecast alerts, which needs about five weeks of history. Five in
    all with `actual_percents`."""
    emails: Sequence[str]
    """Addresses that alerts go to, at most 10. May be empty: then the topic alone is told."""
    anomaly_threshold_usd: int
    """Impact of an anomaly from which it alerts, USD in total."""
    anomaly_detection: bool
    """Whether to monitor `scope` for anomalies. Only a management account, or one outside of any organisation, may
    monitor a tag (AWS Cost Management User Guide, "Getting started with AWS Cost Anomaly Detection", 2026-11)."""
    activate_cost_tags: bool
    """Whether to activate `cost_tag_keys` for billing: in the payer account only, and only a day after resources
    first carried them."""
    cost_tag_keys: Sequence[str]
    """Tag keys to activate: `scope`'s, and whatever reports are broken down by."""


class BudgetAlerts(pulumi.ComponentResource):
    """A monthly budget of the environment, an anomaly monitor where the account may have one, and the topic of both.

    There is none for a team: teams share nodes, and a budget sees tags of nodes, not of pods. What a team spends is
    known at the queue.

    Budgets write to the addresses themselves as well, which needs no confirmation; anomalies reach them through the
    topic only, once its subscription is confirmed.
    """

    topic_arn: pulumi.Output[str]
    """ARN of the topic that alerts go to."""
    budget_name: pulumi.Output[str]
    """Name of the budget."""

    def __init__(self, name: str, args: BudgetAlertsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the field, for what AWS Budgets would refuse."""
        _check(name, args)
        super().__init__("trainyard:index:BudgetAlerts", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        topic = sns.Topic(f"{name}-alerts", kms_master_key_id=args["key_arn"], signature_version=2, opts=child)
        self.topic_arn = topic.arn
        topic_policy = sns.TopicPolicy(
            f"{name}-alerts-policy",
            arn=topic.arn,
            policy=pulumi.Output.json_dumps(_topic_policy(topic.arn, args)),
            opts=child,
        )
        for email in args["emails"]:
            sns.TopicSubscription(f"{name}-{email}", topic=topic.arn, protocol="email", endpoint=email, opts=child)

        # Budgets and the anomaly subscription check that they may publish.
        published = pulumi.ResourceOptions(parent=self, depends_on=[topic_policy])
        scope = args.get("scope")
        budget = budgets.Budget(
            f"{name}-budget",
            name=args["budget_name"],
            account_id=args["account_id"],
            budget_type="COST",
            time_unit="MONTHLY",
            limit_amount=str(args["monthly_usd"]),
            limit_unit="USD",
            cost_filters=_filters(scope, args.get("services", ())),
            # Credits and refunds would hide what is being spent.
            cost_types={"include_credit": False, "include_refund": False},
            notifications=_notifications(args, topic.arn),
            opts=published,
        )
        self.budget_name = budget.name
        if args["anomaly_detection"]:
            if scope is None:
                raise ValueError(f"BudgetAlerts {name!r}: anomaly_detection monitors `scope`, and there is none")
            self._anomalies(name, args, scope, published)
        if args["activate_cost_tags"]:
            for key in args["cost_tag_keys"]:
                costexplorer.CostAllocationTag(f"{name}-cost-tag-{key}", tag_key=key, status="Active", opts=child)
        register(self)

    def _anomalies(self, name: str, args: BudgetAlertsArgs, scope: CostTag, published: pulumi.ResourceOptions) -> None:
        # CUSTOM: an account has one DIMENSIONAL monitor by service, and often has it already.
        monitor = costexplorer.AnomalyMonitor(
            f"{name}-anomalies",
            monitor_type="CUSTOM",
            monitor_specification=_monitor_specification(scope),
            opts=pulumi.ResourceOptions(parent=self),
        )
        costexplorer.AnomalySubscription(
            f"{name}-anomaly-alerts",
            account_id=args["account_id"],
            frequency="IMMEDIATE",  # the only one that a topic can have
            monitor_arn_lists=[monitor.arn],
            subscribers=[{"type": "SNS", "address": self.topic_arn}],
            threshold_expression={
                "dimension": {
                    "key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE",
                    "match_options": ["GREATER_THAN_OR_EQUAL"],
                    "values": [str(args["anomaly_threshold_usd"])],
                }
            },
            opts=published,
        )


def _filters(scope: CostTag | None, services: Sequence[str]) -> list[budgets.BudgetCostFilterArgsDict] | None:
    if scope:
        return [{"name": "TagKeyValue", "values": [f"user:{scope['key']}${scope['value']}"]}]
    return [{"name": "Service", "values": list(services)}] if services else None


def _notifications(args: BudgetAlertsArgs, topic_arn: pulumi.Output[str]) -> list[budgets.BudgetNotificationArgsDict]:
    thresholds = [("ACTUAL", percent) for percent in args["actual_percents"]]
    thresholds += [("FORECASTED", percent) for percent in args["forecast_percents"]]
    return [
        {
            "notification_type": kind,
            "comparison_operator": "GREATER_THAN",
            "threshold": percent,
            "threshold_type": "PERCENTAGE",
            "subscriber_sns_topic_arns": [topic_arn],
            "subscriber_email_addresses": list(args["emails"]),
        }
        for kind, percent in thresholds
    ]


def _topic_policy(topic_arn: pulumi.Output[str], args: BudgetAlertsArgs) -> dict[str, Any]:
    account_id, rules = args["account_id"], list(args.get("event_rule_arns", ()))

    def publish(sid: str, service: str, condition: dict[str, Any]) -> dict[str, Any]:
        return {
            "Sid": sid,
            "Effect": "Allow",
            "Principal": {"Service": service},
            "Action": "sns:Publish",
            "Resource": topic_arn,
            "Condition": condition,
        }

    ours = {"aws:SourceAccount": account_id}
    return {
        "Version": "2012-10-17",
        "Statement": [
            publish(
                "Budgets",
                "budgets.amazonaws.com",
                {
                    "StringEquals": ours,
                    "ArnLike": {"aws:SourceArn": pulumi.Output.concat("arn:aws:budgets::", account_id, ":*")},
                },
            ),
            publish("CostAnomalies", "costalerts.amazonaws.com", {"StringEquals": ours}),
            publish(
                "Alarms",
                "cloudwatch.amazonaws.com",
                {
                    "StringEquals": ours,
                    "ArnLike": {"aws:SourceArn": pulumi.Output.concat("arn:aws:cloudwatch:*:", account_id, ":alarm:*")},
                },
            ),
            *([of_figures(topic_arn, account_id)] if args.get("figures_service", False) else []),
            *([publish("Events", "events.amazonaws.com", {"ArnLike": {"aws:SourceArn": rules}})] if rules else []),
        ],
    }


def of_figures(topic_arn: pulumi.Input[str], account_id: pulumi.Input[str]) -> dict[str, Any]:
    """The statement by which Amazon Managed Service for Prometheus publishes to a topic, for workspaces of the account
    (user guide, "Give Amazon Managed Service for Prometheus permission to send alert messages", 2026-11)."""
    return {
        "Sid": "Figures",
        "Effect": "Allow",
        "Principal": {"Service": "aps.amazonaws.com"},
        "Action": ["sns:Publish", "sns:GetTopicAttributes"],
        "Resource": topic_arn,
        "Condition": {
            "StringEquals": {"aws:SourceAccount": account_id},
            "ArnLike": {"aws:SourceArn": pulumi.Output.concat("arn:aws:aps:*:", account_id, ":workspace/*")},
        },
    }


def _monitor_specification(scope: CostTag) -> str:
    # Cost Explorer returns the empty branches of an expression as nulls, and a monitor whose specification differs
    # from what it returns is replaced.
    return json.dumps(
        {
            "And": None,
            "CostCategories": None,
            "Dimensions": None,
            "Not": None,
            "Or": None,
            "Tags": {"Key": scope["key"], "MatchOptions": ["EQUALS"], "Values": [scope["value"]]},
        }
    )


def _check(name: str, args: BudgetAlertsArgs) -> None:
    if len(args["budget_name"]) > 100 or any(character in args["budget_name"] for character in ":\\"):
        raise ValueError(
            f"{name}: budget_name is {args['budget_name']!r}, must have at most 100 characters "
            "and no colon or backslash"
        )
    if "scope" in args and args.get("services"):
        raise ValueError(f"{name}: scope and services are both given; a budget counts what is both")
    count = len(args["actual_percents"]) + len(args["forecast_percents"])
    if not 1 <= count <= MAXIMUM_NOTIFICATIONS:
        raise ValueError(
            f"{name}: actual_percents and forecast_percents have {count} entries together, "
            f"must have 1 to {MAXIMUM_NOTIFICATIONS}"
        )
    if len(args["emails"]) > MAXIMUM_EMAILS:
        raise ValueError(f"{name}: emails has {len(args['emails'])} entries, must have at most {MAXIMUM_EMAILS}")
    amounts = {"monthly_usd": args["monthly_usd"], "anomaly_threshold_usd": args["anomaly_threshold_usd"]}
    for field, usd in amounts.items():
        if usd <= 0:
            raise ValueError(f"{name}: {field} is {usd}, must be above 0")
