"""Money: a budget that tells somebody, and a ceiling that the budget bears."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.cost.ceiling import hourly_ceiling
from trainyard.cost.model import CURRENCY
from trainyard.cost.price import DEFAULT_PROFILE
from trainyard.monitoring.alerts.money import LADDER
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.stack_settings import stack_profile
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, GKE_NODE_POOL, LAUNCH_TEMPLATE
from trainyard.recorded.read import is_on, is_set, list_at, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AWS_BUDGET,
    CAPACITY_RESERVATION,
    CHATBOTS,
    CLOUD_SQL,
    DATABASE,
    EC2_INSTANCE,
    EKS_CLUSTER,
    FILESTORE,
    GCP_BUDGET,
    GCP_LUSTRE,
    GCP_NAT,
    GCP_PROVIDER,
    GCP_RESERVATION,
    GKE_CLUSTER,
    LUSTRE,
    NAT_GATEWAY,
    PROMETHEUS_RULE,
    SNS_TOPIC,
    SNS_TOPIC_SUBSCRIPTION,
)

PAID_BY_THE_HOUR = (
    EKS_NODE_GROUP,
    EKS_CLUSTER,
    CAPACITY_RESERVATION,
    EC2_INSTANCE,
    NAT_GATEWAY,
    LUSTRE,
    DATABASE,
    GKE_NODE_POOL,
    GCP_RESERVATION,
    GCP_NAT,
    CLOUD_SQL,
    GCP_LUSTRE,
    FILESTORE,
)
"""What can eat up a budget while nobody looks; what is stored and sent grows more slowly than alerts come."""


@stack_rule(
    "budget-without-alerts",
    "A stack needs a monthly cost budget that alerts somebody on actual and on forecast spend.",
    types=(AWS_BUDGET, GCP_BUDGET, SNS_TOPIC, SNS_TOPIC_SUBSCRIPTION, *CHATBOTS, GKE_CLUSTER, PROMETHEUS_RULE),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6", "NIST 800-53r5 SA-2"),
    fix="Set monthlyBudgetUsd and alertEmails; on Google Cloud gcp.billingAccount, or keep monitoring on.",
)
def budget_without_alerts(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """One budget must do; several may share the alerts. A topic of the stack that nobody subscribes to tells nobody."""
    budgets = resources.of(AWS_BUDGET, GCP_BUDGET)
    if not budgets:
        if not _ledger_tells(resources):
            yield None, "there is no budget"
        return
    missing = {"ACTUAL", "FORECASTED"}
    for budget in resources.of(AWS_BUDGET):
        if value_at(budget.inputs, "budgetType") == "COST" and value_at(budget.inputs, "timeUnit") == "MONTHLY":
            missing -= {
                value_at(alert, "notificationType")
                for alert in list_at(budget.inputs, "notifications")
                if (is_set(alert, "subscriberEmailAddresses") or _reaches_somebody(resources, budget, alert))
                # An alert above the whole of the budget comes when nothing is left to save.
                and not (
                    value_at(alert, "thresholdType") == "PERCENTAGE" and number_at(alert, "threshold", default=0) > 100
                )
            }
    for budget in resources.of(GCP_BUDGET):
        if value_at(budget.inputs, "budgetFilter", "calendarPeriod", default="MONTH") == "MONTH" and _is_told(budget):
            missing -= {
                "FORECASTED" if value_at(rule, "spendBasis") == "FORECASTED_SPEND" else "ACTUAL"
                for rule in list_at(budget.inputs, "thresholdRules")
                if number_at(rule, "thresholdPercent", default=0) <= 1  # a share: 1 is the whole of the budget
            }
    if missing:
        yield budgets[0], f"no alert with a subscriber for {' and '.join(sorted(missing)).lower()} monthly spend"


def _ledger_tells(resources: Resources) -> bool:
    """Whether the platform's own ledger does on Google Cloud what a budget would, for which the billing account may be
    out of reach: it alerts on what each team's GPUs have cost, from the shares of the budget."""
    rules = [
        rule
        for each in resources.of(PROMETHEUS_RULE)
        for group in list_at(each.inputs, "spec", "groups")
        for rule in list_at(group, "rules")
    ]
    return bool(resources.of(GKE_CLUSTER)) and set(LADDER) <= {value_at(rule, "alert") for rule in rules}


def _is_told(budget: RecordedResource) -> bool:
    """Whether a budget of Google's tells anybody: channels, a topic, or whoever administers the billing account."""
    rule = value_at(budget.inputs, "allUpdatesRule")
    told = any(is_set(rule, key) for key in ("monitoringNotificationChannels", "pubsubTopic"))
    return told or not is_on(rule, "disableDefaultIamRecipients")


def _reaches_somebody(resources: Resources, budget: RecordedResource, alert: Any) -> bool:
    """Whether an alert's topics have a subscriber. Who hears of one that is made elsewhere is not seen here."""
    if not is_set(alert, "subscriberSnsTopicArns"):
        return False
    own = resources.referred(budget, "notifications", SNS_TOPIC)
    return not own or any(
        resources.referring(topic, "topic", SNS_TOPIC_SUBSCRIPTION)
        or resources.referring(topic, "snsTopicArns", *CHATBOTS)
        for topic in own
    )


@stack_rule(
    "ceiling-spend-over-budget",
    "With everything at its largest, the month's budget lasts long enough for somebody to answer its alerts.",
    types=(*PAID_BY_THE_HOUR, LAUNCH_TEMPLATE, AWS_BUDGET, GCP_BUDGET, GCP_PROVIDER),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6", "NIST 800-53r5 SA-2"),
    fix="Lower gpuPools.<pool>.*.maxNodes, or raise monthlyBudgetUsd.",
    config={
        "minDays": {
            "type": "number",
            "minimum": 0,
            "maximum": 31,
            "default": 7,
            "description": (
                "Days that the budget must last at full load. A week: the alert at half of it comes up to 12 hours "
                "late and may have to wait for a weekend (own choice)."
            ),
        },
    },
)
def ceiling_spend_over_budget(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """The ceiling of the cost engine, by the hour. A Capacity Block counts as if it were on demand."""
    budgets = resources.of(AWS_BUDGET, GCP_BUDGET)
    if not budgets:
        raise NotApplicable("there is no budget to compare with: budget-without-alerts says so")
    for budget in resources.of(GCP_BUDGET):
        currency = value_at(budget.inputs, "amount", "specifiedAmount", "currencyCode", default="that of the account")
        if currency != CURRENCY:
            raise NotApplicable(f"the budget's currency is {currency}, and that of the list prices {CURRENCY}")
    found = stack_profile()
    ceiling = hourly_ceiling(resources, *PAID_BY_THE_HOUR, profile=found.name if found else DEFAULT_PROFILE)
    for resource, missing in ceiling.unpriced:
        yield resource, f"{missing.what}: {missing.reason}: its spend cannot be held against the budget"
    limit = sum(
        number_at(
            budget.inputs,
            *(("amount", "specifiedAmount", "units") if budget.type == GCP_BUDGET else ("limitAmount",)),
            default=0,
        )
        for budget in budgets
    )
    days = limit / (24 * ceiling.usd) if ceiling.usd else float("inf")
    if days < config["minDays"]:
        yield (
            budgets[0],
            f"at most {24 * ceiling.usd:,.0f} USD a day at list prices: the budget of {limit:,.0f} USD lasts"
            f" {days:.1f} days; {config['minDays']:.0f} are required",
        )
