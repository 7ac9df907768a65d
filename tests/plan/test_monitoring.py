"""What a plan says of a cluster's monitoring: sizes by profile, thresholds, what it costs while nothing runs."""

import pytest

from tests.plan.stack_files import keys, plan_of
from tests.plan.test_gcp_api import GOOGLE
from trainyard.monitoring.thresholds import Thresholds
from trainyard.problems import SettingsError


def monitoring(**settings):
    return plan_of(monitoring=keys(**settings)).clusters[0].monitoring


def test_it_is_there_and_sized_by_the_profile():
    found = plan_of().clusters[0].monitoring
    assert found is not None
    assert (found.retention_days, found.storage_gib) == (45, 50)
    assert found.thresholds == Thresholds()
    assert found.runbooks == "docs/runbooks"


def test_a_large_team_gets_more():
    found = plan_of(**keys(team_size=40, monthly_budget_usd=400_000)).clusters[0].monitoring
    assert found is not None
    assert (found.storage_gib, found.memory) == (200, "8Gi")


def test_what_the_stack_file_says_goes_before_the_profile():
    found = monitoring(retention_days=90, storage_gib=120, cpu="2", memory="6Gi", runbooks="https://docs.example.com/r")
    assert (found.retention_days, found.storage_gib, found.cpu, found.memory) == (90, 120, "2", "6Gi")
    assert found.runbooks == "https://docs.example.com/r"


def test_thresholds_are_settings_and_say_where_they_come_from():
    plan = plan_of(monitoring=keys(alerts=keys(queue_hours=6, budget_percents=[40, 70, 90])))
    found = plan.clusters[0].monitoring
    assert found is not None
    assert found.thresholds == Thresholds(queue_hours=6, budget_percents=(40, 70, 90))
    sources = {decision.key: decision.source for decision in plan.core.decisions}
    assert sources["monitoring.thresholds.queue_hours"] == "setting monitoring.alerts.queueHours"
    assert "agency guide" in sources["monitoring.thresholds.gpu_utilisation_percent"]


def test_it_can_be_left_out_and_then_costs_nothing():
    plan = plan_of(monitoring=keys(enabled=False))
    assert plan.clusters[0].monitoring is None
    assert not any("Prometheus" in item.what or "watchdog" in item.what for item in plan.core.idle_floor.items)


def test_its_volume_and_alarm_are_in_the_idle_floor():
    items = {item.what: item for item in plan_of(monitoring=keys(storage_gib=100)).core.idle_floor.items}
    assert items["volume of Prometheus (100 GiB)"].monthly_usd == 8
    assert items["volume of Prometheus (100 GiB)"].setting == "monitoring.storageGib"
    assert items["alarm on the watchdog"].monthly_usd == 0.1


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"retention_days": 31}, "monitoring.retentionDays"),
        ({"alerts": keys(budget_percents=[80, 50, 100])}, "monitoring.alerts.budgetPercents"),
        ({"alerts": keys(budget_percents=[50, 50, 100])}, "monitoring.alerts.budgetPercents"),
        ({"alerts": keys(gpu_utilisation_percent=0)}, "monitoring.alerts.gpuUtilisationPercent"),
        ({"runbooks": "https://docs.example.com/r/"}, "monitoring.runbooks"),
        ({"memory": "60Gi"}, "monitoring.memory"),
        ({"cpu": "6"}, "monitoring.cpu"),
    ],
)
def test_what_cannot_work_is_refused_by_its_key(settings, key):
    with pytest.raises(SettingsError) as refused:
        monitoring(**settings)
    assert key in {problem.key for problem in refused.value.problems}


def test_a_prometheus_that_no_node_takes_asks_for_no_more_nodes():
    with pytest.raises(SettingsError) as refused:
        monitoring(memory="60Gi")
    assert {problem.key for problem in refused.value.problems} == {"monitoring.memory"}


def test_one_node_that_holds_all_has_to_hold_the_update_of_the_queues_too():
    """Kueue's third pod is there before one of its two goes."""
    alone = {"mlflow": {"enabled": False}, "monitoring": {"enabled": True}}
    nodes = {"instanceTypes": ["e2-standard-4"], "minNodes": 1}
    with pytest.raises(SettingsError, match=r"systemNodes\.maxNodes: got 1; .* while one of them is updated"):
        plan_of(**GOOGLE, **alone, systemNodes={**nodes, "maxNodes": 1})
    plan_of(**GOOGLE, **alone, systemNodes={**nodes, "maxNodes": 2})


@pytest.mark.parametrize(
    ("cloud", "machine", "drilled", "looked_at"),
    [
        ({}, "m7i.large", False, True),
        ({}, "m7i.xlarge", True, True),
        (GOOGLE, "e2-standard-2", False, True),
        (GOOGLE, "e2-standard-4", True, True),
    ],
)
def test_a_drill_that_no_node_of_the_cpu_pool_takes_is_left_out(cloud, machine, drilled, looked_at):
    pool = {"instanceTypes": [machine]}
    plan = plan_of(**cloud, cpuPool=pool)
    [cluster] = plan.clusters
    assert (cluster.drill is not None, cluster.check is not None) == (drilled, looked_at)
    why = {decision.key: decision.source for decision in plan.core.decisions}["drill.enabled"]
    assert ("no node of the CPU pool has 2 cores and 8 GiB" in why) is not drilled
    if not drilled:
        with pytest.raises(SettingsError, match=r"monitoring\.checkpointDrill: .*which one of its nodes has too"):
            plan_of(**cloud, cpuPool=pool, monitoring={"checkpointDrill": True})
