"""Ninety-four mistakes over all nine stacks and every aspect, one thing each, and changes that are unusual and right.

They were written before any rule was looked at: of twenty that are refused all were told at first sight, of
thirty-three that are taken and do not work thirty. Of twenty changes that are right one was accused, of having no
price. Two more mistakes were none, and are among what is right: EKS tags the groups of its own node groups for the
autoscaler, and of a role that may mount a file system the file system's policy need not speak. Twenty more (`SECOND`)
and twenty-one (`THIRD`), in corners that the first left out, were all told at first sight, and none of eighteen more
changes that are right was accused. Of eighteen more, on what happens over time, seventeen were told, and are not kept.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, drop, edit, in_json, put

Inputs = dict[str, Any]
CLUSTER_QUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
POLICY: Final = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
CRON: Final = "kubernetes:batch/v1:CronJob"
JOB: Final = "kubernetes:batch/v1:Job"
RDS: Final = "aws:rds/instance:Instance"
TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
SQL: Final = "gcp:sql/databaseInstance:DatabaseInstance"
ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
ROLE: Final = "aws:iam/role:Role"
NODE_POOL: Final = "gcp:container/nodePool:NodePool"
FIREWALL: Final = "gcp:compute/firewall:Firewall"
POD: Final = "spec.template.spec"
RUNTIME: Final = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
NODE: Final = "spec.template.spec.replicatedJobs.0.template.spec.template.spec.containers.0"
SELF: Final = "localhost,127.0.0.1,.svc,.svc.cluster.local"
AGE: Final = "spec.jobTemplate.spec.template.spec.containers[0]"
SCRATCH_TAG: Final = "k8s~io/cluster-autoscaler/node-template/resources/ephemeral-storage"
HUGE: Final = (
    "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.limits.hugepages-2Mi"
)


def text(path: str, old: str, new: str) -> Callable[[Inputs], None]:
    """Puts other words into a text of the inputs."""

    def into(inputs: Inputs) -> None:
        target: Any = inputs
        *way, last = path.split(".")
        for part in way:
            target = target[part]
        assert old in target[last], f"{path} has no {old}"
        target[last] = target[last].replace(old, new)

    return into


def in_user_data(old: str, new: str) -> Callable[[Inputs], None]:
    """Puts other words into what a node is told at its start."""

    def into(inputs: Inputs) -> None:
        held = base64.b64decode(inputs["userData"]).decode()
        assert old in held, f"no {old}"
        inputs["userData"] = base64.b64encode(held.replace(old, new).encode()).decode()

    return into


def without(sid: str) -> Callable[[Inputs], None]:
    """Takes a statement out of a policy."""

    def into(document: Inputs) -> None:
        kept = [one for one in document["Statement"] if one.get("Sid") != sid]
        assert len(kept) < len(document["Statement"]), f"no {sid}"
        document["Statement"] = kept

    return into


def statement(sid: str, change: Callable[[Inputs], Any]) -> Callable[[Inputs], None]:
    """Changes a statement of a policy."""

    def into(document: Inputs) -> None:
        change(next(one for one in document["Statement"] if one.get("Sid") == sid))

    return into


def quota(flavor: str, amount: str, key: str = "nominalQuota") -> Callable[[Inputs], None]:
    """Gives a queue another amount of a flavor."""

    def into(inputs: Inputs) -> None:
        for group in inputs["spec"]["resourceGroups"]:
            for one in group["flavors"]:
                if one["name"] == flavor:
                    one["resources"][0][key] = amount

    return into


def renamed_port(inputs: Inputs) -> None:
    """Calls the tracking server's port otherwise, wherever the pod names it."""
    held = json.dumps(inputs["spec"]["template"]["spec"])
    for old in ('"name": "https"', '"port": "https"'):
        assert old in held
        held = held.replace(old, old.replace("https", "mlflow-tracking-https"))
    inputs["spec"]["template"]["spec"] = json.loads(held)


def renamed_series(inputs: Inputs) -> None:
    """Records the price of a GPU's hour by another name, and leaves those who ask for it."""
    for group in inputs["spec"]["groups"]:
        for rule in group["rules"]:
            if rule.get("record") == "trainyard_gpu_hour_usd":
                rule["record"] = "trainyard_gpu_hourly_usd"


def variables(path: str, **changed: str) -> Callable[[Inputs], None]:
    """Gives variables of a container other values."""

    def into(inputs: Inputs) -> None:
        target: Any = inputs
        for part in path.split("."):
            target = target[int(part)] if part.isdigit() else target[part]
        for one in target:
            one["value"] = changed.get(one["name"], one["value"])

    return into


APART: Final = edit(
    DEPLOYMENT, "egress-deployment", put("spec.replicas", 3),
    put(f"{POD}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        [{"topologyKey": "topology.kubernetes.io/zone",
          "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}}}]),
)  # fmt: skip
"""Three replicas, each in a zone of its own."""


REFUSED: Final = (
    Mistake(
        "iops of a small gp3", "6000 IOPS on 50 GiB of gp3; PostgreSQL takes them from 400 GiB on",
        edit(RDS, "acme-demo-mlflow", put("iops", 6000)),
        "rds-storage", stack="demo",
    ),
    Mistake(
        "ninety days of insights", "Performance Insights kept 90 days, which is neither 7 nor a multiple of 31",
        edit(RDS, "falcon-health-production-mlflow", put("performanceInsightsRetentionPeriod", 90)),
        "rds-insights", stack="uae-aws",
    ),
    Mistake(
        "metadata iops of no step", "5000 metadata IOPS, between two steps that Lustre sells",
        edit("aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre",
             put("metadataConfiguration", {"mode": "USER_PROVISIONED", "iops": 5000})),
        "fsx-metadata", stack="large-aws",
    ),
    Mistake(
        "nested associations", "a folder linked to a bucket within a folder that is linked",
        edit("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "globex-production-lustre-scratch",
             put("fileSystemPath", "/data/scratch")),
        "fsx-association", stack="large-aws",
    ),
    Mistake(
        "a type said twice", "the node group names the type that its template names",
        edit(GROUP, "gpu-nodes-pretrain-reserved", put("instanceTypes", ["p5en.48xlarge"])),
        "launch-template-conflict", stack="large-aws",
    ),
    Mistake(
        "replicas of coredns", "coredns' configuration calls it replicaCount",
        edit("aws:eks/addon:Addon", "cluster-coredns",
             in_json("configurationValues", lambda held: held.update(replicas=3))),
        "eks-addon-settings", stack="demo",
    ),
    Mistake(
        "a seventh weekday", "Sunday as 7, which a CronJob's schedule does not know",
        edit(CRON, "checkpoint-check-imaging-checkpoint-age", put("spec.schedule", "47 5 * * 7")),
        "k8s-schedule", stack="uae-aws",
    ),
    Mistake(
        "three claims of four", "a quota of three claims where the team has four",
        edit("kubernetes:core/v1:ResourceQuota", "teams-foundation-quota",
             put("spec.hard.persistentvolumeclaims", "3")),
        "reference-quota", stack="large-aws",
    ),
    Mistake(
        "a share of 1500", "Filestore grows by 256 GiB above 1024",
        edit("gcp:filestore/instance:Instance", "northwind-production-shared", put("fileShares.capacityGb", 1500)),
        "gcp-filestore", stack="large-gcp",
    ),
    Mistake(
        "memory of no step", "Cloud SQL's memory goes by 256 MiB",
        edit(SQL, "acme-demo-gcp-mlflow", put("settings.tier", "db-custom-4-14000")),
        "gcp-sql-tier", stack="demo-gcp",
    ),
    Mistake(
        "five idle minutes", "a runtime shut down after five idle minutes; ten are the least",
        edit("gcp:colab/runtimeTemplate:RuntimeTemplate", "editors-e2-standard-2",
             put("idleShutdownConfig.idleTimeout", "300s")),
        "managed-idle-timeout", stack="small-gcp",
    ),
    Mistake(
        "ten years of logs", "logs kept ten years and three leap days; 3650 days are the most",
        edit("gcp:logging/projectBucketConfig:ProjectBucketConfig", "record-logs", put("retentionDays", 3653)),
        "gcp-log-bucket", stack="small-gcp",
    ),
    Mistake(
        "idle beyond its most", "editors idle 120 minutes where 60 are the most that people may choose",
        edit("aws:sagemaker/domain:Domain", "studio",
             put("defaultUserSettings.jupyterLabAppSettings.appLifecycleManagement.idleSettings.idleTimeoutInMinutes",
                 120)),
        "managed-idle-bounds", stack="small-aws",
    ),
    Mistake(
        "two figures of an alarm", "two of an alarm's queries return data",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-jobs-failing",
             put("metricQueries[2].returnData", True)),
        "alarm-queries", stack="small-aws",
    ),
    Mistake(
        "a trail without its key", "the trail's key lets CloudTrail make no data key",
        edit("aws:kms/key:Key", "dune-clinic-production-trail-key", in_json("policy", without("EncryptFiles"))),
        "rights-delivery-key", stack="uae-small",
    ),
    Mistake(
        "two subnets of a zone", "an endpoint in two subnets of one zone",
        edit("aws:ec2/vpcEndpoint:VpcEndpoint", "network-sts-interface",
             put("subnetIds", ["subnet-a883551aa1b78bba9", "subnet-e5ab1e56e9f82a9c1"])),
        "endpoint-zone", stack="demo",
    ),
    Mistake(
        "ports of no power", "100 ports at least with dynamic allocation, which wants a power of two",
        edit("gcp:compute/routerNat:RouterNat", "network-nat", put("minPortsPerVm", 100)),
        "gcp-nat-ports", stack="large-gcp",
    ),
    Mistake(
        "covered without quota", "the queue covers cpu, and no flavor has any",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-imaging",
             put("spec.resourceGroups[0].coveredResources", ["nvidia.com/gpu", "cpu"])),
        "kueue-covered", stack="eu-gcp",
    ),
    Mistake(
        "except outside", "exceptions outside of the addresses they are taken from",
        edit(POLICY, "egress-allow-platform", put("spec.egress[1].to[0].ipBlock.cidr", "52.0.0.0/8")),
        "k8s-cidr", stack="large-aws",
    ),
    Mistake(
        "a port's long name", "the container's port is called by 21 letters; 15 are the most",
        both(edit(DEPLOYMENT, "mlflow-deployment", renamed_port),
             edit("kubernetes:core/v1:Service", "mlflow-service",
                  put("spec.ports[0].targetPort", "mlflow-tracking-https"))),
        "k8s-port-name", stack="eu-gcp",
    ),
)  # fmt: skip

SILENT: Final = (
    Mistake(
        "graviton to save", "nodes of ARM for images that are built for x86 alone",
        edit(GROUP, "cluster-cpu", put("amiType", "AL2023_ARM_64_STANDARD"), put("instanceTypes", ["m7g.2xlarge"])),
        "placement-no-node", stack="demo",
    ),
    Mistake(
        "spread by no label", "a hard spread by a label that no node has",
        edit(DEPLOYMENT, "mlflow-deployment",
             put(f"{POD}.topologySpreadConstraints[0].topologyKey", "topology.kubernetes.io/hostname")),
        "placement-spread", stack="eu-gcp",
    ),
    Mistake(
        "three apart in three zones", "three replicas kept apart in three zones, with one more while they are changed",
        edit(DEPLOYMENT, "egress-deployment", put("spec.replicas", 3),
             put(f"{POD}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                 [{"topologyKey": "topology.kubernetes.io/zone",
                   "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}}}])),
        "placement-spread", stack="demo",
    ),
    Mistake(
        "more huge pages", "10 GiB of huge pages where a node sets 5 GiB aside",
        edit("kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime", "runtimes-torch-train",
             put("spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.limits"
                 ".hugepages-2Mi", "10Gi")),
        "placement-scaling-tag", stack="demo",
    ),
    Mistake(
        "a smaller slice", "slices of 2x4 where jobs and the flavor ask for 4x4",
        edit(NODE_POOL, "tpu-slices-v6e-on-demand-1", put("placementPolicy.tpuTopology", "2x4"),
             put("autoscaling.totalMaxNodeCount", 2)),
        "kueue-flavor-labels", stack="large-gcp",
    ),
    Mistake(
        "the most of a container", "64 GiB at most a container, where proofs and runtimes ask for more",
        edit("kubernetes:core/v1:LimitRange", "teams-imaging-defaults", put("spec.limits[0].max", {"memory": "64Gi"})),
        "reference-limit-range", stack="uae-aws",
    ),
    Mistake(
        "the other resource is asked for", "the request for nodes counts TPUs, so none is made for GPUs",
        edit("kubernetes:kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig", "kueue-provisioning-train-flex-start",
             put("spec.managedResources", ["google.com/tpu"])),
        "queues-provisioning", stack="large-gcp",
    ),
    Mistake(
        "quota of twice the nodes", "64 GPUs of a pool that has 32",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-foundation", quota("pretrain-reserved", "64")),
        "kueue-quota-nodes", stack="large-aws",
    ),
    Mistake(
        "its own parent", "a cohort below itself",
        edit("kubernetes:kueue.x-k8s.io/v1beta2:Cohort", "kueue-cohort", put("spec.parentName", "trainyard")),
        "queues-cohort-circle", stack="eu-gcp",
    ),
    Mistake(
        "two minutes to be ready", "jobs are put back after two minutes, and their nodes take longer to come",
        edit(RELEASE, "kueue-release",
             text("values.managerConfig.controllerManagerConfigYaml", "timeout: 30m", "timeout: 2m")),
        "queues-pods-ready", stack="demo",
    ),
    Mistake(
        "watched where it is not", "the queues are watched in a namespace that is not theirs",
        edit("kubernetes:monitoring.coreos.com/v1:ServiceMonitor", "monitoring-queues",
             put("spec.namespaceSelector.matchNames", ["kueue"])),
        "reference-monitor-selects-nothing", stack="demo-gcp",
    ),
    Mistake(
        "update for patch", "the keeper patches, and may update",
        edit("kubernetes:rbac.authorization.k8s.io/v1:Role", "kueue-budgets-role-imaging",
             put("rules[0].verbs", ["get", "update"])),
        "rights-program-lacks", stack="uae-aws",
    ),
    Mistake(
        "a module moved", "the program is mounted beside the folder that its module names",
        edit(CRON, "checkpoint-check-imaging-checkpoint-age",
             put("spec.jobTemplate.spec.template.spec.volumes[0].configMap.items[0].path", "look.py")),
        "programs-module", stack="eu-gcp",
    ),
    Mistake(
        "two of three control planes", "webhooks may be called from two of the control plane's three subnets",
        edit(POLICY, "runtimes-jobset-allow-platform",
             put("spec.ingress[0].from", [{"ipBlock": {"cidr": "10.0.224.0/23"}},
                                          {"ipBlock": {"cidr": "10.0.226.0/23"}}])),
        "flows-webhooks", stack="demo",
    ),
    Mistake(
        "a proxy on the own node",
        "a service that goes to the own node alone, whose pods run on other nodes than those that ask",
        edit("kubernetes:core/v1:Service", "egress-service", put("spec.internalTrafficPolicy", "Local")),
        "programs-never", stack="large-aws",
    ),
    Mistake(
        "a keeper without its token", "a program that calls the API server gets no token",
        edit(DEPLOYMENT, "kueue-budgets-deployment", put(f"{POD}.automountServiceAccountToken", False)),
        "rights-program-no-token", stack="demo-gcp",
    ),
    Mistake(
        "via a service without region", "the key may be used via s3.amazonaws.com, which no request comes by",
        edit(ROLE_POLICY, "ingest-role-policy",
             in_json("policy", statement("Key1", put("Condition.StringEquals.kms:ViaService", "s3.amazonaws.com")))),
        "rights-condition-value", stack="uae-aws",
    ),
    Mistake(
        "no source identity",
        "people's editors are told apart by the source identity, which their role may not be given",
        edit(ROLE, "managed-people",
             in_json("assumeRolePolicy", statement("Editors", put("Action", "sts:AssumeRole")))),
        "rights-role-untrusted", stack="small-aws",
    ),
    Mistake(
        "another policy of the budget", "the brake may attach a policy by a name that the policy does not have",
        edit(ROLE_POLICY, "managed-budget",
             in_json("policy", statement("AttachOverBudget", put(
                 "Condition.ArnEquals.iam:PolicyARN", "arn:aws:iam::123456789012:policy/managed-over-budget")))),
        "rights-role-lacks", stack="uae-small",
    ),
    Mistake(
        "write and not read", "a team may make checkpoints and not read them",
        edit("gcp:storage/managedFolderIamMember:ManagedFolderIamMember", "team-vision-checkpoints",
             put("role", "roles/storage.objectCreator")),
        "rights-volume", stack="demo-gcp",
    ),
    Mistake(
        "a namespace without its prefix", "the data are read by an account of a namespace that is not there",
        edit("gcp:storage/bucketIAMMember:BucketIAMMember", "team-imaging-data",
             text("member", "ns/team-imaging/", "ns/imaging/")),
        "rights-binding-no-account", stack="eu-gcp",
    ),
    Mistake(
        "tokens instead of use", "people may make tokens of the jobs' account, and not send jobs as it",
        edit("gcp:serviceaccount/iAMMember:IAMMember", "managed-research@hooli.example",
             put("role", "roles/iam.serviceAccountTokenCreator")),
        "rights-people", stack="small-gcp",
    ),
    Mistake(
        "blocked before allowed", "every name is blocked before the allowed ones are looked at",
        edit("aws:route53/resolverFirewallRule:ResolverFirewallRule", "dns-others", put("priority", 50)),
        "programs-dns-order", stack="uae-aws",
    ),
    Mistake(
        "a nat of its own subnet", "the NAT gateway lies in a subnet that goes out through it",
        edit("aws:ec2/natGateway:NatGateway", "network-nat-us-west-2a", put("subnetId", "subnet-74a8718a11877591c")),
        "paths-nat-no-way-out", stack="large-aws",
    ),
    Mistake(
        "not all of lustre's ports", "two of Lustre's six client ports are left out",
        edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
             "globex-production-lustre-ingress-cluster-1018", put("toPort", 1021)),
        "flows-lustre", stack="large-aws",
    ),
    Mistake(
        "callbacks from the nodes", "Lustre's servers may not call back: their addresses are of the peered range",
        edit(FIREWALL, "northwind-production-lustre-servers", put("sourceRanges", ["10.0.0.0/20"])),
        "flows-managed-lustre", stack="large-gcp",
    ),
    Mistake(
        "another control plane", "webhooks are let in from a range that the control plane does not have",
        edit(FIREWALL, "network-webhooks", put("sourceRanges", ["172.16.0.0/28"])),
        "gke-webhooks", stack="demo-gcp",
    ),
    Mistake(
        "https within", "HTTPS within the network alone, and S3's addresses lie outside",
        edit("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "training-https",
             put("cidrIpv4", "10.0.0.0/16")),
        "managed-closed-to-s3", stack="small-aws",
    ),
    Mistake(
        "another root", "the 100 GiB are a second disk: AL2023 boots from /dev/xvda",
        edit(TEMPLATE, "cluster-cpu-template", put("blockDeviceMappings[0].deviceName", "/dev/sda1")),
        "machines-root-device", stack="demo",
    ),
    Mistake(
        "a raid with a dash", "a strategy of local disks that nodeadm does not know",
        edit(TEMPLATE, "gpu-nodes-tune-spot-template", in_user_data("strategy: RAID0", "strategy: RAID-0")),
        "machines-user-data", stack="demo",
    ),
    Mistake(
        "a receiver nobody defined", "critical alerts go to a receiver that is not defined",
        edit(RELEASE, "monitoring-release", put("values.alertmanager.config.route.routes[2].receiver", "pager")),
        "reference-alert-route", stack="demo",
    ),
    Mistake(
        "another key of the login", "Grafana reads a key that its login does not have",
        edit(RELEASE, "monitoring-release", put("values.grafana.admin.passwordKey", "admin-password")),
        "reference-key", stack="large-gcp",
    ),
    Mistake(
        "a fabric of one type", "the fabric's plug-in runs on one of two types that have it",
        edit(RELEASE, "gpu-aws-efa-k8s-device-plugin",
             put("values.supportedInstanceLabels.values", ["p5.48xlarge"])),
        "placement-device-plugin", stack="large-aws",
    ),
)  # fmt: skip

SECOND: Final = (
    Mistake(
        "days and years", "a lock of 90 days and of a year",
        edit("aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration", "acme-demo-trail-logs-object-lock",
             put("rule.defaultRetention.years", 1)),
        "s3-object-lock", stack="demo",
    ),
    Mistake(
        "five minutes of flows", "flows gathered for five minutes; one or ten",
        edit("aws:ec2/flowLog:FlowLog", "network-flow-log", put("maxAggregationInterval", 300)),
        "flow-log-interval", stack="uae-aws",
    ),
    Mistake(
        "two years of logs", "logs kept 730 days, where CloudWatch has 731",
        edit("aws:cloudwatch/logGroup:LogGroup", "team-log-group", put("retentionInDays", 730)),
        "log-retention", stack="large-aws",
    ),
    Mistake(
        "a window of four hours", "backups within four hours; six are the least",
        edit("gcp:backupdisasterrecovery/backupPlan:BackupPlan", "northwind-production-shared-daily",
             put("backupRules[0].standardSchedule.backupWindow", {"startHourOfDay": 8, "endHourOfDay": 12})),
        "gcp-backup", stack="large-gcp",
    ),
    Mistake(
        "tagged as nothing", "tagged images expire, and no tag is said",
        edit("aws:ecr/lifecyclePolicy:LifecyclePolicy",
             "images-globex-production-ecr-aws-observability-aws-for-fluent-bit",
             in_json("policy", put("rules[0].selection.tagStatus", "tagged"))),
        "ecr-lifecycle", stack="large-aws",
    ),
    Mistake(
        "a subnetwork elsewhere", "notebooks of us-central1 in a subnetwork of us-east1",
        edit("gcp:colab/runtimeTemplate:RuntimeTemplate", "editors-n2-standard-8",
             text("networkSpec.subnetwork", "us-central1", "us-east1")),
        "gcp-region", stack="small-gcp",
    ),
    Mistake(
        "percent of a share", "told at 8000 percent: the threshold is a share",
        edit("gcp:billing/budget:Budget", "budget-budget", put("thresholdRules[1].thresholdPercent", 80)),
        "gcp-budget", stack="demo-gcp",
    ),
    Mistake(
        "silence is no alarm", "the alarm on silence takes missing data as well",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "watchdog-silent", put("treatMissingData", "notBreaching")),
        "programs-alarm", stack="demo",
    ),
    Mistake(
        "a rule that may not publish", "findings may not be published to their topic",
        edit("aws:sns/topicPolicy:TopicPolicy", "security-topic-policy",
             in_json("policy", statement("Rules", lambda one: one["Condition"]["ArnEquals"]["aws:SourceArn"].pop()))),
        "rights-delivery", stack="large-aws",
    ),
    Mistake(
        "a session without channels", "the bastion registers, and may open no channel",
        edit(ROLE_POLICY, "bastion",
             in_json("policy", statement("Sessions", put("Action", ["ssm:UpdateInstanceInformation"])))),
        "rights-program-lacks", stack="demo",
    ),
    Mistake(
        "the api's usual port", "6443 from the bastion; EKS serves the API at 443",
        edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "cluster-api-bastion",
             put("fromPort", 6443), put("toPort", 6443)),
        "paths-api-unreachable", stack="demo",
    ),
    Mistake(
        "denied before allowed", "the proxy denies all before it allows anything",
        edit("kubernetes:core/v1:ConfigMap", "egress-configuration",
             lambda inputs: inputs["data"].update(
                 {"squid.conf": inputs["data"]["squid.conf"].replace(
                     "http_access allow tunnel\nhttp_access deny all", "http_access deny all\nhttp_access allow tunnel",
                 )})),
        "programs-squid", stack="uae-aws",
    ),
    Mistake(
        "another log group", "logs are sent to a group that nobody makes",
        edit("kubernetes:core/v1:ConfigMap", "team-logs-configuration",
             lambda inputs: inputs["data"].update({"fluent-bit.conf": inputs["data"]["fluent-bit.conf"].replace(
                 "/trainyard/acme-demo/team-logs", "/trainyard/demo/team-logs")})),
        "rights-pod-lacks", stack="demo",
    ),
    Mistake(
        "a name not certified", "the certificate lacks the name that jobs call the server by",
        edit("tls:index/certRequest:CertRequest", "mlflow-certificate-request",
             put("dnsNames", ["mlflow.mlflow.svc", "mlflow.mlflow", "mlflow", "localhost"])),
        "programs-certificate", stack="eu-gcp",
    ),
    Mistake(
        "a series renamed", "a recorded series has another name than those who ask for it say",
        edit("kubernetes:monitoring.coreos.com/v1:PrometheusRule", "monitoring-rules", renamed_series),
        "watching-metric", stack="demo",
    ),
    Mistake(
        "a log of no pod", "signs of life are counted in a log of pods that are called otherwise",
        edit("gcp:logging/metric:Metric", "alert-metrics-watchdog", text("filter", "^alert-log-", "^alertlog-")),
        "programs-filter", stack="demo-gcp",
    ),
    Mistake(
        "the other addresses", "every name leads to one that the zone does not have",
        edit("gcp:dns/recordSet:RecordSet", "google-apis-private", put("name", "restricted.googleapis.com.")),
        "paths-names", stack="large-gcp",
    ),
    Mistake(
        "failed in small letters", "failures are counted by a word that no event has",
        edit("aws:cloudwatch/logMetricFilter:LogMetricFilter", "managed-jobs-failed",
             text("pattern", '"Failed"', '"failed"')),
        "programs-event", stack="small-aws",
    ),
    Mistake(
        "another folder of artifacts", "the tracking server may keep artifacts in a folder that it does not use",
        edit(ROLE_POLICY, "managed-tracking",
             in_json("policy", lambda document: statement("KeepArtifacts", lambda one: one.update(
                 Resource=[one["Resource"][0].replace("/mlflow/", "/tracking/")]))(document))),
        "rights-role-lacks", stack="uae-small",
    ),
    Mistake(
        "the domain alone", "amazonaws.com is allowed, and no name below it",
        edit("aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList", "dns-allowed",
             lambda inputs: inputs["domains"].__setitem__(
                 inputs["domains"].index("*.amazonaws.com"), "amazonaws.com")),
        "programs-dns-order", stack="uae-small",
    ),
)  # fmt: skip

THIRD: Final = (
    Mistake(
        "a stop that outlasts its grace", "ninety seconds before a stop of sixty",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.containers[0].lifecycle.preStop.sleep.seconds", 90)),
        "k8s-lifecycle", stack="uae-aws",
    ),
    Mistake(
        "four minors behind", "kube-proxy four minor versions behind the cluster",
        edit("aws:eks/addon:Addon", "cluster-kube-proxy", put("addonVersion", "v1.31.14-eksbuild.2")),
        "charts-version", stack="demo",
    ),
    Mistake(
        "a policy of a node", "an access policy for an entry of nodes, which have none",
        edit("aws:eks/accessEntry:AccessEntry", "cluster-admin-platform-admin-ce910a", put("type", "EC2_LINUX")),
        "eks-access-nodes", stack="large-aws",
    ),
    Mistake(
        "no upgrades until the end", "no upgrade at all until the end of support, which only minor ones may wait for",
        edit("gcp:container/cluster:Cluster", "cluster-cluster",
             put("maintenancePolicy.maintenanceExclusions[0].exclusionOptions.scope", "NO_UPGRADES")),
        "gke-maintenance", stack="large-gcp",
    ),
    Mistake(
        "sundays alone", "six hours a week: 48 in 32 days are the least",
        edit("gcp:container/cluster:Cluster", "cluster-cluster",
             put("maintenancePolicy.recurringWindow.recurrence", "FREQ=WEEKLY;BYDAY=SU")),
        "gke-maintenance", stack="eu-gcp",
    ),
    Mistake(
        "true for on", "a flag of the database that is on or off",
        edit(SQL, "acme-demo-gcp-mlflow",
             put("settings.databaseFlags[11]", {"name": "cloudsql.iam_authentication", "value": "true"})),
        "gcp-sql-flag", stack="demo-gcp",
    ),
    Mistake(
        "five seconds late", "five seconds to be late: the controller looks every ten",
        edit(CRON, "checkpoint-check-vision-checkpoint-age", put("spec.startingDeadlineSeconds", 5)),
        "reference-schedule", stack="demo",
    ),
    Mistake(
        "another only folder", "the folder of the volume is not the one that the team has rights for",
        edit("kubernetes:core/v1:PersistentVolume", "volumes-foundation-checkpoints-volume",
             put("spec.mountOptions[1]", "only-dir=foundation")),
        "rights-volume", stack="large-gcp",
    ),
    Mistake(
        "a prefix without its slash", "a prefix that is none to Mountpoint, as it has no slash at its end",
        edit("kubernetes:core/v1:PersistentVolume", "volumes-vision-checkpoints-volume",
             put("spec.mountOptions[1]", "prefix teams/vision")),
        "programs-mount-option", stack="demo",
    ),
    Mistake(
        "another authority", "the server looks for the database's authority in a file that is not mounted",
        edit(DEPLOYMENT, "mlflow-deployment",
             lambda inputs: inputs["spec"]["template"]["spec"]["containers"][0]["command"].__setitem__(
                 17, inputs["spec"]["template"]["spec"]["containers"][0]["command"][17].replace(
                     "/opt/trainyard/ca.pem", "/opt/trainyard/rds.pem"))),
        "reference-file", stack="demo",
    ),
    Mistake(
        "hosts without the service", "the server answers to localhost alone",
        edit(DEPLOYMENT, "mlflow-deployment",
             lambda inputs: inputs["spec"]["template"]["spec"]["containers"][0].update(command=[
                 "--allowed-hosts=localhost,localhost:5000" if one.startswith("--allowed-hosts") else one
                 for one in inputs["spec"]["template"]["spec"]["containers"][0]["command"]])),
        "programs-host", stack="eu-gcp",
    ),
    Mistake(
        "another configuration", "the users' configuration is looked for beside where it is mounted",
        edit(DEPLOYMENT, "mlflow-deployment",
             variables("spec.template.spec.containers.0.env", MLFLOW_AUTH_CONFIG_PATH="/etc/mlflow/basic_auth.ini")),
        "reference-file", stack="uae-aws",
    ),
    Mistake(
        "checkpoints of the others", "the proof writes where another team does",
        edit(JOB, "smoke-tune-spot-job",
             lambda inputs: inputs["spec"]["template"]["spec"]["containers"][0]["args"].__setitem__(
                 1, inputs["spec"]["template"]["spec"]["containers"][0]["args"][1].replace("imaging", "triage"))),
        "rights-pod-lacks", stack="uae-aws",
    ),
    Mistake(
        "s3 through the proxy", "jobs ask S3 through the proxy, which lets nobody there",
        edit(RUNTIME, "runtimes-torch-train", variables(f"{NODE}.env", NO_PROXY=SELF, no_proxy=SELF)),
        "programs-proxy", stack="demo",
    ),
    Mistake(
        "the cache of another registry", "an image by the cache of a registry that does not have it",
        edit(RELEASE, "drivers-efs", text("values.image.repository", "/ecr/", "/k8s/")),
        "programs-cached-image", stack="large-aws",
    ),
    Mistake(
        "a metric not exported", "the exporter leaves out how busy GPUs are, which alerts ask for",
        edit(RELEASE, "gpu-dcgm-exporter", lambda inputs: inputs["values"].update(customMetrics="\n".join(
            one for one in inputs["values"]["customMetrics"].split("\n") if "GR_ENGINE_ACTIVE" not in one))),
        "watching-metric", stack="demo",
    ),
    Mistake(
        "nodes not collected", "what is known of nodes is not collected",
        edit(RELEASE, "monitoring-release",
             lambda inputs: inputs["values"]["kube-state-metrics"]["collectors"].remove("nodes")),
        "watching-metric", stack="large-gcp",
    ),
    Mistake(
        "rules of the release alone", "rules without the chart's label are left out",
        edit(RELEASE, "monitoring-release",
             put("values.prometheus.prometheusSpec.ruleSelectorNilUsesHelmValues", True)),
        "reference-monitor-unread", stack="demo-gcp",
    ),
    Mistake(
        "boards of another label", "dashboards are looked for by a value that none has",
        edit(RELEASE, "monitoring-release", put("values.grafana.sidecar.dashboards.labelValue", "true")),
        "reference-sidecar", stack="large-aws",
    ),
    Mistake(
        "a topic of another region", "alerts go to a topic by a region that it is not in",
        edit(RELEASE, "monitoring-release",
             lambda inputs: inputs["values"]["alertmanager"]["config"]["receivers"][1]["sns_configs"][0].update(
                 topic_arn=inputs["values"]["alertmanager"]["config"]["receivers"][1]["sns_configs"][0][
                     "topic_arn"].replace("me-central-1", "eu-central-1"))),
        "programs-topic", stack="uae-aws",
    ),
    Mistake(
        "the restricted addresses", "pods may reach addresses that no name leads to",
        edit(POLICY, "teams-imaging-allow-object-store",
             put("spec.egress[0].to[0].ipBlock.cidr", "199.36.153.4/30")),
        "flows-object-store", stack="eu-gcp",
    ),
)  # fmt: skip


WIDER: Final = (
    Mistake(
        "another architecture", "pods that ask for a label beside the one of Kubernetes",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.nodeSelector.kubernetes~io/architecture", "amd64")),
        "placement-no-node", stack="demo-gcp",
    ),
    Mistake(
        "zones in the plural", "pods that are kept to a zone by a label that no node has",
        edit(CRON, "checkpoint-check-imaging-checkpoint-age",
             put("spec.jobTemplate.spec.template.spec.nodeSelector.topology~kubernetes~io/zones", "me-central-1a")),
        "placement-no-node", stack="uae-aws",
    ),
    Mistake(
        "storage that nobody is told of",
        "the autoscaler is told of a tenth of the nodes' scratch, and a pod asks for more",
        both(
            edit("aws:autoscaling/tag:Tag", "cluster-cpu-resources-ephemeral-storage", put("tag.value", "9Gi")),
            edit(GROUP, "cluster-cpu", put(f"tags.{SCRATCH_TAG}", "9Gi")),
            edit(CRON, "checkpoint-check-vision-checkpoint-age",
                 put(f"{AGE}.resources.requests.ephemeral-storage", "20Gi")),
        ),
        "placement-scaling-tag",
    ),
    Mistake(
        "no-warm-prefix", "a network plugin that hands out prefixes and keeps none, with which it does not start",
        edit("aws:eks/addon:Addon", "cluster-vpc-cni",
             in_json("configurationValues", put("env.WARM_PREFIX_TARGET", "0"))),
        "eks-addon-settings",
    ),
    Mistake(
        "a-taken-name", "interfaces of pods that are called as those of the node",
        edit("aws:eks/addon:Addon", "cluster-vpc-cni",
             in_json("configurationValues", put("env.AWS_VPC_K8S_CNI_VETHPREFIX", "eth"))),
        "eks-addon-settings", stack="large-aws",
    ),
)  # fmt: skip
"""Other places of what was missed."""

SOUND: Final[dict[str, tuple[str, Change]]] = {
    "a team's access point is not among those that may be mounted": (
        "large-aws",
        edit("aws:efs/fileSystemPolicy:FileSystemPolicy", "globex-production-shared-policy",
             in_json("policy", statement("MountAsIamSays", lambda one: one["Condition"]["StringEquals"][
                 "elasticfilesystem:AccessPointArn"].pop()))),
    ),
    "the autoscaling group lacks the tag that the autoscaler looks for": (
        "uae-aws",
        drop("aws:autoscaling/tag:Tag", "gpu-nodes-tune-spot-enabled"),
    ),
    "12000 IOPS on 400 GiB": (
        "demo",
        edit(RDS, "acme-demo-mlflow", put("allocatedStorage", 400), put("iops", 12000), put("storageThroughput", 500),
             put("maxAllocatedStorage", 1000)),
    ),
    "db.m6g.large": (
        "uae-aws",
        edit(RDS, "falcon-health-production-mlflow", put("instanceClass", "db.m6g.large")),
    ),
    "one proxy stays": (
        "demo",
        edit("kubernetes:policy/v1:PodDisruptionBudget", "egress-disruption-budget", put("spec.maxUnavailable", DROP),
             put("spec.minAvailable", 1)),
    ),
    "a hard spread over zones that the system nodes have": (
        "large-aws",
        edit(DEPLOYMENT, "egress-deployment", put("spec.replicas", 3),
             put(f"{POD}.topologySpreadConstraints[0].topologyKey", "topology.kubernetes.io/zone"),
             put(f"{POD}.topologySpreadConstraints[0].whenUnsatisfiable", "DoNotSchedule")),
    ),
    "a schedule in Dubai's time, by a day's name": (
        "uae-aws",
        edit(CRON, "checkpoint-check-imaging-checkpoint-age", put("spec.schedule", "15 6 * * SUN-THU"),
             put("spec.timeZone", "Asia/Dubai")),
    ),
    "three families of the same size": (
        "demo",
        edit(GROUP, "cluster-cpu", put("instanceTypes", ["m7i.2xlarge", "m7i-flex.2xlarge", "m7a.2xlarge"])),
    ),
    "6000 metadata IOPS": (
        "large-aws",
        edit("aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre",
             put("metadataConfiguration", {"mode": "USER_PROVISIONED", "iops": 6000})),
    ),
    "NFS from every address of the network": (
        "large-aws",
        edit("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "globex-production-shared-ingress-cluster",
             put("referencedSecurityGroupId", DROP), put("cidrIpv4", "10.0.0.0/16")),
    ),
    "a team borrows eight of the reserved GPUs at most": (
        "demo",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-vision", quota("train-reserved", "8", "borrowingLimit")),
    ),
    "webhooks from a range that the control plane's lies in": (
        "demo-gcp",
        edit(FIREWALL, "network-webhooks", put("sourceRanges", ["10.0.32.0/27"])),
    ),
    "n2-standard-8 for people's pods": (
        "demo-gcp",
        edit(NODE_POOL, "cluster-cpu", put("nodeConfig.machineType", "n2-standard-8")),
    ),
    "six processors with 22.5 GiB": (
        "eu-gcp",
        edit(SQL, "lumen-bio-production-mlflow", put("settings.tier", "db-custom-6-23040")),
    ),
    "128 to 8192 ports": (
        "large-gcp",
        edit("gcp:compute/routerNat:RouterNat", "network-nat", put("minPortsPerVm", 128), put("maxPortsPerVm", 8192)),
    ),
    "two steps more than the least": (
        "large-gcp",
        edit("gcp:filestore/instance:Instance", "northwind-production-shared", put("fileShares.capacityGb", 1536)),
    ),
    "logs kept 3650 days": (
        "small-gcp",
        edit("gcp:logging/projectBucketConfig:ProjectBucketConfig", "record-logs", put("retentionDays", 3650)),
    ),
    "a new key each month": (
        "small-gcp",
        edit("gcp:kms/cryptoKey:CryptoKey", "hooli-research-data", put("rotationPeriod", "2592000s")),
    ),
    "an alarm after two of three periods": (
        "small-aws",
        edit("aws:cloudwatch/metricAlarm:MetricAlarm", "managed-jobs-queue-waiting", put("evaluationPeriods", 3),
             put("datapointsToAlarm", 2)),
    ),
    "HTTPS to S3's addresses by their list, which is all that jobs reach": (
        "small-aws",
        edit("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "training-https", put("cidrIpv4", DROP),
             put("prefixListId", "pl-63a5400a")),
    ),
    "the brake at 90 percent": (
        "uae-small",
        edit("aws:budgets/budgetAction:BudgetAction", "managed-over-budget",
             put("actionThreshold.actionThresholdValue", 90)),
    ),
    "the key via S3, whichever region": (
        "uae-aws",
        edit(ROLE_POLICY, "ingest-role-policy",
             in_json("policy", statement("Key1", lambda one: (
                 one["Condition"].pop("StringEquals"),
                 one["Condition"].update(StringLike={"kms:ViaService": "s3.*.amazonaws.com"}))))),
    ),
    "logs kept two years": (
        "large-aws",
        edit("aws:cloudwatch/logGroup:LogGroup", "team-log-group", put("retentionInDays", 731)),
    ),
    "flows gathered for a minute": (
        "uae-aws",
        edit("aws:ec2/flowLog:FlowLog", "network-flow-log", put("maxAggregationInterval", 60)),
    ),
    "backups within six hours": (
        "large-gcp",
        edit("gcp:backupdisasterrecovery/backupPlan:BackupPlan", "northwind-production-shared-daily",
             put("backupRules[0].standardSchedule.backupWindow", {"startHourOfDay": 8, "endHourOfDay": 14})),
    ),
    "tagged images expire, whatever the tag": (
        "large-aws",
        edit("aws:ecr/lifecyclePolicy:LifecyclePolicy",
             "images-globex-production-ecr-aws-observability-aws-for-fluent-bit",
             in_json("policy", lambda held: held["rules"][0]["selection"].update(
                 tagStatus="tagged", tagPatternList=["*"]))),
    ),
    "told at 150 percent": (
        "demo-gcp",
        edit("gcp:billing/budget:Budget", "budget-budget",
                                put("thresholdRules[2].thresholdPercent", 1.5)),
    ),
    "a certificate for every name of the namespace besides": (
        "eu-gcp",
        edit("tls:index/certRequest:CertRequest", "mlflow-certificate-request",
             put("dnsNames[5]", "*.mlflow.svc.cluster.local")),
    ),
    "thirty seconds before a stop of ninety": (
        "uae-aws",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.containers[0].lifecycle.preStop.sleep.seconds", 30),
             put(f"{POD}.terminationGracePeriodSeconds", 90)),
    ),
    "a window on Fridays besides": (
        "eu-gcp",
        edit("gcp:container/cluster:Cluster", "cluster-cluster",
             put("maintenancePolicy.recurringWindow.recurrence", "FREQ=WEEKLY;BYDAY=FR,SA,SU")),
    ),
    "the database takes accounts of IAM": (
        "demo-gcp",
        edit(SQL, "acme-demo-gcp-mlflow",
             put("settings.databaseFlags[11]", {"name": "cloudsql.iam_authentication", "value": "on"})),
    ),
    "a minute to be late": (
        "demo",
        edit(CRON, "checkpoint-check-vision-checkpoint-age", put("spec.startingDeadlineSeconds", 60)),
    ),
    "nothing of Amazon's through the proxy": (
        "demo",
        edit(RUNTIME, "runtimes-torch-train", variables(
            f"{NODE}.env", NO_PROXY=f"{SELF},.amazonaws.com", no_proxy=f"{SELF},.amazonaws.com")),
    ),
    "jobs of another kind are collected besides": (
        "large-gcp",
        edit(RELEASE, "monitoring-release",
             lambda inputs: inputs["values"]["kube-state-metrics"]["collectors"].append("horizontalpodautoscalers")),
    ),
    "addresses kept warm instead of prefixes": (
        "demo",
        edit("aws:eks/addon:Addon", "cluster-vpc-cni",
             in_json("configurationValues", lambda held: held["env"].update(
                 WARM_PREFIX_TARGET="0", WARM_IP_TARGET="5", MINIMUM_IP_TARGET="16"))),
    ),
}  # fmt: skip

BESIDE: Final[dict[str, tuple[str, str, Change]]] = {
    "three apart, one of which goes first": (
        "demo", "placement-spread",
        both(APART, edit(DEPLOYMENT, "egress-deployment",
                         put("spec.strategy.rollingUpdate", {"maxSurge": 0, "maxUnavailable": 1}))),
    ),
    "two apart in three zones": (
        "demo", "placement-spread", both(APART, edit(DEPLOYMENT, "egress-deployment", put("spec.replicas", 2))),
    ),
    "huge pages that the autoscaler is told of": (
        "demo", "placement-scaling-tag",
        both(edit(RUNTIME, "runtimes-torch-train", put(HUGE, "10Gi")),
             *(edit("aws:autoscaling/tag:Tag", f"gpu-nodes-train-{one}-resources-hugepages-2mi",
                    put("tag.value", "10Gi")) for one in ("reserved", "spot", "on-demand"))),
    ),
    "labels of Kubernetes": (
        "eu-gcp", "placement-no-node",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.nodeSelector.kubernetes~io/arch", "amd64"),
             put(f"{POD}.nodeSelector.topology~kubernetes~io/region", "europe-west4")),
    ),
}  # fmt: skip
