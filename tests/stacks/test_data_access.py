"""Who sees which data, as the settings say: all teams all of them, or each its own part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared import ROOT
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ROLE_POLICY, VOLUME
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies


def demo(**storage: Any) -> Rehearsal:
    made = rehearse(ROOT, "demo", config_overrides={"storage": storage})
    assert not made.errors
    return made


@pytest.fixture(scope="module")
def apart() -> Rehearsal:
    return demo(dataAccess="team", lustre={"enabled": True})


@pytest.fixture(scope="module")
def from_the_bucket() -> Rehearsal:
    return demo(dataAccess="team", lustre={"enabled": False}, sharedFileSystem=True, dataVersionDays=365)


def volume(rehearsal: Rehearsal, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        each.inputs["spec"]
        for each in Resources(rehearsal.resources).of(VOLUME)
        if each.inputs["metadata"]["name"] == name
    )
    return found


def reads(rehearsal: Rehearsal, role: str) -> list[str]:
    policies = {each.name: each.inputs["policy"] for each in Resources(rehearsal.resources).of(ROLE_POLICY)}
    statements = json.loads(policies[f"{role}-role-policy"])["Statement"]
    found: list[str] = next(each["Resource"] for each in statements if each["Sid"] == "Read")
    return found


def test_a_team_sees_its_own_part_in_the_mount_and_in_its_rights(apart: Rehearsal) -> None:
    mounted = volume(apart, "vision-data")["csi"]["volumeAttributes"]["mountname"]
    assert mounted.endswith("/data/teams/vision")
    objects = [each for each in reads(apart, "team-vision") if "-data-" in each]
    assert [each.partition("/")[2] for each in objects] == ["data/teams/vision/*"]
    folders = {each.inputs["key"] for each in apart.resources if each.type == "aws:s3/bucketObjectv2:BucketObjectv2"}
    assert {"data/teams/vision/", "data/teams/language/", "data/teams/tabular/"} <= folders


def test_whoever_ingests_writes_all_of_it(apart: Rehearsal) -> None:
    (objects,) = reads(apart, "ingest")
    assert objects.partition("/")[2] == "data/*"


def test_without_a_fast_file_system_a_team_reads_its_prefix_of_the_bucket(from_the_bucket: Rehearsal) -> None:
    spec = volume(from_the_bucket, "vision-data")
    assert "prefix data/teams/vision/" in spec["mountOptions"]
    assert spec["csi"]["readOnly"] is True
    assert "prefix data/" in volume(from_the_bucket, "ingest-data")["mountOptions"]
    assert "readOnly" not in volume(from_the_bucket, "ingest-data")["csi"]


def test_versions_of_data_are_kept_and_paid_for_as_long_as_the_settings_say(from_the_bucket: Rehearsal) -> None:
    (rules,) = (each.inputs["rules"] for each in from_the_bucket.resources if each.name == "acme-demo-data-lifecycle")
    kept = [rule["noncurrentVersionExpiration"] for rule in rules if "noncurrentVersionExpiration" in rule]
    assert [each["noncurrentDays"] for each in kept] == [365]


def test_both_ways_are_sound(apart: Rehearsal, from_the_bucket: Rehearsal) -> None:
    for made in (apart, from_the_bucket):
        report = check_policies(made.stack, made.preview.resources, made.known.resources, made.settings)
        assert [str(violation) for violation in report.violations] == []


def test_whoever_brings_the_data_in_on_google_cloud_is_named_and_reaches_the_api() -> None:
    """GKE knows no group `ingest`: people are named by their address, as those of a team are."""
    who = ["user:ada@acme.example", "serviceAccount:loader@acme-ml.iam.gserviceaccount.com"]
    made = rehearse(ROOT, "demo-gcp", config_overrides={"storage": {"ingestPrincipals": who}})
    assert not made.errors
    (binding,) = [found for found in made.resources if found.name == "ingest-members"]
    assert [(each["kind"], each["name"]) for each in binding.inputs["subjects"]] == [
        ("Group", "ingest"),
        ("User", "ada@acme.example"),
        ("User", "loader@acme-ml.iam.gserviceaccount.com"),
    ]
    let_in = {
        found.inputs["member"]: found.inputs["role"]
        for found in made.resources
        if found.type == "gcp:projects/iAMMember:IAMMember" and found.name.startswith("ingest-")
    }
    assert let_in == dict.fromkeys(who, "roles/container.clusterViewer")


def test_of_two_names_on_google_cloud_each_is_let_in_once() -> None:
    teams = [{"name": "vision", "members": 8, "principals": ["user:ada@acme.example"]}]
    storage = {"ingestPrincipals": ["user:ada@acme.example"]}
    made = rehearse(ROOT, "demo-gcp", config_overrides={"teams": teams, "storage": storage})
    rights = [found for found in made.resources if found.inputs.get("member") == "user:ada@acme.example"]
    assert [found.name for found in rights] == ["vision-ada@acme.example"]
