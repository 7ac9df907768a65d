"""What Google Cloud keeps, spends and routes, as a picture shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    CLOUD_SQL,
    FILESTORE,
    GCP_BUCKET,
    GCP_BUDGET,
    GCP_CRYPTO_KEY,
    GCP_LUSTRE,
    GCP_NAT,
    GCP_NETWORK,
    GCP_ROUTER,
    GCP_SUBNETWORK,
)
from trainyard.review.reports.picture.model import OTHERS_KEY, OWN_KEY, PROTECTED, UNTOLD, Budget, Store
from trainyard.review.reports.picture.told import entries, number, on, purpose, texts, told

DRAWN: Final = (CLOUD_SQL, FILESTORE, GCP_BUCKET, GCP_BUDGET, GCP_CRYPTO_KEY, GCP_LUSTRE, GCP_NAT, GCP_ROUTER)
"""Types that the picture shows, here and below."""

_PERIODS: Final = {"MONTH": "a month", "QUARTER": "a quarter", "YEAR": "a year"}
_SECONDS_A_DAY: Final = 86_400


def stores(resources: Resources) -> Iterator[Store]:
    """Buckets and file systems."""
    for file_system in resources.of(GCP_LUSTRE):
        capacity, each = (
            number(file_system.inputs, "capacityGib"),
            number(file_system.inputs, "perUnitStorageThroughput"),
        )
        facts = [f"{capacity:,.0f} GiB" if capacity is not None else f"{UNTOLD} GiB"]
        if capacity is not None and each is not None:
            facts.append(f"{capacity / 1024 * each:,.0f} MB/s")
        facts.append(told(file_system.inputs, "location"))
        yield _store(file_system, "Lustre", facts, _marks(file_system, "kmsKey", resources))
    for share in resources.of(FILESTORE):
        size = number(share.inputs, "fileShares", "capacityGb")
        facts = [
            f"{size:,.0f} GiB" if size is not None else f"{UNTOLD} GiB",
            told(share.inputs, "tier").lower(),
            told(share.inputs, "location"),
        ]
        yield _store(share, "Filestore", facts, _marks(share, "kmsKeyName", resources))
    for bucket in resources.of(GCP_BUCKET):
        marks = _marks(bucket, "encryption.defaultKmsKeyName", resources)
        yield _store(bucket, "GCS bucket", list(_kept(bucket)), marks)


def _store(resource: RecordedResource, kind: str, facts: list[str], marks: tuple[str, ...]) -> Store:
    return Store(resource.urn, purpose(resource), kind, tuple(filter(None, facts)), marks)


def _kept(bucket: RecordedResource) -> Iterator[str]:
    """Where its objects are, and how long they stay."""
    yield told(bucket.inputs, "location")
    if on(bucket.inputs, "versioning", "enabled"):
        yield "versioned"
    for rule in entries(bucket.inputs, "lifecycleRules"):
        if told(rule, "action", "type") != "Delete":
            continue
        days, old = number(rule, "condition", "age"), number(rule, "condition", "daysSinceNoncurrentTime")
        newer = number(rule, "condition", "numNewerVersions")
        if days is not None:
            yield f"objects go after {count(days, 'day')}"
        elif old is not None:
            yield f"old versions go after {count(old, 'day')}"
        elif newer is not None:
            yield f"{newer:g} old versions at most"
    seconds = number(bucket.inputs, "retentionPolicy", "retentionPeriod")
    if seconds:
        yield f"nothing goes for {count(seconds // _SECONDS_A_DAY, 'day')}"


def _marks(resource: RecordedResource, key: str, resources: Resources) -> tuple[str, ...]:
    """What keeps it safe: protection from deletion, and whose key it is encrypted with."""
    protected = (PROTECTED,) if resource.protect else ()
    if not is_set(resource.inputs, *key.split(".")):
        return (*protected, "encrypted, Google's key")
    own = resources.referred(resource, key, GCP_CRYPTO_KEY)
    return (*protected, OWN_KEY if own else OTHERS_KEY)


def databases(resources: Resources) -> Iterator[Store]:
    """Database servers."""
    for database in resources.of(CLOUD_SQL):
        settings = database.inputs.get("settings")
        facts = [told(settings, "tier") or UNTOLD]
        size, most = told(settings, "diskSize"), told(settings, "diskAutoresizeLimit")
        if size:
            grows = on(settings, "diskAutoresize", default=True) and most not in ("", "0", size)
            facts.append(f"{size} to {most} GiB" if grows else f"{size} GiB")
        facts.append("two zones" if told(settings, "availabilityType") == "REGIONAL" else "one zone")
        facts.append("public" if on(settings, "ipConfiguration", "ipv4Enabled", default=True) else "not public")
        kept = number(settings, "backupConfiguration", "backupRetentionSettings", "retainedBackups")
        if not on(settings, "backupConfiguration", "enabled"):
            facts.append("no backups")
        else:
            facts.append(f"{count(kept, 'backup')} kept" if kept else "backups")
        kind = told(database.inputs, "databaseVersion").lower().replace("_", " ") or UNTOLD
        yield Store(database.urn, database.name, kind, tuple(facts), _marks(database, "encryptionKeyName", resources))


def budgets(resources: Resources) -> Iterator[Budget]:
    """Budgets with their thresholds, and who hears of them."""
    for budget in resources.of(GCP_BUDGET):
        rules = entries(budget.inputs, "thresholdRules")
        found = ((number(rule, "thresholdPercent"), rule) for rule in rules)
        thresholds = tuple(
            (100 * part, told(rule, "spendBasis") == "FORECASTED_SPEND") for part, rule in found if part is not None
        )
        amount = ("amount", "specifiedAmount")
        period = _PERIODS.get(told(budget.inputs, "budgetFilter", "calendarPeriod") or "MONTH", "")
        unit = told(budget.inputs, *amount, "currencyCode") or UNTOLD
        limit = number(budget.inputs, *amount, "units")
        yield Budget(budget.urn, limit, unit, period, thresholds, tuple(_told_to(budget)))


def _told_to(budget: RecordedResource) -> Iterator[str]:
    channels = texts(budget.inputs, "allUpdatesRule", "monitoringNotificationChannels")
    if channels:
        yield f"to {count(len(channels), 'channel')}"
    if is_set(budget.inputs, "allUpdatesRule", "pubsubTopic"):
        yield "to a topic"


def nat_gateways(subnet: RecordedResource, resources: Resources) -> int:
    """How many gateways give machines of a subnet a way out."""
    return sum(
        subnet in resources.referred(nat, "subnetworks", GCP_SUBNETWORK)
        or (
            told(nat.inputs, "sourceSubnetworkIpRangesToNat").startswith("ALL_SUBNETWORKS")
            and told(nat.inputs, "region") == told(subnet.inputs, "region")
            and _may_share_a_network(nat, subnet, resources)
        )
        for nat in resources.of(GCP_NAT)
    )


def _may_share_a_network(nat: RecordedResource, subnet: RecordedResource, resources: Resources) -> bool:
    """Whether a NAT's router may stand in a subnet's network: a router of another program may stand in any."""
    routers = resources.referred(nat, "router", GCP_ROUTER)
    theirs = {network for router in routers for network in _networks_of(router, resources)}
    ours = _networks_of(subnet, resources)
    return not routers or UNTOLD in theirs | ours or not theirs.isdisjoint(ours)


def _networks_of(resource: RecordedResource, resources: Resources) -> set[str]:
    found = {network.urn for network in resources.referred(resource, "network", GCP_NETWORK)}
    return found or {told(resource.inputs, "network")}
