"""The keeper of budgets: the queues of a team whose month's money is gone are held, until there is money again.

What it decides, from Prometheus' ledger, stands in `keepers/budgets.py`. Its rights are to read and apply these very
LocalQueues and to write events beside them, in each team's namespace, and nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_deployment, keeper_role
from trainyard.conventions.monitoring import BUDGET_KEEPER, PROMETHEUS_URL
from trainyard.monitoring.names import TEAM_SPENT_USD


class BudgetKeeperArgs(TypedDict):
    """Whose queues are held, and when."""

    image: str
    """Image with Python, `image:tag@sha256:...`."""
    prometheus_url: NotRequired[str]
    """Who is asked, as pods of the cluster reach it. Default: Prometheus of the cluster."""
    budgets_usd: Mapping[str, int]
    """By team, what it may spend in a month; a team that is not among them is never held."""
    drain_after_hours: NotRequired[int]
    """Hours after which a held team's running jobs are evicted. Default: they run to their end."""


class HeldTeam(TypedDict):
    """A team as the keeper knows it."""

    namespace: pulumi.Input[str]
    queues: Sequence[str]
    budget_usd: int


def budget_keeper(
    name: str,
    args: BudgetKeeperArgs,
    teams: Mapping[str, HeldTeam],
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> None:
    """Makes the keeper, with the right to hold the LocalQueues of these teams."""
    opts = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    subject = keeper_account(f"{name}-budgets", BUDGET_KEEPER, namespace, opts)
    for team, own in teams.items():
        queues: rbac.PolicyRuleArgsDict = {
            "api_groups": ["kueue.x-k8s.io"],
            "resources": ["localqueues"],
            "resource_names": list(own["queues"]),
            "verbs": ["get", "patch"],
        }
        events: rbac.PolicyRuleArgsDict = {
            "api_groups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"],
        }  # fmt: skip
        keeper_role(f"{name}-budgets-{{}}-{team}", BUDGET_KEEPER, own["namespace"], [queues, events], subject, opts)
    hours = args.get("drain_after_hours")
    configuration = pulumi.Output.json_dumps(
        {
            "prometheus": args.get("prometheus_url", PROMETHEUS_URL),
            "spent": f"max by (team, month) ({TEAM_SPENT_USD})",
            "teams": {team: dict(own) for team, own in teams.items()},
            "drain_after_seconds": None if hours is None else hours * 3600,
        }
    )
    keeper_deployment(
        f"{name}-budgets", BUDGET_KEEPER, "budgets", args["image"], configuration, subject, node_selector, opts
    )
