"""Keys, topics, budgets, anomaly detection: inputs that go together.

Source: the services' user guides as generally known; the provider passes all of it (2026-11-21).
"""

from __future__ import annotations

import datetime
import json
import re
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.types import AWS_BUDGET, REPOSITORY
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

_FILTERS = (
    "AZ", "BillingEntity", "CostCategory", "InstanceType", "InvoicingEntity", "LegalEntityName", "LinkedAccount",
    "Operation", "PurchaseType", "Region", "Service", "TagKeyValue", "UsageType", "UsageTypeGroup", "DatabaseEngine",
)  # fmt: skip


def key(view: View) -> None:
    """A key has a rotation period only where it rotates."""
    if (
        view.has("rotationPeriodInDays")
        and not view.flag("enableKeyRotation")
        and not view.is_unknown("enableKeyRotation")
    ):
        view.error(
            "kms-rotation", "rotationPeriodInDays", "given without enableKeyRotation", allowed="enableKeyRotation"
        )


def topic(view: View) -> None:
    """A FIFO topic's name ends in .fifo, and no other's does."""
    name, fifo = view.text("name"), view.flag("fifoTopic")
    if name is not None and fifo and not name.endswith(".fifo"):
        view.error("sns-fifo", "name", f"got {show(name)} for a FIFO topic", allowed="a name that ends in .fifo")
    if name is not None and not fifo and name.endswith(".fifo") and not view.is_unknown("fifoTopic"):
        view.error("sns-fifo", "fifoTopic", f"{show(name)} is not said to be FIFO", allowed="true")


def subscription(view: View) -> None:
    """A subscription's endpoint is one that its protocol can reach."""
    protocol, endpoint = view.text("protocol"), view.text("endpoint")
    if endpoint is None or protocol is None:
        return
    endpoint_forms = {
        "email": (r"[^@\s]+@[^@\s]+\.[^@\s.]+", "an e-mail address"),
        "email-json": (r"[^@\s]+@[^@\s]+\.[^@\s.]+", "an e-mail address"),
        "https": (r"https://\S+", "a URL that begins with https://"),
        "http": (r"http://\S+", "a URL that begins with http://"),
        "sms": (r"\+?[1-9][0-9 .()-]{5,20}", "a telephone number, as +15550100"),
        "firehose": (r"arn:aws[a-z-]*:firehose:\S+", "the ARN of a delivery stream"),
        "sqs": (r"arn:aws[a-z-]*:sqs:\S+", "the ARN of a queue"),
        "lambda": (r"arn:aws[a-z-]*:lambda:\S+", "the ARN of a function"),
    }
    if protocol in endpoint_forms and not re.fullmatch(endpoint_forms[protocol][0], endpoint):
        view.error(
            "sns-endpoint",
            "endpoint",
            f"got {show(endpoint)} for {protocol}",
            allowed=f"must be {endpoint_forms[protocol][1]}",
        )


def budget(view: View) -> None:
    """A limit, filters that Budgets can read, notifications that reach somebody."""
    if all(view.lacks(name) for name in ("limitAmount", "plannedLimits", "autoAdjustData")):
        view.error("budget-amount", "limitAmount", "is missing", allowed="limitAmount, plannedLimits or autoAdjustData")
    if view.has("limitAmount") and view.lacks("limitUnit"):
        view.error("budget-amount", "limitUnit", "is missing", allowed="USD")
    if view.text("budgetType") == "COST" and view.text("limitUnit") not in (None, "USD", "CNY"):
        view.error("budget-unit", "limitUnit", f"got {show(view.text('limitUnit'))} for a cost budget", allowed="USD")
    for path, entry in view.items("costFilters"):
        name = entry.get("name")
        if isinstance(name, str) and name not in _FILTERS:
            view.error("budget-filter", f"{path}.name", f"got {show(name)}", allowed=f"one of {', '.join(_FILTERS)}")
        for index, value in enumerate(listed(entry.get("values"))):
            if name == "TagKeyValue" and isinstance(value, str) and not re.fullmatch(r"(user|aws):[^$]+\$[^$]*", value):
                view.error(
                    "budget-filter",
                    f"{path}.values[{index}]",
                    f"got {show(value)}",
                    allowed="must look like user:Key$Value",
                )
    items = list(view.items("notifications"))
    if len(items) > 10:
        view.error("budget-notifications", "notifications", f"has {len(items)}", allowed="at most 10 a budget")
    seen: list[tuple[object, ...]] = []
    for path, entry in items:
        if view.text("timeUnit") == "DAILY" and entry.get("notificationType") == "FORECASTED":
            view.error("budget-notifications", f"{path}.notificationType", "FORECASTED of a day", allowed="ACTUAL")
        emails, topics = entry.get("subscriberEmailAddresses"), entry.get("subscriberSnsTopicArns")
        if emails in (None, []) and topics in (None, []):
            view.error("budget-subscriber", path, "has no subscriber", allowed="an e-mail address or an SNS topic")
        for name, given, most in (("subscriberEmailAddresses", emails, 10), ("subscriberSnsTopicArns", topics, 1)):
            if isinstance(given, list) and len(given) > most:
                view.error(
                    "budget-subscriber", f"{path}.{name}", f"has {len(given)}", allowed=f"at most {most} a notification"
                )
        identity = tuple(
            entry.get(name) for name in ("notificationType", "comparisonOperator", "threshold", "thresholdType")
        )
        if identity in seen and UNKNOWN not in identity:
            view.error("budget-notifications", path, "is given twice", allowed="notifications that differ")
        seen.append(identity)


def budget_time(view: View) -> None:
    """A budget begins before it ends, and has not ended yet: what has ended tells nobody."""
    begin, end = view.text("timePeriodStart"), view.text("timePeriodEnd")
    if end is None or not re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d:\d\d", end):
        return
    if begin is not None and begin >= end:  # both begin with the year
        view.error("budget-period", "timePeriodEnd", f"{end} is no later than {begin}", allowed="a later time")
    elif end[:10] < datetime.datetime.now(datetime.UTC).date().isoformat():
        view.warning("budget-period", "timePeriodEnd", f"{end} has passed: the budget counts nothing more",
                     allowed="a later time, or none")  # fmt: skip


def monitor(view: View) -> None:
    """A dimensional monitor has a dimension, a custom one a specification."""
    for kind, needed in (("DIMENSIONAL", "monitorDimension"), ("CUSTOM", "monitorSpecification")):
        if view.text("monitorType") == kind and view.lacks(needed):
            view.error("anomaly-monitor", needed, "is missing", allowed=f"needed with monitorType {kind}")
        if view.text("monitorType") not in (None, kind) and view.has(needed):
            view.error("anomaly-monitor", needed, f"given with monitorType {view.text('monitorType')}", allowed=kind)


def anomaly_subscription(view: View) -> None:
    """SNS is told at once, e-mail by day or week; there is a threshold."""
    frequency = view.text("frequency")
    for path, entry in view.items("subscribers"):
        kind, address = entry.get("type"), entry.get("address")
        if kind == "SNS" and frequency in ("DAILY", "WEEKLY"):
            view.error("anomaly-frequency", f"{path}.type", f"SNS with {frequency}", allowed="IMMEDIATE")
        if kind == "EMAIL" and frequency == "IMMEDIATE":
            view.error("anomaly-frequency", f"{path}.type", "EMAIL with IMMEDIATE", allowed="DAILY or WEEKLY")
        if kind == "EMAIL" and isinstance(address, str) and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", address):
            view.error(
                "anomaly-address", f"{path}.address", f"got {show(address)}", allowed="must be an e-mail address"
            )
        if kind == "SNS" and isinstance(address, str) and not re.match(r"arn:aws[a-z-]*:sns:", address):
            view.error(
                "anomaly-address", f"{path}.address", f"got {show(address)}", allowed="must be the ARN of a topic"
            )
    if view.lacks("thresholdExpression"):
        view.error(
            "anomaly-threshold", "thresholdExpression", "is missing", allowed="an expression on the total impact"
        )


_LOST: Final = re.compile(r"(?<![\w.'\"])([a-z]\w*)(?!\w*\s*\()")

_SEARCHED: Final = re.compile(r"\bSEARCH\s*\(", re.IGNORECASE)
"""A search, which dashboards alone take (CloudWatch User Guide, "Using search expressions in graphs", 2026-11)."""

_OPERATORS: Final = frozenset({"and", "or"})
"""Words of an expression, in small letters too."""


def _queries(view: View) -> None:
    """One query gives the result, and an expression names others by their ids."""
    queries = list(view.items("metricQueries"))
    if not queries or view.blurred("metricQueries"):
        return
    results = [
        path
        for path, one in queries
        if one.get("returnData") is True or (len(queries) == 1 and "returnData" not in one)
    ]
    # An alarm on an anomaly has two: the metric, and the band that it is held against.
    if len(results) != 1 and view.lacks("thresholdMetricId"):
        message = f"{len(results)} queries give the alarm's result"
        view.error("alarm-queries", "metricQueries", message, allowed="returnData: true of one query")
    ids = {str(one.get("id")) for _, one in queries} | _OPERATORS
    for path, one in queries:
        text = one.get("expression")
        if not isinstance(text, str) or re.match(r"\s*SELECT\b", text, re.IGNORECASE):
            continue
        said = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
        if _SEARCHED.search(said):
            view.error("alarm-queries", f"{path}.expression", "searches: what it finds differs from day to day, and no "
                       "alarm is made on it", allowed="the metrics by their names, or SELECT")  # fmt: skip
            continue
        for name in dict.fromkeys(_LOST.findall(said)):
            if name not in ids:
                known = ", ".join(sorted(ids - _OPERATORS))
                view.error(
                    "alarm-queries",
                    f"{path}.expression",
                    f"names {show(name)}, and no query has that id",
                    allowed=known,
                )


def alarm(view: View) -> None:
    """A metric or queries; not more datapoints than periods."""
    if view.lacks("metricName") and view.lacks("metricQueries") and view.lacks("evaluationCriteria"):
        view.error("alarm-metric", "metricName", "is missing", allowed="metricName, or metricQueries")
    _queries(view)
    points, periods = view.number("datapointsToAlarm"), view.number("evaluationPeriods")
    if points is not None and periods is not None and points > periods:
        view.error(
            "alarm-datapoints",
            "datapointsToAlarm",
            f"{points:g} of {periods:g} periods",
            allowed="at most evaluationPeriods",
        )


def registry_lifecycle(view: View) -> None:
    """A lifecycle policy has rules."""
    text = view.text("policy")
    try:
        document = json.loads(text) if text is not None else None
    except ValueError as error:
        view.error("ecr-lifecycle", "policy", f"is no JSON: {error}", allowed="a JSON object")
        return
    if document is not None and not (isinstance(document, dict) and document.get("rules")):
        view.error("ecr-lifecycle", "policy", "has no rules", allowed="at least one rule")


_CREDENTIALS: Final = ("registry-1.docker.io", "ghcr.io", "registry.gitlab.com")


def image_cache(view: View) -> None:
    """A cache of a registry that asks who pulls has a secret."""
    upstream = view.text("upstreamRegistryUrl")
    asks = upstream is not None and (upstream in _CREDENTIALS or upstream.endswith(".azurecr.io"))
    if asks and view.lacks("credentialArn"):
        view.error("ecr-cache-credential", "credentialArn", f"is missing for {upstream}", allowed="the ARN of a secret")


def image_key(view: View) -> None:
    """A registry takes a key where it encrypts with KMS."""
    for path, entry in view.items("encryptionConfigurations"):
        if entry.get("encryptionType", "AES256") == "AES256" and view.has(f"{path}.kmsKey"):
            view.error("ecr-encryption", f"{path}.kmsKey", "given with AES256", allowed="with encryptionType KMS")


_PARAMETERS: Final = ("String", "StringList", "SecureString")


def parameter(view: View) -> None:
    """A parameter of Systems Manager has a type and a name that it takes."""
    kind, name = view.text("type"), view.text("name")
    if kind is not None and kind not in _PARAMETERS:
        view.error("ssm-parameter", "type", f"got {show(kind)}", allowed=f"one of {', '.join(_PARAMETERS)}")
    if name is not None and (
        ("/" in name and not name.startswith(("/", "arn:")))
        or re.match(r"/?(aws|ssm)", name, re.I)
        or not re.fullmatch(r"[A-Za-z0-9_.:/-]+", name)
    ):
        view.error(
            "ssm-parameter", "name", f"got {show(name)}",
            allowed="letters, digits and _.-, with a / in front where it has one, and no name of AWS's own",
        )  # fmt: skip


RULES: Final[Rules] = {
    key: ("aws:kms/key:Key",),
    image_key: (REPOSITORY,),
    topic: ("aws:sns/topic:Topic",),
    subscription: ("aws:sns/topicSubscription:TopicSubscription",),
    budget: (AWS_BUDGET,),
    budget_time: (AWS_BUDGET,),
    monitor: ("aws:costexplorer/anomalyMonitor:AnomalyMonitor",),
    anomaly_subscription: ("aws:costexplorer/anomalySubscription:AnomalySubscription",),
    alarm: ("aws:cloudwatch/metricAlarm:MetricAlarm",),
    image_cache: ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule",),
    parameter: ("aws:ssm/parameter:Parameter",),
    registry_lifecycle: ("aws:ecr/lifecyclePolicy:LifecyclePolicy",),
}
