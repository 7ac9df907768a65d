"""What a cluster may hold that is right, of other people's programs: unlike what a component makes, and not told."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works import mistakes_gcp_forty as forty
from tests.rehearsal.works import mistakes_gcp_sixty as gcp
from tests.rehearsal.works.mistakes import DROP, Change, added, both, drop, edit, put, told
from tests.rehearsal.works.mistakes_breadth import installed
from tests.rehearsal.works.mistakes_k8s_first import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    POD,
    POD_MONITOR,
    QUEUES,
    QUOTA,
    RELEASE,
    RUNTIME,
    SERVER,
    STACK,
    TRAIN,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import PRIORITY_CLASS, server_env
from tests.rehearsal.works.mistakes_managed import make
from tests.rehearsal.works.mistakes_managed_sixty import COUNTED
from tests.rehearsal.works.mistakes_managed_third import SMALL, of_widget
from tests.rehearsal.works.together import told_together
from trainyard.recorded.model import UNKNOWN

Told = tuple[str, str, str, Change]
"""A stack, a room, a rule and what is changed."""


def pods(kind: str, namespace: str, *containers: dict[str, Any], **spec: Any) -> Change:
    """Pods of somebody's own."""
    labels = {"app": "theirs"}
    pod = {"containers": [{"image": "registry.example/theirs:1", **one} for one in containers], **spec}
    body = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return added(f"apps/v1:{kind}", "theirs", {"spec": body}, namespace)


def service(namespace: str, port: int) -> Change:
    body = {"selector": {"app": "theirs"}, "ports": [{"port": port}]}
    return added("core/v1:Service", "theirs", {"spec": body}, namespace)


FILTER = "conditions[0].conditionMatchedLog.filter"
BUCKETS = 'resource.type="gcs_bucket" AND resource.labels.bucket_name="{}"'
SERVICES = 'resource.type="cloud_run_revision" AND resource.labels.service_name="{}"'
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
DISK = values(STACK, "grafana.persistence", {"enabled": True, "size": "10Gi"})


def shared_list(resources: Any) -> Any:
    """Allows names of a list that another account shares, before all others."""
    group = next(one for one in resources if one.type == aws.DNS_RULE).inputs["firewallRuleGroupId"]
    inputs = {"firewallDomainListId": "rslvr-fdl-shared", "firewallRuleGroupId": group, "priority": 1}
    return make(aws.DNS_RULE, "shared", {**inputs, "action": "ALLOW"})(resources)


def by_its_service(inputs: dict[str, Any]) -> None:
    """Rank 0 is asked for by the name of the ranks' service, of which it is the only pod."""
    ranks = inputs["metadata"]["name"]
    said("spec", f"{ranks}-0.{ranks}", ranks)(inputs)
    put(f"{POD}.subdomain", DROP)(inputs)


def elsewhere(inputs: dict[str, Any]) -> None:
    """Has the tracking server ask a cluster of another stack."""
    container = inputs["spec"]["template"]["spec"]["containers"][0]
    for key in ("command", "args"):
        for index, text in enumerate(container.get(key) or ()):
            if "--backend-store-uri=" in text:
                container[key][index] = re.sub(r"@[^:/]+", "@runs.cluster-x.us-east-1.rds.amazonaws.com", text)


def rule(pattern: str) -> Any:
    """Another pattern for what a runtime's first rule waits for."""
    at = "spec.template.spec.failurePolicy.rules[0].onJobFailureMessagePatterns"
    return put(at, [pattern])


RIGHT: dict[str, Told] = {
    "an exporter of the node's figures, as nobody": (
        "demo",
        "programs",
        "programs-node-logs",
        pods(
            "DaemonSet",
            "monitoring",
            {
                "name": "exporter",
                "args": ["--path.rootfs=/host"],
                "securityContext": {"runAsUser": 65534},
                "volumeMounts": [{"name": "node", "mountPath": "/host", "readOnly": True}],
            },
            volumes=[{"name": "node", "hostPath": {"path": "/"}}],
        ),
    ),
    "a reader of the kernel's log, as nobody": (
        "demo",
        "programs",
        "programs-node-logs",
        pods(
            "DaemonSet",
            "monitoring",
            {
                "name": "kernel",
                "args": ["--file=/var/log/kern.log"],
                "securityContext": {"runAsUser": 65534},
                "volumeMounts": [{"name": "logs", "mountPath": "/var/log", "readOnly": True}],
            },
            volumes=[{"name": "logs", "hostPath": {"path": "/var/log"}}],
        ),
    ),
    "whom a program asks beside it": (
        "demo",
        "programs",
        "programs-loopback",
        pods(
            "Deployment",
            "monitoring",
            {
                "name": "web",
                "args": ["--db-host=127.0.0.1", "--port=8080"],
                "ports": [{"containerPort": 8080}],
                "readinessProbe": {"tcpSocket": {"port": 8080}},
            },
        ),
    ),
    "a copy of the database that is made beside it": (
        "demo",
        "programs",
        "programs-loopback",
        both(
            pods(
                "Deployment",
                "monitoring",
                {"name": "database", "ports": [{"containerPort": 5432}]},
                {"name": "copy", "command": ["pg_dump", "--host", "127.0.0.1", "--port", "5432"]},
            ),
            service("monitoring", 5432),
        ),
    ),
    "a variable whose name is a list": (
        "demo",
        "programs",
        "programs-loopback",
        pods("Deployment", "monitoring", {"name": "web", "env": [{"name": ["HOST"], "value": "127.0.0.1"}]}),
    ),
    "a ration of pods of the default class": (
        "demo",
        "references",
        "reference-default-priority",
        edit(PRIORITY_CLASS, "teams-cpu-only", put("globalDefault", True)),
    ),
    "no pods but those of the default class": (
        "demo",
        "references",
        "reference-default-priority",
        both(
            edit(PRIORITY_CLASS, "teams-cpu-only", put("globalDefault", True)),
            edit(
                QUOTA,
                "teams-vision-cpu-only",
                put("spec.hard", {"pods": "0"}),
                put("spec.scopeSelector.matchExpressions[0].operator", "NotIn"),
            ),
        ),
    ),
    "a scrape of its own times": (
        "demo",
        "programs",
        "programs-scrape",
        added(
            "monitoring.coreos.com/v1alpha1:ScrapeConfig",
            "outside",
            {"spec": {"scrapeInterval": "1m", "scrapeTimeout": "45s"}},
            "monitoring",
        ),
    ),
    "somebody else's Prometheus, which asks once a minute": (
        "demo",
        "programs",
        "programs-scrape",
        both(
            drop(RELEASE, STACK),
            edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].scrapeTimeout", "45s")),
        ),
    ),
    "a Prometheus beside the chart's": (
        "demo",
        "programs",
        "programs-scrape",
        both(
            added("monitoring.coreos.com/v1:Prometheus", "own", {"spec": {"scrapeInterval": "1m"}}, "monitoring"),
            edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].scrapeTimeout", "45s")),
        ),
    ),
    "what is read of another stack's bucket": (
        gcp.STACK,
        "programs",
        "programs-filter",
        edit(gcp.POLICY, "record-alarms-rights", put(FILTER, BUCKETS.format("globex-exports"))),
    ),
    "requests to a function": (
        gcp.STACK,
        "programs",
        "programs-filter",
        both(
            make("gcp:cloudrunv2/service:Service", "portal", {"name": "portal", "location": "europe-west4"}),
            make("gcp:cloudfunctionsv2/function:Function", "portals", {"name": "portals", "location": "europe-west4"}),
            edit(gcp.POLICY, "record-alarms-rights", put(FILTER, SERVICES.format("portals"))),
        ),
    ),
    "a class that is made the default by a patch": (
        "demo",
        "references",
        "reference-default-class",
        both(
            DISK,
            added(
                "storage.k8s.io/v1:StorageClassPatch",
                "gp2",
                {"kind": "StorageClass", "metadata": {"annotations": {IS_DEFAULT: "true"}}},
            ),
        ),
    ),
    "a class that a chart makes the default": (
        "demo",
        "references",
        "reference-default-class",
        both(
            DISK,
            installed(
                "efs", "aws-efs-csi-driver", storageClasses=[{"name": "efs", "annotations": {IS_DEFAULT: "true"}}]
            ),
        ),
    ),
    "a volume without a class": (
        "demo",
        "references",
        "reference-default-class",
        both(
            DISK,
            added(
                "core/v1:PersistentVolume",
                "notes",
                {
                    "spec": {
                        "capacity": {"storage": "10Gi"},
                        "csi": {"driver": "efs.csi.aws.com", "volumeHandle": "fs-1"},
                    }
                },
            ),
        ),
    ),
    "a claim that selects its volume": (
        "demo",
        "references",
        "reference-default-class",
        added(
            "core/v1:PersistentVolumeClaim",
            "notes",
            {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "selector": {"matchLabels": {"for": "notes"}},
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            },
            "mlflow",
        ),
    ),
    "sizes of pods by GKE's own": (
        "demo-gcp",
        "references",
        "reference-brought",
        values(QUEUES, "verticalPodAutoscaler.enabled", True),
    ),
    "events that a function logs": (
        SMALL,
        "programs",
        "programs-event",
        edit(COUNTED, "managed-jobs-failed", put("logGroupName", "/aws/lambda/brake")),
    ),
    "a graph of inference components": (
        SMALL,
        "programs",
        "programs-alarm",
        of_widget(
            lambda one: one["properties"].update(
                metrics=[
                    [{"expression": "SEARCH('{/aws/sagemaker/InferenceComponents,Host} CPUUtilization', 'Average')"}]
                ]
            )
        ),
    ),
    "a graph of another region of the stack's": (
        SMALL,
        "programs",
        "programs-alarm",
        both(
            make("aws:s3/bucket:Bucket", "copies", {"bucket": "initech-copies", "region": "us-east-2"}),
            of_widget(lambda one: one["properties"].update(region="us-east-2")),
        ),
    ),
    "names of S3 and the registry by what is below them": (
        SMALL,
        "programs",
        "programs-dns-order",
        edit(
            aws.DNS_LIST,
            "dns-allowed",
            lambda it: it["domains"].remove("*.amazonaws.com"),
            lambda it: it["domains"].extend(["*.s3.us-east-1.amazonaws.com", "*.ecr.us-east-1.amazonaws.com"]),
        ),
    ),
    "a list of names that somebody shares": (
        SMALL,
        "programs",
        "programs-dns-order",
        both(edit(aws.DNS_LIST, "dns-allowed", lambda it: it["domains"].remove("*.amazonaws.com")), shared_list),
    ),
    "rank 0 by the name of a service": (
        "demo",
        "references",
        "reference-subdomain",
        edit(JOB, "smoke-train-spot-job", by_its_service),
    ),
    "a small database, and the server asks another": (
        "demo",
        "programs",
        "programs-connections",
        both(edit(DEPLOYMENT, SERVER, server_env("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "80"), elsewhere)),
    ),
    "clients who are told the bucket": (
        "demo",
        "programs",
        "programs-tracking-server",
        edit(DEPLOYMENT, SERVER, said("spec", "--artifacts-destination=", "--default-artifact-root=")),
    ),
    "artifacts in a folder that is kept": (
        "demo",
        "programs",
        "programs-tracking-server",
        edit(
            DEPLOYMENT,
            SERVER,
            said("spec", "--artifacts-destination=", "--app-note="),
            lambda it: it["spec"]["template"]["spec"]["volumes"].append(
                {"name": "kept", "persistentVolumeClaim": {"claimName": "kept"}}
            ),
            lambda it: it["spec"]["template"]["spec"]["containers"][0]["volumeMounts"].append(
                {"name": "kept", "mountPath": "/kept"}
            ),
        ),
    ),
    "an instance by the address of an endpoint": (
        gcp.STACK,
        "programs",
        "programs-database",
        both(
            edit(
                forty.USER,
                "northwind-production-mlflow-mlflow",
                put("type", "CLOUD_IAM_SERVICE_ACCOUNT"),
                put("name", "runs@northwind.iam"),
            ),
            pods(
                "Deployment",
                "monitoring",
                {
                    "name": "web",
                    "env": [
                        {
                            "name": "RUNS",
                            "value": "postgresql://runs%40northwind.iam@10.250.0.9:5432/mlflow?sslmode=require",
                        }
                    ],
                },
            ),
            edit(
                gcp.SQL,
                "northwind-production-mlflow",
                put("settings.ipConfiguration.pscConfigs", [{"pscEnabled": True}]),
                forty.lets_iam_in,
            ),
        ),
    ),
    "a rule for some of the pods": (
        "demo",
        "references",
        "reference-failure-message",
        edit(RUNTIME, TRAIN, rule("for pod .*-worker-")),
    ),
    "a rule for a condition of one's own": (
        "demo",
        "references",
        "reference-failure-message",
        edit(RUNTIME, TRAIN, rule("has condition GpuLost")),
    ),
    "alerts by a label of their figures": (
        "demo",
        "references",
        "reference-alert-label",
        both(
            values(STACK, "alertmanager.config.route.group_by", ["code"]),
            added(
                "monitoring.coreos.com/v1:PrometheusRule",
                "requests",
                {
                    "spec": {
                        "groups": [
                            {
                                "name": "requests",
                                "rules": [{"alert": "Errors", "expr": "sum by (code) (rate(requests_total[5m])) > 1"}],
                            }
                        ]
                    }
                },
                "monitoring",
            ),
        ),
    ),
    "two pods with a folder of a shared file system": (
        "demo",
        "programs",
        "programs-pod-disk",
        both(
            added("storage.k8s.io/v1:StorageClass", "files", {"provisioner": "efs.csi.aws.com"}),
            added(
                "core/v1:PersistentVolumeClaim",
                "files",
                {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "files",
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                },
                "monitoring",
            ),
            pods(
                "Deployment",
                "monitoring",
                {"name": "web"},
                volumes=[{"name": "files", "persistentVolumeClaim": {"claimName": "files"}}],
            ),
            edit("kubernetes:apps/v1:Deployment", "added-theirs", put("spec.replicas", 2)),
        ),
    ),
    "a label with a dot": (
        gcp.STACK,
        "programs",
        "programs-alert",
        edit(gcp.POLICY, "record-alarms-rights", put("documentation.content", "${metric.label.a.b}")),
    ),
    "Grafanas whose database a secret says": (
        "demo",
        "charts",
        "charts-own-state",
        values(STACK, "grafana", {"replicas": 2, "envFromSecrets": [{"name": "grafana-database"}]}),
    ),
    "Grafanas whose database a map says": (
        "demo",
        "charts",
        "charts-own-state",
        values(STACK, "grafana", {"replicas": 2, "envFromConfigMaps": [{"name": "grafana-database"}]}),
    ),
    "Grafanas whose database a variable says": (
        "demo",
        "charts",
        "charts-own-state",
        values(STACK, "grafana", {"replicas": 2, "envRenderSecret": {"GF_DATABASE_URL": "postgres://a/b"}}),
    ),
    "an autoscaler of a cluster whose version is not recorded": (
        "demo",
        "charts",
        "charts-image-version",
        both(
            edit(aws.CLUSTER, "cluster-cluster", put("version", DROP)),
            values("autoscaler-release", "image.tag", "v1.31.0"),
        ),
    ),
}
WARNED: dict[str, Told] = {
    "connections that nobody limits": (
        "demo-gcp",
        "programs",
        "programs-connections",
        edit(DEPLOYMENT, SERVER, server_env("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "300")),
    ),
    "alerts by a label that a chart's may have": (
        "demo",
        "references",
        "reference-alert-label",
        values(STACK, "alertmanager.config.route.group_by", ["code"]),
    ),
    "a topic that the stack subscribes nobody to": (
        "large-aws",
        "programs",
        "programs-alarm",
        edit(aws.ALARM, "watchdog-silent", put("metricName", "NumberOfNotificationsDelivered")),
    ),
    "a shell's variable in what is to be done": (
        gcp.STACK,
        "programs",
        "programs-alert",
        edit(gcp.POLICY, "record-alarms-rights", put("documentation.content", "kubectl -n ${NAMESPACE} get pods")),
    ),
    "services that programs in Go leave out": (
        "demo",
        "programs",
        "programs-proxy",
        edit(CONFIG_MAP, "egress-clients-vision", said("data", ".svc,.svc.cluster.local", "*.svc,*.svc.cluster.local")),
    ),
}
MORE: dict[str, Told] = {
    "a server in the default namespace that listens to itself": (
        "demo",
        "programs",
        "programs-loopback",
        both(
            pods(
                "Deployment",
                "default",
                {"name": "web", "args": ["--host=127.0.0.1", "--port=8080"], "ports": [{"containerPort": 8080}]},
            ),
            service("default", 8080),
        ),
    ),
    "a default class of which there is no pod": (
        "demo",
        "references",
        "reference-default-priority",
        both(
            edit(PRIORITY_CLASS, "teams-cpu-only", put("globalDefault", True)),
            edit(QUOTA, "teams-vision-cpu-only", put("spec.hard.pods", "0")),
        ),
    ),
    "a mistake beside nodes whose number is not known": (
        "demo",
        "programs",
        "programs-volume",
        both(
            edit("aws:eks/nodeGroup:NodeGroup", "gpu-nodes-train-on-demand", put("scalingConfig", UNKNOWN)),
            added(
                "core/v1:PersistentVolume",
                "home",
                {
                    "spec": {
                        "persistentVolumeReclaimPolicy": "Delete",
                        "csi": {"driver": "efs.csi.aws.com", "volumeHandle": "fs-1"},
                    }
                },
            ),
        ),
    ),
    "requests to a service by nearly its name": (
        gcp.STACK,
        "programs",
        "programs-filter",
        both(
            make("gcp:cloudrunv2/service:Service", "portal", {"name": "portal", "location": "europe-west4"}),
            edit(gcp.POLICY, "record-alarms-rights", put(FILTER, SERVICES.format("portals"))),
        ),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_told(rehearsed: Any, name: str) -> None:
    which, room, _, _ = RIGHT[name]
    stack = rehearsed(which)
    held = told_together(
        (__name__, which, room),
        name,
        stack.known.resources,
        {what: change for what, (*where, _, change) in RIGHT.items() if where == [which, room]},
        lambda resources: told(stack, lambda _: list(resources), room, ours=True),
        lambda what, finding: finding.rule == RIGHT[what][2],
    )
    assert held == []


@pytest.mark.parametrize("name", WARNED)
def test_what_may_be_right_is_a_warning(rehearsed: Any, name: str) -> None:
    stack, room, rule, change = WARNED[name]
    assert {one.level for one in told(rehearsed(stack), change, room, ours=True) if one.rule == rule} == {"warning"}


@pytest.mark.parametrize("name", MORE)
def test_what_stands_beside_it_is_told(rehearsed: Any, name: str) -> None:
    stack, room, rule, change = MORE[name]
    assert rule in {one.rule for one in told(rehearsed(stack), change, room, ours=True)}


def test_a_default_class_of_somebody_elses_cluster_is_a_warning(rehearsed: Any) -> None:
    found = [one for one in told(rehearsed("demo"), DISK, "references") if one.rule == "reference-default-class"]
    assert {one.level for one in found} <= {"warning"}


def test_an_image_is_named_as_its_tags_are(rehearsed: Any) -> None:
    change = values("kueue-release", "controllerManager.manager.image.tag", "v0.1.0")
    found = told(rehearsed("demo"), change, "charts", ours=True)
    assert not any(one.allowed.startswith("vv") for one in found)
    change = installed("karpenter", "karpenter", controller={"image": {"tag": "0.37.0"}})
    found = [one for one in told(rehearsed("demo"), change, "charts") if one.rule == "charts-image-version"]
    assert {one.allowed for one in found} == {"1.0.0, or none"}
