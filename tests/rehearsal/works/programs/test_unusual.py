"""What watches or keeps things that are not the stack's alone: told as an error only where it is a slip of the pen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from tests.rehearsal.works.mistakes import told
from tests.rehearsal.works.mistakes_programs import MISTAKES
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check

NAT = "nat-0123456789abcdef0"
OWN = [
    resource("aws:rds/instance:Instance", "d", {"identifier": "acme-demo-mlflow"}),
    resource("aws:sns/topic:Topic", "t", {"name": "acme-demo-alerts-1a2b3c4"}),
    resource("aws:ec2/natGateway:NatGateway", "n", {}, NAT),
    resource("aws:cloudwatch/logMetricFilter:LogMetricFilter", "f",
             {"metricTransformation": {"namespace": "Acme", "name": "FailedJobs", "value": "1"}}),
]  # fmt: skip


def levels(namespace: str, metric: str, **dimensions: str) -> list[str]:
    """What is told of an alarm in a stack with a database, a topic, a NAT gateway and a filter."""
    given = {"namespace": namespace, "metricName": metric, "dimensions": dimensions}
    return noted([*OWN, resource("aws:cloudwatch/metricAlarm:MetricAlarm", "a", given)])


def noted(resources: list[Any]) -> list[str]:
    stack = Stack(resources, CONTEXT)
    check(stack)
    return [finding.level for finding in stack.findings]


@pytest.mark.parametrize(
    ("namespace", "metric", "dimensions", "level"),
    [
        ("AWS/RDS", "CPUUtilization", {"DBInstanceIdentifier": "acme-demo-mlflow"}, []),
        ("AWS/RDS", "CPUUtilization", {"DBInstanceIdentifier": "acme-prod-mlflow"}, ["warning"]),
        ("AWS/RDS", "CPUUtilization", {"DBInstanceIdentifier": "acme-demo-mflow"}, ["error"]),
        ("AWS/SNS", "PublishSize", {"TopicName": "company-wide"}, ["warning"]),
        ("AWS/SNS", "PublishSize", {"TopicName": "acme-demo-alerts"}, ["error"]),
        ("AWS/SNS", "Published", {"TopicName": "company-wide"}, ["warning", "error"]),
        ("AWS/NATGateway", "ErrorPortAllocation", {"NatGatewayId": "nat-0fedcba9876543210"}, ["warning"]),
        ("AWS/NATGateway", "ErrorPortAllocation", {"NatGatewayId": NAT.replace("9a", "9b")}, ["error"]),
        ("Acme", "FailedJobs", {}, []),
        ("Acme", "QueueLength", {}, ["warning"]),
        ("Acme", "FailedJob", {}, ["error"]),
    ],
)
def test_an_alarm_on_what_another_stack_or_a_program_has(namespace, metric, dimensions, level):
    assert levels(namespace, metric, **dimensions) == level


def test_a_topic_by_the_beginning_of_its_name_is_an_error(rehearsed):
    (mistake,) = [one for one in MISTAKES if one.name == "alarm-topic"]
    found = told(rehearsed(WHOLE), mistake.change, "programs")
    assert [finding.level for finding in found if finding.rule == "programs-alarm"] == ["error"]


@pytest.mark.parametrize(
    ("bucket", "days", "level"),
    [
        ("acme-scratch", 7, []),
        ("acme-tmp-eu", 1, []),
        ("acme-lab", 7, ["warning"]),
        ("acme-lab", 30, []),
        ("acme-checkpoints", 7, ["error"]),
    ],
)
def test_a_bucket_of_which_everything_goes_after_days(bucket, days, level):
    rule = {"id": "tidy", "status": "Enabled", "filter": {"prefix": ""}, "expiration": {"days": days}}
    made = [
        resource("aws:s3/bucket:Bucket", "b", {"bucket": bucket}, bucket),
        resource(
            "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "l", {"bucket": bucket, "rules": [rule]}
        ),
        obj("v1", "ConfigMap", "places", "default", data={"WORK": f"s3://{bucket}/runs"}),
    ]
    assert noted(made) == level
