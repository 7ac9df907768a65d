"""The image cache: what is registered, and that nothing else comes through it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.components.aws.api_shape import KEY_ARN
from tests.pulumi_harness import Recording, record
from trainyard.components.aws.image_cache import ImageCache

RULE = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
REPOSITORY = "aws:ecr/repository:Repository"


def made(**changes: Any) -> Recording:
    args: Any = {
        "registries": [
            {"upstream": "registry.k8s.io", "prefix": "acme-demo/k8s"},
            {"upstream": "registry-1.docker.io", "prefix": "acme-demo/hub", "credential_arn": "arn:secret"},
        ],
        "repositories": ["acme-demo/k8s/kueue/kueue", "acme-demo/hub/pytorch/pytorch"],
        "key_arn": KEY_ARN,
        "protect": True,
        **changes,
    }
    return record(lambda: ImageCache("images", args))


def test_a_rule_for_each_registry_with_its_login() -> None:
    rules = {rule.inputs["ecrRepositoryPrefix"]: rule.inputs for rule in made().of_type(RULE)}
    assert rules["acme-demo/k8s"]["upstreamRegistryUrl"] == "registry.k8s.io"
    assert "credentialArn" not in rules["acme-demo/k8s"]
    assert rules["acme-demo/hub"]["credentialArn"] == "arn:secret"


def test_a_tag_cannot_be_moved_and_the_newest_images_stay() -> None:
    recording = made()
    for repository in recording.of_type(REPOSITORY):
        assert repository.inputs["imageTagMutability"] == "IMMUTABLE"
        assert repository.inputs["encryptionConfigurations"] == [{"encryptionType": "KMS", "kmsKey": KEY_ARN}]
        assert repository.protect
    for lifecycle in recording.of_type("aws:ecr/lifecyclePolicy:LifecyclePolicy"):
        (rule,) = json.loads(lifecycle.inputs["policy"])["rules"]
        assert rule["selection"] == {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 10}


def test_a_repository_that_nothing_would_come_into_is_refused() -> None:
    with pytest.raises(ValueError, match="acme-demo/k8sx/a is below none of acme-demo/k8s"):
        made(repositories=["acme-demo/k8sx/a"])
