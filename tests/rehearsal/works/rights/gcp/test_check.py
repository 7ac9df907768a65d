"""Whether everybody may do on Google Cloud what the environment needs: mistakes are told, correct stacks left alone."""

from __future__ import annotations

import pytest

from tests.conftest import ON_GOOGLE
from tests.rehearsal.works.mistakes import edit, put
from tests.rehearsal.works.mistakes_rights_gcp import BUCKET_MEMBER, FOLDER_MEMBER, MISTAKES, POOL, STACK
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.rights.check import check


def findings(resources):
    """What the room says of some resources."""
    stack = Stack(resources, ValueContext("1.35", "us-central1"))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("stack", ON_GOOGLE)
def test_an_example_stack_lacks_nothing(rehearsed, stack):
    assert [str(finding) for finding in findings(rehearsed(stack).resources)] == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(STACK).known.resources))
    rules = {finding.rule for finding in found}
    if mistake.rule is None:
        assert not rules, mistake.why
    else:
        assert mistake.rule in rules, [str(finding) for finding in found]


def test_a_finding_names_who_what_and_the_remedy(rehearsed):
    change = edit(FOLDER_MEMBER, "mlflow-artifacts", put("role", "roles/storage.objectViewer"))
    (found,) = findings(change(rehearsed(STACK).known.resources))
    assert "Deployment mlflow/mlflow, pods of mlflow/mlflow, cannot keep artifacts in gs://" in found.message
    assert "storage.objects.create" in found.message
    assert "mlflow/mlflow" in found.hint


SERVICE = 'resource.service == "storage.googleapis.com"'
SAME = {
    "the whole namespace": put("member", f"principalSet:{POOL}/namespace/team-vision"),
    "every pod": put("member", f"principalSet:{POOL}/*"),
    "as it was written before": put("member", "serviceAccount:acme-ml.svc.id.goog[team-vision/trainer]"),
    "more than enough": put("role", "roles/storage.objectAdmin"),
    "a role not known yet": put("role", UNKNOWN),
    "a member not known yet": put("member", UNKNOWN),
    "a group": put("member", "group:everybody@acme.example"),
    "a condition that holds": put("condition", {"title": "t", "expression": SERVICE}),
}  # fmt: skip


@pytest.mark.parametrize("other", SAME)
def test_the_same_right_said_otherwise_is_left_alone(rehearsed, other):
    change = edit(BUCKET_MEMBER, "team-vision-data", SAME[other])
    assert [str(finding) for finding in findings(change(rehearsed(STACK).known.resources))] == []
