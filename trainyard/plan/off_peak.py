"""Off-peak hours: when work that can wait runs, and on whose nodes."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.plan.context import Context
from trainyard.plan.parts import OffPeakPlan, SchedulingPlan
from trainyard.settings.people import Team

SUFFIX = "-off-peak"
"""How the ClusterQueue of a team's work that can wait is called, behind the team's name."""


DEVELOPMENT = "development"
"""The priority of experiments, whose jobs may sleep."""


def _reserved(scheduling: SchedulingPlan) -> tuple[str, ...]:
    return tuple(flavor.name for flavor in scheduling.flavors if flavor.capacity == "reserved")


def has_off_peak_queues(scheduling: SchedulingPlan, context: Context) -> bool:
    """Whether teams have a queue for work that can wait: there are hours, and nodes that are paid for by night too."""
    return context.settings.off_peak.start is not None and bool(_reserved(scheduling))


def plan_off_peak(scheduling: SchedulingPlan, teams: Sequence[Team], context: Context) -> OffPeakPlan | None:
    """The hours, the reserved flavors, and whose jobs sleep. None where the settings say no hours."""
    own, ledger = context.settings.off_peak, context.ledger
    if own.start is None or own.end is None or own.time_zone is None:
        for name, value in (("from", own.start), ("to", own.end), ("timeZone", own.time_zone)):
            if value is None and own.model_fields_set:
                ledger.problem(f"offPeak.{name}", "nothing", "must be set: hours have a beginning, an end and a clock")
        ledger.decide("off_peak", "no hours", "offPeak is not set")
        return None
    flavors, sleeping = _reserved(scheduling), (DEVELOPMENT,) if own.development_sleeps else ()
    if not flavors and not sleeping:
        allowed = "needs reserved nodes for work that can wait: others are not paid for while nobody uses them"
        ledger.problem("offPeak", own.start, allowed, "set gpuPools.POOL.reserved, or offPeak.developmentSleeps: true")
    if own.start == own.end:
        ledger.problem(
            "offPeak.to", own.end, "must differ from offPeak.from: work that can always start needs no hours"
        )
    if sleeping and DEVELOPMENT not in {priority.name for priority in scheduling.priorities}:
        ledger.problem("offPeak.developmentSleeps", True, f"there is no priority {DEVELOPMENT}")
    names = {team.name for team in teams}
    for team in sorted(name for name in names if f"{name}{SUFFIX}" in names):
        ledger.problem("teams", f"{team}{SUFFIX}", f"is the name of the off-peak queue of {team}", "call it otherwise")
    hours = f"{own.start} to {own.end}, {own.time_zone}"
    ledger.decide("off_peak.hours", hours, "setting offPeak; its programs run on the system nodes and cost nothing")
    ledger.decide("off_peak.flavors", list(flavors), "reserved nodes: what is paid for whether anybody uses it or not")
    told = "setting offPeak.developmentSleeps" if "development_sleeps" in own.model_fields_set else "default"
    ledger.decide("off_peak.sleeping", list(sleeping), told)
    return OffPeakPlan(own.start, own.end, own.time_zone, flavors, sleeping)
