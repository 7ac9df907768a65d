"""What keeps an account: backups, batches on GPUs, builds, copies in another region, records and what they cost."""

import json

import pulumi
import pulumi_aws as aws
from ground import ACCOUNT, allow, trust

REGION, ZONES = "eu-west-1", ["eu-west-1a", "eu-west-1b"]


away = aws.Provider("away", region="eu-central-1")
vpc = aws.ec2.Vpc("main", cidr_block="10.70.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
gateway = aws.ec2.InternetGateway("main", vpc_id=vpc.id)
public = aws.ec2.RouteTable("public", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}])
entry = aws.ec2.Subnet("entry", vpc_id=vpc.id, cidr_block="10.70.0.0/24", availability_zone=ZONES[0])
aws.ec2.RouteTableAssociation("entry", subnet_id=entry.id, route_table_id=public.id)
address = aws.ec2.Eip("nat", domain="vpc", opts=pulumi.ResourceOptions(depends_on=[gateway]))
nat = aws.ec2.NatGateway("nat", subnet_id=entry.id, allocation_id=address.id)
private = aws.ec2.RouteTable("private", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "nat_gateway_id": nat.id}])
subnets = []
for index, zone in enumerate(ZONES):
    subnet = aws.ec2.Subnet(
        f"work-{zone}", vpc_id=vpc.id, cidr_block=f"10.70.{16 * (index + 1)}.0/20", availability_zone=zone
    )
    aws.ec2.RouteTableAssociation(f"work-{zone}", subnet_id=subnet.id, route_table_id=private.id)
    subnets.append(subnet)
subnet_ids = [subnet.id for subnet in subnets]
work = aws.ec2.SecurityGroup(
    "work",
    vpc_id=vpc.id,
    description="Batches and functions",
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
acl = aws.ec2.NetworkAcl(
    "work",
    vpc_id=vpc.id,
    subnet_ids=subnet_ids,
    ingress=[
        {"rule_no": 100, "protocol": "-1", "action": "allow", "cidr_block": "0.0.0.0/0", "from_port": 0, "to_port": 0}
    ],
    egress=[
        {"rule_no": 100, "protocol": "-1", "action": "allow", "cidr_block": "0.0.0.0/0", "from_port": 0, "to_port": 0}
    ],
)

# Who is told.
topic = aws.sns.Topic("on-call", name="on-call")
aws.sns.TopicSubscription("on-call", topic=topic.arn, protocol="email", endpoint="on-call@acme.example")
aws.sns.TopicPolicy(
    "on-call",
    arn=topic.arn,
    policy=topic.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {
                            "Service": [
                                "events.amazonaws.com", "costalerts.amazonaws.com", "budgets.amazonaws.com",
                                "backup.amazonaws.com", "cloudwatch.amazonaws.com", "scheduler.amazonaws.com",
                            ]
                        },
                        "Action": "sns:Publish",
                        "Resource": arn,
                    }
                ],
            }
        )
    ),
)  # fmt: skip
monitor = aws.costexplorer.AnomalyMonitor(
    "services", name="services", monitor_type="DIMENSIONAL", monitor_dimension="SERVICE"
)
aws.costexplorer.AnomalySubscription(
    "services",
    name="services",
    frequency="IMMEDIATE",
    monitor_arn_lists=[monitor.arn],
    subscribers=[{"type": "SNS", "address": topic.arn}],
    threshold_expression={
        "dimension": {
            "key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE",
            "values": ["200"],
            "match_options": ["GREATER_THAN_OR_EQUAL"],
        }
    },
)
aws.budgets.Budget(
    "month",
    name="month",
    budget_type="COST",
    limit_amount="12000",
    limit_unit="USD",
    time_unit="MONTHLY",
    notifications=[
        {
            "comparison_operator": "GREATER_THAN", "notification_type": "FORECASTED", "threshold": 100,
            "threshold_type": "PERCENTAGE", "subscriber_sns_topic_arns": [topic.arn],
        }
    ],
)  # fmt: skip

# Models, kept here and copied to another region.
models = aws.s3.Bucket("models", bucket="acme-keeping-models")
copies = aws.s3.Bucket("copies", bucket="acme-keeping-copies", opts=pulumi.ResourceOptions(provider=away))
versioned = [
    aws.s3.BucketVersioning("models", bucket=models.id, versioning_configuration={"status": "Enabled"}),
    aws.s3.BucketVersioning(
        "copies", bucket=copies.id, versioning_configuration={"status": "Enabled"},
        opts=pulumi.ResourceOptions(provider=away),
    ),
]  # fmt: skip
copier = aws.iam.Role("copier", assume_role_policy=trust(Service="s3.amazonaws.com"))
copying = aws.iam.RolePolicy(
    "copier",
    role=copier.name,
    policy=pulumi.Output.all(models.arn, copies.arn).apply(
        lambda found: allow(
            (["s3:GetReplicationConfiguration", "s3:ListBucket"], found[0]),
            (
                ["s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"],
                f"{found[0]}/*",
            ),
            (["s3:ReplicateObject", "s3:ReplicateDelete", "s3:ReplicateTags"], f"{found[1]}/*"),
        )
    ),
)
aws.s3.BucketReplicationConfig(
    "models",
    bucket=models.id,
    role=copier.arn,
    rules=[
        {
            "id": "all",
            "status": "Enabled",
            "filter": {"prefix": ""},
            "delete_marker_replication": {"status": "Disabled"},
            "destination": {"bucket": copies.arn, "storage_class": "STANDARD_IA"},
        }
    ],
    opts=pulumi.ResourceOptions(depends_on=[*versioned, copying]),
)
aws.s3.BucketLifecycleConfiguration(
    "models",
    bucket=models.id,
    rules=[
        {
            "id": "old",
            "status": "Enabled",
            "filter": {"prefix": "runs/"},
            "transitions": [
                {"days": 30, "storage_class": "STANDARD_IA"}, {"days": 120, "storage_class": "GLACIER_IR"}
            ],
            "noncurrent_version_expiration": {"noncurrent_days": 60},
            "abort_incomplete_multipart_upload": {"days_after_initiation": 7},
        }
    ],
    opts=pulumi.ResourceOptions(depends_on=versioned),
)  # fmt: skip

# Files of the batches, backed up every night.
files = aws.efs.FileSystem("work", encrypted=True, throughput_mode="elastic")
mounts = aws.ec2.SecurityGroup("files", vpc_id=vpc.id, description="NFS")
aws.vpc.SecurityGroupIngressRule(
    "files", security_group_id=mounts.id, referenced_security_group_id=work.id, ip_protocol="tcp", from_port=2049,
    to_port=2049,
)  # fmt: skip
targets = [
    aws.efs.MountTarget(f"work-{zone}", file_system_id=files.id, subnet_id=subnet.id, security_groups=[mounts.id])
    for zone, subnet in zip(ZONES, subnets, strict=True)
]
keeper = aws.iam.Role("backups", assume_role_policy=trust(Service="backup.amazonaws.com"))
keeping = aws.iam.RolePolicyAttachment(
    "backups", role=keeper.name, policy_arn="arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"
)
vault = aws.backup.Vault("main", name="main")
distant = aws.backup.Vault("distant", name="distant", opts=pulumi.ResourceOptions(provider=away))
aws.backup.VaultLockConfiguration(
    "main", backup_vault_name=vault.name, min_retention_days=7, max_retention_days=400, changeable_for_days=3
)
aws.backup.VaultNotifications(
    "main",
    backup_vault_name=vault.name,
    sns_topic_arn=topic.arn,
    backup_vault_events=["BACKUP_JOB_FAILED", "COPY_JOB_FAILED"],
)
plan = aws.backup.Plan(
    "nightly",
    name="nightly",
    rules=[
        {
            "rule_name": "nightly",
            "target_vault_name": vault.name,
            "schedule": "cron(0 2 * * ? *)",
            "start_window": 60,
            "completion_window": 360,
            "lifecycle": {"cold_storage_after": 30, "delete_after": 180},
            "copy_actions": [{"destination_vault_arn": distant.arn, "lifecycle": {"delete_after": 60}}],
        }
    ],
)
aws.backup.Selection(
    "files", name="files", plan_id=plan.id, iam_role_arn=keeper.arn, resources=[files.arn],
    opts=pulumi.ResourceOptions(depends_on=[keeping]),
)  # fmt: skip

# Batches on GPUs of the spot market.
images = aws.ecr.Repository(
    "train", name="keeping/train", image_tag_mutability="IMMUTABLE", image_scanning_configuration={"scan_on_push": True}
)
aws.ecr.LifecyclePolicy(
    "train",
    repository=images.name,
    policy=json.dumps(
        {
            "rules": [
                {
                    "rulePriority": 1,
                    "selection": {
                        "tagStatus": "untagged", "countType": "sinceImagePushed", "countUnit": "days",
                        "countNumber": 14,
                    },
                    "action": {"type": "expire"},
                }
            ]
        }
    ),
)  # fmt: skip
machine = aws.iam.Role("machine", assume_role_policy=trust(Service="ec2.amazonaws.com"))
machine_rights = aws.iam.RolePolicyAttachment(
    "machine",
    role=machine.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role",
)
profile = aws.iam.InstanceProfile("machine", role=machine.name)
batch_role = aws.iam.Role("batch", assume_role_policy=trust(Service="batch.amazonaws.com"))
batch_rights = aws.iam.RolePolicyAttachment(
    "batch", role=batch_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AWSBatchServiceRole"
)
template = aws.ec2.LaunchTemplate(
    "batch",
    block_device_mappings=[
        {"device_name": "/dev/xvda", "ebs": {"volume_size": 200, "volume_type": "gp3", "encrypted": "true"}}
    ],
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2},
)
spot = aws.batch.ComputeEnvironment(
    "spot",
    name="spot",
    type="MANAGED",
    service_role=batch_role.arn,
    compute_resources={
        "type": "SPOT",
        "allocation_strategy": "SPOT_PRICE_CAPACITY_OPTIMIZED",
        "instance_types": ["g5.xlarge", "g5.2xlarge"],
        "min_vcpus": 0,
        "max_vcpus": 64,
        "subnets": subnet_ids,
        "security_group_ids": [work.id],
        "instance_role": profile.arn,
        "launch_template": {"launch_template_id": template.id, "version": "$Latest"},
        "ec2_configurations": [{"image_type": "ECS_AL2023_NVIDIA"}],
    },
    opts=pulumi.ResourceOptions(depends_on=[batch_rights, machine_rights]),
)
queue = aws.batch.JobQueue(
    "train",
    name="train",
    state="ENABLED",
    priority=10,
    compute_environment_orders=[{"order": 1, "compute_environment": spot.arn}],
)
job_role = aws.iam.Role("job", assume_role_policy=trust(Service="ecs-tasks.amazonaws.com"))
aws.iam.RolePolicy(
    "job",
    role=job_role.name,
    policy=models.arn.apply(lambda arn: allow((["s3:GetObject", "s3:PutObject"], f"{arn}/*"), ("s3:ListBucket", arn))),
)
definition = aws.batch.JobDefinition(
    "train",
    name="train",
    type="container",
    platform_capabilities=["EC2"],
    container_properties=pulumi.Output.all(images.repository_url, job_role.arn, models.bucket, files.id).apply(
        lambda found: json.dumps(
            {
                "image": f"{found[0]}:v12",
                "jobRoleArn": found[1],
                "command": ["python", "train.py"],
                "environment": [{"name": "MODELS", "value": f"s3://{found[2]}/runs"}],
                "resourceRequirements": [
                    {"type": "VCPU", "value": "4"}, {"type": "MEMORY", "value": "14000"}, {"type": "GPU", "value": "1"},
                ],
                "volumes": [{"name": "work", "efsVolumeConfiguration": {"fileSystemId": found[3]}}],
                "mountPoints": [{"sourceVolume": "work", "containerPath": "/work"}],
            }
        )
    ),
    retry_strategy={"attempts": 3, "evaluate_on_exits": [{"on_status_reason": "Host EC2*", "action": "RETRY"}]},
    timeout={"attempt_duration_seconds": 86400},
)  # fmt: skip
starter = aws.iam.Role("starter", assume_role_policy=trust(Service="scheduler.amazonaws.com"))
aws.iam.RolePolicy(
    "starter",
    role=starter.name,
    policy=pulumi.Output.all(queue.arn, definition.arn_prefix).apply(
        lambda found: allow(("batch:SubmitJob", [found[0], f"{found[1]}:*", found[1]]))
    ),
)
aws.scheduler.Schedule(
    "retrain",
    name="retrain",
    flexible_time_window={"mode": "OFF"},
    schedule_expression="cron(0 20 ? * SAT *)",
    schedule_expression_timezone="Europe/Dublin",
    target={
        "arn": "arn:aws:scheduler:::aws-sdk:batch:submitJob",
        "role_arn": starter.arn,
        "input": pulumi.Output.all(queue.arn, definition.arn_prefix).apply(
            lambda found: json.dumps({"JobName": "retrain", "JobQueue": found[0], "JobDefinition": found[1]})
        ),
    },
)
failed = aws.cloudwatch.EventRule(
    "batch-failed",
    name="batch-failed",
    event_pattern=queue.arn.apply(
        lambda arn: json.dumps(
            {
                "source": ["aws.batch"], "detail-type": ["Batch Job State Change"],
                "detail": {"status": ["FAILED"], "jobQueue": [arn]},
            }
        )
    ),
)  # fmt: skip
aws.cloudwatch.EventTarget("batch-failed", rule=failed.name, arn=topic.arn)

# Images are built here.
builder = aws.iam.Role("builder", assume_role_policy=trust(Service="codebuild.amazonaws.com"))
builds = aws.cloudwatch.LogGroup("builds", name="/aws/codebuild/train", retention_in_days=30)
building = aws.iam.RolePolicy(
    "builder",
    role=builder.name,
    policy=pulumi.Output.all(builds.arn, images.arn).apply(
        lambda found: allow(
            (["logs:CreateLogStream", "logs:PutLogEvents"], [found[0], f"{found[0]}:*"]),
            ("ecr:GetAuthorizationToken", "*"),
            (
                [
                    "ecr:BatchCheckLayerAvailability", "ecr:CompleteLayerUpload", "ecr:InitiateLayerUpload",
                    "ecr:PutImage", "ecr:UploadLayerPart", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer",
                ],
                found[1],
            ),
        )
    ),
)  # fmt: skip
aws.codebuild.Project(
    "train",
    name="train",
    service_role=builder.arn,
    source={"type": "GITHUB", "location": "https://github.com/acme/train.git", "buildspec": "buildspec.yml"},
    artifacts={"type": "NO_ARTIFACTS"},
    environment={
        "type": "LINUX_CONTAINER",
        "compute_type": "BUILD_GENERAL1_LARGE",
        "image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
        "privileged_mode": True,
        "environment_variables": [{"name": "REPOSITORY", "value": images.repository_url}],
    },
    logs_config={"cloudwatch_logs": {"group_name": builds.name}},
    build_timeout=60,
    opts=pulumi.ResourceOptions(depends_on=[building]),
)

# A password that changes itself.
turner = aws.iam.Role("turner", assume_role_policy=trust(Service="lambda.amazonaws.com"))
turning = aws.iam.RolePolicyAttachment(
    "turner",
    role=turner.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole",
)
secret = aws.secretsmanager.Secret("registry", name="keeping/registry", recovery_window_in_days=7)
aws.iam.RolePolicy(
    "turner",
    role=turner.name,
    policy=secret.arn.apply(
        lambda arn: allow(
            (
                [
                    "secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue",
                    "secretsmanager:UpdateSecretVersionStage",
                ],
                arn,
            ),
            ("secretsmanager:GetRandomPassword", "*"),
        )
    ),
)  # fmt: skip
turn = aws.lambda_.Function(
    "turn",
    name="turn",
    runtime="python3.13",
    handler="turn.handler",
    s3_bucket=models.bucket,
    s3_key="functions/turn.zip",
    role=turner.arn,
    timeout=60,
    memory_size=256,
    vpc_config={"subnet_ids": subnet_ids, "security_group_ids": [work.id]},
    opts=pulumi.ResourceOptions(depends_on=[turning]),
)
turned = aws.lambda_.Permission(
    "turn", action="lambda:InvokeFunction", function=turn.name, principal="secretsmanager.amazonaws.com",
    source_arn=secret.arn,
)  # fmt: skip
aws.secretsmanager.SecretRotation(
    "registry",
    secret_id=secret.id,
    rotation_lambda_arn=turn.arn,
    rotation_rules={"automatically_after_days": 30},
    opts=pulumi.ResourceOptions(depends_on=[turned]),
)
errors = aws.cloudwatch.MetricAlarm(
    "turn-errors",
    name="turn-errors",
    namespace="AWS/Lambda",
    metric_name="Errors",
    dimensions={"FunctionName": turn.name},
    comparison_operator="GreaterThanThreshold",
    threshold=0,
    evaluation_periods=1,
    period=300,
    statistic="Sum",
    treat_missing_data="notBreaching",
)
slow = aws.cloudwatch.MetricAlarm(
    "turn-slow",
    name="turn-slow",
    namespace="AWS/Lambda",
    metric_name="Duration",
    dimensions={"FunctionName": turn.name},
    comparison_operator="GreaterThanThreshold",
    threshold=50000,
    evaluation_periods=3,
    datapoints_to_alarm=2,
    period=300,
    extended_statistic="p99",
)
aws.cloudwatch.CompositeAlarm(
    "turn",
    alarm_name="turn",
    alarm_rule=pulumi.Output.all(errors.name, slow.name).apply(lambda found: f"ALARM({found[0]}) OR ALARM({found[1]})"),
    alarm_actions=[topic.arn],
)

# What is recorded of the account and its network.
records = aws.s3.Bucket("records", bucket="acme-keeping-records")
admitted = aws.s3.BucketPolicy(
    "records",
    bucket=records.id,
    policy=records.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": ["config.amazonaws.com", "delivery.logs.amazonaws.com"]},
                        "Action": ["s3:GetBucketAcl", "s3:ListBucket"],
                        "Resource": arn,
                    },
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": ["config.amazonaws.com", "delivery.logs.amazonaws.com"]},
                        "Action": "s3:PutObject",
                        "Resource": [f"{arn}/AWSLogs/{ACCOUNT}/*", f"{arn}/flows/AWSLogs/*"],
                        "Condition": {"StringEquals": {"s3:x-amz-acl": "bucket-owner-full-control"}},
                    },
                ],
            }
        )
    ),
)
aws.s3.BucketLifecycleConfiguration(
    "records",
    bucket=records.id,
    rules=[{"id": "year", "status": "Enabled", "filter": {"prefix": ""}, "expiration": {"days": 400}}],
)
aws.ec2.FlowLog(
    "main",
    vpc_id=vpc.id,
    traffic_type="REJECT",
    log_destination_type="s3",
    log_destination=records.arn.apply(lambda arn: f"{arn}/flows/"),
    destination_options={"file_format": "parquet", "hive_compatible_partitions": True, "per_hour_partition": True},
    max_aggregation_interval=60,
    opts=pulumi.ResourceOptions(depends_on=[admitted]),
)
recorder_role = aws.iam.Role("recorder", assume_role_policy=trust(Service="config.amazonaws.com"))
recording = aws.iam.RolePolicyAttachment(
    "recorder", role=recorder_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AWS_ConfigRole"
)
aws.iam.RolePolicy(
    "recorder",
    role=recorder_role.name,
    policy=records.arn.apply(lambda arn: allow(("s3:PutObject", f"{arn}/*"), ("s3:GetBucketAcl", arn))),
)
recorder = aws.cfg.Recorder(
    "main",
    name="main",
    role_arn=recorder_role.arn,
    recording_group={"all_supported": True, "include_global_resource_types": True},
)
channel = aws.cfg.DeliveryChannel(
    "main",
    name="main",
    s3_bucket_name=records.bucket,
    snapshot_delivery_properties={"delivery_frequency": "TwentyFour_Hours"},
    opts=pulumi.ResourceOptions(depends_on=[recorder, admitted]),
)
recorded = aws.cfg.RecorderStatus(
    "main", name=recorder.name, is_enabled=True, opts=pulumi.ResourceOptions(depends_on=[channel])
)
aws.cfg.Rule(
    "volumes",
    name="encrypted-volumes",
    source={"owner": "AWS", "source_identifier": "ENCRYPTED_VOLUMES"},
    opts=pulumi.ResourceOptions(depends_on=[recorder]),
)
aws.servicequotas.ServiceQuota("spot-gpus", service_code="ec2", quota_code="L-3819A6DF", value=64)
