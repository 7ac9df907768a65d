"""Every mistake in what a program is told is told by its rule; what is right, ours or somebody else's, is not."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, WHOLE
from tests.rehearsal.refusals.builders import CONTEXT, changed, obj, resource
from tests.rehearsal.works.mistakes import context_of, edit, put
from tests.rehearsal.works.mistakes_programs import (
    ALARM,
    CONFIG_MAP,
    DATABASE,
    DEPLOYMENT,
    MISTAKES,
    REQUEST,
    SERVER,
    spoken,
    swapped,
)
from tests.rehearsal.works.mistakes_programs_gcp import MISTAKES as ON_GOOGLE_CLOUD
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check


def findings(resources, context=CONTEXT):
    stack = Stack(resources, context)
    check(stack)
    return stack.findings


@pytest.mark.parametrize(
    "mistake", [*MISTAKES, *ON_GOOGLE_CLOUD], ids=lambda mistake: f"{mistake.stack}-{mistake.name}"
)
def test_a_mistake_is_told(rehearsed, mistake):
    done = rehearsed(WHOLE if mistake.stack == "demo" else mistake.stack)
    found = findings(mistake.change(done.known.resources), context_of(done))
    assert mistake.rule in {finding.rule for finding in found}, found


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_is_accused(rehearsed, stack):
    done = rehearsed(stack)
    assert findings(done.known.resources, context_of(done)) == []


UNUSUAL = {
    "the database that every server has": edit(DEPLOYMENT, SERVER, spoken(":5432/mlflow?", ":5432/postgres?")),
    "a public bucket": edit(CONFIG_MAP, "teams-vision-storage", put("data.DATA", "s3://imagenet-public/train")),
    "a port more": edit(
        CONFIG_MAP, "egress-configuration",
        swapped("http_port 3128", "http_port 127.0.0.1:3129\nhttp_port 3128", "data", "squid.conf"),
    ),
    "files are written elsewhere": edit(DEPLOYMENT, SERVER, put("spec.template.spec.containers[0].env[0]",
                                                                {"name": "TMPDIR", "value": "/run/metrics/tmp"})),
    "a certificate of every name": edit(REQUEST, "mlflow-certificate-request",
                                        put("dnsNames", ["*.mlflow.svc.cluster.local", "mlflow.acme.example"])),
    "an alarm on what the stack has none of": edit(ALARM, "watchdog-silent", put("namespace", "AWS/SQS"),
                                                   put("dimensions", {"QueueName": "of-others"})),
    "a metric of a program's own": edit(ALARM, "watchdog-silent", put("namespace", "Acme/Jobs"),
                                        put("metricName", "Done"), put("dimensions", {})),
    "a database from a snapshot": edit(DATABASE, "acme-demo-mlflow", put("dbName", "other"),
                                       put("snapshotIdentifier", "rds:before")),
    "a key that is on": edit("aws:kms/key:Key", "data-key", put("isEnabled", True)),
}  # fmt: skip


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_only_unusual_is_not_accused(rehearsed, what):
    demo = rehearsed(WHOLE)
    assert findings(UNUSUAL[what](demo.known.resources), context_of(demo)) == []


LABELS = {"app": "web"}


def web(**container):
    body = {"name": "web", "image": "nginx:1", "ports": [{"containerPort": 8080}], **container}
    volumes = [
        {"name": "site", "configMap": {"name": "site"}}, {"name": "cache", "emptyDir": {}},
        {"name": "tls", "secret": {"secretName": "web-tls"}},
    ]  # fmt: skip
    spec = {"containers": [body], "volumes": volumes}
    template = {"metadata": {"labels": LABELS}, "spec": spec}
    return obj("apps/v1", "Deployment", "web", "web", spec={"selector": {"matchLabels": LABELS}, "template": template})


MOUNTS = [{"name": "site", "mountPath": "/etc/nginx/conf.d"}, {"name": "cache", "mountPath": "/var/cache/nginx"}]
FOREIGN = [
    obj("v1", "Namespace", "web"),
    obj("v1", "ConfigMap", "site", "web", data={"site.conf": "server {\n  listen 8080;\n}"}),
    obj("v1", "Service", "web", "web", spec={"selector": LABELS, "ports": [{"port": 443}]}),
    obj(
        "cert-manager.io/v1", "Certificate", "web", "web",
        spec={"secretName": "web-tls", "dnsNames": ["web.web.svc", "web.web"]},
    ),
    web(command=["nginx", "-g", "daemon off;"], volumeMounts=MOUNTS, securityContext={"readOnlyRootFilesystem": True}),
    resource("aws:sns/topic:Topic", "t", {"name": "t"}, arn="arn:aws:sns:us-east-1:123456789012:t"),
    resource(ALARM, "a", {"namespace": "AWS/SNS", "metricName": "PublishSize", "dimensions": {"TopicName": "t"}}),
]  # fmt: skip


def test_a_correct_program_of_somebody_else_is_not_accused():
    assert findings(FOREIGN) == []


@pytest.mark.parametrize(
    ("name", "path", "value", "rule"),
    [
        ("configmap-site", "data", {"site.conf": "server {\n  listen [::]:80;\n}"}, "programs-port"),
        ("certificate-web", "spec.dnsNames", ["web.example.org"], "programs-certificate"),
        (
            "deployment-web", "spec.template.spec.containers[0].volumeMounts[1].readOnly", True,
            "programs-read-only",
        ),
        ("a", "dimensions.TopicName", "topic", "programs-alarm"),
    ],
)  # fmt: skip
def test_a_mistake_of_somebody_else_is_told(name, path, value, rule):
    assert rule in {finding.rule for finding in findings(changed(FOREIGN, name, path, value))}


def test_what_is_called_from_outside_has_a_name_of_its_own():
    wrong = changed(FOREIGN, "certificate-web", "spec.dnsNames", ["web.example.org"])
    assert findings(changed(wrong, "service-web", "spec.type", "LoadBalancer")) == []
    ingress = obj("networking.k8s.io/v1", "Ingress", "web", "web",
                  spec={"defaultBackend": {"service": {"name": "web", "port": {"number": 443}}}})  # fmt: skip
    assert findings([*wrong, ingress]) == []


def test_a_root_that_may_be_written_to_needs_no_volume():
    free = changed(FOREIGN, "deployment-web", "spec.template.spec.containers[0].securityContext", {})
    assert findings(changed(free, "deployment-web", "spec.template.spec.containers[0].volumeMounts", MOUNTS[:1])) == []


POLICY = obj("networking.k8s.io/v1", "NetworkPolicy", "all", "web", spec={"podSelector": {}})
OFF = {"addonName": "vpc-cni", "clusterName": "c", "configurationValues": '{"enableNetworkPolicy": "false"}'}
CNI = resource("aws:eks/addon:Addon", "cni", OFF)
CLUSTER = resource("aws:eks/cluster:Cluster", "c", {"name": "c"})


def test_policies_are_somebody_elses_to_enforce():
    assert [one.rule for one in findings([POLICY, CNI, CLUSTER])] == ["programs-policies-off"]
    calico = resource("kubernetes:helm.sh/v3:Release", "calico", {"chart": "tigera-operator", "name": "calico"})
    assert findings([POLICY, CNI, CLUSTER, calico]) == []
    assert findings([CNI, CLUSTER]) == []
    assert findings([POLICY, changed([CNI], "cni", "configurationValues", "{}")[0], CLUSTER]) == []
