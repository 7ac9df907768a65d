"""Alarms of CloudWatch: the metric is one that the recorded thing sends.

Source: Amazon CloudWatch User Guide, "AWS services that publish CloudWatch metrics", and each service's page of
dimensions, as generally known (2026-11). An alarm on a metric that nobody sends stays as `treatMissingData` says.
"""

from __future__ import annotations

from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import BUCKET, DATABASE, EKS_CLUSTER, SNS_TOPIC
from trainyard.rehearsal.context import Stack, View, show

_ALARM: Final = "aws:cloudwatch/metricAlarm:MetricAlarm"
_FILTER: Final = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
_DIMENSIONS: Final = {
    ("AWS/SNS", "TopicName"): (SNS_TOPIC, "name"),
    ("AWS/RDS", "DBInstanceIdentifier"): (DATABASE, "identifier"),
    ("AWS/S3", "BucketName"): (BUCKET, "bucket"),
    ("AWS/FSx", "FileSystemId"): ("aws:fsx/lustreFileSystem:LustreFileSystem", ""),
    ("AWS/EFS", "FileSystemId"): ("aws:efs/fileSystem:FileSystem", ""),
    ("AWS/EC2", "InstanceId"): ("aws:ec2/instance:Instance", ""),
    ("AWS/NATGateway", "NatGatewayId"): ("aws:ec2/natGateway:NatGateway", ""),
    ("AWS/Lambda", "FunctionName"): ("aws:lambda/function:Function", "name"),
    ("AWS/SQS", "QueueName"): ("aws:sqs/queue:Queue", "name"),
    ("AWS/DynamoDB", "TableName"): ("aws:dynamodb/table:Table", "name"),
    ("AWS/EKS", "ClusterName"): (EKS_CLUSTER, "name"),
    ("ContainerInsights", "ClusterName"): (EKS_CLUSTER, "name"),
    ("AWS/Events", "RuleName"): ("aws:cloudwatch/eventRule:EventRule", "name"),
}
_SENT: Final = {
    "AWS/SNS": frozenset(
        {
            "NumberOfMessagesPublished", "NumberOfNotificationsDelivered", "NumberOfNotificationsFailed",
            "NumberOfNotificationsFilteredOut", "NumberOfNotificationsFailedToRedriveToDlq",
            "NumberOfNotificationsRedrivenToDlq", "PublishSize", "SMSMonthToDateSpentUSD", "SMSSuccessRate",
            "NumberOfNotificationsFilteredOut-InvalidAttributes",
            "NumberOfNotificationsFilteredOut-NoMessageAttributes", "NumberOfNotificationsFilteredOut-MessageBody",
            "NumberOfNotificationsFilteredOut-InvalidMessageBody",
            "NumberOfNotificationsFilteredOut-MessageAttributes",
        }
    ),
}  # fmt: skip
"""Metrics of a namespace, all of them."""


def check(stack: Stack) -> None:
    """Every alarm against what the stack makes."""
    own = _own_metrics(stack)
    for alarm in stack.of_type(_ALARM):
        _alarm(alarm, "", stack, own)
        for path, _ in alarm.items("metricQueries"):
            _alarm(alarm, f"{path}.metric.", stack, own)


def _alarm(alarm: View, base: str, stack: Stack, own: dict[str, set[str | None]]) -> None:
    namespace, metric = alarm.text(f"{base}namespace"), alarm.text(f"{base}metricName")
    if namespace is None:
        return
    for key, value in alarm.mapping(f"{base}dimensions").items():
        type_, name = _DIMENSIONS.get((namespace, str(key)), ("", ""))
        made = stack.of_type(type_) if type_ else []
        names = {view.text(name) if name else view.resource.id for view in made}
        if made and isinstance(value, str) and None not in names and "" not in names and value not in names:
            known = sorted(str(one) for one in names)
            alarm.error(
                "programs-alarm",
                f"{base}dimensions.{key}",
                f"the stack has no {key} {show(value)}: the alarm sees nothing",
                allowed=f"one of {', '.join(known)}",
                hint=nearest(value, known),
            )
    sent = _SENT.get(namespace) or own.get(namespace)
    if sent is not None and metric is not None and None not in sent and metric not in sent:
        alarm.error(
            "programs-alarm",
            f"{base}metricName",
            f"nothing sends {show(metric)} in {namespace}: the alarm sees nothing",
            allowed=f"one of {', '.join(sorted(str(one) for one in sent))}",
            hint=nearest(metric, [str(one) for one in sent]),
        )


def _own_metrics(stack: Stack) -> dict[str, set[str | None]]:
    """Metrics that the stack's own filters of logs send, by namespace."""
    found: dict[str, set[str | None]] = {}
    for view in stack.of_type(_FILTER):
        namespace = view.text("metricTransformation.namespace")
        if namespace is not None and not namespace.startswith("AWS/"):
            found.setdefault(namespace, set()).add(view.text("metricTransformation.name"))
    return found
