"""Stacks of somebody else's that watch in their own way: what is right there is not accused, and a slip still is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check

MONITORING = "monitoring.coreos.com/v1"


def rules(*given: str | dict[str, Any]) -> RecordedResource:
    """Alerts on expressions, and rules as they are."""
    listed = [one if isinstance(one, dict) else {"alert": f"A{at}", "expr": one} for at, one in enumerate(given)]
    return obj(MONITORING, "PrometheusRule", "ours", "watch", spec={"groups": [{"name": "ours", "rules": listed}]})


def chart(**values: Any) -> RecordedResource:
    return resource(
        "kubernetes:helm.sh/v3:Release", "watch", {"chart": "kube-prometheus-stack", "name": "watch", "values": values}
    )


def monitor(kind: str = "ServiceMonitor", **spec: Any) -> RecordedResource:
    return obj(MONITORING, kind, "ours", "watch", spec=spec)


def board(source: dict[str, str]) -> RecordedResource:
    panels = [{"title": "Load", "datasource": source, "targets": []}]
    return obj("v1", "ConfigMap", "board", "watch", data={"board.json": json.dumps({"panels": panels})})


def allowing(*labels: str) -> RecordedResource:
    return chart(**{"kube-state-metrics": {"metricLabelsAllowlist": list(labels)}})


def found(*resources: RecordedResource) -> list[str]:
    stack = Stack(list(resources), CONTEXT)
    check(stack)
    return [finding.rule for finding in stack.findings]


JOB = {"action": "replace", "targetLabel": "job", "replacement": "ours"}
POOL = {"sourceLabels": ["x"], "targetLabel": "team_of_node"}
STATE = {"kube-state-metrics": {"prometheus": {"monitor": {"metricRelabelings": [POOL]}}}}
MADE = monitor(endpoints=[{"port": "metrics", "relabelings": [JOB]}])


def every(interval: str, **values: Any) -> RecordedResource:
    return chart(prometheus={"prometheusSpec": {"scrapeInterval": interval}}, **values)


ASKED = 'kube_pod_labels{label_team="vision"} == 0'
OWN_LABEL = 'kube_pod_status_phase{team_of_node="a"} == 1'
RECORDED = {"record": "kube_pods_waiting", "expr": "vector(1)"}
QUICK = monitor(endpoints=[{"port": "metrics", "interval": "15s"}])
HEALTHY = {
    "a panel on the default source": [chart(), board({"type": "prometheus"})],
    "every label of every object is let by": [allowing("*=[*]"), rules(ASKED)],
    "a label of every object is let by": [allowing("*=[team]"), rules(ASKED)],
    "several objects in one text": [allowing("nodes=[pool],pods=[team]"), rules(ASKED)],
    "a label in camel case": [allowing("pods=[ownerTeam]"), rules('kube_pod_labels{label_owner_team="a"} == 0')],
    "a label that a relabeling brings": [chart(**STATE), rules(OWN_LABEL)],
    "labels by an expression": [
        chart(**{"kube-state-metrics": {"prometheus": {"monitor": {"relabelings": [{"action": "labelmap"}]}}}}),
        rules(OWN_LABEL),
    ],
    "a name that a relabeling brings": [
        chart(),
        monitor(endpoints=[{"metricRelabelings": [{"targetLabel": "__name__", "replacement": "kube_pods_all"}]}]),
        rules("kube_pods_all > 1"),
    ],
    "what its own rule records": [chart(), rules(RECORDED, "kube_pods_waiting > 1")],
    "kube-state-metrics on itself": [chart(), rules("rate(kube_state_metrics_list_total[5m]) > 1")],
    "what the scheduler says of pods": [chart(), rules("sum(kube_pod_resource_request) by (node) > 1")],
    "jobs of their own": [MADE, rules('up{job="alertmanager-main"} == 0', 'up{job="node-exporter-gpu"} == 0')],
    "a job of Prometheus' own words": [
        chart(prometheus={"prometheusSpec": {"additionalScrapeConfigs": [{"job_name": "our"}]}}),
        MADE, rules('up{job="our"} == 0'),
    ],
    "a job of a probe": [MADE, monitor("Probe", jobName="our"), rules('up{job="our"} == 0')],
    "a job by a label of the service": [
        MADE, monitor(jobLabel="app"), rules('up{job="our"} == 0'),
        obj("v1", "Service", "web", "watch", metadata={"labels": {"app": "our"}}),
    ],
    "a monitor that asks more often": [every("5m"), QUICK, rules("rate(jobs_total[1m]) > 1")],
    "another monitor asks more seldom": [
        every("15s"), monitor(endpoints=[{"interval": "2m"}]), rules("rate(jobs_total[1m]) > 1"),
    ],
    "the chart's monitor asks more often": [
        every("5m", **{"kube-state-metrics": {"prometheus": {"monitor": {"interval": "15s"}}}}),
        rules("rate(kube_pod_container_status_restarts_total[1m]) > 1"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", HEALTHY)
def test_what_is_only_unusual_is_not_accused(what):
    assert found(*HEALTHY[what]) == []


SICK = {
    "a source that is not there": ([chart(), board({"type": "prometheus", "uid": "thanos"})], "watching-source"),
    "a label that is not let by": ([allowing("pods=[squad]"), rules(ASKED)], "watching-label"),
    "a label of other objects": ([allowing("nodes=[team]"), rules(ASKED)], "watching-label"),
    "a label as the object has it": (
        [allowing("pods=[ownerTeam]"), rules('kube_pod_labels{label_ownerTeam="a"} == 0')], "watching-label",
    ),
    "a label that no relabeling brings": ([chart(**STATE), rules('kube_pod_info{team="a"} == 1')], "watching-label"),
    "a name that its rule does not record": ([chart(), rules(RECORDED, "kube_pods_waits > 1")], "watching-metric"),
    "a slip in what the scheduler says": ([chart(), rules("kube_pod_resource_requests > 1")], "watching-metric"),
    "a slip in a job": ([MADE, rules('up{job="alertmanger"} == 0')], "watching-name"),
    "a rate of the chart's own": (
        [every("5m"), QUICK, rules("rate(kube_pod_container_status_restarts_total[1m]) > 1")], "watching-interval",
    ),
    "a rate that the monitor is too slow for": (
        [every("5m"), monitor(endpoints=[{"interval": "2m"}]), rules('rate(jobs_total{a="b"}[1m]) > 1')],
        "watching-interval",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SICK)
def test_a_slip_in_it_is_told(what):
    resources, rule = SICK[what]
    assert found(*resources) == [rule]
