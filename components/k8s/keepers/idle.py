"""Gives back GPUs of jobs that hold them and do nothing: warned, given time, then evicted, to go on when they are let.

    python -m keepers.idle CONFIGURATION

Once a minute it looks at every admitted job of the teams that holds GPUs. One that computed on none of them, on no
rank, for the whole window is told so by an event and a note; if it is still idle when its time of grace is over, its
Workload is switched off (`spec.active: false`): Kueue evicts it and keeps it, suspended, and its GPUs are free.

Who needs the GPUs none the less says so on the Job, JobSet or TrainJob: `ml.platform/keep-until`, a time with its zone,
at most 14 days ahead. It is left alone till then, and one that was switched off here goes on.

Nothing is judged that is not known whole: every pod runs, and of each of their GPUs four of five samples of the window
are there. Where figures are missing, nothing is done.

CONFIGURATION is JSON: {"prometheus": URL, "metric": NAME, "busy_from": SHARE, "namespaces": [NAME], "resource": NAME,
"idle_seconds": N, "grace_seconds": N, "sample_seconds": N}.
"""

import sys
import urllib.error
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .cluster_api import CONFLICT, ask, figures, for_ever, say

MANAGER = "trainyard-idle-keeper"
API = "kueue.x-k8s.io/v1beta2"
WARNED, EVICTED = "ml.platform/idle-warned-at", "ml.platform/idle-evicted-at"
KEEP = "ml.platform/keep-until"
EVERY_SECONDS = 60.0
LONGEST_KEEP_SECONDS = 14 * 86_400
LEAST_SAMPLES = 0.8
"""Share of the window's samples that have to be there of each GPU: an exporter that is away says nothing of it."""

WARN, EVICT, BUSY_AGAIN, RESUME = "IdleWarning", "IdleEvicted", "IdleNoMore", "IdleResumed"
"""What may be decided, as the reason of an event."""

OWNERS = {
    "Job": ("/apis/batch/v1", "jobs", "batch.kubernetes.io/job-name"),
    "JobSet": ("/apis/jobset.x-k8s.io/v1alpha2", "jobsets", "jobset.sigs.k8s.io/jobset-name"),
    "TrainJob": ("/apis/trainer.kubeflow.org/v1alpha1", "trainjobs", "jobset.sigs.k8s.io/jobset-name"),
}
"""API and plural of each kind of job, and the label by which its pods name it: a TrainJob's JobSet has its name."""


@dataclass(frozen=True)
class Gang:
    """An admitted job as it stands."""

    namespace: str
    workload: str
    kind: str
    job: str
    wanted: int  # pods with GPUs
    ranks: Mapping[str, float]  # GPUs of each that runs, by its name
    ready_since: float | None
    active: bool
    keep: str
    warned: float | None
    evicted: bool  # by this program
    version: str  # what a change is a change of


@dataclass(frozen=True)
class Seen:
    """What Prometheus has of a pod's GPUs over the window."""

    most: float  # the busiest sample of all of them, 0 to 1
    samples: float  # of the GPU with the fewest
    gpus: float


@dataclass(frozen=True)
class Decision:
    """What becomes of a job, and why, for people."""

    gang: Gang
    what: str
    because: str


def kept_until(text: str, now: float) -> float | None:
    """Until when somebody needs the GPUs; None for what is no time with a zone, is over, or is too far ahead."""
    try:
        until = datetime.fromisoformat(text)
    except ValueError:
        return None
    if until.tzinfo is None or not now < until.timestamp() <= now + LONGEST_KEEP_SECONDS:
        return None
    return until.timestamp()


def is_idle(
    gang: Gang, seen: Mapping[str, Seen], now: float, idle_seconds: float, samples: float, busy_from: float
) -> bool | None:
    """Whether nothing was computed on any rank for the whole window; None where that is not known."""
    if gang.ready_since is None or now - gang.ready_since < idle_seconds:
        return None
    if not gang.wanted or len(gang.ranks) != gang.wanted:
        return None
    found = [seen.get(name) for name in gang.ranks]
    if any(one is not None and one.most >= busy_from for one in found):
        return False
    whole = all(
        one is not None and one.gpus >= gpus and one.samples >= samples
        for one, gpus in zip(found, gang.ranks.values(), strict=True)
    )
    return True if whole else None


def decide(
    gangs: Iterable[Gang],
    seen: Mapping[str, Mapping[str, Seen]],
    now: float,
    *,
    idle_seconds: float,
    grace_seconds: float,
    sample_seconds: float,
    busy_from: float,
) -> list[Decision]:
    """What changes, a decision a job. `seen` is by namespace and pod."""
    found: list[Decision] = []
    samples = idle_seconds / sample_seconds * LEAST_SAMPLES
    for gang in gangs:
        until = kept_until(gang.keep, now)
        kept = f"{KEEP} keeps it until {datetime.fromtimestamp(until or now, UTC):%Y-%m-%d %H:%M} UTC"
        if not gang.active:
            if gang.evicted and until is not None:
                found.append(Decision(gang, RESUME, kept))
            continue
        idle = is_idle(gang, seen.get(gang.namespace, {}), now, idle_seconds, samples, busy_from)
        if until is not None or idle is False:
            if gang.warned is not None:
                found.append(Decision(gang, BUSY_AGAIN, kept if until is not None else "its GPUs compute again"))
            continue
        if idle is None:
            continue
        gpus = sum(gang.ranks.values())
        told = f"nothing was computed on its {gpus:g} GPUs for {idle_seconds / 60:g} minutes"
        fresh = gang.warned is not None and now - gang.warned < grace_seconds + idle_seconds
        if not fresh:
            ways = f"in {grace_seconds / 60:g} minutes they are given back, unless {KEEP} on its {gang.kind} says"
            found.append(Decision(gang, WARN, f"{told}; {ways}, such as {_example(now)}"))
        elif gang.warned is not None and now - gang.warned >= grace_seconds:
            ways = f"{KEEP} on its {gang.kind}, such as {_example(now)}, lets it go on from its last checkpoint"
            found.append(Decision(gang, EVICT, f"{told}, after a warning: they are given back; {ways}"))
    return found


def _example(now: float) -> str:
    return datetime.fromtimestamp(now + 86_400, UTC).isoformat(timespec="minutes")


def gang_of(
    workload: Mapping[str, Any], pods: Iterable[Mapping[str, Any]], job: Mapping[str, Any], resource: str
) -> Gang | None:
    """A job of its Workload, its pods and what owns it; None for what holds no GPUs, is done, or is not a job's."""
    metadata, spec = workload["metadata"], workload.get("spec", {})
    conditions = {one.get("type"): one for one in workload.get("status", {}).get("conditions") or ()}
    owner = owner_of(workload)
    if owner is None or conditions.get("Finished", {}).get("status") == "True":
        return None
    wanted = sum(
        int(one.get("count", 0))
        for one in spec.get("podSets") or ()
        if _gpus(one["template"].get("spec", {}), resource)
    )
    if not wanted:
        return None
    notes = metadata.get("annotations") or {}
    ready = conditions.get("PodsReady", {})
    ranks = {
        pod["metadata"]["name"]: _gpus(pod.get("spec", {}), resource)
        for pod in pods
        if pod.get("status", {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
    }
    return Gang(
        namespace=metadata["namespace"],
        workload=metadata["name"],
        kind=owner[0],
        job=owner[1],
        wanted=wanted,
        ranks={name: gpus for name, gpus in ranks.items() if gpus},
        ready_since=_moment(ready.get("lastTransitionTime")) if ready.get("status") == "True" else None,
        active=spec.get("active") is not False,
        keep=str((job.get("metadata", {}).get("annotations") or {}).get(KEEP, "")),
        warned=_number(notes.get(WARNED)),
        evicted=_number(notes.get(EVICTED)) is not None,
        version=str(metadata.get("resourceVersion", "")),
    )


def owner_of(workload: Mapping[str, Any]) -> tuple[str, str] | None:
    """Kind and name of the job that a Workload is of."""
    owners = workload["metadata"].get("ownerReferences") or ()
    return next(((one["kind"], one["name"]) for one in owners if one.get("kind") in OWNERS), None)


def _gpus(spec: Mapping[str, Any], resource: str) -> float:
    limits = [one.get("resources", {}).get("limits") or {} for one in spec.get("containers") or ()]
    return sum(float(one.get(resource, 0)) for one in limits)


def _moment(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def patch(decision: Decision, now: float) -> dict[str, Any]:
    """A change of the Workload as it was judged: of another version the server refuses it."""
    gang, stamp = decision.gang, f"{now:.0f}"
    notes = {
        WARN: {WARNED: stamp},
        EVICT: {WARNED: None, EVICTED: stamp},
        BUSY_AGAIN: {WARNED: None},
        RESUME: {EVICTED: None},
    }[decision.what]
    found: dict[str, Any] = {"metadata": {"resourceVersion": gang.version, "annotations": notes}}
    if decision.what in (EVICT, RESUME):
        found["spec"] = {"active": decision.what == RESUME}
    return found


def event(decision: Decision, regarding: Mapping[str, str], now: float) -> dict[str, Any]:
    """What `kubectl describe` shows of a decision for an hour."""
    gang = decision.gang
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{regarding['name'][:200]}-idle-", "namespace": gang.namespace},
        "eventTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": MANAGER,
        "reportingInstance": MANAGER,
        "action": decision.what,
        "reason": decision.what,
        "type": "Warning" if decision.what in (WARN, EVICT) else "Normal",
        "note": decision.because,
        "regarding": {**regarding, "namespace": gang.namespace},
    }


def expressions(configuration: Mapping[str, Any]) -> tuple[str, str, str]:
    """What Prometheus is asked: a pod's busiest sample, its GPU with the fewest samples, how many it has."""
    window = f'{configuration["metric"]}{{pod!=""}}[{configuration["idle_seconds"]:.0f}s]'
    counted = f"max by (namespace, pod, UUID, GPU_I_ID) (count_over_time({window}))"
    return (
        f"max by (namespace, pod) (max_over_time({window}))",
        f"min by (namespace, pod) ({counted})",
        f"count by (namespace, pod) ({counted})",
    )


def seen_by(prometheus: str, asked: Sequence[str], now: float) -> dict[str, dict[str, Seen]]:
    """What Prometheus has of every pod with GPUs, by namespace. Raises OSError or ValueError."""
    tables = [
        {(labels.get("namespace", ""), labels.get("pod", "")): value for labels, value in figures(prometheus, one, now)}
        for one in asked
    ]
    found: dict[str, dict[str, Seen]] = {}
    for (namespace, pod), most in tables[0].items():
        place = namespace, pod
        if most == most and place in tables[1] and place in tables[2]:  # a figure that is none is no figure
            found.setdefault(namespace, {})[pod] = Seen(most, tables[1][place], tables[2][place])
    return found


def listed(path: str) -> list[dict[str, Any]]:
    """All objects of a list, page by page."""
    found: list[dict[str, Any]] = []
    more = ""
    while True:
        page = ask(f"{path}?limit=500{f'&continue={more}' if more else ''}")
        found += page.get("items") or ()
        more = page.get("metadata", {}).get("continue") or ""
        if not more:
            return found


def gangs_of(namespace: str, resource: str) -> list[Gang]:
    """The jobs of a namespace that hold GPUs, or that this program has evicted."""
    found: list[Gang] = []
    workloads = [one for one in listed(f"/apis/{API}/namespaces/{namespace}/workloads") if owner_of(one) is not None]
    if not workloads:
        return found
    pods = listed(f"/api/v1/namespaces/{namespace}/pods")
    for workload in workloads:
        kind, name = owner_of(workload) or ("", "")
        api, plural, label = OWNERS[kind]
        own = [pod for pod in pods if (pod["metadata"].get("labels") or {}).get(label) == name]
        notes = workload["metadata"].get("annotations") or {}
        if not own and EVICTED not in notes:
            continue
        try:
            job = ask(f"{api}/namespaces/{namespace}/{plural}/{name}")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            continue  # it is gone, and its Workload will be
        gang = gang_of(workload, own, job, resource)
        if gang is not None:
            found.append(gang)
    return found


def turn(configuration: Mapping[str, Any], now: float, told: set[tuple[str, ...]]) -> bool:
    """Looks once, and does what is decided; `told` is what need not be said again. False where one was refused."""
    whole = True
    try:
        seen = seen_by(configuration["prometheus"], expressions(configuration), now)
        told.discard(("figures",))
    except (OSError, ValueError) as error:
        seen, whole = {}, False
        if ("figures",) not in told:
            say(failed=f"no figure of what GPUs do, so no job is warned or evicted: {error}")
            told.add(("figures",))
    gangs: list[Gang] = []
    for name in configuration["namespaces"]:
        try:
            gangs += gangs_of(name, configuration["resource"])
        except urllib.error.HTTPError as error:  # the others are looked at none the less
            say(namespace=name, failed=str(error))
            whole = False
    for gang in gangs:
        unread = ("keep", gang.namespace, gang.job, gang.keep)
        if gang.keep and kept_until(gang.keep, now) is None and unread not in told:
            allowed = "a time that is not over, with its zone, at most 14 days ahead: 2026-12-24T18:00:00+01:00"
            say(namespace=gang.namespace, job=gang.job, unread=f"{KEEP}: {gang.keep}", allowed=allowed)
            told.add(unread)
    limits = {name: float(configuration[name]) for name in ("idle_seconds", "grace_seconds", "sample_seconds")}
    for decision in decide(gangs, seen, now, busy_from=float(configuration["busy_from"]), **limits):
        gang = decision.gang
        try:
            ask(f"/apis/{API}/namespaces/{gang.namespace}/workloads/{gang.workload}", patch(decision, now), merge=True)
        except urllib.error.HTTPError as error:
            if error.code not in (CONFLICT, 404):  # it has changed, or is gone: looked at again in a minute
                say(namespace=gang.namespace, job=gang.job, failed=str(error))
                whole = False
            continue
        say(namespace=gang.namespace, job=gang.job, what=decision.what, because=decision.because)
        api = OWNERS[gang.kind][0].removeprefix("/apis/")
        for version, kind, name in ((API, "Workload", gang.workload), (api, gang.kind, gang.job)):
            regarding = {"apiVersion": version, "kind": kind, "name": name}
            try:
                ask(f"/apis/events.k8s.io/v1/namespaces/{gang.namespace}/events", event(decision, regarding, now))
            except urllib.error.HTTPError as error:  # it is done, and stands in the log
                say(namespace=gang.namespace, job=gang.job, failed=f"no event of it: {error}")
                whole = False
    return whole


def main(argv: Sequence[str]) -> int:
    """Looks every minute, for ever."""
    told: set[tuple[str, ...]] = set()
    return for_ever(argv, __doc__, EVERY_SECONDS, lambda configuration, now: turn(configuration, now, told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
