"""Alerts on checkpoints: the weekly drill could not restore one, a team's own cannot be read, or nobody looked."""

from __future__ import annotations

from trainyard.conventions.monitoring import CHECKPOINT_AGE, CHECKPOINT_CHECK, CHECKPOINT_DRILL
from trainyard.monitoring import names as n
from trainyard.monitoring.model import Alert, Runbook
from trainyard.monitoring.recordings import CHECKED, DRILL_MADE, DRILL_RESTORED
from trainyard.monitoring.thresholds import Thresholds

_OVERDUE_DAYS = 15
"""Two weeks and a day: one run that had no node is none."""

_SEE = (
    f"`kubectl -n NAMESPACE get jobs -l app.kubernetes.io/name={CHECKPOINT_DRILL}` lists the last drills.",
    f"`kubectl -n NAMESPACE logs -l app.kubernetes.io/name={CHECKPOINT_DRILL} --tail=1` is what each said, as JSON.",
)


def _looks(cron_job: str) -> tuple[str, ...]:
    return (
        f"`kubectl -n NAMESPACE logs -l app.kubernetes.io/name={cron_job} --tail=1` is what each look said, as JSON.",
        f"`kubectl -n NAMESPACE create job --from=cronjob/{cron_job} {cron_job}-again` looks again.",
    )


_TRAINING = (
    "sum by (namespace) (max by (namespace, pod, container)"
    ' (kube_pod_container_resource_requests{resource="nvidia_com_gpu"})'
    ' * on (namespace, pod) group_left () (max by (namespace, pod) (kube_pod_status_phase{phase="Running"}) == 1)'
    ' * on (namespace, pod) group_left () max by (namespace, pod) (kube_pod_owner{owner_kind="Job"}))'
)
"""GPUs that run for jobs, by namespace; what a person does by hand leaves no checkpoints."""
_LOOKS_A_HOUR = 2


def _trained_for(hours: int) -> str:
    """Whether GPUs ran for jobs at every half hour of so many; a scrape or two may be missing."""
    return f"count_over_time({_TRAINING}[{hours}h:30m]) >= {_LOOKS_A_HOUR * hours - 2}"


def checkpoint_alerts(thresholds: Thresholds) -> tuple[Alert, ...]:
    """Every alert on checkpoints."""
    return (
        Alert(
            "CheckpointDrillFailed",
            "a checkpoint could not be restored",
            f"{n.CHECKPOINTS_RESTORABLE} == 0",
            "critical",
            "the checkpoint drill in {{ $labels.namespace }} could not restore what it left the week before",
            Runbook(
                "The weekly drill reads the checkpoint that it wrote the week before, through the same tier and with "
                "the same rights as the team's jobs. It found none, or one that is damaged, or could not write the "
                "next. A job that is interrupted now may lose all that it has done.",
                _SEE,
                (
                    '"first": the checkpoint of the week before is gone. Look at the lifecycle of the bucket and at '
                    "who deletes below `drill/`; versions can be taken back.",
                    '"refused": bytes have changed on the tier. Keep the folder, and look at the team\'s own newest '
                    "checkpoints before anything is pruned.",
                    '"AccessDenied": the role, the key or the endpoint has changed; `trainyard explain STACK rights '
                    "TEAM` says which statement decides.",
                    f"Then run it again: `kubectl -n NAMESPACE create job --from=cronjob/{CHECKPOINT_DRILL} "
                    f"{CHECKPOINT_DRILL}-again`.",
                ),
            ),
            "10m",
        ),
        Alert(
            "CheckpointDrillOverdue",
            "nobody has tried to restore a checkpoint",
            f"time() - ({DRILL_RESTORED} or on (namespace) {DRILL_MADE}) > {_OVERDUE_DAYS * 24 * 3600}",
            "warning",
            f"no checkpoint drill has succeeded in {{{{ $labels.namespace }}}} for {_OVERDUE_DAYS} days",
            Runbook(
                "The weekly drill has not succeeded for two weeks, and it has not failed either: it was not started, "
                "was suspended, or did not get a node in time.",
                (
                    f"`kubectl -n NAMESPACE describe cronjob {CHECKPOINT_DRILL}` says when it last ran.",
                    "`kubectl -n NAMESPACE get workloads` shows whether the queue admitted it.",
                ),
                (
                    f"`kubectl -n NAMESPACE create job --from=cronjob/{CHECKPOINT_DRILL} {CHECKPOINT_DRILL}-again` "
                    "runs it now.",
                    "Where it waits for a node, look at the CPU pool: `cpuPool` in the stack file, and the "
                    "autoscaler's status.",
                ),
            ),
            "1h",
        ),
        Alert(
            "TeamCheckpointDamaged",
            "a team's newest checkpoint cannot be read",
            f"{n.TEAM_CHECKPOINTS_READABLE} == 0",
            "critical",
            "the newest checkpoint of a run in {{ $labels.namespace }} is damaged, or cannot be read",
            Runbook(
                "Each day a job looks at the newest checkpoint of every run that wrote within a week: that no file is "
                "missing or cut, and that checksums agree where there are any. It found one that is whole by its own "
                "words and not by its bytes. Whoever resumes from it starts from less than they believe.",
                _looks(CHECKPOINT_CHECK),
                (
                    "Tell the team: the reason names the file. `docs/how-to/restore-a-checkpoint.md` says how the one "
                    "before is taken, and how a version comes back that was overwritten or deleted.",
                    "Several runs at once: look at the tier. A full file system, a job that was killed while it wrote, "
                    "a lifecycle rule that is too short.",
                    '"Permission denied" or "Input/output error": the mount, the role or the key; '
                    "`trainyard explain STACK rights TEAM` says which statement decides.",
                ),
            ),
            "10m",
        ),
        Alert(
            "TeamCheckpointOld",
            "a team trains and saves nothing",
            f"{n.TEAM_CHECKPOINTS_FRESH} == 0 and on (namespace) {_trained_for(thresholds.checkpoint_hours)}",
            "warning",
            "{{ $labels.namespace }} has trained for longer than its newest checkpoint is old",
            Runbook(
                "GPUs have run for jobs of the team all the time, and the newest checkpoint below its part of the tier "
                "is older than that, or there is none. A node that fails now takes the work since then with it.",
                _looks(CHECKPOINT_AGE),
                (
                    "Ask whether the job saves elsewhere: what lies outside of `/checkpoints` is not seen, and a local "
                    "disk goes with its node.",
                    "A save that hangs shows in the job's log; `trainyard smoke STACK --pool POOL` measures the tier.",
                    "`trainyard recommend` says how often to save for the size of a run.",
                ),
            ),
            "10m",
            threshold="checkpoint_hours",
        ),
        Alert(
            "TeamCheckpointUnchecked",
            "nobody has looked at a team's checkpoints",
            f"time() - {CHECKED} > {_OVERDUE_DAYS * 24 * 3600}",
            "warning",
            f"nobody has looked at the checkpoints in {{{{ $labels.namespace }}}} for {_OVERDUE_DAYS} days",
            Runbook(
                "The daily look has neither succeeded nor failed for two weeks: it was suspended, got no node, or the "
                "team's queue is held.",
                (
                    f"`kubectl -n NAMESPACE describe cronjob {CHECKPOINT_CHECK}` says when it last ran.",
                    "`kubectl -n NAMESPACE get workloads` shows whether the queue admitted it.",
                ),
                (
                    f"`kubectl -n NAMESPACE create job --from=cronjob/{CHECKPOINT_CHECK} {CHECKPOINT_CHECK}-again` "
                    "runs it now.",
                    "A team that is held at its budget is looked at again when it is let go.",
                ),
            ),
            "1h",
        ),
    )
