"""Values of charts that reach the API as they are, and what is right beside each."""

from __future__ import annotations

import pytest

from tests.rehearsal.refusals.builders import findings, resource

CLUSTER = resource("aws:eks/cluster:Cluster", "c", {"name": "c"})
CHART = {"chart": "kube-prometheus-stack", "version": "88.5.3", "name": "metrics", "namespace": "monitoring"}


def rules(**values):
    """What is told of a release with some values."""
    release = resource("kubernetes:helm.sh/v3:Release", "metrics", {**CHART, "values": values})
    return {(finding.rule, finding.path) for finding in findings([CLUSTER, release]) if finding.urn == release.urn}


OPERATOR = "values.prometheusOperator"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"prometheusOperator": {"podLabels": {"team": "a b"}}}, ("label-value", f"{OPERATOR}.podLabels.team")),
        (
            {"prometheusOperator": {"tolerations": [{"key": "a b"}]}},
            ("k8s-toleration", f"{OPERATOR}.tolerations[0].key"),
        ),
        ({"prometheusOperator": {"strategy": {"type": "Rolling"}}}, ("k8s-enum", f"{OPERATOR}.strategy.type")),
        (
            {"thanosRuler": {"enabled": True, "thanosRulerSpec": {"priorityClassName": "thanos"}}},
            ("k8s-reference", "values.thanosRuler.thanosRulerSpec.priorityClassName"),
        ),
    ],
)
def test_what_the_api_refuses_is_told(values, told):
    assert told in rules(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"prometheusOperator": {"podLabels": {"team": "{{ .Release.Name }}"}}},
        {"prometheusOperator": {"tolerations": [{"key": "{{ .Values.commonLabels.team }}"}]}},
        {"thanosRuler": {"enabled": False, "thanosRulerSpec": {"priorityClassName": "thanos"}}},
        {"alertmanager": {"config": {"strategy": {"type": "own"}}}},
        {"prometheusOperator": {"tolerations": [{"operator": "Exists"}], "nodeSelector": None, "affinity": {}}},
    ],
)
def test_what_the_chart_writes_itself_or_not_at_all_is_believed(values):
    assert rules(**values) == set()
