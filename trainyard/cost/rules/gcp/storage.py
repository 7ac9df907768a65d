"""Buckets, file systems and images on Google Cloud."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.catalog import gcp
from trainyard.conventions import DAYS_A_MONTH
from trainyard.cost.context import CostEntry, PriceContext, unpriced
from trainyard.cost.model import always
from trainyard.cost.rules.storage import PURPOSES
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, list_at, number_at, value_at

_OLDER_TIERS: Final = {"standard": "basic-hdd", "premium": "basic-ssd"}
DEFAULT_SOFT_DELETE_DAYS = 7
"""Days that a bucket keeps what was deleted where it does not say (Cloud Storage documentation, as in the facts)."""


def bucket(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Stored objects and requests; what is stored is an assumption by the bucket's purpose."""
    place = context.region_of(resource)
    if place not in gcp.regions():
        yield unpriced(resource, "stored objects", f"location {place}: the catalogue has prices of regions alone")
        return
    last = resource.name.rpartition("-")[2]
    kind = str(value_at(resource.inputs, "storageClass") or "STANDARD").lower()
    stored = context.usage(f"{last}_bucket_gb" if last in PURPOSES else "other_bucket_gb")
    yield context.line(resource, "stored objects", f"gcs.{kind}", stored)
    if last == "data":
        turnover = context.assumed("data_superseded_percent_a_month").value / 100
        kept = stored.times(turnover * _superseded_days(resource) / DAYS_A_MONTH)
        yield context.line(resource, "overwritten and deleted objects", f"gcs.{kind}", kept)
    writes, reads = context.usage("bucket_puts_thousand", 1 / 10), context.usage("bucket_gets_thousand", 1 / 10)
    yield context.line(resource, "writes and listings", "gcs.class-a", writes)
    yield context.line(resource, "reads", "gcs.class-b", reads)


def _superseded_days(resource: RecordedResource) -> float:
    """Days that what was overwritten is billed: until the lifecycle deletes it, and soft deletion after that."""
    soft = number_at(
        resource.inputs, "softDeletePolicy", "retentionDurationSeconds", default=DEFAULT_SOFT_DELETE_DAYS * 86_400
    )
    rules = list_at(resource.inputs, "lifecycleRules")
    kept = (number_at(rule, "condition", "daysSinceNoncurrentTime", default=0) for rule in rules)
    versions = max(kept, default=0) if is_on(resource.inputs, "versioning", "enabled") else 0
    return versions + soft / 86_400


def lustre(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Provisioned capacity, whose price is that of its throughput class."""
    gib = number_at(resource.inputs, "capacityGib")
    if value_at(resource.inputs, "perUnitStorageThroughput") is None:
        yield unpriced(resource, f"{gib:g} GiB provisioned", "of a dynamic tier: no price was read")
        return
    throughput = number_at(resource.inputs, "perUnitStorageThroughput")
    yield context.line(resource, f"{gib:g} GiB provisioned", f"lustre.{throughput:.0f}", always(gib))


def filestore(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Provisioned capacity by the tier; most tiers have no price that was read."""
    tier = str(value_at(resource.inputs, "tier")).lower().replace("_", "-")
    gib = number_at(resource.inputs, "fileShares", "capacityGb")
    tier = _OLDER_TIERS.get(tier, tier)
    yield context.line(resource, f"{gib:g} GiB provisioned", f"filestore.{tier}", always(gib))


def backup_vault(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What it keeps: the first backup whole, of the others what changed. Of what Backup and DR asks for Filestore only
    the storage was read, and not the management that comes on top."""
    del context
    yield unpriced(resource, "backups of the share", "Backup and DR, by what it keeps: no whole price was read")


def anywhere_cache(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What it holds, takes in and is read, none of whose prices was read."""
    del context
    yield unpriced(resource, "a cache of the data", "Anywhere Cache, by what it holds and takes in: no price was read")


def image_repository(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Stored images, an assumption; nodes of the region pull them for nothing."""
    yield context.line(resource, "stored images", "registry.storage", context.usage("repository_images_gb"))
