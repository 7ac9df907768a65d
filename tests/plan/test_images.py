"""Where the images of teams may come from: their names without tag and digest, with the registry."""

import pytest

from trainyard.plan.registries import repository


@pytest.mark.parametrize(
    ("image", "whole"),
    [
        ("pytorch/pytorch:2@sha256:00", "docker.io/pytorch/pytorch"),
        ("public.ecr.aws/a/b:1", "public.ecr.aws/a/b"),
        ("localhost:5000/x@sha256:00", "localhost:5000/x"),
        ("registry.example/x", "registry.example/x"),
    ],
)
def test_a_repository_is_named_with_its_registry(image, whole):
    assert repository(image) == whole
