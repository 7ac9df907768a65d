"""Recorded figures against what they should be, with two replicas of Kueue's manager."""

from __future__ import annotations

from tests.monitoring.promtool import Figure, kueue, restarted

USAGE = "kueue_cluster_queue_resource_usage"
QUEUE = 'cluster_queue="vision", flavor="train-spot", resource="nvidia.com/gpu"'
OTHER = QUEUE.replace("spot", "on-demand")
PRICES = {
    'trainyard_gpu_hour_usd{flavor="train-spot"}': "2x1300",
    'trainyard_gpu_hour_usd{flavor="train-on-demand"}': "4x1300",
}
POOL = 'label_ml_platform_pool="train", label_ml_platform_capacity="spot"'
NODES = {
    'kube_node_status_allocatable{node="node-1", resource="nvidia_com_gpu", instance="k"}': "8x1300",
    f'kube_node_labels{{node="node-1", {POOL}, instance="k"}}': "1x1300",
}
BUSY = {f'DCGM_FI_PROF_GR_ENGINE_ACTIVE{{UUID="GPU-{number}", gpu="{number}"}}': "0.5x1300" for number in range(8)}


def _ended(succeeded: int, failed: int) -> dict[str, str]:
    return {
        f'kueue_workload_condition_time{{namespace="team-vision", name="job-{number}", type="Finished", '
        f'reason="{"Succeeded" if number < succeeded else "Failed"}", instance="k"}}': "600x60"
        for number in range(succeeded + failed)
    }


def _counters() -> dict[str, str]:
    labels = 'cluster_queue="vision", priority_class="production"'
    ended = 'namespace="team-vision", name="vision", priority_class="production"'
    return {
        # The leader counts, the follower stays where it was.
        **kueue("kueue_admission_wait_time_seconds_sum", labels, "0+60x2000", "0x2000"),
        **kueue("kueue_admission_wait_time_seconds_count", labels, "0+1x2000", "0x2000"),
        **kueue("kueue_local_queue_finished_workloads_total", ended, "0+1x2000", "0x2000"),
    }


UP = {'up{job="kueue", instance="a"}': "1x200", 'up{job="apiserver", instance="a"}': "1x200"}
ACTIVE = kueue("kueue_cluster_queue_status", 'cluster_queue="vision", status="active"', "1x200")

FIGURES: tuple[Figure, ...] = (
    Figure("GPUs held are counted once", kueue(USAGE, QUEUE, "8x60"), "sum(trainyard:gpus_held)", "30m", 8),
    Figure(
        "USD an hour by queue",
        kueue(USAGE, QUEUE, "8x60") | kueue(USAGE, OTHER, "4x60") | PRICES,
        "trainyard:gpu_usd_per_hour",
        "30m",
        32,
        labels='trainyard:gpu_usd_per_hour{cluster_queue="vision"}',
    ),
    Figure(
        "USD an hour while the manager starts anew",
        restarted(USAGE, QUEUE, "8|8", 20, 60) | PRICES,
        "sum(trainyard:gpu_usd_per_hour)",
        "21m",
        16,
    ),
    Figure(
        "waiting jobs are counted once",
        {
            **kueue("kueue_pending_workloads", 'cluster_queue="vision", status="active"', "3x60"),
            **kueue("kueue_pending_workloads", 'cluster_queue="vision", status="inadmissible"', "2x60"),
        },
        "sum(trainyard:pending_workloads)",
        "30m",
        5,
    ),
    Figure(
        "GPUs that there are, by flavor",
        NODES,
        "trainyard:gpus_provisioned",
        "30m",
        8,
        labels='trainyard:gpus_provisioned{flavor="train-spot"}',
    ),
    Figure("GPUs that compute", NODES | BUSY, "trainyard:gpus_active", "30m", 4, labels="trainyard:gpus_active"),
    Figure(
        "utilisation of a week",
        NODES | BUSY,
        "trainyard:gpu_utilisation:ratio7d",
        "10h",
        0.5,
        labels="trainyard:gpu_utilisation:ratio7d",
        step="5m",
    ),
    Figure("utilisation without nodes", {}, "absent(trainyard:gpu_utilisation:ratio7d)", "2h", 1),
    Figure(
        "job success, jobs long deleted",
        _ended(19, 1),
        "trainyard:job_success:ratio7d",
        "20h",
        0.95,
        labels="trainyard:job_success:ratio7d",
        step="5m",
    ),
    Figure(
        "spot share",
        kueue(USAGE, QUEUE, "6x1200") | kueue(USAGE, OTHER, "2x1200"),
        "trainyard:spot_share:ratio30d",
        "10h",
        0.75,
        labels="trainyard:spot_share:ratio30d",
        step="5m",
    ),
    Figure(
        "spot share without spot",
        kueue(USAGE, OTHER, "2x1200"),
        "trainyard:spot_share:ratio30d",
        "10h",
        0,
        labels="trainyard:spot_share:ratio30d",
        step="5m",
    ),
    Figure(
        "queue wait, mean",
        _counters(),
        "trainyard:queue_wait_seconds:mean7d",
        "20h",
        60,
        labels='trainyard:queue_wait_seconds:mean7d{priority_class="production"}',
        step="5m",
    ),
    Figure(
        "experiments an engineer",
        _counters(),
        'round(trainyard:experiments_per_engineer:week{team="vision"}, 5)',
        "20h",
        300,
        labels='{namespace="team-vision", team="vision"}',
        step="5m",
    ),
    Figure("the platform is up", UP | ACTIVE, "trainyard:platform_up", "30m", 1, labels="trainyard:platform_up"),
    Figure(
        "not without the API server",
        {key: value for key, value in UP.items() if "kueue" in key} | ACTIVE,
        "trainyard:platform_up",
        "30m",
        0,
        labels="trainyard:platform_up",
    ),
    Figure("not without an active queue", UP, "trainyard:platform_up", "30m", 0, labels="trainyard:platform_up"),
    Figure(
        "an active GPU hour with what stands idle",
        NODES | BUSY | PRICES,
        "trainyard:active_gpu_hour_usd:mean7d",
        "10h",
        4,
        labels="trainyard:active_gpu_hour_usd:mean7d",
        step="5m",
    ),
)
