"""Whom a change on Google Cloud interrupts: pools whose nodes are made anew, the API, the tracking database."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import cards
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.node_words import has_queues, pool_name
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CLOUD_SQL, GCP_NAT, GKE_CLUSTER
from trainyard.rehearsal.change.gcp.cluster import minors
from trainyard.rehearsal.change.gcp.databases import restarting
from trainyard.rehearsal.change.gcp.nodes import rolling, zones_lost
from trainyard.rehearsal.change.model import Change, Effect, Operation, Step


def of(change: Change) -> Iterator[Effect]:
    """What stops, is drained or goes, of what people work with."""
    for step in change.steps:
        if step.operation is Operation.SAME:
            continue
        if step.type == GKE_NODE_POOL:
            yield from _pool(step, change)
        elif step.type == GKE_CLUSTER:
            yield from _cluster(step)
        elif step.type == CLOUD_SQL:
            yield from _database(step)
        elif step.type == GCP_NAT and step.goes and step.was is not None:
            yield _effect("the way out of the network", "is cut until there is another; its address may change", step)


def _pool(step: Step, change: Change) -> Iterator[Effect]:
    resource = step.was or step.resource
    resources = Resources((change.before if step.was is not None else change.after).values())
    name = pool_name(resource, resources)
    if step.operation is Operation.DELETE:
        before = ": `trainyard drain` empties it before" if has_queues(resource, resources) else ""
        yield _effect(name, f"goes, with every job that runs on it{before}", step)
    elif step.operation is Operation.REPLACE:
        gap = "there is none until the new one is made" if step.deleted_first else "new nodes come before they go"
        yield _effect(name, f"its nodes go, with every job that runs on them; {gap}", step)
    elif rolling(step):
        yield Effect(name, f"its nodes are drained and made anew, {_at_a_time(step)}; jobs on them end", 0, step.urn)
    elif zones_lost(step):
        yield Effect(name, f"its nodes in {', '.join(zones_lost(step))} go, with the jobs on them", 0, step.urn)


def _at_a_time(step: Step) -> str:
    """How many nodes at a time, of `upgradeSettings`: without them one more is made before one goes."""
    settings = follow(step.resource.inputs, "upgradeSettings")
    if follow(settings, "strategy") == "BLUE_GREEN":
        return "beside the old ones"
    found = [as_number(follow(settings, key)) for key in ("maxSurge", "maxUnavailable")]
    extra, down = (1.0 if found[0] is None else found[0]), (found[1] or 0.0)
    return f"{extra + down:g} at a time{', none of them beside an old one' if not extra else ''}"


def _cluster(step: Step) -> Iterator[Effect]:
    if step.goes:
        yield _effect("the cluster", "goes, with everything that runs on it and all that only its API knows", step)
    elif step.changed("minMasterVersion") is not None and minors(step) is not None:
        happens = "its control plane is upgraded in place: a regional one answers meanwhile; nodes stay as they are"
        yield Effect("the cluster", happens, 0, step.urn)


def _database(step: Step) -> Iterator[Effect]:
    name = f"the database {step.resource.name}"
    if step.goes:
        yield _effect(name, "goes, with what it holds but its backups; tracking is down until there is another", step)
    elif step.operation is Operation.UPDATE and restarting(step):
        yield Effect(name, "restarts at once: tracking is down for minutes", 0, step.urn)


def _effect(what: str, happens: str, step: Step) -> Effect:
    """An effect that lasts as long as a new one takes to be made."""
    seconds = cards.of(step.type).seconds.value if step.operation is Operation.REPLACE else 0.0
    return Effect(what, happens, seconds, step.urn)
