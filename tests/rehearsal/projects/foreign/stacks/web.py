"""A web shop: Karpenter's taints on nodes that it starts itself, an Ingress, an HPA, a queue worker, a nightly job."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
from ground import ACCOUNT, Ground

ground = Ground("shop")
system = ground.nodes("system", ["m6i.large", "m5.large"], 2, 4, labels={"role": "system"})
edge = ground.nodes(
    "edge", ["c6i.xlarge"], 2, 6, labels={"role": "edge"},
    taints=[{"key": "dedicated", "value": "edge", "effect": "NO_SCHEDULE"}],
)  # fmt: skip
dns = ground.addon("coredns", [system])
metrics = ground.addon("metrics-server", [system])
cluster = ground.provider([system, edge, dns])
on = pulumi.ResourceOptions(provider=cluster)

# Karpenter starts the rest, with a taint of its own.
karpenter_role = ground.role_of("karpenter", "karpenter", "karpenter")
aws.iam.RolePolicy(
    "karpenter",
    role=karpenter_role.name,
    policy=pulumi.Output.all(ground.node_role.arn, ground.cluster.arn).apply(
        lambda found: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": [
                            "ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:CreateTags", "ec2:DeleteLaunchTemplate",
                            "ec2:Describe*", "ec2:RunInstances", "ec2:TerminateInstances", "pricing:GetProducts",
                            "ssm:GetParameter", "iam:GetInstanceProfile", "iam:ListInstanceProfiles",
                            "iam:CreateInstanceProfile", "iam:TagInstanceProfile", "iam:AddRoleToInstanceProfile",
                            "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile",
                        ],
                        "Resource": "*",
                    },
                    {"Effect": "Allow", "Action": "iam:PassRole", "Resource": found[0]},
                    {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": found[1]},
                ],
            }
        )
    ),
)  # fmt: skip
karpenter = k8s.helm.v3.Release(
    "karpenter",
    chart="oci://public.ecr.aws/karpenter/karpenter",
    version="1.8.1",
    namespace="karpenter",
    create_namespace=True,
    values={
        "settings": {"clusterName": ground.cluster.name},
        "serviceAccount": {"name": "karpenter", "annotations": {"eks.amazonaws.com/role-arn": karpenter_role.arn}},
        "nodeSelector": {"role": "system"},
    },
    opts=on,
)
made_by_karpenter = pulumi.ResourceOptions(provider=cluster, depends_on=[karpenter])
k8s.apiextensions.CustomResource(
    "default-class",
    api_version="karpenter.k8s.aws/v1",
    kind="EC2NodeClass",
    metadata={"name": "default"},
    spec={
        "role": ground.node_role.name,
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "shop"}}],
        "securityGroupSelectorTerms": [{"tags": {"aws:eks:cluster-name": "shop"}}],
    },
    opts=made_by_karpenter,
)
k8s.apiextensions.CustomResource(
    "batch",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "batch"},
    spec={
        "template": {
            "metadata": {"labels": {"role": "batch"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
                    {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]},
                ],
                "taints": [{"key": "batch", "effect": "NoSchedule"}],
            },
        },
        "limits": {"cpu": "200"},
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"},
    },
    opts=made_by_karpenter,
)

balancer_role = ground.role_of("balancers", "kube-system", "aws-load-balancer-controller")
aws.iam.RolePolicyAttachment(
    "balancers", role=balancer_role.name, policy_arn=f"arn:aws:iam::{ACCOUNT}:policy/AWSLoadBalancerController"
)
balancers = k8s.helm.v3.Release(
    "balancers",
    chart="aws-load-balancer-controller",
    name="aws-load-balancer-controller",
    version="1.14.1",
    namespace="kube-system",
    repository_opts={"repo": "https://aws.github.io/eks-charts"},
    values={
        "clusterName": ground.cluster.name,
        "region": "eu-west-1",
        "vpcId": ground.vpc.id,
        "serviceAccount": {
            "name": "aws-load-balancer-controller",
            "annotations": {"eks.amazonaws.com/role-arn": balancer_role.arn},
        },
    },
    opts=on,
)

shop = k8s.core.v1.Namespace(
    "shop", metadata={"name": "shop", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}, opts=on
)
here = shop.metadata.name
settings = k8s.core.v1.ConfigMap(
    "settings",
    metadata={"name": "settings", "namespace": here},
    data={"nginx.conf": "events {}", "LOG_LEVEL": "info"},
    opts=on,
)
password = k8s.core.v1.Secret(
    "database",
    metadata={"name": "database", "namespace": here},
    string_data={"url": pulumi.Output.secret("postgresql://shop@db.internal/shop")},
    opts=on,
)
pictures = aws.s3.Bucket("pictures", bucket="acme-shop-pictures")
picture_role = ground.role_of("pictures", "shop", "front")
aws.iam.RolePolicy(
    "pictures",
    role=picture_role.name,
    policy=pictures.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": f"{arn}/*"},
                    {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": arn},
                ],
            }
        )
    ),
)
account = k8s.core.v1.ServiceAccount(
    "front",
    metadata={
        "name": "front", "namespace": here, "annotations": {"eks.amazonaws.com/role-arn": picture_role.arn}
    },
    opts=on,
)  # fmt: skip
labels = {"app": "front"}
front = k8s.apps.v1.Deployment(
    "front",
    metadata={"name": "front", "namespace": here},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": {**labels, "version": "7"}},
            "spec": {
                "service_account_name": account.metadata.name,
                "node_selector": {"role": "edge"},
                "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "edge", "effect": "NoSchedule"}],
                "topology_spread_constraints": [
                    {
                        "max_skew": 1,
                        "topology_key": "topology.kubernetes.io/zone",
                        "when_unsatisfiable": "DoNotSchedule",
                        "label_selector": {"match_labels": labels},
                    }
                ],
                "init_containers": [
                    {
                        "name": "migrate",
                        "image": "registry.acme.example/shop/front:7",
                        "args": ["migrate"],
                        "env": [
                            {
                                "name": "DATABASE_URL",
                                "value_from": {"secret_key_ref": {"name": password.metadata.name, "key": "url"}},
                            }
                        ],
                    }
                ],
                "containers": [
                    {
                        "name": "front",
                        "image": "registry.acme.example/shop/front:7",
                        "ports": [{"name": "http", "container_port": 8080}],
                        "env_from": [{"config_map_ref": {"name": settings.metadata.name}}],
                        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "512Mi"}},
                        "readiness_probe": {"http_get": {"path": "/ready", "port": "http"}},
                        "volume_mounts": [{"name": "settings", "mount_path": "/etc/front", "read_only": True}],
                    },
                    {
                        "name": "metrics",
                        "image": "prom/statsd-exporter:v0.28.0",
                        "ports": [{"name": "metrics", "container_port": 9102}],
                        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
                    },
                ],
                "volumes": [
                    {"name": "settings", "config_map": {"name": settings.metadata.name, "items": [
                        {"key": "nginx.conf", "path": "nginx.conf"}
                    ]}},
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=cluster, depends_on=[edge]),
)  # fmt: skip
service = k8s.core.v1.Service(
    "front",
    metadata={"name": "front", "namespace": here},
    spec={"selector": labels, "ports": [{"name": "web", "port": 80, "target_port": "http"}]},
    opts=on,
)
k8s.networking.v1.Ingress(
    "front",
    metadata={
        "name": "front",
        "namespace": here,
        "annotations": {
            "alb.ingress.kubernetes.io/scheme": "internet-facing",
            "alb.ingress.kubernetes.io/target-type": "ip",
        },
    },
    spec={
        "ingress_class_name": "alb",
        "rules": [
            {
                "host": "shop.acme.example",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "path_type": "Prefix",
                            "backend": {"service": {"name": service.metadata.name, "port": {"name": "web"}}},
                        }
                    ]
                },
            }
        ],
    },
    opts=pulumi.ResourceOptions(provider=cluster, depends_on=[balancers]),
)
k8s.autoscaling.v2.HorizontalPodAutoscaler(
    "front",
    metadata={"name": "front", "namespace": here},
    spec={
        "min_replicas": 3,
        "max_replicas": 30,
        "scale_target_ref": {"api_version": "apps/v1", "kind": "Deployment", "name": front.metadata.name},
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "average_utilization": 70}},
            }
        ],
    },
    opts=on,
)
k8s.policy.v1.PodDisruptionBudget(
    "front",
    metadata={"name": "front", "namespace": here},
    spec={"max_unavailable": 1, "selector": {"match_labels": labels}},
    opts=on,
)
for name, spec in {
    "deny": {"pod_selector": {}, "policy_types": ["Ingress"]},
    "web": {
        "pod_selector": {"match_labels": labels},
        "ingress": [{"from_": [{"ip_block": {"cidr": "10.20.0.0/16"}}], "ports": [{"port": "http"}]}],
    },
}.items():
    k8s.networking.v1.NetworkPolicy(name, metadata={"name": name, "namespace": here}, spec=spec, opts=on)

# The worker and the nightly job run on what Karpenter starts.
ON_BATCH = {"node_selector": {"role": "batch"}, "tolerations": [{"key": "batch", "operator": "Exists"}]}
k8s.apps.v1.Deployment(
    "worker",
    metadata={"name": "worker", "namespace": here},
    spec={
        "replicas": 4,
        "selector": {"match_labels": {"app": "worker"}},
        "template": {
            "metadata": {"labels": {"app": "worker"}},
            "spec": {
                **ON_BATCH,
                "containers": [
                    {
                        "name": "worker",
                        "image": "registry.acme.example/shop/worker:7",
                        "resources": {"requests": {"cpu": "3", "memory": "6Gi"}},
                        "env": [
                            {
                                "name": "DATABASE_URL",
                                "value_from": {"secret_key_ref": {"name": "database", "key": "url"}},
                            }
                        ],
                    }
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=cluster, depends_on=[karpenter, password]),
)
k8s.batch.v1.CronJob(
    "report",
    metadata={"name": "report", "namespace": here},
    spec={
        "schedule": "17 3 * * *",
        "concurrency_policy": "Forbid",
        "job_template": {
            "spec": {
                "template": {
                    "spec": {
                        **ON_BATCH,
                        "restart_policy": "OnFailure",
                        "containers": [{"name": "report", "image": "registry.acme.example/shop/report:7"}],
                    }
                }
            }
        },
    },
    opts=on,
)
pulumi.export("bucket", pictures.bucket)
