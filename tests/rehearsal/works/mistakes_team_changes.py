"""Seventy-nine changes of the nine stacks as a team would make them and get them wrong, and what is right beside them.

They were written before any rule was looked at: of thirty-seven that are refused thirty-three were told at first sight,
of sixty that are taken and do not work fifty-six; those made by settings or by a component's code are held elsewhere,
or here as what they come to. Of thirty-seven changes that are right one was accused: a type of SageMaker's, which the
settings wanted without its `ml.`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, added, both, drop, edit, in_json, put

Inputs = dict[str, Any]
K: Final = "kubernetes:"
CQ: Final = f"{K}kueue.x-k8s.io/v1beta2:ClusterQueue"
NP: Final = "gcp:container/nodePool:NodePool"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
LINK: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
ADD_ON: Final = "aws:eks/addon:Addon"
FILTER: Final = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
VOLUME: Final = f"{K}core/v1:PersistentVolume"
KEEPER: Final = "kueue-budgets-deployment"
ACCOUNT: Final = "gcp:serviceaccount/iAMMember:IAMMember"
DATA_OBJECTS: Final = "projects/_/buckets/northwind-production-data-d04bb20c/objects"
PEER: Final = "spec.ingress[0].from[0]"


def pol(change: Callable[[Any], Any]) -> Callable[[Inputs], None]:
    """Changes a policy's document."""
    return in_json("policy", change)


def app(path: tuple[str | int, ...], value: Any) -> Callable[[Inputs], None]:
    """Puts something at the end of a list."""

    def into(inputs: Any) -> None:
        for part in path:
            inputs = inputs[part]
        inputs.append(value)

    return into


def setstm(sid: str, way: tuple[str, ...], value: Any) -> Callable[[Inputs], None]:
    """Puts a value into a statement of a policy."""

    def change(document: Any) -> None:
        target = next(one for one in document["Statement"] if one.get("Sid") == sid)
        for part in way[:-1]:
            target = target[part]
        target[way[-1]] = value

    return pol(change)


def repl(key: str, old: str, new: str) -> Callable[[Inputs], None]:
    """Puts other words into a text of the inputs."""

    def into(inputs: Inputs) -> None:
        assert old in inputs[key]
        inputs[key] = inputs[key].replace(old, new)

    return into


def cfg(old: str, new: str) -> Callable[[Inputs], None]:
    """Puts other words into the configuration of Kueue's manager."""

    def into(inputs: Inputs) -> None:
        repl("controllerManagerConfigYaml", old, new)(inputs["values"]["managerConfig"])

    return into


def asks(expression: str) -> Change:
    """Has the keeper of budgets ask for the figure in another way."""

    def into(inputs: Inputs) -> None:
        (container,) = inputs["spec"]["template"]["spec"]["containers"]
        container["args"] = [json.dumps({**json.loads(container["args"][0]), "spent": expression})]

    return edit(f"{K}apps/v1:Deployment", KEEPER, into)


def via(document: Any) -> None:
    for one in document["Statement"]:
        equals = one.get("Condition", {}).get("StringEquals", {})
        if "kms:ViaService" in equals:
            equals["kms:ViaService"] = json.loads(
                json.dumps(equals["kms:ViaService"]).replace("us-west-2", "us-east-1")
            )


def sse(document: Any) -> None:
    resources = next(one["Resource"] for one in document["Statement"] if one["Sid"] == "DenyPlainHttp")
    document["Statement"].append({
        "Sid": "DenyUnencrypted", "Effect": "Deny", "Principal": "*", "Action": "s3:PutObject",
        "Resource": [one for one in resources if one.endswith("/*")],
        "Condition": {"StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"}},
    })  # fmt: skip


def brake(document: Any) -> None:
    document["Statement"][0]["Condition"]["ArnEquals"]["iam:PolicyARN"] = "arn:aws:iam::123456789012:policy/over-budget"


def ksm(inputs: Inputs) -> None:
    inputs["values"]["kube-state-metrics"]["collectors"].remove("jobs")


def watchdog(inputs: Inputs) -> None:
    inputs["values"]["alertmanager"]["config"]["route"]["routes"][0]["matchers"] = ['alertname="WatchDog"']


def route(inputs: Inputs) -> None:
    inputs["values"]["alertmanager"]["config"]["route"]["routes"][0]["repeat_interval"] = "12h"


def flavour(inputs: Inputs) -> None:
    for rule in (rule for group in inputs["spec"]["groups"] for rule in group["rules"]):
        if rule.get("record") == "trainyard_gpu_hour_usd":
            rule["labels"] = {"flavour": rule["labels"]["flavor"]}


def spent(inputs: Inputs) -> None:
    for rule in (rule for group in inputs["spec"]["groups"] for rule in group["rules"]):
        if rule.get("record") == "trainyard_team_spent_usd":
            rule["record"] = "trainyard_team_cost_usd"


def nofuse(inputs: Inputs) -> None:
    job = inputs["spec"]["template"]["spec"]["replicatedJobs"][0]
    del job["template"]["spec"]["template"]["metadata"]["annotations"]["gke-gcsfuse/volumes"]


def twice(inputs: Inputs) -> None:
    quota = {"name": "google.com/tpu", "nominalQuota": "0"}
    inputs["spec"]["resourceGroups"][1]["flavors"].append({"name": "dev-on-demand", "resources": [quota]})


def keeper(inputs: Inputs) -> None:
    (container,) = inputs["spec"]["template"]["spec"]["containers"]
    told = json.loads(container["args"][0])
    told["teams"]["foundation"]["namespace"] = "foundation"
    container["args"] = [json.dumps(told)]


def borrow(inputs: Inputs) -> None:
    quota = inputs["spec"]["resourceGroups"][0]["flavors"][1]["resources"][0]
    quota.update(borrowingLimit="8", lendingLimit="4")


def status(pattern: str) -> Change:
    """Has a filter of small-aws count another line of its log."""
    return edit(FILTER, "managed-jobs-began", put("pattern", pattern))


def volumes(*teams: str, path: str, value: Any) -> Change:
    """Changes the volumes of checkpoints of teams of large-gcp."""
    return both(*(edit(VOLUME, f"volumes-{team}-checkpoints-volume", put(path, value)) for team in teams))


LINKS: Final = tuple(f"globex-production-lustre-{name}" for name in ("data", "scratch"))


REFUSED: Final = (
    Mistake(
        "ebs csi values",
        "EBS CSI add-on: nodeSelector at top level, which its schema has not",
        edit(
            "aws:eks/addon:Addon",
            "cluster-aws-ebs-csi-driver",
            put(
                "configurationValues",
                json.dumps({"nodeSelector": {"ml.platform/pool": "system"}, "tolerations": [{"operator": "Exists"}]}),
            ),
        ),
        "eks-addon-settings",
        stack="large-aws",
    ),
    Mistake(
        "type twice",
        "instance type in the launch template and in the node group",
        edit(
            "aws:ec2/launchTemplate:LaunchTemplate", "gpu-nodes-train-spot-template", put("instanceType", "p5.48xlarge")
        ),
        "launch-template-conflict",
        stack="large-aws",
    ),
    Mistake(
        "lustre rate",
        "throughput that PERSISTENT_2 does not sell",
        edit(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            "globex-production-lustre",
            put("perUnitStorageThroughput", 200),
        ),
        "fsx-throughput",
        stack="large-aws",
    ),
    Mistake(
        "lustre backups",
        "automatic backups of a Lustre file system that is linked to a bucket",
        edit(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            "globex-production-lustre",
            put("automaticBackupRetentionDays", 14),
        ),
        "fsx-backup",
        stack="large-aws",
    ),
    Mistake(
        "rds windows",
        "backup window within the maintenance window",
        edit("aws:rds/instance:Instance", "globex-production-mlflow", put("backupWindow", "02:30-03:30")),
        "rds-window-overlap",
        stack="large-aws",
    ),
    Mistake(
        "rds family",
        "engine 18 with parameters of family postgres17",
        edit("aws:rds/instance:Instance", "acme-demo-mlflow", put("engineVersion", "18")),
        "machines-database-family",
        stack="demo",
    ),
    Mistake(
        "efs lifecycle",
        "two transitions in one lifecycle policy",
        edit(
            "aws:efs/fileSystem:FileSystem",
            "globex-production-shared",
            put(
                "lifecyclePolicies",
                [
                    {"transitionToIa": "AFTER_30_DAYS", "transitionToArchive": "AFTER_90_DAYS"},
                    {"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
                ],
            ),
        ),
        "efs-lifecycle",
        stack="large-aws",
    ),
    Mistake(
        "two topics",
        "two SNS topics of one budget notification",
        edit(
            "aws:budgets/budget:Budget",
            "budget-budget",
            app(("notifications", 0, "subscriberSnsTopicArns"), "arn:aws:sns:us-east-1:123456789012:finance"),
        ),
        "budget-subscriber",
        stack="demo",
    ),
    Mistake(
        "alarm long",
        "an alarm over 30 hours in periods of a quarter of an hour",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "watchdog-silent", put("evaluationPeriods", 120)),
        "alarm-span",
        stack="demo",
    ),
    Mistake(
        "idle 30",
        "SageMaker editors stopped after 30 minutes",
        edit(
            "aws:sagemaker/domain:Domain",
            "studio",
            put(
                "defaultUserSettings.jupyterLabAppSettings.appLifecycleManagement.idleSettings.idleTimeoutInMinutes", 30
            ),
            put(
                "defaultUserSettings.jupyterLabAppSettings.appLifecycleManagement.idleSettings.minIdleTimeoutInMinutes",
                30,
            ),
        ),
        "aws-model",
        stack="small-aws",
    ),
    Mistake(
        "pattern no list",
        "event pattern whose source is no list",
        edit(
            "aws:cloudwatch/eventRule:EventRule",
            "managed-jobs-ended",
            in_json("eventPattern", lambda d: d.__setitem__("source", "aws.sagemaker")),
        ),
        "event-pattern",
        stack="small-aws",
    ),
    Mistake(
        "trust resource",
        "Resource in a trust policy",
        edit(
            "aws:iam/role:Role",
            "managed-jobs",
            in_json("assumeRolePolicy", lambda d: d["Statement"][0].__setitem__("Resource", "*")),
        ),
        "iam-trust",
        stack="small-aws",
    ),
    Mistake(
        "sg apostrophe",
        "apostrophe in a security group's description",
        edit(
            "aws:ec2/securityGroup:SecurityGroup",
            "globex-production-lustre-access",
            put("description", "Teams' Lustre file servers"),
        ),
        "security-group-description",
        stack="large-aws",
    ),
    Mistake(
        "flex repair",
        "flex-start pool with auto-repair",
        edit("gcp:container/nodePool:NodePool", "gpu-nodes-train-flex-start", put("management.autoRepair", True)),
        "gke-flex-start",
        stack="large-gcp",
    ),
    Mistake(
        "sql plus",
        "Enterprise Plus with a custom tier",
        edit(
            "gcp:sql/databaseInstance:DatabaseInstance",
            "northwind-production-mlflow",
            put("settings.edition", "ENTERPRISE_PLUS"),
        ),
        "gcp-sql-tier",
        stack="large-gcp",
    ),
    Mistake(
        "role list",
        "custom role of the project with resourcemanager.projects.list",
        edit(
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            "managed-people",
            app(("permissions",), "resourcemanager.projects.list"),
        ),
        "gcp-permission",
        stack="small-gcp",
    ),
    Mistake(
        "log alert rate",
        "log alert without a rate limit",
        edit(
            "gcp:monitoring/alertPolicy:AlertPolicy",
            "managed-jobs-failed",
            put("alertStrategy.notificationRateLimit", DROP),
        ),
        "gcp-alert",
        stack="small-gcp",
    ),
    Mistake(
        "budget cents",
        "budget of 10168.50 units",
        edit("gcp:billing/budget:Budget", "budget-budget", put("amount.specifiedAmount.units", "10168.50")),
        "gcp-budget",
        stack="small-gcp",
    ),
    Mistake(
        "cron tz",
        "TZ= in a schedule with a time zone",
        edit(
            K + "batch/v1:CronJob",
            "checkpoint-check-foundation-checkpoint-check",
            put("spec.schedule", "TZ=America/New_York 47 5 * * *"),
        ),
        "k8s-schedule",
        stack="large-gcp",
    ),
    Mistake(
        "peer two",
        "ipBlock and namespaceSelector in one peer",
        edit(
            K + "networking.k8s.io/v1:NetworkPolicy",
            "kueue-allow-platform",
            put("spec.ingress[0].from[0].namespaceSelector", {}),
        ),
        "k8s-network-peer",
        stack="demo",
    ),
    Mistake(
        "quota scope",
        "storage counted by a quota that is scoped by priority class",
        edit(K + "core/v1:ResourceQuota", "teams-vision-cpu-only", put("spec.hard.requests~storage", "1Ti")),
        "k8s-quota-scope",
        stack="demo",
    ),
    Mistake(
        "no condition",
        "lifecycle rule without a condition",
        edit(
            "gcp:storage/bucket:Bucket",
            "acme-demo-gcp-artifacts",
            app(
                ("lifecycleRules",),
                {"action": {"type": "SetStorageClass", "storageClass": "COLDLINE"}, "condition": {}},
            ),
        ),
        "gcs-lifecycle",
        stack="demo-gcp",
    ),
    Mistake(
        "folder slash",
        "managed folder whose name does not end in a slash",
        edit("gcp:storage/managedFolder:ManagedFolder", "team-foundation-checkpoints", put("name", "teams/foundation")),
        "gcs-managed-folder",
        stack="large-gcp",
    ),
    Mistake(
        "soft day",
        "soft delete of one day",
        edit(
            "gcp:storage/bucket:Bucket",
            "northwind-production-checkpoints",
            put("softDeletePolicy.retentionDurationSeconds", 86400),
        ),
        "gcs-soft-delete",
        stack="large-gcp",
    ),
    Mistake(
        "spot reserved",
        "spot nodes of a reservation",
        edit(NP, "gpu-nodes-train-reserved", put("nodeConfig.spot", True)),
        "gke-capacity",
        stack="large-gcp",
    ),
    Mistake(
        "topology",
        "a slice of 8x8 in a pool of four machines",
        edit(NP, "tpu-slices-v6e-on-demand-1", put("placementPolicy.tpuTopology", "8x8")),
        "gke-tpu",
        stack="large-gcp",
    ),
    Mistake(
        "a3 disk",
        "pd-ssd on A3 Ultra",
        edit(NP, "gpu-nodes-train-spot", put("nodeConfig.diskType", "pd-ssd")),
        "gke-disk",
        stack="large-gcp",
    ),
    Mistake(
        "account email",
        "account by its address where its full name is asked",
        edit(
            "gcp:serviceaccount/iAMMember:IAMMember",
            "managed-research@hooli.example",
            put("serviceAccountId", "hooli-research-jobs@hooli-research.iam.gserviceaccount.com"),
        ),
        "gcp-account-name",
        stack="small-gcp",
    ),
    Mistake(
        "no prefix",
        "member without its kind",
        edit(
            "gcp:storage/bucketIAMMember:BucketIAMMember",
            "managed-research@hooli.example-data",
            put("member", "research@hooli.example"),
        ),
        "gcp-member",
        stack="small-gcp",
    ),
    Mistake(
        "profile name",
        "underscore in a user profile's name",
        edit("aws:sagemaker/userProfile:UserProfile", "studio-everyone-1", put("userProfileName", "everyone_1")),
        "aws-model",
        stack="small-aws",
    ),
    Mistake(
        "sunday",
        "maintenance of the MLflow App on Sunday in full",
        edit("aws:sagemaker/mlflowApp:MlflowApp", "tracking", put("weeklyMaintenanceWindowStart", "Sunday:03:00")),
        "aws-model",
        stack="small-aws",
    ),
    Mistake(
        "borrow never",
        "preempts while borrowing and never reclaims",
        edit(
            CQ,
            "kueue-cluster-queue-foundation",
            put(
                "spec.preemption",
                {
                    "reclaimWithinCohort": "Never",
                    "borrowWithinCohort": {"policy": "LowerPriority"},
                    "withinClusterQueue": "LowerPriority",
                },
            ),
        ),
        "kueue-preemption",
        stack="large-gcp",
    ),
    Mistake(
        "flavor twice",
        "a flavor in two resource groups",
        edit(CQ, "kueue-cluster-queue-foundation", twice),
        "kueue-flavor",
        stack="large-gcp",
    ),
)
SILENT: Final = (
    Mistake(
        "efs zone",
        "no mount target in a zone that has GPU nodes",
        drop("aws:efs/mountTarget:MountTarget", "globex-production-shared-us-west-2a"),
        "paths-no-mount-target",
        stack="large-aws",
    ),
    Mistake(
        "efs path",
        "access point whose folder nobody makes",
        edit(
            "aws:efs/accessPoint:AccessPoint",
            "globex-production-shared-home-perception",
            put("rootDirectory.creationInfo", DROP),
        ),
        "programs-directory",
        stack="large-aws",
    ),
    Mistake(
        "kms region",
        "key may be used through S3 of another region",
        edit("aws:kms/key:Key", "checkpoints-key", pol(via)),
        "rights-key",
        stack="large-aws",
    ),
    Mistake(
        "bucket sse",
        "uploads without the encryption header denied; no client sends it",
        edit("aws:s3/bucketPolicy:BucketPolicy", "acme-demo-checkpoints-policy", pol(sse)),
        "rights-volume",
        stack="demo",
    ),
    Mistake(
        "topic key",
        "alerts' topic encrypted with AWS's own key, which no service may use",
        edit("aws:sns/topic:Topic", "budget-alerts", put("kmsMasterKeyId", "alias/aws/sns")),
        "rights-delivery-key",
        stack="demo",
    ),
    Mistake(
        "filter status",
        "metric filter for a status that no event in the log has",
        edit(
            "aws:cloudwatch/logMetricFilter:LogMetricFilter",
            "managed-jobs-began",
            put("pattern", '{ ($.detail.SecondaryStatus = "Starting") && ($.detail.TrainingStartTime = *) }'),
        ),
        "programs-event",
        stack="small-aws",
    ),
    Mistake(
        "detail type",
        "detail type that SageMaker does not send",
        edit(
            "aws:cloudwatch/eventRule:EventRule",
            "managed-jobs-ended",
            in_json("eventPattern", lambda d: d.__setitem__("detail-type", ["SageMaker Training Job Status Change"])),
        ),
        "programs-pattern",
        stack="small-aws",
    ),
    Mistake(
        "brake policy",
        "the budget's role may attach another policy than the action's",
        edit("aws:iam/rolePolicy:RolePolicy", "managed-budget", pol(brake)),
        "rights-role-lacks",
        stack="small-aws",
    ),
    Mistake(
        "mlflow prefix",
        "MLflow App keeps artifacts where its role may not write",
        edit(
            "aws:sagemaker/mlflowApp:MlflowApp",
            "tracking",
            put("artifactStoreUri", "s3://initech-research-artifacts-83980a4/tracking"),
        ),
        "rights-role-lacks",
        stack="small-aws",
    ),
    Mistake(
        "silence is well",
        "the alarm on silence takes missing data as well",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "watchdog-silent", put("treatMissingData", "notBreaching")),
        "programs-alarm",
        stack="demo",
    ),
    Mistake(
        "no imds",
        "metadata service of nodes off",
        edit(
            "aws:ec2/launchTemplate:LaunchTemplate",
            "gpu-nodes-tune-spot-template",
            put("metadataOptions", {"httpEndpoint": "disabled"}),
        ),
        "machines-metadata",
        stack="demo",
    ),
    Mistake(
        "no reservation",
        "reserved nodes that use no reservation",
        edit(
            "aws:ec2/launchTemplate:LaunchTemplate",
            "gpu-nodes-train-reserved-template",
            put("capacityReservationSpecification", {"capacityReservationPreference": "none"}),
        ),
        "machines-reservation",
        stack="demo",
    ),
    Mistake(
        "uae nat",
        "private domain without the NAT route",
        drop("aws:ec2/route:Route", "network-private-me-central-1a-out"),
        "managed-private-without-way-out",
        stack="uae-small",
    ),
    Mistake(
        "scopes",
        "nodes may only read storage: no logs, no metrics",
        edit(
            "gcp:container/nodePool:NodePool",
            "gpu-nodes-dev-on-demand",
            put("nodeConfig.oauthScopes", ["https://www.googleapis.com/auth/devstorage.read_only"]),
        ),
        "rights-node-scopes",
        stack="large-gcp",
    ),
    Mistake(
        "cpu taint",
        "taint on the CPU pool that no pod tolerates",
        edit(
            "gcp:container/nodePool:NodePool",
            "cluster-cpu",
            put("nodeConfig.taints", [{"key": "dedicated", "value": "cpu", "effect": "NO_SCHEDULE"}]),
        ),
        "placement-no-node",
        stack="large-gcp",
    ),
    Mistake(
        "dns restricted",
        "*.googleapis.com leads to a name without addresses",
        edit("gcp:dns/recordSet:RecordSet", "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])),
        "paths-names",
        stack="large-gcp",
    ),
    Mistake(
        "log pods",
        "log metric of pods that are called otherwise",
        edit("gcp:logging/metric:Metric", "alert-metrics-alerts", repl("filter", "^alert-log-", "^alertlog-")),
        "programs-filter",
        stack="large-gcp",
    ),
    Mistake(
        "budget label",
        "budget counts a label's value that nothing has",
        edit("gcp:billing/budget:Budget", "budget-budget", put("budgetFilter.labels", {"project": "northwind-prod"})),
        "programs-budget",
        stack="large-gcp",
    ),
    Mistake(
        "budget 90",
        "threshold of 90 where 0.9 is meant",
        edit("gcp:billing/budget:Budget", "budget-budget", put("thresholdRules[1].thresholdPercent", 90)),
        "gcp-budget",
        stack="large-gcp",
    ),
    Mistake(
        "people role",
        "people may not create custom jobs",
        edit(
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            "managed-people",
            lambda i: i["permissions"].remove("aiplatform.customJobs.create"),
        ),
        "rights-people",
        stack="small-gcp",
    ),
    Mistake(
        "provision tpu",
        "provisioning asks for TPU, the flavor is of GPUs",
        edit(
            K + "kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig",
            "kueue-provisioning-train-flex-start",
            put("spec.managedResources", ["google.com/tpu"]),
        ),
        "queues-provisioning",
        stack="large-gcp",
    ),
    Mistake(
        "check flavor",
        "admission check on the spot flavor instead of flex-start",
        edit(
            CQ,
            "kueue-cluster-queue-foundation",
            put("spec.admissionChecksStrategy.admissionChecks[0].onFlavors", ["train-spot"]),
        ),
        "queues-provisioning",
        stack="large-gcp",
    ),
    Mistake(
        "export pods",
        "shares exported to pods' addresses; nodes mount them",
        edit(
            "gcp:filestore/instance:Instance",
            "northwind-production-shared",
            put("fileShares.nfsExportOptions[0].ipRanges", ["10.2.0.0/15"]),
        ),
        "reference-file-system",
        stack="large-gcp",
    ),
    Mistake(
        "watchdog case",
        "heartbeat's route spelt otherwise",
        edit(K + "helm.sh/v3:Release", "monitoring-release", watchdog),
        "watching-route",
        stack="demo",
    ),
    Mistake(
        "flavour",
        "price of a GPU hour under a label that nothing joins",
        edit(K + "monitoring.coreos.com/v1:PrometheusRule", "monitoring-rules", flavour),
        "watching-label",
        stack="large-gcp",
    ),
    Mistake(
        "ksm jobs",
        "jobs not among the figures that alerts ask for",
        edit(K + "helm.sh/v3:Release", "monitoring-release", ksm),
        "watching-metric",
        stack="demo",
    ),
    Mistake(
        "pdb 0",
        "disruption budget that lets no server go",
        edit(K + "policy/v1:PodDisruptionBudget", "mlflow-disruption-budget", put("spec.maxUnavailable", 0)),
        "placement-drain",
        stack="demo",
    ),
    Mistake(
        "deadline 5",
        "cron job that may start 5 seconds late",
        edit(
            K + "batch/v1:CronJob",
            "checkpoint-check-foundation-checkpoint-check",
            put("spec.startingDeadlineSeconds", 5),
        ),
        "reference-schedule",
        stack="large-gcp",
    ),
    Mistake(
        "no fuse",
        "runtime without the annotation of the bucket's side-car",
        edit(K + "trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime", "runtimes-torch-train", nofuse),
        "programs-bucket-mount",
        stack="large-gcp",
    ),
    Mistake(
        "no versions",
        "checkpoints not versioned while rules clean up versions",
        edit("gcp:storage/bucket:Bucket", "acme-demo-gcp-checkpoints", put("versioning.enabled", False)),
        "gcs-lifecycle",
        stack="demo-gcp",
    ),
    Mistake(
        "db connections",
        "25 connections for 2 servers of 4 workers of 4 each",
        edit(
            "gcp:sql/databaseInstance:DatabaseInstance",
            "acme-demo-gcp-mlflow",
            app(("settings", "databaseFlags"), {"name": "max_connections", "value": "25"}),
        ),
        "programs-connections",
        stack="demo-gcp",
    ),
    Mistake(
        "system small",
        "platform's pods on at most two m7i.large",
        edit(
            "aws:eks/nodeGroup:NodeGroup",
            "cluster-system",
            put("instanceTypes", ["m7i.large"]),
            put("scalingConfig", {"desiredSize": 2, "minSize": 2, "maxSize": 2}),
        ),
        "placement-shared-room",
        stack="demo",
    ),
    Mistake(
        "pv read",
        "checkpoints' volume is read-only",
        edit(K + "core/v1:PersistentVolume", "volumes-foundation-checkpoints-volume", put("spec.csi.readOnly", True)),
        "programs-volume",
        stack="large-gcp",
    ),
    Mistake(
        "claim class",
        "claim of another class than its volume",
        edit(
            K + "core/v1:PersistentVolumeClaim",
            "volumes-foundation-data-claim",
            put("spec.storageClassName", "gcsfusecsi-serving"),
        ),
        "reference-claim",
        stack="large-gcp",
    ),
    Mistake(
        "old annotation",
        "trainer acts as an account that it may not act as",
        edit(
            K + "core/v1:ServiceAccount",
            "teams-foundation-trainer",
            put(
                "metadata.annotations",
                {"iam.gke.io/gcp-service-account": "northwind-production-nodes@northwind-ml.iam.gserviceaccount.com"},
            ),
        ),
        "rights-binding-untrusted",
        stack="large-gcp",
    ),
    Mistake(
        "gce metadata",
        "GPU nodes whose pods see the nodes' account",
        edit(NP, "gpu-nodes-train-spot", put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA")),
        "rights-no-workload-identity",
        stack="large-gcp",
    ),
    Mistake(
        "condition",
        "right on other objects than those that are mounted",
        edit(
            "gcp:storage/bucketIAMMember:BucketIAMMember",
            "team-foundation-data",
            put(
                "condition",
                {
                    "title": "datasets",
                    "expression": f'resource.name.startsWith("{DATA_OBJECTS}/datasets/")',
                },
            ),
        ),
        "rights-volume",
        stack="large-gcp",
    ),
    Mistake(
        "held",
        "a queue held since somebody drained it",
        edit(
            K + "kueue.x-k8s.io/v1beta2:LocalQueue",
            "kueue-local-queue-foundation-default",
            put("spec.stopPolicy", "HoldAndDrain"),
        ),
        "kueue-stop-policy",
        stack="large-gcp",
    ),
    Mistake(
        "kueue namespaces",
        "Kueue manages namespaces by a label that none has",
        edit(K + "helm.sh/v3:Release", "kueue-release", cfg("key: ml.platform/team", "key: trainyard.io/team")),
        "queues-unmanaged",
        stack="demo",
    ),
    Mistake(
        "queue figures",
        "figures of queues' resources off, and asked for",
        edit(
            K + "helm.sh/v3:Release",
            "kueue-release",
            cfg("enableClusterQueueResources: true", "enableClusterQueueResources: false"),
        ),
        "watching-metric",
        stack="demo",
    ),
    Mistake(
        "keeper room",
        "budget keeper told of another namespace",
        edit(K + "apps/v1:Deployment", "kueue-budgets-deployment", keeper),
        "programs-names",
        stack="large-gcp",
    ),
    Mistake(
        "editor type",
        "editors' default type is not among those allowed",
        edit(
            "aws:iam/rolePolicy:RolePolicy",
            "managed-people-editors",
            setstm(
                "OpenEditors",
                ("Condition", "ForAllValues:StringEquals", "sagemaker:InstanceTypes"),
                ["ml.t3.large", "ml.m5.large", "ml.m5.xlarge", "system"],
            ),
        ),
        "rights-role-lacks",
        stack="small-aws",
    ),
    Mistake(
        "service name",
        "budget of a service that AWS calls otherwise",
        edit("aws:budgets/budget:Budget", "budget-budget", put("costFilters[0].values", ["SageMaker"])),
        "programs-budget",
        stack="small-aws",
    ),
    Mistake(
        "nobody told",
        "alert policy that tells nobody",
        edit("gcp:monitoring/alertPolicy:AlertPolicy", "alert-policies-alerts", put("notificationChannels", [])),
        "programs-alert",
        stack="large-gcp",
    ),
    Mistake(
        "heartbeat 12h",
        "heartbeat each 12 hours, missed after 15 minutes",
        edit(K + "helm.sh/v3:Release", "monitoring-release", route),
        "programs-watchdog",
        stack="demo",
    ),
    Mistake(
        "spent name",
        "spent figure recorded under another name",
        edit(K + "monitoring.coreos.com/v1:PrometheusRule", "monitoring-rules", spent),
        "watching-metric",
        stack="large-gcp",
    ),
)
SOUND: Final[dict[str, tuple[str, Change]]] = {
    "tiering": (
        "large-aws",
        edit(
            "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
            "globex-production-data-lifecycle",
            app(
                ("rules",),
                {
                    "id": "tier",
                    "status": "Enabled",
                    "filter": {"prefix": ""},
                    "transitions": [{"days": 0, "storageClass": "INTELLIGENT_TIERING"}],
                },
            ),
        ),
    ),
    "io2": (
        "large-aws",
        edit("aws:rds/instance:Instance", "globex-production-mlflow", put("storageType", "io2"), put("iops", 3000)),
    ),
    "alarm 2of3": (
        "demo",
        edit(
            "aws:cloudwatch/metricAlarm:MetricAlarm",
            "watchdog-silent",
            put("period", 300),
            put("evaluationPeriods", 3),
            put("datapointsToAlarm", 2),
        ),
    ),
    "budget 150": (
        "large-gcp",
        edit(
            "gcp:billing/budget:Budget",
            "budget-budget",
            app(("thresholdRules",), {"thresholdPercent": 1.5, "spendBasis": "CURRENT_SPEND"}),
        ),
    ),
    "nearline": (
        "large-gcp",
        edit(
            "gcp:storage/bucket:Bucket",
            "northwind-production-data",
            app(
                ("lifecycleRules",),
                {
                    "action": {"type": "SetStorageClass", "storageClass": "NEARLINE"},
                    "condition": {"age": 60, "matchesPrefixes": ["archive/"]},
                },
            ),
        ),
    ),
    "limits": ("large-gcp", edit(CQ, "kueue-cluster-queue-foundation", borrow)),
    "workdays": (
        "large-gcp",
        edit(
            K + "batch/v1:CronJob",
            "checkpoint-check-foundation-checkpoint-check",
            put("spec.schedule", "15 6-20/2 * * MON-FRI"),
            put("spec.timeZone", "America/New_York"),
        ),
    ),
    "dashboard": (
        "demo",
        added(
            "core/v1:ConfigMap",
            "own-dashboard",
            {
                "metadata": {"labels": {"grafana_dashboard": "1"}},
                "data": {"own.json": json.dumps({"title": "Own", "uid": "own-1", "schemaVersion": 39, "panels": []})},
            },
            "monitoring",
        ),
    ),
    "prefix rule": (
        "small-aws",
        edit(
            "aws:cloudwatch/eventRule:EventRule",
            "managed-jobs-ended",
            in_json(
                "eventPattern",
                lambda d: d["detail"].__setitem__(
                    "TrainingJobName", [{"prefix": "prod-"}, {"anything-but": {"prefix": "test-"}}]
                ),
            ),
        ),
    ),
    "good condition": (
        "large-gcp",
        edit(
            "gcp:storage/bucketIAMMember:BucketIAMMember",
            "ingest-data",
            put(
                "condition",
                {
                    "title": "until",
                    "description": "the project's end",
                    "expression": 'request.time < timestamp("2030-01-01T00:00:00Z")',
                },
            ),
        ),
    ),
    "soft taint": (
        "large-gcp",
        edit(
            NP,
            "cluster-cpu",
            put("nodeConfig.taints", [{"key": "ml.example/cpu", "value": "true", "effect": "PREFER_NO_SCHEDULE"}]),
        ),
    ),
    "brake 90": (
        "small-aws",
        edit(
            "aws:budgets/budgetAction:BudgetAction",
            "managed-over-budget",
            put("actionThreshold.actionThresholdValue", 90),
            put("notificationType", "FORECASTED"),
        ),
    ),
}

WIDER: Final = (
    Mistake(
        "month dropped", "the keeper's question leaves the month away by which it knows the figure",
        asks("max by (team) (trainyard_team_spent_usd)"), "watching-label",
    ),
    Mistake(
        "team dropped", "the keeper's question adds the teams up",
        asks("sum by (month) (trainyard_team_spent_usd)"), "watching-label",
    ),
    Mistake(
        "every pod and a block", "a peer of any pod of the namespace, and of a block",
        edit(f"{K}networking.k8s.io/v1:NetworkPolicy", "kueue-allow-platform", put(f"{PEER}.podSelector", {})),
        "k8s-network-peer",
    ),
    Mistake(
        "tolerations of EFS", "tolerations beside the controller's and the nodes' settings of the EFS driver",
        edit(ADD_ON, "cluster-aws-ebs-csi-driver", put("addonName", "aws-efs-csi-driver"),
             put("configurationValues", json.dumps({"tolerations": [{"operator": "Exists"}]}))),
        "eks-addon-settings", stack="large-aws",
    ),
    Mistake(
        "old PERSISTENT_1", "a link to a bucket of PERSISTENT_1 without a version, which is 2.10 then",
        edit(LUSTRE, "globex-production-lustre", put("deploymentType", "PERSISTENT_1"),
             put("fileSystemTypeVersion", DROP)),
        "fsx-association", stack="large-aws",
    ),
)  # fmt: skip
BESIDE: Final[dict[str, tuple[str, str, Change]]] = {
    "the figure with further labels": (
        "demo", "watching-label", asks("max by (team, month, cluster) (trainyard_team_spent_usd)"),
    ),
    "a filter on what a rule lets by": (
        "small-aws", "programs-event", status('{ ($.detail.SecondaryStatus = "Completed") }'),
    ),
    "a filter on any value": (
        "small-aws", "programs-event", status('{ ($.detail.SecondaryStatus = "Comp*") }'),
    ),
    "a filter, and a rule that lets all by": (
        "small-aws", "programs-event",
        both(status('{ ($.detail.SecondaryStatus = "Starting") }'),
             edit("aws:cloudwatch/eventRule:EventRule", "managed-jobs-told",
                  in_json("eventPattern", lambda held: held.pop("detail")))),
    ),
    "a private domain in the subnets that lead out": (
        "uae-small", "managed-private-without-way-out",
        both(drop("aws:ec2/route:Route", "network-private-me-central-1a-out"),
             edit("aws:sagemaker/domain:Domain", "studio", lambda inputs: inputs["subnetIds"].pop(0))),
    ),
    "checkpoints that nobody writes any more": (
        "large-gcp", "programs-volume",
        volumes("foundation", "perception", "forecasting", path="spec.csi.readOnly", value=True),
    ),
    "checkpoints that one team only reads": (
        "large-gcp", "programs-volume",
        both(volumes("foundation", path="spec.csi.readOnly", value=True),
             volumes("foundation", path="spec.accessModes", value=["ReadOnlyMany"])),
    ),
}  # fmt: skip
BELIEVED: Final[dict[str, tuple[str, str, Change]]] = {
    "backups of what no bucket is linked to": (
        "large-aws", "fsx-backup",
        both(*(drop(LINK, name) for name in LINKS),
             edit(LUSTRE, "globex-production-lustre", put("automaticBackupRetentionDays", 14))),
    ),
    "a link to a bucket of PERSISTENT_1": (
        "large-aws", "fsx-association",
        edit(LUSTRE, "globex-production-lustre", put("deploymentType", "PERSISTENT_1"),
             put("fileSystemTypeVersion", "2.12")),
    ),
    "an account by its full name": (
        "small-gcp", "gcp-account-name",
        edit(ACCOUNT, "managed-research@hooli.example",
             put("serviceAccountId", "projects/hooli-research/serviceAccounts/"
                 "hooli-research-jobs@hooli-research.iam.gserviceaccount.com")),
    ),
    "settings of both kinds of pods": (
        "large-aws", "eks-addon-settings",
        edit(ADD_ON, "cluster-aws-ebs-csi-driver", put("configurationValues", json.dumps({
            "controller": {"nodeSelector": {"ml.platform/pool": "system"}},
            "node": {"tolerations": [{"operator": "Exists"}]},
        }))),
    ),
    "a block beside a selector": (
        "demo", "k8s-network-peer",
        edit(f"{K}networking.k8s.io/v1:NetworkPolicy", "kueue-allow-platform",
             put("spec.ingress[0].from[1]", {"namespaceSelector": {}})),
    ),
}  # fmt: skip
"""What is right beside rules of values: told of by `check_values`."""
