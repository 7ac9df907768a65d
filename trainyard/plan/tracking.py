"""The tracking server, wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from trainyard.catalog.database_connections import KEPT
from trainyard.conventions import MLFLOW_ADMIN, MLFLOW_POOL_OVERFLOW, MLFLOW_POOL_SIZE, MLFLOW_POOLS
from trainyard.conventions.quantities import MEBIBYTE, quantity
from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import MlflowPlan, SignOnPlan
from trainyard.settings.people import Team
from trainyard.settings.sign_on import SignOn

WORKER_MIB = 200
"""Memory that a process of the server does not start with less of. Own choice: half of the 400 MiB, with headroom, of
the profile."""


NO_SERVER = MlflowPlan(
    enabled=False,
    replicas=0,
    cpu="0",
    memory="0",
    workers=0,
    default_permission="NO_PERMISSIONS",
    password_version=1,
    sign_on=None,
)
"""No server of our own: managed training has its cloud's tracking, or none."""


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
        sign_on=_sign_on(own.sign_on, enabled, teams, context.ledger),
    )


def _sign_on(own: SignOn | None, enabled: bool, teams: Sequence[Team], ledger: Ledger) -> SignOnPlan | None:
    """Who signs on with what; a group opens one team's account."""
    if own is None:
        return None
    if not enabled:
        allowed = "is read only where mlflow.enabled is true"
        ledger.problem("mlflow.signOn", "an identity provider", allowed, "leave one of them out")
    names = {team.name for team in teams}
    first: dict[str, str] = {}
    for team, group in own.teams.items():
        key = f"mlflow.signOn.teams.{team}"
        if team not in names:
            ledger.problem(key, group, f"is of no team: there are {', '.join(sorted(names))}")
        if (other := first.setdefault(group, team)) != team:
            ledger.problem(key, group, f"is the group of team {other} too, and a request has one account")
    for key, value in (("issuer", own.issuer), ("audience", own.audience), ("claim", own.claim)):
        ledger.decide(f"mlflow.sign_on.{key}", value, "setting mlflow.signOn")
    return SignOnPlan(
        issuer=own.issuer,
        audience=own.audience,
        keys_url=own.keys_url,
        keys_host=ledger.decide(
            "mlflow.sign_on.keys_host",
            urlsplit(own.keys_url).hostname or "",
            "setting mlflow.signOn.keysUrl: the tracking server reaches it, and no other pod does for that",
        ),
        claim=own.claim,
        person_claim=own.person_claim,
        teams=tuple(sorted(own.teams.items())),
    )


def check_connections(mlflow: MlflowPlan, most: float | None, setting: str, size: str, ledger: Ledger) -> None:
    """Records where the servers' processes may hold more connections than the database takes, while one is replaced.

    Args:
        mlflow: the servers.
        most: connections that a database of that size takes; None where nobody knows.
        setting: the key of the database's size.
        size: the database's.
        ledger: takes the problem.
    """
    each = mlflow.workers * MLFLOW_POOLS * (MLFLOW_POOL_SIZE + MLFLOW_POOL_OVERFLOW)
    wanted = (mlflow.replicas + 1) * each + KEPT
    if mlflow.enabled and most is not None and wanted > most:
        allowed = (
            f"takes {most:g} connections; {mlflow.replicas} servers and the one that an upgrade starts before it stops "
            f"another may hold {each} each, {wanted} with those of an administrator"
        )
        ledger.problem(setting, size, allowed, "a larger database, fewer mlflow.workers or fewer mlflow.replicas")


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
