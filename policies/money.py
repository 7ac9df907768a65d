"""Money: a budget that tells somebody, a ceiling that the budget bears, and tags that say whom a cost belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs, Severity

from policies.node_pools import EKS, node_pool, usd_per_hour
from policies.reading import at, given, items, mapping, true
from policies.rules import Config, Resources, StackViolation, resource_rule, stack_rule
from stacks.sizing.catalog import service_price

AWS_BUDGET = "aws:budgets/budget:Budget"
GCP_BUDGET = "gcp:billing/budget:Budget"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
DATABASE = "aws:rds/instance:Instance"
PRICED = (EKS, "aws:eks/cluster:Cluster", "aws:ec2/natGateway:NatGateway", LUSTRE, DATABASE)
COSTED = (
    *PRICED,
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:ec2/eip:Eip",
    "aws:s3/bucket:Bucket",
    "aws:efs/fileSystem:FileSystem",
    "aws:ebs/volume:Volume",
    "aws:kms/key:Key",
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:lb/loadBalancer:LoadBalancer",
    "aws:secretsmanager/secret:Secret",
    "aws:sagemaker/domain:Domain",
)
LAUNCHED = ("instance", "volume")  # what a launch template starts, and provider tags do not reach


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
                if given(alert, "subscriberEmailAddresses") or given(alert, "subscriberSnsTopicArns")
            }
    for budget in resources.of(GCP_BUDGET):
        for rule in items(budget.props, "thresholdRules"):
            missing -= {"FORECASTED" if at(rule, "spendBasis") == "FORECASTED_SPEND" else "ACTUAL"}
    if missing:
        yield resources.all[0], f"no alert with a subscriber for {' and '.join(sorted(missing)).lower()} monthly spend"


@stack_rule(
    "ceiling-spend-over-budget",
    "What the node groups, file system and database cost at their largest must stay within bounds of the budget.",
    types=(*PRICED, AWS_BUDGET),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6", "NIST 800-53r5 SA-2"),
    fix="Lower gpuPools.<pool>.*.maxNodes, or raise monthlyBudgetUsd.",
    config={
        "maxPercentOfBudget": {
            "type": "number",
            "minimum": 100,
            "default": 150,
            "description": "Spend of a month with everything at its maximum all the time, in percent of the budget.",
        },
        "hoursPerMonth": {"type": "number", "minimum": 1, "maximum": 744, "default": 730},
    },
)
def ceiling_spend_over_budget(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """On-demand list prices, which is also the most that a spot node and a reservation can cost."""
    budgets = resources.of(AWS_BUDGET)
    limit = sum(float(at(budget.props, "limitAmount", default=0)) for budget in budgets)
    if not budgets:
        resources.not_applicable("there is no budget to compare with: budget-without-alerts says so")
    total = 0.0
    for resource in resources.of(*PRICED):
        hourly = _usd_per_hour(resource)
        if hourly is None:
            types = ", ".join(str(type_) for type_ in items(resource.props, "instanceTypes"))
            yield resource, f"the catalogue has no price for {types}: its spend cannot be held against the budget"
        else:
            total += hourly * config["hoursPerMonth"]
    allowed = limit * config["maxPercentOfBudget"] / 100
    if total > allowed:
        percent = round(100 * total / limit) if limit else 0
        yield (
            budgets[0],
            f"at most {total:,.0f} USD a month at list prices, {percent} % of the budget of {limit:,.0f} USD;"
            f" {config['maxPercentOfBudget']:.0f} % are allowed",
        )


def _usd_per_hour(resource: PolicyResource) -> float | None:
    """Cost of one hour at the largest size; None where a price is missing. Services without a price count nothing."""
    props = resource.props
    if resource.resource_type == EKS:
        prices = [usd_per_hour(str(type_)) for type_ in items(props, "instanceTypes")]
        known = [price for price in prices if price is not None]
        return None if len(known) < len(prices) or not prices else node_pool(resource).max_nodes * max(known)
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


@resource_rule(
    "costed-resource-without-cost-tags",
    "What costs money must carry the cost tags, so that the bill can be split.",
    types=COSTED,
    severity=Severity.MEDIUM,
    controls=("ISO 27001:2022 A.5.9", "NIST 800-53r5 CM-8"),
    fix="Set client, owner and costCentre; give every resource the environment's provider, which adds the tags.",
    config={
        "requiredTags": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["client", "environment", "team", "cost-centre", "managed-by"],
        }
    },
)
def costed_resource_without_cost_tags(resource: ResourceValidationArgs, config: Config) -> Iterator[str]:
    """The provider's Check writes `tagsAll`; under a bare mock the provider's default tags are merged here."""
    if resource.resource_type == "aws:ec2/launchTemplate:LaunchTemplate":
        tagged = {
            at(spec, "resourceType"): mapping(spec, "tags") for spec in items(resource.props, "tagSpecifications")
        }
        for launched in LAUNCHED:
            missing = [key for key in config["requiredTags"] if key not in tagged.get(launched, {})]
            if missing:
                yield f"tagSpecifications: what it launches ({launched}) has no tag {', '.join(missing)}"
        return
    missing = [key for key in config["requiredTags"] if key not in _tags(resource)]
    if missing:
        yield f"no tag {', '.join(missing)}"


def _tags(resource: ResourceValidationArgs) -> Mapping[str, Any]:
    if given(resource.props, "tagsAll"):
        return mapping(resource.props, "tagsAll")
    defaults = at(resource.provider.props, "defaultTags") if resource.provider else None
    found = json.loads(defaults) if isinstance(defaults, str) else defaults
    return {**mapping(found, "tags"), **mapping(resource.props, "tags")}
