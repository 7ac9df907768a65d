"""What an expression asks for."""

from __future__ import annotations

import pytest

from trainyard.rehearsal.works.watching.exporters import inventory
from trainyard.rehearsal.works.watching.promql import selectors


@pytest.mark.parametrize(
    ("expression", "metrics"),
    [
        ("up", ["up"]),
        ('sum by (a, b) (rate(jobs_total{team="x", b=~"y|z"}[5m]))', ["jobs_total"]),
        ("a * on (node) group_left (label_pool) max by (node) (b) > bool 1", ["a", "b"]),
        ("count(a unless b) or vector(0)", ["a", "b"]),
        ('label_replace(a, "x", "$1", "y", "(.*)") offset 5m', ["a"]),
        ("max_over_time(a:b:c[1h:30s]) > 1e3 # and d", ["a:b:c"]),
        ("avg(a) by (b)", ["a"]),
        ("a{x='}'} / b{}", ["a", "b"]),
        ('{__name__="a"}', []),
        ("rate(a[$__rate_interval]) * ${factor}", ["a"]),
        ("(((", []),
    ],
)
def test_metrics(expression, metrics):
    assert [one.metric for one in selectors(expression)] == metrics


@pytest.mark.parametrize(
    ("expression", "labels"),
    [
        ("sum by (a, b) (x)", ("a", "b")),
        ("sum(rate(x[5m])) by (a)", ("a",)),
        ("sum by (a) (x * y)", ()),
        ("sum without (a) (x)", ()),
        ('sum by (a) (label_replace(x, "a", "$1", "b", "(.*)"))', ()),
        ("x", ()),
    ],
)
def test_the_labels_that_a_metric_is_grouped_by(expression, labels):
    assert selectors(expression)[0].grouped_by == labels


def test_what_a_selector_compares():
    (found,) = selectors('a{b="c", d!~"e.*", f=""}')
    assert [(one.label, one.operator, one.value) for one in found.matchers] == [
        ("b", "=", "c"), ("d", "!~", "e.*"), ("f", "=", ""),
    ]  # fmt: skip


def test_the_lists_say_where_they_are_from():
    lists = inventory()
    assert all(source.startswith("https://github.com/") for source in lists["sources"])
    assert lists["kube-state-metrics"]["kube_pod_status_phase"]["phase"] == [
        "Pending", "Running", "Succeeded", "Failed", "Unknown",
    ]  # fmt: skip
    assert "cluster_queue" in lists["kueue"]["kueue_pending_workloads"]
