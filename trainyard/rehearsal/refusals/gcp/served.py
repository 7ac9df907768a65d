"""Tables, balancers, groups of machines, caches, slices and subscriptions of other people's programs: what their APIs
refuse of one, or of two that go together.

Sources: BigQuery, "Partitioned tables" and "Clustered tables" (types of columns), "Transfer configurations" (of the
data set's place); Compute Engine API, `BackendService.protocol` and `loadBalancingScheme`, and "Managed instance group
updates" (something surges or may be missing; of a regional group as many as zones); Memorystore, "Read replicas"; Cloud
TPU, "TPU types"; Pub/Sub, "Filter messages"; Eventarc, event types; Workload Identity Federation, attribute mappings;
Cloud Build, "Build triggers" (branches by RE2); as generally known in 2026-11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import (
    GCP_BACKEND,
    GCP_BUILD_TRIGGER,
    GCP_DATA_TRANSFER,
    GCP_DATASET,
    GCP_EVENT_TRIGGER,
    GCP_FUNCTION,
    GCP_IDENTITY_PROVIDER,
    GCP_MACHINE_GROUP,
    GCP_REDIS,
    GCP_REGIONAL_BACKEND,
    GCP_REGIONAL_MACHINE_GROUP,
    GCP_SUBSCRIPTION,
)
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.rules import Rules

_TABLE: Final = "gcp:bigquery/table:Table"
_BACKENDS: Final = (
    GCP_BACKEND,
    GCP_REGIONAL_BACKEND,
)
_SLICES: Final = ("gcp:tpu/v2Vm:V2Vm",)
_OF_TIME: Final = ("DATE", "TIMESTAMP", "DATETIME")
_NOT_CLUSTERED: Final = ("FLOAT", "FLOAT64", "RECORD", "STRUCT", "JSON", "BYTES", "ARRAY")
_PROTOCOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "INTERNAL": ("TCP", "UDP", "UNSPECIFIED"),
    "INTERNAL_MANAGED": ("HTTP", "HTTPS", "HTTP2", "TCP", "GRPC", "H2C"),
    "EXTERNAL_MANAGED": ("HTTP", "HTTPS", "HTTP2", "TCP", "SSL", "H2C"),
    "INTERNAL_SELF_MANAGED": ("HTTP", "HTTPS", "HTTP2", "TCP", "GRPC", "H2C"),
}
"""By scheme, what a balancer of it speaks."""
_CHIPS: Final = re.compile(r"v2-\d+|v3-\d+|v4-\d+|v5litepod-\d+|v5p-\d+|v6e-\d+|tpu7x-\d+")
_FAMILIES: Final = ("v2", "v3", "v4", "v5litepod", "v5p", "v6e", "tpu7x")
_OTHERWISE: Final = {"v5e": "v5litepod", "v5lite": "v5litepod", "v5litepods": "v5litepod", "v7": "tpu7x"}
_STORAGE_EVENTS: Final = tuple(
    f"google.cloud.storage.object.v1.{what}" for what in ("finalized", "deleted", "archived", "metadataUpdated")
)
_EVENTS: Final = (
    *_STORAGE_EVENTS, "google.cloud.audit.log.v1.written", "google.cloud.pubsub.topic.v1.messagePublished",
    "google.cloud.firestore.document.v1.created", "google.cloud.firestore.document.v1.deleted",
    "google.cloud.firestore.document.v1.updated", "google.cloud.firestore.document.v1.written",
)  # fmt: skip
_BRANCHES: Final = tuple(
    f"{of}.{which}"
    for of in ("repositoryEventConfig", "github")
    for which in ("push.branch", "push.tag", "pullRequest.branch")
)
_SENT: Final = re.compile(r"(?<![\w.:-])(data|message|body)\b(?!-)")
"""What is sent, by its name; not an attribute's key of that name, or one with it."""
_WRONG_IN_BOTH: Final = ("nothing to repeat", "missing )", "unbalanced parenthesis", "unterminated character set")
"""What Python's expressions and those of RE2 refuse alike."""
_EVERYBODYS: Final = ("aud", "iss")
"""Claims that all tokens of an issuer have alike."""
_READ_FROM_GB: Final = 5
"""The least memory of a cache whose replicas are read from."""


def table(view: View) -> None:
    """A table by its own columns: by a time it is parted, by what has an order it is laid together."""
    columns = _columns(view.text("schema"))
    if not columns:
        return
    known = sorted(columns)
    parted = view.text("timePartitioning.field")
    if parted is not None and columns.get(parted.lower()) not in _OF_TIME:
        kind = columns.get(parted.lower())
        words = f"{show(parted)} is of type {kind}" if kind else f"the schema has no column {show(parted)}"
        times = [name for name in known if columns[name] in _OF_TIME]
        view.error("gcp-table", "timePartitioning.field", words, allowed=f"one of {', '.join(times) or 'a time'}")
    number = view.text("rangePartitioning.field")
    if number is not None and columns.get(number.lower()) not in ("INTEGER", "INT64"):
        words = f"{show(number)} is no column of whole numbers"
        view.error("gcp-table", "rangePartitioning.field", words, allowed="a column of type INTEGER")
    for index, name in enumerate(view.texts("clusterings")):
        kind = columns.get(name.lower())
        if kind is None:
            words = f"the schema has no column {show(name)}"
            view.error("gcp-table", f"clusterings[{index}]", words, allowed=", ".join(known), hint=nearest(name, known))
        elif kind in _NOT_CLUSTERED:
            words = f"{show(name)} is of type {kind}"
            view.error("gcp-table", f"clusterings[{index}]", words, allowed="a text, a number, a time or a truth value")


def _columns(text: str | None) -> dict[str, str]:
    """Types of a schema's columns by their names in small letters."""
    try:
        fields = json.loads(text) if text else []
    except ValueError:
        return {}
    fields = listed(fields.get("fields") if isinstance(fields, dict) else fields)
    return {str(one.get("name")).lower(): str(one.get("type")).upper() for one in fields if isinstance(one, Mapping)}


def query(view: View) -> None:
    """A query that comes by itself runs where its data set is."""
    place, dataset = view.text("location"), view.text("destinationDatasetId")
    for found in view.stack.of_type(GCP_DATASET):
        of = found.text("location")
        if dataset is not None and found.text("datasetId") == dataset and of and place and of.lower() != place.lower():
            words = f"{show(place)}; the data set {dataset} is in {of}"
            view.error("gcp-table", "location", words, allowed=of)


def backend(view: View) -> None:
    """What a balancer of a scheme speaks."""
    scheme, protocol = view.text("loadBalancingScheme") or "", view.text("protocol")
    allowed = _PROTOCOLS.get(scheme, ())
    if allowed and protocol is not None and protocol not in allowed:
        view.error("gcp-balancer", "protocol", f"{show(protocol)} of {scheme}", allowed=", ".join(allowed))


def group(view: View) -> None:
    """An update goes on only where a machine more may be, or one less; a regional group counts by zones."""
    surge, gone = (view.number(f"updatePolicy.max{key}Fixed") for key in ("Surge", "Unavailable"))
    others = view.has("updatePolicy.maxSurgePercent") or view.has("updatePolicy.maxUnavailablePercent")
    if surge == 0 and gone == 0 and not others:
        words = "0, and maxSurgeFixed is 0: no machine is ever replaced"
        view.error("gcp-group", "updatePolicy.maxUnavailableFixed", words, allowed="more than 0 of one of both")
    if view.type != GCP_REGIONAL_MACHINE_GROUP:
        return
    zones = view.texts("distributionPolicyZones")
    least = len(zones) if zones and not view.blurred("distributionPolicyZones") else 0
    for key, count in (("maxSurgeFixed", surge), ("maxUnavailableFixed", gone)):
        if count and least and count < least:
            words = f"{count:g}, in {least} zones"
            view.error("gcp-group", f"updatePolicy.{key}", words, allowed=f"0, or at least {least}")


def redis(view: View) -> None:
    """Replicas of a cache: of which tier, and how many without being read from."""
    replicas, tier = view.number("replicaCount"), view.text("tier")
    read = view.text("readReplicasMode") == "READ_REPLICAS_ENABLED" or view.is_unknown("readReplicasMode")
    if replicas is None:
        return
    if replicas and (tier == "BASIC" or view.lacks("tier")):
        view.error("gcp-redis", "replicaCount", f"{replicas:g} of tier BASIC", allowed="0, or STANDARD_HA")
    elif replicas > 1 and not read:
        words = f"{replicas:g} without reads from them"
        view.error("gcp-redis", "replicaCount", words, allowed="1, or readReplicasMode READ_REPLICAS_ENABLED")
    size = view.number("memorySizeGb")
    if read and size is not None and size < _READ_FROM_GB:
        view.error("gcp-redis", "memorySizeGb", f"{size:g} with reads from replicas", allowed="at least 5")


def slices(view: View) -> None:
    """Chips by the words of the API."""
    given = view.text("acceleratorType")
    if given is None or _CHIPS.fullmatch(given):
        return
    family, _, count = given.partition("-")
    alike = family.lower() if family.lower() in _FAMILIES else nearest_of(family, _FAMILIES)
    meant = _OTHERWISE.get(family) or alike
    if not meant:
        return  # a family that came since
    hint = f"{meant}-{count}" if count.isdigit() else ""
    view.error("gcp-tpu", "acceleratorType", show(given), allowed=f"{', '.join(_FAMILIES)}, with -NUMBER", hint=hint)


def subscription(view: View) -> None:
    """A filter in the language of Pub/Sub: attributes, and texts in double quotation marks."""
    text = view.text("filter")
    if text is None:
        return
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"", '""', text)
    if "'" in bare:
        view.error(
            "gcp-pubsub", "filter", f"single quotation marks in {show(text)}", allowed='attributes.key = "value"'
        )
    elif "==" in bare or "&&" in bare or "||" in bare:
        view.error("gcp-pubsub", "filter", f"operators of another language in {show(text)}", allowed="=, !=, AND, OR")
    elif _SENT.search(bare):
        view.error("gcp-pubsub", "filter", f"{show(text)}: a filter reads attributes alone", allowed="attributes.key")


def event(view: View) -> None:
    """Kinds of events that are told directly: of a bucket, of a topic, of the audit log."""
    found = [
        (f"{at}.value", str(one.get("value")))
        for at, one in view.items("matchingCriterias")
        if one.get("attribute") == "type"
    ]
    if view.type == GCP_FUNCTION:
        found = [("eventTrigger.eventType", view.text("eventTrigger.eventType") or "")]
    for path, kind in found:
        near = nearest(kind, _EVENTS, 0.9)
        in_storage = kind.startswith("google.cloud.storage.")
        if kind and kind not in _EVENTS and (near or in_storage):
            allowed = ", ".join(_STORAGE_EVENTS if in_storage else _EVENTS)
            view.error("gcp-event", path, f"nothing tells of {show(kind)}", allowed=allowed, hint=near)


def subject(view: View) -> None:
    """Who somebody is, by a claim that is theirs."""
    path = "attributeMapping.google.subject"
    text = view.mapping("attributeMapping").get("google.subject")
    found = re.fullmatch(r"\s*assertion\.(\w+)\s*", text) if isinstance(text, str) else None
    if found is not None and found[1] in _EVERYBODYS:
        words = f"assertion.{found[1]} is alike in all tokens: everybody is one"
        view.error("gcp-issuer", path, words, allowed="assertion.sub")


def branches(view: View) -> None:
    """Branches and tags are named by regular expressions."""
    for path in _BRANCHES:
        text = view.text(path)
        if text is None:
            continue
        try:
            re.compile(text)
        except re.error as wrong:
            if not wrong.msg.startswith(_WRONG_IN_BOTH):
                continue  # RE2 has flags, classes and ends of its own
            view.error("gcp-build-branch", path, f"{show(text)} is no regular expression: {wrong}", allowed="^main$")


RULES: Rules = {
    table: (_TABLE,),
    query: (GCP_DATA_TRANSFER,),
    backend: _BACKENDS,
    group: (GCP_MACHINE_GROUP, GCP_REGIONAL_MACHINE_GROUP),
    redis: (GCP_REDIS,),
    slices: _SLICES,
    subscription: (GCP_SUBSCRIPTION,),
    event: (GCP_EVENT_TRIGGER, GCP_FUNCTION),
    subject: (GCP_IDENTITY_PROVIDER,),
    branches: (GCP_BUILD_TRIGGER,),
}
