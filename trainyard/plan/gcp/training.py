"""Managed training on Google Cloud, planned from the settings and the small profile: in place of a cluster, or beside
it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard import catalog as pins
from trainyard.catalog import gcp as catalog
from trainyard.catalog.managed import price_factor
from trainyard.conventions.gcp import (
    IAP_ACCOUNT,
    IAP_AUDIENCE,
    VERTEX_QUOTAS,
    VERTEX_REGISTRIES,
    vertex_gpu,
    vertex_quota,
)
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import UNKNOWN_NUMBER, GcpPlan, ManagedPlan, ManagedSmokePlan
from trainyard.plan.gcp.tracking import plan_tracked_by, plan_tracking_server
from trainyard.plan.managed import Shelf, beside, camel, plan_private, plan_types, refuse_managed_settings
from trainyard.plan.parts import Plan
from trainyard.plan.registries import repository
from trainyard.smoke_jobs.launch.job import MANAGED_MARGIN_S, SmokeSpec, job_name

SMOKE_MINUTES: Final = 20
"""Longest that the smoke job runs: five for its machine and image, fifteen for level quick."""

IDLE_MINUTES: Final = (10, 1440)
"""What a template of Colab Enterprise takes (pulumi_gcp 10.2.0, idleTimeout: 10 minutes to 24 hours)."""

SPACE_GIB: Final = (10, 65_536)
"""What a template takes of a data disk, GB (pulumi_gcp 10.2.0, dataPersistentDiskSpec)."""


def plan_managed_beside(context: Context) -> ManagedPlan | None:
    """What stays of managed training where a team that had it gets a cluster; None where nothing does.

    The cluster has smoke jobs of its own, so that this has none.
    """
    if not context.settings.managed.beside:
        refuse_managed_settings(context)
        return None
    networks = context.settings.gcp.bucket_networks
    if networks is not None:
        allowed = "shuts managed jobs out of the buckets: they stand in a network of Google's"
        context.ledger.problem(
            "gcp.bucketNetworks", sorted(networks), allowed, "leave it out while managed.beside is true"
        )
    return plan_training("", beside(context), smoke=False)


def plan_training(name: str, context: Context, *, smoke: bool) -> ManagedPlan:
    """What people may start, and of which size; `smoke`: whether a job proves it, as it does where there is no cluster.

    `name` is the environment's.
    """
    own = context.settings.managed

    def take(field: str, given: int | None, most: tuple[int, int]) -> int:
        key = f"managed.{camel(field)}"
        value = int(context.take(f"gcp.managed.{field}", key, given, f"managed.{field}"))
        if not most[0] <= value <= most[1]:
            context.ledger.problem(key, value, f"must be {most[0]} to {most[1]} on Google Cloud")
        return value

    machines = [*(item.type for item in catalog.instances()), *(item.type for item in catalog.cpu_instances())]
    shelf = Shelf("machine type", machines, _sold, figures="gcp.managed")
    training = plan_types("training_types", own.training_types, shelf, context)
    editors = plan_types("editor_types", own.editor_types, shelf, context)
    tracked_by = plan_tracked_by(context, beside=not smoke)
    number = context.settings.gcp.project_number or UNKNOWN_NUMBER
    return ManagedPlan(
        private_domain=plan_private("gcp.managed.private_domain", context),
        training_types=training,
        editor_types=editors,
        closed_quotas=_closed(training, context),
        idle_minutes=take("idle_minutes", own.idle_minutes, IDLE_MINUTES),
        space_gib=take("space_gib", own.space_gib, SPACE_GIB),
        tracked_by=tracked_by,
        server=plan_tracking_server(name, number, context) if tracked_by == "mlflow" else None,
        smoke=_smoke(training, context) if smoke else None,
    )


def _sold(type_: str, region: str) -> bool:
    if type_ in [item.type for item in catalog.cpu_instances()]:
        return True  # in every zone
    return bool(catalog.offered_zones(type_, region))


def _closed(training: Sequence[str], context: Context) -> tuple[str, ...]:
    """The metrics of the GPUs that no training type has: Vertex AI knows no other ceiling that a project can set."""
    open_ = {item.gpu for item in catalog.instances() if item.type in training}
    closed = [gpu for gpu in VERTEX_QUOTAS if gpu not in open_]
    context.ledger.decide(
        "managed.closed_gpus",
        closed,
        "the GPUs of no machine in managed.training_types: their quota of Vertex AI is set to 0, in every region of "
        "the project",
    )
    metrics = (vertex_quota(gpu, spot=spot) for gpu in closed for spot in (False, True))
    return tuple(metric for metric in metrics if metric is not None)


def premiums() -> Iterator[float]:
    """The part of Vertex AI's price of a machine that is not Compute Engine's: the range that the catalogue has."""
    for factor in price_factor("gcp"):
        yield 1 - 1 / factor


def training_smoke(plan: Plan[GcpPlan]) -> SmokeSpec | None:
    """The smoke job of managed training as its launcher takes it, without what only the engine knows; None without one.

    It tracks a run where a server of MLflow is there, which is what the worker speaks.
    """
    managed = plan.ground.managed
    smoke = managed.smoke if managed is not None else None
    if smoke is None:
        return None
    machine = next((item for item in catalog.instances() if item.type == smoke.machine_type), None)
    price = _price(smoke.machine_type, plan.ground.region)
    server = managed.server if managed is not None else None
    signs: tuple[tuple[str, str], ...] = ()
    if server is not None:
        signs = ((IAP_AUDIENCE, server.audience), (IAP_ACCOUNT, server.client_account(plan.ground.project)))
    return SmokeSpec(
        name=job_name("training"),
        stack=plan.core.stack,
        level=smoke.level,
        timeout_s=smoke.max_runtime_minutes * 60 - MANAGED_MARGIN_S,
        gpus_per_node=machine.gpus if machine else 0,
        gpu=vertex_gpu(machine.type, machine.gpu) if machine else "",
        gpu_memory_gib=machine.gpu_memory_gib if machine else 0.0,
        instance=smoke.machine_type,
        image=smoke.image,
        tracking_uri=server.uri if server is not None else "none",
        environment=signs,
        usd_per_node_hour=price or 0.0,  # the worker's word for unknown
    )


def _price(type_: str, region: str) -> float | None:
    """USD an hour of a machine under Vertex AI; None where nobody knows the machine's."""
    try:
        found = catalog.machine_price(type_, region)
    except KeyError:  # a type that the ledger has a problem with
        return None
    return None if found is None else round(found.usd * price_factor("gcp")[1], 4)


def _smoke(training: Sequence[str], context: Context) -> ManagedSmokePlan | None:
    own, ledger = context.settings.smoke, context.ledger
    if not ledger.decide("smoke.enabled", own.enabled, "setting smoke.enabled; on unless turned off"):
        return None
    path = "gcp.managed.smoke_types"
    wanted = list(context.figure(path))
    type_ = next((each for each in wanted if each in training), training[0] if training else wanted[-1])
    why = context.source(path) if type_ in wanted else "the first of managed.training_types"
    price = _price(type_, context.region)
    usd = None if price is None else round(price * SMOKE_MINUTES / 60, 2)
    cost = f"; {usd:g} USD at most" if usd is not None else ""
    image = own.image or pins.pins().image("pytorch")
    if not VERTEX_REGISTRIES.fullmatch(repository(image).partition("/")[0]):
        allowed = "must be in Artifact Registry or on Docker Hub, where Vertex AI pulls images from"
        ledger.problem("smoke.image", own.image, allowed, "copy it into a repository of the project")
    said = "setting smoke.image" if own.image else "catalog/versions.yaml, pytorch: Vertex AI pulls from Docker Hub"
    return ManagedSmokePlan(
        machine_type=ledger.decide("managed.smoke.instance_type", type_, why + cost),
        image=ledger.decide("managed.smoke.image", image, said),
        level=ledger.decide("smoke.level", own.level, "setting smoke.level; quick by default, minutes"),
        max_runtime_minutes=SMOKE_MINUTES,
        usd=usd,
    )
