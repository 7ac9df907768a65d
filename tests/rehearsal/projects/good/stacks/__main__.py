"""A small environment with no mistake in it: what a rehearsal must pass without a word."""

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.eks as eks
import pulumi_aws.fsx as fsx
import pulumi_aws.iam as iam
import pulumi_aws.rds as rds
import pulumi_kubernetes as kubernetes
import pulumi_kubernetes.apps.v1 as apps
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.helm.v3 as helm
import pulumi_random as random
from parts import Storage  # beside this file: importable because the engine starts the program in its folder
from pulumi_aws import Provider, get_availability_zones, get_caller_identity_output
from pulumi_kubernetes.apiextensions import CustomResource

from trainyard.capture import publish

TRUST = """{"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}]}"""

config = pulumi.Config()
region = config.require("region")
publish({"region": region, "nodes": config.require_int("nodes")}, {"zones": config.require_object("zones")})

aws = Provider("aws", region=region, default_tags={"tags": {"client": "acme"}}, allowed_account_ids=["111122223333"])
on_aws = pulumi.ResourceOptions(provider=aws)
in_aws = pulumi.InvokeOptions(provider=aws)
zones = get_availability_zones(state="available", opts=in_aws).names
account = get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws)).account_id

vpc = ec2.Vpc("vpc", cidr_block="10.0.0.0/16", tags={"Name": "mini"}, opts=on_aws)
subnets = [
    ec2.Subnet(f"private-{zone}", vpc_id=vpc.id, cidr_block=f"10.0.{index}.0/24", availability_zone=zone, opts=on_aws)
    for index, zone in enumerate(zones[: len(config.require_object("zones"))])
]
role = iam.Role(
    "nodes",
    assume_role_policy=TRUST,
    tags={"account": account},
    opts=on_aws,
)
cluster = eks.Cluster(
    "cluster",
    role_arn=role.arn,
    version="1.35",
    vpc_config={"subnet_ids": [subnet.id for subnet in subnets], "endpoint_public_access": False},
    opts=on_aws,
)
template = ec2.LaunchTemplate("template", metadata_options={"http_tokens": "required"}, opts=on_aws)
nodes = eks.NodeGroup(
    "system",
    cluster_name=cluster.name,
    node_role_arn=role.arn,
    subnet_ids=[subnet.id for subnet in subnets],
    scaling_config=eks.NodeGroupScalingConfigArgs(min_size=0, max_size=config.require_int("nodes"), desired_size=1),
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    labels={"ml.platform/pool": "system", "snake_case": "free"},
    taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
    opts=pulumi.ResourceOptions(provider=aws, ignore_changes=["scalingConfig.desiredSize", "tagsAll"]),
)
storage = Storage("storage", pulumi.ResourceOptions(providers=[aws], protect=True))
lustre = fsx.LustreFileSystem(
    "lustre",
    subnet_ids=subnets[0].id,
    storage_capacity=1200,
    deployment_type="PERSISTENT_2",
    per_unit_storage_throughput=125,
    opts=on_aws,
)
database = rds.Instance(
    "database",
    instance_class="db.t4g.medium",
    allocated_storage=20,
    engine="postgres",
    username="mlflow",
    manage_master_user_password=True,
    final_snapshot_identifier="mini-final",
    opts=pulumi.ResourceOptions(provider=aws, custom_timeouts=pulumi.CustomTimeouts(create="1h30m")),
)
password = random.RandomPassword("password", length=24, opts=pulumi.ResourceOptions(provider=random.Provider("random")))

kubeconfig = pulumi.Output.json_dumps(
    {
        "clusters": [{"cluster": {"server": cluster.endpoint, "ca": cluster.certificate_authority.data}}],
        "group": cluster.vpc_config.cluster_security_group_id,
    }
)
on_kubernetes = pulumi.ResourceOptions(provider=kubernetes.Provider("kubernetes", kubeconfig=kubeconfig))
namespace = core.Namespace("team", metadata={"labels": {"ml.platform/team": "vision"}}, opts=on_kubernetes)
credentials = core.Secret(
    "credentials",
    metadata={"namespace": namespace.metadata["name"]},
    string_data={"token": config.require_secret("token"), "password": password.result},
    opts=on_kubernetes,
)
apps.Deployment(
    "server",
    metadata={"namespace": namespace.metadata["name"]},
    spec={
        "selector": {"matchLabels": {"app": "server"}},
        "template": {
            "metadata": {"labels": {"app": "server"}},
            "spec": {
                "containers": [
                    {
                        "name": "server",
                        "image": "registry.example/server:1",
                        "ports": [{"container_port": 8080}],
                        "readiness_probe": {"http_get": {"path": "/", "port": 8080}},
                        "env": [{"name": "MOUNT", "value": lustre.mount_name}],
                    }
                ]
            },
        },
    },
    opts=on_kubernetes,
)
helm.Release(
    "kueue",
    chart="kueue",
    version="0.19.2",
    namespace=namespace.metadata["name"],
    values={"controllerManager": {"replicas": 2}},
    opts=on_kubernetes,
)
CustomResource(
    "flavor",
    api_version="kueue.x-k8s.io/v1beta2",
    kind="ResourceFlavor",
    metadata={"name": "train"},
    spec={
        "nodeLabels": {"ml.platform/pool": "system"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}],
    },
    opts=on_kubernetes,
)

pulumi.export("group", nodes.resources[0].autoscaling_groups[0].name)
pulumi.export("secret", database.master_user_secrets[0].secret_arn)
pulumi.export("role", role.name)
pulumi.export("subnets", cluster.vpc_config.subnet_ids)
pulumi.export("config", cluster.vpc_config)
pulumi.export("bucket", storage.bucket.bucket)
pulumi.export("object", namespace.metadata["name"])
pulumi.export("password", password.result)
pulumi.export("limits", config.require_object("limits")["gpus"])
