"""Expressions and dashboards of other people that are right, and beside each what the rule is there for."""

from __future__ import annotations

import pytest

from tests.rehearsal.works.watching.test_unusual import found, rules


@pytest.mark.parametrize(
    ("expression", "rule", "told"),
    [
        ("histogram_quantile(0.9, SUM(rate(a_bucket[5m])) BY (le))", "watching-function", False),
        ("histogram_quantile(0.9, sum BY (le) (rate(a_bucket[5m])))", "watching-function", False),
        ("histogram_quantile(0.9, SUM(rate(a_bucket[5m])) BY (pod))", "watching-function", True),
        ("histogram_quantile(0.9, SUM WITHOUT (le) (rate(a_bucket[5m])))", "watching-function", True),
        ("rate(a_total[5m]) AND", "watching-syntax", True),
        ("rate(a_total[5m]) AND b_total > 0", "watching-syntax", False),
    ],
)
def test_words_of_promql_may_be_in_capitals(expression, rule, told):
    assert (rule in found(rules(expression))) == told


@pytest.mark.parametrize(("word", "told"), [("OR", False), ("or", False), ("AND", True)])
def test_a_figure_that_goes_on_from_itself_has_a_first(word, told):
    recorded = rules({"record": "ours:first", "expr": f"ours:first {word} up"})
    assert ("watching-syntax" in found(recorded)) == told
