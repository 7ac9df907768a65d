"""Two more sets within the cluster, put to the whole verdict, and what is right beside every rule that came of them.

| set | mistakes | told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| fourth | 61 | 44 (72 %) | 60 | one, which says why |
| fifth | 46 | 25 (54 %) | 40 | six, each says why |
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.works import mistakes_k8s_fifth as fifth
from tests.rehearsal.works import mistakes_k8s_fourth as fourth
from tests.rehearsal.works.mistakes import added, both, context_of, drop, edit, put, tells, told
from tests.rehearsal.works.mistakes_breadth import installed
from tests.rehearsal.works.mistakes_k8s_first import (
    CONFIG_MAP,
    DAEMONS,
    DEPLOYMENT,
    FIRST,
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
    VOLUME,
    WALL,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import FLUENT, LARGE, PRIORITY_CLASS, SQUID, server_env
from tests.rehearsal.works.mistakes_k8s_second import CLASS
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.review.policy_check.check import check_policies

__all__ = ["of"]  # the fixture

EVERY = [
    pytest.param(one, id=f"{which}-{one.name}")
    for which, found in (("fourth", fourth.MISTAKES), ("fifth", fifth.MISTAKES))
    for one in found
    if one.rule is not None
]


def refused(stack, change):
    """The rules of what an API server would refuse."""
    resources = change(list(stack.known.resources))
    found = [*check_schema(resources, stack.known.classes)]
    if not found:
        found = check_values(resources, replace(context_of(stack), ours=True))
    return {one.rule for one in found}


@pytest.mark.parametrize("mistake", EVERY)
def test_a_mistake_is_told(of, mistake):
    stack = of(mistake.stack)
    kind, _, name = mistake.rule.rpartition(":")
    if kind == "refusal":
        found = refused(stack, mistake.change)
    elif kind == "policy":
        changed = mistake.change(list(stack.known.resources))
        rules = [policy for policy in POLICIES if policy.name == name]
        found = {one.policy for one in check_policies("s", [], changed, stack.settings, policies=rules).violations}
    else:
        found = tells(stack, mistake.change, name, ours=True)
    assert name in found, found


def test_what_is_left_is_few_and_says_why():
    left = [one for one in (*fourth.MISTAKES, *fifth.MISTAKES) if one.rule is None]
    assert len(left) <= 7
    assert all(one.why for one in left)


def claimed(mode: str, strategy: str):
    """A keeper with a claim of that mode, replaced in that way."""
    body = {"accessModes": [mode], "storageClassName": "trainyard-gp3", "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"name": "tmp", "persistentVolumeClaim": {"claimName": "idle"}}
    return both(
        added("core/v1:PersistentVolumeClaim", "idle", {"spec": body}, "kueue-system"),
        edit(DEPLOYMENT, "kueue-idle-deployment", put("spec.strategy", {"type": strategy}),
             put(f"{POD}.volumes[1]", claim)),
    )  # fmt: skip


ALERTS = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}},
    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "alertmanager"}},
}
GOSSIP = [{"protocol": "TCP", "port": 9094}, {"protocol": "UDP", "port": 9094}]
DEFAULT = "metadata.annotations.storageclass~kubernetes~io/is-default-class"
PERSISTENT = values(STACK, "grafana.persistence", {"enabled": True, "size": "10Gi"})
FULL = edit(RUNTIME, TRAIN, said("spec", "failed with exit code (10|20) ", "exit code 10 matching FailJob"))
SOUND = {
    "a second port that the pod's own programs ask": (
        "demo",
        "programs-loopback",
        edit(
            CONFIG_MAP,
            "egress-configuration",
            said(SQUID, "http_port 3128", "http_port 3128\nhttp_port 127.0.0.1:3129"),
        ),
    ),
    "figures for the proxy of the pod": (
        "demo",
        "programs-loopback",
        edit(DEPLOYMENT, "egress-deployment", put(f"{FIRST}.args", ["--metrics-bind-address=127.0.0.1:8081"])),
    ),
    "less in memory than half of the limit": (
        "demo",
        "programs-node-logs",
        edit(CONFIG_MAP, "team-logs-configuration", said(FLUENT, "32MB", "100MB")),
    ),
    "somebody who may read every file": (
        "demo",
        "programs-node-logs",
        edit(
            DAEMONS,
            "team-logs",
            put(f"{FIRST}.securityContext.runAsUser", 10001),
            put(f"{FIRST}.securityContext.capabilities.add", ["DAC_READ_SEARCH"]),
        ),
    ),
    "once a minute, and half of it to answer": (
        "demo",
        "programs-scrape",
        edit(
            POD_MONITOR,
            "monitoring-gpus",
            put("spec.podMetricsEndpoints[0].interval", "1m"),
            put("spec.podMetricsEndpoints[0].scrapeTimeout", "30s"),
        ),
    ),
    "a Prometheus with half of the memory": (
        LARGE,
        "programs-prometheus-memory",
        values(STACK, "prometheus.prometheusSpec.resources.limits.memory", "4Gi"),
    ),
    "a class that no quota counts": (
        "demo",
        "reference-default-priority",
        added("scheduling.k8s.io/v1:PriorityClass", "usual", {"value": 0, "globalDefault": True}),
    ),
    "a part of what a Job says": ("demo", "reference-failure-message", FULL),
    "another release of the same minor version": (
        "demo",
        "charts-image-version",
        values(QUEUES, "controllerManager.manager.image.tag", "v0.19.1"),
    ),
    "an autoscaler that is one version behind": (
        "demo",
        "charts-image-version",
        values("autoscaler-release", "image.tag", "v1.34.1"),
    ),
    "certificates of somebody who is installed": (
        "demo",
        "reference-brought",
        both(values(QUEUES, "enableCertManager", True), installed("cm", "cert-manager", crds={"enabled": True})),
    ),
    "Alertmanagers that reach each other": (
        "demo",
        "flows-gossip",
        both(
            values(STACK, "alertmanager.alertmanagerSpec.replicas", 3),
            edit(
                WALL,
                "monitoring-allow-alertmanager",
                put("spec.ingress", [{"from": [ALERTS], "ports": GOSSIP}]),
                put("spec.egress", [{"to": [ALERTS], "ports": GOSSIP}]),
            ),
        ),
    ),
    "Grafanas with one database": (
        "demo",
        "charts-own-state",
        values(
            STACK,
            "grafana",
            {"replicas": 2, "grafana.ini": {"database": {"type": "postgres", "host": "db.acme.example:5432"}}},
        ),
    ),
    "a class that is the default": (
        "demo",
        "reference-default-class",
        both(PERSISTENT, edit(CLASS, "blocks-class", put(DEFAULT, "true"))),
    ),
    "a disk of a named class": (
        "demo",
        "reference-default-class",
        values(STACK, "grafana.persistence", {"enabled": True, "size": "10Gi", "storageClassName": "trainyard-gp3"}),
    ),
    "GKE's own default": ("demo-gcp", "reference-default-class", PERSISTENT),
    "a pod that ends before the next begins": ("demo", "programs-pod-disk", claimed("ReadWriteOnce", "Recreate")),
    "a folder that all nodes share": ("demo", "programs-pod-disk", claimed("ReadWriteMany", "RollingUpdate")),
    "a folder in memory": (
        "demo",
        "programs-pod-disk",
        edit(JOB, "smoke-train-spot-job", put(f"{POD}.volumes[2].emptyDir", {"medium": "Memory", "sizeLimit": "40Gi"})),
    ),
    "what a quota counts of objects and classes": (
        "demo",
        "k8s-quota-resource",
        edit(
            QUOTA,
            "ingest-quota",
            put(
                "spec.hard",
                {
                    "requests.nvidia.com/gpu": "0",
                    "count/jobs.batch": "9",
                    "gold.storageclass.storage.k8s.io/requests.storage": "1Ti",
                },
            ),
        ),
    ),
    "jobs in the order in which they came": (
        "demo",
        "kueue-configuration",
        edit(RELEASE, QUEUES, said(fifth.CONFIGURATION, "timestamp: Eviction", "timestamp: Creation")),
    ),
    "a runtime of two nodes": (
        "demo",
        "reference-runtime-policy",
        edit(RUNTIME, TRAIN, put("spec.mlPolicy.numNodes", 2)),
    ),
    "a label of one's own, and all labels": (
        "demo",
        "reference-alert-label",
        values(STACK, "alertmanager.config.route.group_by", ["..."]),
    ),
    "folders that nobody asks for": (
        "demo",
        "reference-sidecar",
        values(STACK, "grafana.sidecar.dashboards.folderAnnotation", None),
    ),
    "the bucket in a variable": (
        "demo",
        "programs-tracking-server",
        edit(
            DEPLOYMENT,
            SERVER,
            said("spec", "--artifacts-destination=", "--app-note="),
            put(
                f"{FIRST}.env[0]", {"name": "MLFLOW_ARTIFACTS_DESTINATION", "value": "s3://acme-demo-artifacts/mlflow"}
            ),
        ),
    ),
    "a few connections more": (
        "demo",
        "programs-connections",
        edit(DEPLOYMENT, SERVER, server_env("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "10")),
    ),
    "a folder of a bucket": (
        "demo-gcp",
        "reference-team-folder",
        edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions[1]", "only-dir=teams/vision/")),
    ),
    "ranks that nobody names": (
        "demo",
        "reference-subdomain",
        both(
            drop(fourth.SERVICE, "smoke-train-spot-ranks"),
            edit(JOB, "smoke-train-spot-job", lambda inputs: inputs["spec"]["template"]["spec"].pop("subdomain")),
        ),
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_right_is_not_told(rehearsed, name):
    which, rule, change = SOUND[name]
    stack = rehearsed(which)
    held = told_together(
        (__name__, which),
        name,
        stack.known.resources,
        {what: each for what, (of_stack, _, each) in SOUND.items() if of_stack == which},
        lambda resources: told(stack, lambda _: list(resources), ours=True),
        lambda what, finding: finding.rule == SOUND[what][1],
    )
    assert held == []
    if rule.startswith(("k8s-", "kueue-")):
        assert rule not in refused(stack, change)


MORE = {
    "a second default": (
        "demo",
        "reference-default-priority",
        both(
            edit(PRIORITY_CLASS, "teams-cpu-only", put("globalDefault", True)),
            added("scheduling.k8s.io/v1:PriorityClass", "usual", {"value": 0, "globalDefault": True}),
        ),
    ),
    "two pods with the disk of one node": (
        "demo",
        "programs-pod-disk",
        both(claimed("ReadWriteOnce", "Recreate"), edit(DEPLOYMENT, "kueue-idle-deployment", put("spec.replicas", 2))),
    ),
    "runs in a file of each pod": (
        "demo",
        "programs-tracking-server",
        edit(DEPLOYMENT, SERVER, said("spec", "--backend-store-uri=postgresql", "--backend-store-uri=sqlite:///")),
    ),
    "an autoscaler of another age": (
        "demo",
        "charts-image-version",
        values("autoscaler-release", "image.tag", "v1.31.0"),
    ),
    "monitors of a chart, and nobody who reads them": (
        "demo",
        "reference-brought",
        both(drop(RELEASE, STACK), values("gpu-dcgm-exporter", "serviceMonitor.enabled", True)),
    ),
    "Cloud SQL's own limit": (
        "demo-gcp",
        "programs-connections",
        edit(DEPLOYMENT, SERVER, server_env("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "300")),
    ),
    "a claim without a class": (
        "demo",
        "reference-default-class",
        added(
            "core/v1:PersistentVolumeClaim",
            "notes",
            {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
            "mlflow",
        ),
    ),
    "figures of a year on a small disk": (
        "demo",
        "programs-prometheus-disk",
        both(
            values(STACK, "prometheus.prometheusSpec.retention", "3y"),
            values(
                STACK,
                "prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.resources.requests.storage",
                "10Gi",
            ),
        ),
    ),
    "an alert that silences by a label of nobody": (
        "demo",
        "reference-alert-label",
        values(STACK, "alertmanager.config.inhibit_rules[0].equal", ["namespaces"]),
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_the_rest_of_a_class_is_told(rehearsed, name):
    stack, rule, change = MORE[name]
    assert rule in tells(rehearsed(stack), change, rule, ours=True)
