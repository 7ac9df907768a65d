"""What the API server weighs together in one object: each mistake is told, what looks like it and is right is not.

Rows of (object, path, value, rule); no rule where the value is right.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import DROP, changed, findings, obj
from tests.rehearsal.refusals.good_kubernetes import KUBERNETES
from trainyard.recorded.model import RecordedResource

RBAC = "rbac.authorization.k8s.io"
AGENT = {"app": "agent"}
POD = {"containers": [{"name": "agent", "image": "registry.example/agent:1", "volumeMounts": []}], "volumes": []}
JOB_POD = {**POD, "restartPolicy": "Never"}
TEMPLATE = {"metadata": {"labels": AGENT}, "spec": POD}
CODES = {"containerName": "agent", "operator": "In", "values": [1, 42]}
OBJECTS: list[RecordedResource] = [
    *KUBERNETES,
    obj("apps/v1", "DaemonSet", "agent", "mlflow", spec={
        "selector": {"matchLabels": AGENT},
        "template": TEMPLATE,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
    }),
    obj("apps/v1", "StatefulSet", "ring", "mlflow", spec={
        "serviceName": "ring", "replicas": 3, "selector": {"matchLabels": AGENT}, "template": TEMPLATE,
    }),
    obj("batch/v1", "Job", "ranks", "research", spec={
        "completionMode": "Indexed", "completions": 4, "parallelism": 4, "backoffLimitPerIndex": 1,
        "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": CODES}]},
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
        "template": {"spec": JOB_POD},
    }),
    obj("batch/v1", "CronJob", "nightly", "research", spec={
        "schedule": "*/15 0-6 * JAN-MAR 1,3", "jobTemplate": {"spec": {"template": {"spec": JOB_POD}}},
    }),
    obj("autoscaling/v2", "HorizontalPodAutoscaler", "mlflow", "mlflow", spec={
        "minReplicas": 2, "maxReplicas": 4,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "mlflow"},
    }),
    obj("v1", "Service", "ranks", "mlflow", spec={"clusterIP": "None", "selector": AGENT}),
    obj("v1", "Service", "outside", "mlflow", spec={
        "type": "LoadBalancer", "selector": AGENT, "externalTrafficPolicy": "Local",
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80, "protocol": "UDP", "nodePort": 30080}],
    }),
    obj("networking.k8s.io/v1", "NetworkPolicy", "out", "mlflow", spec={
        "podSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["agent"]}]},
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}, {"podSelector": {}}]}],
    }),
    obj("networking.k8s.io/v1", "Ingress", "mlflow", "mlflow", spec={"rules": [{"host": "mlflow.example", "http": {
        "paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {
            "name": "mlflow", "port": {"name": "http"}}}}]}}]}),
    obj("storage.k8s.io/v1", "StorageClass", "fast", provisioner="ebs.csi.aws.com", reclaimPolicy="Delete"),
    obj("scheduling.k8s.io/v1", "PriorityClass", "high", value=1_000_000_000),
    obj("v1", "Secret", "tls", "mlflow", type="kubernetes.io/tls", data={"tls.crt": "eA==", "tls.key": "eA=="}),
    obj(RBAC + "/v1", "ClusterRole", "metrics", rules=[
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    ]),
    obj(RBAC + "/v1", "ClusterRoleBinding", "metrics",
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "metrics"},
        subjects=[{"kind": "Group", "name": "team:research", "apiGroup": RBAC}]),
    obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "guard", spec={
        "matchConstraints": {"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
        "variables": [{"name": "isNew", "expression": "true"}],
        "validations": [{"expression": "variables.isNew", "message": "no"}],
    }),
    obj("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook", webhooks=[{
        "name": "pods.guard.example", "admissionReviewVersions": ["v1"], "sideEffects": "None", "timeoutSeconds": 5,
        "clientConfig": {"url": "https://guard.example/pods"},
    }]),
]  # fmt: skip
AT = "spec.template.spec"
C, J = f"{AT}.containers[0]", "spec.jobTemplate.spec"
D, A, R, P = "deployment-mlflow", "daemonset-agent", "job-ranks", "persistentvolume-data"
ROLL = "spec.updateStrategy.rollingUpdate"
WAY = "spec.rules[0].http.paths[0]"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def terms(*expressions: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


ROWS: list[tuple[str, str, Any, str]] = [
    (D, f"{AT}.restartPolicy", "OnFailure", "k8s-restart-policy"),
    (D, f"{AT}.restartPolicy", "Always", ""),
    (A, f"{AT}.activeDeadlineSeconds", 60, "k8s-restart-policy"),
    (D, "spec.replicas", -1, "k8s-number"),
    (D, "spec.strategy", {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}, "k8s-rollout"),
    (D, "spec.strategy", {"type": "Recreate"}, ""),
    (D, "spec.strategy.rollingUpdate", {"maxSurge": 0, "maxUnavailable": "0%"}, "k8s-rollout"),
    (D, "spec.strategy.rollingUpdate", {"maxSurge": "100%", "maxUnavailable": 0}, ""),
    (D, "spec.strategy.rollingUpdate.maxSurge", "a quarter", "k8s-percentage"),
    (D, "spec.strategy.rollingUpdate.maxUnavailable", "120%", "k8s-percentage"),
    (D, "spec.progressDeadlineSeconds", 0, "k8s-rollout"),
    (A, ROLL, {"maxSurge": 1}, "k8s-rollout"),
    (A, ROLL, {"maxSurge": 1, "maxUnavailable": 0}, ""),
    (A, ROLL, {"maxSurge": 0, "maxUnavailable": 0}, "k8s-rollout"),
    ("statefulset-ring", f"{AT}.restartPolicy", "Never", "k8s-restart-policy"),
    (R, f"{AT}.restartPolicy", "OnFailure", "k8s-job"),
    (R, "spec.completions", DROP, "k8s-job"),
    (R, "spec.completionMode", "NonIndexed", "k8s-job"),
    (R, "spec.backoffLimit", -1, "k8s-number"),
    (R, "spec.selector", {"matchLabels": AGENT}, "k8s-job"),
    (R, "spec.podReplacementPolicy", "TerminatingOrFailed", "k8s-job"),
    (R, "spec.podFailurePolicy.rules[0].action", "FailIndex", ""),
    (R, "spec.podFailurePolicy.rules[0].onExitCodes.values", [42, 1], "k8s-job"),
    (R, "spec.podFailurePolicy.rules[0].onExitCodes.values", [0, 1], "k8s-job"),
    (R, "spec.podFailurePolicy.rules[0].onExitCodes.containerName", "worker", "k8s-job"),
    (R, "spec.podFailurePolicy.rules[0].onPodConditions", [{"type": "DisruptionTarget"}], "k8s-job"),
    (R, "spec.maxFailedIndexes", 2, ""),
    (R, "metadata.name", "ranks-" + "x" * 56, "k8s-name"),
    (R, "spec.successPolicy.rules", [], "k8s-job"),
    ("job-smoke", f"{AT}.restartPolicy", "OnFailure", ""),
    ("job-smoke", "spec.backoffLimitPerIndex", 1, "k8s-job"),
    ("cronjob-nightly", "spec.schedule", "0 25 * * *", "k8s-schedule"),
    ("cronjob-nightly", "spec.schedule", "0 3 * *", "k8s-schedule"),
    ("cronjob-nightly", "spec.schedule", "@daily", ""),
    ("cronjob-nightly", f"{J}.template.spec.restartPolicy", "Always", "k8s-job"),
    ("cronjob-nightly", "metadata.name", "n" * 53, "k8s-name"),
    ("horizontalpodautoscaler-mlflow", "spec.minReplicas", 5, "k8s-autoscaler"),
    ("service-mlflow", "spec.ports[0].name", "http_api", "k8s-port-name"),
    ("service-mlflow", "spec.ports[0].name", "a-name-of-more-than-fifteen", ""),
    ("service-mlflow", "spec.ports[0].targetPort", "a-name-of-more-than-fifteen", "k8s-port-name"),
    ("service-mlflow", "spec.ports[0].nodePort", 30080, "k8s-service"),
    ("service-mlflow", "spec.ports", [], "k8s-service"),
    ("service-mlflow", "spec.type", "ExternalName", "k8s-service"),
    ("service-mlflow", "spec.externalTrafficPolicy", "Local", "k8s-service"),
    ("service-ranks", "spec.type", "NodePort", "k8s-service"),
    ("service-outside", "spec.ports[1].protocol", "TCP", "k8s-port"),
    ("service-outside", "spec.ports[1].name", "a", "k8s-port-name"),
    ("networkpolicy-out", "spec.egress[0].to[0].ipBlock.except[0]", "0.0.0.0/0", "k8s-cidr"),
    ("networkpolicy-mlflow", "spec.egress[0].to[0].ipBlock.except", ["10.21.0.0/24"], "k8s-cidr"),
    ("networkpolicy-out", "spec.egress[0].to[1]", {}, "k8s-network-peer"),
    ("networkpolicy-out", "spec.policyTypes", ["Ingress"], "k8s-network-policy"),
    ("networkpolicy-out", "spec.podSelector.matchExpressions[0].values", [], "k8s-selector"),
    ("networkpolicy-out", "spec.podSelector.matchExpressions[0].operator", "Exists", "k8s-selector"),
    ("networkpolicy-out", "spec.podSelector.matchExpressions[0].values[0]", "an agent", "label-value"),
    ("poddisruptionbudget-mlflow", "spec.minAvailable", "half", "k8s-percentage"),
    ("poddisruptionbudget-mlflow", "spec.minAvailable", "50%", ""),
    ("ingress-mlflow", f"{WAY}.path", "mlflow", "k8s-ingress"),
    ("ingress-mlflow", f"{WAY}.backend.service.port", {"name": "http", "number": 80}, "k8s-ingress"),
    ("persistentvolumeclaim-data", "spec.accessModes", [], "k8s-access-mode"),
    ("persistentvolumeclaim-data", "spec.accessModes", ["ReadWriteOncePod", "ReadWriteMany"], "k8s-access-mode"),
    ("persistentvolumeclaim-data", "spec.resources", {}, "k8s-claim"),
    (P, "spec.capacity", {}, "k8s-volume"),
    (P, "spec.nfs", {"server": "files.example", "path": "/"}, "k8s-volume"),
    (P, "spec.persistentVolumeReclaimPolicy", "Recycle", "k8s-volume"),
    ("storageclass-fast", "reclaimPolicy", "Recycle", "k8s-enum"),
    ("priorityclass-high", "value", 2_000_000_000, "k8s-priority"),
    ("priorityclass-high", "metadata.name", "system-training", "k8s-priority"),
    ("limitrange-research", "spec.limits[0].defaultRequest.cpu", "2", "k8s-limit-range"),
    ("limitrange-research", "spec.limits[0].max", {"memory": "2Gi"}, "k8s-limit-range"),
    ("limitrange-research", "spec.limits[0].max", {"memory": "4096Mi"}, ""),
    ("limitrange-research", "spec.limits[0].type", "Pod", "k8s-limit-range"),
    ("resourcequota-research", "spec.hard", {"persistentvolumeclaims": "4"}, "k8s-quota-scope"),
    ("resourcequota-research", "spec.hard", {"count/jobs.batch": "4"}, ""),
    ("resourcequota-research", "spec.scopeSelector.matchExpressions[0].values", [], "k8s-selector"),
    ("resourcequota-research", "spec.scopeSelector.matchExpressions[0].scopeName", "BestEffort", "k8s-selector"),
    ("role-submit", "rules[0].verbs", [], "k8s-role"),
    ("role-submit", "rules[0].apiGroups", DROP, "k8s-role"),
    ("role-submit", "rules[0]", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}, "k8s-role"),
    ("clusterrole-metrics", "rules[0].resources", ["pods"], "k8s-role"),
    ("clusterrolebinding-metrics", "roleRef.kind", "Role", "k8s-role"),
    ("rolebinding-submit", "roleRef.apiGroup", "rbac", "k8s-role"),
    ("clusterrolebinding-metrics", "subjects[0].kind", "group", "k8s-enum"),
    ("rolebinding-submit", "subjects[0].apiGroup", RBAC, "k8s-subject"),
    ("namespace-mlflow", "metadata.labels", {"pod-security.kubernetes.io/enforce": "Restricted"}, "k8s-pod-security"),
    ("namespace-mlflow", "metadata.labels", {"pod-security.kubernetes.io/warn-version": "1.35"}, "k8s-pod-security"),
    ("namespace-mlflow", "metadata.labels", {"pod-security.kubernetes.io/enforced": "baseline"}, "k8s-pod-security"),
    ("namespace-mlflow", "metadata.labels", {"pod-security.kubernetes.io/enforce-version": "latest"}, ""),
    ("configmap-mlflow", "data", {"hosts": "mlflow.mlflow", "etc/hosts": "x"}, "k8s-data-key"),
    ("configmap-mlflow", "binaryData", {"hosts": "eA=="}, "k8s-data-key"),
    ("secret-tls", "data", {"tls.crt": "eA==", "key.pem": "eA=="}, "k8s-secret"),
    ("validatingadmissionpolicybinding-guard", "spec.validationActions", ["Deny", "Warn"], "k8s-validation-actions"),
    ("validatingadmissionpolicy-guard", "spec.variables[0].name", "is-new", "k8s-admission"),
    ("validatingadmissionpolicy-guard", "spec.validations[0].message", "no\nnever", "k8s-admission"),
    ("validatingadmissionpolicy-guard", "spec.validations", DROP, "k8s-admission"),
    ("validatingwebhookconfiguration-hook", "webhooks[0].name", "pods", "k8s-webhook"),
    ("validatingwebhookconfiguration-hook", "webhooks[0].timeoutSeconds", 60, "k8s-webhook"),
    ("validatingwebhookconfiguration-hook", "webhooks[0].sideEffects", "Some", "k8s-webhook"),
    (A, f"{AT}.topologySpreadConstraints", [{**SPREAD, "maxSkew": 0}], "k8s-spread"),
    (A, f"{AT}.topologySpreadConstraints", [{**SPREAD, "matchLabelKeys": ["app"]}], "k8s-spread"),
    (A, f"{AT}.topologySpreadConstraints",
     [{**SPREAD, "labelSelector": {"matchLabels": AGENT}, "matchLabelKeys": ["app"]}], "k8s-spread"),
    (A, f"{AT}.topologySpreadConstraints",
     [{**SPREAD, "labelSelector": {"matchLabels": AGENT}, "matchLabelKeys": ["pod-template-hash"]}], ""),
    (A, f"{AT}.topologySpreadConstraints", [{**SPREAD, "minDomains": 2}], "k8s-spread"),
    (A, f"{AT}.affinity", terms({"key": "cores", "operator": "Gt", "values": ["many"]}), "k8s-selector"),
    (A, f"{AT}.affinity", terms({"key": "gpu", "operator": "Exists", "values": ["true"]}), "k8s-selector"),
    (A, f"{AT}.tolerations", [{"key": "a", "operator": "Exists", "tolerationSeconds": 60}], "k8s-toleration"),
    (A, f"{AT}.tolerations", [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}], ""),
    (A, f"{AT}.volumes", [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}], "k8s-volume"),
    (A, f"{AT}.volumes", [{"name": "a", "emptyDir": {"medium": "memory"}}], "k8s-volume"),
    (A, f"{AT}.volumes", [{"name": "a", "emptyDir": {"medium": "HugePages-2Mi"}}], ""),
    (D, f"{AT}.volumes[0].secret.defaultMode", 640, "k8s-file-mode"),
    (D, f"{AT}.volumes[0].secret.defaultMode", 0o440, ""),
    (D, f"{AT}.volumes[0].secret.items", [{"key": "password", "path": "/etc/password"}], "k8s-volume"),
    (D, f"{C}.volumeMounts[1].mountPath", "/secrets", "k8s-volume-mount"),
    (D, f"{C}.volumeMounts[1].subPath", "../data", "k8s-volume"),
    (D, f"{C}.resources.limits", {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "0.5"}, "k8s-resources"),
    (D, f"{C}.resources.limits", {"cpu": "1", "memory": "2Gi", "gpu": "1"}, "k8s-resources"),
    (A, f"{C}.resources", {"limits": {"hugepages-2Mi": "1Gi"}}, "k8s-resources"),
    (A, f"{C}.resources", {"requests": {"hugepages-2Mi": "1Gi", "cpu": "1"}}, "k8s-resources"),
    (A, f"{C}.resources", {"limits": {"hugepages-2Mi": "1Gi", "cpu": "1"}}, ""),
    (A, f"{C}.securityContext", {"allowPrivilegeEscalation": False, "privileged": True}, "k8s-security"),
    (A, f"{C}.securityContext", {"seccompProfile": {"type": "Localhost"}}, "k8s-security"),
    (D, f"{C}.readinessProbe.terminationGracePeriodSeconds", 5, "k8s-probe"),
    (D, f"{C}.image", "registry.example/mlflow:3 ", "k8s-image"),
    (D, f"{AT}.initContainers", [{"name": "a", "image": "a:1", "readinessProbe": {"exec": {"command": ["a"]}}}],
     "k8s-container"),
    (D, f"{AT}.initContainers", [
        {"name": "a", "image": "a:1", "restartPolicy": "Always", "readinessProbe": {"exec": {"command": ["a"]}}}], ""),
    (D, f"{AT}.dnsPolicy", "None", "k8s-dns"),
    (D, f"{AT}.hostname", "rank_0", "k8s-name"),
]  # fmt: skip


def test_the_objects_as_they_are_have_no_finding() -> None:
    assert [str(finding) for finding in findings(OBJECTS)] == []


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{'absent' if row[2] is DROP else row[2]}"[:90]
)
def test_a_mistake_is_told_and_what_is_right_is_not(row: tuple[str, str, Any, str]) -> None:
    name, path, value, rule = row
    subject = next(item for item in OBJECTS if item.name == name)
    beside = [item for item in OBJECTS if item is not subject]
    told = {finding.rule for finding in findings(changed([*beside, subject], name, path, value))}
    assert (rule in told) if rule else not told, told
