"""Judges a change: what an engine or a cloud would refuse of it, what it loses, and whom it interrupts for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from trainyard.recorded.hiding import names_shown, secrets_hidden
from trainyard.recorded.model import Finding
from trainyard.rehearsal.change import data
from trainyard.rehearsal.change.aws import cluster as aws_cluster
from trainyard.rehearsal.change.aws import databases as aws_databases
from trainyard.rehearsal.change.aws import effects as aws_effects
from trainyard.rehearsal.change.aws import network as aws_network
from trainyard.rehearsal.change.aws import nodes as aws_nodes
from trainyard.rehearsal.change.aws import people as aws_people
from trainyard.rehearsal.change.gcp import cluster as gcp_cluster
from trainyard.rehearsal.change.gcp import databases as gcp_databases
from trainyard.rehearsal.change.gcp import effects as gcp_effects
from trainyard.rehearsal.change.gcp import network as gcp_network
from trainyard.rehearsal.change.gcp import nodes as gcp_nodes
from trainyard.rehearsal.change.gcp import stores as gcp_stores
from trainyard.rehearsal.change.kubernetes import effects as kubernetes_effects
from trainyard.rehearsal.change.kubernetes import objects as kubernetes_objects
from trainyard.rehearsal.change.kubernetes import volumes as kubernetes_volumes
from trainyard.rehearsal.change.model import Change, Effect
from trainyard.rehearsal.findings import ordered

Room = Callable[[Change], Iterable[Finding]]

ROOMS: Final[tuple[Room, ...]] = (
    data.check,
    aws_cluster.check,
    aws_databases.check,
    aws_network.check,
    aws_nodes.check,
    gcp_cluster.check,
    gcp_databases.check,
    gcp_network.check,
    gcp_nodes.check,
    gcp_stores.check,
    aws_people.check,
    kubernetes_objects.check,
    kubernetes_volumes.check,
)
"""What judges a change, each by itself; what belongs to one cloud, or to Kubernetes, is in the folder of its name."""

EFFECTS: Final[tuple[Callable[[Change], Iterable[Effect]], ...]] = (
    aws_effects.of,
    gcp_effects.of,
    kubernetes_effects.of,
)
"""What tells who is interrupted."""


def judged(change: Change) -> tuple[Finding, ...]:
    """What is wrong with a change, errors first."""
    return ordered(_hidden(change, (finding for room in ROOMS for finding in room(change))))


def effects(change: Change) -> tuple[Effect, ...]:
    """Who is interrupted by a change, and for how long."""
    return tuple(effect for tell in EFFECTS for effect in tell(change))


def _hidden(change: Change, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, none with a secret in its message."""
    told = list(findings)
    if not told:
        return
    resources = [*change.before.values(), *change.after.values()]
    hide = secrets_hidden(resources, names_shown(resources))
    for finding in told:
        message = hide(finding.message)
        yield finding if message == finding.message else replace(finding, message=message)
