"""Off-peak hours: when work that can wait runs, and on whose nodes."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.plan.context import Context
from trainyard.plan.parts import OffPeakPlan, SchedulingPlan
from trainyard.settings.people import Team

SUFFIX = "-off-peak"
"""How the ClusterQueue of a team's work that can wait is called, behind the team's name."""


def plan_off_peak(scheduling: SchedulingPlan, teams: Sequence[Team], context: Context) -> OffPeakPlan | None:
    """The hours, and the reserved flavors: they are paid for by night too. None where the settings say no hours."""
    own, ledger = context.settings.off_peak, context.ledger
    if own is None:
        ledger.decide("off_peak", "no hours", "setting offPeak is not there")
        return None
    flavors = tuple(flavor.name for flavor in scheduling.flavors if flavor.capacity == "reserved")
    if not flavors:
        allowed = "needs reserved nodes: others are not paid for while nobody uses them"
        ledger.problem("offPeak", own.start, allowed, "set gpuPools.POOL.reserved, or leave offPeak out")
    if own.start == own.end:
        ledger.problem(
            "offPeak.to", own.end, "must differ from offPeak.from: work that can always start needs no hours"
        )
    names = {team.name for team in teams}
    for team in sorted(name for name in names if f"{name}{SUFFIX}" in names):
        ledger.problem("teams", f"{team}{SUFFIX}", f"is the name of the off-peak queue of {team}", "call it otherwise")
    hours = f"{own.start} to {own.end}, {own.time_zone}"
    ledger.decide("off_peak.hours", hours, "setting offPeak; its program runs on the system nodes and costs nothing")
    ledger.decide("off_peak.flavors", list(flavors), "reserved nodes: what is paid for whether anybody uses it or not")
    return OffPeakPlan(own.start, own.end, own.time_zone, flavors)
