"""What is of a wrong kind is unknown afterwards, wherever it lies."""

from __future__ import annotations

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.recorded.model import UNKNOWN, Finding, Secret

INPUTS = {
    "spec": {"a": [{"b": "x"}, {"b": ["y"]}], "labels": {"ml.platform/pool": 3, "ml": {"x": 1}}},
    "hidden": Secret({"a": [1, 2]}),
    "name": "n",
}
MADE = resource("kubernetes:core/v1:Thing", "thing", INPUTS)


def blurred(path, rule="wrong-type", level="error"):
    (found,) = without_wrong_kinds([MADE], [Finding.of(MADE, rule, "m", path=path, level=level)])
    return found.inputs


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("name", "name", UNKNOWN),
        ("spec", "spec", UNKNOWN),
        ("spec.a[1].b", "spec", {**INPUTS["spec"], "a": [{"b": "x"}, {"b": UNKNOWN}]}),
        ("spec.labels.ml.platform/pool", "spec",
         {**INPUTS["spec"], "labels": {"ml.platform/pool": UNKNOWN, "ml": {"x": 1}}}),
        ("spec.labels.ml.x", "spec", {**INPUTS["spec"], "labels": {"ml.platform/pool": 3, "ml": {"x": UNKNOWN}}}),
        ("hidden.a[0]", "hidden", Secret({"a": [UNKNOWN, 2]})),
    ],
)  # fmt: skip
def test_it_is_unknown_at_its_place_alone(path, key, expected):
    assert blurred(path) == {**INPUTS, key: expected}


@pytest.mark.parametrize("path", ["nowhere", "spec.a[7]", "spec.a[x]", "name.below", ""])
def test_a_path_that_leads_nowhere_changes_nothing(path):
    assert blurred(path) == INPUTS


def test_other_findings_change_nothing():
    assert blurred("name", rule="unknown-key") == INPUTS
    assert blurred("name", rule="wrong-type", level="warning") == INPUTS
    made = [MADE]
    assert without_wrong_kinds(made, []) is made
