"""A shop's ranking on AWS: ECS on GPU machines behind a balancer, Aurora, Redis, clicks by Firehose, training."""

import base64
import json

import pulumi
import pulumi_aws as aws

ACCOUNT, REGION = "345678901234", "eu-west-1"
ZONES = ["eu-west-1a", "eu-west-1b"]
AMI = "resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"


def policy(*statements):
    return pulumi.Output.json_dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement} for statement in statements]}
    )


def trust(service):
    return policy({"Action": "sts:AssumeRole", "Principal": {"Service": service}})


# --- network -------------------------------------------------------------------------------------------------------
vpc = aws.ec2.Vpc("shop", cidr_block="10.80.0.0/16", enable_dns_support=True, enable_dns_hostnames=True)
igw = aws.ec2.InternetGateway("shop", vpc_id=vpc.id)
public_routes = aws.ec2.RouteTable("public", vpc_id=vpc.id)
aws.ec2.Route("public", route_table_id=public_routes.id, destination_cidr_block="0.0.0.0/0", gateway_id=igw.id)
public = []
private = []
for i, zone in enumerate(ZONES):
    subnet = aws.ec2.Subnet(
        f"public-{i}",
        vpc_id=vpc.id,
        cidr_block=f"10.80.{i}.0/24",
        availability_zone=zone,
        map_public_ip_on_launch=True,
    )
    aws.ec2.RouteTableAssociation(f"public-{i}", subnet_id=subnet.id, route_table_id=public_routes.id)
    public.append(subnet)
eip = aws.ec2.Eip("nat", domain="vpc")
nat = aws.ec2.NatGateway(
    "shop", allocation_id=eip.id, subnet_id=public[0].id, opts=pulumi.ResourceOptions(depends_on=[igw])
)
private_routes = aws.ec2.RouteTable("private", vpc_id=vpc.id)
aws.ec2.Route("private", route_table_id=private_routes.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id)
for i, zone in enumerate(ZONES):
    subnet = aws.ec2.Subnet(
        f"private-{i}", vpc_id=vpc.id, cidr_block=f"10.80.{16 + 16 * i}.0/20", availability_zone=zone
    )
    aws.ec2.RouteTableAssociation(f"private-{i}", subnet_id=subnet.id, route_table_id=private_routes.id)
    private.append(subnet)
aws.ec2.VpcEndpoint(
    "s3",
    vpc_id=vpc.id,
    service_name=f"com.amazonaws.{REGION}.s3",
    vpc_endpoint_type="Gateway",
    route_table_ids=[private_routes.id],
)

balancer_sg = aws.ec2.SecurityGroup("balancer", vpc_id=vpc.id, description="Public HTTPS")
ranker_sg = aws.ec2.SecurityGroup("ranker", vpc_id=vpc.id, description="Ranker tasks")
features_sg = aws.ec2.SecurityGroup("features", vpc_id=vpc.id, description="Feature service tasks")
store_sg = aws.ec2.SecurityGroup("store", vpc_id=vpc.id, description="Aurora")
cache_sg = aws.ec2.SecurityGroup("cache", vpc_id=vpc.id, description="Redis")
for port in (80, 443):
    aws.vpc.SecurityGroupIngressRule(
        f"balancer-{port}",
        security_group_id=balancer_sg.id,
        ip_protocol="tcp",
        from_port=port,
        to_port=port,
        cidr_ipv4="0.0.0.0/0",
    )
for name, into, source, port in (
    ("ranker-from-balancer", ranker_sg, balancer_sg, 8080),
    ("features-from-ranker", features_sg, ranker_sg, 50051),
    ("store-from-features", store_sg, features_sg, 5432),
    ("cache-from-features", cache_sg, features_sg, 6379),
):
    aws.vpc.SecurityGroupIngressRule(
        name,
        security_group_id=into.id,
        referenced_security_group_id=source.id,
        ip_protocol="tcp",
        from_port=port,
        to_port=port,
    )
for name, group in (("balancer", balancer_sg), ("ranker", ranker_sg), ("features", features_sg)):
    aws.vpc.SecurityGroupEgressRule(f"{name}-out", security_group_id=group.id, ip_protocol="-1", cidr_ipv4="0.0.0.0/0")

# --- storage -------------------------------------------------------------------------------------------------------
models = aws.s3.Bucket("models", bucket="shop-ranking-models")
models_versioning = aws.s3.BucketVersioning("models", bucket=models.id, versioning_configuration={"status": "Enabled"})
aws.s3.BucketLifecycleConfiguration(
    "models",
    bucket=models.id,
    rules=[
        {
            "id": "checkpoints",
            "status": "Enabled",
            "filter": {"prefix": "checkpoints/"},
            "expiration": {"days": 30},
            "noncurrent_version_expiration": {"noncurrent_days": 7},
        }
    ],
    opts=pulumi.ResourceOptions(depends_on=[models_versioning]),
)
clicks = aws.s3.Bucket("clicks", bucket="shop-ranking-clicks")
aws.s3.BucketLifecycleConfiguration(
    "clicks",
    bucket=clicks.id,
    rules=[
        {
            "id": "cool",
            "status": "Enabled",
            "filter": {"prefix": "clicks/"},
            "transitions": [
                {"days": 30, "storage_class": "STANDARD_IA"},
                {"days": 90, "storage_class": "GLACIER_IR"},
            ],
            "expiration": {"days": 400},
        },
        {
            "id": "errors",
            "status": "Enabled",
            "filter": {"prefix": "errors/"},
            "expiration": {"days": 14},
        },
    ],
)
access_logs = aws.s3.Bucket("access-logs", bucket="shop-ranking-access-logs")
access_logs_policy = aws.s3.BucketPolicy(
    "access-logs",
    bucket=access_logs.id,
    policy=policy(
        {
            "Principal": {"Service": "logdelivery.elasticloadbalancing.amazonaws.com"},
            "Action": "s3:PutObject",
            "Resource": access_logs.arn.apply(lambda arn: f"{arn}/alb/AWSLogs/{ACCOUNT}/*"),
        }
    ),
)
for name, bucket in (("models", models), ("clicks", clicks), ("access-logs", access_logs)):
    aws.s3.BucketPublicAccessBlock(
        name,
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
    )
images = aws.ecr.Repository(
    "ranker", name="shop/ranker", image_tag_mutability="IMMUTABLE", image_scanning_configuration={"scan_on_push": True}
)
aws.ecr.LifecyclePolicy(
    "ranker",
    repository=images.name,
    policy=json.dumps(
        {
            "rules": [
                {
                    "rulePriority": 1,
                    "description": "untagged layers",
                    "selection": {
                        "tagStatus": "untagged",
                        "countType": "sinceImagePushed",
                        "countUnit": "days",
                        "countNumber": 7,
                    },
                    "action": {"type": "expire"},
                }
            ]
        }
    ),
)

# --- Aurora and Redis ----------------------------------------------------------------------------------------------
store_subnets = aws.rds.SubnetGroup("store", name="shop-store", subnet_ids=[subnet.id for subnet in private])
store_parameters = aws.rds.ClusterParameterGroup(
    "store",
    name="shop-store",
    family="aurora-postgresql16",
    parameters=[{"name": "rds.force_ssl", "value": "1"}],
)
store = aws.rds.Cluster(
    "store",
    cluster_identifier="shop-store",
    engine="aurora-postgresql",
    engine_version="16.6",
    database_name="features",
    master_username="shop",
    manage_master_user_password=True,
    db_subnet_group_name=store_subnets.name,
    db_cluster_parameter_group_name=store_parameters.name,
    vpc_security_group_ids=[store_sg.id],
    storage_encrypted=True,
    backup_retention_period=7,
    preferred_backup_window="02:00-03:00",
    preferred_maintenance_window="sun:04:00-sun:05:00",
    serverlessv2_scaling_configuration={"min_capacity": 0.5, "max_capacity": 16},
    enabled_cloudwatch_logs_exports=["postgresql"],
    final_snapshot_identifier="shop-store-final",
)
for i in range(2):
    aws.rds.ClusterInstance(
        f"store-{i}",
        identifier=f"shop-store-{i}",
        cluster_identifier=store.cluster_identifier,
        engine=store.engine,
        engine_version=store.engine_version,
        instance_class="db.serverless",
        promotion_tier=i,
    )
cache_subnets = aws.elasticache.SubnetGroup("cache", name="shop-cache", subnet_ids=[subnet.id for subnet in private])
cache_parameters = aws.elasticache.ParameterGroup(
    "cache",
    name="shop-cache",
    family="redis7",
    parameters=[{"name": "maxmemory-policy", "value": "allkeys-lru"}],
)
cache = aws.elasticache.ReplicationGroup(
    "cache",
    replication_group_id="shop-cache",
    description="Features by product",
    engine="redis",
    engine_version="7.1",
    node_type="cache.r7g.large",
    num_cache_clusters=2,
    automatic_failover_enabled=True,
    multi_az_enabled=True,
    subnet_group_name=cache_subnets.name,
    parameter_group_name=cache_parameters.name,
    security_group_ids=[cache_sg.id],
    transit_encryption_enabled=True,
    at_rest_encryption_enabled=True,
)

# --- cluster -------------------------------------------------------------------------------------------------------
host_role = aws.iam.Role("host", name="shop-ranking-host", assume_role_policy=trust("ec2.amazonaws.com"))
host_policy = aws.iam.RolePolicyAttachment(
    "host",
    role=host_role.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role",
)
host_profile = aws.iam.InstanceProfile("host", name="shop-ranking-host", role=host_role.name)
host_sg = aws.ec2.SecurityGroup(
    "host",
    vpc_id=vpc.id,
    description="GPU machines",
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
cluster = aws.ecs.Cluster("ranking", name="shop-ranking", settings=[{"name": "containerInsights", "value": "enabled"}])
JOIN = """#!/bin/bash
cat >> /etc/ecs/ecs.config <<EOC
ECS_CLUSTER=shop-ranking
ECS_ENABLE_GPU_SUPPORT=true
ECS_CONTAINER_STOP_TIMEOUT=60s
EOC
"""
machine = aws.ec2.LaunchTemplate(
    "gpu",
    name="shop-ranking-gpu",
    image_id=AMI,
    instance_type="g5.2xlarge",
    iam_instance_profile={"arn": host_profile.arn},
    vpc_security_group_ids=[host_sg.id],
    user_data=base64.b64encode(JOIN.encode()).decode(),
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
    block_device_mappings=[
        {"device_name": "/dev/xvda", "ebs": {"volume_size": 120, "volume_type": "gp3", "encrypted": "true"}}
    ],
    update_default_version=True,
)
machines = aws.autoscaling.Group(
    "gpu",
    name="shop-ranking-gpu",
    min_size=0,
    max_size=8,
    vpc_zone_identifiers=[subnet.id for subnet in private],
    launch_template={"id": machine.id, "version": "$Latest"},
    protect_from_scale_in=True,
    tags=[{"key": "AmazonECSManaged", "value": "true", "propagate_at_launch": True}],
    opts=pulumi.ResourceOptions(ignore_changes=["desiredCapacity"], depends_on=[host_policy]),
)
gpu_provider = aws.ecs.CapacityProvider(
    "gpu",
    name="shop-gpu",
    auto_scaling_group_provider={
        "auto_scaling_group_arn": machines.arn,
        "managed_termination_protection": "ENABLED",
        "managed_scaling": {
            "status": "ENABLED",
            "target_capacity": 100,
            "minimum_scaling_step_size": 1,
            "maximum_scaling_step_size": 2,
            "instance_warmup_period": 180,
        },
    },
)
providers = aws.ecs.ClusterCapacityProviders(
    "ranking",
    cluster_name=cluster.name,
    capacity_providers=[gpu_provider.name, "FARGATE"],
    default_capacity_provider_strategies=[{"capacity_provider": "FARGATE", "weight": 1}],
)

# --- roles of tasks ------------------------------------------------------------------------------------------------
execution = aws.iam.Role(
    "execution", name="shop-ranking-execution", assume_role_policy=trust("ecs-tasks.amazonaws.com")
)
aws.iam.RolePolicyAttachment(
    "execution",
    role=execution.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy",
)
execution_secrets = aws.iam.RolePolicy(
    "execution-secrets",
    role=execution.id,
    policy=policy(
        {
            "Action": "secretsmanager:GetSecretValue",
            "Resource": store.master_user_secrets.apply(
                lambda secrets: (
                    secrets[0].secret_arn
                    if secrets
                    else f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:rds!cluster-*"
                )
            ),
        }
    ),
)
ranker_role = aws.iam.Role("ranker", name="shop-ranking-ranker", assume_role_policy=trust("ecs-tasks.amazonaws.com"))
trainer_role = aws.iam.Role("trainer", name="shop-ranking-trainer", assume_role_policy=trust("ecs-tasks.amazonaws.com"))
aws.iam.RolePolicy(
    "trainer",
    role=trainer_role.id,
    policy=policy(
        {"Action": ["s3:ListBucket"], "Resource": [models.arn, clicks.arn]},
        {"Action": ["s3:GetObject"], "Resource": clicks.arn.apply(lambda arn: f"{arn}/clicks/*")},
        {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": models.arn.apply(lambda arn: f"{arn}/*")},
    ),
)

# --- the feature service -------------------------------------------------------------------------------------------
names = aws.servicediscovery.PrivateDnsNamespace("shop", name="shop.internal", vpc=vpc.id)
features_name = aws.servicediscovery.Service(
    "features",
    name="features",
    dns_config={
        "namespace_id": names.id,
        "routing_policy": "MULTIVALUE",
        "dns_records": [{"type": "A", "ttl": 10}],
    },
)
features_logs = aws.cloudwatch.LogGroup("features", name="/shop/features", retention_in_days=30)
features_task = aws.ecs.TaskDefinition(
    "features",
    family="shop-features",
    requires_compatibilities=["FARGATE"],
    network_mode="awsvpc",
    cpu="1024",
    memory="2048",
    runtime_platform={"cpu_architecture": "ARM64", "operating_system_family": "LINUX"},
    execution_role_arn=execution.arn,
    container_definitions=pulumi.Output.json_dumps(
        [
            {
                "name": "features",
                "image": f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/shop/features:2.4.0",
                "essential": True,
                "portMappings": [{"containerPort": 50051, "protocol": "tcp"}],
                "environment": [
                    {"name": "PGHOST", "value": store.reader_endpoint},
                    {"name": "PGPORT", "value": "5432"},
                    {"name": "PGDATABASE", "value": "features"},
                    {"name": "REDIS_HOST", "value": cache.primary_endpoint_address},
                    {"name": "REDIS_PORT", "value": "6379"},
                ],
                "secrets": [
                    {
                        "name": "PGPASSWORD",
                        "valueFrom": store.master_user_secrets.apply(
                            lambda secrets: (
                                (
                                    secrets[0].secret_arn
                                    if secrets
                                    else f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:rds!cluster-0000"
                                )
                                + ":password::"
                            )
                        ),
                    }
                ],
                "logConfiguration": {
                    "logDriver": "awslogs",
                    "options": {
                        "awslogs-group": features_logs.name,
                        "awslogs-region": REGION,
                        "awslogs-stream-prefix": "features",
                    },
                },
            }
        ]
    ),
)
features = aws.ecs.Service(
    "features",
    name="features",
    cluster=cluster.arn,
    task_definition=features_task.arn,
    desired_count=2,
    launch_type="FARGATE",
    network_configuration={"subnets": [subnet.id for subnet in private], "security_groups": [features_sg.id]},
    service_registries={"registry_arn": features_name.arn},
    deployment_circuit_breaker={"enable": True, "rollback": True},
)

# --- the ranker ----------------------------------------------------------------------------------------------------
zone = aws.route53.Zone("shop", name="ranking.shop.example")
certificate = aws.acm.Certificate("api", domain_name="api.ranking.shop.example", validation_method="DNS")
proof = aws.route53.Record(
    "api-proof",
    zone_id=zone.zone_id,
    name="_6d1f7a.api.ranking.shop.example",
    type="CNAME",
    ttl=300,
    records=["_0c9b2e.acm-validations.aws."],
)
validated = aws.acm.CertificateValidation("api", certificate_arn=certificate.arn, validation_record_fqdns=[proof.fqdn])
balancer = aws.lb.LoadBalancer(
    "api",
    name="shop-ranking",
    load_balancer_type="application",
    security_groups=[balancer_sg.id],
    subnets=[subnet.id for subnet in public],
    access_logs={"bucket": access_logs.bucket, "prefix": "alb", "enabled": True},
    drop_invalid_header_fields=True,
    opts=pulumi.ResourceOptions(depends_on=[access_logs_policy]),
)
targets = aws.lb.TargetGroup(
    "ranker",
    name="shop-ranker",
    vpc_id=vpc.id,
    target_type="ip",
    protocol="HTTP",
    port=8080,
    deregistration_delay=30,
    health_check={"path": "/health", "port": "traffic-port", "matcher": "200", "interval": 15, "timeout": 5},
)
listener = aws.lb.Listener(
    "https",
    load_balancer_arn=balancer.arn,
    protocol="HTTPS",
    port=443,
    ssl_policy="ELBSecurityPolicy-TLS13-1-2-2021-06",
    certificate_arn=validated.certificate_arn,
    default_actions=[
        {"type": "fixed-response", "fixed_response": {"content_type": "text/plain", "status_code": "404"}}
    ],
)
aws.lb.Listener(
    "http",
    load_balancer_arn=balancer.arn,
    protocol="HTTP",
    port=80,
    default_actions=[{"type": "redirect", "redirect": {"port": "443", "protocol": "HTTPS", "status_code": "HTTP_301"}}],
)
rule = aws.lb.ListenerRule(
    "rank",
    listener_arn=listener.arn,
    priority=10,
    conditions=[
        {"host_header": {"values": ["api.ranking.shop.example"]}},
        {"path_pattern": {"values": ["/v1/*"]}},
    ],
    actions=[{"type": "forward", "target_group_arn": targets.arn}],
)
aws.route53.Record(
    "api",
    zone_id=zone.zone_id,
    name="api.ranking.shop.example",
    type="A",
    aliases=[{"name": balancer.dns_name, "zone_id": balancer.zone_id, "evaluate_target_health": True}],
)
stream_role = aws.iam.Role("firehose", name="shop-ranking-firehose", assume_role_policy=trust("firehose.amazonaws.com"))
stream_logs = aws.cloudwatch.LogGroup("firehose", name="/aws/kinesisfirehose/shop-clicks", retention_in_days=14)
stream_log = aws.cloudwatch.LogStream("firehose", name="S3Delivery", log_group_name=stream_logs.name)
stream_rights = aws.iam.RolePolicy(
    "firehose",
    role=stream_role.id,
    policy=policy(
        {
            "Action": [
                "s3:AbortMultipartUpload",
                "s3:GetBucketLocation",
                "s3:GetObject",
                "s3:ListBucket",
                "s3:ListBucketMultipartUploads",
                "s3:PutObject",
            ],
            "Resource": [clicks.arn, clicks.arn.apply(lambda arn: f"{arn}/*")],
        },
        {"Action": ["logs:PutLogEvents"], "Resource": stream_logs.arn.apply(lambda arn: f"{arn}:*")},
    ),
)
stream = aws.kinesis.FirehoseDeliveryStream(
    "clicks",
    name="shop-clicks",
    destination="extended_s3",
    extended_s3_configuration={
        "role_arn": stream_role.arn,
        "bucket_arn": clicks.arn,
        "prefix": "clicks/day=!{timestamp:yyyy-MM-dd}/",
        "error_output_prefix": "errors/!{firehose:error-output-type}/!{timestamp:yyyy-MM-dd}/",
        "buffering_size": 64,
        "buffering_interval": 300,
        "compression_format": "GZIP",
        "cloudwatch_logging_options": {
            "enabled": True,
            "log_group_name": stream_logs.name,
            "log_stream_name": stream_log.name,
        },
    },
    opts=pulumi.ResourceOptions(depends_on=[stream_rights]),
)
aws.iam.RolePolicy(
    "ranker",
    role=ranker_role.id,
    policy=policy(
        {"Action": ["firehose:PutRecord", "firehose:PutRecordBatch"], "Resource": stream.arn},
        {"Action": ["s3:ListBucket"], "Resource": models.arn},
        {"Action": ["s3:GetObject"], "Resource": models.arn.apply(lambda arn: f"{arn}/published/*")},
    ),
)
ranker_logs = aws.cloudwatch.LogGroup("ranker", name="/shop/ranker", retention_in_days=30)
ranker_task = aws.ecs.TaskDefinition(
    "ranker",
    family="shop-ranker",
    requires_compatibilities=["EC2"],
    network_mode="awsvpc",
    execution_role_arn=execution.arn,
    task_role_arn=ranker_role.arn,
    container_definitions=pulumi.Output.json_dumps(
        [
            {
                "name": "ranker",
                "image": images.repository_url.apply(lambda url: f"{url}:1.18.2"),
                "essential": True,
                "cpu": 3072,
                "memory": 14336,
                "resourceRequirements": [{"type": "GPU", "value": "1"}],
                "portMappings": [{"containerPort": 8080, "protocol": "tcp"}],
                "environment": [
                    {"name": "FEATURES", "value": "features.shop.internal:50051"},
                    {"name": "MODEL_BUCKET", "value": models.bucket},
                    {"name": "CLICK_STREAM", "value": stream.name},
                ],
                "healthCheck": {
                    "command": ["CMD-SHELL", "curl -fs http://localhost:8080/health || exit 1"],
                    "interval": 15,
                    "timeout": 5,
                    "retries": 3,
                    "startPeriod": 120,
                },
                "logConfiguration": {
                    "logDriver": "awslogs",
                    "options": {
                        "awslogs-group": ranker_logs.name,
                        "awslogs-region": REGION,
                        "awslogs-stream-prefix": "ranker",
                    },
                },
            }
        ]
    ),
)
ranker = aws.ecs.Service(
    "ranker",
    name="ranker",
    cluster=cluster.arn,
    task_definition=ranker_task.arn,
    desired_count=2,
    capacity_provider_strategies=[{"capacity_provider": gpu_provider.name, "weight": 1}],
    health_check_grace_period_seconds=180,
    network_configuration={"subnets": [subnet.id for subnet in private], "security_groups": [ranker_sg.id]},
    load_balancers=[{"target_group_arn": targets.arn, "container_name": "ranker", "container_port": 8080}],
    opts=pulumi.ResourceOptions(depends_on=[rule, providers], ignore_changes=["desiredCount"]),
)
scaled = aws.appautoscaling.Target(
    "ranker",
    service_namespace="ecs",
    resource_id=pulumi.Output.concat("service/", cluster.name, "/", ranker.name),
    scalable_dimension="ecs:service:DesiredCount",
    min_capacity=2,
    max_capacity=8,
)
aws.appautoscaling.Policy(
    "ranker",
    policy_type="TargetTrackingScaling",
    service_namespace=scaled.service_namespace,
    resource_id=scaled.resource_id,
    scalable_dimension=scaled.scalable_dimension,
    target_tracking_scaling_policy_configuration={
        "target_value": 600,
        "scale_in_cooldown": 300,
        "scale_out_cooldown": 60,
        "predefined_metric_specification": {
            "predefined_metric_type": "ALBRequestCountPerTarget",
            "resource_label": pulumi.Output.concat(balancer.arn_suffix, "/", targets.arn_suffix),
        },
    },
)

# --- nightly training ----------------------------------------------------------------------------------------------
trainer_logs = aws.cloudwatch.LogGroup("trainer", name="/shop/trainer", retention_in_days=90)
trainer_task = aws.ecs.TaskDefinition(
    "trainer",
    family="shop-trainer",
    requires_compatibilities=["EC2"],
    network_mode="awsvpc",
    execution_role_arn=execution.arn,
    task_role_arn=trainer_role.arn,
    container_definitions=pulumi.Output.json_dumps(
        [
            {
                "name": "trainer",
                "image": images.repository_url.apply(lambda url: f"{url}:1.18.2"),
                "essential": True,
                "cpu": 6144,
                "memory": 28672,
                "command": ["python", "-m", "ranker.train"],
                "resourceRequirements": [{"type": "GPU", "value": "1"}],
                "environment": [
                    {"name": "CLICKS", "value": clicks.bucket.apply(lambda name: f"s3://{name}/clicks/")},
                    {"name": "MODELS", "value": models.bucket.apply(lambda name: f"s3://{name}/published/")},
                ],
                "logConfiguration": {
                    "logDriver": "awslogs",
                    "options": {
                        "awslogs-group": trainer_logs.name,
                        "awslogs-region": REGION,
                        "awslogs-stream-prefix": "trainer",
                    },
                },
            }
        ]
    ),
)
nightly_dlq = aws.sqs.Queue("nightly", name="shop-nightly-failed", message_retention_seconds=1209600)
nightly_role = aws.iam.Role("nightly", name="shop-ranking-nightly", assume_role_policy=trust("scheduler.amazonaws.com"))
nightly_rights = aws.iam.RolePolicy(
    "nightly",
    role=nightly_role.id,
    policy=policy(
        {
            "Action": "ecs:RunTask",
            "Resource": trainer_task.arn_without_revision.apply(lambda arn: f"{arn}:*"),
            "Condition": {"ArnEquals": {"ecs:cluster": cluster.arn}},
        },
        {
            "Action": "iam:PassRole",
            "Resource": [execution.arn, trainer_role.arn],
            "Condition": {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
        },
        {"Action": "sqs:SendMessage", "Resource": nightly_dlq.arn},
    ),
)
aws.scheduler.Schedule(
    "nightly",
    name="shop-ranking-nightly",
    schedule_expression="cron(30 1 * * ? *)",
    schedule_expression_timezone="Europe/Dublin",
    flexible_time_window={"mode": "FLEXIBLE", "maximum_window_in_minutes": 15},
    target={
        "arn": cluster.arn,
        "role_arn": nightly_role.arn,
        "dead_letter_config": {"arn": nightly_dlq.arn},
        "retry_policy": {"maximum_retry_attempts": 3, "maximum_event_age_in_seconds": 3600},
        "ecs_parameters": {
            "task_definition_arn": trainer_task.arn,
            "task_count": 1,
            "capacity_provider_strategies": [{"capacity_provider": gpu_provider.name, "weight": 1}],
            "network_configuration": {
                "subnets": [subnet.id for subnet in private],
                "security_groups": [ranker_sg.id],
            },
        },
    },
    opts=pulumi.ResourceOptions(depends_on=[nightly_rights]),
)

# --- the clicks as a table -----------------------------------------------------------------------------------------
catalog = aws.glue.CatalogDatabase("clicks", name="shop_clicks")
aws.glue.CatalogTable(
    "clicks",
    name="clicks",
    database_name=catalog.name,
    table_type="EXTERNAL_TABLE",
    parameters={
        "classification": "json",
        "projection.enabled": "true",
        "projection.day.type": "date",
        "projection.day.format": "yyyy-MM-dd",
        "projection.day.range": "2026-01-01,NOW",
        "storage.location.template": clicks.bucket.apply(lambda name: f"s3://{name}/clicks/day=${{day}}/"),
    },
    partition_keys=[{"name": "day", "type": "string"}],
    storage_descriptor={
        "location": clicks.bucket.apply(lambda name: f"s3://{name}/clicks/"),
        "input_format": "org.apache.hadoop.mapred.TextInputFormat",
        "output_format": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "ser_de_info": {"serialization_library": "org.openx.data.jsonserde.JsonSerDe"},
        "columns": [
            {"name": "session", "type": "string"},
            {"name": "product", "type": "string"},
            {"name": "position", "type": "int"},
        ],
    },
)

# --- watching ------------------------------------------------------------------------------------------------------
alarms = aws.sns.Topic("alarms", name="shop-ranking-alarms")
aws.sns.TopicPolicy(
    "alarms",
    arn=alarms.arn,
    policy=policy(
        {"Principal": {"Service": "cloudwatch.amazonaws.com"}, "Action": "sns:Publish", "Resource": alarms.arn},
        {"Principal": {"Service": "events.amazonaws.com"}, "Action": "sns:Publish", "Resource": alarms.arn},
    ),
)
aws.sns.TopicSubscription("alarms", topic=alarms.arn, protocol="email", endpoint="ranking@shop.example")
aws.cloudwatch.MetricAlarm(
    "errors",
    name="shop-ranking-5xx",
    namespace="AWS/ApplicationELB",
    metric_name="HTTPCode_Target_5XX_Count",
    dimensions={"LoadBalancer": balancer.arn_suffix, "TargetGroup": targets.arn_suffix},
    statistic="Sum",
    period=60,
    evaluation_periods=3,
    threshold=20,
    comparison_operator="GreaterThanThreshold",
    treat_missing_data="notBreaching",
    alarm_actions=[alarms.arn],
)
aws.cloudwatch.MetricAlarm(
    "nightly-failed",
    name="shop-ranking-nightly-failed",
    namespace="AWS/SQS",
    metric_name="ApproximateNumberOfMessagesVisible",
    dimensions={"QueueName": nightly_dlq.name},
    statistic="Maximum",
    period=300,
    evaluation_periods=1,
    threshold=0,
    comparison_operator="GreaterThanThreshold",
    alarm_actions=[alarms.arn],
)
aws.cloudwatch.MetricAlarm(
    "cache-memory",
    name="shop-cache-memory",
    namespace="AWS/ElastiCache",
    metric_name="DatabaseMemoryUsagePercentage",
    dimensions={"ReplicationGroupId": cache.replication_group_id},
    statistic="Average",
    period=300,
    evaluation_periods=3,
    threshold=85,
    comparison_operator="GreaterThanThreshold",
    alarm_actions=[alarms.arn],
)
aws.cloudwatch.MetricAlarm(
    "ranker-cpu",
    name="shop-ranker-cpu",
    namespace="AWS/ECS",
    metric_name="CPUUtilization",
    dimensions={"ClusterName": cluster.name, "ServiceName": ranker.name},
    statistic="Average",
    period=60,
    evaluation_periods=10,
    threshold=90,
    comparison_operator="GreaterThanThreshold",
    alarm_actions=[alarms.arn],
)
stopped = aws.cloudwatch.EventRule(
    "stopped",
    name="shop-trainer-stopped",
    event_pattern=pulumi.Output.json_dumps(
        {
            "source": ["aws.ecs"],
            "detail-type": ["ECS Task State Change"],
            "detail": {
                "clusterArn": [cluster.arn],
                "group": ["family:shop-trainer"],
                "lastStatus": ["STOPPED"],
                "containers": {"exitCode": [{"anything-but": 0}]},
            },
        }
    ),
)
aws.cloudwatch.EventTarget("stopped", rule=stopped.name, arn=alarms.arn)
pulumi.export("url", "https://api.ranking.shop.example/v1/rank")
