"""GPUs behind Volcano, workflows by Argo, serving by a plain Deployment."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
from ground import Ground

ground = Ground("lab", cidr="10.40")
core = ground.nodes("core", ["m6i.xlarge"], 3, 6, labels={"node.acme.example/kind": "core"})
train_sg = aws.ec2.SecurityGroup(
    "fabric",
    vpc_id=ground.vpc.id,
    ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
    egress=[
        {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True},
        {"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]},
    ],
)
placement = aws.ec2.PlacementGroup("fabric", strategy="cluster")
template = aws.ec2.LaunchTemplate(
    "a100",
    instance_type="p4d.24xlarge",
    placement={"group_name": placement.name},
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2},
    block_device_mappings=[{"device_name": "/dev/xvda", "ebs": {"volume_size": 500, "volume_type": "gp3"}}],
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa",
            "security_groups": [train_sg.id, ground.cluster.vpc_config.cluster_security_group_id],
            "delete_on_termination": "true",
        }
        for card in range(4)
    ],
)
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
a100 = aws.eks.NodeGroup(
    "a100",
    cluster_name=ground.cluster.name,
    node_role_arn=ground.node_role.arn,
    subnet_ids=[ground.private[0].id],
    ami_type="AL2023_x86_64_NVIDIA",
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    scaling_config={"min_size": 0, "max_size": 4, "desired_size": 0},
    labels={"accelerator": "a100"},
    taints=[GPU_TAINT],
    opts=pulumi.ResourceOptions(
        depends_on=[*ground.node_rights, ground.way_out], ignore_changes=["scalingConfig.desiredSize"]
    ),
)
a10 = ground.nodes(
    "a10", ["g5.2xlarge"], 1, 4, ami_type="AL2023_x86_64_NVIDIA", disk_size=200,
    labels={"accelerator": "a10g"}, taints=[GPU_TAINT],
)  # fmt: skip
dns = ground.addon("coredns", [core])
ebs_role = ground.role_of("ebs", "kube-system", "ebs-csi-controller-sa")
ebs_right = aws.iam.RolePolicyAttachment(
    "ebs", role=ebs_role.name, policy_arn="arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
)
ebs = ground.addon("aws-ebs-csi-driver", [core, ebs_right], service_account_role_arn=ebs_role.arn)
cluster = ground.provider([core, dns])


def on(*after):
    return pulumi.ResourceOptions(provider=cluster, depends_on=list(after))


TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
plugin = k8s.helm.v3.Release(
    "nvidia-device-plugin",
    chart="nvidia-device-plugin",
    version="0.17.4",
    namespace="kube-system",
    repository_opts={"repo": "https://nvidia.github.io/k8s-device-plugin"},
    values={"tolerations": [TOLERATION], "gfd": {"enabled": False}, "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "accelerator", "operator": "Exists"}]}
        ]}}
    }},
    opts=on(),
)  # fmt: skip
efa = k8s.helm.v3.Release(
    "efa",
    chart="aws-efa-k8s-device-plugin",
    version="0.5.14",
    namespace="kube-system",
    repository_opts={"repo": "https://aws.github.io/eks-charts"},
    values={"tolerations": [TOLERATION], "nodeSelector": {"accelerator": "a100"}},
    opts=on(),
)
volcano = k8s.helm.v3.Release(
    "volcano",
    chart="volcano",
    version="1.13.0",
    namespace="volcano-system",
    create_namespace=True,
    repository_opts={"repo": "https://volcano-sh.github.io/helm-charts"},
    opts=on(),
)
argo = k8s.helm.v3.Release(
    "argo",
    chart="argo-workflows",
    version="0.45.27",
    namespace="argo",
    create_namespace=True,
    repository_opts={"repo": "https://argoproj.github.io/argo-helm"},
    values={"controller": {"workflowNamespaces": ["research"]}, "server": {"authModes": ["client"]}},
    opts=on(),
)
fast = k8s.storage.v1.StorageClass(
    "fast",
    metadata={"name": "fast"},
    provisioner="ebs.csi.aws.com",
    parameters={"type": "gp3", "iops": "6000"},
    volume_binding_mode="WaitForFirstConsumer",
    allow_volume_expansion=True,
    opts=on(ebs),
)
research = k8s.core.v1.Namespace("research", metadata={"name": "research"}, opts=on())
queue = k8s.apiextensions.CustomResource(
    "research",
    api_version="scheduling.volcano.sh/v1beta1",
    kind="Queue",
    metadata={"name": "research"},
    spec={"weight": 3, "capability": {"nvidia.com/gpu": "32"}, "reclaimable": True},
    opts=on(volcano),
)
ON_A10 = {"accelerator": "a10g"}
rank = {
    "restartPolicy": "OnFailure",
    "nodeSelector": {"accelerator": "a100"},
    "tolerations": [TOLERATION],
    "containers": [
        {
            "name": "rank",
            "image": "nvcr.io/nvidia/pytorch:25.09-py3",
            "command": ["torchrun", "--nnodes=4", "train.py"],
            "resources": {
                "limits": {
                    "nvidia.com/gpu": "8",
                    "vpc.amazonaws.com/efa": "4",
                    "hugepages-2Mi": "5120Mi",
                    "memory": "1000Gi",
                    "cpu": "90",
                }
            },
            "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
        }
    ],
    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "200Gi"}}],
}
k8s.apiextensions.CustomResource(
    "pretrain",
    api_version="batch.volcano.sh/v1alpha1",
    kind="Job",
    metadata={"name": "pretrain", "namespace": research.metadata.name},
    spec={
        "minAvailable": 4,
        "schedulerName": "volcano",
        "queue": "research",
        "plugins": {"svc": [], "pytorch": ["--master=rank", "--worker=rank"]},
        "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
        "tasks": [{"replicas": 4, "name": "rank", "template": {"spec": rank}}],
    },
    opts=on(queue, plugin, efa, a100),
)
runner = k8s.core.v1.ServiceAccount(
    "workflow", metadata={"name": "workflow", "namespace": research.metadata.name}, opts=on()
)
role = k8s.rbac.v1.Role(
    "workflow",
    metadata={"name": "workflow", "namespace": research.metadata.name},
    rules=[
        {"api_groups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]},
        {
            "api_groups": ["batch.volcano.sh"],
            "resources": ["jobs"],
            "verbs": ["create", "get", "list", "watch", "delete"],
        },
    ],
    opts=on(),
)
k8s.rbac.v1.RoleBinding(
    "workflow",
    metadata={"name": "workflow", "namespace": research.metadata.name},
    role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": role.metadata.name},
    subjects=[{"kind": "ServiceAccount", "name": runner.metadata.name, "namespace": research.metadata.name}],
    opts=on(),
)
k8s.apiextensions.CustomResource(
    "nightly",
    api_version="argoproj.io/v1alpha1",
    kind="CronWorkflow",
    metadata={"name": "nightly", "namespace": research.metadata.name},
    spec={
        "schedules": ["0 2 * * *"],
        "workflowSpec": {
            "entrypoint": "main",
            "serviceAccountName": "workflow",
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "work"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "fast",
                        "resources": {"requests": {"storage": "200Gi"}},
                    },
                }
            ],
            "templates": [
                {"name": "main", "dag": {"tasks": [
                    {"name": "prepare", "template": "prepare"},
                    {"name": "evaluate", "template": "evaluate", "dependencies": ["prepare"]},
                ]}},
                {"name": "prepare", "container": {
                    "image": "registry.acme.example/prepare:3",
                    "resources": {"requests": {"cpu": "2", "memory": "8Gi"}},
                    "volumeMounts": [{"name": "work", "mountPath": "/work"}],
                }},
                {"name": "evaluate", "tolerations": [TOLERATION], "nodeSelector": ON_A10, "container": {
                    "image": "registry.acme.example/evaluate:3",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    "volumeMounts": [{"name": "work", "mountPath": "/work"}],
                }},
            ],
        },
    },
    opts=on(argo, fast),
)  # fmt: skip

# Serving: one model on one GPU, its weights on a disk of its own.
weights = k8s.core.v1.PersistentVolumeClaim(
    "weights",
    metadata={"name": "weights", "namespace": research.metadata.name},
    spec={
        "access_modes": ["ReadWriteOnce"],
        "storage_class_name": fast.metadata.name,
        "resources": {"requests": {"storage": "300Gi"}},
    },
    opts=pulumi.ResourceOptions(provider=cluster, custom_timeouts={"create": "5m"}),
)
labels = {"app.kubernetes.io/name": "serve"}
k8s.apps.v1.Deployment(
    "serve",
    metadata={"name": "serve", "namespace": research.metadata.name},
    spec={
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "security_context": {"fs_group": 1000, "run_as_user": 1000},
                "node_selector": ON_A10,
                "tolerations": [{"operator": "Exists"}],
                "containers": [
                    {
                        "name": "vllm",
                        "image": "vllm/vllm-openai:v0.11.0",
                        "args": ["--model", "/weights/model", "--port", "8000"],
                        "ports": [{"container_port": 8000}],
                        "resources": {"limits": {"nvidia.com/gpu": "1", "memory": "24Gi"}, "requests": {"cpu": "4"}},
                        "startup_probe": {
                            "http_get": {"path": "/health", "port": 8000},
                            "failure_threshold": 120,
                            "period_seconds": 10,
                        },
                        "volume_mounts": [{"name": "weights", "mount_path": "/weights"}],
                    }
                ],
                "volumes": [
                    {"name": "weights", "persistent_volume_claim": {"claim_name": weights.metadata.name}},
                ],
            },
        },
    },
    opts=on(a10, plugin),
)  # fmt: skip
k8s.core.v1.Service(
    "serve",
    metadata={"name": "serve", "namespace": research.metadata.name},
    spec={"selector": labels, "ports": [{"port": 80, "target_port": 8000}]},
    opts=on(),
)
bucket = aws.s3.Bucket("runs")
aws.s3.BucketPolicy(
    "runs",
    bucket=bucket.id,
    policy=bucket.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Deny",
                        "Principal": "*",
                        "Action": "s3:*",
                        "Resource": [arn, f"{arn}/*"],
                        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                    }
                ],
            }
        )
    ),
)
