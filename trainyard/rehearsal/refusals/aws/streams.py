"""Streams, tables and jobs on data: keys that a table knows, what a delivery is made of, what a job is given of.

Sources: Amazon DynamoDB API reference, `CreateTable`; Amazon Data Firehose Developer Guide, "Custom prefixes" and
"Dynamic partitioning"; Amazon Kinesis API reference, `CreateStream`; AWS Glue API reference, `CreateJob` and
`CreateTrigger`; the AWS provider's checks of the same resources (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import follow
from trainyard.recorded.types import GLUE_CRAWLER, GLUE_JOB, KINESIS_STREAM, TABLE
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

FIREHOSE: Final = "aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream"
_TRIGGER: Final = "aws:glue/trigger:Trigger"
_INDEXES: Final = ("globalSecondaryIndexes", "localSecondaryIndexes")


def _keys(view: View) -> Iterator[tuple[str, str]]:
    for name in ("hashKey", "rangeKey"):
        if (text := view.text(name)) is not None:
            yield name, text
    for kind in _INDEXES:
        for path, index in view.items(kind):
            for name in ("hashKey", "rangeKey"):
                if isinstance(index.get(name), str):
                    yield f"{path}.{name}", index[name]
            for at, schema in enumerate(listed(index.get("keySchemas"))):
                if isinstance(schema, dict) and isinstance(schema.get("attributeName"), str):
                    yield f"{path}.keySchemas[{at}].attributeName", schema["attributeName"]


def table(view: View) -> None:
    """A table's attributes are those of its keys, and what is paid for them."""
    declared = [str(entry.get("name")) for _, entry in view.items("attributes")]
    used = {name: path for path, name in _keys(view)}
    blurred = any(view.blurred(path) for path in ("attributes", *_INDEXES)) or any(
        UNKNOWN in (index.get("hashKey"), index.get("rangeKey"), index.get("keySchemas"))
        or any(isinstance(one, dict) and one.get("attributeName") is UNKNOWN for one in listed(index.get("keySchemas")))
        for kind in _INDEXES
        for _, index in view.items(kind)
    )
    if declared and not blurred and not view.is_unknown("rangeKey") and not view.is_unknown("hashKey"):
        for at, name in enumerate(declared):
            if name not in used:
                view.error(
                    "dynamodb-attribute",
                    f"attributes[{at}].name",
                    f"{show(name)} is in no key and no index: a table declares no other attributes",
                    allowed=", ".join(used) or "the keys",
                )
        for name, path in used.items():
            if name not in declared:
                view.error(
                    "dynamodb-attribute",
                    path,
                    f"{show(name)} is not among the attributes",
                    allowed=", ".join(declared),
                    hint=nearest(name, declared),
                )
    mode = view.text("billingMode") or ("PROVISIONED" if view.lacks("billingMode") else "")
    copied = any(view.has(name) for name in ("restoreSourceName", "restoreSourceTableArn", "importTable"))
    for name in ("readCapacity", "writeCapacity"):
        if mode == "PROVISIONED" and not copied and view.lacks(name):
            view.error("dynamodb-capacity", name, "is missing for PROVISIONED", allowed="a number, or PAY_PER_REQUEST")
        if mode == "PAY_PER_REQUEST" and view.number(name):
            view.error("dynamodb-capacity", name, "is given with PAY_PER_REQUEST", allowed="PROVISIONED")
    if view.flag("streamEnabled") and view.lacks("streamViewType"):
        view.error(
            "dynamodb-stream",
            "streamViewType",
            "is missing beside streamEnabled",
            allowed="NEW_AND_OLD_IMAGES, NEW_IMAGE, OLD_IMAGE, KEYS_ONLY",
        )
    if view.entries("replicas") and view.flag("streamEnabled") is False:
        view.error("dynamodb-stream", "streamEnabled", "is false, and replicas follow the stream", allowed="true")
    if view.flag("ttl.enabled") and view.lacks("ttl.attributeName"):
        view.error(
            "dynamodb-ttl", "ttl.attributeName", "is missing", allowed="the attribute that says when an item ends"
        )
    if view.entries("localSecondaryIndexes") and view.lacks("rangeKey"):
        view.error("dynamodb-attribute", "rangeKey", "is missing beside localSecondaryIndexes", allowed="a range key")
    for path, index in view.items("globalSecondaryIndexes"):
        kind = index.get("projectionType")
        if kind == "INCLUDE" and not index.get("nonKeyAttributes"):
            view.error("dynamodb-index", f"{path}.nonKeyAttributes", "is missing for INCLUDE", allowed="attributes")
        if kind in ("ALL", "KEYS_ONLY") and index.get("nonKeyAttributes"):
            view.error("dynamodb-index", f"{path}.nonKeyAttributes", f"is given with {kind}", allowed="INCLUDE")


def stream(view: View) -> None:
    """A stream has shards, or as many as come."""
    mode = view.text("streamModeDetails.streamMode") or ("PROVISIONED" if view.lacks("streamModeDetails") else "")
    if mode == "ON_DEMAND" and view.number("shardCount"):
        view.error("kinesis-shards", "shardCount", "is given with ON_DEMAND", allowed="PROVISIONED")
    if mode == "PROVISIONED" and view.lacks("shardCount"):
        view.error("kinesis-shards", "shardCount", "is missing for PROVISIONED", allowed="a number, or ON_DEMAND")
    hours = view.number("retentionPeriod")
    if hours is not None and not 24 <= hours <= 8760:
        view.error("kinesis-retention", "retentionPeriod", f"got {hours:g} hours", allowed="24 to 8760 hours")


def delivery(view: View) -> None:
    """What is delivered is collected first, and goes where its expressions say."""
    wanted = {
        "extended_s3": "extendedS3Configuration",
        "http_endpoint": "httpEndpointConfiguration",
        "opensearch": "opensearchConfiguration",
        "redshift": "redshiftConfiguration",
        "snowflake": "snowflakeConfiguration",
        "splunk": "splunkConfiguration",
        "iceberg": "icebergConfiguration",
        "elasticsearch": "elasticsearchConfiguration",
        "opensearchserverless": "opensearchserverlessConfiguration",
    }.get(view.text("destination") or "")
    if wanted is not None and view.lacks(wanted):
        view.error("firehose-destination", wanted, f"is missing for {view.text('destination')}", allowed=wanted)
    at = "extendedS3Configuration"
    prefix = view.text(f"{at}.prefix") or ""
    if "!{" in prefix and view.lacks(f"{at}.errorOutputPrefix"):
        view.error(
            "firehose-prefix",
            f"{at}.errorOutputPrefix",
            "is missing beside a prefix with expressions",
            allowed="where what failed goes",
        )
    if "!{firehose:error-output-type}" in prefix:
        view.error(
            "firehose-prefix", f"{at}.prefix", "has firehose:error-output-type", allowed="errorOutputPrefix alone may"
        )
    dynamic = view.flag(f"{at}.dynamicPartitioningConfiguration.enabled")
    partitioned = "!{partitionKeyFromQuery" in prefix or "!{partitionKeyFromLambda" in prefix
    if partitioned and not dynamic and not view.is_unknown(f"{at}.dynamicPartitioningConfiguration"):
        view.error(
            "firehose-prefix",
            f"{at}.prefix",
            "names keys of partitions, and partitioning is off",
            allowed="dynamicPartitioningConfiguration enabled",
        )
    size = 5.0 if view.lacks(f"{at}.bufferingSize") else view.number(f"{at}.bufferingSize")
    if size is not None and not 1 <= size <= 128:
        view.error("firehose-buffer", f"{at}.bufferingSize", f"got {size:g} MB", allowed="1 to 128 MB")
    if dynamic and size is not None and size < 64:
        view.error(
            "firehose-buffer",
            f"{at}.bufferingSize",
            f"got {size:g} MB with dynamic partitioning",
            allowed="64 to 128 MB",
        )
    if view.flag(f"{at}.dataFormatConversionConfiguration.enabled") is not False and view.has(
        f"{at}.dataFormatConversionConfiguration"
    ):
        if view.text(f"{at}.compressionFormat") not in (None, "UNCOMPRESSED"):
            view.error(
                "firehose-format",
                f"{at}.compressionFormat",
                "is given beside a conversion of formats",
                allowed="UNCOMPRESSED",
            )
        if size is not None and size < 64:
            view.error(
                "firehose-buffer",
                f"{at}.bufferingSize",
                f"got {size:g} MB with a conversion of formats",
                allowed="64 to 128 MB",
            )


def job(view: View) -> None:
    """A job is given workers of a kind, or capacity, never both."""
    if view.number("maxCapacity") and (view.has("workerType") or view.has("numberOfWorkers")):
        view.error(
            "glue-capacity",
            "maxCapacity",
            "is given beside workers",
            allowed="workerType and numberOfWorkers, or maxCapacity",
        )
    if view.has("numberOfWorkers") and view.lacks("workerType"):
        view.error("glue-capacity", "workerType", "is missing beside numberOfWorkers", allowed="a type of workers")
    kind = view.text("command.name")
    if kind == "pythonshell" and (view.has("workerType") or (view.number("maxCapacity") or 1) not in (0.0625, 1)):
        view.error("glue-capacity", "maxCapacity", "is not what a shell of Python takes", allowed="0.0625 or 1")


def crawler(view: View) -> None:
    """A crawler crawls something."""
    kinds = (
        "catalogTargets",
        "deltaTargets",
        "dynamodbTargets",
        "hudiTargets",
        "icebergTargets",
        "jdbcTargets",
        "mongodbTargets",
        "s3Targets",
    )
    if all(view.lacks(kind) or (not view.is_unknown(kind) and not view.entries(kind)) for kind in kinds):
        view.error("glue-crawler", "s3Targets", "has no target", allowed=", ".join(kinds))


def trigger(view: View) -> None:
    """When a trigger fires, by its kind."""
    kind = view.text("type")
    for wanted, path in (("SCHEDULED", "schedule"), ("CONDITIONAL", "predicate")):
        if kind == wanted and view.lacks(path):
            view.error("glue-trigger", path, f"is missing for {kind}", allowed=path)
        if kind not in (None, wanted) and view.has(path):
            view.error("glue-trigger", path, f"is given with {kind}", allowed=wanted)
    if kind == "SCHEDULED" and view.flag("enabled") is False:
        view.warning("programs-switched-off", "enabled", "is false: nothing is started", allowed="true")
    for path, action in view.items("actions"):
        if not follow(action, "jobName") and not follow(action, "crawlerName"):
            view.error("glue-trigger", f"{path}.jobName", "is missing, and so is crawlerName", allowed="one of them")


RULES: Final[Rules] = {
    table: (TABLE,),
    stream: (KINESIS_STREAM,),
    delivery: (FIREHOSE,),
    job: (GLUE_JOB,),
    crawler: (GLUE_CRAWLER,),
    trigger: (_TRIGGER,),
}
