"""The simulated month, played: a real Prometheus with our rules, the keeper of budgets, and an API server that knows
who owns a field and says whether a job may start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.components.k8s.api_server import ApiServer
from tests.ledger.month import END, FIRST, GAP, PRICES, START, STEP, UNREAD, Month, Team
from tests.ledger.prometheus import Prometheus, free_port
from tests.monitoring.promtool import NAMESPACES
from trainyard.components.k8s.keepers import budgets as keeper
from trainyard.components.k8s.keepers.budgets import HOLD, OPEN, Queue, queue_path, read
from trainyard.conventions import TPU_RESOURCE
from trainyard.monitoring import names as n
from trainyard.monitoring.recordings import Money
from trainyard.monitoring.resource_costs import RESOURCES
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

POLICY = ("spec", "stopPolicy")
PERSON_HOLDS = START + 25 * 86_400
CONSTANTS = (n.GPU_HOUR_USD, n.CHIP_HOUR_USD, n.TEAM_BUDGET_USD)
RECORDED = (
    n.GPUS_HELD,
    n.USD_PER_HOUR,
    n.TEAM_USD_PER_HOUR,
    n.TEAM_SPENT_USD,
    *(recording.record for recording in RESOURCES),
)
"""Rules in the order in which they read one another."""
OF_CHIPS = (n.CHIPS_HELD, n.CHIP_USD_PER_HOUR, n.HELD_USD_PER_HOUR, n.IDLE_CHIP_USD_PER_HOUR)
HOUR = 3600


@dataclass
class Ran:
    """The month, as the keeper went through it."""

    month: Month
    history: dict[int, dict[str, Queue]]
    server: ApiServer
    said: list[dict[str, Any]]
    prometheus: Prometheus
    alerts: Mapping[str, Mapping[str, Any]]
    """The rule of each alert."""

    @property
    def url(self) -> str:
        return self.prometheus.url


def with_chips(month: Month) -> list[Team]:
    return [team for team in month.teams.values() if team.resource == TPU_RESOURCE]


def file_of_rules(month: Month) -> dict[str, Any]:
    chips = {flavor: usd for team in with_chips(month) for flavor, usd in team.prices.items()}
    budgets = {team.name: (team.queue, int(team.budget)) for team in month.teams.values()}
    money = Money(PRICES, budgets, chips=bool(chips), chip_hour_usd=chips)
    return rules(Thresholds(), namespaces=NAMESPACES, members={}, runbooks="https://example.com/r", money=money)


def is_dense(month: Month, at: int) -> bool:
    """Whether the keeper looks every five minutes then, not every hour: around what matters."""
    around = any(moment - HOUR <= at < moment + 2 * HOUR for moment in (FIRST, GAP[0], UNREAD[0], PERSON_HOLDS))
    return around or any(0.97 <= team.spent.get(at, 0.0) / team.budget < 1.01 for team in month.teams.values())


@contextmanager
def played(folder: Path, month: Month | None = None) -> Iterator[Ran]:
    """Goes through the month; its Prometheus, whose data are in `folder`, answers till the end."""
    month = month or Month()
    every = [rule for group in file_of_rules(month)["groups"] for rule in group["rules"]]
    names = (*RECORDED[:2], *(OF_CHIPS if with_chips(month) else ()), *RECORDED[2:])
    recorded = [rule for name in names for rule in every if rule.get("record") == name]
    constants = [
        (rule["record"], rule["labels"], float(rule["expr"].removeprefix("vector(").removesuffix(")")))
        for rule in every
        if rule.get("record") in CONSTANTS
    ]
    priced = {*PRICES, *(flavor for team in with_chips(month) for flavor in team.prices)}
    assert len(recorded) == len(names) and len(constants) == len(priced) + len(month.teams)
    teams = {
        team.name: {"namespace": team.namespace, "queues": [team.name, "default"], "budget_usd": team.budget}
        for team in month.teams.values()
    }
    paths = [queue_path(own["namespace"], queue) for own in teams.values() for queue in own["queues"]]
    server = ApiServer(*paths, defaults={POLICY: OPEN})
    said: list[dict[str, Any]] = []
    told: set[tuple[str, ...]] = set()
    history: dict[int, dict[str, Queue]] = {}

    def may_start(team: Team) -> bool:
        return read(server.ask(queue_path(team.namespace, team.queue))).policy == OPEN

    with pytest.MonkeyPatch.context() as patched, Prometheus(folder) as prometheus:
        patched.setattr(keeper, "ask", server.ask)
        patched.setattr(keeper, "say", lambda **what: said.append(what))
        nobody = f"http://127.0.0.1:{free_port()}"
        at = month.start
        while at < END:
            times = [at] if is_dense(month, at) else list(range(at, min(at + HOUR, END), STEP))
            samples = []
            for moment in times:
                month.step(moment, may_start)
                samples += [(metric, labels, moment, value) for metric, labels, value in month.samples(moment)]
            away = GAP[0] <= at < GAP[1]
            if not away:
                prometheus.take(samples)
                prometheus.take((metric, labels, moment, usd) for moment in times for metric, labels, usd in constants)
                prometheus.evaluate(recorded, times)
            at = times[-1] + STEP
            now = times[-1] + 30
            if now >= PERSON_HOLDS and "tabular" in month.teams and not said_by_a_person(server):
                server.edit(queue_path("team-tabular", "tabular"), POLICY, HOLD, manager="kubectl-patch")
            configuration = {
                "prometheus": nobody if away else prometheus.url,
                "spent": f"max by (team, month) ({n.TEAM_SPENT_USD})",
                "teams": teams,
                "drain_after_seconds": None,
            }
            assert keeper.turn(configuration, float(now), told) is not away, "it is well while it is answered"
            history[now] = {path: read(server.ask(path)) for path in paths}
        yield Ran(month, history, server, said, prometheus, {rule["alert"]: rule for rule in every if "alert" in rule})


def said_by_a_person(server: ApiServer) -> bool:
    return "kubectl-patch" in server.objects[queue_path("team-tabular", "tabular")].owners.get(POLICY, set())
