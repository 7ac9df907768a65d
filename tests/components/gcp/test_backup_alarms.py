"""BackupAlarms: the lines of logs of which somebody is told, and those of a healthy day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.components.gcp.log_entries import LogFilter
from tests.pulumi_harness import Recording, plain, record
from tests.shared import ROOT
from trainyard.components.gcp.backup_alarms import BackupAlarms
from trainyard.conventions.monitoring import BACKUP_PAGE, RUNBOOKS
from trainyard.recorded.types import GCP_ALERT_POLICY

PROJECT, PLAN, DATABASE = "acme-ml", "acme-demo-shared-1a2b3c4", "acme-demo-mlflow-1a2b3c4"
PLANS = f"projects/{PROJECT}/locations/europe-west4/backupPlans"
SOUND: dict[str, Any] = {
    "project": PROJECT,
    "subject": "acme-demo",
    "emails": ["ml@acme.example"],
    "labels": {"client": "acme"},
    "backup_plan_id": PLAN,
    "database": DATABASE,
}


def alarms(**changes: Any) -> Recording:
    args: Any = {key: value for key, value in {**SOUND, **changes}.items() if value is not None}
    return record(lambda: BackupAlarms("backups", args))


@pytest.fixture(scope="module")
def made() -> Recording:
    return alarms()


def job(status: str, **changes: Any) -> dict[str, Any]:
    """A line of Backup and DR, with the fields of `BDRBackupRestoreJobLog`."""
    log = f"projects/{PROJECT}/logs/backupdr.googleapis.com%2Fbdr_backup_restore_jobs"
    payload = {"jobStatus": status, "jobCategory": "SCHEDULED_BACKUP", "backupPlanName": f"{PLANS}/{PLAN}", **changes}
    return {"logName": log, "jsonPayload": payload}


def window(status: str | None, code: int = 0, instance: str = DATABASE, **changes: Any) -> dict[str, Any]:
    """A line of Cloud SQL of how the backups of a window went."""
    payload: dict[str, Any] = {"methodName": "cloudsql.instances.automatedBackup"}
    payload |= {"metadata": {"windowStatus": status}} if status else {}
    payload |= {"status": {"code": code}} if code else {}
    return {
        "logName": f"projects/{PROJECT}/logs/cloudaudit.googleapis.com%2Fsystem_event",
        "resource": {"type": "cloudsql_database", "labels": {"database_id": f"{PROJECT}:{instance}"}},
        "protoPayload": payload | changes,
        "severity": "INFO",
    }


SICK: Mapping[str, list[dict[str, Any]]] = {
    "homes": [
        job("FAILED"),
        job("SKIPPED"),
        job("FAILED", jobCategory="ON_DEMAND_BACKUP"),
        job("FAILED", backupPlanName=PLAN),
    ],
    "database": [
        window("FAILED"),
        window("OVERDUE"),
        window(None, code=13),
        window(None) | {"severity": "ERROR"},
    ],
}
HEALTHY = [
    job("SUCCESSFUL"),
    job("RUNNING"),
    job("FAILED", backupPlanName=f"{PLANS}/globex-shared-5d6e7f8"),
    job("FAILED", jobCategory="RESTORE", backupPlanName=None),
    window("SUCCESSFUL"),
    window("SKIPPED"),  # without problems, as Cloud SQL says
    window(None),
    window("FAILED", instance="globex-mlflow"),
    window("FAILED", methodName="cloudsql.instances.update"),
    window("FAILED") | {"logName": f"projects/{PROJECT}/logs/cloudaudit.googleapis.com%2Factivity"},
]


@pytest.mark.parametrize("short", SICK)
def test_a_backup_that_is_missing_is_told_and_a_healthy_day_is_not(made: Recording, short: str) -> None:
    (condition,) = plain(made.one(GCP_ALERT_POLICY, f"backups-{short}").inputs)["conditions"]
    found = LogFilter(condition["conditionMatchedLog"]["filter"])
    assert [entry for entry in SICK[short] if not found.lets_by(entry)] == []
    assert [entry for entry in HEALTHY if found.lets_by(entry)] == []


@pytest.mark.parametrize("short", SICK)
def test_who_is_told_reads_where_and_what_to_do(made: Recording, short: str) -> None:
    policy = plain(made.one(GCP_ALERT_POLICY, f"backups-{short}").inputs)
    assert policy["notificationChannels"]
    assert policy["documentation"]["content"].startswith(f"In project {PROJECT}, a backup of ")
    page = f"{RUNBOOKS}/{BACKUP_PAGE}"
    assert page in policy["documentation"]["content"] and (ROOT / page).is_file()


def test_the_page_is_named_where_it_is_published() -> None:
    there = alarms(runbooks="https://wiki.acme.example/ml")
    for short in SICK:
        told = plain(there.one(GCP_ALERT_POLICY, f"backups-{short}").inputs)["documentation"]["content"]
        assert told.endswith(f" https://wiki.acme.example/ml/{BACKUP_PAGE}")


def test_only_what_is_there_is_watched() -> None:
    assert [each.name for each in alarms(database=None).of_type(GCP_ALERT_POLICY)] == ["backups-homes"]
    with pytest.raises(ValueError, match="neither backup_plan_id nor database"):
        alarms(database=None, backup_plan_id=None)
