"""Objects and the admission policies beside them: only a plain no is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, changed, obj
from tests.rehearsal.works.references.test_mistakes import findings

POD = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "registry.example/a:1"}]}
RULE = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
STACK = [
    obj("v1", "Namespace", "web", metadata={"labels": {"team": "web"}}),
    obj("batch/v1", "Job", "import", "web", spec={"backoffLimit": 1, "template": {"spec": POD}}),
    obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "guard", spec={
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "object.spec.backoffLimit <= 3", "message": "at most 3"}],
    }),
    obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "guard", spec={
        "policyName": "guard", "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchLabels": {"team": "web"}}},
    }),
]  # fmt: skip
JOB, GUARD, BOUND = "job-import", "validatingadmissionpolicy-guard", "validatingadmissionpolicybinding-guard"
NO = [{"expression": "object.spec.backoffLimit <= 0"}]


def told(*changes: tuple[str, str, Any]) -> bool:
    stack = STACK
    for name, path, value in changes:
        stack = changed(stack, name, path, value)
    return "reference-admission-refuses" in {finding.rule for finding in findings(stack, CONTEXT)}


def test_what_a_policy_refuses_is_told():
    assert not told()
    assert told((JOB, "spec.backoffLimit", 6))
    assert told((GUARD, "spec.validations", NO))


@pytest.mark.parametrize(
    "change",
    [
        (BOUND, "spec.validationActions", ["Warn"]),
        (BOUND, "spec.paramRef", {"name": "limits", "parameterNotFoundAction": "Deny"}),
        (BOUND, "spec.matchResources.namespaceSelector.matchLabels", {"team": "other"}),
        (BOUND, "spec.matchResources.objectSelector", {"matchLabels": {"a": "b"}}),
        (GUARD, "spec.matchConstraints.resourceRules[0].operations", ["UPDATE"]),
        (GUARD, "spec.matchConstraints.resourceRules[0].resources", ["cronjobs"]),
        (GUARD, "spec.matchConstraints.objectSelector", {"matchLabels": {"a": "b"}}),
        (GUARD, "spec.matchConditions", [{"name": "no", "expression": "request.userInfo.username == 'someone'"}]),
        (GUARD, "spec.validations", [{"expression": "object.spec.parallelism > 3"}]),  # has a default
        (GUARD, "spec.validations", [{"expression": "has(object.spec.suspend) && object.spec.suspend"}]),  # Kueue's
    ],
)
def test_what_may_be_otherwise_is_not_told(change):
    assert not told((GUARD, "spec.validations", NO), change)
