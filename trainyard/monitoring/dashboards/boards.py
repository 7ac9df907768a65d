"""The dashboards: success metrics, a team's page, the pools, the hardware, the cost."""

from __future__ import annotations

from trainyard.conventions import GPU_RESOURCE, TPU_RESOURCE
from trainyard.monitoring import names as n
from trainyard.monitoring.alerts.gpu import THROTTLE_BITS
from trainyard.monitoring.dashboards.model import Dashboard, Panel, Query, Row, Variable
from trainyard.monitoring.recordings import SUCCESS, Target, held_usd_per_hour

UIDS = ("trainyard-success", "trainyard-team", "trainyard-pools", "trainyard-hardware", "trainyard-cost")

_HOST = "{{Hostname}}{{hostname}} {{gpu}}"


def _series(target: Target) -> str:
    return f"{target.recording.record}{{{target.selector}}}" if target.selector else target.recording.record


def _stat(target: Target) -> Panel:
    wanted = ""
    if target.value is not None:
        sign = "at least" if target.at_least is not None else "at most"
        wanted = f" Target: {sign} {target.value:g}{'' if target.unit == 'percentunit' else ' ' + target.unit}."
    return Panel(
        target.title,
        (Query(f"max({_series(target)})" if target.at_most is not None else f"min({_series(target)})"),),
        f"{target.recording.what}{wanted} {target.source}.",
        "stat",
        target.unit,
        width=6,
        height=5,
        target=target.value,
        more_is_better=target.at_most is None,
    )


def _trend(target: Target) -> Panel:
    return Panel(
        target.title,
        (Query(_series(target)),),
        f"{target.recording.what} {target.source}.",
        "timeseries",
        target.unit,
        target=target.value,
        more_is_better=target.at_most is None,
        highest=1 if target.unit == "percentunit" else None,
    )


def _success() -> Dashboard:
    return Dashboard(
        UIDS[0],
        "Success metrics",
        "What the platform is measured by, each with its target.",
        (
            Row("Now", tuple(_stat(target) for target in SUCCESS)),
            Row("Over time", tuple(_trend(target) for target in SUCCESS)),
        ),
        days=30,
    )


def _what(*, chips: bool) -> str:
    return "GPUs and chips" if chips else "GPUs"


def _local(resource: str) -> str:
    return f'max by (namespace, name, flavor) (kueue_local_queue_resource_usage{{resource="{resource}"}})'


def _team(*, chips: bool) -> Dashboard:
    what = _what(chips=chips)
    members = f'{n.TEAM_MEMBERS}{{team="$team"}}'
    mine = f"and on (namespace) max by (namespace) ({members})"
    spent, budget = f'{n.TEAM_SPENT_USD}{{team="$team"}}', f'max by (team) ({n.TEAM_BUDGET_USD}{{team="$team"}})'
    waiting = "max by (namespace, name, status) (kueue_local_queue_pending_workloads)"
    running = "max by (namespace, name) (kueue_local_queue_admitted_active_workloads)"
    held, of_slices = _local(GPU_RESOURCE), _local(TPU_RESOURCE)
    used, free = 'DCGM_FI_DEV_FB_USED{pod!=""}', "DCGM_FI_DEV_FB_FREE"
    memory = f"max by (namespace, pod, UUID) ({used} / ({used} + {free}))"
    busy = f'avg by (namespace, pod) ({n.BUSY}{{pod!=""}})'
    return Dashboard(
        UIDS[1],
        "Team",
        "One team's page: its queue, its GPUs, how well it uses them, the money it has left.",
        (
            Row(
                "Now",
                (
                    Panel(
                        "Jobs that wait",
                        (Query(f"sum({waiting} {mine}) or vector(0)"),),
                        "In the team's queues.",
                        "stat",
                        width=4,
                        height=5,
                    ),
                    Panel(
                        "Jobs that run",
                        (Query(f"sum({running} {mine}) or vector(0)"),),
                        "Admitted and not ended.",
                        "stat",
                        width=4,
                        height=5,
                    ),
                    Panel(
                        "GPUs held",
                        (Query(f"sum({held} {mine}) or vector(0)"),),
                        "By jobs that are admitted.",
                        "stat",
                        width=4,
                        height=5,
                    ),
                    *(
                        [
                            Panel(
                                "Chips held",
                                (Query(f"sum({of_slices} {mine}) or vector(0)"),),
                                "TPU chips, by jobs that are admitted.",
                                "stat",
                                width=4,
                                height=5,
                            )
                        ]
                        if chips
                        else []
                    ),
                    Panel(
                        "Budget spent",
                        (Query(f"max({spent}) / (max({budget}) > 0)"),),
                        f"Of this month, by the {what} that the team has held.",
                        "stat",
                        "percentunit",
                        width=6,
                        height=5,
                        target=1,
                        more_is_better=False,
                    ),
                    Panel(
                        "Money left",
                        (Query(f"max({budget}) - max({spent})"),),
                        "Of this month's budget.",
                        "stat",
                        "currencyUSD",
                        width=6,
                        height=5,
                        target=0,
                    ),
                ),
            ),
            Row(
                "Queue",
                (
                    Panel(
                        "Waiting and running",
                        (
                            Query(f"sum by (name) ({waiting} {mine})", "waits: {{name}}"),
                            Query(f"sum by (name) ({running} {mine})", "runs: {{name}}"),
                        ),
                        "Jobs of the team over time.",
                    ),
                    Panel(
                        "GPUs by flavor",
                        (Query(f"sum by (flavor) ({held} {mine})", "{{flavor}}"),),
                        "What the team holds, by how it is bought.",
                        stacked=True,
                    ),
                    *(
                        [
                            Panel(
                                "Chips by flavor",
                                (Query(f"sum by (flavor) ({of_slices} {mine})", "{{flavor}}"),),
                                "TPU chips that the team holds; whether they compute is not measured.",
                                stacked=True,
                            )
                        ]
                        if chips
                        else []
                    ),
                    Panel(
                        "Jobs ended in an hour",
                        (Query(f"sum(sum_over_time({n.FINISHED}[1h]) {mine})", "ended"),),
                        "However they ended.",
                        width=12,
                    ),
                    Panel(
                        "Experiments an engineer and week",
                        (Query(f'{n.EXPERIMENTS}{{team="$team"}}', "a week"),),
                        "Jobs that ended in a week, for each member.",
                        width=12,
                    ),
                ),
            ),
            Row(
                "Use",
                (
                    Panel(
                        "How busy each pod's GPUs are",
                        (Query(f"{busy} {mine}", "{{pod}}"),),
                        "Mean of the pod's GPUs; below half it mostly waits for data.",
                        unit="percentunit",
                        target=0.5,
                        highest=1,
                    ),
                    Panel(
                        "Memory of GPUs",
                        (
                            Query(
                                f"{memory} {mine}",
                                "{{pod}}",
                            ),
                        ),
                        "Used share of each GPU's memory.",
                        unit="percentunit",
                        highest=1,
                    ),
                ),
            ),
            Row(
                "Money",
                (
                    Panel(
                        "Spent this month",
                        (Query(f"max({spent})", "spent"), Query(f"max({budget})", "budget")),
                        f"What the {what} cost that the team held, against its budget.",
                        unit="currencyUSD",
                        width=24,
                    ),
                ),
            ),
        ),
        (Variable("team", "Team", n.TEAM_MEMBERS, "team"),),
    )


def _quota(resource: str) -> str:
    quotas = f'kueue_cluster_queue_nominal_quota{{resource="{resource}"}}'
    return f"sum by (flavor) (max by (cluster_queue, flavor) ({quotas}))"


def _slices() -> Row:
    held = f"sum by (flavor) ({n.CHIPS_HELD})"
    return Row(
        "TPU chips",
        (
            Panel(
                "Chips that there are",
                (Query(n.CHIPS_PROVISIONED, "{{flavor}}"),),
                "Of machines of slices that have joined, by flavor.",
                stacked=True,
            ),
            Panel(
                "Quota and use of chips",
                (Query(_quota(TPU_RESOURCE), "quota {{flavor}}"), Query(held, "held {{flavor}}")),
                "What teams own, and what is held; whether chips compute is not measured.",
            ),
        ),
    )


def _pools(*, chips: bool) -> Dashboard:
    quota = _quota(GPU_RESOURCE)
    evicted = (
        "sum by (reason) (max by (cluster_queue, reason, priority_class) (increase(kueue_evicted_workloads_total[1h])))"
    )
    ready = 'max by (node) (kube_node_status_condition{condition="Ready", status="true"})'
    labels = "label_ml_platform_pool, label_ml_platform_capacity"
    return Dashboard(
        UIDS[2],
        "Pools",
        "The GPU pools by capacity: what there is, what is held, what computes, what was taken away.",
        (
            Row(
                "GPUs",
                (
                    Panel(
                        "GPUs that there are",
                        (Query(n.GPUS_PROVISIONED, "{{flavor}}"),),
                        "Of nodes that have joined, by flavor.",
                        stacked=True,
                    ),
                    Panel(
                        "GPUs held by jobs",
                        (Query(f"sum by (flavor) ({n.GPUS_HELD})", "{{flavor}}"),),
                        "By flavor.",
                        stacked=True,
                    ),
                    Panel(
                        "Quota and use",
                        (
                            Query(quota, "quota {{flavor}}"),
                            Query(f"sum by (flavor) ({n.GPUS_HELD})", "held {{flavor}}"),
                        ),
                        "What teams own, and what is held.",
                    ),
                    Panel(
                        "GPUs that compute",
                        (Query(n.GPUS_ACTIVE, "busy"), Query(f"sum({n.GPUS_PROVISIONED})", "there are")),
                        "Against those that there are.",
                    ),
                ),
            ),
            *([_slices()] if chips else []),
            Row(
                "Queues",
                (
                    Panel("Jobs that wait", (Query(n.PENDING, "{{cluster_queue}}"),), "By queue.", stacked=True),
                    Panel(
                        "Wait",
                        (
                            Query(
                                f"sum by (priority_class) (sum_over_time({n.WAIT_SECONDS}[6h]))"
                                f" / (sum by (priority_class) (sum_over_time({n.WAITS}[6h])) > 0)",
                                "{{priority_class}}",
                            ),
                        ),
                        "Mean of six hours, by priority.",
                        unit="s",
                    ),
                    Panel(
                        "Evictions in an hour",
                        (Query(evicted, "{{reason}}"),),
                        "Jobs that lost their GPUs and wait again: preempted, a node lost, pods not ready in time.",
                        stacked=True,
                    ),
                    Panel(
                        "Shares",
                        (Query("max by (cluster_queue) (kueue_cluster_queue_weighted_share)", "{{cluster_queue}}"),),
                        "Use above what a team owns, by its weight: the highest gives way first.",
                    ),
                ),
            ),
            Row(
                "Nodes",
                (
                    Panel(
                        "Nodes",
                        (
                            Query(
                                f"sum by ({labels}) ({ready} * on (node) group_left ({labels})"
                                f" max by (node, {labels}) (kube_node_labels))",
                                "{{label_ml_platform_pool}} {{label_ml_platform_capacity}}",
                            ),
                        ),
                        "Ready, by pool and capacity.",
                        stacked=True,
                    ),
                    Panel(
                        "Pods that no node takes",
                        (Query("count(max by (namespace, pod) (kube_pod_status_unschedulable)) or vector(0)", "pods"),),
                        "Of whichever namespace; a node for them may be starting.",
                    ),
                ),
            ),
        ),
        days=2,
    )


def _hardware() -> Dashboard:
    gpu = "Hostname, hostname, gpu, UUID"
    throttled = " + ".join(f"floor({n.CLOCK_EVENTS} / {bit}) % 2" for bit in THROTTLE_BITS)
    return Dashboard(
        UIDS[3],
        "Hardware",
        "Each GPU: how busy, how hot, what errors.",
        (
            Row(
                "Errors",
                (
                    Panel(
                        "Errors of the driver",
                        (Query(f"sum by (xid, {gpu}) ({n.XIDS}) > 0", f"XID {{{{xid}}}} {_HOST}"),),
                        "By XID, in the last five minutes; the runbooks say which are the hardware's.",
                    ),
                    Panel(
                        "Rows of memory out of use",
                        (Query(f"max by ({gpu}) (DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS) > 0", _HOST),),
                        "Replaced by spare ones, for errors that could not be corrected.",
                    ),
                    Panel(
                        "NVLink: sent again, begun anew",
                        (
                            Query(
                                f"max by ({gpu}) (increase(DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL[15m])) > 0",
                                f"replays {_HOST}",
                            ),
                            Query(
                                f"max by ({gpu}) (increase(DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL[15m])) > 0",
                                f"recoveries {_HOST}",
                            ),
                        ),
                        "In 15 minutes.",
                    ),
                    Panel(
                        "Held back by heat or power",
                        (Query(f"max by ({gpu}) ({throttled}) > 0", _HOST),),
                        "Reasons that hold the clock down.",
                    ),
                ),
            ),
            Row(
                "Load",
                (
                    Panel(
                        "Busy",
                        (Query(f"max by ({gpu}) ({n.BUSY})", _HOST),),
                        "Share of time that the GPU computed.",
                        unit="percentunit",
                        highest=1,
                    ),
                    Panel(
                        "Tensor cores",
                        (Query(f"max by ({gpu}) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)", _HOST),),
                        "Share of cycles in which they worked.",
                        unit="percentunit",
                        highest=1,
                    ),
                    Panel(
                        "Temperature",
                        (Query(f"max by ({gpu}) (DCGM_FI_DEV_GPU_TEMP)", _HOST),),
                        "Of the chip.",
                        unit="celsius",
                        target=85,
                        more_is_better=False,
                    ),
                    Panel(
                        "Power",
                        (Query(f"max by ({gpu}) (DCGM_FI_DEV_POWER_USAGE)", _HOST),),
                        "Drawn by the GPU.",
                        unit="watt",
                    ),
                ),
            ),
        ),
        days=1,
    )


def _cost(*, chips: bool) -> Dashboard:
    what, held = _what(chips=chips), held_usd_per_hour(chips=chips)
    of_all = f"({n.PROVISIONED_USD_PER_HOUR} or vector(0)) + {n.CHIP_PROVISIONED_USD_PER_HOUR}"
    provisioned = f"({of_all})" if chips else n.PROVISIONED_USD_PER_HOUR
    return Dashboard(
        UIDS[4],
        "Cost",
        f"What the {what} cost: held by whom, idle, against the teams' budgets, at the stack's own prices.",
        (
            Row(
                "Now",
                (
                    Panel(
                        "USD an hour, all nodes",
                        (Query(provisioned),),
                        f"{what} of all nodes, held or not.",
                        "stat",
                        "currencyUSD",
                        width=6,
                        height=5,
                    ),
                    Panel(
                        "USD an hour, held",
                        (Query(f"sum({held}) or vector(0)"),),
                        f"{what} that jobs hold.",
                        "stat",
                        "currencyUSD",
                        width=6,
                        height=5,
                    ),
                    Panel(
                        "Not held",
                        (Query(f"1 - sum({held}) / ({provisioned} > 0)"),),
                        "Share of what is paid for that no job holds.",
                        "stat",
                        "percentunit",
                        width=6,
                        height=5,
                        target=0.3,
                        more_is_better=False,
                    ),
                    Panel(
                        "An active GPU hour",
                        (Query(n.GPU_HOUR_COST),),
                        "With what stood idle, of a week.",
                        "stat",
                        "currencyUSD",
                        width=6,
                        height=5,
                    ),
                ),
            ),
            Row(
                "Teams",
                (
                    Panel(
                        "Budget spent",
                        (
                            Query(
                                f"max by (team) ({n.TEAM_SPENT_USD})"
                                f" / on (team) (max by (team) ({n.TEAM_BUDGET_USD}) > 0)",
                                "{{team}}",
                            ),
                        ),
                        "This month, each team.",
                        "bargauge",
                        "percentunit",
                        target=0.8,
                        more_is_better=False,
                        highest=1.2,
                    ),
                    Panel(
                        "USD an hour by queue",
                        (Query(held, "{{cluster_queue}}"),),
                        f"{what} that jobs hold.",
                        unit="currencyUSD",
                        stacked=True,
                    ),
                    Panel(
                        "Spent this month",
                        (Query(f"max by (team) ({n.TEAM_SPENT_USD})", "{{team}}"),),
                        "By team.",
                        unit="currencyUSD",
                    ),
                    Panel(
                        "Against the week",
                        (
                            Query(f"avg_over_time(sum({held})[1d:5m])", "mean of a day"),
                            Query(f"avg_over_time(sum({held})[7d:1h] offset 1d)", "mean of the week before"),
                        ),
                        "A day far above the week is a cost spike.",
                        unit="currencyUSD",
                    ),
                ),
            ),
            Row(
                "Prices",
                (
                    Panel(
                        "Price of a GPU hour",
                        (Query(f"max by (flavor) ({n.GPU_HOUR_USD})", "{{flavor}}"),),
                        "By flavor, as the plan reckons it.",
                        "bargauge",
                        "currencyUSD",
                        width=12,
                    ),
                    *(
                        [
                            Panel(
                                "Price of a chip hour",
                                (Query(f"max by (flavor) ({n.CHIP_HOUR_USD})", "{{flavor}}"),),
                                "By flavor, as the plan reckons it.",
                                "bargauge",
                                "currencyUSD",
                                width=12,
                            )
                        ]
                        if chips
                        else []
                    ),
                    Panel(
                        "Spot share",
                        (Query(n.SPOT_SHARE, "spot"),),
                        "Of the held GPU hours, 30 days.",
                        unit="percentunit",
                        target=0.5,
                        highest=1,
                    ),
                ),
            ),
        ),
        days=30,
    )


def dashboards(*, chips: bool = False) -> tuple[Dashboard, ...]:
    """The dashboards; with `chips`, panels of TPU chips stand beside those of GPUs."""
    return _success(), _team(chips=chips), _pools(chips=chips), _hardware(), _cost(chips=chips)


DASHBOARDS: tuple[Dashboard, ...] = dashboards()
"""The dashboards of a stack without TPU slices."""
