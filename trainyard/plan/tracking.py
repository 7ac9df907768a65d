"""The tracking server, wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.plan.context import Context
from trainyard.plan.parts import MlflowPlan
from trainyard.settings.people import Team


def plan_mlflow(teams: Sequence[Team], context: Context) -> MlflowPlan:
    """The MLflow server with an account a team."""
    own = context.settings.mlflow
    return MlflowPlan(
        enabled=context.take("mlflow.enabled", "mlflow.enabled", own.enabled),
        replicas=context.take("mlflow.replicas", "mlflow.replicas", own.replicas),
        cpu=context.take("mlflow.cpu", "mlflow.cpu", own.cpu),
        memory=context.take("mlflow.memory", "mlflow.memory", own.memory),
        workers=context.take("mlflow.workers", "mlflow.workers", own.workers),
        users=context.ledger.decide("mlflow.users", tuple(team.name for team in teams), "one a team"),
    )
