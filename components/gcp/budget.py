"""A budget of the project, and who is told: a budget of Google's tells, and stops nothing."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.billing as billing

from trainyard.components.gcp.channels import email_channels
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

MOST_CHANNELS = 5
"""Notification channels that a budget takes."""


class ProjectBudgetArgs(TypedDict):
    """What `ProjectBudget` needs. Rights on the billing account are a right of their own, which teams seldom have."""

    billing_account: pulumi.Input[str]
    """Id of the billing account: 012345-6789AB-CDEF01."""
    project: pulumi.Input[str]
    """Id of the project, for the alerts' channels."""
    project_number: pulumi.Input[str]
    """Number of the project, which the budget is for."""
    display_name: str
    """Name of the budget: 60 characters at most."""
    currency: str
    """Currency of the billing account, such as USD or EUR: another one is refused."""
    monthly_amount: int
    """The budget a month, in that currency."""
    actual_percents: Sequence[int]
    """Shares of the budget that are told of when they are spent, percent."""
    forecast_percents: Sequence[int]
    """Shares that are told of when they are foreseen, percent."""
    emails: Sequence[str]
    """Who is told, at most five addresses."""
    label: NotRequired[Mapping[str, str]]
    """One label that limits the budget to what carries it. Default: the whole project."""


class ProjectBudget(pulumi.ComponentResource):
    """A monthly budget with its alerts by mail."""

    budget_name: pulumi.Output[str]
    """billingAccounts/ACCOUNT/budgets/ID."""

    def __init__(self, name: str, args: ProjectBudgetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for more labels, addresses or characters than a budget takes, and for alerts to nobody."""
        super().__init__("trainyard:index:ProjectBudget", name, None, opts)
        emails, label = list(dict.fromkeys(args["emails"])), args.get("label")
        if not 1 <= len(emails) <= MOST_CHANNELS:
            raise ValueError(f"emails: got {len(emails)}; 1 to {MOST_CHANNELS}")
        if len(args["display_name"]) > 60:
            raise ValueError(f"display_name: {len(args['display_name'])} characters; at most 60")
        if label is not None and len(label) != 1:
            raise ValueError(f"label: got {len(label)}; a budget takes one key with one value")
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        channels = email_channels(name, args["project"], f"Budget of {args['display_name']}", emails, child)
        basis = [(percent, "CURRENT_SPEND") for percent in args["actual_percents"]]
        basis += [(percent, "FORECASTED_SPEND") for percent in args["forecast_percents"]]
        budget = billing.Budget(
            f"{name}-budget",
            billing_account=args["billing_account"],
            display_name=args["display_name"],
            budget_filter={
                "projects": [pulumi.Output.concat("projects/", args["project_number"])],
                "calendar_period": "MONTH",
                "credit_types_treatment": "INCLUDE_ALL_CREDITS",
                "labels": dict(label) if label is not None else None,
            },
            amount={"specified_amount": {"currency_code": args["currency"], "units": str(args["monthly_amount"])}},
            # A share, not percents: 0.5 is half of the budget.
            threshold_rules=[{"threshold_percent": percent / 100, "spend_basis": how} for percent, how in basis],
            all_updates_rule={
                "monitoring_notification_channels": channels,
                "disable_default_iam_recipients": True,
            },
            opts=child,
        )
        self.budget_name = budget.name
        register(self)
