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
from typing import Any, Generic, Literal

from typing_extensions import TypeVar

from trainyard.catalog.versions import Pins
from trainyard.conventions import CHANGING_TAGS, Capacity, ReservationKind, taken_whole
from trainyard.monitoring.thresholds import Thresholds
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.problems import nearest

ProfileName = Literal["small", "medium", "large"]

_Named = TypeVar("_Named", "PoolPlan", "TeamQueuePlan")

GroundPlan = AwsPlan | GcpPlan
"""A cloud's part of a plan."""

OnGround = TypeVar("OnGround", bound=GroundPlan, covariant=True, default=GroundPlan)


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
class SignOnPlan:
    """An identity provider whose tokens open the tracking server."""

    issuer: str
    audience: str
    keys_url: str
    keys_host: str  # the one name that the tracking server has to reach for it
    claim: str
    person_claim: str
    teams: tuple[tuple[str, str], ...]  # team and its group


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
    sign_on: SignOnPlan | None


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
    setting: str = ""  # that changes it; empty: the environment does not go without


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
    chart_mirror: str | None  # where all charts are pulled from; None: where each is published
    protect: bool
    decisions: tuple[Decision, ...]
    runbooks: str  # the address that the alarms' pages are below, or the folder that they are in

    @property
    def lasting_tags(self) -> dict[str, str]:
        """Those of the tags that stay what they are as long as the environment."""
        return {key: value for key, value in self.tags if key not in CHANGING_TAGS}

    @property
    def changing_tags(self) -> dict[str, str]:
        """Those of the tags that another line of the stack file may change at any time."""
        return {key: value for key, value in self.tags if key in CHANGING_TAGS}


# Clusters: nodes, queues, and the jobs that prove them


@dataclass(frozen=True, slots=True)
class CpuNodesPlan:
    """Nodes without GPUs: the platform's own, or those of people's pods."""

    zones: tuple[str, ...]
    instance_types: tuple[str, ...]
    min_nodes: int
    max_nodes: int
    disk_gib: int


@dataclass(frozen=True, slots=True)
class FabricPlan:
    """The fast network between the nodes of one zone, and what their pods ask for to use it."""

    name: str  # "efa", "gpudirect": what the smoke job proves that the traffic takes
    resource: str  # extended resource of a node, one an interface; "": a claim gives them
    device_class: str  # of the interfaces where a pod claims them (dynamic resource allocation); "": it does not
    interfaces: int  # of a node
    hugepages_mib: int  # 2 MiB pages that its driver pins on a node
    environment: tuple[tuple[str, str], ...]  # variables by which NCCL has no other network
    pod_annotations: tuple[tuple[str, str], ...] = ()  # by which a pod gets the interfaces, where no claim does
    daemon: str = ""  # that stands beside the training in each pod: tcpx, tcpxo; empty: none


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
    usd_per_hour: float | None  # list price on demand; None: the catalogue has none
    pods_per_gpu: int = 1  # that take turns on it, or have an instance of it
    mig_profile: str = ""  # the size of those instances, "1g.10gb"; empty: pods take turns, or have GPUs whole
    nvlinks: int = 0  # that every GPU must have up; 0: it has none, or a part of a machine may show fewer
    driver: str = ""  # oldest NVIDIA driver of the nodes' image; empty: the plan does not know

    @property
    def gpus_offered(self) -> int:
        """GPUs that pods are told of: one that is shared counts as often as it has pods."""
        return self.gpus * self.pods_per_gpu

    @property
    def gpus_of_a_pod(self) -> int:
        """The most GPUs that a pod can have: one where they are shared. Two turns need not be on two GPUs, and a
        program sees one instance of a GPU, whatever it is given."""
        return self.gpus if self.pods_per_gpu == 1 else 1

    @property
    def fabric_interfaces(self) -> int:
        """Fast interfaces of a node; 0 without a fabric."""
        return self.fabric.interfaces if self.fabric else 0

    @property
    def usd_per_gpu_hour(self) -> float | None:
        """List price, for one hour, of what a pod gets by asking for a GPU; None where it has none."""
        return None if self.usd_per_hour is None else self.usd_per_hour / self.gpus_offered

    @property
    def is_taken_whole(self) -> bool:
        """Whether jobs take a node whole, so that quotas are in nodes."""
        return taken_whole(self.gpus, self.fabric_interfaces, self.pods_per_gpu)


@dataclass(frozen=True, slots=True)
class ReservationPlan:
    """Capacity that is bought already: a `reservation` until it is given back, a `block` for a span of days."""

    id: str  # as the cloud spells it
    kind: ReservationKind
    availability_zone: str
    starts_at: str  # of a block, UTC, "2026-12-01T11:30:00Z"; "" where the stack file does not say
    ends_at: str  # likewise
    empty_at: str  # when its nodes are taken away, before the cloud does it
    open_for_jobs: tuple[int, int] | None  # seconds since the epoch between which the queue sends jobs; None: always


@dataclass(frozen=True, slots=True)
class NodeGroupPlan:
    """How nodes of a pool are bought: one node group, in one capacity.

    `instance_types` has one entry except for spot, where alternatives with the same GPU and GPU count widen the choice.
    `zones` are the network's: one. A group over several is evened out by its autoscaling group, which takes away nodes
    and asks no disruption budget.
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
    whole_nodes_only: bool  # whether jobs are refused whose pods leave GPUs of a node to others

    @property
    def is_shared_out_in_nodes(self) -> bool:
        """Whether teams own whole nodes of it."""
        return self.whole_nodes_only or self.node.is_taken_whole


@dataclass(frozen=True, slots=True)
class FlavorPlan:
    """A Kueue ResourceFlavor: the nodes of one node group."""

    name: str  # equals the node group's name
    pool: str
    capacity: Capacity
    gpus: int  # that the node group holds at most, but those that are kept for notebooks


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
    dry_capacity_minutes: int  # that a flavor without nodes is out of the queues; 0: it stays in


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
    off_peak_queue: str | None  # the ClusterQueue of its work that can wait, which owns nothing; None: there is none
    weight: int  # in fair sharing of what others leave idle: the GPUs that it owns, 1 where it owns none
    cpu_only_cores: int  # of its pods without GPUs, together; GPUs are rationed by the queue alone
    cpu_only_memory_gib: int
    cpu_only_pods: int


@dataclass(frozen=True, slots=True)
class RuntimePlan:
    """The training runtime of a pool with a fabric: a node whole, with an image that can use the fabric."""

    name: str  # of the ClusterTrainingRuntime
    pool: str
    image: str  # by digest; the smoke job's
    cpu: int  # cores that a pod requests
    memory_gib: int  # likewise


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
    level: str  # quick, standard or full: which checks an `up` waits for
    image: str  # by digest
    priority: str
    capacities: tuple[Capacity, ...]  # of a pool, that are proven
    advisory: tuple[Capacity, ...]  # whose jobs `up` starts and does not wait for
    mounts: tuple[tuple[str, str], ...]  # claim -> path, of every training container of the platform
    environment: tuple[tuple[str, str], ...]  # variables of every training container
    pod_annotations: tuple[tuple[str, str], ...]  # that every training pod carries for its volumes to be mounted
    jobs: tuple[SmokeJobPlan, ...]  # one a pool and capacity that is proven; none where the settings turn them off


@dataclass(frozen=True, slots=True)
class MonitoringPlan:
    """What a cluster is watched by; `cpu` and `memory` are Kubernetes quantities of Prometheus."""

    retention_days: int
    storage_gib: int
    cpu: str
    memory: str
    runbooks: str  # the address that the alerts' pages are below, or the folder that they are in
    thresholds: Thresholds
    managed: bool = False  # the cloud's service keeps the figures; Prometheus on the cluster hands them on to it


@dataclass(frozen=True, slots=True)
class DrillPlan:
    """The weekly job that restores a checkpoint. Sizes are its one pod's."""

    team: str  # in whose queue and namespace it runs
    image: str  # by digest
    schedule: str  # cron's words, UTC
    cpu: int
    memory_gib: int
    deadline_s: int


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """The daily look at the teams' own checkpoints. Sizes are those of each of its two pods."""

    teams: tuple[str, ...]  # whose; each has room for it on the nodes without GPUs
    image: str  # by digest
    folder: str  # where the claim of checkpoints is mounted
    schedule: str  # cron's words, UTC
    cpu: int
    memory_gib: int
    deadline_s: int


@dataclass(frozen=True, slots=True)
class FlavorPricePlan:
    """What an hour of one GPU of a flavor counts as."""

    name: str  # the flavor's
    usd: float


@dataclass(frozen=True, slots=True)
class LedgerPlan:
    """By what the ledger counts what teams hold, and what becomes of a team whose budget is spent."""

    gpu_hour_usd: tuple[FlavorPricePlan, ...]  # a flavor without a price is not counted
    hold: bool  # whether the team's LocalQueues are held
    exempt: tuple[str, ...]  # teams that are told, and never held
    node_hour_usd: tuple[tuple[str, float], ...]  # of nodes without GPUs, by instance type
    volume_gib_month_usd: tuple[tuple[str, float], ...]  # by storage class
    drain_after_hours: int | None  # after which held teams' running jobs are evicted; None: they run to their end


@dataclass(frozen=True, slots=True)
class IdleJobsPlan:
    """When a job that does nothing with its GPUs gives them back."""

    after_minutes: int  # in which nothing was computed on any rank
    grace_minutes: int  # between the warning and the eviction


@dataclass(frozen=True, slots=True)
class OffPeakPlan:
    """When work that can wait may start, and on what."""

    start: str  # "20:00"
    end: str  # "07:00"; of the next day where that is no later
    time_zone: str  # "Europe/Berlin"
    flavors: tuple[str, ...]  # reserved nodes, in the order of `SchedulingPlan.flavors`; none: no queue for such work
    sleeping: tuple[str, ...]  # priorities whose jobs are switched off meanwhile


@dataclass(frozen=True, slots=True)
class NotebookProfilePlan:
    """A kind of notebook that people choose from. Sizes are those of its one pod."""

    name: str  # "cpu", or the GPU pool's
    node_group: str  # whose nodes it runs on; "": those for pods without GPUs
    gpu: str  # what it is given one of, for people; "": none
    most: int  # at a time of those with a GPU, which the queues do without; 0: as many as there are people
    cpu: float
    memory_gib: float


@dataclass(frozen=True, slots=True)
class NotebookSignOnPlan:
    """Who may use the notebooks."""

    provider: Literal["github", "oidc"]
    client_id: str
    callback_url: str  # where the provider sends people's browsers back to
    hosts: tuple[str, ...]  # that the hub itself asks
    groups: tuple[str, ...]  # whose members may come in; of GitHub, organisations and ORGANISATION:TEAM
    authorize_url: str  # of OpenID Connect, as the rest; "": GitHub's own
    token_url: str
    userdata_url: str
    person_claim: str
    claim: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotebooksPlan:
    """JupyterHub on a cluster."""

    profiles: tuple[NotebookProfilePlan, ...]
    people: int  # who may have a notebook and a volume at a time
    storage_gib: int  # of a person's volume
    zone: str  # where all notebooks run, because a disk is in one zone; "": wherever there is room
    kernel_idle_minutes: int
    idle_minutes: int
    longest_hours: int
    sign_on: NotebookSignOnPlan


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
    runtimes: tuple[RuntimePlan, ...]  # one a pool with a fabric
    isolated_gpus: bool  # its nodes show a container no GPU that it did not ask for, whatever its variables say
    monitoring: MonitoringPlan | None = None  # None: nothing of the platform's watches it
    drill: DrillPlan | None = None  # None: nobody tries whether checkpoints can be restored
    check: CheckPlan | None = None  # None: nobody looks at the teams' own
    ledger: LedgerPlan | None = None  # None: nothing counts, because nothing watches
    idle_jobs: IdleJobsPlan | None = None  # None: a job keeps its GPUs whatever it does with them
    off_peak: OffPeakPlan | None = None  # None: work that can wait has no hours, and no queue
    notebooks: NotebooksPlan | None = None  # None: there is no JupyterHub

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


def _owned_usd(cluster: ClusterPlan) -> float:
    """USD an hour of the GPUs that teams own at a cluster; what has no price counts as nothing."""
    prices = {price.name: price.usd for price in cluster.ledger.gpu_hour_usd} if cluster.ledger else {}
    quotas = (quota for own in cluster.teams for quota in own.quotas)
    return sum(quota.gpus * prices.get(quota.flavor, 0.0) for quota in quotas)


@dataclass(frozen=True, slots=True)
class Plan(Generic[OnGround]):
    """Everything that was decided for one environment; what knows one cloud only takes a plan of that one's ground."""

    core: Core
    ground: OnGround
    clusters: tuple[ClusterPlan, ...]

    def tracks(self, cluster: ClusterPlan) -> bool:
        """Whether jobs of the cluster have a tracking server.

        It stands on the first cluster and is reached from inside of that one only.
        """
        return self.core.mlflow.enabled and cluster.name == self.clusters[0].name

    def budget_usd_at(self, cluster: ClusterPlan, team: str) -> int:
        """What a team may spend at one of the clusters in a month.

        Each cluster has a ledger of its own, which sees no other's. So a budget is divided among them, by what the
        GPUs of each cost an hour that teams own there, or evenly where nobody owns any; the parts are the whole.
        """
        (whole,) = (one.monthly_budget_usd for one in self.core.teams if one.name == team)
        there = [one for one in self.clusters if one.ledger is not None]
        weights = [_owned_usd(one) for one in there]
        if not sum(weights):
            weights = [1.0 for _ in there]
        ends = [round(whole * sum(weights[:number]) / sum(weights)) for number in range(len(there) + 1)]
        number = [one.name for one in there].index(cluster.name)
        return ends[number + 1] - ends[number]

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and scalars, ready for JSON; pairs become a mapping's entries in their order."""
        return dataclasses.asdict(self)
