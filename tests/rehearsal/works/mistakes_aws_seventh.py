"""Thirty-five more, after the sixth set was mended: services that neither it nor any environment here makes.

1 of the 12 that are refused and 5 of the 23 that are taken were told at first sight.
"""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import reworded
from tests.rehearsal.works.mistakes import DROP, Mistake, drop, edit, put

W = "workshop"
PIPELINE = "aws:codepipeline/pipeline:Pipeline"
POOL = "aws:cognito/userPool:UserPool"
CLIENT = "aws:cognito/userPoolClient:UserPoolClient"
METHOD = "aws:apigateway/method:Method"
INTEGRATION = "aws:apigateway/integration:Integration"
BROKER = "aws:msk/cluster:Cluster"
PIPE = "aws:pipes/pipe:Pipe"
RECIPE = "aws:imagebuilder/imageRecipe:ImageRecipe"
LAMBDA = "aws:lambda/function:Function"
LAYER = "aws:lambda/layerVersion:LayerVersion"

REFUSED = [
    Mistake(
        "artifact-that-nobody-makes",
        "an action takes an artifact that no action makes",
        edit(PIPELINE, "train", put("stages[2].actions[1].inputArtifacts", ["wheels"])),
        "pipeline-artifact",
        stack=W,
    ),
    Mistake(
        "approval-of-aws-code",
        "a category that pipelines have not",
        edit(PIPELINE, "train", put("stages[2].actions[0].category", "Approve")),
        "aws-model",
        stack=W,
    ),
    Mistake(
        "brokers-of-three-zones",
        "four brokers over three subnets",
        edit(BROKER, "features", put("numberOfBrokerNodes", 4)),
        "msk-brokers",
        stack=W,
    ),
    Mistake(
        "version-of-two-numbers",
        "recipe's version is 1.2",
        edit(RECIPE, "gpu", put("version", "1.2")),
        "image-version",
        stack=W,
    ),
    Mistake(
        "mfa-without-a-way",
        "MFA optional without any way",
        edit(POOL, "people", put("softwareTokenMfaConfiguration", DROP)),
        "cognito-mfa",
        stack=W,
    ),
    Mistake(
        "flow-without-back",
        "code flow without callback",
        edit(CLIENT, "console", put("callbackUrls", DROP)),
        "cognito-client",
        stack=W,
    ),
    Mistake(
        "proxy-with-get",
        "Lambda proxy called by GET",
        edit(INTEGRATION, "ask", put("integrationHttpMethod", "GET")),
        "api-integration",
        stack=W,
    ),
    Mistake(
        "users-without-authorizer",
        "method of Cognito without authorizer",
        edit(METHOD, "ask", put("authorizerId", DROP)),
        "api-method",
        stack=W,
    ),
    Mistake(
        "message-without-group",
        "pipe into a FIFO queue without a group",
        edit(PIPE, "clicks", put("targetParameters", DROP)),
        "pipe-target",
        stack=W,
    ),
    Mistake(
        "capacity-of-12",
        "warehouse of 12 RPUs",
        edit("aws:redshiftserverless/workgroup:Workgroup", "models", put("baseCapacity", 12)),
        "redshift-capacity",
        stack=W,
    ),
    Mistake(
        "cutoff-after-the-window",
        "maintenance cut-off not below duration",
        edit("aws:ssm/maintenanceWindow:MaintenanceWindow", "patches", put("cutoff", 4)),
        "ssm-window",
        stack=W,
    ),
    Mistake(
        "mounted-in-the-root",
        "function mounts at /desk",
        edit(LAMBDA, "desk", put("fileSystemConfig.localMountPath", "/desk")),
        "aws-model",
        stack=W,
    ),
]
"""What AWS or the provider refuses."""

SILENT = [
    Mistake(
        "layer-of-the-other-chip",
        "layer is for x86_64",
        edit(LAYER, "libraries", put("compatibleArchitectures", ["x86_64"])),
        "programs-layer",
        stack=W,
    ),
    Mistake(
        "layer-of-another-python",
        "layer is for python 3.11",
        edit(LAYER, "libraries", put("compatibleRuntimes", ["python3.11"])),
        "programs-layer",
        stack=W,
    ),
    Mistake(
        "clerk-may-not-mount",
        "function's role may not mount",
        drop(aws.POLICY, "clerk-files"),
        None,
        "a file system without a policy of its own lets whoever reaches it mount",
        stack=W,
    ),
    Mistake(
        "no-nfs-among-members",
        "members' group lets nobody in",
        drop(aws.INGRESS, "members"),
        "paths-call-closed",
        stack=W,
    ),
    Mistake(
        "orders-not-received",
        "function may not delete messages",
        edit(aws.POLICY, "clerk", reworded("policy", "sqs:DeleteMessage", "sqs:ListQueues")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "failed-notes",
        "function may not publish",
        edit(aws.POLICY, "clerk", reworded("policy", "sns:Publish", "sns:ListTopics")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "piper-may-not-send",
        "pipe's role may not send",
        edit(aws.POLICY, "piper", reworded("policy", "sqs:SendMessage", "sqs:GetQueueUrl")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "piper-may-not-read",
        "pipe's role may not read the stream",
        edit(aws.POLICY, "piper", reworded("policy", "kinesis:GetRecords", "kinesis:GetResourcePolicy")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "conveyor-may-not-connect",
        "pipeline may not use the connection",
        edit(
            aws.POLICY,
            "conveyor",
            reworded("policy", "codestar-connections:UseConnection", "codestar-connections:GetConnection"),
        ),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "conveyor-may-not-build",
        "pipeline may not start builds",
        edit(aws.POLICY, "conveyor", reworded("policy", "codebuild:StartBuild", "codebuild:RetryBuild")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "mover-may-not-put",
        "mover may not put objects",
        edit(aws.POLICY, "mover", reworded("policy", "s3:PutObject", "s3:PutObjectTagging")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "mover-of-another-service",
        "mover trusts backup",
        edit(aws.ROLE, "mover", reworded("assumeRolePolicy", "datasync.amazonaws.com", "backup.amazonaws.com")),
        "rights-role-untrusted",
        stack=W,
    ),
    Mistake(
        "permission-of-post",
        "permission is for POST, the method is GET",
        edit("aws:lambda/permission:Permission", "desk", reworded("sourceArn", "/GET/", "/POST/")),
        "rights-delivery",
        stack=W,
    ),
    Mistake(
        "permission-of-another-path",
        "permission is for another path",
        edit("aws:lambda/permission:Permission", "desk", reworded("sourceArn", "/jobs", "/job")),
        "rights-delivery",
        stack=W,
    ),
    Mistake(
        "waits-longer-than-its-caller",
        "function's timeout above the API's",
        edit(LAMBDA, "desk", put("timeout", 60)),
        None,
        "a function is often called by more than the interface, and may need the longer time there",
        stack=W,
    ),
    Mistake(
        "baker-without-image-rights",
        "baker's role is not taken by EC2",
        edit(aws.ROLE, "baker", reworded("assumeRolePolicy", "ec2.amazonaws.com", "imagebuilder.amazonaws.com")),
        "rights-role-untrusted",
        stack=W,
    ),
    Mistake(
        "fifo-to-standard",
        "FIFO topic to a standard queue",
        edit("aws:sqs/queue:Queue", "orders", put("fifoQueue", False), put("name", "orders")),
        None,
        "a topic in order delivers to a plain queue too, out of order",
        stack=W,
    ),
    Mistake(
        "logs-not-let-in",
        "log group's policy lets another service in",
        edit(
            "aws:cloudwatch/logResourcePolicy:LogResourcePolicy",
            "moves",
            reworded("policyDocument", "datasync.amazonaws.com", "es.amazonaws.com"),
        ),
        "rights-delivery",
        stack=W,
    ),
    Mistake(
        "project-of-another-name",
        "pipeline builds a project that there is not",
        edit(PIPELINE, "train", put("stages[1].actions[0].configuration.ProjectName", "test")),
        "rights-role-lacks",
        stack=W,
    ),
    Mistake(
        "method-in-no-deployment",
        "REST API is not deployed after the method",
        edit("aws:apigateway/stage:Stage", "live", put("deployment", "abc123")),
        None,
        "an id of a deployment says nothing of what was deployed",
        stack=W,
    ),
    Mistake(
        "wrong-key-in-env",
        "function's table is another name",
        edit(LAMBDA, "desk", put("environment.variables.TABLE", "job")),
        None,
        "a short name that is a letter off may be another table's",
        stack=W,
    ),
    Mistake(
        "spark-of-ec2",
        "EMR's service role trusts EC2",
        edit(aws.ROLE, "spark", reworded("assumeRolePolicy", "elasticmapreduce.amazonaws.com", "ec2.amazonaws.com")),
        "rights-role-untrusted",
        stack=W,
    ),
    Mistake(
        "plain-brokers",
        "clients talk in the clear to brokers with IAM",
        edit(BROKER, "features", put("encryptionInfo.encryptionInTransit.clientBroker", "PLAINTEXT")),
        "msk-clients",
        stack=W,
    ),
]
"""What is taken, and does not work."""

MISTAKES = [*REFUSED, *SILENT]

AT_FIRST_SIGHT = frozenset(
    {
        "mounted-in-the-root",
        "orders-not-received",
        "failed-notes",
        "mover-of-another-service",
        "baker-without-image-rights",
        "spark-of-ec2",
    }
)
MISSED = frozenset(one.name for one in MISTAKES) - AT_FIRST_SIGHT
"""What was not told before anything was mended."""
