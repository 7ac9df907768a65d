"""What teams have spent, as Prometheus reckons it: at the stack's prices, each GPU once."""

from __future__ import annotations

from pathlib import Path

from tests.monitoring.promtool import MEMBERS, NAMESPACES, Case, Figure, check_rules, failures, kueue, needs_promtool
from trainyard.monitoring.recordings import Money
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

MONEY = Money(
    {"train-spot": 2.0, "train-on-demand": 4.0},
    {"vision": ("vision-queue", 1000), "nlp": ("nlp-queue", 500)},
    also_of={"vision-night": "vision"},
)
RULES = rules(
    Thresholds(), namespaces=NAMESPACES, members=MEMBERS, runbooks="https://example.com/runbooks", money=MONEY
)
USAGE = "kueue_cluster_queue_resource_usage"
QUEUE = 'cluster_queue="vision-queue", flavor="train-spot", resource="nvidia.com/gpu"'
DEAR = QUEUE.replace("spot", "on-demand")
STATUS = kueue("kueue_cluster_queue_status", 'cluster_queue="vision-queue", status="active"', "1x900")
EIGHT = kueue(USAGE, QUEUE, "8x900")


def spent(what: str, series: dict[str, str], at: str, value: float, team: str = "vision") -> Figure:
    expr = f'round(trainyard_team_spent_usd{{team="{team}"}}, 20)'
    return Figure(what, series, expr, at, value, "5m", f'{{month="1", team="{team}"}}', "5m")


# promtool evaluates the groups of one moment in any order, so that first steps may be missed: to the nearest 20 USD.
CASES = (
    spent("eight GPUs on spot, read from two replicas", EIGHT | STATUS, "9h55m", 160),
    spent("two prices", EIGHT | kueue(USAGE, DEAR, "4x900") | STATUS, "9h55m", 320),
    spent(
        "by night too",
        EIGHT | kueue(USAGE, QUEUE.replace("vision-queue", "vision-night"), "2x900") | STATUS,
        "9h55m",
        200,
    ),
    spent("a team that holds nothing has spent nothing", EIGHT | STATUS, "9h55m", 0, team="nlp"),
    spent(
        "what is not seen is not counted, and what was counted stays",
        kueue(USAGE, QUEUE, "8x59 stale") | kueue("kueue_cluster_queue_status", 'cluster_queue="q"', "1x59 stale"),
        "20h",
        80,
    ),
)
LADDER = {  # 8 GPUs at 2 USD: 1,000 USD are spent after 62 hours and a half
    "TeamBudgetNotice": {"31h": 0, "32h": 1, "55h": 0},
    "TeamBudgetWarning": {"49h": 0, "51h": 1, "64h": 0},
    "TeamBudgetSpent": {"62h": 0, "63h": 1},
}


@needs_promtool
def test_the_ledger_is_what_teams_held(tmp_path: Path) -> None:
    assert failures(CASES, tmp_path, RULES) == {}


@needs_promtool
def test_the_ladder_of_alerts_follows_the_ledger(tmp_path: Path) -> None:
    cases = [Case(alert, "eight GPUs", EIGHT | STATUS, fires, "5m", "5m") for alert, fires in LADDER.items()]
    cases.append(Case("LedgerSilent", "Kueue says nothing from the first", {}, {"1h": 1}, "5m", "5m"))
    cases.append(Case("LedgerSilent", "teams that hold nothing", STATUS, {"1h": 0}, "5m", "5m"))
    assert failures(cases, tmp_path, RULES) == {}


@needs_promtool
def test_a_stack_without_money_has_sound_rules_too(tmp_path: Path) -> None:
    assert not check_rules(RULES, tmp_path)
    none = rules(Thresholds(), namespaces=NAMESPACES, members=MEMBERS, runbooks="https://example.com/runbooks")
    assert not check_rules(none, tmp_path)
