"""Breakages of walls in the recorded example stacks, by stack: one change each, which is told."""

from __future__ import annotations

from tests.policies.breakages_aws import AWS_WALLS, LARGE_WALLS, MANAGED_AWS
from tests.policies.breakages_cluster import CLUSTER_WALLS
from tests.policies.breakages_gcp import GCP_WALLS, MANAGED_GCP
from tests.policies.breakages_tracking import TRACKING_WALLS
from tests.policies.mutants import Change

BREAKAGES: dict[str, dict[str, Change]] = {
    "demo": {**CLUSTER_WALLS, **AWS_WALLS, **TRACKING_WALLS},
    "large-aws": LARGE_WALLS,
    "demo-gcp": GCP_WALLS,
    "small-aws": MANAGED_AWS,
    "small-gcp": MANAGED_GCP,
}
