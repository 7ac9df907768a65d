"""Sixty mistakes of Google Cloud's resources, most of them in somebody else's program (`on_google` of the foreign
ones), written before the checks of what services of a project do with each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, both, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_fifth import NETWORK, ORG_POLICY, SMALL, made
from tests.rehearsal.works.mistakes_gcp_sixty import FIREWALL, METRIC, POLICY, POOL, STACK, said
from tests.rehearsal.works.mistakes_gcp_third import SUBNET

FOREIGN: Final = "on_google"
RUN, JOB = "gcp:cloudrunv2/service:Service", "gcp:cloudrunv2/job:Job"
INVOKER, JOB_INVOKER = "gcp:cloudrunv2/serviceIamMember:ServiceIamMember", "gcp:cloudrunv2/jobIamMember:JobIamMember"
WIF, WIF_POOL = (
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool",
)
SCHEDULE, BACKUP = "gcp:cloudscheduler/job:Job", "gcp:gkebackup/backupPlan:BackupPlan"
TEMPLATE = "gcp:compute/regionInstanceTemplate:RegionInstanceTemplate"
CHECK, GROUP = (
    "gcp:compute/regionHealthCheck:RegionHealthCheck",
    "gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager",
)
DATASET = "gcp:bigquery/dataset:Dataset"
BUCKET, NOTIFICATION = "gcp:storage/bucket:Bucket", "gcp:storage/notification:Notification"
TRIGGER, BUILD = "gcp:eventarc/trigger:Trigger", "gcp:cloudbuild/trigger:Trigger"
ON_TOPIC, ON_SUBSCRIPTION = (
    "gcp:pubsub/topicIAMMember:TopicIAMMember",
    "gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember",
)
SUBSCRIPTION, ON_DATASET = "gcp:pubsub/subscription:Subscription", "gcp:bigquery/datasetIamMember:DatasetIamMember"
MEMBER, ACTS = "gcp:projects/iAMMember:IAMMember", "gcp:serviceaccount/iAMMember:IAMMember"
CLUSTER, SQL = "gcp:container/cluster:Cluster", "gcp:sql/databaseInstance:DatabaseInstance"
REPOSITORY, TRANSFER = "gcp:artifactregistry/repository:Repository", "gcp:storage/transferJob:TransferJob"
RESERVATION, DASHBOARD = "gcp:compute/reservation:Reservation", "gcp:monitoring/dashboard:Dashboard"
THRESHOLD: Final = "conditions[0].conditionThreshold"


def foreign(type_: str, name: str, path: str, value: Any) -> tuple[Change, str]:
    return edit(type_, name, put(path, value)), FOREIGN


REFUSED: Final[Mapping[str, tuple[Change, str]]] = {
    "a GPU with half of its processors": foreign(RUN, "api", "template.containers[0].resources.limits.cpu", "2"),
    "eight GiB of one processor": foreign(RUN, "intake", "template.containers[0].resources.limits.memory", "8Gi"),
    "everybody on GitHub": foreign(WIF, "github", "attributeCondition", DROP),
    "a pool by Google's prefix": foreign(WIF_POOL, "github", "workloadIdentityPoolId", "gcp-github"),
    "an hour for an answer": foreign(SCHEDULE, "score", "attemptDeadline", "3600s"),
    "a GPU that moves": foreign(TEMPLATE, "serve", "scheduling.onHostMaintenance", "MIGRATE"),
    "a dash in a dataset": foreign(DATASET, "features", "datasetId", "features-v2"),
    "locked for longer than it is kept": foreign(BACKUP, "daily", "retentionPolicy.backupDeleteLockDays", 40),
    "classes by hand and by themselves": foreign(
        BUCKET,
        "models",
        "lifecycleRules",
        [{"action": {"type": "SetStorageClass", "storageClass": "NEARLINE"}, "condition": {"age": 30}}],
    ),
    "an account that builds, and logs to nowhere": foreign(BUILD, "images", "build.options.logging", DROP),
    "events of another region": foreign(TRIGGER, "models", "location", "europe-west1"),
    "the bucket may not announce": (
        both(drop(ON_TOPIC, "storage-publishes"), drop(MEMBER, "storage-publishes-anywhere")),
        FOREIGN,
    ),
    "nobody may write what is announced": (drop(ON_DATASET, "pubsub-writes"), FOREIGN),
    "lines and figures in one rule": (
        edit(
            POLICY,
            "record-alarms-rights",
            put(
                "conditions[1]",
                {
                    "displayName": "many",
                    "conditionThreshold": {
                        "filter": 'metric.type="logging.googleapis.com/log_entry_count" AND resource.type="project"',
                        "comparison": "COMPARISON_GT",
                        "thresholdValue": 1000,
                        "duration": "0s",
                    },
                },
            ),
        ),
        STACK,
    ),
    "over in a quarter of an hour": (
        edit(POLICY, "record-alarms-rights", put("alertStrategy.autoClose", "900s")),
        STACK,
    ),
    "sixty-four on one GPU": foreign(
        POOL,
        "gpus",
        "nodeConfig.guestAccelerators[0].gpuSharingConfig",
        {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 64},
    ),
    "pods where the nodes are": (
        edit(SUBNET, "network-nodes", put("secondaryIpRanges[0].ipCidrRange", "10.0.0.0/14")),
        STACK,
    ),
}

SILENT: Final[Mapping[str, tuple[Change, str]]] = {
    "a token of another kind": (
        edit(
            SCHEDULE,
            "score",
            put("httpTarget.oauthToken", DROP),
            put("httpTarget.oidcToken", {"serviceAccountEmail": "acme-caller@rehearsal.iam.gserviceaccount.com"}),
        ),
        FOREIGN,
    ),
    "who calls at night may not": (drop(JOB_INVOKER, "caller"), FOREIGN),
    "pushed without a token": foreign(SUBSCRIPTION, "landed", "pushConfig.oidcToken", DROP),
    "who pushes may not call": (drop(INVOKER, "intake-push"), FOREIGN),
    "what fails cannot be laid aside": (drop(ON_TOPIC, "dead-publishes"), FOREIGN),
    "what is laid aside comes again": (drop(ON_SUBSCRIPTION, "landed-dead"), FOREIGN),
    "a sink's writer that may not": (drop(ON_TOPIC, "errors"), FOREIGN),
    "a sink's writer that may look": foreign(ON_DATASET, "audit", "role", "roles/bigquery.dataViewer"),
    "alarms that may not be published": (drop(ON_TOPIC, "told"), FOREIGN),
    "alarms that nobody reads": (drop(SUBSCRIPTION, "told"), FOREIGN),
    "what fails is laid aside and lost": (drop(SUBSCRIPTION, "dead"), FOREIGN),
    "pods of another project": foreign(
        ACTS, "trainer-pods", "member", "serviceAccount:acme.svc.id.goog[research/trainer]"
    ),
    "an attribute that nothing maps": (
        said(ACTS, "github", "member", "attribute.repository/acme/models", "attribute.repository_owner/acme"),
        FOREIGN,
    ),
    "an issuer with a slash": foreign(WIF, "github", "oidc.issuerUri", "https://token.actions.githubusercontent.com/"),
    "a claim that GitHub does not make": foreign(
        WIF, "github", "attributeMapping", {"google.subject": "assertion.sub", "attribute.repository": "assertion.repo"}
    ),
    "half of those who look": foreign(FIREWALL, "health", "sourceRanges", ["130.211.0.0/22"]),
    "a tag that no machine has": foreign(FIREWALL, "health", "targetTags", ["server"]),
    "a port that nobody opens": foreign(CHECK, "serve", "httpHealthCheck.port", 8000),
    "a port of another name": foreign(GROUP, "serve", "namedPorts[0].name", "web"),
    "a folder that begins with a slash": foreign(
        BUCKET, "raw", "lifecycleRules[2].condition.matchesPrefixes", ["/tmp/"]
    ),
    "newer versions of nothing": foreign(BUCKET, "raw", "versioning.enabled", False),
    "announced from where nothing lands": foreign(NOTIFICATION, "landed", "objectNamePrefix", "/incoming/"),
    "a backup by nobody": foreign(CLUSTER, "train", "addonsConfig.gkeBackupAgentConfig.enabled", False),
    "every night, paused": foreign(SCHEDULE, "score", "paused", True),
    "cleared up on paper": foreign(REPOSITORY, "images", "cleanupPolicyDryRun", True),
    "copied by a job that is off": foreign(TRANSFER, "nightly", "status", "DISABLED"),
    "copied until February": foreign(
        TRANSFER, "nightly", "schedule.scheduleEndDate", {"year": 2026, "month": 2, "day": 1}
    ),
    "a label of services on a job": (
        said(METRIC, "failed-scores", "filter", "resource.labels.job_name", "resource.labels.service_name"),
        FOREIGN,
    ),
    "a kind of database that there is not": (
        said(
            POLICY,
            "database-full",
            f"{THRESHOLD}.filter",
            'resource.type="cloudsql_database"',
            'resource.type="cloudsql_instance"',
        ),
        FOREIGN,
    ),
    "seconds where milliseconds are": foreign(POLICY, "slow", f"{THRESHOLD}.thresholdValue", 2),
    "per cent where shares are": foreign(POLICY, "database-full", f"{THRESHOLD}.thresholdValue", 90),
    "below nothing": foreign(POLICY, "buried", f"{THRESHOLD}.comparison", "COMPARISON_LT"),
    "a login that the database does not know": foreign(SQL, "main", "settings.databaseFlags", DROP),
    "a login that may not connect": (drop(MEMBER, "serve-cloudsql.instanceUser"), FOREIGN),
    "a private database from outside": foreign(RUN, "api", "template.vpcAccess", DROP),
    "a script by another key": foreign(TEMPLATE, "serve", "metadata", {"startup_script": "#!/bin/bash\n"}),
    "reserved for another machine": foreign(
        RESERVATION, "gpus", "specificReservation.instanceProperties.machineType", "a3-megagpu-8g"
    ),
    "no way to the internet": (edit(NETWORK, "network-vpc", put("deleteDefaultRoutesOnCreate", True)), STACK),
    "one list of members and single ones": (
        made(
            "gcp:projects/iAMBinding:IAMBinding",
            "readers",
            project="northwind-ml",
            role="roles/artifactregistry.reader",
            members=["group:research@northwind.example"],
        ),
        STACK,
    ),
    "only in Europe, says the project": (
        made(
            ORG_POLICY,
            "places",
            name="projects/northwind-ml/policies/gcp.resourceLocations",
            parent="projects/northwind-ml",
            spec={"rules": [{"values": {"allowedValues": ["in:eu-locations"]}}]},
        ),
        STACK,
    ),
    "machines that may read and not log": foreign(TEMPLATE, "serve", "serviceAccount.scopes", ["storage-ro"]),
    "a figure in British": (
        said(DASHBOARD, "managed-jobs-dashboard", "dashboardJson", "accelerator/utilization", "accelerator/use"),
        SMALL,
    ),
    "events for somebody without the right": (drop(MEMBER, "intake-eventarc.eventReceiver"), FOREIGN),
}
