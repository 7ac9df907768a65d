"""Seventy mistakes on AWS, half of them in programs of other people, written before any rule was read.

18 of the 33 that are refused and 13 of the 37 that are taken were told at first sight.
"""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import left_out, refer, reworded, statement, without
from tests.rehearsal.works.mistakes import DROP, Mistake, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_breadth import beside

LARGE = "large-aws"
SMALL = "small-aws"
KEEPING, DATA = "keeping", "data"
ACL = "aws:ec2/networkAcl:NetworkAcl"

EFS = "aws:efs/fileSystem:FileSystem"
REPLICATION = "aws:s3/bucketReplicationConfig:BucketReplicationConfig"
ENTRY = "aws:eks/accessEntry:AccessEntry"
SCHEDULE = "aws:scheduler/schedule:Schedule"
LAMBDA = "aws:lambda/function:Function"
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
JOB = "aws:batch/jobDefinition:JobDefinition"
PLAN = "aws:backup/plan:Plan"
SELECTION = "aws:backup/selection:Selection"
ANOMALY = "aws:costexplorer/anomalySubscription:AnomalySubscription"
COMPOSITE = "aws:cloudwatch/compositeAlarm:CompositeAlarm"
SPOT = "gpu-nodes-train-spot-template"

REFUSED = [
    Mistake(
        "gateway-with-private-names",
        "private DNS on a gateway endpoint",
        edit(aws.ENDPOINT, "network-s3", put("privateDnsEnabled", True)),
        "endpoint-kind",
    ),
    Mistake(
        "route-by-two-ways",
        "a route with a NAT gateway and an internet gateway",
        refer(
            aws.ROUTE,
            "network-private-us-east-1a-out",
            "gatewayId",
            "aws:ec2/internetGateway:InternetGateway",
            "network-internet",
        ),
        "paths-nodes-cut-off",
    ),
    Mistake(
        "private-nat-with-an-address",
        "a private NAT gateway with an allocation",
        edit(aws.NAT, "network-nat-us-east-1a", put("connectivityType", "private")),
        "nat-address",
    ),
    Mistake(
        "icmp-code-443",
        "an ICMP rule with code 443",
        edit(aws.INGRESS, "network-endpoints-https", put("ipProtocol", "icmp"), put("fromPort", 8), put("toPort", 443)),
        "paths-endpoint-closed",
    ),
    Mistake(
        "rule-described-with-umlaut",
        "a rule's description with an umlaut",
        edit(aws.INGRESS, "network-endpoints-https", put("description", "HTTPS für alle im VPC")),
        "security-group-description",
    ),
    Mistake(
        "iops-over-volume",
        "20000 IOPS on 30 GiB gp3",
        edit(
            aws.TEMPLATE,
            SPOT,
            put("blockDeviceMappings[0].ebs.volumeSize", 30),
            put("blockDeviceMappings[0].ebs.iops", 20000),
        ),
        "ebs-iops",
    ),
    Mistake(
        "groups-twice",
        "a template with interfaces and groups of its own",
        edit(aws.TEMPLATE, SPOT, put("vpcSecurityGroupIds", ["sg-5bebae4183de83906"])),
        "launch-template-security-groups",
    ),
    Mistake(
        "label-of-kubernetes",
        "a node group labels with a reserved prefix",
        edit(aws.NODES, "cluster-cpu", put("labels.node-role~kubernetes~io/worker", "true")),
        "eks-label-reserved",
    ),
    Mistake(
        "update-by-number-and-share",
        "updateConfig with number and percentage",
        edit(aws.NODES, "cluster-system", put("updateConfig.maxUnavailablePercentage", 33)),
        "eks-update-config",
    ),
    Mistake(
        "repair-by-number-and-share",
        "repair config with both",
        edit(aws.NODES, "gpu-nodes-train-reserved", put("nodeRepairConfig.maxParallelNodesRepairedPercentage", 20)),
        "aws-inputs",
    ),
    Mistake(
        "group-of-system",
        "access entry with system:masters",
        edit(ENTRY, "cluster-deployer", put("kubernetesGroups", ["system:masters"])),
        "policy:team-administers-cluster",
    ),
    Mistake(
        "namespace-scope-of-none",
        "scope namespace with no namespaces",
        edit(aws.ENTRY_POLICY, "cluster-deployer", put("accessScope.type", "namespace")),
        "eks-access-scope",
    ),
    Mistake(
        "admin-of-postgres",
        "master user admin at postgres",
        edit(aws.DATABASE, "acme-demo-mlflow", put("username", "admin")),
        "rds-username",
    ),
    Mistake(
        "insights-thirty-days",
        "performance insights 30 days",
        edit(aws.DATABASE, "acme-demo-mlflow", put("performanceInsightsRetentionPeriod", 30)),
        "rds-insights",
    ),
    Mistake(
        "metadata-iops-automatic",
        "Lustre metadata iops in automatic mode",
        edit(aws.LUSTRE, "globex-production-lustre", put("metadataConfiguration.iops", 12000)),
        "fsx-metadata",
        stack=LARGE,
    ),
    Mistake(
        "archive-without-elastic",
        "EFS archive in bursting mode",
        edit(EFS, "globex-production-shared", put("throughputMode", "bursting")),
        "efs-archive",
        stack=LARGE,
    ),
    Mistake(
        "expires-before-it-moves",
        "S3 expiration before transition",
        edit(aws.LIFECYCLE, "models", put("rules[0].expiration", {"days": 100})),
        "s3-lifecycle-order",
        stack=KEEPING,
    ),
    Mistake(
        "replication-without-markers",
        "replication with filter without marker replication",
        edit(REPLICATION, "models", put("rules[0].deleteMarkerReplication", DROP)),
        "s3-replication",
        stack=KEEPING,
    ),
    Mistake(
        "alias-of-aws",
        "alias/aws/...",
        edit(aws.ALIAS, "data-alias", put("name", "alias/aws/acme-demo-data")),
        "kms-alias",
    ),
    Mistake(
        "boundary-is-a-role",
        "permissions boundary is a role's ARN",
        edit(aws.ROLE, "mlflow-role", put("permissionsBoundary", "arn:aws:iam::123456789012:role/boundary")),
        "aws-arn-kind",
    ),
    Mistake(
        "attached-to-an-arn",
        "attachment's role is its ARN",
        refer(aws.ATTACHMENT, "cluster-ebs-AmazonEBSCSIDriverPolicy", "role", aws.ROLE, "cluster-ebs", "arn"),
        "aws-model",
    ),
    Mistake(
        "target-of-a-rules-arn",
        "event target names the rule's ARN",
        refer(aws.TARGET, "security-findings", "rule", aws.RULE, "security-findings", "arn"),
        "aws-model",
    ),
    Mistake(
        "filter-on-infrequent-group",
        "metric filter on an infrequent access log group",
        edit(aws.LOGS, "managed-jobs-events", put("logGroupClass", "INFREQUENT_ACCESS")),
        "log-class",
        stack=SMALL,
    ),
    Mistake(
        "daily-forecast",
        "daily budget with forecast",
        edit(aws.BUDGET, "budget-budget", put("timeUnit", "DAILY")),
        "budget-notifications",
    ),
    Mistake(
        "immediate-by-mail",
        "anomalies at once by mail",
        edit(ANOMALY, "services", put("subscribers[0]", {"type": "EMAIL", "address": "a@acme.example"})),
        "anomaly-frequency",
        stack=KEEPING,
    ),
    Mistake(
        "reserved-variable",
        "Lambda sets AWS_REGION",
        edit(LAMBDA, "turn", put("environment", {"variables": {"AWS_REGION": "eu-west-1"}})),
        "lambda-variable",
        stack=KEEPING,
    ),
    Mistake(
        "best-fit-without-fleet-role",
        "batch spot BEST_FIT w/o spot role",
        edit(ENVIRONMENT, "spot", put("computeResources.allocationStrategy", "BEST_FIT")),
        "batch-environment",
        stack=KEEPING,
    ),
    Mistake(
        "cold-too-short",
        "backup deleted 30 days after cold storage",
        edit(PLAN, "nightly", put("rules[0].lifecycle.deleteAfter", 60)),
        "backup-plan",
        stack=KEEPING,
    ),
    Mistake(
        "visible-before-the-function-ends",
        "queue visibility below function timeout",
        edit("aws:sqs/queue:Queue", "arrivals", put("visibilityTimeoutSeconds", 60)),
        "lambda-visibility",
        stack=DATA,
    ),
    Mistake(
        "tagged-without-prefix",
        "ECR lifecycle tagged without prefix list",
        edit("aws:ecr/lifecyclePolicy:LifecyclePolicy", "train", reworded("policy", "untagged", "tagged")),
        "ecr-lifecycle",
        stack=KEEPING,
    ),
    Mistake(
        "hours-singular",
        "scheduler rate(1 hours)",
        edit(SCHEDULE, "retrain", put("scheduleExpression", "rate(1 hours)")),
        "aws-schedule",
        stack=KEEPING,
    ),
    Mistake(
        "zone-of-no-clock",
        "scheduler timezone misspelt",
        edit(SCHEDULE, "retrain", put("scheduleExpressionTimezone", "Europe/Dublinn")),
        "schedule-zone",
        stack=KEEPING,
    ),
    Mistake(
        "acl-rule-too-high",
        "ACL rule 40000",
        edit(ACL, "work", put("ingress[0].ruleNo", 40000)),
        "acl-rule",
        stack=KEEPING,
    ),
]
"""What AWS or the provider refuses."""

SILENT = [
    Mistake(
        "nat-of-another-zone",
        "a zone goes out by another zone's NAT",
        refer(aws.ROUTE, "network-private-us-west-2d-out", "natGatewayId", aws.NAT, "network-nat-us-west-2a"),
        "reference-unused",
        stack=LARGE,
    ),
    Mistake(
        "logs-endpoint-only-reads",
        "logs endpoint lets only describe by",
        edit(
            aws.ENDPOINT,
            "network-logs-interface",
            statement("policy", "OwnResources", put("Action", ["logs:Describe*"])),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "acl-without-answers",
        "ACL lets only 443 in",
        edit(
            ACL,
            "work",
            put(
                "ingress[0]",
                {
                    "ruleNo": 100,
                    "protocol": "tcp",
                    "action": "allow",
                    "cidrBlock": "0.0.0.0/0",
                    "fromPort": 443,
                    "toPort": 443,
                },
            ),
        ),
        "paths-acl-closed",
        stack=KEEPING,
    ),
    Mistake(
        "volumes-stay",
        "volumes of nodes stay",
        edit(aws.TEMPLATE, SPOT, put("blockDeviceMappings[0].ebs.deleteOnTermination", "false")),
        "ebs-stays",
    ),
    Mistake(
        "reservation-none",
        "reserved nodes take no reservation",
        edit(
            aws.TEMPLATE,
            "gpu-nodes-train-reserved-template",
            put("capacityReservationSpecification", {"capacityReservationPreference": "none"}),
        ),
        "machines-reservation",
    ),
    Mistake(
        "gpus-always-on",
        "eight A100 always on",
        edit(
            aws.NODES, "gpu-nodes-train-on-demand", put("scalingConfig.minSize", 1), put("scalingConfig.desiredSize", 1)
        ),
        "policy:gpu-pool-never-scales-down",
    ),
    Mistake(
        "home-that-is-closed",
        "access point creates a closed directory",
        edit(
            aws.ACCESS_POINT,
            "globex-production-shared-home-foundation",
            put("rootDirectory.creationInfo", {"ownerUid": 2000, "ownerGid": 2000, "permissions": "0700"}),
        ),
        "programs-mount",
        stack=LARGE,
    ),
    Mistake(
        "no-bucket-key",
        "no bucket key",
        edit(aws.ENCRYPTION, "acme-demo-data-encryption", put("rules[0].bucketKeyEnabled", False)),
        None,
        why="what a bucket's own key saves is money, and what it costs is a line a request in the key's record",
    ),
    Mistake(
        "parts-stay",
        "unfinished uploads stay",
        edit(
            aws.LIFECYCLE,
            "acme-demo-checkpoints-lifecycle",
            lambda i: [x.update(status="Disabled") for x in i["rules"] if x["id"] == "abort-incomplete-uploads"],
        ),
        None,
        why="to leave unfinished uploads where they are is a choice",
    ),
    Mistake(
        "prefix-with-slash",
        "lifecycle prefix with a leading slash",
        edit(aws.LIFECYCLE, "models", put("rules[0].filter.prefix", "/runs/")),
        "s3-lifecycle-filter",
        stack=KEEPING,
    ),
    Mistake(
        "suffix-with-star",
        "notification's suffix with a star",
        edit("aws:s3/bucketNotification:BucketNotification", "landing", put("queues[0].filterSuffix", "*.parquet")),
        "reference-object-filter",
        stack=DATA,
    ),
    Mistake(
        "encrypted-not-copied",
        "KMS objects not replicated",
        both(
            beside(aws.KEY, "models", aws.VPC, {"description": "x", "enableKeyRotation": True}),
            beside(
                aws.ENCRYPTION,
                "models",
                aws.VPC,
                {
                    "bucket": "acme-keeping-models",
                    "rules": [
                        {
                            "applyServerSideEncryptionByDefault": {
                                "sseAlgorithm": "aws:kms",
                                "kmsMasterKeyId": "models",
                            },
                            "bucketKeyEnabled": True,
                        }
                    ],
                },
            ),
        ),
        "reference-replica",
        stack=KEEPING,
    ),
    Mistake(
        "audit-not-loaded",
        "pgaudit is told and not loaded",
        edit(
            aws.PARAMETERS,
            "acme-demo-mlflow-parameters",
            lambda i: i["parameters"].append({"name": "pgaudit.log", "value": "all"}),
        ),
        "rds-preload",
    ),
    Mistake(
        "statements-all",
        "log all statements",
        edit(aws.PARAMETERS, "acme-demo-mlflow-parameters", put("parameters[1].value", "all")),
        None,
        why="a record of every statement is a choice; the rule that reads secrets in logs cannot see what is asked",
    ),
    Mistake(
        "irsa-with-star",
        "StringEquals with a star",
        edit(aws.ROLE, "pictures", reworded("assumeRolePolicy", "system:serviceaccount:", "system:serviceaccount:*")),
        "rights-binding-untrusted",
        stack="web",
    ),
    Mistake(
        "turner-may-not-put",
        "rotation may not put",
        edit(aws.POLICY, "turner", statement("policy", "", without("Action", "secretsmanager:PutSecretValue"), at=0)),
        "rights-role-lacks",
        stack=KEEPING,
    ),
    Mistake(
        "alarm-on-an-arn",
        "alarm's queue name is its ARN",
        refer(aws.ALARM, "dead", "dimensions.QueueName", "aws:sqs/queue:Queue", "dead", "arn"),
        "programs-alarm",
        stack=DATA,
    ),
    Mistake(
        "composite-of-another",
        "composite alarm names an alarm that is not there",
        edit(COMPOSITE, "turn", put("alarmRule", "ALARM(turn-error) OR ALARM(turn-slow)")),
        "reference-alarm",
        stack=KEEPING,
    ),
    Mistake(
        "composite-quiet",
        "composite alarm's actions are off",
        edit(COMPOSITE, "turn", put("actionsEnabled", False)),
        "programs-switched-off",
        stack=KEEPING,
    ),
    Mistake(
        "batch-status",
        "a state that batch has not",
        edit(aws.RULE, "batch-failed", in_json("eventPattern", put("detail.status", ["FAILURE"]))),
        "programs-event",
        stack=KEEPING,
    ),
    Mistake(
        "filtered-away",
        "mail is filtered by an attribute that nobody sends",
        edit(aws.SUBSCRIPTION, "on-call", put("filterPolicy", '{"severity": ["high"]}')),
        "programs-unheard",
        stack=KEEPING,
    ),
    Mistake(
        "anomalies-not-let-in",
        "topic lets Cost Explorer in by another name",
        edit(aws.TOPIC_POLICY, "on-call", reworded("policy", "costalerts.amazonaws.com", "ce.amazonaws.com")),
        "rights-delivery",
        stack=KEEPING,
    ),
    Mistake(
        "budget-that-ended",
        "budget ended in 2024",
        edit(
            aws.BUDGET,
            "budget-budget",
            put("timePeriodStart", "2023-01-01_00:00"),
            put("timePeriodEnd", "2024-01-01_00:00"),
        ),
        "budget-period",
    ),
    Mistake(
        "function-in-public-subnet",
        "function in a public subnet",
        refer(LAMBDA, "turn", "vpcConfig.subnetIds[0]", aws.SUBNET, "entry"),
        "paths-worker-no-way-out",
        stack=KEEPING,
    ),
    Mistake(
        "queue-off",
        "job queue is disabled",
        edit(QUEUE, "train", put("state", "DISABLED")),
        "programs-switched-off",
        stack=KEEPING,
    ),
    Mistake(
        "more-gpus-than-any",
        "a job of four GPUs",
        edit(
            JOB,
            "train",
            in_json(
                "containerProperties",
                lambda c: [x.update(value="4") for x in c["resourceRequirements"] if x["type"] == "GPU"],
            ),
        ),
        "programs-batch-room",
        stack=KEEPING,
    ),
    Mistake(
        "schedule-off",
        "schedule is disabled",
        edit(SCHEDULE, "retrain", put("state", "DISABLED")),
        "programs-switched-off",
        stack=KEEPING,
    ),
    Mistake(
        "nothing-selected",
        "backup selects a tag nobody has",
        edit(
            SELECTION,
            "files",
            put("resources", DROP),
            put("selectionTags", [{"type": "STRINGEQUALS", "key": "backup", "value": "yes"}]),
        ),
        "reference-backup",
        stack=KEEPING,
    ),
    Mistake(
        "role-for-restores",
        "backups' role may only restore",
        edit(
            aws.ATTACHMENT,
            "backups",
            put("policyArn", "arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForRestores"),
        ),
        "rights-role-lacks",
        stack=KEEPING,
    ),
    Mistake(
        "recorder-off",
        "recorder not enabled",
        edit("aws:cfg/recorderStatus:RecorderStatus", "main", put("isEnabled", False)),
        "programs-switched-off",
        stack=KEEPING,
    ),
    Mistake(
        "flows-by-another",
        "bucket lets another service's logs in",
        edit(
            aws.BUCKET_POLICY,
            "records",
            reworded("policy", "delivery.logs.amazonaws.com", "vpc-flow-logs.amazonaws.com"),
        ),
        "rights-delivery",
        stack=KEEPING,
    ),
    Mistake(
        "logs-for-ever",
        "builds' logs are kept for ever",
        left_out(aws.LOGS, "builds", "retentionInDays"),
        None,
        why="logs that are kept for ever are what many are bound to",
        stack=KEEPING,
    ),
    Mistake(
        "function-of-none",
        "function may run zero times",
        edit(LAMBDA, "turn", put("reservedConcurrentExecutions", 0)),
        "programs-switched-off",
        stack=KEEPING,
    ),
    Mistake(
        "dead-for-a-minute",
        "dead letters are kept a minute",
        edit("aws:sqs/queue:Queue", "dead", put("messageRetentionSeconds", 60)),
        "sqs-dead-letters",
        stack=DATA,
    ),
    Mistake(
        "no-target-in-b",
        "no mount target in zone b",
        drop(aws.MOUNT_TARGET, "work-eu-west-1b"),
        "paths-no-mount-target",
        stack=KEEPING,
    ),
    Mistake(
        "batch-without-a-way-out",
        "batch's subnets have no way out",
        edit(aws.TABLE, "private", put("routes", [])),
        "paths-worker-no-way-out",
        stack=KEEPING,
    ),
    Mistake(
        "extended-support",
        "the version is let into extended support",
        edit(aws.CLUSTER, "cluster-cluster", put("upgradePolicy.supportType", "EXTENDED")),
        "policy:unsupported-kubernetes-version",
    ),
]
"""What is taken, and then does not work, costs money or tells nobody."""

MISTAKES = [*REFUSED, *SILENT]
MISSED = frozenset(
    {
        "iops-over-volume",
        "repair-by-number-and-share",
        "archive-without-elastic",
        "replication-without-markers",
        "boundary-is-a-role",
        "target-of-a-rules-arn",
        "filter-on-infrequent-group",
        "reserved-variable",
        "best-fit-without-fleet-role",
        "cold-too-short",
        "visible-before-the-function-ends",
        "tagged-without-prefix",
        "hours-singular",
        "zone-of-no-clock",
        "acl-rule-too-high",
        "acl-without-answers",
        "volumes-stay",
        "no-bucket-key",
        "parts-stay",
        "suffix-with-star",
        "encrypted-not-copied",
        "audit-not-loaded",
        "statements-all",
        "turner-may-not-put",
        "composite-of-another",
        "batch-status",
        "budget-that-ended",
        "function-in-public-subnet",
        "queue-off",
        "more-gpus-than-any",
        "nothing-selected",
        "role-for-restores",
        "recorder-off",
        "flows-by-another",
        "logs-for-ever",
        "function-of-none",
        "dead-for-a-minute",
        "no-target-in-b",
        "batch-without-a-way-out",
    }
)
"""What was not told at first sight."""
