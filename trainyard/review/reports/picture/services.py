"""Where things are kept, what runs for all teams, and the budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, steps
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AWS_BUDGET,
    BUCKET,
    BUCKET_ENCRYPTION,
    BUCKET_VERSIONING,
    DATA_REPOSITORY_ASSOCIATION,
    DATABASE,
    DEPLOYMENT,
    EFS,
    KEY,
    LIFECYCLE,
    LUSTRE,
    SUBNET,
)
from trainyard.review.reports.picture import google, managed
from trainyard.review.reports.picture.model import OTHERS_KEY, OWN_KEY, PROTECTED, UNTOLD, Budget, Service, Store
from trainyard.review.reports.picture.network import zone_of
from trainyard.review.reports.picture.told import entries, number, on, purpose, texts, told

_ANOMALIES: Final = "aws:costexplorer/anomalySubscription:AnomalySubscription"
_BUCKET_KEY: Final = "rules[0].applyServerSideEncryptionByDefault.kmsMasterKeyId"
DRAWN = (
    *(KEY, BUCKET, BUCKET_ENCRYPTION, BUCKET_VERSIONING, LIFECYCLE, LUSTRE, DATA_REPOSITORY_ASSOCIATION),
    *(EFS, DATABASE, AWS_BUDGET, _ANOMALIES),
    *google.DRAWN,
    *managed.DRAWN,
)
"""Types that the picture shows, here and below; of deployments, the MLflow server's."""

_PERIODS = {"DAILY": "a day", "MONTHLY": "a month", "QUARTERLY": "a quarter", "ANNUALLY": "a year"}


def stores(resources: Resources) -> Iterator[Store]:
    """Buckets and file systems. Two of one purpose, as a trail's logs and the buckets', go by their whole names."""
    found = [*_stores(resources), *google.stores(resources)]
    purposes = Counter(store.name for store in found)
    for store in found:
        yield store if purposes[store.name] == 1 else replace(store, name=store.urn.rpartition("::")[2])


def _stores(resources: Resources) -> Iterator[Store]:
    for file_system in resources.of(LUSTRE):
        yield _lustre(file_system, resources)
    for file_system in resources.of(EFS):
        throughput = told(file_system.inputs, "throughputMode")
        facts = [f"{throughput} throughput"] if throughput else []
        yield Store(
            file_system.urn, purpose(file_system), "EFS", tuple(facts), _marks(file_system, resources, "kmsKeyId")
        )
    for bucket in resources.of(BUCKET):
        yield _bucket(bucket, resources)


def _lustre(file_system: RecordedResource, resources: Resources) -> Store:
    inputs = file_system.inputs
    capacity, each = number(inputs, "storageCapacity"), number(inputs, "perUnitStorageThroughput")
    facts = [f"{capacity:,.0f} GiB" if capacity is not None else f"{UNTOLD} GiB"]
    if each is not None and capacity is not None:
        facts.append(f"{capacity / 1024 * each:,.0f} MB/s")
    subnets = resources.referred(file_system, "subnetIds", SUBNET)
    facts += dict.fromkeys(zone_of(subnet) for subnet in subnets)
    for link in resources.of(DATA_REPOSITORY_ASSOCIATION):
        if file_system in resources.referred(link, "fileSystemId", LUSTRE):
            path = told(link.inputs, "dataRepositoryPath")
            bucket = next((one for one in resources.of(BUCKET) if path == f"s3://{told(one.inputs, 'bucket')}"), None)
            facts.append(f"in front of {f'bucket {purpose(bucket)}' if bucket is not None else path or UNTOLD}")
    return Store(
        file_system.urn, purpose(file_system), "Lustre", tuple(facts), _marks(file_system, resources, "kmsKeyId")
    )


def _marks(resource: RecordedResource, resources: Resources, key: str) -> tuple[str, ...]:
    """What keeps it safe: protection from deletion, and whose key it is encrypted with."""
    protected = (PROTECTED,) if resource.protect else ()
    return (*protected, _whose(resource, key, resources)) if is_set(resource.inputs, key) else protected


def _whose(resource: RecordedResource, key: str, resources: Resources) -> str:
    return OWN_KEY if resources.referred(resource, key, KEY) else OTHERS_KEY


def _bucket(bucket: RecordedResource, resources: Resources) -> Store:
    facts: list[str] = []
    versioning = _about(bucket, BUCKET_VERSIONING, resources)
    if any(told(one.inputs, "versioningConfiguration", "status") == "Enabled" for one in versioning):
        facts.append("versioned")
    for lifecycle in _about(bucket, LIFECYCLE, resources):
        for rule in entries(lifecycle.inputs, "rules"):
            days = number(rule, "expiration", "days")
            old = number(rule, "noncurrentVersionExpiration", "noncurrentDays")
            kept = number(rule, "noncurrentVersionExpiration", "newerNoncurrentVersions")
            if days is not None:
                facts.append(f"objects go after {count(days, 'day')}")
            elif old is not None:
                facts.append(f"old versions go after {count(old, 'day')}" + (f", {kept:g} newest stay" if kept else ""))
    marks = [PROTECTED] if bucket.protect else []
    for encryption in _about(bucket, BUCKET_ENCRYPTION, resources):
        key = is_set(encryption.inputs, *steps(_BUCKET_KEY))
        marks.append(_whose(encryption, _BUCKET_KEY, resources) if key else "encrypted, AWS's key")
    return Store(bucket.urn, purpose(bucket), "S3 bucket", tuple(facts), tuple(dict.fromkeys(marks)))


def _about(bucket: RecordedResource, type_: str, resources: Resources) -> list[RecordedResource]:
    return [one for one in resources.of(type_) if bucket in resources.referred(one, "bucket", BUCKET)]


def databases(resources: Resources) -> Iterator[Store]:
    """Database servers."""
    for database in resources.of(DATABASE):
        inputs = database.inputs
        facts = [told(inputs, "instanceClass") or UNTOLD]
        size, most = told(inputs, "allocatedStorage"), told(inputs, "maxAllocatedStorage")
        if size:
            facts.append(f"{size} to {most} GiB" if most and most != size else f"{size} GiB")
        facts.append("two zones" if on(inputs, "multiAz") else "one zone")
        facts.append("public" if on(inputs, "publiclyAccessible") else "not public")
        days = number(inputs, "backupRetentionPeriod")
        facts.append(f"backups kept {count(days, 'day')}" if days else "no backups")
        kind = f"{told(inputs, 'engine')} {told(inputs, 'engineVersion')}".strip() or UNTOLD
        yield Store(database.urn, database.name, kind, tuple(facts), _marks(database, resources, "kmsKeyId"))
    yield from google.databases(resources)


def services(resources: Resources) -> Iterator[Service]:
    """Editors and what keeps track of runs, self-managed or the cloud's."""
    yield from managed.services(resources)
    for deployment in resources.of(DEPLOYMENT):
        image = _mlflow_image(deployment)
        if image:
            tag = image.split("@")[0].rpartition("/")[2].partition(":")[2]
            replicas = told(deployment.inputs, "spec", "replicas") or "1"
            facts = (f"version {tag}" if tag else "", f"{replicas} replica{'' if replicas == '1' else 's'}")
            yield Service(deployment.urn, "MLflow", tuple(filter(None, facts)))


def _mlflow_image(deployment: RecordedResource) -> str:
    """The image of the first container that serves MLflow; empty where none does. One without a port serves nothing,
    and one that starts a program of its own, as keepers do, serves something else."""
    for container in entries(deployment.inputs, "spec", "template", "spec", "containers"):
        image = told(container, "image")
        started = [*texts(container, "command"), *texts(container, "args")]
        serves = not started or "server" in started
        if serves and entries(container, "ports") and "mlflow" in image.split("@")[0].rpartition("/")[2]:
            return image
    return ""


def budgets(resources: Resources) -> Iterator[Budget]:
    """Budgets with their thresholds, and who hears of them."""
    for budget in resources.of(AWS_BUDGET):
        notifications = entries(budget.inputs, "notifications")
        found = ((number(one, "threshold"), one) for one in notifications)
        thresholds = tuple(
            (percent, told(one, "notificationType") == "FORECASTED") for percent, one in found if percent is not None
        )
        unit = told(budget.inputs, "limitUnit") or UNTOLD
        facts = [*_subscribers(notifications), *_anomalies(resources)]
        period = _PERIODS.get(told(budget.inputs, "timeUnit"), "")
        yield Budget(budget.urn, number(budget.inputs, "limitAmount"), unit, period, thresholds, tuple(facts))
    yield from google.budgets(resources)


def _subscribers(notifications: list[Mapping[str, Any]]) -> Iterator[str]:
    emails = {mail for one in notifications for mail in texts(one, "subscriberEmailAddresses")}
    if emails:
        yield f"to {len(emails)} address{'' if len(emails) == 1 else 'es'}"
    if any(is_set(one, "subscriberSnsTopicArns") for one in notifications):
        yield "to a topic"


def _anomalies(resources: Resources) -> Iterator[str]:
    for subscription in resources.of(_ANOMALIES):
        dearer = told(subscription.inputs, "thresholdExpression", "dimension", "values", 0)
        amount = f" of {float(dearer):,.0f} USD and more" if dearer.replace(".", "", 1).isdigit() else ""
        yield f"unusual spending{amount}"
