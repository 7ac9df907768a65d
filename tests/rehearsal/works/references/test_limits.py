"""Limit ranges and quotas: which pods they keep out, and which they let in once defaults are filled in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj
from tests.rehearsal.works.references.test_mistakes import findings
from trainyard.recorded.model import UNKNOWN

RANGE = {"type": "Container", "max": {"memory": "8Gi"}, "min": {"cpu": "100m"}, "default": {"memory": "2Gi"}}


def told(resources: Any, *limiting: Any, priority: Any = None) -> set[str]:
    container = {"name": "a", "image": "a", **({"resources": resources} if resources is not None else {})}
    spec = {"containers": [container], "restartPolicy": "Never", "priorityClassName": priority}
    stack = [
        obj("v1", "Namespace", "web"),
        obj("batch/v1", "Job", "import", "web", spec={"template": {"spec": spec}}),
        *limiting,
    ]
    rules = {finding.rule for finding in findings(stack, CONTEXT)}
    return {rule for rule in rules if rule in ("reference-limit-range", "reference-quota")}


def limits(**changes: Any) -> Any:
    return obj("v1", "LimitRange", "limits", "web", spec={"limits": [{**RANGE, **changes}]})


def quota(hard: dict[str, Any], **more: Any) -> Any:
    return obj("v1", "ResourceQuota", "quota", "web", spec={"hard": hard, **more})


@pytest.mark.parametrize(
    ("resources", "is_told"),
    [
        ({"limits": {"memory": "16Gi"}}, True),
        ({"limits": {"memory": "8Gi"}}, False),
        ({"requests": {"memory": "4Gi"}}, True),  # above the default limit
        ({"requests": {"memory": "4Gi"}, "limits": {"memory": "4Gi"}}, False),
        ({"requests": {"cpu": "50m"}}, True),
        ({"requests": {"cpu": "100m"}}, False),
        ({"requests": {"memory": UNKNOWN}}, False),
        (UNKNOWN, False),
        (None, False),
    ],
)
def test_a_range_keeps_out_what_is_outside_it_once_defaults_are_there(resources, is_told):
    assert bool(told(resources, limits())) is is_told


@pytest.mark.parametrize(
    ("resources", "hard", "is_told"),
    [
        ({"requests": {"cpu": "4"}}, {"requests.cpu": "2"}, True),
        ({"requests": {"cpu": "4"}}, {"cpu": "4"}, False),
        (None, {"limits.memory": "4Gi"}, True),  # a quota on limits wants one of each container
        ({"limits": {"memory": "1Gi"}}, {"limits.memory": "4Gi"}, False),
        ({"limits": {"cpu": "1"}}, {"requests.cpu": "4"}, False),  # a limit is the request too
        ({"limits": {"nvidia.com/gpu": "8"}}, {"requests.nvidia.com/gpu": "4"}, True),
        (None, {"requests.nvidia.com/gpu": "4"}, False),
        (None, {"pods": "0"}, True),
        (None, {"pods": "10", "services.nodeports": "0"}, False),
        (None, {"count/jobs.batch": "0"}, True),
        ({"requests": {"cpu": UNKNOWN}}, {"requests.cpu": "2"}, False),
    ],
)
def test_a_quota_keeps_out_what_it_has_no_room_for(resources, hard, is_told):
    assert bool(told(resources, quota(hard))) is is_told


def test_a_default_says_what_a_quota_wants():
    assert told(None, quota({"limits.memory": "4Gi"}), limits()) == set()


def test_a_quota_of_a_priority_class_counts_its_pods_alone():
    scope = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
    none = quota({"pods": "0"}, scopeSelector=scope)
    assert told(None, none) == set()
    assert told(None, none, priority="high") == {"reference-quota"}
    assert told(None, none, priority=UNKNOWN) == set()


def test_another_namespace_is_not_meant():
    elsewhere = obj("v1", "ResourceQuota", "quota", "other", spec={"hard": {"pods": "0"}})
    assert told(None, elsewhere) == set()
