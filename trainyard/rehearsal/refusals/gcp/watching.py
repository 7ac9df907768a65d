"""Alert policies, notification channels, metrics from logs, log buckets and sinks, budgets' money.

Source: Google's documentation of Cloud Monitoring, Cloud Logging and Cloud Billing as generally known (autumn 2026);
descriptions of the discovery documents (google-api-python-client 2.202.0).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_ALERT_POLICY,
    GCP_BUDGET,
    GCP_LOG_BUCKET,
    GCP_LOG_METRIC,
    GCP_LOG_SINK,
    GCP_NOTIFICATION_CHANNEL,
)
from trainyard.rehearsal.clock import seconds_of
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_ADDRESS: Final = r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)+"
_CHANNELS: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]]] = {
    "email": (("email_address",), {"email_address": _ADDRESS}),
    "sms": (("number",), {"number": r"\+?[\d\s().-]{6,}"}),
    "slack": (("channel_name",), {"channel_name": r"#?[^\s#]+"}),
    "pagerduty": ((), {}),
    "webhook_tokenauth": (("url",), {"url": r"https?://\S+"}),
    "webhook_basicauth": (("url", "username"), {"url": r"https?://\S+"}),
    "pubsub": (("topic",), {"topic": r"projects/[^/]+/topics/[^/]+"}),
    "google_chat": (("space",), {"space": r"spaces/\S+"}),
    "cloud_mobile_app": ((), {}),
    "servicenow": ((), {}),
}
"""Types of channels: the labels that each needs, and what they look like."""
_CURRENCIES: Final = frozenset(
    [
        "AED",
        "ARS",
        "AUD",
        "BDT",
        "BGN",
        "BRL",
        "CAD",
        "CHF",
        "CLP",
        "CNY",
        "COP",
        "CRC",
        "CZK",
        "DKK",
        "EGP",
        "EUR",
        "GBP",
        "HKD",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "JPY",
        "KES",
        "KRW",
        "KWD",
        "LKR",
        "MAD",
        "MXN",
        "MYR",
        "NGN",
        "NOK",
        "NZD",
        "PEN",
        "PHP",
        "PKR",
        "PLN",
        "QAR",
        "RON",
        "RSD",
        "RUB",
        "SAR",
        "SEK",
        "SGD",
        "THB",
        "TRY",
        "TWD",
        "TZS",
        "UAH",
        "UGX",
        "USD",
        "UYU",
        "VND",
        "ZAR",
    ]
)
"""Currencies that billing accounts are kept in, and others of this world: a code that is none is a slip."""
_CONDITIONS: Final = (
    "conditionThreshold", "conditionAbsent", "conditionMatchedLog", "conditionMonitoringQueryLanguage",
    "conditionPrometheusQueryLanguage", "conditionSql",
)  # fmt: skip
_LONGEST_WAIT: Final = 23.5 * 3600
"""Seconds that a condition may hold before it fires: 23 hours and a half."""


def alert(view: View) -> None:
    """Conditions that say one thing each, in whole minutes, about a metric."""
    for path, entry in view.items("conditions"):
        given = [key for key in _CONDITIONS if entry.get(key) is not None]
        if len(given) > 1:
            view.error("gcp-alert", f"{path}.{given[1]}", f"beside {given[0]}", allowed="one kind a condition")
        for kind in given[:1]:
            _condition(view, f"{path}.{kind}", kind)
    _by_log(view)
    closes = seconds_of(view.text("alertStrategy.autoClose"))
    if closes is not None and not 1800 <= closes <= 604_800:
        allowed = "1800s to 604800s: half an hour to seven days"
        view.error("gcp-alert", "alertStrategy.autoClose", show(view.text("alertStrategy.autoClose")), allowed=allowed)
    mime = view.text("documentation.mimeType")
    if mime is not None and mime not in ("text/markdown", ""):
        view.error("gcp-alert", "documentation.mimeType", show(mime), allowed="text/markdown")
    content = view.text("documentation.content")
    if content is not None and len(content.encode()) > 8192:
        view.error("gcp-alert", "documentation.content", f"{len(content.encode())} bytes", allowed="at most 8192")
    for index, name in enumerate(view.texts("notificationChannels")):
        looks = name.startswith("projects/") and not re.fullmatch(r"projects/[^/]+/notificationChannels/\S+", name)
        if looks or (re.fullmatch(_ADDRESS, name) and view.stack.of_type(GCP_NOTIFICATION_CHANNEL) == []):
            path = f"notificationChannels[{index}]"
            view.error("gcp-alert", path, show(name), allowed="projects/PROJECT/notificationChannels/ID")
    if len(view.entries("notificationChannels")) > 16:
        view.error("gcp-alert", "notificationChannels", "more than 16", allowed="at most 16")


def _by_log(view: View) -> None:
    """An alert on lines of a log says how often it tells at most, and has one condition (API, `LogMatch`)."""
    if not any(entry.get("conditionMatchedLog") is not None for _, entry in view.items("conditions")):
        path = "alertStrategy.notificationRateLimit"
        if view.mapping(path) and view.entries("conditions") and not view.blurred("conditions"):
            view.error("gcp-alert", path, "of conditions that are not on lines of a log", allowed="nothing")
        return
    if len(view.entries("conditions")) > 1:
        view.error("gcp-alert", "conditions[1]", "beside one on lines of a log", allowed="that condition alone")
    path = "alertStrategy.notificationRateLimit"
    if view.lacks(path) and not view.is_unknown("alertStrategy"):
        view.error("gcp-alert", path, "is missing for a condition on lines of a log", allowed="period: 300s")


def _condition(view: View, path: str, kind: str) -> None:
    duration = seconds_of(view.text(f"{path}.duration"))
    least = 120 if kind == "conditionAbsent" else 0
    if duration is not None and kind != "conditionPrometheusQueryLanguage":
        if duration % 60 or not least <= duration <= _LONGEST_WAIT:
            allowed = f"whole minutes, {least}s to {_LONGEST_WAIT:.0f}s"
            view.error("gcp-alert", f"{path}.duration", show(view.text(f"{path}.duration")), allowed=allowed)
    elif duration is not None and duration % 30:
        view.error("gcp-alert", f"{path}.duration", show(view.text(f"{path}.duration")), allowed="multiples of 30s")
    every = seconds_of(view.text(f"{path}.evaluationInterval"))
    if every is not None and (every < 30 or every % 30):
        where = f"{path}.evaluationInterval"
        view.error("gcp-alert", where, show(view.text(where)), allowed="multiples of 30s")
    for which in ("aggregations", "denominatorAggregations"):
        for below, each in view.items(f"{path}.{which}"):
            period = each.get("alignmentPeriod")
            seconds = seconds_of(period) if isinstance(period, str) else None
            if seconds is not None and (seconds < 60 or seconds > 25 * 3600):
                view.error("gcp-alert", f"{below}.alignmentPeriod", show(period), allowed="60s to 90000s")
            reducer, aligner = each.get("crossSeriesReducer"), each.get("perSeriesAligner")
            if reducer not in (None, "REDUCE_NONE") and aligner in (None, "ALIGN_NONE"):
                words = f"{reducer} without an aligner"
                view.error("gcp-alert", f"{below}.crossSeriesReducer", words, allowed="perSeriesAligner beside it")
    text = view.text(f"{path}.filter")
    if text is not None and kind != "conditionMatchedLog":
        for words, allowed in _metric_filter(text):
            view.error("gcp-alert", f"{path}.filter", words, allowed=allowed)
    if text is not None:
        _own_metric(view, f"{path}.filter", text)
    trigger = view.number(f"{path}.trigger.percent")
    if trigger is not None and not 0 < trigger <= 100:
        view.error("gcp-alert", f"{path}.trigger.percent", show(trigger), allowed="above 0, at most 100")


def _own_metric(view: View, path: str, text: str) -> None:
    """A metric of the stack's own logs by its name: one that is nearly right is meant."""
    made = [each.text("name") or "" for each in view.stack.of_type(GCP_LOG_METRIC)]
    for name in re.findall(r'logging\.googleapis\.com/user/([^"\s]+)', text):
        hint = nearest(name, made, 0.7)
        if name not in made and hint and all(made):
            view.error("gcp-alert", path, f"the stack makes no metric {show(name)}", allowed=", ".join(made), hint=hint)


def _metric_filter(text: str) -> list[tuple[str, str]]:
    if text.count('"') % 2:
        return [("a quotation mark is left open", 'like metric.type="…"')]
    bare = re.sub(r'"[^"]*"', '""', text)
    if not re.search(r"metric\.types?\b", bare) and "select_slo_" not in bare:
        return [("names no metric", 'metric.type="…"')]
    if re.search(r"\b(and|or|not)\b", bare):
        return [("and, or, not are written in capitals", "AND, OR, NOT")]
    unquoted = re.search(r"(metric|resource)\.type\s*=\s*([^\s\"]+)", bare)
    if unquoted and not unquoted[2].startswith(
        ("starts_with", "ends_with", "has_substring", "one_of", "monitoring.regex")
    ):
        return [(f"{unquoted[2]} is not quoted", f'"{unquoted[2]}"')]
    return []


def channel(view: View) -> None:
    """A channel of a type that there is, with what it needs."""
    kind = view.text("type")
    if kind is None:
        return
    if kind not in _CHANNELS:
        hint = nearest(kind.lower(), _CHANNELS)
        note = view.error if hint else view.warning
        note("gcp-channel", "type", show(kind), allowed=", ".join(_CHANNELS), hint=hint)
        return
    needed, looks = _CHANNELS[kind]
    given = view.mapping("labels")
    if view.is_unknown("labels") or view.blurred("labels"):
        return
    for key in needed:
        if key not in given:
            hint = nearest(next(iter(given), ""), [key])
            view.error("gcp-channel", f"labels.{key}", f"is missing for type {kind}", allowed=key, hint=hint)
    for key, pattern in looks.items():
        value = given.get(key)
        if isinstance(value, str) and not re.fullmatch(pattern, value):
            view.error("gcp-channel", f"labels.{key}", show(value), allowed=f"what {kind} takes")


def metric(view: View) -> None:
    """A metric of log entries: labels with a way to read them, kinds that go together."""
    name = view.text("name")
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_\-.,+!*',()%/]{1,100}", name):
        view.error("gcp-metric", "name", show(name), allowed="1 to 100 letters, digits and _-.,+!*',()%/")
    kind, value = view.text("metricDescriptor.metricKind"), view.text("metricDescriptor.valueType")
    if kind is not None and value is not None and (kind, value) not in (("DELTA", "INT64"), ("DELTA", "DISTRIBUTION")):
        allowed = "DELTA of INT64, or DELTA of DISTRIBUTION"
        view.error("gcp-metric", "metricDescriptor", f"{kind} of {value}", allowed=allowed)
    if value == "DISTRIBUTION" and view.lacks("valueExtractor"):
        view.error("gcp-metric", "valueExtractor", "is missing for DISTRIBUTION", allowed="EXTRACT(field)")
    for path in ("bucketOptions", "valueExtractor") if value is not None and value != "DISTRIBUTION" else ():
        if view.has(path) and view.value(path) not in ("", {}):
            view.error("gcp-metric", path, f"of a metric of {value}", allowed="nothing, or valueType DISTRIBUTION")
    declared = {str(entry.get("key")) for _, entry in view.items("metricDescriptor.labels")}
    unclear = view.blurred("metricDescriptor.labels") or view.is_unknown("metricDescriptor")
    extractors = view.mapping("labelExtractors")
    for key, text in extractors.items():
        path = f"labelExtractors.{key}"
        if key not in declared and not unclear:
            hint = nearest(key, declared)
            view.error(
                "gcp-metric", path, "is no label of metricDescriptor", allowed=", ".join(sorted(declared)), hint=hint
            )
        _extractor(view, path, text)
    for key in sorted(declared - set(extractors)) if not unclear and not view.blurred("labelExtractors") else ():
        view.error("gcp-metric", "labelExtractors", f"nothing fills label {key}", allowed=f"{key}: EXTRACT(field)")
    _extractor(view, "valueExtractor", view.value("valueExtractor"))


def _extractor(view: View, path: str, text: Any) -> None:
    if isinstance(text, str) and not re.fullmatch(r"(REGEXP_)?EXTRACT\(.+\)", text, re.DOTALL):
        view.error("gcp-metric", path, show(text), allowed='EXTRACT(field), or REGEXP_EXTRACT(field, "…(…)…")')
    elif isinstance(text, str) and text.startswith("REGEXP_EXTRACT") and "(" not in text[15:]:
        view.error("gcp-metric", path, show(text), allowed="one group in the expression")


def log_bucket(view: View) -> None:
    """How long entries are kept."""
    days = view.number("retentionDays")
    if days is not None and not 1 <= days <= 3650:
        view.error("gcp-log-bucket", "retentionDays", show(days), allowed="1 to 3650")
    name = view.text("bucketId")
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        view.error("gcp-log-bucket", "bucketId", show(name), allowed="1 to 100 letters, digits, '_', '-' and '.'")


_DESTINATIONS: Final = re.compile(
    r"(storage\.googleapis\.com/[^/\s]+|bigquery\.googleapis\.com/projects/[^/]+/datasets/[^/]+"
    r"|pubsub\.googleapis\.com/projects/[^/]+/topics/[^/]+"
    r"|logging\.googleapis\.com/projects/[^/]+(/locations/[^/]+/buckets/[^/]+)?)"
)


def sink(view: View) -> None:
    """Where a sink sends entries."""
    to = view.text("destination")
    if to is not None and not _DESTINATIONS.fullmatch(to):
        allowed = "storage.googleapis.com/BUCKET, logging.googleapis.com/projects/…/buckets/…, pubsub.… or bigquery.…"
        view.error("gcp-sink", "destination", show(to), allowed=allowed)


def budget(view: View) -> None:
    """Money that there is, and shares that grow."""
    currency = view.text("amount.specifiedAmount.currencyCode")
    if currency is not None and re.fullmatch(r"[A-Z]{3}", currency) and currency not in _CURRENCIES:
        path, hint = "amount.specifiedAmount.currencyCode", nearest(currency, sorted(_CURRENCIES), 0.5)
        view.error("gcp-budget", path, f"{show(currency)} is no currency of a billing account", hint=hint)
    units = as_number(view.value("amount.specifiedAmount.units"))
    if units is not None and units <= 0 and not view.number("amount.specifiedAmount.nanos"):
        view.error("gcp-budget", "amount.specifiedAmount.units", show(units), allowed="above 0")
    seen: list[tuple[Any, Any]] = []
    for path, entry in view.items("thresholdRules"):
        what = (entry.get("thresholdPercent"), entry.get("spendBasis"))
        if what in seen and all(isinstance(each, (int, float, str)) for each in what):
            view.warning(
                "gcp-budget", f"{path}.thresholdPercent", f"{show(what[0])} is there twice", allowed="each once"
            )
        seen.append(what)
        if what[0] == 0:
            view.warning("gcp-budget", f"{path}.thresholdPercent", "0 fires at once", allowed="a share: 0.5 is 50 %")
    for index, name in enumerate(view.texts("budgetFilter.services")):
        if not re.fullmatch(r"services/[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}", name):
            path, allowed = f"budgetFilter.services[{index}]", "a service as it is billed, like services/6F81-5844-456A"
            view.error("gcp-budget", path, show(name), allowed=allowed)
    for index, name in enumerate(view.texts("allUpdatesRule.monitoringNotificationChannels")):
        if name.startswith("projects/") and not re.fullmatch(r"projects/[^/]+/notificationChannels/\S+", name):
            path = f"allUpdatesRule.monitoringNotificationChannels[{index}]"
            view.error("gcp-budget", path, show(name), allowed="projects/PROJECT/notificationChannels/ID")
    topic = view.text("allUpdatesRule.pubsubTopic")
    if topic is not None and not re.fullmatch(r"projects/[^/]+/topics/[^/]+", topic):
        view.error("gcp-budget", "allUpdatesRule.pubsubTopic", show(topic), allowed="projects/PROJECT/topics/TOPIC")


RULES: Rules = {
    alert: (GCP_ALERT_POLICY,),
    channel: (GCP_NOTIFICATION_CHANNEL,),
    metric: (GCP_LOG_METRIC,),
    log_bucket: (GCP_LOG_BUCKET,),
    sink: (GCP_LOG_SINK,),
    budget: (GCP_BUDGET,),
}
