"""The proposal: the same before anything exists, from a client's answers and a rehearsal of what is proposed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import Final

from trainyard.advice import Comparison, Recommendation, compare, recommend
from trainyard.advice.assessed import request_of
from trainyard.advice.assessment import Assessment
from trainyard.advice.onprem import owned_gpus
from trainyard.advice.options import Option
from trainyard.advice.ranges import Range
from trainyard.advice.report.comparison_text import payback_text, used
from trainyard.advice.units import duration, money, short
from trainyard.problems import count
from trainyard.review.handover import engagement, engineer, manager
from trainyard.review.handover.agency import Agency, Figures, Phase
from trainyard.review.handover.engagement import BeforeAfter, told_hours
from trainyard.review.handover.handover import verdict_banner
from trainyard.review.handover.model import Block, Facts, Grid, Part, Points, Section, Text, part, section
from trainyard.review.handover.page import Banner, Document, Tile
from trainyard.review.handover.payback import Payback, payback
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.page_parts import opening, sentence
from trainyard.review.verdict import dollars

MOST_OPTIONS: Final = 6
_LATER: Final = 240.0  # months after which nobody calls it a payback

PHASES: Final = (
    Phase.model_validate(
        {
            "name": "Assessment and design",
            "weeks": 3,
            "work": [
                "take stock of models, data, runs and what they cost today",
                "forecast what the roadmap needs, and size it with the recommender",
                "rehearse the environment: what would be refused, policies, price",
                "ask for quotas and capacity in time, with requests that name both",
            ],
        }
    ),
    Phase.model_validate(
        {
            "name": "Building",
            "weeks": 6,
            "work": [
                "make the environment: network, compute, queues, storage, experiment tracking, monitoring",
                "prove it with the smoke job, on every kind of GPU",
                "bring data and images in; the first teams train",
            ],
        }
    ),
    Phase.model_validate(
        {
            "name": "Distributed training",
            "weeks": 4,
            "work": [
                "move the largest training onto several GPUs, and measure how it scales",
                "templates for the common kinds of model, and hyper-parameter search",
            ],
        }
    ),
    Phase.model_validate(
        {
            "name": "Optimisation and operations",
            "weeks": 5,
            "work": [
                "spot with checkpoints, data loading, idle GPUs",
                "budgets, chargeback, alerts; restore drills; runbooks with those who run it",
                "train the team, and hand over",
            ],
        }
    ),
)
"""The plan of work where an agency says no other: the agency guide's delivery process, weeks 1 to 18 (2026-11)."""


def proposal(subject: Subject, assessment: Assessment, agency: Agency) -> Document:
    """The proposal of an environment that was rehearsed, for a client who answered."""
    changed = engagement.before_after(subject, assessment, subject.today)
    request = request_of(assessment, subject.today)
    recommendation = recommend(replace(request, region=_region(subject) or request.region, cloud=_cloud(subject)))
    comparison = _compared(recommendation)
    cost = subject.review.cost
    paid = payback(changed, assessment, cost, agency) if cost is not None else None
    weeks = sum(phase.weeks for phase in phases(agency))
    return Document(
        kind="Proposal",
        over="A training environment for",
        title=subject.client,
        meta=(*subject.picture.places, f"{assessment.people.team_size} people", subject.today.isoformat()),
        banners=tuple(_banners(subject, changed)),
        tiles=tuple(_tiles(subject, changed, paid, weeks)),
        parts=_parts(subject, assessment, agency, changed, recommendation, comparison, paid),
        foot=(
            f"Written by Trainyard {version('trainyard')} on {subject.today.isoformat()} from the answers and a "
            f"rehearsal of stack {subject.stack}: nothing of it exists yet. Prices are list prices before tax; "
            "hours are estimates."
        ),
    )


def phases(agency: Agency) -> tuple[Phase, ...]:
    """The agency's plan of work, or the guide's."""
    return tuple(agency.phases) or PHASES


def _cloud(subject: Subject) -> str:
    return str(subject.planned("ground", "kind") or "aws")


def _region(subject: Subject) -> str | None:
    found = subject.planned("ground", "region")
    return str(found) if found else None


def _compared(recommendation: Recommendation) -> Comparison | None:
    """Managed, cluster and owned; None where no recommended GPU can be bought, so that there is nothing to compare."""
    if not any(option.machine.gpu.name in owned_gpus() for option in recommendation.options):
        return None
    return compare(recommendation, {})


def _banners(subject: Subject, changed: BeforeAfter) -> Iterator[Banner]:
    if not subject.review.verdict.state.deployable:
        yield verdict_banner(subject)
    told = engagement.headline(changed)
    if told:
        yield Banner("good" if (changed.speedup or 0) >= 1 else "warn", "What changes", told)


def _tiles(subject: Subject, changed: BeforeAfter, paid: Payback | None, weeks: int) -> Iterator[Tile]:
    if changed.best is not None and changed.best.hours is not None:
        then = f", {_typical(changed.before.hours)} today" if changed.before.hours is not None else ""
        figure, _, unit = _typical(changed.best.hours).partition(" ")
        yield Tile(figure, {"h": "hours", "d": "days"}[unit], f"for the largest training run{then}")
    spent = subject.review.verdict.money
    if spent is not None:
        jobs = ", jobs on top" if subject.managed else ""
        label = f"expected a month{jobs}; {dollars(spent.idle)} while nothing runs"
        yield Tile(dollars(spent.expected), "USD", label, "bad" if spent.over_budget else "")
    if paid is not None:
        if paid.months.typical <= _LATER:
            yield Tile(f"{paid.months.typical:.0f}", "months", "until it has paid for itself")
        elif not paid.missing:
            yield Tile("no", "payback", "by the figures that we have", "warn")
    yield Tile(str(weeks), "weeks", "from the first talk to the handover")


def _typical(hours: Range) -> str:
    """`1.2 h`: a time without its range, in the unit that `duration` gives it; what was told as it was."""
    return told_hours(hours.typical) if hours.low == hours.high else duration(hours).partition(" (")[0]


def _parts(
    subject: Subject,
    assessment: Assessment,
    agency: Agency,
    changed: BeforeAfter,
    recommendation: Recommendation,
    comparison: Comparison | None,
    paid: Payback | None,
) -> tuple[Part, ...]:
    made = (
        part(
            "proposal",
            "What we propose",
            "what changes for those who train, what you would have, and what it costs",
            (
                engagement.change(changed),
                manager.have(subject, title="What you would have"),
                manager.costs(subject),
                _sizes(recommendation),
                _options(comparison),
                _payback(paid),
            ),
        ),
        part(
            "work",
            "How we get there",
            "the plan of work, what it costs, and what success is held to",
            (_work(agency), manager.success(subject), manager.protection(subject), engineer.picture(subject)),
        ),
        part(
            "basis",
            "What it rests on",
            "what you told us, what we assumed, and what to beware of",
            (engagement.answers(assessment), _basis(recommendation, comparison, paid)),
        ),
    )
    return tuple(one for one in made if one.sections)


def _sizes(recommendation: Recommendation) -> Section:
    """What the recommender says of the training itself."""
    blocks: list[Block] = []
    if recommendation.refusal:
        blocks.append(Text(sentence(opening(recommendation.refusal)), "warn"))
    options = recommendation.options or recommendation.nearest
    monthly = any(option.monthly_usd is not None for option in options)
    rows = tuple(_option(place, option, monthly=monthly) for place, option in enumerate(options[:MOST_OPTIONS], 1))
    columns = ("", "machines", "GPUs", "bought", "a run takes", "USD a run", *(["USD a month"] if monthly else []))
    blocks.append(Grid(columns, rows, "" if recommendation.options else "What comes closest"))
    return section(
        "sizes",
        "Sizes for your training",
        blocks,
        "Ways to run the training that you told us of, the cheapest that is in time first; each with its likely range.",
    )


def _option(place: int, option: Option, *, monthly: bool) -> tuple[str, ...]:
    copies = f"{option.copies} × " if option.copies > 1 else ""
    a_month = (engagement.spread(option.monthly_usd) if option.monthly_usd is not None else "–",) if monthly else ()
    return (
        str(place),
        f"{copies}{option.nodes} × {option.machine.type}",
        f"{option.nodes * option.machine.gpus * option.copies} × {option.machine.gpu.name}",
        str(option.price.capacity),
        duration(option.hours),
        engagement.spread(option.cost_usd),
        *a_month,
    )


def _options(comparison: Comparison | None) -> Section:
    """Managed training, a cluster, hardware of one's own."""
    if comparison is None:
        return section("options", "The options compared", ())
    rows = tuple(
        (
            f"{way.name} (cheapest)" if way.name == comparison.cheapest else way.name,
            dollars(way.monthly_usd.typical),
            engagement.between(way.monthly_usd),
            "; ".join(f"{line.what} {dollars(line.usd)}" for line in way.lines),
        )
        for way in comparison.ways
    )
    even = comparison.break_even_utilisation
    facts = (
        ("Buying", f"{_spread(comparison.purchase_usd)} USD for {count(comparison.servers, 'server')} of 8 GPUs"),
        ("It pays back in", payback_text(comparison)),
        (
            "Break-even",
            f"owned costs less than the cluster on demand above {even:.0%} use"
            if even <= 1
            else "never, even at full use",
        ),
    )
    hours, gpu = count(round(comparison.gpu_hours_per_month), "hour"), comparison.option.machine.gpu.name
    return section(
        "options",
        "The options compared",
        (
            Grid(("way", "USD a month", "likely range", "of it"), rows, numbers=frozenset({1})),
            Facts(facts),
            Points(tuple(opening(note) for note in comparison.notes), "To bear in mind"),
        ),
        f"The same work each way: {hours} of {gpu} a month, with the people that each way takes.",
    )


def _payback(paid: Payback | None) -> Section:
    """What a month saves, and when that has paid for the work."""
    if paid is None:
        return section("payback", "When it pays", ())
    rows = [(line.what, _signed(line.usd.typical), _likely(line.usd), line.how) for line in paid.lines]
    rows.append(("a month", _signed(paid.monthly.typical), _likely(paid.monthly), ""))
    columns = ("what", "USD a month", "likely range", "how it is known")
    blocks: list[Block] = [
        Text(_told(paid), "good" if paid.months.typical <= _LATER else "warn"),
        Grid(columns, tuple(rows), numbers=frozenset({1}), total=True),
        Points(paid.missing, "Left out, because nobody told"),
    ]
    return section(
        "payback", "When it pays", blocks, "What falls away, what people get back, and what is paid instead."
    )


def _told(paid: Payback) -> str:
    once, months = f"The work is {_spread(paid.once)} USD once", paid.months
    if months.typical > _LATER:
        return f"{once}, and by these figures a month saves too little to pay for it."
    late = f"{months.high:.0f}" if months.high <= _LATER and not math.isinf(months.high) else "never at worst"
    told = f"{months.low:.0f} to {late}" if late != "never at worst" else f"{months.low:.0f} at best, never at worst"
    return f"{once}; it has paid for itself after {count(round(months.typical), 'month')} ({told})."


def _in_words(key: str) -> str:
    """The name of an assumption as a reader of the document has it: `server usd L40S`."""
    return key.replace("_", " ").replace(".", " ")


def _signed(usd: float) -> str:
    return f"{'−' if usd < 0 else ''}{dollars(abs(usd))}"


def _likely(usd: Range) -> str:
    return "" if usd.low == usd.high else f"{_signed(usd.low)} to {_signed(usd.high)}"


def _spread(usd: Range) -> str:
    return dollars(usd.typical) if usd.low == usd.high else f"{dollars(usd.low)} to {dollars(usd.high)}"


def _work(agency: Agency) -> Section:
    """The phases with their weeks, and the agency's prices."""
    rows, week = [], 1
    for phase in phases(agency):
        last = week + phase.weeks - 1
        rows.append((phase.name, f"{week} to {last}" if last > week else str(week), "; ".join(phase.work)))
        week = last + 1
    prices: list[tuple[str, str]] = []
    if agency.prices is not None:
        prices = [
            ("Assessment and design", f"{_figures(agency.prices.assessment)} USD, once"),
            ("Building", f"{_figures(agency.prices.build)} USD, once"),
        ]
        if agency.prices.operations_a_month[1]:
            prices.append(("Running it", f"{_figures(agency.prices.operations_a_month)} USD a month"))
    return section(
        "work-plan",
        "The plan of work",
        (Grid(("phase", "weeks", "what we do"), tuple(rows)), Facts(tuple(prices))),
        "Each phase ends with something that you can see work.",
    )


def _figures(figures: Figures) -> str:
    return dollars(figures[0]) if figures[0] == figures[1] else f"{dollars(figures[0])} to {dollars(figures[1])}"


def _basis(recommendation: Recommendation, comparison: Comparison | None, paid: Payback | None) -> Section:
    """What was assumed, with sources, and what to beware of."""
    flags = [flag for option in recommendation.options[:1] for flag in option.flags]
    blocks: list[Block] = [
        engagement.doubts(tuple(map(opening, recommendation.assumptions)), "What we assumed of the training"),
        engagement.doubts(tuple(map(opening, (*recommendation.flags, *flags))), "What to beware of"),
    ]
    if comparison is not None:
        rows = tuple(
            (_in_words(item.key), money(item.range) if item.range.low != item.range.high else short(item.value),
             item.unit, f"{item.source}, {item.date}")
            for item in comparison.assumptions
            if used(item.key, comparison.option)
        )  # fmt: skip
        title = "What the comparison assumes"
        blocks.append(Grid(("assumption", "value", "unit", "source"), rows, title, small=True))
        figures = tuple((figure.what, figure.source, figure.date) for figure in comparison.figures)
        blocks.append(Grid(("price", "source", "date"), figures, "Prices of renting", small=True))
    if paid is not None and paid.missing:
        blocks.append(Points(paid.missing, "What you could still tell us"))
    return section("basis-of-it", "Assumptions and doubts", blocks)
