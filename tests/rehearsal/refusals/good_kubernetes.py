"""A good stack of Kubernetes objects, Kueue objects and Helm releases, with the node groups that they need."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.refusals.good_aws import AWS

LABELS = {"app.kubernetes.io/name": "mlflow"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


def container(name: str = "server", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "image": "registry.example/mlflow:3@sha256:" + "0" * 64,
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"name": "http", "containerPort": 5000}],
        "env": [
            {"name": "HOSTS", "valueFrom": {"configMapKeyRef": {"name": "mlflow", "key": "hosts"}}},
            {"name": "LEVEL", "value": "info"},
        ],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}},
        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10},
        "volumeMounts": [
            {"name": "password", "mountPath": "/secrets", "readOnly": True},
            {"name": "data", "mountPath": "/data"},
        ],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        **more,
    }


def quota(name: str, gpus: str) -> dict[str, Any]:
    return {"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}


KUBERNETES = [
    *AWS,
    obj("v1", "Namespace", "mlflow", metadata={"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}),
    obj("v1", "Namespace", "research", metadata={"labels": {"ml.platform/team": "research"}}),
    obj("v1", "ServiceAccount", "mlflow", "mlflow", automountServiceAccountToken=False),
    obj("v1", "ConfigMap", "mlflow", "mlflow", data={"hosts": "mlflow.mlflow"}),
    obj("v1", "Secret", "mlflow-password", "mlflow", stringData={"password": "x"}, type="Opaque"),
    obj(
        "v1",
        "PersistentVolume",
        "data",
        spec={
            "capacity": {"storage": "4800Gi"},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "csi": {
                "driver": "fsx.csi.aws.com",
                "volumeHandle": "fs-0123456789abcdef0",
                "volumeAttributes": {"mountname": "abcdefgh"},
            },
        },
    ),
    obj(
        "v1",
        "PersistentVolumeClaim",
        "data",
        "mlflow",
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": "data",
            "resources": {"requests": {"storage": "4800Gi"}},
        },
    ),
    obj(
        "apps/v1",
        "Deployment",
        "mlflow",
        "mlflow",
        spec={
            "replicas": 2,
            "selector": {"matchLabels": LABELS},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": "25%"}},
            "template": {
                "metadata": {"labels": {**LABELS, "ml.platform/tier": "server"}},
                "spec": {
                    "serviceAccountName": "mlflow",
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 10001,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container()],
                    "volumes": [
                        {"name": "password", "secret": {"secretName": "mlflow-password"}},
                        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                    ],
                    "nodeSelector": {"ml.platform/pool": "system"},
                },
            },
        },
    ),
    obj(
        "v1",
        "Service",
        "mlflow",
        "mlflow",
        spec={"type": "ClusterIP", "selector": LABELS, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    ),
    obj(
        "policy/v1",
        "PodDisruptionBudget",
        "mlflow",
        "mlflow",
        spec={"minAvailable": 1, "selector": {"matchLabels": LABELS}},
    ),
    obj(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "mlflow",
        "mlflow",
        spec={
            "podSelector": {"matchLabels": LABELS},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [{"namespaceSelector": {}}], "ports": [{"port": 5000, "protocol": "TCP"}]}],
            "egress": [
                {
                    "to": [{"ipBlock": {"cidr": "10.20.0.0/16"}}],
                    "ports": [{"port": 5432, "endPort": 5433, "protocol": "TCP"}],
                }
            ],
        },
    ),
    obj("v1", "ServiceAccount", "runner", "research"),
    obj(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        "guard",
        spec={"policyName": "guard", "validationActions": ["Deny", "Audit"]},
    ),
    obj(
        "v1",
        "ResourceQuota",
        "research",
        "research",
        spec={
            "hard": {"requests.cpu": "400", "requests.memory": "4Ti", "pods": "200"},
            "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["cpu-only"]}]
            },
        },
    ),
    obj(
        "v1",
        "LimitRange",
        "research",
        "research",
        spec={
            "limits": [
                {"type": "Container", "default": {"cpu": "1", "memory": "4Gi"}, "defaultRequest": {"cpu": "500m"}}
            ]
        },
    ),
    obj(
        "rbac.authorization.k8s.io/v1",
        "Role",
        "submit",
        "research",
        rules=[{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "get"]}],
    ),
    obj(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "submit",
        "research",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "submit"},
        subjects=[{"kind": "ServiceAccount", "name": "runner", "namespace": "research"}],
    ),
    obj(
        "batch/v1",
        "Job",
        "smoke",
        "research",
        metadata={"labels": {"kueue.x-k8s.io/queue-name": "research"}},
        spec={
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "serviceAccountName": "runner",
                    "tolerations": [TOLERATION],
                    "containers": [
                        {
                            "name": "worker",
                            "image": "registry.example/smoke@sha256:" + "0" * 64,
                            "resources": {
                                "requests": {"nvidia.com/gpu": "8", "cpu": "8"},
                                "limits": {"nvidia.com/gpu": "8"},
                            },
                        }
                    ],
                }
            },
        },
    ),
    obj(
        "kueue.x-k8s.io/v1beta2",
        "ResourceFlavor",
        "train-reserved",
        spec={
            "nodeLabels": {"ml.platform/pool": "train", "ml.platform/capacity": "reserved"},
            "tolerations": [TOLERATION],
        },
    ),
    obj(
        "kueue.x-k8s.io/v1beta2",
        "ClusterQueue",
        "research",
        spec={
            "cohortName": "acme",
            "namespaceSelector": {"matchLabels": {"ml.platform/team": "research"}},
            "queueingStrategy": "BestEffortFIFO",
            "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            "fairSharing": {"weight": "8"},
            "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [quota("train-reserved", "8")]}],
        },
    ),
    obj(
        "kueue.x-k8s.io/v1beta2",
        "ClusterQueue",
        "product",
        spec={
            "cohortName": "acme",
            "namespaceSelector": {"matchLabels": {"ml.platform/team": "product"}},
            "preemption": {"reclaimWithinCohort": "Any"},
            "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [quota("train-reserved", "8")]}],
        },
    ),
    obj("kueue.x-k8s.io/v1beta2", "LocalQueue", "research", "research", spec={"clusterQueue": "research"}),
    obj(
        "kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "production", value=1000, description="Runs that serve users"
    ),
    obj(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        "torch-distributed",
        metadata={"labels": {"trainer.kubeflow.org/framework": "torch"}},
        spec={
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {
                "spec": {
                    "replicatedJobs": [
                        {
                            "name": "node",
                            "template": {
                                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                                "spec": {
                                    "template": {
                                        "spec": {
                                            "containers": [{"name": "node", "image": "registry.example/torch:2.13"}],
                                        }
                                    }
                                },
                            },
                        }
                    ]
                }
            },
        },
    ),
    resource(
        "kubernetes:helm.sh/v3:Release",
        "kueue-release",
        {
            "chart": "oci://registry.k8s.io/kueue/charts/kueue",
            "version": "0.19.2",
            "namespace": "kueue-system",
            "createNamespace": True,
            "values": {
                "controllerManager": {"replicas": 2},
                "enablePrometheus": False,
                "managerConfig": {
                    "controllerManagerConfigYaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                    "resources: {quotaCheckStrategy: IgnoreUndeclared}\n"
                    "fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}\n"
                },
            },
        },
    ),
    resource(
        "kubernetes:helm.sh/v3:Release",
        "autoscaler-release",
        {
            "chart": "cluster-autoscaler",
            "version": "9.59.0",
            "namespace": "kube-system",
            "repositoryOpts": {"repo": "https://kubernetes.github.io/autoscaler"},
            "values": {
                "autoDiscovery": {"clusterName": "acme-production"},
                "awsRegion": "us-east-1",
                "extraArgs": {"expander": "least-waste"},
            },
        },
    ),
    resource(
        "kubernetes:helm.sh/v3:Release",
        "trainer-release",
        {
            "chart": "oci://ghcr.io/kubeflow/charts/kubeflow-trainer",
            "version": "2.3.0",
            "values": {"jobset": {"install": False}},
        },
    ),
]
