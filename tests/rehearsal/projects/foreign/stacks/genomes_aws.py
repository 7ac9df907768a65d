"""Genomes: batches in the account's default network, a pipeline that files start, roles given as they are."""

import json

import pulumi
import pulumi_aws as aws

project = "gen"
region = aws.config.region
me = aws.get_caller_identity_output()

default_vpc = aws.ec2.get_vpc_output(default=True)
subnets = aws.ec2.get_subnets_output(
    filters=[
        aws.ec2.GetSubnetsFilterArgs(name="vpc-id", values=[default_vpc.id]),
        aws.ec2.GetSubnetsFilterArgs(name="default-for-az", values=["true"]),
    ]
)


def service_role(name, service, *managed, **kwargs):
    role = aws.iam.Role(
        name,
        assume_role_policy=aws.iam.get_policy_document(
            statements=[
                aws.iam.GetPolicyDocumentStatementArgs(
                    actions=["sts:AssumeRole"],
                    principals=[aws.iam.GetPolicyDocumentStatementPrincipalArgs(type="Service", identifiers=[service])],
                )
            ]
        ).json,
        **kwargs,
    )
    for arn in managed:
        aws.iam.RolePolicyAttachment(f"{name}-{arn.split('/')[-1]}", role=role, policy_arn=arn)
    return role


# Storage ------------------------------------------------------------------
raw = aws.s3.Bucket("raw", tags={"data": "raw"})
results = aws.s3.Bucket("results", tags={"data": "results"})
for label, bucket in {"raw": raw, "results": results}.items():
    aws.s3.BucketPublicAccessBlock(
        f"{label}-pab",
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
    )
    aws.s3.BucketVersioning(
        f"{label}-versioning",
        bucket=bucket.id,
        versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
    )
    aws.s3.BucketServerSideEncryptionConfiguration(
        f"{label}-sse",
        bucket=bucket.id,
        rules=[
            aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                apply_server_side_encryption_by_default=aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                    sse_algorithm="AES256"
                )
            )
        ],
    )
aws.s3.BucketNotification("raw-events", bucket=raw.id, eventbridge=True)
aws.s3.BucketLifecycleConfiguration(
    "raw-tiering",
    bucket=raw.id,
    rules=[
        aws.s3.BucketLifecycleConfigurationRuleArgs(
            id="glacier",
            status="Enabled",
            filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix="runs/"),
            transitions=[
                aws.s3.BucketLifecycleConfigurationRuleTransitionArgs(days=30, storage_class="STANDARD_IA"),
                aws.s3.BucketLifecycleConfigurationRuleTransitionArgs(days=90, storage_class="GLACIER"),
            ],
        )
    ],
)

batch_sg = aws.ec2.SecurityGroup(
    "batch",
    vpc_id=default_vpc.id,
    egress=[aws.ec2.SecurityGroupEgressArgs(protocol="-1", from_port=0, to_port=0, cidr_blocks=["0.0.0.0/0"])],
)
efs_sg = aws.ec2.SecurityGroup(
    "efs",
    vpc_id=default_vpc.id,
    ingress=[
        aws.ec2.SecurityGroupIngressArgs(protocol="tcp", from_port=2049, to_port=2049, security_groups=[batch_sg.id])
    ],
)
reference = aws.efs.FileSystem(
    "reference",
    encrypted=True,
    throughput_mode="elastic",
    lifecycle_policies=[aws.efs.FileSystemLifecyclePolicyArgs(transition_to_ia="AFTER_30_DAYS")],
    tags={"Name": f"{project}-reference"},
)
aws.efs.BackupPolicy(
    "reference", file_system_id=reference.id, backup_policy=aws.efs.BackupPolicyBackupPolicyArgs(status="ENABLED")
)
zones = [f"{region}{letter}" for letter in "abc"]
mount_targets = []
for zone in zones:
    in_zone = aws.ec2.get_subnet_output(vpc_id=default_vpc.id, availability_zone=zone, default_for_az=True)
    mount_targets.append(
        aws.efs.MountTarget(
            f"reference-{zone[-1]}",
            file_system_id=reference.id,
            subnet_id=in_zone.id,
            security_groups=[efs_sg.id],
        )
    )
access_point = aws.efs.AccessPoint(
    "reference",
    file_system_id=reference.id,
    posix_user=aws.efs.AccessPointPosixUserArgs(uid=1000, gid=1000),
    root_directory=aws.efs.AccessPointRootDirectoryArgs(
        path="/reference",
        creation_info=aws.efs.AccessPointRootDirectoryCreationInfoArgs(
            owner_uid=1000, owner_gid=1000, permissions="755"
        ),
    ),
)

# Images ------------------------------------------------------------------
repos = {}
for image in ("align", "call", "qc"):
    repos[image] = aws.ecr.Repository(
        image,
        name=f"{project}/{image}",
        image_scanning_configuration=aws.ecr.RepositoryImageScanningConfigurationArgs(scan_on_push=True),
        force_delete=True,
    )
    aws.ecr.LifecyclePolicy(
        image,
        repository=repos[image].name,
        policy=json.dumps(
            {
                "rules": [
                    {
                        "rulePriority": 10,
                        "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 20},
                        "action": {"type": "expire"},
                    }
                ]
            }
        ),
    )

# Compute -----------------------------------------------------------------
instance_role = service_role(
    "instance",
    "ec2.amazonaws.com",
    "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role",
    "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
)
profile = aws.iam.InstanceProfile("instance", role=instance_role.name)
batch_role = service_role("batch", "batch.amazonaws.com", "arn:aws:iam::aws:policy/service-role/AWSBatchServiceRole")
template = aws.ec2.LaunchTemplate(
    "batch",
    update_default_version=True,
    metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(http_tokens="required", http_put_response_hop_limit=2),
    block_device_mappings=[
        aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
            device_name="/dev/xvda",
            ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                volume_size=500, volume_type="gp3", encrypted="true", throughput=250, iops=3000
            ),
        )
    ],
)


def environment(name, kind, types, max_vcpus, **extra):
    return aws.batch.ComputeEnvironment(
        name,
        name=f"{project}-{name}",
        type="MANAGED",
        service_role=batch_role.arn,
        compute_resources=aws.batch.ComputeEnvironmentComputeResourcesArgs(
            type=kind,
            allocation_strategy="SPOT_PRICE_CAPACITY_OPTIMIZED" if kind == "SPOT" else "BEST_FIT_PROGRESSIVE",
            min_vcpus=0,
            max_vcpus=max_vcpus,
            instance_types=types,
            instance_role=profile.arn,
            subnets=subnets.ids,
            security_group_ids=[batch_sg.id],
            launch_template=aws.batch.ComputeEnvironmentComputeResourcesLaunchTemplateArgs(
                launch_template_id=template.id, version="$Latest"
            ),
            tags={"Name": f"{project}-{name}"},
            **extra,
        ),
        opts=pulumi.ResourceOptions(depends_on=[batch_role]),
    )


spot = environment("spot", "SPOT", ["c6i", "m6i", "r6i"], 512)
on_demand = environment("ondemand", "EC2", ["m6i", "r6i"], 128)
gpu = environment("gpu", "EC2", ["g5.2xlarge", "g5.4xlarge"], 64)
fargate = aws.batch.ComputeEnvironment(
    "fargate",
    name=f"{project}-fargate",
    type="MANAGED",
    service_role=batch_role.arn,
    compute_resources=aws.batch.ComputeEnvironmentComputeResourcesArgs(
        type="FARGATE_SPOT", max_vcpus=64, subnets=subnets.ids, security_group_ids=[batch_sg.id]
    ),
)
fair = aws.batch.SchedulingPolicy(
    "fair",
    fair_share_policy=aws.batch.SchedulingPolicyFairSharePolicyArgs(
        share_decay_seconds=3600,
        compute_reservation=1,
        share_distributions=[
            aws.batch.SchedulingPolicyFairSharePolicyShareDistributionArgs(share_identifier="prod*", weight_factor=0.1),
            aws.batch.SchedulingPolicyFairSharePolicyShareDistributionArgs(share_identifier="dev*", weight_factor=1.0),
        ],
    ),
)


def queue(name, priority, *environments, **extra):
    return aws.batch.JobQueue(
        name,
        name=f"{project}-{name}",
        state="ENABLED",
        priority=priority,
        compute_environment_orders=[
            aws.batch.JobQueueComputeEnvironmentOrderArgs(order=i, compute_environment=env.arn)
            for i, env in enumerate(environments, 1)
        ],
        **extra,
    )


work = queue("work", 10, spot, on_demand, scheduling_policy_arn=fair.arn)
gpus = queue("gpus", 20, gpu)
small = queue("small", 1, fargate)

# Jobs --------------------------------------------------------------------
job_role = service_role("job", "ecs-tasks.amazonaws.com")
aws.iam.RolePolicy(
    "job-data",
    role=job_role.id,
    policy=aws.iam.get_policy_document_output(
        statements=[
            aws.iam.GetPolicyDocumentStatementArgs(
                actions=["s3:GetObject", "s3:ListBucket"],
                resources=[raw.arn, raw.arn.apply(lambda a: a + "/*")],
            ),
            aws.iam.GetPolicyDocumentStatementArgs(
                actions=["s3:PutObject", "s3:AbortMultipartUpload"],
                resources=[results.arn.apply(lambda a: a + "/*")],
            ),
            aws.iam.GetPolicyDocumentStatementArgs(
                actions=["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
                resources=[reference.arn],
                conditions=[
                    aws.iam.GetPolicyDocumentStatementConditionArgs(
                        test="StringEquals",
                        variable="elasticfilesystem:AccessPointArn",
                        values=[access_point.arn],
                    )
                ],
            ),
        ]
    ).json,
)
execution_role = service_role(
    "execution", "ecs-tasks.amazonaws.com", "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
)
logs = aws.cloudwatch.LogGroup("jobs", name="/genomics/jobs", retention_in_days=60)


def container(image, *, vcpu, memory, command, gpus=0, fargate=False):
    def make(args):
        url, fs, ap, bucket, group, job, execution = args
        requirements = [{"type": "VCPU", "value": str(vcpu)}, {"type": "MEMORY", "value": str(memory)}]
        if gpus:
            requirements.append({"type": "GPU", "value": str(gpus)})
        properties = {
            "image": f"{url}:stable",
            "command": command,
            "jobRoleArn": job,
            "executionRoleArn": execution,
            "resourceRequirements": requirements,
            "environment": [{"name": "RESULTS", "value": bucket}],
            "volumes": [
                {
                    "name": "reference",
                    "efsVolumeConfiguration": {
                        "fileSystemId": fs,
                        "transitEncryption": "ENABLED",
                        "authorizationConfig": {"accessPointId": ap, "iam": "ENABLED"},
                    },
                }
            ],
            "mountPoints": [{"sourceVolume": "reference", "containerPath": "/ref", "readOnly": False}],
            "logConfiguration": {
                "logDriver": "awslogs",
                "options": {"awslogs-group": group, "awslogs-region": region, "awslogs-stream-prefix": image},
            },
        }
        if fargate:
            properties["networkConfiguration"] = {"assignPublicIp": "ENABLED"}
            properties["fargatePlatformConfiguration"] = {"platformVersion": "LATEST"}
        return json.dumps(properties)

    return pulumi.Output.all(
        repos[image].repository_url,
        reference.id,
        access_point.id,
        results.bucket,
        logs.name,
        job_role.arn,
        execution_role.arn,
    ).apply(make)


retry = aws.batch.JobDefinitionRetryStrategyArgs(
    attempts=3,
    evaluate_on_exits=[
        aws.batch.JobDefinitionRetryStrategyEvaluateOnExitArgs(action="RETRY", on_status_reason="Host EC2*"),
        aws.batch.JobDefinitionRetryStrategyEvaluateOnExitArgs(action="EXIT", on_reason="*"),
    ],
)
align = aws.batch.JobDefinition(
    "align",
    name=f"{project}-align",
    type="container",
    platform_capabilities=["EC2"],
    container_properties=container("align", vcpu=16, memory=60000, command=["align.sh", "Ref::sample"]),
    parameters={"sample": "none"},
    retry_strategy=retry,
    timeout=aws.batch.JobDefinitionTimeoutArgs(attempt_duration_seconds=6 * 3600),
    propagate_tags=True,
)
call = aws.batch.JobDefinition(
    "call",
    name=f"{project}-call",
    type="container",
    platform_capabilities=["EC2"],
    container_properties=container("call", vcpu=8, memory=30000, gpus=1, command=["call.sh", "Ref::sample"]),
    parameters={"sample": "none"},
    timeout=aws.batch.JobDefinitionTimeoutArgs(attempt_duration_seconds=3600),
)
qc = aws.batch.JobDefinition(
    "qc",
    name=f"{project}-qc",
    type="container",
    platform_capabilities=["FARGATE"],
    container_properties=container("qc", vcpu=2, memory=4096, command=["qc.sh", "Ref::sample"], fargate=True),
    parameters={"sample": "none"},
)

# Pipeline ----------------------------------------------------------------
failures = aws.sns.Topic("failures")
aws.sns.TopicSubscription("failures-mail", topic=failures.arn, protocol="email", endpoint="genomics@example.com")
sfn_role = service_role("pipeline", "states.amazonaws.com")
aws.iam.RolePolicy(
    "pipeline",
    role=sfn_role.name,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": ["batch:SubmitJob", "batch:DescribeJobs", "batch:TerminateJob"],
                    "Resource": "*",
                },
                {
                    "Effect": "Allow",
                    "Action": ["events:PutTargets", "events:PutRule", "events:DescribeRule"],
                    "Resource": pulumi.Output.format(
                        "arn:aws:events:{0}:{1}:rule/StepFunctionsGetEventsForBatchJobsRule", region, me.account_id
                    ),
                },
                {"Effect": "Allow", "Action": "sns:Publish", "Resource": failures.arn},
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
    ),
)
sfn_logs = aws.cloudwatch.LogGroup("pipeline", name="/aws/vendedlogs/states/genomics", retention_in_days=30)


def step(name, definition, job_queue, after):
    state = {
        "Type": "Task",
        "Resource": "arn:aws:states:::batch:submitJob.sync",
        "Parameters": {
            "JobName": name,
            "JobDefinition": definition,
            "JobQueue": job_queue,
            "Parameters": {"sample.$": "$.detail.object.key"},
        },
        "ResultPath": f"$.{name}",
        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Notify", "ResultPath": "$.error"}],
    }
    if name == "align":
        state["Parameters"]["ShareIdentifier"] = "prod"
        state["Parameters"]["SchedulingPriorityOverride"] = 10
    return {**state, **after}


machine = aws.sfn.StateMachine(
    "pipeline",
    role_arn=sfn_role.arn,
    definition=pulumi.Output.json_dumps(
        {
            "StartAt": "QC",
            "States": {
                "QC": step("qc", qc.arn, small.arn, {"Next": "Align"}),
                "Align": step("align", align.arn, work.arn, {"Next": "Call"}),
                "Call": step("call", call.arn, gpus.arn, {"Next": "Done"}),
                "Notify": {
                    "Type": "Task",
                    "Resource": "arn:aws:states:::sns:publish",
                    "Parameters": {"TopicArn": failures.arn, "Message.$": "$.error.Cause"},
                    "Next": "Failed",
                },
                "Failed": {"Type": "Fail"},
                "Done": {"Type": "Succeed"},
            },
        }
    ),
    logging_configuration=aws.sfn.StateMachineLoggingConfigurationArgs(
        level="ERROR",
        include_execution_data=True,
        log_destination=sfn_logs.arn.apply(lambda arn: f"{arn}:*"),
    ),
)
start_role = service_role("start", "events.amazonaws.com")
aws.iam.RolePolicy(
    "start",
    role=start_role.id,
    policy=machine.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "states:StartExecution", "Resource": arn}],
            }
        )
    ),
)
dlq = aws.sqs.Queue("dead", message_retention_seconds=1209600)
arrived = aws.cloudwatch.EventRule(
    "arrived",
    description="A run has been uploaded",
    event_pattern=raw.bucket.apply(
        lambda name: json.dumps(
            {
                "source": ["aws.s3"],
                "detail-type": ["Object Created"],
                "detail": {"bucket": {"name": [name]}, "object": {"key": [{"suffix": ".fastq.gz"}]}},
            }
        )
    ),
)
aws.sqs.QueuePolicy(
    "dead",
    queue_url=dlq.id,
    policy=pulumi.Output.all(dlq.arn, arrived.arn).apply(
        lambda a: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "events.amazonaws.com"},
                        "Action": "sqs:SendMessage",
                        "Resource": a[0],
                        "Condition": {"ArnEquals": {"aws:SourceArn": a[1]}},
                    }
                ],
            }
        )
    ),
)
aws.cloudwatch.EventTarget(
    "arrived",
    rule=arrived.name,
    arn=machine.arn,
    role_arn=start_role.arn,
    dead_letter_config=aws.cloudwatch.EventTargetDeadLetterConfigArgs(arn=dlq.arn),
    retry_policy=aws.cloudwatch.EventTargetRetryPolicyArgs(maximum_event_age_in_seconds=3600, maximum_retry_attempts=4),
)
failed_jobs = aws.cloudwatch.EventRule(
    "failed-jobs",
    event_pattern=json.dumps(
        {"source": ["aws.batch"], "detail-type": ["Batch Job State Change"], "detail": {"status": ["FAILED"]}}
    ),
)
aws.cloudwatch.EventTarget("failed-jobs", rule=failed_jobs.name, arn=failures.arn)
aws.sns.TopicPolicy(
    "failures",
    arn=failures.arn,
    policy=failures.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "events.amazonaws.com"},
                        "Action": "sns:Publish",
                        "Resource": arn,
                    }
                ],
            }
        )
    ),
)
nightly_role = service_role("nightly", "scheduler.amazonaws.com")
aws.iam.RolePolicy(
    "nightly",
    role=nightly_role.id,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "batch:SubmitJob",
                    "Resource": [qc.arn_prefix.apply(lambda a: a + ":*"), qc.arn_prefix, small.arn],
                }
            ],
        }
    ),
)
aws.scheduler.Schedule(
    "nightly-qc",
    schedule_expression="cron(0 3 * * ? *)",
    schedule_expression_timezone="Europe/Dublin",
    flexible_time_window=aws.scheduler.ScheduleFlexibleTimeWindowArgs(mode="FLEXIBLE", maximum_window_in_minutes=30),
    target=aws.scheduler.ScheduleTargetArgs(
        arn="arn:aws:scheduler:::aws-sdk:batch:submitJob",
        role_arn=nightly_role.arn,
        input=pulumi.Output.json_dumps({"JobName": "nightly-qc", "JobDefinition": qc.arn, "JobQueue": small.arn}),
    ),
)
pulumi.export("stateMachine", machine.arn)
pulumi.export("bucket", raw.id)
