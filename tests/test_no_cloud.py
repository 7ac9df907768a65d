"""What stands on any ground names no cloud's service: neither in its code nor in its words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.shared import ROOT

OF_A_CLOUD = re.compile(
    r"(?<![a-z0-9])(aws|amazon\w*|boto3|eks|ec2|s3|efs|fsx|efa|odcr|rds|iam|arn|vpc|ecr|kms|secrets ?manager"
    r"|gcp|gke|google|gcs)(?![a-z0-9])",
    re.IGNORECASE,
)

NEUTRAL = sorted(
    {
        *(ROOT / "components" / "k8s").rglob("*.py"),
        *(ROOT / "stacks").glob("*.py"),
        *(ROOT / "stacks" / "environment").glob("*.py"),
        *(ROOT / "trainyard" / "plan").glob("*.py"),
        ROOT / "trainyard" / "conventions" / "__init__.py",
        *(ROOT / "smoke_jobs" / "launch").glob("*.py"),
    }
    - {ROOT / "smoke_jobs" / "launch" / name for name in ("gcp_fabrics.py", "sagemaker.py", "vertex.py")}
)

ALLOWED = {
    # Signs what is asked of the one service that keeps figures, and runs in a pod, without the package.
    "components/k8s/keepers/figures_reader.py": {"amazon", "aws", "eks", "iam"},
    "components/k8s/smoke.py": {"s3", "boto3", "gcp"},  # the worker's stores and what it needs for them; a module
    "smoke_jobs/launch/extras.py": {"aws", "gcp", "google"},  # names of the distribution's extras
    "smoke_jobs/launch/job.py": {"s3", "efa", "gcp"},  # values of the worker's options; the module that has more
    "smoke_jobs/launch/kubernetes.py": {"gcp"},  # the module that has the fabrics of one
    "smoke_jobs/launch/local.py": {"s3", "boto3"},  # what the worker needs for one of the stores that it can write to
    "stacks/environment/build.py": {"aws", "gcp"},  # picks the ground
    "stacks/environment/encrypted.py": {"arn"},  # says what a component makes of a name
    "trainyard/conventions/__init__.py": {"aws", "gcp", "google"},  # the clouds themselves; whose chips TPUs are
    "trainyard/plan/defaults.py": {"aws", "gcp", "google"},  # stack files to ask the planner with
    "trainyard/plan/images.py": {"ecr", "aws", "amazon"},  # registries where whoever likes publishes images
    "trainyard/plan/make.py": {"aws", "gcp", "s3"},  # picks the ground's planner; names have to suit every store
    "trainyard/plan/monitoring.py": {"aws"},  # where alone the cloud's own service is built
    "trainyard/plan/resolve.py": {"aws", "eks"},  # whose versions end by a date that the catalogue has
    "trainyard/plan/slices.py": {"aws", "eks", "gke"},  # whose nodes can reset a GPU
    "trainyard/plan/team_budgets.py": {"gcp"},  # the family of a type, which each ground spells in its own way
    "trainyard/plan/parts.py": {"aws", "gcp", "efa"},  # what a ground is one of; a fabric's name
}


def words(text: str) -> set[str]:
    return {found.group(1).lower() for found in OF_A_CLOUD.finditer(text)}


@pytest.mark.parametrize("file", NEUTRAL, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_cloud_is_named(file: Path) -> None:
    assert words(file.read_text()) == ALLOWED.get(str(file.relative_to(ROOT)), set())


@pytest.mark.parametrize("text", ["s3://bucket", "vpc.amazonaws.com/", "secret_arn", "efa_interfaces", "AWS_REGION"])
def test_the_words_are_found_where_they_are(text: str) -> None:
    assert words(text)
