"""Settings: every key that a stack file may hold.

Keys are camelCase in the stack file and declared in `Pulumi.yaml`; a test holds both lists equal. What a value may be
is checked here a field at a time; what must fit together is checked by `cross_checks` and by the planner.
`trainyard.plan.resolve` runs all of it and reports every mistake at once.

Where a key is left out, the team-size profile decides (`trainyard/plan/profiles`), with a source for every number.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from trainyard.catalog.residency import residency_regions
from trainyard.conventions import CAPACITIES, Capacity
from trainyard.plan.request import (
    DatabaseRequest,
    LustreRequest,
    MlflowRequest,
    NetworkRequest,
    PlanRequest,
    PoolRequest,
    RangeRequest,
    ReservedRequest,
    SchedulingRequest,
    SmokeRequest,
    StorageRequest,
    SystemNodesRequest,
    TeamRequest,
)
from trainyard.problems import Problem

_PRIVATE = tuple(
    ipaddress.IPv4Network(cidr)
    for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16")
)


def _matching(pattern: str, allowed: str, most: int | None = None) -> Callable[[str], str]:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value) or (most is not None and len(value) > most):
            raise ValueError(allowed)
        return value

    return check


def _network(value: str) -> str:
    try:
        ipaddress.IPv4Network(value, strict=True)
    except ValueError:
        raise ValueError("must be an IPv4 network without host bits, like 10.20.0.0/16") from None
    return value


def _public_network(value: str) -> str:
    network = ipaddress.IPv4Network(_network(value))
    if network.prefixlen < 8:
        raise ValueError("must be narrower than /8: an endpoint open to the internet is refused")
    if any(network.overlaps(private) for private in _PRIVATE):
        raise ValueError("the internet reaches no private address; name the public ones of your offices and runners")
    return value


def _text(value: object) -> object:
    """Versions and account ids are text even where YAML made a number of them."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Name = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[a-z]([a-z0-9-]*[a-z0-9])?",
            "must be lower-case letters, digits and '-', begin with a letter, at most 20 long",
            20,
        )
    ),
]
Email = Annotated[str, AfterValidator(_matching(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+", "must be an e-mail address"))]
Label = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[\w][\w .:/=+@-]{0,99}", "must be 1 to 100 letters, digits, spaces or . : / = + - @ _ (it becomes a tag)"
        )
    ),
]
Cidr = Annotated[str, AfterValidator(_network)]
PublicCidr = Annotated[str, AfterValidator(_public_network)]
Principal = Annotated[
    str,
    AfterValidator(
        _matching(r"arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/\S+", "must be the ARN of an IAM role or user")
    ),
]
Image = Annotated[
    str,
    AfterValidator(_matching(r"\S+@sha256:[0-9a-f]{64}", "must be pinned by its digest, like repository:tag@sha256:…")),
]
Nodes = Annotated[int, Field(ge=0, le=1000)]
Days = Annotated[int, Field(ge=1, le=3650)]
Quantity = Annotated[
    str, AfterValidator(_matching(r"[0-9]+(\.[0-9]+)?(m|[KMGT]i?)?", "must be a Kubernetes quantity, like 500m or 4Gi"))
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=False)


class Team(_Model):
    """A group of people with a namespace, a queue and a share of the GPUs."""

    name: Name
    members: int = Field(ge=1, le=10_000)
    share: Annotated[float, Field(gt=0, le=100)] | None = None
    """Percent of the GPUs; every team has one and they add up to 100, or none has and members decide."""
    principals: list[Principal] = []
    """IAM roles and users that may submit jobs in the team's namespace and see its pods."""

    def request(self) -> TeamRequest:
        """The team as the planner knows it."""
        return TeamRequest(self.name, self.members, self.share, tuple(self.principals))


class NodeRange(_Model):
    """A node group that the autoscaler moves between two sizes, in nodes."""

    min_nodes: Nodes | None = None
    max_nodes: Nodes | None = None

    def request(self) -> RangeRequest:
        """The range as the planner knows it."""
        return RangeRequest(self.min_nodes, self.max_nodes)


class SpotNodes(NodeRange):
    """Spot nodes; alternatives must have the pool's GPU and GPU count."""

    instance_types: list[str] | None = None


class Reserved(_Model):
    """Capacity that is bought already: an On-Demand Capacity Reservation or a Capacity Block."""

    reservation_id: Annotated[str, AfterValidator(_matching(r"cr-[0-9a-f]{17}", "must look like cr-0123456789abcdef0"))]
    kind: Literal["odcr", "capacity-block"] = "odcr"
    nodes: int = Field(ge=1, le=1000)
    """Instances in the reservation."""
    max_nodes: int | None = Field(default=None, ge=1)
    """Nodes to use of it; all by default."""
    availability_zone: str

    def request(self) -> ReservedRequest:
        """The reservation as the planner knows it."""
        return ReservedRequest(self.reservation_id, self.nodes, self.availability_zone, self.kind, self.max_nodes)


class GpuPool(_Model):
    """Overrides of one of the profile's pools, or a pool of its own."""

    enabled: bool = True
    purpose: str | None = Field(default=None, max_length=200)
    gpu: str | None = None
    instance_type: str | None = None
    fabric: bool | None = None
    """Elastic Fabric Adapter interfaces and one zone; by default where the instance is made for it."""
    zone: str | None = None
    """The zone of a pool with a fabric; its reservation's zone, or the first that has the instance, by default."""
    reserved: Reserved | None = None
    spot: SpotNodes | None = None
    on_demand: NodeRange | None = None
    root_disk_gib: int | None = Field(default=None, ge=50, le=16_384)

    def request(self) -> PoolRequest:
        """The pool as the planner knows it."""
        types = self.spot.instance_types if self.spot else None
        return PoolRequest(
            enabled=self.enabled,
            instance_type=self.instance_type,
            gpu=self.gpu,
            purpose=self.purpose,
            fabric=self.fabric,
            zone=self.zone,
            root_disk_gib=self.root_disk_gib,
            reserved=self.reserved.request() if self.reserved else None,
            spot=self.spot.request() if self.spot else None,
            on_demand=self.on_demand.request() if self.on_demand else None,
            spot_instance_types=tuple(types) if types is not None else None,
        )


class Lustre(_Model):
    """The fast data tier: FSx for Lustre linked to the data bucket."""

    enabled: bool | None = None
    capacity_gib: int | None = None
    throughput_mbps_per_tib: int | None = None
    zone: str | None = None


class Storage(_Model):
    """Overrides of the storage tiers."""

    lustre: Lustre = Lustre()
    shared_file_system: bool | None = None
    checkpoint_expire_days: Days | None = None
    checkpoint_keep_versions: int | None = Field(default=None, ge=1, le=100)
    multipart_cleanup_days: Days | None = None
    artifact_retention_days: int | None = Field(default=None, ge=30, le=3650)
    artifact_transition_days: int | None = Field(default=None, ge=30, le=3650)

    def request(self) -> StorageRequest:
        """The tiers as the planner knows them."""
        return StorageRequest(lustre=LustreRequest(**self.lustre.model_dump()), **self.model_dump(exclude={"lustre"}))


class Scheduler(_Model):
    """Overrides of the queues."""

    pods_ready_timeout_minutes: int | None = Field(default=None, ge=5, le=240)
    requeue_limit: int | None = Field(default=None, ge=0, le=100)
    priorities: dict[Name, Annotated[int, Field(ge=0, le=1_000_000)]] | None = None

    def request(self) -> SchedulingRequest:
        """The queues' settings as the planner knows them."""
        return SchedulingRequest(**self.model_dump())


class Database(_Model):
    """Overrides of the tracking server's PostgreSQL database."""

    instance_class: (
        Annotated[str, AfterValidator(_matching(r"db\.[a-z0-9]+\.[a-z0-9]+", "must look like db.t4g.medium"))] | None
    ) = None
    storage_gib: int | None = Field(default=None, ge=20, le=65_536)
    max_storage_gib: int | None = Field(default=None, ge=20, le=65_536)
    multi_az: bool | None = None
    backup_retention_days: int | None = Field(default=None, ge=1, le=35)


class Mlflow(_Model):
    """Overrides of the MLflow server and its database."""

    enabled: bool | None = None
    replicas: int | None = Field(default=None, ge=1, le=10)
    cpu: Quantity | None = None
    memory: Quantity | None = None
    workers: int | None = Field(default=None, ge=1, le=32)
    database: Database = Database()

    def request(self) -> MlflowRequest:
        """The server's settings as the planner knows them."""
        return MlflowRequest(
            database=DatabaseRequest(**self.database.model_dump()), **self.model_dump(exclude={"database"})
        )


class Network(_Model):
    """Address ranges and zones of the VPC."""

    cidr: Cidr | None = None
    service_cidr: Cidr | None = None
    reserved_cidrs: list[Cidr] = []
    """Ranges in use elsewhere (offices, peered networks), which the VPC must not overlap."""
    zones: list[str] | None = None
    nat_per_zone: bool | None = None
    flow_log_retention_days: int | None = None

    def request(self) -> NetworkRequest:
        """The network's settings as the planner knows them."""
        return NetworkRequest(
            vpc_cidr=self.cidr,
            service_cidr=self.service_cidr,
            reserved_cidrs=tuple(self.reserved_cidrs),
            zones=tuple(self.zones) if self.zones is not None else None,
            nat_per_zone=self.nat_per_zone,
            flow_log_retention_days=self.flow_log_retention_days,
        )


class SystemNodes(_Model):
    """Overrides of the CPU nodes that run everything but training."""

    instance_types: list[str] | None = Field(default=None, min_length=1)
    min_nodes: int | None = Field(default=None, ge=1, le=100)
    max_nodes: int | None = Field(default=None, ge=1, le=100)
    disk_gib: int | None = Field(default=None, ge=20, le=16_384)

    def request(self) -> SystemNodesRequest:
        """The nodes as the planner knows them."""
        values = self.model_dump()
        types = values.pop("instance_types")
        return SystemNodesRequest(instance_types=tuple(types) if types else None, **values)


class BudgetAlerts(_Model):
    """Overrides of the budget's alerts."""

    anomaly_threshold_usd: int | None = Field(default=None, ge=1)
    anomaly_detection: bool | None = None
    """False in a member account of an AWS organisation: only its management account may monitor a tag for anomalies."""
    activate_cost_tags: bool | None = None
    """Only in the payer account, and only once billing has seen the tags (about a day)."""


class Smoke(_Model):
    """The DDP smoke job that proves every GPU pool as part of `pulumi up`."""

    enabled: bool = True
    image: Image | None = None
    """For all pools, in place of the pinned one; on a pool with a fabric it must hold the fabric's NCCL plugin."""
    team: Name | None = None
    """In whose queue and namespace it runs; the first team's by default."""
    capacities: list[Capacity] = list(CAPACITIES)
    """Which of a pool's capacities are proven, each by a job of its own; all by default. Spot that is not to be had
    fails the `up`."""

    def request(self) -> SmokeRequest:
        """The job's settings as the planner knows them."""
        return SmokeRequest(
            enabled=self.enabled,
            image=self.image,
            team=self.team,
            capacities=tuple(dict.fromkeys(self.capacities)),
        )


class PolicyException(_Model):
    """A violation that is accepted for a while."""

    policy: str
    resource: str
    """A glob on the URN, on the logical name, or on component/name; `*` for what concerns the whole stack."""
    reason: Annotated[str, Field(min_length=10, max_length=500)]
    owner: Label
    expires: datetime.date
    """The last day of the exception; after it, the exception itself is a violation."""


class Settings(_Model):
    """An environment's settings, as its author wrote them."""

    client: Name
    cloud: Literal["aws"]
    region: str
    environment: Name | None = None
    team_size: int | None = Field(default=None, ge=1, le=10_000)
    profile: Literal["small", "medium", "large"] | None = None
    teams: list[Team] = []
    gpu_pools: dict[Name, GpuPool] = {}
    monthly_budget_usd: int | None = Field(default=None, ge=1)
    alert_emails: list[Email] = Field(default=[], max_length=10)
    budget: BudgetAlerts = BudgetAlerts()
    owner: Label | None = None
    cost_centre: Label | None = None
    residency: Literal["none", "eu", "uae", "us", "uk", "india"] = "none"
    storage: Storage = Storage()
    scheduler: Scheduler = Scheduler()
    mlflow: Mlflow = Mlflow()
    smoke: Smoke = Smoke()
    policy_exceptions: list[PolicyException] = []
    network: Network = Network()
    system_nodes: SystemNodes = SystemNodes()
    kubernetes_version: Annotated[str, BeforeValidator(_text)] | None = None
    endpoint_access: list[PublicCidr] = Field(default=[], max_length=40)
    admin_principals: list[Principal] = []
    log_retention_days: int | None = None
    protect: bool = True
    create_autoscaling_role: bool = False
    aws_account_id: (
        Annotated[str, BeforeValidator(_text), AfterValidator(_matching(r"[0-9]{12}", "must be 12 digits, in quotes"))]
        | None
    ) = None

    def request(self, stack: str) -> PlanRequest:
        """What the planner is asked for. What only the settings can default (owner, environment) is filled in."""
        return PlanRequest(
            client=self.client,
            environment=self.environment or stack,
            stack=stack,
            cloud=self.cloud,
            region=self.region,
            account_id=self.aws_account_id,
            profile=self.profile,
            team_size=self.team_size,
            teams=tuple(team.request() for team in self.teams),
            pools={name: pool.request() for name, pool in self.gpu_pools.items()},
            monthly_budget_usd=self.monthly_budget_usd,
            alert_emails=tuple(self.alert_emails),
            anomaly_threshold_usd=self.budget.anomaly_threshold_usd,
            anomaly_detection=self.budget.anomaly_detection,
            activate_cost_tags=self.budget.activate_cost_tags,
            owner=self.owner or self.client,
            cost_centre=self.cost_centre or self.client,
            kubernetes_version=self.kubernetes_version,
            public_access_cidrs=tuple(self.endpoint_access),
            admin_principal_arns=tuple(self.admin_principals),
            network=self.network.request(),
            system_nodes=self.system_nodes.request(),
            storage=self.storage.request(),
            mlflow=self.mlflow.request(),
            scheduling=self.scheduler.request(),
            smoke=self.smoke.request(),
            log_retention_days=self.log_retention_days,
            allowed_regions=residency_regions(self.residency),
            protect=self.protect,
            create_autoscaling_role=self.create_autoscaling_role,
        )


def cross_checks(settings: Settings) -> Iterator[Problem]:
    """What no single field can tell: what the settings say of the people must fit together."""
    if settings.team_size is None and settings.profile is None and not settings.teams:
        yield Problem("teamSize", "nothing", "give teamSize (people), or profile, or teams with their members")
    yield from _team_checks(settings)
    for index, cidr in enumerate(settings.endpoint_access):
        for other in settings.endpoint_access[:index]:
            if ipaddress.IPv4Network(cidr).overlaps(ipaddress.IPv4Network(other)):
                yield Problem(
                    f"endpointAccess[{index}]", cidr, f"must not overlap {other}, which is in the list already"
                )


def _team_checks(settings: Settings) -> Iterator[Problem]:
    teams = settings.teams
    for name, times in Counter(team.name for team in teams).items():
        if times > 1:
            yield Problem("teams", f"{times} teams of the name {name}", "every team needs a name of its own")
    members = sum(team.members for team in teams)
    if settings.team_size is not None and members > settings.team_size:
        yield Problem(
            "teams",
            f"{members} members in all",
            f"must be at most teamSize, which is {settings.team_size}",
            "raise teamSize",
        )
    shares = [team.share for team in teams if team.share is not None]
    if shares and len(shares) < len(teams):
        without = ", ".join(team.name for team in teams if team.share is None)
        yield Problem(
            "teams", f"no share for {without}", "give every team a share (percent), or none and members decide"
        )
    elif shares and abs(sum(shares) - 100) > 0.01:
        yield Problem("teams", f"shares that add up to {sum(shares):g}", "shares are percent and must add up to 100")
