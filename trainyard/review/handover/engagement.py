"""What a client answered, and what a training run takes before and after, by the estimator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from trainyard.advice.assessed import request_of
from trainyard.advice.assessment import Assessment, answered
from trainyard.advice.estimation import estimate
from trainyard.advice.hardware import Machine, machine_of_type, machines, nodes_with
from trainyard.advice.managed import managed_price
from trainyard.advice.ranges import Range, exactly
from trainyard.advice.units import duration
from trainyard.monitoring import names
from trainyard.monitoring.recordings import SUCCESS
from trainyard.problems import SettingsError, count
from trainyard.review.handover.model import Block, Grid, Points, Section, Text, section
from trainyard.review.handover.subject import Subject
from trainyard.review.verdict import dollars

_MANAGED_PREFIX = "ml."  # SageMaker's instance types are EC2's with it


@dataclass(frozen=True, slots=True)
class RunOn:
    """What one run takes on some hardware; `hours` None where it cannot be told, with the reason."""

    name: str  # "pool train"
    hardware: str  # "4 × p4d.24xlarge"
    gpus: int
    hours: Range | None
    how: str  # "as you told us", "estimated"
    refusal: str = ""
    usd: Range | None = None  # a run, bought in the ways that are sold; None where there is no price


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A run today, and on each pool; `wait` in hours before a run begins."""

    before: RunOn
    after: tuple[RunOn, ...]  # the fastest first, then those that it does not fit on
    wait_before: float | None
    wait_after: float  # the target

    @property
    def best(self) -> RunOn | None:
        """The fastest that there will be."""
        return next((one for one in self.after if one.hours is not None), None)

    @property
    def saved_hours(self) -> Range | None:
        """Hours by which a run is done earlier, waiting counted; None where one of both is not known."""
        if self.before.hours is None or self.best is None or self.best.hours is None:
            return None
        then, now = self.before.hours, self.best.hours
        waited = (self.wait_before or 0.0) - (self.wait_after if self.wait_before is not None else 0.0)
        return Range(then.low - now.high + waited, then.typical - now.typical + waited, then.high - now.low + waited)

    @property
    def speedup(self) -> float | None:
        """How many times faster a run is, waiting left out."""
        if self.before.hours is None or self.best is None or self.best.hours is None:
            return None
        return self.before.hours.typical / self.best.hours.typical


def target_wait_hours() -> float:
    """The wait that success is held to, of standard jobs."""
    waits = [target for target in SUCCESS if target.recording.record == names.QUEUE_WAIT]
    return max(target.at_most or 0.0 for target in waits) / 3600


def before_after(subject: Subject, assessment: Assessment, today: date) -> BeforeAfter:
    """What the largest training that comes again takes today and on the environment."""
    region = subject.planned("ground", "region")
    managed = set(map(str, subject.managed.get("training_types") or ()))
    after = [
        _on(assessment, today, str(region) if region else None, *each, managed=each[0] in managed)
        for each in _hardware(subject)
    ]
    fitting = sorted(
        (one for one in after if one.hours is not None), key=lambda one: one.hours.typical if one.hours else 0
    )
    rest = tuple(one for one in after if one.hours is None)
    return BeforeAfter(
        _before(assessment, today), (*fitting, *rest), assessment.today.wait_hours_a_run, target_wait_hours()
    )


def _hardware(subject: Subject) -> Iterator[tuple[str, Machine, int]]:
    """Each pool with the most nodes of one kind that a run can have; of managed training, each type once."""
    cloud = str(subject.planned("ground", "kind") or "aws")
    sold = {machine.type for machine in machines(cloud)}
    for cluster in subject.clusters:
        for pool in cluster.get("pools") or ():
            groups = pool.get("node_groups") or ()
            kind = pool["node"]["instance_type"]
            most = max((group["max_nodes"] for group in groups), default=0)
            if kind in sold and most:
                yield f"pool {pool['name']}", machine_of_type(cloud, kind), most
    for name in subject.managed.get("training_types") or ():
        kind = str(name).removeprefix(_MANAGED_PREFIX)
        if kind in sold:
            yield str(name), machine_of_type(cloud, kind), 1


def _on(
    assessment: Assessment,
    today: date,
    region: str | None,
    name: str,
    machine: Machine,
    nodes: int,
    *,
    managed: bool = False,
) -> RunOn:
    request = replace(request_of(assessment, today), cloud=machine.cloud, deadline_hours=None, monthly_runs=None)
    sold = region if region in machine.regions else next(iter(machine.regions), None)
    found = estimate(replace(request, region=sold, budget_usd=None), machine, nodes)
    hardware = f"{nodes} × {machine.type}, {count(found.gpus, 'GPU')} ({machine.gpu.name})"
    refusal = found.refusal or ("" if found.hours is not None else "it does not fit")
    if managed and found.hours is not None and found.offers:
        hourly = managed_price(machine, exactly(machine.usd_per_hour)).usd_per_hour
        return RunOn(name, hardware, found.gpus, found.hours, "estimated", refusal, found.hours.times(hourly))
    paid = [offer.cost_usd for offer in found.offers if not offer.price.months and offer.price.block is None]
    usd = None
    if paid:
        usd = Range(min(one.low for one in paid), min(one.typical for one in paid), max(one.high for one in paid))
    return RunOn(name, hardware, found.gpus, found.hours, "estimated", refusal, usd)


def _before(assessment: Assessment, today: date) -> RunOn:
    told = assessment.today
    gpus = told.gpus or 0
    hardware = f"{count(gpus, 'GPU')} ({told.gpu})" if told.gpu and gpus else count(gpus, "GPU") if gpus else "–"
    if told.hours_a_run is not None:
        return RunOn("today", hardware, gpus, exactly(told.hours_a_run), "as you told us")
    if told.gpu is None or not gpus:
        return RunOn("today", hardware, gpus, None, "", "neither its hours nor its GPUs were told")
    try:
        machine, nodes, _ = nodes_with(told.gpu, gpus)
    except SettingsError as error:
        return RunOn("today", hardware, gpus, None, "", str(error.problems[0]))
    return replace(_on(assessment, today, None, "today", machine, nodes), hardware=hardware)


def change(found: BeforeAfter) -> Section:
    """What changes for those who train."""
    rows = [_row(found.before, told_hours(found.wait_before) if found.wait_before is not None else "not told")]
    under = f"under {found.wait_after * 60:.0f} min (target)"
    rows += [_row(one, under) for one in found.after if one.hours is not None]
    blocks: list[Block] = [
        Text(told, "good" if (found.speedup or 0) >= 1 else "warn") for told in [headline(found)] if told
    ]
    columns = ("where", "on", "a run takes", "it waits", "USD a run", "how it is known")
    blocks.append(Grid(columns, tuple(rows)))
    reasons: dict[str, list[str]] = {}
    for one in found.after:
        if one.hours is None:
            reasons.setdefault(one.refusal.partition(";")[0], []).append(one.name)
    without = tuple(f"{', '.join(where)}: {reason}" for reason, where in reasons.items())
    blocks.append(Points(without, "Where it does not run"))
    lead = (
        "One run of the largest training that comes again, with the likely range. It has all nodes of a pool that are "
        "bought in one way."
    )
    return section("change", "Before and after", blocks, lead)


def headline(found: BeforeAfter) -> str:
    """`A run of 72 h today takes 6.1 h (5.2-8.0) on pool train: 9 to 14 times as fast.`; empty where unknown."""
    best = found.best
    if found.speedup is None or best is None or best.hours is None or found.before.hours is None:
        return ""
    then = found.before.hours
    if found.speedup < 0.8:
        times = "slower: the environment is too small for it"
    elif found.speedup < 1.5:
        times = "about as fast"
    else:
        times = f"{_factor(then.low / best.hours.high, then.high / best.hours.low)} as fast"
    today = told_hours(then.typical) if then.low == then.high else duration(then)
    return f"A run that takes {today} today takes {duration(best.hours)} on {best.name}: {times}."


def _factor(low: float, high: float) -> str:
    """`5 to 8 times`: as far as both figures are known."""
    least, most = (f"{float(f'{value:.2g}'):,g}" for value in (low, high))
    if low < 1:
        return f"up to {most} times"
    return f"{least} to {most} times" if least != most else f"{most} times"


def spread(usd: Range) -> str:
    """Dollars with their range, as a client reads them: `1,031 (388 to 6,120)`."""
    return f"{dollars(usd.typical)} ({between(usd)})"


def between(usd: Range) -> str:
    """A range of dollars, which no line ends within."""
    return f"{dollars(usd.low)} to {dollars(usd.high)}".replace(" ", "\N{NO-BREAK SPACE}")


def otherwise(subject: Subject, assessment: Assessment) -> tuple[str, ...]:
    """In what the stack is not what the client answered, a sentence each: a document that tells both contradicts
    itself."""
    told = (
        ("people", assessment.people.team_size, subject.planned("core", "team_size")),
        ("the cloud", assessment.where.cloud, subject.planned("ground", "kind")),
        ("the region", assessment.where.region, subject.planned("ground", "region")),
    )
    return tuple(
        f"{what}: the client answered {answer}, the stack has {planned}"
        for what, answer, planned in told
        if planned is not None and str(answer) != str(planned)
    )


def told_hours(value: float) -> str:
    """`72 h`: a time that somebody told."""
    return f"{value:,.3g} h"


def _row(one: RunOn, wait: str) -> tuple[str, ...]:
    if one.hours is None:
        return one.name, one.hardware, "–", wait, "–", one.refusal
    hours = told_hours(one.hours.typical) if one.hours.low == one.hours.high else duration(one.hours)
    return one.name, one.hardware, hours, wait, spread(one.usd) if one.usd is not None else "–", one.how


def answers(assessment: Assessment) -> Section:
    """The questions that were answered."""
    rows = tuple((question.text, value) for question, value in answered(assessment))
    lead = "The assessment that everything here begins with; where an answer changes, so do the figures."
    return section("answers", "What you told us", (Grid(("question", "answer"), rows),), lead)


def doubts(points: tuple[str, ...], title: str) -> Points:
    """What to beware of, each once."""
    return Points(tuple(dict.fromkeys(points)), title)
