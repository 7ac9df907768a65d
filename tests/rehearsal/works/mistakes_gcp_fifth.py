"""Sixty more mistakes of Google Cloud's resources: thirty that the cloud or its provider refuses, thirty that are taken
and then do not work, or cost money that nobody meant to spend."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import Change, Recorded, edit, put
from tests.rehearsal.works.mistakes_gcp_fourth import ACCOUNT, DATABASE
from tests.rehearsal.works.mistakes_gcp_sixty import (
    BUCKET,
    BUDGET,
    CHANNEL,
    CLUSTER,
    FIREWALL,
    IN_PROJECT,
    KEY,
    LUSTRE,
    METRIC,
    NAT,
    POLICY,
    POOL,
    RECORD,
    SINK,
    SQL,
    STACK,
    ZONE,
)
from tests.rehearsal.works.mistakes_gcp_third import ADDRESS, OF, ON_BUCKET, SECRET, SUBNET, TRAIN

SMALL = "small-gcp"
NETWORK, ROUTER = "gcp:compute/network:Network", "gcp:compute/router:Router"
BACKUPS, VAULT = (
    "gcp:backupdisasterrecovery/backupPlan:BackupPlan",
    "gcp:backupdisasterrecovery/backupVault:BackupVault",
)
ROLE, IMAGES = "gcp:projects/iAMCustomRole:IAMCustomRole", "gcp:artifactregistry/repository:Repository"
CEILING = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
SUBSCRIPTION, ORG_POLICY = "gcp:pubsub/subscription:Subscription", "gcp:orgpolicy/policy:Policy"
SCHEDULED = "gcp:cloudscheduler/job:Job"


def made(type_: str, name: str, /, **inputs: Any) -> Change:
    """A resource more, of a type that the example does not have."""

    def change(resources: Recorded) -> list[Any]:
        like = next(found for found in resources if found.type.startswith("gcp:"))
        urn = f"urn:pulumi:{STACK}::trainyard::{type_}::{name}"
        return [*resources, replace(like, type=type_, name=name, urn=urn, id=f"{name}-1", inputs=copy.deepcopy(inputs))]

    return change


def subscription(**inputs: Any) -> Change:
    return made(SUBSCRIPTION, "events", topic="projects/northwind-ml/topics/events", **inputs)


def scheduled(inputs: Mapping[str, Any]) -> Change:
    target = {"httpTarget": {"uri": "https://example.com/", "httpMethod": "POST"}}
    return made(SCHEDULED, "nightly", region="us-east4", name="nightly", **{**target, **inputs})


REFUSED = {
    "a router's number of somebody else's": (edit(ROUTER, "network-router", put("bgp", {"asn": 64511})), STACK),
    "a subnet's role without its purpose": (edit(SUBNET, "network-nodes", put("role", "ACTIVE")), STACK),
    "a range of one address for private services": (
        edit(ADDRESS, "network-private-services", put("purpose", "PRIVATE_SERVICE_CONNECT")),
        STACK,
    ),
    "a protocol of another layer": (
        edit(FIREWALL, "network-webhooks", put("allows[0].protocol", "https")),
        STACK,
    ),
    "tags beside accounts in a rule": (
        edit(
            FIREWALL,
            "network-webhooks",
            put("sourceTags", ["control-plane"]),
            put("targetServiceAccounts", [f"{OF}-nodes@northwind-ml.iam.gserviceaccount.com"]),
        ),
        STACK,
    ),
    "an address of six in a record of four": (
        edit(RECORD, "google-apis-private", put("rrdatas[0]", "2600:2d00:2:2000::")),
        STACK,
    ),
    "a version with its letter": (edit(CLUSTER, "cluster-cluster", put("minMasterVersion", "v1.35")), STACK),
    "weekdays of three letters": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put("maintenancePolicy.recurringWindow.recurrence", "FREQ=WEEKLY;BYDAY=SAT,SUN"),
        ),
        STACK,
    ),
    "no upgrade at all for half a year": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put(
                "maintenancePolicy.maintenanceExclusions[0]",
                {
                    "exclusionName": "jobs-run-on",
                    "startTime": "2026-01-01T00:00:00Z",
                    "endTime": "2026-07-01T00:00:00Z",
                    "exclusionOptions": {"scope": "NO_UPGRADES"},
                },
            ),
        ),
        STACK,
    ),
    "a range by its name and by its size": (
        edit(CLUSTER, "cluster-cluster", put("ipAllocationPolicy.clusterIpv4CidrBlock", "/15")),
        STACK,
    ),
    "what pods write without what the system writes": (
        edit(CLUSTER, "cluster-cluster", put("loggingConfig.enableComponents", ["WORKLOADS"])),
        STACK,
    ),
    "a node's metadata that Kubernetes keeps": (
        edit(POOL, "cluster-cpu", put("nodeConfig.metadata.kube-env", "A=b")),
        STACK,
    ),
    "images are cleared up from below to above": (
        edit(
            POOL,
            "cluster-cpu",
            put("nodeConfig.kubeletConfig.imageGcHighThresholdPercent", 60),
            put("nodeConfig.kubeletConfig.imageGcLowThresholdPercent", 70),
        ),
        STACK,
    ),
    "a kernel's key by a slip": (
        edit(POOL, TRAIN, put("nodeConfig.linuxNodeConfig", {"sysctls": {"net.core.rmem_maximum": "134217728"}})),
        STACK,
    ),
    "fewer processes than a pod may be held to": (
        edit(POOL, "cluster-cpu", put("nodeConfig.kubeletConfig.podPidsLimit", 512)),
        STACK,
    ),
    "a pool's name of too many letters": (
        edit(POOL, TRAIN, put("name", "training-nodes-h200-reserved-us-east4-b-1")),
        STACK,
    ),
    "blue and green, that surges": (
        edit(POOL, "cluster-cpu", put("upgradeSettings.strategy", "BLUE_GREEN")),
        STACK,
    ),
    "classes by access, down to cold line": (
        edit(
            BUCKET,
            f"{OF}-data",
            put("autoclass", {"enabled": True, "terminalStorageClass": "COLDLINE"}),
        ),
        STACK,
    ),
    "a day as it is written at home": (
        edit(BUCKET, f"{OF}-data", put("lifecycleRules[0].condition.createdBefore", "31.12.2026")),
        STACK,
    ),
    "MySQL's log in a database of PostgreSQL": (
        edit(SQL, f"{OF}-mlflow", put("settings.backupConfiguration.binaryLogEnabled", True)),
        STACK,
    ),
    "MySQL's letters in a database of PostgreSQL": (
        edit(DATABASE, f"{OF}-mlflow-mlflow", put("charset", "utf8mb4")),
        STACK,
    ),
    "a secret's name with a dot": (
        edit(SECRET, f"{OF}-mlflow-password", put("secretId", "mlflow.password")),
        STACK,
    ),
    "a permission that a project's role may not hold": (
        edit(ROLE, "managed-people", put("permissions[0]", "resourcemanager.projects.list")),
        SMALL,
    ),
    "an equals sign too few": (
        edit(
            ON_BUCKET,
            "team-foundation-data",
            put("condition", {"title": "data", "expression": 'resource.type = "storage.googleapis.com/Object"'}),
        ),
        STACK,
    ),
    "a channel's key in other letters": (
        edit(
            CHANNEL,
            "alert-policies-finance@northwind.example",
            put("labels", {"emailAddress": "finance@northwind.example"}),
        ),
        STACK,
    ),
    "series are joined that are not aligned": (
        edit(
            POLICY,
            "alert-policies-silent",
            put("conditions[0].conditionAbsent.aggregations[0].perSeriesAligner", "ALIGN_NONE"),
        ),
        STACK,
    ),
    "a window of backups of four hours": (
        edit(
            BACKUPS,
            f"{OF}-shared-daily",
            put("backupRules[0].standardSchedule.backupWindow", {"startHourOfDay": 2, "endHourOfDay": 6}),
        ),
        STACK,
    ),
    "a vault keeps longer than its plan": (
        edit(VAULT, f"{OF}-shared-vault", put("backupMinimumEnforcedRetentionDuration", "7776000s")),
        STACK,
    ),
    "a constraint that is enforced and has values": (
        made(
            ORG_POLICY,
            "no-keys",
            name="projects/northwind-ml/policies/iam.disableServiceAccountKeyCreation",
            parent="projects/northwind-ml",
            spec={"rules": [{"enforce": "TRUE", "values": {"deniedValues": ["all"]}}]},
        ),
        STACK,
    ),
    "a subscription that ends within the hour": (subscription(expirationPolicy={"ttl": "3600s"}), STACK),
    "an hour that no day has": (scheduled({"schedule": "0 25 * * *", "timeZone": "Etc/UTC"}), STACK),
    "a zone of time that there is not": (scheduled({"schedule": "0 5 * * *", "timeZone": "Berlin"}), STACK),
}

SILENT = {
    "NAT between private networks": (edit(NAT, "network-nat", put("type", "PRIVATE")), STACK),
    "NAT for gateways and no machine": (
        edit(NAT, "network-nat", put("endpointTypes", ["ENDPOINT_TYPE_SWG"])),
        STACK,
    ),
    "webhooks allowed to another account's machines": (
        edit(
            FIREWALL,
            "network-webhooks",
            put("targetServiceAccounts", ["northwind-runners@northwind-ml.iam.gserviceaccount.com"]),
        ),
        STACK,
    ),
    "flow logs through a filter that nothing passes": (
        edit(SUBNET, "network-nodes", put("logConfig.filterExpr", "false")),
        STACK,
    ),
    "flow logs of every packet, every five seconds": (
        edit(
            SUBNET,
            "network-nodes",
            put("logConfig.flowSampling", 1),
            put("logConfig.aggregationInterval", "INTERVAL_5_SEC"),
        ),
        STACK,
    ),
    "Google's names are asked of the office": (
        edit(
            ZONE,
            "google-apis-googleapis",
            put("forwardingConfig", {"targetNameServers": [{"ipv4Address": "10.200.0.53"}]}),
        ),
        STACK,
    ),
    "the pods of eight a node": (edit(POOL, "cluster-system", put("maxPodsPerNode", 8)), STACK),
    "the system's nodes may go at any time": (
        edit(POOL, "cluster-system", put("nodeConfig.spot", True)),
        STACK,
    ),
    "GPUs that never go to sleep": (
        edit(POOL, "gpu-nodes-tune-on-demand", put("autoscaling.totalMinNodeCount", 2)),
        STACK,
    ),
    "nodes with an address of the internet": (
        edit(POOL, "cluster-cpu", put("networkConfig", {"enablePrivateNodes": False})),
        STACK,
    ),
    "services have another domain": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put(
                "dnsConfig",
                {
                    "clusterDns": "CLOUD_DNS",
                    "clusterDnsScope": "CLUSTER_SCOPE",
                    "clusterDnsDomain": "northwind.internal",
                },
            ),
        ),
        STACK,
    ),
    "nobody can tell whose the cost is": (
        edit(CLUSTER, "cluster-cluster", put("costManagementConfig.enabled", False)),
        STACK,
    ),
    "disks that nobody attaches": (
        edit(CLUSTER, "cluster-cluster", put("addonsConfig.gcePersistentDiskCsiDriverConfig.enabled", False)),
        STACK,
    ),
    "the nodes' account is switched off": (edit(ACCOUNT, "cluster-nodes", put("disabled", True)), STACK),
    "a right of an account that was deleted": (
        edit(
            IN_PROJECT,
            "cluster-nodes-reader",
            put("member", f"deleted:serviceAccount:{OF}-nodes@northwind-ml.iam.gserviceaccount.com?uid=1234567890"),
        ),
        STACK,
    ),
    "a role that is switched off": (edit(ROLE, "managed-jobs", put("stage", "DISABLED")), SMALL),
    "a ceiling of another region": (
        edit(CEILING, "ceilings-custom_model_training_nvidia_h100_gpus", put("dimensions", {"region": "us-east1"})),
        SMALL,
    ),
    "images in a repository that only passes on": (
        edit(
            IMAGES,
            "hooli-research-images",
            put("mode", "VIRTUAL_REPOSITORY"),
            put("virtualRepositoryConfig", {"upstreamPolicies": []}),
        ),
        SMALL,
    ),
    "a key without a version": (edit(KEY, f"{OF}-data", put("skipInitialVersionCreation", True)), STACK),
    "whoever reads the data pays, and says so": (edit(BUCKET, f"{OF}-data", put("requesterPays", True)), STACK),
    "checkpoints that are held for an event": (
        edit(BUCKET, f"{OF}-checkpoints", put("defaultEventBasedHold", True)),
        STACK,
    ),
    "checkpoints kept three months after they are deleted": (
        edit(BUCKET, f"{OF}-checkpoints", put("softDeletePolicy.retentionDurationSeconds", 7776000)),
        STACK,
    ),
    "old artifacts go by a time that nobody sets": (
        edit(
            BUCKET,
            f"{OF}-artifacts",
            put("lifecycleRules[0].condition", {"daysSinceCustomTime": 365, "withState": "ARCHIVED"}),
        ),
        STACK,
    ),
    "a database that is never on": (edit(SQL, f"{OF}-mlflow", put("settings.activationPolicy", "NEVER")), STACK),
    "a database for connectors alone": (
        edit(SQL, f"{OF}-mlflow", put("settings.connectorEnforcement", "REQUIRED")),
        STACK,
    ),
    "a disk that may grow to less than it is": (
        edit(SQL, f"{OF}-mlflow", put("settings.diskAutoresizeLimit", 64)),
        STACK,
    ),
    "an alert when it is over": (
        edit(POLICY, "alert-policies-silent", put("alertStrategy", {"notificationPrompts": ["CLOSED"]})),
        STACK,
    ),
    "an alert of a hundred series at a time": (
        edit(
            POLICY,
            "alert-policies-alerts",
            put("conditions[0].conditionThreshold.trigger", {"count": 100}),
        ),
        STACK,
    ),
    "a sink of a kind of thing that there is not": (
        edit(SINK, "record-sink", put("filter", 'resource.type="k8s_containers"')),
        STACK,
    ),
    "a budget of what last month cost": (
        edit(BUDGET, "budget-budget", put("amount", {"lastPeriodAmount": True})),
        STACK,
    ),
    "Lustre on the port of old clusters": (edit(LUSTRE, f"{OF}-lustre", put("gkeSupportEnabled", True)), STACK),
    "a label that is read from another field": (
        edit(
            METRIC,
            "alert-metrics-alerts",
            put("labelExtractors.runbook", "EXTRACT(jsonPayload.runbook_uri)"),
        ),
        STACK,
    ),
}
