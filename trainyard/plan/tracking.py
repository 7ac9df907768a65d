"""The tracking server, wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.conventions import MLFLOW_ADMIN
from trainyard.conventions.quantities import MEBIBYTE, quantity
from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import MlflowPlan
from trainyard.settings.people import Team

WORKER_MIB = 200
"""Memory that a process of the server does not start with less of. Own choice: half of the 400 MiB, with headroom, of
the profile."""


def plan_mlflow(teams: Sequence[Team], context: Context) -> MlflowPlan:
    """The MLflow server, which has an account for each team (`components.k8s.mlflow`)."""
    own = context.settings.mlflow
    enabled = context.take("mlflow.enabled", "mlflow.enabled", own.enabled)
    replicas = context.take("mlflow.replicas", "mlflow.replicas", own.replicas)
    cpu = context.take("mlflow.cpu", "mlflow.cpu", own.cpu)
    memory = context.take("mlflow.memory", "mlflow.memory", own.memory)
    workers = context.take("mlflow.workers", "mlflow.workers", own.workers)
    if enabled:
        _check_memory(memory, workers, context.ledger)
        _check_users(teams, context.ledger)
    return MlflowPlan(
        enabled=enabled,
        replicas=replicas,
        cpu=cpu,
        memory=memory,
        workers=workers,
        default_permission=context.ledger.decide(
            "mlflow.default_permission", own.default_permission, "setting mlflow.defaultPermission"
        ),
        password_version=context.ledger.decide(
            "mlflow.password_version", own.password_version, "setting mlflow.passwordVersion"
        ),
    )


def _check_memory(memory: str, workers: int, ledger: Ledger) -> None:
    """A worker is a process of its own, with MLflow loaded."""
    amount = quantity(memory)
    if amount is not None and amount < workers * WORKER_MIB * MEBIBYTE:
        allowed = f"must be at least {workers * WORKER_MIB}Mi: {workers} workers of {WORKER_MIB} MiB"
        ledger.problem("mlflow.memory", memory, allowed, "or take fewer mlflow.workers")


def _check_users(teams: Sequence[Team], ledger: Ledger) -> None:
    """A team's account has the team's name, and one name is taken."""
    for index, team in enumerate(teams):
        if team.name == MLFLOW_ADMIN:
            allowed = "is the name of MLflow's administrator, and every team has an account of its name there"
            ledger.problem(f"teams[{index}].name", team.name, allowed, "take another name")
        for who, name in enumerate(team.people):
            if name in team.people[:who]:
                ledger.problem(f"teams[{index}].people[{who}]", name, "is there twice: a person has one login a team")
