"""What runs and does nothing of what it is there for is told; what somebody may well mean so is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from tests.rehearsal.works.mistakes import added, both, drop, edit, in_json, put, tells, told
from tests.rehearsal.works.mistakes_silent import (
    ALARM,
    BINDING,
    CLASS,
    CRON,
    DATABASE,
    FILTER,
    MISTAKES,
    POD,
    POD_MONITOR,
    SERVICE,
    SMOKE,
    SUBSCRIBED,
    SUBSCRIPTION,
    TARGET,
    TRACKING,
    VOLUME,
    of_type,
    scaled_by,
    told_by_json,
)
from tests.rehearsal.works.mistakes_told import DEPLOYMENT, JOB, LIFECYCLE, LOGS, PROXY, RELEASE
from tests.rehearsal.works.mistakes_watched import RULE, worded
from tests.rehearsal.works.together import told_together
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check


def of(rehearsed, stack):
    return rehearsed(WHOLE if stack == "demo" else stack)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: f"{one.stack}-{one.name}")
def test_a_mistake_is_told(rehearsed, mistake):
    stack = of(rehearsed, mistake.stack)
    if mistake.rule:
        assert mistake.rule in tells(stack, mistake.change, mistake.rule)
    else:
        assert told(stack, mistake.change, "programs") == []


COLD = {"id": "cold", "status": "Enabled", "filter": {"prefix": ""}}
SOUND = {
    "a feature of GuardDuty that is off": (
        "demo", edit("aws:guardduty/detectorFeature:DetectorFeature", "threat-detection-s3-data-events",
                     put("status", "DISABLED"))),
    "an alarm without a word when all is well": ("demo", edit(ALARM, "watchdog-silent", put("okActions", []))),
    "a rule on another bus without a target": (
        "small-aws", both(drop(TARGET, "managed-jobs-ended"),
                          edit(RULE, "managed-jobs-ended", put("eventBusName", "partners")))),
    "a rule for every job that ends": (
        "small-aws", edit(RULE, "managed-jobs-ended", in_json("eventPattern", lambda one: one["detail"].update(
            TrainingJobStatus=["Completed", "Failed", "Stopped"], TrainingJobName=[{"prefix": "nightly-"}])))),
    "a filter for a whole group of states": (
        "small-aws", edit(FILTER, "managed-jobs-failed", put("pattern", '{ $.detail.TrainingJobStatus = "*ed" }'))),
    "a subscription by the body": (
        "demo", edit(SUBSCRIPTION, SUBSCRIBED, put("filterPolicy", '{"detail": {"severity": [7, 8]}}'),
                     put("filterPolicyScope", "MessageBody"))),
    "a job that stays an hour": ("demo", edit(JOB, SMOKE, put("spec.ttlSecondsAfterFinished", 3600))),
    "a job that a queue starts": ("demo", edit(JOB, SMOKE, put("spec.suspend", True))),
    "a server that is scaled from zero": (
        "demo", both(edit(DEPLOYMENT, TRACKING, put("spec.replicas", 0)), added(
            "keda.sh/v1alpha1:ScaledObject", "mlflow",
            {"spec": {"scaleTargetRef": {"name": "mlflow"}, "minReplicaCount": 0}}, "mlflow"))),
    "a pod that has to be ready for a minute": ("demo", edit(DEPLOYMENT, TRACKING, put("spec.minReadySeconds", 60))),
    "a load balancer's gate": (
        "demo", edit(DEPLOYMENT, TRACKING, put(f"{POD}.readinessGates", [
            {"conditionType": "target-health.elbv2.k8s.aws/k8s-mlflow"}]))),
    "the node's names for who asks no service": (
        "demo", edit("kubernetes:apps/v1:DaemonSet", "team-logs", put(f"{POD}.dnsPolicy", "Default"))),
    "traffic that prefers the own zone": (
        "demo", edit(SERVICE, "mlflow-service", put("spec.trafficDistribution", "PreferClose"))),
    "an image that is always pulled": ("demo", edit(JOB, SMOKE, put(f"{POD}.containers[0].imagePullPolicy", "Always"))),
    "an output for one team": ("demo", worded(LOGS, "Match *", "Match team-vision.*")),
    "a place of the collector on its volume": ("demo", worded(LOGS, "/state/tail.db", "/state/tails.db")),
    "logs of namespaces by a pattern": ("demo", worded(LOGS, "*_team-language_*", "*_team-*_*")),
    "fewer processes than GPUs": ("demo", told_by_json(SMOKE, nproc_per_node=4)),
    "a debug level in small letters": (
        "demo", edit(JOB, SMOKE, put(f"{POD}.containers[0].env[13]", {"name": "NCCL_DEBUG", "value": "info"}))),
    "a folder for what a program writes": (
        "demo", edit(DEPLOYMENT, TRACKING, put(f"{POD}.containers[0].command[4]", "PGPASSWORD=/tmp/password-1"))),
    "disks with more IOPS": (
        "demo", edit(CLASS, "blocks-class", put("parameters.iops", "6000"), put("parameters.throughput", "500"),
                     put("parameters.csi~storage~k8s~io/fstype", "xfs"))),
    "a class of one zone that binds at once": (
        "demo", edit(CLASS, "blocks-class", put("volumeBindingMode", "Immediate"), put("allowedTopologies", [
            {"matchLabelExpressions": [{"key": "topology.ebs.csi.aws.com/zone", "values": ["us-east-1a"]}]}]))),
    "data to read that says so": (
        "demo", edit(VOLUME, "volumes-vision-data-volume", put("spec.accessModes", ["ReadOnlyMany", "ReadWriteMany"]))),
    "data that goes to cheaper storage": (
        "demo", edit(LIFECYCLE, "acme-demo-data-lifecycle", put("rules[3]", {
            **COLD, "transitions": [{"days": 30, "storageClass": "GLACIER_IR"}]}))),
    "old data that goes to an archive": (
        "demo", edit(LIFECYCLE, "acme-demo-data-lifecycle", put("rules[3]", {
            **COLD, "transitions": [{"days": 365, "storageClass": "DEEP_ARCHIVE"}]}))),
    "a folder of a group": (
        "large-aws", edit("aws:efs/accessPoint:AccessPoint", "globex-production-shared-home-foundation",
                          put("rootDirectory.creationInfo", {"ownerUid": 0, "ownerGid": 1000, "permissions": "2770"}))),
    "storage that may grow tenfold": ("demo", edit(DATABASE, "acme-demo-mlflow", put("maxAllocatedStorage", 5000))),
    "metrics at a path of its own": (
        "demo", edit(POD_MONITOR, "monitoring-tracking", put("spec.podMetricsEndpoints[0].path", "/prometheus"))),
    "a policy that is tried out everywhere": ("demo", added(
        "admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding", "tried",
        {"spec": {"policyName": "gpu-pods-need-a-queue", "validationActions": ["Audit"]}})),
    "an autoscaler by CPU": ("demo", scaled_by(
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 7}}})),
    "as many domains as zones": (
        "demo", edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.topologySpreadConstraints[0]", {
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": 3, "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}}}))),
    "a whole domain": ("demo", worded(PROXY, "dstdomain -n .hf.co", "dstdomain -n .hf.co .amazonaws.com")),
    "an address for a name": ("demo", worded(PROXY, "dstdomain -n pypi.org", "dstdomain -n pypi.org 203.0.113.7")),
    "a certificate of a year": ("demo", of_type(
        "tls:index/locallySignedCert:LocallySignedCert", validityPeriodHours=8760, earlyRenewalHours=720)),
    "a flag of a later node exporter": ("demo", edit(RELEASE, "monitoring-release", put(
        "values.prometheus-node-exporter.extraArgs", ["--collector.of-tomorrow", "--collector.systemd"]))),
    "an argument of Prometheus": ("demo", edit(RELEASE, "monitoring-release", put(
        "values.prometheus.prometheusSpec.additionalArgs", [{"name": "query.timeout", "value": "2m"}]))),
    "a feature of a later queue manager": ("demo", worded(
        "kueue-release", "fairSharing:", "featureGates:\n  SomethingOfTomorrow: true\nfairSharing:")),
    "a budget by the project's id": ("demo-gcp", edit(
        "gcp:billing/budget:Budget", "budget-budget", put("budgetFilter.projects", ["projects/acme-ml"]))),
    "a budget of two projects": ("demo-gcp", edit("gcp:billing/budget:Budget", "budget-budget", put(
        "budgetFilter.projects", ["projects/123456789012", "projects/999999999999"]))),
    "an alert on too few": ("demo-gcp", edit(
        "gcp:monitoring/alertPolicy:AlertPolicy", "alert-policies-alerts",
        put("conditions[0].conditionThreshold.comparison", "COMPARISON_LT"),
        put("conditions[0].conditionThreshold.thresholdValue", 1))),
    "a drill of another day": ("demo", edit(CRON, "checkpoint-drill-job", put("spec.suspend", False))),
    "a guard of one binding more": ("demo", edit(
        BINDING, "kueue-gpu-guard-binding", put("spec.validationActions", ["Deny", "Audit"]))),
}  # fmt: skip


@pytest.mark.parametrize("what", SOUND)
def test_what_somebody_means_so_is_not_accused(rehearsed, what):
    name, _ = SOUND[what]
    stack = of(rehearsed, name)

    def judged(resources):
        rooms = ("programs", "charts", "queues")
        return [one for room in rooms for one in told(stack, lambda _: list(resources), room)]

    changes = {which: change for which, (of_stack, change) in SOUND.items() if of_stack == name}
    assert told_together((__name__, name), what, stack.known.resources, changes, judged) == []


def noted(*resources: Any) -> list[str]:
    """The rules by which something is told of a program of somebody else's."""
    stack = Stack(list(resources), CONTEXT)
    check(stack)
    return [finding.rule for finding in stack.findings]


def squid(*names: str) -> Any:
    lines = ["http_port 3128", *(f"acl ours dstdomain {name}" for name in names), "http_access allow ours"]
    return obj(
        "v1", "ConfigMap", "squid", "proxy", data={"squid.conf": "\n".join([*lines, "http_access deny all", ""])}
    )


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([".hf.co", "huggingface.co"], []),
        (["huggingface.co"], ["programs-squid"]),
        (["huggingface.co", "cdn-lfs.huggingface.co"], []),
        (["my_host.acme.example", "localhost"], []),
        (["*.acme.example"], ["programs-squid"]),
        (["-i", "Acme.example"], []),
        (["http://acme.example/x"], ["programs-squid"]),
        (["pypi.org", ".pythonhosted.org"], []),
    ],
)
def test_names_are_compared_as_squid_does(names, found):
    assert noted(squid(*names)) == found


def certificate(**spec: Any) -> Any:
    named = {"secretName": "tls", "dnsNames": ["a.acme.example"], "issuerRef": {"kind": "ClusterIssuer", "name": "ca"}}
    return obj("cert-manager.io/v1", "Certificate", "web", "web", spec={**named, **spec})


ISSUER = obj("cert-manager.io/v1", "ClusterIssuer", "ca", spec={"selfSigned": {}})


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, []),
        ({"duration": "24h", "renewBefore": "8h"}, []),
        ({"duration": "24h", "renewBefore": "24h0m0s"}, ["programs-certificate"]),
        ({"renewBefore": "2200h"}, ["programs-certificate"]),
        ({"issuerRef": {"kind": "ClusterIssuer", "name": "cas"}}, ["programs-certificate"]),
        ({"issuerRef": {"name": "ca"}}, ["programs-certificate"]),
        ({"issuerRef": {"kind": "AWSPCAIssuer", "name": "pca", "group": "awspca.cert-manager.io"}}, []),
    ],
)
def test_a_certificate_is_renewed_in_time_by_an_issuer_that_there_is(spec, found):
    assert noted(ISSUER, certificate(**spec)) == found


def test_an_issuer_of_somebody_elses_is_not_missed():
    assert noted(certificate()) == []


GROUP = resource(
    "aws:cloudwatch/logGroup:LogGroup", "g", {"name": "/aws/events/jobs"},
    "/aws/events/jobs", arn="arn:aws:logs:eu-west-1:123456789012:log-group:/aws/events/jobs",
)  # fmt: skip


def writing(statements: Any) -> list[Any]:
    """A rule whose events go to a log group, and who may write there."""
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    return [
        GROUP,
        resource("aws:cloudwatch/eventRule:EventRule", "r", {"name": "jobs", "eventPattern": "{}"}, "jobs"),
        resource("aws:cloudwatch/eventTarget:EventTarget", "t", {
            "rule": "jobs", "arn": "arn:aws:logs:eu-west-1:123456789012:log-group:/aws/events/jobs"}),
        resource("aws:cloudwatch/logResourcePolicy:LogResourcePolicy", "p", {"policyDocument": document}),
    ]  # fmt: skip


def allow(**changed: Any) -> dict[str, Any]:
    return {
        "Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"},
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": "arn:aws:logs:eu-west-1:123456789012:log-group:/aws/events/*:*", **changed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ([allow()], []),
        (allow(), []),
        ([allow(Action="logs:*", Resource="*")], []),
        ([allow(Principal={"Service": ["delivery.logs.amazonaws.com", "events.amazonaws.com"]})], []),
        ([allow(Action="logs:PutLogEvents")], ["error programs-unheard"]),
        (allow(Action="logs:PutLogEvents"), ["error programs-unheard"]),
        ([allow(Principal={"Service": "es.amazonaws.com"})], ["warning programs-unheard"]),
        ([allow(Resource="arn:aws:logs:eu-west-1:123456789012:log-group:/aws/lambda/*:*")], ["error programs-unheard"]),
    ],
)
def test_who_may_write_events_to_a_log_group(statements, found):
    """A policy for another service says nothing of what the account has for this one."""
    stack = Stack(writing(statements), CONTEXT)
    check(stack)
    assert [f"{finding.level} {finding.rule}" for finding in stack.findings] == found
