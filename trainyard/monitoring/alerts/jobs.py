"""Alerts on jobs: they wait too long, or fail."""

from __future__ import annotations

from trainyard.monitoring.model import Alert, Runbook
from trainyard.monitoring.recordings import ended
from trainyard.monitoring.thresholds import Thresholds
from trainyard.problems import count

_DAY_SECONDS = 24 * 3600


def _waiting(at: Thresholds) -> Alert:
    def condition(what: str) -> str:
        return f'max by (namespace, name, queue) (kueue_workload_condition{what}{{type="QuotaReserved"}})'

    held = (
        'label_replace(max by (namespace, name) (kueue_local_queue_status{active="False"}) == 1, '
        '"queue", "$1", "name", "(.+)")'
    )
    return Alert(
        "QueueWaiting",
        "jobs wait too long",
        f"count by (namespace, queue) ((time() - {condition('_time')} > {at.queue_hours * 3600})"
        f" and ({condition('')} == 0)"
        " unless on (namespace, name) (max by (namespace, name) (kueue_workload_active) == 0)"
        " unless on (namespace, name) (max by (namespace, name)"
        ' (kueue_workload_condition{type="Finished"}) == 1)'
        f" unless on (namespace, queue) ({held}))",
        "warning",
        f"{{{{ $value }}}} jobs wait in {{{{ $labels.namespace }}}}/{{{{ $labels.queue }}}} for over "
        f"{count(at.queue_hours, 'hour')}",
        Runbook(
            "Jobs have waited for their GPUs for longer than the platform promises. Jobs of a queue that is held, and "
            "those that somebody switched off, are not counted.",
            (
                "`kubectl -n NAMESPACE get workloads` lists what waits; `kubectl -n NAMESPACE describe workload "
                "NAME` says "
                "why, in Kueue's words.",
                "`trainyard explain STACK queues` says what the team owns and may borrow.",
                "The dashboard of the pools shows whether nodes come at all.",
            ),
            (
                "A job larger than what its team may ever have waits for ever: it has to ask for less.",
                "Where the nodes do not come, the cloud has no capacity of the kind: another pool, or a reservation.",
                "Where every GPU is at work, it is a matter of quota or of size: `teams` and `gpuPools` in the "
                "stack file.",
            ),
        ),
        "5m",
        "queue_hours",
    )


def _failing(at: Thresholds) -> Alert:
    failed, all_ended = (ended(reasons, "24h", _DAY_SECONDS) for reasons in ("Failed", "Succeeded|Failed"))
    return Alert(
        "JobsFailing",
        "too many jobs fail",
        f"100 * ({failed} or vector(0)) / ({all_ended} >= {at.failed_jobs_of}) > {at.failed_jobs_percent}",
        "warning",
        "{{ $value | humanize }} % of the jobs that ended in the last day have failed",
        Runbook(
            "More jobs fail than mistakes in code account for. Each job counts once, however often it was restarted.",
            (
                "`kubectl get workloads -A` lists them; the condition Finished of a workload says why it ended.",
                "The dashboard of the hardware shows whether they failed on the same nodes.",
            ),
            (
                "If one team fails, it is mostly its code: show it the list.",
                "If one node or pool fails, drain it and prove it: `trainyard smoke STACK --pool POOL`.",
                "If all do, look at the storage, the name service and the way out of the network.",
            ),
        ),
        "15m",
        "failed_jobs_percent",
    )


def job_alerts(at: Thresholds) -> tuple[Alert, ...]:
    """Every alert on jobs."""
    return _waiting(at), _failing(at)
