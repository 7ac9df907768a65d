"""Forty-eight mistakes over all nine stacks and every room, one thing each, and changes that are unusual and right.

They were written before any rule was looked at: of nineteen that a cloud or an API server refuses all were told at
first sight, of twenty-nine that are taken and do not work twenty-seven. Of sixteen changes that are right one was
accused, of having no price. Two more mistakes were none: half a TiB of a regional share of Filestore is sold by now,
and Google's driver of Lustre mounts by address and name, whatever zone the volume's handle says. Twenty-five others
were all told at first sight (`SECOND`, and a guard of images that is asked of updates alone, which a policy tells), and
none of eight more changes that are right was accused. Of twelve more of the second kind ten were told; the last two of
`SECOND` are the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, edit, in_json, put

METRIC: Final = "gcp:logging/metric:Metric"
ALERT: Final = "gcp:monitoring/alertPolicy:AlertPolicy"
COUNTED: Final = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
K8S: Final = "kubernetes:"


def every(path: str, old: Any, new: Any) -> Callable[[dict[str, Any]], None]:
    """In a list of texts at a path: one in place of another."""

    def into(inputs: dict[str, Any]) -> None:
        held = inputs
        for key in path.split("."):
            held = held[key]
        held[:] = [new if one == old else one for one in held]

    return into


def statement(sid: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    """Changes the statement of that name of a policy."""

    def into(document: dict[str, Any]) -> None:
        [found] = [one for one in document["Statement"] if one["Sid"] == sid]
        found.update(changes)

    return into


def coredns(change: Callable[[dict[str, Any]], Any]) -> Change:
    return edit("aws:eks/addon:Addon", "cluster-coredns", in_json("configurationValues", change))


REFUSED: Final = (
    Mistake(
        "limit-below-default", "a largest CPU of a container below what one gets by default",
        edit(f"{K8S}core/v1:LimitRange", "teams-vision-defaults", put("spec.limits[0].max", {"cpu": "500m"})),
        "k8s-limit-range",
    ),
    Mistake(
        "budget-both", "minAvailable added beside maxUnavailable",
        edit(f"{K8S}policy/v1:PodDisruptionBudget", "mlflow-disruption-budget", put("spec.minAvailable", 1)),
        "k8s-disruption-budget",
    ),
    Mistake(
        "lustre-size", "20 TB of Lustre, which comes in steps of 2400 GiB",
        edit("aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre", put("storageCapacity", 20000)),
        "fsx-capacity", stack="large-aws",
    ),
    Mistake(
        "mount-target-twice", "two mount targets of one file system in one zone",
        edit("aws:efs/mountTarget:MountTarget", "globex-production-shared-us-west-2d",
             put("subnetId", "subnet-74a8718a11877591c")),
        "efs-mount-target", stack="large-aws",
    ),
    Mistake(
        "success-unindexed", "a job that is not indexed, with a success policy by index",
        edit(f"{K8S}batch/v1:Job", "smoke-train-reserved-job", put("spec.completionMode", "NonIndexed")),
        "k8s-job", stack="large-aws",
    ),
    Mistake(
        "coredns-replicas", "`replicas` in the configuration of the add-on, whose schema has `replicaCount`",
        coredns(lambda held: held.update(replicas=3)),
        "eks-addon-settings", stack="uae-aws",
    ),
    Mistake(
        "except-outside", "an exception of a block that does not lie in the block",
        edit(f"{K8S}networking.k8s.io/v1:NetworkPolicy", "egress-allow-platform",
             lambda held: _block(held).update(cidr="10.0.0.0/8")),
        "k8s-cidr", stack="uae-aws",
    ),
    Mistake(
        "windows-overlap", "backups in the hours of the maintenance",
        edit("aws:rds/instance:Instance", "falcon-health-production-mlflow",
             put("backupWindow", "03:30-04:30")),
        "rds-window-overlap", stack="uae-aws",
    ),
    Mistake(
        "idle-too-soon", "an editor ends after half an hour, where an hour is the least",
        edit("aws:sagemaker/domain:Domain", "studio",
             put("defaultUserSettings.codeEditorAppSettings.appLifecycleManagement.idleSettings.idleTimeoutInMinutes",
                 30)),
        "managed-idle-bounds", stack="small-aws",
    ),
    Mistake(
        "two-return", "an alarm of which two queries return data",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-queue-waiting",
             put("metricQueries[1].returnData", True)),
        "alarm-queries", stack="small-aws",
    ),
    Mistake(
        "rules-same-priority", "two rules of one group with one priority",
        edit("aws:route53/resolverFirewallRule:ResolverFirewallRule", "dns-allow", put("priority", 200)),
        "dns-priority", stack="uae-small",
    ),
    Mistake(
        "infrequent-too-soon", "into infrequent access after a fortnight",
        edit("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
             "dune-clinic-production-checkpoints-lifecycle",
             lambda held: held["rules"].append({
                 "id": "cheaper", "status": "Enabled", "filter": {"prefix": ""},
                 "transitions": [{"days": 14, "storageClass": "STANDARD_IA"}]})),
        "s3-lifecycle-transition", stack="uae-small",
    ),
    Mistake(
        "ranges-overlap", "more pods: a range that holds the nodes' own",
        edit("gcp:compute/subnetwork:Subnetwork", "network-nodes",
             put("secondaryIpRanges[0].ipCidrRange", "10.0.0.0/14")),
        "gcp-range-overlap", stack="demo-gcp",
    ),
    Mistake(
        "three-of-four", "three L4 on a machine type that has four",
        edit("gcp:container/nodePool:NodePool", "gpu-nodes-tune-spot",
             put("nodeConfig.guestAccelerators[0].count", 3)),
        "gke-accelerator", stack="demo-gcp",
    ),
    Mistake(
        "plus-tier", "a machine of Enterprise Plus for an instance of Enterprise",
        edit("gcp:sql/databaseInstance:DatabaseInstance", "lumen-bio-production-mlflow",
             put("settings.tier", "db-perf-optimized-N-2")),
        "gcp-sql-tier", stack="eu-gcp",
    ),
    Mistake(
        "soft-delete-a-day", "soft delete of a day, where it is none or a week at least",
        edit("gcp:storage/bucket:Bucket", "lumen-bio-production-data",
             put("softDeletePolicy.retentionDurationSeconds", 86400)),
        "gcs-soft-delete", stack="eu-gcp",
    ),
    Mistake(
        "lends-more", "a team that lends more than it has",
        edit(f"{K8S}kueue.x-k8s.io/v1beta2:ClusterQueue", "kueue-cluster-queue-imaging",
             put("spec.resourceGroups[0].flavors[0].resources[0].lendingLimit", "4")),
        "kueue-quota", stack="eu-gcp",
    ),
    Mistake(
        "lustre-speed", "750 MB/s per TiB, which is no step of the service",
        edit("gcp:lustre/instance:Instance", "northwind-production-lustre", put("perUnitStorageThroughput", "750")),
        "gcp-lustre", stack="large-gcp",
    ),
    Mistake(
        "role-with-hyphens", "hyphens in the name of a role, as all other names have them",
        edit("gcp:projects/iAMCustomRole:IAMCustomRole", "managed-editors", put("roleId", "hooli-research-editors")),
        "gcp-name", stack="small-gcp",
    ),
)  # fmt: skip


def _block(held: dict[str, Any]) -> dict[str, Any]:
    [found] = [to["ipBlock"] for rule in held["spec"]["egress"] for to in rule["to"] if "ipBlock" in to]
    return found


SILENT: Final = (
    Mistake(
        "system-in-capitals", "a selector for `Linux`, where the label says `linux`",
        edit(f"{K8S}apps/v1:DaemonSet", "team-logs",
             put("spec.template.spec.nodeSelector", {"kubernetes.io/os": "Linux"})),
        "placement-daemon-nowhere",
    ),
    Mistake(
        "no-such-port-name", "a monitor of a port that the pods do not name",
        edit(f"{K8S}monitoring.coreos.com/v1:PodMonitor", "monitoring-tracking",
             put("spec.podMetricsEndpoints[0].port", "http-metrics")),
        "reference-port",
    ),
    Mistake(
        "autoscaler-elsewhere", "the autoscaler looks in another region",
        edit(f"{K8S}helm.sh/v3:Release", "autoscaler-release", put("values.awsRegion", "us-west-2")),
        "placement-autoscaler",
    ),
    Mistake(
        "flavor-tolerates-other", "the flavor tolerates another value than the nodes' taint has",
        edit(f"{K8S}kueue.x-k8s.io/v1beta2:ResourceFlavor", "kueue-flavor-tune-spot",
             put("spec.tolerations[1].value", "preemptible")),
        "kueue-flavor-tolerations",
    ),
    Mistake(
        "artifacts-written-only", "the tracking server may write its artifacts and not read them",
        edit("gcp:storage/managedFolderIamMember:ManagedFolderIamMember", "mlflow-artifacts",
             put("role", "roles/storage.objectCreator")),
        "rights-pod-lacks", stack="demo-gcp",
    ),
    Mistake(
        "restricted-addresses", "the addresses of the restricted front, and the pods may only reach the private one's",
        edit("gcp:dns/recordSet:RecordSet", "google-apis-private",
             put("rrdatas", ["199.36.153.4", "199.36.153.5", "199.36.153.6", "199.36.153.7"])),
        "flows-object-store", stack="demo-gcp",
    ),
    Mistake(
        "no-driver", "no driver is put on the nodes, and nothing else does",
        edit("gcp:container/nodePool:NodePool", "gpu-nodes-train-on-demand",
             put("nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion",
                 "INSTALLATION_DISABLED")),
        "machine-gpu-driver", stack="demo-gcp",
    ),
    Mistake(
        "metric-of-other-room", "the metric counts lines of a namespace that is not",
        edit("gcp:logging/metric:Metric", "alert-metrics-alerts",
             lambda held: held.update(filter=held["filter"].replace('="monitoring"', '="observability"'))),
        "programs-filter", stack="demo-gcp",
    ),
    Mistake(
        "target-by-other-name", "the service sends to a port that the pods do not name",
        edit(f"{K8S}core/v1:Service", "egress-service", put("spec.ports[0].targetPort", "squid")),
        "reference-port", stack="eu-gcp",
    ),
    Mistake(
        "claims-more", "a claim larger than the volume that it names",
        edit(f"{K8S}core/v1:PersistentVolumeClaim", "volumes-imaging-data-claim",
             put("spec.resources.requests.storage", "2Ti")),
        "reference-claim", stack="eu-gcp",
    ),
    Mistake(
        "namespace-is-not", "the way to the tracking server leads to a namespace that is not",
        edit(f"{K8S}networking.k8s.io/v1:NetworkPolicy", "teams-imaging-allow-mlflow",
             put("spec.egress[0].to[0].namespaceSelector.matchLabels", {"kubernetes.io/metadata.name": "tracking"})),
        "flows-let-in", stack="eu-gcp",
    ),
    Mistake(
        "updates-for-patch", "the keeper of budgets may update, and it patches",
        edit(f"{K8S}rbac.authorization.k8s.io/v1:Role", "kueue-budgets-role-imaging",
             put("rules[0].verbs", ["get", "update"])),
        "rights-program-lacks", stack="eu-gcp",
    ),
    Mistake(
        "fabric-by-tcp", "the fabric's group lets TCP in alone",
        edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "gpu-nodes-efa-in",
             put("ipProtocol", "tcp"), put("fromPort", 0), put("toPort", 65535)),
        "paths-fabric-closed", stack="large-aws",
    ),
    Mistake(
        "lustre-port", "another port than Lustre's",
        edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
             "globex-production-lustre-ingress-cluster-988", put("fromPort", 998), put("toPort", 998)),
        "flows-lustre", stack="large-aws",
    ),
    Mistake(
        "grant-for-other-bucket", "the file system may use the key for another bucket than the one that it reads",
        edit("aws:kms/grant:Grant", "globex-production-lustre-data-key",
             put("constraints[0].encryptionContextSubset", {"aws:s3:arn": "arn:aws:s3:::globex-production-lustre"})),
        "rights-key", stack="large-aws",
    ),
    Mistake(
        "dns-tolerates-other", "the pods of DNS tolerate another value than the system nodes' taint has",
        coredns(lambda held: held["tolerations"][0].update(value="enabled")),
        "placement-no-node", stack="large-aws",
    ),
    Mistake(
        "flavor-of-other-slice", "the flavor is of a smaller slice than the pools'",
        edit(f"{K8S}kueue.x-k8s.io/v1beta2:ResourceFlavor", "kueue-flavor-v6e-on-demand",
             put("spec.nodeLabels", {
                 "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "2x4",
                 "ml.platform/capacity": "on-demand", "ml.platform/pool": "v6e"})),
        "kueue-flavor-labels", stack="large-gcp",
    ),
    Mistake(
        "webhook-port-closed", "the control plane no longer reaches the port of the queue's webhooks",
        edit("gcp:compute/firewall:Firewall", "network-webhooks",
             put("allows[0].ports", ["443", "8443", "10250", "10260"])),
        "flows-webhooks", stack="large-gcp",
    ),
    Mistake(
        "policy-of-other-container", "the runtime's failures are those of a container that its pods do not have",
        edit(f"{K8S}trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime", "runtimes-torch",
             put("spec.template.spec.replicatedJobs[0].template.spec.podFailurePolicy.rules[1]"
                 ".onExitCodes.containerName", "trainer")),
        "reference-container", stack="large-gcp",
    ),
    Mistake(
        "results-not-written", "jobs may tag their results and not write them",
        edit("aws:iam/rolePolicy:RolePolicy", "managed-jobs",
             in_json("policy", statement("WriteResults", Action=["s3:AbortMultipartUpload", "s3:PutObjectTagging"]))),
        "rights-role-lacks", stack="small-aws",
    ),
    Mistake(
        "status-in-capitals", "a rule on `FAILED`, where the event says `Failed`",
        edit("aws:cloudwatch/eventRule:EventRule", "managed-jobs-ended",
             in_json("eventPattern", lambda held: held["detail"].update(TrainingJobStatus=["FAILED", "STOPPED"]))),
        "programs-event", stack="small-aws",
    ),
    Mistake(
        "metric-elsewhere", "failures are counted in another namespace than the alarm looks in",
        edit("aws:cloudwatch/logMetricFilter:LogMetricFilter", "managed-jobs-failed",
             put("metricTransformation.namespace", "initech-research")),
        "programs-alarm", stack="small-aws",
    ),
    Mistake(
        "tokens-for-acting", "people may make tokens of the jobs' account and not run jobs as it",
        edit("gcp:serviceaccount/iAMMember:IAMMember", "managed-research@hooli.example",
             put("role", "roles/iam.serviceAccountTokenCreator")),
        "rights-people", stack="small-gcp",
    ),
    Mistake(
        "log-of-other-kind", "the alarm looks for logs of a kind of resource that jobs do not write",
        edit("gcp:monitoring/alertPolicy:AlertPolicy", "managed-jobs-failed",
             lambda held: held["conditions"][0]["conditionMatchedLog"].update(
                 filter='resource.type="aiplatform.googleapis.com/CustomJob" AND severity>=ERROR')),
        "programs-filter", stack="small-gcp",
    ),
    Mistake(
        "no-jobs-sent", "people may make pipelines and not the jobs that they send",
        edit("gcp:projects/iAMCustomRole:IAMCustomRole", "managed-people",
             every("permissions", "aiplatform.customJobs.create", "aiplatform.trainingPipelines.create")),
        "rights-people", stack="small-gcp",
    ),
    Mistake(
        "apex-alone", "the name itself is allowed, and none below it",
        edit("aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList", "dns-allowed",
             every("domains", "*.amazonaws.com", "amazonaws.com")),
        "paths-name-blocked", stack="uae-aws",
    ),
    Mistake(
        "endpoints-of-one-zone", "the endpoints admit the nodes of one zone",
        edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "network-endpoints-https",
             put("cidrIpv4", "10.0.0.0/19")),
        "paths-endpoint-closed", stack="uae-aws",
    ),
    Mistake(
        "artifacts-elsewhere", "the tracking app keeps its artifacts where its role may not write",
        edit("aws:sagemaker/mlflowApp:MlflowApp", "tracking",
             put("artifactStoreUri", "s3://dune-clinic-production-artifacts-1704872/tracking")),
        "rights-role-lacks", stack="uae-small",
    ),
    Mistake(
        "brake-without-hold", "the brake may put policies into roles, and it attaches one",
        edit("aws:iam/rolePolicy:RolePolicy", "managed-budget",
             in_json("policy", statement("AttachOverBudget", Action=["iam:PutRolePolicy", "iam:DeleteRolePolicy"]))),
        "rights-role-lacks", stack="uae-small",
    ),
)  # fmt: skip


SOUND: Final[dict[str, tuple[str, Change]]] = {
    "one expander, without the list of priorities": (
        "demo",
        edit(f"{K8S}helm.sh/v3:Release", "autoscaler-release",
             put("values.extraArgs.expander", "least-waste"), put("values.expanderPriorities", DROP)),
    ),
    "a pause before a pod ends, and pods spread over zones where that can be": (
        "demo",
        edit(f"{K8S}apps/v1:Deployment", "mlflow-deployment",
             put("spec.template.spec.containers[0].lifecycle", {"preStop": {"sleep": {"seconds": 5}}}),
             put("spec.template.spec.topologySpreadConstraints", [{
                 "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
                 "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}},
                 "matchLabelKeys": ["pod-template-hash"]}])),
    ),
    "the newest machines for work without GPUs, with the disks that they need": (
        "demo-gcp",
        edit("gcp:container/nodePool:NodePool", "cluster-cpu",
             put("nodeConfig.machineType", "c4-standard-8"), put("nodeConfig.diskType", "hyperdisk-balanced"),
             put("nodeLocations", ["us-central1-a", "us-central1-b", "us-central1-c"])),
    ),
    "a tenth of the flows, with the metadata that are read": (
        "demo-gcp",
        edit("gcp:compute/subnetwork:Subnetwork", "network-nodes",
             put("logConfig", {"aggregationInterval": "INTERVAL_15_MIN", "flowSampling": 0.1,
                               "metadata": "CUSTOM_METADATA", "metadataFields": ["src_vpc", "dest_vpc"]})),
    ),
    "the look at checkpoints on weekdays, by local time": (
        "eu-gcp",
        edit(f"{K8S}batch/v1:CronJob", "checkpoint-check-imaging-checkpoint-age",
             put("spec.schedule", "30 6 * * 1-5"), put("spec.timeZone", "Europe/Amsterdam")),
    ),
    "a larger file system with more metadata operations than come with it": (
        "large-aws",
        edit("aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre",
             put("storageCapacity", 21600), put("metadataConfiguration", {"mode": "USER_PROVISIONED", "iops": 24000})),
    ),
    "homes of two and a half TiB": (
        "large-gcp",
        edit("gcp:filestore/instance:Instance", "northwind-production-shared", put("fileShares.capacityGb", 2560)),
    ),
    "twice the scratch space": (
        "large-gcp",
        edit("gcp:lustre/instance:Instance", "northwind-production-lustre", put("capacityGib", "36000")),
    ),
    "large superseded log files into the archive at once": (
        "small-aws",
        edit("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
             "initech-research-trail-logs-lifecycle",
             lambda held: held["rules"].append({
                 "id": "archive", "status": "Enabled", "filter": {"and": {"prefix": "AWSLogs/",
                                                                         "objectSizeGreaterThan": 1048576}},
                 "transitions": [{"days": 0, "storageClass": "GLACIER_IR"}]})),
    ),
    "two of three points are enough for the alarm": (
        "small-aws",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-gpu-idle",
             put("evaluationPeriods", 12), put("datapointsToAlarm", 8)),
    ),
    "a role still in its beta stage, with one permission more": (
        "small-gcp",
        edit("gcp:projects/iAMCustomRole:IAMCustomRole", "managed-editors",
             put("stage", "BETA"), put("permissions[2]", "aiplatform.notebookRuntimeTemplates.list")),
    ),
    "the service chooses the class of the data": (
        "small-gcp",
        edit("gcp:storage/bucket:Bucket", "hooli-research-data",
             put("autoclass", {"enabled": True, "terminalStorageClass": "ARCHIVE"})),
    ),
    "a faster disk of the database": (
        "uae-aws",
        edit("aws:rds/instance:Instance", "falcon-health-production-mlflow",
             put("allocatedStorage", 400), put("iops", 12000), put("storageThroughput", 500),
             put("maxAllocatedStorage", 1000)),
    ),
    "a quarter of a node group at a time": (
        "uae-aws",
        edit("aws:eks/nodeGroup:NodeGroup", "cluster-cpu", put("updateConfig", {"maxUnavailablePercentage": 25})),
    ),
    "a refused name is answered with one of our own": (
        "uae-small",
        edit("aws:route53/resolverFirewallRule:ResolverFirewallRule", "dns-others",
             put("blockResponse", "OVERRIDE"), put("blockOverrideDnsType", "CNAME"),
             put("blockOverrideDomain", "refused.dune-clinic.internal"), put("blockOverrideTtl", 60)),
    ),
    "a key that is turned twice a year": (
        "uae-small",
        edit("aws:kms/key:Key", "data-key", put("rotationPeriodInDays", 180)),
    ),
}  # fmt: skip


def of_kind(kind: str, *, logged: bool = True) -> Callable[[dict[str, Any]], None]:
    """Another kind of resource in a filter: of a metric from logs, or of the first condition of an alert."""

    def into(inputs: dict[str, Any]) -> None:
        held = inputs if logged else inputs["conditions"][0]["conditionMatchedLog"]
        before, _, after = held["filter"].partition('resource.type="')
        held["filter"] = f'{before}resource.type="{kind}"{after.partition(chr(34))[2]}'

    return into


WIDER: Final = (
    Mistake(
        "kind-in-the-plural", "the metric counts lines of `k8s_containers`",
        edit(METRIC, "alert-metrics-watchdog", of_kind("k8s_containers")), "programs-filter", stack="eu-gcp",
    ),
    Mistake(
        "kind-of-the-inventory", "the exclusion is of what an inventory calls a service",
        edit("gcp:logging/projectExclusion:ProjectExclusion", "record-not-global",
             put("filter", 'resource.type="run.googleapis.com/Service"')),
        "programs-filter", stack="demo-gcp",
    ),
    Mistake(
        "jobs-of-the-inventory", "an alert on logs of a pipeline of training",
        edit(ALERT, "managed-jobs-failed", of_kind("aiplatform.googleapis.com/TrainingPipeline", logged=False)),
        "programs-filter", stack="small-gcp",
    ),
    Mistake(
        "successes-elsewhere", "what succeeds is counted where no alarm looks",
        edit(COUNTED, "managed-jobs-succeeded", put("metricTransformation.namespace", "Trainyard/dune-clinic")),
        "programs-alarm", stack="uae-small",
    ),
    Mistake(
        "metadata-of-older-version", "metadata operations of a file system whose version has none to choose",
        edit(LUSTRE, "globex-production-lustre", put("fileSystemTypeVersion", "2.12")),
        "fsx-version", stack="large-aws",
    ),
)  # fmt: skip
"""Others of the classes that were missed."""

BESIDE: Final[dict[str, tuple[str, str, Change]]] = {
    "entries of an endpoint": (
        "small-gcp", "programs-filter",
        edit(ALERT, "managed-jobs-failed", lambda held: held["conditions"][0]["conditionMatchedLog"].update(
            filter='resource.type="aiplatform.googleapis.com/Endpoint" AND severity>=ERROR')),
    ),
    "all but a kind that is not": (
        "demo-gcp", "programs-filter",
        edit("gcp:logging/projectExclusion:ProjectExclusion", "record-not-global",
             put("filter", 'NOT resource.type="run.googleapis.com/Service"')),
    ),
    "a kind that is nearly another": (
        "demo-gcp", "programs-filter",
        edit("gcp:logging/projectExclusion:ProjectExclusion", "record-not-global",
             put("filter", 'resource.type="gce_route" OR resource.type="k8s_scale"')),
    ),
    "failures are counted for people as well": (
        "small-aws", "programs-alarm",
        edit(COUNTED, "managed-jobs-failed", put("metricTransformation.name", "JobsThatFailed")),
    ),
    "another log has its own namespace": (
        "small-aws", "programs-alarm",
        edit(COUNTED, "managed-jobs-failed", put("metricTransformation.namespace", "Experiments"),
             put("logGroupName", "/experiments/jobs")),
    ),
    "two environments count each into its own": (
        "small-aws", "programs-alarm",
        both(
            edit(COUNTED, "managed-jobs-sent", put("metricTransformation.namespace", "Trainyard/initech-prod"),
                 put("metricTransformation.name", "Sent")),
            edit(COUNTED, "managed-jobs-began", put("metricTransformation.namespace", "Trainyard/initech-dev"),
                 put("metricTransformation.name", "Began")),
            edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-queue-waiting",
                 put("metricQueries[1].metric.namespace", "Trainyard/initech-prod"),
                 put("metricQueries[1].metric.metricName", "Sent"),
                 put("metricQueries[2].metric.namespace", "Trainyard/initech-dev"),
                 put("metricQueries[2].metric.metricName", "Began")),
        ),
    ),
    "a graph looks there": (
        "small-aws", "programs-alarm",
        both(
            edit(COUNTED, "managed-jobs-failed", put("metricTransformation.namespace", "Teams/initech-research")),
            edit("aws:cloudwatch/dashboard:Dashboard", "managed-jobs-dashboard",
                 in_json("dashboardBody", lambda held: held["widgets"][0]["properties"]["metrics"].append(
                     ["Teams/initech-research", "FailedJobs"]))),
        ),
    ),
}  # fmt: skip
"""What is right beside a rule: stack, rule, change."""


def without(action: str) -> Callable[[dict[str, Any]], None]:
    """A policy that no longer allows an action."""

    def into(document: dict[str, Any]) -> None:
        for one in document["Statement"]:
            one["Action"] = [each for each in one["Action"] if each != action]

    return into


RELEASE: Final = f"{K8S}helm.sh/v3:Release"
DEPLOYMENT: Final = f"{K8S}apps/v1:Deployment"
CRON: Final = f"{K8S}batch/v1:CronJob"
RIGHTS: Final = "aws:iam/rolePolicy:RolePolicy"
POOL: Final = "gcp:container/nodePool:NodePool"

SECOND: Final = (
    Mistake("session-too-long", "a session of fourteen hours",
            edit("aws:iam/role:Role", "mlflow-role", put("maxSessionDuration", 50400)), "aws-model"),
    Mistake("group-of-kubernetes", "whoever deploys is of `system:masters` by an access entry",
            edit("aws:eks/accessEntry:AccessEntry", "cluster-deployer", put("kubernetesGroups", ["system:masters"])),
            "eks-access-name", stack="uae-aws"),
    Mistake("reserved-label", "nodes with a label of Kubernetes' own",
            edit("aws:eks/nodeGroup:NodeGroup", "cluster-cpu", put("labels.node-role~kubernetes~io/worker", "true")),
            "eks-label-reserved", stack="large-aws"),
    Mistake("priority-too-high", "a priority above those that users may make",
            edit(f"{K8S}scheduling.k8s.io/v1:PriorityClass", "teams-cpu-only", put("value", 1_500_000_000)),
            "k8s-priority", stack="eu-gcp"),
    Mistake("nothing-may-change", "no node more and none less while nodes are replaced",
            edit(POOL, "cluster-system",
                 put("upgradeSettings", {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 0})),
            "gke-upgrade", stack="demo-gcp"),
    Mistake("hour-24", "at 24 o'clock",
            edit(CRON, "checkpoint-drill-job", put("spec.schedule", "0 24 * * 0")), "k8s-schedule",
            stack="large-gcp"),
    Mistake("eleven-years", "logs are kept for eleven years",
            edit("gcp:logging/projectBucketConfig:ProjectBucketConfig", "record-logs", put("retentionDays", 4015)),
            "gcp-log-bucket", stack="small-gcp"),
    Mistake("recreated-and-rolled", "Recreate beside the numbers of a rolling update",
            edit(DEPLOYMENT, "mlflow-deployment", put("spec.strategy.type", "Recreate")), "k8s-rollout",
            stack="large-aws"),
    Mistake("topic-in-order", "a topic in order whose name does not say so",
            edit("aws:sns/topic:Topic", "budget-alerts", put("fifoTopic", True)), "sns-fifo", stack="small-aws"),
    Mistake("five-days", "a key that goes after five days",
            edit("aws:kms/key:Key", "data-key", put("deletionWindowInDays", 5)), "kms-deletion-window",
            stack="uae-small"),
    Mistake("monitors-not-chosen", "the chart chooses pod monitors by its own label again",
            edit(RELEASE, "monitoring-release",
                 put("values.prometheus.prometheusSpec.podMonitorSelectorNilUsesHelmValues", True)),
            "reference-monitor-unread"),
    Mistake("service-on-443", "the service listens on 443, and everybody calls 5000",
            edit(f"{K8S}core/v1:Service", "mlflow-service", put("spec.ports[0].port", 443)), "reference-address"),
    Mistake("plain-probe", "a plain probe of a port that speaks TLS",
            edit(DEPLOYMENT, "mlflow-deployment",
                 put("spec.template.spec.containers[0].readinessProbe.httpGet.scheme", "HTTP")),
            "reference-probe-scheme"),
    Mistake("queue-of-others", "a team's queue leads to another team's",
            edit(f"{K8S}kueue.x-k8s.io/v1beta2:LocalQueue", "kueue-local-queue-vision-smoke",
                 put("spec.clusterQueue", "language")),
            "queues-namespace"),
    Mistake("member-of-other-namespace", "the grant is for a server in another namespace",
            edit("gcp:storage/managedFolderIamMember:ManagedFolderIamMember", "mlflow-artifacts",
                 lambda held: held.update(member=held["member"].replace("/ns/mlflow/", "/ns/tracking/"))),
            "rights-pod-lacks", stack="demo-gcp"),
    Mistake("certificates-wanted", "the database wants certificates of its clients",
            edit("gcp:sql/databaseInstance:DatabaseInstance", "acme-demo-gcp-mlflow",
                 put("settings.ipConfiguration.sslMode", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED")),
            "programs-database", stack="demo-gcp"),
    Mistake("five-seconds", "a job that may start within five seconds of its time",
            edit(CRON, "checkpoint-check-imaging-checkpoint-check", put("spec.startingDeadlineSeconds", 5)),
            "reference-schedule", stack="eu-gcp"),
    Mistake("out-by-the-gateway", "nodes without public addresses leave by the internet gateway",
            edit("aws:ec2/route:Route", "network-private-us-west-2c-out",
                 put("natGatewayId", DROP), put("gatewayId", "igw-fafc8c6b0519b66e7")),
            "paths-image-out-of-reach", stack="large-aws"),
    Mistake("homes-read-only", "the driver of the homes may mount and not write",
            edit(RIGHTS, "efs-mounts-role-policy", in_json("policy", without("elasticfilesystem:ClientWrite"))),
            "rights-volume", stack="large-aws"),
    Mistake("class-of-others", "queued pools are asked for by another class",
            edit(f"{K8S}kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig", "kueue-provisioning-train-flex-start",
                 put("spec.provisioningClassName", "best-effort-atomic-scale-up.autoscaling.x-k8s.io")),
            "queues-provisioning", stack="large-gcp"),
    Mistake("topic-for-other-rule", "the topic takes the events of another rule",
            edit("aws:sns/topicPolicy:TopicPolicy", "budget-alerts-policy", in_json("policy", statement(
                "Events", Condition={"ArnLike": {
                    "aws:SourceArn": ["arn:aws:events:us-east-1:123456789012:rule/jobs-ended-*"]}}))),
            "rights-delivery", stack="small-aws"),
    Mistake("nobody-told", "an alert without a channel",
            edit(ALERT, "record-alarms-keys", put("notificationChannels", [])), "programs-alert",
            stack="small-gcp"),
    Mistake("policies-off", "the add-on enforces no network policies",
            edit("aws:eks/addon:Addon", "cluster-vpc-cni",
                 in_json("configurationValues", lambda held: held.update(enableNetworkPolicy="false"))),
            "programs-policies-off", stack="uae-aws"),
    Mistake("flow-logs-unwritten", "flow logs may make streams and put nothing into them",
            edit(RIGHTS, "network-flow-logs", in_json("policy", without("logs:PutLogEvents"))),
            "rights-role-lacks", stack="uae-small"),
    Mistake("role-of-tracking", "people may pass the tracking app's role, and jobs run as another",
            edit(RIGHTS, "managed-people", in_json("policy", statement("GiveJobsTheirRole", Resource=[
                "arn:aws:iam::123456789012:role/managed-tracking-44fb5c8"]))),
            "managed-role-not-passed", stack="uae-small"),
    Mistake("other-dimensions", "an alarm asks for use of GPUs by the name of a job",
            edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-gpu-idle", put(
                "metricQueries[0].expression",
                'SELECT MAX(GPUUtilization) FROM SCHEMA("/aws/sagemaker/TrainingJobs", TrainingJobName) '
                "GROUP BY TrainingJobName ORDER BY MAX() ASC")),
            "programs-alarm", stack="small-aws"),
)  # fmt: skip

SOUND.update({
    "half must be there": (
        "demo", edit(f"{K8S}policy/v1:PodDisruptionBudget", "mlflow-disruption-budget",
                     put("spec.maxUnavailable", DROP), put("spec.minAvailable", "50%")),
    ),
    "blue and green nodes": (
        "demo-gcp",
        edit(POOL, "cluster-cpu", put("upgradeSettings", {"strategy": "BLUE_GREEN", "blueGreenSettings": {
            "nodePoolSoakDuration": "600s",
            "standardRolloutPolicy": {"batchNodeCount": 1, "batchSoakDuration": "60s"}}})),
    ),
    "@daily": ("eu-gcp", edit(CRON, "checkpoint-check-imaging-checkpoint-check", put("spec.schedule", "@daily"))),
    "a second group of a home": (
        "large-aws", edit("aws:efs/accessPoint:AccessPoint", "globex-production-shared-home-foundation",
                          put("posixUser.secondaryGids", [2000])),
    ),
    "told when it opens alone": (
        "large-gcp", edit(ALERT, "backups-database", put("alertStrategy", {
            "notificationPrompts": ["OPENED"], "autoClose": "3600s", "notificationRateLimit": {"period": "3600s"}})),
    ),
    "untagged images go": (
        "small-gcp", edit("gcp:artifactregistry/repository:Repository", "hooli-research-images", put(
            "cleanupPolicies", [{"id": "old", "action": "DELETE",
                                 "condition": {"tagState": "UNTAGGED", "olderThan": "2592000s"}}])),
    ),
    "any role of jobs may be passed": (
        "uae-small", edit(RIGHTS, "managed-people", in_json("policy", statement("GiveJobsTheirRole", Resource=[
            "arn:aws:iam::123456789012:role/managed-jobs-*"]))),
    ),
    "machines by their own name": (
        "small-aws", edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-gpu-idle", put(
            "metricQueries[0].expression",
            'SELECT MAX(GPUUtilization) FROM SCHEMA("/aws/sagemaker/TrainingJobs", Host) GROUP BY Host')),
    ),
    "DNS scales itself": (
        "uae-aws", coredns(lambda held: held.update(
            autoScaling={"enabled": True, "minReplicas": 2, "maxReplicas": 6})),
    ),
})  # fmt: skip
