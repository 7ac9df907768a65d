"""Thirty-six more, after the fourth set was mended: other services, most of them in a program of somebody else's.

12 of the 19 that are refused and 4 of the 17 that are taken were told at first sight.
"""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import refer, reworded
from tests.rehearsal.works.mistakes import Mistake, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_breadth import beside

LARGE = "large-aws"
SMALL = "small-aws"
KEEPING, DATA, GPU = "keeping", "data", "gpu"

SCHEDULE = "aws:scheduler/schedule:Schedule"
LAMBDA = "aws:lambda/function:Function"
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
PLAN = "aws:backup/plan:Plan"
BUILD = "aws:codebuild/project:Project"

REFUSED = [
    Mistake(
        "service-that-there-is-not",
        "endpoint of eks-authn",
        edit(aws.ENDPOINT, "network-eks-auth-interface", put("serviceName", "com.amazonaws.us-east-1.eks-authn")),
        "endpoint-service",
    ),
    Mistake(
        "taint-of-two-slashes",
        "taint key with two slashes",
        edit(aws.NODES, "gpu-nodes-train-reserved", put("taints[0].key", "nvidia.com/gpu/extra")),
        "eks-taint-key",
    ),
    Mistake(
        "ten-gib-of-gp3",
        "aws.DATABASE gp3 10 GiB",
        edit(aws.DATABASE, "acme-demo-mlflow", put("allocatedStorage", 10)),
        "rds-storage",
    ),
    Mistake(
        "squash-without-tcp",
        "NIDs without @tcp",
        edit(aws.LUSTRE, "globex-production-lustre", put("rootSquashConfiguration.noSquashNids", ["10.0.0.1"])),
        "aws-model",
        stack=LARGE,
    ),
    Mistake(
        "gid-too-large",
        "access point's gid",
        edit(aws.ACCESS_POINT, "globex-production-shared-home-foundation", put("posixUser.gid", 5000000000)),
        "aws-model",
        stack=LARGE,
    ),
    Mistake(
        "alias-of-an-alias",
        "alias to an alias",
        edit(aws.ALIAS, "data-alias", put("targetKeyId", "alias/acme-demo-tracking")),
        "kms-alias-target",
    ),
    Mistake(
        "policy-too-long",
        "inline policy of 11k characters",
        edit(
            aws.POLICY,
            "ingest-role-policy",
            in_json(
                "policy",
                lambda d: d["Statement"].append(
                    {
                        "Effect": "Allow",
                        "Action": "s3:GetObject",
                        "Resource": [
                            f"arn:aws:s3:::acme-demo-data-f6c28dc/projects/number-{i:04}/of-the-year/raw/*"
                            for i in range(140)
                        ],
                    }
                ),
            ),
        ),
        "iam-size",
    ),
    Mistake(
        "trail-with-a-space",
        "trail name",
        edit(aws.TRAIL, "acme-demo-trail-trail", put("name", "acme demo")),
        "trail-name",
    ),
    Mistake(
        "query-id-with-a-capital",
        "metric query's id begins with a capital",
        edit(aws.ALARM, "managed-jobs-gpu-idle", put("metricQueries[0].id", "Use")),
        "alarm-query-id",
        stack=SMALL,
    ),
    Mistake(
        "static-at-once",
        "static parameter applied at once",
        edit(
            aws.PARAMETERS,
            "acme-demo-mlflow-parameters",
            lambda i: i["parameters"].append({"name": "max_connections", "value": "200", "applyMethod": "immediate"}),
        ),
        "machines-parameter",
    ),
    Mistake(
        "runtime-of-old",
        "python3.7",
        edit(LAMBDA, "turn", put("runtime", "python3.7")),
        "lambda-runtime",
        stack=KEEPING,
    ),
    Mistake(
        "copy-to-a-name",
        "copy's vault is a name",
        edit(PLAN, "nightly", put("rules[0].copyActions[0].destinationVaultArn", "distant")),
        "aws-arn",
        stack=KEEPING,
    ),
    Mistake(
        "priority-2000", "queue priority", edit(QUEUE, "train", put("priority", 2000)), "batch-queue", stack=KEEPING
    ),
    Mistake(
        "recorder-of-all-and-some",
        "all supported and a list",
        edit("aws:cfg/recorder:Recorder", "main", put("recordingGroup.resourceTypes", ["AWS::EC2::Instance"])),
        "config-recorder",
        stack=KEEPING,
    ),
    Mistake(
        "retries-300",
        "target retry 300",
        edit(aws.TARGET, "batch-failed", put("retryPolicy", {"maximumRetryAttempts": 300})),
        "aws-model",
        stack=KEEPING,
    ),
    Mistake(
        "event-of-no-object",
        "s3:ObjectCreate:*",
        edit("aws:s3/bucketNotification:BucketNotification", "landing", put("queues[0].events", ["s3:ObjectCreate:*"])),
        "aws-model",
        stack=DATA,
    ),
    Mistake(
        "types-twice",
        "instance types in group and template",
        edit(aws.NODES, "a100", put("instanceTypes", ["p4d.24xlarge"])),
        "launch-template-conflict",
        stack=GPU,
    ),
    Mistake(
        "copies-without-versions",
        "replica's bucket has no versions",
        drop(aws.VERSIONING, "copies"),
        "s3-replication",
        stack=KEEPING,
    ),
    Mistake(
        "roles-by-arn",
        "budget action's roles are ARNs",
        edit(
            "aws:budgets/budgetAction:BudgetAction",
            "managed-over-budget",
            put("definition.iamActionDefinition.roles", ["arn:aws:iam::123456789012:role/managed-people-14933e5"]),
        ),
        "managed-brake-arn",
        stack=SMALL,
    ),
]
"""What AWS or the provider refuses."""

SILENT = [
    Mistake(
        "vault-tells-of-starts",
        "vault tells of starts alone",
        edit(
            "aws:backup/vaultNotifications:VaultNotifications", "main", put("backupVaultEvents", ["BACKUP_JOB_STARTED"])
        ),
        "backup-told",
        stack=KEEPING,
    ),
    Mistake(
        "on-the-thirtieth-of-february",
        "cron that never comes",
        edit(PLAN, "nightly", put("rules[0].schedule", "cron(0 2 30 2 ? *)")),
        "aws-schedule-never",
        stack=KEEPING,
    ),
    Mistake(
        "nfs-from-another",
        "NFS is let in from its own group",
        refer(aws.INGRESS, "files", "referencedSecurityGroupId", aws.GROUP, "files"),
        "paths-worker-nfs",
        stack=KEEPING,
    ),
    Mistake(
        "nfs-on-another-port",
        "NFS port",
        edit(aws.INGRESS, "files", put("fromPort", 2094), put("toPort", 2094)),
        "paths-worker-nfs",
        stack=KEEPING,
    ),
    Mistake(
        "machines-that-do-not-join",
        "instance role cannot join ECS",
        edit(aws.ATTACHMENT, "machine", put("policyArn", "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")),
        "rights-role-lacks",
        stack=KEEPING,
    ),
    Mistake(
        "builds-without-logs",
        "builder may not write logs",
        edit(aws.POLICY, "builder", in_json("policy", lambda d: d["Statement"].pop(0))),
        "rights-role-lacks",
        stack=KEEPING,
    ),
    Mistake(
        "jobs-that-nobody-is",
        "job role trusts EC2",
        edit(aws.ROLE, "job", reworded("assumeRolePolicy", "ecs-tasks.amazonaws.com", "ec2.amazonaws.com")),
        "rights-role-untrusted",
        stack=KEEPING,
    ),
    Mistake(
        "quota-of-four",
        "quota below one environment",
        edit("aws:servicequotas/serviceQuota:ServiceQuota", "spot-gpus", put("value", 2)),
        "programs-quota",
        stack=KEEPING,
    ),
    Mistake(
        "queue-by-a-wrong-name",
        "schedule's queue is misspelt",
        edit(SCHEDULE, "retrain", reworded("target", "job-queue/train", "job-queue/trains")),
        "reference-batch",
        stack=KEEPING,
    ),
    Mistake(
        "a-tenth-of-the-price",
        "bids ten percent",
        edit(ENVIRONMENT, "spot", put("computeResources.bidPercentage", 10)),
        "batch-bid",
        stack=KEEPING,
    ),
    Mistake(
        "logs-of-another-name",
        "project's logs go to another group",
        edit(BUILD, "train", put("logsConfig.cloudwatchLogs.groupName", "/aws/codebuild/trains")),
        "reference-log-group",
        stack=KEEPING,
    ),
    Mistake(
        "tag-in-capitals",
        "budget filters on another case",
        edit(aws.BUDGET, "budget-budget", put("costFilters[0].values", ["user:Project$acme-demo"])),
        "programs-budget",
    ),
    Mistake(
        "exports-only-deletions",
        "Lustre exports deletions alone",
        edit(
            aws.REPOSITORY_LINK, "globex-production-lustre-scratch", put("s3.autoExportPolicy", {"events": ["DELETED"]})
        ),
        "fsx-link",
        stack=LARGE,
    ),
    Mistake(
        "topic-of-awss-key",
        "on-call topic under alias/aws/sns",
        edit(aws.TOPIC, "on-call", put("kmsMasterKeyId", "alias/aws/sns")),
        "rights-delivery-key",
        stack=KEEPING,
    ),
    Mistake(
        "copier-may-not-copy",
        "replication's role may not replicate",
        edit(aws.POLICY, "copier", reworded("policy", "s3:ReplicateObject", "s3:PutObject")),
        "rights-role-lacks",
        stack=KEEPING,
    ),
    Mistake(
        "a-way-by-nat-in-private",
        "the NAT gateway stands in a private subnet",
        refer(aws.NAT, "nat", "subnetId", aws.SUBNET, "work-eu-west-1a"),
        "paths-nat-no-way-out",
        stack=KEEPING,
    ),
    Mistake(
        "alarm-of-minutes-on-days",
        "alarm on a daily metric of S3 with five minutes",
        beside(
            aws.ALARM,
            "size",
            aws.ALARM,
            {
                "name": "size",
                "namespace": "AWS/S3",
                "metricName": "BucketSizeBytes",
                "dimensions": {"BucketName": "acme-keeping-models", "StorageType": "StandardStorage"},
                "statistic": "Average",
                "period": 300,
                "evaluationPeriods": 1,
                "threshold": 1e12,
                "comparisonOperator": "GreaterThanThreshold",
                "alarmActions": ["arn:aws:sns:eu-west-1:123456789012:on-call"],
            },
        ),
        "alarm-span",
        stack=KEEPING,
    ),
]
"""What is taken, and then does not work, costs money or tells nobody."""

MISTAKES = [*REFUSED, *SILENT]
MISSED = frozenset(
    {
        "service-that-there-is-not",
        "alias-of-an-alias",
        "query-id-with-a-capital",
        "runtime-of-old",
        "priority-2000",
        "recorder-of-all-and-some",
        "copies-without-versions",
        "vault-tells-of-starts",
        "on-the-thirtieth-of-february",
        "nfs-from-another",
        "nfs-on-another-port",
        "machines-that-do-not-join",
        "builds-without-logs",
        "jobs-that-nobody-is",
        "quota-of-four",
        "queue-by-a-wrong-name",
        "a-tenth-of-the-price",
        "logs-of-another-name",
        "exports-only-deletions",
        "alarm-of-minutes-on-days",
    }
)
"""What was not told at first sight."""
