"""A tracking server on ECS in a network of another stack's, whose subnets and zone are looked up."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_random as random

PREFIX = "mlflow-prod"
TAGS = {"Project": pulumi.get_project(), "Environment": "prod", "ManagedBy": "pulumi"}


def tags(**more):
    return {**TAGS, **more}


class Database(pulumi.ComponentResource):
    """Postgres for MLflow's backend store, with its secret."""

    def __init__(self, name, *, vpc_id, subnet_ids, clients, kms_key, opts=None):
        super().__init__("acme:data:Database", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)

        self.subnet_group = aws.rds.SubnetGroup(f"{name}-subnets", subnet_ids=subnet_ids, tags=tags(), opts=child)
        self.security_group = aws.ec2.SecurityGroup(
            f"{name}-sg", vpc_id=vpc_id, description="Postgres", tags=tags(Name=f"{PREFIX}-db"), opts=child
        )
        for index, client in enumerate(clients):
            aws.vpc.SecurityGroupIngressRule(
                f"{name}-from-{index}",
                security_group_id=self.security_group.id,
                referenced_security_group_id=client,
                ip_protocol="tcp",
                from_port=5432,
                to_port=5432,
                opts=child,
            )
        self.parameters = aws.rds.ParameterGroup(
            f"{name}-params",
            family="postgres16",
            parameters=[
                {"name": "rds.force_ssl", "value": "1"},
                {"name": "log_min_duration_statement", "value": "500"},
                {"name": "shared_preload_libraries", "value": "pg_stat_statements", "apply_method": "pending-reboot"},
            ],
            opts=child,
        )
        self.password = random.RandomPassword(f"{name}-password", length=32, special=False, opts=child)
        monitoring = aws.iam.Role(
            f"{name}-monitoring",
            assume_role_policy=aws.iam.get_policy_document(
                statements=[
                    {
                        "actions": ["sts:AssumeRole"],
                        "principals": [{"type": "Service", "identifiers": ["monitoring.rds.amazonaws.com"]}],
                    }
                ]
            ).json,
            managed_policy_arns=["arn:aws:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole"],
            opts=child,
        )
        self.instance = aws.rds.Instance(
            f"{name}-instance",
            identifier=f"{PREFIX}-db",
            engine="postgres",
            engine_version="16.9",
            instance_class="db.m6g.large",
            allocated_storage=100,
            max_allocated_storage=500,
            storage_type="gp3",
            storage_encrypted=True,
            kms_key_id=kms_key.arn,
            db_name="mlflow",
            username="mlflow",
            password=self.password.result,
            multi_az=True,
            db_subnet_group_name=self.subnet_group.name,
            vpc_security_group_ids=[self.security_group.id],
            parameter_group_name=self.parameters.name,
            backup_retention_period=14,
            backup_window="03:00-04:00",
            maintenance_window="sun:04:30-sun:05:30",
            performance_insights_enabled=True,
            performance_insights_kms_key_id=kms_key.arn,
            monitoring_interval=60,
            monitoring_role_arn=monitoring.arn,
            enabled_cloudwatch_logs_exports=["postgresql", "upgrade"],
            deletion_protection=True,
            copy_tags_to_snapshot=True,
            final_snapshot_identifier=f"{PREFIX}-db-final",
            tags=tags(),
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        self.secret = aws.secretsmanager.Secret(
            f"{name}-secret", name_prefix=f"{PREFIX}/db-", kms_key_id=kms_key.id, recovery_window_in_days=7, opts=child
        )
        self.uri = pulumi.Output.format(
            "postgresql://{0}:{1}@{2}/{3}?sslmode=require",
            self.instance.username,
            self.password.result,
            self.instance.endpoint,
            self.instance.db_name,
        )
        self.version = aws.secretsmanager.SecretVersion(
            f"{name}-secret-value",
            secret_id=self.secret.id,
            secret_string=pulumi.Output.json_dumps({"uri": self.uri, "password": self.password.result}),
            opts=child,
        )
        self.register_outputs({"endpoint": self.instance.endpoint, "secretArn": self.secret.arn})


config = pulumi.Config()
domain = config.require("domain")
network = pulumi.StackReference(config.require("network"))

caller = aws.get_caller_identity()
region = aws.get_region()
partition = aws.get_partition()

vpc = aws.ec2.get_vpc(tags={"Name": config.require("vpcName")})
private = aws.ec2.get_subnets(
    filters=[
        {"name": "vpc-id", "values": [vpc.id]},
        {"name": "tag:Tier", "values": ["private"]},
    ]
)
database_subnets = aws.ec2.get_subnets_output(
    filters=[
        {"name": "vpc-id", "values": [vpc.id]},
        {"name": "tag:Tier", "values": ["database"]},
    ]
)
private_blocks = [aws.ec2.get_subnet(id=subnet).cidr_block for subnet in private.ids]
zone = aws.route53.get_zone(name=config.require("zoneName"), private_zone=False)

# Keys
key = aws.kms.Key(
    "mlflow",
    description="MLflow artifacts, database and logs",
    enable_key_rotation=True,
    deletion_window_in_days=14,
    policy=aws.iam.get_policy_document_output(
        statements=[
            {
                "sid": "Root",
                "actions": ["kms:*"],
                "resources": ["*"],
                "principals": [
                    {"type": "AWS", "identifiers": [f"arn:{partition.partition}:iam::{caller.account_id}:root"]}
                ],
            },
            {
                "sid": "Logs",
                "actions": ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
                "resources": ["*"],
                "principals": [{"type": "Service", "identifiers": [f"logs.{region.region}.amazonaws.com"]}],
                "conditions": [
                    {
                        "test": "ArnLike",
                        "variable": "kms:EncryptionContext:aws:logs:arn",
                        "values": [f"arn:aws:logs:{region.region}:{caller.account_id}:*"],
                    }
                ],
            },
        ]
    ).json,
    tags=tags(),
)
aws.kms.Alias("mlflow", name=f"alias/{PREFIX}", target_key_id=key.key_id)

# Artifacts
logs = aws.s3.Bucket("access-logs", tags=tags())
aws.s3.BucketOwnershipControls("access-logs", bucket=logs.id, rule={"object_ownership": "BucketOwnerEnforced"})
aws.s3.BucketPublicAccessBlock(
    "access-logs",
    bucket=logs.id,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
)
aws.s3.BucketServerSideEncryptionConfiguration(
    "access-logs",
    bucket=logs.id,
    rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}],
)
aws.s3.BucketLifecycleConfiguration(
    "access-logs",
    bucket=logs.id,
    rules=[{"id": "expire", "status": "Enabled", "filter": {"prefix": ""}, "expiration": {"days": 90}}],
)
log_policy = aws.s3.BucketPolicy(
    "access-logs",
    bucket=logs.id,
    policy=aws.iam.get_policy_document_output(
        statements=[
            {
                "sid": "AlbLogs",
                "actions": ["s3:PutObject"],
                "resources": [logs.arn.apply(lambda arn: f"{arn}/alb/AWSLogs/{caller.account_id}/*")],
                "principals": [{"type": "Service", "identifiers": ["logdelivery.elasticloadbalancing.amazonaws.com"]}],
            },
            {
                "sid": "S3Logs",
                "actions": ["s3:PutObject"],
                "resources": [pulumi.Output.concat(logs.arn, "/s3/*")],
                "principals": [{"type": "Service", "identifiers": ["logging.s3.amazonaws.com"]}],
                "conditions": [
                    {"test": "StringEquals", "variable": "aws:SourceAccount", "values": [caller.account_id]}
                ],
            },
            {
                "sid": "TlsOnly",
                "effect": "Deny",
                "actions": ["s3:*"],
                "resources": [logs.arn, pulumi.Output.concat(logs.arn, "/*")],
                "principals": [{"type": "*", "identifiers": ["*"]}],
                "conditions": [{"test": "Bool", "variable": "aws:SecureTransport", "values": ["false"]}],
            },
        ]
    ).json,
)

artifacts = aws.s3.Bucket("artifacts", bucket_prefix="acme-mlflow-artifacts-", tags=tags(Data="models"))
aws.s3.BucketVersioning("artifacts", bucket=artifacts.id, versioning_configuration={"status": "Enabled"})
aws.s3.BucketServerSideEncryptionConfiguration(
    "artifacts",
    bucket=artifacts.id,
    rules=[
        {
            "apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn},
            "bucket_key_enabled": True,
        }
    ],
)
aws.s3.BucketPublicAccessBlock(
    "artifacts",
    bucket=artifacts.id,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
)
aws.s3.BucketLogging(
    "artifacts",
    bucket=artifacts.id,
    target_bucket=logs.id,
    target_prefix="s3/artifacts/",
    opts=pulumi.ResourceOptions(depends_on=[log_policy]),
)
aws.s3.BucketLifecycleConfiguration(
    "artifacts",
    bucket=artifacts.id,
    rules=[
        {
            "id": "old-versions",
            "status": "Enabled",
            "filter": {},
            "noncurrent_version_expiration": {"noncurrent_days": 30},
            "abort_incomplete_multipart_upload": {"days_after_initiation": 7},
        }
    ],
)

# Security groups
alb_sg = aws.ec2.SecurityGroup(
    "alb",
    vpc_id=vpc.id,
    description="Internal load balancer",
    ingress=[
        {"protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": [vpc.cidr_block], "description": "vpc"},
        {
            "protocol": "tcp",
            "from_port": 443,
            "to_port": 443,
            "cidr_blocks": network.require_output("vpnCidrs"),
            "description": "vpn",
        },
    ],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": private_blocks}],
    tags=tags(),
)
task_sg = aws.ec2.SecurityGroup(
    "task",
    vpc_id=vpc.id,
    description="MLflow tasks",
    ingress=[{"protocol": "tcp", "from_port": 5000, "to_port": 5000, "security_groups": [alb_sg.id]}],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
    tags=tags(),
)

db = Database("mlflow", vpc_id=vpc.id, subnet_ids=database_subnets.ids, clients=[task_sg.id], kms_key=key)

# Redis for the login proxy's sessions
redis_sg = aws.ec2.SecurityGroup("redis", vpc_id=vpc.id, description="Sessions", tags=tags())
aws.ec2.SecurityGroupRule(
    "redis-from-tasks",
    type="ingress",
    security_group_id=redis_sg.id,
    source_security_group_id=task_sg.id,
    protocol="tcp",
    from_port=6379,
    to_port=6379,
)
redis_subnets = aws.elasticache.SubnetGroup("redis", subnet_ids=private.ids)
redis_token = random.RandomPassword("redis", length=48, special=False)
redis = aws.elasticache.ReplicationGroup(
    "redis",
    replication_group_id=f"{PREFIX}-sessions",
    description="Login sessions",
    engine="redis",
    engine_version="7.1",
    node_type="cache.t4g.small",
    num_cache_clusters=2,
    automatic_failover_enabled=True,
    multi_az_enabled=True,
    at_rest_encryption_enabled=True,
    transit_encryption_enabled=True,
    auth_token=redis_token.result,
    subnet_group_name=redis_subnets.name,
    security_group_ids=[redis_sg.id],
    parameter_group_name="default.redis7",
    snapshot_retention_limit=3,
    tags=tags(),
)
redis_secret = aws.secretsmanager.Secret("redis", kms_key_id=key.arn)
redis_value = aws.secretsmanager.SecretVersion(
    "redis",
    secret_id=redis_secret.id,
    secret_string=pulumi.Output.format("rediss://:{0}@{1}:6379", redis_token.result, redis.primary_endpoint_address),
)

# Certificate and load balancer
cert = aws.acm.Certificate("mlflow", domain_name=domain, validation_method="DNS", tags=tags())
option = cert.domain_validation_options[0]
record = aws.route53.Record(
    "validation",
    zone_id=zone.zone_id,
    name=option.resource_record_name,
    type=option.resource_record_type,
    records=[option.resource_record_value],
    ttl=300,
)
validated = aws.acm.CertificateValidation("mlflow", certificate_arn=cert.arn, validation_record_fqdns=[record.fqdn])
alb = aws.lb.LoadBalancer(
    "mlflow",
    internal=True,
    load_balancer_type="application",
    security_groups=[alb_sg.id],
    subnets=private.ids,
    drop_invalid_header_fields=True,
    enable_deletion_protection=True,
    idle_timeout=300,
    access_logs={"bucket": logs.bucket, "prefix": "alb", "enabled": True},
    tags=tags(),
    opts=pulumi.ResourceOptions(depends_on=[log_policy]),
)
target = aws.lb.TargetGroup(
    "mlflow",
    port=5000,
    protocol="HTTP",
    target_type="ip",
    vpc_id=vpc.id,
    deregistration_delay=30,
    health_check={"path": "/health", "matcher": "200", "interval": 15, "timeout": 5},
)
listener = aws.lb.Listener(
    "https",
    load_balancer_arn=alb.arn,
    port=443,
    protocol="HTTPS",
    ssl_policy="ELBSecurityPolicy-TLS13-1-2-2021-06",
    certificate_arn=validated.certificate_arn,
    default_actions=[
        {"type": "fixed-response", "fixed_response": {"content_type": "text/plain", "status_code": "404"}}
    ],
)
rule = aws.lb.ListenerRule(
    "mlflow",
    listener_arn=listener.arn,
    priority=10,
    conditions=[{"host_header": {"values": [domain]}}],
    actions=[{"type": "forward", "target_group_arn": target.arn}],
)
aws.route53.Record(
    "mlflow",
    zone_id=zone.zone_id,
    name=domain,
    type="A",
    aliases=[{"name": alb.dns_name, "zone_id": alb.zone_id, "evaluate_target_health": True}],
)

# ECS
log_group = aws.cloudwatch.LogGroup("mlflow", name=f"/ecs/{PREFIX}", retention_in_days=30, kms_key_id=key.arn)
cluster = aws.ecs.Cluster("mlflow", settings=[{"name": "containerInsights", "value": "enabled"}], tags=tags())
aws.ecs.ClusterCapacityProviders(
    "mlflow",
    cluster_name=cluster.name,
    capacity_providers=["FARGATE", "FARGATE_SPOT"],
    default_capacity_provider_strategies=[{"capacity_provider": "FARGATE", "weight": 1, "base": 1}],
)
ecs_trust = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "ecs-tasks.amazonaws.com"},
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"aws:SourceAccount": caller.account_id}},
            }
        ],
    }
)
execution = aws.iam.Role("execution", assume_role_policy=ecs_trust, tags=tags())
execution_managed = aws.iam.RolePolicyAttachment(
    "execution", role=execution.name, policy_arn=aws.iam.ManagedPolicy.AMAZON_ECS_TASK_EXECUTION_ROLE_POLICY
)
execution_secrets = aws.iam.RolePolicy(
    "execution-secrets",
    role=execution.id,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": ["secretsmanager:GetSecretValue"],
                    "Resource": [db.secret.arn, redis_secret.arn],
                },
                {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": key.arn},
            ],
        }
    ),
)
task_role = aws.iam.Role("task", assume_role_policy=ecs_trust, tags=tags())
task_policy = aws.iam.Policy(
    "task",
    policy=pulumi.Output.all(artifacts.arn, key.arn).apply(
        lambda args: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
                        "Resource": f"{args[0]}/*",
                    },
                    {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": args[0]},
                    {"Effect": "Allow", "Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": args[1]},
                ],
            }
        )
    ),
)
aws.iam.RolePolicyAttachmentsExclusive("task", role_name=task_role.name, policy_arns=[task_policy.arn])

task = aws.ecs.TaskDefinition(
    "mlflow",
    family=PREFIX,
    cpu="1024",
    memory="2048",
    network_mode="awsvpc",
    requires_compatibilities=["FARGATE"],
    runtime_platform={"cpu_architecture": "X86_64", "operating_system_family": "LINUX"},
    execution_role_arn=execution.arn,
    task_role_arn=task_role.arn,
    container_definitions=pulumi.Output.json_dumps(
        [
            {
                "name": "mlflow",
                "image": config.require("image"),
                "essential": True,
                "command": [
                    "sh",
                    "-c",
                    "exec mlflow server --host 0.0.0.0 --port 5000 --backend-store-uri $MLFLOW_URI"
                    " --artifacts-destination $ARTIFACTS --gunicorn-opts '--timeout 180'",
                ],
                "portMappings": [{"containerPort": 5000, "protocol": "tcp"}],
                "environment": [
                    {"name": "ARTIFACTS", "value": pulumi.Output.concat("s3://", artifacts.bucket)},
                    {"name": "AWS_DEFAULT_REGION", "value": region.region},
                ],
                "secrets": [
                    {"name": "MLFLOW_URI", "valueFrom": pulumi.Output.concat(db.secret.arn, ":uri::")},
                    {"name": "REDIS_URL", "valueFrom": redis_secret.arn},
                ],
                "logConfiguration": {
                    "logDriver": "awslogs",
                    "options": {
                        "awslogs-group": log_group.name,
                        "awslogs-region": region.region,
                        "awslogs-stream-prefix": "mlflow",
                    },
                },
            }
        ]
    ),
    tags=tags(),
)
service = aws.ecs.Service(
    "mlflow",
    cluster=cluster.arn,
    task_definition=task.arn,
    desired_count=2,
    launch_type="FARGATE",
    platform_version="1.4.0",
    health_check_grace_period_seconds=120,
    enable_execute_command=False,
    network_configuration={"subnets": private.ids, "security_groups": [task_sg.id], "assign_public_ip": False},
    load_balancers=[{"target_group_arn": target.arn, "container_name": "mlflow", "container_port": 5000}],
    deployment_circuit_breaker={"enable": True, "rollback": True},
    propagate_tags="SERVICE",
    tags=tags(),
    opts=pulumi.ResourceOptions(
        depends_on=[rule, execution_managed, execution_secrets, db.version, redis_value],
        ignore_changes=["desiredCount"],
    ),
)
scaling = aws.appautoscaling.Target(
    "mlflow",
    service_namespace="ecs",
    scalable_dimension="ecs:service:DesiredCount",
    resource_id=pulumi.Output.concat("service/", cluster.name, "/", service.name),
    min_capacity=2,
    max_capacity=6,
)
aws.appautoscaling.Policy(
    "mlflow-cpu",
    policy_type="TargetTrackingScaling",
    service_namespace=scaling.service_namespace,
    scalable_dimension=scaling.scalable_dimension,
    resource_id=scaling.resource_id,
    target_tracking_scaling_policy_configuration={
        "predefined_metric_specification": {"predefined_metric_type": "ECSServiceAverageCPUUtilization"},
        "target_value": 60,
        "scale_in_cooldown": 300,
        "scale_out_cooldown": 60,
    },
)

# Alarms
for metric, threshold, comparison in (
    ("HTTPCode_Target_5XX_Count", 10, "GreaterThanThreshold"),
    ("TargetResponseTime", 5, "GreaterThanThreshold"),
):
    aws.cloudwatch.MetricAlarm(
        metric.lower().replace("_", "-"),
        namespace="AWS/ApplicationELB",
        metric_name=metric,
        dimensions={"LoadBalancer": alb.arn_suffix, "TargetGroup": target.arn_suffix},
        statistic="Sum" if "Count" in metric else "Average",
        period=60,
        evaluation_periods=5,
        threshold=threshold,
        comparison_operator=comparison,
        treat_missing_data="notBreaching",
    )
aws.cloudwatch.MetricAlarm(
    "db-storage",
    namespace="AWS/RDS",
    metric_name="FreeStorageSpace",
    dimensions={"DBInstanceIdentifier": db.instance.identifier},
    statistic="Minimum",
    period=300,
    evaluation_periods=3,
    threshold=10 * 1024**3,
    comparison_operator="LessThanThreshold",
)

pulumi.export("url", f"https://{domain}")
pulumi.export("artifacts", artifacts.bucket)
pulumi.export("dbEndpoint", db.instance.endpoint)
