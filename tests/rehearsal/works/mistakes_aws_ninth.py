"""A set of mistakes in our own components on AWS: what is refused, what does not work, what is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, both, drop, edit, in_json, put

DEMO, LARGE, SMALL = "demo", "large-aws", "small-aws"
DATABASE = "aws:rds/instance:Instance"
NODES = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
ROLE = "aws:iam/role:Role"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
RULE = "aws:cloudwatch/eventRule:EventRule"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
IN = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
OUT = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
IMAGES = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
FLUENT = "images-globex-production-ecr-aws-observability-aws-for-fluent-bit"
QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
CRON = "kubernetes:batch/v1:CronJob"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
RELEASE = "kubernetes:helm.sh/v3:Release"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
KEY = "arn:aws:kms:us-east-1:123456789012:key/"
DATA_KEY = f"{KEY}a4f75315-d125-497f-8153-1e6f71602f0a"
PLATFORM_KEY = f"{KEY}b045abef-4849-497d-8ff1-6d0f845ebe4e"
IDLE = "defaultUserSettings.jupyterLabAppSettings.appLifecycleManagement.idleSettings"
FEATURE = "aws:guardduty/detectorFeature:DetectorFeature"
TOPIC = "aws:sns/topicPolicy:TopicPolicy"

Case = tuple[str, str, Change]
"""A stack, the rule that tells a change of it, and the change."""
Sound = tuple[str, Change]


def actions_without(sid: str, *actions: str) -> Callable[[dict[str, Any]], None]:
    """Takes actions out of a statement of a policy."""

    def change(policy: dict[str, Any]) -> None:
        for statement in policy["Statement"]:
            if statement["Sid"] == sid:
                statement["Action"] = [one for one in statement["Action"] if one not in actions]

    return in_json("policy", change)


def condition(sid: str, value: dict[str, Any], key: str = "policy") -> Callable[[dict[str, Any]], None]:
    """Gives a statement of a policy another condition."""

    def change(policy: dict[str, Any]) -> None:
        for statement in policy["Statement"]:
            if statement["Sid"] == sid:
                statement["Condition"] = value

    return in_json(key, change)


def trust(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    """Changes the first statement of who may take a role."""
    return in_json("assumeRolePolicy", lambda policy: change(policy["Statement"][0]))


def in_text(path: str, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Puts other words into a list's texts, as of an admission policy's expressions."""

    def into(inputs: dict[str, Any]) -> None:
        at: Any = inputs
        for part in path.split("."):
            at = at[part]
        for one in at:
            one["expression"] = one["expression"].replace(old, new)

    return into


def pattern(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    return in_json("eventPattern", change)


def doing(*actions: str) -> Callable[[dict[str, Any]], None]:
    """Lets the first statement of a policy allow other actions."""
    return in_json("policy", lambda policy: policy["Statement"][0].update(Action=list(actions)))


REFUSED: dict[str, Case] = {
    "iops-of-a-small-disk": (
        LARGE,
        "rds-storage",
        edit(DATABASE, "globex-production-mlflow", put("storageType", "gp3"), put("iops", 6000)),
    ),
    "backup-during-maintenance": (
        DEMO,
        "rds-window-overlap",
        edit(
            DATABASE,
            "acme-demo-mlflow",
            put("backupWindow", "03:30-04:30"),
            put("maintenanceWindow", "sun:04:00-sun:05:00"),
        ),
    ),
    "insights-for-ninety-days": (
        LARGE,
        "rds-insights",
        edit(DATABASE, "globex-production-mlflow", put("performanceInsightsRetentionPeriod", 90)),
    ),
    "nodes-before-the-cluster": (
        DEMO,
        "machines-version",
        edit(NODES, "cluster-cpu", put("version", "1.36"), put("releaseVersion", DROP)),
    ),
    "type-twice": (
        LARGE,
        "launch-template-conflict",
        edit(NODES, "gpu-nodes-pretrain-reserved", put("instanceTypes", ["p5en.48xlarge"])),
    ),
    "two-ways-to-count": (
        DEMO,
        "eks-update-config",
        edit(NODES, "cluster-system", put("updateConfig.maxUnavailablePercentage", 33)),
    ),
    "lustre-of-an-odd-size": (
        LARGE,
        "fsx-capacity",
        edit("aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre", put("storageCapacity", 20000)),
    ),
    "max-io-with-elastic": (
        LARGE,
        "efs-throughput",
        edit("aws:efs/fileSystem:FileSystem", "globex-production-shared", put("performanceMode", "maxIO")),
    ),
    "infrequent-after-two-weeks": (
        LARGE,
        "s3-lifecycle-transition",
        edit(LIFECYCLE, "globex-production-artifacts-lifecycle", put("rules[1].transitions[0].days", 14)),
    ),
    "retained-days-and-years": (
        SMALL,
        "s3-object-lock",
        edit(
            "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration",
            "initech-research-trail-logs-object-lock",
            put("rule.defaultRetention.years", 1),
        ),
    ),
    "service-of-no-name": (
        DEMO,
        "rights-binding-untrusted",
        edit(
            ROLE, "mlflow-role", trust(lambda one: one.update(Principal={"Service": "pod-identity.eks.amazonaws.com"}))
        ),
    ),
    "session-of-a-day": (SMALL, "aws-model", edit(ROLE, "managed-people", put("maxSessionDuration", 86400))),
    "budget-to-two-topics": (
        LARGE,
        "budget-subscriber",
        edit(
            "aws:budgets/budget:Budget",
            "budget-budget",
            put(
                "notifications[0].subscriberSnsTopicArns[1]",
                "arn:aws:sns:us-west-2:123456789012:security-topic-97014af",
            ),
        ),
    ),
    "alarm-over-more-than-a-day": (DEMO, "alarm-span", edit(ALARM, "watchdog-silent", put("evaluationPeriods", 100))),
    "severity-as-text": (
        DEMO,
        "event-pattern",
        edit(RULE, "security-findings", pattern(lambda one: one["detail"].update(severity=[{"numeric": [">=", "7"]}]))),
    ),
    "images-of-any-tag-first": (
        LARGE,
        "ecr-lifecycle",
        edit(
            IMAGES,
            FLUENT,
            in_json(
                "policy",
                lambda one: one["rules"].append(
                    {
                        "rulePriority": 2,
                        "selection": {
                            "tagStatus": "untagged",
                            "countType": "sinceImagePushed",
                            "countUnit": "days",
                            "countNumber": 7,
                        },
                        "action": {"type": "expire"},
                    }
                ),
            ),
        ),
    ),
    "identity-given-twice": (
        LARGE,
        "reference-twice",
        edit(
            "aws:eks/podIdentityAssociation:PodIdentityAssociation",
            "efs-driver-role-efs-csi-controller-sa",
            put("serviceAccount", "fsx-csi-controller-sa"),
        ),
    ),
    "two-sources-of-a-rule": (
        DEMO,
        "security-group-source",
        edit(IN, "acme-demo-mlflow-ingress-cluster", put("cidrIpv4", "10.0.0.0/16")),
    ),
    "private-nat-with-an-address": (
        DEMO,
        "nat-address",
        edit("aws:ec2/natGateway:NatGateway", "network-nat-us-east-1a", put("connectivityType", "private")),
    ),
    "trail-of-no-type": (
        SMALL,
        "trail-selectors",
        edit(
            "aws:cloudtrail/trail:Trail",
            "initech-research-trail-trail",
            lambda one: one["advancedEventSelectors"][1]["fieldSelectors"].pop(1),
        ),
    ),
    "idle-after-half-an-hour": (
        SMALL,
        "aws-model",
        edit(
            "aws:sagemaker/domain:Domain",
            "studio",
            put(f"{IDLE}.idleTimeoutInMinutes", 30),
            put(f"{IDLE}.minIdleTimeoutInMinutes", 30),
        ),
    ),
    "default-beside-dimensions": (
        SMALL,
        "aws-inputs",
        edit(
            "aws:cloudwatch/logMetricFilter:LogMetricFilter",
            "managed-jobs-failed",
            put("metricTransformation.defaultValue", "0"),
            put("metricTransformation.dimensions", {"Job": "$.detail.TrainingJobName"}),
        ),
    ),
    "recreate-that-rolls": (
        DEMO,
        "k8s-rollout",
        edit(DEPLOYMENT, "mlflow-deployment", put("spec.strategy.type", "Recreate")),
    ),
    "zone-in-the-schedule": (
        DEMO,
        "k8s-schedule",
        edit(
            CRON,
            "checkpoint-check-vision-checkpoint-check",
            put("spec.schedule", "CRON_TZ=Europe/Berlin 47 5 * * *"),
            put("spec.timeZone", DROP),
        ),
    ),
    "failure-policy-on-restart": (
        LARGE,
        "k8s-job",
        edit(
            CRON,
            "checkpoint-check-foundation-checkpoint-check",
            put("spec.jobTemplate.spec.template.spec.restartPolicy", "OnFailure"),
        ),
    ),
    "covered-without-quota": (
        DEMO,
        "kueue-covered",
        edit(QUEUE, "kueue-cluster-queue-vision", put("spec.resourceGroups[0].coveredResources[1]", "cpu")),
    ),
    "borrows-and-never-reclaims": (
        LARGE,
        "kueue-preemption",
        edit(
            QUEUE,
            "kueue-cluster-queue-perception",
            put("spec.preemption.reclaimWithinCohort", "Never"),
            put("spec.preemption.borrowWithinCohort", {"policy": "LowerPriority"}),
        ),
    ),
    "guard-of-an-unknown-variable": (
        DEMO,
        "reference-variable",
        edit(
            "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy",
            "kueue-gpu-guard",
            in_text("spec.validations", "variables.usesGpus", "variables.usesGpu"),
        ),
    ),
    "default-over-the-most": (
        LARGE,
        "k8s-limit-range",
        edit("kubernetes:core/v1:LimitRange", "teams-foundation-defaults", put("spec.limits[0].max", {"cpu": "500m"})),
    ),
    "rights-of-a-node-entry": (
        LARGE,
        "eks-access-nodes",
        edit("aws:eks/accessEntry:AccessEntry", "cluster-admin-platform-admin-ce910a", put("type", "EC2_LINUX")),
    ),
}

LATER: dict[str, Case] = {
    "two-runtime-monitors": (
        LARGE,
        "guardduty-runtime",
        both(
            edit(FEATURE, "threat-detection-runtime-monitoring", put("status", "ENABLED")),
            edit(FEATURE, "threat-detection-eks-audit-logs", put("name", "EKS_RUNTIME_MONITORING")),
        ),
    ),
    "topic-of-all-actions": (DEMO, "sns-policy-action", edit(TOPIC, "budget-alerts-policy", doing("sns:*"))),
    "topic-that-makes-topics": (
        DEMO,
        "sns-policy-action",
        edit(TOPIC, "budget-alerts-policy", doing("sns:Publish", "sns:CreateTopic")),
    ),
}
"""Missed of a second set of twenty-two in the corners that the first leaves out, with the same elsewhere."""

SILENT: dict[str, Case] = {
    "no-metadata-for-nodes": (
        DEMO,
        "machines-metadata",
        edit(TEMPLATE, "cluster-cpu-template", put("metadataOptions.httpEndpoint", "disabled")),
    ),
    "label-that-kubelets-refuse": (
        LARGE,
        "eks-label-reserved",
        edit(NODES, "gpu-nodes-train-spot", put("labels.node-role~kubernetes~io/gpu", "true")),
    ),
    "taint-that-nobody-tolerates": (
        DEMO,
        "placement-no-node",
        edit(NODES, "cluster-cpu", put("taints", [{"key": "dedicated", "value": "cpu", "effect": "NO_SCHEDULE"}])),
    ),
    "zone-without-a-mount": (
        LARGE,
        "paths-no-mount-target",
        drop("aws:efs/mountTarget:MountTarget", "globex-production-shared-us-west-2c"),
    ),
    "home-that-nobody-enters": (
        LARGE,
        "programs-mount",
        edit(
            "aws:efs/accessPoint:AccessPoint",
            "globex-production-shared-home-perception",
            put("rootDirectory.creationInfo.permissions", "0660"),
        ),
    ),
    "database-on-another-port": (DEMO, "paths-store-closed", edit(DATABASE, "acme-demo-mlflow", put("port", 5433))),
    "checkpoints-under-a-strange-key": (
        DEMO,
        "rights-key",
        edit(
            "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
            "acme-demo-checkpoints-encryption",
            put("rules[0].applyServerSideEncryptionByDefault.kmsMasterKeyId", PLATFORM_KEY),
        ),
    ),
    "alarms-by-a-wrong-arn": (
        LARGE,
        "rights-delivery",
        edit(
            "aws:sns/topicPolicy:TopicPolicy",
            "budget-alerts-policy",
            condition(
                "Alarms",
                {
                    "StringEquals": {"aws:SourceAccount": "123456789012"},
                    "ArnLike": {"aws:SourceArn": "arn:aws:cloudwatch:us-west-2:123456789012:alarm/*"},
                },
            ),
        ),
    ),
    "status-in-capitals": (
        SMALL,
        "programs-event",
        edit(
            RULE,
            "managed-jobs-ended",
            pattern(lambda one: one["detail"].update(TrainingJobStatus=["FAILED", "STOPPED"])),
        ),
    ),
    "events-of-another-rule": (
        SMALL,
        "programs-unheard",
        edit(
            "aws:cloudwatch/logResourcePolicy:LogResourcePolicy",
            "managed-jobs-events",
            condition(
                "WriteEvents",
                {
                    "ArnEquals": {
                        "aws:SourceArn": "arn:aws:events:us-east-1:123456789012:rule/managed-jobs-ended-776894d"
                    }
                },
                "policyDocument",
            ),
        ),
    ),
    "silence-that-is-fine": (
        DEMO,
        "programs-alarm",
        edit(ALARM, "watchdog-silent", put("treatMissingData", "notBreaching")),
    ),
    "budget-of-another-project": (
        LARGE,
        "programs-budget",
        edit("aws:budgets/budget:Budget", "budget-budget", put("costFilters[0].values[0]", "user:project$globex")),
    ),
    "role-without-tagged-sessions": (
        LARGE,
        "rights-binding-untrusted",
        edit(ROLE, "alertmanager-role", trust(lambda one: one.update(Action="sts:AssumeRole"))),
    ),
    "groups-by-the-wrong-tag": (
        DEMO,
        "rights-program-lacks",
        edit(
            ROLE_POLICY,
            "autoscaler-role-policy",
            condition(
                "ScaleOwnGroups", {"StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "owned"}}
            ),
        ),
    ),
    "writes-that-only-decrypt": (
        LARGE,
        "rights-key",
        edit(ROLE_POLICY, "ingest-role-policy", actions_without("Key1", "kms:GenerateDataKey")),
    ),
    "identity-of-ecs": (
        DEMO,
        "flows-identity",
        edit(POLICY, "teams-vision-allow-pod-identity", put("spec.egress[0].to[0].ipBlock.cidr", "169.254.170.2/32")),
    ),
    "port-of-another-name": (
        DEMO,
        "reference-port",
        edit("kubernetes:core/v1:Service", "mlflow-service", put("spec.ports[0].targetPort", "http")),
    ),
    "program-elsewhere": (
        LARGE,
        "programs-module",
        edit(
            CRON,
            "checkpoint-check-perception-checkpoint-check",
            put("spec.jobTemplate.spec.template.spec.volumes[0].configMap.items[0].path", "look.py"),
        ),
    ),
    "queue-of-no-namespace": (
        DEMO,
        "queues-namespace",
        edit(
            QUEUE,
            "kueue-cluster-queue-language",
            put("spec.namespaceSelector.matchLabels", {"kubernetes.io/metadata.name": "language"}),
        ),
    ),
    "spot-not-tolerated": (
        LARGE,
        "placement-no-node",
        edit(
            "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor",
            "kueue-flavor-train-spot",
            lambda one: one["spec"]["tolerations"].pop(),
        ),
    ),
    "logs-not-of-gpus": (
        DEMO,
        "placement-logs",
        edit(
            "kubernetes:apps/v1:DaemonSet",
            "team-logs",
            put("spec.template.spec.tolerations", [{"key": "CriticalAddonsOnly", "operator": "Exists"}]),
        ),
    ),
    "disks-under-a-strange-key": (
        DEMO,
        "rights-key",
        edit("kubernetes:storage.k8s.io/v1:StorageClass", "blocks-class", put("parameters.kmsKeyId", DATA_KEY)),
    ),
    "fabric-of-one-type": (
        LARGE,
        "placement-device-plugin",
        edit(RELEASE, "gpu-aws-efa-k8s-device-plugin", put("values.supportedInstanceLabels.values", ["p5.48xlarge"])),
    ),
    "people-of-no-role": (
        DEMO,
        "reference-role",
        edit(
            "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
            "teams-tabular-members",
            put("roleRef.kind", "ClusterRole"),
        ),
    ),
    "names-blocked-first": (
        LARGE,
        "programs-dns-order",
        edit("aws:route53/resolverFirewallRule:ResolverFirewallRule", "dns-allow", put("priority", 300)),
    ),
    "fabric-by-tcp": (
        LARGE,
        "paths-fabric-closed",
        edit(IN, "gpu-nodes-efa-in", put("ipProtocol", "tcp"), put("fromPort", 0), put("toPort", 65535)),
    ),
    "ranks-that-cannot-talk": (SMALL, "managed-not-heard", drop(OUT, "training-to-itself")),
    "artifacts-elsewhere": (
        SMALL,
        "rights-role-lacks",
        edit(
            "aws:sagemaker/mlflowApp:MlflowApp",
            "tracking",
            put("artifactStoreUri", "s3://initech-research-data-86ae670/mlflow"),
        ),
    ),
}


def _images(one: dict[str, Any]) -> None:
    one["rules"] = [
        {"rulePriority": 1, "selection": {"tagStatus": "untagged", "countType": "sinceImagePushed", "countUnit": "days",
                                          "countNumber": 7}, "action": {"type": "expire"}},
        {**one["rules"][0], "rulePriority": 5},
    ]  # fmt: skip


SOUND: dict[str, Sound] = {
    "insights-for-three-months": (
        LARGE,
        edit(DATABASE, "globex-production-mlflow", put("performanceInsightsRetentionPeriod", 93)),
    ),
    "throughput-bought": (
        LARGE,
        edit(
            "aws:efs/fileSystem:FileSystem",
            "globex-production-shared",
            put("throughputMode", "provisioned"),
            put("provisionedThroughputInMibps", 256),
            lambda one: one["lifecyclePolicies"].pop(1),
        ),
    ),
    "two-classes": (
        LARGE,
        edit(
            LIFECYCLE,
            "globex-production-artifacts-lifecycle",
            put(
                "rules[1].transitions",
                [{"days": 30, "storageClass": "STANDARD_IA"}, {"days": 120, "storageClass": "GLACIER_IR"}],
            ),
        ),
    ),
    "a-third-of-the-nodes": (
        DEMO,
        edit(NODES, "cluster-system", put("updateConfig", {"maxUnavailablePercentage": 33})),
    ),
    "untagged-images-first": (LARGE, edit(IMAGES, FLUENT, in_json("policy", _images))),
    "all-may-be-lent": (
        DEMO,
        edit(
            QUEUE,
            "kueue-cluster-queue-vision",
            lambda one: [
                flavor["resources"][0].update(lendingLimit=flavor["resources"][0]["nominalQuota"])
                for flavor in one["spec"]["resourceGroups"][0]["flavors"]
            ],
        ),
    ),
    "daily-in-berlin": (
        DEMO,
        edit(
            CRON,
            "checkpoint-check-vision-checkpoint-check",
            put("spec.schedule", "@daily"),
            put("spec.timeZone", "Europe/Berlin"),
        ),
    ),
    "four-servers": (
        LARGE,
        edit(
            DEPLOYMENT, "mlflow-deployment", put("spec.replicas", 4), put("spec.strategy.rollingUpdate.maxSurge", "25%")
        ),
    ),
    "ports-of-a-range": (
        LARGE,
        edit(POLICY, "teams-foundation-allow-egress-proxy", put("spec.egress[0].ports[0].endPort", 3130)),
    ),
    "at-most-so-many-jobs": (
        DEMO,
        edit("kubernetes:core/v1:ResourceQuota", "teams-vision-quota", put("spec.hard.count/jobs~batch", "500")),
    ),
    "group-of-an-entry": (
        LARGE,
        edit(
            "aws:eks/accessEntry:AccessEntry",
            "cluster-admin-platform-admin-ce910a",
            put("kubernetesGroups", ["auditors"]),
        ),
    ),
    "any-other-status": (
        SMALL,
        edit(
            RULE,
            "managed-jobs-ended",
            pattern(
                lambda one: one["detail"].update(
                    TrainingJobStatus=[{"anything-but": ["InProgress", "Completed", "Stopping"]}]
                )
            ),
        ),
    ),
    # EKS itself puts the tags by which the autoscaler finds groups on those that it manages.
    "a-tag-that-eks-puts": (LARGE, drop("aws:autoscaling/tag:Tag", "gpu-nodes-tune-spot-cluster")),
    "a-topic-of-some-actions": (
        DEMO,
        edit(TOPIC, "budget-alerts-policy", doing("SNS:Publish", "sns:Subscribe", "sns:GetTopicAttributes")),
    ),
    "a-runtime-of-clusters-that-is-off": (
        LARGE,
        edit(
            FEATURE,
            "threat-detection-lambda-network-logs",
            put("name", "EKS_RUNTIME_MONITORING"),
            put("status", "DISABLED"),
        ),
    ),
}
