"""The thirteenth set of mistakes of Google Cloud: our components, as whoever runs the platform changes them.

Of each, what is refused and what is taken and never works, spread over the four example stacks and their types. What a
stack's settings refuse by themselves has its tests there. The clusters' part is `mistakes_k8s_tenth`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_twelfth import (
    ALERT,
    BUCKET,
    BUCKET_MEMBER,
    BUDGET,
    CLUSTER,
    DATABASE,
    EU,
    FOLDER_MEMBER,
    LARGE,
    METRIC,
    NAT,
    POOL,
    RECORD,
    SMALL,
    SQL,
    TEMPLATE,
    m,
    swap,
)

BOARD: Final = "gcp:monitoring/dashboard:Dashboard"
EXCLUSION: Final = "gcp:logging/projectExclusion:ProjectExclusion"
SUBNET: Final = "gcp:compute/subnetwork:Subnetwork"
RANGE: Final = "gcp:compute/globalAddress:GlobalAddress"
FIREWALL: Final = "gcp:compute/firewall:Firewall"
SHARE: Final = "gcp:filestore/instance:Instance"
LUSTRE: Final = "gcp:lustre/instance:Instance"
KEY: Final = "gcp:kms/cryptoKey:CryptoKey"
SECRET: Final = "gcp:secretmanager/regionalSecret:RegionalSecret"
RULES: Final = "conditions[0].conditionThreshold.aggregations[0]"
UNTIL: Final = "2036-12-31T00:00:00Z"


def placed(index: int, **at: int) -> Callable[[dict[str, Any]], None]:
    """Moves a tile of a dashboard."""

    def into(inputs: dict[str, Any]) -> None:
        board = json.loads(inputs["dashboardJson"])
        board["mosaicLayout"]["tiles"][index].update(at)
        inputs["dashboardJson"] = json.dumps(board)

    return into


def flagged(name: str, value: str) -> Callable[[dict[str, Any]], None]:
    """One more flag of a database."""
    return lambda inputs: inputs["settings"]["databaseFlags"].append({"name": name, "value": value})


def until(expression: str) -> Change:
    """The right of a team that ends."""
    return edit(BUCKET_MEMBER, "team-vision-data", put("condition", {"title": "until", "expression": expression}))


def of_year(*more: Callable[[dict[str, Any]], None]) -> Change:
    """A budget of a year in place of a month's."""
    days = {"startDate": {"year": 2026, "month": 1, "day": 1}, "endDate": {"year": 2026, "month": 12, "day": 31}}
    return edit(
        BUDGET, "budget-budget", put("budgetFilter.calendarPeriod", DROP), put("budgetFilter.customPeriod", days), *more
    )


def aligned(name: str, aligner: str) -> Change:
    """Another alignment of an alert's figure."""
    return edit(
        ALERT, name, put(f"{RULES}.perSeriesAligner", aligner), put(f"{RULES}.crossSeriesReducer", "REDUCE_SUM")
    )


def together(name: str, machine: str = "") -> Change:
    """Nodes that are placed together, in one zone."""
    other = (put("nodeConfig.machineType", machine),) if machine else ()
    zone = put("nodeLocations", ["us-central1-a"])
    return edit(POOL, name, put("placementPolicy", {"type": "COMPACT"}), zone, *other)


def cleaned(age: str) -> Change:
    """Images without a tag go at an age."""
    condition = {"tagState": "UNTAGGED", "olderThan": age}
    return edit(
        "gcp:artifactregistry/repository:Repository",
        "hooli-research-images",
        put("cleanupPolicies", [{"id": "old", "action": "DELETE", "condition": condition}]),
    )


REFUSED: Final = (
    m("calico", "network policies are switched on beside Dataplane V2",
      edit(CLUSTER, "cluster-cluster", put("networkPolicy", {"enabled": True, "provider": "CALICO"})),
      "gke-network-policy"),
    m("sundays-alone", "the window of upgrades is on Sundays alone: too few hours in 32 days",
      edit(CLUSTER, "cluster-cluster", put("maintenancePolicy.recurringWindow.recurrence", "FREQ=WEEKLY;BYDAY=SU")),
      "gke-maintenance", EU),
    m("hundred-ports", "NAT begins with 100 ports a machine, which is no power of two",
      edit(NAT, "network-nat", put("minPortsPerVm", 100)), "gcp-nat-ports"),
    m("fortnight-of-logs", "the database keeps a fortnight of transaction logs, a week more than its edition can",
      edit(SQL, "lumen-bio-production-mlflow",
           put("settings.backupConfiguration.transactionLogRetentionDays", 14)), "gcp-sql-backups", EU),
    m("silent-for-90s", "an alarm of silence after a minute and a half",
      edit(ALERT, "alert-policies-silent", put("conditions[0].conditionAbsent.duration", "90s")), "gcp-alert"),
    m("half-a-year-to-notice", "a key's versions go half a year after they are destroyed",
      edit(KEY, "northwind-production-data", put("destroyScheduledDuration", "15552000s")), "gcp-key-destroy", LARGE),
    m("capitals", "a label of the bill is written in capitals",
      edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.resourceLabels.capacity", "SPOT")), "gcp-label"),
    m("list-of-projects", "a role of the project lists projects, which folders and organizations alone allow",
      edit("gcp:projects/iAMCustomRole:IAMCustomRole", "managed-people",
           lambda inputs: inputs["permissions"].append("resourcemanager.projects.list")), "gcp-permission", SMALL),
    m("no-label-for-it", "a label of a metric is filled and not declared",
      edit(METRIC, "alert-metrics-alerts", lambda inputs: inputs["metricDescriptor"]["labels"].pop()), "gcp-metric"),
    m("as-often-as-it-likes", "an alert on lines of a log says nothing of how often it tells",
      edit(ALERT, "record-alarms-keys", put("alertStrategy", {"autoClose": "1800s"})), "gcp-alert", EU),
    m("bucket-of-the-continent", "the bucket goes to a multi-region, its key stays in the region",
      edit(BUCKET, "acme-demo-gcp-data", put("location", "US")), "gcp-key-location"),
    m("alias-without-dot", "an alias names its host without the dot at the end",
      edit(RECORD, "google-apis-all", put("rrdatas", ["private.googleapis.com"])), "gcp-dns", LARGE),
    m("five-minutes-idle", "an editor shuts down after five minutes without work",
      edit(TEMPLATE, "editors-e2-standard-4", put("idleShutdownConfig.idleTimeout", "300s")),
      "managed-idle-timeout", SMALL),
    m("own-group", "people's groups stand below a group of another name than GKE wants",
      edit(CLUSTER, "cluster-cluster", put("authenticatorGroupsConfig.securityGroup", "ml-admins@acme.example")),
      "gke-groups"),
    m("no-upgrade-for-ever", "no upgrade at all, until a version's support ends",
      edit(CLUSTER, "cluster-cluster",
           put("maintenancePolicy.maintenanceExclusions[0].exclusionOptions.scope", "NO_UPGRADES")),
      "gke-maintenance", EU),
    m("blue-green-surge", "nodes are replaced blue by green and keep the numbers of a surge",
      edit(POOL, "cluster-cpu", put("upgradeSettings.strategy", "BLUE_GREEN")), "gke-upgrade"),
    m("slices-of-an-l4", "an L4 is partitioned, which has no instances",
      edit(POOL, "gpu-nodes-dev-on-demand", put("nodeConfig.guestAccelerators[0].gpuPartitionSize", "1g.5gb")),
      "gke-partition", LARGE),
    m("e2-together", "nodes of E2 are placed together", together("cluster-system"), "gke-compact"),
    m("neither-address", "the database loses its private network and has no other address",
      edit(SQL, "lumen-bio-production-mlflow", put("settings.ipConfiguration.privateNetwork", DROP)),
      "gcp-sql-network", EU),
    m("sixty-four-mb", "a flag that is a number of kilobytes gets a unit",
      edit(SQL, DATABASE, flagged("work_mem", "64MB")), "gcp-sql-flag"),
    m("vault-of-60-days", "the vault keeps each backup longer than the plan does",
      edit("gcp:backupdisasterrecovery/backupVault:BackupVault", "northwind-production-shared-vault",
           put("backupMinimumEnforcedRetentionDuration", "5184000s")), "gcp-backup", LARGE),
    m("four-hours-of-backup", "backups have a window of four hours",
      edit("gcp:backupdisasterrecovery/backupPlan:BackupPlan", "northwind-production-shared-daily",
           put("backupRules[0].standardSchedule.backupWindow", {"startHourOfDay": 1, "endHourOfDay": 5})),
      "gcp-backup", LARGE),
    m("nobody-squashed", "the share says who a squashed root is, and squashes none",
      edit(SHARE, "northwind-production-shared", put("fileShares.nfsExportOptions[0].anonUid", 10001)),
      "gcp-filestore", LARGE),
    m("forecast-of-a-year", "a budget of days of its own is to tell of forecasts", of_year(), "gcp-budget"),
    m("quoted-moment", "a right ends at a moment that is written as a text", until(f'request.time < "{UNTIL}"'),
      "gcp-condition"),
    m("alias-and-address", "a name has an alias and an address",
      edit(RECORD, "google-apis-private", put("name", "*.googleapis.com.")), "gcp-dns", EU),
    m("subnet-grows", "the nodes' subnet grows over the databases' range",
      edit(SUBNET, "network-nodes", put("ipCidrRange", "10.0.0.0/18")), "gcp-range-overlap"),
    m("crooked-range", "a range of 4096 addresses begins in the middle of one",
      edit(RANGE, "network-private-services", put("address", "10.0.20.0")), "gcp-range"),
    m("addresses-by-hand", "NAT takes addresses by hand and has none",
      edit(NAT, "network-nat", put("natIpAllocateOption", "MANUAL_ONLY")), "gcp-nat-addresses", LARGE),
    m("tags-and-accounts", "a firewall rule speaks of tags and of accounts",
      edit(FIREWALL, "network-webhooks", put("targetTags", ["gke-node"]),
           put("sourceServiceAccounts", ["acme-demo-gcp-nodes@acme-ml.iam.gserviceaccount.com"])),
      "gcp-firewall-target"),
    m("bracket-left-open", "an exclusion's filter leaves a bracket open",
      edit(EXCLUSION, "record-not-global",
           put("filter", 'severity>=DEFAULT AND NOT (logName:"cloudaudit" OR resource.type="k8s_cluster"')),
      "gcp-log-filter"),
    m("older-of-a-count", "an alert aligns a count of lines as if it were a gauge",
      aligned("alert-policies-alerts", "ALIGN_NEXT_OLDER"), "programs-aligner"),
    m("rate-of-a-share", "an alert asks for the rate of a share of a TPU's time",
      aligned("alert-policies-idle-chips", "ALIGN_RATE"), "programs-aligner", LARGE),
    m("tile-over-the-edge", "a tile of the dashboard reaches over its last column",
      edit(BOARD, "managed-jobs-dashboard", placed(1, width=32)), "gcp-dashboard", SMALL),
    m("l4-in-n2", "an editor on N2 asks for an L4",
      edit(TEMPLATE, "editors-n2-standard-8", put("machineSpec.acceleratorType", "NVIDIA_L4"),
           put("machineSpec.acceleratorCount", 1)), "managed-machine", SMALL),
    m("disk-of-5", "an editor's disk of 5 GB",
      edit(TEMPLATE, "editors-e2-standard-2", put("dataPersistentDiskSpec.diskSizeGb", "5")), "gcp-disk", SMALL),
    m("rotation-tells-nobody", "a secret is rotated and has no topic to tell",
      edit(SECRET, "acme-demo-gcp-mlflow-password",
           put("rotation", {"rotationPeriod": "2592000s", "nextRotationTime": "2027-01-01T00:00:00Z"})), "gcp-secret"),
    m("half-a-slice", "a pool grows to half of a TPU slice",
      edit(POOL, "tpu-slices-v6e-on-demand-1", put("autoscaling.totalMaxNodeCount", 2)), "gke-tpu", LARGE),
    m("flex-repaired", "nodes of flex-start are repaired by themselves",
      edit(POOL, "gpu-nodes-train-flex-start", put("management.autoRepair", True)), "gke-flex-start", LARGE),
    m("reserved-and-spot", "nodes of a reservation are spot",
      edit(POOL, "gpu-nodes-train-reserved", put("nodeConfig.spot", True)), "gke-capacity", LARGE),
    # In corners that were left out at first.
    m("pids", "a pod gets fewer processes than GKE allows to say",
      edit(POOL, "cluster-cpu", put("nodeConfig.kubeletConfig.podPidsLimit", 512)), "gke-kubelet"),
    m("forwarding", "nodes are to forward packets, which is no parameter of GKE's",
      edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.linuxNodeConfig", {"sysctls": {"net.ipv4.ip_forward": "1"}})),
      "gke-sysctl"),
    m("pods-300", "300 pods a node", edit(POOL, "cluster-cpu", put("maxPodsPerNode", 300)), "gke-pods", EU),
    m("role-worker", "nodes get a label of Kubernetes' own",
      edit(POOL, "cluster-cpu", put("nodeConfig.labels.kubernetes~io/role", "worker")), "gke-node-label", LARGE),
    m("name-and-block", "pods have a range by its name and by its block",
      edit(CLUSTER, "cluster-cluster", put("ipAllocationPolicy.clusterIpv4CidrBlock", "10.2.0.0/15")), "gke-ranges"),
    m("versions-of-what-stays", "a bucket that nobody may overwrite keeps versions",
      edit(BUCKET, "acme-demo-gcp-logs", put("versioning.enabled", True)), "gcs-retention"),
    m("uploads-by-versions", "unfinished uploads go by newer versions, which they have none of",
      edit(BUCKET, "acme-demo-gcp-data", put("lifecycleRules[1].condition", {"age": 7, "numNewerVersions": 1})),
      "gcs-lifecycle"),
    m("folder-without-slash", "a managed folder's name ends without a slash",
      edit("gcp:storage/managedFolder:ManagedFolder", "mlflow-artifacts", put("name", "mlflow")),
      "gcs-managed-folder", EU),
    m("long-queries", "more of a query is kept than the edition keeps",
      edit(SQL, DATABASE, put("settings.insightsConfig.queryStringLength", 10240)), "gcp-sql-insights"),
    m("tier-of-plus", "a tier of Enterprise Plus on Enterprise",
      edit(SQL, DATABASE, put("settings.tier", "db-perf-optimized-N-4")), "gcp-sql-tier"),
    m("backups-400", "400 backups are kept",
      edit(SQL, "lumen-bio-production-mlflow",
           put("settings.backupConfiguration.backupRetentionSettings.retainedBackups", 400)), "gcp-sql-backups", EU),
    m("automatic-and-named", "NAT takes addresses by itself and is given one",
      edit(NAT, "network-nat", put("natIps", ["projects/acme-ml/regions/us-central1/addresses/out"])),
      "gcp-nat-addresses"),
    m("lustre-600", "a throughput that Lustre is not sold with",
      edit(LUSTRE, "northwind-production-lustre", put("perUnitStorageThroughput", "600")), "gcp-lustre", LARGE),
    m("name-of-ten", "a file system's name of ten letters",
      edit(LUSTRE, "northwind-production-lustre", put("filesystem", "foundation")), "gcp-lustre", LARGE),
    m("hourly-and-how-often", "hourly backups without a number of hours",
      edit("gcp:backupdisasterrecovery/backupPlan:BackupPlan", "northwind-production-shared-daily",
           put("backupRules[0].standardSchedule.recurrenceType", "HOURLY")), "gcp-backup", LARGE),
    m("older-than-30", "images go after 30, without a unit", cleaned("30"), "gcp-form", SMALL),
    m("kubernetes-api", "a service is switched on by the name of the product",
      edit("gcp:projects/service:Service", "services-container", put("service", "kubernetes.googleapis.com")),
      "gcp-service", EU),
)  # fmt: skip

SILENT: Final = (
    m("nobody-in-private", "the nodes' subnet has no private access to Google's services",
      edit(SUBNET, "network-nodes", put("privateIpGoogleAccess", False)), "flows-google", EU),
    m("webhooks-shut-out", "the firewall no longer lets webhooks be called on their port",
      edit(FIREWALL, "network-webhooks", put("allows[0].ports", ["443", "8443", "10250", "10260"])), "flows-webhooks"),
    m("no-fuse", "the driver of buckets is switched off, and volumes are buckets",
      edit(CLUSTER, "cluster-cluster", put("addonsConfig.gcsFuseCsiDriverConfig.enabled", False)), "reference-driver"),
    m("artifacts-to-read", "the tracking server may read artifacts and keep none",
      edit(FOLDER_MEMBER, "mlflow-artifacts", put("role", "roles/storage.objectViewer")), "rights-pod-lacks"),
    m("lines-of-another-cluster", "a metric counts lines of a cluster that there is not",
      edit(METRIC, "alert-metrics-watchdog",
           swap("filter", 'cluster_name="northwind-production"', 'cluster_name="northwind"')),
      "programs-filter", LARGE),
    m("right-of-another-account", "the artifacts are given to a service account that there is not",
      edit(FOLDER_MEMBER, "mlflow-artifacts", swap("member", "/sa/mlflow", "/sa/tracking-server")),
      "rights-binding-no-account", EU),
    m("nobody-acts-as", "nobody may send jobs as the account that they run as",
      drop("gcp:serviceaccount/iAMMember:IAMMember", "managed-research@hooli.example"),
      "managed-nobody-to-run-as", SMALL),
    m("no-dcgm", "GKE is not asked for the GPUs' figures any longer",
      edit(CLUSTER, "cluster-cluster",
           put("monitoringConfig.enableComponents", ["SYSTEM_COMPONENTS", "POD", "DEPLOYMENT", "JOBSET"])),
      "programs-figure"),
    m("nobody-installs-drivers", "GKE is told to leave a driver to others, and there are none",
      edit(POOL, "gpu-nodes-dev-on-demand",
           put("nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion",
               "INSTALLATION_DISABLED")), "machine-gpu-driver", EU),
    m("identity-of-the-node", "pods on spot nodes have the node's identity",
      edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA")),
      "rights-no-workload-identity"),
    m("budget-of-nothing", "the budget counts a label that nothing has",
      edit(BUDGET, "budget-budget", put("budgetFilter.labels", {"project": "acme-demo"})), "programs-budget"),
    m("certificates-of-clients", "the database wants certificates of its clients, and they have none",
      edit(SQL, DATABASE, put("settings.ipConfiguration.sslMode", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED")),
      "programs-database"),
    m("range-moved", "the databases' range moves, the policies that let pods reach it do not",
      edit(RANGE, "network-private-services", put("address", "10.0.64.0")), "flows-database", EU),
    # In corners that were left out at first.
    m("thirty-connections", "the database takes fewer connections than the servers hold",
      edit(SQL, DATABASE, flagged("max_connections", "30")), "programs-connections"),
    m("nodes-lose-their-role", "nodes lose the role by which they send logs",
      drop("gcp:projects/iAMMember:IAMMember", "cluster-nodes-defaultNodeServiceAccount"), "rights-nodes"),
    m("no-way-out", "the way out to registries goes", drop(NAT, "network-nat"), "flows-images", EU),
    m("below-nothing", "an alert waits for less than nothing",
      edit(ALERT, "alert-policies-idle-chips", put("conditions[0].conditionThreshold.thresholdValue", 0)),
      "programs-alert", LARGE),
    m("short-certificate", "a certificate has not the name that clients ask for",
      edit("tls:index/certRequest:CertRequest", "mlflow-certificate-request", put("dnsNames", ["mlflow", "localhost"])),
      "programs-certificate"),
)  # fmt: skip

HEALTHY: Final = (
    m("every-night", "upgrades every night for four hours",
      edit(CLUSTER, "cluster-cluster", put("maintenancePolicy.recurringWindow",
           {"startTime": "2026-01-03T02:00:00Z", "endTime": "2026-01-03T06:00:00Z", "recurrence": "FREQ=DAILY"}))),
    m("many-ports", "up to 65536 ports a machine",
      edit(NAT, "network-nat", put("minPortsPerVm", 128), put("maxPortsPerVm", 65536))),
    m("flags-of-numbers", "flags in the database's own units",
      edit(SQL, DATABASE, flagged("work_mem", "65536"), flagged("max_connections", "200"))),
    m("blue-and-green", "nodes of the CPU pool are replaced blue by green",
      edit(POOL, "cluster-cpu", put("upgradeSettings", {
          "strategy": "BLUE_GREEN",
          "blueGreenSettings": {
              "nodePoolSoakDuration": "1800s",
              "standardRolloutPolicy": {"batchPercentage": 0.5, "batchSoakDuration": "60s"},
          },
      }))),
    m("wide-tile", "a tile over the whole width, further down",
      edit(BOARD, "managed-jobs-dashboard", placed(5, xPos=0, yPos=48, width=48)), stack=SMALL),
    m("ends-in-ten-years", "a right that ends at a moment", until(f'request.time < timestamp("{UNTIL}")')),
    m("at-work", "a right of working hours", until('request.time.getHours("Europe/Berlin") < 20')),
    m("c3-together", "nodes of C3 are placed together", together("cluster-cpu", "c3-standard-8")),
    m("mean-of-a-share", "the mean of a share", aligned("alert-policies-idle-chips", "ALIGN_MEAN"), stack=LARGE),
    m("rate-of-a-count", "the rate of a count of lines", aligned("alert-policies-alerts", "ALIGN_RATE")),
    m("pids-4096", "more processes a pod",
      edit(POOL, "cluster-cpu", put("nodeConfig.kubeletConfig.podPidsLimit", 4096))),
    m("buffers", "larger buffers of TCP",
      edit(POOL, "gpu-nodes-train-spot",
           put("nodeConfig.linuxNodeConfig", {"sysctls": {"net.ipv4.tcp_rmem": "4096 87380 16777216"}}))),
    m("pods-64", "64 pods a node", edit(POOL, "cluster-cpu", put("maxPodsPerNode", 64)), stack=EU),
    m("uploads-by-folder", "unfinished uploads of one folder go sooner",
      edit(BUCKET, "acme-demo-gcp-data",
           put("lifecycleRules[1].condition", {"age": 3, "matchesPrefixes": ["incoming/"]}))),
    m("images-of-a-month", "images go after a month", cleaned("2592000s"), stack=SMALL),
    m("long-enough-queries", "as much of a query as the edition keeps",
      edit(SQL, DATABASE, put("settings.insightsConfig.queryStringLength", 4500))),
    m("all-but-bracketed", "an exclusion with brackets, a quoted one and one in a comment",
      edit(EXCLUSION, "record-not-global",
           put("filter", '-- what is of no region (all of it\nseverity>=DEFAULT AND (NOT textPayload:"a ( b")'))),
)  # fmt: skip
