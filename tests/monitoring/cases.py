"""For every alert: a bad situation that fires in time, and a good one that does not. Restarts are beside, in
`restarts.py`."""

from __future__ import annotations

from tests.monitoring.promtool import Case, kueue
from trainyard.monitoring.alerts.gpu import XID_KINDS

GPU = 'gpu="0", UUID="GPU-1", Hostname="node-1", modelName="H100", instance="10.0.1.1:9400"'
SECOND = GPU.replace('gpu="0", UUID="GPU-1"', 'gpu="1", UUID="GPU-2"')
POD = 'namespace="team-vision", pod="run-0"'
BUSY = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
XID = "DCGM_EXP_XID_ERRORS_COUNT"
WORKLOAD = 'namespace="team-vision", name="job-1", queue="vision", instance="ksm-1"'


def _gpu_use() -> list[Case]:
    def busy(values: str, labels: str = f"{GPU}, {POD}") -> dict[str, str]:
        return {f"{BUSY}{{{labels}}}": values}

    return [
        Case("GpuUnderused", "a third", busy("0.3x400"), {"2h": 0, "2h25m": 0, "2h40m": 1}),
        Case("GpuUnderused", "as it should be", busy("0.9x400"), {"6h": 0}),
        Case("GpuUnderused", "a young pod that still loads", busy("0x90"), {"80m": 0, "90m": 0}),
        Case("GpuUnderused", "GPUs that nobody has", busy("0x400", GPU), {"6h": 0}),
        Case(
            "GpuUnderused",
            "two GPUs of one pod are one alert",
            busy("0.1x400") | busy("0.1x400", f"{SECOND}, {POD}"),
            {"3h": 1},
        ),
        Case("GpuIdle", "nothing for an hour", busy("0x200", f"{GPU}, {POD}"), {"40m": 0, "55m": 0}, every="1m"),
        Case("GpuIdle", "nothing for an hour, read each 30 s", busy("0x400"), {"30m": 0, "55m": 1}, every="30s"),
        Case("GpuIdle", "at work", busy("0.8x400"), {"3h": 0}, every="30s"),
        Case(
            "GpuIdle",
            "one rank of two works",
            busy("0x400") | busy("0.7x400", f"{SECOND}, {POD}"),
            {"3h": 0},
            every="30s",
        ),
        Case("GpuIdle", "the exporter was gone most of the time", busy("0x10 _x80 0x20"), {"55m": 0}, every="30s"),
        Case("GpuIdle", "no figures at all", {}, {"3h": 0}),
    ]


def _hardware() -> list[Case]:
    found: list[Case] = []
    for kind in XID_KINDS:
        for xid in kind.xids:
            series = {f'{XID}{{{GPU}, xid="{xid}"}}': "0x20 1x4 0x100"}
            found.append(Case(kind.alert, f"XID {xid}", series, {"10m": 0, "21m": 1, "60m": 0}))
    other = {f'{XID}{{{GPU}, xid="171"}}': "0x20 1x4 0x100"}
    none = {f'{XID}{{{GPU}, xid="0"}}': "0x200"}
    remapped, failed = "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_FAILURE"
    recovery, replay = (f"DCGM_FI_DEV_NVLINK_{what}_ERROR_COUNT_TOTAL" for what in ("RECOVERY", "REPLAY"))
    clock = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"

    def clocks(values: str) -> dict[str, str]:
        return {f"{clock}{{{GPU}}}": values}

    ready = "kube_node_status_condition"
    broken = 'node="node-1", condition="AcceleratedHardwareReady", status="false"'
    return [
        *found,
        Case("GpuUnknownError", "an XID of no kind", other, {"10m": 0, "21m": 1}),
        Case("GpuUnknownError", "a known one", {f'{XID}{{{GPU}, xid="48"}}': "1x100"}, {"30m": 0}),
        *(
            Case(alert, "no error", none, {"2h": 0})
            for alert in (*(kind.alert for kind in XID_KINDS), "GpuUnknownError")
        ),
        Case("GpuMemoryError", "a program's error only", {f'{XID}{{{GPU}, xid="31"}}': "1x100"}, {"30m": 0}),
        Case(
            "GpuMemoryError",
            "two GPUs are two",
            {
                f'{XID}{{{GPU}, xid="48"}}': "1x100",
                f'{XID}{{{SECOND}, xid="48"}}': "1x100",
            },
            {"30m": 2},
        ),
        Case("GpuRowRemapped", "one row", {f"{remapped}{{{GPU}}}": "0x30 1x100"}, {"25m": 0, "33m": 1}),
        Case("GpuRowRemapped", "one long ago", {f"{remapped}{{{GPU}}}": "3x200"}, {"3h": 0}),
        Case("GpuRowRemapFailed", "no spare rows", {f"{failed}{{{GPU}}}": "0x30 1x100"}, {"25m": 0, "32m": 1}),
        Case("GpuRowRemapFailed", "well", {f"{failed}{{{GPU}}}": "0x200"}, {"3h": 0}),
        Case("GpuNvlinkUnstable", "a recovery", {f"{recovery}{{{GPU}}}": "0x30 1x60"}, {"29m": 0, "33m": 1}),
        Case("GpuNvlinkUnstable", "replays", {f"{replay}{{{GPU}}}": "5x30 9x60"}, {"29m": 0, "33m": 1}),
        Case("GpuNvlinkUnstable", "errors of long ago", {f"{replay}{{{GPU}}}": "5x100"}, {"90m": 0}),
        Case("GpuThrottled", "heat, by hardware", clocks("64x60"), {"10m": 0, "20m": 1}),
        Case("GpuThrottled", "heat and a power limit", clocks("68x60"), {"20m": 1}),
        Case("GpuThrottled", "power supply", clocks("128x60"), {"20m": 1}),
        Case("GpuThrottled", "heat, by the driver", clocks("32x60"), {"20m": 1}),
        Case("GpuThrottled", "idle", clocks("1x60"), {"50m": 0}),
        Case("GpuThrottled", "a power limit alone, as usual", clocks("4x60"), {"50m": 0}),
        Case("GpuThrottled", "hot for a moment", clocks("0x20 64x5 0x60"), {"30m": 0, "60m": 0}),
        Case("GpuNodeUnhealthy", "the agent says so", {f"{ready}{{{broken}}}": "0x10 1x60"}, {"8m": 0, "20m": 1}),
        Case("GpuNodeUnhealthy", "well", {f"{ready}{{{broken}}}": "0x100"}, {"90m": 0}),
    ]


def _jobs() -> list[Case]:
    def condition(values: str, time: str, workload: str = WORKLOAD) -> dict[str, str]:
        own = f'{workload}, type="QuotaReserved"'
        return {
            f'kueue_workload_condition{{{own}, reason="Pending"}}': values,
            f'kueue_workload_condition_time{{{own}, reason="Pending"}}': time,
        }

    waits = condition("0x300", "60x300")
    held = kueue("kueue_local_queue_status", 'namespace="team-vision", name="vision", active="False"', "1x300")
    open_queue = kueue("kueue_local_queue_status", 'namespace="team-vision", name="vision", active="False"', "0x300")

    def ended(failed: int, succeeded: int) -> dict[str, str]:
        found: dict[str, str] = {}
        for number in range(failed + succeeded):
            reason = "Failed" if number < failed else "Succeeded"
            labels = f'namespace="team-vision", name="job-{number}", type="Finished", reason="{reason}"'
            found[f'kueue_workload_condition_time{{{labels}, instance="ksm-1"}}'] = "600x60"  # deleted after an hour
        return found

    return [
        Case("QueueWaiting", "over two hours", waits | open_queue, {"110m": 0, "2h10m": 1}),
        Case("QueueWaiting", "without a figure of the queue", waits, {"2h10m": 1}),
        Case("QueueWaiting", "the queue is held", waits | held, {"3h": 0}),
        Case("QueueWaiting", "the job runs", condition("1x300", "60x300"), {"3h": 0}),
        Case("QueueWaiting", "evicted lately, made long ago", condition("0x300", "9000x300"), {"3h": 0}),
        Case("QueueWaiting", "switched off", waits | {f"kueue_workload_active{{{WORKLOAD}}}": "0x300"}, {"3h": 0}),
        Case(
            "QueueWaiting",
            "ended",
            waits | {f'kueue_workload_condition{{{WORKLOAD}, type="Finished", reason="Failed"}}': "1x300"},
            {"3h": 0},
        ),
        Case(
            "QueueWaiting",
            "two jobs of one queue are one alert",
            waits | condition("0x300", "60x300", WORKLOAD.replace("job-1", "job-2")),
            {"2h10m": 1},
        ),
        Case("JobsFailing", "two of twenty", ended(2, 18), {"10m": 0, "30m": 1, "4h": 1}),
        Case("JobsFailing", "one of twenty", ended(1, 19), {"3h": 0}),
        Case("JobsFailing", "one of three", ended(1, 2), {"3h": 0}),
        Case("JobsFailing", "none of thirty", ended(0, 30), {"3h": 0}),
        Case("JobsFailing", "two of twenty yesterday", ended(2, 18), {"25h": 0}, step="15m"),
    ]


def _money() -> list[Case]:
    usage = "kueue_cluster_queue_resource_usage"
    queue = 'cluster_queue="vision", flavor="train-spot", resource="nvidia.com/gpu"'
    price = {'trainyard_gpu_hour_usd{flavor="train-spot"}': "2x2200"}

    def spends(values: str) -> dict[str, str]:
        return kueue(usage, queue, values) | price

    def spent(values: str, teams: tuple[str, ...] = ("vision",)) -> dict[str, str]:
        return {
            **{f'trainyard_team_spent_usd{{team="{team}", pod="a"}}': values for team in teams},
            **{f'trainyard_team_spent_usd{{team="{team}", pod="b"}}': values for team in teams},
            **{f'trainyard_team_budget_usd{{team="{team}"}}': "1000x100" for team in teams},
        }

    return [
        Case(
            "CostSpike",
            "four times as much, for a day",
            spends("16x1151 64x719"),
            {"96h": 0, "112h": 1},
            every="5m",
            step="15m",
        ),
        Case(
            "CostSpike",
            "a burst of an hour",
            spends("16x1151 64x11 16x719"),
            {"98h": 0, "112h": 0},
            every="5m",
            step="15m",
        ),
        Case("CostSpike", "as ever", spends("16x1919"), {"150h": 0}, every="5m", step="15m"),
        Case("CostSpike", "the first day", spends("0x71 64x167"), {"20h": 0}, every="5m", step="15m"),
        Case("CostSpike", "twice of next to nothing", spends("1x1151 3x719"), {"130h": 0}, every="5m", step="15m"),
        Case("TeamBudgetNotice", "half", spent("510x100"), {"10m": 1}),
        Case("TeamBudgetNotice", "less", spent("400x100"), {"10m": 0}),
        Case("TeamBudgetNotice", "more is said by the next step", spent("850x100"), {"10m": 0}),
        Case("TeamBudgetWarning", "most", spent("850x100"), {"10m": 1}),
        Case("TeamBudgetWarning", "half", spent("510x100"), {"10m": 0}),
        Case("TeamBudgetWarning", "two teams", spent("850x100", ("vision", "nlp")), {"10m": 2}),
        Case("TeamBudgetSpent", "all", spent("1000x100"), {"10m": 1}),
        Case("TeamBudgetSpent", "most", spent("990x100"), {"10m": 0}),
        Case(
            "TeamBudgetSpent",
            "no budget",
            {
                'trainyard_team_spent_usd{team="a"}': "10x100",
                'trainyard_team_budget_usd{team="a"}': "0x100",
            },
            {"10m": 0},
        ),
        Case("EnvironmentBudgetWarning", "most of two teams'", spent("850x100", ("vision", "nlp")), {"10m": 1}),
        Case("EnvironmentBudgetWarning", "half", spent("510x100", ("vision", "nlp")), {"10m": 0}),
        Case("EnvironmentBudgetWarning", "more is said by the next step", spent("1000x100"), {"10m": 0}),
        Case("EnvironmentBudgetSpent", "all of two teams'", spent("1000x100", ("vision", "nlp")), {"10m": 1}),
        Case(
            "EnvironmentBudgetSpent",
            "one team has spent its part, the other nothing",
            {
                'trainyard_team_spent_usd{team="vision"}': "1000x100",
                'trainyard_team_spent_usd{team="nlp"}': "0x100",
                'trainyard_team_budget_usd{team="vision"}': "1000x100",
                'trainyard_team_budget_usd{team="nlp"}': "1000x100",
            },
            {"10m": 0},
        ),
        Case(
            "EnvironmentBudgetSpent",
            "a team without a budget adds nothing to it",
            {
                'trainyard_team_spent_usd{team="vision"}': "1000x100",
                'trainyard_team_budget_usd{team="vision"}': "1000x100",
                'trainyard_team_budget_usd{team="nlp"}': "0x100",
            },
            {"10m": 1},
        ),
        Case("LedgerSilent", "no figure", {'trainyard_team_budget_usd{team="a"}': "1000x100"}, {"10m": 0, "20m": 1}),
        Case("LedgerSilent", "a figure", spent("10x100"), {"90m": 0}),
        Case("LedgerSilent", "no budgets", {}, {"90m": 0}),
    ]


def _platform() -> list[Case]:
    node = 'node="node-1", condition="Ready", status="true"'
    available, wanted = "kube_deployment_status_replicas_available", "kube_deployment_spec_replicas"
    kueue_manager = 'namespace="kueue-system", deployment="kueue-controller-manager"'
    theirs = 'namespace="team-vision", deployment="demo"'
    keeper = 'namespace="kueue-system", deployment="budget-keeper"'
    its_name = keeper.replace("kueue-system", "team-vision")
    prometheus = 'namespace="monitoring", statefulset="prometheus"'

    def deployment(labels: str, values: str) -> dict[str, str]:
        return {f'{available}{{{labels}, instance="k"}}': values, f'{wanted}{{{labels}, instance="k"}}': "2x100"}

    claim = 'namespace="monitoring", persistentvolumeclaim="prometheus"'
    disk = 'instance="node-1", mountpoint="/", fstype="xfs"'

    def claims(available_gib: str) -> dict[str, str]:
        return {
            f"kubelet_volume_stats_available_bytes{{{claim}}}": available_gib,
            f"kubelet_volume_stats_capacity_bytes{{{claim}}}": "100x100",
        }

    def disks(available_gib: str, labels: str = disk) -> dict[str, str]:
        return {
            f"node_filesystem_avail_bytes{{{labels}}}": available_gib,
            f"node_filesystem_size_bytes{{{labels}}}": "100x100",
        }

    pool = 'label_ml_platform_pool="train", label_ml_platform_capacity="spot"'
    gpus = {
        'kube_node_status_allocatable{node="node-1", resource="nvidia_com_gpu"}': "2x100",
        f'kube_node_labels{{node="node-1", {pool}}}': "1x100",
    }
    seen = {f"DCGM_FI_DEV_GPU_TEMP{{{GPU}}}": "40x100"}
    both = seen | {f"DCGM_FI_DEV_GPU_TEMP{{{SECOND}}}": "40x100"}
    status = kueue("kueue_cluster_queue_status", 'cluster_queue="vision", status="active"', "1x10 _x90")
    days = 86400
    return [
        Case(
            "NodeNotReady",
            "for half an hour",
            {f"kube_node_status_condition{{{node}}}": "1x10 0x60"},
            {"15m": 0, "30m": 1},
        ),
        Case("NodeNotReady", "it starts", {f"kube_node_status_condition{{{node}}}": "0x8 1x60"}, {"7m": 0, "60m": 0}),
        Case("ControllerDown", "no replica of Kueue", deployment(kueue_manager, "2x10 0x60"), {"15m": 0, "25m": 1}),
        Case("ControllerDown", "a team's own", deployment(theirs, "0x100"), {"60m": 0}),
        Case("ControllerDown", "a keeper has its own alert", deployment(keeper, "0x100"), {"60m": 0}),
        Case("KeeperCannotAct", "it is not ready", deployment(keeper, "1x10 0x60"), {"19m": 0, "25m": 1}),
        Case("KeeperCannotAct", "at work", deployment(keeper, "1x100"), {"60m": 0}),
        Case("KeeperCannotAct", "another program", deployment(kueue_manager, "0x100"), {"60m": 0}),
        Case("KeeperCannotAct", "a team's, of the same name", deployment(its_name, "0x100"), {"60m": 0}),
        Case(
            "ControllerDown",
            "scaled to nothing",
            {
                f"{available}{{{kueue_manager}}}": "0x100",
                f"{wanted}{{{kueue_manager}}}": "0x100",
            },
            {"60m": 0},
        ),
        Case(
            "ControllerDown",
            "a StatefulSet",
            {
                f"kube_statefulset_status_replicas_available{{{prometheus}}}": "0x100",
                f"kube_statefulset_replicas{{{prometheus}}}": "1x100",
            },
            {"8m": 0, "15m": 1},
        ),
        Case(
            "NodeAgentDown",
            "on a node",
            {
                'kube_daemonset_status_number_unavailable{namespace="kube-system", daemonset="dcgm-exporter"}': "1x100",
            },
            {"20m": 0, "40m": 1},
        ),
        Case(
            "NodeAgentDown",
            "while a node starts",
            {
                'kube_daemonset_status_number_unavailable{namespace="kube-system", daemonset="dcgm-exporter"}': (
                    "0x9 1x15 0x60"
                ),
            },
            {"20m": 0, "60m": 0},
        ),
        Case("DiskFull", "a volume", claims("50x10 5x60"), {"15m": 0, "40m": 1}),
        Case("DiskFull", "a node", disks("50x10 5x60"), {"15m": 0, "40m": 1}),
        Case("DiskFull", "room", claims("30x100") | disks("30x100"), {"90m": 0}),
        Case("DiskFull", "a file system in memory", disks("1x100", disk.replace("xfs", "tmpfs")), {"90m": 0}),
        Case(
            "CertificateExpiring",
            "in ten days",
            {
                'trainyard_certificate_expiry_seconds{certificate="mlflow"}': f"{10 * days}x200",
            },
            {"30m": 0, "90m": 1},
        ),
        Case(
            "CertificateExpiring",
            "in a year",
            {
                'trainyard_certificate_expiry_seconds{certificate="mlflow"}': f"{365 * days}x200",
            },
            {"90m": 0},
        ),
        Case("GpuFiguresMissing", "one of two", gpus | seen, {"20m": 0, "45m": 1}),
        Case("GpuFiguresMissing", "none", gpus, {"45m": 1}),
        Case("GpuFiguresMissing", "all", gpus | both, {"60m": 0}),
        Case("GpuFiguresMissing", "no GPU nodes", {}, {"60m": 0}),
        Case("QueueFiguresMissing", "gone", status, {"10m": 0, "20m": 0, "40m": 1}),
        Case(
            "QueueFiguresMissing", "there", kueue("kueue_cluster_queue_status", 'cluster_queue="a"', "0x90"), {"60m": 0}
        ),
        Case("ObjectFiguresMissing", "gone", {'kube_node_info{node="a"}': "1x5 _x90"}, {"40m": 1}),
        Case("ObjectFiguresMissing", "there", {'kube_node_info{node="a"}': "1x90"}, {"40m": 0}),
        Case("TargetDown", "does not answer", {'up{job="kueue", instance="a"}': "1x10 0x60"}, {"20m": 0, "40m": 1}),
        Case("TargetDown", "all answer", {'up{job="kueue", instance="a"}': "1x60"}, {"50m": 0}),
        Case(
            "TargetDown",
            "two replicas are one alert",
            {
                'up{job="kueue", instance="a"}': "0x60",
                'up{job="kueue", instance="b"}': "0x60",
            },
            {"40m": 1},
        ),
        Case(
            "RulesFailing",
            "one",
            {
                'prometheus_rule_evaluation_failures_total{rule_group="a", pod="p"}': "0x10 1+1x60",
            },
            {"8m": 0, "30m": 1},
        ),
        Case("RulesFailing", "none", {'prometheus_rule_evaluation_failures_total{rule_group="a"}': "3x60"}, {"30m": 0}),
        Case(
            "AlertsNotDelivered",
            "refused",
            {
                'alertmanager_notifications_failed_total{integration="sns", pod="p"}': "0x10 1+1x60",
            },
            {"8m": 0, "30m": 1},
        ),
        Case(
            "AlertsNotDelivered",
            "none",
            {'alertmanager_notifications_failed_total{integration="sns"}': "0x60"},
            {"30m": 0},
        ),
        Case("Watchdog", "always", {}, {"5m": 1, "1h": 1}),
    ]


def _checkpoints() -> list[Case]:
    day, drill = 24 * 3600, "CheckpointDrillFailed"
    space = 'namespace="team-vision"'
    # Every hour for five weeks; the clock begins at 0, and so did the CronJob.
    long, forever = "840h", "x840"

    def made(at: int = 0) -> dict[str, str]:
        return {f'kube_cronjob_created{{{space}, cronjob="checkpoint-drill", instance="ksm-1"}}': f"{at}{forever}"}

    def restored(values: str) -> dict[str, str]:
        series = f'kube_cronjob_status_last_successful_time{{{space}, cronjob="checkpoint-drill", instance="ksm-1"}}'
        return {series: values}

    def job(number: int, hours: int, failed: bool) -> dict[str, str]:
        """A drill of that hour; before it, there is none."""
        of_it = f'{space}, job_name="checkpoint-drill-{number}", instance="ksm-1"'
        return {
            f"kube_job_created{{{of_it}}}": f"_x{hours - 1} {hours * 3600}{forever}",
            f'kube_job_failed{{{of_it}, condition="true"}}': f"_x{hours - 1} {int(failed)}{forever}",
        }

    first = made() | job(1, 24, True)
    second = restored(f"_x193 {8 * day + 3600}x167 {15 * day + 3600}x500")
    return [
        Case(drill, "the first had nothing to restore", first, {"30h": 0, "190h": 0}, "1h", "1h"),
        Case(drill, "the second had nothing either", first | job(2, 192, True), {"190h": 0, "196h": 1}, "1h", "1h"),
        Case(drill, "the second restored", first | job(2, 192, False) | second, {"190h": 0, "200h": 0}, "1h", "1h"),
        Case(
            drill,
            "the fourth failed, and the fifth restored",
            made() | job(4, 400, True) | restored(f"_x193 {8 * day + 3600}x300 {500 * 3600}x300"),
            {"399h": 0, "403h": 1, "490h": 1, "510h": 0},
            "1h",
            "1h",
        ),
        Case(
            drill,
            "another job failed",
            made()
            | {
                f'kube_job_failed{{{space}, job_name="train-1", condition="true"}}': "1x400",
                f'kube_job_created{{{space}, job_name="train-1"}}': "9x400",
            },
            {"300h": 0},
            "1h",
            "1h",
        ),
        Case("CheckpointDrillOverdue", "never since it was made", made(), {"350h": 0, "364h": 1}, "1h", "1h"),
        Case("CheckpointDrillOverdue", "each week", made() | second, {"360h": 0, "700h": 0}, "1h", "1h"),
        Case(
            "CheckpointDrillOverdue",
            "not since the second week",
            made() | restored(f"{8 * day}x840"),
            {"540h": 0, "560h": 1},
            "1h",
            "1h",
        ),
        Case("CheckpointDrillOverdue", "there is no drill", {}, {long: 0}, "1h", "1h"),
    ]


def _team_checkpoints() -> list[Case]:
    """Every half hour for four days; a look each day, which ends at once."""
    damaged, old, unseen = "TeamCheckpointDamaged", "TeamCheckpointOld", "TeamCheckpointUnchecked"
    check, age, every = "checkpoint-check", "checkpoint-age", "30m"
    half_hours, day = 200, 48

    def looks(cron_job: str, *well: bool, space: str = "team-vision") -> dict[str, str]:
        """One on each day, the first after a day."""
        of_all = f'namespace="{space}", cronjob="{cron_job}", instance="ksm-1"'
        series = {f"kube_cronjob_created{{{of_all}}}": f"0x{half_hours}"}
        last = ["_"] * half_hours
        for number, good in enumerate(well, 1):
            of_it = f'namespace="{space}", job_name="{cron_job}-{number}", instance="ksm-1"'
            begun, at = number * 24 * 3600, number * day
            series[f"kube_job_created{{{of_it}}}"] = f"_x{at - 1} {begun}x{half_hours - at}"
            series[f'kube_job_failed{{{of_it}, condition="true"}}'] = f"_x{at - 1} {int(not good)}x{half_hours - at}"
            if good:
                last[at:] = [str(begun + 60)] * (half_hours - at)
        return series | {f"kube_cronjob_status_last_successful_time{{{of_all}}}": " ".join(last)}

    def trains(owner: str = "Job", values: str = f"8x{half_hours}", phase: str = f"1x{half_hours}") -> dict[str, str]:
        of_it = 'namespace="team-vision", pod="run-0", instance="ksm-1"'
        return {
            f'kube_pod_container_resource_requests{{{of_it}, container="node", resource="nvidia_com_gpu"}}': values,
            f'kube_pod_status_phase{{{of_it}, phase="Running"}}': phase,
            f'kube_pod_owner{{{of_it}, owner_kind="{owner}"}}': f"1x{half_hours}",
        }

    def case(alert: str, what: str, series: dict[str, str], fires: dict[str, int]) -> Case:
        return Case(alert, what, series, fires, every, every)

    return [
        case(damaged, "none is", looks(check, True, True, True), {"26h": 0, "74h": 0}),
        case(damaged, "the first that is looked at", looks(check, False), {"20h": 0, "26h": 1, "70h": 1}),
        case(
            damaged,
            "the second, and the third is well",
            looks(check, True, False, True),
            {"26h": 0, "50h": 1, "75h": 0},
        ),
        case(damaged, "the newest is old, and whole", looks(check, True) | looks(age, False), {"50h": 0}),
        case(damaged, "of another team", looks(check, False, space="team-nlp"), {"26h": 1}),
        case(damaged, "nobody looks", {}, {"90h": 0}),
        case(old, "it trained for a day", looks(age, False) | trains(), {"20h": 0, "26h": 1}),
        case(old, "it trained and saved", looks(age, True, True) | trains(), {"26h": 0, "60h": 0}),
        case(old, "nothing trains", looks(age, False, False), {"26h": 0, "60h": 0}),
        case(old, "a notebook holds the GPU", looks(age, False) | trains("StatefulSet"), {"26h": 0, "60h": 0}),
        case(
            old,
            "it trains since an hour ago",
            looks(age, False, False) | trains(values="_x95 8x100", phase="_x95 1x100"),
            {"50h": 0, "60h": 0},
        ),
        case(old, "its pods have ended", looks(age, False, False) | trains(phase="1x10 0x190"), {"26h": 0, "50h": 0}),
        case(unseen, "nobody has for two weeks", {_MADE_CHECK: "0x840"}, {"350h": 0, "364h": 1}),
        case(unseen, "one failed, which is a look", looks(check, False), {"90h": 0}),
        case(unseen, "there is none", {}, {"90h": 0}),
    ]


_MADE_CHECK = 'kube_cronjob_created{namespace="team-vision", cronjob="checkpoint-check", instance="ksm-1"}'


CASES: tuple[Case, ...] = (
    *_gpu_use(),
    *_hardware(),
    *_jobs(),
    *_checkpoints(),
    *_team_checkpoints(),
    *_money(),
    *_platform(),
)
