"""What the API server weighs together of pods, volumes, services, autoscalers, definitions and hooks: each mistake is
told, what looks like it and is right is not.

Rows of (object, path, value, rule); no rule where the value is right.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import DROP, changed, findings, obj
from trainyard.recorded.model import UNKNOWN, RecordedResource

LABELS = {"app": "board"}
POD: dict[str, Any] = {
    "containers": [{
        "name": "board", "image": "registry.example/board:1",
        "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "envFrom": [{"prefix": "app.", "secretRef": {"name": "board", "optional": True}}],
        "volumeMounts": [{"name": "all", "mountPath": "/all", "readOnly": True}],
        "livenessProbe": {"exec": {"command": ["true"]}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 20}}},
        "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}, "claims": [{"name": "gpu"}]},
        "securityContext": {"runAsUser": 1000},
    }],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
    "volumes": [
        {"name": "all", "projected": {"sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}},
            {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        ]}},
        {"name": "data", "nfs": {"server": "10.0.0.9", "path": "/export"}},
    ],
    "dnsConfig": {"nameservers": ["10.0.0.2"], "searches": ["corp.example", "."], "options": [{"name": "ndots"}]},
    "hostAliases": [{"ip": "10.0.0.3", "hostnames": ["ldap.corp.example"]}],
    "securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1024"}]},
    "schedulingGates": [{"name": "example.com/hold"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["node-1"]}]}]}}},
}  # fmt: skip


def together(second: str, whole: str) -> dict[str, Any]:
    """Two containers, of which the first requests 100m, in a pod that requests some as a whole."""
    first, other = ({**POD["containers"][0], "name": name} for name in ("first", "other"))
    other["resources"] = {"requests": {"cpu": second}}
    return {"containers": [first, other], "resources": {"requests": {"cpu": whole}}}


TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 250}}}
PROPERTIES = {"team": {"type": "string"}, "size": {"type": "integer", "default": 3}}
SCHEMA = {"type": "object", "properties": {"spec": {
    "type": "object", "required": ["team", "size"], "properties": {**PROPERTIES, "port": {
        "x-kubernetes-int-or-string": True}}}}}  # fmt: skip
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
OBJECTS: list[RecordedResource] = [
    obj("v1", "Namespace", "tools"),
    obj("apps/v1", "Deployment", "board", "tools", spec={
        "replicas": 2, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}),
    obj("apps/v1", "StatefulSet", "store", "tools", spec={
        "serviceName": "store", "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "store", "image": "redis:8"}]}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}),
    obj("batch/v1", "Job", "ranks", "tools", spec={
        "completionMode": "Indexed", "completions": 4, "parallelism": 4, "managedBy": "kueue.x-k8s.io/multikueue",
        "successPolicy": {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 2}]},
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "rank", "image": "python:3.13"}]}}}),
    obj("autoscaling/v2", "HorizontalPodAutoscaler", "board", "tools", spec={
        "minReplicas": 1, "maxReplicas": 4, "metrics": [CPU],
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "board"},
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 3600, "selectPolicy": "Min", "policies": [
            {"type": "Percent", "value": 150, "periodSeconds": 1800}]}}}),
    obj("v1", "Service", "board", "tools", spec={
        "type": "LoadBalancer", "selector": LABELS, "externalTrafficPolicy": "Local", "healthCheckNodePort": 31000,
        "loadBalancerSourceRanges": ["10.0.0.0/8"], "sessionAffinity": "ClientIP",
        "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 3600}}, "ports": [{"port": 80}]}),
    obj("v1", "Service", "db", "tools", spec={"type": "ExternalName", "externalName": "db.example.com"}),
    obj("networking.k8s.io/v1", "Ingress", "board", "tools", spec={"ingressClassName": "nginx", "rules": [
        {"host": "*.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {
            "name": "board", "port": {"number": 80}}}}]}}]}),
    obj("discovery.k8s.io/v1", "EndpointSlice", "outside", "tools", addressType="IPv4",
        endpoints=[{"addresses": ["10.9.0.4"]}]),
    obj("v1", "PersistentVolume", "nfs", spec={
        "capacity": {"storage": "1Ti"}, "accessModes": ["ReadWriteMany"],
        "nfs": {"server": "10.0.0.9", "path": "/export"}}),
    obj("v1", "PersistentVolumeClaim", "restored", "tools", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "nightly"}}),
    obj("storage.k8s.io/v1", "StorageClass", "near", provisioner="ebs.csi.aws.com"),
    obj("v1", "ResourceQuota", "rest", "tools", spec={"scopes": ["BestEffort"], "hard": {"pods": "4"}}),
    obj("v1", "LimitRange", "limits", "tools", spec={"limits": [
        {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "10"}}]}),
    obj("v1", "Secret", "board", "tools", type="kubernetes.io/basic-auth", data={"password": "eA=="}),
    obj("v1", "ConfigMap", "board", "tools", data={"a": "b"}),
    obj("node.k8s.io/v1", "RuntimeClass", "nvidia", handler="nvidia"),
    obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", "boards.example.com", spec={
        "group": "example.com", "scope": "Namespaced", "names": {"kind": "Board", "plural": "boards"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA},
                      "additionalPrinterColumns": [{"name": "Team", "type": "string", "jsonPath": ".spec.team"}]}]}),
    obj("example.com/v1", "Board", "vision", "tools", spec={"team": "vision", "port": "http"}),
    obj("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "board", webhooks=[{
        "name": "pods.board.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "failurePolicy": "Ignore", "rules": [{**RULE, "resources": ["*", "pods/exec"]}],
        "clientConfig": {"service": {"name": "board", "namespace": "tools", "port": 80, "path": "/check"},
                         "caBundle": base64.b64encode(b"certificate").decode()}}]),
    obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "owners", spec={
        "matchConstraints": {"resourceRules": [RULE]},
        "variables": [{"name": "owner", "expression": "object.metadata.?labels[?'owner'].orValue('')"}],
        "validations": [{"expression": "variables.owner != '' // isn't (empty",
                         "reason": "Invalid"}]}),
    obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "owners", spec={
        "policyName": "owners", "validationActions": ["Deny", "Audit"]}),
    obj("apiregistration.k8s.io/v1", "APIService", "v1.metrics.example.com", spec={
        "group": "metrics.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100}),
    obj("jobset.x-k8s.io/v1alpha2", "JobSet", "sweep", "tools", spec={"replicatedJobs": [
        {"name": "server", "template": {"spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "a", "image": "redis:8"}]}}}}},
        {"name": "workers", "dependsOn": [{"name": "server", "status": "Ready"}], "template": {"spec": {"template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "python:3.13"}]}}}}}]}),
]  # fmt: skip
SPEC = "spec.template.spec"
FIRST = f"{SPEC}.containers[0]"
SOURCES = f"{SPEC}.volumes[0].projected.sources"
METRIC = "spec.metrics[0].resource.target"
BACKEND = "spec.rules[0].http.paths[0]"
POLICY = "spec.validations[0].expression"
VERSION = "spec.versions[0]"
BOARD, HOOK = "deployment-board", "validatingwebhookconfiguration-board"
DEFINED, GUARD = "customresourcedefinition-boards.example.com", "validatingadmissionpolicy-owners"
WEBHOOK = {
    "name": "pods.board.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [RULE],
    "clientConfig": {"service": {"name": "board", "namespace": "tools"}},
}  # fmt: skip
RESIZED = {"resourceName": "cpu", "restartPolicy": "NotRequired"}
NAMELESS = {"name": UNKNOWN, "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
ZONE = "topology.kubernetes.io/zone"
ZONES = {"matchLabelExpressions": [{"key": ZONE, "values": [UNKNOWN, UNKNOWN]}]}
ROWS: list[tuple[str, str, Any, str | None]] = [
    (BOARD, f"{FIRST}.env[0].name", "A=B", "k8s-env"),
    (BOARD, f"{FIRST}.env[0].name", "my.dotted-name", None),
    (BOARD, f"{FIRST}.env[0].valueFrom", {}, "k8s-env"),
    (BOARD, f"{FIRST}.env[0].valueFrom", {"resourceFieldRef": {"resource": "limit.cpu"}}, "k8s-env"),
    (BOARD, f"{FIRST}.env[0].valueFrom", {"resourceFieldRef": {"resource": "limits.cpu"}}, None),
    (BOARD, f"{FIRST}.envFrom[0].configMapRef", {"name": "board"}, "k8s-env"),
    (BOARD, f"{FIRST}.volumeMounts[0].mountPropagation", "Bidirectional", "k8s-volume-mount"),
    (BOARD, f"{FIRST}.volumeMounts[0].mountPropagation", "Both", "k8s-enum"),
    (BOARD, f"{FIRST}.volumeMounts[0].recursiveReadOnly", "Enabled", None),
    (BOARD, f"{FIRST}.volumeMounts[0].readOnly", DROP, None),
    (BOARD, f"{FIRST}.volumeDevices", [{"name": "data", "devicePath": "/dev/x"}], "k8s-volume-mount"),
    (BOARD, f"{FIRST}.lifecycle.preStop.sleep.seconds", 40, "k8s-lifecycle"),
    (BOARD, f"{FIRST}.lifecycle.preStop.httpGet", {"port": 80}, "k8s-lifecycle"),
    (BOARD, f"{FIRST}.lifecycle.stopSignal", "SIGUSR1", "k8s-lifecycle"),
    (BOARD, f"{FIRST}.livenessProbe.exec.command", [], "k8s-probe"),
    (BOARD, f"{FIRST}.livenessProbe", {"httpGet": {"port": "Http_Port"}}, "k8s-port-name"),
    (BOARD, f"{FIRST}.livenessProbe", {"httpGet": {"port": 80, "scheme": "https"}}, "k8s-enum"),
    (BOARD, f"{FIRST}.securityContext.runAsUser", 2**31, "k8s-security"),
    (BOARD, f"{FIRST}.securityContext.procMount", "Unmasked", "k8s-security"),
    (BOARD, f"{FIRST}.resources.claims[0].name", "gpus", "k8s-device-claim"),
    (BOARD, f"{FIRST}.ports", [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}],
     "k8s-port"),
    (BOARD, f"{FIRST}.resizePolicy", [{"resourceName": "gpu", "restartPolicy": "NotRequired"}], "k8s-enum"),
    (BOARD, f"{SPEC}.resourceClaims[0].resourceClaimName", "own", "k8s-device-claim"),
    (BOARD, f"{SOURCES}[0].serviceAccountToken.expirationSeconds", 300, "k8s-volume"),
    (BOARD, f"{SOURCES}[1].downwardAPI.items[0].path", "token", "k8s-volume"),
    (BOARD, f"{SPEC}.volumes[1].nfs.path", "export", "k8s-volume"),
    (BOARD, f"{SPEC}.volumes[1]", {"name": "data", "hostPath": {"path": "/x", "type": "Dir"}}, "k8s-enum"),
    (BOARD, f"{SPEC}.volumes[1]", {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"]}}}}, "k8s-claim"),
    (BOARD, f"{SPEC}.dnsConfig.nameservers", ["ns.example.com"], "k8s-dns"),
    (BOARD, f"{SPEC}.dnsConfig.nameservers", ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"], "k8s-dns"),
    (BOARD, f"{SPEC}.hostAliases[0].ip", "ldap", "k8s-dns"),
    (BOARD, f"{SPEC}.securityContext.sysctls[0].name", "Net.Core", "k8s-sysctl"),
    (BOARD, f"{SPEC}.hostNetwork", True, "k8s-sysctl"),
    (BOARD, f"{SPEC}.hostUsers", False, None),
    (BOARD, f"{SPEC}.schedulingGates[0].name", "not a gate", "k8s-name"),
    (BOARD, f"{SPEC}.ephemeralContainers", [{"name": "debug", "image": "busybox:1"}], "k8s-container"),
    (BOARD, f"{SPEC}.overhead", {"cpu": "1"}, "k8s-resources"),
    (BOARD, f"{SPEC}.resources", {"requests": {"cpu": "50m"}}, "k8s-resources"),
    (BOARD, f"{SPEC}.resources", {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, None),
    (BOARD, f"{SPEC}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", [],
     "k8s-affinity"),
    (BOARD, f"{SPEC}.affinity.podAntiAffinity", {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "", "labelSelector": {"matchLabels": LABELS}}]}, "k8s-affinity"),
    (BOARD, "spec.selector", {}, "k8s-selector"),
    ("statefulset-store", "spec.updateStrategy.type", "OnDelete", "k8s-rollout"),
    ("statefulset-store", "spec.updateStrategy.rollingUpdate.partition", -1, "k8s-number"),
    ("statefulset-store", "spec.volumeClaimTemplates[0].spec.resources", DROP, "k8s-claim"),
    ("statefulset-store", "spec.persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Keep"}, "k8s-enum"),
    ("job-ranks", "spec.successPolicy.rules[0].succeededIndexes", "0,7", "k8s-job"),
    ("job-ranks", "spec.successPolicy.rules[0].succeededIndexes", "3,1", "k8s-job"),
    ("job-ranks", "spec.successPolicy.rules[0].succeededCount", 5, "k8s-job"),
    ("job-ranks", "spec.managedBy", "kueue", "k8s-job"),
    ("horizontalpodautoscaler-board", f"{METRIC}.averageValue", "500m", "k8s-autoscaler"),
    ("horizontalpodautoscaler-board", f"{METRIC}.averageUtilization", 0, "k8s-autoscaler"),
    ("horizontalpodautoscaler-board", METRIC, {"type": "AverageValue", "averageValue": "500m"}, None),
    ("horizontalpodautoscaler-board", METRIC, {"type": "Value", "value": "1"}, "k8s-autoscaler"),
    ("horizontalpodautoscaler-board", "spec.metrics[0].type", "Pods", "k8s-autoscaler"),
    ("horizontalpodautoscaler-board", "spec.behavior.scaleDown.stabilizationWindowSeconds", 7200, "k8s-autoscaler"),
    ("horizontalpodautoscaler-board", "spec.behavior.scaleDown.policies[0].periodSeconds", 3600, "k8s-autoscaler"),
    ("service-board", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", 172800, "k8s-service"),
    ("service-board", "spec.externalTrafficPolicy", DROP, "k8s-service"),
    ("service-board", "spec.loadBalancerSourceRanges", ["10.0.0.1"], "k8s-cidr"),
    ("service-board", "spec.internalTrafficPolicy", "local", "k8s-enum"),
    ("service-db", "spec.externalName", "https://db.example.com", "k8s-service"),
    ("ingress-board", "spec.rules[0].host", "board.example.com:8443", "k8s-ingress"),
    ("ingress-board", "spec.rules[0].host", "10.0.0.1", "k8s-ingress"),
    ("ingress-board", f"{BACKEND}.path", "/a//b", "k8s-ingress"),
    ("ingress-board", f"{BACKEND}.pathType", "ImplementationSpecific", None),
    ("ingress-board", "metadata.annotations", {"kubernetes.io/ingress.class": "nginx"}, "k8s-ingress"),
    ("endpointslice-outside", "endpoints[0].addresses", ["127.0.0.1"], "k8s-endpoints"),
    ("endpointslice-outside", "endpoints[0].addresses", ["db.example.com"], "k8s-endpoints"),
    ("persistentvolume-nfs", "spec.accessModes", ["ReadWriteOncePod"], "k8s-access-mode"),
    ("persistentvolume-nfs", "spec.nfs", DROP, "k8s-volume"),
    ("persistentvolumeclaim-restored", "spec.dataSource.apiGroup", DROP, "k8s-claim"),
    ("persistentvolumeclaim-restored", "spec.storageClassName", "Fast_Disks", "k8s-claim"),
    ("resourcequota-rest", "spec.hard", {"requests.cpu": "4"}, "k8s-quota-scope"),
    ("resourcequota-rest", "spec.hard", {"pods": "1500m"}, "k8s-resources"),
    ("resourcequota-rest", "spec.scopes", ["BestEffort", "NotBestEffort"], "k8s-quota-scope"),
    ("limitrange-limits", "spec.limits[0].maxLimitRequestRatio.cpu", "0.5", "k8s-limit-range"),
    ("limitrange-limits", "spec.limits[0].maxLimitRequestRatio.cpu", "20", "k8s-limit-range"),
    ("secret-board", "data", {"token": "eA=="}, "k8s-secret"),
    ("secret-board", "data", {"password": "correct horse"}, "k8s-base64"),
    ("configmap-board", "data", {"a": "x" * 1024 * 1025}, "k8s-size"),
    ("runtimeclass-nvidia", "handler", "NVIDIA", "k8s-name"),
    (DEFINED, "metadata.name", "board.example.com", "k8s-definition"),
    (DEFINED, "spec.scope", "Namespace", "k8s-enum"),
    (DEFINED, f"{VERSION}.storage", False, "k8s-definition"),
    (DEFINED, f"{VERSION}.schema", DROP, "k8s-definition"),
    (DEFINED, f"{VERSION}.schema.openAPIV3Schema.properties.spec.properties.team", {"minLength": 1}, "k8s-definition"),
    (DEFINED, f"{VERSION}.additionalPrinterColumns[0].jsonPath", "spec.team", "k8s-definition"),
    ("board-vision", "spec.teams", "vision", "k8s-unknown-field"),
    ("board-vision", "spec.team", DROP, "k8s-required"),
    ("board-vision", "spec.port", 80, None),
    (HOOK, "webhooks[0].rules[0].resources", ["*", "pods"], "k8s-webhook"),
    (HOOK, "webhooks[0].rules[0].operations", ["create"], "k8s-enum"),
    (HOOK, "webhooks[0].admissionReviewVersions", ["v2"], "k8s-webhook"),
    (HOOK, "webhooks[0].failurePolicy", "Warn", "k8s-enum"),
    (HOOK, "webhooks[0].clientConfig", {"url": "http://board.example.com/check"}, "k8s-webhook"),
    (HOOK, "webhooks[0].clientConfig.service.path", "check", "k8s-webhook"),
    (HOOK, "webhooks[0].clientConfig.caBundle", "-----BEGIN CERTIFICATE-----", "k8s-base64"),
    (GUARD, "spec.matchConstraints", {}, "k8s-admission"),
    (GUARD, POLICY, "has(object.spec", "k8s-admission"),
    (GUARD, POLICY, "variables.owner = 'a'", "k8s-admission"),
    (GUARD, POLICY, "variables.owner != '' and true", "k8s-admission"),
    (GUARD, POLICY, "variables.owner in params.data", "k8s-admission"),
    (GUARD, POLICY, "object.spec.containers.all(c, c.image.matches(r'^a/[a-z]+(/b)*:v\\d+$'))", None),
    (GUARD, "spec.validations[0].reason", "TooBad", "k8s-enum"),
    ("validatingadmissionpolicybinding-owners", "spec.paramRef", {"name": "owners"}, "k8s-admission"),
    ("apiservice-v1.metrics.example.com", "spec.versionPriority", 5000, "k8s-number"),
    ("jobset-sweep", "spec.replicatedJobs[1].dependsOn[0].name", "workers", "k8s-job-set"),
    ("limitrange-limits", "spec.limits[0]", {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "300m"},
                                             "maxLimitRequestRatio": {"cpu": "3"}}, None),
    ("limitrange-limits", "spec.limits[0]", {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "300m"},
                                             "maxLimitRequestRatio": {"cpu": "3.1"}}, "k8s-limit-range"),
    (BOARD, SPEC, {**POD, **together("200m", "300m")}, None),
    (BOARD, SPEC, {**POD, **together("201m", "300m")}, "k8s-resources"),
    (DEFINED, f"{VERSION}.schema.openAPIV3Schema.properties.spec",
     {"type": "object", "properties": {}, "x_kubernetes_preserve_unknown_fields": True}, None),
    (DEFINED, f"{VERSION}.schema.openAPIV3Schema.properties.spec", {"x_kubernetes_int_or_string": True}, "k8s-type"),
    (DEFINED, f"{VERSION}.schema.openAPIV3Schema.properties.spec",
     {"type": "object", "x_kubernetes_preserve_unknown": True}, "k8s-unknown-field"),
    (HOOK, "webhooks", [{**WEBHOOK, "name": UNKNOWN}, {**WEBHOOK, "name": UNKNOWN}], None),
    (HOOK, "webhooks", [WEBHOOK, WEBHOOK], "k8s-webhook"),
    (BOARD, f"{SPEC}.schedulingGates", [{"name": UNKNOWN}, {"name": UNKNOWN}], None),
    (BOARD, f"{SPEC}.schedulingGates", [{"name": "a"}, {"name": "a"}], "k8s-duplicate"),
    (BOARD, f"{FIRST}.resources.claims", [{"name": UNKNOWN}, {"name": UNKNOWN}], None),
    (BOARD, f"{FIRST}.resources.claims", [{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "a"}],
     "k8s-duplicate"),
    (BOARD, f"{FIRST}.resizePolicy", [RESIZED, RESIZED], "k8s-container"),
    (BOARD, f"{FIRST}.resizePolicy", [{**RESIZED, "resourceName": UNKNOWN}] * 2, None),
    (DEFINED, "spec.versions", [NAMELESS, {**NAMELESS, "storage": False}], None),
    (DEFINED, "spec.versions", [{**NAMELESS, "name": "v1"}, {**NAMELESS, "name": "v1", "storage": False}],
     "k8s-duplicate"),
    (GUARD, "spec.matchConditions", [{"name": UNKNOWN, "expression": "true"}] * 2, None),
    (GUARD, "spec.matchConditions", [{"name": "a", "expression": "true"}] * 2, "k8s-duplicate"),
    ("storageclass-near", "allowedTopologies", [ZONES, ZONES], None),
    ("storageclass-near", "allowedTopologies", [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}] * 2,
     "k8s-duplicate"),
    ("service-board", "spec.sessionAffinity", DROP, None),
    ("service-board", "spec.sessionAffinity", "None", None),
    (DEFINED, f"{VERSION}.schema.openAPIV3Schema.properties.spec.properties.team", {"type": "int"}, "k8s-definition"),
    (HOOK, "webhooks[0].clientConfig", {"url": "https://[::1"}, "k8s-webhook"),
    (HOOK, "webhooks[0].clientConfig", {"url": "https://[::1]/check"}, None),
]  # fmt: skip


def test_what_is_right_is_not_told():
    assert [one for one in findings(OBJECTS) if one.level == "error"] == []


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{'absent' if row[2] is DROP else row[2]}"[:90]
)
def test_inputs_are_weighed_together(row):
    name, path, value, rule = row
    found = {one.rule for one in findings(changed(OBJECTS, name, path, value)) if one.level == "error"}
    assert (rule in found) if rule else not found, found


def test_what_a_server_drops_is_a_warning():
    found = findings(changed(OBJECTS, "service-board", "spec.sessionAffinity", DROP))
    assert [(one.level, one.path) for one in found if one.rule == "k8s-service"] == [
        ("warning", "spec.sessionAffinityConfig")
    ]
    assert not [one for one in findings(OBJECTS) if one.rule == "k8s-service"]
