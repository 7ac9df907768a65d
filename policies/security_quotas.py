"""Security: what a team takes besides GPUs is bounded: claims, storage, pods without GPUs, priorities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.conventions import CPU_ONLY_PRIORITY, SYSTEM_PRIORITIES
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import is_set, mapping_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE, RESOURCE_QUOTA


@stack_rule(
    "team-without-quotas",
    "Every team's claims, its storage and its pods without GPUs are bounded, and none has a system priority.",
    types=(NAMESPACE, RESOURCE_QUOTA),
    severity=Severity.MEDIUM,
    controls=("CIS EKS 1.5.0 5.2.1", "NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Use the team namespaces as they are; each has its quotas.",
)
def team_without_quotas(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A pod of a system class evicts the platform's own; claims and pods without a bound are other people's disks."""
    quotas = [(value_at(quota.inputs, "metadata", "namespace"), quota) for quota in resources.of(RESOURCE_QUOTA)]
    for team in team_namespaces(resources):
        name = value_at(team.inputs, "metadata", "name")
        own = [quota for namespace, quota in quotas if namespace == name]
        for counted in ("persistentvolumeclaims", "requests.storage"):
            if not any(counted in _hard(quota) and not _is_scoped(quota) for quota in own):
                yield team, f"{name}: no quota counts {counted}"
        for counted in ("requests.cpu", "requests.memory", "pods"):
            if not any(counted in _hard(quota) and CPU_ONLY_PRIORITY in _classes(quota) for quota in own):
                yield team, f"{name}: no quota counts {counted} of pods of class {CPU_ONLY_PRIORITY}"
        for priority in SYSTEM_PRIORITIES:
            if not any(quantity(_hard(quota).get("pods")) == 0 and priority in _classes(quota) for quota in own):
                yield team, f"{name}: no quota of 0 pods for {priority}"


def _hard(quota: RecordedResource) -> dict[str, Any]:
    return mapping_at(quota.inputs, "spec", "hard")


def _is_scoped(quota: RecordedResource) -> bool:
    return is_set(quota.inputs, "spec", "scopes") or is_set(quota.inputs, "spec", "scopeSelector")


def _classes(quota: RecordedResource) -> set[str]:
    """The priority classes whose pods a quota counts alone; of several expressions all have to hold."""
    expressions = mappings_at(quota.inputs, "spec", "scopeSelector", "matchExpressions")
    if is_set(quota.inputs, "spec", "scopes") or len(expressions) != 1:
        return set()
    (only,) = expressions
    named = (value_at(only, "scopeName"), value_at(only, "operator")) == ("PriorityClass", "In")
    return set(texts_at(only, "values")) if named else set()
