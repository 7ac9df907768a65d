"""Settings: every key that a stack file may hold, with its description.

Keys are camelCase in the stack file. `Pulumi.yaml` declares the same keys with the same descriptions, written from
these models (`declarations`). What a value may be is checked here a field at a time; what must fit together is checked
by `cross_checks` and by the planner. `read` reads a stack's configuration and reports every mistake at once.

Where a key is left out, the team-size profile decides (`trainyard/plan/profiles`), with a source for every number. What
only one cloud understands stands in the block that is named after it.
"""

import ipaddress
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from trainyard.catalog.versions import image_pins
from trainyard.conventions import CPU_POOL, NOBODYS, SYSTEM_POOL
from trainyard.problems import Problem, some_of
from trainyard.settings.api_access import ApiAccess, api_access_checks
from trainyard.settings.audit import Audit
from trainyard.settings.aws import Aws
from trainyard.settings.clouds import cloud_advice, cloud_checks
from trainyard.settings.existing_network import existing_network_checks
from trainyard.settings.gcp import Gcp
from trainyard.settings.managed import Managed
from trainyard.settings.monitoring import Monitoring
from trainyard.settings.notebooks import Notebooks
from trainyard.settings.off_peak import OffPeak
from trainyard.settings.operations import (
    BudgetAlerts,
    Charts,
    IdleJobs,
    Images,
    Mlflow,
    PolicyException,
    Scheduler,
    Smoke,
    Storage,
    TeamBudgets,
)
from trainyard.settings.people import Team
from trainyard.settings.pools import CpuPool, GpuPool, SystemNodes
from trainyard.settings.principals import principal_checks
from trainyard.settings.shared_network import shared_network_advice, shared_network_checks
from trainyard.settings.switches import switch_advice, switch_checks
from trainyard.settings.types import (
    Cidr,
    DomainName,
    Email,
    Label,
    Model,
    Name,
    StateBackend,
    TextLikeNumber,
    is_private,
    matching,
    not_private,
)
from trainyard.settings.way_out import way_out_checks


class Egress(Model):
    """Where pods of teams may go outside of the network; the object store's own region they always may."""

    mode: Literal["allowlist", "internet"] | None = Field(
        default=None,
        description="HTTPS to the names in `allow` through a proxy, or to everywhere; allowlist by default",
    )
    allow: list[DomainName] | None = Field(
        default=None,
        max_length=500,
        description="domain names; .hf.co is the name and all below it. PyPI, PyTorch and Hugging Face by default",
    )


class Network(Model):
    """Address ranges and zones of the environment's network."""

    cidr: Cidr | None = Field(
        default=None, description="addresses of nodes and pods, /16 to /20; on Google Cloud /12 to /18"
    )
    service_cidr: Cidr | None = Field(default=None, description="addresses of Kubernetes services")
    reserved_cidrs: list[Cidr] = Field(
        default=[], description="ranges in use elsewhere (offices, peered networks), which it must not overlap"
    )
    zones: list[str] | None = Field(default=None, description="names of the zones, at least two")
    egress: Egress = Field(default=Egress(), description="where pods of teams may go outside of the network")


class Settings(Model):
    """An environment's settings, as its author wrote them."""

    client: Name = Field(
        description=(
            "Who the environment is for. Lower-case letters, digits and '-', at most 20; part of names and tags."
        )
    )
    cloud: Literal["aws", "gcp"] = Field(description="The cloud: aws, or gcp for Google Cloud.")
    region: str = Field(description="The cloud's region, like us-east-1.")
    environment: Name | None = Field(
        default=None, description="What the environment is for, like production. The stack's name by default."
    )
    team_size: int | None = Field(
        default=None, ge=1, le=10_000, description="How many people train models, a whole number. Picks the profile."
    )
    profile: Literal["small", "medium", "large"] | None = Field(
        default=None, description="The team-size profile (small, medium, large), where teamSize shall not pick it."
    )
    assurance: Literal["standard", "high"] | None = Field(
        default=None,
        description=(
            "Where money buys safety or speed (standard, high): high has a standby of the database, AWS's endpoints "
            "in every zone and a fast data tier. Each can be set by itself."
        ),
    )
    teams: list[Team] = Field(
        default=[], description="The groups that share the GPUs. One team of everybody by default."
    )
    gpu_pools: dict[Name, GpuPool] = Field(default={}, description="GPU pools by name, over the profile's.")
    monthly_budget_usd: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="The budget in US dollars a month, a whole number. The profile's by default.",
    )
    alert_emails: list[Email] = Field(
        default=[], max_length=10, description="Who is told when the budget runs out, at most 10 addresses."
    )
    budget: BudgetAlerts = Field(default=BudgetAlerts(), description="The budget's alerts.")
    team_budgets: TeamBudgets = Field(
        default=TeamBudgets(), description="What happens at the queue when a team's part of the budget is spent."
    )
    idle_jobs: IdleJobs = Field(
        default=IdleJobs(), description="What happens to jobs that hold GPUs and do nothing with them."
    )
    off_peak: OffPeak = Field(
        default=OffPeak(),
        description="Hours in which work that can wait runs on idle reserved nodes, and development may sleep.",
    )
    notebooks: Notebooks = Field(
        default=Notebooks(), description="Notebooks on the cluster, by JupyterHub, which ends what nobody uses."
    )
    owner: Label | None = Field(
        default=None, description="Who answers for the environment; a tag. The client by default."
    )
    cost_centre: Label | None = Field(
        default=None, description="What the environment is charged to; a tag. The client by default."
    )
    residency: Literal["none", "eu", "uae", "us", "uk", "india"] = Field(
        default="none",
        description="Where data may be kept (none, eu, uae, us, uk, india). Other regions are refused.",
    )
    state_backend: StateBackend | None = Field(
        default=None,
        description=(
            "Where Pulumi keeps the stack's state (PULUMI_BACKEND_URL), where Pulumi.yaml does not say. Compared with "
            "residency."
        ),
    )
    state_region: (
        Annotated[str, matching(r"[a-z]{2,12}(-[a-z]+)+-?[0-9]{1,2}", "must be a region, like europe-west4")] | None
    ) = Field(
        default=None,
        description="Region of the state's bucket or host where its URL does not say, as gs:// does not, for residency",
    )
    storage: Storage = Field(default=Storage(), description="The storage tiers.")
    scheduler: Scheduler = Field(default=Scheduler(), description="The queues.")
    mlflow: Mlflow = Field(default=Mlflow(), description="The MLflow server.")
    smoke: Smoke = Field(default=Smoke(), description="The DDP smoke jobs, one a GPU pool and capacity.")
    managed: Managed = Field(default=Managed(), description="Managed training, in place of a cluster or beside it.")
    images: Images = Field(default=Images(), description="Where container images come from.")
    charts: Charts = Field(default=Charts(), description="Where Helm charts come from.")
    audit: Audit = Field(default=Audit(), description="The record of what happened, and who is told.")
    monitoring: Monitoring = Field(
        default=Monitoring(), description="What every cluster is watched by, and its alerts."
    )
    policy_exceptions: list[PolicyException] = Field(default=[], description="Violations accepted for a while.")
    network: Network = Field(default=Network(), description="Address ranges and zones of the network.")
    system_nodes: SystemNodes = Field(
        default=SystemNodes(), description="The CPU nodes that run the platform's own pods."
    )
    cpu_pool: CpuPool = Field(
        default=CpuPool(), description="The CPU nodes that run people's pods without GPUs, from none up."
    )
    kubernetes_version: TextLikeNumber | None = Field(
        default=None, description='The cluster\'s minor version, in quotes, like "1.35".'
    )
    api_access: ApiAccess = Field(default=ApiAccess(), description="From where the cluster's API is reached.")
    stage: Literal["account", "cluster"] = Field(
        default="cluster",
        description=(
            "How far the environment is made: `account` makes network, keys, storage and budget and no cluster, for a "
            "first `up` whose network has to be joined to yours before the API is reached; `cluster` makes everything."
        ),
    )
    log_retention_days: int | None = Field(default=None, description="How long the cluster's logs are kept, in days.")
    protect: bool = Field(
        default=True,
        description="Protects what holds data (keys, buckets, database, file systems) from deletion.",
    )
    aws: Aws = Field(default=Aws(), description="What only AWS understands.")
    gcp: Gcp = Field(default=Gcp(), description="What only Google Cloud understands.")


def cross_checks(settings: Settings) -> Iterator[Problem]:
    """What no single field can tell: what the settings say of people, money and networks must fit together."""
    if settings.team_size is None and settings.profile is None and not settings.teams:
        yield Problem("teamSize", "nothing", "give teamSize (people), or profile, or teams with their members")
    yield from cloud_checks(settings)
    yield from _team_checks(settings)
    yield from principal_checks(settings)
    yield from _audit_checks(settings)
    yield from switch_checks(settings)
    if settings.cloud == "aws":  # elsewhere it is not read, and says so
        yield from api_access_checks(settings.api_access)
    yield from existing_network_checks(settings)
    yield from shared_network_checks(settings)
    yield from way_out_checks(settings)
    yield from _address_checks(settings)
    for name, whose in ((SYSTEM_POOL, "the platform's own pods"), (CPU_POOL, "people's pods without GPUs")):
        if name in settings.gpu_pools:
            allowed = f"is the name of the nodes without GPUs that run {whose}"
            yield Problem(f"gpuPools.{name}", "a GPU pool", allowed, "take another name")


def advice(settings: Settings) -> Iterator[str]:
    """What works and is seldom meant, a line each."""
    yield from cloud_advice(settings)
    yield from shared_network_advice(settings)
    yield from switch_advice(settings)
    unread = any(pin.name == "mlflow" and pin.read is None for pin in image_pins())
    own = settings.mlflow
    if settings.assurance == "high" and own.enabled is not False and own.image is None and unread:
        yield (
            "mlflow.image is not set: the public image is a private person's, and nobody has read its digest from its "
            "registry; with assurance: high, name one of your own by digest (images/mlflow builds it)"
        )
    if settings.network.cidr is None:
        return
    network = ipaddress.IPv4Network(settings.network.cidr)
    if not is_private(network):
        yield f"network.cidr {not_private(network)}"
    elif network.overlaps(ipaddress.IPv4Network("172.17.0.0/16")):
        yield f"network.cidr {network} overlaps 172.17.0.0/16, which Docker and some services of AWS use inside a host"


def _address_checks(settings: Settings) -> Iterator[Problem]:
    """An alert is sent once: AWS refuses a second subscriber of one address."""
    first: dict[str, int] = {}
    for index, address in enumerate(settings.alert_emails):
        other = first.setdefault(address.casefold(), index)
        if other != index:
            yield Problem(f"alertEmails[{index}]", address, f"must not be there twice; it is alertEmails[{other}] too")


def _team_checks(settings: Settings) -> Iterator[Problem]:
    teams = settings.teams
    for name, times in Counter(team.name for team in teams).items():
        if times > 1:
            yield Problem("teams", f"{times} teams of the name {name}", "every team needs a name of its own")
    for index, team in enumerate(teams):
        if team.name == NOBODYS:
            yield Problem(f"teams[{index}].name", team.name, "is how tags and costs name what no team has alone")
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
        without = some_of([team.name for team in teams if team.share is None])
        yield Problem(
            "teams", f"no share for {without}", "give every team a share (percent), or none and members decide"
        )
    elif shares and abs(sum(shares) - 100) > 0.01:
        yield Problem("teams", f"shares that add up to {sum(shares):g}", "shares are percent and must add up to 100")


def _audit_checks(settings: Settings) -> Iterator[Problem]:
    """What the stack does not record itself is somebody else's task, and the file says whose and why."""
    audit = settings.audit
    for key, part in (("audit.trail", audit.trail), ("audit.threatDetection", audit.threat_detection)):
        for unread in sorted(part.model_fields_set - {"by", "reason", "runtime"}) if part.by != "stack" else ():
            allowed = f"is read only where {key}.by is stack, and it is {part.by}"
            yield Problem(f"{key}.{to_camel(unread)}", str(getattr(part, unread)), allowed, "leave it out")
        if part.by != "stack" and part.reason is None:
            yield Problem(f"{key}.reason", "nothing", f"must say why {key}.by is {part.by}, in ten characters or more")
    if audit.container_logs.enabled is False and audit.container_logs.retention_days is not None:
        days = str(audit.container_logs.retention_days)
        allowed = "is read only where audit.containerLogs.enabled is true"
        yield Problem("audit.containerLogs.retentionDays", days, allowed, "leave it out")
    if audit.threat_detection.runtime and audit.threat_detection.by != "stack":
        allowed = f"needs audit.threatDetection.by: stack, which is {audit.threat_detection.by}: whose it is decides"
        yield Problem("audit.threatDetection.runtime", "true", allowed)
    if audit.break_glass.principals and audit.trail.by == "none":
        allowed = "needs a trail: without one nobody is told that the role was taken"
        yield Problem("audit.breakGlass.principals", "IAM users", allowed, "set audit.trail.by to stack")
