"""Who talks to whom, on which port and by what: the flows that the stack needs, and those that its walls leave open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.flows.check import judged
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.model import Place, Verdict
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.reach import Flows
from trainyard.review.works.model import Table

_NOT_ASKED: Final = ("own node", "node")
"""Kinds of destination that everything of a cluster reaches in the same way: nodes are told as sources alone."""


def tables(resources: Resources) -> tuple[Table, ...]:
    """What is needed, then what is open. Raises UnreadableInput where a wall is not known yet, or is no address."""
    try:
        asked = judged(resources)
        flows = Flows.recorded(resources)
    except ValueError as wrong:
        raise UnreadableInput("an address", str(wrong)) from wrong
    return (
        Table(
            "needed",
            "Flows that the stack needs",
            ("flow", "from", "to", "port", "open", "decided by", "without it"),
            tuple(dict.fromkeys(_needed(need, verdict) for need, verdict in asked)),
        ),
        Table(
            "open",
            "Who reaches whom",
            ("from", "to", "ports", "decided by"),
            tuple(_open(flows)),
        ),
    )


def _needed(need: Need, verdict: Verdict) -> tuple[str, ...]:
    answer = "no" if not verdict else "in part" if verdict.reach == "some" and need.whole else "yes"
    return need.name, str(need.source), str(need.destination), str(need.port), answer, verdict.words, need.why


def _open(flows: Flows) -> Iterator[tuple[str, ...]]:
    """Every pair of which a port is open that the destination is known to listen on.

    A team's pods are asked about another team's where that one lets anybody in at all.
    """
    policies = next(wall for wall in flows.walls if isinstance(wall, NetworkPolicies))
    closed = {
        place.name
        for place in flows.teams.values()
        if place.pods and not policies.lets_in_from_outside(place.pods.namespace)
    }
    for source in flows.places.values():
        if source.pods is None and source.kind not in ("node", "internet"):
            continue
        for destination in flows.places.values():
            if destination.kind in _NOT_ASKED or destination == source or destination.name in closed:
                continue
            row = _pair(flows, source, destination)
            if row is not None:
                yield row


def _pair(flows: Flows, source: Place, destination: Place) -> tuple[str, ...] | None:
    found = [verdict for port in destination.ports if (verdict := flows.reaches(source, destination, port))]
    if not found:
        return None
    ports = ", ".join(str(verdict.port) for verdict in found)
    words = "; ".join(dict.fromkeys(clause for verdict in found for clause in verdict.words.split("; ")))
    return str(source), str(destination), ports, words
