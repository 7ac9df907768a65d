"""What programs are configured with, wait for and are watched by: mistakes are told; what is only unusual is not."""

from __future__ import annotations

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from tests.rehearsal.works import mistakes_told, mistakes_watched
from tests.rehearsal.works.mistakes import both, edit, in_json, put, tells, told
from tests.rehearsal.works.mistakes_told import (
    DEPLOYMENT,
    JOB,
    LIFECYCLE,
    LOGS,
    NODE,
    PARAMETERS,
    PROXY,
    RELEASE,
    RUNTIME,
)
from tests.rehearsal.works.mistakes_watched import ALARM, BUDGET, HARDWARE, RULES, SILENT, source_of, worded
from tests.rehearsal.works.together import told_together
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check


def of(rehearsed, stack):
    return rehearsed(WHOLE if stack == "demo" else stack)


@pytest.mark.parametrize(
    "mistake", [*mistakes_told.MISTAKES, *mistakes_watched.MISTAKES], ids=lambda one: f"{one.stack}-{one.name}"
)
def test_a_mistake_is_told(rehearsed, mistake):
    stack = of(rehearsed, mistake.stack)
    if mistake.rule:
        assert mistake.rule in tells(stack, mistake.change, mistake.rule)
    else:
        assert told(stack, mistake.change, "programs") == []


POOLS = "monitoring-trainyard-pools"


def asks_for(board, variable):
    """Gives a dashboard a variable, which whoever looks at it chooses."""
    return worded(board, '"panels": [', f'"templating": {{"list": [{{"name": "{variable}"}}]}}, "panels": [')


NEW_RULE = {"alert": "Ours", "labels": {"severity": "critical"}}
SOUND = {
    "a metric of a program of the team's own": worded(RULES, "kube_cronjob_created", "acme_jobs_created"),
    "a metric of the node exporter that its list lacks": worded(
        RULES, "node_filesystem_avail_bytes", "node_xfs_new_total"),
    "a label that a relabeling brings": worded(RULES, "phase=", "node="),
    "a variable of Grafana as a value": both(
        asks_for(POOLS, "status"), worded(POOLS, 'status=\\"true\\"', 'status=\\"$status\\"')
    ),
    "a source of data that a variable names": both(
        asks_for(HARDWARE, "source"), worded(HARDWARE, '"uid": "prometheus"', '"uid": "${source}"')
    ),
    "a severity of its own": edit("kubernetes:monitoring.coreos.com/v1:PrometheusRule", RULES, put(
        "spec.groups[0].rules[0]", {**NEW_RULE, "expr": "vector(1)", "labels": {"severity": "page"}})),
    "another job": worded(RULES, 'up{job="kueue"}', 'up{job="ray-head"}'),
    "an alarm on too much takes silence for health": edit(
        ALARM, SILENT, put("comparisonOperator", "GreaterThanThreshold"),
        put("threshold", 1000), put("treatMissingData", "notBreaching")),
    "an alarm that waits an hour": edit(ALARM, SILENT, put("period", 3600)),
    "four periods of five minutes": edit(ALARM, SILENT, put("period", 300), put("evaluationPeriods", 4)),
    "a service's metric that no list has": edit(
        ALARM, SILENT, put("namespace", "AWS/RDS"), put("metricName", "AuroraVolumeBytesLeft"),
        put("dimensions", {"DBClusterIdentifier": "of-others"})),
    "an event that no list has": source_of(
        lambda one: one.update({"source": ["aws.batch"], "detail-type": ["Batch Job State Change"]})),
    "a call that CloudTrail writes in its own way": both(
        worded("security-record-off", "StopLogging", "PutBucketPublicAccessBlock"),
        worded("security-record-off", "guardduty", "s3")),
    "a budget that tells at 1.5 per cent": edit(BUDGET, "budget-budget", put("notifications[1].threshold", 1.5)),
    "a budget in dollars": edit(BUDGET, "budget-budget", put("notifications[1].threshold", 0.5),
        put("notifications[1].thresholdType", "ABSOLUTE_VALUE")),
    "a budget of two projects": edit(
        BUDGET, "budget-budget", put("costFilters[0].values", ["user:project$a", "user:project$b"])),
    "a directive that Squid has beside": worded(PROXY, "via off", "via off\nshutdown_lifetime 5 seconds"),
    "a list that Squid defines itself": worded(PROXY, "deny !secure", "deny to_localhost"),
    "a list of addresses from a file": worded(
        PROXY, "deny !secure", "deny !secure\ninclude /etc/squid/more.conf\nhttp_acess"),
    "an output of Amazon's own": worded(LOGS, "Name cloudwatch_logs", "Name cloudwatch"),
    "options of the network": worded(LOGS, "retry_limit 5", "retry_limit 5\n    net.keepalive off\n    workers 1"),
    "parsers of a file": worded(LOGS, "Flush 5\n", "Flush 5\n    Parsers_File /fluent-bit/parsers/parsers.conf\n"),
    "a probe with a long delay": edit(DEPLOYMENT, "mlflow-deployment", put(
        "spec.template.spec.containers[0].startupProbe", {"tcpSocket": {"port": 5000}, "initialDelaySeconds": 90})),
    "a short job on nodes that are there": edit(JOB, "smoke-train-spot-job", put("spec.activeDeadlineSeconds", 2701)),
    "a release that is not waited for": edit(RELEASE, "monitoring-release", put("timeout", 15), put("skipAwait", True)),
    "many connections": edit(PARAMETERS, "acme-demo-mlflow-parameters", put(
        "parameters[5]", {"name": "max_connections", "value": "200", "applyMethod": "pending-reboot"})),
    "the retention of a small disk": worded("monitoring-release", "45GiB", "8GB"),
    "an interface by its beginning": edit(RUNTIME, "runtimes-torch-train", put(f"{NODE}.env[9]",
        {"name": "NCCL_SOCKET_IFNAME", "value": "eth"})),
    "interfaces that are left out": edit(RUNTIME, "runtimes-torch-train", put(f"{NODE}.env[9]",
        {"name": "NCCL_SOCKET_IFNAME", "value": "^lo,docker0"})),
    "hosts by a pattern": worded("mlflow-deployment", "--allowed-hosts=", "--allowed-hosts=mlflow*,"),
    "scratch that is gone after a day": edit(LIFECYCLE, "acme-demo-checkpoints-lifecycle", put(
        "rules[4]", {"id": "tidy", "status": "Enabled", "filter": {"prefix": "tmp/"}, "expiration": {"days": 1}})),
    "a rule that is off": edit(LIFECYCLE, "acme-demo-checkpoints-lifecycle", put(
        "rules[4]", {"id": "tidy", "status": "Disabled", "filter": {"prefix": ""}, "expiration": {"days": 1}})),
    "a condition of somebody's detector": worded(RULES, 'condition="Ready"', 'condition="KernelDeadlock"'),
    "slow targets": edit(RELEASE, "monitoring-release", put("values.prometheus.prometheusSpec.scrapeInterval", "1m")),
    "completions of a job without ranks": edit(JOB, "smoke-train-spot-job", put("spec.completions", 5),
        put("spec.completionMode", "NonIndexed")),
    "a pattern of all groups": worded("autoscaler-release", "^eks-gpu-nodes-train-reserved-", "train-reserved-"),
}  # fmt: skip


@pytest.mark.parametrize("what", SOUND)
def test_what_is_only_unusual_is_not_accused(rehearsed, what):
    stack = of(rehearsed, "demo")

    def judged(resources):
        return told(stack, lambda _: list(resources), "programs")

    assert told_together(__name__, what, stack.known.resources, SOUND, judged) == []


def test_an_add_on_may_be_told_its_flags(rehearsed):
    arguments = ["--metric-resolution=15s", "--of-tomorrow"]
    change = edit(
        "aws:eks/addon:Addon", "cluster-metrics-server",
        in_json("configurationValues", lambda one: one.update(args=arguments)),
    )  # fmt: skip
    assert told(of(rehearsed, "demo"), change, "charts") == []


def test_an_exporter_of_somebody_else_is_asked_for_what_it_has():
    rules = obj(
        "monitoring.coreos.com/v1", "PrometheusRule", "ours", "monitoring",
        spec={"groups": [{"name": "ours", "rules": [
            {"alert": "A", "expr": 'kube_pod_status_phase{phase="Pending"} > 0'},
            {"alert": "B", "expr": "kube_customresource_acme_ready == 0"},
            {"alert": "C", "expr": "DCGM_FI_DEV_NEW_FIELD > 1"},
            {"alert": "D", "expr": "namespace_workload:kube_pod_owner:relabel > 0"},
        ]}]},
    )  # fmt: skip
    stack = Stack([rules, resource("aws:sns/topic:Topic", "topic", {"name": "topic"})], CONTEXT)
    check(stack)
    assert stack.findings == []
