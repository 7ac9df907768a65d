"""What the sizing is asked for: a stack file's settings, resolved to plain values.

`trainyard.settings.model` writes a `PlanRequest`; the sizing must not know of settings, so that it stays pure. Problems
that `make_plan` finds name keys as the stack file spells them (camelCase), built from the names given here.
`None` always means "the profile decides".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trainyard.conventions import CAPACITIES, Capacity

ProfileName = Literal["small", "medium", "large"]


@dataclass(frozen=True, slots=True)
class TeamRequest:
    """A team that shares the environment. Shares are percent of every pool; given for all teams or for none."""

    name: str  # a DNS label
    members: int
    share_percent: float | None = None
    principal_arns: tuple[str, ...] = ()  # IAM roles and users of the members


@dataclass(frozen=True, slots=True)
class ReservedRequest:
    """Capacity that is bought already. `nodes` is the size of the reservation, `max_nodes` what the pool uses."""

    id: str  # cr-…
    nodes: int
    availability_zone: str  # us-east-1a
    kind: Literal["odcr", "capacity-block"] = "odcr"
    max_nodes: int | None = None  # None: all of it


@dataclass(frozen=True, slots=True)
class RangeRequest:
    """How few and how many nodes of one capacity. `max_nodes` 0 takes the capacity away."""

    min_nodes: int | None = None
    max_nodes: int | None = None


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """What the stack file says of one GPU pool.

    A name that the profile has overrides its fields, a new name adds a pool (`instance_type` or `gpu` needed),
    `enabled=False` takes the profile's pool away. `gpu` alone picks the cheapest instance with that GPU and the
    profile's GPU count where the profile has the pool.
    """

    enabled: bool = True
    instance_type: str | None = None
    gpu: str | None = None  # "A100-40GB", "L40S", … as in the catalogue
    purpose: str | None = None
    fabric: bool | None = None  # None: as the profile; a new pool has one where the instance is made for it
    zone: str | None = None  # of a pool with a fabric; None: the reservation's, else the first that sells the type
    root_disk_gib: int | None = None
    reserved: ReservedRequest | None = None
    spot: RangeRequest | None = None
    on_demand: RangeRequest | None = None
    spot_instance_types: tuple[str, ...] | None = None  # alternatives besides the pool's own type; () for none


@dataclass(frozen=True, slots=True)
class LustreRequest:
    """FSx for Lustre: 1200, 2400 or a multiple of 2400 GiB; 125, 250, 500 or 1000 MB/s per TiB."""

    enabled: bool | None = None
    capacity_gib: int | None = None
    throughput_mbps_per_tib: int | None = None
    zone: str | None = None  # None: the zone of the first pool with a fabric


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """Overrides of the storage tiers; retention in days."""

    lustre: LustreRequest = field(default_factory=LustreRequest)
    shared_file_system: bool | None = None
    checkpoint_expire_days: int | None = None
    checkpoint_keep_versions: int | None = None
    multipart_cleanup_days: int | None = None
    artifact_retention_days: int | None = None
    artifact_transition_days: int | None = None


@dataclass(frozen=True, slots=True)
class DatabaseRequest:
    """Overrides of the tracking server's PostgreSQL; sizes in GiB."""

    instance_class: str | None = None  # db.t4g.medium
    storage_gib: int | None = None
    max_storage_gib: int | None = None
    multi_az: bool | None = None
    backup_retention_days: int | None = None


@dataclass(frozen=True, slots=True)
class MlflowRequest:
    """Overrides of the tracking server."""

    enabled: bool | None = None
    replicas: int | None = None
    cpu: str | None = None  # Kubernetes quantity
    memory: str | None = None  # Kubernetes quantity
    workers: int | None = None
    database: DatabaseRequest = field(default_factory=DatabaseRequest)


@dataclass(frozen=True, slots=True)
class SmokeRequest:
    """The smoke jobs: one a GPU pool and capacity."""

    enabled: bool = True
    image: str | None = None  # by digest; None: the pinned one
    team: str | None = None  # None: the first
    capacities: tuple[Capacity, ...] = CAPACITIES  # that are proven


@dataclass(frozen=True, slots=True)
class SchedulingRequest:
    """Overrides of the queues."""

    pods_ready_timeout_minutes: int | None = None
    requeue_limit: int | None = None
    priorities: Mapping[str, int] | None = None  # name -> value; overrides or adds to the profile's


@dataclass(frozen=True, slots=True)
class SystemNodesRequest:
    """Overrides of the CPU nodes for everything but training."""

    instance_types: tuple[str, ...] | None = None
    min_nodes: int | None = None
    max_nodes: int | None = None
    disk_gib: int | None = None


@dataclass(frozen=True, slots=True)
class NetworkRequest:
    """Overrides of address ranges, zones and gateways."""

    vpc_cidr: str | None = None  # /16 to /20
    service_cidr: str | None = None
    reserved_cidrs: tuple[str, ...] = ()  # networks that the VPC will be connected with
    zones: tuple[str, ...] | None = None  # names of at least two zones of the region
    nat_per_zone: bool | None = None
    flow_log_retention_days: int | None = None


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Everything `make_plan` needs. `profile` wins over `team_size`; without both the teams' members are added."""

    client: str
    environment: str
    stack: str
    region: str
    owner: str
    cost_centre: str
    teams: tuple[TeamRequest, ...]
    cloud: str = "aws"
    account_id: str | None = None
    profile: str | None = None
    team_size: int | None = None
    pools: Mapping[str, PoolRequest] = field(default_factory=dict)
    monthly_budget_usd: int | None = None
    alert_emails: tuple[str, ...] = ()
    anomaly_threshold_usd: int | None = None
    anomaly_detection: bool | None = None
    activate_cost_tags: bool | None = None
    kubernetes_version: str | None = None
    public_access_cidrs: tuple[str, ...] = ()
    admin_principal_arns: tuple[str, ...] = ()
    network: NetworkRequest = field(default_factory=NetworkRequest)
    system_nodes: SystemNodesRequest = field(default_factory=SystemNodesRequest)
    storage: StorageRequest = field(default_factory=StorageRequest)
    mlflow: MlflowRequest = field(default_factory=MlflowRequest)
    scheduling: SchedulingRequest = field(default_factory=SchedulingRequest)
    smoke: SmokeRequest = field(default_factory=SmokeRequest)
    log_retention_days: int | None = None
    allowed_regions: tuple[str, ...] = ()  # residency; empty: any
    protect: bool = True
    create_autoscaling_role: bool = False
