"""When a small team should have a cluster: the agency's rule, and what both would cost from the same settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard import catalog
from trainyard.catalog.managed import listed_price
from trainyard.plan.aws.make import plan_aws
from trainyard.plan.aws.parts import ManagedPlan
from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import IdleFloor
from trainyard.plan.profiles import profile
from trainyard.plan.tracking import plan_mlflow
from trainyard.settings.people import Team

MANAGED_LIMIT_USD = 10_000
"""A month, from which managed training costs more than a platform of one's own with the people who run it (agency
guide, strategy section: managed services become cost-prohibitive above 10,000 dollars a month)."""


def plan_growth(name: str, teams: Sequence[Team], managed: ManagedPlan, floor: IdleFloor, context: Context) -> None:
    """Records when to move to the medium profile, and the price of both.

    The medium profile is planned from the same settings; where it cannot be, for want of something that they say, its
    own mistakes come when it is asked for.
    """
    ledger = context.ledger
    people = int(profile("medium").figure("team_size.minimum").value)
    when = (
        f"jobs cost over {MANAGED_LIMIT_USD:,} USD a month, or people want hardware that is not among "
        f"managed.training_types, or data may not be with a managed service, or {people} people train"
    )
    ledger.decide("growth.when", when, "agency guide, strategy section: when to build instead of buying")
    beside = _medium_floor(name, teams, context)
    if beside is None:
        return
    ledger.decide(
        "growth.idle_floor",
        f"{beside.monthly_usd:,.0f} USD a month in place of {floor.monthly_usd:,.0f}",
        "the medium profile planned from the same settings, while no job runs",
    )
    shares = sorted(_premiums(managed))
    if shares:
        more = beside.monthly_usd - floor.monthly_usd
        ledger.decide(
            "growth.pays_from",
            f"{more / shares[-1]:,.0f} to {more / shares[0]:,.0f} USD of jobs a month",
            f"that difference over what SageMaker asks more than EC2 does, {shares[0]:.0%} to {shares[-1]:.0%} of its "
            "price by type, on demand and list prices of us-east-1; whoever runs the cluster comes on top",
        )


def _medium_floor(name: str, teams: Sequence[Team], context: Context) -> IdleFloor | None:
    """What the same settings cost idle with a cluster; None where they do not make one."""
    medium, aside = profile("medium"), Ledger(context.ledger.region_known)
    figures = medium.under(context.settings.assurance or medium.figure("assurance").value)
    settings = context.settings.model_copy(update={"managed": type(context.settings.managed)()})
    other = replace(context, settings=settings, profile=figures, ledger=aside)
    _, _, floor = plan_aws(name, teams, plan_mlflow(teams, other), other)
    return None if aside.problems else floor


def _premiums(managed: ManagedPlan) -> Iterator[float]:
    """By GPU type that people may train on: the part of SageMaker's price that is not EC2's."""
    bare = {item.type: item.usd_per_hour for item in catalog.instances()}
    for type_ in (each.removeprefix("ml.") for each in managed.training_types):
        listed, own = listed_price("aws", type_), bare.get(type_)
        if listed and own and own < listed:
            yield 1 - own / listed
