"""Alerts on checkpoints: the weekly drill could not restore one, or did not run."""

from __future__ import annotations

from trainyard.conventions.monitoring import CHECKPOINT_DRILL
from trainyard.monitoring import names as n
from trainyard.monitoring.model import Alert, Runbook
from trainyard.monitoring.recordings import DRILL_MADE, DRILL_RESTORED

_OVERDUE_DAYS = 15
"""Two weeks and a day: one run that had no node is none."""

_SEE = (
    f"`kubectl -n NAMESPACE get jobs -l app.kubernetes.io/name={CHECKPOINT_DRILL}` lists the last drills.",
    f"`kubectl -n NAMESPACE logs -l app.kubernetes.io/name={CHECKPOINT_DRILL} --tail=1` is what each said, as JSON.",
)


def checkpoint_alerts() -> tuple[Alert, ...]:
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
    )
