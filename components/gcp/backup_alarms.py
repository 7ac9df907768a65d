"""Who is told when a backup of homes or of the tracking database was not made.

Both are made by Google, every day, and nobody hears of one that is missing. Backup and DR writes a line of each of its
jobs to Cloud Logging, with the plan that the job is of and how it ended (Backup and DR, "Backup and restore job logs"
of vaulted backups; fields as `BDRBackupRestoreJobLog` of Google's API descriptions has them; both read 2026-11-26).
Cloud SQL writes how the backups of a window went to the log of system events, which nobody can switch off (Cloud SQL,
"View audit logs for automated backups", read 2026-11-26). No such line was seen. An alarm on a line hears nothing of a
backup that nobody tries: that there is a plan and that it is of every day, policies judge before. Managed Lustre has no
backups.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi

from trainyard.components.gcp.channels import LogAlarm, LogAlarmsArgs, log_alarms
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.monitoring import BACKUP_PAGE, RUNBOOKS

NOT_MADE: Final = ("FAILED", "SKIPPED")
"""How a job of Backup and DR ends that leaves no backup; the others are RUNNING and SUCCESSFUL (Backup and DR, "Backup
and restore job reports", `job_status`, read 2026-11-26)."""


class BackupAlarmsArgs(TypedDict):
    """What `BackupAlarms` needs: a plan of backups, a database, or both."""

    project: pulumi.Input[str]
    """Id of the project."""
    subject: str
    """Whose alarms these are, for whoever reads them: the environment's name."""
    emails: Sequence[str]
    """Addresses that are written to. May be empty: then incidents are seen in the console alone."""
    labels: Mapping[str, str]
    """Labels of channels and policies, which Google calls the user's."""
    backup_plan_id: NotRequired[pulumi.Input[str]]
    """Id of the plan of Backup and DR that backs home directories up. Default: none, and nobody is told of any."""
    database: NotRequired[pulumi.Input[str]]
    """Name of the instance of Cloud SQL. Default: none, and nobody is told of one."""
    runbooks: NotRequired[str]
    """The address that the runbooks' pages are below. Default `docs/runbooks`, in Trainyard's repository."""


class BackupAlarms(pulumi.ComponentResource):
    """An alarm for each of both. `depends_on` is what they wait for: services."""

    def __init__(self, name: str, args: BackupAlarmsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError where there is nothing to tell of."""
        super().__init__("trainyard:index:BackupAlarms", name, None, opts)
        runbook = f"{args.get('runbooks', RUNBOOKS)}/{BACKUP_PAGE}"
        alarms: dict[str, LogAlarm] = {}
        if "backup_plan_id" in args:
            what = "a backup of home directories was not made"
            alarms["homes"] = LogAlarm(what, job_without_backup(args["backup_plan_id"]), runbook)
        if "database" in args:
            what = "a backup of the tracking database was not made"
            alarms["database"] = LogAlarm(what, window_without_backup(args["project"], args["database"]), runbook)
        if not alarms:
            raise ValueError(f"BackupAlarms {name!r}: got neither backup_plan_id nor database")
        told: LogAlarmsArgs = {
            "project": args["project"],
            "subject": args["subject"],
            "addressed": f"Backups of {args['subject']}",
            "emails": args["emails"],
            "labels": args["labels"],
        }
        log_alarms(name, told, alarms, pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)))
        register(self)


def job_without_backup(backup_plan_id: pulumi.Input[str]) -> pulumi.Output[str]:
    """Entries of a job of one plan that left no backup; one that brings files back has no plan in its entry. The plan
    is looked for by its id alone: whether an entry has its full name or only this is said nowhere.
    """
    ends = " OR ".join(f'"{status}"' for status in NOT_MADE)
    return pulumi.Output.concat(
        f'logName:"bdr_backup_restore_jobs" AND jsonPayload.jobStatus=({ends}) AND jsonPayload.backupPlanName:"',
        backup_plan_id,
        '"',
    )


def window_without_backup(project: pulumi.Input[str], instance: pulumi.Input[str]) -> pulumi.Output[str]:
    """Entries of an automatic backup of one instance that went wrong.

    The page names the field `windowStatus` and none of its values. A status of a backup that is a problem has FAILED or
    OVERDUE in its name (Cloud SQL Admin API, `SqlBackupRunStatus`; one that is skipped is "without problems"). Besides,
    every entry of a call that failed has a code other than 0 (Cloud Audit Logs, `AuditLog.status`).
    """
    return pulumi.Output.concat(
        'log_id("cloudaudit.googleapis.com/system_event") AND resource.type="cloudsql_database" AND '
        'resource.labels.database_id="',
        project,
        ":",
        instance,
        '" AND protoPayload.methodName="cloudsql.instances.automatedBackup" AND '
        '(protoPayload.metadata.windowStatus=~"FAILED|OVERDUE" OR protoPayload.status.code>0 OR severity>=ERROR)',
    )
