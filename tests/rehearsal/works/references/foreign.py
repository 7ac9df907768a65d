"""A correct program of somebody else: what it names is there, or is plausibly made by others."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.refusals.builders import obj, resource

WEB = {"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web"}
DATABASE = {"app": "db", "cluster": "main"}


def release(name: str, chart: str, namespace: str, version: str = "1.0.0", **values: Any) -> Any:
    inputs = {"chart": chart, "name": name, "namespace": namespace, "version": version, "values": values}
    return resource("kubernetes:helm.sh/v3:Release", f"release-{name}", inputs)


def workload(kind: str, name: str, namespace: str, labels: dict[str, str], spec: dict[str, Any], **more: Any) -> Any:
    template = {"metadata": {"labels": labels}, "spec": spec}
    return obj(
        "apps/v1", kind, name, namespace, spec={"selector": {"matchLabels": labels}, "template": template, **more}
    )


def volume(name: str, handle: str) -> Any:
    return obj(
        "v1",
        "PersistentVolume",
        name,
        spec={
            "capacity": {"storage": "100Gi"},
            "accessModes": ["ReadWriteMany"],
            "csi": {"driver": "efs.csi.aws.com", "volumeHandle": handle},
        },
    )


def claim(name: str, namespace: str, **spec: Any) -> Any:
    body = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "100Gi"}}, **spec}
    return obj("v1", "PersistentVolumeClaim", name, namespace, spec=body)


FOREIGN = [
    obj("v1", "Namespace", "web"),
    obj("v1", "Namespace", "monitoring"),
    release("kps", "kube-prometheus-stack", "monitoring", "88.5.3"),
    release("cert-manager", "cert-manager", "cert-manager", "v1.21.1", crds={"enabled": True}),
    obj("v1", "ConfigMap", "web", "web", data={"web.yaml": "port: 8080", "LEVEL": "info"}),
    obj("v1", "ConfigMap", "filled-by-a-controller", "web"),
    obj("external-secrets.io/v1", "ExternalSecret", "web", "web", spec={"target": {"name": "web-tokens"}}),
    # A controller as Kubebuilder lays it out: its health port is declared nowhere.
    workload(
        "Deployment",
        "web",
        "web",
        WEB,
        {
            "serviceAccountName": "default",
            "imagePullSecrets": [{"name": "web-pull"}],
            "securityContext": {"runAsUser": 1000, "fsGroup": 1000},
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": WEB},
                }
            ],
            "containers": [
                {
                    "name": "web",
                    "image": "web:1",
                    "command": [
                        "/manager",
                        "--config=/etc/web/web.yaml",
                        "--cache=/var/cache/web",
                        "--api=https://kubernetes.default.svc:443",
                    ],
                    "ports": [{"name": "http", "containerPort": 8080}, {"name": "webhook", "containerPort": 9443}],
                    "readinessProbe": {"httpGet": {"path": "/readyz?verbose=1", "port": 8081}},
                    "livenessProbe": {"tcpSocket": {"port": "http"}},
                    "env": [
                        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "web-token", "key": "token"}}},
                        {
                            "name": "MAYBE",
                            "valueFrom": {"configMapKeyRef": {"name": "web", "key": "no", "optional": True}},
                        },
                        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                        {
                            "name": "NAME",
                            "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['pod-template-hash']"}},
                        },
                        {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                    ],
                    "envFrom": [{"configMapRef": {"name": "web"}}],
                    "volumeMounts": [
                        {"name": "config", "mountPath": "/etc/web"},
                        {"name": "one", "mountPath": "/etc/one.yaml", "subPath": "web.yaml"},
                        {"name": "filled", "mountPath": "/etc/filled"},
                    ],
                }
            ],
            "volumes": [
                {"name": "config", "configMap": {"name": "web", "defaultMode": 0o644}},
                {
                    "name": "one",
                    "configMap": {"name": "web", "items": [{"key": "web.yaml", "path": "web.yaml", "mode": 292}]},
                },
                {
                    "name": "filled",
                    "configMap": {"name": "filled-by-a-controller", "items": [{"key": "ca.crt", "path": "ca"}]},
                },
            ],
        },
    ),
    obj(
        "v1",
        "Service",
        "web",
        "web",
        spec={"selector": WEB, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    ),
    # Its container serves metrics on a port that it does not declare.
    obj(
        "v1",
        "Service",
        "web-metrics",
        "web",
        metadata={"labels": WEB},
        spec={"selector": WEB, "ports": [{"name": "m", "port": 9090}]},
    ),
    obj("v1", "Service", "elsewhere", "web", spec={"type": "ExternalName", "externalName": "web.example"}),
    obj("v1", "Service", "by-hand", "web", spec={"ports": [{"port": 5432}]}),
    obj(
        "networking.k8s.io/v1",
        "Ingress",
        "web",
        "web",
        spec={
            "ingressClassName": "nginx-internal",
            "tls": [{"secretName": "web-certificate"}],
            "rules": [
                {
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "web", "port": {"name": "http"}}},
                            }
                        ]
                    }
                }
            ],
        },
    ),
    # A database whose leader gets its label while it runs.
    workload(
        "StatefulSet",
        "db",
        "web",
        DATABASE,
        {"containers": [{"name": "db", "image": "db:1", "ports": [{"containerPort": 5432}]}]},
        serviceName="db",
    ),
    obj("v1", "Service", "db", "web", spec={"clusterIP": "None", "selector": DATABASE, "ports": [{"port": 5432}]}),
    obj(
        "v1",
        "Service",
        "db-leader",
        "web",
        spec={"selector": {**DATABASE, "role": "leader"}, "ports": [{"port": 5432}]},
    ),
    obj("policy/v1", "PodDisruptionBudget", "web", "web", spec={"maxUnavailable": 1, "selector": {"matchLabels": WEB}}),
    obj(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "web",
        "web",
        spec={"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3},
    ),
    obj(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "web",
        "web",
        spec={
            "podSelector": {"matchLabels": WEB},
            "ingress": [
                {"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}]},
                {"from": [{"podSelector": {"matchExpressions": [{"key": "access", "operator": "Exists"}]}}]},
            ],
            "egress": [
                {
                    "to": [
                        {
                            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
                            "podSelector": {"matchLabels": {"k8s-app": "node-local-dns"}},
                        }
                    ]
                }
            ],
        },
    ),
    obj(
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        "others",
        "monitoring",
        metadata={"labels": {"release": "kps"}},  # which the chart's Prometheus takes
        spec={"selector": {"matchLabels": {"app": "prometheus"}}, "endpoints": [{"port": "http-web"}]},
    ),
    volume("shared-a", "fs-0123456789abcdef0"),
    volume("shared-b", "fs-0123456789abcdef0"),
    claim("shared", "web", storageClassName="", volumeName="shared-a"),
    claim("shared", "monitoring", volumeName="shared-b"),
    claim("fast", "web", storageClassName="gp3"),
    obj(
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        "web",
        rules=[
            {"apiGroups": ["autoscaling.k8s.io"], "resources": ["verticalpodautoscalers"], "verbs": ["get"]},
            {"apiGroups": ["custom.metrics.k8s.io"], "resources": ["*"], "verbs": ["*"]},
            {
                "apiGroups": ["gateway.networking.k8s.io", "networking.gke.io"],
                "resources": ["gateways"],
                "verbs": ["get"],
            },
            {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
            {
                "apiGroups": ["", "apps", "extensions"],
                "resources": ["pods", "deployments"],
                "verbs": ["get", "list", "watch"],
            },
            {"apiGroups": ["policy"], "resources": ["podsecuritypolicies"], "resourceNames": ["web"], "verbs": ["use"]},
            {
                "apiGroups": [""],
                "resources": ["nodes/metrics", "nodes/stats", "serviceaccounts/token"],
                "verbs": ["get", "create"],
            },
            {"apiGroups": ["apps"], "resources": ["deployments/finalizers", "*/scale"], "verbs": ["update"]},
            {
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "resourceNames": ["web"],
                "verbs": ["get", "update"],
            },
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        ],
    ),
    obj(
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        "web",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:metrics-server"},
        subjects=[
            {"kind": "ServiceAccount", "name": "kps-operator", "namespace": "monitoring"},
            {"kind": "ServiceAccount", "name": "runner", "namespace": "ci"},
            {"kind": "Group", "name": "oidc:platform", "apiGroup": "rbac.authorization.k8s.io"},
        ],
    ),
    obj(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "replicas",
        spec={
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["deployments", "deployments/scale"],
                    }
                ]
            },
            "variables": [
                {"name": "most", "expression": "int(params.data.most)"},
                {"name": "isTooMany", "expression": "object.spec.replicas > variables.most"},
            ],
            "validations": [
                {
                    "expression": "!variables.isTooMany || request.userInfo.groups.exists(g, g.startsWith('admins'))",
                    "messageExpression": "'at most ' + string(variables.most) + ' of variables.none'",
                }
            ],
        },
    ),
    obj(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        "replicas",
        spec={
            "policyName": "replicas",
            "paramRef": {"selector": {"matchLabels": {"limits": "replicas"}}, "parameterNotFoundAction": "Deny"},
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"environment": "production"}}},
        },
    ),
    obj(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        "fine-tune",
        "default",
        spec={"runtimeRef": {"name": "torch-distributed"}},
    ),
]
"""On a cluster that another program makes: the charts of Kueue, Trainer and the drivers may be there."""
