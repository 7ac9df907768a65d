"""BackupAlerts: the events of which somebody is told, those of a healthy day, and the words that they get."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

import pulumi_aws.sns as sns
import pytest
from moto.events.models import EventPattern

from tests.components.aws.api_shape import REGION
from tests.pulumi_harness import ACCOUNT, Recording, record
from tests.shared import ROOT
from trainyard.components.aws.backup_alerts import BackupAlerts, rule_pattern
from trainyard.conventions.monitoring import BACKUP_PAGE, RUNBOOKS
from trainyard.recorded.types import EVENT_RULE, EVENT_TARGET, SNS_TOPIC_POLICY

SHARE = f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-0a1b2c3d"
DATABASE = "acme-demo-mlflow"


@pytest.fixture(scope="module")
def made() -> Recording:
    topic = f"arn:aws:sns:{REGION}:{ACCOUNT}:alerts"
    args: Any = {"topic_arn": topic, "file_system_arn": SHARE, "database_identifier": DATABASE}
    return record(lambda: BackupAlerts("backups", args))


def job(state: str, resource: str = SHARE) -> dict[str, Any]:
    """As AWS Backup tells it (developer guide, "Monitoring AWS Backup events using Amazon EventBridge")."""
    detail = {"backupJobId": "1", "resourceArn": resource, "resourceType": "EFS", "state": state, "statusMessage": "?"}
    return {"source": "aws.backup", "detail-type": "Backup Job State Change", "detail": detail}


def instance(event: str, identifier: str = DATABASE) -> dict[str, Any]:
    detail = {"SourceIdentifier": identifier, "SourceType": "DB_INSTANCE", "EventID": event, "Message": "?"}
    return {"source": "aws.rds", "detail-type": "RDS DB Instance Event", "detail": detail}


SICK = {
    "homes": [job("FAILED"), job("EXPIRED"), job("ABORTED")],
    "database": [
        instance(f"RDS-EVENT-{number}") for number in ("0028", "0221", "0031", "0035", "0036", "0087", "0419")
    ],
}
HEALTHY = [
    *(job(state) for state in ("CREATED", "RUNNING", "COMPLETED")),
    job("FAILED", SHARE.replace("fs-0a1b2c3d", "fs-99")),  # another's
    *(instance(f"RDS-EVENT-{number}") for number in ("0001", "0002", "0032", "0217", "0006", "0088", "0420")),
    instance("RDS-EVENT-0028", "globex-demo-mlflow"),
]


@pytest.mark.parametrize("short", SICK)
def test_a_backup_that_is_missing_is_told_and_a_healthy_day_is_not(made: Recording, short: str) -> None:
    pattern = EventPattern.load(made.one(EVENT_RULE, f"backups-{short}").inputs["eventPattern"])
    assert all(pattern.matches_event(event) for event in SICK[short])
    assert not [event for event in HEALTHY if pattern.matches_event(event)]


@pytest.mark.parametrize("short", SICK)
def test_who_is_told_reads_of_what_why_and_what_to_do(made: Recording, short: str) -> None:
    words = made.one(EVENT_TARGET, f"backups-{short}").inputs["inputTransformer"]
    for place in words["inputPaths"].values():
        assert place.removeprefix("$.detail.") in SICK[short][0]["detail"]
    assert all(f"<{name}>" in json.loads(words["inputTemplate"]) for name in words["inputPaths"])
    page = f"{RUNBOOKS}/{BACKUP_PAGE}"
    assert page in words["inputTemplate"] and (ROOT / page).is_file()


def test_the_page_is_named_where_it_is_published() -> None:
    args: Any = {"topic_arn": "t", "file_system_arn": SHARE, "database_identifier": DATABASE}
    made = record(lambda: BackupAlerts("backups", {**args, "runbooks": "https://wiki.acme.example/ml"}))
    for short in SICK:
        words = json.loads(made.one(EVENT_TARGET, f"backups-{short}").inputs["inputTransformer"]["inputTemplate"])
        assert words.endswith(f" https://wiki.acme.example/ml/{BACKUP_PAGE}")


def test_the_topic_lets_the_rules_publish_and_no_other(made: Recording) -> None:
    told = record(lambda: sns.TopicPolicy("topic", arn="t", policy=rule_pattern("backups", ACCOUNT, REGION)))
    pattern = told.one(SNS_TOPIC_POLICY).inputs["policy"]
    names = [f"{rule.name}-1a2b3c4" for rule in made.of_type(EVENT_RULE)]
    assert names and all(fnmatchcase(f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{name}", pattern) for name in names)
    assert not fnmatchcase(f"arn:aws:events:{REGION}:{ACCOUNT}:rule/somebodys", pattern)


def test_only_what_is_there_is_watched() -> None:
    args: Any = {"topic_arn": "t", "database_identifier": DATABASE}
    alone = record(lambda: BackupAlerts("backups", args))
    assert [rule.name for rule in alone.of_type(EVENT_RULE)] == ["backups-database"]
    nothing: Any = {"topic_arn": "t"}
    with pytest.raises(ValueError, match="neither file_system_arn nor database_identifier"):
        record(lambda: BackupAlerts("backups", nothing))
