"""Fifty mistakes in the nine example stacks, one thing each, and changes beside them that are unusual and right.

They were written before any rule was looked at: of twenty that a cloud or an API server refuses all were told at first
sight, of thirty that are taken and do not work twenty-eight. Two of twenty changes beside them were none that is right:
provisioned throughput for files that are archived, and an editor that runs for a day.
"""

from __future__ import annotations

from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, added, both, edit, put

GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
POOL: Final = "gcp:container/nodePool:NodePool"
DATABASE: Final = "aws:rds/instance:Instance"
SQL: Final = "gcp:sql/databaseInstance:DatabaseInstance"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
BINDING: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
QUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
CRON: Final = "kubernetes:batch/v1:CronJob"
STUDIO: Final = "aws:sagemaker/domain:Domain"
EDITOR: Final = "gcp:colab/runtimeTemplate:RuntimeTemplate"
BUDGET: Final = "aws:budgets/budget:Budget"
LOGS: Final = "gcp:logging/projectBucketConfig:ProjectBucketConfig"
RECORD: Final = "gcp:dns/recordSet:RecordSet"
IDLE: Final = "defaultUserSettings.jupyterLabAppSettings.appLifecycleManagement.idleSettings"
CONTAINER: Final = "spec.template.spec.containers[0]"
NOTEBOOKS: Final = "demo-notebooks"


def replaced(old: str, new: str, *keys: str) -> Any:
    """Another word in a text of the inputs."""

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        for key in keys[:-1]:
            target = target[int(key) if key.isdecimal() else key]
        last: Any = int(keys[-1]) if keys[-1].isdecimal() else keys[-1]
        assert old in target[last], old
        target[last] = target[last].replace(old, new)

    return into


def in_command(old: str, new: str) -> Any:
    """Another word among the server's arguments."""

    def into(inputs: dict[str, Any]) -> None:
        command = inputs["spec"]["template"]["spec"]["containers"][0]["command"]
        found = [at for at, word in enumerate(command) if old in word]
        assert found, old
        for at in found:
            command[at] = command[at].replace(old, new)

    return into


REFUSED: Final[dict[str, tuple[str, str, Change]]] = {
    "an update by number and by share": (
        "demo",
        "eks-update-config",
        edit(GROUP, "cluster-cpu", put("updateConfig.maxUnavailablePercentage", 33)),
    ),
    "a template that asks for spot itself": (
        "uae-aws",
        "launch-template-conflict",
        edit(
            "aws:ec2/launchTemplate:LaunchTemplate",
            "gpu-nodes-tune-spot-template",
            put("instanceMarketOptions", {"marketType": "spot"}),
        ),
    ),
    "half of the disks of a machine": (
        "large-gcp",
        "gke-local-ssd",
        edit(POOL, "gpu-nodes-train-reserved", put("nodeConfig.ephemeralStorageLocalSsdConfig.localSsdCount", 16)),
    ),
    "provisioned throughput of no size": (
        "large-aws",
        "efs-throughput",
        edit("aws:efs/fileSystem:FileSystem", "globex-production-shared", put("throughputMode", "provisioned")),
    ),
    "metadata of five thousand operations": (
        "large-aws",
        "fsx-metadata",
        edit(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            "globex-production-lustre",
            put("metadataConfiguration", {"mode": "USER_PROVISIONED", "iops": 5000}),
        ),
    ),
    "a share of a thousand and a half": (
        "large-gcp",
        "gcp-filestore",
        edit("gcp:filestore/instance:Instance", "northwind-production-shared", put("fileShares.capacityGb", 1500)),
    ),
    "two roles of one account": (
        "demo",
        "reference-twice",
        edit(
            "aws:eks/podIdentityAssociation:PodIdentityAssociation",
            "team-tabular-role-trainer",
            put("namespace", "team-vision"),
        ),
    ),
    "a small disk that is told its speed": (
        "demo",
        "rds-storage",
        edit(DATABASE, "acme-demo-mlflow", put("iops", 6000), put("storageThroughput", 250)),
    ),
    "advanced insights of a week": (
        "uae-aws",
        "machines-database-insights",
        edit(DATABASE, "falcon-health-production-mlflow", put("databaseInsightsMode", "advanced")),
    ),
    "a database of three processors": (
        "demo-gcp",
        "gcp-sql-tier",
        edit(SQL, "acme-demo-gcp-mlflow", put("settings.tier", "db-custom-3-11520")),
    ),
    "nodes up to where the services are": (
        "eu-gcp",
        "gcp-range-overlap",
        edit("gcp:compute/subnetwork:Subnetwork", "network-nodes", put("ipCidrRange", "10.0.0.0/18")),
    ),
    "two topics of one threshold": (
        "small-aws",
        "budget-subscriber",
        edit(
            BUDGET,
            "budget-budget",
            put(
                "notifications[2].subscriberSnsTopicArns[1]",
                "arn:aws:sns:us-east-1:123456789012:security-topic-d5a7224",
            ),
        ),
    ),
    "a queue that counts processors of no flavor": (
        "uae-aws",
        "kueue-covered",
        edit(QUEUE, "kueue-cluster-queue-imaging", put("spec.resourceGroups[0].coveredResources[1]", "cpu")),
    ),
    "an alias of two names": (
        "large-gcp",
        "gcp-dns",
        edit(RECORD, "google-apis-all", put("rrdatas[1]", "restricted.googleapis.com.")),
    ),
    "an editor that ends after half an hour": (
        "small-aws",
        "managed-idle-bounds",
        edit(STUDIO, "studio", put(f"{IDLE}.idleTimeoutInMinutes", 30)),
    ),
    "a runtime that ends after five minutes": (
        "small-gcp",
        "managed-idle-timeout",
        edit(EDITOR, "editors-n2-standard-8", put("idleShutdownConfig.idleTimeout", "300s")),
    ),
    "a person with a dot": (
        "uae-small",
        "aws-model",
        edit("aws:sagemaker/userProfile:UserProfile", "studio-imaging-omar", put("userProfileName", "imaging-omar.s")),
    ),
    "a drill that starts its container again": (
        "demo",
        "k8s-job",
        edit(CRON, "checkpoint-drill-job", put("spec.jobTemplate.spec.template.spec.restartPolicy", "OnFailure")),
    ),
    "denied and warned": (
        "demo-gcp",
        "k8s-validation-actions",
        edit(BINDING, "kueue-gpu-guard-binding", put("spec.validationActions[1]", "Warn")),
    ),
    "logs of ten years and their leap days": (
        "eu-gcp",
        "gcp-log-bucket",
        edit(LOGS, "record-logs", put("retentionDays", 3653)),
    ),
}
"""What a cloud or an API server says no to."""

SILENT: Final[dict[str, tuple[str, str, Change]]] = {
    "a label that a kubelet may not give itself": (
        "demo",
        "eks-label-reserved",
        edit(GROUP, "cluster-cpu", put("labels.node-role~kubernetes~io/worker", "true")),
    ),
    "system nodes of two cores": (
        "demo",
        "placement-shared-room",
        edit(GROUP, "cluster-system", put("instanceTypes", ["t3.medium"])),
    ),
    "GPUs without a driver": (
        "demo-gcp",
        "machine-gpu-driver",
        edit(
            POOL,
            "gpu-nodes-tune-spot",
            put(
                "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "INSTALLATION_DISABLED"
            ),
        ),
    ),
    "logs of nodes without taints": (
        "demo",
        "placement-logs",
        edit(
            "kubernetes:apps/v1:DaemonSet",
            "team-logs",
            put(
                "spec.template.spec.tolerations",
                [{"key": "CriticalAddonsOnly", "operator": "Equal", "value": "true", "effect": "NoSchedule"}],
            ),
        ),
    ),
    "a drill of no class": (
        "eu-gcp",
        "programs-priority",
        edit(CRON, "checkpoint-drill-job", put("spec.jobTemplate.spec.template.spec.priorityClassName", DROP)),
    ),
    "a queue for a namespace of the team's name": (
        "demo",
        "queues-namespace",
        edit(
            QUEUE,
            "kueue-cluster-queue-vision",
            put("spec.namespaceSelector.matchLabels", {"kubernetes.io/metadata.name": "vision"}),
        ),
    ),
    "machines that are asked for ten days": (
        "large-gcp",
        "queues-provisioning",
        edit(
            "kubernetes:kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig",
            "kueue-provisioning-train-flex-start",
            put("spec.parameters.maxRunDurationSeconds", "864000"),
        ),
    ),
    "a prefix without its slash": (
        "demo",
        "programs-mount-option",
        edit(
            "kubernetes:core/v1:PersistentVolume",
            "volumes-vision-checkpoints-volume",
            put("spec.mountOptions[1]", "prefix teams/vision"),
        ),
    ),
    "fast disks of no speed": (
        "uae-aws",
        "programs-storage-class",
        edit("kubernetes:storage.k8s.io/v1:StorageClass", "blocks-class", put("parameters.type", "io2")),
    ),
    "homes that pods may mount and nodes may not": (
        "large-gcp",
        "reference-file-system",
        edit(
            "gcp:filestore/instance:Instance",
            "northwind-production-shared",
            put("fileShares.nfsExportOptions[0].ipRanges", ["10.2.0.0/15"]),
        ),
    ),
    "GPUs of development that nothing offers": (
        "demo",
        "placement-device-plugin",
        edit(
            RELEASE,
            "gpu-nvidia-device-plugin",
            put(
                "values.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                ".nodeSelectorTerms[0].matchExpressions[0].values",
                ["train", "tune"],
            ),
        ),
    ),
    "figures that outgrow their disk": (
        "large-aws",
        "programs-retention",
        edit(
            RELEASE,
            "monitoring-release",
            put(
                "values.prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.resources.requests.storage",
                "40Gi",
            ),
        ),
    ),
    "a role for an agent of another name": (
        "demo",
        "rights-binding-untrusted",
        edit("aws:iam/role:Role", "team-logs-role", replaced('"team-logs"', '"fluent-bit"', "assumeRolePolicy")),
    ),
    "artifacts below another prefix": (
        "large-aws",
        "rights-pod-lacks",
        edit(
            "kubernetes:apps/v1:Deployment",
            "mlflow-deployment",
            in_command("-artifacts-ff411f7/mlflow", "-artifacts-ff411f7/tracking"),
        ),
    ),
    "checkpoints of an account that no pod has": (
        "large-gcp",
        "rights-volume",
        edit(
            "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
            "team-foundation-checkpoints",
            replaced("/sa/trainer", "/sa/default", "member"),
        ),
    ),
    "a database on another port": ("demo", "programs-database", edit(DATABASE, "acme-demo-mlflow", put("port", 5433))),
    "webhooks on ports of their own": (
        "demo-gcp",
        "flows-webhooks",
        edit("gcp:compute/firewall:Firewall", "network-webhooks", put("allows[0].ports", ["443", "8443", "10250"])),
    ),
    "a registry that no name leads to": (
        "demo",
        "paths-name-blocked",
        edit(
            "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
            "dns-allowed",
            lambda inputs: inputs["domains"].remove("nvcr.io"),
        ),
    ),
    "authorities in a file that is not there": (
        "uae-aws",
        "reference-file",
        edit(
            "kubernetes:apps/v1:Deployment",
            "mlflow-deployment",
            in_command("/opt/trainyard/ca.pem", "/opt/trainyard/global-bundle.pem"),
        ),
    ),
    "a certificate of short names": (
        "large-aws",
        "programs-certificate",
        edit(
            "tls:index/certRequest:CertRequest",
            "mlflow-certificate-request",
            put("dnsNames", ["mlflow.mlflow", "mlflow", "localhost"]),
            put("subject.commonName", "mlflow.mlflow"),
        ),
    ),
    "signs of life of a pod of another name": (
        "eu-gcp",
        "programs-filter",
        edit("gcp:logging/metric:Metric", "alert-metrics-watchdog", replaced("^alert-log-", "^alertlog-", "filter")),
    ),
    "failures in capitals": (
        "small-aws",
        "programs-event",
        edit(
            "aws:cloudwatch/logMetricFilter:LogMetricFilter",
            "managed-jobs-failed",
            replaced('"Failed"', '"FAILED"', "pattern"),
        ),
    ),
    "silence that is no breach": (
        "uae-aws",
        "programs-alarm",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "watchdog-silent", put("treatMissingData", "notBreaching")),
    ),
    "a budget of a tag that nothing has": (
        "demo",
        "programs-budget",
        edit(BUDGET, "budget-budget", put("costFilters[0].values[0]", "user:project$acme")),
    ),
    "a rule of a container of another name": (
        "large-aws",
        "reference-container",
        edit(
            "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime",
            "runtimes-torch",
            put(
                "spec.template.spec.replicatedJobs[0].template.spec.podFailurePolicy.rules[1].onExitCodes.containerName",
                "trainer",
            ),
        ),
    ),
    "one rank at a time": (
        "demo",
        "programs-gang",
        edit("kubernetes:batch/v1:Job", "smoke-train-spot-job", put("spec.parallelism", 1)),
    ),
    "a proof that writes among the data": (
        "small-aws",
        "managed-job-told-otherwise",
        edit(
            "command:local:Command",
            "smoke-training",
            lambda inputs: inputs["environment"].update(SMOKE_BUCKET="s3://initech-research-data-86ae670/smoke"),
        ),
    ),
    "a secret by a key of another spelling": (
        NOTEBOOKS,
        "reference-key",
        edit(
            RELEASE,
            "notebooks-release",
            put("values.hub.extraEnv.OAUTH_CLIENT_SECRET.valueFrom.secretKeyRef.key", "clientSecret"),
        ),
    ),
    "a wall that stands nowhere": (
        "demo",
        "programs-guard",
        edit(
            BINDING,
            "kueue-gpu-guard-binding",
            put("spec.matchResources.namespaceSelector.matchExpressions[0].key", "ml.platform/teams"),
        ),
    ),
    "names of a second alias that is not made": (
        "demo-gcp",
        "paths-names",
        edit(RECORD, "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])),
    ),
}
"""What is taken, and does not work."""

MISTAKES: Final = tuple(
    Mistake(name, name, change, rule, stack=stack)
    for listed in (REFUSED, SILENT)
    for name, (stack, rule, change) in listed.items()
)

SOUND: Final[dict[str, tuple[str, Change]]] = {
    "nodes of sixteen cores": (
        "demo",
        edit(GROUP, "cluster-cpu", put("instanceTypes", ["m7i.4xlarge", "m6i.4xlarge"])),
    ),
    "an update by share": (
        "large-aws",
        edit(GROUP, "cluster-cpu", put("updateConfig", {"maxUnavailablePercentage": 33})),
    ),
    "backups before midnight": ("demo", edit(DATABASE, "acme-demo-mlflow", put("backupWindow", "22:30-23:30"))),
    "a large disk that is told its speed": (
        "uae-aws",
        edit(
            DATABASE,
            "falcon-health-production-mlflow",
            put("allocatedStorage", 400),
            put("iops", 14000),
            put("storageThroughput", 600),
        ),
    ),
    "insights of fifteen months": (
        "large-aws",
        edit(
            DATABASE,
            "globex-production-mlflow",
            put("databaseInsightsMode", "advanced"),
            put("performanceInsightsRetentionPeriod", 465),
        ),
    ),
    "a share of five quarters": (
        "large-gcp",
        edit("gcp:filestore/instance:Instance", "northwind-production-shared", put("fileShares.capacityGb", 1280)),
    ),
    "a database of six processors": (
        "demo-gcp",
        edit(SQL, "acme-demo-gcp-mlflow", put("settings.tier", "db-custom-6-24576")),
    ),
    "logs of ten years": ("eu-gcp", edit(LOGS, "record-logs", put("retentionDays", 3650))),
    "an editor that people may keep for two hours": (
        "small-aws",
        edit(STUDIO, "studio", put(f"{IDLE}.idleTimeoutInMinutes", 90), put(f"{IDLE}.maxIdleTimeoutInMinutes", 120)),
    ),
    "a runtime that ends after two hours": (
        "small-gcp",
        edit(EDITOR, "editors-e2-standard-4", put("idleShutdownConfig.idleTimeout", "7200s")),
    ),
    "one server at least": (
        "demo",
        edit(
            "kubernetes:policy/v1:PodDisruptionBudget",
            "mlflow-disruption-budget",
            put("spec.maxUnavailable", DROP),
            put("spec.minAvailable", 1),
        ),
    ),
    "a drill at night in another zone": (
        "uae-aws",
        edit(CRON, "checkpoint-drill-job", put("spec.schedule", "30 22 * * 6"), put("spec.timeZone", "Asia/Dubai")),
    ),
    "disks by speed a size": (
        "demo",
        edit(
            "kubernetes:storage.k8s.io/v1:StorageClass",
            "blocks-class",
            put("parameters.type", "io2"),
            put("parameters.iopsPerGB", "50"),
        ),
    ),
    "who comes first goes first": (
        "demo",
        edit(QUEUE, "kueue-cluster-queue-vision", put("spec.queueingStrategy", "StrictFIFO")),
    ),
    "denied and recorded": (
        "large-gcp",
        edit(BINDING, "kueue-gpu-guard-binding", put("spec.validationActions", ["Deny", "Audit"])),
    ),
    "a mount of many threads": (
        "demo",
        edit(
            "kubernetes:core/v1:PersistentVolume",
            "volumes-vision-checkpoints-volume",
            put("spec.mountOptions[4]", "max-threads 64"),
        ),
    ),
    "a threshold above the budget": (
        "uae-small",
        edit(
            BUDGET,
            "budget-budget",
            lambda inputs: inputs["notifications"].append({**inputs["notifications"][2], "threshold": 120}),
        ),
    ),
    "throughput of a size, and no archive": (
        "large-aws",
        edit(
            "aws:efs/fileSystem:FileSystem",
            "globex-production-shared",
            put("throughputMode", "provisioned"),
            put("provisionedThroughputInMibps", 256),
            put("lifecyclePolicies", [{"transitionToIa": "AFTER_30_DAYS"}]),
        ),
    ),
    "figures of a month": (
        "demo-gcp",
        edit(
            RELEASE,
            "monitoring-release",
            put("values.prometheus.prometheusSpec.retention", "30d"),
            put("values.prometheus.prometheusSpec.retentionSize", "40GiB"),
        ),
    ),
    "one more name that may be asked": (
        "demo",
        edit(
            "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
            "dns-allowed",
            lambda inputs: inputs["domains"].append("*.wandb.ai"),
        ),
    ),
}
"""Unusual, and right."""

CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"
REQUEST: Final = "tls:index/certRequest:CertRequest"


def of_disks(name: str, **parameters: str) -> Change:
    """Other parameters of the stack's class of disks; an underscore stands for a hyphen."""
    return edit(CLASS, name, *(put(f"parameters.{key.replace('_', '-')}", value) for key, value in parameters.items()))


WIDER: Final = tuple(
    Mistake(name, name, change, rule, stack=stack)
    for name, stack, rule, change in (
        (
            "speed in two ways", "demo", "programs-storage-class",
            of_disks("blocks-class", type="io1", iops="3000", iopsPerGB="9"),
        ),
        (
            "throughput of provisioned IOPS", "demo", "programs-storage-class",
            of_disks("blocks-class", type="io2", iops="3000", throughput="500"),
        ),
        (
            "speed of a disk that goes by its size", "demo", "programs-storage-class",
            of_disks("blocks-class", type="gp2", iops="6000"),
        ),
        (
            "speed of Google's plain disks", "demo-gcp", "programs-storage-class",
            of_disks("disks-class", provisioned_iops_on_create="6000"),
        ),
        (
            "a common name beside a list", "demo-gcp", "programs-certificate",
            edit(REQUEST, "mlflow-certificate-request", put("dnsNames", ["mlflow.example.org"])),
        ),
    )
)  # fmt: skip
"""More of the classes of what was missed."""

RIGHTS: Final = "aws:iam/rolePolicy:RolePolicy"
RANGE: Final = "kubernetes:core/v1:LimitRange"
QUOTA: Final = "kubernetes:core/v1:ResourceQuota"
CHECK: Final = "checkpoint-check-vision-checkpoint-check"
SQUID: Final = ("data", "squid.conf")
ARGUMENTS: Final = ("spec", "template", "spec", "containers", "0", "args", "0")

SECOND: Final = tuple(
    Mistake(name, name, change, rule, stack=stack)
    for name, stack, rule, change in (
        (
            "a folder that is listed without its slash", "demo", "rights-volume",
            edit(RIGHTS, "team-vision-role-policy",
                replaced('["teams/vision/", "teams/vision/*"]', '["teams/vision"]', "policy")),
        ),
        (
            "groups of a cluster of another name", "demo", "rights-program-lacks",
            edit(RIGHTS, "autoscaler-role-policy",
                replaced("cluster-autoscaler/acme-demo", "cluster-autoscaler/acme", "policy")),
        ),
        (
            "everything is denied first", "demo", "programs-squid",
            edit("kubernetes:core/v1:ConfigMap", "egress-configuration",
                replaced("http_access deny !tunnel", "http_access deny all\nhttp_access deny !tunnel", *SQUID)),
        ),
        (
            "figures from the next port", "demo", "programs-address",
            edit("kubernetes:apps/v1:Deployment", "kueue-idle-deployment", replaced(":9090", ":9091", *ARGUMENTS)),
        ),
        (
            "a keeper that may tell nothing", "demo", "rights-program-lacks",
            edit("kubernetes:rbac.authorization.k8s.io/v1:Role", "kueue-idle-role-vision",
                lambda inputs: inputs["rules"].pop(5)),
        ),
        (
            "an alarm of another environment's jobs", "small-aws", "programs-alarm",
            edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-jobs-failing",
                put("metricQueries[1].metric.namespace", "Trainyard/initech")),
        ),
        (
            "a name that begins small", "small-aws", "programs-event",
            edit("aws:cloudwatch/eventTarget:EventTarget", "managed-jobs-ended",
                put("inputTransformer.inputPaths.name", "$.detail.trainingJobName")),
        ),
        (
            "five seconds to begin", "demo", "reference-schedule",
            edit(CRON, CHECK, put("spec.startingDeadlineSeconds", 5)),
        ),
        (
            "jobs by the clock that are not counted", "demo", "watching-metric",
            edit(RELEASE, "monitoring-release",
                lambda inputs: inputs["values"]["kube-state-metrics"]["collectors"].remove("cronjobs")),
        ),
        (
            "one claim for two", "demo", "reference-quota",
            edit(QUOTA, "teams-vision-quota", put("spec.hard.persistentvolumeclaims", "1")),
        ),
        (
            "at most a third of a job's memory", "demo", "reference-limit-range",
            edit(RANGE, "teams-vision-defaults", put("spec.limits[0].max", {"memory": "64Gi"})),
        ),
        (
            "a limit for those that say none", "demo", "reference-limit-range",
            edit(RANGE, "teams-vision-defaults", put("spec.limits[0].default", {"memory": "8Gi"})),
        ),
        (
            "a quarter of an hour for all", "demo", "programs-deadline",
            edit("kubernetes:batch/v1:Job", "smoke-train-spot-job", put("spec.activeDeadlineSeconds", 900)),
        ),
        (
            "a key by way of another region", "demo", "rights-volume",
            edit("aws:kms/key:Key", "data-key",
                replaced('"s3.us-east-1.amazonaws.com"', '"s3.us-west-2.amazonaws.com"', "policy")),
        ),
        (
            "mail of a kind that nothing has", "demo", "programs-unheard",
            edit("aws:sns/topicSubscription:TopicSubscription", "budget-ml-platform@acme.example",
                put("filterPolicy", '{"severity": ["critical"]}')),
        ),
        (
            "boards by another value", "demo", "reference-sidecar",
            edit(RELEASE, "monitoring-release", put("values.grafana.sidecar.dashboards.labelValue", "true")),
        ),
        (
            "a log of alerts on another port", "demo-gcp", "reference-address",
            edit("kubernetes:core/v1:Service", "monitoring-alert-log", put("spec.ports[0].port", 8081)),
        ),
        (
            "a limit for those that say none, on Google Cloud", "large-gcp", "reference-limit-range",
            edit(RANGE, "teams-foundation-defaults", put("spec.limits[0].default", {"cpu": "4"})),
        ),
    )
)  # fmt: skip
"""A smaller set in the corners that the first left out, with one more of its miss.

Of eighteen sixteen were told at first sight: not a limit that a range gives to the pods of a runtime that requests more
(it is told now), nor a label of a metric that is read from a field within another (`jsonPayload.labels.alertname`),
which nothing tells: both words stand in the program's text.
"""

BESIDE: Final[dict[str, tuple[str, str, Change]]] = {
    "the fastest disks, told their speed": (
        "uae-aws", "programs-storage-class", of_disks("blocks-class", type="io2", iops="16000"),
    ),
    "a faster gp3": (
        "uae-aws", "programs-storage-class",
        of_disks("blocks-class", iopsPerGB="100", throughput="500"),
    ),
    "a hyperdisk that is told its speed": (
        "large-gcp", "programs-storage-class",
        both(
            edit(POOL, "cluster-cpu", put("nodeConfig.machineType", "c3-standard-8")),
            edit(POOL, "cluster-system", put("nodeConfig.machineType", "c3-standard-4")),
            of_disks("disks-class", type="hyperdisk-balanced", provisioned_iops_on_create="6000",
                provisioned_throughput_on_create="250Mi",
            ),
        ),
    ),
    "files that somebody records": (
        "large-aws", "programs-storage-class",
        added("storage.k8s.io/v1:StorageClass", "efs-sc", {"provisioner": "efs.csi.aws.com"}),
    ),
    "folders that are made of a file system": (
        "large-aws", "programs-storage-class",
        added(
            "storage.k8s.io/v1:StorageClass", "homes",
            {
                "provisioner": "efs.csi.aws.com",
                "parameters": {"provisioningMode": "efs-ap", "fileSystemId": "fs-a6ba352e07a15051b"},
            },
        ),
    ),
    "a certificate of every name of a namespace": (
        "demo", "programs-certificate",
        edit(REQUEST, "mlflow-certificate-request", put("dnsNames", ["*.mlflow.svc.cluster.local", "localhost"])),
    ),
    "a certificate of the name that is asked": (
        "large-gcp", "programs-certificate",
        edit(REQUEST, "mlflow-certificate-request", put("dnsNames", ["mlflow.mlflow.svc.cluster.local"])),
    ),
    "a client that looks at no name": (
        "demo", "programs-certificate",
        both(
            edit(REQUEST, "mlflow-certificate-request", put("dnsNames", ["mlflow.mlflow.svc"])),
            *(
                edit(
                    "kubernetes:core/v1:Secret", f"mlflow-credentials-{team}",
                    put("metadata.annotations", {"clients": "MLFLOW_TRACKING_INSECURE_TLS"}),
                )
                for team in ("vision", "language", "tabular")
            ),
        ),
    ),
    "a limit above every request": (
        "demo", "reference-limit-range",
        edit(RANGE, "teams-vision-defaults", put("spec.limits[0].default", {"memory": "1Ti"})),
    ),
    "little for a team that runs nothing large": (
        "large-aws", "reference-limit-range",
        edit(RANGE, "teams-forecasting-defaults", put("spec.limits[0].max", {"memory": "512Gi"})),
    ),
    "two minutes to begin": ("demo", "reference-schedule", edit(CRON, CHECK, put("spec.startingDeadlineSeconds", 120))),
    "one more name that is let out": (
        "demo", "programs-squid",
        edit("kubernetes:core/v1:ConfigMap", "egress-configuration",
            replaced("-n pypi.org\n", "-n pypi.org\nacl allowed dstdomain -n .wandb.ai\n", *SQUID)),
    ),
    "mail of a body that says so": (
        "demo", "programs-unheard",
        edit("aws:sns/topicSubscription:TopicSubscription", "security-ml-platform@acme.example",
            put("filterPolicy", '{"detail": {"severity": [{"numeric": [">=", 7]}]}}'),
            put("filterPolicyScope", "MessageBody")),
    ),
}  # fmt: skip
"""What is right beside the rules that came: stack, the rule that is silent, and the change."""
