"""IPv6 EKS with Karpenter, for the inference team."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

NAME = "inference"
VERSION = "1.34"
ACCOUNT = aws.get_caller_identity_output().account_id
azs = aws.get_availability_zones(state="available").names[:3]

# --- network ---------------------------------------------------------------
vpc = aws.ec2.Vpc(
    "vpc",
    cidr_block="10.20.0.0/16",
    assign_generated_ipv6_cidr_block=True,
    enable_dns_hostnames=True,
    enable_dns_support=True,
    tags={"Name": NAME},
)
igw = aws.ec2.InternetGateway("igw", vpc_id=vpc.id)
eigw = aws.ec2.EgressOnlyInternetGateway("eigw", vpc_id=vpc.id)


def v6(index: int):
    return vpc.ipv6_cidr_block.apply(lambda block: block.replace("00::/56", f"{index:02x}::/64"))


public_rt = aws.ec2.RouteTable(
    "public",
    vpc_id=vpc.id,
    routes=[
        {"cidr_block": "0.0.0.0/0", "gateway_id": igw.id},
        {"ipv6_cidr_block": "::/0", "gateway_id": igw.id},
    ],
)
public, private = [], []
for i, az in enumerate(azs):
    subnet = aws.ec2.Subnet(
        f"public-{i}",
        vpc_id=vpc.id,
        availability_zone=az,
        cidr_block=f"10.20.{i}.0/24",
        ipv6_cidr_block=v6(i),
        assign_ipv6_address_on_creation=True,
        map_public_ip_on_launch=True,
        tags={"Name": f"{NAME}-public-{i}", "kubernetes.io/role/elb": "1"},
    )
    aws.ec2.RouteTableAssociation(f"public-{i}", subnet_id=subnet.id, route_table_id=public_rt.id)
    public.append(subnet)

eip = aws.ec2.Eip("nat", domain="vpc", opts=pulumi.ResourceOptions(depends_on=[igw]))
nat = aws.ec2.NatGateway("nat", subnet_id=public[0].id, allocation_id=eip.allocation_id)
private_rt = aws.ec2.RouteTable("private", vpc_id=vpc.id)
aws.ec2.Route("private-v4", route_table_id=private_rt.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id)
aws.ec2.Route(
    "private-v6",
    route_table_id=private_rt.id,
    destination_ipv6_cidr_block="::/0",
    egress_only_gateway_id=eigw.id,
)
for i, az in enumerate(azs):
    subnet = aws.ec2.Subnet(
        f"private-{i}",
        vpc_id=vpc.id,
        availability_zone=az,
        cidr_block=f"10.20.{64 + 32 * i}.0/19",
        ipv6_cidr_block=v6(16 + i),
        assign_ipv6_address_on_creation=True,
        tags={
            "Name": f"{NAME}-private-{i}",
            "kubernetes.io/role/internal-elb": "1",
            "karpenter.sh/discovery": NAME,
        },
    )
    aws.ec2.RouteTableAssociation(f"private-{i}", subnet_id=subnet.id, route_table_id=private_rt.id)
    private.append(subnet)
aws.ec2.VpcEndpoint(
    "s3",
    vpc_id=vpc.id,
    service_name="com.amazonaws.eu-west-1.s3",
    vpc_endpoint_type="Gateway",
    route_table_ids=[private_rt.id],
)

# --- cluster ---------------------------------------------------------------
cluster_role = aws.iam.Role(
    "cluster",
    assume_role_policy=aws.iam.get_policy_document(
        statements=[
            {
                "actions": ["sts:AssumeRole"],
                "principals": [{"type": "Service", "identifiers": ["eks.amazonaws.com"]}],
            }
        ]
    ).json,
)
cluster_policy = aws.iam.RolePolicyAttachment(
    "cluster", role=cluster_role, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
)
secrets_key = aws.kms.Key("eks-secrets", enable_key_rotation=True)
aws.cloudwatch.LogGroup("eks", name=f"/aws/eks/{NAME}/cluster", retention_in_days=14)
cluster = aws.eks.Cluster(
    "cluster",
    name=NAME,
    version=VERSION,
    role_arn=cluster_role.arn,
    access_config={
        "authentication_mode": "API_AND_CONFIG_MAP",
        "bootstrap_cluster_creator_admin_permissions": True,
    },
    kubernetes_network_config={"ip_family": "ipv6"},
    encryption_config={"provider": {"key_arn": secrets_key.arn}, "resources": ["secrets"]},
    enabled_cluster_log_types=["api", "audit", "authenticator"],
    vpc_config={
        "subnet_ids": [s.id for s in private],
        "endpoint_private_access": True,
        "endpoint_public_access": True,
    },
    opts=pulumi.ResourceOptions(depends_on=[cluster_policy]),
)
aws.ec2.Tag(
    "discover-sg",
    resource_id=cluster.vpc_config.cluster_security_group_id,
    key="karpenter.sh/discovery",
    value=NAME,
)
issuer = cluster.identities[0].oidcs[0].issuer
oidc = aws.iam.OpenIdConnectProvider("oidc", client_id_lists=["sts.amazonaws.com"], url=issuer)


def irsa(name: str, namespace: str, account: str) -> aws.iam.Role:
    """A role for one service account."""
    host = issuer.apply(lambda url: url.removeprefix("https://"))
    document = aws.iam.get_policy_document_output(
        statements=[
            {
                "actions": ["sts:AssumeRoleWithWebIdentity"],
                "principals": [{"type": "Federated", "identifiers": [oidc.arn]}],
                "conditions": [
                    {
                        "test": "StringEquals",
                        "variable": host.apply(lambda h: f"{h}:sub"),
                        "values": [f"system:serviceaccount:{namespace}:{account}"],
                    },
                    {
                        "test": "StringEquals",
                        "variable": host.apply(lambda h: f"{h}:aud"),
                        "values": ["sts.amazonaws.com"],
                    },
                ],
            }
        ]
    )
    return aws.iam.Role(name, assume_role_policy=document.json)


cni_role = irsa("vpc-cni", "kube-system", "aws-node")
cni_policy = aws.iam.RolePolicy(
    "vpc-cni",
    role=cni_role,
    policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": [
                        "ec2:AssignIpv6Addresses",
                        "ec2:DescribeInstances",
                        "ec2:DescribeTags",
                        "ec2:DescribeNetworkInterfaces",
                        "ec2:DescribeInstanceTypes",
                    ],
                    "Resource": "*",
                },
                {
                    "Effect": "Allow",
                    "Action": ["ec2:CreateTags"],
                    "Resource": ["arn:aws:ec2:*:*:network-interface/*"],
                },
            ],
        }
    ),
)
cni = aws.eks.Addon(
    "vpc-cni",
    cluster_name=cluster.name,
    addon_name="vpc-cni",
    service_account_role_arn=cni_role.arn,
    resolve_conflicts_on_create="OVERWRITE",
    configuration_values=json.dumps({"env": {"ENABLE_PREFIX_DELEGATION": "true"}}),
    opts=pulumi.ResourceOptions(depends_on=[cni_policy]),
)
aws.eks.Addon("kube-proxy", cluster_name=cluster.name, addon_name="kube-proxy")

# --- nodes -----------------------------------------------------------------
node_role = aws.iam.Role(
    "node",
    assume_role_policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
            ],
        }
    ),
)
node_policies = [
    aws.iam.RolePolicyAttachment(f"node-{arn.rsplit('/', 1)[-1]}", role=node_role.name, policy_arn=arn)
    for arn in (
        "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly",
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    )
]
system = aws.eks.NodeGroup(
    "system",
    cluster_name=cluster.name,
    node_role_arn=node_role.arn,
    subnet_ids=[s.id for s in private],
    instance_types=["m7i.large"],
    ami_type="AL2023_x86_64_STANDARD",
    capacity_type="ON_DEMAND",
    disk_size=50,
    scaling_config={"desired_size": 2, "min_size": 2, "max_size": 3},
    labels={"role": "system"},
    taints=[{"key": "CriticalAddonsOnly", "value": "true", "effect": "NO_SCHEDULE"}],
    opts=pulumi.ResourceOptions(depends_on=[cni, *node_policies], ignore_changes=["scalingConfig.desiredSize"]),
)
coredns = aws.eks.Addon(
    "coredns",
    cluster_name=cluster.name,
    addon_name="coredns",
    configuration_values=json.dumps(
        {"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}], "replicaCount": 2}
    ),
    opts=pulumi.ResourceOptions(depends_on=[system]),
)
ebs_role = irsa("ebs-csi", "kube-system", "ebs-csi-controller-sa")
ebs_attachment = aws.iam.RolePolicyAttachment(
    "ebs-csi", role=ebs_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
)
ebs = aws.eks.Addon(
    "ebs-csi",
    cluster_name=cluster.name,
    addon_name="aws-ebs-csi-driver",
    service_account_role_arn=ebs_role.arn,
    configuration_values=json.dumps(
        {"controller": {"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}]}}
    ),
    opts=pulumi.ResourceOptions(depends_on=[system, ebs_attachment]),
)

# --- karpenter -------------------------------------------------------------
queue = aws.sqs.Queue(
    "karpenter", name=f"{NAME}-karpenter", message_retention_seconds=300, sqs_managed_sse_enabled=True
)
aws.sqs.QueuePolicy(
    "karpenter",
    queue_url=queue.url,
    policy=aws.iam.get_policy_document_output(
        statements=[
            {
                "actions": ["sqs:SendMessage"],
                "resources": [queue.arn],
                "principals": [{"type": "Service", "identifiers": ["events.amazonaws.com", "sqs.amazonaws.com"]}],
            }
        ]
    ).json,
)
EVENTS = {
    "health": ("aws.health", "AWS Health Event"),
    "spot": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "state": ("aws.ec2", "EC2 Instance State-change Notification"),
}
for event, (source, detail) in EVENTS.items():
    rule = aws.cloudwatch.EventRule(
        f"karpenter-{event}", event_pattern=json.dumps({"source": [source], "detail-type": [detail]})
    )
    aws.cloudwatch.EventTarget(f"karpenter-{event}", rule=rule.name, arn=queue.arn)

karpenter_role = irsa("karpenter", "kube-system", "karpenter")
karpenter_policy = aws.iam.Policy(
    "karpenter",
    policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "Launch",
                    "Effect": "Allow",
                    "Action": [
                        "ec2:CreateFleet",
                        "ec2:RunInstances",
                        "ec2:CreateLaunchTemplate",
                        "ec2:DeleteLaunchTemplate",
                        "ec2:CreateTags",
                        "ec2:TerminateInstances",
                        "ec2:DescribeAvailabilityZones",
                        "ec2:DescribeCapacityReservations",
                        "ec2:DescribeImages",
                        "ec2:DescribeInstances",
                        "ec2:DescribeInstanceStatus",
                        "ec2:DescribeInstanceTypeOfferings",
                        "ec2:DescribeInstanceTypes",
                        "ec2:DescribeLaunchTemplates",
                        "ec2:DescribeSecurityGroups",
                        "ec2:DescribeSpotPriceHistory",
                        "ec2:DescribeSubnets",
                        "pricing:GetProducts",
                        "ssm:GetParameter",
                    ],
                    "Resource": "*",
                },
                {"Sid": "PassRole", "Effect": "Allow", "Action": "iam:PassRole", "Resource": node_role.arn},
                {
                    "Sid": "Profiles",
                    "Effect": "Allow",
                    "Action": [
                        "iam:AddRoleToInstanceProfile",
                        "iam:CreateInstanceProfile",
                        "iam:DeleteInstanceProfile",
                        "iam:GetInstanceProfile",
                        "iam:ListInstanceProfiles",
                        "iam:RemoveRoleFromInstanceProfile",
                        "iam:TagInstanceProfile",
                    ],
                    "Resource": "*",
                },
                {"Sid": "Cluster", "Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": cluster.arn},
                {
                    "Sid": "Interruption",
                    "Effect": "Allow",
                    "Action": ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
                    "Resource": queue.arn,
                },
            ],
        }
    ),
)
karpenter_attachment = aws.iam.RolePolicyAttachment(
    "karpenter", role=karpenter_role.name, policy_arn=karpenter_policy.arn
)

kubeconfig = pulumi.Output.all(cluster.name, cluster.endpoint, cluster.certificate_authority).apply(
    lambda args: json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": args[0],
                    "cluster": {"server": args[1], "certificate-authority-data": args[2]["data"]},
                }
            ],
            "contexts": [{"name": args[0], "context": {"cluster": args[0], "user": "aws"}}],
            "current-context": args[0],
            "users": [
                {
                    "name": "aws",
                    "user": {
                        "exec": {
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": "aws",
                            "args": ["eks", "get-token", "--cluster-name", args[0]],
                        }
                    },
                }
            ],
        }
    )
)
provider = k8s.Provider("k8s", kubeconfig=kubeconfig, enable_server_side_apply=True)
on_cluster = pulumi.ResourceOptions(provider=provider, depends_on=[system, coredns])

karpenter = k8s.helm.v3.Release(
    "karpenter",
    chart="oci://public.ecr.aws/karpenter/karpenter",
    version="1.6.3",
    name="karpenter",
    namespace="kube-system",
    values={
        "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": karpenter_role.arn}},
        "settings": {
            "clusterName": cluster.name,
            "clusterEndpoint": cluster.endpoint,
            "interruptionQueue": queue.name,
        },
        "controller": {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}},
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[system, coredns, karpenter_attachment]),
)

node_class = k8s.apiextensions.CustomResource(
    "gpu-class",
    api_version="karpenter.k8s.aws/v1",
    kind="EC2NodeClass",
    metadata={"name": "gpu"},
    spec={
        "role": node_role.name,
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": NAME}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": NAME}}],
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/xvda",
                "ebs": {"volumeSize": "200Gi", "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True},
            }
        ],
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[karpenter]),
)
general_class = k8s.apiextensions.CustomResource(
    "default-class",
    api_version="karpenter.k8s.aws/v1",
    kind="EC2NodeClass",
    metadata={"name": "default"},
    spec={
        "role": node_role.name,
        "amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": NAME}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": NAME}}],
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[karpenter]),
)
k8s.apiextensions.CustomResource(
    "default-pool",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "default"},
    spec={
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
                    {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r"]},
                    {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["5"]},
                ],
                "expireAfter": "720h",
            }
        },
        "limits": {"cpu": "500"},
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"},
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[general_class]),
)
gpu_pool = k8s.apiextensions.CustomResource(
    "gpu-pool",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "gpu"},
    spec={
        "weight": 50,
        "template": {
            "metadata": {"labels": {"pool": "gpu", "nvidia.com/gpu.present": "true"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [
                    {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["g6", "g5"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                ],
                "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
            },
        },
        "limits": {"nvidia.com/gpu": 16},
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "10m"},
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[node_class]),
)
device_plugin = k8s.helm.v4.Chart(
    "nvidia-device-plugin",
    chart="nvidia-device-plugin",
    version="0.17.1",
    namespace="kube-system",
    repository_opts={"repo": "https://nvidia.github.io/k8s-device-plugin"},
    values={
        "nodeSelector": {"pool": "gpu"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[system]),
)

# --- workload --------------------------------------------------------------
models = aws.s3.Bucket("models", force_destroy=False)
aws.s3.BucketPublicAccessBlock(
    "models",
    bucket=models,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
)
aws.s3.BucketVersioning("models", bucket=models.bucket, versioning_configuration={"status": "Enabled"})
repo = aws.ecr.Repository(
    "llm", name="inference/llm", image_tag_mutability="IMMUTABLE", image_scanning_configuration={"scan_on_push": True}
)
aws.ecr.LifecyclePolicy(
    "llm",
    repository=repo.name,
    policy=json.dumps(
        {
            "rules": [
                {
                    "rulePriority": 1,
                    "description": "Drop untagged",
                    "selection": {
                        "tagStatus": "untagged",
                        "countType": "sinceImagePushed",
                        "countUnit": "days",
                        "countNumber": 14,
                    },
                    "action": {"type": "expire"},
                }
            ]
        }
    ),
)
ns = k8s.core.v1.Namespace(
    "llm",
    metadata={"name": "llm", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}},
    opts=on_cluster,
)
llm_role = irsa("llm", "llm", "llm")
aws.iam.RolePolicy(
    "llm-models",
    role=llm_role.id,
    policy=models.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"{arn}/*"]},
                    {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [arn]},
                ],
            }
        )
    ),
)
in_ns = pulumi.ResourceOptions(provider=provider, depends_on=[ns])
sa = k8s.core.v1.ServiceAccount(
    "llm",
    metadata={
        "name": "llm",
        "namespace": ns.metadata.name,
        "annotations": {"eks.amazonaws.com/role-arn": llm_role.arn},
    },
    opts=in_ns,
)
labels = {"app.kubernetes.io/name": "llm"}
k8s.apps.v1.Deployment(
    "llm",
    metadata={"name": "llm", "namespace": ns.metadata["name"], "labels": labels},
    spec={
        "replicas": 2,
        "selector": {"match_labels": labels},
        "strategy": {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "service_account_name": sa.metadata["name"],
                "node_selector": {"pool": "gpu"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "topology_spread_constraints": [
                    {
                        "max_skew": 1,
                        "topology_key": "topology.kubernetes.io/zone",
                        "when_unsatisfiable": "ScheduleAnyway",
                        "label_selector": {"match_labels": labels},
                    }
                ],
                "containers": [
                    {
                        "name": "vllm",
                        "image": repo.repository_url.apply(lambda url: f"{url}:v0.9.2"),
                        "args": ["--model", models.bucket.apply(lambda b: f"s3://{b}/llama-3-8b"), "--port", "8000"],
                        "ports": [{"container_port": 8000, "name": "http"}],
                        "resources": {
                            "requests": {"cpu": "6", "memory": "24Gi", "nvidia.com/gpu": "1"},
                            "limits": {"memory": "24Gi", "nvidia.com/gpu": "1"},
                        },
                        "readiness_probe": {
                            "http_get": {"path": "/health", "port": "http"},
                            "initial_delay_seconds": 60,
                            "period_seconds": 10,
                        },
                        "volume_mounts": [{"name": "shm", "mount_path": "/dev/shm"}],
                    }
                ],
                "volumes": [{"name": "shm", "empty_dir": {"medium": "Memory", "size_limit": "8Gi"}}],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[ns, gpu_pool, device_plugin]),
)
k8s.core.v1.Service(
    "llm",
    metadata={"name": "llm", "namespace": "llm"},
    spec={
        "selector": labels,
        "ports": [{"name": "http", "port": 80, "target_port": "http"}],
        "ip_families": ["IPv6"],
        "ip_family_policy": "SingleStack",
    },
    opts=in_ns,
)
k8s.policy.v1.PodDisruptionBudget(
    "llm",
    metadata={"name": "llm", "namespace": "llm"},
    spec={"min_available": 1, "selector": {"match_labels": labels}},
    opts=in_ns,
)
k8s.autoscaling.v2.HorizontalPodAutoscaler(
    "llm",
    metadata={"name": "llm", "namespace": "llm"},
    spec={
        "scale_target_ref": {"api_version": "apps/v1", "kind": "Deployment", "name": "llm"},
        "min_replicas": 2,
        "max_replicas": 8,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "average_utilization": 70}},
            }
        ],
    },
    opts=in_ns,
)
aws.eks.Addon(
    "metrics-server",
    cluster_name=cluster.name,
    addon_name="metrics-server",
    configuration_values=json.dumps({"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}]}),
    opts=pulumi.ResourceOptions(depends_on=[coredns]),
)

pulumi.export("kubeconfig", pulumi.Output.secret(kubeconfig))
pulumi.export("repository", repo.repository_url)
