"""TPU chips in figures and rules: counted beside GPUs where a stack has slices, by its own price, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from tests.monitoring.promtool import MEMBERS, NAMESPACES, Case, Figure, check_rules, failures, kueue, needs_promtool
from trainyard.monitoring.recordings import CHIPS, Money
from trainyard.monitoring.resource_costs import IDLE_CHIPS
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

BUDGETS = {"vision": ("vision", 1000)}


def _rules(money: Money) -> dict:
    return rules(Thresholds(), namespaces=NAMESPACES, members=MEMBERS, runbooks="https://example.com/r", money=money)


RULES = _rules(Money({"train-spot": 2.0}, BUDGETS, chips=True, chip_hour_usd={"v6e-spot": 1.0}))
WITHOUT = _rules(Money({"train-spot": 2.0}, BUDGETS))
USAGE = "kueue_cluster_queue_resource_usage"
OF = 'cluster_queue="vision"'
STATUS = kueue("kueue_cluster_queue_status", f'{OF}, status="active"', "1x2200")
SIXTEEN = kueue(USAGE, f'{OF}, flavor="v6e-spot", resource="google.com/tpu"', "16x2200")
FOUR_GPUS = kueue(USAGE, f'{OF}, flavor="train-spot", resource="nvidia.com/gpu"', "4x2200")
UNPRICED = kueue(USAGE, f'{OF}, flavor="v5e-spot", resource="google.com/tpu"', "64x2200")
INFO = {f'kube_node_info{{node="tpu-{number}"}}': "1x2200" for number in range(8)}
NODES = INFO | {
    f'{metric}{{node="tpu-{number}", {labels}}}': value
    for number in range(8)
    for metric, labels, value in (
        ("kube_node_status_allocatable", 'resource="google_com_tpu", instance="k"', "4x2200"),
        ("kube_node_labels", 'label_ml_platform_pool="v6e", label_ml_platform_capacity="spot"', "1x2200"),
    )
}


def _spent(what: str, series: dict[str, str], value: float) -> Figure:
    expr = 'round(trainyard_team_spent_usd{team="vision"}, 20)'
    return Figure(what, series, expr, "9h55m", value, "5m", '{month="1", team="vision"}', "5m")


def _figure(what: str, series: dict[str, str], name: str, value: float) -> Figure:
    return Figure(what, series, f"sum({name})", "2h", value, "5m", "{}", "5m")


FIGURES = (
    _spent("sixteen chips, read from two replicas", SIXTEEN | STATUS, 160),
    _spent("chips and GPUs of one queue", SIXTEEN | FOUR_GPUS | STATUS, 240),
    _spent("GPUs alone, in a stack with slices", FOUR_GPUS | STATUS, 80),
    _spent("chips without a price count nothing, and take nothing away", UNPRICED | FOUR_GPUS | STATUS, 80),
    _figure("chips that stand", NODES, "trainyard:chips_provisioned", 32),
    _figure("and are held", SIXTEEN, "trainyard:chips_held", 16),
    _figure("what they cost", NODES, "trainyard:chip_provisioned_usd_per_hour", 32),
    _figure("what nobody holds of them", NODES | SIXTEEN, "trainyard:idle_chip_usd_per_hour", 16),
    _figure("no slice stands: nothing is idle, which is a figure", INFO, "trainyard:idle_chip_usd_per_hour", 0),
    _figure("chips are no GPUs", NODES | SIXTEEN | STATUS, "trainyard:gpus_held or vector(0)", 0),
)
WITHOUT_SLICES = (_spent("a stack without slices prices no chips", SIXTEEN | FOUR_GPUS | STATUS, 80),)


@needs_promtool
def test_chips_are_money(tmp_path: Path) -> None:
    assert failures(FIGURES, tmp_path, RULES) == {}
    (tmp_path / "without").mkdir()
    assert failures(WITHOUT_SLICES, tmp_path / "without", WITHOUT) == {}
    assert not check_rules(RULES, tmp_path)


@needs_promtool
def test_alerts_on_money_hear_of_chips(tmp_path: Path) -> None:
    rising = kueue(USAGE, f'{OF}, flavor="v6e-spot", resource="google.com/tpu"', "16x96 256x24")
    cases = [
        Case("TeamBudgetSpent", "sixteen chips", SIXTEEN | STATUS, {"61h": 0, "63h30m": 1}, "5m", "5m"),
        Case("CostSpike", "four days of few chips, then many", rising | STATUS, {"95h": 0, "118h": 1}, "1h", "1h"),
        Case("CostSpike", "as many as ever", SIXTEEN | STATUS, {"150h": 0}, "5m", "5m"),
    ]
    assert failures(cases, tmp_path, RULES) == {}


def test_a_stack_without_slices_has_no_rule_of_chips() -> None:
    def words(made: dict) -> str:
        return " ".join(f"{rule.get('record')} {rule['expr']}" for group in made["groups"] for rule in group["rules"])

    assert "chip" not in words(WITHOUT) and "google" not in words(WITHOUT)
    assert all(recording.record in words(RULES) for recording in (*CHIPS, *IDLE_CHIPS))
