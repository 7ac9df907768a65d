"""The plan: everything about an environment that can be decided without a cloud, as frozen data.

`trainyard.plan.plan.make_plan` builds it from the settings, the team-size profile and the catalogue;
`trainyard.stacks.environment.build` spells it out as components. Nothing in here knows of Pulumi.

Every field is a plain value, a tuple or another dataclass of this module, so a plan can be compared,
hashed, written as JSON (`plan.as_dict()`) and kept as a golden file.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.catalog.versions import AddOn, Pins
from trainyard.conventions import Capacity, Cloud


@dataclass(frozen=True, slots=True)
class Decision:
    """One number or choice of the plan, and where it comes from.

    `key` is the path within the plan (`pools.train.spot.max_nodes`), `source` names the setting, the profile
    entry with its own source, or the rule that gave the value.
    """

    key: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Zone:
    """One availability zone of the network with its three subnets (CIDR blocks, disjoint, inside the VPC's)."""

    name: str  # us-east-1a
    public_cidr: str  # NAT gateways only
    private_cidr: str  # nodes and pods
    isolated_cidr: str  # database and file systems; no route to the internet


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The VPC: address ranges, zones, and how it reaches the internet and AWS."""

    cidr: str
    service_cidr: str  # Kubernetes services; outside `cidr`
    zones: tuple[Zone, ...]
    nat_gateways: int  # 1, or one a zone
    gateway_endpoints: tuple[str, ...]  # "s3"
    interface_endpoints: tuple[str, ...]  # "ecr.api", "sts", …
    flow_log_retention_days: int


@dataclass(frozen=True, slots=True)
class SystemNodesPlan:
    """CPU nodes for everything that is not a training job."""

    instance_types: tuple[str, ...]
    min_nodes: int
    max_nodes: int
    disk_gib: int


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """The EKS cluster. Retention in days."""

    kubernetes_version: str  # "1.35"
    public_access_cidrs: tuple[str, ...]  # empty: the endpoint is private only
    admin_principal_arns: tuple[str, ...]  # get AmazonEKSClusterAdminPolicy through an access entry
    log_types: tuple[str, ...]
    log_retention_days: int
    add_ons: tuple[AddOn, ...]
    autoscaler_image_tag: str
    system_nodes: SystemNodesPlan
    deletion_protection: bool


@dataclass(frozen=True, slots=True)
class ReservationPlan:
    """Capacity that is bought already. Kind `odcr`: cr-…; `capacity-block`: cr-… of a Capacity Block."""

    id: str
    kind: Literal["odcr", "capacity-block"]
    availability_zone: str


@dataclass(frozen=True, slots=True)
class NodeGroupPlan:
    """One managed node group: a pool in one capacity.

    `instance_types` has one entry except for spot, where alternatives with the same GPU and GPU count widen
    the choice. `zones` are names of `NetworkPlan.zones`; exactly one where the pool needs a fabric or is reserved.
    """

    name: str  # "train-spot"; unique in the plan
    pool: str
    capacity: Capacity
    instance_types: tuple[str, ...]
    min_nodes: int
    max_nodes: int
    zones: tuple[str, ...]
    placement_group: bool
    reservation: ReservationPlan | None

    def gpus(self, pool: PoolPlan) -> int:
        """GPUs that the node group holds at most."""
        return self.max_nodes * pool.gpus_per_node


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """GPU nodes of one instance family, in up to three capacities."""

    name: str
    purpose: str  # one line for people
    instance_type: str
    gpu: str  # "A100-40GB", as in the catalogue
    gpus_per_node: int
    gpu_memory_gib: float
    vcpus: int
    memory_gib: float
    efa_interfaces: int  # 0: no fabric
    network_cards: int
    local_nvme_gb: int
    root_disk_gib: int
    node_groups: tuple[NodeGroupPlan, ...]  # reserved, spot, on-demand: those that have nodes

    @property
    def fabric(self) -> bool:
        """Whether the nodes talk over Elastic Fabric Adapters, in one zone."""
        return self.efa_interfaces > 0


@dataclass(frozen=True, slots=True)
class FlavorPlan:
    """A Kueue ResourceFlavor: the nodes of one node group."""

    name: str  # equals the node group's name
    pool: str
    capacity: Capacity
    node_labels: tuple[tuple[str, str], ...]
    gpus: int  # that the node group holds at most


@dataclass(frozen=True, slots=True)
class QuotaPlan:
    """A team's nominal quota of one flavor, in GPUs."""

    flavor: str
    gpus: int  # nominal quota


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """A team: its namespace, its ClusterQueue and what it may use without asking the others."""

    name: str
    members: int
    principal_arns: tuple[str, ...]  # IAM roles and users that work in the team's namespace
    share_percent: float
    namespace: str
    cluster_queue: str
    local_queue: str
    quotas: tuple[QuotaPlan, ...]  # one a flavor, in the order of `SchedulingPlan.flavors`
    cpu_limit: int  # namespace ResourceQuota of pods, cores; no GPU quota there, Kueue is the quota
    memory_limit_gib: int
    pods: int
    monthly_budget_usd: int


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


@dataclass(frozen=True, slots=True)
class LustrePlan:
    """FSx for Lustre, PERSISTENT_2 SSD, linked to the data bucket. AWS backs no linked file system up."""

    capacity_gib: int  # 1200, or a multiple of 2400
    throughput_mbps_per_tib: int  # 125, 250, 500, 1000
    zone: str

    @property
    def throughput_mbps(self) -> float:
        """Throughput of the whole file system, MB/s."""
        return self.capacity_gib / 1024 * self.throughput_mbps_per_tib


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """Storage tiers by purpose: data, checkpoints, artifacts."""

    lustre: LustrePlan | None
    shared_file_system: bool  # EFS: home directories and code, where the profile says
    checkpoint_expire_days: int  # superseded checkpoints; the newest is never expired
    checkpoint_keep_versions: int
    multipart_cleanup_days: int
    artifact_retention_days: int  # of superseded versions
    artifact_transition_days: int  # to infrequent access
    protect: bool


@dataclass(frozen=True, slots=True)
class DatabasePlan:
    """PostgreSQL for MLflow."""

    engine_version: str
    instance_class: str
    storage_gib: int
    max_storage_gib: int
    multi_az: bool
    backup_retention_days: int
    deletion_protection: bool


@dataclass(frozen=True, slots=True)
class MlflowPlan:
    """The tracking server; `cpu` and `memory` are Kubernetes quantities a replica."""

    enabled: bool
    replicas: int
    cpu: str
    memory: str
    workers: int
    users: tuple[str, ...]  # one a team


@dataclass(frozen=True, slots=True)
class SmokePlan:
    """The DDP smoke jobs, one a GPU pool and capacity, part of `pulumi up`."""

    enabled: bool
    image: str  # by digest
    team: str  # in whose queue and namespace it runs
    capacities: tuple[Capacity, ...]  # of a pool, that are proven


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """The monthly budget with its alerts; percents are of the budget."""

    monthly_usd: int
    alert_emails: tuple[str, ...]
    actual_percents: tuple[int, ...]
    forecast_percents: tuple[int, ...]
    anomaly_threshold_usd: int
    anomaly_detection: bool  # False in a member account, where AWS refuses a monitor of a tag
    activate_cost_tags: bool  # only once billing has seen the keys, and in the payer account


@dataclass(frozen=True, slots=True)
class IdleFloor:
    """What the environment costs a month with every GPU pool at its minimum."""

    items: tuple[FloorItem, ...]

    @property
    def monthly_usd(self) -> float:
        """The sum of the items, USD a month."""
        return round(sum(item.monthly_usd for item in self.items), 2)


@dataclass(frozen=True, slots=True)
class FloorItem:
    """One part of the idle floor, in USD a month, with the price's source."""

    what: str
    monthly_usd: float
    source: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole environment."""

    client: str
    environment: str  # "production"
    name: str  # "<client>-<environment>": the prefix of what needs a fixed name
    stack: str
    cloud: Cloud
    region: str
    profile: Literal["small", "medium", "large"]
    team_size: int
    account_id: str | None
    tags: tuple[tuple[str, str], ...]  # on every resource: client, environment, team, cost-centre, owner, managed-by
    network: NetworkPlan
    cluster: ClusterPlan
    pools: tuple[PoolPlan, ...]
    scheduling: SchedulingPlan
    teams: tuple[TeamPlan, ...]
    storage: StoragePlan
    database: DatabasePlan
    mlflow: MlflowPlan
    smoke: SmokePlan
    budget: BudgetPlan
    idle_floor: IdleFloor
    pins: Pins
    protect: bool
    create_autoscaling_role: bool  # in an account that never ran Auto Scaling; a key policy has to name the role
    decisions: tuple[Decision, ...]

    @property
    def node_groups(self) -> tuple[NodeGroupPlan, ...]:
        """The node groups of all pools, in order."""
        return tuple(group for pool in self.pools for group in pool.node_groups)

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and scalars, ready for JSON; pairs become a mapping's entries in their order."""
        return dataclasses.asdict(self)
