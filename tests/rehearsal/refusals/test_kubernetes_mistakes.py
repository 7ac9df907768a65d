"""Every seeded mistake of a Kubernetes object, a custom resource or a chart's value is caught, with rule and path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, DROP, changed, findings
from tests.rehearsal.refusals.good_kubernetes import KUBERNETES, TOLERATION, container, quota

D, POD = "deployment-mlflow", "spec.template.spec"
C = f"{POD}.containers[0]"
Q, F, T = "clusterqueue-research", "resourceflavor-train-reserved", "clustertrainingruntime-torch-distributed"
NODE = "spec.template.spec.replicatedJobs[0]"
FLAVOR = "spec.resourceGroups[0].flavors[0]"
YAML = "values.managerConfig.controllerManagerConfigYaml"
HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"

OBJECTS: list[tuple[str, str, Any, str, str]] = [
    (D, "spec.replica", 2, "k8s-unknown-field", ""),
    (D, f"{C}.imagePullPolice", "Always", "k8s-unknown-field", ""),
    (D, f"{C}.livenessProbe", {"httpget": {"path": "/"}}, "k8s-unknown-field", f"{C}.livenessProbe.httpget"),
    (D, "spec.replicas", "two", "k8s-type", ""),
    (D, "spec.selector", DROP, "k8s-required", ""),
    (D, f"{C}.name", DROP, "k8s-required", ""),
    (D, "apiVersion", "apps/v1beta1", "k8s-api-version", ""),
    (D, "metadata.name", "MLflow", "k8s-name", ""),
    (D, "metadata.labels", {"a b": "c"}, "label-key", "metadata.labels.a b"),
    (D, "metadata.annotations", {"a b": "c"}, "k8s-annotation-key", "metadata.annotations.a b"),
    (D, "metadata.namespace", "mlfow", "k8s-namespace", ""),
    (D, "spec.selector.matchLabels", {"app": "x"}, "k8s-selector", "spec.selector.matchLabels.app"),
    (D, "spec.strategy.type", "Rolling", "k8s-enum", ""),
    (D, f"{POD}.restartPolicy", "always", "k8s-enum", ""),
    (D, f"{C}.imagePullPolicy", "ifNotPresent", "k8s-enum", ""),
    (D, f"{C}.resources.requests.memory", "1GB", "k8s-quantity", ""),
    (D, f"{C}.resources.limits.cpu", "one", "k8s-quantity", ""),
    (D, f"{C}.resources.requests.cpu", "2", "k8s-resources", ""),
    (D, f"{C}.resources.requests", {"nvidia.com/gpu": "1"}, "k8s-resources", f"{C}.resources.requests.nvidia.com/gpu"),
    (D, f"{C}.env[2]", {"name": "LEVEL", "value": "debug"}, "k8s-duplicate", f"{C}.env[2]"),
    (D, f"{C}.env[0].value", "x", "k8s-env", f"{C}.env[0]"),
    (D, f"{C}.env[0].valueFrom.configMapKeyRef.name", "mlflw", "k8s-reference", ""),
    (D, f"{C}.ports[0].containerPort", 70000, "k8s-port", ""),
    (D, f"{C}.ports[0].name", "a-port-name-too-long", "k8s-port-name", ""),
    (D, f"{C}.name", "Server", "k8s-container-name", ""),
    (D, f"{POD}.containers[1]", container(), "k8s-container-name", f"{POD}.containers[1].name"),
    (D, f"{C}.volumeMounts[0].name", "passwords", "k8s-volume-mount", ""),
    (D, f"{C}.readinessProbe.tcpSocket", {"port": 1}, "k8s-probe", f"{C}.readinessProbe"),
    (D, f"{POD}.volumes[0].secret.secretName", "mlflow-pasword", "k8s-reference", ""),
    (D, f"{POD}.volumes[1].persistentVolumeClaim.claimName", "date", "k8s-reference", ""),
    (D, f"{POD}.volumes[0].emptyDir", {}, "k8s-volume", f"{POD}.volumes[0]"),
    (D, f"{POD}.serviceAccountName", "mlflow-server", "k8s-reference", ""),
    (D, f"{POD}.priorityClassName", "high", "k8s-reference", ""),
    (D, f"{POD}.nodeSelector", {"ml.platform/pool": "no value"}, "label-value", f"{POD}.nodeSelector.ml.platform/pool"),
    (
        D,
        f"{POD}.tolerations",
        [{"operator": "Equal", "value": "x"}],
        "k8s-toleration",
        f"{POD}.tolerations[0].operator",
    ),
    (D, f"{POD}.tolerations", [{**TOLERATION, "effect": "NO_SCHEDULE"}], "k8s-enum", f"{POD}.tolerations[0].effect"),
    (D, f"{POD}.securityContext.seccompProfile.type", "Default", "k8s-enum", ""),
    ("service-mlflow", "spec.type", "Internal", "k8s-enum", ""),
    ("service-mlflow", "spec.ports[0].port", 0, "k8s-port", ""),
    ("service-mlflow", "spec.ports[1]", {"port": 81}, "k8s-port-name", "spec.ports[1].name"),
    ("service-mlflow", "metadata.name", "1mlflow", "k8s-name", ""),
    ("networkpolicy-mlflow", "spec.policyTypes[0]", "ingress", "k8s-enum", ""),
    ("networkpolicy-mlflow", "spec.ingress[0].ports[0].port", 66000, "k8s-port", ""),
    ("networkpolicy-mlflow", "spec.egress[0].ports[0].endPort", 5000, "k8s-port", ""),
    ("networkpolicy-mlflow", "spec.egress[0].to[0].ipBlock.cidr", "10.20.0.1/16", "k8s-cidr", ""),
    (
        "networkpolicy-mlflow",
        "spec.egress[0].to[0].podSelector",
        {"matchLabels": {"a": "b"}},
        "k8s-network-peer",
        "spec.egress[0].to[0]",
    ),
    ("poddisruptionbudget-mlflow", "spec.maxUnavailable", 1, "k8s-disruption-budget", ""),
    ("resourcequota-research", "spec.hard.pods", "many", "k8s-quantity", ""),
    ("validatingadmissionpolicybinding-guard", "spec.validationActions[0]", "Denied", "k8s-validation-actions", ""),
    ("validatingadmissionpolicybinding-guard", "spec.validationActions", DROP, "k8s-validation-actions", ""),
    (
        "resourcequota-research",
        "spec.hard",
        {"request.cpu": "400", "requests.nvidia.com/gpu": "8", "count/jobs.batch": "9"},
        "k8s-quota-resource",
        "spec.hard['request.cpu']",
    ),
    ("limitrange-research", "spec.limits[0].type", "container", "k8s-enum", ""),
    ("persistentvolume-data", "spec.capacity.storage", "4.8TB", "k8s-quantity", ""),
    ("persistentvolume-data", "spec.accessModes[0]", "ReadWriteAll", "k8s-enum", ""),
    ("persistentvolume-data", "spec.persistentVolumeReclaimPolicy", "Keep", "k8s-enum", ""),
    ("rolebinding-submit", "roleRef.name", "submitter", "k8s-reference", ""),
    ("rolebinding-submit", "subjects[0].name", "runer", "k8s-reference", ""),
    ("job-smoke", "spec.template.spec.restartPolicy", "Always", "k8s-job", ""),
    ("job-smoke", "spec.template.spec.restartPolicy", DROP, "k8s-job", ""),
    ("namespace-research", "metadata.name", "Research", "k8s-name", ""),
    ("configmap-mlflow", "data.port", 5000, "k8s-type", ""),
]
CUSTOM: list[tuple[str, str, Any, str, str]] = [
    (Q, "spec.cohort", "acme", "k8s-unknown-field", ""),
    (Q, "spec.admissionChecks", ["x"], "k8s-unknown-field", ""),
    (Q, "spec.queueingStrategy", "FIFO", "k8s-enum", ""),
    (Q, "spec.preemption.reclaimWithinCohort", "Always", "k8s-enum", ""),
    (
        Q,
        "spec.preemption",
        {"borrowWithinCohort": {"policy": "LowerPriority"}},
        "kueue-preemption",
        "spec.preemption.borrowWithinCohort.policy",
    ),
    (Q, "apiVersion", "kueue.x-k8s.io/v1alpha1", "k8s-api-version", ""),
    (Q, f"{FLAVOR}.name", "train-reservd", "kueue-flavor", ""),
    (Q, f"{FLAVOR}.resources[0].name", "cpu", "kueue-covered", f"{FLAVOR}.resources"),
    (Q, "spec.resourceGroups[0].coveredResources", ["cpu", "nvidia.com/gpu"], "kueue-covered", f"{FLAVOR}.resources"),
    (Q, f"{FLAVOR}.resources[0].nominalQuota", "-1", "kueue-quota", ""),
    (Q, f"{FLAVOR}.resources[0].nominalQuota", "ten", "k8s-quantity", ""),
    (Q, f"{FLAVOR}.resources[0].nominalQuota", "9", "kueue-quota-nodes", None),
    (Q, f"{FLAVOR}.resources[0].nominalQuota", "4", "kueue-reclaim", ""),
    (Q, "spec.preemption.reclaimWithinCohort", "LowerPriority", "kueue-reclaim", ""),
    (Q, "spec.preemption.reclaimWithinCohort", DROP, "kueue-reclaim", ""),
    (
        Q,
        "spec.preemption.borrowWithinCohort",
        {"policy": "LowerPriority"},
        "kueue-reclaim",
        "spec.preemption.borrowWithinCohort.policy",
    ),
    (Q, "spec.fairSharing.weight", "0", "kueue-reclaim", ""),
    (Q, "spec.stopPolicy", "None", "kueue-stop-policy", ""),
    (Q, "spec.stopPolicy", "Hold", "kueue-stop-policy", ""),
    ("localqueue-research", "spec.stopPolicy", "Hold", "kueue-stop-policy", ""),
    (Q, f"{FLAVOR}.resources[0].lendingLimit", "20", "kueue-quota", ""),
    (
        Q,
        "spec.resourceGroups[0].flavors[1]",
        quota("train-reserved", "1"),
        "k8s-duplicate",
        "spec.resourceGroups[0].flavors[1]",
    ),
    (Q, "spec.namespaceSelector", DROP, "kueue-namespace-selector", ""),
    (Q, "spec.namespaceSelector", {}, "kueue-namespace-selector", ""),
    (Q, "spec.stopPolicy", "Stop", "k8s-enum", ""),
    ("localqueue-research", "spec.clusterQueue", "reserch", "kueue-local-queue", ""),
    ("localqueue-research", "spec.clusterQueue", DROP, "kueue-local-queue", ""),
    (F, "spec.tolerations", DROP, "kueue-flavor-tolerations", ""),
    (F, "spec.tolerations[0].effect", "NoExecute", "kueue-flavor-tolerations", "spec.tolerations"),
    (F, "spec.nodeLabels", {"ml.platform/pool": "trian"}, "kueue-flavor-labels", ""),
    (F, "spec.topologyName", "host", "kueue-topology", ""),
    (F, "spec.nodeLabel", {"a": "b"}, "k8s-unknown-field", ""),
    (F, "spec.tolerations[0].operator", "Exist", "kueue-toleration", ""),
    ("workloadpriorityclass-production", "value", DROP, "k8s-required", ""),
    ("workloadpriorityclass-production", "spec", {"value": 1}, "k8s-unknown-field", ""),
    (T, "spec.mlPolicy.torch.numProcPerNode", "auto", "k8s-unknown-field", ""),
    (T, f"{NODE}.template.spec.template.spec.container", [], "k8s-unknown-field", ""),
    (T, f"{NODE}.template.spec.template.spec.containers[0].images", "x", "k8s-unknown-field", ""),
    (T, f"{NODE}.name", DROP, "k8s-required", ""),
]
HELM: list[tuple[str, str, Any, str, str]] = [
    ("kueue-release", "values.controllerManager.replica", 2, "helm-unknown-value", ""),
    ("kueue-release", "values.controllerManager.manager", "x", "helm-value-type", ""),
    ("kueue-release", "values.serviceAccount", {"name": "x"}, "helm-unknown-value", ""),
    ("kueue-release", "values.enableCertManager", "false", "helm-value-type", ""),
    ("kueue-release", "values.controllerManager.tolerations", {"key": "a"}, "helm-value-type", ""),
    ("kueue-release", "values.controllerManager.manager.logLevel", "info", "helm-value-type", ""),
    ("kueue-release", "values.controllerManager.dnsPolicy", ["ClusterFirst"], "helm-value-type", ""),
    (
        "kueue-release",
        "values.metricsService",
        {"labels": {"a": "b"}},
        "helm-unread-value",
        "values.metricsService.labels",
    ),
    ("kueue-release", "version", "0.18.6", "helm-unchecked", ""),
    ("kueue-release", "version", DROP, "helm-version", ""),
    ("kueue-release", "repositoryOpts", {"repo": "https://x"}, "helm-repository", "repositoryOpts.repo"),
    ("kueue-release", YAML, "apiVersion: [", "kueue-configuration", ""),
    ("kueue-release", YAML, HEAD + "fairSharing: {}", "kueue-configuration", ""),
    ("kueue-release", YAML, HEAD + "fairSharing: {preemptionStrategies: [Fair]}", "kueue-configuration", ""),
    (
        "kueue-release",
        YAML,
        HEAD + "fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}",
        "kueue-configuration",
        "",
    ),
    (
        "kueue-release",
        YAML,
        HEAD + "fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}",
        "kueue-reclaim",
        "",
    ),
    ("kueue-release", YAML, HEAD + "resource: {}", "kueue-configuration", ""),
    ("kueue-release", YAML, HEAD + "health: {healthProbeBindAdress: ':8081'}", "kueue-configuration", ""),
    (
        "kueue-release",
        YAML,
        HEAD + "waitForPodsReady: {timeout: 30m, requeuingStrategy: {backoffLimit: 3}}",
        "kueue-configuration",
        "",
    ),
    ("kueue-release", YAML, HEAD + "integrations: {frameworks: [batch/jobs]}", "kueue-configuration", ""),
    (
        "kueue-release",
        YAML,
        HEAD + "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-all-at-one}",
        "kueue-configuration",
        "",
    ),
    ("kueue-release", YAML, HEAD + "metrics: on", "kueue-configuration", ""),
    ("kueue-release", YAML, HEAD + "featureGates: {KueueDRAIntegration: false}", "kueue-configuration", ""),
    (
        "kueue-release",
        YAML,
        HEAD + "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [cpu]}",
        "kueue-configuration",
        "",
    ),
    (
        "autoscaler-release",
        "values.tolerations",
        [{"key": "a", "operators": "Exists"}],
        "k8s-unknown-field",
        "values.tolerations[0].operators",
    ),
    (
        "autoscaler-release",
        "values.tolerations",
        [{"key": "a", "operator": "Exist"}],
        "k8s-enum",
        "values.tolerations[0].operator",
    ),
    ("autoscaler-release", "values.resources", {"limit": {"cpu": "1"}}, "k8s-unknown-field", "values.resources.limit"),
    (
        "autoscaler-release",
        "values.resources",
        {"limits": {"cpu": "1 core"}},
        "k8s-quantity",
        "values.resources.limits.cpu",
    ),
    ("autoscaler-release", "values.autoDiscover", {"clusterName": "x"}, "helm-unknown-value", ""),
    ("autoscaler-release", "values.autoDiscovery.clusterNames", "x", "helm-unknown-value", ""),
    ("trainer-release", "values.commonLabels", {"a": "b"}, "helm-unread-value", ""),
    ("trainer-release", "values.manager", {"replica": 2}, "helm-unknown-value", "values.manager.replica"),
]


def _label(row: tuple[str, str, Any, str, str]) -> str:
    return f"{row[0]}-{row[1]}-{'absent' if row[2] is DROP else str(row[2])[:30]}"


def test_the_good_stack_has_no_finding() -> None:
    assert [str(finding) for finding in findings(KUBERNETES)] == []


@pytest.mark.parametrize("row", [*OBJECTS, *CUSTOM, *HELM], ids=_label)
def test_a_mistake_is_caught(row: tuple[str, str, Any, str, str | None]) -> None:
    name, path, value, rule, where = row
    found = findings(changed(KUBERNETES, name, path, value))
    if where is None:  # told at another resource: the last queue that uses the flavor
        assert rule in [finding.rule for finding in found], [str(item) for item in found]
    else:
        assert (rule, where or path) in [(finding.rule, finding.path) for finding in found], [
            str(item) for item in found
        ]


def test_a_misspelt_field_names_the_nearest_one() -> None:
    hints = {
        (Q, "spec.cohort"): "did you mean cohortName?",
        (D, "spec.replica"): "did you mean replicas?",
        ("kueue-release", "values.controllerManager.replica"): "did you mean controllerManager.replicas?",
    }
    for (name, path), hint in hints.items():
        found = [item for item in findings(changed(KUBERNETES, name, path, "acme")) if item.path == path]
        assert [item.hint.startswith(hint.rstrip("?")) for item in found] == [True], found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("controllerManager.podDisruptionBudget.minAvailable", "50%"),
        ("controllerManager.manager.logLevel", "3"),
        ("enableCertManager", "true"),
        ("controllerManager.manager.image.tag", 1),
    ],
)
def test_a_value_of_another_kind_that_a_template_takes_as_well_passes(path, value):
    assert [str(found) for found in findings(changed(KUBERNETES, "kueue-release", f"values.{path}", value))] == []


def test_who_dispatches_jobs_may_be_a_program_of_somebody_else() -> None:
    stack = changed(KUBERNETES, "kueue-release", YAML, HEAD + "multiKueue: {dispatcherName: acme.example/by-price}")
    assert "kueue-configuration" not in {finding.rule for finding in findings(stack)}


def test_a_quota_beside_a_queue_is_told_where_it_is_ours_or_narrower_than_the_queue() -> None:
    open_ = changed(KUBERNETES, "resourcequota-research", "spec.scopeSelector", DROP)
    narrow = changed(open_, "resourcequota-research", "spec.hard", {"requests.nvidia.com/gpu": "4", "pods": "200"})
    ours = replace(CONTEXT, ours=True)
    of = {"spec.hard.requests.cpu", "spec.hard.requests.memory", "spec.hard.pods"}
    for resources, context, paths in ((open_, CONTEXT, set()), (narrow, CONTEXT, {"spec.hard.requests.nvidia.com/gpu"}),
                                      (open_, ours, of)):  # fmt: skip
        found = findings(resources, context)
        assert {one.path for one in found if one.rule == "kueue-namespace-quota"} == paths


def test_a_cohort_as_an_earlier_version_calls_it_is_one() -> None:
    limited = changed(KUBERNETES, Q, f"{FLAVOR}.resources[0].borrowingLimit", "1")
    alone = changed(limited, Q, "spec.cohortName", DROP)
    for resources, told in ((limited, False), (alone, True), (changed(alone, Q, "spec.cohort", "lab"), False)):
        assert ("kueue-cohort" in {one.rule for one in findings(resources)}) == told
