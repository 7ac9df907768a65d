"""Where things are kept, what runs for all teams, and the budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, steps
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import SUBNET
from trainyard.review.reports.picture.model import UNTOLD, Budget, Service, Store
from trainyard.review.reports.picture.network import zone_of
from trainyard.review.reports.picture.told import count, entries, number, on, purpose, texts, told

PROTECTED: Final = "protected"
OWN_KEY: Final = "encrypted, own key"
"""What keeps a store safe: it cannot be deleted by mistake, and is encrypted with a key of its own stack."""

_KEY = "aws:kms/key:Key"
BUCKET = "aws:s3/bucket:Bucket"
_BUCKET_ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
_BUCKET_VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
_BUCKET_LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
_BUCKET_KEY = "rules[0].applyServerSideEncryptionByDefault.kmsMasterKeyId"
GOOGLE_BUCKET = "gcp:storage/bucket:Bucket"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
_LUSTRE_LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
EFS = "aws:efs/fileSystem:FileSystem"
DATABASE = "aws:rds/instance:Instance"
GOOGLE_DATABASE = "gcp:sql/databaseInstance:DatabaseInstance"
_DEPLOYMENT = "kubernetes:apps/v1:Deployment"
_MANAGED_MLFLOW = "aws:sagemaker/mlflowTrackingServer:MlflowTrackingServer"
BUDGET = "aws:budgets/budget:Budget"
_ANOMALIES = "aws:costexplorer/anomalySubscription:AnomalySubscription"
DRAWN = (
    *(_KEY, BUCKET, _BUCKET_ENCRYPTION, _BUCKET_VERSIONING, _BUCKET_LIFECYCLE, GOOGLE_BUCKET, LUSTRE, _LUSTRE_LINK),
    *(EFS, DATABASE, GOOGLE_DATABASE, _MANAGED_MLFLOW, BUDGET, _ANOMALIES),
)
"""Types that the picture shows, here and below; of deployments, the MLflow server's."""

_PERIODS = {"DAILY": "a day", "MONTHLY": "a month", "QUARTERLY": "a quarter", "ANNUALLY": "a year"}


def stores(resources: Resources) -> Iterator[Store]:
    """Buckets and file systems."""
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
    for bucket in resources.of(GOOGLE_BUCKET):
        facts = [fact for fact in (told(bucket.inputs, "location"), told(bucket.inputs, "storageClass")) if fact]
        yield Store(bucket.urn, purpose(bucket), "GCS bucket", tuple(facts), (PROTECTED,) if bucket.protect else ())


def _lustre(file_system: RecordedResource, resources: Resources) -> Store:
    inputs = file_system.inputs
    capacity, each = number(inputs, "storageCapacity"), number(inputs, "perUnitStorageThroughput")
    facts = [f"{capacity:,.0f} GiB" if capacity is not None else f"{UNTOLD} GiB"]
    if each is not None and capacity is not None:
        facts.append(f"{capacity / 1024 * each:,.0f} MB/s")
    subnets = resources.referred(file_system, "subnetIds", SUBNET)
    facts += dict.fromkeys(zone_of(subnet) for subnet in subnets)
    for link in resources.of(_LUSTRE_LINK):
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
    return OWN_KEY if resources.referred(resource, key, _KEY) else "encrypted, a key of another program"


def _bucket(bucket: RecordedResource, resources: Resources) -> Store:
    facts: list[str] = []
    versioning = _about(bucket, _BUCKET_VERSIONING, resources)
    if any(told(one.inputs, "versioningConfiguration", "status") == "Enabled" for one in versioning):
        facts.append("versioned")
    for lifecycle in _about(bucket, _BUCKET_LIFECYCLE, resources):
        for rule in entries(lifecycle.inputs, "rules"):
            days = number(rule, "expiration", "days")
            old = number(rule, "noncurrentVersionExpiration", "noncurrentDays")
            kept = number(rule, "noncurrentVersionExpiration", "newerNoncurrentVersions")
            if days is not None:
                facts.append(f"objects go after {count(days, 'day')}")
            elif old is not None:
                facts.append(f"old versions go after {count(old, 'day')}" + (f", {kept:g} newest stay" if kept else ""))
    marks = [PROTECTED] if bucket.protect else []
    for encryption in _about(bucket, _BUCKET_ENCRYPTION, resources):
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
    for database in resources.of(GOOGLE_DATABASE):
        kind = told(database.inputs, "databaseVersion") or UNTOLD
        facts = [told(database.inputs, "settings", "tier") or UNTOLD]
        yield Store(database.urn, database.name, kind, tuple(facts), (PROTECTED,) if database.protect else ())


def services(resources: Resources) -> Iterator[Service]:
    """MLflow servers, self-managed or the cloud's."""
    for server in resources.of(_MANAGED_MLFLOW):
        size = told(server.inputs, "trackingServerSize")
        yield Service(server.urn, "MLflow", tuple(filter(None, ("managed by SageMaker", size and f"size {size}"))))
    for deployment in resources.of(_DEPLOYMENT):
        image = _mlflow_image(deployment)
        if image:
            tag = image.split("@")[0].rpartition("/")[2].partition(":")[2]
            replicas = told(deployment.inputs, "spec", "replicas") or "1"
            facts = (f"version {tag}" if tag else "", f"{replicas} replica{'' if replicas == '1' else 's'}")
            yield Service(deployment.urn, "MLflow", tuple(filter(None, facts)))


def _mlflow_image(deployment: RecordedResource) -> str:
    """The image of the first container that serves MLflow; empty where none does. Without a port it serves nothing."""
    containers = entries(deployment.inputs, "spec", "template", "spec", "containers")
    images = (told(container, "image") for container in containers if entries(container, "ports"))
    return next((image for image in images if "mlflow" in image.split("@")[0].rpartition("/")[2]), "")


def budgets(resources: Resources) -> Iterator[Budget]:
    """Budgets with their thresholds, and who hears of them."""
    for budget in resources.of(BUDGET):
        notifications = entries(budget.inputs, "notifications")
        found = ((number(one, "threshold"), one) for one in notifications)
        thresholds = tuple(
            (percent, told(one, "notificationType") == "FORECASTED") for percent, one in found if percent is not None
        )
        unit = told(budget.inputs, "limitUnit") or UNTOLD
        facts = [*_subscribers(notifications), *_anomalies(resources)]
        period = _PERIODS.get(told(budget.inputs, "timeUnit"), "")
        yield Budget(budget.urn, number(budget.inputs, "limitAmount"), unit, period, thresholds, tuple(facts))


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
