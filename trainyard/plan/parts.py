"""The plan: everything about an environment that can be decided without a cloud, as frozen data.

A plan is a *core*, which every environment has; a *ground*, on which it stands (a cloud, with a part of the plan of its
own in a package of its own); and *clusters*: none for managed training, one, or several. `make.make_plan` builds it
from the settings, the team-size profile and the catalogue; `stacks.environment` spells it out as components.

Every field is a plain value, a tuple or another dataclass, so a plan can be compared, hashed, written as JSON
(`plan.as_dict()`) and kept as a golden file.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from trainyard.catalog.versions import Pins
from trainyard.conventions import Capacity, ReservationKind, taken_whole
from trainyard.plan.aws.parts import AwsPlan
from trainyard.problems import nearest

ProfileName = Literal["small", "medium", "large"]

_Named = TypeVar("_Named", "PoolPlan", "TeamQueuePlan")


class NoSuchName(Exception):  # noqa: N818 - reads as what it says
    """There is no pool or team of that name; the text lists those that there are."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One number or choice of the plan, and where it comes from.

    `key` is the path within the core, the ground or the cluster (`pools.train.node_groups.train-spot.max_nodes`),
    `source` names the setting, the profile entry with its own source, or the rule that gave the value.
    """

    key: str
    value: str
    source: str


# Core: what every environment has


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """A team: its people and its part of the environment."""

    name: str
    members: int
    principals: tuple[str, ...]  # who they are to the cloud, as that spells it
    people: tuple[str, ...]  # who has a login of their own at the MLflow server
    share_percent: float
    monthly_budget_usd: int


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """Who reads the data, and how long what is stored is kept. Days."""

    data_access: Literal["shared", "team"]  # every team reads all data, or each its own
    ingest_principals: tuple[str, ...]  # who runs the jobs that write the data
    data_version_days: int  # of overwritten and deleted objects
    checkpoint_expire_days: int  # superseded checkpoints; the newest is never expired
    checkpoint_keep_versions: int
    multipart_cleanup_days: int
    artifact_retention_days: int  # of superseded versions
    artifact_transition_days: int  # to infrequent access


@dataclass(frozen=True, slots=True)
class EgressPlan:
    """Where pods of teams may go outside of the network."""

    mode: Literal["allowlist", "internet"]
    allow: tuple[str, ...]  # domain names; one that begins with a dot is the name and all below it


@dataclass(frozen=True, slots=True)
class MlflowPlan:
    """The tracking server; `cpu` and `memory` are Kubernetes quantities a replica."""

    enabled: bool
    replicas: int
    cpu: str
    memory: str
    workers: int
    default_permission: str  # what a team may do with what another made
    password_version: int


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """The monthly budget with its alerts; percents are of the budget."""

    monthly_usd: int
    alert_emails: tuple[str, ...]
    actual_percents: tuple[int, ...]
    forecast_percents: tuple[int, ...]
    anomaly_threshold_usd: int


@dataclass(frozen=True, slots=True)
class FloorItem:
    """One part of the idle floor, in USD a month, with the price's source."""

    what: str
    monthly_usd: float | None  # None: the catalogue has no price of it
    source: str


@dataclass(frozen=True, slots=True)
class IdleFloor:
    """What the environment costs a month with every GPU pool at its minimum."""

    items: tuple[FloorItem, ...]

    @property
    def monthly_usd(self) -> float:
        """The sum of the items that have a price, USD a month."""
        return round(sum(item.monthly_usd or 0 for item in self.items), 2)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What has no price, so that the sum lacks it."""
        return tuple(item.what for item in self.items if item.monthly_usd is None)


@dataclass(frozen=True, slots=True)
class Core:
    """What does not depend on where the environment stands."""

    client: str
    environment: str  # "production"
    name: str  # "<client>-<environment>": the prefix of what needs a fixed name
    stack: str
    profile: ProfileName
    team_size: int
    tags: tuple[tuple[str, str], ...]  # on every resource: client, environment, team, cost-centre, owner, managed-by
    teams: tuple[TeamPlan, ...]
    storage: StoragePlan
    egress: EgressPlan
    allowed_images: tuple[
        str, ...
    ]  # registries and repositories that teams may run images of, besides the account's own
    mlflow: MlflowPlan
    budget: BudgetPlan
    idle_floor: IdleFloor
    pins: Pins
    protect: bool
    decisions: tuple[Decision, ...]


# Clusters: nodes, queues, and the jobs that prove them


@dataclass(frozen=True, slots=True)
class CpuNodesPlan:
    """Nodes without GPUs: the platform's own, or those of people's pods."""

    instance_types: tuple[str, ...]
    min_nodes: int
    max_nodes: int
    disk_gib: int


@dataclass(frozen=True, slots=True)
class FabricPlan:
    """The fast network between the nodes of one zone, and what their pods ask for to use it."""

    name: str  # "efa": what the smoke job proves that the traffic takes
    resource: str  # extended resource of a node, one an interface
    interfaces: int  # of a node
    hugepages_mib: int  # 2 MiB pages that its driver pins on a node


@dataclass(frozen=True, slots=True)
class NodePlan:
    """What a node of a pool offers, however it is bought."""

    instance_type: str
    gpu: str  # "A100-40GB", as in the catalogue
    gpus: int
    gpu_memory_gib: float  # of one GPU
    vcpus: int
    memory_gib: float
    fabric: FabricPlan | None  # None: the plain network
    network_cards: int
    local_nvme_gb: int
    root_disk_gib: int

    @property
    def fabric_interfaces(self) -> int:
        """Fast interfaces of a node; 0 without a fabric."""
        return self.fabric.interfaces if self.fabric else 0

    @property
    def is_taken_whole(self) -> bool:
        """Whether jobs take a node whole, so that quotas are in nodes."""
        return taken_whole(self.gpus, self.fabric_interfaces)


@dataclass(frozen=True, slots=True)
class ReservationPlan:
    """Capacity that is bought already: a `reservation` until it is given back, a `block` for a span of days."""

    id: str  # as the cloud spells it
    kind: ReservationKind
    availability_zone: str


@dataclass(frozen=True, slots=True)
class NodeGroupPlan:
    """How nodes of a pool are bought: one node group, in one capacity.

    `instance_types` has one entry except for spot, where alternatives with the same GPU and GPU count widen the choice.
    `zones` are the network's; exactly one where the pool needs a fabric or is reserved.
    """

    name: str  # "train-spot"; unique in the cluster
    pool: str
    capacity: Capacity
    instance_types: tuple[str, ...]
    min_nodes: int
    max_nodes: int
    zones: tuple[str, ...]
    placement_group: bool
    reservation: ReservationPlan | None


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """GPU nodes of one kind, bought in up to three capacities."""

    name: str
    purpose: str  # one line for people
    node: NodePlan
    node_groups: tuple[NodeGroupPlan, ...]  # reserved, spot, on-demand: those that have nodes


@dataclass(frozen=True, slots=True)
class FlavorPlan:
    """A Kueue ResourceFlavor: the nodes of one node group."""

    name: str  # equals the node group's name
    pool: str
    capacity: Capacity
    gpus: int  # that the node group holds at most


@dataclass(frozen=True, slots=True)
class PriorityPlan:
    """A Kueue WorkloadPriorityClass; the higher value goes first."""

    name: str  # production, standard, development
    value: int
    description: str


@dataclass(frozen=True, slots=True)
class SchedulingPlan:
    """The cohort that the teams' queues form, and what they have in common."""

    cohort: str
    flavors: tuple[FlavorPlan, ...]  # in the order in which a queue tries them
    priorities: tuple[PriorityPlan, ...]
    pods_ready_timeout_minutes: int
    requeue_limit: int
    scale_down_after_minutes: int  # without work, until a GPU node goes


@dataclass(frozen=True, slots=True)
class QuotaPlan:
    """What a team owns of one flavor: its nominal quota, in GPUs."""

    flavor: str
    gpus: int
    nodes: int | None  # the same in whole nodes; None in a pool whose nodes small jobs share


@dataclass(frozen=True, slots=True)
class TeamQueuePlan:
    """A team on a cluster: its namespace, its ClusterQueue and what it may use without asking the others."""

    name: str  # the team's
    namespace: str
    cluster_queue: str
    local_queue: str
    quotas: tuple[QuotaPlan, ...]  # one a flavor, in the order of `SchedulingPlan.flavors`
    weight: int  # in fair sharing of what others leave idle: the GPUs that it owns, 1 where it owns none
    cpu_only_cores: int  # of its pods without GPUs, together; GPUs are rationed by the queue alone
    cpu_only_memory_gib: int
    cpu_only_pods: int


@dataclass(frozen=True, slots=True)
class SmokeJobPlan:
    """The smoke job that proves a pool's nodes of one capacity, or of whichever the queue picks. Sizes are a node's."""

    name: str  # of the node group, "train-spot"; of the pool where the queue picks the capacity
    team: str  # in whose queue and namespace it runs
    pool: str
    capacity: Capacity | None
    nodes: int
    cpu: int
    memory_gib: int
    shared_memory_gib: int
    hugepages_mib: int  # 2 MiB pages that the fabric pins; besides the memory
    data_path: str  # folder of the data tier; "" where the tier is read only
    usd_per_node_hour: float | None  # on demand, whatever the capacity; None: the catalogue has no price
    rerun_on: tuple[tuple[str, str], ...]  # facts whose change makes it another job


@dataclass(frozen=True, slots=True)
class SmokePlan:
    """The DDP smoke jobs, part of `pulumi up`."""

    enabled: bool
    image: str  # by digest
    priority: str
    capacities: tuple[Capacity, ...]  # of a pool, that are proven
    mounts: tuple[tuple[str, str], ...]  # claim -> path, of every training container of the platform
    environment: tuple[tuple[str, str], ...]  # variables of every training container
    jobs: tuple[SmokeJobPlan, ...]  # one a pool and capacity that is proven; none where the settings turn them off


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """One Kubernetes cluster with its nodes, queues and proofs."""

    name: str
    kubernetes_version: str  # "1.35"
    public_access_cidrs: tuple[str, ...]  # empty: the API's endpoint is private only
    system_nodes: CpuNodesPlan
    cpu_pool: CpuNodesPlan | None  # of people's pods without GPUs; None: there is no such work
    pools: tuple[PoolPlan, ...]
    scheduling: SchedulingPlan
    teams: tuple[TeamQueuePlan, ...]
    smoke: SmokePlan
    isolated_gpus: bool  # its nodes show a container no GPU that it did not ask for, whatever its variables say

    @property
    def node_groups(self) -> tuple[NodeGroupPlan, ...]:
        """The node groups of all pools, in order."""
        return tuple(group for pool in self.pools for group in pool.node_groups)

    def pool(self, name: str | None) -> PoolPlan:
        """The pool of that name, or the first; raises NoSuchName."""
        return _pick("GPU pool", self.pools, name, self.name)

    def team(self, name: str | None) -> TeamQueuePlan:
        """The team of that name, or the first; raises NoSuchName."""
        return _pick("team", self.teams, name, self.name)


def _pick(kind: str, there: tuple[_Named, ...], name: str | None, cluster: str) -> _Named:
    for item in there:
        if name in (None, item.name):
            return item
    names = [item.name for item in there]
    hint = nearest(name, names) if name else ""
    wanted = f"{kind} {name!r}" if name else kind
    known = ", ".join(names) or "none"
    raise NoSuchName(f"cluster {cluster} has no {wanted}; there is {known}{'; ' + hint if hint else ''}")


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that was decided for one environment."""

    core: Core
    ground: AwsPlan
    clusters: tuple[ClusterPlan, ...]

    def tracks(self, cluster: ClusterPlan) -> bool:
        """Whether jobs of the cluster have a tracking server.

        It stands on the first cluster and is reached from inside of that one only.
        """
        return self.core.mlflow.enabled and cluster.name == self.clusters[0].name

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and scalars, ready for JSON; pairs become a mapping's entries in their order."""
        return dataclasses.asdict(self)
