"""Every rule, played by promtool: what is bad fires in time, what is good and a rolling restart do not."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.monitoring.cases import CASES
from tests.monitoring.figures import FIGURES
from tests.monitoring.promtool import NAMESPACES, RULES, Case, check_rules, failures, needed, needs_promtool
from tests.monitoring.restarts import RESTARTS
from trainyard.conventions.gcp import DCGM_SERIES
from trainyard.monitoring.alerts import all_alerts
from trainyard.monitoring.alerts.money import LADDER
from trainyard.monitoring.alerts.platform import WATCHDOG
from trainyard.monitoring.names import XIDS
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import SOURCES, Thresholds

ALERTS = all_alerts(Thresholds(), NAMESPACES)
PLAYED = (*CASES, *RESTARTS, *FIGURES)


@pytest.fixture(scope="module")
def verdict(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return failures(PLAYED, tmp_path_factory.mktemp("promtool"))


@needs_promtool
@pytest.mark.parametrize(
    "number",
    range(len(PLAYED)),
    ids=[f"{case.alert}: {case.what}" if isinstance(case, Case) else case.what for case in PLAYED],
)
def test_a_case(number: int, verdict: dict[str, str]) -> None:
    assert str(number) not in verdict, verdict[str(number)]


@needs_promtool
def test_promtool_takes_the_rules(tmp_path) -> None:
    assert check_rules(RULES, tmp_path) == ""


@pytest.mark.parametrize("alert", [alert.name for alert in ALERTS])
def test_every_alert_has_a_case_that_fires_and_one_that_does_not(alert: str) -> None:
    of_it = [case for case in CASES if case.alert == alert]
    assert any(max(case.fires.values()) > 0 for case in of_it)
    assert alert == WATCHDOG or any(max(case.fires.values()) == 0 for case in of_it)


def metric_of(series: str) -> str:
    return series.partition("{")[0]


def addresses(case: Case, metric: str) -> set[str]:
    """Under how many addresses a case has the series of a metric."""
    return {
        found
        for series in case.series
        if metric_of(series) == metric
        for found in re.findall(r'instance="([^"]+)"', series)
    }


@pytest.mark.parametrize("alert", [alert.name for alert in ALERTS if alert.name != WATCHDOG])
def test_every_alert_is_played_through_a_restart_in_which_it_does_not_fire(alert: str) -> None:
    quiet = [case for case in RESTARTS if case.alert == alert and max(case.fires.values()) == 0]
    own_replicas = ("kube_deployment_status_replicas_available", "kube_daemonset_status_number_unavailable")
    assert any(
        len(addresses(case, metric)) > 1 or metric in own_replicas
        for case in quiet
        for metric in map(metric_of, case.series)
    )


OF_MANAGER = re.compile(r"\bkueue_(?!workload_)\w+")
"""Metrics of Kueue's manager, of which there are two replicas; those of workloads are of kube-state-metrics."""
ON_MANAGER = [alert.name for alert in ALERTS if OF_MANAGER.search(yaml.safe_dump(needed(RULES, alert.name)))]


def test_alerts_on_what_the_manager_exports_are_known() -> None:
    assert {"QueueWaiting", "CostSpike", "LedgerSilent", "QueueFiguresMissing", *LADDER} <= set(ON_MANAGER)


@pytest.mark.parametrize("alert", ON_MANAGER)
def test_what_reads_the_manager_is_played_with_both_of_its_replicas(alert: str) -> None:
    """One that fires tells that nothing is lost, one that does not that nothing is counted twice."""

    def both(case: Case) -> bool:
        texts = [series for series in case.series if OF_MANAGER.match(series)]
        return all(any(f'replica_role="{role}"' in text for text in texts) for role in ("leader", "follower"))

    assert any(both(case) for case in (*CASES, *RESTARTS) if case.alert == alert)


def test_an_alert_on_what_nobody_measures_is_left_out() -> None:
    """It would never fire, and say by its silence that all is well."""
    whole, part = ({rule["alert"] for rule in alerts_of(series)} for series in (None, DCGM_SERIES))
    assert whole == {alert.name for alert in ALERTS}
    gone = {"GpuRowRemapped", "GpuRowRemapFailed", "GpuNvlinkUnstable", "GpuThrottled"}
    assert whole - part == gone | {alert.name for alert in ALERTS if XIDS in alert.expr}
    assert {"GpuUnderused", "GpuIdle", "GpuFiguresMissing"} <= part


def alerts_of(gpu_series) -> list:
    made = rules(Thresholds(), namespaces=NAMESPACES, members={}, runbooks="docs", gpu_series=gpu_series)
    return [rule for group in made["groups"] for rule in group["rules"] if "alert" in rule]


def test_names_are_there_once() -> None:
    names = [alert.name for alert in ALERTS]
    assert len(names) == len(set(names))


def test_every_threshold_is_compared_with_and_has_a_source() -> None:
    fields = set(Thresholds.__dataclass_fields__)
    assert fields == set(SOURCES)
    for field in fields:
        default = getattr(Thresholds(), field)
        other = tuple(value + 7 for value in default) if isinstance(default, tuple) else default + 7
        changed = all_alerts(Thresholds(**{field: other}), NAMESPACES)
        assert [alert.expr for alert in changed] != [alert.expr for alert in ALERTS] or [
            alert.lasts for alert in changed
        ] != [alert.lasts for alert in ALERTS], field


@needs_promtool
def test_a_wrong_expectation_is_told(tmp_path) -> None:
    """What could not fail would prove nothing."""
    wrong = [Case(case.alert, case.what, case.series, dict.fromkeys(case.fires, 7)) for case in CASES[:3]]
    assert set(failures(wrong, tmp_path)) == {"0", "1", "2"}
