"""Money: a budget that tells somebody, and a ceiling that the budget bears."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import PolicyResource, Severity

from trainyard.catalog import service_price
from trainyard.policies.node_pools import EKS, LAUNCH_TEMPLATE, node_pool, usd_per_hour
from trainyard.policies.reading import at, given, items, true
from trainyard.policies.rules import Config, Resources, StackViolation, stack_rule

AWS_BUDGET = "aws:budgets/budget:Budget"
GCP_BUDGET = "gcp:billing/budget:Budget"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
DATABASE = "aws:rds/instance:Instance"
PRICED = (EKS, "aws:eks/cluster:Cluster", "aws:ec2/natGateway:NatGateway", LUSTRE, DATABASE)


@stack_rule(
    "budget-without-alerts",
    "A stack needs a monthly cost budget that alerts somebody on actual and on forecast spend.",
    types=(AWS_BUDGET, GCP_BUDGET),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6", "NIST 800-53r5 SA-2"),
    fix="Set monthlyBudgetUsd and alertEmails.",
)
def budget_without_alerts(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """One budget must do; several may share the alerts."""
    if not resources.all:
        yield None, "there is no budget"
        return
    missing = {"ACTUAL", "FORECASTED"}
    for budget in resources.of(AWS_BUDGET):
        if at(budget.props, "budgetType") == "COST" and at(budget.props, "timeUnit") == "MONTHLY":
            missing -= {
                at(alert, "notificationType")
                for alert in items(budget.props, "notifications")
                if (given(alert, "subscriberEmailAddresses") or given(alert, "subscriberSnsTopicArns"))
                # An alert above the whole of the budget comes when nothing is left to save.
                and not (at(alert, "thresholdType") == "PERCENTAGE" and at(alert, "threshold", default=0) > 100)
            }
    for budget in resources.of(GCP_BUDGET):
        for rule in items(budget.props, "thresholdRules"):
            missing -= {"FORECASTED" if at(rule, "spendBasis") == "FORECASTED_SPEND" else "ACTUAL"}
    if missing:
        yield resources.all[0], f"no alert with a subscriber for {' and '.join(sorted(missing)).lower()} monthly spend"


@stack_rule(
    "ceiling-spend-over-budget",
    "With everything at its largest, the month's budget lasts long enough for somebody to answer its alerts.",
    types=(*PRICED, LAUNCH_TEMPLATE, AWS_BUDGET),
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
    """On-demand list prices, which is also the most that a spot node and a reservation can cost."""
    budgets = resources.of(AWS_BUDGET)
    if not budgets:
        resources.not_applicable("there is no budget to compare with: budget-without-alerts says so")
    hourly = 0.0
    for resource in resources.of(*PRICED):
        price = _usd_per_hour(resource)
        if price is None:
            types = ", ".join(node_pool(resource).instance_types) or "its nodes"
            yield resource, f"the catalogue has no price for {types}: its spend cannot be held against the budget"
        hourly += price or 0.0
    limit = sum(float(at(budget.props, "limitAmount", default=0)) for budget in budgets)
    days = limit / (24 * hourly) if hourly else float("inf")
    if days < config["minDays"]:
        yield (
            budgets[0],
            f"at most {24 * hourly:,.0f} USD a day at list prices: the budget of {limit:,.0f} USD lasts"
            f" {days:.1f} days; {config['minDays']:.0f} are required",
        )


def _usd_per_hour(resource: PolicyResource) -> float | None:
    """Cost of one hour at the largest size; None where a price is missing. Services without a price count nothing."""
    props = resource.props
    if resource.resource_type == EKS:
        pool = node_pool(resource)
        prices = [usd_per_hour(type_) for type_ in pool.instance_types]
        known = [price for price in prices if price is not None]
        return None if len(known) < len(prices) or not prices else pool.max_nodes * max(known)
    if resource.resource_type == LUSTRE:
        throughput = int(at(props, "perUnitStorageThroughput", default=125))
        return (
            _price(f"fsx.lustre.persistent-2.ssd.{throughput}") * float(at(props, "storageCapacity", default=0)) / 730
        )
    if resource.resource_type == DATABASE:
        return _price(f"rds.postgres.{at(props, 'instanceClass')}") * (2 if true(props, "multiAz") else 1)
    return _price("nat-gateway" if "natGateway" in resource.resource_type else "eks.control-plane")


def _price(key: str) -> float:
    try:
        return service_price(key).usd
    except KeyError:
        return 0.0
