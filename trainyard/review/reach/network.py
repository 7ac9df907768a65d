"""Where a team's pods get to over the network: what is in reach first, then what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.works.flows.aws.names import names_looked_up
from trainyard.rehearsal.works.flows.model import HTTPS, Place, Port, Verdict
from trainyard.rehearsal.works.flows.reach import Flows
from trainyard.review.reach.model import Row, Section, together

_CLOUD_DNS: Final = "Cloud DNS has no firewall for all names (docs/security.md)"
_PARTLY: Final = ("", " of a part of its addresses")


def network(flows: Flows, resources: Resources, team: str) -> Section:
    """The ports that are in reach, place by place, and the names that may be looked up. Raises UnknownInput."""
    source = flows.teams[team]
    asked = [(place, flows.open_ports(source, place)) for place in flows.places.values()]
    reached = together(_reached(place, verdicts) for place, verdicts in asked if verdicts)
    shut = together(_shut(flows, source, place) for place, verdicts in asked if not verdicts)
    rows = (*reached, *_onwards(flows, source), _names(resources), *shut)
    return Section("network", f"Pods of {team} on the network", rows)


def _onwards(flows: Flows, source: Place) -> Iterator[Row]:
    """Pods of the platform that are in reach and get to the internet: they may carry something there."""
    for place in flows.places.values():
        if place.pods is not None and place != source and flows.open_ports(source, place):
            verdict = flows.reaches(place, "internet", HTTPS)
            if verdict:
                yield Row((f"internet, by way of {place}",), ("what that hands on",), verdict.words)


def _names(resources: Resources) -> Row:
    names = names_looked_up(resources)
    may = ("every one",) if names.every else names.allowed
    words = _CLOUD_DNS if names.every and resources.of(GKE_CLUSTER) else names.words
    return Row(("names that are looked up",), may, words)


def _reached(place: Place, verdicts: tuple[Verdict, ...]) -> Row:
    ports = tuple(str(verdict.port) + _PARTLY[verdict.reach == "some"] for verdict in verdicts)
    words = "; ".join(dict.fromkeys(clause for verdict in verdicts for clause in verdict.words.split("; ")))
    return Row((place.name,), ports, words)


def _shut(flows: Flows, source: Place, place: Place) -> Row:
    """With what shuts it, without the port: most places are shut by the same walls."""
    port = place.ports[0] if place.ports else Port(29500)
    return Row((place.name,), (), flows.reaches(source, place, port).words.partition(" on ")[0])
