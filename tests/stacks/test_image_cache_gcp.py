"""demo-gcp with its images through remote repositories of the project: nothing else comes through them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.rehearsal.works.mistakes import Change, edit
from tests.shared import ROOT
from trainyard.components.k8s.image_guard import expression
from trainyard.recorded.types import ADMISSION_POLICY, HELM_RELEASE
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies

REPOSITORY = "gcp:artifactregistry/repository:Repository"
REGISTRY = "us-central1-docker.pkg.dev/acme-ml"
GUARDS = [f"teams-{kind}-images" for kind in ("pods", "jobs", "jobsets", "trainjobs")]
SETTINGS = {"environment": "demo-gcp", "monthlyBudgetUsd": "70000"}


@pytest.fixture(scope="module")
def run() -> Rehearsal:
    return rehearse(ROOT, "demo-gcp", config_overrides={"images": {"cache": True}})


def violated(run: Rehearsal, change: Change | None = None) -> set[str]:
    known = list(run.known.resources) if change is None else change(run.known.resources)
    return {found.policy for found in check_policies("demo-gcp", run.preview.resources, known, SETTINGS).violations}


def test_all_of_it_is_taken_works_and_breaks_no_policy(run: Rehearsal) -> None:
    assert not run.findings
    assert violated(run) <= {"budget-without-alerts"}, "the settings given here name no budget"


def test_each_registry_has_a_repository_in_the_region_with_a_key_and_labels(run: Rehearsal) -> None:
    made = [found.inputs for found in run.known.resources if found.type == REPOSITORY]
    assert {each["repositoryId"] for each in made} == {
        f"acme-demo-gcp-{suffix}" for suffix in ("hub", "github", "nvidia", "ecr", "quay", "k8s")
    }
    for each in made:
        assert (each["mode"], each["location"]) == ("REMOTE_REPOSITORY", "us-central1")
        assert each["kmsKeyName"] and each["labels"]["client"] == "acme"


def test_no_image_of_ours_comes_from_where_it_is_published(run: Rehearsal) -> None:
    text = json.dumps([found.inputs for found in run.known.resources if found.type != HELM_RELEASE], default=str)
    images = set(re.findall(r"[A-Za-z0-9./_-]+:[A-Za-z0-9._-]+@sha256:", text))
    assert images and all(image.startswith(f"{REGISTRY}/acme-demo-gcp-") for image in images), images


@pytest.mark.parametrize("entry", [REGISTRY, f"{REGISTRY}/acme-demo-gcp-hub"])
def test_a_guard_that_lets_the_cache_by_as_a_whole_is_a_violation(run: Rehearsal, entry: str) -> None:
    def opened(resources: Any) -> Any:
        for guard, kind in zip(GUARDS, ("pods", "jobs", "jobsets", "trainjobs"), strict=True):

            def into(inputs: dict[str, Any], kind: str = kind) -> None:
                inputs["spec"]["validations"][0]["expression"] = expression(kind, [entry])

            resources = edit(ADMISSION_POLICY, guard, into)(resources)
        return resources

    assert "team-images-from-anywhere" in violated(run, opened)


def test_without_a_cache_the_projects_own_registry_is_allowed_as_before(rehearsed: Any) -> None:
    (guard,) = [
        found.inputs
        for found in rehearsed("demo-gcp").known.resources
        if found.type == ADMISSION_POLICY and found.name == GUARDS[0]
    ]
    assert f"{REGISTRY}/" in json.dumps(guard)
