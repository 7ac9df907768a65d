"""A data platform: a database, functions between buckets and queues, and a small cluster that reads both."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pulumi_random as random
from ground import ACCOUNT, Ground, trust

ground = Ground("data", cidr="10.60")
main = ground.nodes("main", ["m7g.xlarge"], 2, 5, ami_type="AL2023_ARM_64_STANDARD")
dns = ground.addon("coredns", [main])
agent = ground.addon("eks-pod-identity-agent", [main])

key = aws.kms.Key("data", enable_key_rotation=True, description="landing zone and database")
aws.kms.Alias("data", name="alias/data", target_key_id=key.key_id)

clients = aws.ec2.SecurityGroup("clients", vpc_id=ground.vpc.id, egress=[
    {"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}
])  # fmt: skip
walls = aws.ec2.SecurityGroup("database", vpc_id=ground.vpc.id)
for name, source in {
    "functions": clients.id,
    "pods": ground.cluster.vpc_config.cluster_security_group_id,
}.items():
    aws.vpc.SecurityGroupIngressRule(
        name, security_group_id=walls.id, referenced_security_group_id=source,
        ip_protocol="tcp", from_port=5432, to_port=5432,
    )  # fmt: skip
password = random.RandomPassword("database", length=32, special=False)
subnets = aws.rds.SubnetGroup("database", subnet_ids=[subnet.id for subnet in ground.private])
parameters = aws.rds.ParameterGroup(
    "database", family="postgres16", parameters=[
        {"name": "rds.force_ssl", "value": "1"},
        {"name": "log_min_duration_statement", "value": "500"},
        {"name": "shared_preload_libraries", "value": "pg_stat_statements", "apply_method": "pending-reboot"},
    ],
)  # fmt: skip
database = aws.rds.Instance(
    "warehouse",
    identifier="warehouse",
    engine="postgres",
    engine_version="16",
    instance_class="db.m6g.large",
    allocated_storage=200,
    max_allocated_storage=1000,
    storage_type="gp3",
    storage_encrypted=True,
    kms_key_id=key.arn,
    db_name="warehouse",
    username="owner",
    password=password.result,
    db_subnet_group_name=subnets.name,
    parameter_group_name=parameters.name,
    vpc_security_group_ids=[walls.id],
    multi_az=True,
    backup_retention_period=14,
    deletion_protection=True,
    skip_final_snapshot=False,
    final_snapshot_identifier="warehouse-last",
)
url = pulumi.Output.all(password.result, database.address).apply(
    lambda found: f"postgresql://owner:{found[0]}@{found[1]}:5432/warehouse?sslmode=require"
)
secret = aws.secretsmanager.Secret("database", name="data/database")
aws.secretsmanager.SecretVersion("database", secret_id=secret.id, secret_string=url)

landing = aws.s3.Bucket("landing", bucket="acme-data-landing")
curated = aws.s3.Bucket("curated", bucket="acme-data-curated")
for name, bucket in {"landing": landing, "curated": curated}.items():
    aws.s3.BucketServerSideEncryptionConfiguration(
        name,
        bucket=bucket.id,
        rules=[
            {
                "apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn},
                "bucket_key_enabled": True,
            }
        ],
    )
    aws.s3.BucketPublicAccessBlock(
        name, bucket=bucket.id, block_public_acls=True, block_public_policy=True, ignore_public_acls=True,
        restrict_public_buckets=True,
    )  # fmt: skip
dead = aws.sqs.Queue("dead", message_retention_seconds=1209600)
arrivals = aws.sqs.Queue(
    "arrivals",
    visibility_timeout_seconds=900,
    redrive_policy=dead.arn.apply(lambda arn: json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 5})),
)
admitted = aws.sqs.QueuePolicy(
    "arrivals",
    queue_url=arrivals.url,
    policy=pulumi.Output.all(arrivals.arn, landing.arn).apply(
        lambda found: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "s3.amazonaws.com"},
                        "Action": "sqs:SendMessage",
                        "Resource": found[0],
                        "Condition": {
                            "ArnEquals": {"aws:SourceArn": found[1]}, "StringEquals": {"aws:SourceAccount": ACCOUNT}
                        },
                    }
                ],
            }
        )
    ),
)  # fmt: skip
aws.s3.BucketNotification(
    "landing",
    bucket=landing.id,
    queues=[{"queue_arn": arrivals.arn, "events": ["s3:ObjectCreated:*"], "filter_suffix": ".parquet"}],
    opts=pulumi.ResourceOptions(depends_on=[admitted]),
)
role = aws.iam.Role("ingest", assume_role_policy=trust(Service="lambda.amazonaws.com"))
rights = [
    aws.iam.RolePolicyAttachment(
        "ingest-network",
        role=role.name,
        policy_arn="arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole",
    ),
    aws.iam.RolePolicy(
        "ingest",
        role=role.name,
        policy=pulumi.Output.all(landing.arn, curated.arn, arrivals.arn, key.arn, secret.arn).apply(
            lambda found: json.dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"{found[0]}/*"},
                        {"Effect": "Allow", "Action": "s3:PutObject", "Resource": f"{found[1]}/*"},
                        {
                            "Effect": "Allow",
                            "Action": ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
                            "Resource": found[2],
                        },
                        {"Effect": "Allow", "Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": found[3]},
                        {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": found[4]},
                    ],
                }
            )
        ),
    ),
]
log = aws.cloudwatch.LogGroup("ingest", name="/aws/lambda/ingest", retention_in_days=30)
ingest = aws.lambda_.Function(
    "ingest",
    name="ingest",
    package_type="Image",
    image_uri=f"{ACCOUNT}.dkr.ecr.eu-west-1.amazonaws.com/ingest:12",
    role=role.arn,
    architectures=["arm64"],
    memory_size=2048,
    timeout=300,
    vpc_config={"subnet_ids": [subnet.id for subnet in ground.private], "security_group_ids": [clients.id]},
    environment={"variables": {"CURATED": curated.bucket, "DATABASE_SECRET": secret.arn}},
    opts=pulumi.ResourceOptions(depends_on=[*rights, log]),
)
aws.lambda_.EventSourceMapping(
    "ingest", event_source_arn=arrivals.arn, function_name=ingest.arn, batch_size=10,
    function_response_types=["ReportBatchItemFailures"],
)  # fmt: skip
nightly = aws.cloudwatch.EventRule("compact", schedule_expression="cron(0 3 * * ? *)")
aws.cloudwatch.EventTarget("compact", rule=nightly.name, arn=ingest.arn)
aws.lambda_.Permission(
    "compact", action="lambda:InvokeFunction", function=ingest.name, principal="events.amazonaws.com",
    source_arn=nightly.arn,
)  # fmt: skip
topic = aws.sns.Topic("alarms")
aws.sns.TopicSubscription("alarms", topic=topic.arn, protocol="email", endpoint="data@acme.example")
aws.cloudwatch.MetricAlarm(
    "dead",
    namespace="AWS/SQS",
    metric_name="ApproximateNumberOfMessagesVisible",
    dimensions={"QueueName": dead.name},
    comparison_operator="GreaterThanThreshold",
    threshold=0,
    evaluation_periods=1,
    period=300,
    statistic="Maximum",
    alarm_actions=[topic.arn],
)

# The notebooks and the API on the cluster, with rights by Pod Identity.
cluster = ground.provider([main, dns])
on = pulumi.ResourceOptions(provider=cluster)
space = k8s.core.v1.Namespace("analytics", metadata={"name": "analytics"}, opts=on)
reader = aws.iam.Role(
    "reader",
    assume_role_policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Service": "pods.eks.amazonaws.com"},
                    "Action": ["sts:AssumeRole", "sts:TagSession"],
                }
            ],
        }
    ),
)
aws.iam.RolePolicy(
    "reader",
    role=reader.name,
    policy=pulumi.Output.all(curated.arn, key.arn).apply(
        lambda found: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": f"{found[0]}/*"},
                    {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": found[0]},
                    {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": found[1]},
                ],
            }
        )
    ),
)
account = k8s.core.v1.ServiceAccount("api", metadata={"name": "api", "namespace": space.metadata.name}, opts=on)
aws.eks.PodIdentityAssociation(
    "api", cluster_name=ground.cluster.name, namespace="analytics", service_account="api", role_arn=reader.arn
)
told = k8s.core.v1.Secret(
    "database", metadata={"name": "database", "namespace": space.metadata.name}, string_data={"url": url}, opts=on
)
labels = {"app": "api"}
k8s.apps.v1.StatefulSet(
    "api",
    metadata={"name": "api", "namespace": space.metadata.name},
    spec={
        "service_name": "api",
        "replicas": 2,
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "service_account_name": account.metadata.name,
                "affinity": {
                    "pod_anti_affinity": {
                        "preferred_during_scheduling_ignored_during_execution": [
                            {
                                "weight": 100,
                                "pod_affinity_term": {
                                    "topology_key": "kubernetes.io/hostname",
                                    "label_selector": {"match_labels": labels},
                                },
                            }
                        ]
                    }
                },
                "containers": [
                    {
                        "name": "api",
                        "image": "registry.acme.example/api:4",
                        "ports": [{"name": "http", "container_port": 8080}],
                        "env": [
                            {"name": "BUCKET", "value": curated.bucket},
                            {
                                "name": "DATABASE_URL",
                                "value_from": {"secret_key_ref": {"name": told.metadata.name, "key": "url"}},
                            },
                            {
                                "name": "POD_IP",
                                "value_from": {"field_ref": {"field_path": "status.podIP"}},
                            },
                        ],
                        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "2Gi"}},
                        "liveness_probe": {"tcp_socket": {"port": "http"}, "initial_delay_seconds": 20},
                    }
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=cluster, depends_on=[agent]),
)
k8s.core.v1.Service(
    "api",
    metadata={"name": "api", "namespace": space.metadata.name},
    spec={"cluster_ip": "None", "selector": labels, "ports": [{"name": "http", "port": 8080}]},
    opts=on,
)
# Objects of controllers whose kinds have names of Kubernetes' own.
k8s.apiextensions.CustomResource(
    "functions",
    api_version="serving.knative.dev/v1",
    kind="Service",
    metadata={"name": "0-preview", "namespace": space.metadata.name},
    spec={"template": {"spec": {"containers": [{"image": "registry.acme.example/preview:1"}]}}},
    opts=on,
)
k8s.apiextensions.CustomResource(
    "calico",
    api_version="crd.projectcalico.org/v1",
    kind="NetworkPolicy",
    metadata={"name": "all", "namespace": space.metadata.name},
    spec={"selector": "app == 'api'", "types": ["Ingress"], "ingress": [{"action": "Allow"}]},
    opts=on,
)
