"""The image cache on Google Cloud: which images come through it, how they are called then, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.catalog import pins
from trainyard.plan.gcp.image_cache import cached
from trainyard.plan.gcp.parts import GcpPlan, ImageCachePlan
from trainyard.plan.parts import Plan

REGISTRY = "us-central1-docker.pkg.dev/acme-ml"
HERE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": keys(project="acme-ml", project_number="123456789012"),
    "monthlyBudgetUsd": 900_000,
}
DIGEST = f"@sha256:{'0' * 64}"


def with_cache(**images: Any) -> Plan:
    return plan_of(**{**HERE, "images": keys(cache=True, **images)})


def cache_of(plan: Plan) -> ImageCachePlan | None:
    assert isinstance(plan.ground, GcpPlan)
    return plan.ground.image_cache


def test_without_the_setting_every_image_comes_from_where_it_is_published() -> None:
    plan = plan_of(**HERE)
    assert cache_of(plan) is None
    assert plan.core.pins == pins()


def test_registries_are_cached_without_a_login_and_digests_stay() -> None:
    plan = with_cache()
    cache = cache_of(plan)
    assert cache is not None
    assert [(each.name, each.repository) for each in cache.upstreams] == [
        ("docker.io", "acme-production-hub"),
        ("ghcr.io", "acme-production-github"),
        ("nvcr.io", "acme-production-nvidia"),
        ("public.ecr.aws", "acme-production-ecr"),
        ("quay.io", "acme-production-quay"),
        ("registry.k8s.io", "acme-production-k8s"),
    ]
    assert plan.core.pins.image("pytorch") == f"{REGISTRY}/acme-production-hub/{pins().image('pytorch')}"
    assert plan.clusters[0].smoke.image.startswith(f"{REGISTRY}/acme-production-ecr/deep-learning-containers/")
    assert dict(plan.core.pins.chart("kubeflow-trainer").values) == {
        "image.registry": f"{REGISTRY}/acme-production-github"
    }


@pytest.mark.parametrize(
    ("image", "name"),
    [
        (f"python:3{DIGEST}", f"{REGISTRY}/acme-production-hub/library/python:3{DIGEST}"),
        ("localhost:5000/a:1", "localhost:5000/a:1"),
        ("registry.acme.example/a:1", "registry.acme.example/a:1"),
    ],
)
def test_how_an_image_is_called(image: str, name: str) -> None:
    assert cached(image, cache_of(with_cache())) == name
    assert cached(image, None) == image


def test_teams_may_run_what_the_platform_runs_and_not_the_projects_registry_as_a_whole() -> None:
    allowed = with_cache(allowed_registries=[f"{REGISTRY}/images"]).core.allowed_images
    assert f"{REGISTRY}/acme-production-hub/pytorch/pytorch" in allowed
    assert f"{REGISTRY}/images" in allowed
    assert REGISTRY not in allowed


@pytest.mark.parametrize("entry", [REGISTRY, "us-central1-docker.pkg.dev"])
def test_a_list_that_lets_everything_through_the_cache_is_refused(problems: Any, entry: str) -> None:
    found = problems(**{**HERE, "images": keys(cache=True, allowed_registries=[entry])})
    assert "must name repositories" in str(found["images.allowedRegistries[0]"])
