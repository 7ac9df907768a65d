"""Trails and threat detection: nothing by the month, everything by what happens."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import catalog
from trainyard.cost.context import CostEntry, NotPriced, PriceContext, unpriced
from trainyard.cost.model import NOTHING, Amounts
from trainyard.cost.rules.node_hours import running_nodes
from trainyard.cost.rules.storage import PURPOSES
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import length_at, list_at, mappings_at, value_at
from trainyard.recorded.types import BUCKET

THOUSANDS_A_MILLION = 1000
HUNDRED_THOUSAND_IN_THOUSANDS = 100

FEATURES = {"S3_DATA_EVENTS": "guardduty.s3-events", "EKS_AUDIT_LOGS": "guardduty.eks-audit"}
"""What a feature of a detector is paid by, where that is events."""


def trail(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Data events, a reading or writing of an object each. The first copy of management events costs nothing."""
    if value_at(resource.inputs, "enableLogging") is False:
        return
    for selector in mappings_at(resource.inputs, "advancedEventSelectors"):
        fields = {str(value_at(field, "field")): field for field in mappings_at(selector, "fieldSelectors")}
        if list_at(fields.get("eventCategory", {}), "equals") != ["Data"]:
            continue
        named = fields.get("resources.ARN")
        buckets = len(context.resources.of(BUCKET))
        if named is not None:
            buckets = max(length_at(named, "startsWiths"), length_at(named, "equals"))
        events = _object_events(context).times(buckets / HUNDRED_THOUSAND_IN_THOUSANDS)
        what = f"reads and writes of objects in {count(buckets, 'bucket')}"
        yield context.line(resource, what, "cloudtrail.data-events", events)
    if mappings_at(resource.inputs, "eventSelectors"):
        yield unpriced(resource, "data events of basic selectors", "priced by advancedEventSelectors only")
    if mappings_at(resource.inputs, "insightSelectors"):
        yield unpriced(resource, "insights", "no price in catalog/aws_services.csv")


def detector(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What a detector always looks at: management events, flow logs and the questions to DNS."""
    if value_at(resource.inputs, "enable") is False:
        return
    events = context.usage("management_events_million")
    yield context.line(resource, "management events", "guardduty.management-events", events)
    yield context.line(resource, "flow and DNS logs", "guardduty.network-logs", context.usage("flow_log_gb"))


def detector_feature(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What a feature looks at besides; nothing where it is off."""
    name = str(value_at(resource.inputs, "name"))
    if value_at(resource.inputs, "status") != "ENABLED":
        return
    if name == "S3_DATA_EVENTS":
        tiers = [bucket for bucket in context.resources.of(BUCKET) if bucket.name.rpartition("-")[2] in PURPOSES]
        events = _object_events(context).times(len(tiers) / THOUSANDS_A_MILLION)
        yield context.line(resource, "reads and writes of objects", FEATURES[name], events)
    elif name == "EKS_AUDIT_LOGS":
        events = context.usage("audit_events_million")
        yield context.line(resource, "requests to clusters", FEATURES[name], events)
    elif name in ("RUNTIME_MONITORING", "EKS_RUNTIME_MONITORING"):
        yield context.line(resource, "agents on nodes", "guardduty.runtime", _vcpus(context))
    else:
        yield unpriced(resource, name, "no price in catalog/aws_services.csv")


def _object_events(context: PriceContext) -> Amounts:
    """Thousands of events a month and bucket."""
    return context.usage("bucket_puts_thousand") + context.usage("bucket_gets_thousand")


def _vcpus(context: PriceContext) -> Amounts:
    """vCPUs of all nodes that run."""
    total = NOTHING
    for group in context.node_groups:
        total += running_nodes(group, context).times(_vcpus_of(group.instance_types[0]))
    return total


def _vcpus_of(type_: str) -> int:
    for find in (catalog.instance, catalog.cpu_instance):
        try:
            return find(type_).vcpus
        except KeyError:
            continue
    raise NotPriced("agents on nodes", f"no such instance type in the catalogue: {type_}")
