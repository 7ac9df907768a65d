"""Checkov finds nothing in what components and example stacks on Google Cloud make, but what is written down here with
its reason.

Checkov is no dependency of the project: `make checkov` fetches the version of these findings into a folder of its own.
What the translation says is tested without it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.checkov.terraform import TYPES, snake, terraform
from tests.components.gcp.environment import recorded
from tests.conftest import EXAMPLES, MANAGED_ON_GOOGLE
from tests.shared import ROOT
from tests.stacks.tracking_on_run import stack_file
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.rehearse import rehearse

CHECKOV = os.environ.get("CHECKOV") or shutil.which("checkov")
needs_checkov = pytest.mark.skipif(CHECKOV is None, reason="checkov is not installed: make checkov")

EXCEPTIONS = {
    ("CKV_GCP_6", "google_sql_database_instance.{name}-mlflow"): (
        "ENCRYPTED_ONLY refuses plain connections; Checkov takes client certificates alone, which MLflow has none of: "
        "it logs in with a password of Secret Manager's over TLS"
    ),
    ("CKV_GCP_9", "google_container_node_pool.{flex}"): (
        "GKE refuses automatic repair on flex-start: a node that is mended would be one that nobody has queued for"
    ),
    ("CKV_GCP_62", "google_storage_bucket.{name}-logs"): "it is where access is logged",
    ("CKV_GCP_78", "google_storage_bucket.{name}-logs"): (
        "nobody overwrites or deletes an access log in its time (retention_policy), which excludes versions"
    ),
    ("CKV_GCP_66", "google_container_cluster.cluster-cluster"): (
        "Binary Authorization enforces a policy of the whole project, in which nothing of this environment is allowed "
        "unless somebody writes it there; admission policies of the cluster hold images to registries and digests"
    ),
}
"""Why a finding stays, by check and resource; `{name}` is the environment's name, `{flex}` each node pool of
flex-start."""
ENVIRONMENTS = {
    "demo-gcp": ("acme-demo-gcp", ()),
    "large-gcp": (
        "northwind-production",
        ("gpu-nodes-train-flex-start", "tpu-slices-v6e-flex-start-1", "tpu-slices-v6e-flex-start-2"),
    ),
    "eu-gcp": ("lumen-bio-production", ()),
    "small-gcp": ("hooli-research", ()),
}
"""By example: the environment's name, and its node pools of flex-start."""

OF_MANAGED = {("CKV2_GCP_18", "google_compute_network.network-vpc")}
"""Findings in managed training alone: its network has no rule of a firewall, since nobody is let in."""

OF_CLUSTERS = ("google_container_", "google_sql_")
"""Beginnings of the resources that managed training has none of."""


def justified(name: str, flex: Sequence[str], *, clusters: bool = True) -> set[tuple[str, str]]:
    """The findings that an environment has a reason for."""
    return {
        (check, on.format(name=name, flex=pool))
        for check, on in EXCEPTIONS
        for pool in (flex if "{flex}" in on else ("",))
        if clusters or not on.startswith(OF_CLUSTERS)
    } | (set() if clusters else OF_MANAGED)


JUSTIFIED = justified("acme-demo", ("gpu-nodes-train-flex",))
"""Those of the components' own environment."""


@pytest.fixture(scope="module")
def resources() -> list[RecordedResource]:
    return list(recorded().resources)


def failed(resources: list[RecordedResource], folder: Path, passed: int = 100) -> set[tuple[str, str]]:
    """Check and resource of what Checkov finds; more than `passed` checks find nothing."""
    (folder / "main.tf").write_text(terraform(resources), encoding="utf-8")
    command = [str(CHECKOV), "-d", str(folder), "--framework", "terraform", "-o", "json", "--skip-download", "--quiet"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    report: dict[str, Any] = json.loads(said.stdout)
    assert report["summary"]["parsing_errors"] == 0 and report["summary"]["passed"] > passed
    return {(found["check_id"], found["resource"]) for found in report["results"]["failed_checks"]}


@needs_checkov
def test_checkov_finds_nothing_that_is_not_written_down(resources: list[RecordedResource], tmp_path: Path) -> None:
    assert failed(resources, tmp_path) == JUSTIFIED


@needs_checkov
@pytest.mark.parametrize("stack", ENVIRONMENTS)
def test_it_finds_nothing_else_in_a_whole_stack(rehearsed: Any, stack: str, tmp_path: Path) -> None:
    """Every resource that a stack of an example would make, with the values that a rehearsal gives it."""
    clusters = stack not in MANAGED_ON_GOOGLE
    # Managed training has neither clusters nor a database, which have most of the checks.
    found = failed(list(rehearsed(stack).known.resources), tmp_path, passed=100 if clusters else 50)
    assert found == justified(*ENVIRONMENTS[stack], clusters=clusters)


@needs_checkov
def test_it_finds_nothing_else_in_a_tracking_server_on_cloud_run(tmp_path: Path) -> None:
    """What no example has: MLflow on Cloud Run, with the database of a cluster's server."""
    found = failed(list(rehearse(ROOT, stack_file(tmp_path / "stack")).known.resources), tmp_path, passed=60)
    database = {("CKV_GCP_6", "google_sql_database_instance.hooli-research-mlflow")}
    assert found == justified("hooli-research", (), clusters=False) | database


def test_every_example_on_google_cloud_is_looked_at() -> None:
    on_google = {stack for stack in EXAMPLES if stack.endswith("-gcp")}
    assert set(ENVIRONMENTS) == on_google


@needs_checkov
def test_the_translation_hides_nothing_from_it(resources: list[RecordedResource], tmp_path: Path) -> None:
    """Four walls taken down, in arguments, in blocks, in repeated blocks and in what others refer to."""

    def weakened(resource: RecordedResource) -> RecordedResource | None:
        inputs = dict(resource.inputs)
        if resource.name == "acme-demo-data" and resource.type.endswith(":Bucket"):
            inputs["publicAccessPrevention"] = "inherited"
        if resource.name == "cluster-cluster":
            inputs["privateClusterConfig"] = None
        if resource.name == "network-webhooks":
            inputs |= {"sourceRanges": ["0.0.0.0/0"], "allows": [{"protocol": "tcp", "ports": ["22"]}]}
        if resource.name == "gpu-nodes-tune-spot":
            inputs["nodeConfig"] = {**inputs["nodeConfig"], "shieldedInstanceConfig": {"enableSecureBoot": False}}
        return replace(resource, inputs=inputs)

    found = failed([each for each in map(weakened, resources) if each is not None], tmp_path) - JUSTIFIED
    assert {check for check, _ in found} >= {"CKV_GCP_114", "CKV_GCP_64", "CKV_GCP_2", "CKV_GCP_68"}


def test_blocks_maps_lists_and_references_are_told_apart(resources: list[RecordedResource]) -> None:
    text = terraform(resources)
    pool = text.partition('resource "google_container_node_pool" "gpu-nodes-tune-spot" {')[2].partition("\n}")[0]
    assert "  node_config {\n" in pool and '    machine_type = "g2-standard-48"' in pool
    assert pool.count("    taint {\n") == 2 and pool.count("    guest_accelerator {\n") == 1
    assert '"ml.platform/pool" = "tune"' in pool and "resource_labels = {" in pool
    assert "cluster = google_container_cluster.cluster-cluster.id" in pool
    assert "network = google_compute_network.network-vpc.id" in text
    protected = [each for each in resources if each.protect and each.type in TYPES]
    assert text.count("prevent_destroy = true") == len(protected) > 5


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("enablePrivateNodes", "enable_private_nodes"), ("ipv4Enabled", "ipv4_enabled"), ("name", "name")],
)
def test_arguments_are_spelt_as_terraform_spells_them(ours: str, theirs: str) -> None:
    assert snake(ours) == theirs


def test_no_secret_is_written(resources: list[RecordedResource]) -> None:
    text = terraform(resources)
    assert "password" not in text.lower().replace("acme-demo-mlflow-password", "")
