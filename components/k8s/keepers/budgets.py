"""Holds the queues of a team whose month's money is gone, and lets them go when there is money again.

    python -m keepers.budgets CONFIGURATION

Once a minute it asks Prometheus what each team has held for since the month began. A team that has spent its budget
has its LocalQueues held: nothing new starts, what runs goes on, and is evicted only where the configuration says after
how long. They are let go in the next month, when the budget is raised, or while somebody lets the team go on: the
annotation `ml.platform/budget-override-until` on one of its LocalQueues, a time with its zone, at most 31 days ahead.
A ClusterQueue is never held: what it borrowed could not be taken back from it.

Without a figure of this month nothing changes, save by an override. Within a month a team's figure only grows: one that
is smaller than what was noted when it was held is of a Prometheus that lost its data, and lets nobody go. The hold is
applied under a field manager of its own, without force: where a person holds a queue, or has let one go that was held
here, theirs stays. Every decision is a line of JSON in the log, an event and annotations of the LocalQueue.

CONFIGURATION is JSON: {"prometheus": URL, "spent": EXPRESSION, "teams": {NAME: {"namespace": NAME, "queues": [NAME],
"budget_usd": N}}, "drain_after_seconds": N or null}. The expression gives a series a team, with the labels `team` and
`month`, 1 to 12. Months are those of UTC, as the clouds' bills.
"""

import sys
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .cluster_api import CONFLICT, GONE, ask, figures, for_ever, say
from .held import API, BY_BUDGET, BY_CLOCK, OPEN, queue_path

MANAGER = "trainyard-budget-keeper"
SINCE, BECAUSE = BY_BUDGET, "ml.platform/held-because"
SPENT, MONTH = "ml.platform/held-spent-usd", "ml.platform/held-month"
OVERRIDE = "ml.platform/budget-override-until"
EVERY_SECONDS = 60.0
LONGEST_OVERRIDE_SECONDS = 31 * 86_400

HOLD, DRAIN = "Hold", "HoldAndDrain"
"""What a LocalQueue's `stopPolicy` may be, besides `OPEN`."""


@dataclass(frozen=True)
class Hold:
    """What this program noted on a LocalQueue that it holds."""

    since: float
    month: str
    spent: float


@dataclass(frozen=True)
class Queue:
    """A LocalQueue as it stands."""

    policy: str
    hold: Hold | None
    override: str
    by_clock: bool = False  # `keepers.off_peak` holds it, until its hours or until this program does


@dataclass(frozen=True)
class Decision:
    """What becomes of the queues of a team: a `stopPolicy`, and why, for people."""

    team: str
    queue: str
    policy: str
    because: str
    hold: Hold | None


def month_of(now: float) -> str:
    """The month of a moment, in UTC."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def goes_on_until(override: str, now: float) -> float | None:
    """Until when somebody lets a team go on; None for what is no time with a zone, is over, or is too far ahead."""
    try:
        until = datetime.fromisoformat(override)
    except ValueError:
        return None
    if until.tzinfo is None or not now < until.timestamp() <= now + LONGEST_OVERRIDE_SECONDS:
        return None
    return until.timestamp()


def decide(
    budgets: Mapping[str, float],
    spent: Mapping[str, float],
    queues: Mapping[str, Mapping[str, Queue]],
    now: float,
    drain_after_seconds: float | None,
) -> list[Decision]:
    """What changes, a decision a LocalQueue. `spent` has the teams of which this month's figure is known."""
    found: list[Decision] = []
    for team, budget in budgets.items():
        own = queues[team]
        holds = [queue.hold for queue in own.values() if queue.hold is not None]
        until = max((goes_on_until(queue.override, now) or 0.0 for queue in own.values()), default=0.0)
        noted = max((hold.spent for hold in holds if hold.month == month_of(now)), default=0.0)
        if until:
            wanted = OPEN
            because = f"{OVERRIDE} lets it go on until {datetime.fromtimestamp(until, UTC):%Y-%m-%d %H:%M} UTC"
            known = spent.get(team, noted)
        elif team not in spent:
            continue
        else:
            known = max(spent[team], noted)
            wanted = HOLD if known >= budget else OPEN
            because = f"{known:,.2f} USD of {budget:,.2f} USD are spent in {month_of(now)}"
        since = min((hold.since for hold in holds), default=now)
        if wanted == HOLD and drain_after_seconds is not None and now - since >= drain_after_seconds:
            wanted = DRAIN
        for name, queue in own.items():
            if wanted == OPEN:
                if queue.hold is not None:
                    found.append(Decision(team, name, OPEN, because, None))
            elif queue.by_clock and queue.policy == HOLD:  # said beside it, so that it does not open in between
                if queue.hold is None or queue.hold.month != month_of(now):
                    found.append(Decision(team, name, HOLD, because, Hold(since, month_of(now), known)))
            elif queue.hold is None:
                if queue.policy == OPEN:  # a person's own hold is theirs
                    found.append(Decision(team, name, wanted, because, Hold(since, month_of(now), known)))
            elif queue.policy == OPEN:
                pass  # somebody let it go, and may: the field is theirs since
            elif queue.policy != wanted or queue.hold.month != month_of(now):
                found.append(Decision(team, name, wanted, because, Hold(since, month_of(now), known)))
    return found


def read(queue: Mapping[str, Any]) -> Queue:
    """A LocalQueue as the API server has it."""
    notes = queue.get("metadata", {}).get("annotations") or {}
    policy = str(queue.get("spec", {}).get("stopPolicy") or OPEN)
    try:
        hold = Hold(float(notes[SINCE]), str(notes[MONTH]), float(notes[SPENT]))
    except (KeyError, ValueError):
        hold = None
    return Queue(policy, hold, str(notes.get(OVERRIDE, "")), BY_CLOCK in notes)


def patch(decision: Decision, namespace: str) -> dict[str, Any]:
    """What is applied: the whole of what this program says of a LocalQueue. Nothing takes back what it said before."""
    metadata: dict[str, Any] = {"name": decision.queue, "namespace": namespace}
    spec: dict[str, Any] = {}
    if decision.hold is not None:
        metadata["annotations"] = {
            SINCE: f"{decision.hold.since:.0f}",
            BECAUSE: decision.because,
            MONTH: decision.hold.month,
            SPENT: f"{decision.hold.spent:.2f}",
        }
        spec["stopPolicy"] = decision.policy
    return {"apiVersion": API, "kind": "LocalQueue", "metadata": metadata, "spec": spec}


def event(decision: Decision, namespace: str, now: float, *, refused: bool) -> dict[str, Any]:
    """What `kubectl describe` shows of a decision for an hour."""
    reason = "BudgetHoldRefused" if refused else "BudgetReleased" if decision.hold is None else "BudgetExceeded"
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{decision.queue}-budget-", "namespace": namespace},
        "eventTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": MANAGER,
        "reportingInstance": MANAGER,
        "action": decision.policy,
        "reason": reason,
        "type": "Normal" if decision.hold is None else "Warning",
        "note": decision.because,
        "regarding": {"apiVersion": API, "kind": "LocalQueue", "name": decision.queue, "namespace": namespace},
    }


def spent_of_month(rows: Sequence[tuple[Mapping[str, str], float]], now: float) -> dict[str, float]:
    """What each team has spent, of the figures that are of this month and are numbers."""
    this = datetime.fromtimestamp(now, UTC).month
    return {
        labels["team"]: value
        for labels, value in rows
        if "team" in labels and labels.get("month") == str(this) and 0 <= value < float("inf")
    }


def turn(configuration: Mapping[str, Any], now: float, told: set[tuple[str, ...]]) -> bool:
    """Looks once, and does what is decided; `told` is what need not be said again.

    False where figures did not come, or a queue is missing or was refused: the others are looked at none the less.
    """
    teams, whole = configuration["teams"], True
    try:
        spent = spent_of_month(figures(configuration["prometheus"], configuration["spent"], now), now)
        told.discard(("figures",))
    except (OSError, ValueError) as error:
        spent, whole = {}, False
        if ("figures",) not in told:
            say(failed=f"no figure of what is spent, so nothing is held or let go: {error}")
            told.add(("figures",))
    queues: dict[str, dict[str, Queue]] = {}
    unsure: set[str] = set()  # teams of which a queue was not told: what lets it go on may stand there
    for team, own in teams.items():
        queues[team] = {}
        for name in own["queues"]:
            try:
                queues[team][name] = read(ask(queue_path(own["namespace"], name)))
            except urllib.error.HTTPError as error:  # the other queues and teams are looked at none the less
                say(team=team, queue=name, failed=str(error))
                whole = False
                if error.code != GONE:
                    unsure.add(team)
    for team, found in queues.items():
        for name, queue in found.items():
            unread = ("override", team, name, queue.override)
            if queue.override and goes_on_until(queue.override, now) is None and unread not in told:
                allowed = "a time that is not over, with its zone, at most 31 days ahead: 2026-12-24T18:00:00+01:00"
                say(team=team, queue=name, unread=f"{OVERRIDE}: {queue.override}", allowed=allowed)
                told.add(unread)
    for team, own in teams.items():
        drain = configuration["drain_after_seconds"]
        for decision in decide({team: float(own["budget_usd"])}, spent, queues, now, drain):
            if decision.policy == DRAIN and team in unsure:  # no work is lost on half a look
                if queues[team][decision.queue].hold is not None:
                    continue
                decision = replace(decision, policy=HOLD)
            whole = _done(decision, own["namespace"], now, told) and whole
    return whole


def _done(decision: Decision, namespace: str, now: float, told: set[tuple[str, ...]]) -> bool:
    """Does what is decided of a queue, and says so. False where the server refused it; a person's own hold is none."""
    refused = False
    try:
        try:
            ask(queue_path(namespace, decision.queue), patch(decision, namespace), MANAGER)
        except urllib.error.HTTPError as error:
            if error.code != CONFLICT:
                raise
            refused = True
        key = ("refused", decision.team, decision.queue, decision.policy, month_of(now))
        if refused and key in told:
            return True
        if refused:
            told.add(key)
        what = {"refused": "somebody else has set stopPolicy, and theirs stays"} if refused else {}
        say(team=decision.team, queue=decision.queue, policy=decision.policy, because=decision.because, **what)
        ask(
            f"/apis/events.k8s.io/v1/namespaces/{namespace}/events",
            event(decision, namespace, now, refused=refused),
        )
    except urllib.error.HTTPError as error:
        say(team=decision.team, queue=decision.queue, failed=str(error))
        return False
    return True


def main(argv: Sequence[str]) -> int:
    """Looks every minute, for ever."""
    told: set[tuple[str, ...]] = set()
    return for_ever(argv, __doc__, EVERY_SECONDS, lambda configuration, now: turn(configuration, now, told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
