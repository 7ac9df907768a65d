"""Security: what comes through the cache of images stays what it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.read import texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ECR_CACHE_RULE, ECR_CREATION_TEMPLATE, REPOSITORY

_FIXED: Final = ("IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION")


@stack_rule(
    "cached-images-can-change",
    "A tag in the cache of images cannot be moved: what was read once is what runs.",
    types=(ECR_CACHE_RULE, ECR_CREATION_TEMPLATE, REPOSITORY),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SI-7", "ISO 27001:2022 A.8.19"),
    fix="Set imageTagMutability to IMMUTABLE, on the repository or on the template that ECR makes it by.",
)
def cached_images_can_change(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A registry abroad that is taken over moves its tags; a repository of people's own images may move them."""
    prefixes = [str(value_at(rule.inputs, "ecrRepositoryPrefix")) for rule in resources.of(ECR_CACHE_RULE)]
    for template in resources.of(ECR_CREATION_TEMPLATE):
        cached = "PULL_THROUGH_CACHE" in texts_at(template.inputs, "appliedFors")
        if cached and value_at(template.inputs, "imageTagMutability", default="MUTABLE") not in _FIXED:
            yield template, "repositories that ECR makes for the cache let tags be moved (imageTagMutability)"
    for repository in resources.of(REPOSITORY) if prefixes else ():
        name = str(value_at(repository.inputs, "name", default=""))
        cached = any(prefix == "ROOT" or name.startswith(f"{prefix}/") for prefix in prefixes)
        if cached and value_at(repository.inputs, "imageTagMutability", default="MUTABLE") not in _FIXED:
            yield repository, f"tags of {name} can be moved (imageTagMutability)"
