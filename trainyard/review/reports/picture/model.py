"""What a picture shows, as plain frozen data. `?` stands for what is not known, not readable or secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trainyard.conventions import Capacity

UNTOLD: Final = "?"
EDITORS: Final = "Editors"
"""What people write in, among the services."""
PROTECTED: Final = "protected"
OWN_KEY: Final = "encrypted, own key"
"""What keeps a store safe: it cannot be deleted by mistake, and is encrypted with a key of its own stack."""
OTHERS_KEY: Final = "encrypted, a key of another program"


@dataclass(frozen=True, slots=True)
class Subnet:
    """One subnet. `reach`: public (the internet reaches it), private (a way out), isolated (neither), control plane
    (isolated, with the interfaces of a cluster's API), or not known."""

    name: str
    cidr: str
    reach: str


@dataclass(frozen=True, slots=True)
class Zone:
    """One availability zone with the subnets in it."""

    name: str
    subnets: tuple[Subnet, ...]
    nat_gateways: int


@dataclass(frozen=True, slots=True)
class Network:
    """One VPC."""

    urn: str
    name: str
    cidr: str
    zones: tuple[Zone, ...]
    has_internet_gateway: bool
    endpoints: tuple[str, ...]  # services that are reached without the internet
    flow_logs: str  # traffic that is logged, "all"; "" where none is


@dataclass(frozen=True, slots=True)
class NodeGroupFigures:
    """One node group. Numbers are None where they cannot be read."""

    urn: str
    name: str
    capacity: Capacity | None
    min_nodes: int | None
    max_nodes: int | None
    gpus_per_node: int
    instance_types: tuple[str, ...]
    zones: tuple[str, ...]
    facts: tuple[str, ...]  # "EFA", "reservation cr-…"
    chips_per_node: int = 0  # of TPUs


@dataclass(frozen=True, slots=True)
class Pool:
    """Node groups that serve one purpose. `gpu` is empty for nodes without one, of TPU slices too."""

    name: str
    gpu: str
    groups: tuple[NodeGroupFigures, ...]

    @property
    def gpus(self) -> int | None:
        """GPUs at most; None where a group cannot be read."""
        return self._most([group.gpus_per_node for group in self.groups])

    @property
    def chips(self) -> int | None:
        """TPU chips at most; None where a group cannot be read."""
        return self._most([group.chips_per_node for group in self.groups])

    def _most(self, per_node: Sequence[int]) -> int | None:
        sizes = [group.max_nodes for group in self.groups]
        if None in sizes:
            return None
        return sum((size or 0) * each for size, each in zip(sizes, per_node, strict=True))

    @property
    def chips_per_node(self) -> tuple[int, ...]:
        """Each number of TPU chips that a machine of it may have, in order; empty: it has none."""
        return tuple(sorted({group.chips_per_node for group in self.groups if group.chips_per_node}))

    @property
    def gpus_per_node(self) -> tuple[int, ...]:
        """Each number of GPUs that a node of it may have, in order."""
        return tuple(sorted({group.gpus_per_node for group in self.groups if group.gpus_per_node}))


@dataclass(frozen=True, slots=True)
class Cluster:
    """One Kubernetes cluster. `network` is the URN of its network where that is recorded."""

    urn: str
    name: str
    version: str
    reach: str  # who reaches its API
    facts: tuple[str, ...]
    pools: tuple[Pool, ...]
    network: str


@dataclass(frozen=True, slots=True)
class Store:
    """Where files or rows are kept: a bucket, a file system, a database."""

    urn: str
    name: str  # "checkpoints"
    kind: str  # "S3 bucket"
    facts: tuple[str, ...]
    marks: tuple[str, ...]  # "protected": what keeps it safe


@dataclass(frozen=True, slots=True)
class Quota:
    """What a team owns of one pool."""

    pool: str
    gpus: float
    nodes: int | None  # where it is a number of whole nodes of several GPUs


@dataclass(frozen=True, slots=True)
class Team:
    """One cluster queue. `quotas` is None where it cannot be read."""

    urn: str
    name: str
    quotas: tuple[Quota, ...] | None
    lends: bool  # it is in a cohort: what it leaves idle others use
    slices: tuple[tuple[str, float], ...] = ()  # TPU chips that it owns, by pool

    @property
    def gpus(self) -> float:
        """GPUs that it owns, as far as they are known."""
        return sum(quota.gpus for quota in self.quotas or ())

    @property
    def chips(self) -> float:
        """TPU chips that it owns, as far as they are known."""
        return sum(chips for _, chips in self.slices)


@dataclass(frozen=True, slots=True)
class Service:
    """Something that runs for all teams, as the MLflow server."""

    urn: str
    name: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """One budget with its alerts."""

    urn: str
    limit: float | None
    unit: str  # USD
    period: str  # "a month"
    thresholds: tuple[tuple[float, bool], ...]  # percent of the limit, and whether a forecast counts
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """All of it."""

    stack: str
    places: tuple[str, ...]  # "aws us-east-1"
    networks: tuple[Network, ...]
    clusters: tuple[Cluster, ...]
    stores: tuple[Store, ...]
    databases: tuple[Store, ...]
    teams: tuple[Team, ...]
    services: tuple[Service, ...]
    budgets: tuple[Budget, ...]
    others: tuple[tuple[str, int], ...]  # what is not drawn, by service
    expected_usd: float | None = None  # a month
    wrong: Mapping[str, int] = field(default_factory=dict)  # errors and mandatory violations by URN
