"""Whether an environment pays for itself: what it saves a month against what it costs, and the work that makes it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainyard.advice.assessment import Assessment
from trainyard.advice.ranges import Range, exactly
from trainyard.cost.model import Cost
from trainyard.problems import count
from trainyard.review.handover.agency import Agency, Figures
from trainyard.review.handover.engagement import BeforeAfter


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a month: what it is, in US dollars, and how that is known."""

    what: str
    usd: Range  # below 0: it costs
    how: str


@dataclass(frozen=True, slots=True)
class Payback:
    """A month's saving and the work done once. `months` infinite: never, by these figures."""

    lines: tuple[Line, ...]
    monthly: Range
    once: Range
    months: Range
    missing: tuple[str, ...]  # answers and settings without which a saving is left out


def payback(found: BeforeAfter, assessment: Assessment, cost: Cost, agency: Agency) -> Payback | None:
    """What a month saves and when that has paid for the work; None where the agency says no prices of it."""
    if agency.prices is None:
        return None
    lines: list[Line] = []
    missing: list[str] = []
    spent = assessment.today.spend_usd
    if spent is None:
        missing.append("what training costs a month today (`today.spendUsd`)")
    else:
        lines.append(Line("Training as today falls away", exactly(spent), "as you told us"))
    lines += _time(found, assessment, agency, missing)
    lines.append(_environment(found, assessment, cost))
    running = _range(agency.prices.operations_a_month)
    if running.high:
        lines.append(Line("Our running of it", _negative(running), "our price"))
    monthly = exactly(0.0)
    for line in lines:
        monthly = monthly.plus(line.usd)
    once = _range(agency.prices.assessment).plus(_range(agency.prices.build))
    months = Range(
        _months(once.low, monthly.high), _months(once.typical, monthly.typical), _months(once.high, monthly.low)
    )
    return Payback(tuple(lines), monthly, once, months, tuple(missing))


def _environment(found: BeforeAfter, assessment: Assessment, cost: Cost) -> Line:
    """What the environment costs a month.

    The time that is counted as won is that of the runs that were told of. So is what they cost, with the environment
    while nothing runs; the upper end is the use that a team of the size is expected to make, with spot dear.
    """
    runs, best = assessment.training.runs_a_month, found.best
    high = max(cost.high_usd, cost.total.expected)
    if runs is None or best is None or best.usd is None:
        low = min(cost.low_usd, cost.total.expected)
        month = Range(low, cost.total.expected, high)
        return Line("The environment", _negative(month), "its price as expected, with spot cheap and dear")
    alone = best.usd.times(runs).plus(cost.total.floor)
    month = Range(alone.low, alone.typical, max(alone.high, high))
    how = f"while nothing runs, and these runs on {best.name}; at most, the use that is expected of the team"
    return Line("The environment", _negative(month), how)


def _time(found: BeforeAfter, assessment: Assessment, agency: Agency, missing: list[str]) -> list[Line]:
    """The hours that people no longer lose; adds what was not told to `missing`."""
    saved, runs, hourly = found.saved_hours, assessment.training.runs_a_month, assessment.people.hourly_usd
    wanted = {
        "how long a run takes today (`today.hoursARun`, or its GPUs)": saved is not None,
        "how many runs there are in a month (`training.runsAMonth`)": runs is not None,
        "what an hour of a person costs (`people.hourlyUsd`)": hourly is not None,
        "which part of a run's hours a person loses (`agency.waitingPercent` of fleet.yaml)": agency.waiting_percent,
    }
    missing += [what for what, there in wanted.items() if not there]
    if saved is None or runs is None or hourly is None or agency.waiting_percent is None:
        return []
    value = runs * hourly * agency.waiting_percent / 100
    how = f"{count(runs, 'run')} a month, {agency.waiting_percent} % of each hour lost, {hourly:,.10g} USD an hour"
    return [Line("Hours that people get back", saved.times(value), how)]


def _months(once: float, monthly: float) -> float:
    return 0.0 if once == 0 and monthly > 0 else once / monthly if monthly > 0 else math.inf


def _range(figures: Figures) -> Range:
    return Range(float(figures[0]), sum(figures) / 2, float(figures[1]))


def _negative(figures: Range) -> Range:
    return Range(-figures.high, -figures.typical, -figures.low)
