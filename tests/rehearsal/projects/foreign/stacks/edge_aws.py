"""Serverless inference in Ireland, with a copy of the models in Virginia, and an edge."""

import json

import pulumi
import pulumi_aws as aws
from pulumi import InvokeOptions, Output, ResourceOptions

domain, zone_id = "api.models.example.org", "Z0123456789ABCDEFGHIJ"
account = aws.get_caller_identity().account_id

virginia = aws.Provider(
    "virginia", region="us-east-1", default_tags={"tags": {"App": "inference-edge", "Region": "us"}}
)
ireland = aws.Provider("ireland", region="eu-west-1", default_tags={"tags": {"App": "inference-edge"}})
us = ResourceOptions(provider=virginia)
eu = ResourceOptions(provider=ireland)


def assume(service: str) -> str:
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}],
        }
    )


def statement(actions, resources, **more):
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def document(*statements):
    return Output.json_dumps({"Version": "2012-10-17", "Statement": list(statements)})


# --- one key, two regions
key = aws.kms.Key("models", description="models", multi_region=True, enable_key_rotation=True, opts=eu)
replica = aws.kms.ReplicaKey("models-us", primary_key_arn=key.arn, description="models, in us-east-1", opts=us)
aws.kms.Alias("models", name="alias/models", target_key_id=key.key_id, opts=eu)
aws.kms.Alias("models-us", name="alias/models", target_key_id=replica.key_id, opts=us)

# --- buckets with replication
source = aws.s3.Bucket("models", opts=eu)
target = aws.s3.Bucket("models-us", opts=us)
versions = {}
for name, bucket, kms, opts in (("models", source, key, eu), ("models-us", target, replica, us)):
    versions[name] = aws.s3.BucketVersioning(
        name, bucket=bucket.id, versioning_configuration={"status": "Enabled"}, opts=opts
    )
    aws.s3.BucketServerSideEncryptionConfiguration(
        name,
        bucket=bucket.id,
        rules=[
            {
                "apply_server_side_encryption_by_default": {
                    "sse_algorithm": "aws:kms",
                    "kms_master_key_id": kms.arn,
                },
                "bucket_key_enabled": True,
            }
        ],
        opts=opts,
    )
    aws.s3.BucketPublicAccessBlock(
        name,
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=opts,
    )
replication_role = aws.iam.Role("replication", assume_role_policy=assume("s3.amazonaws.com"), opts=eu)
replication_policy = aws.iam.Policy(
    "replication",
    policy=document(
        statement(["s3:GetReplicationConfiguration", "s3:ListBucket"], source.arn),
        statement(
            ["s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"],
            Output.concat(source.arn, "/*"),
        ),
        statement(["s3:ReplicateObject", "s3:ReplicateDelete", "s3:ReplicateTags"], Output.concat(target.arn, "/*")),
        statement("kms:Decrypt", key.arn),
        statement("kms:Encrypt", replica.arn),
    ),
    opts=eu,
)
replication_attached = aws.iam.PolicyAttachment(
    "replication", roles=[replication_role.name], policy_arn=replication_policy.arn, opts=eu
)
aws.s3.BucketReplicationConfig(
    "models",
    bucket=source.id,
    role=replication_role.arn,
    rules=[
        {
            "id": "all",
            "status": "Enabled",
            "priority": 1,
            "filter": {"prefix": ""},
            "delete_marker_replication": {"status": "Enabled"},
            "source_selection_criteria": {"sse_kms_encrypted_objects": {"status": "Enabled"}},
            "destination": {
                "bucket": target.arn,
                "storage_class": "STANDARD_IA",
                "encryption_configuration": {"replica_kms_key_id": replica.arn},
            },
        }
    ],
    opts=ResourceOptions(provider=ireland, depends_on=[*versions.values(), replication_attached]),
)

# --- images
repository = aws.ecr.Repository(
    "predict",
    name="edge/predict",
    image_tag_mutability="IMMUTABLE",
    encryption_configurations=[{"encryption_type": "KMS", "kms_key": key.arn}],
    opts=eu,
)
aws.ecr.ReplicationConfiguration(
    "images",
    replication_configuration={
        "rules": [
            {
                "destinations": [{"region": "us-east-1", "registry_id": account}],
                "repository_filters": [{"filter": "edge/", "filter_type": "PREFIX_MATCH"}],
            }
        ]
    },
    opts=eu,
)
aws.ecr.RepositoryPolicy(
    "predict",
    repository=repository.name,
    policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "Lambda",
                    "Effect": "Allow",
                    "Principal": {"Service": "lambda.amazonaws.com"},
                    "Action": ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
                }
            ],
        }
    ),
    opts=eu,
)

# --- tables and queues
jobs = aws.dynamodb.Table(
    "jobs",
    billing_mode="PAY_PER_REQUEST",
    hash_key="tenant",
    range_key="job",
    attributes=[
        {"name": "tenant", "type": "S"},
        {"name": "job", "type": "S"},
        {"name": "state", "type": "S"},
    ],
    global_secondary_indexes=[{"name": "by-state", "hash_key": "state", "range_key": "job", "projection_type": "ALL"}],
    ttl={"attribute_name": "expires", "enabled": True},
    point_in_time_recovery={"enabled": True},
    stream_enabled=True,
    stream_view_type="NEW_AND_OLD_IMAGES",
    replicas=[{"region_name": "us-east-1"}],
    opts=eu,
)
dead = aws.sqs.Queue("dead", message_retention_seconds=14 * 86400, sqs_managed_sse_enabled=True, opts=eu)
work = aws.sqs.Queue(
    "work",
    visibility_timeout_seconds=900,
    receive_wait_time_seconds=20,
    sqs_managed_sse_enabled=True,
    redrive_policy=Output.json_dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": 4}),
    opts=eu,
)
aws.sqs.RedriveAllowPolicy(
    "dead",
    queue_url=dead.id,
    redrive_allow_policy=Output.json_dumps({"redrivePermission": "byQueue", "sourceQueueArns": [work.arn]}),
    opts=eu,
)

# --- functions
api_role = aws.iam.Role("api", assume_role_policy=assume("lambda.amazonaws.com"), opts=eu)
worker_role = aws.iam.Role("worker", assume_role_policy=assume("lambda.amazonaws.com"), opts=eu)
basic = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
api_policy = aws.iam.RolePolicy(
    "api",
    role=api_role,
    policy=document(
        statement("sqs:SendMessage", work.arn),
        statement(
            ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"], [jobs.arn, Output.concat(jobs.arn, "/index/*")]
        ),
        statement(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"),
    ),
    opts=eu,
)
worker_policy = aws.iam.RolePolicy(
    "worker",
    role=worker_role.id,
    policy=document(
        statement(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], work.arn),
        statement(["dynamodb:UpdateItem"], jobs.arn),
        statement(["s3:GetObject"], Output.concat(source.arn, "/*")),
        statement(["s3:ListBucket"], source.arn),
        statement(["kms:Decrypt"], key.arn),
        statement(
            ["firehose:PutRecord", "firehose:PutRecordBatch"],
            f"arn:aws:firehose:eu-west-1:{account}:deliverystream/predictions",
        ),
    ),
    opts=eu,
)
attached = [
    aws.iam.RolePolicyAttachmentsExclusive("api", role_name=api_role.name, policy_arns=[basic], opts=eu),
    aws.iam.RolePolicyAttachmentsExclusive("worker", role_name=worker_role.name, policy_arns=[basic], opts=eu),
]
api_logs = aws.cloudwatch.LogGroup("api", name="/aws/lambda/edge-api", retention_in_days=30, opts=eu)
worker_logs = aws.cloudwatch.LogGroup("worker", name="/aws/lambda/edge-worker", retention_in_days=30, opts=eu)
image_uri = repository.repository_url.apply(lambda url: f"{url}:2024-11-05")
api = aws.lambda_.Function(
    "api",
    name="edge-api",
    package_type="Image",
    image_uri=image_uri,
    image_config={"commands": ["api.handler"]},
    role=api_role.arn,
    architectures=["arm64"],
    memory_size=512,
    timeout=29,
    environment={"variables": {"TABLE": jobs.name, "QUEUE_URL": work.url}},
    tracing_config={"mode": "Active"},
    opts=ResourceOptions(provider=ireland, depends_on=[*attached, api_logs, api_policy]),
)
worker = aws.lambda_.Function(
    "worker",
    name="edge-worker",
    package_type="Image",
    image_uri=image_uri,
    image_config={"commands": ["worker.handler"]},
    role=worker_role.arn,
    architectures=["arm64"],
    memory_size=8192,
    timeout=150,
    ephemeral_storage={"size": 8192},
    environment={
        "variables": {
            "TABLE": jobs.name,
            "MODELS": source.bucket,
            "STREAM": "predictions",
        }
    },
    opts=ResourceOptions(provider=ireland, depends_on=[*attached, worker_logs, worker_policy]),
)
aws.lambda_.EventSourceMapping(
    "work",
    event_source_arn=work.arn,
    function_name=worker.arn,
    batch_size=5,
    function_response_types=["ReportBatchItemFailures"],
    scaling_config={"maximum_concurrency": 50},
    opts=ResourceOptions(provider=ireland, depends_on=[worker_policy]),
)

# --- analytics
lake = aws.s3.Bucket("lake", opts=eu)
aws.s3.BucketPublicAccessBlock(
    "lake",
    bucket=lake.id,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
    opts=eu,
)
firehose_role = aws.iam.Role("firehose", assume_role_policy=assume("firehose.amazonaws.com"), opts=eu)
firehose_policy = aws.iam.RolePolicy(
    "firehose",
    role=firehose_role.id,
    policy=document(
        statement(
            [
                "s3:AbortMultipartUpload",
                "s3:GetBucketLocation",
                "s3:GetObject",
                "s3:ListBucket",
                "s3:ListBucketMultipartUploads",
                "s3:PutObject",
            ],
            [lake.arn, Output.concat(lake.arn, "/*")],
        ),
        statement("logs:PutLogEvents", f"arn:aws:logs:eu-west-1:{account}:log-group:/aws/kinesisfirehose/*"),
    ),
    opts=eu,
)
firehose_logs = aws.cloudwatch.LogGroup(
    "firehose", name="/aws/kinesisfirehose/predictions", retention_in_days=14, opts=eu
)
firehose_stream = aws.cloudwatch.LogStream("firehose", name="S3Delivery", log_group_name=firehose_logs.name, opts=eu)
aws.kinesis.FirehoseDeliveryStream(
    "predictions",
    name="predictions",
    destination="extended_s3",
    extended_s3_configuration={
        "role_arn": firehose_role.arn,
        "bucket_arn": lake.arn,
        "prefix": "predictions/dt=!{timestamp:yyyy-MM-dd}/",
        "error_output_prefix": "errors/!{firehose:error-output-type}/",
        "buffering_size": 64,
        "buffering_interval": 300,
        "compression_format": "GZIP",
        "cloudwatch_logging_options": {
            "enabled": True,
            "log_group_name": firehose_logs.name,
            "log_stream_name": firehose_stream.name,
        },
    },
    server_side_encryption={"enabled": True},
    opts=ResourceOptions(provider=ireland, depends_on=[firehose_policy]),
)
database = aws.glue.CatalogDatabase("lake", name="edge_lake", opts=eu)
aws.glue.CatalogTable(
    "predictions",
    name="predictions",
    database_name=database.name,
    table_type="EXTERNAL_TABLE",
    parameters={"EXTERNAL": "TRUE", "classification": "json"},
    partition_keys=[{"name": "dt", "type": "string"}],
    storage_descriptor={
        "location": Output.concat("s3://", lake.bucket, "/predictions/"),
        "input_format": "org.apache.hadoop.mapred.TextInputFormat",
        "output_format": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "ser_de_info": {"serialization_library": "org.openx.data.jsonserde.JsonSerDe"},
        "columns": [{"name": "tenant", "type": "string"}, {"name": "score", "type": "double"}],
    },
    opts=eu,
)
aws.athena.Workgroup(
    "lake",
    name="edge",
    configuration={
        "enforce_workgroup_configuration": True,
        "result_configuration": {
            "output_location": lake.bucket.apply(lambda b: f"s3://{b}/athena/"),
            "encryption_configuration": {"encryption_option": "SSE_S3"},
        },
    },
    opts=eu,
)

# --- API
users = aws.cognito.UserPool("users", password_policy={"minimum_length": 14, "require_numbers": True}, opts=eu)
client = aws.cognito.UserPoolClient(
    "cli", user_pool_id=users.id, explicit_auth_flows=["ALLOW_USER_SRP_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"], opts=eu
)
http = aws.apigatewayv2.Api("edge", protocol_type="HTTP", disable_execute_api_endpoint=False, opts=eu)
authorizer = aws.apigatewayv2.Authorizer(
    "jwt",
    api_id=http.id,
    authorizer_type="JWT",
    name="cognito",
    identity_sources=["$request.header.Authorization"],
    jwt_configuration={
        "audiences": [client.id],
        "issuer": Output.format("https://cognito-idp.eu-west-1.amazonaws.com/{0}", users.id),
    },
    opts=eu,
)
integration = aws.apigatewayv2.Integration(
    "api",
    api_id=http.id,
    integration_type="AWS_PROXY",
    integration_uri=api.invoke_arn,
    payload_format_version="2.0",
    opts=eu,
)
for name, route in (("submit", "POST /jobs"), ("get", "GET /jobs/{id}")):
    aws.apigatewayv2.Route(
        name,
        api_id=http.id,
        route_key=route,
        target=Output.concat("integrations/", integration.id),
        authorization_type="JWT",
        authorizer_id=authorizer.id,
        opts=eu,
    )
access_logs = aws.cloudwatch.LogGroup("access", retention_in_days=30, opts=eu)
stage = aws.apigatewayv2.Stage(
    "default",
    api_id=http.id,
    name="$default",
    auto_deploy=True,
    access_log_settings={
        "destination_arn": access_logs.arn,
        "format": json.dumps({"id": "$context.requestId", "status": "$context.status"}),
    },
    default_route_settings={"throttling_burst_limit": 100, "throttling_rate_limit": 50},
    opts=eu,
)
aws.lambda_.Permission(
    "api",
    action="lambda:InvokeFunction",
    function=api.name,
    principal="apigateway.amazonaws.com",
    source_arn=Output.concat(http.execution_arn, "/*/*"),
    opts=eu,
)

# --- edge, in us-east-1
certificate = aws.acm.Certificate("edge", domain_name=domain, validation_method="DNS", opts=us)
validation = certificate.domain_validation_options.apply(lambda options: options[0])
record = aws.route53.Record(
    "validation",
    zone_id=zone_id,
    name=validation.apply(lambda v: v.resource_record_name),
    type=validation.apply(lambda v: v.resource_record_type),
    records=[validation.apply(lambda v: v.resource_record_value)],
    ttl=60,
)
valid = aws.acm.CertificateValidation(
    "edge", certificate_arn=certificate.arn, validation_record_fqdns=[record.fqdn], opts=us
)
acl = aws.wafv2.WebAcl(
    "edge",
    scope="CLOUDFRONT",
    default_action={"allow": {}},
    visibility_config={"cloudwatch_metrics_enabled": True, "metric_name": "edge", "sampled_requests_enabled": True},
    rules=[
        {
            "name": "common",
            "priority": 1,
            "override_action": {"none": {}},
            "statement": {
                "managed_rule_group_statement": {"name": "AWSManagedRulesCommonRuleSet", "vendor_name": "AWS"}
            },
            "visibility_config": {
                "cloudwatch_metrics_enabled": True,
                "metric_name": "common",
                "sampled_requests_enabled": True,
            },
        },
        {
            "name": "rate",
            "priority": 2,
            "action": {"block": {}},
            "statement": {"rate_based_statement": {"limit": 2000, "aggregate_key_type": "IP"}},
            "visibility_config": {
                "cloudwatch_metrics_enabled": True,
                "metric_name": "rate",
                "sampled_requests_enabled": True,
            },
        },
    ],
    opts=us,
)
caching = aws.cloudfront.get_cache_policy(name="Managed-CachingDisabled", opts=InvokeOptions(provider=virginia))
forwarding = aws.cloudfront.get_origin_request_policy(
    name="Managed-AllViewerExceptHostHeader", opts=InvokeOptions(provider=virginia)
)
cdn = aws.cloudfront.Distribution(
    "edge",
    enabled=True,
    aliases=[domain],
    http_version="http2and3",
    price_class="PriceClass_100",
    web_acl_id=acl.arn,
    origins=[
        {
            "origin_id": "api",
            "domain_name": http.api_endpoint.apply(lambda url: url.removeprefix("https://")),
            "custom_origin_config": {
                "http_port": 80,
                "https_port": 443,
                "origin_protocol_policy": "https-only",
                "origin_ssl_protocols": ["TLSv1.2"],
            },
        }
    ],
    default_cache_behavior={
        "target_origin_id": "api",
        "viewer_protocol_policy": "https-only",
        "allowed_methods": ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"],
        "cached_methods": ["GET", "HEAD"],
        "cache_policy_id": caching.id,
        "origin_request_policy_id": forwarding.id,
    },
    restrictions={"geo_restriction": {"restriction_type": "none"}},
    viewer_certificate={
        "acm_certificate_arn": valid.certificate_arn,
        "ssl_support_method": "sni-only",
        "minimum_protocol_version": "TLSv1.2_2021",
    },
    opts=us,
)
aws.route53.Record(
    "edge",
    zone_id=zone_id,
    name=domain,
    type="A",
    aliases=[{"name": cdn.domain_name, "zone_id": cdn.hosted_zone_id, "evaluate_target_health": False}],
)

# --- alarms
alerts = aws.sns.Topic("alerts", opts=eu)
aws.sns.TopicSubscription("mail", topic=alerts.arn, protocol="email", endpoint="oncall@example.org", opts=eu)
for name, function in {"api": api, "worker": worker}.items():
    aws.cloudwatch.MetricAlarm(
        f"{name}-errors",
        namespace="AWS/Lambda",
        metric_name="Errors",
        dimensions={"FunctionName": function.name},
        statistic="Sum",
        period=300,
        evaluation_periods=1,
        threshold=5,
        comparison_operator="GreaterThanThreshold",
        treat_missing_data="notBreaching",
        alarm_actions=[alerts.arn],
        ok_actions=[alerts.arn],
        opts=eu,
    )
aws.cloudwatch.MetricAlarm(
    "dead-letters",
    namespace="AWS/SQS",
    metric_name="ApproximateNumberOfMessagesVisible",
    dimensions={"QueueName": dead.name},
    statistic="Maximum",
    period=300,
    evaluation_periods=1,
    threshold=1,
    comparison_operator="GreaterThanOrEqualToThreshold",
    alarm_actions=[alerts],
    opts=eu,
)
pulumi.export("url", f"https://{domain}")
pulumi.export("userPool", users.id)
