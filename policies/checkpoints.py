"""Checkpoints: a spot reclaim must cost minutes, and no rule may delete what a run would resume from."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from pulumi_policy import Severity

from trainyard.conventions import CHECKPOINTS_CLAIM
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NODE_GROUP_PARTS, gpu_node_groups
from trainyard.recorded.read import is_set, list_at, number_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import BUCKET, GCP_BUCKET, LIFECYCLE, NAMESPACE, VOLUME, VOLUME_CLAIM

BUCKETS = (BUCKET, GCP_BUCKET)


@stack_rule(
    "spot-pool-without-checkpoint-tier",
    "Where nodes can be reclaimed, every team needs a volume on a bucket for its checkpoints.",
    types=(*NODE_GROUP_PARTS, NAMESPACE, VOLUME_CLAIM, VOLUME, *BUCKETS),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.13", "NIST 800-53r5 CP-9"),
    fix="Keep the storage tiers and the team volumes, or set gpuPools.<pool>.spot.maxNodes to 0.",
    config={
        "claim": {"type": "string", "default": CHECKPOINTS_CLAIM, "description": "Name of the claim in a namespace."}
    },
)
def spot_pool_without_checkpoint_tier(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A claim counts when its volume is made of a bucket of the stack."""
    spot = [group for group in gpu_node_groups(resources) if group.capacity == "spot" and group.gpus]
    if not spot:
        raise NotApplicable("no spot GPU pool")
    buckets = resources.of(*BUCKETS)
    volumes = {
        value_at(volume.inputs, "metadata", "name")
        for volume in resources.of(VOLUME)
        if any(refers(volume, "spec", bucket) for bucket in buckets)
    }
    claims = {
        value_at(claim.inputs, "metadata", "namespace")
        for claim in resources.of(VOLUME_CLAIM)
        if value_at(claim.inputs, "metadata", "name") == config["claim"]
        and value_at(claim.inputs, "spec", "volumeName") in volumes
    }
    teams = team_namespaces(resources)
    if not teams:
        yield spot[0].resource, f"{spot[0].name} can be reclaimed, and no team has a volume for checkpoints"
    for team in teams:
        name = value_at(team.inputs, "metadata", "name")
        if name not in claims:
            yield team, f"{name} has no claim {config['claim']!r} on a bucket, but {spot[0].name} can be reclaimed"


@resource_rule(
    "lifecycle-deletes-newest-version",
    "A lifecycle rule may expire superseded versions; the newest version of an object is never deleted by age.",
    types=(LIFECYCLE, BUCKETS[1]),
    severity=Severity.CRITICAL,
    controls=("ISO 27001:2022 A.8.10", "NIST 800-53r5 CP-9"),
    fix="Leave storage.checkpointExpireDays and artifactRetentionDays to superseded versions.",
    config={
        "expiringBuckets": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["*-logs-lifecycle", "*-logs"],
            "description": "Logical names whose objects may be deleted by age (globs).",
        },
        "keptCheckpoints": {
            "type": "number",
            "minimum": 1,
            "default": 2,
            "description": "Superseded versions of a checkpoint that the first rule to expire them must leave.",
        },
    },
)
def lifecycle_deletes_newest_version(resource: RecordedResource, config: Config) -> Iterator[str]:
    """The newest checkpoint may be the one that the failure damaged, so some before it must stay for a while too."""
    if any(fnmatchcase(resource.name, pattern) for pattern in config["expiringBuckets"]):
        return
    if resource.type == BUCKETS[1]:
        for rule in list_at(resource.inputs, "lifecycleRules"):
            if value_at(rule, "action", "type") == "Delete" and not _superseded_alone(rule):
                yield "a lifecycle rule deletes live objects (no numNewerVersions)"
        yield from _kept_by_google(resource, config)
        return
    rules = [rule for rule in list_at(resource.inputs, "rules") if value_at(rule, "status") == "Enabled"]
    for rule in rules:
        if is_set(rule, "expiration", "days") or is_set(rule, "expiration", "date"):
            yield f"rule {value_at(rule, 'id')} deletes current objects by age"
    expiring = [value_at(rule, "noncurrentVersionExpiration") for rule in rules]
    expiring = sorted((found for found in expiring if found), key=lambda found: number_at(found, "noncurrentDays"))
    if "checkpoint" in resource.name and expiring:
        kept = number_at(expiring[0], "newerNoncurrentVersions", default=0)
        if kept < config["keptCheckpoints"]:
            yield f"of superseded checkpoints {kept:.0f} are kept; at least {config['keptCheckpoints']:.0f} must be"


def _superseded_alone(rule: Any) -> bool:
    """Whether a rule of Google's is for versions that a newer one has superseded."""
    conditions = ("numNewerVersions", "daysSinceNoncurrentTime", "noncurrentTimeBefore")
    archived = value_at(rule, "condition", "withState") == "ARCHIVED"
    return archived or any(is_set(rule, "condition", key) for key in conditions)


def _kept_by_google(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Conditions of one rule hold together, rules each by itself: the one that leaves the fewest versions counts."""
    counts = [
        number_at(rule, "condition", "numNewerVersions")
        for rule in list_at(resource.inputs, "lifecycleRules")
        if value_at(rule, "action", "type") == "Delete" and is_set(rule, "condition", "numNewerVersions")
    ]
    if "checkpoint" in resource.name and counts and min(counts) < config["keptCheckpoints"]:
        yield (
            f"of superseded checkpoints {min(counts):.0f} are kept; at least {config['keptCheckpoints']:.0f} must be"
        )
