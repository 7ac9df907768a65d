"""What is asked about a network and what is answered: places, ports, walls, verdicts. Knows no cluster and no cloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.works.flows.addresses import Addresses

Transport = Literal["TCP", "UDP", "SCTP"]

Kind = Literal["pods", "node", "own node", "service", "object store", "internet", "link-local", "balancer"]
"""`own node`: the one that the source, or the destination, runs on. `balancer`: what Google's balancers call from, for
which GKE opens the firewall by itself."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port of the destination; 0 stands for every port."""

    number: int
    transport: Transport = "TCP"

    def __str__(self) -> str:
        return f"{self.transport} {self.number}" if self.number else "every port"


KUBELET: Final = Port(10250)
HTTPS: Final = Port(443)


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of one template, or all that somebody may make in a namespace."""

    namespace: str
    labels: Mapping[str, str] | None  # None: what its author pleases, as for pods that a team's members make
    ports: Mapping[str, int] = field(default_factory=dict)  # container ports that have a name
    services: tuple[tuple[int, int], ...] = ()  # port of a service, and the pods' port behind it


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that traffic starts or ends: pods, nodes, a service of a cloud, the internet."""

    name: str
    kind: Kind
    addresses: Addresses  # one of these, or all of them: what the place has
    pods: Pods | None = None  # where a network policy can select it
    security_groups: frozenset[str] = frozenset()  # ids
    prefix_lists: frozenset[str] = frozenset()  # ids of the lists that its addresses are in
    subnets: frozenset[str] = frozenset()  # ids
    public_to: Addresses = field(default_factory=Addresses)  # who on the internet finds a public address of it
    ports: tuple[Port, ...] = ()  # that it listens on, as far as it is known
    guessed: bool = False  # which of the addresses it has is not recorded: that some are reached is all one can ask

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Interfaces:
    """Where nodes, and pods with them, have their addresses."""

    addresses: Addresses
    security_groups: frozenset[str]
    subnets: frozenset[str]


@dataclass(frozen=True, slots=True)
class Flow:
    """A connection that somebody tries to open, and the addresses at both ends between which it still may."""

    source: Place
    destination: Place
    port: Port
    from_addresses: Addresses
    to_addresses: Addresses

    @classmethod
    def between(cls, source: Place, destination: Place, port: Port) -> Flow:
        """A flow that no wall has looked at."""
        return cls(source, destination, port, source.addresses, destination.addresses)

    def narrowed(self, *, from_addresses: Addresses | None = None, to_addresses: Addresses | None = None) -> Flow:
        """What is left of it."""
        return replace(
            self,
            from_addresses=self.from_addresses if from_addresses is None else self.from_addresses & from_addresses,
            to_addresses=self.to_addresses if to_addresses is None else self.to_addresses & to_addresses,
        )

    @property
    def passes(self) -> bool:
        """Whether anything is left of it."""
        return bool(self.from_addresses) and bool(self.to_addresses)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one wall says about a flow."""

    left: Flow
    words: str  # a clause: "NetworkPolicy team-a/allow-dns lets it out"
    by: tuple[RecordedResource, ...] = ()  # what decided


class Wall(Protocol):
    """Something that stands between places: network policies, security groups, routes."""

    def judge(self, flow: Flow) -> Judgement | None:
        """What is left of a flow behind the wall; None where the wall has nothing to do with it.

        Raises:
            UnknownInput: a part of the recording is not known yet.
        """
        ...

    def ports(self) -> Iterable[int]:
        """Port numbers that the wall tells from others."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a connection can be opened, and what decides."""

    source: Place
    destination: Place
    port: Port
    reach: Literal["all", "some", "none"]
    """How many of the addresses at both ends it holds for."""
    words: str
    by: tuple[RecordedResource, ...]
    left: Addresses  # of the destination

    def __bool__(self) -> bool:
        return self.reach != "none"

    def __str__(self) -> str:
        answer = {"all": "reaches", "some": "reaches some of", "none": "does not reach"}[self.reach]
        return f"{self.source} {answer} {self.destination} on {self.port}: {self.words}"


def judge(flow: Flow, walls: Sequence[Wall]) -> Verdict:
    """Sends a flow through walls, one after another: the first that leaves nothing of it decides, else all do.

    Raises:
        UnknownInput: a part of the recording is not known yet.
    """
    whole = flow
    words: list[str] = []
    by: list[RecordedResource] = []
    for wall in walls:
        judgement = wall.judge(flow)
        if judgement is None:
            continue
        flow = judgement.left
        if not flow.passes:
            return Verdict(flow.source, flow.destination, flow.port, "none", judgement.words, judgement.by, Addresses())
        words.append(judgement.words)
        by.extend(judgement.by)
    same = (flow.from_addresses, flow.to_addresses) == (whole.from_addresses, whole.to_addresses)
    said = "; ".join(dict.fromkeys(words)) or "nothing stands between them"
    reach: Literal["all", "some"] = "all" if same else "some"
    return Verdict(
        flow.source,
        flow.destination,
        flow.port,
        reach,
        said,
        tuple({found.urn: found for found in by}.values()),
        flow.to_addresses,
    )
