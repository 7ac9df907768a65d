"""Where teams' images may come from, and what the plan says of registries that are everybody's."""

from __future__ import annotations

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.catalog import pins
from trainyard.plan.registries import repository


@pytest.mark.parametrize(
    ("registry", "told"),
    [("docker.io", True), ("quay.io", True), ("docker.io/pytorch", False), ("registry.acme.example", False)],
)
def test_a_registry_where_anybody_publishes_is_called_so(registry, told):
    plan = plan_of(images=keys(allowed_registries=[registry]))
    assert registry in plan.core.allowed_images
    said = {decision.key: decision.source for decision in plan.core.decisions}["images.allowed_registries"]
    assert (f"at {registry} anybody publishes" in said) == told


@pytest.mark.parametrize("looks", [True, False])
def test_without_a_smoke_job_its_image_is_that_of_the_looks_at_checkpoints(looks):
    """They run it in the namespaces of teams, and without them nothing does."""
    plan = plan_of(
        cloud="gcp",
        region="us-central1",
        gcp=keys(project="acme-ml", project_number="123456789012"),
        smoke=keys(enabled=False),
        monitoring=keys(checkpoint_drill=looks, checkpoint_check=looks),
    )
    [cluster] = plan.clusters
    images = {look.image for look in (cluster.drill, cluster.check) if look is not None}
    assert bool(images) == looks
    assert all(repository(image) in plan.core.allowed_images for image in images)
    smoke = repository(pins().image("smoke"))
    assert (smoke in plan.core.allowed_images) == looks
