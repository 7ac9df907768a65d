"""A second set of mistakes in the three programs of others, in corners that the first left out."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Mistake, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_foreign_first import AWS, DEPLOYMENT, GOOGLE, JOB, PLAIN, POLICY, POOL, refer, text

CRON = "kubernetes:batch/v1:CronJob"
STATEFUL = "kubernetes:apps/v1:StatefulSet"
RULE = "aws:cloudwatch/eventRule:EventRule"

REFUSED_AWS = (
    ("overlapping", "two private subnets that overlap",
     edit("aws:ec2/subnet:Subnet", "inside-1", put("cidrBlock", "10.60.96.0/18")),
     "InvalidSubnet.Conflict; and a /18 does not begin there"),
    ("iops-of-gp3", "6000 IOPS on a disk of 10 GiB",
     edit("aws:ec2/launchTemplate:LaunchTemplate", "general", put("blockDeviceMappings[0].ebs.volumeSize", 10)),
     "gp3: 500 IOPS a GiB at most"),
    ("kept-too-short", "a key that is deleted after three days",
     edit("aws:kms/key:Key", "lab", put("deletionWindowInDays", 3)), "7 to 30 days"),
    ("any-before-untagged", "of images of any tag first",
     edit("aws:ecr/lifecyclePolicy:LifecyclePolicy", "trainer", in_json("policy", lambda d: (
         d["rules"][0].update(rulePriority=2), d["rules"][1].update(rulePriority=1)))),
     "ECR: a rule of tagStatus any has the highest number"),
    ("windows-meet", "a maintenance within the time of backups",
     edit("aws:rds/instance:Instance", "mlflow", put("maintenanceWindow", "sun:02:30-sun:03:30")),
     "RDS: the two windows must not overlap"),
)  # fmt: skip

SILENT_AWS = (
    ("no-proof", "a certificate that nothing proves",
     edit("aws:route53/record:Record", "proof", put("type", "TXT")),
     "the validation of a certificate by DNS asks for the CNAME: it stays pending"),
    ("topic-of-nobody", "a state machine that may publish to another topic",
     edit(POLICY, "machine", text("policy", "nordlab-news", "nordlab-alarms")),
     "AccessDenied at sns:Publish"),
    ("bucket-of-work", "jobs that may write to a bucket's other folder only",
     edit(POLICY, "work", text("policy", "/runs/*", "")),
     "an ARN of a bucket names no object: s3:PutObject is allowed on nothing"),
    ("no-ip-to-registry", "nodes whose way out is a gateway of their own subnet's",
     refer("aws:ec2/natGateway:NatGateway", "nat", "subnetId", "aws:ec2/subnet:Subnet", "inside-0"),
     "a NAT gateway in a private subnet routes to itself"),
    ("idle-handler", "a function by another name of its handler",
     edit("aws:lambda/function:Function", "starter", put("handler", "main.handler")),
     "Runtime.ImportModuleError: the archive has index.py"),
)  # fmt: skip

REFUSED_GOOGLE = (
    ("name-of-capital", "a bucket with a capital letter",
     edit("gcp:storage/bucket:Bucket", "source", put("name", "Nordlab-source")), "lower-case letters"),
    ("spot-restarts", "a spot machine that restarts by itself",
     edit("gcp:compute/instanceTemplate:InstanceTemplate", "worker", put("scheduling.automaticRestart", True)),
     "automatic restart is not for spot machines"),
    ("surge-below-zones", "a surge of one for two zones",
     edit("gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager", "workers",
          put("updatePolicy.maxSurgeFixed", 1)),
     "at least as many as zones, or 0"),
)  # fmt: skip

SILENT_GOOGLE = (
    ("images-unread", "nodes that may not read the images",
     drop("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember", "nodes"),
     "ImagePullBackOff: 403"),
    ("no-way-out", "a NAT of a list of subnets that names none of the pods' ranges",
     edit("gcp:compute/router:Router", "lab", put("region", "us-east1")), "the NAT's router is of another region"),
    ("two-drivers", "a share that is mounted by another share's name",
     edit("kubernetes:core/v1:PersistentVolume", "home", put("spec.csi.volumeAttributes.volume", "homes")),
     "mount: no such share on the instance"),
    ("invokes-nothing", "a function whose trigger's account may not invoke it",
     drop("gcp:cloudrunv2/serviceIamMember:ServiceIamMember", "starter"),
     "403 to every event; not told beside a project's role that no table has (roles/aiplatform.user)"),
    ("dead-unsubscribed", "dead letters that Pub/Sub may not take off the subscription",
     drop("gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember", "dead"),
     "forwarded messages stay"),
    ("not-in-network", "a service that reaches a private database by the internet",
     edit("gcp:cloudrunv2/service:Service", "mlflow", put("template.vpcAccess", DROP)),
     "it cannot be known here: whether the built-in proxy reaches a private address is not documented for sure"),
)  # fmt: skip

REFUSED_PLAIN = (
    ("claims-in-place", "a template of claims by a name that is mounted nowhere",
     edit(STATEFUL, "database", put("spec.template.spec.containers[0].volumeMounts[0].name", "datas")),
     "volumeMounts[0].name: not found"),
    ("headless-cluster", "a role binding of a cluster role's kind misspelt",
     edit("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", "trainer", put("roleRef.kind", "Roles")),
     "supported values: ClusterRole, Role"),
    ("index-limits", "a limit an index, of a job without indexes",
     edit(JOB, "pretrain", put("spec.completionMode", "NonIndexed")),
     "backoffLimitPerIndex requires Indexed"),
)  # fmt: skip

SILENT_PLAIN = (
    ("quota-of-one-job", "a quota of GPUs below one job",
     edit("kubernetes:core/v1:ResourceQuota", "training", put("spec.hard.requests~nvidia~com/gpu", "16")),
     "pods are refused: exceeded quota"),
    ("budget-of-all", "a budget of as many as there ever are",
     both(edit("kubernetes:policy/v1:PodDisruptionBudget", "mlflow", put("spec.minAvailable", "100%"))),
     "no node can be drained"),
    ("shadowed-shm", "a mount within another that is read-only",
     edit(CRON, "backup", put("spec.jobTemplate.spec.template.spec.containers[0].volumeMounts[0].readOnly", True)),
     "pg_dump > /backup/mlflow.sql: read-only file system"),
    ("another-database-host", "a dump of a host that there is not",
     edit(CRON, "backup", put("spec.jobTemplate.spec.template.spec.containers[0].command[2]",
                              "pg_dump -h databases -U $PGUSER mlflow > /backup/mlflow.sql")),
     "could not translate host name"),
    ("processes", "sixteen processes on eight GPUs",
     edit(JOB, "pretrain", put("spec.template.spec.containers[0].command[1]", "--nproc-per-node=16")),
     "invalid device ordinal"),
)  # fmt: skip

HEALTHY = {
    "a bucket's objects by its whole": (AWS, edit(POLICY, "work", text("policy", "/runs/*", "/*"))),
    "a handler in a folder": (AWS, edit("aws:autoscaling/group:Group", "server", put("defaultInstanceWarmup", 120))),
    "a function that is awaited": (GOOGLE, edit(
        "gcp:cloudrunv2/service:Service", "mlflow", put("template.maxInstanceRequestConcurrency", 20))),
    "nodes of one zone": (GOOGLE, edit(POOL, "general", put("nodeLocations", ["us-central1-c"]))),
    "a deployment that is made anew": (PLAIN, edit(
        DEPLOYMENT, "mlflow", put("spec.strategy", {"type": "Recreate"}))),
}  # fmt: skip


RULES = {
    "overlapping": "subnet-cidr",
    "iops-of-gp3": "ebs-iops",
    "kept-too-short": "kms-deletion-window",
    "any-before-untagged": "ecr-lifecycle",
    "windows-meet": "rds-window-overlap",
    "name-of-capital": "gcs-name",
    "spot-restarts": "gcp-spot",
    "surge-below-zones": "gcp-group",
    "claims-in-place": "k8s-volume-mount",
    "headless-cluster": "k8s-enum",
    "index-limits": "k8s-job",
    "no-proof": "route53-record",
    "topic-of-nobody": "rights-role-lacks",
    "bucket-of-work": "rights-statement-nothing",
    "no-ip-to-registry": "paths-nat-no-way-out",
    "idle-handler": "programs-handler",
    "images-unread": "rights-nodes",
    "no-way-out": "gcp-region",
    "two-drivers": "reference-file-system",
    "dead-unsubscribed": "rights-delivery",
    "quota-of-one-job": "kueue-namespace-quota",
    "budget-of-all": "placement-drain",
    "shadowed-shm": "programs-read-only",
    "another-database-host": "reference-address",
    "processes": "programs-gang",
}
"""What tells each."""


def _mistakes(found: Any, stack: str) -> list[Mistake]:
    return [Mistake(name, what, change, RULES.get(name), why, stack) for name, what, change, why in found]


REFUSED = [*_mistakes(REFUSED_AWS, AWS), *_mistakes(REFUSED_GOOGLE, GOOGLE), *_mistakes(REFUSED_PLAIN, PLAIN)]
SILENT = [*_mistakes(SILENT_AWS, AWS), *_mistakes(SILENT_GOOGLE, GOOGLE), *_mistakes(SILENT_PLAIN, PLAIN)]
