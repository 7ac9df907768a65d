"""Takes the flavors whose nodes cannot be had out of every queue for a while, and puts them back to be tried again.

    python -m keepers.flavors CONFIGURATION

Kueue sends a job to the same flavor over and over while that has quota, whether there are nodes or not (issue 2560).
The autoscaler knows: a group that gave it none is in backoff in its status. Such a flavor gets a taint in its
`spec.nodeTaints`, which no job tolerates and no node has, so that the queue passes it over: jobs go to the next flavor,
what runs goes on, no queue is held. After a while it is put back. A flavor whose nodes are bought for a span of time is
out before its start and towards its end.

It runs in an image with Python and uses the standard library only. The taint is applied under a field manager of
its own, without force: where somebody else has set taints the API server answers 409, and theirs stay. Without a fresh
status of the autoscaler nothing is concluded from it. Every decision is a line of JSON in the log, and stands in
annotations of the flavor.

CONFIGURATION is JSON: {"flavors": {NAME: GROUP}, "spans": {NAME: [START, END]}, "retry_seconds": N}, with the beginning
of the autoscaler's name for the flavor's group, and the seconds since the epoch between which jobs may be sent there.
"""

import re
import sys
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .cluster_api import CONFLICT, GONE, ask, for_ever, say

STATUS = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
FLAVOR = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors/"
MANAGER = "trainyard-flavor-keeper"
TAINT = "ml.platform/out-of-queue"
SINCE, BECAUSE = "ml.platform/out-since", "ml.platform/out-because"
EVERY_SECONDS = 30.0
STALE_SECONDS = 300
"""A status older than this is nobody's word: the autoscaler writes it every ten seconds."""

_SPAN = "its nodes"
"""How the reasons begin that follow from the clock, and not from the autoscaler."""


@dataclass(frozen=True)
class Status:
    """What the autoscaler said last: the groups that gave it no nodes, and why."""

    at: float
    dry: Mapping[str, str]


@dataclass(frozen=True)
class Decision:
    """Take a flavor out, for a reason; or put it back (no reason)."""

    flavor: str
    because: str


def decide(
    out: Mapping[str, tuple[float, str]],
    groups: Mapping[str, str],
    spans: Mapping[str, Sequence[float]],
    status: Status | None,
    now: float,
    retry_seconds: float,
) -> list[Decision]:
    """What changes: `out` are the flavors that this program took out, since when and why."""
    found = []
    fresh = status if status is not None and now - status.at <= STALE_SECONDS else None
    for flavor, group in groups.items():
        since, why = out.get(flavor, (None, ""))
        start, end = spans.get(flavor, (0.0, float("inf")))
        dry = next((text for name, text in fresh.dry.items() if name.startswith(group)), "") if fresh else ""
        if not start <= now < end:
            wanted = f"{_SPAN} are not bought yet" if now < start else f"{_SPAN} go back soon"
        elif dry:
            wanted = f"no nodes to be had: {dry}"
        elif since is None or why.startswith(_SPAN):
            wanted = ""
        else:  # it is dry as far as is known: until it has been out long enough, and the autoscaler may ask again
            wanted = "" if fresh and now - since >= retry_seconds else why
        is_out = since is not None
        of_its_span = wanted.startswith(_SPAN) and wanted != why
        if is_out is not bool(wanted) or of_its_span:
            found.append(Decision(flavor, wanted))
    return found


def read_status(text: str) -> Status | None:
    """The autoscaler's status (YAML, from 1.30 on; only its own layout is read); None where it is another."""
    at = re.search(r'^time: "?(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)', text, re.MULTILINE)
    _, found, groups = text.partition("\nnodeGroups:")
    if at is None:
        return None
    dry = {}
    for group in re.split(r"^\s*-\s", groups, flags=re.MULTILINE)[1:] if found else []:
        name = re.search(r'^\s*name: "?([^"\s]+)', group, re.MULTILINE)
        scale_up = re.search(r"^( *)scaleUp:\n((?:\1 .*\n?)+)", group, re.MULTILINE)
        if name and scale_up and re.search(r'status: "?Backoff', scale_up[2]):
            code = re.search(r'errorCode: "?([^"\n]+)', scale_up[2])
            dry[name[1]] = code[1] if code else "the autoscaler waits before it asks again"
    when = datetime.strptime(f"{at[1]} {at[2]}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return Status(when.timestamp(), dry)


def patch(decision: Decision, now: float) -> dict[str, Any]:
    """What is applied: the whole of what this program says of a flavor. Nothing takes back what it said before."""
    metadata: dict[str, Any] = {"name": decision.flavor}
    spec: dict[str, Any] = {}
    if decision.because:
        metadata["annotations"] = {SINCE: str(int(now)), BECAUSE: decision.because}
        spec["nodeTaints"] = [{"key": TAINT, "value": "true", "effect": "NoSchedule"}]
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": metadata, "spec": spec}


def taken_out(flavor: Mapping[str, Any]) -> tuple[float, str] | None:
    """Since when and why this program has a flavor out; None where it has not."""
    notes = flavor.get("metadata", {}).get("annotations") or {}
    taints = flavor.get("spec", {}).get("nodeTaints") or []
    if not any(taint.get("key") == TAINT for taint in taints) or not str(notes.get(SINCE, "")).isdigit():
        return None
    return float(notes[SINCE]), str(notes.get(BECAUSE, ""))


def turn(configuration: Mapping[str, Any], now: float) -> bool:
    """Looks once, and does what is decided. Taints of somebody else are said and left.

    False where a flavor is missing or was refused, the others are looked at none the less; or where the autoscaler has
    a status that is not understood: what is dry is then not known.
    """
    out, seen, whole = {}, {}, True
    for flavor, group in configuration["flavors"].items():
        try:
            held = taken_out(ask(f"{FLAVOR}{flavor}"))
        except urllib.error.HTTPError as error:
            say(flavor=flavor, failed=str(error))
            whole = False
            continue
        seen[flavor] = group
        if held is not None:
            out[flavor] = held
    try:
        status = read_status(ask(STATUS).get("data", {}).get("status", ""))
        whole = whole and status is not None
    except urllib.error.HTTPError as error:
        if error.code != GONE:  # else the autoscaler has not written one yet
            raise
        status = None
    retry = float(configuration["retry_seconds"])
    for decision in decide(out, seen, configuration["spans"], status, now, retry):
        try:
            ask(f"{FLAVOR}{decision.flavor}", patch(decision, now), MANAGER)
            say(flavor=decision.flavor, out=bool(decision.because), because=decision.because)
        except urllib.error.HTTPError as error:
            if error.code == CONFLICT:
                say(flavor=decision.flavor, refused="somebody else has set its taints, and they stay")
            else:
                say(flavor=decision.flavor, failed=str(error))
                whole = False
    return whole


def main(argv: Sequence[str]) -> int:
    """Looks every half minute, for ever."""
    return for_ever(argv, __doc__, EVERY_SECONDS, turn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
