"""From the recorded resources of a stack to what it costs a month.

Every resource ends in one of three places: in lines with a price, in the list of what is free with the reason, or in
the list of what could not be priced. None is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from trainyard.cost.assumptions import Assumptions, assumptions_for
from trainyard.cost.context import DEFAULT_REGION, CostEntry, NotPriced, PriceContext, core_of, unpriced
from trainyard.cost.model import CURRENCY, NOTHING, Amounts, Cost, Free, LineItem, Saving, Share, Unpriced
from trainyard.cost.rules import USES_NOTHING, free_reason, rule_of
from trainyard.cost.teams import SHARED, shares_of_teams
from trainyard.recorded.hiding import names_shown, secrets_hidden
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnknownInput, UnreadableInput, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_BUDGET, GCP_BUDGET

DEFAULT_PROFILE = "medium"


def assumptions_of(plan: Mapping[str, Any]) -> Assumptions:
    """The assumptions of the plan's profile; a plan without one is taken for a medium team's."""
    return assumptions_for(str(core_of(plan).get("profile") or DEFAULT_PROFILE))


def price_stack(
    resources: Iterable[RecordedResource],
    plan: Mapping[str, Any],
    *,
    assumptions: Assumptions | None = None,
    today: date | None = None,
) -> Cost:
    """Prices what a rehearsal recorded.

    Of `plan` (`Plan.as_dict()`) only what no resource says is taken: the profile for the assumptions, the teams'
    budgets, and the region of resources without a provider that names one. An empty plan will do. `today` decides
    which prices are stale; by default the day in UTC.
    """
    core, ground = core_of(plan), plan.get("ground") or {}
    context = PriceContext(
        Resources(resources),
        region=str(ground.get("region") or DEFAULT_REGION),
        assumptions=assumptions or assumptions_of(plan),
        today=today,
    )
    hidden = secrets_hidden(context.resources.all, names_shown(context.resources.all))
    lines: list[LineItem] = []
    missing: list[Unpriced] = []
    savings: list[Saving] = []
    free: Counter[tuple[str, str]] = Counter()
    for resource in (found for found in context.resources.all if found.is_made):
        if resource.read:
            free[resource.type, "there already: not this stack's to pay"] += 1
            continue
        if rule_of(resource.type) is None:
            reason = free_reason(resource.type)
            if reason is None:
                missing.append(unpriced(resource, "all of it", f"no price rule for {resource.type}"))
            else:
                free[resource.type, reason] += 1
            continue
        before = len(lines) + len(missing)
        try:
            for priced in cost_entries(resource, context):
                match entry := _without_secrets(priced, hidden):
                    case LineItem():
                        lines.append(entry)
                    case Unpriced():
                        missing.append(entry)
                    case Saving():
                        savings.append(entry)
        except UnknownInput as unknown:
            missing.append(unpriced(resource, unknown.what, unknown.reason))
        if len(lines) + len(missing) == before:
            free[resource.type, USES_NOTHING] += 1
    try:
        by_team = shares_of_teams(lines, context, plan)
    except UnreadableInput as unknown:
        where = "share of each team"
        missing.append(Unpriced("", "", "", where, f"{unknown.what} of a queue or flavor: {unknown.reason}"))
        by_team = (Share(SHARED, "", _sum(lines).rounded()),)
    total = _sum(lines)
    budget = _budget(context, plan)
    return Cost(
        stack=str(core.get("stack", "")),
        region=context.stack_region,
        total=total.rounded(),
        low_usd=round(sum(line.low_usd for line in lines), 2),
        high_usd=round(sum(line.high_usd for line in lines), 2),
        budget_usd=budget,
        by_component=_by_component(lines, context.resources),
        by_team=by_team,
        lines=tuple(lines),
        unpriced=tuple(missing),
        free=tuple(Free(type_, count, reason) for (type_, reason), count in sorted(free.items())),
        savings=tuple(savings),
        assumptions=context.assumptions.as_json(),
        today=context.today.isoformat(),
    )


def cost_entries(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What one resource costs by the price rule of its type, and of what there is no price; nothing without a rule.

    Raises:
        UnknownInput: something that decides on a price is not known yet.
    """
    rule = rule_of(resource.type)
    if rule is None:
        return
    try:
        yield from rule(resource, context)
    except UnknownInput:
        raise
    except (NotPriced, UnreadableInput) as missing:
        yield unpriced(resource, missing.what, missing.reason)


def _without_secrets(entry: CostEntry, hidden: Callable[[str], str]) -> CostEntry:
    """What a rule says of a resource, which may name what it has read there."""
    match entry:
        case LineItem():
            return replace(entry, what=hidden(entry.what), note=hidden(entry.note))
        case Unpriced():
            return replace(entry, what=hidden(entry.what), reason=hidden(entry.reason))
        case Saving():
            return replace(entry, what=hidden(entry.what))


def _sum(lines: Iterable[LineItem]) -> Amounts:
    return sum((line.usd for line in lines), NOTHING)


def _budget(context: PriceContext, plan: Mapping[str, Any]) -> float | None:
    """The recorded monthly budget, else the plan's."""
    for resource in context.resources.of(GCP_BUDGET):
        amount = value_at(resource.inputs, "amount", "specifiedAmount", unknown=None)
        monthly = value_at(resource.inputs, "budgetFilter", "calendarPeriod", unknown=None) in (None, "MONTH")
        # One in another currency is no figure to hold these prices against: the plan may have one.
        if monthly and value_at(amount, "currencyCode", unknown=None) == CURRENCY:
            try:
                return number_at(amount, "units")
            except UnreadableInput:
                continue
    for resource in context.resources.of(AWS_BUDGET):
        if resource.inputs.get("timeUnit") == "MONTHLY" and resource.inputs.get("limitUnit") == "USD":
            try:
                return number_at(resource.inputs, "limitAmount")
            except UnreadableInput:
                continue
    planned = core_of(plan).get("budget")
    return float(planned["monthly_usd"]) if isinstance(planned, Mapping) and planned.get("monthly_usd") else None


def _by_component(lines: Sequence[LineItem], resources: Resources) -> tuple[Share, ...]:
    """The outermost components, dearest first."""
    kinds = {resource.name: resource.type.rpartition(":")[2] for resource in resources.all if not resource.custom}
    sums: dict[str, Amounts] = {}
    for line in lines:
        name = line.component.partition("/")[0]
        sums[name] = sums.get(name, NOTHING) + line.usd
    shares = [Share(name or "the stack", kinds.get(name, ""), usd.rounded()) for name, usd in sums.items()]
    return tuple(sorted(shares, key=lambda share: (-share.usd.expected, -share.usd.ceiling, share.name)))
