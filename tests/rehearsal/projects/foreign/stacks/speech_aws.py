"""A speech team's platform on AWS: EKS with GPU nodes, Lustre, a database, a queue of recordings, what serves it."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

ACCOUNT, REGION = "111122223333", "eu-west-1"
TAGS = {"team": "speech", "env": "prod"}
Options = pulumi.ResourceOptions


def document(*statements):
    """A policy's text."""
    return pulumi.Output.json_dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **one} for one in statements]}
    )


def assumed_by(service):
    """Who may assume a role: a service."""
    return document({"Action": "sts:AssumeRole", "Principal": {"Service": service}})


# Keys
key = aws.kms.Key(
    "speech",
    description="Data of the speech team",
    enable_key_rotation=True,
    deletion_window_in_days=14,
    policy=document(
        {"Sid": "account", "Action": "kms:*", "Resource": "*", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}},
        {
            "Sid": "logs",
            "Action": ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
            "Resource": "*",
            "Principal": {"Service": f"logs.{REGION}.amazonaws.com"},
            "Condition": {
                "ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:*"}
            },
        },
        {
            "Sid": "lustre",
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": "*",
            "Principal": {"AWS": "*"},
            "Condition": {
                "StringEquals": {"kms:CallerAccount": ACCOUNT, "kms:ViaService": f"s3.{REGION}.amazonaws.com"},
                "ArnLike": {
                    "aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/"
                    "s3.data-source.lustre.fsx.amazonaws.com/*"
                },
            },
        },
        {
            "Sid": "events",
            "Action": ["kms:GenerateDataKey", "kms:Decrypt"],
            "Resource": "*",
            "Principal": {"Service": "s3.amazonaws.com"},
            "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}},
        },
    ),
    tags=TAGS,
)
aws.kms.Alias("speech", name="alias/speech-data", target_key_id=key.key_id)

# The network
vpc = aws.ec2.Vpc(
    "speech", cidr_block="10.40.0.0/16", enable_dns_hostnames=True, enable_dns_support=True, tags={"Name": "speech"}
)
gateway = aws.ec2.InternetGateway("speech", vpc_id=vpc.id)
ZONES = ("eu-west-1a", "eu-west-1b")
public = [
    aws.ec2.Subnet(
        f"public-{zone[-1]}",
        vpc_id=vpc.id,
        cidr_block=f"10.40.{index}.0/24",
        availability_zone=zone,
        map_public_ip_on_launch=True,
        tags={"kubernetes.io/role/elb": "1"},
    )
    for index, zone in enumerate(ZONES)
]
private = [
    aws.ec2.Subnet(
        f"private-{zone[-1]}",
        vpc_id=vpc.id,
        cidr_block=f"10.40.{64 * (index + 1)}.0/18",
        availability_zone=zone,
        tags={"kubernetes.io/role/internal-elb": "1"},
    )
    for index, zone in enumerate(ZONES)
]
outward = aws.ec2.RouteTable("public", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}])
address = aws.ec2.Eip("nat", domain="vpc", opts=Options(depends_on=[gateway]))
nat = aws.ec2.NatGateway("nat", allocation_id=address.id, subnet_id=public[0].id)
inward = aws.ec2.RouteTable("private", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "nat_gateway_id": nat.id}])
ways = [
    aws.ec2.RouteTableAssociation(f"{side}-{zone[-1]}", subnet_id=subnet.id, route_table_id=table.id)
    for side, table, subnets in (("public", outward, public), ("private", inward, private))
    for zone, subnet in zip(ZONES, subnets, strict=True)
]
aws.ec2.VpcEndpoint("s3", vpc_id=vpc.id, service_name=f"com.amazonaws.{REGION}.s3", route_table_ids=[inward.id])

# The cluster
plane = aws.iam.Role("plane", name="speech-plane", assume_role_policy=assumed_by("eks.amazonaws.com"))
plane_rights = aws.iam.RolePolicyAttachment(
    "plane", role=plane.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
)
plane_log = aws.cloudwatch.LogGroup("plane", name="/aws/eks/speech/cluster", retention_in_days=90, kms_key_id=key.arn)
cluster = aws.eks.Cluster(
    "speech",
    name="speech",
    version="1.34",
    role_arn=plane.arn,
    enabled_cluster_log_types=["api", "audit", "authenticator"],
    access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": True},
    encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
    vpc_config={
        "subnet_ids": [subnet.id for subnet in private],
        "endpoint_private_access": True,
        "endpoint_public_access": True,
        "public_access_cidrs": ["203.0.113.0/24"],
    },
    tags=TAGS,
    opts=Options(depends_on=[plane_rights, plane_log]),
)
provider = aws.iam.OpenIdConnectProvider(
    "speech", url=cluster.identities[0].oidcs[0].issuer, client_id_lists=["sts.amazonaws.com"]
)


def role_of(name, namespace, account):
    """A role that a service account of the cluster assumes."""
    host = provider.url.apply(lambda url: url.removeprefix("https://"))
    condition = host.apply(
        lambda found: {
            "StringEquals": {
                f"{found}:sub": f"system:serviceaccount:{namespace}:{account}",
                f"{found}:aud": "sts.amazonaws.com",
            }
        }
    )
    return aws.iam.Role(
        name,
        name=f"speech-{name}",
        assume_role_policy=document(
            {
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Principal": {"Federated": provider.arn},
                "Condition": condition,
            }
        ),
    )


worker = aws.iam.Role("worker", name="speech-worker", assume_role_policy=assumed_by("ec2.amazonaws.com"))
worker_rights = [
    aws.iam.RolePolicyAttachment(
        f"worker-{right}", role=worker.name, policy_arn=f"arn:aws:iam::aws:policy/{right}"
    )
    for right in (
        "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly",
    )
]  # fmt: skip
general = aws.eks.NodeGroup(
    "general",
    cluster_name=cluster.name,
    node_group_name="general",
    node_role_arn=worker.arn,
    subnet_ids=[subnet.id for subnet in private],
    instance_types=["m7i.xlarge"],
    ami_type="AL2023_x86_64_STANDARD",
    scaling_config={"min_size": 2, "desired_size": 2, "max_size": 6},
    update_config={"max_unavailable": 1},
    labels={"speech/pool": "general"},
    opts=Options(depends_on=[*worker_rights, *ways]),
)
template = aws.ec2.LaunchTemplate(
    "gpu",
    name="speech-gpu",
    block_device_mappings=[
        {
            "device_name": "/dev/xvda",
            "ebs": {"volume_size": 200, "volume_type": "gp3", "encrypted": "true", "delete_on_termination": "true"},
        }
    ],
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2},
)
gpu = aws.eks.NodeGroup(
    "gpu",
    cluster_name=cluster.name,
    node_group_name="gpu",
    node_role_arn=worker.arn,
    subnet_ids=[private[0].id],
    instance_types=["g5.12xlarge"],
    ami_type="AL2023_x86_64_NVIDIA",
    capacity_type="ON_DEMAND",
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    scaling_config={"min_size": 1, "desired_size": 2, "max_size": 4},
    labels={"speech/pool": "gpu"},
    taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    opts=Options(depends_on=[*worker_rights, *ways]),
)
for addon, values in (
    ("vpc-cni", json.dumps({"enableNetworkPolicy": "true"})),
    ("kube-proxy", None),
    ("coredns", None),
):
    aws.eks.Addon(
        addon,
        configuration_values=values,
        cluster_name=cluster.name,
        addon_name=addon,
        opts=Options(depends_on=[general]),
    )
ebs_role = role_of("ebs", "kube-system", "ebs-csi-controller-sa")
ebs_rights = aws.iam.RolePolicyAttachment(
    "ebs", role=ebs_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
)
aws.eks.Addon(
    "ebs",
    cluster_name=cluster.name,
    addon_name="aws-ebs-csi-driver",
    service_account_role_arn=ebs_role.arn,
    opts=Options(depends_on=[general, ebs_rights]),
)
lustre_role = role_of("lustre", "kube-system", "fsx-csi-controller-sa")
lustre_rights = aws.iam.RolePolicyAttachment(
    "lustre", role=lustre_role.name, policy_arn="arn:aws:iam::aws:policy/AmazonFSxFullAccess"
)
aws.eks.Addon(
    "lustre",
    cluster_name=cluster.name,
    addon_name="aws-fsx-csi-driver",
    service_account_role_arn=lustre_role.arn,
    opts=Options(depends_on=[general, lustre_rights]),
)

# What is kept
corpus = aws.s3.Bucket("corpus", bucket="halden-speech-corpus", tags=TAGS)
aws.s3.BucketPublicAccessBlock(
    "corpus",
    bucket=corpus.id,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
)
aws.s3.BucketServerSideEncryptionConfiguration(
    "corpus",
    bucket=corpus.id,
    rules=[
        {
            "apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn},
            "bucket_key_enabled": True,
        }
    ],
)
versioned = aws.s3.BucketVersioning("corpus", bucket=corpus.id, versioning_configuration={"status": "Enabled"})
aws.s3.BucketLifecycleConfiguration(
    "corpus",
    bucket=corpus.id,
    rules=[
        {
            "id": "old-runs",
            "status": "Enabled",
            "filter": {"prefix": "runs/"},
            "transitions": [
                {"days": 30, "storage_class": "STANDARD_IA"},
                {"days": 180, "storage_class": "GLACIER"},
            ],
            "expiration": {"days": 400},
            "noncurrent_version_expiration": {"noncurrent_days": 30},
        }
    ],
    opts=Options(depends_on=[versioned]),
)
lustre_group = aws.ec2.SecurityGroup(
    "lustre",
    vpc_id=vpc.id,
    description="Lustre for the nodes",
    ingress=[
        {
            "protocol": "tcp",
            "from_port": first,
            "to_port": last,
            "security_groups": [cluster.vpc_config.cluster_security_group_id],
            "self": True,
        }
        for first, last in ((988, 988), (1018, 1023))
    ],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
for first, last in ((988, 988), (1018, 1023)):
    aws.vpc.SecurityGroupIngressRule(
        f"lustre-to-nodes-{first}",
        security_group_id=cluster.vpc_config.cluster_security_group_id,
        referenced_security_group_id=lustre_group.id,
        ip_protocol="tcp",
        from_port=first,
        to_port=last,
    )
lustre = aws.fsx.LustreFileSystem(
    "corpus",
    subnet_ids=private[0].id,
    security_group_ids=[lustre_group.id],
    deployment_type="PERSISTENT_2",
    storage_type="SSD",
    storage_capacity=2400,
    per_unit_storage_throughput=250,
    file_system_type_version="2.15",
    data_compression_type="LZ4",
    kms_key_id=key.arn,
    tags=TAGS,
)
aws.fsx.DataRepositoryAssociation(
    "corpus",
    file_system_id=lustre.id,
    data_repository_path=corpus.bucket.apply(lambda name: f"s3://{name}/audio"),
    file_system_path="/audio",
    batch_import_meta_data_on_create=True,
    s3={"auto_import_policy": {"events": ["NEW", "CHANGED", "DELETED"]}},
)

# The database
database_group = aws.ec2.SecurityGroup(
    "database",
    vpc_id=vpc.id,
    description="Postgres for the nodes",
    ingress=[
        {
            "protocol": "tcp",
            "from_port": 5432,
            "to_port": 5432,
            "security_groups": [cluster.vpc_config.cluster_security_group_id],
        }
    ],
)
rows = aws.rds.SubnetGroup("labels", name="speech-labels", subnet_ids=[subnet.id for subnet in private])
settings = aws.rds.ParameterGroup(
    "labels", name="speech-labels", family="postgres16", parameters=[{"name": "rds.force_ssl", "value": "1"}]
)
database = aws.rds.Instance(
    "labels",
    identifier="speech-labels",
    engine="postgres",
    engine_version="16.9",
    instance_class="db.m7g.large",
    allocated_storage=100,
    max_allocated_storage=500,
    storage_type="gp3",
    storage_encrypted=True,
    kms_key_id=key.arn,
    db_name="labels",
    username="labeller",
    manage_master_user_password=True,
    db_subnet_group_name=rows.name,
    vpc_security_group_ids=[database_group.id],
    parameter_group_name=settings.name,
    multi_az=True,
    backup_retention_period=14,
    backup_window="02:00-03:00",
    maintenance_window="sun:04:00-sun:05:00",
    deletion_protection=True,
    skip_final_snapshot=False,
    final_snapshot_identifier="speech-labels-final",
)

# Images
images = aws.ecr.Repository(
    "asr",
    name="speech/asr",
    image_tag_mutability="IMMUTABLE",
    image_scanning_configuration={"scan_on_push": True},
    encryption_configurations=[{"encryption_type": "KMS", "kms_key": key.arn}],
)
aws.ecr.LifecyclePolicy(
    "asr",
    repository=images.name,
    policy=json.dumps(
        {
            "rules": [
                {
                    "rulePriority": 1,
                    "description": "untagged",
                    "selection": {
                        "tagStatus": "untagged",
                        "countType": "sinceImagePushed",
                        "countUnit": "days",
                        "countNumber": 14,
                    },
                    "action": {"type": "expire"},
                },
                {
                    "rulePriority": 2,
                    "description": "many",
                    "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 200},
                    "action": {"type": "expire"},
                },
            ]
        }
    ),
)

# Recordings that come in
dead = aws.sqs.Queue("recordings-dead", name="speech-recordings-dead", message_retention_seconds=1209600)
queue = aws.sqs.Queue(
    "recordings",
    name="speech-recordings",
    visibility_timeout_seconds=360,
    message_retention_seconds=345600,
    redrive_policy=pulumi.Output.json_dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": 4}),
)
admits = aws.sqs.QueuePolicy(
    "recordings",
    queue_url=queue.url,
    policy=document(
        {
            "Action": "sqs:SendMessage",
            "Resource": queue.arn,
            "Principal": {"Service": "s3.amazonaws.com"},
            "Condition": {"ArnEquals": {"aws:SourceArn": corpus.arn}},
        }
    ),
)
aws.s3.BucketNotification(
    "corpus",
    bucket=corpus.id,
    queues=[
        {
            "queue_arn": queue.arn,
            "events": ["s3:ObjectCreated:*"],
            "filter_prefix": "incoming/",
            "filter_suffix": ".flac",
        }
    ],
    opts=Options(depends_on=[admits]),
)
slicer = aws.iam.Role("slicer", name="speech-slicer", assume_role_policy=assumed_by("lambda.amazonaws.com"))
slicer_rights = aws.iam.RolePolicy(
    "slicer",
    role=slicer.id,
    policy=document(
        {
            "Action": ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
            "Resource": queue.arn,
        },
        {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": corpus.arn.apply(lambda arn: f"{arn}/*")},
        {"Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": key.arn},
        {
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/lambda/speech-slicer:*",
        },
    ),
)
slicer_log = aws.cloudwatch.LogGroup("slicer", name="/aws/lambda/speech-slicer", retention_in_days=30)
SLICER = """import os
import boto3

s3 = boto3.client("s3")
bucket = os.environ["CORPUS"]


def handle(event, context):
    for record in event["Records"]:
        s3.put_object(Bucket=bucket, Key="audio/" + record["messageId"], Body=record["body"])
"""
function = aws.lambda_.Function(
    "slicer",
    name="speech-slicer",
    role=slicer.arn,
    runtime="python3.13",
    handler="slicer.handle",
    code=pulumi.AssetArchive({"slicer.py": pulumi.StringAsset(SLICER)}),
    timeout=60,
    memory_size=512,
    architectures=["arm64"],
    environment={"variables": {"CORPUS": corpus.bucket}},
    opts=Options(depends_on=[slicer_rights, slicer_log]),
)
aws.lambda_.EventSourceMapping(
    "slicer", event_source_arn=queue.arn, function_name=function.arn, batch_size=10, enabled=True
)

# What serves
front_group = aws.ec2.SecurityGroup(
    "front",
    vpc_id=vpc.id,
    description="HTTPS from the offices",
    ingress=[{"protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["203.0.113.0/24"]}],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
aws.vpc.SecurityGroupIngressRule(
    "front-to-nodes",
    security_group_id=cluster.vpc_config.cluster_security_group_id,
    referenced_security_group_id=front_group.id,
    ip_protocol="tcp",
    from_port=30080,
    to_port=30080,
)
front = aws.lb.LoadBalancer(
    "front",
    name="speech-front",
    load_balancer_type="application",
    security_groups=[front_group.id],
    subnets=[subnet.id for subnet in public],
    idle_timeout=120,
)
targets = aws.lb.TargetGroup(
    "front",
    name="speech-asr",
    vpc_id=vpc.id,
    target_type="instance",
    protocol="HTTP",
    port=30080,
    health_check={"path": "/healthz", "matcher": "200", "interval": 15, "timeout": 5},
)
aws.lb.Listener(
    "front",
    load_balancer_arn=front.arn,
    port=443,
    protocol="HTTPS",
    ssl_policy="ELBSecurityPolicy-TLS13-1-2-2021-06",
    certificate_arn=f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/0f3c2c1a-1111-4222-8333-444455556666",
    default_actions=[{"type": "forward", "target_group_arn": targets.arn}],
)
aws.autoscaling.Attachment(
    "front",
    autoscaling_group_name=general.resources[0].autoscaling_groups[0].name,
    lb_target_group_arn=targets.arn,
)

# Who is told
topic = aws.sns.Topic("oncall", name="speech-oncall")
aws.sns.TopicSubscription("oncall", topic=topic.arn, protocol="email", endpoint="speech-oncall@halden.example")
aws.cloudwatch.MetricAlarm(
    "dead",
    name="speech-recordings-dead",
    namespace="AWS/SQS",
    metric_name="ApproximateNumberOfMessagesVisible",
    dimensions={"QueueName": dead.name},
    statistic="Maximum",
    comparison_operator="GreaterThanThreshold",
    threshold=0,
    period=300,
    evaluation_periods=1,
    treat_missing_data="notBreaching",
    alarm_actions=[topic.arn],
)
aws.cloudwatch.MetricAlarm(
    "front",
    name="speech-front-errors",
    namespace="AWS/ApplicationELB",
    metric_name="HTTPCode_Target_5XX_Count",
    dimensions={"LoadBalancer": front.arn_suffix},
    statistic="Sum",
    comparison_operator="GreaterThanThreshold",
    threshold=20,
    period=60,
    evaluation_periods=5,
    treat_missing_data="notBreaching",
    alarm_actions=[topic.arn],
)

# On the cluster
kubeconfig = pulumi.Output.json_dumps(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "speech",
                "cluster": {
                    "server": cluster.endpoint,
                    "certificate-authority-data": cluster.certificate_authority.data,
                },
            }
        ],
        "contexts": [{"name": "speech", "context": {"cluster": "speech", "user": "aws"}}],
        "current-context": "speech",
        "users": [
            {
                "name": "aws",
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "aws",
                        "args": ["eks", "get-token", "--cluster-name", "speech"],
                    }
                },
            }
        ],
    }
)
on = Options(
    provider=k8s.Provider("speech", kubeconfig=kubeconfig, enable_server_side_apply=True),
    depends_on=[general, gpu],
)
namespace = k8s.core.v1.Namespace(
    "speech", metadata={"name": "speech", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}, opts=on
)
inside = Options.merge(on, Options(depends_on=[namespace]))
plugin = k8s.helm.v3.Release(
    "device-plugin",
    name="nvidia-device-plugin",
    chart="nvidia-device-plugin",
    version="0.17.1",
    namespace="kube-system",
    repository_opts={"repo": "https://nvidia.github.io/k8s-device-plugin"},
    values={
        "nodeSelector": {"speech/pool": "gpu"},
        "affinity": {},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    },
    opts=on,
)
trainer_role = role_of("trainer", "speech", "trainer")
aws.iam.RolePolicy(
    "trainer",
    role=trainer_role.id,
    policy=document(
        {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": corpus.arn.apply(lambda arn: f"{arn}/runs/*")},
        {"Action": "s3:ListBucket", "Resource": corpus.arn},
        {"Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": key.arn},
    ),
)
account = k8s.core.v1.ServiceAccount(
    "trainer",
    metadata={
        "name": "trainer",
        "namespace": "speech",
        "annotations": {"eks.amazonaws.com/role-arn": trainer_role.arn},
    },
    opts=inside,
)
role = k8s.rbac.v1.Role(
    "trainer",
    metadata={"name": "trainer", "namespace": "speech"},
    rules=[
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list", "create", "delete"]},
    ],
    opts=inside,
)
k8s.rbac.v1.RoleBinding(
    "trainer",
    metadata={"name": "trainer", "namespace": "speech"},
    role_ref={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "trainer"},
    subjects=[{"kind": "ServiceAccount", "name": "trainer", "namespace": "speech"}],
    opts=inside,
)
volume = k8s.core.v1.PersistentVolume(
    "corpus",
    metadata={"name": "speech-corpus"},
    spec={
        "capacity": {"storage": "2400Gi"},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "mountOptions": ["flock"],
        "csi": {
            "driver": "fsx.csi.aws.com",
            "volumeHandle": lustre.id,
            "volumeAttributes": {"dnsname": lustre.dns_name, "mountname": lustre.mount_name},
        },
        "claimRef": {"name": "corpus", "namespace": "speech"},
    },
    opts=on,
)
corpus_claim = k8s.core.v1.PersistentVolumeClaim(
    "corpus",
    metadata={"name": "corpus", "namespace": "speech"},
    spec={
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "volumeName": "speech-corpus",
        "resources": {"requests": {"storage": "2400Gi"}},
    },
    opts=inside,
)
fast = k8s.storage.v1.StorageClass(
    "fast",
    metadata={"name": "fast"},
    provisioner="ebs.csi.aws.com",
    parameters={"type": "gp3", "encrypted": "true"},
    volume_binding_mode="WaitForFirstConsumer",
    allow_volume_expansion=True,
    opts=on,
)
cache_claim = k8s.core.v1.PersistentVolumeClaim(
    "cache",
    metadata={"name": "asr-cache", "namespace": "speech", "annotations": {"pulumi.com/skipAwait": "true"}},
    spec={
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "80Gi"}},
    },
    opts=inside,
)
words = k8s.core.v1.ConfigMap(
    "training",
    metadata={"name": "training", "namespace": "speech"},
    data={
        "train.yaml": "model: conformer\nepochs: 40\ndata: /corpus/audio\n",
        "MASTER_PORT": "29500",
    },
    opts=inside,
)
IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/speech/asr"
LOCKED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
k8s.core.v1.Service(
    "train",
    metadata={"name": "train", "namespace": "speech"},
    spec={
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {"app": "train"},
        "ports": [{"name": "rendezvous", "port": 29500}],
    },
    opts=inside,
)
k8s.batch.v1.Job(
    "train",
    metadata={"name": "train", "namespace": "speech", "annotations": {"pulumi.com/skipAwait": "true"}},
    spec={
        "completions": 2,
        "parallelism": 2,
        "completionMode": "Indexed",
        "backoffLimit": 4,
        "activeDeadlineSeconds": 172800,
        "template": {
            "metadata": {"labels": {"app": "train"}},
            "spec": {
                "serviceAccountName": "trainer",
                "subdomain": "train",
                "restartPolicy": "Never",
                "nodeSelector": {"speech/pool": "gpu"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "containers": [
                    {
                        "name": "train",
                        "image": f"{IMAGE}:2.4.1",
                        "command": [
                            "torchrun", "--nnodes=2", "--nproc-per-node=4", "--rdzv-backend=c10d",
                            "--rdzv-endpoint=train-0.train:29500", "train.py", "--config", "/etc/training/train.yaml",
                        ],
                        "envFrom": [{"configMapRef": {"name": "training"}}],
                        "env": [{"name": "RUNS", "value": "s3://halden-speech-corpus/runs"}],
                        "resources": {
                            "requests": {"cpu": "40", "memory": "150Gi", "nvidia.com/gpu": "4"},
                            "limits": {"memory": "150Gi", "nvidia.com/gpu": "4"},
                        },
                        "securityContext": LOCKED,
                        "volumeMounts": [
                            {"name": "corpus", "mountPath": "/corpus", "readOnly": True},
                            {"name": "config", "mountPath": "/etc/training"},
                            {"name": "shm", "mountPath": "/dev/shm"},
                        ],
                    }
                ],
                "volumes": [
                    {"name": "corpus", "persistentVolumeClaim": {"claimName": "corpus", "readOnly": True}},
                    {"name": "config", "configMap": {"name": "training"}},
                    {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "32Gi"}},
                ],
            },
        },
    },
    opts=Options.merge(inside, Options(depends_on=[plugin, volume])),
)  # fmt: skip
k8s.apps.v1.Deployment(
    "asr",
    metadata={"name": "asr", "namespace": "speech"},
    spec={
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": {"app": "asr"}},
        "template": {
            "metadata": {"labels": {"app": "asr"}},
            "spec": {
                "nodeSelector": {"speech/pool": "general"},
                "containers": [
                    {
                        "name": "asr",
                        "image": f"{IMAGE}:2.4.1-serve",
                        "ports": [{"name": "http", "containerPort": 8080}],
                        "env": [
                            {"name": "DATABASE_HOST", "value": database.address},
                            {
                                "name": "DATABASE_PASSWORD",
                                "valueFrom": {"secretKeyRef": {"name": "labels", "key": "password"}},
                            },
                        ],
                        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 5},
                        "resources": {
                            "requests": {"cpu": "2", "memory": "8Gi"},
                            "limits": {"memory": "8Gi"},
                        },
                        "securityContext": LOCKED,
                        "volumeMounts": [{"name": "cache", "mountPath": "/var/cache/asr"}],
                    }
                ],
                "volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": "asr-cache"}}],
            },
        },
    },
    opts=inside,
)
k8s.core.v1.Secret(
    "labels",
    metadata={"name": "labels", "namespace": "speech"},
    string_data={"password": pulumi.Config().get("labels") or "set-by-hand"},
    opts=inside,
)
k8s.core.v1.Service(
    "asr",
    metadata={"name": "asr", "namespace": "speech"},
    spec={
        "type": "NodePort",
        "selector": {"app": "asr"},
        "ports": [{"name": "http", "port": 80, "targetPort": "http", "nodePort": 30080}],
    },
    opts=inside,
)
k8s.networking.v1.NetworkPolicy(
    "closed",
    metadata={"name": "closed", "namespace": "speech"},
    spec={"podSelector": {}, "policyTypes": ["Ingress"]},
    opts=inside,
)
k8s.networking.v1.NetworkPolicy(
    "asr",
    metadata={"name": "asr", "namespace": "speech"},
    spec={
        "podSelector": {"matchLabels": {"app": "asr"}},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"ipBlock": {"cidr": "10.40.0.0/16"}}], "ports": [{"protocol": "TCP", "port": 8080}]}],
    },
    opts=inside,
)
k8s.networking.v1.NetworkPolicy(
    "train",
    metadata={"name": "train", "namespace": "speech"},
    spec={
        "podSelector": {"matchLabels": {"app": "train"}},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "train"}}}]}],
    },
    opts=inside,
)
