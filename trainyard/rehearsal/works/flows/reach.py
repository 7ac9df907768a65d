"""`Flows`: the places of a recorded stack, and the answer to who reaches whom.

An answer is an attacker's: a place with many addresses is reached if one of them is, a team's pods have the labels that
suit them, and are on the node that suits them. That part of a place is reached, the verdict says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.works.flows.aws.metadata import InstanceMetadata
from trainyard.rehearsal.works.flows.aws.places import node_interfaces, service_addresses
from trainyard.rehearsal.works.flows.aws.places import places as places_of_aws
from trainyard.rehearsal.works.flows.aws.plugin import enforcement
from trainyard.rehearsal.works.flows.aws.routes import Routes
from trainyard.rehearsal.works.flows.aws.security_groups import SecurityGroups
from trainyard.rehearsal.works.flows.gcp import network
from trainyard.rehearsal.works.flows.gcp import places as gcp
from trainyard.rehearsal.works.flows.gcp.firewall import Firewall
from trainyard.rehearsal.works.flows.gcp.ways import WaysOut
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.kubernetes.pods import Workload, platform, teams
from trainyard.rehearsal.works.flows.model import Flow, Interfaces, Place, Port, Transport, Verdict, Wall, judge

ANY_PORT: Final = Port(0)
"""Stands for every port, of TCP and UDP."""

_LAST: Final = 65535
_TRANSPORTS: Final[tuple[Transport, ...]] = ("TCP", "UDP")
_LISTENS_ON_MORE: Final = ("node", "own node", "internet")
_ANYTHING: Final = (Port(1), Port(29500), Port(_LAST), Port(1, "UDP"), Port(_LAST, "UDP"))
"""Ports that nobody names on purpose: who gets to all of them gets to every port."""


@dataclass(frozen=True, slots=True)
class Flows:
    """The network of a stack."""

    places: Mapping[str, Place]  # by name
    teams: Mapping[str, Place]  # pods that a team's members make, by team; among the places too
    walls: Sequence[Wall]

    @classmethod
    def recorded(cls, resources: Resources, believed: str = "") -> Flows:
        """The network of a recording; `believed` as in `ValueContext.private_services`.

        Raises:
            UnknownInput: a part of it is not known yet.
        """
        on_google = bool(resources.of(GKE_CLUSTER))
        interfaces = gcp.node_interfaces(resources) if on_google else node_interfaces(resources)
        by_team = {team: of_pods(found, interfaces) for team, found in teams(resources).items()}
        of_platform = [of_pods(found, interfaces) for found in platform(resources)]
        of_cloud = gcp.places(resources, believed) if on_google else places_of_aws(resources)
        found = [*by_team.values(), *of_platform, *of_cloud]
        walls = _walls_of_google(resources) if on_google else _walls_of_aws(resources)
        return cls({place.name: place for place in found}, by_team, walls)

    def reaches(self, source: Place | str, destination: Place | str, port: Port | int) -> Verdict:
        """Whether a connection can be opened, and what decides.

        Raises:
            KeyError: there is no such place.
            UnknownInput: a part of the recording is not known yet.
        """
        start = self.places[source] if isinstance(source, str) else source
        end = self.places[destination] if isinstance(destination, str) else destination
        return judge(Flow.between(start, end, Port(port) if isinstance(port, int) else port), self.walls)

    def open_ports(self, source: Place | str, destination: Place | str) -> tuple[Verdict, ...]:
        """A verdict for each port that is reached, of those that the destination listens on.

        Where it is not known what it listens on, of those that a wall names. One for every port, where all are. Raises
        as `reaches` does.
        """
        end = self.places[destination] if isinstance(destination, str) else destination
        anything = [self.reaches(source, end, port) for port in _ANYTHING]
        if all(anything):
            return (replace(anything[0], port=ANY_PORT),)
        asked = set(end.ports)
        if not asked or end.kind in _LISTENS_ON_MORE:
            named = {number for wall in self.walls for number in wall.ports() if 0 < number < _LAST}
            asked |= {Port(number, transport) for number in named for transport in _TRANSPORTS}
        verdicts = (
            self.reaches(source, end, port) for port in sorted(asked, key=lambda port: (port.number, str(port)))
        )
        return tuple(verdict for verdict in verdicts if verdict)

    def in_namespace(self, namespace: str) -> list[Place]:
        """The pods of a namespace."""
        return [place for place in self.places.values() if place.pods and place.pods.namespace == namespace]


def _walls_of_aws(resources: Resources) -> list[Wall]:
    plugin = enforcement(resources) if resources.of(EKS_CLUSTER) else "standard"
    services = service_addresses(resources)
    return [
        NetworkPolicies.recorded(resources, plugin, services),
        InstanceMetadata.recorded(resources),
        Routes.recorded(resources, services),
        SecurityGroups.recorded(resources),
    ]


def _walls_of_google(resources: Resources) -> list[Wall]:
    return [
        NetworkPolicies.recorded(resources, network.enforcement(resources), network.service_addresses(resources)),
        WaysOut.recorded(resources),
        Firewall.recorded(resources),
    ]


def of_pods(workload: Workload, interfaces: Interfaces) -> Place:
    """Pods as a place: they have the addresses and the groups of their nodes."""
    return Place(
        workload.name,
        "pods",
        interfaces.addresses,
        pods=workload.pods,
        security_groups=interfaces.security_groups,
        subnets=interfaces.subnets,
        ports=workload.ports,
    )
