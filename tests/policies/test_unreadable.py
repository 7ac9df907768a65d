"""Inputs of a kind that no API takes: every policy says what it cannot judge, and none ends the check."""

import dataclasses

import pytest

from tests.policies.test_mutants import judge


def exchanged(value, kind, other, *, top=True):
    """A copy in which every value of a kind is another; the inputs themselves stay a mapping."""
    if isinstance(value, dict):
        if kind is dict and not top:
            return other
        return {key: exchanged(item, kind, other, top=False) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return other if kind is list else [exchanged(item, kind, other, top=False) for item in value]
    is_of_kind = type(value) in (int, float) if kind is float else type(value) is kind
    return other if is_of_kind else value


@pytest.mark.parametrize(
    ("kind", "other"),
    [(float, "many"), (str, 7), (dict, "x"), (dict, ["x"]), (list, "x"), (list, {"a": 1}), (bool, "maybe")],
    ids=str,
)
def test_inputs_of_another_kind_end_no_check(rehearsed, kind, other):
    def change(run):
        return [dataclasses.replace(found, inputs=exchanged(found.inputs, kind, other)) for found in run]

    report = judge(rehearsed("demo"), change)
    assert report.violations
