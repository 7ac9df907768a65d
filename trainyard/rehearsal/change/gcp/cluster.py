"""A control plane of GKE: its versions, and what goes when it goes.

GKE upgrades a control plane one minor version at a time, and none goes back to an earlier minor version (GKE
documentation, "About cluster upgrades"; read 2026-11). Where the program ignores the version, the release channel alone
upgrades the cluster, and another version in a stack file reaches nothing that runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.change.model import Change, Operation, Step, within
from trainyard.rehearsal.change.words import verb

_VERSION = "minMasterVersion"


def check(change: Change) -> Iterator[Finding]:
    """What a change of control planes would be refused for, or would not reach."""
    for step in change.steps:
        if step.type != GKE_CLUSTER or step.was is None:
            continue
        if step.goes:
            yield from _gone(step)
        elif step.operation is Operation.UPDATE and step.changed(_VERSION) is not None:
            yield from _versions(step)
        elif step.now is not None and not change.deployed:  # a state keeps the first version for ever
            yield from _ignored(step, step.now)


def minors(step: Step) -> tuple[int, int] | None:
    """The minor version of Kubernetes before and after; None where one of them is not told."""
    before, after = (_minor(each) for each in (step.was, step.now))
    return None if before is None or after is None else (before, after)


def _gone(step: Step) -> Iterator[Finding]:
    if step.was is not None and not step.was.protect:
        yield Finding.of(
            step.resource,
            "change-replaces-cluster",
            f"would be {verb(step)}: everything that runs on it ends, and what only lives in its API is gone",
            path=step.forced_by[0] if step.forced_by else "",
            hint="take the change back, or make a second cluster beside it and move",
        )


def _versions(step: Step) -> Iterator[Finding]:
    found = minors(step)
    if found is None or found[1] in (found[0], found[0] + 1):
        return
    before, after = found
    if after < before:
        message = f"Kubernetes 1.{before} -> 1.{after}: GKE never goes back to an earlier minor version"
        hint = "a new cluster of the earlier version is the only way back"
    else:
        message = f"Kubernetes 1.{before} -> 1.{after}: GKE upgrades a control plane one minor version at a time"
        hint = f"first 1.{before + 1}, with its nodes; then the next"
    yield Finding.of(step.resource, "change-kubernetes-version", message, path=_VERSION, hint=hint)


def _ignored(step: Step, now: RecordedResource) -> Iterator[Finding]:
    found = minors(step)
    if found is None or found[0] == found[1] or not any(within(_VERSION, path) for path in now.ignore_changes):
        return
    yield Finding.of(
        step.resource,
        "change-version-not-sent",
        f"Kubernetes 1.{found[0]} -> 1.{found[1]} is not sent to the cluster, whose release channel upgrades it:"
        " what else follows from the version changes without it",
        path=_VERSION,
        hint="leave the version as it was, or upgrade the cluster first: `gcloud container clusters upgrade --master`",
        level="warning",
    )


def _minor(cluster: RecordedResource | None) -> int | None:
    text = value_at(cluster.inputs, _VERSION, unknown=None) if cluster is not None else None
    major, _, rest = str(text).partition(".")
    minor = rest.partition(".")[0]
    return int(minor) if major == "1" and minor.isdigit() else None
