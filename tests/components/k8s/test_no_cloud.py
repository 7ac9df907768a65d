"""`components/k8s` stands on any ground, so no name of a cloud's service is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.shared import ROOT

FOLDER = ROOT / "components" / "k8s"
OF_A_CLOUD = re.compile(
    r"(?<![a-z0-9])(aws|amazon\w*|boto3|eks|ec2|s3|efs|fsx|efa|rds|iam|arn|vpc|ecr|kms|secrets ?manager"
    r"|gcp|gke|google|gcs)(?![a-z0-9])",
    re.IGNORECASE,
)
FABRICS = {"smoke.py": {"efa", "s3", "aws", "boto3"}}
"""The smoke job proves a fabric and a store by name: these are values of its worker's options, with their examples."""


def words(text: str) -> set[str]:
    return {found.group(1).lower() for found in OF_A_CLOUD.finditer(text)}


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda file: str(file.relative_to(FOLDER)))
def test_no_cloud_is_named(file: Path) -> None:
    assert words(file.read_text()) <= FABRICS.get(file.name, set())


@pytest.mark.parametrize("text", ["s3://bucket", "vpc.amazonaws.com/", "secret_arn", "efa_interfaces", "AWS_REGION"])
def test_the_words_are_found_where_they_are(text: str) -> None:
    assert words(text)
