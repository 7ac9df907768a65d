"""A third set of mistakes in programs of others: a speech team's platform on AWS, a vision team's on Google Cloud."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, drop, edit, in_json, put

AWS, GOOGLE = "speech_aws", "vision_google"
GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
LUSTRE, DATABASE = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:rds/instance:Instance"
FUNCTION, QUEUE = "aws:lambda/function:Function", "aws:sqs/queue:Queue"
SECURITY = "aws:ec2/securityGroup:SecurityGroup"
JOB, DEPLOYMENT = "kubernetes:batch/v1:Job", "kubernetes:apps/v1:Deployment"
POOL, BUCKET = "gcp:container/nodePool:NodePool", "gcp:storage/bucket:Bucket"
RUN, SQL = "gcp:cloudrunv2/service:Service", "gcp:sql/databaseInstance:DatabaseInstance"
SUBSCRIPTION, ALERT = "gcp:pubsub/subscription:Subscription", "gcp:monitoring/alertPolicy:AlertPolicy"
POD, BODY = "spec.template.spec", "spec.template.spec.containers[0]"


def swapped(document: dict[str, Any]) -> None:
    """The rules of a lifecycle in the other order."""
    first, second = document["rules"]
    first["rulePriority"], second["rulePriority"] = 2, 1


def without(sid: str) -> Any:
    """A policy without a statement."""

    def into(document: dict[str, Any]) -> None:
        kept = [one for one in document["Statement"] if one.get("Sid") != sid]
        assert len(kept) + 1 == len(document["Statement"])
        document["Statement"] = kept

    return in_json("policy", into)


def keyless(document: dict[str, Any]) -> None:
    """A policy without what it lets do with keys."""
    document["Statement"] = [one for one in document["Statement"] if "kms:" not in json.dumps(one["Action"])]


def elsewhere(document: dict[str, Any]) -> None:
    """A trust policy of the account of another namespace."""
    condition = document["Statement"][0]["Condition"]["StringEquals"]
    (subject,) = (key for key in condition if key.endswith(":sub"))
    condition[subject] = "system:serviceaccount:training:trainer"


def both_of(path: str, value: Any) -> Any:
    """Puts a value into the inputs of the first and the second of a list of two."""

    def into(inputs: dict[str, Any]) -> None:
        for one in inputs["ingress"]:
            one[path] = value
            one.pop("securityGroups", None)
            one.pop("self", None)

    return into


def of(name: str, what: str, change: Change, rule: str | None = None, why: str = "", stack: str = AWS) -> Mistake:
    """A mistake of the set."""
    return Mistake(name, what, change, rule, why, stack)


REFUSED = (
    of("subnet-overlap", "a new block for the second private subnet lies within the first",
       edit("aws:ec2/subnet:Subnet", "private-b", put("cidrBlock", "10.40.96.0/20")), "subnet-overlap"),
    of("desired-over-max", "the GPU nodes were doubled without the most of them",
       edit(GROUP, "gpu", put("scalingConfig.desiredSize", 6)), "eks-sizes"),
    of("type-twice", "the launch template names an instance type and so does the node group",
       edit(TEMPLATE, "gpu", put("instanceType", "g5.12xlarge")), "launch-template-conflict"),
    of("lustre-capacity", "the file system grew by a step that it does not have",
       edit(LUSTRE, "corpus", put("storageCapacity", 3600)), "fsx-capacity"),
    of("windows-overlap", "backups were moved into the hour of maintenance",
       edit(DATABASE, "labels", put("backupWindow", "03:30-04:30")), "rds-window-overlap"),
    of("small-iops", "IOPS of gp3 for a volume of PostgreSQL under 400 GiB",
       edit(DATABASE, "labels", put("iops", 6000)), "rds-storage"),
    of("visibility", "the function may run for longer than a message stays hidden",
       edit(FUNCTION, "slicer", put("timeout", 600)), "lambda-visibility"),
    of("large-batch", "a hundred messages a call, with no window to gather them in",
       edit("aws:lambda/eventSourceMapping:EventSourceMapping", "slicer", put("batchSize", 100)), "lambda-mapping"),
    of("any-first", "the rule of all images comes before that of the untagged",
       edit("aws:ecr/lifecyclePolicy:LifecyclePolicy", "asr", in_json("policy", swapped)), "ecr-lifecycle"),
    of("health-timeout", "a health check may take as long as the time between two",
       edit("aws:lb/targetGroup:TargetGroup", "front", put("healthCheck.timeout", 15)), "lb-health-check"),
    of("no-such-policy", "the managed policy of the EBS driver without its path",
       edit("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "ebs",
            put("policyArn", "arn:aws:iam::aws:policy/AmazonEBSCSIDriverPolicy")), "iam-managed-policy"),
    of("locked-out", "the key's policy forgot the account", edit("aws:kms/key:Key", "speech", without("account")),
       "rights-key-lock-out"),
    of("recreate-rolling", "a rolling update's numbers beside Recreate",
       edit(DEPLOYMENT, "asr", put("spec.strategy.rollingUpdate", {"maxSurge": 0, "maxUnavailable": 1})),
       "k8s-rollout"),
    of("no-completions", "an indexed job without its number", edit(JOB, "train", put("spec.completions", DROP)),
       "k8s-job"),
    of("expires-first", "runs expire before they move to the second class",
       edit("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "corpus",
            put("rules[0].expiration.days", 90)), "s3-lifecycle-order"),
    of("no-such-range", "the cluster names a range of pods that the subnetwork does not have",
       edit("gcp:container/cluster:Cluster", "vision",
            put("ipAllocationPolicy.clusterSecondaryRangeName", "vision-pods")), "gke-ranges", stack=GOOGLE),
    of("ranges-overlap", "a larger range of pods holds the nodes' own",
       edit("gcp:compute/subnetwork:Subnetwork", "vision", put("secondaryIpRanges[0].ipCidrRange", "10.20.0.0/14")),
       "gcp-range-overlap", stack=GOOGLE),
    of("half-the-gpus", "two L4 on a machine that comes with four",
       edit(POOL, "l4", put("nodeConfig.guestAccelerators[0].count", 2)), "gke-accelerator", stack=GOOGLE),
    of("g2-standard-disk", "a pd-standard boot disk on a G2 machine",
       edit(POOL, "l4", put("nodeConfig.diskType", "pd-standard")), "gke-disk", stack=GOOGLE),
    of("sql-memory", "more memory than four CPUs of Cloud SQL may have",
       edit(SQL, "labels", put("settings.tier", "db-custom-4-32768")), "gcp-sql-tier", stack=GOOGLE),
    of("ack-deadline", "fifteen minutes to acknowledge", edit(SUBSCRIPTION, "uploads", put("ackDeadlineSeconds", 900)),
       "gcp-pubsub", stack=GOOGLE),
    of("run-cpu", "eight CPUs with memory for two",
       edit(RUN, "api", put("template.containers[0].resources.limits.cpu", "8")), "gcp-run", stack=GOOGLE),
    of("soft-delete", "deleted pictures are kept for a day",
       edit(BUCKET, "pictures", put("softDeletePolicy.retentionDurationSeconds", 86400)),
       "gcs-soft-delete", stack=GOOGLE),
    of("rate-of-gauge", "an alert takes the rate of a gauge",
       edit(ALERT, "dead", put("conditions[0].conditionThreshold.aggregations[0].perSeriesAligner", "ALIGN_RATE")),
       "programs-aligner", stack=GOOGLE),
)  # fmt: skip


def nat_inside(resources: Any) -> Any:
    """The NAT gateway in a private subnet."""
    (subnet,) = (one for one in resources if (one.type, one.name) == ("aws:ec2/subnet:Subnet", "private-a"))
    return edit("aws:ec2/natGateway:NatGateway", "nat", put("subnetId", subnet.id))(resources)


def by_url(resources: Any) -> Any:
    """An alarm on a queue by its URL."""
    (queue,) = (one for one in resources if (one.type, one.name) == (QUEUE, "recordings-dead"))
    url = f"https://sqs.eu-west-1.amazonaws.com/111122223333/{queue.inputs['name']}"
    return edit("aws:cloudwatch/metricAlarm:MetricAlarm", "dead", put("dimensions.QueueName", url))(resources)


SILENT = (
    of("nat-inside", "the NAT gateway moved to a private subnet", nat_inside, "paths-nat-no-way-out"),
    of("other-namespace", "the trainer's role trusts a service account of a namespace that nobody has",
       edit("aws:iam/role:Role", "trainer", in_json("assumeRolePolicy", elsewhere)), "rights-binding-untrusted"),
    of("no-key", "the trainer may write to the bucket and not use its key",
       edit("aws:iam/rolePolicy:RolePolicy", "trainer", in_json("policy", keyless)), "rights-key"),
    of("lustre-closed", "Lustre admits the public subnets, where no node is",
       edit(SECURITY, "lustre", both_of("cidrBlocks", ["10.40.0.0/24", "10.40.1.0/24"])), "flows-lustre"),
    of("mount-name", "the volume mounts a file system of the second generation by the name of the first",
       edit("kubernetes:core/v1:PersistentVolume", "corpus", put("spec.csi.volumeAttributes.mountname", "fsx")),
       "reference-file-system"),
    of("database-port", "the database's group admits MySQL's port",
       edit(SECURITY, "database", put("ingress[0].fromPort", 3306), put("ingress[0].toPort", 3306)), "flows-database"),
    of("other-variable", "the function reads a variable that was renamed",
       edit(FUNCTION, "slicer", put("environment.variables", {"BUCKET": "halden-speech-corpus"})), "programs-handler"),
    of("alarm-by-url", "an alarm watches a queue by its URL", by_url, "programs-alarm"),
    of("plugin-nowhere", "the device plugin selects a label that no node has",
       edit("kubernetes:helm.sh/v3:Release", "device-plugin", put("values.nodeSelector", {"speech/pool": "gpus"})),
       "placement-device-plugin"),
    of("whole-machine", "a training pod asks for all the CPUs that a machine has",
       edit(JOB, "train", put(f"{BODY}.resources.requests.cpu", "48")), "placement-no-node"),
    of("no-subdomain", "pods meet by a name of the headless service and are not of it",
       edit(JOB, "train", put(f"{POD}.subdomain", DROP)), "reference-subdomain"),
    of("policy-port", "a network policy admits the service's port, not the pod's",
       edit("kubernetes:networking.k8s.io/v1:NetworkPolicy", "asr", put("spec.ingress[0].ports[0].port", 80)),
       "reference-policy-port"),
    of("node-port", "the service moved to another node port than the load balancer's",
       edit("kubernetes:core/v1:Service", "asr", put("spec.ports[0].nodePort", 30090)), "reference-node-port"),
    of("topic-key", "alarms publish to a topic under a key of AWS' own",
       edit("aws:sns/topic:Topic", "oncall", put("kmsMasterKeyId", "alias/aws/sns")), "rights-delivery-key"),
    of("other-taint", "the pool's taint has another value than jobs tolerate",
       edit(POOL, "l4", put("nodeConfig.taints[0].value", "nvidia")), "placement-no-node", stack=GOOGLE),
    of("not-spot", "the pool is no longer spot and the job asks for spot nodes",
       edit(POOL, "l4", put("nodeConfig.spot", False)), "placement-no-node", stack=GOOGLE),
    of("identity-namespace", "the trainer's account is bound to the default namespace",
       edit("gcp:serviceaccount/iAMMember:IAMMember", "trainer",
            put("member", "serviceAccount:halden-vision.svc.id.goog[default/trainer]")),
       "rights-binding-untrusted", stack=GOOGLE),
    of("not-invoker", "who pushes may look at the service and not call it",
       edit("gcp:cloudrunv2/serviceIamMember:ServiceIamMember", "pusher", put("role", "roles/run.viewer")),
       "rights-delivery", stack=GOOGLE),
    of("dead-unpublished", "nobody lets Pub/Sub publish what was given up",
       drop("gcp:pubsub/topicIAMMember:TopicIAMMember", "dead"), "rights-delivery", stack=GOOGLE),
    of("alert-on-nothing", "the alert watches a subscription under another name",
       edit(ALERT, "dead", put("conditions[0].conditionThreshold.filter",
            'resource.type = "pubsub_subscription" AND '
            'metric.type = "pubsub.googleapis.com/subscription/num_undelivered_messages" AND '
            'resource.labels.subscription_id = "vision-uploads-dead-letter"')), "programs-filter", stack=GOOGLE),
    of("run-outside", "the service has no way into the network of its private database",
       edit(RUN, "api", put("template.vpcAccess", DROP)), "run-network", stack=GOOGLE),
    of("sql-viewer", "the service may see the database and not connect",
       edit("gcp:projects/iAMMember:IAMMember", "api-sql", put("role", "roles/cloudsql.viewer")),
       "rights-run", stack=GOOGLE),
    of("no-fuse", "the pod mounts a bucket and does not ask for the sidecar",
       edit(JOB, "detector", put("spec.template.metadata.annotations", DROP)), "programs-bucket-mount", stack=GOOGLE),
    of("no-filestore", "a claim of a class of Filestore, whose driver is off",
       edit("kubernetes:core/v1:PersistentVolumeClaim", "scratch", put("spec.storageClassName", "premium-rwx"),
            put("spec.accessModes", ["ReadWriteMany"])), "reference-driver", stack=GOOGLE),
)  # fmt: skip

HEALTHY: dict[str, tuple[str, Change]] = {
    "two types, spot": (
        AWS, edit(GROUP, "gpu", put("capacityType", "SPOT"), put("instanceTypes", ["g5.12xlarge", "g5.24xlarge"]))),
    "a database that admits blocks of nodes": (
        AWS, edit(SECURITY, "database", put("ingress[0].cidrBlocks", ["10.40.64.0/18", "10.40.128.0/18"]),
                  put("ingress[0].securityGroups", DROP))),
    "a job that does not count evictions": (
        AWS, edit(JOB, "train", put("spec.podFailurePolicy", {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}))),
    "two events, not all": (
        AWS, edit("aws:s3/bucketNotification:BucketNotification", "corpus",
                  put("queues[0].events", ["s3:ObjectCreated:Put", "s3:ObjectCreated:CompleteMultipartUpload"]))),
    "a queue that SQS encrypts": (AWS, edit(QUEUE, "recordings", put("sqsManagedSseEnabled", True))),
    "pictures are read alone": (
        GOOGLE, edit("gcp:storage/bucketIAMMember:BucketIAMMember", "trainer",
                     put("role", "roles/storage.objectViewer"))),
    "a job by its pool's name": (
        GOOGLE, edit(JOB, "detector", put(f"{POD}.nodeSelector", {"cloud.google.com/gke-nodepool": "l4"}))),
    "a machine's local disks": (
        GOOGLE, edit(POOL, "l4", put("nodeConfig.ephemeralStorageLocalSsdConfig", {"localSsdCount": 4}))),
    "all traffic by the network": (
        GOOGLE, edit(RUN, "api", put("template.vpcAccess.egress", "ALL_TRAFFIC"))),
    "another edition of Cloud SQL": (
        GOOGLE, edit(SQL, "labels", put("settings.edition", "ENTERPRISE_PLUS"),
                     put("settings.tier", "db-perf-optimized-N-4"))),
}  # fmt: skip

POLICY, SERVICE = "kubernetes:networking.k8s.io/v1:NetworkPolicy", "kubernetes:core/v1:Service"
TARGETS, CLAIM = "aws:lb/targetGroup:TargetGroup", "kubernetes:core/v1:PersistentVolumeClaim"
CODE = "code.assets.slicer~py.text"
ADD_ON = "addonsConfig.gcpFilestoreCsiDriverConfig"


def reading(text: str) -> Change:
    """The function with another module."""
    return edit(FUNCTION, "slicer", put(CODE, f"import os\n\n{text}\n\n\ndef handle(event, context):\n    pass\n"))


def granted(role: str) -> Change:
    """The service's account with another role of the project."""
    return edit("gcp:projects/iAMMember:IAMMember", "api-sql", put("role", role))


def watching(name: str) -> Change:
    """An alert on a subscription."""
    return edit(ALERT, "dead", put("conditions[0].conditionThreshold.filter",
        'resource.type = "pubsub_subscription" AND '
        'metric.type = "pubsub.googleapis.com/subscription/num_undelivered_messages" AND '
        f'resource.labels.subscription_id = "{name}"'))  # fmt: skip


PROXY = {
    "name": "proxy",
    "image": "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.18.0",
    "restartPolicy": "Always",
    "args": ["--private-ip", "halden-vision:europe-west4:vision-labels"],
}


def connecting(role: str) -> Change:
    """The job with a proxy to the database, and a role of the project for its account."""

    def change(resources: Any) -> Any:
        (account,) = (
            one for one in resources if (one.type, one.name) == ("gcp:serviceaccount/account:Account", "trainer")
        )
        (given,) = (one for one in resources if one.name == "api-sql")
        inputs = {**given.inputs, "role": role, "member": f"serviceAccount:{account.outputs['email']}"}
        made = replace(given, urn=f"{given.urn}-trainer", name="trainer-sql", inputs=inputs)
        return edit(JOB, "detector", put(f"{POD}.initContainers", [PROXY]))([*resources, made])

    return change


BESIDE_AND_RIGHT: dict[str, tuple[str, Change]] = {
    "a variable with a default": (AWS, reading("bucket = os.environ.get('PREFIX', 'audio')")),
    "a variable that is asked for before": (
        AWS, reading("prefix = os.environ['PREFIX'] if 'PREFIX' in os.environ else 'audio'")),
    "a variable of the runtime's": (AWS, reading("region = os.environ['AWS_REGION']")),
    "a variable that the module sets itself": (
        AWS, reading("os.environ['PREFIX'] = 'audio'\nprefix = os.environ['PREFIX']")),
    "a policy that admits both ports": (
        AWS, edit(POLICY, "asr", put("spec.ingress[0].ports", [{"protocol": "TCP", "port": 80},
                                                               {"protocol": "TCP", "port": 8080}]))),
    "a policy of a port by its name": (AWS, edit(POLICY, "asr", put("spec.ingress[0].ports[0].port", "http"))),
    "a policy of a range of ports": (
        AWS, edit(POLICY, "asr", put("spec.ingress[0].ports[0]", {"protocol": "TCP", "port": 8000, "endPort": 8100}))),
    "targets that no node is one of": (
        AWS, both(drop("aws:autoscaling/attachment:Attachment", "front"), edit(TARGETS, "front", put("port", 30090)),
                  edit(SERVICE, "asr", put("spec.ports[0].nodePort", 30090)),
                  edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "front-to-nodes",
                       put("fromPort", 30080), put("toPort", 30095)))),
    "a node port that Kubernetes chooses": (AWS, edit(SERVICE, "asr", put("spec.ports[0].nodePort", DROP))),
    "an editor of databases": (GOOGLE, granted("roles/cloudsql.editor")),
    "an administrator of databases": (GOOGLE, granted("roles/cloudsql.admin")),
    "a proxy of a pod that may connect": (GOOGLE, connecting("roles/cloudsql.client")),
    "a database with a public address": (
        GOOGLE, both(edit(SQL, "labels", put("settings.ipConfiguration.ipv4Enabled", True)),
                     edit(RUN, "api", put("template.vpcAccess", DROP)))),
    "an alert on somebody else's subscription": (GOOGLE, watching("orders-of-the-shop")),
    "a class of Filestore, whose driver is on": (
        GOOGLE, both(edit("gcp:container/cluster:Cluster", "vision", put(ADD_ON, {"enabled": True})),
                     edit(CLAIM, "scratch", put("spec.storageClassName", "standard-rwx"),
                          put("spec.accessModes", ["ReadWriteMany"]), put("spec.resources.requests.storage", "1Ti")))),
    "a G2 machine with pd-balanced": (GOOGLE, edit(POOL, "l4", put("nodeConfig.diskType", "pd-balanced"))),
}  # fmt: skip
"""What is right beside the rules that came of the set."""

BESIDE: dict[str, tuple[str, Change, str]] = {
    "a variable that is read at the top": (AWS, reading("prefix = os.environ['PREFIX']"), "programs-handler"),
    "a policy of a name that no port has": (
        AWS, edit(POLICY, "asr", put("spec.ingress[0].ports[0].port", "web")), "reference-policy-port"),
    "a health check on a port that no service has": (
        AWS, edit(TARGETS, "front", put("healthCheck.port", "30081")), "reference-node-port"),
    "a C3 machine with pd-standard": (
        GOOGLE, edit(POOL, "general", put("nodeConfig.machineType", "c3-standard-8"),
                     put("nodeConfig.diskType", "pd-standard")), "gke-disk"),
    "a claim of a disk, whose driver is off": (
        GOOGLE, edit("gcp:container/cluster:Cluster", "vision",
                     put("addonsConfig.gcePersistentDiskCsiDriverConfig", {"enabled": False})), "reference-driver"),
    "a proxy of a pod that may not connect": (GOOGLE, connecting("roles/cloudsql.viewer"), "rights-pod-lacks"),
    "an alert on the short name": (GOOGLE, watching("vision"), "programs-filter"),
}  # fmt: skip
"""What is wrong beside it."""
