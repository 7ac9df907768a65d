"""Switches the jobs of some priorities off when the night's hours begin, and on again when they end.

    python -m keepers.sleep CONFIGURATION

A job that is switched off (its Workload's `active`) is evicted, keeps its place as a suspended job, and frees its GPUs;
switched on it goes through its queue and on from its last checkpoint. Within the hours a job of these priorities that
is made anew is switched off too.

Who needs one meanwhile says so on the Job, JobSet or TrainJob: `ml.platform/keep-until`, as for idle jobs. It stays on
till then, and one that sleeps wakes. What a person switches on by night stays on for that night; what a person, or
`keepers.idle`, has switched off is left off: only what was switched off here is switched on here.

CONFIGURATION is JSON: {"from": "HH:MM", "to": "HH:MM", "time_zone": NAME, "namespaces": [NAME], "priorities": [NAME]}.
"""

import sys
import urllib.error
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .cluster_api import CONFLICT, ask, for_ever, say
from .held import API
from .hours import hours_of, within
from .idle import KEEP, OWNERS, kept_until, listed, owner_of

MANAGER = "trainyard-sleep-keeper"
ASLEEP = "ml.platform/asleep-since"
EVERY_SECONDS = 60.0

SLEEP, WAKE, FORGET = "Asleep", "Awake", "AwakeAlready"
"""What may be decided, as the reason of an event: off, on, or only that the note goes."""


@dataclass(frozen=True)
class Job:
    """A job of these priorities as it stands."""

    namespace: str
    workload: str
    kind: str
    name: str
    active: bool
    asleep: bool  # this program switched it off
    keep: str
    version: str  # what a change is a change of


def decide(job: Job, night: bool, now: float) -> str | None:
    """What becomes of a job, in these hours or out of them."""
    kept = kept_until(job.keep, now) is not None
    if not job.asleep:
        return SLEEP if night and job.active and not kept else None
    if job.active:  # somebody switched it on, and it stays on for this night
        return None if night else FORGET
    return WAKE if kept or not night else None


def priority_of(workload: Mapping[str, Any]) -> str:
    """The name of a Workload's priority class, empty where it has none."""
    return str((workload.get("spec", {}).get("priorityClassRef") or {}).get("name", ""))


def is_finished(workload: Mapping[str, Any]) -> bool:
    """Whether its job has ended."""
    conditions: Iterable[Mapping[str, Any]] = workload.get("status", {}).get("conditions") or ()
    return any(one.get("type") == "Finished" and one.get("status") == "True" for one in conditions)


def job_of(workload: Mapping[str, Any], owner: Mapping[str, Any]) -> Job:
    """A job of its Workload and the Job, JobSet or TrainJob that it is of."""
    metadata = workload["metadata"]
    kind, name = owner_of(workload) or ("", "")
    return Job(
        namespace=metadata["namespace"],
        workload=metadata["name"],
        kind=kind,
        name=name,
        active=workload.get("spec", {}).get("active") is not False,
        asleep=ASLEEP in (metadata.get("annotations") or {}),
        keep=str((owner.get("metadata", {}).get("annotations") or {}).get(KEEP, "")),
        version=str(metadata.get("resourceVersion", "")),
    )


def patch(job: Job, what: str, now: float) -> dict[str, Any]:
    """A change of the Workload as it was judged: of another version the server refuses it."""
    notes = {ASLEEP: f"{now:.0f}" if what == SLEEP else None}
    found: dict[str, Any] = {"metadata": {"resourceVersion": job.version, "annotations": notes}}
    if what != FORGET:
        found["spec"] = {"active": what == WAKE}
    return found


def event(job: Job, what: str, now: float) -> dict[str, Any]:
    """What `kubectl describe` of the job shows of it for an hour."""
    told = {
        SLEEP: f"it sleeps in these hours; {KEEP} on its {job.kind}, a time with its zone, keeps it on till then",
        WAKE: "the hours are over, or somebody needs it: it goes on from its last checkpoint",
        FORGET: "somebody switched it on in the night",
    }
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{job.name[:200]}-sleep-", "namespace": job.namespace},
        "eventTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": MANAGER,
        "reportingInstance": MANAGER,
        "action": what,
        "reason": what,
        "type": "Normal",
        "note": told[what],
        "regarding": {
            "apiVersion": OWNERS[job.kind][0].removeprefix("/apis/"),
            "kind": job.kind,
            "name": job.name,
            "namespace": job.namespace,
        },
    }


def jobs_of(namespace: str, priorities: Sequence[str]) -> list[Job]:
    """The jobs of a namespace that have one of these priorities and have not ended."""
    found: list[Job] = []
    for workload in listed(f"/apis/{API}/namespaces/{namespace}/workloads"):
        owner = owner_of(workload)
        if owner is None or priority_of(workload) not in priorities or is_finished(workload):
            continue
        api, plural, _ = OWNERS[owner[0]]
        try:
            found.append(job_of(workload, ask(f"{api}/namespaces/{namespace}/{plural}/{owner[1]}")))
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            # it is gone, and its Workload will be
    return found


def turn(configuration: Mapping[str, Any], now: float) -> bool:
    """Looks once, and does what is decided. False where something was refused; the rest is done none the less."""
    night, whole = within(hours_of(configuration), now), True
    for namespace in configuration["namespaces"]:
        try:
            jobs = jobs_of(namespace, configuration["priorities"])
        except urllib.error.HTTPError as error:
            say(namespace=namespace, failed=str(error))
            whole = False
            continue
        for job in jobs:
            what = decide(job, night, now)
            if what is None:
                continue
            try:
                ask(f"/apis/{API}/namespaces/{namespace}/workloads/{job.workload}", patch(job, what, now), merge=True)
                say(namespace=namespace, job=job.name, what=what)
                ask(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events", event(job, what, now))
            except urllib.error.HTTPError as error:
                if error.code not in (CONFLICT, 404):  # it has changed, or is gone: looked at again in a minute
                    say(namespace=namespace, job=job.name, failed=str(error))
                    whole = False
    return whole


def main(argv: Sequence[str]) -> int:
    """Looks every minute, for ever."""
    return for_ever(argv, __doc__, EVERY_SECONDS, turn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
