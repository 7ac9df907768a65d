"""A workshop: images and models are built, moved and asked about by services that no cluster is needed for."""

import json

import pulumi
import pulumi_aws as aws
from ground import ACCOUNT, allow, trust

REGION = "eu-west-1"


def role(name, service):
    """A role of a service."""
    return aws.iam.Role(name, name=f"workshop-{name}", assume_role_policy=trust(Service=service))


vpc = aws.ec2.Vpc("main", cidr_block="10.90.0.0/16", enable_dns_hostnames=True)
gateway = aws.ec2.InternetGateway("main", vpc_id=vpc.id)
public = aws.ec2.Subnet("public", vpc_id=vpc.id, cidr_block="10.90.0.0/24", availability_zone="eu-west-1a")
out = aws.ec2.RouteTable("public", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}])
aws.ec2.RouteTableAssociation("public", subnet_id=public.id, route_table_id=out.id)
address = aws.ec2.Eip("nat", domain="vpc", opts=pulumi.ResourceOptions(depends_on=[gateway]))
nat = aws.ec2.NatGateway("nat", subnet_id=public.id, allocation_id=address.id)
inner = aws.ec2.RouteTable("private", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "nat_gateway_id": nat.id}])
private = []
for index, zone in enumerate(("eu-west-1a", "eu-west-1b", "eu-west-1c")):
    subnet = aws.ec2.Subnet(
        f"private-{zone}", vpc_id=vpc.id, cidr_block=f"10.90.{16 + 16 * index}.0/20", availability_zone=zone
    )
    aws.ec2.RouteTableAssociation(f"private-{zone}", subnet_id=subnet.id, route_table_id=inner.id)
    private.append(subnet.id)
members = aws.ec2.SecurityGroup("members", vpc_id=vpc.id, description="Members")
aws.vpc.SecurityGroupIngressRule(
    "members", security_group_id=members.id, referenced_security_group_id=members.id, ip_protocol="-1"
)
aws.vpc.SecurityGroupEgressRule("members", security_group_id=members.id, cidr_ipv4="0.0.0.0/0", ip_protocol="-1")

topic = aws.sns.Topic("workshop", name="workshop.fifo", fifo_topic=True, content_based_deduplication=True)
orders = aws.sqs.Queue("orders", name="orders.fifo", fifo_queue=True, visibility_timeout_seconds=120)
aws.sqs.QueuePolicy(
    "orders",
    queue_url=orders.id,
    policy=pulumi.Output.all(orders.arn, topic.arn).apply(
        lambda found: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": {
                    "Effect": "Allow",
                    "Principal": {"Service": "sns.amazonaws.com"},
                    "Action": "sqs:SendMessage",
                    "Resource": found[0],
                    "Condition": {"ArnLike": {"aws:SourceArn": found[1]}},
                },
            }
        )
    ),
)
aws.sns.TopicSubscription("orders", topic=topic.arn, protocol="sqs", endpoint=orders.arn)
notes = aws.sns.Topic("notes", name="workshop-notes")
aws.sns.TopicSubscription("notes", topic=notes.arn, protocol="https", endpoint="https://hooks.acme.example/notes")

# What is built: a pipeline of code, and images of machines.
store = aws.s3.Bucket("store", bucket="acme-workshop-store")
aws.s3.BucketVersioning("store", bucket=store.id, versioning_configuration={"status": "Enabled"})
link = aws.codestarconnections.Connection("github", name="github", provider_type="GitHub")
builder = role("builder", "codebuild.amazonaws.com")
building = aws.iam.RolePolicy(
    "builder",
    role=builder.name,
    policy=store.arn.apply(
        lambda arn: allow(
            (["s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"], f"{arn}/*"),
            (
                ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
                f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/codebuild/*",
            ),
        )
    ),
)
project = aws.codebuild.Project(
    "tests",
    name="tests",
    service_role=builder.arn,
    artifacts={"type": "CODEPIPELINE"},
    source={"type": "CODEPIPELINE", "buildspec": "ci/buildspec.yml"},
    environment={
        "type": "ARM_CONTAINER",
        "compute_type": "BUILD_GENERAL1_SMALL",
        "image": "aws/codebuild/amazonlinux-aarch64-standard:3.0",
    },
    cache={"type": "LOCAL", "modes": ["LOCAL_SOURCE_CACHE"]},
    opts=pulumi.ResourceOptions(depends_on=[building]),
)
conveyor = role("conveyor", "codepipeline.amazonaws.com")
conveying = aws.iam.RolePolicy(
    "conveyor",
    role=conveyor.name,
    policy=pulumi.Output.all(store.arn, project.arn, link.arn).apply(
        lambda found: allow(
            (
                ["s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:GetBucketVersioning"],
                [found[0], f"{found[0]}/*"],
            ),
            (["codebuild:StartBuild", "codebuild:BatchGetBuilds"], found[1]),
            ("codestar-connections:UseConnection", found[2]),
        )
    ),
)
aws.codepipeline.Pipeline(
    "train",
    name="train",
    role_arn=conveyor.arn,
    pipeline_type="V2",
    artifact_stores=[{"type": "S3", "location": store.bucket}],
    stages=[
        {
            "name": "Source",
            "actions": [
                {
                    "name": "Code",
                    "category": "Source",
                    "owner": "AWS",
                    "provider": "CodeStarSourceConnection",
                    "version": "1",
                    "output_artifacts": ["code"],
                    "configuration": {
                        "ConnectionArn": link.arn,
                        "FullRepositoryId": "acme/train",
                        "BranchName": "main",
                    },
                }
            ],
        },
        {
            "name": "Test",
            "actions": [
                {
                    "name": "Tests",
                    "category": "Build",
                    "owner": "AWS",
                    "provider": "CodeBuild",
                    "version": "1",
                    "input_artifacts": ["code"],
                    "output_artifacts": ["wheel"],
                    "configuration": {"ProjectName": project.name},
                }
            ],
        },
        {
            "name": "Release",
            "actions": [
                {
                    "name": "Ask",
                    "category": "Approval",
                    "owner": "AWS",
                    "provider": "Manual",
                    "version": "1",
                    "run_order": 1,
                },
                {
                    "name": "Keep",
                    "category": "Deploy",
                    "owner": "AWS",
                    "provider": "S3",
                    "version": "1",
                    "run_order": 2,
                    "input_artifacts": ["wheel"],
                    "configuration": {"BucketName": store.bucket, "Extract": "false", "ObjectKey": "wheels/train.whl"},
                },
            ],
        },
    ],
    opts=pulumi.ResourceOptions(depends_on=[conveying]),
)
baker = role("baker", "ec2.amazonaws.com")
for policy in ("EC2InstanceProfileForImageBuilder", "AmazonSSMManagedInstanceCore"):
    aws.iam.RolePolicyAttachment(policy, role=baker.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}")
baking = aws.iam.InstanceProfile("baker", role=baker.name)
drivers = aws.imagebuilder.Component(
    "drivers",
    name="drivers",
    platform="Linux",
    version="1.2.0",
    data=json.dumps(
        {
            "schemaVersion": "1.0",
            "phases": [
                {
                    "name": "build",
                    "steps": [
                        {"action": "ExecuteBash", "name": "install", "inputs": {"commands": ["dnf -y install gcc"]}}
                    ],
                }
            ],
        }
    ),
)
recipe = aws.imagebuilder.ImageRecipe(
    "gpu",
    name="gpu",
    version="1.2.0",
    parent_image=f"arn:aws:imagebuilder:{REGION}:aws:image/amazon-linux-2023-x86/x.x.x",
    components=[{"component_arn": drivers.arn}],
    block_device_mappings=[
        {
            "device_name": "/dev/xvda",
            "ebs": {"volume_size": 60, "volume_type": "gp3", "encrypted": "true", "delete_on_termination": "true"},
        }
    ],
)
bench = aws.imagebuilder.InfrastructureConfiguration(
    "gpu",
    name="gpu",
    instance_profile_name=baking.name,
    instance_types=["g5.xlarge", "g4dn.xlarge"],
    security_group_ids=[members.id],
    subnet_id=private[0],
    terminate_instance_on_failure=True,
    sns_topic_arn=notes.arn,
)
aws.imagebuilder.ImagePipeline(
    "gpu",
    name="gpu",
    image_recipe_arn=recipe.arn,
    infrastructure_configuration_arn=bench.arn,
    schedule={
        "schedule_expression": "cron(0 4 ? * MON *)",
        "pipeline_execution_start_condition": "EXPRESSION_MATCH_AND_DEPENDENCY_UPDATES_AVAILABLE",
    },
)

# What is asked: a REST interface before a function, people who log in, a table behind.
pool = aws.cognito.UserPool(
    "people",
    name="people",
    username_attributes=["email"],
    auto_verified_attributes=["email"],
    password_policy={
        "minimum_length": 14,
        "require_lowercase": True,
        "require_numbers": True,
        "temporary_password_validity_days": 3,
    },
    mfa_configuration="OPTIONAL",
    software_token_mfa_configuration={"enabled": True},
)
aws.cognito.UserPoolClient(
    "console",
    name="console",
    user_pool_id=pool.id,
    generate_secret=False,
    allowed_oauth_flows_user_pool_client=True,
    allowed_oauth_flows=["code"],
    allowed_oauth_scopes=["openid", "email"],
    callback_urls=["https://console.acme.example/back"],
    supported_identity_providers=["COGNITO"],
    access_token_validity=30,
    id_token_validity=30,
    refresh_token_validity=7,
    token_validity_units={"access_token": "minutes", "id_token": "minutes", "refresh_token": "days"},
)
jobs = aws.dynamodb.Table(
    "jobs",
    name="jobs",
    billing_mode="PROVISIONED",
    read_capacity=5,
    write_capacity=5,
    hash_key="job",
    attributes=[{"name": "job", "type": "S"}, {"name": "owner", "type": "S"}],
    global_secondary_indexes=[
        {
            "name": "by-owner",
            "hash_key": "owner",
            "projection_type": "INCLUDE",
            "non_key_attributes": ["state"],
            "read_capacity": 2,
            "write_capacity": 2,
        }
    ],
)
counted = aws.appautoscaling.Target(
    "jobs",
    service_namespace="dynamodb",
    scalable_dimension="dynamodb:table:ReadCapacityUnits",
    resource_id=jobs.name.apply(lambda name: f"table/{name}"),
    min_capacity=5,
    max_capacity=100,
)
aws.appautoscaling.Policy(
    "jobs",
    name="jobs",
    policy_type="TargetTrackingScaling",
    service_namespace=counted.service_namespace,
    scalable_dimension=counted.scalable_dimension,
    resource_id=counted.resource_id,
    target_tracking_scaling_policy_configuration={
        "predefined_metric_specification": {"predefined_metric_type": "DynamoDBReadCapacityUtilization"},
        "target_value": 70,
    },
)
clerk = role("clerk", "lambda.amazonaws.com")
clerking = aws.iam.RolePolicyAttachment(
    "clerk", role=clerk.name, policy_arn="arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"
)
aws.iam.RolePolicy(
    "clerk",
    role=clerk.name,
    policy=pulumi.Output.all(jobs.arn, orders.arn, notes.arn).apply(
        lambda found: allow(
            (["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"], [found[0], f"{found[0]}/index/*"]),
            (["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], found[1]),
            ("sns:Publish", found[2]),
        )
    ),
)
libraries = aws.lambda_.LayerVersion(
    "libraries",
    layer_name="libraries",
    s3_bucket=store.bucket,
    s3_key="layers/libraries.zip",
    compatible_runtimes=["python3.12", "python3.13"],
    compatible_architectures=["arm64"],
)
shared = aws.efs.FileSystem("shared", encrypted=True, lifecycle_policies=[{"transition_to_ia": "AFTER_30_DAYS"}])
mounted = [
    aws.efs.MountTarget(f"shared-{index}", file_system_id=shared.id, subnet_id=subnet, security_groups=[members.id])
    for index, subnet in enumerate(private)
]
point = aws.efs.AccessPoint(
    "clerk",
    file_system_id=shared.id,
    posix_user={"uid": 1000, "gid": 1000},
    root_directory={"path": "/clerk", "creation_info": {"owner_uid": 1000, "owner_gid": 1000, "permissions": "0750"}},
)
aws.iam.RolePolicy(
    "clerk-files",
    role=clerk.name,
    policy=shared.arn.apply(
        lambda arn: allow((["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"], arn))
    ),
)
desk = aws.lambda_.Function(
    "desk",
    name="desk",
    runtime="python3.13",
    architectures=["arm64"],
    handler="desk.handler",
    s3_bucket=store.bucket,
    s3_key="functions/desk.zip",
    role=clerk.arn,
    timeout=25,
    memory_size=512,
    layers=[libraries.arn],
    vpc_config={"subnet_ids": private, "security_group_ids": [members.id]},
    file_system_config={"arn": point.arn, "local_mount_path": "/mnt/desk"},
    environment={"variables": {"TABLE": jobs.name}},
    opts=pulumi.ResourceOptions(depends_on=[clerking, *mounted]),
)
aws.lambda_.EventSourceMapping(
    "orders",
    event_source_arn=orders.arn,
    function_name=desk.arn,
    batch_size=10,
    function_response_types=["ReportBatchItemFailures"],
    scaling_config={"maximum_concurrency": 5},
)
aws.lambda_.FunctionEventInvokeConfig(
    "desk",
    function_name=desk.name,
    maximum_event_age_in_seconds=3600,
    maximum_retry_attempts=1,
    destination_config={"on_failure": {"destination": notes.arn}},
)
rest = aws.apigateway.RestApi("desk", name="desk", endpoint_configuration={"types": "REGIONAL"})
people = aws.apigateway.Authorizer(
    "people", name="people", rest_api=rest.id, type="COGNITO_USER_POOLS", provider_arns=[pool.arn]
)
path = aws.apigateway.Resource("jobs", rest_api=rest.id, parent_id=rest.root_resource_id, path_part="jobs")
ask = aws.apigateway.Method(
    "ask",
    rest_api=rest.id,
    resource_id=path.id,
    http_method="GET",
    authorization="COGNITO_USER_POOLS",
    authorizer_id=people.id,
    authorization_scopes=["email"],
)
asked = aws.apigateway.Integration(
    "ask",
    rest_api=rest.id,
    resource_id=path.id,
    http_method=ask.http_method,
    type="AWS_PROXY",
    integration_http_method="POST",
    uri=desk.invoke_arn,
    timeout_milliseconds=26000,
)
aws.lambda_.Permission(
    "desk",
    action="lambda:InvokeFunction",
    function=desk.name,
    principal="apigateway.amazonaws.com",
    source_arn=rest.execution_arn.apply(lambda arn: f"{arn}/*/GET/jobs"),
)
deployed = aws.apigateway.Deployment(
    "desk", rest_api=rest.id, triggers={"redeployment": "7"}, opts=pulumi.ResourceOptions(depends_on=[asked])
)
live = aws.apigateway.Stage(
    "live", rest_api=rest.id, deployment=deployed.id, stage_name="live", xray_tracing_enabled=True
)
aws.apigateway.MethodSettings(
    "live",
    rest_api=rest.id,
    stage_name=live.stage_name,
    method_path="*/*",
    settings={"throttling_burst_limit": 50, "throttling_rate_limit": 20, "metrics_enabled": True},
)

# What is moved and computed: files from another place, a stream of messages, a warehouse, batches of Spark.
mover = role("mover", "datasync.amazonaws.com")
aws.iam.RolePolicy(
    "mover",
    role=mover.name,
    policy=store.arn.apply(
        lambda arn: allow(
            (["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"], arn),
            (
                [
                    "s3:GetObject",
                    "s3:PutObject",
                    "s3:DeleteObject",
                    "s3:AbortMultipartUpload",
                    "s3:ListMultipartUploadParts",
                ],
                f"{arn}/*",
            ),
        )
    ),
)
kept = aws.datasync.S3Location(
    "store", s3_bucket_arn=store.arn, subdirectory="/archive", s3_config={"bucket_access_role_arn": mover.arn}
)
files = aws.datasync.EfsLocation(
    "shared",
    efs_file_system_arn=shared.arn,
    ec2_config={
        "security_group_arns": [members.arn],
        "subnet_arn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/subnet-0a1b2c3d4e5f60718",
    },
)
moves = aws.cloudwatch.LogGroup("moves", name="/aws/datasync/archive", retention_in_days=30)
aws.datasync.Task(
    "archive",
    name="archive",
    source_location_arn=files.arn,
    destination_location_arn=kept.arn,
    cloudwatch_log_group_arn=moves.arn,
    schedule={"schedule_expression": "cron(0 1 ? * SUN *)"},
    options={"verify_mode": "ONLY_FILES_TRANSFERRED", "overwrite_mode": "ALWAYS", "bytes_per_second": -1},
)
aws.cloudwatch.LogResourcePolicy(
    "moves",
    policy_name="datasync",
    policy_document=moves.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "datasync.amazonaws.com"},
                        "Action": ["logs:PutLogEvents", "logs:CreateLogStream"],
                        "Resource": f"{arn}:*",
                    }
                ],
            }
        )
    ),
)
broker = aws.msk.Cluster(
    "features",
    cluster_name="features",
    kafka_version="3.8.x",
    number_of_broker_nodes=3,
    broker_node_group_info={
        "instance_type": "kafka.m7g.large",
        "client_subnets": private,
        "security_groups": [members.id],
        "storage_info": {"ebs_storage_info": {"volume_size": 200}},
    },
    encryption_info={"encryption_in_transit": {"client_broker": "TLS", "in_cluster": True}},
    client_authentication={"sasl": {"iam": True}},
    enhanced_monitoring="PER_BROKER",
)
space = aws.redshiftserverless.Namespace(
    "models", namespace_name="models", db_name="models", manage_admin_password=True
)
aws.redshiftserverless.Workgroup(
    "models",
    workgroup_name="models",
    namespace_name=space.namespace_name,
    base_capacity=16,
    subnet_ids=private,
    security_group_ids=[members.id],
    publicly_accessible=False,
)
spark = role("spark", "elasticmapreduce.amazonaws.com")
aws.iam.RolePolicyAttachment(
    "spark", role=spark.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonElasticMapReduceRole"
)
worker = role("worker", "ec2.amazonaws.com")
aws.iam.RolePolicyAttachment(
    "worker", role=worker.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonElasticMapReduceforEC2Role"
)
working = aws.iam.InstanceProfile("worker", role=worker.name)
aws.emr.Cluster(
    "features",
    name="features",
    release_label="emr-7.9.0",
    applications=["Spark"],
    service_role=spark.arn,
    log_uri=store.bucket.apply(lambda name: f"s3://{name}/emr/"),
    ec2_attributes={
        "instance_profile": working.arn,
        "subnet_id": private[0],
        "emr_managed_master_security_group": members.id,
        "emr_managed_slave_security_group": members.id,
        "service_access_security_group": members.id,
    },
    master_instance_group={"instance_type": "m7g.xlarge"},
    core_instance_group={
        "instance_type": "r7g.2xlarge",
        "instance_count": 2,
        "ebs_configs": [{"size": 100, "type": "gp3", "volumes_per_instance": 2}],
    },
    auto_termination_policy={"idle_timeout": 3600},
    termination_protection=False,
)
piper = role("piper", "pipes.amazonaws.com")
events = aws.kinesis.Stream("clicks", name="clicks", shard_count=2)
piping = aws.iam.RolePolicy(
    "piper",
    role=piper.name,
    policy=pulumi.Output.all(events.arn, orders.arn).apply(
        lambda found: allow(
            (
                [
                    "kinesis:DescribeStream",
                    "kinesis:DescribeStreamSummary",
                    "kinesis:GetRecords",
                    "kinesis:GetShardIterator",
                    "kinesis:ListShards",
                ],
                found[0],
            ),
            ("sqs:SendMessage", found[1]),
        )
    ),
)
aws.pipes.Pipe(
    "clicks",
    name="clicks",
    role_arn=piper.arn,
    source=events.arn,
    source_parameters={
        "kinesis_stream_parameters": {"starting_position": "LATEST", "batch_size": 50},
        "filter_criteria": {"filters": [{"pattern": json.dumps({"data": {"kind": ["click"]}})}]},
    },
    target=orders.arn,
    target_parameters={"sqs_queue_parameters": {"message_group_id": "$.partitionKey"}},
    opts=pulumi.ResourceOptions(depends_on=[piping]),
)
aws.ssm.MaintenanceWindow("patches", name="patches", schedule="cron(0 2 ? * SUN *)", duration=4, cutoff=1)
aws.ssm.PatchBaseline(
    "linux",
    name="linux",
    operating_system="AMAZON_LINUX_2023",
    approval_rules=[{"approve_after_days": 7, "patch_filters": [{"key": "CLASSIFICATION", "values": ["Security"]}]}],
)
aws.sagemaker.FeatureGroup(
    "visits",
    feature_group_name="visits",
    record_identifier_feature_name="visitor",
    event_time_feature_name="seen",
    role_arn=aws.iam.Role("features", assume_role_policy=trust(Service="sagemaker.amazonaws.com")).arn,
    feature_definitions=[
        {"feature_name": "visitor", "feature_type": "String"},
        {"feature_name": "seen", "feature_type": "Fractional"},
        {"feature_name": "score", "feature_type": "Fractional"},
    ],
    online_store_config={"enable_online_store": True},
)
aws.bedrock.ProvisionedModelThroughput(
    "titan",
    provisioned_model_name="titan",
    model_arn=f"arn:aws:bedrock:{REGION}::foundation-model/amazon.titan-text-express-v1:0:8k",
    model_units=1,
    commitment_duration="OneMonth",
)
