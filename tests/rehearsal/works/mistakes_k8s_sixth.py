"""A sixth set of mistakes within the cluster, on both clouds, and measured at first sight.

`REFUSED` is what an API server or a webhook would not take, `SILENT` what is taken and then does not work.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Mistake, added, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    DISRUPTION,
    FIRST,
    JOB,
    NOTEBOOKS,
    POD,
    POD_MONITOR,
    RELEASE,
    RUNTIME,
    STACK,
    TRAIN,
    VOLUME,
    WALL,
    expression,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import PRIORITY_CLASS, SERVICE

GOOGLE = "large-gcp"
NAMESPACE = "kubernetes:core/v1:Namespace"
CLAIMS = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"
RULES = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
ADMISSION = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
PODS = "spec.template.spec.replicatedJobs[0].template.spec.template"
NODE = f"{PODS}.spec.containers[0]"


def scaler(name: str, target: str, namespace: str, spec: dict[str, Any]) -> Any:
    """Adds a HorizontalPodAutoscaler of a deployment."""
    body = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}, **spec}
    return added("autoscaling/v2:HorizontalPodAutoscaler", name, {"spec": body}, namespace)


CPU = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}]
REQUESTS = [
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "mlflow_requests_per_second"},
            "target": {"type": "AverageValue", "averageValue": "50"},
        },
    }
]  # fmt: skip


def jobset(**spec: Any) -> Any:
    """Adds a JobSet of a team's, of two workers without GPUs."""
    pod = {
        "restartPolicy": "Never", "priorityClassName": "cpu-only", "nodeSelector": {"ml.platform/pool": "cpu"},
        "serviceAccountName": "trainer", "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 10001, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "node", "image": "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime",
            "command": ["torchrun", "--nnodes=2", "--master_addr=sweep-workers-0-0.sweep", "train.py"],
            "resources": {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"cpu": "1", "memory": "4Gi"}},
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }],
    }  # fmt: skip
    job = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimit": 0,
           "activeDeadlineSeconds": 3600, "template": {"spec": pod}}  # fmt: skip
    body = {"replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": job}}], **spec}
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    return added("jobset.x-k8s.io/v1alpha2:JobSet", "sweep", {"metadata": labels, "spec": body}, "team-vision")


def trainjob(**spec: Any) -> Any:
    """Adds a TrainJob of a team's, in a runtime of the stack."""
    reference = {"apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime", "name": "torch-distributed"}
    body = {"runtimeRef": reference, **spec}
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    return added(
        "trainer.kubeflow.org/v1alpha1:TrainJob", "finetune", {"metadata": labels, "spec": body}, "team-vision"
    )


def variable(name: str, value: Any) -> Any:
    """One more variable of a runtime's container."""

    def into(inputs: dict[str, Any]) -> None:
        runtime_pod = inputs["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        runtime_pod["containers"][0].setdefault("env", []).append({"name": name, "value": value})

    return into


def changed(name: str, value: str) -> Any:
    """Gives a variable of a job's first container another value."""

    def into(inputs: dict[str, Any]) -> None:
        every = inputs["spec"]["template"]["spec"]["containers"][0]["env"]
        next(one for one in every if one["name"] == name)["value"] = value

    return into


def profile(which: int, change: Any) -> Any:
    """Changes what a kind of notebook asks of the spawner."""

    def into(inputs: dict[str, Any]) -> None:
        change(inputs["values"]["singleuser"]["profileList"][which]["kubespawner_override"])

    return edit(RELEASE, "notebooks-release", into)


REFUSED = [
    Mistake(
        "label-value",
        "a namespace's label holds a mail address",
        edit(NAMESPACE, "mlflow-namespace", put("metadata.labels", {"owner": "ml-platform@acme.example"})),
        "refusal:label-value",
    ),
    Mistake(
        "data-key",
        "a file of a config map is under its path",
        edit(CONFIG_MAP, "checkpoint-check-vision-programs", put("data.drill/extra~py", "print()")),
        "refusal:k8s-data-key",
    ),
    Mistake(
        "mounted-twice",
        "a second volume is mounted at the first one's path",
        edit(
            DEPLOYMENT, "kueue-idle-deployment", put(f"{FIRST}.volumeMounts[2]", {"name": "tmp", "mountPath": "/tmp"})
        ),
        "refusal:k8s-duplicate",
    ),
    Mistake(
        "job-selector",
        "a job says by which labels its pods are found, which the API server decides",
        edit(JOB, "smoke-dev-on-demand-job", put("spec.selector", {"matchLabels": {"app": "smoke"}})),
        "refusal:k8s-job",
    ),
    Mistake(
        "zone-in-schedule",
        "the time zone stands in the schedule",
        edit(CRON_JOB, "checkpoint-drill-job", put("spec.schedule", "CRON_TZ=Europe/Berlin 17 4 * * 0")),
        "refusal:k8s-schedule",
    ),
    Mistake(
        "sunday-seven",
        "the drill is on day seven of the week",
        edit(CRON_JOB, "checkpoint-drill-job", put("spec.schedule", "17 4 * * 7")),
        "refusal:k8s-schedule",
    ),
    Mistake(
        "once-pod",
        "a claim is for one pod and for one node too",
        added(
            "core/v1:PersistentVolumeClaim",
            "cache",
            {
                "spec": {
                    "accessModes": ["ReadWriteOncePod", "ReadWriteOnce"],
                    "storageClassName": "trainyard-gp3",
                    "resources": {"requests": {"storage": "10Gi"}},
                }
            },
            "kueue-system",
        ),
        "refusal:k8s-access-mode",
    ),
    Mistake(
        "budget-text",
        "a budget's number is a text",
        edit(DISRUPTION, "egress-disruption-budget", put("spec.maxUnavailable", "1")),
        "refusal:k8s-percentage",
    ),
    Mistake(
        "scaler-range",
        "an autoscaler's least is above its most",
        scaler("mlflow", "mlflow", "mlflow", {"minReplicas": 4, "maxReplicas": 2, "metrics": CPU}),
        "refusal:k8s-autoscaler",
    ),
    Mistake(
        "peer",
        "one peer of a wall is a range of addresses and pods too",
        edit(
            WALL,
            "teams-vision-allow-pod-identity",
            put("spec.egress[0].to[0].podSelector", {"matchLabels": {"app": "identity"}}),
        ),
        "refusal:k8s-network-peer",
    ),
    Mistake(
        "address",
        "a wall's range is an address",
        edit(
            WALL, "teams-vision-allow-pod-identity", put("spec.egress[0].to[0].ipBlock.cidr", "169.254.170.23")
        ),
        "refusal:k8s-cidr",
    ),
    Mistake(
        "paths-of-role",
        "a role of a namespace is for a path of the API server",
        edit(
            ROLE, "teams-vision-member", put("rules[0]", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})
        ),
        "refusal:k8s-role",
    ),
    Mistake(
        "condition-text",
        "a guard's condition is the operation, and not whether",
        edit(ADMISSION, "kueue-gpu-guard", put("spec.matchConditions[0].expression", "request.operation")),
        "refusal:k8s-admission",
    ),
    Mistake(
        "old-word",
        "a queue borrows by the word of the API before",
        edit(
            CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.flavorFungibility.whenCanBorrow", "Borrow")
        ),
        "refusal:k8s-enum",
    ),
    Mistake(
        "recreated",
        "a keeper is made anew, and rolled by numbers too",
        edit(DEPLOYMENT, "kueue-idle-deployment", put("spec.strategy.rollingUpdate", {"maxSurge": 1})),
        "refusal:k8s-rollout",
    ),
    Mistake(
        "priority-above",
        "a class of pods is above what is kept for the cluster's own",
        edit(PRIORITY_CLASS, "teams-cpu-only", put("value", 2000000000)),
        "refusal:k8s-priority",
    ),
    Mistake(
        "all-of-eight",
        "a claim is for all devices, and for eight",
        edit(CLAIMS, "teams-foundation-fabric-train",
             put("spec.spec.devices.requests[0].exactly.allocationMode", "All")),
        "refusal:k8s-device-claim",
        stack=GOOGLE,
    ),
]  # fmt: skip

SILENT = [
    Mistake(
        "scaler-metric",
        "an autoscaler goes by a figure of pods that nobody answers",
        scaler("mlflow", "mlflow", "mlflow", {"minReplicas": 2, "maxReplicas": 4, "metrics": REQUESTS}),
        "programs-scaling",
    ),
    Mistake(
        "root-of-none",
        "a keeper may not be root, and is user 0",
        edit(DEPLOYMENT, "kueue-idle-deployment", put(f"{POD}.securityContext.runAsUser", 0)),
        "reference-pod-security",
    ),
    Mistake(
        "socket",
        "a job on nodes of the fabric is told to use sockets",
        edit(JOB, "smoke-train-reserved-job", changed("NCCL_NET", "Socket")),
        "programs-interface",
    ),
    Mistake(
        "one-visible",
        "a runtime of eight GPUs shows its program the first alone",
        edit(RUNTIME, TRAIN, variable("CUDA_VISIBLE_DEVICES", "0")),
        "programs-visible",
    ),
    Mistake(
        "plugin-nesting",
        "the device plugin's tolerations stand where the operator has them",
        edit(
            RELEASE, "gpu-nvidia-device-plugin",
            lambda i: i["values"].update(daemonset={"tolerations": i["values"].pop("tolerations")}),
        ),
        "refusal:helm-unknown-value",
    ),
    Mistake(
        "exporter-arguments",
        "the exporter is told the image's list of figures, not ours",
        values("gpu-dcgm-exporter", "arguments", ["-f", "/etc/dcgm-exporter/dcp-metrics-included.csv"]),
        "programs-exporter",
    ),
    Mistake(
        "honoured",
        "the monitor of GPUs calls the figures' own labels otherwise",
        edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].honorLabels", False),
             put("spec.podMetricsEndpoints[0].relabelings", [{"targetLabel": "job", "replacement": "dcgm-exporter"}])),
        "programs-scrape",
    ),
    Mistake(
        "no-selector",
        "a team's queue lost which namespaces it is for",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.namespaceSelector", DROP)),
        "refusal:kueue-namespace-selector",
    ),
    Mistake(
        "check-for-all",
        "flex-start's check is for every flavor",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-foundation",
             put("spec.admissionChecksStrategy.admissionChecks[0].onFlavors", DROP)),
        "queues-provisioning",
        stack=GOOGLE,
    ),
    Mistake(
        "half-a-slice",
        "a runtime starts two machines of a slice of four",
        edit(RUNTIME, "runtimes-tpu-v6e", put("spec.mlPolicy.numNodes", 2)),
        "programs-slice",
        stack=GOOGLE,
    ),
    Mistake(
        "device-class",
        "a claim is for devices of a class that is called otherwise",
        edit(CLAIMS, "teams-foundation-fabric-train",
             put("spec.spec.devices.requests[0].exactly.deviceClassName", "mrdma.googleapis.com")),
        "reference-device-class",
        stack=GOOGLE,
    ),
    Mistake(
        "template-name",
        "one team's template of claims is called otherwise than runtimes name it",
        edit(CLAIMS, "teams-foundation-fabric-train", put("metadata.name", "fabric-training")),
        "reference-class",
        stack=GOOGLE,
    ),
    Mistake(
        "claim-unused",
        "a runtime's pod has a claim, and its container does not use it",
        edit(RUNTIME, TRAIN, put(f"{NODE}.resources.claims", DROP)),
        "reference-device-claim",
        stack=GOOGLE,
    ),
    Mistake(
        "more-devices",
        "a claim is for sixteen devices of a machine with eight",
        edit(CLAIMS, "teams-foundation-fabric-train", put("spec.spec.devices.requests[0].exactly.count", 16)),
        "machine-interfaces",
        stack=GOOGLE,
    ),
    Mistake(
        "hub-many",
        "notebooks' disks are to be written from many nodes, which EBS does not",
        values("notebooks-release", "singleuser.storage.dynamic.storageAccessModes", ["ReadWriteMany"]),
        "programs-claim",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-memory",
        "the hub keeps its people in memory",
        values("notebooks-release", "hub.db.type", "sqlite-memory"),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-limit",
        "a notebook's GPU is guaranteed and no limit",
        profile(1, lambda one: one.pop("extra_resource_limits")),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-everybody",
        "everybody with an account of the provider may start a notebook",
        values("notebooks-release", "hub.config.GitHubOAuthenticator.allow_all", True),
        "policy:notebooks-let-anybody-in",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "storage-nesting",
        "Prometheus' disk stands a level too high",
        edit(
            RELEASE, STACK,
            lambda i: i["values"]["prometheus"].update(
                storageSpec=i["values"]["prometheus"]["prometheusSpec"].pop("storageSpec")
            ),
        ),
        "refusal:helm-unknown-value",
    ),
    Mistake(
        "ratio",
        "an alert compares a ratio with a percentage",
        edit(RULES, "monitoring-rules", expression("GpuIdle", "< 0.02", "< 2")),
        "watching-unit",
    ),
    Mistake(
        "sample-limit",
        "a scrape of the exporter may bring fifty figures",
        edit(POD_MONITOR, "monitoring-gpus", put("spec.sampleLimit", 50)),
        "programs-scrape",
    ),
    Mistake(
        "state-namespaces",
        "kube-state-metrics looks at its own namespace alone",
        values(STACK, "kube-state-metrics.namespaces", "monitoring"),
        "reference-state-metrics",
    ),
    Mistake(
        "group-interval",
        "Alertmanager waits no time between two messages of a group",
        values(STACK, "alertmanager.config.route.group_interval", "0s"),
        "reference-alert-route",
    ),
    Mistake(
        "two-budgets",
        "two budgets of disruption are for the same pods",
        added(
            "policy/v1:PodDisruptionBudget", "tracking",
            {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}}}},
            "mlflow",
        ),
        "placement-drain",
    ),
    Mistake(
        "no-endpoints",
        "the proxy's service selects nothing",
        edit(SERVICE, "egress-service", put("spec.selector", DROP)),
        "reference-service-selects-nothing",
    ),
    Mistake(
        "wall-elsewhere",
        "what lets the tracking server be asked is in another namespace",
        edit(WALL, "mlflow-server-ingress", put("metadata.namespace", "default")),
        "flows-let-out",
    ),
    Mistake(
        "rendezvous-alone",
        "ranks may meet at the rendezvous and nowhere else",
        edit(
            WALL, "teams-vision-allow-within-team",
            put("spec.ingress[0].ports", [{"protocol": "TCP", "port": 29500}]),
            put("spec.egress[0].ports", [{"protocol": "TCP", "port": 29500}]),
        ),
        "flows-ranks",
    ),
    Mistake(
        "no-delete",
        "checkpoints may be written and never replaced or deleted",
        edit(
            VOLUME, "volumes-vision-checkpoints-volume",
            put("spec.mountOptions", ["region us-east-1", "prefix teams/vision/"]),
        ),
        "programs-mount-option",
    ),
    Mistake(
        "no-folders",
        "a bucket's folders that are no objects are not shown",
        edit(
            VOLUME, "volumes-vision-data-volume",
            said("spec/mountOptions", "implicit-dirs", "rename-dir-limit=200000"),
        ),
        "programs-mount-option",
        stack="demo-gcp",
    ),
    Mistake(
        "gang-in-turn",
        "ranks of a job are started one after the other",
        edit(JOB, "smoke-train-reserved-job", put("spec.parallelism", 1)),
        "programs-gang",
        stack=GOOGLE,
    ),
    Mistake(
        "failed-history",
        "failed checks are cleared away as they fail",
        edit(CRON_JOB, "checkpoint-drill-job", put("spec.failedJobsHistoryLimit", 0)),
        "programs-never",
    ),
    Mistake(
        "medium",
        "shared memory is of a medium in small letters",
        edit(RUNTIME, TRAIN, put(f"{PODS}.spec.volumes[0].emptyDir.medium", "memory")),
        "refusal:k8s-volume",
    ),
    Mistake(
        "cut-off",
        "pods without GPUs are so unimportant that no node is started for them",
        edit(PRIORITY_CLASS, "teams-cpu-only", put("value", -100)),
        "programs-priority",
    ),
    Mistake(
        "amd",
        "a runtime asks for GPUs of another vendor",
        edit(
            RUNTIME, TRAIN, put(f"{NODE}.resources.limits.amd~com/gpu", "8"),
            put(f"{NODE}.resources.limits.nvidia~com/gpu", DROP),
        ),
        "queues-uncovered",
    ),
    Mistake(
        "cpu-class",
        "a runtime of GPUs is of the class of pods without",
        edit(RUNTIME, TRAIN, put(f"{PODS}.spec.priorityClassName", "cpu-only")),
        "programs-priority",
    ),
    Mistake(
        "no-host-names",
        "a JobSet looks for its first worker by name and gives no names",
        jobset(network={"enableDNSHostnames": False}),
        "reference-host-names",
    ),
    Mistake(
        "runtime-kind",
        "a TrainJob names a runtime of its namespace, which is the cluster's",
        trainjob(
            runtimeRef={"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "torch-distributed"}
        ),
        "reference-runtime",
    ),
    Mistake(
        "exclusive",
        "a slice's job keeps a label to itself that no node has",
        edit(RUNTIME, "runtimes-tpu-v6e",
             put("spec.template.spec.replicatedJobs[0].template.metadata.annotations."
                 "alpha~jobset~sigs~k8s~io/exclusive-topology", "cloud.google.com/gke-node-pool")),
        "placement-topology",
        stack=GOOGLE,
    ),
]  # fmt: skip

MISTAKES = [*REFUSED, *SILENT]
