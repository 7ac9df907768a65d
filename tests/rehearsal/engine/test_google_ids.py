"""Ids and names that types of Google Cloud without a card get, and that the table is the SDK's own."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from trainyard.rehearsal.engine import google_ids
from trainyard.rehearsal.engine.synthesised import Place, Subject, identity, of_google


def subject(type_: str, name: str = "one", **inputs: Any) -> Subject:
    return Subject(type_, name, inputs, Place(region="europe-west4"))


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        ("gcp:pubsub/topic:Topic", {}, "projects/rehearsal/topics/one"),
        ("gcp:pubsub/topic:Topic", {"name": "told", "project": "acme"}, "projects/acme/topics/told"),
        ("gcp:bigquery/dataset:Dataset", {"datasetId": "events"}, "projects/rehearsal/datasets/events"),
        (
            "gcp:compute/regionHealthCheck:RegionHealthCheck",
            {},
            "projects/rehearsal/regions/europe-west4/healthChecks/one",
        ),
        (
            "gcp:iam/workloadIdentityPool:WorkloadIdentityPool",
            {"workloadIdentityPoolId": "github"},
            "projects/rehearsal/locations/global/workloadIdentityPools/github",
        ),
        (
            "gcp:compute/attachedDisk:AttachedDisk",
            {"disk": "projects/p/zones/z/disks/data", "instance": "node", "zone": "europe-west4-a"},
            "projects/rehearsal/zones/europe-west4-a/instances/node/data",
        ),
        ("gcp:nobody/knows:Knows", {}, None),
    ],
)
def test_an_id_is_as_the_provider_has_it(type_: str, inputs: dict[str, Any], expected: str | None) -> None:
    made = identity(subject(type_, **inputs))
    assert made == expected if expected else made.startswith("one-")


def test_no_field_of_a_form_is_left_in_an_id() -> None:
    kept = json.loads(Path(google_ids.__file__).with_name("google_ids.json").read_text(encoding="utf-8"))
    assert [type_ for type_ in kept if "{" in str(google_ids.identity(subject(type_), "europe-west4", "acme-ml"))] == []


def test_a_name_in_full_is_the_id_and_in_iam_has_the_projects_number() -> None:
    pool = subject("gcp:iam/workloadIdentityPool:WorkloadIdentityPool", workloadIdentityPoolId="github")
    assert of_google("name", pool) == "projects/555512345678/locations/global/workloadIdentityPools/github"
    assert of_google("name", subject("gcp:pubsub/topic:Topic")) is None  # its name is the one that was given


def test_the_table_is_what_the_sdk_says() -> None:
    """A share of its pages: all of them are read when the table is written."""
    where = find_spec("pulumi_gcp")
    assert where is not None and where.origin is not None
    kept = json.loads(Path(google_ids.__file__).with_name("google_ids.json").read_text(encoding="utf-8"))
    written = google_ids.written(Path(where.origin).parent / "pubsub")
    assert written and written == {type_: form for type_, form in kept.items() if type_ in written}
