"""Holds the teams' queues of work that can wait by day, and lets them go for the night.

    python -m keepers.off_peak CONFIGURATION

Each of these LocalQueues leads to a ClusterQueue that owns nothing: what runs through it, runs on reserved nodes that
nobody uses, and is the first to give them back. Outside of the hours the LocalQueue is held: nothing new starts, and
what runs goes on until somebody wants its nodes. A ClusterQueue is never held: what it borrowed would be locked.

The hold is applied under a field manager of its own, without force. Where a person holds such a queue, at any hour, it
stays held; where one lets a queue go by day, it stays open until the night, and is held again the next day. A queue
that `keepers.budgets` holds is left to that. Every change is a line of JSON in the log and an event of the LocalQueue.

CONFIGURATION is JSON: {"from": "HH:MM", "to": "HH:MM", "time_zone": NAME, "queues": [{"namespace": NAME,
"name": NAME}]}: from when to when, each day, by the clock of that place, these queues are open.
"""

import sys
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .cluster_api import CONFLICT, ask, for_ever, say
from .held import API, BY_BUDGET, BY_CLOCK, OPEN, queue_path
from .hours import hours_of, within

MANAGER = "trainyard-off-peak-keeper"
HOLD = "Hold"
EVERY_SECONDS = 30.0


@dataclass(frozen=True)
class Queue:
    """A LocalQueue as it stands."""

    policy: str
    ours: bool  # this program noted a hold on it
    by_budget: bool  # so did the keeper of budgets


@dataclass(frozen=True)
class Decision:
    """Say that a queue is held, or say nothing of it any more."""

    hold: bool
    because: str


def decide(queue: Queue, night: bool) -> Decision | None:
    """What changes of a queue, in these hours or out of them."""
    if night:
        return Decision(False, "work that can wait may start") if queue.ours else None
    if queue.ours:
        return Decision(False, "its team's budget is spent, and that holds it") if queue.by_budget else None
    if queue.policy == OPEN:  # a hold of anybody else's is theirs
        return Decision(True, "work that can wait starts at night")
    return None


def read(queue: Mapping[str, Any]) -> Queue:
    """A LocalQueue as the API server has it."""
    notes = queue.get("metadata", {}).get("annotations") or {}
    return Queue(str(queue.get("spec", {}).get("stopPolicy") or OPEN), BY_CLOCK in notes, BY_BUDGET in notes)


def patch(decision: Decision, namespace: str, queue: str, now: float) -> dict[str, Any]:
    """What is applied: the whole of what this program says of a LocalQueue. Nothing takes back what it said before."""
    metadata: dict[str, Any] = {"name": queue, "namespace": namespace}
    spec: dict[str, Any] = {}
    if decision.hold:
        metadata["annotations"] = {BY_CLOCK: f"{now:.0f}"}
        spec["stopPolicy"] = HOLD
    return {"apiVersion": API, "kind": "LocalQueue", "metadata": metadata, "spec": spec}


def event(decision: Decision, namespace: str, queue: str, now: float) -> dict[str, Any]:
    """What `kubectl describe` shows of a change for an hour."""
    reason = "OffPeakHeld" if decision.hold else "OffPeakReleased"
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{queue}-off-peak-", "namespace": namespace},
        "eventTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": MANAGER,
        "reportingInstance": MANAGER,
        "action": reason,
        "reason": reason,
        "type": "Normal",
        "note": decision.because,
        "regarding": {"apiVersion": API, "kind": "LocalQueue", "name": queue, "namespace": namespace},
    }


def turn(configuration: Mapping[str, Any], now: float) -> bool:
    """Looks once, and does what is decided. False where the server refused a queue; the others are looked at anyway."""
    night, whole = within(hours_of(configuration), now), True
    for queue in configuration["queues"]:
        namespace, name = queue["namespace"], queue["name"]
        try:
            decision = decide(read(ask(queue_path(namespace, name))), night)
            if decision is None:
                continue
            ask(queue_path(namespace, name), patch(decision, namespace, name, now), MANAGER)
            say(namespace=namespace, queue=name, hold=decision.hold, because=decision.because)
            ask(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events", event(decision, namespace, name, now))
        except urllib.error.HTTPError as error:
            if error.code == CONFLICT:  # somebody else has set it since it was read, and theirs stays
                say(namespace=namespace, queue=name, refused="somebody else has set stopPolicy, and theirs stays")
            else:
                say(namespace=namespace, queue=name, failed=str(error))
                whole = False
    return whole


def main(argv: Sequence[str]) -> int:
    """Looks twice a minute, for ever."""
    return for_ever(argv, __doc__, EVERY_SECONDS, turn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
