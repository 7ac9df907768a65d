"""For every alert: a rolling restart of the programs behind its figures, while all is well or what it tells stays as it
is. It fires as often as without one: mostly not at all.

An exporter on every node is away for a moment; kube-state-metrics and Kueue's manager have the old and the new pod side
by side for a while, and so every series twice.
"""

from __future__ import annotations

from tests.monitoring.promtool import Case, restarted, two_managers_restarted
from trainyard.monitoring.alerts.gpu import XID_KINDS

GPU = 'gpu="0", UUID="GPU-1", Hostname="node-1", modelName="H100"'
POD = 'namespace="team-vision", pod="run-0"'
BUSY = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
XID = "DCGM_EXP_XID_ERRORS_COUNT"
AT, LASTS = 60, 200
"""Minutes after which something starts anew, and that a case lasts."""
AFTER = {"61m": 0, "64m": 0, "80m": 0, "3h": 0}
"""Nothing fires: at the restart, soon after it and later."""
BOTH = -3
"""Minutes that the old and the new pod of a Deployment are there together, as `away`."""


def of_gpus(series: str, values: str, labels: str = GPU) -> dict[str, str]:
    """What the GPUs' exporter says, which is gone from its node for three minutes."""
    return restarted(series, labels, values, AT, LASTS, away=3)


def of_objects(series: str, labels: str, values: str) -> dict[str, str]:
    """What kube-state-metrics says, of which there are two pods for three minutes."""
    return restarted(series, labels, values, AT, LASTS, away=BOTH)


def _gpus() -> list[Case]:
    held = f"{GPU}, {POD}"
    no_error = of_gpus(XID, "0|0", f'{GPU}, xid="0"')
    cases = [
        Case("GpuUnderused", "a busy job", of_gpus(BUSY, "0.9|0.9", held), AFTER | {"6h": 0}),
        Case("GpuUnderused", "a slow job is one", of_gpus(BUSY, "0.3|0.3", held), {"3h": 1}),
        Case("GpuIdle", "a busy job", restarted(BUSY, held, "0.9|0.9", 120, 400, away=6), {"61m": 0, "2h": 0}, "30s"),
        Case(
            "GpuIdle",
            "one that was busy until the exporter went",
            restarted(BUSY, held, "0.9|0", 120, 400, away=6),
            {"61m": 0, "80m": 0, "95m": 0},
            "30s",
        ),
        *(
            Case(alert, "no error", no_error, AFTER)
            for alert in (*(kind.alert for kind in XID_KINDS), "GpuUnknownError")
        ),
        Case(
            "GpuMemoryError", "an error before it is one", of_gpus(XID, "1|0", f'{GPU}, xid="48"'), {"64m": 1, "75m": 0}
        ),
        Case("GpuRowRemapped", "an old row", of_gpus("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "3|3"), AFTER),
        Case("GpuRowRemapFailed", "well", of_gpus("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0|0"), AFTER),
        Case("GpuRowRemapFailed", "no spare rows is one", of_gpus("DCGM_FI_DEV_ROW_REMAP_FAILURE", "1|1"), {"3h": 1}),
        Case("GpuNvlinkUnstable", "old replays", of_gpus("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "5|5"), AFTER),
        Case("GpuThrottled", "a power limit, as usual", of_gpus("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "4|4"), AFTER),
        Case(
            "GpuThrottled",
            "hot for a moment on both sides of it",
            restarted("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", GPU, "0x54 64|64x5 0", 5, 200, away=2),
            AFTER,
        ),
    ]
    ready = 'node="node-1", condition="AcceleratedHardwareReady", status="false"'
    cases.append(
        Case("GpuNodeUnhealthy", "well", of_objects("kube_node_status_condition", ready, "0|0"), AFTER),
    )
    pool = 'label_ml_platform_pool="train", label_ml_platform_capacity="spot"'
    nodes: dict[str, str] = {}
    exporters: dict[str, str] = {}
    for number in range(20):  # the exporter starts anew on a node every four minutes, and each takes as long
        node, at = f"node-{number}", 10 + 4 * number
        nodes[f'kube_node_status_allocatable{{node="{node}", resource="nvidia_com_gpu"}}'] = "1x200"
        nodes[f'kube_node_labels{{node="{node}", {pool}}}'] = "1x200"
        own = f'gpu="0", UUID="GPU-{number}", Hostname="{node}"'
        exporters |= restarted("DCGM_FI_DEV_GPU_TEMP", own, "40|40", at, LASTS, away=5)
    cases.append(Case("GpuFiguresMissing", "one node after another", nodes | exporters, {"40m": 0, "60m": 0, "90m": 0}))
    return cases


def _jobs() -> list[Case]:
    workload = 'namespace="team-vision", name="job-1", queue="vision"'
    condition, time = "kueue_workload_condition", "kueue_workload_condition_time"
    quota = f'{workload}, type="QuotaReserved"'
    waits = of_objects(condition, f'{quota}, reason="Pending"', "0|0") | of_objects(
        time, f'{quota}, reason="Pending"', "-9000|-9000"
    )
    runs = of_objects(condition, f'{quota}, reason="QuotaReserved"', "1|1") | of_objects(
        time, f'{quota}, reason="QuotaReserved"', "-9000|-9000"
    )
    status = 'namespace="team-vision", name="vision", active="False"'
    held = two_managers_restarted("kueue_local_queue_status", status, "1|1", AT, LASTS)
    both_gone = {
        name: values.replace("_x57", "_x64").replace("_x61", "_x64").replace("1x64 stale", "1x60 stale")
        for name, values in held.items()
    }
    ended = {}
    for number in range(10):
        reason = "Failed" if number < 2 else "Succeeded"
        labels = f'namespace="team-vision", name="job-{number}", type="Finished", reason="{reason}"'
        ended |= of_objects(time, labels, "600|600")
    return [
        Case("QueueWaiting", "a job that runs", runs, AFTER),
        Case("QueueWaiting", "the queue is held", waits | held, AFTER),
        Case("QueueWaiting", "the queue is held, and no manager answers for four minutes", waits | both_gone, AFTER),
        Case("QueueWaiting", "one that waits is one", waits, {"50m": 1, "61m": 1, "64m": 1, "3h": 1}),
        Case("JobsFailing", "two of ten are not two of twenty", ended, {"65m": 0, "2h": 0}),
    ]


def _money() -> list[Case]:
    usage = "kueue_cluster_queue_resource_usage"
    queue = 'cluster_queue="vision", flavor="train-spot", resource="nvidia.com/gpu"'
    price = {'trainyard_gpu_hour_usd{flavor="train-spot"}': "2x2200"}
    budget = {'trainyard_team_budget_usd{team="vision", cluster_queue="vision"}': "1000x2200"}
    active = 'cluster_queue="vision", status="active"'

    def held(minutes: int, lasts: int) -> dict[str, str]:
        series = two_managers_restarted(usage, queue, "8|8", minutes, lasts)
        return series | two_managers_restarted("kueue_cluster_queue_status", active, "1|1", minutes, lasts)

    def spent(hours: int) -> dict[str, str]:
        """Eight GPUs at 2 USD, 16 USD an hour, through a restart after half of the time: of 1,000 USD."""
        return held(hours * 6, hours * 12) | price | budget

    gone = {
        name: values.replace("_x57", "_x66").replace("_x61", "_x66").replace("x64 stale", "x60 stale")
        for name, values in held(AT, LASTS).items()
    }
    return [
        Case(
            "CostSpike",
            "the manager starts anew under what is usual",
            two_managers_restarted(usage, queue, "16|16", 1151, 1900) | price,
            {"96h": 0, "97h": 0, "110h": 0, "150h": 0},
            "5m",
            "15m",
        ),
        *(
            Case(alert, "it adds nothing", spent(hours), {f"{hours // 2}h": 0, f"{hours - 1}h": 0}, "5m", "5m")
            for alert, hours in (
                ("TeamBudgetNotice", 30),
                ("TeamBudgetWarning", 48),
                ("TeamBudgetSpent", 61),
                ("EnvironmentBudgetWarning", 48),
                ("EnvironmentBudgetSpent", 61),
            )
        ),
        Case("TeamBudgetWarning", "nor takes away", spent(56), {"55h": 1}, "5m", "5m"),
        Case("LedgerSilent", "two replicas, one after the other", held(AT, LASTS) | price | budget, AFTER, step="5m"),
        Case("LedgerSilent", "no manager for six minutes", gone | price | budget, AFTER, step="5m"),
    ]


def _platform() -> list[Case]:
    def replicas(values: str, deployment: str) -> dict[str, str]:
        own = f'namespace="kueue-system", deployment="{deployment}"'
        return {
            f"kube_deployment_status_replicas_available{{{own}}}": values,
            f"kube_deployment_spec_replicas{{{own}}}": "2x200",
        }

    def agents(unavailable: str, updated: str) -> dict[str, str]:
        own = 'namespace="kube-system", daemonset="dcgm-exporter", instance="ksm-1"'
        return {
            f"kube_daemonset_status_number_unavailable{{{own}}}": unavailable,
            f"kube_daemonset_status_updated_number_scheduled{{{own}}}": updated,
            f"kube_daemonset_status_desired_number_scheduled{{{own}}}": "60x300",
        }

    objects = "kube_daemonset_status_number_unavailable"
    claim = 'namespace="monitoring", persistentvolumeclaim="prometheus"'
    available, capacity = (f"kubelet_volume_stats_{what}_bytes" for what in ("available", "capacity"))
    expiry, in_a_year = "trainyard_certificate_expiry_seconds", str(365 * 86_400)
    failures_of = "prometheus_rule_evaluation_failures_total"
    refused = "alertmanager_notifications_failed_total"
    active = 'cluster_queue="vision", status="active"'
    ready = 'node="node-1", condition="Ready", status="true"'
    node = of_objects("kube_node_info", 'node="a"', "1|1")
    return [
        Case("NodeNotReady", "kube-state-metrics", of_objects("kube_node_status_condition", ready, "1|1"), AFTER),
        Case("ControllerDown", "one replica at a time", replicas("2x58 1x20 2x130", "kueue-controller-manager"), AFTER),
        Case("ControllerDown", "its only replica", replicas("1x58 0x5 1x130", "kueue-controller-manager"), AFTER),
        Case("KeeperCannotAct", "its only replica", replicas("1x58 0x5 1x130", "budget-keeper"), AFTER),
        Case(
            "NodeAgentDown",
            "kube-state-metrics, and all agents are there",
            of_objects(objects, 'namespace="kube-system", daemonset="dcgm-exporter"', "0|0"),
            AFTER,
        ),
        Case(
            "NodeAgentDown",
            "a new version comes to sixty nodes, one after another",
            agents("0x20 1x120 0x100", "60x19 0+0.5x120 60x100"),
            {"45m": 0, "75m": 0, "2h": 0, "3h": 0},
        ),
        Case(
            "NodeAgentDown",
            "a new version that stays on its first node, and does not run there",
            agents("0x20 1x200", "60x19 1x200"),
            {"45m": 0, "80m": 1, "3h": 1},
        ),
        Case(
            "DiskFull",
            "the pod with the volume goes to another node",
            restarted(available, claim, "30|30", AT, LASTS, away=3)
            | restarted(capacity, claim, "100|100", AT, LASTS, away=3),
            AFTER,
        ),
        Case(
            "CertificateExpiring",
            "Prometheus",
            restarted(expiry, 'certificate="mlflow"', f"{in_a_year}|{in_a_year}", AT, LASTS, pod="prometheus-{}"),
            AFTER,
        ),
        Case(
            "QueueFiguresMissing",
            "Kueue's managers",
            two_managers_restarted("kueue_cluster_queue_status", active, "1|1", AT, LASTS),
            AFTER,
        ),
        Case("ObjectFiguresMissing", "kube-state-metrics", node, AFTER),
        Case(
            "ObjectFiguresMissing",
            "kube-state-metrics, on another node after ten minutes",
            restarted("kube_node_info", 'node="a"', "1|1", AT, LASTS, away=10),
            AFTER,
        ),
        Case(
            "TargetDown",
            "a program that is away for five minutes",
            {
                'up{job="kueue", instance="a"}': "1x58 0x5 stale",
                'up{job="kueue", instance="b"}': "_x62 1x130",
            },
            AFTER,
        ),
        Case(
            "RulesFailing",
            "Prometheus, with failures of long ago",
            restarted(failures_of, 'rule_group="a"', "3|0", AT, LASTS),
            AFTER,
        ),
        Case(
            "AlertsNotDelivered",
            "Alertmanager, with failures of long ago",
            restarted(refused, 'integration="sns"', "7|0", AT, LASTS),
            AFTER,
        ),
    ]


def _checkpoints() -> list[Case]:
    day, space = 24 * 3600, 'namespace="team-vision"'
    drill = f'{space}, cronjob="checkpoint-drill"'
    job = f'{space}, job_name="checkpoint-drill-1"'

    def each_hour(series: str, labels: str, value: int) -> dict[str, str]:
        return restarted(series, labels, f"{value}|{value}", 250, 840, away=-1)

    made = each_hour("kube_cronjob_created", drill, 0)
    restored = each_hour("kube_cronjob_status_last_successful_time", drill, 8 * day)
    failed = each_hour("kube_job_failed", f'{job}, condition="true"', 1) | each_hour("kube_job_created", job, 24 * 3600)
    late = {"249h": 0, "252h": 0, "300h": 0}
    return [
        Case(
            "CheckpointDrillFailed",
            "the first had nothing, the second restored",
            made | restored | failed,
            late,
            "1h",
            "1h",
        ),
        Case("CheckpointDrillOverdue", "restored two days before", made | restored, late, "1h", "1h"),
        Case(
            "CheckpointDrillOverdue",
            "kube-state-metrics is away for a while",
            restarted("kube_cronjob_created", drill, "0|0", 250, 840, away=2)
            | restarted("kube_cronjob_status_last_successful_time", drill, f"{8 * day}|{8 * day}", 250, 840, away=2),
            late,
            "1h",
            "1h",
        ),
        *_team_checkpoints(),
    ]


def _team_checkpoints() -> list[Case]:
    """Half-hourly; the restart is after 40 hours."""

    def half_hourly(series: str, labels: str, value: int) -> dict[str, str]:
        return restarted(series, f'namespace="team-vision", {labels}', f"{value}|{value}", 80, 200, away=-1)

    def well(cron_job: str) -> dict[str, str]:
        of_it, job = f'cronjob="{cron_job}"', f'job_name="{cron_job}-1"'
        return (
            half_hourly("kube_cronjob_created", of_it, 0)
            | half_hourly("kube_cronjob_status_last_successful_time", of_it, 24 * 3600 + 60)
            | half_hourly("kube_job_created", job, 24 * 3600)
            | half_hourly("kube_job_failed", f'{job}, condition="true"', 0)
        )

    trains = (
        half_hourly("kube_pod_container_resource_requests", 'pod="run-0", container="a", resource="nvidia_com_gpu"', 8)
        | half_hourly("kube_pod_status_phase", 'pod="run-0", phase="Running"', 1)
        | half_hourly("kube_pod_owner", 'pod="run-0", owner_kind="Job"', 1)
    )
    quiet, every = {"39h30m": 0, "40h": 0, "41h": 0, "60h": 0}, "30m"
    return [
        Case("TeamCheckpointDamaged", "they are whole", well("checkpoint-check"), quiet, every, every),
        Case("TeamCheckpointOld", "it trains and saves", well("checkpoint-age") | trains, quiet, every, every),
        Case("TeamCheckpointUnchecked", "looked at two days before", well("checkpoint-check"), quiet, every, every),
    ]


RESTARTS: tuple[Case, ...] = (*_gpus(), *_jobs(), *_money(), *_platform(), *_checkpoints())
