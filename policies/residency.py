"""Residency: with a regime chosen, everything is in its regions, and nothing is global without saying so.

The regime is the stack's setting `residency`, or the configuration `regime` where somebody else decides. What may not
have a region (budgets, IAM, images of public registries) holds no data of the client and is not judged; that budgets,
cost tools and alerts by mail leave the region is told by the plan (`residency.leaves`). Where Pulumi keeps the state is
`residency_state`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pulumi_policy import Severity

from trainyard.catalog import regimes, residency_regions
from trainyard.policies.rules import Config, NotApplicable, resource_rule
from trainyard.policies.stack_settings import setting
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, known_texts, list_at, value_at
from trainyard.recorded.resources import matches
from trainyard.recorded.types import (
    AWS_PROVIDER,
    CLOUD_SQL,
    GCP_BUCKET,
    GCP_PROVIDER,
    GCP_SECRET,
    GCP_TOPIC,
    KUBERNETES_PROVIDER,
)

REGION = re.compile(
    r"(?<![a-z0-9-])((?:af|ap|ca|cn|eu|il|me|mx|sa|us)(?:-gov|-iso[a-z]?)?"
    r"-(?:central|north|south|east|west|northeast|northwest|southeast|southwest)-[0-9])(?=[a-z]?(?![a-z0-9]))"
)
"""A region of AWS as it occurs in zones, ARNs, endpoints, registries and mount options, but not inside a name."""

GCP_REGION = re.compile(
    r"(?<![a-z0-9-])((?:africa|asia|australia|europe|me|northamerica|southamerica|us)"
    r"-(?:central|north|south|east|west|northeast|northwest|southeast|southwest)[0-9]{1,2})(?![a-z0-9])"
)
"""A region of Google Cloud in a text; in a zone, a letter follows it after a hyphen."""

SEVERAL = re.compile(r"us|eu|asia|europe|global|[a-z]+[0-9]|[a-z]+-multi", re.IGNORECASE)
"""Locations of Google's that are more than a region: continents, pairs (eur4, nam4, asia1) and the whole world."""

PROSE = frozenset({"tags", "tagsAll", "description", "tagSpecifications", "labels", "resourceLabels", "userLabels"})
REGIME = {
    "regime": {"enum": ["", *regimes()], "default": "", "description": "Empty: the stack's setting residency decides."}
}
EVERYWHERE = ("gcp:iap/*", "gcp:gkehub/*")
"""Types of Google's that have a location, which may be the world, and hold no data of the client."""

GLOBAL = (
    "aws:cloudfront/*",
    "aws:globalaccelerator/*",
    "aws:ecrpublic/*",
    "aws:ecr/replicationConfiguration:*",
    "aws:kms/replicaKey:*",
    "aws:dynamodb/globalTable:*",
    "aws:rds/globalCluster:*",
    "aws:s3/bucketReplicationConfig:*",
    "aws:s3/bucketAccelerateConfiguration:*",
    "aws:s3control/multiRegionAccessPoint:*",
)
"""Types whose purpose is to keep data in more places than one, or in none that has a name."""


def allowed_regions(config: Config) -> tuple[str, tuple[str, ...]]:
    """The regime with its regions of every cloud. Ends the policy where none is chosen."""
    regime = config["regime"] or setting("residency") or "none"
    if regime == "none":
        raise NotApplicable("no residency regime is chosen")
    return regime, tuple(region for cloud in ("aws", "gcp") for region in residency_regions(regime, cloud))


@resource_rule(
    "region-outside-residency",
    "Everything that has a region is in a region of the chosen residency regime.",
    types=("aws:*", "gcp:*", "kubernetes:*", AWS_PROVIDER, GCP_PROVIDER, KUBERNETES_PROVIDER),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SA-9(5)", "ISO 27001:2022 A.5.34", "ISO 27001:2022 A.5.23"),
    fix="Set region (and network.zones) to one that residency allows.",
    config=REGIME,
)
def region_outside_residency(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Looks for regions in every text: own and provider's region, zones, ARNs, endpoints, registries, mount options.

    An unknown text comes from another resource, which is judged itself.
    """
    regime, allowed = allowed_regions(config)
    if resource.type == AWS_PROVIDER and not is_set(resource.inputs, "region"):
        yield "the provider names no region: the environment of whoever deploys decides"
    if resource.type.startswith("gcp:") and not matches(resource.type, EVERYWHERE):
        place = str(value_at(resource.inputs, "location", default=""))
        if SEVERAL.fullmatch(place):
            yield f"location {place.lower()} is outside {regime}"
    outside: dict[str, str] = {}
    for path, text in known_texts(resource.inputs, exclude=PROSE):
        # A location of Google's may be written in capitals.
        for region in (*REGION.findall(text), *GCP_REGION.findall(text.lower() if path == "location" else text)):
            if region not in allowed:
                outside.setdefault(region, path)
    for region, path in outside.items():
        google = GCP_REGION.fullmatch(region) is not None
        own = [each for each in allowed if (GCP_REGION.fullmatch(each) is not None) == google]
        yield f"{path} names {region}; {regime} allows {', '.join(own) or 'no region of that cloud'}"


@resource_rule(
    "silently-global-resource",
    "With a residency regime chosen, nothing is replicated or served worldwide.",
    types=("aws:*", "gcp:*"),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SA-9(5)", "ISO 27001:2022 A.5.34"),
    fix="Keep the copy in the region, or write the transfer down as an exception.",
    config=REGIME,
)
def silently_global_resource(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Global types, keys and secrets with replicas, buckets of a whole continent."""
    regime, _ = allowed_regions(config)
    if any(fnmatchcase(resource.type, pattern) for pattern in GLOBAL):
        yield f"{resource.type} keeps or serves data outside any one region, {regime} or not"
    if is_on(resource.inputs, "multiRegion"):
        yield "multiRegion: the key can be replicated to any region"
    if list_at(resource.inputs, "replicas") and resource.type.startswith("aws:secretsmanager/"):
        yield "replicas in other regions"
    if resource.type.startswith("gcp:"):
        yield from _silently_global_on_google_cloud(resource)


def _silently_global_on_google_cloud(resource: RecordedResource) -> Iterator[str]:
    """Defaults that leave the region without a word: backups, secrets, topics and images (facts of 2026-11-22)."""
    inputs, kind = resource.inputs, resource.type.partition("/")[0]
    place = str(value_at(inputs, "location", default=""))
    if SEVERAL.fullmatch(place) and not matches(resource.type, EVERYWHERE):
        what = "of everywhere" if place.lower() == "global" else "a continent or a pair of regions"
        yield f"location {place} is {what}, not a region"
    backups = value_at(inputs, "settings", "backupConfiguration") if resource.type == CLOUD_SQL else None
    if is_on(backups, "enabled") and not is_set(backups, "location"):
        yield "settings.backupConfiguration.location is not set: backups are kept in several regions"
    if resource.type == GCP_SECRET and value_at(inputs, "replication", "auto") is not None:
        yield "replication.auto: Google copies the secret wherever it likes"
    stored = is_set(inputs, "messageStoragePolicy", "allowedPersistenceRegions")
    if resource.type == GCP_TOPIC and not stored:
        yield "messageStoragePolicy is not set: messages are stored wherever they come in"
    if kind == "gcp:bigquery" and resource.type.endswith(":Dataset") and not place:
        yield "location is not set: a dataset is in the United States"
    if resource.type == GCP_BUCKET and not place:
        yield "location is not set: a bucket is in the United States"
