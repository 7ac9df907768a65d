"""What tracks the runs of managed training on Google Cloud: Experiments of Vertex AI, or an MLflow server on Cloud
Run."""

from __future__ import annotations

import re
from typing import Final

from trainyard.catalog import pins
from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE, quantity
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import TrackedBy, TrackingServerPlan
from trainyard.plan.ledger import Ledger
from trainyard.plan.registries import DOCKER_HUB, repository
from trainyard.plan.tracking import WORKER_MIB

LOST: Final = (
    "no MLflow: none of its client, its registry and its model formats, and a team that grows begins a new history; "
    "managed.trackedBy: mlflow has all of it for the price of a database (docs/decisions/0090)"
)
"""What is lost by Experiments."""

SERVER_SETTINGS: Final = (
    "mlflow.cpu", "mlflow.memory", "mlflow.image", "mlflow.database", "gcp.databaseTier",
)  # fmt: skip
"""Settings of a cluster's tracking server that the one on Cloud Run reads too."""

WORKERS: Final = 2
"""Server processes of an instance. Own choice: one answers while the other takes an artifact in."""

MOST_INSTANCES: Final = 2
"""Own choice: a new revision starts beside the one that it replaces. Each process keeps eight connections at most, so
that the smallest database, which takes a hundred, is never full."""

CONCURRENCY: Final = 40
"""Requests that an instance takes at once; further ones start another. Own choice: what two processes of eight
connections each get through without a wait that a client notices."""

MEMORY_OF_A_CPU_GIB: Final = 4
"""An instance of Cloud Run has at most so much memory for each CPU (Cloud Run, "Memory limits", as generally known)."""

_CPUS: Final = ("1", "2", "4", "8")
"""Whole CPUs that an instance may have; fewer than one allow no second request at once ("CPU limits", as generally
known)."""

_PULLED: Final = re.compile(r"[a-z0-9-]+-docker\.pkg\.dev|([a-z]+\.)?gcr\.io|docker\.io")
"""Registries that Cloud Run pulls from (Cloud Run, "Deploying container images", as generally known)."""


def plan_tracked_by(context: Context, *, beside: bool) -> TrackedBy | None:
    """What tracks managed jobs; None where nothing does.

    Beside a cluster an MLflow server on Cloud Run is no more: its database is the cluster's server's, which asks who
    sees what of which team, and nothing stands beside it that lets everybody see everything.
    """
    own, ledger = context.settings.managed, context.ledger
    given = context.settings.mlflow.enabled
    key = "managed.trackedBy"
    if not context.take("gcp.managed.tracking", "mlflow.enabled", given, "managed.tracking"):
        if own.tracked_by is not None:
            ledger.problem(key, own.tracked_by, "is read only where mlflow.enabled is true", "leave one of them out")
        return None
    chosen: TrackedBy = context.take("gcp.managed.tracked_by", key, own.tracked_by, "managed.tracked_by")
    if chosen == "experiments":
        ledger.decide("managed.not_tracked", LOST, "what Vertex AI Experiments are not")
        return chosen
    if beside:
        why = "the cluster's server has the database of the one on Cloud Run, and jobs of Vertex AI do not reach it"
        ledger.decide("managed.not_tracked", "managed jobs, beside the cluster", why)
        return None
    return chosen


def plan_tracking_server(name: str, number: str, context: Context) -> TrackingServerPlan:
    """The server's size and address. `name` is the environment's, `number` the project's."""
    own, ledger = context.settings.mlflow, context.ledger
    cpu = context.take("mlflow.cpu", "mlflow.cpu", own.cpu)
    memory = context.take("mlflow.memory", "mlflow.memory", own.memory)
    _check_size(cpu, memory, ledger)
    if own.image is not None:
        host = repository(own.image).partition("/")[0]
        if not _PULLED.fullmatch(host):
            allowed = f"is of {host}, and Cloud Run pulls from Artifact Registry and {DOCKER_HUB} alone"
            ledger.problem("mlflow.image", own.image, allowed, "copy it into the environment's repository")
    image = own.image or pins().image("mlflow")
    service = f"{name}-mlflow"
    host = f"{service}-{number}.{context.region}.run.app"
    ledger.decide("managed.tracking_server.image", image, "setting mlflow.image; by default catalog/versions.yaml")
    ledger.decide(
        "managed.tracking_server.people",
        "of the project's organisation",
        "IAP's own sign-in lets in nobody else; others need an OAuth client of yours: "
        "docs/how-to/train-without-a-cluster.md",
    )
    return TrackingServerPlan(
        service=service,
        host=ledger.decide(
            "managed.tracking_server.host",
            host,
            "Cloud Run: service, number of the project and region, known before it is",
        ),
        cpu=cpu,
        memory=memory,
        workers=ledger.decide("managed.tracking_server.workers", WORKERS, "own choice: processes of an instance"),
        least_instances=ledger.decide(
            "managed.tracking_server.least_instances",
            0,
            "own choice: nothing is paid for while nobody asks; the first request then waits for a start, about half a "
            "minute; one instance that always waits costs about 20 USD a month (the price of idle "
            "instances, as generally known)",
        ),
        most_instances=ledger.decide(
            "managed.tracking_server.most_instances", MOST_INSTANCES, "own choice: a revision beside the next"
        ),
        concurrency=ledger.decide(
            "managed.tracking_server.concurrency", CONCURRENCY, "own choice: what its connections to the database serve"
        ),
    )


def _check_size(cpu: str, memory: str, ledger: Ledger) -> None:
    if cpu not in _CPUS:
        ledger.problem("mlflow.cpu", cpu, f"must be {', '.join(_CPUS[:-1])} or {_CPUS[-1]} on Cloud Run")
        return
    amount, least = quantity(memory), max(512, WORKERS * WORKER_MIB)
    if amount is None or not least * MEBIBYTE <= amount <= int(cpu) * MEMORY_OF_A_CPU_GIB * GIBIBYTE:
        allowed = f"must be {least}Mi to {int(cpu) * MEMORY_OF_A_CPU_GIB}Gi on Cloud Run, where mlflow.cpu is {cpu}"
        ledger.problem("mlflow.memory", memory, allowed)
