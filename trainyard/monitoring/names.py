"""Names of metrics, each once: what rules, dashboards, controllers and reports mean by the same figure."""

from typing import Final

# Constants of the stack, recorded as series

GPU_HOUR_USD: Final = "trainyard_gpu_hour_usd"
"""USD an hour of one GPU, by `flavor`."""
TEAM_SPENT_USD: Final = "trainyard_team_spent_usd"
"""USD that a team has held GPUs for since the month began, by `team` and `month`, 1 to 12, in UTC."""
NODE_HOUR_USD: Final = "trainyard_node_hour_usd"
"""USD an hour of a node without GPUs, by `instance_type`."""
VOLUME_GIB_MONTH_USD: Final = "trainyard_volume_gib_month_usd"
"""USD a month of a GiB of a volume, by `storageclass`."""
TEAM_BUDGET_USD: Final = "trainyard_team_budget_usd"
"""USD that a team may spend in the month, by `team` and `cluster_queue`."""
TEAM_MEMBERS: Final = "trainyard_team_members"
"""People of a team, by `namespace` and `team`."""

# Recorded figures

GPUS_PROVISIONED: Final = "trainyard:gpus_provisioned"
"""GPUs of the nodes that there are, by `flavor`."""
GPUS_ACTIVE: Final = "trainyard:gpus_active"
"""GPUs that compute: the sum of each GPU's busy share."""
GPUS_HELD: Final = "trainyard:gpus_held"
"""GPUs that admitted jobs hold, by `cluster_queue` and `flavor`."""
GPUS_HELD_OF_OTHERS: Final = "trainyard:gpus_held_not_production"
"""GPUs that jobs hold which are not of production's priority, by `flavor`."""
USD_PER_HOUR: Final = "trainyard:gpu_usd_per_hour"
"""What the held GPUs cost, by `cluster_queue`."""
PROVISIONED_USD_PER_HOUR: Final = "trainyard:gpu_provisioned_usd_per_hour"
"""What the GPUs of all nodes cost, held or not."""
CPU_USD_PER_HOUR: Final = "trainyard:cpu_usd_per_hour"
"""What pods on nodes without GPUs ask for costs, by `namespace`."""
VOLUME_USD_PER_HOUR: Final = "trainyard:volume_usd_per_hour"
"""What claims of volumes cost, by `namespace`."""
IDLE_CPU_USD_PER_HOUR: Final = "trainyard:idle_cpu_usd_per_hour"
"""What of the nodes without GPUs no pod asks for costs."""
IDLE_GPU_USD_PER_HOUR: Final = "trainyard:idle_gpu_usd_per_hour"
"""What the GPUs of nodes cost that no job holds."""
TEAM_USD_PER_HOUR: Final = "trainyard:team_usd_per_hour:month"
"""What the GPUs cost that a team holds, by `team` and the `month` in which they did, 1 to 12."""
PENDING: Final = "trainyard:pending_workloads"
"""Jobs that wait, by `cluster_queue`."""
PLATFORM_UP: Final = "trainyard:platform_up"
"""Whether jobs can be handed in and started: 1 or 0."""

CHECKPOINTS_RESTORABLE: Final = "trainyard:checkpoints_restorable"
"""Whether the last checkpoint drill restored what it should have, 1 or 0, by `namespace`; nothing before the second."""

TEAM_CHECKPOINTS_READABLE: Final = "trainyard:team_checkpoints_readable"
"""Whether a team's newest checkpoints could be read when they were last looked at, 1 or 0, by `namespace`."""
TEAM_CHECKPOINTS_FRESH: Final = "trainyard:team_checkpoints_fresh"
"""Whether the newest was then younger than it has to be, 1 or 0, by `namespace`."""

FINISHED: Final = "trainyard:finished_workloads:increase5m"
"""Jobs that ended in five minutes, by `namespace`."""
ADMITTED: Final = "trainyard:admitted_workloads:increase5m"
"""Jobs that started in five minutes, by `cluster_queue`."""
WAIT_SECONDS: Final = "trainyard:admission_wait_seconds:increase5m"
"""Seconds that the jobs waited which started in five minutes, by `priority_class`."""
WAITS: Final = "trainyard:admission_waits:increase5m"
"""How many jobs those are, by `priority_class`."""

# The success metrics

UTILISATION: Final = "trainyard:gpu_utilisation:ratio7d"
QUEUE_WAIT: Final = "trainyard:queue_wait_seconds:mean7d"
JOB_SUCCESS: Final = "trainyard:job_success:ratio7d"
SPOT_SHARE: Final = "trainyard:spot_share:ratio30d"
UPTIME: Final = "trainyard:uptime:ratio30d"
EXPERIMENTS: Final = "trainyard:experiments_per_engineer:week"
GPU_HOUR_COST: Final = "trainyard:active_gpu_hour_usd:mean7d"

CHECKPOINT_RELIABILITY: Final = "trainyard:checkpoint_reliability:ratio30d"

# Of exporters

BUSY: Final = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
"""Share of time that a GPU computed, 0 to 1; without a sample on GPUs that have no profiling counters."""
XIDS: Final = "DCGM_EXP_XID_ERRORS_COUNT"
"""Errors that the driver reported in the last five minutes, by `xid`."""
CLOCK_EVENTS: Final = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"
"""Why a GPU's clock is held down, a bit a reason."""
