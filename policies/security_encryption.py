"""Security: encryption at rest with the environment's own key."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard import cards
from trainyard.policies.gcs import receives_logs
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, LAUNCH_TEMPLATE
from trainyard.recorded.read import as_number, is_on, is_set, known_texts, list_at, number_at, text_at, value_at
from trainyard.recorded.replicas import is_like_its_source
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_ENCRYPTION,
    BUCKET_LOGGING,
    DATABASE,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GKE_CLUSTER,
    KEY,
    KEY_ALIAS,
    KEYS,
    STORAGE_CLASS,
)

KEY_PROPERTY = {card.type: card.key_input for card in cards.BY_TYPE.values() if card.key_input}
"""The property in which a resource names its key; nested ones by their top level, which is what dependencies have."""


@stack_rule(
    "storage-without-environment-key",
    "Everything at rest is encrypted with a key of the environment.",
    types=(
        *KEY_PROPERTY,
        *KEYS,
        KEY_ALIAS,
        BUCKET,
        BUCKET_ENCRYPTION,
        BUCKET_LOGGING,
        GCP_BUCKET,
        GCP_CRYPTO_KEY,
        GKE_CLUSTER,
        GKE_NODE_POOL,
        STORAGE_CLASS,
    ),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 5.3.1", "NIST 800-53r5 SC-28", "ISO 27001:2022 A.8.24"),
    fix="Pass the environment's key to it; where a key of another stack is meant, name its ARN in keyArns.",
    config={"keyArns": {"type": "array", "items": {"type": "string"}, "default": []}},
)
def storage_without_environment_key(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Judged by what a property is made of, so it holds at a preview, when no key has an ARN yet."""
    for type_, property_ in KEY_PROPERTY.items():
        for resource in resources.of(type_):
            if is_like_its_source(resource) and not is_set(resource.inputs, property_):
                continue  # a replica has its source's key
            if not _keyed(resources, resource, property_, config):
                yield resource, f"{property_} names no key of the environment"
    for template in resources.of(LAUNCH_TEMPLATE):
        for device in list_at(template.inputs, "blockDeviceMappings"):
            if value_at(device, "ebs") is None:
                continue
            if not is_on(device, "ebs", "encrypted"):
                yield template, f"{value_at(device, 'deviceName')} is not encrypted"
            elif not is_set(device, "ebs", "kmsKeyId"):
                yield template, f"{value_at(device, 'deviceName')} names no key"
    for database in resources.of(DATABASE):
        if not is_on(database.inputs, "storageEncrypted") and not is_like_its_source(database):
            yield database, "storageEncrypted is off"
    for bucket in resources.of(BUCKET):
        settings = resources.referring(bucket, "bucket", BUCKET_ENCRYPTION)
        # S3 delivers access logs only to a bucket whose default encryption is the service's own.
        receives_logs = bool(resources.referring(bucket, "targetBucket", BUCKET_LOGGING))
        if not settings or not (receives_logs or any(_default_key(resources, found, config) for found in settings)):
            yield bucket, "default encryption names no key of the environment"
    for kind in resources.of(STORAGE_CLASS):
        parameter = _KEY_OF_DISKS.get(str(value_at(kind.inputs, "provisioner")))
        given = {str(key).lower(): str(key) for key in value_at(kind.inputs, "parameters", default={})}
        if parameter is not None and not is_set(kind.inputs, "parameters", given.get(parameter.lower(), parameter)):
            yield kind, f"parameters.{parameter} is not set: claims of this class get disks without a key"
        if (
            str(value_at(kind.inputs, "parameters", given.get("encrypted", "encrypted"), default="true")).lower()
            == "false"
        ):
            yield kind, "parameters.encrypted is off"
    yield from _on_google_cloud(resources)


_KEY_OF_DISKS = {"ebs.csi.aws.com": "kmsKeyId", "pd.csi.storage.gke.io": "disk-encryption-kms-key"}
"""The parameter in which a class of disks names its key, by driver (the drivers' documentation, as generally known,
2026-11). Drivers compare parameters in small letters."""


def _on_google_cloud(resources: Resources) -> Iterator[StackViolation]:
    """Access logs hold no data of the client: Google's own encryption does for them, as the service's does on AWS."""
    for bucket in resources.of(GCP_BUCKET):
        if not is_set(bucket.inputs, "encryption", "defaultKmsKeyName") and not receives_logs(bucket, resources):
            yield bucket, "encryption.defaultKmsKeyName is not set"
    for cluster in resources.of(GKE_CLUSTER):
        if value_at(cluster.inputs, "databaseEncryption", "state") != "ENCRYPTED":
            yield cluster, "databaseEncryption.state is not ENCRYPTED"
    for pool in resources.of(GKE_NODE_POOL):
        if not is_set(pool.inputs, "nodeConfig", "bootDiskKmsKey"):
            yield pool, "nodeConfig.bootDiskKmsKey names no key: the nodes' disks have Google's"


def _keyed(resources: Resources, resource: RecordedResource, property_: str, config: Config) -> bool:
    keys = resources.of(*KEYS, GCP_CRYPTO_KEY)
    made_of_a_key = any(refers(resource, property_, key) for key in keys) or any(
        refers(resource, property_, alias) and any(refers(alias, "targetKeyId", key) for key in keys)
        for alias in resources.of(KEY_ALIAS)
    )
    return made_of_a_key or any(
        text in config["keyArns"] for _, text in known_texts(value_at(resource.inputs, property_))
    )


def _default_key(resources: Resources, encryption: RecordedResource, config: Config) -> bool:
    """S3 ignores the key of a rule whose algorithm is not that of KMS."""
    defaults = [value_at(rule, "applyServerSideEncryptionByDefault") for rule in list_at(encryption.inputs, "rules")]
    by_key = any(
        str(value_at(found, "sseAlgorithm")).startswith("aws:kms") and is_set(found, "kmsMasterKeyId")
        for found in defaults
    )
    return by_key and _keyed(resources, encryption, "rules", config)


@resource_rule(
    "key-without-rotation",
    "Keys rotate every year and can be taken back for a month after their deletion.",
    types=(KEY, GCP_CRYPTO_KEY),
    severity=Severity.MEDIUM,
    controls=("CIS AWS 3.0.0 3.6", "NIST 800-53r5 SC-12", "ISO 27001:2022 A.8.24"),
    fix="Use the environment's key as it is.",
    config={"minDeletionDays": {"type": "number", "minimum": 7, "maximum": 30, "default": 30}},
)
def key_without_rotation(resource: RecordedResource, config: Config) -> Iterator[str]:
    """AWS waits 30 days where a key does not say, and so does Google. Only a key that encrypts can rotate there."""
    if resource.type == GCP_CRYPTO_KEY:
        yield from _key_on_google_cloud(resource, config)
        return
    if not is_on(resource.inputs, "enableKeyRotation"):
        yield "enableKeyRotation is off"
    days = number_at(resource.inputs, "deletionWindowInDays", default=30)
    if days < config["minDeletionDays"]:
        yield (
            f"is gone {count(round(days), 'day')} after its deletion; at least "
            f"{config['minDeletionDays']:.0f} are required"
        )


_YEAR_SECONDS, _DAY_SECONDS = 365 * 86_400, 86_400


def _key_on_google_cloud(resource: RecordedResource, config: Config) -> Iterator[str]:
    if value_at(resource.inputs, "purpose", default="ENCRYPT_DECRYPT") == "ENCRYPT_DECRYPT":
        period = _seconds(resource, "rotationPeriod")
        if period is None or period > _YEAR_SECONDS:
            yield (
                "rotationPeriod is not set"
                if period is None
                else f"rotates every {count(round(period / _DAY_SECONDS), 'day')}"
            )
    waits = _seconds(resource, "destroyScheduledDuration")
    days = 30.0 if waits is None else waits / _DAY_SECONDS
    if days < config["minDeletionDays"]:
        yield (
            f"is gone {count(round(days), 'day')} after its deletion; at least "
            f"{config['minDeletionDays']:.0f} are required"
        )


def _seconds(resource: RecordedResource, key: str) -> float | None:
    """A duration of Google's, such as 7776000s."""
    text = text_at(resource.inputs, key)
    return as_number(text.removesuffix("s")) if text else None
