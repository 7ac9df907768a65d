"""Alarms of CloudWatch: the metric is one that the recorded thing sends.

Source: Amazon CloudWatch User Guide, "AWS services that publish CloudWatch metrics", and each service's page of
dimensions, as generally known (2026-11). An alarm on a metric that nobody sends stays as `treatMissingData` says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import (
    BUCKET,
    DASHBOARD,
    DATABASE,
    EKS_CLUSTER,
    FUNCTION,
    LOAD_BALANCER,
    METRIC_ALARM,
    SNS_TOPIC,
    SNS_TOPIC_SUBSCRIPTION,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.refusals.aws.containers import TARGET_GROUP
from trainyard.rehearsal.works.programs.aws.metrics import (
    KEYS_ELSEWHERE,
    NAMED_ELSEWHERE,
    OFTEN_ELSEWHERE,
    OVER_ALL,
    WITH_DIMENSIONS,
)
from trainyard.rehearsal.works.programs.aws.own_metrics import OwnMetrics, check_watched, own_metrics

_METRIC: Final = re.compile(r"MetricName=\\*\"(\w+)|(?:AVG|MAX|MIN|SUM|COUNT)\((\w+)\)")
"""A metric in a search of a dashboard, or in a query of an alarm."""
_OF_JOBS: Final = (
    "CPUUtilization", "CPUUtilizationNormalized", "DiskUtilization", "GPUMemoryUtilization",
    "GPUMemoryUtilizationNormalized", "GPUUtilization", "GPUUtilizationNormalized", "MemoryUtilization",
)  # fmt: skip
"""What every training job sends (SageMaker AI Developer Guide, "Metrics for monitoring ... with CloudWatch")."""
_DIMENSIONS: Final = {
    ("AWS/SNS", "TopicName"): (SNS_TOPIC, "name"),
    ("AWS/RDS", "DBInstanceIdentifier"): (DATABASE, "identifier"),
    ("AWS/S3", "BucketName"): (BUCKET, "bucket"),
    ("AWS/FSx", "FileSystemId"): ("aws:fsx/lustreFileSystem:LustreFileSystem", ""),
    ("AWS/EFS", "FileSystemId"): ("aws:efs/fileSystem:FileSystem", ""),
    ("AWS/EC2", "InstanceId"): ("aws:ec2/instance:Instance", ""),
    ("AWS/NATGateway", "NatGatewayId"): ("aws:ec2/natGateway:NatGateway", ""),
    ("AWS/Lambda", "FunctionName"): (FUNCTION, "name"),
    ("AWS/SQS", "QueueName"): ("aws:sqs/queue:Queue", "name"),
    ("AWS/DynamoDB", "TableName"): ("aws:dynamodb/table:Table", "name"),
    ("AWS/EKS", "ClusterName"): (EKS_CLUSTER, "name"),
    ("ContainerInsights", "ClusterName"): (EKS_CLUSTER, "name"),
    ("AWS/Events", "RuleName"): ("aws:cloudwatch/eventRule:EventRule", "name"),
    **NAMED_ELSEWHERE,
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
_OFTEN: Final = {
    "AWS/RDS": (
        "BinLogDiskUsage", "BurstBalance", "CPUCreditBalance", "CPUCreditUsage", "CPUUtilization", "DBLoad",
        "DBLoadCPU", "DatabaseConnections", "DiskQueueDepth", "EBSByteBalance%", "EBSIOBalance%",
        "FreeLocalStorage", "FreeStorageSpace", "FreeableMemory", "MaximumUsedTransactionIDs",
        "NetworkReceiveThroughput", "NetworkTransmitThroughput", "OldestReplicationSlotLag", "ReadIOPS",
        "ReadLatency", "ReadThroughput", "ReplicaLag", "ReplicationSlotDiskUsage", "SwapUsage",
        "TransactionLogsDiskUsage", "WriteIOPS", "WriteLatency", "WriteThroughput",
    ),
    "AWS/FSx": (
        "DataReadBytes", "DataWriteBytes", "DataReadOperations", "DataWriteOperations", "MetadataOperations",
        "FreeDataStorageCapacity", "StorageCapacity", "StorageUsed", "LogicalDiskUsage", "PhysicalDiskUsage",
        "CPUUtilization", "NetworkThroughputUtilization", "DiskIopsUtilization", "StorageCapacityUtilization",
        "AgeOfOldestQueuedMessage", "FreeStorageCapacity",
    ),
    "AWS/EFS": (
        "BurstCreditBalance", "ClientConnections", "DataReadIOBytes", "DataWriteIOBytes", "MetadataIOBytes",
        "MeteredIOBytes", "PercentIOLimit", "PermittedThroughput", "StorageBytes", "TotalIOBytes",
    ),
    "AWS/NATGateway": (
        "ActiveConnectionCount", "BytesInFromDestination", "BytesInFromSource", "BytesOutToDestination",
        "BytesOutToSource", "ConnectionAttemptCount", "ConnectionEstablishedCount", "ErrorPortAllocation",
        "IdleTimeoutCount", "PacketsDropCount", "PacketsInFromSource", "PeakBytesPerSecond",
    ),
    "AWS/EC2": (
        "CPUUtilization", "CPUCreditBalance", "DiskReadBytes", "DiskReadOps", "DiskWriteBytes", "DiskWriteOps",
        "EBSReadBytes", "EBSWriteBytes", "NetworkIn", "NetworkOut", "NetworkPacketsIn", "NetworkPacketsOut",
        "StatusCheckFailed", "StatusCheckFailed_AttachedEBS", "StatusCheckFailed_Instance",
        "StatusCheckFailed_System",
    ),
    "AWS/S3": (
        "AllRequests", "BucketSizeBytes", "BytesDownloaded", "BytesUploaded", "DeleteRequests", "FirstByteLatency",
        "GetRequests", "HeadRequests", "ListRequests", "NumberOfObjects", "PostRequests", "PutRequests",
        "TotalRequestLatency", "4xxErrors", "5xxErrors",
    ),
    "AWS/Billing": ("EstimatedCharges",),
    **OFTEN_ELSEWHERE,
}  # fmt: skip
"""Metrics of a namespace that are often watched; there are more, so only a slip of the pen is told."""
_KEYS: Final = {
    "AWS/SNS": frozenset({"TopicName", "Application", "PhoneNumber", "Country", "Platform", "SMSType"}),
    "AWS/RDS": frozenset(
        {"DBInstanceIdentifier", "DBClusterIdentifier", "DatabaseClass", "EngineName", "SourceRegion", "Role",
         "DbClusterIdentifier"}
    ),
    "AWS/FSx": frozenset(
        {"FileSystemId", "StorageTargetId", "FileServer", "VolumeId", "StorageCapacityType", "Publisher", "DataType",
         "Aggregate", "StorageTier", "MetadataTarget", "CacheType"}
    ),
    "AWS/EFS": frozenset({"FileSystemId", "StorageClass"}),
    "AWS/NATGateway": frozenset({"NatGatewayId"}),
    "AWS/EC2": frozenset({"InstanceId", "AutoScalingGroupName", "ImageId", "InstanceType"}),
    "AWS/S3": frozenset({"BucketName", "StorageType", "FilterId"}),
    "AWS/Billing": frozenset({"Currency", "ServiceName", "LinkedAccount"}),
    "AWS/SQS": frozenset({"QueueName"}),
    "AWS/AutoScaling": frozenset({"AutoScalingGroupName"}),
    "AWS/EKS": frozenset({"ClusterName"}),
    "AWS/Events": frozenset({"RuleName", "EventBusName", "EventSourceName", "Source", "DetailType"}),
    "AWS/Lambda": frozenset({"FunctionName", "Resource", "ExecutedVersion", "EventSourceMappingUUID"}),
    "AWS/Logs": frozenset(
        {"LogGroupName", "FilterName", "DestinationType", "DestinationARN", "LogGroupClass", "PolicyLevel",
         "LogAnomalyDetector", "LogAnomalyPriority"}
    ),
    "AWS/PrivateLinkEndpoints": frozenset(
        {"Endpoint Type", "Service Name", "Subnet Id", "VPC Endpoint Id", "VPC Id"}
    ),
    **KEYS_ELSEWHERE,
}  # fmt: skip
"""Dimensions of a namespace."""
_NAMESPACES: Final = (
    "AWS/ApplicationELB", "AWS/AutoScaling", "AWS/Backup", "AWS/Billing", "AWS/DynamoDB", "AWS/EBS", "AWS/EC2",
    "AWS/ECS", "AWS/EFS", "AWS/EKS", "AWS/ElastiCache", "AWS/Events", "AWS/FSx", "AWS/Firehose", "AWS/GuardDuty",
    "AWS/KMS", "AWS/Kinesis", "AWS/Lambda", "AWS/Logs", "AWS/NATGateway", "AWS/NetworkELB", "AWS/PrivateLinkEndpoints",
    "AWS/RDS", "AWS/Route53", "AWS/Route53Resolver", "AWS/S3", "AWS/SNS", "AWS/SQS", "AWS/SageMaker",
    "AWS/SecretsManager", "AWS/SES", "AWS/States", "AWS/TransitGateway", "AWS/Usage", "AWS/VPN",
)  # fmt: skip
_NEAR: Final = 0.8
_SLIP: Final = 0.9
"""How like another a name or an id is that has a letter wrong: `acme-prod-mlflow` is another stack's, and less like."""
_WHEN_IT_HAPPENS: Final = frozenset(
    {("AWS/SNS", "NumberOfMessagesPublished"), ("AWS/SNS", "NumberOfNotificationsDelivered"),
     ("AWS/Lambda", "Invocations"), ("AWS/Events", "Invocations"), ("AWS/Events", "MatchedEvents"),
     ("AWS/SQS", "NumberOfMessagesSent"), ("AWS/SQS", "NumberOfMessagesReceived")}
)  # fmt: skip
"""Metrics of which there is nothing, and no zero, where nothing happens."""


def check(stack: Stack) -> None:
    """Every alarm against what the stack makes."""
    own = own_metrics(stack)
    for board in stack.of_type(DASHBOARD):
        _asked(board, "dashboardBody", board.text("dashboardBody") or "")
    for alarm in stack.of_type(METRIC_ALARM):
        _alarm(alarm, "", stack, own)
        _silence(alarm)
        _never(alarm)
        for path, _ in alarm.items("metricQueries"):
            _alarm(alarm, f"{path}.metric.", stack, own)
            _asked(alarm, f"{path}.expression", alarm.text(f"{path}.expression") or "")


def _alarm(alarm: View, base: str, stack: Stack, own: OwnMetrics) -> None:
    namespace, metric = alarm.text(f"{base}namespace"), alarm.text(f"{base}metricName")
    if namespace is None:
        return
    if namespace in WITH_DIMENSIONS and metric not in (None, *OVER_ALL) and alarm.lacks(f"{base}dimensions"):
        words = f"are missing: {namespace} has no {metric} of everything, and the alarm sees nothing"
        allowed = f"one of {', '.join(sorted(_KEYS[namespace]))}"
        alarm.error("programs-alarm", f"{base}dimensions", words, allowed=allowed)
    for key, value in alarm.mapping(f"{base}dimensions").items():
        if namespace in _KEYS and key not in _KEYS[namespace]:
            alarm.error(
                "programs-alarm",
                f"{base}dimensions.{key}",
                f"{namespace} has no dimension {show(key)}: the alarm sees nothing",
                allowed=f"one of {', '.join(sorted(_KEYS[namespace]))}",
                hint=nearest(str(key), _KEYS[namespace]),
            )
        type_, name = _DIMENSIONS.get((namespace, str(key)), ("", ""))
        made = stack.of_type(type_) if type_ else []
        names = {view.text(name) if name else view.resource.id for view in made}
        if made and isinstance(value, str) and None not in names and "" not in names and value not in names:
            _is_not_made(alarm, f"{base}dimensions.{key}", str(key), value, sorted(str(one) for one in names))
    _of_balancers(alarm, base, namespace, metric)
    _heard_by_nobody(alarm, f"{base}metricName", namespace, metric, stack)
    sent = _SENT.get(namespace)
    if sent is not None and metric is not None and metric not in sent:
        alarm.error(
            "programs-alarm",
            f"{base}metricName",
            f"nothing sends {show(metric)} in {namespace}: the alarm sees nothing",
            allowed=f"one of {', '.join(sorted(sent))}",
            hint=nearest(metric, sent),
        )
    check_watched(alarm, f"{base}namespace", f"{base}metricName", namespace, metric, own)
    often = _OFTEN.get(namespace, ())
    if metric is not None and often and metric not in often and (hint := nearest(metric, often, cutoff=_NEAR)):
        alarm.error(
            "programs-alarm", f"{base}metricName",
            f"nothing sends {show(metric)} in {namespace}: the alarm sees nothing", hint=hint,
        )  # fmt: skip
    is_known = namespace in _NAMESPACES or not namespace.startswith("AWS/")
    if not is_known and (hint := nearest(namespace, _NAMESPACES, cutoff=_NEAR)):
        alarm.error("programs-alarm", f"{base}namespace", f"nothing sends metrics to {show(namespace)}", hint=hint)


_BESIDE: Final = {
    ("AWS/ApplicationELB", "TargetGroup"): ("LoadBalancer", ("RequestCountPerTarget",)),
    ("AWS/NetworkELB", "TargetGroup"): ("LoadBalancer", ()),
    ("AWS/ECS", "ServiceName"): ("ClusterName", ()),
}
"""Dimensions that come with another one, save for some metrics (Elastic Load Balancing and Amazon ECS, "CloudWatch
metrics")."""
_OF_BALANCERS: Final = {
    "LoadBalancer": (LOAD_BALANCER, "app/NAME/ID"),
    "TargetGroup": (TARGET_GROUP, "targetgroup/NAME/ID"),
}


def _of_balancers(alarm: View, base: str, namespace: str, metric: str | None) -> None:
    """A balancer and a group of targets are named by the end of their ARNs; a part comes with its whole."""
    told = alarm.mapping(f"{base}dimensions")
    for key, value in told.items():
        beside, alone = _BESIDE.get((namespace, str(key)), ("", ()))
        if beside and beside not in told and metric is not None and metric not in alone:
            words = f"is given without {beside}, and {metric} has both: the alarm sees nothing"
            alarm.error("programs-alarm", f"{base}dimensions.{key}", words, allowed=f"{beside} beside it")
        type_, form = _OF_BALANCERS.get(str(key), ("", ""))
        if namespace not in ("AWS/ApplicationELB", "AWS/NetworkELB") or not type_ or not isinstance(value, str):
            continue
        wrong = [one.text(name) for one in alarm.stack.of_type(type_) for name in ("name", "namePrefix")]
        wrong += [str(one.resource.outputs.get("dnsName")) for one in alarm.stack.of_type(type_)]
        if value.startswith("arn:") or (value in wrong and "/" not in value):
            words = f"got {show(value)}: the alarm sees nothing"
            alarm.error("programs-alarm", f"{base}dimensions.{key}", words, allowed=f"its ARN's end, {form}",
                        hint="arnSuffix")  # fmt: skip


def _heard_by_nobody(alarm: View, path: str, namespace: str, metric: str | None, stack: Stack) -> None:
    """What a topic delivers is counted by subscriber: one that nobody subscribes to delivers nothing."""
    if namespace != "AWS/SNS" or metric not in ("NumberOfNotificationsDelivered", "NumberOfNotificationsFailed"):
        return
    name = alarm.mapping(f"{path.removesuffix('metricName')}dimensions").get("TopicName")
    topic = next((one for one in stack.of_type(SNS_TOPIC) if name and one.text("name") == name), None)
    told = stack.of_type(SNS_TOPIC_SUBSCRIPTION)
    if topic is None or topic.resource.read or any(one.referred("topic", SNS_TOPIC) in (topic, None) for one in told):
        return
    message = (
        f"counts what topic {topic.name} delivers, and the stack subscribes nobody to it: unless somebody else does, "
        "as a chat client of AWS's own, it is always nothing"
    )
    alarm.warning("programs-alarm", path, message, allowed="NumberOfMessagesPublished")


def _asked(view: View, path: str, text: str) -> None:
    """Metrics of SageMaker's jobs that an expression or a dashboard asks for; jobs send others of their own."""
    if "/aws/sagemaker/TrainingJobs" not in text:
        return
    for name in dict.fromkeys(found[1] or found[2] for found in _METRIC.finditer(text)):
        hint = "" if name in _OF_JOBS else nearest(name, _OF_JOBS, cutoff=_SLIP)
        if hint:
            words = f"no training job sends {show(name)}: nothing is seen"
            view.error("programs-alarm", path, words, hint=hint)


def _never(alarm: View) -> None:
    """What is measured is never below nothing, of metrics that count or are shares: others go below, as RDS's
    `ReplicaLag`, which is -1 where nothing is replicated. Where missing data are a breach the alarm waits for those."""
    how, limit = alarm.text("comparisonOperator") or "", alarm.number("threshold")
    if alarm.text("treatMissingData") == "breaching" or alarm.is_unknown("treatMissingData"):
        return
    returned = [query for _, query in alarm.items("metricQueries") if query.get("returnData") is True]
    asked = str(returned[0].get("expression")) if len(returned) == 1 else ""
    inner = returned[0].get("metric") if len(returned) == 1 else None
    own = inner if isinstance(inner, Mapping) else {key: alarm.text(key) for key in ("namespace", "metricName")}
    counts = _counts(str(own.get("namespace")), str(own.get("metricName"))) or (
        asked.startswith("SELECT ") and any(found[2] in _OF_JOBS for found in _METRIC.finditer(asked))
    )
    least = {"LessThanThreshold": 0.0, "LessThanOrEqualToThreshold": -1e-9}.get(how)
    if counts and limit is not None and least is not None and limit <= least:
        alarm.error(
            "programs-alarm", "threshold", f"waits for less than {limit:g}, and nothing measured is: it never fires",
            allowed="above 0",
        )  # fmt: skip


def _counts(namespace: str, metric: str) -> bool:
    """Whether a metric of AWS's own is one that is known to be never below 0."""
    known = {*_SENT.get(namespace, ()), *_OFTEN.get(namespace, ())}
    return metric in known and metric not in _BELOW_NOTHING


_BELOW_NOTHING: Final = ("ReplicaLag", "OldestReplicationSlotLag")
"""Metrics of RDS that are -1 where there is nothing to measure (its user guide, "Monitoring read replication")."""


def _is_not_made(alarm: View, path: str, key: str, value: str, known: list[str]) -> None:
    """What is watched may be another stack's: sure is only a name that is nearly one of the stack's own."""
    longer = [one for one in known if one.startswith(f"{value}-")]  # without the end that a provider gives names
    hint = nearest(value, known, cutoff=_SLIP) or nearest(value, longer, cutoff=0)
    allowed, told = f"one of {', '.join(known)}", f"the stack has no {key} {show(value)}"
    if hint:
        alarm.error("programs-alarm", path, f"{told}: the alarm sees nothing", allowed=allowed, hint=hint)
    else:
        told = f"{told}: unless another one has, the alarm sees nothing"
        alarm.warning("programs-alarm", path, told, allowed=allowed)


def _silence(alarm: View) -> None:
    """An alarm on too little of what is only counted where it happens: silence has to be a breach."""
    metric = alarm.text("namespace") or "", alarm.text("metricName") or ""
    below = (alarm.text("comparisonOperator") or "").startswith("LessThan")
    told = alarm.text("treatMissingData")
    if metric in _WHEN_IT_HAPPENS and below and told != "breaching" and not alarm.is_unknown("treatMissingData"):
        alarm.error(
            "programs-alarm",
            "treatMissingData",
            f"got {show(told or 'missing')}: where nothing happens there is no {metric[1]}, and the alarm stays quiet",
            allowed="breaching",
        )
