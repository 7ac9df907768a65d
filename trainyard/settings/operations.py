"""Settings: storage, queues, tracking, the smoke job, alerts, exceptions from policies."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.conventions import STANDING, Standing
from trainyard.conventions.aws import CACHE_SECRET
from trainyard.settings.sign_on import SignOn
from trainyard.settings.types import Cores, Date, Days, Image, Label, Memory, Model, Name, StandIn, matching


class Lustre(Model):
    """The fast tier: a Lustre file system, on AWS linked to the data bucket."""

    enabled: bool | None = Field(
        default=None, description="whether there is one; a size, a throughput or a zone asks for it"
    )
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
            "ARNs of IAM roles and users, or user:, group: and serviceAccount: with an address on Google Cloud"
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
    requeue_limit: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="how often a job whose pods were late is tried again; 0: a job that was late once never comes back",
    )
    scale_down_after_minutes: int | None = Field(
        default=None, ge=1, le=720, description="minutes without work after which a GPU node goes"
    )
    dry_capacity_minutes: int | None = Field(
        default=None,
        ge=0,
        le=1440,
        description="minutes that a capacity without nodes stays out of the queues; 0: it stays in",
    )
    priorities: dict[Name, Annotated[int, Field(ge=-1_000_000, le=1_000_000)]] | None = Field(
        default=None, description="name to value; a job without one has 0"
    )


Snapshot = Annotated[
    str,
    matching(
        r"(arn:aws[a-z-]*:rds:[a-z0-9-]+:[0-9]{12}:snapshot:)?(rds:)?[A-Za-z](-?[A-Za-z0-9]){0,254}",
        "must be the name or the ARN of a snapshot of RDS",
    ),
]


class Database(Model):
    """Overrides of the tracking server's PostgreSQL database."""

    storage_gib: int | None = Field(default=None, ge=20, le=65_536, description="disk, GiB")
    max_storage_gib: int | None = Field(default=None, ge=20, le=65_536, description="how far the disk may grow, GiB")
    multi_az: bool | None = Field(default=None, description="a standby in another zone")
    backup_retention_days: int | None = Field(default=None, ge=1, le=35, description="days that backups are kept")
    restore_from: Snapshot | None = Field(
        default=None,
        description=(
            "the snapshot that the database is made from, by its name or ARN, in place of an empty one; it stays here "
            "as long as the database, and docs/runbooks/tracking-database.md says how to set it"
        ),
    )


ImageSource = Annotated[
    str,
    matching(
        r"([a-z0-9-]+\.)+[a-z0-9-]+(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*",
        "must be a registry, or what stands below one, like public.ecr.aws or docker.io/pytorch",
    ),
]


RegistryName = Annotated[
    str,
    matching(r"([a-z0-9-]+\.)+[a-z0-9-]+(:[0-9]{1,5})?", "must be a registry, like nvcr.io or docker.io: no path"),
]

ChartMirror = Annotated[
    str,
    matching(
        r"(oci|https)://([a-z0-9-]+\.)+[a-z0-9-]+(:[0-9]{1,5})?(/[A-Za-z0-9._-]+)*",
        "must be where charts are, like oci://registry.acme.example/charts or https://charts.acme.example",
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
            "pull the platform's images through a cache in the account's or project's own registry, in the region; on "
            "AWS it needs aws.accountId, on Google Cloud images.allowedRegistries then names each own repository"
        ),
    )
    cache_logins: CacheLogins = Field(
        default=CacheLogins(), description="logins at registries that give the cache nothing without one"
    )

    mirrors: dict[RegistryName, ImageSource] = Field(
        default={},
        description=(
            "by registry, where its images are pulled from instead, with their own paths below: "
            "{nvcr.io: registry.acme.example/nvidia}; before the cache"
        ),
    )
    allowed_registries: list[ImageSource] = Field(
        default=[],
        max_length=50,
        description="what else teams may run images of, besides the account's own registry and those of the platform",
    )


class Charts(Model):
    """The Helm charts that are installed."""

    mirror: ChartMirror | None = Field(
        default=None,
        description=(
            "where all of them are pulled from, in the pinned versions, by whoever runs `pulumi up`: an oci:// "
            "address, each below it by its own name, or the URL of a chart repository"
        ),
    )


class Mlflow(Model):
    """Overrides of the MLflow server and its database."""

    enabled: bool | None = Field(
        default=None,
        description=(
            "whether there is one: a server on the cluster, without one SageMaker's MLflow App, or on Google Cloud "
            "what managed.trackedBy says: `trainyard explain STACK managed` has what is lost by it"
        ),
    )
    replicas: int | None = Field(default=None, ge=1, le=10, description="servers")
    workers: int | None = Field(default=None, ge=1, le=32, description="processes a server")
    cpu: Cores | None = Field(default=None, description="of a server, a Kubernetes quantity")
    memory: Memory | None = Field(default=None, description="of a server, a Kubernetes quantity")
    image: Image | None = Field(
        default=None,
        description="of the server, by digest, in place of the public one: such as `images/mlflow` builds for a "
        "registry of yours; of the MLflow that the server is configured for, with the database's driver, boto3 and, "
        "for signOn, joserfc",
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
    sign_on: SignOn | None = Field(
        default=None, description="single sign-on of people: tokens of an identity provider open it too"
    )


class BudgetAlerts(Model):
    """Overrides of the budget's alerts."""

    anomaly_threshold_usd: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="US dollars in one unusual rise of spending that are worth an alert",
    )


class TeamBudgets(Model):
    """What a team's budget does at the queue; what is spent is what its jobs held, at the prices of the plan."""

    hold: bool | None = Field(
        default=None,
        description=(
            "whether nothing new of a team starts when its budget of the month is spent, until the next month, a "
            "raised budget or an override; by default where monthlyBudgetUsd is set"
        ),
    )
    exempt: list[Name] = Field(default=[], description="teams that are told and never held, such as production's")
    drain_after_hours: int | None = Field(
        default=None,
        ge=0,
        le=744,
        description="hours after which a held team's running jobs are evicted; by default they run to their end",
    )
    gpu_hour_usd: dict[Name, Annotated[float, Field(gt=0, le=10_000)]] = Field(
        default={},
        description=(
            "US dollars an hour of one GPU of a pool in a capacity, such as train-reserved: what a commitment or a "
            "contract makes of it; by default list and spot prices"
        ),
    )


class IdleJobs(Model):
    """Jobs that hold GPUs and do nothing with them: warned, then evicted, and kept to go on from their checkpoint."""

    evict: bool = Field(
        default=True,
        description=(
            "whether they give their GPUs back where the monitoring measures what GPUs do; who needs them none the "
            "less writes ml.platform/keep-until on the job"
        ),
    )
    after_minutes: int = Field(
        default=45, ge=15, le=1440, description="minutes in which nothing was computed on any rank"
    )
    grace_minutes: int = Field(default=15, ge=5, le=1440, description="minutes between the warning and the eviction")


class Smoke(Model):
    """The DDP smoke jobs, one a GPU pool and capacity, that prove an environment as part of `pulumi up`."""

    enabled: bool = Field(default=True, description="whether they run")
    image: Image | None = Field(
        default=None,
        description="by digest, for all pools; on a pool with a fabric it must hold the fabric's NCCL plugin",
    )
    level: Literal["quick", "standard", "full"] = Field(
        default="quick",
        description="which checks an `up` waits for; standard adds minutes, full about an hour of every pool, and is "
        "better run once on new hardware: `trainyard smoke STACK --pool POOL --level full`",
    )
    team: Name | None = Field(
        default=None,
        description="in whose queue they run; by default, of each node group, that of the team that owns most of it",
    )
    capacities: list[Standing] = Field(
        default=list(STANDING),
        description="which of a pool's capacities are proven",
    )
    advisory: list[Standing] = Field(
        default=["spot"],
        description=(
            "capacities whose jobs `up` starts and does not wait for: that there is none to be had today is no fault "
            "of the stack"
        ),
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
