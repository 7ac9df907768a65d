"""Recorded figures: what is used, what is counted, and the success metrics with their targets.

Two replicas of Kueue's manager export every series, and a program that starts anew exports under another address: each
figure takes one of them (`max by`) before it sums. Counters are taken in steps of five minutes, because over a
longer time the change of the leader would be counted twice or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.conventions import GPU_RESOURCE, TPU_RESOURCE
from trainyard.conventions.monitoring import CHECKPOINT_AGE, CHECKPOINT_CHECK, CHECKPOINT_DRILL
from trainyard.monitoring import names as n
from trainyard.monitoring.model import Recording, group
from trainyard.monitoring.resource_costs import IDLE_CHIPS, RESOURCES

PRODUCTION = "production"
"""Priority of the work that has to be done."""
WEEK_SECONDS = 7 * 24 * 3600

_POOL, _CAPACITY = "label_ml_platform_pool", "label_ml_platform_capacity"
"""Labels of nodes as kube-state-metrics spells them."""


def _made(cron_job: str) -> str:
    """When a CronJob of a namespace was made, seconds since the epoch."""
    return f'max by (namespace) (kube_cronjob_created{{cronjob="{cron_job}"}})'


def _succeeded(cron_job: str) -> str:
    """When a job of it last ended well."""
    return f'max by (namespace) (kube_cronjob_status_last_successful_time{{cronjob="{cron_job}"}})'


def _failed(cron_job: str) -> str:
    """When the last that failed was made."""
    jobs = f'job_name=~"{cron_job}-.+"'
    return (
        f"max by (namespace) (max by (namespace, job_name) (kube_job_created{{{jobs}}})"
        " and on (namespace, job_name)"
        f' (max by (namespace, job_name) (kube_job_failed{{{jobs}, condition="true"}}) == 1))'
    )


def _last_was_well(cron_job: str) -> str:
    """1 where the last ended well, 0 where it failed; nothing before the first has ended."""
    succeeded, failed = _succeeded(cron_job), _failed(cron_job)
    return (
        f"({succeeded} > bool on (namespace) {failed})"
        f" or on (namespace) ({succeeded} * 0 + 1) or on (namespace) ({failed} * 0)"
    )


DRILL_MADE = _made(CHECKPOINT_DRILL)
"""When the checkpoint drill of a namespace was made, seconds since the epoch."""
DRILL_RESTORED = _succeeded(CHECKPOINT_DRILL)
"""When it last restored a checkpoint."""
_DRILL_FAILED = _failed(CHECKPOINT_DRILL)
CHECKED = (
    "max by (namespace) ("
    f'label_replace({_made(CHECKPOINT_CHECK)}, "of", "made", "", "")'
    f' or label_replace({_succeeded(CHECKPOINT_CHECK)}, "of", "succeeded", "", "")'
    f' or label_replace({_failed(CHECKPOINT_CHECK)}, "of", "failed", "", ""))'
)
"""When a team's checkpoints were last looked at, however it ended, or the look was set up."""
_FIRST_DRILL_SECONDS = 8 * 24 * 3600
"""A drill that is younger has had no second run: there was nothing that its first could have restored."""


def _offered(resource: str) -> str:
    """What the nodes that there are offer of an extended resource, by flavor."""
    named = re.sub("[^a-z]", "_", resource)  # as kube-state-metrics spells it
    return (
        f'sum by (flavor) (label_join(max by (node) (kube_node_status_allocatable{{resource="{named}"}})'
        f" * on (node) group_left ({_POOL}, {_CAPACITY})"
        f' max by (node, {_POOL}, {_CAPACITY}) (kube_node_labels{{{_POOL}!=""}}),'
        f' "flavor", "-", "{_POOL}", "{_CAPACITY}"))'
    )


def _held(resource: str) -> str:
    """What admitted jobs hold of it, by queue and flavor."""
    return f'max by (cluster_queue, flavor) (kueue_cluster_queue_resource_usage{{resource="{resource}"}})'


def _at_its_price(count: str, price: str) -> str:
    return f"{count} * on (flavor) group_left () max by (flavor) ({price})"


USAGE: tuple[Recording, ...] = (
    Recording(
        n.GPUS_PROVISIONED,
        _offered(GPU_RESOURCE),
        "GPUs of the nodes that there are, by flavor.",
    ),
    Recording(
        n.GPUS_ACTIVE,
        f"sum(max by (UUID, GPU_I_ID) ({n.BUSY})) or vector(0)",
        "GPUs that compute: each counts as its busy share.",
    ),
    Recording(
        n.GPUS_HELD,
        _held(GPU_RESOURCE),
        "GPUs that admitted jobs hold, by queue and flavor.",
    ),
    Recording(
        n.GPUS_HELD_OF_OTHERS,
        "sum by (flavor) (max by (namespace, name, pod_set, flavor)"
        f' (kueue_workload_gpus{{priority!="{PRODUCTION}"}}) unless on (namespace, name)'
        ' (max by (namespace, name) (kueue_workload_condition{type="Finished"}) == 1))',
        "GPUs that jobs hold which are not of production's priority, by flavor.",
    ),
    Recording(
        n.USD_PER_HOUR,
        f"sum by (cluster_queue) ({_at_its_price(n.GPUS_HELD, n.GPU_HOUR_USD)})",
        "USD an hour of the GPUs that are held, by queue.",
    ),
    Recording(
        n.PROVISIONED_USD_PER_HOUR,
        f"sum({_at_its_price(n.GPUS_PROVISIONED, n.GPU_HOUR_USD)})",
        "USD an hour of the GPUs of all nodes, held or not.",
    ),
    Recording(
        n.PENDING,
        "sum by (cluster_queue) (max by (cluster_queue, status) (kueue_pending_workloads))",
        "Jobs that wait, by queue.",
    ),
    Recording(
        n.PLATFORM_UP,
        'min((max(up{job="kueue"}) or vector(0))'
        ' or label_replace(max(up{job="apiserver"}) or vector(0), "part", "apiserver", "", "")'
        ' or label_replace(clamp_max(count(max by (cluster_queue) (kueue_cluster_queue_status{status="active"}) == 1)'
        ' or vector(0), 1), "part", "queues", "", ""))',
        "Whether jobs can be handed in and started: the API server, Kueue's manager and a queue that is active.",
    ),
    Recording(
        n.CHECKPOINTS_RESTORABLE,
        f"({DRILL_RESTORED} > bool on (namespace) {_DRILL_FAILED})"
        f" or on (namespace) ({DRILL_RESTORED} * 0 + 1)"
        f" or on (namespace) ({_DRILL_FAILED} * 0 and on (namespace) (time() - {DRILL_MADE} > {_FIRST_DRILL_SECONDS}))",
        "Whether the last checkpoint drill restored what it should have.",
    ),
    Recording(
        n.TEAM_CHECKPOINTS_READABLE,
        _last_was_well(CHECKPOINT_CHECK),
        "Whether a team's newest checkpoints could be read when they were last looked at.",
    ),
    Recording(
        n.TEAM_CHECKPOINTS_FRESH,
        _last_was_well(CHECKPOINT_AGE),
        "Whether a team's newest checkpoint was younger than it has to be.",
    ),
)
"""Every minute: what there is and what is used."""

CHIPS: tuple[Recording, ...] = (
    Recording(n.CHIPS_PROVISIONED, _offered(TPU_RESOURCE), "TPU chips of the nodes that there are, by flavor."),
    Recording(n.CHIPS_HELD, _held(TPU_RESOURCE), "TPU chips that admitted jobs hold, by queue and flavor."),
    Recording(
        n.CHIP_USD_PER_HOUR,
        f"sum by (cluster_queue) ({_at_its_price(n.CHIPS_HELD, n.CHIP_HOUR_USD)})",
        "USD an hour of the TPU chips that are held, by queue.",
    ),
    Recording(
        n.CHIP_PROVISIONED_USD_PER_HOUR,
        f"sum({_at_its_price(n.CHIPS_PROVISIONED, n.CHIP_HOUR_USD)}) or count(kube_node_info) * 0",
        "USD an hour of the TPU chips of all nodes, held or not; 0 while no slice stands.",
    ),
    Recording(
        n.HELD_USD_PER_HOUR,
        f'sum by (cluster_queue) ({n.USD_PER_HOUR} or label_replace({n.CHIP_USD_PER_HOUR}, "of", "chips", "", ""))',
        "USD an hour of what is held, GPUs and TPU chips together, by queue.",
    ),
)
"""Every minute after them, where a stack has TPU slices. Whether chips compute is in no figure here: GKE's system
metrics have it in Cloud Monitoring, where an alert asks for it (`components/gcp/alerts.py`)."""


def held_usd_per_hour(*, chips: bool) -> str:
    """The series of what is held, by queue, in a stack with or without TPU slices."""
    return n.HELD_USD_PER_HOUR if chips else n.USD_PER_HOUR


def _increase(series: str, by: str, each: str) -> str:
    return f"sum by ({by}) (max by ({each}) (increase({series}[5m])))"


COUNTS: tuple[Recording, ...] = (
    Recording(
        n.FINISHED,
        _increase("kueue_local_queue_finished_workloads_total", "namespace", "namespace, name, priority_class"),
        "Jobs that ended in five minutes, by namespace.",
    ),
    Recording(
        n.ADMITTED,
        _increase("kueue_admitted_workloads_total", "cluster_queue", "cluster_queue, priority_class"),
        "Jobs that started in five minutes, by queue.",
    ),
    Recording(
        n.WAIT_SECONDS,
        _increase("kueue_admission_wait_time_seconds_sum", "priority_class", "cluster_queue, priority_class"),
        "Seconds that the jobs waited which started in five minutes, by priority.",
    ),
    Recording(
        n.WAITS,
        _increase("kueue_admission_wait_time_seconds_count", "priority_class", "cluster_queue, priority_class"),
        "How many jobs those are, by priority.",
    ),
)
"""Every five minutes: what was counted in them."""


def ended(reasons: str, window: str, seconds: int) -> str:
    """How many jobs ended so within the window, each once, those that are deleted since too."""
    series = f'kueue_workload_condition_time{{type="Finished", reason=~"{reasons}"}}'
    each = f"max by (namespace, name, reason) (last_over_time({series}[{window}]))"
    return f"count({each} > time() - {seconds})"


@dataclass(frozen=True, slots=True)
class Target:
    """A success metric: a recorded figure, what it is held to, and who says so."""

    recording: Recording
    title: str
    unit: str
    """As Grafana calls it."""
    at_least: float | None = None
    at_most: float | None = None
    source: str = ""
    selector: str = ""
    """Labels of the series that the target is about; empty: all."""

    @property
    def value(self) -> float | None:
        """The target line."""
        return self.at_least if self.at_least is not None else self.at_most


_WAIT = Recording(
    n.QUEUE_WAIT,
    f"sum by (priority_class) (sum_over_time({n.WAIT_SECONDS}[7d]))"
    f" / (sum by (priority_class) (sum_over_time({n.WAITS}[7d])) > 0)",
    "Seconds that a job waited for its GPUs, mean of a week, by priority; it begins anew when a job is evicted.",
)

SUCCESS: tuple[Target, ...] = (
    Target(
        Recording(
            n.UTILISATION,
            f"sum(sum_over_time({n.GPUS_ACTIVE}[7d])) / (sum(sum_over_time({n.GPUS_PROVISIONED}[7d])) > 0)",
            "Share of the GPU hours that were paid for in which a GPU computed, of a week.",
        ),
        "GPU utilisation",
        "percentunit",
        at_least=0.7,
        source="agency guide, success metrics: 70 percent or higher",
    ),
    Target(
        _WAIT,
        "Queue wait, standard",
        "s",
        at_most=30 * 60,
        source="agency guide, success metrics: under 30 minutes for standard jobs",
        selector=f'priority_class!="{PRODUCTION}"',
    ),
    Target(
        _WAIT,
        "Queue wait, production",
        "s",
        at_most=5 * 60,
        source="agency guide, success metrics: under 5 minutes for high-priority jobs",
        selector=f'priority_class="{PRODUCTION}"',
    ),
    Target(
        Recording(
            n.JOB_SUCCESS,
            f"({ended('Succeeded', '7d', WEEK_SECONDS)} or vector(0))"
            f" / ({ended('Succeeded|Failed', '7d', WEEK_SECONDS)} > 0)",
            "Share of the jobs that ended in a week and succeeded.",
        ),
        "Job success",
        "percentunit",
        at_least=0.95,
        source="agency guide, success metrics: 95 percent or higher",
    ),
    Target(
        Recording(
            n.SPOT_SHARE,
            f'(sum(sum_over_time({n.GPUS_HELD_OF_OTHERS}{{flavor=~".+-spot"}}[30d])) or vector(0))'
            f" / (sum(sum_over_time({n.GPUS_HELD_OF_OTHERS}[30d])) > 0)",
            "Share of the GPU hours held by other than production's jobs that were spot, of 30 days.",
        ),
        "Spot share",
        "percentunit",
        at_least=0.5,
        source="agency guide, success metrics: 50 percent or higher of non-production training",
    ),
    Target(
        Recording(
            n.UPTIME,
            f"avg_over_time({n.PLATFORM_UP}[30d])",
            "Share of the time in which jobs could be handed in and started, of 30 days, as seen from inside.",
        ),
        "Uptime",
        "percentunit",
        at_least=0.995,
        source="agency guide, success metrics: 99.5 percent or higher",
    ),
    Target(
        Recording(
            n.CHECKPOINT_RELIABILITY,
            f"min(avg_over_time({n.CHECKPOINTS_RESTORABLE}[30d]))",
            "Share of the time in which the last weekly drill had restored its checkpoint, of 30 days.",
        ),
        "Checkpoint reliability",
        "percentunit",
        at_least=1.0,
        source="agency guide, success metrics: 100 percent",
    ),
    Target(
        Recording(
            n.EXPERIMENTS,
            f"sum by (namespace) (sum_over_time({n.FINISHED}[7d]))"
            f" / on (namespace) group_left (team) max by (namespace, team) ({n.TEAM_MEMBERS})",
            "Jobs that ended in a week, for each member of the team.",
        ),
        "Experiments an engineer and week",
        "none",
        source="agency guide, success metrics: higher is better; watch the trend",
    ),
    Target(
        Recording(
            n.GPU_HOUR_COST,
            f"sum_over_time({n.PROVISIONED_USD_PER_HOUR}[7d]) / (sum_over_time({n.GPUS_ACTIVE}[7d]) > 0)",
            "USD that an hour of computing on one GPU cost, with what stood idle, of a week; at list and spot prices.",
        ),
        "Cost of an active GPU hour",
        "currencyUSD",
        source="agency guide, success metrics: effective cost including reserved instances, spot savings and idle "
        "waste; watch the trend",
    ),
)
"""The success metrics of the delivery guides, every five minutes."""


@dataclass(frozen=True, slots=True)
class Money:
    """What the ledger of a stack counts by."""

    gpu_hour_usd: Mapping[str, float] = field(default_factory=dict)
    """USD an hour of one GPU, by flavor."""
    budgets: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """By team, its ClusterQueue and what it may spend in a month, USD."""
    node_hour_usd: Mapping[str, float] = field(default_factory=dict)
    """USD an hour of a node without GPUs, by instance type."""
    volume_gib_month_usd: Mapping[str, float] = field(default_factory=dict)
    """USD a month of a GiB of a volume, by storage class."""
    also_of: Mapping[str, str] = field(default_factory=dict)
    """ClusterQueues besides, each with the team that what is held through it counts to."""
    chips: bool = False
    """Whether there are TPU slices, whose chips count beside the GPUs."""
    chip_hour_usd: Mapping[str, float] = field(default_factory=dict)
    """USD an hour of one TPU chip, by flavor."""


_THIS_MONTH = 'count_values("month", month())'
_OF_TEAMS = f"max by (cluster_queue, team) ({n.TEAM_BUDGET_USD})"

LEDGER_MINUTES = 5


def ledger(*, chips: bool = False) -> tuple[Recording, ...]:
    """What teams spend, of GPUs and of TPU chips where there are slices.

    Every five minutes, each of which counts as that long: what no rule was evaluated in is not counted.
    """
    held, what = held_usd_per_hour(chips=chips), "GPUs and TPU chips" if chips else "GPUs"
    return (
        Recording(
            n.TEAM_USD_PER_HOUR,
            f"(sum by (team) (({held} * on (cluster_queue) group_left (team) ({_OF_TEAMS} >= bool 0))"
            f" or {_OF_TEAMS} * 0) and on () count(kueue_cluster_queue_status))"
            f" * on () group_left (month) {_THIS_MONTH}",
            f"USD an hour of the {what} that a team holds, 0 where it holds none, and nothing while Kueue says "
            "nothing; by the month, so that one can be summed by itself.",
        ),
        Recording(
            n.TEAM_SPENT_USD,
            f"sum_over_time({n.TEAM_USD_PER_HOUR}[31d]) * {LEDGER_MINUTES} / 60 and on (month) {_THIS_MONTH}",
            f"USD that a team has held {what} for since the month began, in UTC as the clouds' bills.",
        ),
    )


def constants(members: Mapping[str, tuple[str, int]], money: Money) -> tuple[Recording, ...]:
    """Figures of the plan as series: people of a team, prices of an hour of a GPU and of a chip, budgets."""
    return (
        *(
            Recording(n.TEAM_MEMBERS, f"vector({count})", "People of a team.", {"namespace": namespace, "team": team})
            for namespace, (team, count) in members.items()
        ),
        *(
            Recording(n.GPU_HOUR_USD, f"vector({usd:g})", "USD an hour of one GPU.", {"flavor": flavor})
            for flavor, usd in money.gpu_hour_usd.items()
        ),
        *(
            Recording(n.CHIP_HOUR_USD, f"vector({usd:g})", "USD an hour of one TPU chip.", {"flavor": flavor})
            for flavor, usd in money.chip_hour_usd.items()
        ),
        *(
            Recording(n.NODE_HOUR_USD, f"vector({usd:g})", "USD an hour of a node.", {"instance_type": type_})
            for type_, usd in money.node_hour_usd.items()
        ),
        *(
            Recording(n.VOLUME_GIB_MONTH_USD, f"vector({usd:g})", "USD a GiB and month.", {"storageclass": class_})
            for class_, usd in money.volume_gib_month_usd.items()
        ),
        *(
            Recording(
                n.TEAM_BUDGET_USD,
                f"vector({usd})",
                "USD that a team may spend in a month.",
                {"team": team, "cluster_queue": queue},
            )
            for team, queue, usd in (
                *((team, queue, usd) for team, (queue, usd) in money.budgets.items()),
                *((team, queue, money.budgets[team][1]) for queue, team in money.also_of.items()),
            )
        ),
    )


def recording_groups(members: Mapping[str, tuple[str, int]], money: Money) -> list[dict[str, Any]]:
    """All groups of recorded figures, for a stack with these teams by namespace, at these prices."""

    def rules(recordings: Sequence[Recording]) -> list[dict[str, Any]]:
        return [recording.rule() for recording in recordings]

    once = dict.fromkeys(target.recording.record for target in SUCCESS)
    by_name = {target.recording.record: target.recording for target in SUCCESS}
    return [
        group("trainyard-constants", rules(constants(members, money)), "1m"),
        group("trainyard-usage", rules((*USAGE, *(CHIPS if money.chips else ()))), "1m"),
        group("trainyard-counts", rules(COUNTS), "5m"),
        group("trainyard-ledger", rules(ledger(chips=money.chips)), f"{LEDGER_MINUTES}m"),
        group("trainyard-resources", rules((*RESOURCES, *(IDLE_CHIPS if money.chips else ()))), f"{LEDGER_MINUTES}m"),
        group("trainyard-success", rules([by_name[name] for name in once]), "5m"),
    ]
