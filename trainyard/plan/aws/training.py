"""Managed training on AWS, planned from the settings and the small profile: in place of a cluster, or beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard import catalog
from trainyard.catalog.managed import listed_price
from trainyard.plan.aws.job_alarms import plan_job_alarms
from trainyard.plan.aws.parts import AwsPlan, ManagedPlan, ManagedSmokePlan, SeatPlan
from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.managed import Shelf, beside, camel, plan_private, plan_types, refuse_managed_settings
from trainyard.plan.parts import Plan
from trainyard.settings.people import Team
from trainyard.smoke_jobs.launch.job import MANAGED_MARGIN_S, SmokeSpec, job_name

IMAGE_ACCOUNT = "763104351884"
IMAGE_ACCOUNTS: Mapping[str, str] = {"me-central-1": "914824155844", "me-south-1": "217643126080"}
"""Accounts that AWS publishes its deep learning containers from: the first in the regions that need no opting in,
those of the others by region (SageMaker's developer guide, image URIs, 2026-11)."""

IMAGE = "pytorch-training:2.7.1-gpu-py312-cu128-ubuntu22.04-sagemaker"
"""Repository and tag of the image that the smoke job runs in: the SageMaker edition of the one that the catalogue pins
for clusters (catalog/versions.yaml, 2026-11). A tag: its digest differs by region."""

SMOKE_MINUTES = 20
"""Longest that the smoke job runs: five for its machine and image, fifteen for level quick."""

LONGEST_SEAT = 63

LEAST_IDLE_MINUTES = 60
"""What SageMaker's idle settings take (its API, IdleSettings, 2026-11)."""


def image_account(region: str) -> str:
    """The account that AWS publishes its deep learning containers from in a region."""
    return IMAGE_ACCOUNTS.get(region, IMAGE_ACCOUNT)


def plan_managed_beside(teams: Sequence[Team], context: Context) -> ManagedPlan | None:
    """What stays of managed training where a team that had it gets a cluster; None where nothing does.

    The cluster has smoke jobs of its own, so that this has none.
    """
    if not context.settings.managed.beside:
        refuse_managed_settings(context)
        return None
    return plan_training(teams, beside(context), smoke=False)


def plan_training(teams: Sequence[Team], context: Context, *, smoke: bool) -> ManagedPlan:
    """What people may start, of which size and for how long; `smoke`: whether a job proves it."""
    own, ledger = context.settings.managed, context.ledger

    def take(field: str, given: int | None) -> int:
        return int(context.take(f"managed.{field}", f"managed.{camel(field)}", given))

    machines = [*(item.type for item in catalog.instances()), *_WITHOUT_GPUS]
    shelf = Shelf("instance type", machines, _sold, prefix="ml.")
    training = plan_types("training_types", own.training_types, shelf, context)
    editors = plan_types("editor_types", own.editor_types, shelf, context)
    space, most = take("space_gib", own.space_gib), take("max_space_gib", own.max_space_gib)
    if space > most:
        ledger.problem("managed.spaceGib", space, f"must be at most managed.maxSpaceGib, which is {most}")
    idle = own.idle_minutes
    if idle is not None and idle < LEAST_IDLE_MINUTES:
        ledger.problem("managed.idleMinutes", idle, f"must be at least {LEAST_IDLE_MINUTES}: SageMaker takes no less")
    path = "mlflow.enabled"
    given = context.settings.mlflow.enabled
    tracking = context.take(path, path, given, "managed.tracking")
    _check_tracked_by(own.tracked_by, tracked=tracking, ledger=ledger)
    over = context.take("managed.over_budget", "managed.overBudget", own.over_budget)
    return ManagedPlan(
        private_domain=plan_private("managed.private_domain", context),
        spending_shown=context.settings.residency in ("none", "us"),
        seats=_seats(teams, context),
        training_types=training,
        editor_types=editors,
        max_runtime_hours=take("max_runtime_hours", own.max_runtime_hours),
        idle_minutes=take("idle_minutes", idle),
        kernel_idle_minutes=take("kernel_idle_minutes", own.kernel_idle_minutes),
        space_gib=space,
        max_space_gib=most,
        tracking=bool(tracking),
        deny_over_budget=over == "deny",
        smoke=_smoke(training, context) if smoke else None,
        alarms=plan_job_alarms(training, context),
    )


_WITHOUT_GPUS = tuple(
    f"{family}.{size}"
    for family, sizes in {
        "t3": ("medium", "large", "xlarge", "2xlarge"),
        "m5": ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"),
        "c5": ("large", "xlarge", "2xlarge", "4xlarge", "9xlarge", "12xlarge", "18xlarge", "24xlarge"),
        "r5": ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"),
    }.items()
    for size in sizes
)
"""Types without GPUs that SageMaker has for editors, and but for t3 and c5.large for training as well (botocore 1.44.5,
sagemaker: AppInstanceType, TrainingInstanceType)."""


def _sold(type_: str, region: str) -> bool:
    return type_ in _WITHOUT_GPUS or catalog.offered(type_, region)


def _check_tracked_by(given: str | None, *, tracked: bool, ledger: Ledger) -> None:
    """An MLflow App is all that SageMaker tracks by here."""
    key = "managed.trackedBy"
    if given == "experiments":
        ledger.problem(key, given, "is of Google Cloud: on AWS an MLflow App tracks runs", "leave it out")
    elif given is not None and not tracked:
        ledger.problem(key, given, "is read only where mlflow.enabled is true", "leave one of them out")
    elif tracked:
        app = "SageMaker's MLflow App, which costs nothing idle: there is no other choice on AWS"
        ledger.decide("managed.tracked_by", "mlflow", f"setting {key}" if given else app)


def _seats(teams: Sequence[Team], context: Context) -> tuple[SeatPlan, ...]:
    """A place a person: by name where the settings have them, else numbered, so that no two people share one."""
    seats = [
        SeatPlan(f"{team.name}-{person}"[:LONGEST_SEAT].rstrip("-"), team.name)
        for team in sorted(teams, key=lambda team: team.name)
        for person in team.people or [str(number) for number in range(1, team.members + 1)]
    ]
    source = "teams: a user profile a person, numbered where a team names nobody"
    context.ledger.decide("managed.seats", [seat.name for seat in seats], source)
    return tuple(seats)


def training_smoke(plan: Plan[AwsPlan]) -> SmokeSpec | None:
    """The smoke job of managed training as its launcher takes it, without what only the engine knows; None without one.

    It tracks no run: the image has no plug-in for the tracking app, and a job without a way out does not reach it.
    """
    managed = plan.ground.managed
    smoke = managed.smoke if managed is not None else None
    if smoke is None:
        return None
    type_ = smoke.instance_type.removeprefix("ml.")
    machine = next((item for item in catalog.instances() if item.type == type_), None)
    price = listed_price("aws", type_)
    return SmokeSpec(
        name=job_name("training"),
        stack=plan.core.stack,
        level=smoke.level,
        timeout_s=smoke.max_runtime_minutes * 60 - MANAGED_MARGIN_S,
        gpus_per_node=machine.gpus if machine else 0,
        gpu=machine.gpu.partition("-")[0] if machine else "",
        gpu_memory_gib=machine.gpu_memory_gib if machine else 0.0,
        instance=smoke.instance_type,
        image=smoke.image,
        tracking_uri="none",
        usd_per_node_hour=price or 0.0,  # the worker's word for unknown
    )


def _smoke(training: Sequence[str], context: Context) -> ManagedSmokePlan | None:
    own, ledger = context.settings.smoke, context.ledger
    if not ledger.decide("smoke.enabled", own.enabled, "setting smoke.enabled; on unless turned off"):
        return None
    path = "managed.smoke_types"
    wanted = [f"ml.{type_}" for type_ in context.figure(path)]
    type_ = next((each for each in wanted if each in training), training[0] if training else wanted[-1])
    why = context.source(path) if type_ in wanted else "the first of managed.training_types"
    price = listed_price("aws", type_.removeprefix("ml."))
    usd = None if price is None else round(price * SMOKE_MINUTES / 60, 2)
    region = context.region
    registry = f"{image_account(region)}.dkr.ecr.{region}.amazonaws.com"
    image = own.image or f"{registry}/{IMAGE}"
    cost = f"; {usd:g} USD at most" if usd is not None else ""
    return ManagedSmokePlan(
        instance_type=ledger.decide("managed.smoke.instance_type", type_, why + cost),
        image=ledger.decide(
            "managed.smoke.image", image, "setting smoke.image" if own.image else "AWS's deep learning containers"
        ),
        level=ledger.decide("smoke.level", own.level, "setting smoke.level; quick by default, minutes"),
        max_runtime_minutes=SMOKE_MINUTES,
        usd=usd,
    )
