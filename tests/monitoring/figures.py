"""Recorded figures against what they should be, with two replicas of Kueue's manager."""

from __future__ import annotations

from typing import Any

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


TYPES = {
    'trainyard_node_hour_usd{instance_type="m6i.2xlarge"}': "0.4x60",
    'trainyard_volume_gib_month_usd{storageclass="trainyard-gp3"}': "0.073x60",
    'kube_node_labels{node="cpu-1", label_node_kubernetes_io_instance_type="m6i.2xlarge", instance="k"}': "1x60",
    'kube_node_labels{node="cpu-2", label_node_kubernetes_io_instance_type="m6i.2xlarge", instance="k"}': "1x60",
    'kube_node_labels{node="gpu-1", label_node_kubernetes_io_instance_type="p5.48xlarge", instance="k"}': "1x60",
    **{
        f'kube_node_status_allocatable{{node="{node}", resource="{resource}", instance="k"}}': f"{amount}x60"
        for node in ("cpu-1", "cpu-2", "gpu-1")
        for resource, amount in (("cpu", 8), ("memory", 32))
    },
}
"""Two nodes without GPUs at 0.40 USD an hour, and one with; a GiB of a volume costs 0.0001 USD an hour."""


def _pod(
    namespace: str, pod: str, node: str, cpu: float, memory: float, phase: str = "Running", ksm: str = "k"
) -> dict:
    asked, of_it = "kube_pod_container_resource_requests", f'namespace="{namespace}", pod="{pod}"'
    return {
        f'{asked}{{{of_it}, container="a", node="{node}", resource="cpu", instance="{ksm}"}}': f"{cpu}x60",
        f'{asked}{{{of_it}, container="a", node="{node}", resource="memory", instance="{ksm}"}}': f"{memory}x60",
        f'kube_pod_status_phase{{{of_it}, phase="{phase}", instance="{ksm}"}}': "1x60",
    }


PODS = (
    TYPES
    | _pod("team-vision", "notebook", "cpu-1", 2, 16)  # half of the node's memory
    | _pod("team-vision", "load", "cpu-2", 2, 4)  # a quarter of its cores
    | _pod("team-vision", "train-0", "gpu-1", 8, 32)  # pays by its GPUs
    | _pod("team-vision", "done", "cpu-1", 8, 32, phase="Succeeded")
    | _pod("monitoring", "prometheus", "cpu-2", 4, 16)
)
TWICE = PODS | _pod("team-vision", "notebook", "cpu-1", 2, 16, ksm="another")
VISION, PROMETHEUS = (
    'namespace="team-vision", persistentvolumeclaim="home"',
    'namespace="monitoring", persistentvolumeclaim="p"',
)
TIER = 'namespace="team-vision", persistentvolumeclaim="data"'
CLAIMS = TYPES | {
    f'kube_persistentvolumeclaim_info{{{VISION}, storageclass="trainyard-gp3", volumename="v"}}': "1x60",
    f'kube_persistentvolumeclaim_info{{{PROMETHEUS}, storageclass="trainyard-gp3", volumename="w"}}': "1x60",
    f'kube_persistentvolumeclaim_info{{{TIER}, storageclass="", volumename="x"}}': "1x60",
    f"kube_persistentvolumeclaim_resource_requests_storage_bytes{{{VISION}}}": f"{100 * 1024**3}x60",
    f"kube_persistentvolumeclaim_resource_requests_storage_bytes{{{PROMETHEUS}}}": f"{50 * 1024**3}x60",
    f"kube_persistentvolumeclaim_resource_requests_storage_bytes{{{TIER}}}": f"{1024**4}x60",
}


def _cpu(what: str, series: dict[str, str], namespace: str, value: float) -> Figure:
    expr = f'round(trainyard:cpu_usd_per_hour{{namespace="{namespace}"}}, 0.001)'
    return Figure(what, series, expr, "30m", value, labels=f'{{namespace="{namespace}"}}', step="5m")


RESOURCES: tuple[Figure, ...] = (
    _cpu("a pod pays for the part of its node that it keeps from others", PODS, "team-vision", 0.3),
    _cpu("read from two pods of kube-state-metrics, once", TWICE, "team-vision", 0.3),
    _cpu("the platform's own pods", PODS, "monitoring", 0.2),
    Figure(
        "a namespace without pods on such nodes pays nothing",
        PODS,
        'absent(trainyard:cpu_usd_per_hour{namespace="team-nlp"})',
        "30m",
        1,
        labels='{namespace="team-nlp"}',
        step="5m",
    ),
    Figure(
        "what nobody asks for of nodes without GPUs is idle",
        PODS,
        "round(trainyard:idle_cpu_usd_per_hour, 0.001)",
        "30m",
        0.3,
        step="5m",
    ),
    Figure(
        "nodes on which nothing runs are idle whole",
        TYPES,
        "round(trainyard:idle_cpu_usd_per_hour, 0.001)",
        "30m",
        0.8,
        step="5m",
    ),
    Figure(
        "GPUs of nodes that no job holds",
        NODES | PRICES | kueue(USAGE, QUEUE, "6x60"),
        "round(trainyard:idle_gpu_usd_per_hour, 0.001)",
        "30m",
        4,
        step="5m",
    ),
    Figure(
        "volumes by their claims, and no share of a mounted file system",
        CLAIMS,
        'round(trainyard:volume_usd_per_hour{namespace="team-vision"}, 0.0001)',
        "30m",
        0.01,
        labels='{namespace="team-vision"}',
        step="5m",
    ),
)

UP = {'up{job="kueue", instance="a"}': "1x200", 'up{job="apiserver", instance="a"}': "1x200"}
ACTIVE = kueue("kueue_cluster_queue_status", 'cluster_queue="vision", status="active"', "1x200")

UP_TEN_HOURS = {'up{job="kueue", instance="a"}': "1x300 0x59 1x300", 'up{job="apiserver", instance="a"}': "1x700"}


def _job(name: str, flavor: str, gpus: int, priority: str = "standard", ksm: str = "k") -> dict[str, str]:
    of_it = f'namespace="team-vision", name="{name}", pod_set="node", priority="{priority}", instance="{ksm}"'
    return {f'kueue_workload_gpus{{{of_it}, flavor="{flavor}"}}': f"{gpus}x1200"}


def _jobs_held(*, spot: int = 0, dear: int = 0) -> dict[str, str]:
    found = _job("b", "train-on-demand", dear)
    return found | _job("a", "train-spot", spot) if spot else found


_SPOT_SHARE: dict[str, Any] = {
    "expr": "trainyard:spot_share:ratio30d",
    "at": "10h",
    "labels": "trainyard:spot_share:ratio30d",
    "step": "5m",
}
_DRILL = 'namespace="team-vision", cronjob="checkpoint-drill"'
_FAILED = 'namespace="team-vision", job_name="checkpoint-drill-2"'
DRILLS = {  # restored after 100 hours, failed after 200, restored after 300: known for 300 hours, 100 of them badly
    f"kube_cronjob_created{{{_DRILL}}}": "0x500",
    f"kube_cronjob_status_last_successful_time{{{_DRILL}}}": f"_x100 {100 * 3600}x199 {300 * 3600}x200",
    f"kube_job_created{{{_FAILED}}}": f"_x200 {200 * 3600}x400",
    f'kube_job_failed{{{_FAILED}, condition="true"}}': "_x200 1x400",
}

FIGURES: tuple[Figure, ...] = (
    *RESOURCES,
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
    Figure("spot share of what is not production", _jobs_held(spot=6, dear=2), **_SPOT_SHARE, value=0.75),
    Figure("spot share without spot", _jobs_held(dear=2), **_SPOT_SHARE, value=0),
    Figure(
        "production, and what has ended, count for nothing",
        _jobs_held(spot=6, dear=2)
        | _job("serve", "train-on-demand", 64, priority="production")
        | _job("done", "train-on-demand", 32)
        | {'kueue_workload_condition{namespace="team-vision", name="done", type="Finished"}': "1x1200"},
        **_SPOT_SHARE,
        value=0.75,
    ),
    Figure(
        "read from two pods of kube-state-metrics, once",
        _jobs_held(spot=6, dear=2) | _job("a", "train-spot", 6, ksm="other"),
        **_SPOT_SHARE,
        value=0.75,
    ),
    Figure(
        "uptime: Kueue was away for an hour of ten",
        UP_TEN_HOURS | kueue("kueue_cluster_queue_status", 'cluster_queue="vision", status="active"', "1x600"),
        "round(trainyard:uptime:ratio30d, 0.01)",
        "10h",
        0.9,
    ),
    Figure(
        "checkpoint reliability: a drill failed, and the next restored",
        DRILLS,
        "round(trainyard:checkpoint_reliability:ratio30d, 0.01)",
        "400h",
        0.67,
        every="1h",
        step="1h",
    ),
    Figure("without a drill it is not known", {}, "absent(trainyard:checkpoint_reliability:ratio30d)", "2h", 1),
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
