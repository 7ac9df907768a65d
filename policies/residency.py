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
from trainyard.recorded.types import AWS_PROVIDER, KUBERNETES_PROVIDER

REGION = re.compile(
    r"(?<![a-z0-9-])((?:af|ap|ca|cn|eu|il|me|mx|sa|us)(?:-gov|-iso[a-z]?)?"
    r"-(?:central|north|south|east|west|northeast|northwest|southeast|southwest)-[0-9])(?=[a-z]?(?![a-z0-9]))"
)
"""A region of AWS as it occurs in zones, ARNs, endpoints, registries and mount options, but not inside a name."""

PROSE = frozenset({"tags", "tagsAll", "description", "tagSpecifications"})
REGIME = {
    "regime": {"enum": ["", *regimes()], "default": "", "description": "Empty: the stack's setting residency decides."}
}
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
    """The regime with its regions. Ends the policy where none is chosen."""
    regime = config["regime"] or setting("residency") or "none"
    regions = residency_regions(regime)
    if not regions:
        raise NotApplicable("no residency regime is chosen")
    return regime, regions


@resource_rule(
    "region-outside-residency",
    "Everything that has a region is in a region of the chosen residency regime.",
    types=("aws:*", "gcp:*", "kubernetes:*", AWS_PROVIDER, KUBERNETES_PROVIDER),
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
    if resource.type.startswith("gcp:"):
        place = value_at(resource.inputs, "location") or value_at(resource.inputs, "region", default="")
        place = str(place).lower()
        if place and re.sub(r"-[a-z]$", "", place) not in allowed:
            yield f"location {place} is outside {regime}"
        return
    outside: dict[str, str] = {}
    for path, text in known_texts(resource.inputs, exclude=PROSE):
        for region in REGION.findall(text):
            if region not in allowed:
                outside.setdefault(region, path)
    for region, path in outside.items():
        yield f"{path} names {region}; {regime} allows {', '.join(allowed)}"


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
    if str(value_at(resource.inputs, "location", default="")).upper() in ("US", "EU", "ASIA"):
        yield f"location {value_at(resource.inputs, 'location')} is a continent, not a region"
