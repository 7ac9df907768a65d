"""What is planned of the record on Google Cloud, and which keys of `audit` are not read there, and why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import keys, plan_of
from tests.plan.test_flex_start import GOOGLE
from trainyard.plan.parts import Plan


def planned(**changes: Any) -> Plan:
    return plan_of(**{**GOOGLE, "gpuPools": {}, **changes})


def told(plan: Plan, key: str) -> Any:
    (decision,) = [found for found in plan.core.decisions if found.key == key]
    return decision


def trail(**fields: Any) -> dict[str, Any]:
    return {"audit": keys(trail=keys(**fields))}


def test_by_default_the_stack_records_and_nothing_is_locked_for_ever() -> None:
    plan = planned()
    record = plan.ground.record
    assert (record.by_stack, record.log_retention_days, record.locked) == (True, 365, False)
    assert (record.access_log_days, record.access_log_lock_days) == (365, 90)
    assert "one a project" in told(plan, "audit.trail").source
    assert "_Required, of no region" in told(plan, "residency.leaves").value


def test_access_logs_are_kept_as_long_as_they_are_locked() -> None:
    record = planned(logRetentionDays=30, **trail(lock="compliance", lock_days=400)).ground.record
    assert (record.log_retention_days, record.locked) == (30, True)
    assert (record.access_log_days, record.access_log_lock_days) == (400, 400)


def test_what_somebody_else_records_is_told_with_its_reason() -> None:
    plan = planned(**trail(by="organization", reason="another stack of the project has it"))
    assert plan.ground.record.by_stack is False
    assert told(plan, "audit.trail").value == "the organisation's"


@pytest.mark.parametrize(
    ("changes", "key", "reason"),
    [
        (trail(retention_days=400), "audit.trail.retentionDays", "logRetentionDays says how long"),
        ({"audit": keys(threat_detection=keys(runtime=True))}, "audit.threatDetection", "Security Command Center"),
        ({"audit": keys(container_logs=keys(enabled=False))}, "audit.containerLogs", "GKE collects"),
        (
            {"audit": keys(break_glass=keys(principals=["arn:aws:iam::123456789012:user/on-call"]))},
            "audit.breakGlass",
            "an owner of the project",
        ),
        ({"logRetentionDays": 3653}, "logRetentionDays", "must be 1 to 3650"),
        ({"logRetentionDays": 0}, "logRetentionDays", "must be 1 to 3650"),
    ],
)
def test_what_is_not_read_there_says_why(problems: Any, changes: dict[str, Any], key: str, reason: str) -> None:
    assert reason in problems(**GOOGLE, gpuPools={}, **changes)[key].allowed


@pytest.mark.parametrize(
    ("who", "allowed"),
    [
        ("arn:aws:iam::123456789012:role/ingest", "user:, group: or serviceAccount:"),
        ("group:a@b.example", "organisationDomain"),
    ],
)
def test_whoever_brings_the_data_in_is_named_as_google_names_them(problems: Any, who: str, allowed: str) -> None:
    found = problems(**GOOGLE, gpuPools={}, storage=keys(ingest_principals=[who]))
    assert allowed in found["storage.ingestPrincipals[0]"].allowed


def test_what_is_not_read_there_is_told_once_and_in_its_own_words(problems: Any) -> None:
    found = problems(**GOOGLE, gpuPools={}, apiAccess=keys(mode="private"))
    assert set(found) == {"apiAccess"}
    assert "security group" not in str(found["apiAccess"])
