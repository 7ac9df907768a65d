"""The twelfth set of mistakes of Google Cloud: our components and settings, on the cloud and on its clusters.

Of each, what is refused and what is taken and never works, spread over the four example stacks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, drop, edit, put

CLUSTER: Final = "gcp:container/cluster:Cluster"
POOL: Final = "gcp:container/nodePool:NodePool"
NAT: Final = "gcp:compute/routerNat:RouterNat"
SQL: Final = "gcp:sql/databaseInstance:DatabaseInstance"
BUCKET: Final = "gcp:storage/bucket:Bucket"
RECORD: Final = "gcp:dns/recordSet:RecordSet"
BUCKET_MEMBER: Final = "gcp:storage/bucketIAMMember:BucketIAMMember"
FOLDER_MEMBER: Final = "gcp:storage/managedFolderIamMember:ManagedFolderIamMember"
ALERT: Final = "gcp:monitoring/alertPolicy:AlertPolicy"
METRIC: Final = "gcp:logging/metric:Metric"
BUDGET: Final = "gcp:billing/budget:Budget"
TEMPLATE: Final = "gcp:colab/runtimeTemplate:RuntimeTemplate"
DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
JOB: Final = "kubernetes:batch/v1:Job"
CRON: Final = "kubernetes:batch/v1:CronJob"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
POLICY: Final = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
QUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
FLAVOR: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
CHECK: Final = "kubernetes:kueue.x-k8s.io/v1beta2:AdmissionCheck"
CLAIMS: Final = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"
MONITOR: Final = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
MAP: Final = "kubernetes:core/v1:ConfigMap"
DEMO, LARGE, EU, SMALL = "demo-gcp", "large-gcp", "eu-gcp", "small-gcp"
DATABASE: Final = "acme-demo-gcp-mlflow"


def swap(path: str, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Writes `new` for `old` in every text below a key."""

    def into(inputs: dict[str, Any]) -> None:
        text = json.dumps(inputs[path])
        before, after = json.dumps(old)[1:-1], json.dumps(new)[1:-1]
        assert before in text, old
        inputs[path] = json.loads(text.replace(before, after))

    return into


def m(name: str, what: str, change: Change, rule: str = "", stack: str = DEMO) -> Mistake:
    """A mistake of a stack; without a rule, what is right."""
    return Mistake(name, what, change, rule or None, stack=stack)


REFUSED: Final = (
    m(
        "pods-overlap",
        "the pods' range lies within the nodes'",
        edit(
            "gcp:compute/subnetwork:Subnetwork", "network-nodes", put("secondaryIpRanges[0].ipCidrRange", "10.0.8.0/21")
        ),
        "gcp-range-overlap",
    ),
    m(
        "nat-endpoint-independent",
        "endpoint-independent mapping beside dynamic ports",
        edit(NAT, "network-nat", put("enableEndpointIndependentMapping", True)),
        "gcp-nat-ports",
        EU,
    ),
    m(
        "master-27",
        "a /27 for the control plane, which takes a /28",
        edit(CLUSTER, "cluster-cluster", put("privateClusterConfig.masterIpv4CidrBlock", "10.0.32.0/27")),
        "gke-control-range",
    ),
    m(
        "calico-on-dataplane",
        "network policy of Calico beside Dataplane V2",
        edit(CLUSTER, "cluster-cluster", put("networkPolicy.enabled", True)),
        "gke-network-policy",
    ),
    m(
        "window-weekly",
        "four hours of maintenance a week: GKE asks for 48 in 32 days",
        edit(
            CLUSTER,
            "cluster-cluster",
            put(
                "maintenancePolicy.recurringWindow",
                {
                    "startTime": "2026-01-04T02:00:00Z",
                    "endTime": "2026-01-04T06:00:00Z",
                    "recurrence": "FREQ=WEEKLY;BYDAY=SU",
                },
            ),
        ),
        "gke-maintenance",
        EU,
    ),
    m(
        "no-upgrades-for-ever",
        "no upgrades at all until the end of support",
        edit(
            CLUSTER,
            "cluster-cluster",
            put("maintenancePolicy.maintenanceExclusions[0].exclusionOptions.scope", "NO_UPGRADES"),
        ),
        "gke-maintenance",
    ),
    m(
        "half-machine",
        "a machine of four A100 that is to hold eight",
        edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.machineType", "a2-highgpu-4g")),
        "gke-accelerator",
    ),
    m(
        "surge-nothing",
        "an upgrade that may neither add nor take a node",
        edit(POOL, "cluster-cpu", put("upgradeSettings.maxSurge", 0)),
        "gke-upgrade",
    ),
    m(
        "no-auto-upgrade",
        "no upgrades of a pool in a release channel",
        edit(POOL, "gpu-nodes-train-on-demand", put("management.autoUpgrade", False)),
        "gke-upgrade",
    ),
    m(
        "e2-local-ssd",
        "local disks on E2, which has none",
        edit(POOL, "cluster-cpu", put("nodeConfig.ephemeralStorageLocalSsdConfig", {"localSsdCount": 1})),
        "gke-local-ssd",
    ),
    m(
        "a2-hyperdisk",
        "a boot disk of Hyperdisk Balanced on A2",
        edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.diskType", "hyperdisk-balanced")),
        "gke-disk",
    ),
    m(
        "tpu-two-nodes",
        "a slice of 16 chips on two machines of four",
        edit(POOL, "tpu-slices-v6e-on-demand-1", put("autoscaling.totalMaxNodeCount", 2)),
        "gke-tpu",
        LARGE,
    ),
    m(
        "wal-14-days",
        "two weeks of transaction logs, of which Enterprise keeps one",
        edit(SQL, DATABASE, put("settings.backupConfiguration.transactionLogRetentionDays", 14)),
        "gcp-sql-backups",
    ),
    m(
        "flag-with-unit",
        "a flag in milliseconds, written with its unit",
        edit(SQL, DATABASE, put("settings.databaseFlags[7].value", "500ms")),
        "gcp-sql-flag",
    ),
    m(
        "soft-delete-day",
        "a day of soft deletion, which is none or a week and more",
        edit(BUCKET, "acme-demo-gcp-checkpoints", put("softDeletePolicy.retentionDurationSeconds", 86400)),
        "gcs-soft-delete",
    ),
    m(
        "bucket-multi-region",
        "the data in the US, its key in us-central1",
        edit(BUCKET, "acme-demo-gcp-data", put("location", "US")),
        "gcp-key-location",
    ),
    m(
        "role-star",
        "a star in a custom role",
        edit(
            "gcp:projects/iAMCustomRole:IAMCustomRole", "managed-jobs", put("permissions[0]", "aiplatform.artifacts.*")
        ),
        "gcp-permission",
        SMALL,
    ),
    m(
        "log-alert-without-limit",
        "an alert on log lines without how often it may tell",
        edit(ALERT, "record-alarms-rights", put("alertStrategy", {"autoClose": "1800s"})),
        "gcp-alert",
        EU,
    ),
    m(
        "label-undescribed",
        "a label drawn from the log that the metric does not describe",
        edit(METRIC, "alert-metrics-alerts", put("labelExtractors.team", "EXTRACT(jsonPayload.team)")),
        "gcp-metric",
    ),
    m(
        "logs-eleven-years",
        "eleven years of logs, of which ten are kept",
        edit("gcp:logging/projectBucketConfig:ProjectBucketConfig", "record-logs", put("retentionDays", 4015)),
        "gcp-log-bucket",
        EU,
    ),
    m(
        "budget-two-labels",
        "a budget of two labels, of which one can be filtered",
        edit(BUDGET, "budget-budget", put("budgetFilter.labels.team", "shared")),
        "gcp-budget",
    ),
    m(
        "record-outside",
        "the name of another zone in this one",
        edit(RECORD, "google-apis-all", put("name", "*.gcr.io.")),
        "gcp-dns",
    ),
    m(
        "lustre-300",
        "300 MB/s a TiB, a tier that there is not",
        edit("gcp:lustre/instance:Instance", "northwind-production-lustre", put("perUnitStorageThroughput", "300")),
        "gcp-lustre",
        LARGE,
    ),
    m(
        "editor-gpu-on-e2",
        "a T4 on an editor of E2",
        edit(
            TEMPLATE,
            "editors-e2-standard-4",
            put("machineSpec.acceleratorType", "NVIDIA_TESLA_T4"),
            put("machineSpec.acceleratorCount", 1),
        ),
        "managed-machine",
        SMALL,
    ),
    m(
        "selector-apart",
        "pods whose label is not the one that their deployment selects",
        edit(
            DEPLOYMENT, "mlflow-deployment", put("spec.template.metadata.labels.app~kubernetes~io/component", "server")
        ),
        "k8s-selector",
    ),
    m(
        "failure-policy-restarts",
        "a pod failure policy on pods that restart in place",
        edit(JOB, "smoke-train-spot-job", put("spec.template.spec.restartPolicy", "OnFailure")),
        "k8s-job",
    ),
    m(
        "peer-of-two-kinds",
        "a peer that is a range and a namespace at once",
        edit(POLICY, "mlflow-server-ingress", put("spec.ingress[0].from[0].ipBlock", {"cidr": "10.2.0.0/15"})),
        "k8s-network-peer",
    ),
    m(
        "covered-without-quota",
        "a queue that covers CPUs and gives no flavor a quota of them",
        edit(QUEUE, "kueue-cluster-queue-vision", put("spec.resourceGroups[0].coveredResources[1]", "cpu")),
        "kueue-covered",
    ),
    m(
        "schedule-with-zone",
        "a time zone within the schedule",
        edit(CRON, "checkpoint-drill-job", put("spec.schedule", "TZ=Europe/Amsterdam 30 4 * * 1")),
        "k8s-schedule",
        EU,
    ),
    m(
        "toleration-exists-value",
        "a toleration of any value that names one",
        edit(FLAVOR, "kueue-flavor-train-spot", put("spec.tolerations[1].operator", "Exists")),
        "k8s-toleration",
    ),
)

SILENT: Final = (
    m(
        "webhook-port-shut",
        "the control plane is not let to 9443, where Kueue's webhook listens",
        edit(
            "gcp:compute/firewall:Firewall",
            "network-webhooks",
            put("allows[0].ports", ["443", "8443", "10250", "10260"]),
        ),
        "flows-webhooks",
    ),
    m(
        "nat-for-pods-only",
        "NAT for the pods' range alone: the nodes pull no image",
        edit(
            NAT,
            "network-nat",
            put("subnetworks[0].sourceIpRangesToNats", ["LIST_OF_SECONDARY_IP_RANGES"]),
            put("subnetworks[0].secondaryIpRangeNames", ["pods"]),
        ),
        "flows-images",
    ),
    m(
        "restricted-addresses",
        "Google's services at the restricted addresses, which no network policy lets pods to",
        edit(
            RECORD,
            "google-apis-private",
            put("rrdatas", ["199.36.153.4", "199.36.153.5", "199.36.153.6", "199.36.153.7"]),
        ),
        "flows-object-store",
        EU,
    ),
    m(
        "disks-without-key",
        "Compute may not use the key of the nodes' disks",
        drop("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "acme-demo-gcp-platform-disks"),
        "rights-key",
    ),
    m(
        "logs-not-written",
        "the delivery of access logs may read the bucket only",
        edit(BUCKET_MEMBER, "acme-demo-gcp-logs-delivery", put("role", "roles/storage.objectViewer")),
        "rights-access-logs",
    ),
    m(
        "folder-of-other-namespace",
        "the right to the team's folder names a namespace that there is not",
        edit(FOLDER_MEMBER, "team-vision-checkpoints", swap("member", "ns/team-vision/", "ns/vision/")),
        "rights-volume",
    ),
    m(
        "data-only-created",
        "the team may write the data and not read them",
        edit(BUCKET_MEMBER, "team-vision-data", put("role", "roles/storage.objectCreator")),
        "rights-volume",
    ),
    m(
        "no-workload-logs",
        "the cluster sends no logs of pods, which alerts are counted from",
        edit(
            CLUSTER,
            "cluster-cluster",
            put(
                "loggingConfig.enableComponents", ["SYSTEM_COMPONENTS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER"]
            ),
        ),
        "programs-filter",
    ),
    m(
        "no-dcgm",
        "GKE's exporter of GPU figures is off, which our monitoring reads",
        edit(
            CLUSTER,
            "cluster-cluster",
            put(
                "monitoringConfig.enableComponents",
                ["SYSTEM_COMPONENTS", "STORAGE", "HPA", "POD", "DAEMONSET", "DEPLOYMENT", "STATEFULSET", "JOBSET"],
            ),
        ),
        "programs-figure",
        EU,
    ),
    m(
        "silence-of-pods",
        "the alert of silence looks at pods, the metric is of containers",
        edit(
            ALERT,
            "alert-policies-silent",
            swap("conditions", 'resource.type="k8s_container"', 'resource.type="k8s_pod"'),
        ),
        "programs-alert",
    ),
    m(
        "metric-of-other-namespace",
        "the metric counts lines of a namespace that there is not",
        edit(
            METRIC,
            "alert-metrics-alerts",
            swap("filter", 'namespace_name="monitoring"', 'namespace_name="observability"'),
        ),
        "programs-filter",
    ),
    m(
        "node-identity",
        "pods of the CPU pool are the node's account",
        edit(POOL, "cluster-cpu", put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA")),
        "rights-no-workload-identity",
    ),
    m(
        "one-node-for-two",
        "a pool of one node for a job of two",
        edit(POOL, "gpu-nodes-train-spot", put("autoscaling.totalMaxNodeCount", 1)),
        "placement-capacity",
    ),
    m(
        "budget-of-nothing",
        "the budget counts a label's value that nothing has",
        edit(BUDGET, "budget-budget", put("budgetFilter.labels.project", "lumen-bio")),
        "programs-budget",
        EU,
    ),
    m(
        "client-certificate",
        "the database asks for a client's certificate, the server has none",
        edit(SQL, DATABASE, put("settings.ipConfiguration.sslMode", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED")),
        "programs-database",
    ),
    m(
        "database-range",
        "the server may go to the nodes' range, the database is in the services'",
        edit(POLICY, "mlflow-server-egress", put("spec.egress[1].to[0].ipBlock.cidr", "10.0.0.0/20")),
        "flows-database",
    ),
    m(
        "no-metadata",
        "the team's pods may not ask the metadata server for a token",
        edit(
            POLICY,
            "teams-vision-allow-pod-identity",
            put(
                "spec.egress",
                [{"ports": [{"port": 988, "protocol": "TCP"}], "to": [{"ipBlock": {"cidr": "169.254.169.252/32"}}]}],
            ),
        ),
        "flows-identity",
    ),
    m(
        "squid-port",
        "the proxy listens on 3129, its service sends to 3128",
        edit(MAP, "egress-configuration", swap("data", "http_port 3128", "http_port 3129")),
        "programs-port",
    ),
    m(
        "storage-by-proxy",
        "storage is reached through the proxy, which does not let it",
        edit(MAP, "egress-clients-vision", swap("data", ",storage.googleapis.com,.storage.googleapis.com", "")),
        "programs-proxy",
    ),
    m(
        "jobset-untolerant",
        "JobSet's controller belongs on the system nodes and does not tolerate them",
        edit(RELEASE, "runtimes-jobset", put("values.controller.tolerations", DROP)),
        "placement-no-node",
    ),
    m(
        "check-of-no-config",
        "the admission check names a configuration that there is not",
        edit(CHECK, "kueue-check-train-flex-start", put("spec.parameters.name", "flex-start")),
        "queues-admission-check",
        LARGE,
    ),
    m(
        "sixteen-rdma",
        "a pod asks for 16 RDMA devices, a node has 8",
        edit(CLAIMS, "teams-foundation-fabric-train", put("spec.spec.devices.requests[0].exactly.count", 16)),
        "machine-interfaces",
        LARGE,
    ),
    m(
        "check-without-priority",
        "the check's pods state no priority, which our guard denies",
        edit(
            CRON,
            "checkpoint-check-vision-checkpoint-age",
            put("spec.jobTemplate.spec.template.spec.priorityClassName", DROP),
        ),
        "programs-priority",
    ),
    m(
        "all-of-the-node",
        "the job asks for all 96 CPUs of a node",
        edit(
            JOB,
            "smoke-train-spot-job",
            put("spec.template.spec.containers[0].resources.requests.cpu", "96"),
            put("spec.template.spec.containers[0].resources.limits.cpu", "96"),
        ),
        "placement-no-node",
    ),
    m(
        "scrape-in-clear",
        "Kueue's metrics are asked for over HTTP at its HTTPS port",
        edit(MONITOR, "monitoring-queues", put("spec.endpoints[0].scheme", "http")),
        "reference-monitor-path",
    ),
    m(
        "alerts-to-port-80",
        "alerts are sent to a port that the alert log's service has not",
        edit(
            RELEASE,
            "monitoring-release",
            put("values.alertmanager.config.receivers[1].webhook_configs[0].url", "http://alert-log.monitoring.svc/"),
        ),
        "reference-address",
        EU,
    ),
    m(
        "grafana-key",
        "Grafana's password is read from a key that the secret has not",
        edit(RELEASE, "monitoring-release", put("values.grafana.admin.passwordKey", "admin-password")),
        "reference-key",
    ),
    m(
        "people-mint-tokens",
        "people may mint the jobs' tokens and not run jobs as it",
        edit(
            "gcp:serviceaccount/iAMMember:IAMMember",
            "managed-research@hooli.example",
            put("role", "roles/iam.serviceAccountTokenCreator"),
        ),
        "rights-people",
        SMALL,
    ),
    m(
        "share-for-services",
        "the file share lets the services' range in and not the nodes'",
        edit(
            "gcp:filestore/instance:Instance",
            "northwind-production-shared",
            put("fileShares.nfsExportOptions[0].ipRanges", ["10.0.16.0/20"]),
        ),
        "reference-file-system",
        LARGE,
    ),
    m(
        "checkpoints-elsewhere",
        "the team is told a folder that it has no right to",
        edit(MAP, "teams-vision-storage", swap("data", "/teams/vision", "/vision")),
        "rights-pod-lacks",
    ),
)

HEALTHY: Final = (
    m(
        "regional-database",
        "a database in two zones",
        edit(SQL, DATABASE, put("settings.availabilityType", "REGIONAL")),
    ),
    m("ssd-nodes", "faster boot disks", edit(POOL, "cluster-cpu", put("nodeConfig.diskType", "pd-ssd"))),
    m(
        "nat-for-all",
        "NAT for every subnet",
        edit(
            NAT,
            "network-nat",
            put("sourceSubnetworkIpRangesToNat", "ALL_SUBNETWORKS_ALL_IP_RANGES"),
            put("subnetworks", DROP),
        ),
        stack=EU,
    ),
    m(
        "autoclass",
        "storage classes chosen by use",
        edit(BUCKET, "acme-demo-gcp-data", put("autoclass", {"enabled": True, "terminalStorageClass": "NEARLINE"})),
    ),
    m(
        "one-zone",
        "a development pool in one zone",
        edit(POOL, "gpu-nodes-dev-on-demand", put("nodeLocations", ["us-central1-a"])),
    ),
    m(
        "monthly-keys",
        "a new key version every month",
        edit("gcp:kms/cryptoKey:CryptoKey", "acme-demo-gcp-tracking", put("rotationPeriod", "2592000s")),
    ),
    m(
        "patient-silence",
        "twenty minutes of silence",
        edit(ALERT, "alert-policies-silent", put("conditions[0].conditionAbsent.duration", "1200s")),
    ),
    m(
        "check-at-work",
        "checkpoints looked at on working days",
        edit(
            CRON,
            "checkpoint-check-vision-checkpoint-age",
            put("spec.schedule", "*/30 6-20 * * 1-5"),
            put("spec.timeZone", "Europe/Amsterdam"),
        ),
    ),
    m("third-server", "a third tracking server", edit(DEPLOYMENT, "mlflow-deployment", put("spec.replicas", 3))),
    m(
        "wider-google",
        "a wider range of Google's addresses",
        edit(POLICY, "teams-vision-allow-object-store", put("spec.egress[0].to[0].ipBlock.cidr", "199.36.153.8/29")),
    ),
    m(
        "two-hours-idle",
        "editors that wait two hours and have a larger disk",
        edit(
            TEMPLATE,
            "editors-n2-standard-8",
            put("idleShutdownConfig.idleTimeout", "7200s"),
            put("dataPersistentDiskSpec.diskSizeGb", "100"),
        ),
        stack=SMALL,
    ),
)
