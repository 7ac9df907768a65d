"""AuditTrail, SecurityAlerts, ThreatDetection, BreakGlass: what is registered, and what Amazon's models make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.components.aws.api_shape import KEY_ARN, REGION, api_shape, inputs_of, refusals
from tests.pulumi_harness import ACCOUNT, Recording, record
from trainyard.components.aws.break_glass import BreakGlass
from trainyard.components.aws.buckets import Bucket, abort_incomplete_uploads
from trainyard.components.aws.security_alerts import SecurityAlerts
from trainyard.components.aws.threat_detection import ThreatDetection
from trainyard.components.aws.trail import AuditTrail
from trainyard.recorded.types import (
    ACCESS_POLICY_ASSOCIATION,
    BUCKET,
    BUCKET_OBJECT_LOCK,
    BUCKET_POLICY,
    DETECTOR,
    DETECTOR_FEATURE,
    EVENT_RULE,
    EVENT_TARGET,
    KEY,
    ROLE,
    SNS_TOPIC,
    SNS_TOPIC_POLICY,
    SNS_TOPIC_SUBSCRIPTION,
    TRAIL,
)

TIERS = ["arn:aws:s3:::acme-data", "arn:aws:s3:::acme-checkpoints"]
TRAIL_ARN = f"arn:aws:cloudtrail:{REGION}:{ACCOUNT}:trail/acme"
USER = f"arn:aws:iam::{ACCOUNT}:user/on-call"
GLASS = f"arn:aws:iam::{ACCOUNT}:role/break-glass"


def trail_arguments(**changes: Any) -> Any:
    return {
        "trail_name": "acme",
        "account_id": ACCOUNT,
        "region": REGION,
        "administrator_arns": [f"arn:aws:iam::{ACCOUNT}:role/deploy"],
        "bucket_arns": TIERS,
        "access_log_bucket": "acme-logs",
        "retention_days": 365,
        "lock": "governance",
        "lock_days": 90,
        "protect": True,
        **changes,
    }


def trail(**changes: Any) -> Recording:
    return record(lambda: AuditTrail("acme-trail", trail_arguments(**changes)))


def alerts(**changes: Any) -> Recording:
    arguments: Any = {
        "key_arn": KEY_ARN,
        "emails": ["security@acme.example"],
        "role_arns": {"break-glass": GLASS},
        "findings": True,
        **changes,
    }
    return record(lambda: SecurityAlerts("security", arguments))


def glass(**changes: Any) -> Recording:
    arguments: Any = {
        "account_id": ACCOUNT,
        "region": REGION,
        "user_arns": [USER],
        "cluster_names": ["acme", "acme-burst"],
        **changes,
    }
    return record(lambda: BreakGlass("break-glass", arguments))


class TestTrail:
    def test_it_is_one_that_cloudtrail_takes(self) -> None:
        found = inputs_of(trail().one(TRAIL))
        selectors = api_shape(found["advancedEventSelectors"])
        for selector in selectors:
            for field in selector["FieldSelectors"]:
                if "StartsWiths" in field:
                    field["StartsWith"] = field.pop("StartsWiths")
        assert (
            refusals("cloudtrail", "PutEventSelectors", {"TrailName": "acme", "AdvancedEventSelectors": selectors})
            == []
        )
        assert found["enableLogFileValidation"] and found["isMultiRegionTrail"] and found["enableLogging"]

    def test_it_records_keys_and_the_objects_of_the_tiers_alone(self) -> None:
        management, objects = inputs_of(trail().one(TRAIL))["advancedEventSelectors"]
        assert management["fieldSelectors"] == [{"field": "eventCategory", "equals": ["Management"]}]
        assert objects["fieldSelectors"][-1] == {"field": "resources.ARN", "startsWiths": [f"{arn}/" for arn in TIERS]}

    def test_files_are_locked_from_the_first_one_and_outlive_the_stack(self) -> None:
        made = trail(lock="compliance", lock_days=30)
        bucket = made.one(BUCKET)
        assert bucket.inputs["objectLockEnabled"] is True
        assert (bucket.protect, bucket.retain_on_delete) == (True, True)
        rule = inputs_of(made.one(BUCKET_OBJECT_LOCK))["rule"]
        assert rule == {"defaultRetention": {"mode": "COMPLIANCE", "days": 30}}
        assert (made.one(KEY).protect, made.one(KEY).retain_on_delete) == (True, True)

    def test_it_waits_until_its_bucket_lets_it_in(self) -> None:
        made = trail()
        assert made.one(BUCKET_POLICY).urn in made.one(TRAIL).dependencies

    def test_digests_are_not_refused_for_s3s_own_key(self) -> None:
        document = json.loads(trail().one(BUCKET_POLICY).inputs["policy"])
        assert [found["Sid"] for found in document["Statement"]] == [
            "DenyPlainHttp",
            "DenyOldTls",
            "TrailLooks",
            "TrailDelivery",
        ]
        assert document["Statement"][-1]["Condition"]["StringEquals"]["aws:SourceArn"] == TRAIL_ARN

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"trail_name": "a"}, "3 to 128"),
            ({"trail_name": "acme--x"}, "single"),
            ({"bucket_arns": []}, "bucket_arns is empty"),
            ({"lock_days": 0}, "lock_days is 0"),
            ({"lock_days": 400}, "1 to retention_days, which is 365"),
            ({"lock": "legal-hold"}, "governance or compliance"),
        ],
    )
    def test_what_aws_would_refuse_or_never_apply(self, changes: dict[str, Any], text: str) -> None:
        with pytest.raises(ValueError, match=text):
            trail(**changes)


def test_no_access_logs_under_an_object_lock() -> None:
    """S3 would take the setting and deliver nothing."""
    arguments: Any = {
        "lifecycle_rules": [abort_incomplete_uploads(1)],
        "protect": True,
        "log_source_account_id": ACCOUNT,
        "object_lock": {"mode": "governance", "days": 1},
    }
    with pytest.raises(ValueError, match="delivers access logs to no bucket"):
        record(lambda: Bucket("acme-logs", arguments))


class TestAlerts:
    def test_every_rule_tells_the_topic_and_no_other_may(self) -> None:
        made = alerts()
        rules = {rule.name: rule for rule in made.of_type(EVENT_RULE)}
        assert set(rules) == {"security-break-glass", "security-record-off", "security-findings"}
        topic = made.one(SNS_TOPIC)
        assert topic.inputs["kmsMasterKeyId"] == KEY_ARN
        policy = json.loads(made.one(SNS_TOPIC_POLICY).inputs["policy"])
        (statement,) = policy["Statement"]
        named = statement["Condition"]["ArnEquals"]["aws:SourceArn"]
        assert sorted(named) == sorted(rule.outputs["arn"] for rule in rules.values())
        targets = made.of_type(EVENT_TARGET)
        assert {target.name for target in targets} == set(rules)
        for target in targets:
            assert target.inputs["arn"] == topic.outputs["arn"]
            assert "roleArn" not in target.inputs  # with one, delivery to an encrypted topic fails
            assert made.one(SNS_TOPIC_POLICY).urn in target.dependencies
        assert [found.inputs["endpoint"] for found in made.of_type(SNS_TOPIC_SUBSCRIPTION)] == ["security@acme.example"]

    def test_patterns_are_ones_that_eventbridge_takes(self) -> None:
        for rule in alerts().of_type(EVENT_RULE):
            request = {"Name": rule.name, "EventPattern": rule.inputs["eventPattern"], "State": rule.inputs["state"]}
            assert refusals("events", "PutRule", request) == []

    def test_what_is_read_only_is_heard_where_it_matters(self) -> None:
        states = {rule.name: rule.inputs["state"] for rule in alerts().of_type(EVENT_RULE)}
        assert states == {
            "security-break-glass": "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS",
            "security-record-off": "ENABLED",
            "security-findings": "ENABLED",
        }

    def test_without_a_detector_and_a_role_there_is_no_rule_for_them(self) -> None:
        made = alerts(findings=False, role_arns={}, emails=[])
        assert [rule.name for rule in made.of_type(EVENT_RULE)] == ["security-record-off"]
        assert made.of_type(SNS_TOPIC_SUBSCRIPTION) == []


@pytest.mark.parametrize("runtime", [False, True])
def test_every_feature_of_the_detector_is_said_on_or_off(runtime: bool) -> None:
    made = record(lambda: ThreatDetection("watch", {"runtime": runtime}))
    detector = made.one(DETECTOR)
    assert (detector.inputs["enable"], detector.inputs["findingPublishingFrequency"]) == (True, "FIFTEEN_MINUTES")
    features = {found.inputs["name"]: inputs_of(found) for found in made.of_type(DETECTOR_FEATURE)}
    on = {name for name, found in features.items() if found["status"] == "ENABLED"}
    assert on == {"S3_DATA_EVENTS", "EKS_AUDIT_LOGS", *(["RUNTIME_MONITORING"] if runtime else [])}
    state = "ENABLED" if runtime else "DISABLED"
    assert features["RUNTIME_MONITORING"]["additionalConfigurations"] == [
        {"name": "EKS_ADDON_MANAGEMENT", "status": state}
    ]
    wire = [
        {
            "Name": found["name"],
            "Status": found["status"],
            "AdditionalConfiguration": api_shape(found.get("additionalConfigurations", [])),
        }
        for found in features.values()
    ]
    assert refusals("guardduty", "UpdateDetector", {"DetectorId": "a" * 32, "Features": wire}) == []


class TestBreakGlass:
    def test_named_users_with_a_second_factor_where_the_alarm_listens(self) -> None:
        role = glass().one(ROLE)
        (statement,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
        assert statement["Principal"] == {"AWS": [USER]}
        assert statement["Condition"] == {
            "Bool": {"aws:MultiFactorAuthPresent": "true"},
            "NumericLessThan": {"aws:MultiFactorAuthAge": "3600"},
            "StringEquals": {"aws:RequestedRegion": REGION},
        }
        assert role.inputs["maxSessionDuration"] == 3600

    def test_it_administers_every_cluster(self) -> None:
        policies = glass().of_type(ACCESS_POLICY_ASSOCIATION)
        assert {found.inputs["clusterName"] for found in policies} == {"acme", "acme-burst"}
        assert all(found.inputs["policyArn"].endswith("/AmazonEKSClusterAdminPolicy") for found in policies)

    def test_a_role_that_nobody_could_take_is_none(self) -> None:
        with pytest.raises(ValueError, match="user_arns is empty"):
            glass(user_arns=[])
