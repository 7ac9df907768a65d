"""A laboratory's training on a cluster that somebody else runs: what is sent to its API, and nothing of a cloud."""

import base64
import json

import pulumi
import pulumi_kubernetes as k8s

provider = k8s.Provider(
    "lab",
    kubeconfig=json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": {"server": "https://k8s.nordlab.example:6443"}}],
            "users": [{"name": "lab", "user": {"token": "given-by-ci"}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
            "current-context": "lab",
        }
    ),
)
there = pulumi.ResourceOptions(provider=provider)
TRAIN, TOOLS = "training", "tools"
Custom = k8s.apiextensions.CustomResource


def named(name, namespace="", **labels):
    return {"name": name, **({"namespace": namespace} if namespace else {}), **({"labels": labels} if labels else {})}


train = k8s.core.v1.Namespace(
    "training", metadata=named("training", **{"pod-security.kubernetes.io/enforce": "baseline", "team": "training"}),
    opts=there,
)  # fmt: skip
tools = k8s.core.v1.Namespace("tools", metadata=named("tools", team="platform"), opts=there)
inside = pulumi.ResourceOptions(provider=provider, depends_on=[train, tools])
k8s.core.v1.ResourceQuota(
    "training",
    metadata=named("gpus", TRAIN),
    spec={
        "hard": {
            "requests.nvidia.com/gpu": "64", "requests.cpu": "800", "requests.memory": "6Ti",
            "persistentvolumeclaims": "20", "pods": "200",
        }
    },
    opts=inside,
)  # fmt: skip
k8s.core.v1.LimitRange(
    "training",
    metadata=named("usual", TRAIN),
    spec={
        "limits": [
            {
                "type": "Container",
                "default": {"memory": "4Gi"},
                "defaultRequest": {"cpu": "500m", "memory": "1Gi"},
                "max": {"cpu": "96", "memory": "1000Gi"},
            }
        ]
    },
    opts=inside,
)
k8s.scheduling.v1.PriorityClass(
    "urgent", metadata=named("urgent"), value=100000, global_default=False, preemption_policy="PreemptLowerPriority",
    description="Runs before a deadline", opts=there,
)  # fmt: skip

# Who may do what
account = k8s.core.v1.ServiceAccount("trainer", metadata=named("trainer", TRAIN), opts=inside)
may = k8s.rbac.v1.Role(
    "trainer",
    metadata=named("trainer", TRAIN),
    rules=[
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list", "watch", "create", "delete"]},
        {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["get", "list", "create", "delete"]},
    ],
    opts=inside,
)
k8s.rbac.v1.RoleBinding(
    "trainer",
    metadata=named("trainer", TRAIN),
    role_ref={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "trainer"},
    subjects=[{"kind": "ServiceAccount", "name": "trainer", "namespace": TRAIN}],
    opts=inside,
)
k8s.rbac.v1.ClusterRole(
    "nodes",
    metadata=named("nordlab-node-reader"),
    rules=[
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes"], "verbs": ["get", "list"]},
    ],
    opts=there,
)
k8s.rbac.v1.ClusterRoleBinding(
    "nodes",
    metadata=named("nordlab-node-readers"),
    role_ref={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "nordlab-node-reader"},
    subjects=[{"kind": "Group", "name": "ml-engineers", "apiGroup": "rbac.authorization.k8s.io"}],
    opts=there,
)

# Storage: a file server of the building, and disks of the nodes
volume = k8s.core.v1.PersistentVolume(
    "datasets",
    metadata=named("datasets", usage="datasets"),
    spec={
        "capacity": {"storage": "20Ti"},
        "accessModes": ["ReadOnlyMany", "ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "nfs-static",
        "mountOptions": ["nfsvers=4.1", "nconnect=8"],
        "nfs": {"server": "10.1.0.20", "path": "/exports/datasets"},
    },
    opts=there,
)
datasets = k8s.core.v1.PersistentVolumeClaim(
    "datasets",
    metadata=named("datasets", TRAIN),
    spec={
        "accessModes": ["ReadOnlyMany"],
        "storageClassName": "nfs-static",
        "selector": {"matchLabels": {"usage": "datasets"}},
        "resources": {"requests": {"storage": "20Ti"}},
    },
    opts=inside,
)
local = k8s.core.v1.PersistentVolume(
    "fast-1",
    metadata=named("fast-1"),
    spec={
        "capacity": {"storage": "3Ti"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "fast-local",
        "local": {"path": "/mnt/fast"},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["gpu-01"]}]}
                ]
            }
        },
    },
    opts=there,
)
k8s.storage.v1.StorageClass(
    "fast-local", metadata=named("fast-local"), provisioner="kubernetes.io/no-provisioner",
    volume_binding_mode="WaitForFirstConsumer", reclaim_policy="Retain", opts=there,
)  # fmt: skip

# The tracking server, its database and the way to them
word = k8s.core.v1.Secret(
    "database",
    metadata=named("database", TOOLS),
    type="Opaque",
    string_data={"username": "mlflow", "password": "given-by-ci"},
    opts=inside,
)
k8s.core.v1.Service(
    "database",
    metadata=named("database", TOOLS),
    spec={"clusterIP": "None", "selector": {"app": "database"}, "ports": [{"name": "sql", "port": 5432}]},
    opts=inside,
)
database = k8s.apps.v1.StatefulSet(
    "database",
    metadata=named("database", TOOLS),
    spec={
        "serviceName": "database",
        "replicas": 1,
        "selector": {"matchLabels": {"app": "database"}},
        "template": {
            "metadata": {"labels": {"app": "database"}},
            "spec": {
                "terminationGracePeriodSeconds": 60,
                "securityContext": {"fsGroup": 999},
                "containers": [
                    {
                        "name": "postgres",
                        "image": "postgres:17",
                        "ports": [{"name": "sql", "containerPort": 5432}],
                        "env": [
                            {"name": "POSTGRES_DB", "value": "mlflow"},
                            {"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"},
                            {"name": "POSTGRES_USER",
                             "valueFrom": {"secretKeyRef": {"name": "database", "key": "username"}}},
                            {"name": "POSTGRES_PASSWORD",
                             "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}}},
                        ],
                        "readinessProbe": {"exec": {"command": ["pg_isready", "-U", "mlflow"]}, "periodSeconds": 10},
                        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "4Gi"}},
                        "volumeMounts": [{"name": "data", "mountPath": "/var/lib/postgresql/data"}],
                    }
                ],
            },
        },
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}},
            }
        ],
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[word]),
)  # fmt: skip
settings = k8s.core.v1.ConfigMap(
    "mlflow",
    metadata=named("mlflow", TOOLS),
    data={"ARTIFACTS": "s3://mlflow-artifacts/runs", "ENDPOINT": "https://objects.nordlab.example"},
    opts=inside,
)
mlflow = k8s.apps.v1.Deployment(
    "mlflow",
    metadata=named("mlflow", TOOLS),
    spec={
        "replicas": 2,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "selector": {"matchLabels": {"app": "mlflow"}},
        "template": {
            "metadata": {"labels": {"app": "mlflow", "tier": "web"}},
            "spec": {
                "securityContext": {"runAsNonRoot": True, "runAsUser": 10001},
                "containers": [
                    {
                        "name": "mlflow",
                        "image": "ghcr.io/mlflow/mlflow:v3.1.0",
                        "command": ["sh", "-c"],
                        "args": [
                            "mlflow server --host 0.0.0.0 --port 5000 --artifacts-destination $ARTIFACTS "
                            "--backend-store-uri postgresql://$DB_USER:$DB_PASSWORD@database.tools.svc:5432/mlflow"
                        ],
                        "ports": [{"name": "http", "containerPort": 5000}],
                        "env": [
                            {"name": "ARTIFACTS",
                             "valueFrom": {"configMapKeyRef": {"name": "mlflow", "key": "ARTIFACTS"}}},
                            {"name": "DB_USER",
                             "valueFrom": {"secretKeyRef": {"name": "database", "key": "username"}}},
                            {"name": "DB_PASSWORD",
                             "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}}},
                        ],
                        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}},
                        "livenessProbe": {"httpGet": {"path": "/health", "port": "http"}, "initialDelaySeconds": 60},
                        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
                    }
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[settings, database]),
)  # fmt: skip
k8s.core.v1.Service(
    "mlflow",
    metadata=named("mlflow", TOOLS),
    spec={"selector": {"app": "mlflow"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    opts=inside,
)
k8s.autoscaling.v2.HorizontalPodAutoscaler(
    "mlflow",
    metadata=named("mlflow", TOOLS),
    spec={
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "mlflow"},
        "minReplicas": 2,
        "maxReplicas": 6,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
            }
        ],
    },
    opts=inside,
)
k8s.policy.v1.PodDisruptionBudget(
    "mlflow", metadata=named("mlflow", TOOLS),
    spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "mlflow"}}}, opts=inside,
)  # fmt: skip
k8s.networking.v1.Ingress(
    "mlflow",
    metadata={**named("mlflow", TOOLS), "annotations": {"cert-manager.io/cluster-issuer": "letsencrypt"}},
    spec={
        "ingressClassName": "nginx",
        "tls": [{"hosts": ["mlflow.nordlab.example"], "secretName": "mlflow-tls"}],
        "rules": [
            {
                "host": "mlflow.nordlab.example",
                "http": {
                    "paths": [
                        {
                            "path": "/", "pathType": "Prefix",
                            "backend": {"service": {"name": "mlflow", "port": {"name": "http"}}},
                        }
                    ]
                },
            }
        ],
    },
    opts=inside,
)  # fmt: skip

# Who may talk to whom
k8s.networking.v1.NetworkPolicy(
    "tools-closed", metadata=named("closed", TOOLS), spec={"podSelector": {}, "policyTypes": ["Ingress"]}, opts=inside
)
k8s.networking.v1.NetworkPolicy(
    "database",
    metadata=named("database", TOOLS),
    spec={
        "podSelector": {"matchLabels": {"app": "database"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {"podSelector": {"matchLabels": {"app": "mlflow"}}},
                    {"podSelector": {"matchLabels": {"app": "backup"}}},
                ],
                "ports": [{"protocol": "TCP", "port": 5432}],
            }
        ],
    },
    opts=inside,
)
k8s.networking.v1.NetworkPolicy(
    "mlflow",
    metadata=named("mlflow", TOOLS),
    spec={
        "podSelector": {"matchLabels": {"app": "mlflow"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}},
                    {"namespaceSelector": {"matchLabels": {"team": "training"}}},
                ],
                "ports": [{"protocol": "TCP", "port": 5000}],
            }
        ],
    },
    opts=inside,
)

# By the clock
k8s.batch.v1.CronJob(
    "backup",
    metadata=named("backup", TOOLS),
    spec={
        "schedule": "15 1 * * *",
        "timeZone": "Europe/Stockholm",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 3600,
        "successfulJobsHistoryLimit": 3,
        "jobTemplate": {
            "spec": {
                "backoffLimit": 2,
                "activeDeadlineSeconds": 3600,
                "template": {
                    "metadata": {"labels": {"app": "backup"}},
                    "spec": {
                        "restartPolicy": "OnFailure",
                        "containers": [
                            {
                                "name": "dump",
                                "image": "postgres:17",
                                "command": ["sh", "-c", "pg_dump -h database -U $PGUSER mlflow > /backup/mlflow.sql"],
                                "env": [
                                    {"name": "PGUSER",
                                     "valueFrom": {"secretKeyRef": {"name": "database", "key": "username"}}},
                                    {"name": "PGPASSWORD",
                                     "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}}},
                                ],
                                "volumeMounts": [{"name": "backup", "mountPath": "/backup"}],
                            }
                        ],
                        "volumes": [{"name": "backup", "persistentVolumeClaim": {"claimName": "backup"}}],
                    },
                },
            }
        },
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[database]),
)  # fmt: skip
k8s.core.v1.PersistentVolumeClaim(
    "backup", metadata=named("backup", TOOLS),
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "200Gi"}}},
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[tools]),
)  # fmt: skip

# Kueue: one cohort, two flavors, a queue
flavors = [
    Custom(
        f"flavor-{name}", api_version="kueue.x-k8s.io/v1beta1", kind="ResourceFlavor", metadata=named(name),
        spec={"nodeLabels": {"nordlab.io/gpu": label}, **more}, opts=there,
    )
    for name, label, more in (
        ("h100", "h100", {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]}),
        ("a100", "a100", {}),
    )
]  # fmt: skip
cluster_queue = Custom(
    "cluster-queue",
    api_version="kueue.x-k8s.io/v1beta1",
    kind="ClusterQueue",
    metadata=named("training"),
    spec={
        "cohort": "lab",
        "namespaceSelector": {"matchLabels": {"team": "training"}},
        "queueingStrategy": "BestEffortFIFO",
        "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "memory", "nvidia.com/gpu"],
                "flavors": [
                    {
                        "name": "h100",
                        "resources": [
                            {"name": "cpu", "nominalQuota": "384"},
                            {"name": "memory", "nominalQuota": "3Ti"},
                            {"name": "nvidia.com/gpu", "nominalQuota": "32", "borrowingLimit": "16"},
                        ],
                    },
                    {
                        "name": "a100",
                        "resources": [
                            {"name": "cpu", "nominalQuota": "384"},
                            {"name": "memory", "nominalQuota": "3Ti"},
                            {"name": "nvidia.com/gpu", "nominalQuota": "32"},
                        ],
                    },
                ],
            }
        ],
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=flavors),
)
queue = Custom(
    "queue", api_version="kueue.x-k8s.io/v1beta1", kind="LocalQueue", metadata=named("training", TRAIN),
    spec={"clusterQueue": "training"},
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[cluster_queue, train]),
)  # fmt: skip

# Programs, and the jobs that run them
programs = k8s.core.v1.ConfigMap(
    "programs", metadata=named("programs", TRAIN),
    data={"train.py": "import torch\nprint(torch.cuda.device_count())\n"}, opts=inside,
)  # fmt: skip
hub = k8s.core.v1.Secret(
    "hub", metadata=named("hub", TRAIN), type="Opaque", data={"token": base64.b64encode(b"given-by-ci").decode()},
    opts=inside,
)  # fmt: skip
registry = k8s.core.v1.Secret(
    "registry",
    metadata=named("registry", TRAIN),
    type="kubernetes.io/dockerconfigjson",
    string_data={".dockerconfigjson": json.dumps({"auths": {"registry.nordlab.example": {"auth": "Y2k6Z2l2ZW4="}}})},
    opts=inside,
)
ready = pulumi.ResourceOptions(provider=provider, depends_on=[queue, programs, hub, registry, datasets])


def trainer(*command, gpus, **more):
    return {
        "name": "train",
        "image": "registry.nordlab.example/ml/trainer:2026.11",
        "command": list(command),
        "resources": {
            "requests": {"cpu": "32", "memory": "256Gi"}, "limits": {"memory": "512Gi", "nvidia.com/gpu": gpus},
        },
        "env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
        "volumeMounts": [
            {"name": "programs", "mountPath": "/programs"},
            {"name": "datasets", "mountPath": "/datasets", "readOnly": True},
            {"name": "shm", "mountPath": "/dev/shm"},
        ],
        **more,
    }  # fmt: skip


VOLUMES = [
    {"name": "programs", "configMap": {"name": "programs"}},
    {"name": "datasets", "persistentVolumeClaim": {"claimName": "datasets", "readOnly": True}},
    {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
]
POD = {
    "restartPolicy": "Never",
    "serviceAccountName": "trainer",
    "priorityClassName": "urgent",
    "imagePullSecrets": [{"name": "registry"}],
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "volumes": VOLUMES,
}
LEAVE = {"pulumi.com/skipAwait": "true"}
k8s.batch.v1.Job(
    "pretrain",
    metadata={
        **named("pretrain", TRAIN, **{"kueue.x-k8s.io/queue-name": "training"}),
        "annotations": LEAVE,
    },
    spec={
        "parallelism": 4,
        "completions": 4,
        "completionMode": "Indexed",
        "backoffLimitPerIndex": 1,
        "maxFailedIndexes": 2,
        "suspend": True,
        "ttlSecondsAfterFinished": 86400,
        "template": {
            "metadata": {"labels": {"app": "pretrain"}},
            "spec": {
                **POD,
                "containers": [trainer("torchrun", "--nproc-per-node=8", "/programs/train.py", gpus="8")],
            },
        },
    },
    opts=ready,
)
Custom(
    "finetune",
    api_version="jobset.x-k8s.io/v1alpha2",
    kind="JobSet",
    metadata=named("finetune", TRAIN, **{"kueue.x-k8s.io/queue-name": "training"}),
    spec={
        "suspend": True,
        "network": {"enableDNSHostnames": True},
        "failurePolicy": {"maxRestarts": 3},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ["workers"]},
        "replicatedJobs": [
            {
                "name": "workers",
                "replicas": 1,
                "template": {
                    "spec": {
                        "parallelism": 2,
                        "completions": 2,
                        "completionMode": "Indexed",
                        "backoffLimit": 0,
                        "template": {
                            "spec": {
                                **POD,
                                "containers": [
                                    trainer(
                                        "torchrun", "--nnodes=2", "--nproc-per-node=8",
                                        "--rdzv-endpoint=finetune-workers-0-0.finetune:29500", "/programs/train.py",
                                        gpus="8", ports=[{"containerPort": 29500}],
                                    )
                                ],
                            }
                        },
                    }
                },
            }
        ],
    },
    opts=ready,
)  # fmt: skip
k8s.apps.v1.DaemonSet(
    "exporter",
    metadata=named("gpu-exporter", TOOLS),
    spec={
        "selector": {"matchLabels": {"app": "gpu-exporter"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "20%"}},
        "template": {
            "metadata": {"labels": {"app": "gpu-exporter"}},
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "nordlab.io/gpu", "operator": "Exists"}]}
                            ]
                        }
                    }
                },
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "containers": [
                    {
                        "name": "exporter",
                        "image": "nvcr.io/nvidia/k8s/dcgm-exporter:4.4.0-4.5.0-ubuntu22.04",
                        "ports": [{"name": "metrics", "containerPort": 9400}],
                        "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}},
                        "volumeMounts": [
                            {"name": "sockets", "mountPath": "/var/lib/kubelet/pod-resources", "readOnly": True}
                        ],
                    }
                ],
                "volumes": [{"name": "sockets", "hostPath": {"path": "/var/lib/kubelet/pod-resources"}}],
            },
        },
    },
    opts=inside,
)
Custom(
    "monitor",
    api_version="monitoring.coreos.com/v1",
    kind="PodMonitor",
    metadata=named("gpu-exporter", TOOLS, release="prometheus"),
    spec={
        "selector": {"matchLabels": {"app": "gpu-exporter"}},
        "podMetricsEndpoints": [{"port": "metrics", "interval": "30s"}],
    },
    opts=inside,
)
Custom(
    "rules",
    api_version="monitoring.coreos.com/v1",
    kind="PrometheusRule",
    metadata=named("gpus", TOOLS, release="prometheus"),
    spec={
        "groups": [
            {
                "name": "gpus",
                "rules": [
                    {
                        "alert": "GpuIdle", "expr": "avg_over_time(DCGM_FI_DEV_GPU_UTIL[1h]) < 5", "for": "2h",
                        "labels": {"severity": "warning"}, "annotations": {"summary": "A GPU does nothing"},
                    }
                ],
            }
        ]
    },
    opts=inside,
)  # fmt: skip
pulumi.export("mlflow", "https://mlflow.nordlab.example")
