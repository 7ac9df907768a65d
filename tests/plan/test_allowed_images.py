"""Where teams' images may come from, and what the plan says of registries that are everybody's."""

from __future__ import annotations

import pytest

from tests.plan.stack_files import keys, plan_of


@pytest.mark.parametrize(
    ("registry", "told"),
    [("docker.io", True), ("quay.io", True), ("docker.io/pytorch", False), ("registry.acme.example", False)],
)
def test_a_registry_where_anybody_publishes_is_called_so(registry, told):
    plan = plan_of(images=keys(allowed_registries=[registry]))
    assert registry in plan.core.allowed_images
    said = {decision.key: decision.source for decision in plan.core.decisions}["images.allowed_registries"]
    assert (f"at {registry} anybody publishes" in said) == told
