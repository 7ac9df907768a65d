"""Settings: storage, queues, tracking, the smoke job, alerts, exceptions from policies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainyard.conventions import CAPACITIES, Capacity
from trainyard.conventions.aws import CACHE_SECRET
from trainyard.settings.types import Cores, Date, Days, Image, Label, Memory, Model, Name, StandIn, matching


class Lustre(Model):
    """The fast data tier: a Lustre file system linked to the data bucket."""

    enabled: bool | None = Field(default=None, description="whether there is one")
    capacity_gib: int | None = Field(
        default=None, ge=1, le=10_000_000, description="size, GiB, in the steps that the cloud sells"
    )
    throughput_mbps_per_tib: int | None = Field(default=None, description="MB/s per TiB, of those that the cloud sells")
    zone: str | None = Field(default=None, description="zone; that of the first pool with a fabric by default")


class Storage(Model):
    """Overrides of the storage tiers."""

    lustre: Lustre = Field(default=Lustre(), description="the fast data tier")
    shared_file_system: bool | None = Field(default=None, description="a shared file system for code and notebooks")
    data_access: Literal["shared", "team"] | None = Field(
        default=None,
        description="who reads the data: every team all (shared), or each its own, below data/teams/TEAM/ (team)",
    )
    ingest_principals: list[Annotated[str, StandIn("arn:aws:iam::123456789012:role/unseen-{number}")]] = Field(
        default=[],
        description=(
            "who runs the jobs that write the data, which nobody else on the cluster does, as the cloud names them: "
            "ARNs of IAM roles and users"
        ),
    )
    data_version_days: int | None = Field(
        default=None,
        ge=30,
        le=3650,
        description="days that overwritten and deleted data can be taken back; what is kept is paid for as long",
    )
    checkpoint_expire_days: Days | None = Field(
        default=None, description="days after which superseded checkpoints go; the newest never does"
    )
    checkpoint_keep_versions: int | None = Field(
        default=None, ge=1, le=100, description="superseded versions of a checkpoint to keep"
    )
    multipart_cleanup_days: Days | None = Field(default=None, description="days after which unfinished uploads go")
    artifact_retention_days: int | None = Field(
        default=None, ge=30, le=3650, description="days that superseded artifacts are kept"
    )
    artifact_transition_days: int | None = Field(
        default=None, ge=30, le=3650, description="days after which artifacts move to infrequent access"
    )


class Scheduler(Model):
    """Overrides of the queues."""

    pods_ready_timeout_minutes: int | None = Field(
        default=None, ge=5, le=240, description="minutes in which all pods of an admitted job must run"
    )
    requeue_limit: int | None = Field(default=None, ge=0, le=100, description="how often a job is tried again")
    scale_down_after_minutes: int | None = Field(
        default=None, ge=1, le=720, description="minutes without work after which a GPU node goes"
    )
    priorities: dict[Name, Annotated[int, Field(ge=-1_000_000, le=1_000_000)]] | None = Field(
        default=None, description="name to value; a job without one has 0"
    )


class Database(Model):
    """Overrides of the tracking server's PostgreSQL database."""

    storage_gib: int | None = Field(default=None, ge=20, le=65_536, description="disk, GiB")
    max_storage_gib: int | None = Field(default=None, ge=20, le=65_536, description="how far the disk may grow, GiB")
    multi_az: bool | None = Field(default=None, description="a standby in another zone")
    backup_retention_days: int | None = Field(default=None, ge=1, le=35, description="days that backups are kept")


ImageSource = Annotated[
    str,
    matching(
        r"([a-z0-9-]+\.)+[a-z0-9-]+(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*",
        "must be a registry, or what stands below one, like public.ecr.aws or docker.io/pytorch",
    ),
]


CacheSecret = Annotated[
    str,
    matching(
        CACHE_SECRET.pattern,
        "must be the ARN of a secret whose name begins with ecr-pullthroughcache/",
    ),
]


class CacheLogins(Model):
    """Logins at registries that give the cache nothing without one: ARNs of secrets in Secrets Manager."""

    docker_hub: CacheSecret | None = Field(default=None, description="ARN of the secret with the login at Docker Hub")
    github: CacheSecret | None = Field(default=None, description="ARN of the secret with the login at ghcr.io")


class Images(Model):
    """The container images that run."""

    cache: bool = Field(
        default=False,
        description=(
            "pull the platform's images through a cache in the account's own registry, in the region; needs "
            "aws.accountId"
        ),
    )
    cache_logins: CacheLogins = Field(
        default=CacheLogins(), description="logins at registries that give the cache nothing without one"
    )

    allowed_registries: list[ImageSource] = Field(
        default=[],
        max_length=50,
        description="what else teams may run images of, besides the account's own registry and those of the platform",
    )


class Mlflow(Model):
    """Overrides of the MLflow server and its database."""

    enabled: bool | None = Field(default=None, description="whether there is one")
    replicas: int | None = Field(default=None, ge=1, le=10, description="servers")
    workers: int | None = Field(default=None, ge=1, le=32, description="processes a server")
    cpu: Cores | None = Field(default=None, description="of a server, a Kubernetes quantity")
    memory: Memory | None = Field(default=None, description="of a server, a Kubernetes quantity")
    image: Image | None = Field(
        default=None,
        description="of the server, by digest, in place of the public one: such as `images/mlflow` builds for a "
        "registry of yours; of the MLflow that the server is configured for, with the database's driver and boto3",
    )
    database: Database = Field(default=Database(), description="its PostgreSQL")
    default_permission: Literal["READ", "NO_PERMISSIONS"] = Field(
        default="NO_PERMISSIONS",
        description="what a team may do with what another made and did not share: see it, or not even that",
    )
    password_version: int = Field(
        default=1,
        ge=1,
        le=10_000,
        description="raised by one, every password of it is replaced; jobs that run keep the one before until the next",
    )


class BudgetAlerts(Model):
    """Overrides of the budget's alerts."""

    anomaly_threshold_usd: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="US dollars in one unusual rise of spending that are worth an alert",
    )


class Smoke(Model):
    """The DDP smoke jobs, one a GPU pool and capacity, that prove an environment as part of `pulumi up`."""

    enabled: bool = Field(default=True, description="whether they run")
    image: Image | None = Field(
        default=None,
        description="by digest, for all pools; on a pool with a fabric it must hold the fabric's NCCL plugin",
    )
    team: Name | None = Field(
        default=None,
        description="in whose queue they run; by default, of each node group, that of the team that owns most of it",
    )
    capacities: list[Capacity] = Field(
        default=list(CAPACITIES),
        description="which of a pool's capacities are proven; spot that is not to be had fails the `up`",
    )


class PolicyException(Model):
    """A violation that is accepted for a while."""

    policy: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="the policy's id")
    resource: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
        description="a glob on URN, name or component/name; * for what concerns the whole stack"
    )
    reason: Annotated[str, Field(min_length=10, max_length=500), StandIn("unseen reason {number}")] = Field(
        description="why, for whoever reviews it"
    )
    owner: Annotated[Label, StandIn("unseen-{number}")] = Field(description="who answers for it")
    expires: Date = Field(description="a date, the last day; after it the exception itself is a violation")
