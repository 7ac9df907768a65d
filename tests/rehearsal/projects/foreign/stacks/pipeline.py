"""A pipeline without a cluster: files come in, are catalogued, trained on by a state machine, and told of."""

import json

import pulumi
import pulumi_aws as aws
from ground import ACCOUNT, allow, trust

REGION = "eu-west-1"
IMAGE = "763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:2.6.0-gpu-py312-cu126-ubuntu22.04-sagemaker"


def role(name, service, *policies):
    """A role of a service, with policies of AWS."""
    made = aws.iam.Role(name, name=f"acme-{name}", assume_role_policy=trust(Service=service))
    for policy in policies:
        aws.iam.RolePolicyAttachment(
            f"{name}-{policy.rpartition('/')[2]}", role=made.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}"
        )
    return made


# Who is told.
topic = aws.sns.Topic("pipeline", name="pipeline")
inbox = aws.sqs.Queue("inbox-dead", name="inbox-dead", message_retention_seconds=1209600)
reports = aws.sqs.Queue(
    "reports",
    name="reports",
    visibility_timeout_seconds=360,
    redrive_policy=inbox.arn.apply(lambda arn: json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 5})),
)
aws.sqs.RedriveAllowPolicy(
    "inbox-dead",
    queue_url=inbox.id,
    redrive_allow_policy=reports.arn.apply(
        lambda arn: json.dumps({"redrivePermission": "byQueue", "sourceQueueArns": [arn]})
    ),
)
aws.sqs.QueuePolicy(
    "reports",
    queue_url=reports.id,
    policy=pulumi.Output.all(reports.arn, topic.arn).apply(
        lambda found: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "sns.amazonaws.com"},
                        "Action": "sqs:SendMessage",
                        "Resource": found[0],
                        "Condition": {"ArnEquals": {"aws:SourceArn": found[1]}},
                    }
                ],
            }
        )
    ),
)
aws.sns.TopicSubscription(
    "reports",
    topic=topic.arn,
    protocol="sqs",
    endpoint=reports.arn,
    raw_message_delivery=True,
    filter_policy=json.dumps({"status": ["FAILED", "SUCCEEDED"]}),
    filter_policy_scope="MessageBody",
)
aws.sns.TopicSubscription("pipeline", topic=topic.arn, protocol="email", endpoint="ml@acme.example")

# What comes in.
lake = aws.s3.Bucket("lake", bucket="acme-pipeline-lake")
aws.s3.BucketNotification("lake", bucket=lake.id, eventbridge=True)
aws.s3.BucketIntelligentTieringConfiguration(
    "lake", bucket=lake.id, name="all", tierings=[{"access_tier": "ARCHIVE_ACCESS", "days": 125}]
)
aws.s3.BucketCorsConfiguration(
    "lake",
    bucket=lake.id,
    cors_rules=[
        {"allowed_methods": ["GET", "PUT"], "allowed_origins": ["https://label.acme.example"], "max_age_seconds": 3000}
    ],
)
events = aws.kinesis.Stream(
    "events", name="events", stream_mode_details={"stream_mode": "ON_DEMAND"}, retention_period=48
)
deliverer = role("deliverer", "firehose.amazonaws.com")
delivery_logs = aws.cloudwatch.LogGroup("delivery", name="/aws/kinesisfirehose/events", retention_in_days=14)
delivery_stream = aws.cloudwatch.LogStream("delivery", name="s3", log_group_name=delivery_logs.name)
delivering = aws.iam.RolePolicy(
    "deliverer",
    role=deliverer.name,
    policy=pulumi.Output.all(lake.arn, events.arn, delivery_logs.arn).apply(
        lambda found: allow(
            (
                [
                    "s3:AbortMultipartUpload",
                    "s3:GetBucketLocation",
                    "s3:ListBucket",
                    "s3:ListBucketMultipartUploads",
                    "s3:PutObject",
                ],
                [found[0], f"{found[0]}/*"],
            ),
            (
                ["kinesis:DescribeStream", "kinesis:GetRecords", "kinesis:GetShardIterator", "kinesis:ListShards"],
                found[1],
            ),
            ("logs:PutLogEvents", f"{found[2]}:*"),
        )
    ),
)
aws.kinesis.FirehoseDeliveryStream(
    "events",
    name="events",
    destination="extended_s3",
    kinesis_source_configuration={"kinesis_stream_arn": events.arn, "role_arn": deliverer.arn},
    extended_s3_configuration={
        "role_arn": deliverer.arn,
        "bucket_arn": lake.arn,
        "prefix": "events/day=!{timestamp:yyyy-MM-dd}/",
        "error_output_prefix": "errors/!{firehose:error-output-type}/",
        "buffering_size": 128,
        "buffering_interval": 300,
        "compression_format": "GZIP",
        "cloudwatch_logging_options": {
            "enabled": True,
            "log_group_name": delivery_logs.name,
            "log_stream_name": delivery_stream.name,
        },
    },
    opts=pulumi.ResourceOptions(depends_on=[delivering]),
)

# What is known of it.
catalog = aws.glue.CatalogDatabase("lake", name="lake")
cataloguer = role("cataloguer", "glue.amazonaws.com", "service-role/AWSGlueServiceRole")
aws.iam.RolePolicy(
    "cataloguer",
    role=cataloguer.name,
    policy=lake.arn.apply(
        lambda arn: allow((["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], f"{arn}/*"), ("s3:ListBucket", arn))
    ),
)
crawler = aws.glue.Crawler(
    "events",
    name="events",
    database_name=catalog.name,
    role=cataloguer.arn,
    schedule="cron(15 * * * ? *)",
    s3_targets=[{"path": lake.bucket.apply(lambda name: f"s3://{name}/events/")}],
    schema_change_policy={"delete_behavior": "LOG", "update_behavior": "UPDATE_IN_DATABASE"},
)
prepare = aws.glue.Job(
    "prepare",
    name="prepare",
    role_arn=cataloguer.arn,
    glue_version="5.0",
    worker_type="G.1X",
    number_of_workers=10,
    timeout=120,
    max_retries=1,
    command={"name": "glueetl", "script_location": lake.bucket.apply(lambda name: f"s3://{name}/scripts/prepare.py")},
    default_arguments={
        "--job-language": "python",
        "--job-bookmark-option": "job-bookmark-enable",
        "--enable-metrics": "true",
        "--TempDir": lake.bucket.apply(lambda name: f"s3://{name}/temp/"),
    },
)
aws.glue.Trigger(
    "nightly", name="nightly", type="SCHEDULED", schedule="cron(0 3 * * ? *)", actions=[{"job_name": prepare.name}]
)
aws.athena.Workgroup(
    "research",
    name="research",
    configuration={
        "bytes_scanned_cutoff_per_query": 1099511627776,
        "enforce_workgroup_configuration": True,
        "result_configuration": {
            "output_location": lake.bucket.apply(lambda name: f"s3://{name}/athena/"),
            "encryption_configuration": {"encryption_option": "SSE_S3"},
        },
    },
)
features = aws.dynamodb.Table(
    "features",
    name="features",
    billing_mode="PAY_PER_REQUEST",
    hash_key="entity",
    range_key="seen",
    attributes=[{"name": "entity", "type": "S"}, {"name": "seen", "type": "N"}, {"name": "model", "type": "S"}],
    global_secondary_indexes=[{"name": "by-model", "hash_key": "model", "projection_type": "ALL"}],
    stream_enabled=True,
    stream_view_type="NEW_AND_OLD_IMAGES",
    ttl={"attribute_name": "expires", "enabled": True},
    point_in_time_recovery={"enabled": True},
)

# What a change of a feature does.
lost = aws.sqs.Queue("lost-changes", name="lost-changes", message_retention_seconds=1209600)
follower = role("follower", "lambda.amazonaws.com", "service-role/AWSLambdaBasicExecutionRole")
following = aws.iam.RolePolicy(
    "follower",
    role=follower.name,
    policy=pulumi.Output.all(features.stream_arn, lost.arn, events.arn).apply(
        lambda found: allow(
            (
                [
                    "dynamodb:DescribeStream",
                    "dynamodb:GetRecords",
                    "dynamodb:GetShardIterator",
                    "dynamodb:ListStreams",
                ],
                found[0],
            ),
            ("sqs:SendMessage", found[1]),
            ("kinesis:PutRecords", found[2]),
        )
    ),
)
follow = aws.lambda_.Function(
    "follow",
    name="follow",
    runtime="python3.13",
    handler="follow.handler",
    architectures=["arm64"],
    s3_bucket=lake.bucket,
    s3_key="functions/follow.zip",
    role=follower.arn,
    timeout=60,
    memory_size=512,
    tracing_config={"mode": "PassThrough"},
    environment={"variables": {"STREAM": events.name}},
)
aws.cloudwatch.LogGroup("follow", name="/aws/lambda/follow", retention_in_days=30)
aws.lambda_.EventSourceMapping(
    "follow",
    function_name=follow.name,
    event_source_arn=features.stream_arn,
    starting_position="LATEST",
    batch_size=500,
    maximum_batching_window_in_seconds=5,
    bisect_batch_on_function_error=True,
    maximum_retry_attempts=5,
    destination_config={"on_failure": {"destination_arn": lost.arn}},
    opts=pulumi.ResourceOptions(depends_on=[following]),
)

# What trains: a state machine, started by a file and every week.
trainer = role("trainer", "sagemaker.amazonaws.com")
aws.iam.RolePolicy(
    "trainer",
    role=trainer.name,
    policy=lake.arn.apply(
        lambda arn: allow(
            (["s3:GetObject", "s3:PutObject"], f"{arn}/*"),
            ("s3:ListBucket", arn),
            (
                [
                    "logs:CreateLogGroup",
                    "logs:CreateLogStream",
                    "logs:DescribeLogStreams",
                    "logs:PutLogEvents",
                    "cloudwatch:PutMetricData",
                    "ecr:GetAuthorizationToken",
                    "ecr:BatchGetImage",
                    "ecr:GetDownloadUrlForLayer",
                    "ecr:BatchCheckLayerAvailability",
                ],
                "*",
            ),
        )
    ),
)
conductor = role("conductor", "states.amazonaws.com")
conducting = aws.iam.RolePolicy(
    "conductor",
    role=conductor.name,
    policy=pulumi.Output.all(prepare.arn, trainer.arn, topic.arn, follow.arn).apply(
        lambda found: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": ["glue:StartJobRun", "glue:GetJobRun", "glue:GetJobRuns", "glue:BatchStopJobRun"],
                        "Resource": found[0],
                    },
                    {
                        "Effect": "Allow",
                        "Action": [
                            "sagemaker:CreateTrainingJob",
                            "sagemaker:DescribeTrainingJob",
                            "sagemaker:StopTrainingJob",
                            "sagemaker:AddTags",
                        ],
                        "Resource": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/*",
                    },
                    {
                        "Effect": "Allow",
                        "Action": "iam:PassRole",
                        "Resource": found[1],
                        "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
                    },
                    {
                        "Effect": "Allow",
                        "Action": ["events:PutTargets", "events:PutRule", "events:DescribeRule"],
                        "Resource": f"arn:aws:events:{REGION}:{ACCOUNT}:rule/StepFunctionsGetEventsForSageMaker*",
                    },
                    {"Effect": "Allow", "Action": "sns:Publish", "Resource": found[2]},
                    {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": [found[3], f"{found[3]}:*"]},
                    {
                        "Effect": "Allow",
                        "Action": [
                            "logs:CreateLogDelivery",
                            "logs:GetLogDelivery",
                            "logs:UpdateLogDelivery",
                            "logs:DeleteLogDelivery",
                            "logs:ListLogDeliveries",
                            "logs:PutResourcePolicy",
                            "logs:DescribeResourcePolicies",
                            "logs:DescribeLogGroups",
                        ],
                        "Resource": "*",
                    },
                ],
            }
        )
    ),
)
machine_logs = aws.cloudwatch.LogGroup("train", name="/aws/vendedlogs/states/train", retention_in_days=60)
train = aws.sfn.StateMachine(
    "train",
    name="train",
    type="STANDARD",
    role_arn=conductor.arn,
    definition=pulumi.Output.all(prepare.name, trainer.arn, topic.arn, lake.bucket, follow.name).apply(
        lambda found: json.dumps(
            {
                "Comment": "Prepare, train, tell",
                "StartAt": "Prepare",
                "States": {
                    "Prepare": {
                        "Type": "Task",
                        "Resource": "arn:aws:states:::glue:startJobRun.sync",
                        "Parameters": {"JobName": found[0]},
                        "ResultPath": "$.prepared",
                        "Retry": [{"ErrorEquals": ["Glue.ConcurrentRunsExceededException"], "MaxAttempts": 3}],
                        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "TellFailed"}],
                        "Next": "Enough",
                    },
                    "Enough": {
                        "Type": "Choice",
                        "Choices": [{"Variable": "$.rows", "NumericGreaterThan": 1000, "Next": "Train"}],
                        "Default": "Done",
                    },
                    "Train": {
                        "Type": "Task",
                        "Resource": "arn:aws:states:::sagemaker:createTrainingJob.sync",
                        "Parameters": {
                            "TrainingJobName.$": "States.Format('train-{}', $$.Execution.Name)",
                            "RoleArn": found[1],
                            "AlgorithmSpecification": {
                                "TrainingImage": IMAGE,
                                "TrainingInputMode": "FastFile",
                            },
                            "InputDataConfig": [
                                {
                                    "ChannelName": "train",
                                    "DataSource": {
                                        "S3DataSource": {
                                            "S3DataType": "S3Prefix",
                                            "S3Uri": f"s3://{found[3]}/prepared/",
                                        }
                                    },
                                }
                            ],
                            "OutputDataConfig": {"S3OutputPath": f"s3://{found[3]}/models/"},
                            "ResourceConfig": {
                                "InstanceCount": 2,
                                "InstanceType": "ml.g5.12xlarge",
                                "VolumeSizeInGB": 200,
                            },
                            "EnableManagedSpotTraining": True,
                            "CheckpointConfig": {"S3Uri": f"s3://{found[3]}/checkpoints/"},
                            "StoppingCondition": {"MaxRuntimeInSeconds": 86400, "MaxWaitTimeInSeconds": 172800},
                        },
                        "TimeoutSeconds": 180000,
                        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "TellFailed"}],
                        "Next": "Refresh",
                    },
                    "Refresh": {
                        "Type": "Task",
                        "Resource": "arn:aws:states:::lambda:invoke",
                        "Parameters": {"FunctionName": found[4], "Payload.$": "$"},
                        "Next": "Done",
                    },
                    "TellFailed": {
                        "Type": "Task",
                        "Resource": "arn:aws:states:::sns:publish",
                        "Parameters": {"TopicArn": found[2], "Message": {"status": "FAILED"}},
                        "Next": "Failed",
                    },
                    "Failed": {"Type": "Fail", "Error": "Pipeline"},
                    "Done": {"Type": "Succeed"},
                },
            }
        )
    ),
    logging_configuration={
        "level": "ERROR",
        "include_execution_data": False,
        "log_destination": machine_logs.arn.apply(lambda arn: f"{arn}:*"),
    },
    opts=pulumi.ResourceOptions(depends_on=[conducting]),
)
starter = aws.iam.Role("starter", assume_role_policy=trust(Service=["events.amazonaws.com", "scheduler.amazonaws.com"]))
aws.iam.RolePolicy(
    "starter", role=starter.name, policy=train.arn.apply(lambda arn: allow(("states:StartExecution", arn)))
)
arrived = aws.cloudwatch.EventRule(
    "arrived",
    name="arrived",
    event_pattern=lake.bucket.apply(
        lambda name: json.dumps(
            {
                "source": ["aws.s3"],
                "detail-type": ["Object Created"],
                "detail": {"bucket": {"name": [name]}, "object": {"key": [{"prefix": "landing/"}]}},
            }
        )
    ),
)
aws.cloudwatch.EventTarget(
    "arrived",
    rule=arrived.name,
    arn=train.arn,
    role_arn=starter.arn,
    input_transformer={"input_paths": {"key": "$.detail.object.key"}, "input_template": '{"key": <key>, "rows": 5000}'},
    retry_policy={"maximum_event_age_in_seconds": 3600, "maximum_retry_attempts": 10},
)
aws.scheduler.Schedule(
    "weekly",
    name="weekly",
    flexible_time_window={"mode": "FLEXIBLE", "maximum_window_in_minutes": 30},
    schedule_expression="cron(0 4 ? * SUN *)",
    schedule_expression_timezone="Europe/Dublin",
    target={"arn": train.arn, "role_arn": starter.arn, "input": json.dumps({"rows": 100000})},
)
aws.cloudwatch.MetricAlarm(
    "train-failed",
    name="train-failed",
    namespace="AWS/States",
    metric_name="ExecutionsFailed",
    dimensions={"StateMachineArn": train.arn},
    statistic="Sum",
    period=300,
    evaluation_periods=1,
    threshold=0,
    comparison_operator="GreaterThanThreshold",
    treat_missing_data="notBreaching",
    alarm_actions=[topic.arn],
)
aws.cloudwatch.MetricAlarm(
    "late-changes",
    name="late-changes",
    namespace="AWS/Lambda",
    metric_name="IteratorAge",
    dimensions={"FunctionName": follow.name},
    statistic="Maximum",
    period=60,
    evaluation_periods=5,
    threshold=600000,
    comparison_operator="GreaterThanThreshold",
    alarm_actions=[topic.arn],
)
aws.cloudwatch.LogMetricFilter(
    "delivery-errors",
    name="delivery-errors",
    log_group_name=delivery_logs.name,
    pattern="{ $.errorCode = * }",
    metric_transformation={"namespace": "Acme/Pipeline", "name": "DeliveryErrors", "value": "1", "default_value": "0"},
)
aws.cloudwatch.MetricAlarm(
    "delivery-errors",
    name="delivery-errors",
    namespace="Acme/Pipeline",
    metric_name="DeliveryErrors",
    statistic="Sum",
    period=300,
    evaluation_periods=1,
    threshold=0,
    comparison_operator="GreaterThanThreshold",
    alarm_actions=[topic.arn],
)
aws.cloudwatch.Dashboard(
    "pipeline",
    dashboard_name="pipeline",
    dashboard_body=train.arn.apply(
        lambda arn: json.dumps(
            {
                "widgets": [
                    {
                        "type": "metric",
                        "x": 0,
                        "y": 0,
                        "width": 12,
                        "height": 6,
                        "properties": {
                            "title": "Executions",
                            "region": REGION,
                            "stat": "Sum",
                            "period": 300,
                            "metrics": [
                                ["AWS/States", "ExecutionsFailed", "StateMachineArn", arn, {"id": "bad"}],
                                ["AWS/States", "ExecutionsStarted", "StateMachineArn", arn, {"id": "all"}],
                                [{"expression": "100 * bad / all", "label": "failed", "id": "share"}],
                            ],
                        },
                    },
                    {
                        "type": "text",
                        "x": 12,
                        "y": 0,
                        "width": 6,
                        "height": 3,
                        "properties": {"markdown": "# Pipeline"},
                    },
                ]
            }
        )
    ),
)

# What is kept of machines that people work on, and when they are mended.
snapshots = role("snapshots", "dlm.amazonaws.com", "service-role/AWSDataLifecycleManagerServiceRole")
aws.dlm.LifecyclePolicy(
    "workstations",
    description="Workstations nightly",
    execution_role_arn=snapshots.arn,
    state="ENABLED",
    policy_details={
        "resource_types": ["VOLUME"],
        "target_tags": {"kept": "nightly"},
        "schedules": [
            {
                "name": "two weeks",
                "create_rule": {"interval": 24, "interval_unit": "HOURS", "times": "23:45"},
                "retain_rule": {"count": 14},
                "copy_tags": True,
            }
        ],
    },
)
aws.ebs.Volume(
    "workstation", availability_zone="eu-west-1a", size=500, type="gp3", encrypted=True, tags={"kept": "nightly"}
)
learning_rate = aws.ssm.Parameter("learning-rate", name="/pipeline/learning-rate", type="String", value="0.0003")
aws.ssm.Association(
    "agents",
    name="AWS-UpdateSSMAgent",
    association_name="agents",
    schedule_expression="rate(14 days)",
    targets=[{"key": "tag:kept", "values": ["nightly"]}],
)
aws.emrserverless.Application(
    "features",
    name="features",
    type="spark",
    release_label="emr-7.9.0",
    architecture="ARM64",
    maximum_capacity={"cpu": "200 vCPU", "memory": "800 GB"},
    auto_stop_configuration={"enabled": True, "idle_timeout_minutes": 10},
)
