"""Mistakes in three programs of others' that build training with the ordinary services: on AWS, on Google, within a
cluster of somebody else's. Each is put into `training_aws`, `training_google` or `training_plain` of
`tests/rehearsal/projects/foreign`.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, drop, edit, in_json, put

AWS, GOOGLE, PLAIN = "training_aws", "training_google", "training_plain"

JOB, DEPLOYMENT = "kubernetes:batch/v1:Job", "kubernetes:apps/v1:Deployment"
POLICY = "aws:iam/rolePolicy:RolePolicy"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
RUN_SERVICE, RUN_JOB = "gcp:cloudrunv2/service:Service", "gcp:cloudrunv2/job:Job"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
SCHEDULER = "gcp:cloudscheduler/job:Job"
DATABASE = "gcp:sql/databaseInstance:DatabaseInstance"
POOL = "gcp:container/nodePool:NodePool"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
CLUSTER_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta1:ClusterQueue"
JOB_SET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
PRETRAIN = "spec.template.spec"


def refer(type_: str, name: str, path: str, to_type: str, to_name: str, output: str = "id", last: str = "") -> Change:
    """Puts what another resource of the program is called by at a path, with `last` behind it."""

    def change(resources: Recorded) -> list[Any]:
        (other,) = (one for one in resources if (one.type, one.name) == (to_type, to_name))
        value = other.id if output == "id" else {**other.inputs, **other.outputs}[output]
        return edit(type_, name, put(path, f"{value}{last}" if last else value))(resources)

    return change


def without(*actions: str) -> Any:
    """Takes actions out of a policy's text."""

    def into(document: dict[str, Any]) -> None:
        for statement in document["Statement"]:
            given = statement["Action"]
            statement["Action"] = [one for one in ([given] if isinstance(given, str) else given) if one not in actions]
        document["Statement"] = [one for one in document["Statement"] if one["Action"]]

    return into


def text(path: str, old: str, new: str) -> Any:
    """Changes a word of a text at a key of the inputs."""

    def into(inputs: dict[str, Any]) -> None:
        assert old in inputs[path], inputs[path]
        inputs[path] = inputs[path].replace(old, new)

    return into


def _train(change: Any) -> Any:
    return in_json("nodeProperties", change)


def _no_disks(document: dict[str, Any]) -> None:
    document["Statement"] = [one for one in document["Statement"] if not one["Sid"].startswith("Disk")]


REFUSED_AWS = (
    ("provisioned-files", "an EFS of provisioned throughput that says none",
     edit("aws:efs/fileSystem:FileSystem", "home", put("throughputMode", "provisioned")),
     "CreateFileSystem: ProvisionedThroughputInMibps is required if ThroughputMode is provisioned"),
    ("lustre-size", "3000 GiB of Lustre",
     edit("aws:fsx/lustreFileSystem:LustreFileSystem", "scratch", put("storageCapacity", 3000)),
     "PERSISTENT_2 SSD: 1200 GiB or a multiple of 2400"),
    ("archived-soon", "archived five days after it became infrequent",
     edit("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "datasets",
          put("rules[1].transitions[1].days", 50)),
     "S3: 30 days between STANDARD_IA and GLACIER"),
    ("balancer-in-one-zone", "an ALB in one subnet",
     edit("aws:lb/loadBalancer:LoadBalancer", "mlflow", lambda i: i["subnets"].pop()),
     "at least two subnets in two zones"),
    ("both-days", "a day of the month and one of the week",
     edit("aws:scheduler/schedule:Schedule", "weekly", put("scheduleExpression", "cron(0 3 * * SUN *)")),
     "one of the two has to be ?"),
    ("next-to-nothing", "a state that leads to one that is not there",
     edit("aws:sfn/stateMachine:StateMachine", "train",
          in_json("definition", put("States.Train.Next", "Notify"))),
     "CreateStateMachine: MISSING_TRANSITION_TARGET"),
    ("profile-in-template", "an instance profile in the template of a managed node group",
     refer("aws:ec2/launchTemplate:LaunchTemplate", "gpus", "iamInstanceProfile.arn",
           "aws:iam/instanceProfile:InstanceProfile", "batch", "arn"),
     "EKS: launch template should not specify an instance profile"),
    ("disk-of-another-zone", "a machine in one zone, its disk in another",
     refer("aws:ec2/instance:Instance", "bench", "subnetId", "aws:ec2/subnet:Subnet", "inside-1"),
     "AttachVolume: the volume is not in the instance's zone"),
    ("clock-of-events", "a role that EventBridge takes, for its scheduler",
     edit("aws:iam/role:Role", "clock", text("assumeRolePolicy", "scheduler.amazonaws.com", "events.amazonaws.com")),
     "CreateSchedule: the execution role must allow EventBridge Scheduler to assume it"),
)  # fmt: skip

SILENT_AWS = (
    ("server-port", "MLflow's group lets the balancer in on 8080, the targets listen on 5000",
     edit(GROUP, "server", put("ingress[0].fromPort", 8080), put("ingress[0].toPort", 8080)),
     "no target ever becomes healthy"),
    ("outside-the-zone", "a record called by a name that is not of its zone",
     edit("aws:route53/record:Record", "mlflow", put("name", "mlflow.nordlab.example")),
     "the provider puts the zone's name behind it: mlflow.nordlab.example.train.nordlab.example"),
    ("another-namespace", "a role trusted for a service account of another namespace",
     edit("aws:iam/role:Role", "reader",
          text("assumeRolePolicy", "serviceaccount:research:trainer", "serviceaccount:default:trainer")),
     "AssumeRoleWithWebIdentity is denied to the pods"),
    ("status-change", "events by a name that Batch does not send",
     edit("aws:cloudwatch/eventRule:EventRule", "failed",
          in_json("eventPattern", put("detail-type", ["Batch Job Status Change"]))),
     "it is Batch Job State Change"),
    ("unheard-events", "a topic that EventBridge may not write to",
     edit("aws:sns/topicPolicy:TopicPolicy", "news",
          in_json("policy", put("Statement[0].Principal", {"Service": "cloudwatch.amazonaws.com"}))),
     "the target's events are dropped"),
    ("another-database", "an alarm over a database of another name",
     edit(ALARM, "database-space", put("dimensions.DBInstanceIdentifier", "mlflow")),
     "no data ever comes"),
    ("too-many-cores", "a Batch node that asks for more vCPUs than the machine has",
     edit("aws:batch/jobDefinition:JobDefinition", "train",
          _train(put("nodeRangeProperties[0].container.resourceRequirements[1].value", "200"))),
     "g5.48xlarge has 192: the job stays RUNNABLE"),
    ("deaf-gang", "the nodes of a job do not reach one another",
     edit(GROUP, "gang", put("ingress", [{"protocol": "tcp", "fromPort": 22, "toPort": 22,
                                           "cidrBlocks": ["10.60.0.0/16"]}])),
     "torchrun's rendezvous times out"),
    ("may-not-submit", "a state machine whose role may not submit the job",
     edit(POLICY, "machine", in_json("policy", without("batch:SubmitJob"))),
     "AccessDeniedException at the first state"),
    ("nfs-port", "the mount targets' group opens 2409",
     edit(GROUP, "nfs", put("ingress[0].fromPort", 2409), put("ingress[0].toPort", 2409)),
     "NFS is 2049: every mount hangs"),
    ("disks-without-key", "a key of disks that autoscaling may not use",
     edit("aws:kms/key:Key", "lab", in_json("policy", _no_disks)),
     "Client.InternalError: nodes end as they start"),
    ("artifacts-without-key", "a server that may write to the bucket and not use its key",
     edit(POLICY, "mlflow", in_json("policy", without("kms:Decrypt", "kms:GenerateDataKey"))),
     "AccessDenied at every object"),
    ("plugin-away", "a device plugin that does not tolerate the GPU nodes",
     edit("kubernetes:helm.sh/v3:Release", "nvidia",
          put("values.tolerations", [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}])),
     "no node offers nvidia.com/gpu"),
)  # fmt: skip

REFUSED_GOOGLE = (
    ("l4-in-a2", "an A2 machine with an L4",
     edit(POOL, "gpus", put("nodeConfig.machineType", "a2-highgpu-4g")),
     "A2 has A100s of its own"),
    ("tier-of-memory", "a tier of 16 GB for two cores",
     edit(DATABASE, "mlflow", put("settings.tier", "db-custom-2-16384")),
     "0.9 to 6.5 GB a vCPU"),
    ("filestore-small", "a terabyte of BASIC_SSD",
     edit("gcp:filestore/instance:Instance", "home", put("fileShares.capacityGb", 1024)),
     "BASIC_SSD begins at 2.5 TiB"),
    ("acknowledged-late", "an ack deadline of a quarter of an hour",
     edit(SUBSCRIPTION, "finished", put("ackDeadlineSeconds", 900)),
     "10 to 600 seconds"),
    ("gpu-migrates", "a machine with a GPU that is to migrate",
     edit("gcp:compute/instance:Instance", "bench", put("scheduling.onHostMaintenance", "MIGRATE")),
     "instances with guest accelerators do not support live migration"),
    ("cores-without-memory", "four cores with a gigabyte",
     edit(RUN_JOB, "evaluate", put("template.template.containers[0].resources.limits.memory", "1Gi")),
     "Cloud Run: four CPUs need 2 GiB at least"),
    ("partitioned-by-nothing", "a table partitioned by a column that it does not have",
     edit("gcp:bigquery/table:Table", "runs", put("timePartitioning.field", "ended")),
     "the field specified for partitioning cannot be found in the schema"),
)  # fmt: skip

SILENT_GOOGLE = (
    ("identity-token", "an identity token for an API of Google's",
     edit(SCHEDULER, "nightly",
          lambda i: i["httpTarget"].update(oidcToken=i["httpTarget"].pop("oauthToken"))),
     "*.googleapis.com takes access tokens: 401"),
    ("identity-elsewhere", "an account bound to a service account of another namespace",
     edit("gcp:serviceaccount/iAMMember:IAMMember", "trainer",
          put("member", "serviceAccount:nordlab-train.svc.id.goog[default/trainer]")),
     "403 from the metadata server"),
    ("dead-letters", "dead letters that Pub/Sub may not publish",
     drop("gcp:pubsub/topicIAMMember:TopicIAMMember", "dead"),
     "messages are redelivered for ever"),
    ("archive-closed", "a sink whose writer may not write",
     drop("gcp:storage/bucketIAMMember:BucketIAMMember", "archive"),
     "the sink is disabled with an error"),
    ("health-unreached", "a firewall of health checks for another tag",
     edit("gcp:compute/firewall:Firewall", "health", put("targetTags", ["workers"])),
     "the group heals its machines for ever"),
    ("probe-elsewhere", "a startup probe of another port",
     edit(RUN_SERVICE, "mlflow", put("template.containers[0].startupProbe.httpGet.port", 8080)),
     "it cannot be known: a container may listen on a second port for its probes"),
    ("secret-closed", "a service that may not read its secret",
     drop("gcp:secretmanager/secretIamMember:SecretIamMember", "mlflow"),
     "permission denied on the secret for the revision's account"),
    ("clock-looks", "a scheduler that may look at the job only",
     edit("gcp:cloudrunv2/jobIamMember:JobIamMember", "clock", put("role", "roles/run.viewer")),
     "403 at every run"),
    ("spot-untolerated", "a trainer that does not tolerate its pool",
     edit(DEPLOYMENT, "trainer", lambda i: i["spec"]["template"]["spec"]["tolerations"].pop(0)),
     "Pending for ever"),
    ("no-sidecar", "a bucket in a pod without the annotation",
     edit(DEPLOYMENT, "trainer", put("spec.template.metadata.annotations", {})),
     "no sidecar is injected: the mount fails"),
    ("no-iam-login", "an account as a user of a database that takes no IAM logins",
     edit(DATABASE, "mlflow", put("settings.databaseFlags[1].value", "off")),
     "the login is refused"),
    ("scaled-by-nothing", "an autoscaler over a subscription that is not there",
     edit("gcp:compute/regionAutoscaler:RegionAutoscaler", "workers",
          put("autoscalingPolicy.metrics[0].filter",
              'resource.type = pubsub_subscription AND resource.label.subscription_id = "training-finished"')),
     "no machine ever starts"),
)  # fmt: skip

REFUSED_PLAIN = (
    ("hour-25", "an hour that no day has",
     edit("kubernetes:batch/v1:CronJob", "backup", put("spec.schedule", "15 25 * * *")),
     "end of range (25) above maximum (23)"),
    ("account-of-a-group", "a service account as a subject with an API group",
     edit("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", "trainer",
          put("subjects[0].apiGroup", "rbac.authorization.k8s.io")),
     'subjects[0].apiGroup: supported values: ""'),
    ("least-and-most", "both of what one budget has one of",
     edit("kubernetes:policy/v1:PodDisruptionBudget", "mlflow", put("spec.maxUnavailable", 1)),
     "minAvailable and maxUnavailable cannot be both set"),
    ("flavor-short", "a flavor without one of the covered resources",
     edit(CLUSTER_QUEUE, "cluster-queue", lambda i: i["spec"]["resourceGroups"][0]["flavors"][1]["resources"].pop(1)),
     "a flavor's resources are the covered ones, in order"),
    ("local-anywhere", "a local volume without a node",
     edit("kubernetes:core/v1:PersistentVolume", "fast-1", put("spec.nodeAffinity", DROP)),
     "local volume requires node affinity"),
    ("success-of-nobody", "a success policy of a job that the set does not have",
     edit(JOB_SET, "finetune", put("spec.successPolicy.targetReplicatedJobs", ["worker"])),
     "JobSet's webhook: invalid replicatedJob name in success policy"),
)  # fmt: skip

SILENT_PLAIN = (
    ("database-closed", "a policy that admits a server of another label",
     edit(NETWORK_POLICY, "database",
          put("spec.ingress[0].from[0].podSelector.matchLabels", {"app": "mlflow-server"})),
     "MLflow does not reach its database"),
    ("share-of-nothing", "an autoscaler by the share of a request that is not made",
     edit(DEPLOYMENT, "mlflow", put("spec.template.spec.containers[0].resources.requests", {"memory": "1Gi"})),
     "FailedGetResourceMetric: missing request for cpu"),
    ("rendezvous-nowhere", "a rendezvous at a host that the set does not have",
     edit(JOB_SET, "finetune",
          put("spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[3]",
              "--rdzv-endpoint=finetune-worker-0-0.finetune:29500")),
     "the host is finetune-workers-0-0"),
    ("claim-of-nothing", "a claim by a label that no volume has",
     edit("kubernetes:core/v1:PersistentVolumeClaim", "datasets", put("spec.selector.matchLabels.usage", "data")),
     "unbound for ever: its class has no provisioner"),
    ("queue-of-others", "a queue of namespaces of another label",
     edit(CLUSTER_QUEUE, "cluster-queue", put("spec.namespaceSelector.matchLabels.team", "train")),
     "workloads stay inadmissible: namespace doesn't match ClusterQueue selector"),
    ("unscraped", "a monitor by a port that the pods do not have",
     edit("kubernetes:monitoring.coreos.com/v1:PodMonitor", "monitor",
          put("spec.podMetricsEndpoints[0].port", "metric")),
     "no target"),
    ("too-large-a-gang", "twice the nodes that the queue can give",
     edit(JOB, "pretrain", put("spec.parallelism", 8), put("spec.completions", 8)),
     "64 GPUs, where a flavor has 32 and nobody to borrow from: never admitted"),
)  # fmt: skip


RULES = {
    "provisioned-files": "efs-throughput",
    "lustre-size": "fsx-capacity",
    "archived-soon": "s3-lifecycle-transition",
    "balancer-in-one-zone": "lb-zones",
    "both-days": "aws-schedule",
    "next-to-nothing": "states-definition",
    "profile-in-template": "launch-template-conflict",
    "disk-of-another-zone": "aws-zone",
    "clock-of-events": "rights-role-untrusted",
    "l4-in-a2": "gke-accelerator",
    "tier-of-memory": "gcp-sql-tier",
    "filestore-small": "gcp-filestore",
    "acknowledged-late": "gcp-pubsub",
    "gpu-migrates": "gcp-gpu-maintenance",
    "cores-without-memory": "gcp-run",
    "partitioned-by-nothing": "gcp-table",
    "hour-25": "k8s-schedule",
    "account-of-a-group": "k8s-subject",
    "least-and-most": "k8s-disruption-budget",
    "flavor-short": "kueue-covered",
    "local-anywhere": "k8s-volume",
    "success-of-nobody": "reference-replicated-job",
    "server-port": "paths-call-closed",
    "outside-the-zone": "route53-record",
    "another-namespace": "rights-binding-untrusted",
    "status-change": "programs-pattern",
    "unheard-events": "rights-delivery",
    "another-database": "programs-alarm",
    "too-many-cores": "programs-batch-room",
    "deaf-gang": "paths-gang-closed",
    "may-not-submit": "rights-role-lacks",
    "nfs-port": "paths-store-closed",
    "disks-without-key": "rights-key",
    "artifacts-without-key": "rights-key",
    "plugin-away": "placement-device-plugin",
    "identity-token": "programs-token",
    "identity-elsewhere": "rights-binding-untrusted",
    "dead-letters": "rights-delivery",
    "archive-closed": "rights-delivery",
    "health-unreached": "path-balancer",
    "secret-closed": "rights-run",
    "clock-looks": "rights-delivery",
    "spot-untolerated": "placement-no-node",
    "no-sidecar": "programs-bucket-mount",
    "no-iam-login": "programs-database",
    "scaled-by-nothing": "programs-filter",
    "database-closed": "flows-services",
    "share-of-nothing": "reference-scaled-without-request",
    "rendezvous-nowhere": "programs-host",
    "claim-of-nothing": "reference-claim",
    "queue-of-others": "queues-namespace",
    "unscraped": "reference-port",
    "too-large-a-gang": "queues-never-admitted",
}
"""What tells each."""


def _mistakes(found: Any, stack: str) -> list[Mistake]:
    return [Mistake(name, what, change, RULES.get(name), why, stack) for name, what, change, why in found]


REFUSED = [*_mistakes(REFUSED_AWS, AWS), *_mistakes(REFUSED_GOOGLE, GOOGLE), *_mistakes(REFUSED_PLAIN, PLAIN)]
SILENT = [*_mistakes(SILENT_AWS, AWS), *_mistakes(SILENT_GOOGLE, GOOGLE), *_mistakes(SILENT_PLAIN, PLAIN)]

HEALTHY = {
    "a name for the balancer's name": (AWS, edit(
        "aws:route53/record:Record", "mlflow", put("aliases", DROP), put("type", "CNAME"), put("ttl", 300),
        put("records", ["nordlab-mlflow-123.eu-west-1.elb.amazonaws.com"]))),
    "spot GPUs of three sizes": (AWS, edit(
        "aws:eks/nodeGroup:NodeGroup", "gpus", put("capacityType", "SPOT"),
        put("instanceTypes", ["g5.12xlarge", "g5.24xlarge", "g4dn.12xlarge"]))),
    "a main node of its own": (AWS, edit(
        "aws:batch/jobDefinition:JobDefinition", "train", _train(lambda d: (
            d["nodeRangeProperties"].append({**d["nodeRangeProperties"][0], "targetNodes": "1:1"}),
            d["nodeRangeProperties"][0].update(targetNodes="0:0"))))),
    "provisioned throughput": (AWS, edit(
        "aws:efs/fileSystem:FileSystem", "home", put("throughputMode", "provisioned"),
        put("provisionedThroughputInMibps", 128))),
    "a scheduler that publishes": (GOOGLE, edit(
        SCHEDULER, "nightly", put("httpTarget", DROP),
        put("pubsubTarget", {"topicName": "projects/nordlab-train/topics/training-finished", "data": "e30="}))),
    "a firewall by account": (GOOGLE, edit(
        "gcp:compute/firewall:Firewall", "health", put("targetTags", DROP),
        put("targetServiceAccounts", ["lab-worker@nordlab-train.iam.gserviceaccount.com"]))),
    "exactly once, of one kind": (GOOGLE, edit(
        SUBSCRIPTION, "finished", put("enableExactlyOnceDelivery", True),
        put("filter", 'attributes.kind = "finetune"'))),
    "a policy by a port's name": (PLAIN, edit(
        NETWORK_POLICY, "database", put("spec.ingress[0].ports[0].port", "sql"))),
    "failures of nodes that do not count": (PLAIN, edit(
        JOB, "pretrain", put("spec.podFailurePolicy", {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}))),
    "a backup by a word": (PLAIN, edit(
        "kubernetes:batch/v1:CronJob", "backup", put("spec.schedule", "@daily"))),
}  # fmt: skip
