"""Who is told when the backups of homes or of the tracking database stop being made.

Both services make them by themselves, every day, and keep silent where one is missing. AWS Backup, which backs an EFS
file system up, tells EventBridge how each job ended (AWS Backup developer guide, "Monitoring AWS Backup events using
Amazon EventBridge", read 2026-11-26). RDS has no event of a backup that failed (RDS user guide, "Amazon RDS event
categories and event messages", read 2026-11-26): it tells what keeps it from making any, which is that they are
switched off, or that the instance is not available, as one that is stopped, whose disk is full or whose key is
disabled is not (user guide, "Working with backups", as generally known). FSx for Lustre takes none of a file system
that is linked to a bucket.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch

from trainyard.components.outputs import register
from trainyard.conventions.monitoring import BACKUP_PAGE, RUNBOOKS

NOT_MADE: Final = ("FAILED", "EXPIRED", "ABORTED")
"""States in which a job of AWS Backup ends without a backup: it failed, it did not begin or end in its window, somebody
stopped it (botocore's `backup` model, `BackupJobState`, has no other that is an end without a backup)."""

STOPPED: Final[Mapping[str, str]] = {
    "RDS-EVENT-0007": "its disk is full",
    "RDS-EVENT-0028": "automatic backups were switched off",
    "RDS-EVENT-0031": "it has failed",
    "RDS-EVENT-0035": "its parameters do not let it start",
    "RDS-EVENT-0036": "its subnets are wrong or gone",
    "RDS-EVENT-0087": "it was stopped",
    "RDS-EVENT-0221": "its disk is full, and it was shut down",
    "RDS-EVENT-0419": "its key is out of reach",
}
"""Events of an instance after which RDS makes no backup of it until somebody acts, and what each says. One that was
stopped RDS itself starts again, after seven days without a backup (its API, `StopDBInstance`, read 2026-11-26)."""


class BackupAlertsArgs(TypedDict):
    """What `BackupAlerts` needs: a file system, a database, or both."""

    topic_arn: pulumi.Input[str]
    """Topic that is told; its policy must let the rules publish (`rule_pattern`), and its key EventBridge."""
    file_system_arn: NotRequired[pulumi.Input[str]]
    """ARN of an EFS file system with automatic backups. Default: none."""
    database_identifier: NotRequired[pulumi.Input[str]]
    """Identifier of an instance of RDS with automatic backups. Default: none."""
    runbooks: NotRequired[str]
    """The address that the runbooks' pages are below. Default `docs/runbooks`, in Trainyard's repository."""


class BackupAlerts(pulumi.ComponentResource):
    """A message for every backup of the file system that was not made, and for what ends those of the database."""

    def __init__(self, name: str, args: BackupAlertsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError where there is nothing to tell of."""
        super().__init__("trainyard:index:BackupAlerts", name, None, opts)
        if "file_system_arn" not in args and "database_identifier" not in args:
            raise ValueError(f"BackupAlerts {name!r}: got neither file_system_arn nor database_identifier")
        self._name, self._topic = name, args["topic_arn"]
        self._child = pulumi.ResourceOptions(parent=self)
        runbook = f"{args.get('runbooks', RUNBOOKS)}/{BACKUP_PAGE}"
        if "file_system_arn" in args:
            self._tell(
                "homes",
                "A backup of home directories was not made",
                job_without_backup(args["file_system_arn"]),
                {"of": "$.detail.resourceArn", "state": "$.detail.state", "why": "$.detail.statusMessage"},
                f"The backup of <of> is <state>: <why>. {runbook}",
            )
        if "database_identifier" in args:
            self._tell(
                "database",
                "Nothing backs the tracking database up until somebody acts",
                backups_stopped(args["database_identifier"]),
                {"of": "$.detail.SourceIdentifier", "why": "$.detail.Message"},
                f"No backup is made of database <of> until somebody acts: <why>. {runbook}",
            )
        register(self)

    def _tell(
        self,
        short: str,
        description: str,
        pattern: Mapping[str, Any],
        paths: Mapping[str, str],
        text: str,
    ) -> None:
        rule = cloudwatch.EventRule(
            rule_name(self._name, short),
            description=description,
            event_pattern=pulumi.Output.json_dumps(pattern),
            opts=self._child,
        )
        cloudwatch.EventTarget(
            f"{self._name}-{short}",
            rule=rule.name,
            arn=self._topic,
            input_transformer={"input_paths": dict(paths), "input_template": json.dumps(text)},
            opts=self._child,
        )


def rule_name(name: str, short: str) -> str:
    """Logical name of a rule of the component `name`, with which its name in the account begins."""
    return f"{name}-{short}"


def rule_pattern(name: str, account_id: pulumi.Input[str], region: str) -> pulumi.Output[str]:
    """The ARNs of the rules of the component `name`, for the policy of the topic, which is made before them."""
    return pulumi.Output.concat("arn:aws:events:", region, ":", account_id, f":rule/{rule_name(name, '*')}")


def job_without_backup(resource_arn: pulumi.Input[str]) -> dict[str, Any]:
    """Events of a job of AWS Backup that left no backup of a resource."""
    return {
        "source": ["aws.backup"],
        "detail-type": ["Backup Job State Change"],
        "detail": {"state": list(NOT_MADE), "resourceArn": [resource_arn]},
    }


def backups_stopped(identifier: pulumi.Input[str]) -> dict[str, Any]:
    """Events of an instance of RDS after which no backup is made of it."""
    return {
        "source": ["aws.rds"],
        "detail-type": ["RDS DB Instance Event"],
        "detail": {"SourceIdentifier": [identifier], "EventID": list(STOPPED)},
    }
