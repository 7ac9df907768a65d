"""A laboratory's training on AWS: EKS with GPU nodes by templates, Batch over several nodes, events, files."""

import base64
import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

ACCOUNT, REGION, NAME = "210987654321", "eu-west-1", "nordlab"
ZONES = ("eu-west-1a", "eu-west-1b")
after = pulumi.ResourceOptions


def document(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def may(actions, resources, **more):
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def role(name, service, *managed):
    """A role of a service with policies of AWS's own; and what says that it has them."""
    trust = document({"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"})
    made = aws.iam.Role(name, name=f"{NAME}-{name}", assume_role_policy=trust)
    return made, [
        aws.iam.RolePolicyAttachment(
            f"{name}-{policy.rpartition('/')[2]}", role=made.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}"
        )
        for policy in managed
    ]


# The network
vpc = aws.ec2.Vpc("lab", cidr_block="10.60.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
internet = aws.ec2.InternetGateway("lab", vpc_id=vpc.id)
outside = aws.ec2.RouteTable("outside", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": internet.id}])
inside = aws.ec2.RouteTable("inside", vpc_id=vpc.id)
public, private = [], []
for index, zone in enumerate(ZONES):
    subnet = aws.ec2.Subnet(
        f"outside-{index}", vpc_id=vpc.id, cidr_block=f"10.60.{index}.0/24", availability_zone=zone,
        map_public_ip_on_launch=True, tags={"kubernetes.io/role/elb": "1"},
    )  # fmt: skip
    aws.ec2.RouteTableAssociation(f"outside-{index}", subnet_id=subnet.id, route_table_id=outside.id)
    public.append(subnet)
    subnet = aws.ec2.Subnet(
        f"inside-{index}", vpc_id=vpc.id, cidr_block=f"10.60.{64 + 64 * index}.0/18", availability_zone=zone,
        tags={"kubernetes.io/role/internal-elb": "1"},
    )  # fmt: skip
    aws.ec2.RouteTableAssociation(f"inside-{index}", subnet_id=subnet.id, route_table_id=inside.id)
    private.append(subnet)
address = aws.ec2.Eip("nat", domain="vpc", opts=after(depends_on=[internet]))
nat = aws.ec2.NatGateway("nat", subnet_id=public[0].id, allocation_id=address.id, opts=after(depends_on=[internet]))
way_out = aws.ec2.Route("out", route_table_id=inside.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id)
aws.ec2.VpcEndpoint(
    "s3", vpc_id=vpc.id, service_name=f"com.amazonaws.{REGION}.s3", vpc_endpoint_type="Gateway",
    route_table_ids=[inside.id],
)  # fmt: skip

# The key of everything
key = aws.kms.Key(
    "lab",
    description="Data and disks of the laboratory",
    enable_key_rotation=True,
    deletion_window_in_days=30,
    policy=document(
        {
            "Sid": "Account",
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
            "Action": "kms:*",
            "Resource": "*",
        },
        {
            "Sid": "Disks",
            "Effect": "Allow",
            "Principal": {
                "AWS": f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/autoscaling.amazonaws.com"
                "/AWSServiceRoleForAutoScaling"
            },
            "Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
            "Resource": "*",
        },
        {
            "Sid": "DiskGrants",
            "Effect": "Allow",
            "Principal": {
                "AWS": f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/autoscaling.amazonaws.com"
                "/AWSServiceRoleForAutoScaling"
            },
            "Action": "kms:CreateGrant",
            "Resource": "*",
            "Condition": {"Bool": {"kms:GrantIsForAWSResource": "true"}},
        },
        {
            "Sid": "Logs",
            "Effect": "Allow",
            "Principal": {"Service": f"logs.{REGION}.amazonaws.com"},
            "Action": ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
            "Resource": "*",
            "Condition": {
                "ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:*"}
            },
        },
    ),
)
aws.kms.Alias("lab", name=f"alias/{NAME}", target_key_id=key.key_id)

# Buckets
datasets = aws.s3.Bucket("datasets", bucket="nordlab-datasets-eu")
checkpoints = aws.s3.Bucket("checkpoints", bucket="nordlab-checkpoints-eu")
for name, bucket, by in (  # what Lustre imports is under S3's own key: its service's role cannot use another
    ("datasets", datasets, {"sse_algorithm": "AES256"}),
    ("checkpoints", checkpoints, {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn}),
):
    aws.s3.BucketPublicAccessBlock(
        name, bucket=bucket.id, block_public_acls=True, block_public_policy=True, ignore_public_acls=True,
        restrict_public_buckets=True,
    )  # fmt: skip
    aws.s3.BucketServerSideEncryptionConfiguration(
        name,
        bucket=bucket.id,
        rules=[{"apply_server_side_encryption_by_default": by, "bucket_key_enabled": name == "checkpoints"}],
    )
versions = aws.s3.BucketVersioning("datasets", bucket=datasets.id, versioning_configuration={"status": "Enabled"})
aws.s3.BucketLifecycleConfiguration(
    "datasets",
    bucket=datasets.id,
    rules=[
        {"id": "old", "status": "Enabled", "filter": {"prefix": ""},
         "noncurrent_version_expiration": {"noncurrent_days": 60}},
        {"id": "raw", "status": "Enabled", "filter": {"prefix": "raw/"},
         "transitions": [{"days": 45, "storage_class": "STANDARD_IA"}, {"days": 180, "storage_class": "GLACIER"}]},
    ],
    opts=after(depends_on=[versions]),
)  # fmt: skip
aws.s3.BucketLifecycleConfiguration(
    "checkpoints",
    bucket=checkpoints.id,
    rules=[
        {"id": "expire", "status": "Enabled", "filter": {"prefix": "runs/"}, "expiration": {"days": 90}},
        {"id": "parts", "status": "Enabled", "filter": {"prefix": ""},
         "abort_incomplete_multipart_upload": {"days_after_initiation": 7}},
    ],
)  # fmt: skip
aws.s3.BucketPolicy(
    "checkpoints",
    bucket=checkpoints.id,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "OnlyTls",
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": [checkpoints.arn, pulumi.Output.concat(checkpoints.arn, "/*")],
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            ],
        }
    ),
)

# Images
images = aws.ecr.Repository(
    "trainer",
    name="nordlab/trainer",
    image_tag_mutability="IMMUTABLE",
    image_scanning_configuration={"scan_on_push": True},
)
aws.ecr.LifecyclePolicy(
    "trainer",
    repository=images.name,
    policy=json.dumps(
        {
            "rules": [
                {
                    "rulePriority": 1,
                    "description": "Untagged images of a fortnight",
                    "selection": {
                        "tagStatus": "untagged", "countType": "sinceImagePushed", "countUnit": "days",
                        "countNumber": 14,
                    },
                    "action": {"type": "expire"},
                },
                {
                    "rulePriority": 2,
                    "description": "The last fifty",
                    "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 50},
                    "action": {"type": "expire"},
                },
            ]
        }
    ),
)  # fmt: skip

# The cluster
cluster_role, cluster_rights = role("cluster", "eks.amazonaws.com", "AmazonEKSClusterPolicy")
eks_logs = aws.cloudwatch.LogGroup("eks", name=f"/aws/eks/{NAME}/cluster", retention_in_days=30)
cluster = aws.eks.Cluster(
    "lab",
    name=NAME,
    role_arn=cluster_role.arn,
    version="1.34",
    enabled_cluster_log_types=["api", "audit", "authenticator"],
    vpc_config={
        "subnet_ids": [subnet.id for subnet in private],
        "endpoint_private_access": True,
        "endpoint_public_access": True,
        "public_access_cidrs": ["198.51.100.0/24"],
    },
    access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": True},
    encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
    opts=after(depends_on=[*cluster_rights, eks_logs]),
)
issuer = cluster.identities[0].oidcs[0].issuer
oidc = aws.iam.OpenIdConnectProvider("lab", url=issuer, client_id_lists=["sts.amazonaws.com"])
node_role, node_rights = role(
    "nodes", "ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore",
)  # fmt: skip
for addon in ("vpc-cni", "kube-proxy"):
    aws.eks.Addon(addon, cluster_name=cluster.name, addon_name=addon)


def template(name, size):
    """A template of nodes: an encrypted disk, the metadata service by tokens alone."""
    return aws.ec2.LaunchTemplate(
        name,
        name=f"{NAME}-{name}",
        update_default_version=True,
        block_device_mappings=[
            {
                "device_name": "/dev/xvda",
                "ebs": {
                    "volume_size": size, "volume_type": "gp3", "iops": 6000, "throughput": 500, "encrypted": "true",
                    "kms_key_id": key.arn, "delete_on_termination": "true",
                },
            }
        ],
        metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2, "http_endpoint": "enabled"},
        tag_specifications=[{"resource_type": "instance", "tags": {"Name": f"{NAME}-{name}"}}],
    )  # fmt: skip


def nodes(name, made, types, ami, least, most, **more):
    return aws.eks.NodeGroup(
        name,
        cluster_name=cluster.name,
        node_group_name=f"{NAME}-{name}",
        node_role_arn=node_role.arn,
        subnet_ids=more.pop("subnet_ids", [subnet.id for subnet in private]),
        ami_type=ami,
        instance_types=types,
        launch_template={"id": made.id, "version": made.latest_version.apply(str)},
        scaling_config={"min_size": least, "max_size": most, "desired_size": least},
        update_config={"max_unavailable": 1},
        **more,
        opts=after(depends_on=[*node_rights, way_out]),
    )


general = nodes("general", template("general", 100), ["m6i.xlarge"], "AL2023_x86_64_STANDARD", 2, 6)
gpus = nodes(
    "gpus", template("gpus", 300), ["g5.12xlarge"], "AL2023_x86_64_NVIDIA", 1, 8,
    labels={"nordlab.io/pool": "gpus"}, subnet_ids=[private[0].id],
    taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
)  # fmt: skip
dns = aws.eks.Addon("coredns", cluster_name=cluster.name, addon_name="coredns", opts=after(depends_on=[general]))


def by_account(name, namespace, account):
    """A role that a service account takes."""

    def trust(found):
        host = found[1].removeprefix("https://")
        return document(
            {
                "Effect": "Allow",
                "Principal": {"Federated": found[0]},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {
                    "StringEquals": {
                        f"{host}:sub": f"system:serviceaccount:{namespace}:{account}",
                        f"{host}:aud": "sts.amazonaws.com",
                    }
                },
            }
        )

    return aws.iam.Role(
        name, name=f"{NAME}-{name}", assume_role_policy=pulumi.Output.all(oidc.arn, issuer).apply(trust)
    )


ebs_role = by_account("ebs", "kube-system", "ebs-csi-controller-sa")
ebs_rights = aws.iam.RolePolicyAttachment(
    "ebs", role=ebs_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
)
aws.eks.Addon(
    "ebs", cluster_name=cluster.name, addon_name="aws-ebs-csi-driver", service_account_role_arn=ebs_role.arn,
    opts=after(depends_on=[general, ebs_rights]),
)  # fmt: skip
efs_role = by_account("efs", "kube-system", "efs-csi-controller-sa")
efs_rights = aws.iam.RolePolicyAttachment(
    "efs", role=efs_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEFSCSIDriverPolicy"
)
efs_driver = aws.eks.Addon(
    "efs", cluster_name=cluster.name, addon_name="aws-efs-csi-driver", service_account_role_arn=efs_role.arn,
    opts=after(depends_on=[general, efs_rights]),
)  # fmt: skip
admin = aws.eks.AccessEntry(
    "people", cluster_name=cluster.name, principal_arn=f"arn:aws:iam::{ACCOUNT}:role/ml-engineers"
)
aws.eks.AccessPolicyAssociation(
    "people",
    cluster_name=cluster.name,
    principal_arn=admin.principal_arn,
    policy_arn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy",
    access_scope={"type": "namespace", "namespaces": ["research"]},
)

# Files
nfs = aws.ec2.SecurityGroup(
    "nfs", vpc_id=vpc.id, description="NFS from the network",
    ingress=[{"protocol": "tcp", "from_port": 2049, "to_port": 2049, "cidr_blocks": [vpc.cidr_block]}],
)  # fmt: skip
home = aws.efs.FileSystem(
    "home", encrypted=True, kms_key_id=key.arn, throughput_mode="elastic",
    lifecycle_policies=[{"transition_to_ia": "AFTER_30_DAYS"}],
)  # fmt: skip
mounts = [
    aws.efs.MountTarget(f"home-{index}", file_system_id=home.id, subnet_id=subnet.id, security_groups=[nfs.id])
    for index, subnet in enumerate(private)
]
point = aws.efs.AccessPoint(
    "home", file_system_id=home.id, posix_user={"uid": 1000, "gid": 1000},
    root_directory={"path": "/home", "creation_info": {"owner_uid": 1000, "owner_gid": 1000, "permissions": "0770"}},
)  # fmt: skip
lustre_group = aws.ec2.SecurityGroup(
    "lustre",
    vpc_id=vpc.id,
    description="Lustre from the network",
    ingress=[
        {"protocol": "tcp", "from_port": 988, "to_port": 988, "cidr_blocks": [vpc.cidr_block]},
        {"protocol": "tcp", "from_port": 1018, "to_port": 1023, "cidr_blocks": [vpc.cidr_block]},
    ],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
scratch = aws.fsx.LustreFileSystem(
    "scratch",
    deployment_type="PERSISTENT_2",
    storage_type="SSD",
    storage_capacity=4800,
    per_unit_storage_throughput=250,
    subnet_ids=private[0].id,
    security_group_ids=[lustre_group.id],
    kms_key_id=key.arn,
    data_compression_type="LZ4",
    file_system_type_version="2.15",
)
aws.fsx.DataRepositoryAssociation(
    "scratch",
    file_system_id=scratch.id,
    data_repository_path=pulumi.Output.concat("s3://", datasets.bucket),
    file_system_path="/datasets",
    s3={
        "auto_import_policy": {"events": ["NEW", "CHANGED", "DELETED"]},
        "auto_export_policy": {"events": ["NEW", "CHANGED"]},
    },
)

# The tracking server's database, behind a load balancer with a name
db_group = aws.ec2.SecurityGroup("database", vpc_id=vpc.id, description="PostgreSQL from the nodes")
aws.vpc.SecurityGroupIngressRule(
    "database", security_group_id=db_group.id, ip_protocol="tcp", from_port=5432, to_port=5432,
    referenced_security_group_id=cluster.vpc_config.cluster_security_group_id,
)  # fmt: skip
db_subnets = aws.rds.SubnetGroup("mlflow", subnet_ids=[subnet.id for subnet in private])
db_settings = aws.rds.ParameterGroup(
    "mlflow", family="postgres16",
    parameters=[
        {"name": "rds.force_ssl", "value": "1"},
        {"name": "max_connections", "value": "200", "apply_method": "pending-reboot"},
        {"name": "log_min_duration_statement", "value": "500"},
    ],
)  # fmt: skip
database = aws.rds.Instance(
    "mlflow",
    identifier=f"{NAME}-mlflow",
    engine="postgres",
    engine_version="16",
    instance_class="db.t4g.medium",
    allocated_storage=50,
    max_allocated_storage=200,
    storage_type="gp3",
    storage_encrypted=True,
    kms_key_id=key.arn,
    db_name="mlflow",
    username="mlflow",
    manage_master_user_password=True,
    db_subnet_group_name=db_subnets.name,
    parameter_group_name=db_settings.name,
    vpc_security_group_ids=[db_group.id],
    backup_retention_period=14,
    backup_window="02:00-03:00",
    maintenance_window="sun:04:00-sun:05:00",
    multi_az=True,
    deletion_protection=True,
    skip_final_snapshot=False,
    final_snapshot_identifier=f"{NAME}-mlflow-last",
)
zone = aws.route53.Zone("lab", name="train.nordlab.example")
certificate = aws.acm.Certificate("mlflow", domain_name="mlflow.train.nordlab.example", validation_method="DNS")
option = certificate.domain_validation_options[0]
proof = aws.route53.Record(
    "proof", zone_id=zone.zone_id, name=option.resource_record_name, type=option.resource_record_type, ttl=300,
    records=[option.resource_record_value],
)  # fmt: skip
valid = aws.acm.CertificateValidation("mlflow", certificate_arn=certificate.arn, validation_record_fqdns=[proof.fqdn])
edge = aws.ec2.SecurityGroup(
    "edge",
    vpc_id=vpc.id,
    description="HTTPS from the office",
    ingress=[
        {"protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["198.51.100.0/24"]},
        {"protocol": "tcp", "from_port": 80, "to_port": 80, "cidr_blocks": ["198.51.100.0/24"]},
    ],
    egress=[{"protocol": "tcp", "from_port": 0, "to_port": 65535, "cidr_blocks": [vpc.cidr_block]}],
)
balancer = aws.lb.LoadBalancer(
    "mlflow", load_balancer_type="application", security_groups=[edge.id], subnets=[subnet.id for subnet in public],
    idle_timeout=120,
)  # fmt: skip
targets = aws.lb.TargetGroup(
    "mlflow", vpc_id=vpc.id, port=5000, protocol="HTTP", target_type="instance",
    health_check={"path": "/health", "matcher": "200", "interval": 15, "timeout": 5},
)  # fmt: skip
aws.lb.Listener(
    "https", load_balancer_arn=balancer.arn, port=443, protocol="HTTPS",
    ssl_policy="ELBSecurityPolicy-TLS13-1-2-2021-06", certificate_arn=valid.certificate_arn,
    default_actions=[{"type": "forward", "target_group_arn": targets.arn}],
)  # fmt: skip
aws.lb.Listener(
    "http", load_balancer_arn=balancer.arn, port=80, protocol="HTTP",
    default_actions=[
        {"type": "redirect", "redirect": {"port": "443", "protocol": "HTTPS", "status_code": "HTTP_301"}}
    ],
)  # fmt: skip
aws.route53.Record(
    "mlflow", zone_id=zone.zone_id, name="mlflow.train.nordlab.example", type="A",
    aliases=[{"name": balancer.dns_name, "zone_id": balancer.zone_id, "evaluate_target_health": True}],
)  # fmt: skip

# The machine that MLflow runs on: a group of one
mlflow_role, mlflow_rights = role("mlflow", "ec2.amazonaws.com", "AmazonSSMManagedInstanceCore")
aws.iam.RolePolicy(
    "mlflow",
    role=mlflow_role.name,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                may(["s3:GetObject", "s3:PutObject"], pulumi.Output.concat(checkpoints.arn, "/mlflow/*")),
                may("s3:ListBucket", checkpoints.arn),
                may(["kms:Decrypt", "kms:GenerateDataKey"], key.arn),
                may("secretsmanager:GetSecretValue", database.master_user_secrets[0].secret_arn),
            ],
        }
    ),
)
profile = aws.iam.InstanceProfile("mlflow", role=mlflow_role.name)
server_group = aws.ec2.SecurityGroup(
    "server",
    vpc_id=vpc.id,
    description="MLflow from the load balancer",
    ingress=[{"protocol": "tcp", "from_port": 5000, "to_port": 5000, "security_groups": [edge.id]}],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
aws.vpc.SecurityGroupIngressRule(
    "database-server", security_group_id=db_group.id, ip_protocol="tcp", from_port=5432, to_port=5432,
    referenced_security_group_id=server_group.id,
)  # fmt: skip
image = aws.ec2.get_ami(
    most_recent=True, owners=["amazon"], filters=[{"name": "name", "values": ["al2023-ami-2023.*-x86_64"]}]
)
START = "#!/bin/bash\nset -e\ndnf install -y docker\nsystemctl enable --now docker\n"
server_template = aws.ec2.LaunchTemplate(
    "server",
    name=f"{NAME}-server",
    image_id=image.id,
    instance_type="t3.large",
    iam_instance_profile={"arn": profile.arn},
    vpc_security_group_ids=[server_group.id],
    user_data=base64.b64encode(START.encode()).decode(),
    metadata_options={"http_tokens": "required"},
)
server = aws.autoscaling.Group(
    "server",
    name=f"{NAME}-server",
    min_size=1,
    max_size=2,
    desired_capacity=1,
    vpc_zone_identifiers=[subnet.id for subnet in private],
    target_group_arns=[targets.arn],
    health_check_type="ELB",
    health_check_grace_period=300,
    launch_template={"id": server_template.id, "version": "$Latest"},
    tags=[{"key": "Name", "value": f"{NAME}-mlflow", "propagate_at_launch": True}],
)
aws.autoscaling.Policy(
    "server", autoscaling_group_name=server.name, policy_type="TargetTrackingScaling",
    target_tracking_configuration={
        "predefined_metric_specification": {"predefined_metric_type": "ASGAverageCPUUtilization"},
        "target_value": 60,
    },
)  # fmt: skip
bench = aws.ec2.Instance(
    "bench", ami=image.id, instance_type="m6i.large", subnet_id=private[0].id, iam_instance_profile=profile.name,
    vpc_security_group_ids=[server_group.id], metadata_options={"http_tokens": "required"},
    root_block_device={"volume_size": 50, "volume_type": "gp3", "encrypted": True},
)  # fmt: skip
disk = aws.ebs.Volume(
    "bench", availability_zone=ZONES[0], size=500, type="gp3", iops=4000, throughput=250, encrypted=True,
    kms_key_id=key.arn,
)  # fmt: skip
aws.ec2.VolumeAttachment("bench", device_name="/dev/sdf", volume_id=disk.id, instance_id=bench.id)

# Batch: jobs over several nodes with GPUs
batch_role, batch_rights = role("batch-nodes", "ec2.amazonaws.com", "service-role/AmazonEC2ContainerServiceforEC2Role")
batch_profile = aws.iam.InstanceProfile("batch", role=batch_role.name)
service_role, service_rights = role("batch", "batch.amazonaws.com", "service-role/AWSBatchServiceRole")
gang = aws.ec2.SecurityGroup(
    "gang", vpc_id=vpc.id, description="The nodes of a job among themselves",
    ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)  # fmt: skip
near = aws.ec2.PlacementGroup("gang", strategy="cluster")
environment = aws.batch.ComputeEnvironment(
    "gpus",
    name=f"{NAME}-gpus",
    type="MANAGED",
    service_role=service_role.arn,
    compute_resources={
        "type": "EC2",
        "allocation_strategy": "BEST_FIT_PROGRESSIVE",
        "min_vcpus": 0,
        "max_vcpus": 384,
        "instance_types": ["g5.48xlarge"],
        "instance_role": batch_profile.arn,
        "subnets": [private[0].id],
        "security_group_ids": [gang.id],
        "placement_group": near.name,
        "ec2_configurations": [{"image_type": "ECS_AL2023_NVIDIA"}],
    },
    opts=after(depends_on=[*service_rights, *batch_rights]),
)
queue = aws.batch.JobQueue(
    "train", name=f"{NAME}-train", state="ENABLED", priority=10,
    compute_environment_orders=[{"order": 1, "compute_environment": environment.arn}],
)  # fmt: skip
work_trust = document(
    {"Effect": "Allow", "Principal": {"Service": "ecs-tasks.amazonaws.com"}, "Action": "sts:AssumeRole"}
)
work = aws.iam.Role("work", name=f"{NAME}-work", assume_role_policy=work_trust)
aws.iam.RolePolicy(
    "work",
    role=work.name,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                may(["s3:GetObject"], pulumi.Output.concat(datasets.arn, "/*")),
                may(["s3:GetObject", "s3:PutObject"], pulumi.Output.concat(checkpoints.arn, "/runs/*")),
                may("s3:ListBucket", [datasets.arn, checkpoints.arn]),
                may(["kms:Decrypt", "kms:GenerateDataKey"], key.arn),
            ],
        }
    ),
)
definition = aws.batch.JobDefinition(
    "train",
    name=f"{NAME}-train",
    type="multinode",
    platform_capabilities=["EC2"],
    retry_strategy={"attempts": 2},
    timeout={"attempt_duration_seconds": 172800},
    node_properties=pulumi.Output.json_dumps(
        {
            "mainNode": 0,
            "numNodes": 2,
            "nodeRangeProperties": [
                {
                    "targetNodes": "0:1",
                    "container": {
                        "image": pulumi.Output.concat(images.repository_url, ":2026-11-01"),
                        "command": ["torchrun", "--nnodes=2", "--nproc-per-node=8", "train.py"],
                        "jobRoleArn": work.arn,
                        "resourceRequirements": [
                            {"type": "GPU", "value": "8"},
                            {"type": "VCPU", "value": "180"},
                            {"type": "MEMORY", "value": "700000"},
                        ],
                        "linuxParameters": {"sharedMemorySize": 65536},
                        "ulimits": [{"name": "memlock", "softLimit": -1, "hardLimit": -1}],
                    },
                }
            ],
        }
    ),
)

# A new dataset starts a training: object, function, state machine, job
machine_role, _ = role("machine", "states.amazonaws.com")
aws.iam.RolePolicy(
    "machine",
    role=machine_role.name,
    policy=document(
        may(["batch:SubmitJob", "batch:DescribeJobs", "batch:TerminateJob"], "*"),
        may(
            ["events:PutTargets", "events:PutRule", "events:DescribeRule"],
            f"arn:aws:events:{REGION}:{ACCOUNT}:rule/StepFunctionsGetEventsForBatchJobsRule",
        ),
        may("sns:Publish", f"arn:aws:sns:{REGION}:{ACCOUNT}:{NAME}-news"),
    ),
)
news = aws.sns.Topic("news", name=f"{NAME}-news")
aws.sns.TopicSubscription("news", topic=news.arn, protocol="email", endpoint="ml-oncall@nordlab.example")
machine = aws.sfn.StateMachine(
    "train",
    name=f"{NAME}-train",
    role_arn=machine_role.arn,
    definition=pulumi.Output.json_dumps(
        {
            "StartAt": "Train",
            "States": {
                "Train": {
                    "Type": "Task",
                    "Resource": "arn:aws:states:::batch:submitJob.sync",
                    "Parameters": {
                        "JobName": "train",
                        "JobQueue": queue.arn,
                        "JobDefinition": definition.arn,
                    },
                    "Retry": [{"ErrorEquals": ["States.TaskFailed"], "IntervalSeconds": 60, "MaxAttempts": 1}],
                    "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}],
                    "Next": "Tell",
                },
                "Tell": {
                    "Type": "Task",
                    "Resource": "arn:aws:states:::sns:publish",
                    "Parameters": {"TopicArn": news.arn, "Message": "trained"},
                    "End": True,
                },
                "Failed": {"Type": "Fail", "Error": "TrainingFailed"},
            },
        }
    ),
)
starter_role, starter_rights = role("starter", "lambda.amazonaws.com", "service-role/AWSLambdaBasicExecutionRole")
aws.iam.RolePolicy(
    "starter",
    role=starter_role.name,
    policy=pulumi.Output.json_dumps(
        {"Version": "2012-10-17", "Statement": [may("states:StartExecution", machine.arn)]}
    ),
)
starter_logs = aws.cloudwatch.LogGroup(
    "starter", name=f"/aws/lambda/{NAME}-starter", retention_in_days=14, kms_key_id=key.arn
)
SOURCE = (
    "import boto3, os\n"
    "def handler(event, context):\n"
    "    boto3.client('stepfunctions').start_execution(stateMachineArn=os.environ['MACHINE'])\n"
)
starter = aws.lambda_.Function(
    "starter",
    name=f"{NAME}-starter",
    role=starter_role.arn,
    runtime="python3.13",
    handler="index.handler",
    code=pulumi.AssetArchive({"index.py": pulumi.StringAsset(SOURCE)}),
    timeout=60,
    memory_size=256,
    architectures=["arm64"],
    environment={"variables": {"MACHINE": machine.arn}},
    opts=after(depends_on=[starter_logs, *starter_rights]),
)
called = aws.lambda_.Permission(
    "starter", action="lambda:InvokeFunction", function=starter.name, principal="s3.amazonaws.com",
    source_arn=datasets.arn, source_account=ACCOUNT,
)  # fmt: skip
aws.s3.BucketNotification(
    "datasets",
    bucket=datasets.id,
    lambda_functions=[
        {
            "lambda_function_arn": starter.arn, "events": ["s3:ObjectCreated:*"],
            "filter_prefix": "ready/", "filter_suffix": ".json",
        }
    ],
    opts=after(depends_on=[called]),
)  # fmt: skip
clock_role, _ = role("clock", "scheduler.amazonaws.com")
aws.iam.RolePolicy(
    "clock",
    role=clock_role.name,
    policy=pulumi.Output.json_dumps(
        {"Version": "2012-10-17", "Statement": [may("states:StartExecution", machine.arn)]}
    ),
)
aws.scheduler.Schedule(
    "weekly",
    schedule_expression="cron(0 3 ? * SUN *)",
    schedule_expression_timezone="Europe/Stockholm",
    flexible_time_window={"mode": "OFF"},
    target={"arn": machine.arn, "role_arn": clock_role.arn},
)

# Notebooks and models of SageMaker
sage_role, sage_rights = role("sagemaker", "sagemaker.amazonaws.com", "AmazonSageMakerFullAccess")
start = aws.sagemaker.NotebookInstanceLifecycleConfiguration(
    "notebook", name=f"{NAME}-notebook", on_start=base64.b64encode(b"#!/bin/bash\nset -e\n").decode()
)
aws.sagemaker.NotebookInstance(
    "notebook",
    name=f"{NAME}-notebook",
    role_arn=sage_role.arn,
    instance_type="ml.g5.xlarge",
    volume_size=100,
    subnet_id=private[0].id,
    security_groups=[gang.id],
    direct_internet_access="Disabled",
    kms_key_id=key.key_id,
    lifecycle_config_name=start.name,
    platform_identifier="notebook-al2-v3",
    opts=after(depends_on=sage_rights),
)
aws.sagemaker.ModelPackageGroup("models", model_package_group_name=f"{NAME}-models")

# What watches over it
failed = aws.cloudwatch.EventRule(
    "failed",
    name=f"{NAME}-batch-failed",
    event_pattern=json.dumps(
        {"source": ["aws.batch"], "detail-type": ["Batch Job State Change"], "detail": {"status": ["FAILED"]}}
    ),
)
aws.cloudwatch.EventTarget("failed", rule=failed.name, arn=news.arn)
aws.sns.TopicPolicy(
    "news",
    arn=news.arn,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {
                        "Service": ["events.amazonaws.com", "cloudwatch.amazonaws.com", "budgets.amazonaws.com"]
                    },
                    "Action": "sns:Publish",
                    "Resource": news.arn,
                }
            ],
        }
    ),
)
aws.cloudwatch.MetricAlarm(
    "database-space", name=f"{NAME}-database-space", namespace="AWS/RDS", metric_name="FreeStorageSpace",
    statistic="Average", period=300, evaluation_periods=3, comparison_operator="LessThanThreshold", threshold=5e9,
    dimensions={"DBInstanceIdentifier": database.identifier}, alarm_actions=[news.arn],
)  # fmt: skip
aws.cloudwatch.MetricAlarm(
    "machine-failed", name=f"{NAME}-machine-failed", namespace="AWS/States", metric_name="ExecutionsFailed",
    statistic="Sum", period=300, evaluation_periods=1, comparison_operator="GreaterThanThreshold", threshold=0,
    dimensions={"StateMachineArn": machine.arn}, treat_missing_data="notBreaching", alarm_actions=[news.arn],
)  # fmt: skip
aws.budgets.Budget(
    "month",
    name=f"{NAME}-month",
    budget_type="COST",
    limit_amount="40000",
    limit_unit="USD",
    time_unit="MONTHLY",
    notifications=[
        {
            "comparison_operator": "GREATER_THAN", "threshold": 80, "threshold_type": "PERCENTAGE",
            "notification_type": "FORECASTED", "subscriber_sns_topic_arns": [news.arn],
        }
    ],
)  # fmt: skip

# What runs in the cluster


def kubeconfig(found):
    name, endpoint, authority = found
    command = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["eks", "get-token", "--cluster-name", name],
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": {"server": endpoint, "certificate-authority-data": authority}}],
            "users": [{"name": "lab", "user": {"exec": command}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
            "current-context": "lab",
        }
    )


provider = k8s.Provider(
    "lab",
    kubeconfig=pulumi.Output.all(cluster.name, cluster.endpoint, cluster.certificate_authority.data).apply(kubeconfig),
    opts=after(depends_on=[general, dns]),
)
there = after(provider=provider)
research = k8s.core.v1.Namespace("research", metadata={"name": "research"}, opts=there)
reader = by_account("reader", "research", "trainer")
aws.iam.RolePolicy(
    "reader",
    role=reader.name,
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                may(["s3:GetObject"], pulumi.Output.concat(datasets.arn, "/*")),
                may("s3:ListBucket", datasets.arn),
                may("kms:Decrypt", key.arn),
            ],
        }
    ),
)
account = k8s.core.v1.ServiceAccount(
    "trainer",
    metadata={
        "name": "trainer", "namespace": research.metadata.name,
        "annotations": {"eks.amazonaws.com/role-arn": reader.arn},
    },
    opts=there,
)  # fmt: skip
storage = k8s.storage.v1.StorageClass(
    "home",
    metadata={"name": "home"},
    provisioner="efs.csi.aws.com",
    parameters={"provisioningMode": "efs-ap", "fileSystemId": home.id, "directoryPerms": "700"},
    opts=after(provider=provider, depends_on=[efs_driver, *mounts]),
)
claim = k8s.core.v1.PersistentVolumeClaim(
    "home",
    metadata={"name": "home", "namespace": research.metadata.name},
    spec={
        "accessModes": ["ReadWriteMany"], "storageClassName": storage.metadata.name,
        "resources": {"requests": {"storage": "100Gi"}},
    },
    opts=there,
)  # fmt: skip
k8s.helm.v3.Release(
    "nvidia",
    name="nvidia-device-plugin",
    chart="nvidia-device-plugin",
    version="0.17.4",
    namespace="kube-system",
    repository_opts={"repo": "https://nvidia.github.io/k8s-device-plugin"},
    values={
        "gfd": {"enabled": True},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    },
    opts=there,
)
k8s.batch.v1.Job(
    "smoke",
    metadata={"name": "smoke", "namespace": research.metadata.name},
    spec={
        "backoffLimit": 1,
        "template": {
            "metadata": {"labels": {"app": "smoke"}},
            "spec": {
                "restartPolicy": "Never",
                "serviceAccountName": account.metadata.name,
                "nodeSelector": {"nordlab.io/pool": "gpus"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "containers": [
                    {
                        "name": "smoke",
                        "image": pulumi.Output.concat(images.repository_url, ":2026-11-01"),
                        "command": ["python", "-m", "smoke"],
                        "resources": {
                            "limits": {"nvidia.com/gpu": "4"}, "requests": {"cpu": "40", "memory": "150Gi"},
                        },
                        "volumeMounts": [{"name": "home", "mountPath": "/home/lab"}],
                    }
                ],
                "volumes": [{"name": "home", "persistentVolumeClaim": {"claimName": claim.metadata.name}}],
            },
        },
    },
    opts=after(provider=provider, ignore_changes=["spec"]),
)  # fmt: skip
pulumi.export("mlflow", "https://mlflow.train.nordlab.example")
