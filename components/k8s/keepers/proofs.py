"""Ends a smoke job that can get no nodes, with the reason, so that nobody waits an hour for it.

    python -m keepers.proofs CONFIGURATION

A smoke job waits in a queue and for nodes as any other job does, and `pulumi up` waits for it. What it waits for is
told early, by several: the queue says that no quota of the team will ever hold it, or gave it up; the keeper of flavors
has taken its capacity out of the queues; the autoscaler's status has its group in backoff, and its events say that no
group fits, or that the cloud refused. Such a job is failed: its condition `FailureTarget`, from which the job
controller makes `Failed` with the same words, takes its pods away and lets the queue have its quota back. A job whose
turn has not come, because others use the quota, and one whose nodes are on their way, is left alone.

It runs in an image with Python and uses the standard library only. What it looks at are Jobs with the smoke job's own
label, in the namespaces that it is told. Every end is a line of JSON in the log and an event on the Job.

CONFIGURATION is JSON: {"namespaces": [NAME], "flavors": {NAME: LABELS}, "groups": {NAME: GROUP}}, with the labels of
each flavor's nodes, and where an autoscaler has such the beginning of its name for the flavor's group.
"""

import re
import sys
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .cluster_api import CONFLICT, ask, for_ever, say
from .flavors import FLAVOR, STALE_SECONDS, STATUS, Status, read_status, taken_out
from .idle import listed

LABEL, NAME = "app.kubernetes.io/name", "trainyard-smoke"
REASON = "NoCapacity"
"""Reason of the condition with which the job ends, and of the event."""
EVERY_SECONDS = 20.0
SURE_SECONDS = 60
"""How long a reason has to stand that its speaker does not take back by itself: over two rounds."""
PATIENT_SECONDS = 600
"""How long an autoscaler's word has to stand that may pass: a group that is full while an idle node goes (10 minutes by
default), a zone that is dry while it asks the next one."""

_NEVER = re.compile(
    r"insufficient quota for \S+ in flavor ([^,;]+), [^;]*?request \((\d+)\) > maximum capacity \((\d+)\)"
)
"""How Kueue says that a flavor's quota, with all that may be borrowed, is smaller than what a job asks for at once."""
_GIVEN_UP = ("re-queuing retries", "RequeuingLimitExceeded", "were rejected", "AdmissionCheck")
_NO, _YES = ("NotTriggerScaleUp", "FailedScaleUp"), "TriggeredScaleUp"

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Proof:
    """A smoke job that has not ended, and what is known of it."""

    job: Object
    workload: Object | None
    pods: Sequence[Object]
    events: Sequence[Object]  # of its pods

    @property
    def uid(self) -> str:
        """The Job's own."""
        return str(self.job["metadata"]["uid"])


@dataclass(frozen=True)
class Known:
    """What is known of capacity: why each flavor is out of the queues, and what the autoscaler said last."""

    labels: Mapping[str, Mapping[str, str]]  # of a flavor's nodes
    out: Mapping[str, str]
    dry: Mapping[str, str]


@dataclass(frozen=True)
class Why:
    """What keeps a job from nodes, and how long that has to stand, seconds."""

    text: str
    stands: float


def why(proof: Proof, known: Known) -> Why | None:
    """What keeps a job from ever starting; None where it runs, or waits for what may well come."""
    workload = proof.workload
    if workload is None:
        return None  # the queue has not taken it yet
    evicted = _condition(workload, "Evicted")
    told = f"{evicted.get('reason', '')} {evicted.get('message', '')}"
    if workload.get("spec", {}).get("active") is False:
        given_up = any(word in told for word in _GIVEN_UP)
        return Why(f"the queue gave it up: {evicted.get('message')}", SURE_SECONDS) if given_up else None
    mine = flavors_of(proof.job, known.labels)
    if _condition(workload, "Admitted").get("status") != "True":
        said = _NEVER.findall(str(_condition(workload, "QuotaReserved").get("message", "")))
        never = {flavor: f"{flavor}: {asked} are asked for and {most} is all" for flavor, asked, most in said}
        if mine and all(flavor in never for flavor in mine) and not _reserved(workload):
            return Why(f"the queues never hold so much: {'; '.join(never[flavor] for flavor in mine)}", SURE_SECONDS)
        if mine and all(flavor in known.out for flavor in mine):
            return Why("; ".join(f"{flavor}: {known.out[flavor]}" for flavor in mine), SURE_SECONDS)
        return None
    waiting = [pod for pod in proof.pods if _condition(pod, "PodScheduled").get("status") == "False"]
    if not waiting:
        return None
    given = _assigned(workload) or mine
    dry = [flavor for flavor in given if flavor in known.dry]
    if dry and len(dry) == len(given):
        return Why("; ".join(f"{flavor}: no nodes to be had: {known.dry[flavor]}" for flavor in dry), SURE_SECONDS)
    words = sorted((event for event in proof.events if event.get("reason") in (*_NO, _YES)), key=_at)
    if words and words[-1]["reason"] in _NO:
        return Why(f"the autoscaler: {words[-1].get('message', words[-1]['reason'])}", PATIENT_SECONDS)
    return None


def decide(
    proofs: Sequence[Proof], known: Known, since: Mapping[str, float], now: float
) -> tuple[dict[str, float], list[tuple[Proof, str]]]:
    """Since when each job is kept from nodes, and those that end for it now, with the reason."""
    kept: dict[str, float] = {}
    ends = []
    for proof in proofs:
        found = why(proof, known)
        if found is None:
            continue
        kept[proof.uid] = since.get(proof.uid, now)
        if now - kept[proof.uid] >= found.stands:
            ends.append((proof, found.text))
    return kept, ends


def flavors_of(job: Object, labels: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The flavors that a job may be admitted to, by the labels that its pods ask of a node."""
    pod = job["spec"]["template"]["spec"]
    wanted: dict[str, Sequence[str]] = {key: [value] for key, value in (pod.get("nodeSelector") or {}).items()}
    required = (pod.get("affinity") or {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = (required or {}).get("nodeSelectorTerms") or []
    for expression in (terms[0].get("matchExpressions") or []) if len(terms) == 1 else []:
        if expression.get("operator") == "In":
            wanted[expression["key"]] = expression.get("values") or []
    return [
        flavor
        for flavor, own in labels.items()
        if all(own[key] in values for key, values in wanted.items() if key in own)
    ]


def end_of(proof: Proof, text: str, now: float) -> dict[str, Any]:
    """What is merged into a job's status. A finished job has begun, and one that a queue holds has not: it is told to
    have begun now, or the server would refuse its end (kubernetes/kubernetes, issue 132144).
    """
    at = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    status, metadata = proof.job.get("status") or {}, proof.job["metadata"]
    end = {
        "type": "FailureTarget",
        "status": "True",
        "reason": REASON,
        "message": f"no capacity for it: {text}",
        "lastProbeTime": at,
        "lastTransitionTime": at,
    }
    return {
        "metadata": {"resourceVersion": metadata["resourceVersion"]},  # what has changed meanwhile is looked at again
        "status": {"startTime": status.get("startTime") or at, "conditions": [*(status.get("conditions") or ()), end]},
    }


def event_of(proof: Proof, text: str, now: float) -> dict[str, Any]:
    """What `kubectl describe job` says of it."""
    metadata = proof.job["metadata"]
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{metadata['name']}.", "namespace": metadata["namespace"]},
        "eventTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": "Warning",
        "reason": REASON,
        "action": "Ended",
        "note": f"no capacity for it: {text}"[:1024],
        "regarding": {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
        },
        "reportingController": "trainyard.io/proof-keeper",
        "reportingInstance": "proof-keeper",
    }


def proofs_of(namespace: str) -> list[Proof]:
    """The smoke jobs of a namespace that have not ended."""
    jobs = [job for job in listed(f"/apis/batch/v1/namespaces/{namespace}/jobs") if _waits(job)]
    if not jobs:
        return []
    workloads = listed(f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{namespace}/workloads")
    pods = listed(f"/api/v1/namespaces/{namespace}/pods")
    events = listed(f"/api/v1/namespaces/{namespace}/events")
    found = []
    for job in jobs:
        uid = job["metadata"]["uid"]
        own = [pod for pod in pods if _owned(pod, uid)]
        uids = {pod["metadata"]["uid"] for pod in own}
        told = [event for event in events if event.get("involvedObject", {}).get("uid") in uids]
        found.append(Proof(job, next((one for one in workloads if _owned(one, uid)), None), own, told))
    return found


def known_of(configuration: Mapping[str, Any], now: float) -> Known:
    """What flavors and the autoscaler say. Without a fresh status nothing is concluded from it."""
    out = {}
    for flavor in configuration["flavors"]:
        held = taken_out(ask(f"{FLAVOR}{flavor}"))
        if held is not None:
            out[flavor] = held[1]
    status: Status | None = None
    if configuration["groups"]:
        try:
            status = read_status(ask(STATUS).get("data", {}).get("status", ""))
        except urllib.error.HTTPError as error:
            if error.code != 404:  # 404: the autoscaler has not written one yet
                raise
    fresh = status if status is not None and now - status.at <= STALE_SECONDS else None
    dry = {
        flavor: text
        for flavor, group in configuration["groups"].items()
        for name, text in (fresh.dry.items() if fresh else ())
        if name.startswith(group)
    }
    return Known(configuration["flavors"], out, dry)


def turn(configuration: Mapping[str, Any], now: float, since: dict[str, float]) -> bool:
    """Looks once, and ends what is decided; `since` is remembered. False where a namespace did not answer."""
    proofs: list[Proof] = []
    whole = True
    for namespace in configuration["namespaces"]:
        try:
            proofs += proofs_of(namespace)
        except urllib.error.HTTPError as error:  # the others are looked at none the less
            say(namespace=namespace, failed=str(error))
            whole = False
    kept, ends = decide(proofs, known_of(configuration, now), since, now) if proofs else ({}, [])
    since.clear()
    since.update(kept)
    for proof, text in ends:
        namespace, name = proof.job["metadata"]["namespace"], proof.job["metadata"]["name"]
        path = f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}/status"
        try:
            ask(path, end_of(proof, text, now), merge=True)
        except urllib.error.HTTPError as error:
            if error.code not in (CONFLICT, 404):
                raise
            continue  # it has changed, or is gone: what it is now is seen at the next turn
        say(namespace=namespace, job=name, ended=text)
        ask(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events", event_of(proof, text, now))
    return whole


def _waits(job: Object) -> bool:
    """Whether it is a smoke job that has neither ended nor been told to."""
    ends = ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")
    mine = (job["metadata"].get("labels") or {}).get(LABEL) == NAME
    return mine and not any(_condition(job, kind).get("status") == "True" for kind in ends)


def _owned(item: Object, uid: str) -> bool:
    return any(owner.get("uid") == uid for owner in item["metadata"].get("ownerReferences") or ())


def _condition(item: Object, kind: str) -> Mapping[str, Any]:
    conditions = (item.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind), {})


def _reserved(workload: Object) -> bool:
    return bool(_condition(workload, "QuotaReserved").get("status") == "True")


def _assigned(workload: Object) -> list[str]:
    """The flavors that a workload was admitted to."""
    sets = ((workload.get("status") or {}).get("admission") or {}).get("podSetAssignments") or ()
    return sorted({flavor for one in sets for flavor in (one.get("flavors") or {}).values()})


def _at(event: Object) -> str:
    """When it was said last; times of one spelling are in order as texts."""
    series = (event.get("series") or {}).get("lastObservedTime")
    return str(series or event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp") or "")


def main(argv: Sequence[str]) -> int:
    """Looks three times a minute, for ever."""
    since: dict[str, float] = {}
    return for_ever(argv, __doc__, EVERY_SECONDS, lambda configuration, now: turn(configuration, now, since))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
