"""Amazon's partitions: clouds of their own, whose ARNs begin differently."""

from __future__ import annotations


def partition_of(region: str) -> str:
    """The partition of ARNs in a region (AWS General Reference, "Amazon Resource Names", 2026-11)."""
    prefixes = {
        "cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso-": "aws-iso", "us-isob-": "aws-iso-b",
        "eu-isoe-": "aws-iso-e", "us-isof-": "aws-iso-f", "eusc-": "aws-eusc",
    }  # fmt: skip
    return next((partition for prefix, partition in prefixes.items() if region.startswith(prefix)), "aws")
