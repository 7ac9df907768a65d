"""Whom a change on AWS interrupts: pools whose nodes are drained, the API, the tracking database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard import cards
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.node_words import has_queues, pool_name
from trainyard.recorded.read import is_on
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DATABASE, EKS_CLUSTER, NAT_GATEWAY
from trainyard.rehearsal.change.aws.nodes import rolling
from trainyard.rehearsal.change.model import Change, Effect, Operation, Step

_RESTARTING: Final = ("instanceClass", "engineVersion", "parameterGroupName", "dbSubnetGroupName", "port")
"""Inputs of a database of which another value restarts it (RDS user guide, "DB instance settings"; 2026-11)."""


_UPGRADE_SECONDS: Final = 7 * 60.0
"""What an upgrade of a control plane takes at least: 7 to 15 minutes in each of five, one minor version after the other
(a public log of an upgrade from 1.31 to 1.36, 2026-09-23; read 2026-11-23)."""


def of(change: Change) -> Iterator[Effect]:
    """What stops, is drained or goes, of what people work with."""
    for step in change.steps:
        if step.operation is Operation.SAME:
            continue
        if step.type == EKS_NODE_GROUP:
            yield from _pool(step, change)
        elif step.type == EKS_CLUSTER:
            yield from _cluster(step)
        elif step.type == DATABASE:
            yield from _database(step)
        elif step.type == NAT_GATEWAY and step.goes and step.was is not None:
            yield _effect("the way out of the network", "is cut until there is another; its address changes", step)


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
        yield Effect(name, "its nodes are drained one after the other; jobs on them are moved or end", 0, step.urn)


def _cluster(step: Step) -> Iterator[Effect]:
    if step.goes:
        happens = "goes, with everything that runs on it and all that only its API knows"
        yield _effect("the cluster", happens, step)
    elif step.changed("version") is not None:
        happens = "its control plane is upgraded in place: the API stays, and answers slowly at times; nodes stay"
        yield Effect("the cluster", happens, _UPGRADE_SECONDS, step.urn)


def _database(step: Step) -> Iterator[Effect]:
    name = f"the database {step.resource.name}"
    if step.goes:
        yield _effect(
            name, "goes, with what it holds but its last snapshot; tracking is down until there is another", step
        )
    elif step.operation is Operation.UPDATE and any(step.changed(path) is not None for path in _RESTARTING):
        when = "at once" if is_on(step.resource.inputs, "applyImmediately") else "in its maintenance window"
        yield Effect(name, f"restarts {when}: tracking is down for minutes", 0, step.urn)


def _effect(what: str, happens: str, step: Step) -> Effect:
    """An effect that lasts as long as a new one takes to be made."""
    seconds = cards.of(step.type).seconds.value if step.operation is Operation.REPLACE else 0.0
    return Effect(what, happens, seconds, step.urn)
