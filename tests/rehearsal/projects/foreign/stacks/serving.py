"""Models that answer: an endpoint of SageMaker, a service on Fargate before it, and machines that label at night."""

import json

import pulumi
import pulumi_aws as aws
from ground import allow, trust

REGION, ZONES = "eu-west-1", ["eu-west-1a", "eu-west-1b"]
IMAGES = "763104351884.dkr.ecr.eu-west-1.amazonaws.com"
OUT = [{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}]


vpc = aws.ec2.Vpc("main", cidr_block="10.80.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
gateway = aws.ec2.InternetGateway("main", vpc_id=vpc.id)
table = aws.ec2.RouteTable("public", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}])
public, private = [], []
for index, zone in enumerate(ZONES):
    subnet = aws.ec2.Subnet(f"public-{zone}", vpc_id=vpc.id, cidr_block=f"10.80.{index}.0/24", availability_zone=zone)
    aws.ec2.RouteTableAssociation(f"public-{zone}", subnet_id=subnet.id, route_table_id=table.id)
    public.append(subnet.id)
    address = aws.ec2.Eip(zone, domain="vpc", opts=pulumi.ResourceOptions(depends_on=[gateway]))
    nat = aws.ec2.NatGateway(zone, subnet_id=subnet.id, allocation_id=address.id)
    way = aws.ec2.RouteTable(zone, vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "nat_gateway_id": nat.id}])
    inner = aws.ec2.Subnet(
        f"private-{zone}", vpc_id=vpc.id, cidr_block=f"10.80.{64 + 64 * index}.0/18", availability_zone=zone
    )
    aws.ec2.RouteTableAssociation(f"private-{zone}", subnet_id=inner.id, route_table_id=way.id)
    private.append(inner.id)
edge = aws.ec2.SecurityGroup(
    "edge",
    vpc_id=vpc.id,
    description="Callers",
    ingress=[{"protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["0.0.0.0/0"]}],
    egress=OUT,
)
web = aws.ec2.SecurityGroup(
    "web",
    vpc_id=vpc.id,
    description="Web service",
    ingress=[{"protocol": "tcp", "from_port": 8080, "to_port": 8080, "security_groups": [edge.id]}],
    egress=OUT,
)
store = aws.ec2.SecurityGroup(
    "store",
    vpc_id=vpc.id,
    description="Stores",
    ingress=[
        {"protocol": "tcp", "from_port": 6379, "to_port": 6379, "security_groups": [web.id]},
        {"protocol": "tcp", "from_port": 443, "to_port": 443, "security_groups": [web.id]},
    ],
)
topic = aws.sns.Topic("serving", name="serving")
aws.sns.TopicSubscription("serving", topic=topic.arn, protocol="email", endpoint="serving@acme.example")

# The name, its certificate, and who answers to it.
zone = aws.route53.Zone("serving", name="serving.acme.example")
certificate = aws.acm.Certificate("api", domain_name="api.serving.acme.example", validation_method="DNS")
option = certificate.domain_validation_options[0]
proof = aws.route53.Record(
    "proof",
    zone_id=zone.zone_id,
    name=option.resource_record_name,
    type=option.resource_record_type,
    records=[option.resource_record_value],
    ttl=60,
)
valid = aws.acm.CertificateValidation("api", certificate_arn=certificate.arn, validation_record_fqdns=[proof.fqdn])
access = aws.s3.Bucket("access", bucket="acme-serving-access")
admitted = aws.s3.BucketPolicy(
    "access",
    bucket=access.id,
    policy=access.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "logdelivery.elasticloadbalancing.amazonaws.com"},
                        "Action": "s3:PutObject",
                        "Resource": f"{arn}/api/AWSLogs/*",
                    }
                ],
            }
        )
    ),
)
balancer = aws.lb.LoadBalancer(
    "api",
    name="api",
    load_balancer_type="application",
    subnets=public,
    security_groups=[edge.id],
    idle_timeout=120,
    access_logs={"bucket": access.bucket, "prefix": "api", "enabled": True},
    opts=pulumi.ResourceOptions(depends_on=[admitted]),
)
answers = aws.lb.TargetGroup(
    "api",
    name="api",
    port=8080,
    protocol="HTTP",
    target_type="ip",
    vpc_id=vpc.id,
    deregistration_delay=30,
    health_check={"path": "/healthz", "matcher": "200", "interval": 15, "timeout": 5, "healthy_threshold": 2},
)
listener = aws.lb.Listener(
    "https",
    load_balancer_arn=balancer.arn,
    port=443,
    protocol="HTTPS",
    ssl_policy="ELBSecurityPolicy-TLS13-1-2-2021-06",
    certificate_arn=valid.certificate_arn,
    default_actions=[
        {
            "type": "fixed-response",
            "fixed_response": {"content_type": "text/plain", "message_body": "nothing here", "status_code": "404"},
        }
    ],
)
aws.lb.ListenerRule(
    "predict",
    listener_arn=listener.arn,
    priority=10,
    conditions=[{"path_pattern": {"values": ["/v1/*"]}}, {"host_header": {"values": ["api.serving.acme.example"]}}],
    actions=[{"type": "forward", "target_group_arn": answers.arn}],
)
aws.route53.Record(
    "api",
    zone_id=zone.zone_id,
    name="api.serving.acme.example",
    type="A",
    aliases=[{"name": balancer.dns_name, "zone_id": balancer.zone_id, "evaluate_target_health": True}],
)
wall = aws.wafv2.WebAcl(
    "api",
    name="api",
    scope="REGIONAL",
    default_action={"allow": {}},
    visibility_config={"cloudwatch_metrics_enabled": True, "metric_name": "api", "sampled_requests_enabled": True},
    rules=[
        {
            "name": "rate",
            "priority": 1,
            "action": {"block": {}},
            "statement": {"rate_based_statement": {"limit": 2000, "aggregate_key_type": "IP"}},
            "visibility_config": {
                "cloudwatch_metrics_enabled": True,
                "metric_name": "rate",
                "sampled_requests_enabled": True,
            },
        }
    ],
)
aws.wafv2.WebAclAssociation("api", resource_arn=balancer.arn, web_acl_arn=wall.arn)

# Models behind an endpoint.
models = aws.s3.Bucket("models", bucket="acme-serving-models")
answerer = aws.iam.Role("answerer", assume_role_policy=trust(Service="sagemaker.amazonaws.com"))
answering = aws.iam.RolePolicy(
    "answerer",
    role=answerer.name,
    policy=models.arn.apply(
        lambda arn: allow(
            ("s3:GetObject", f"{arn}/*"),
            ("s3:ListBucket", arn),
            ("s3:PutObject", f"{arn}/captured/*"),
            (
                [
                    "ecr:GetAuthorizationToken",
                    "ecr:BatchGetImage",
                    "ecr:GetDownloadUrlForLayer",
                    "ecr:BatchCheckLayerAvailability",
                    "logs:CreateLogGroup",
                    "logs:CreateLogStream",
                    "logs:PutLogEvents",
                    "logs:DescribeLogStreams",
                    "cloudwatch:PutMetricData",
                ],
                "*",
            ),
        )
    ),
)
model = aws.sagemaker.Model(
    "ranker",
    name="ranker",
    execution_role_arn=answerer.arn,
    primary_container={
        "image": f"{IMAGES}/pytorch-inference:2.6.0-gpu-py312-cu124-ubuntu22.04-sagemaker",
        "model_data_url": models.bucket.apply(lambda name: f"s3://{name}/ranker/model.tar.gz"),
    },
    opts=pulumi.ResourceOptions(depends_on=[answering]),
)
configuration = aws.sagemaker.EndpointConfiguration(
    "ranker",
    name="ranker",
    production_variants=[
        {
            "variant_name": "all",
            "model_name": model.name,
            "instance_type": "ml.g5.xlarge",
            "initial_instance_count": 2,
            "initial_variant_weight": 1,
        }
    ],
    data_capture_config={
        "enable_capture": True,
        "initial_sampling_percentage": 10,
        "destination_s3_uri": models.bucket.apply(lambda name: f"s3://{name}/captured"),
        "capture_options": [{"capture_mode": "InputAndOutput"}],
    },
)
endpoint = aws.sagemaker.Endpoint("ranker", name="ranker", endpoint_config_name=configuration.name)
scaled = aws.appautoscaling.Target(
    "ranker",
    service_namespace="sagemaker",
    scalable_dimension="sagemaker:variant:DesiredInstanceCount",
    resource_id=endpoint.name.apply(lambda name: f"endpoint/{name}/variant/all"),
    min_capacity=2,
    max_capacity=8,
)
aws.appautoscaling.Policy(
    "ranker",
    name="ranker",
    policy_type="TargetTrackingScaling",
    service_namespace=scaled.service_namespace,
    scalable_dimension=scaled.scalable_dimension,
    resource_id=scaled.resource_id,
    target_tracking_scaling_policy_configuration={
        "predefined_metric_specification": {"predefined_metric_type": "SageMakerVariantInvocationsPerInstance"},
        "target_value": 700,
        "scale_in_cooldown": 300,
        "scale_out_cooldown": 60,
    },
)
aws.cloudwatch.MetricAlarm(
    "ranker-errors",
    name="ranker-errors",
    namespace="AWS/SageMaker",
    metric_name="Invocation5XXErrors",
    dimensions={"EndpointName": endpoint.name, "VariantName": "all"},
    statistic="Sum",
    period=60,
    evaluation_periods=3,
    threshold=5,
    comparison_operator="GreaterThanThreshold",
    treat_missing_data="notBreaching",
    alarm_actions=[topic.arn],
)

# The web service before it.
redis = aws.elasticache.ReplicationGroup(
    "answers",
    replication_group_id="answers",
    description="Answers of the last hour",
    engine="valkey",
    engine_version="8.0",
    node_type="cache.t4g.small",
    num_cache_clusters=2,
    automatic_failover_enabled=True,
    multi_az_enabled=True,
    at_rest_encryption_enabled=True,
    transit_encryption_enabled=True,
    port=6379,
    parameter_group_name=aws.elasticache.ParameterGroup(
        "answers", name="answers", family="valkey8", parameters=[{"name": "maxmemory-policy", "value": "allkeys-lru"}]
    ).name,
    subnet_group_name=aws.elasticache.SubnetGroup("answers", name="answers", subnet_ids=private).name,
    security_group_ids=[store.id],
    snapshot_retention_limit=3,
)
search = aws.opensearch.Domain(
    "vectors",
    domain_name="vectors",
    engine_version="OpenSearch_2.19",
    cluster_config={
        "instance_type": "r7g.large.search",
        "instance_count": 2,
        "zone_awareness_enabled": True,
        "zone_awareness_config": {"availability_zone_count": 2},
    },
    ebs_options={"ebs_enabled": True, "volume_size": 100, "volume_type": "gp3"},
    encrypt_at_rest={"enabled": True},
    node_to_node_encryption={"enabled": True},
    domain_endpoint_options={"enforce_https": True, "tls_security_policy": "Policy-Min-TLS-1-2-2019-07"},
    vpc_options={"subnet_ids": private, "security_group_ids": [store.id]},
)
logs = aws.cloudwatch.LogGroup("api", name="/ecs/api", retention_in_days=30)
images = aws.ecr.Repository("api", name="serving/api", image_tag_mutability="IMMUTABLE")
token = aws.secretsmanager.Secret("token", name="serving/token")
puller = aws.iam.Role("puller", assume_role_policy=trust(Service="ecs-tasks.amazonaws.com"))
pulling = aws.iam.RolePolicyAttachment(
    "puller",
    role=puller.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy",
)
aws.iam.RolePolicy(
    "puller",
    role=puller.name,
    policy=token.arn.apply(lambda arn: allow(("secretsmanager:GetSecretValue", arn))),
)
asker = aws.iam.Role("asker", assume_role_policy=trust(Service="ecs-tasks.amazonaws.com"))
aws.iam.RolePolicy(
    "asker", role=asker.name, policy=endpoint.arn.apply(lambda arn: allow(("sagemaker:InvokeEndpoint", arn)))
)
cluster = aws.ecs.Cluster("serving", name="serving", settings=[{"name": "containerInsights", "value": "enhanced"}])
task = aws.ecs.TaskDefinition(
    "api",
    family="api",
    requires_compatibilities=["FARGATE"],
    network_mode="awsvpc",
    cpu="1024",
    memory="4096",
    execution_role_arn=puller.arn,
    task_role_arn=asker.arn,
    runtime_platform={"cpu_architecture": "ARM64", "operating_system_family": "LINUX"},
    container_definitions=pulumi.Output.all(
        images.repository_url, logs.name, endpoint.name, token.arn, redis.primary_endpoint_address
    ).apply(
        lambda found: json.dumps(
            [
                {
                    "name": "api",
                    "image": f"{found[0]}:v31",
                    "essential": True,
                    "portMappings": [{"containerPort": 8080, "protocol": "tcp"}],
                    "environment": [
                        {"name": "ENDPOINT", "value": found[2]},
                        {"name": "REDIS", "value": f"rediss://{found[4]}:6379"},
                    ],
                    "secrets": [{"name": "TOKEN", "valueFrom": found[3]}],
                    "logConfiguration": {
                        "logDriver": "awslogs",
                        "options": {
                            "awslogs-group": found[1],
                            "awslogs-region": REGION,
                            "awslogs-stream-prefix": "api",
                        },
                    },
                }
            ]
        )
    ),
)
service = aws.ecs.Service(
    "api",
    name="api",
    cluster=cluster.arn,
    task_definition=task.arn,
    desired_count=2,
    launch_type="FARGATE",
    health_check_grace_period_seconds=30,
    deployment_circuit_breaker={"enable": True, "rollback": True},
    network_configuration={"subnets": private, "security_groups": [web.id]},
    load_balancers=[{"target_group_arn": answers.arn, "container_name": "api", "container_port": 8080}],
    opts=pulumi.ResourceOptions(depends_on=[listener, pulling]),
)
breadth = aws.appautoscaling.Target(
    "api",
    service_namespace="ecs",
    scalable_dimension="ecs:service:DesiredCount",
    resource_id=pulumi.Output.all(cluster.name, service.name).apply(lambda found: f"service/{found[0]}/{found[1]}"),
    min_capacity=2,
    max_capacity=20,
)
aws.appautoscaling.Policy(
    "api",
    name="api",
    policy_type="TargetTrackingScaling",
    service_namespace=breadth.service_namespace,
    scalable_dimension=breadth.scalable_dimension,
    resource_id=breadth.resource_id,
    target_tracking_scaling_policy_configuration={
        "predefined_metric_specification": {"predefined_metric_type": "ECSServiceAverageCPUUtilization"},
        "target_value": 60,
    },
)
aws.cloudwatch.MetricAlarm(
    "api-errors",
    name="api-errors",
    namespace="AWS/ApplicationELB",
    metric_name="HTTPCode_Target_5XX_Count",
    dimensions={"LoadBalancer": balancer.arn_suffix, "TargetGroup": answers.arn_suffix},
    statistic="Sum",
    period=60,
    evaluation_periods=5,
    datapoints_to_alarm=3,
    threshold=20,
    comparison_operator="GreaterThanThreshold",
    treat_missing_data="notBreaching",
    alarm_actions=[topic.arn],
)

# Functions that people call with HTTP, and machines that label at night.
namer = aws.iam.Role("namer", assume_role_policy=trust(Service="lambda.amazonaws.com"))
aws.iam.RolePolicyAttachment(
    "namer", role=namer.name, policy_arn="arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
)
names = aws.lambda_.Function(
    "names",
    name="names",
    package_type="Image",
    image_uri=images.repository_url.apply(lambda url: f"{url}:names-4"),
    role=namer.arn,
    timeout=20,
    memory_size=1024,
)
live = aws.lambda_.Alias("live", name="live", function_name=names.name, function_version="$LATEST")
api = aws.apigatewayv2.Api("names", name="names", protocol_type="HTTP")
called = aws.apigatewayv2.Integration(
    "names",
    api_id=api.id,
    integration_type="AWS_PROXY",
    integration_uri=live.invoke_arn,
    payload_format_version="2.0",
    timeout_milliseconds=21000,
)
aws.apigatewayv2.Route(
    "names", api_id=api.id, route_key="GET /names/{id}", target=called.id.apply(lambda i: f"integrations/{i}")
)
aws.apigatewayv2.Stage("names", api_id=api.id, name="$default", auto_deploy=True)
aws.lambda_.Permission(
    "names",
    action="lambda:InvokeFunction",
    function=names.name,
    qualifier=live.name,
    principal="apigateway.amazonaws.com",
    source_arn=api.execution_arn.apply(lambda arn: f"{arn}/*/*"),
)
labeler = aws.iam.Role("labeler", assume_role_policy=trust(Service="ec2.amazonaws.com"))
aws.iam.RolePolicyAttachment(
    "labeler", role=labeler.name, policy_arn="arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
)
profile = aws.iam.InstanceProfile("labeler", role=labeler.name)
template = aws.ec2.LaunchTemplate(
    "labelers",
    name="labelers",
    image_id="resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
    iam_instance_profile={"arn": profile.arn},
    vpc_security_group_ids=[web.id],
    metadata_options={"http_tokens": "required"},
    block_device_mappings=[
        {"device_name": "/dev/xvda", "ebs": {"volume_size": 100, "volume_type": "gp3", "encrypted": "true"}}
    ],
    update_default_version=True,
)
labelers = aws.autoscaling.Group(
    "labelers",
    name="labelers",
    min_size=0,
    max_size=6,
    desired_capacity=0,
    vpc_zone_identifiers=private,
    health_check_type="EC2",
    mixed_instances_policy={
        "launch_template": {
            "launch_template_specification": {"launch_template_id": template.id, "version": "$Latest"},
            "overrides": [{"instance_type": "g5.xlarge"}, {"instance_type": "g4dn.xlarge"}],
        },
        "instances_distribution": {
            "on_demand_percentage_above_base_capacity": 0,
            "spot_allocation_strategy": "price-capacity-optimized",
        },
    },
    tags=[{"key": "Name", "value": "labeler", "propagate_at_launch": True}],
)
for name, hour, size in (("evening", 20, 6), ("morning", 6, 0)):
    aws.autoscaling.Schedule(
        name,
        scheduled_action_name=name,
        autoscaling_group_name=labelers.name,
        recurrence=f"0 {hour} * * *",
        time_zone="Europe/Dublin",
        min_size=0,
        max_size=6,
        desired_capacity=size,
    )
ended = aws.sqs.Queue("ended", name="ended", visibility_timeout_seconds=120)
teller = aws.iam.Role("teller", assume_role_policy=trust(Service="autoscaling.amazonaws.com"))
telling = aws.iam.RolePolicy(
    "teller", role=teller.name, policy=ended.arn.apply(lambda arn: allow(("sqs:SendMessage", arn)))
)
aws.autoscaling.LifecycleHook(
    "ended",
    name="ended",
    autoscaling_group_name=labelers.name,
    lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING",
    heartbeat_timeout=300,
    default_result="CONTINUE",
    notification_target_arn=ended.arn,
    role_arn=teller.arn,
    opts=pulumi.ResourceOptions(depends_on=[telling]),
)
