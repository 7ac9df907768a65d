"""Cluster: what is closed, what is encrypted, and the order in which it is made."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pulumi
import pytest
from moto import mock_aws

from tests.components.aws.api_shape import KEY_ARN, REGION, api_shape, inputs_of, refusals
from tests.components.aws.recordings import (
    ATTACHMENT,
    NODE_GROUP,
    ROLE,
    TEMPLATE,
    create_roles,
    document,
    names,
    statements,
    waits_for,
)
from tests.pulumi_harness import ACCOUNT, Recording, plain, record
from trainyard import cards
from trainyard.components.aws.cluster import Cluster

CLUSTER = "aws:eks/cluster:Cluster"
ADD_ON = "aws:eks/addon:Addon"
ADD_ONS = (
    "vpc-cni",
    "kube-proxy",
    "eks-pod-identity-agent",
    "coredns",
    "metrics-server",
    "aws-ebs-csi-driver",
    "eks-node-monitoring-agent",
)
ADMINS = (f"arn:aws:iam::{ACCOUNT}:role/platform/admins", f"arn:aws:iam::{ACCOUNT}:user/admins")
TAGS = {"client": "acme", "managed-by": "trainyard"}
LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"]


def arguments(**changes: Any) -> Any:
    return {
        "cluster_name": "acme-production",
        "region": REGION,
        "account_id": ACCOUNT,
        "kubernetes_version": "1.35",
        "service_cidr": "172.20.0.0/16",
        "subnet_ids": ["subnet-0a", "subnet-0b"],
        "node_subnet_ids": ["subnet-0a", "subnet-0b"],
        "public_access_cidrs": [],
        "log_types": LOGS,
        "log_retention_days": 365,
        "key_arn": KEY_ARN,
        "admin_principal_arns": ADMINS,
        "add_ons": [{"name": name, "version": None} for name in ADD_ONS],
        "system_nodes": {
            "instance_types": ["m7i.xlarge", "m6i.xlarge"],
            "min_nodes": 2,
            "max_nodes": 5,
            "disk_gib": 80,
        },
        "cpu_pool": {"instance_types": ["m7i.2xlarge"], "min_nodes": 0, "max_nodes": 3, "disk_gib": 100},
        "tags": TAGS,
        "deletion_protection": True,
        **changes,
    }


def recorded(preview: bool = False, **changes: Any) -> Recording:
    return record(lambda: Cluster("eks", arguments(**changes)), preview=preview)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recorded()


def test_private_unless_networks_are_named(recording: Recording) -> None:
    private = inputs_of(recording.one(CLUSTER))["vpcConfig"]
    assert private["endpointPrivateAccess"] is True
    assert private["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in private
    public = inputs_of(recorded(public_access_cidrs=["198.51.100.0/24"]).one(CLUSTER))["vpcConfig"]
    assert public["endpointPrivateAccess"] is True
    assert public["endpointPublicAccess"] is True
    assert public["publicAccessCidrs"] == ["198.51.100.0/24"]


def test_control_plane(recording: Recording) -> None:
    cluster = inputs_of(recording.one(CLUSTER))
    assert cluster["name"] == "acme-production"
    assert cluster["version"] == "1.35"
    assert cluster["encryptionConfig"] == {"provider": {"keyArn": KEY_ARN}, "resources": ["secrets"]}
    assert cluster["enabledClusterLogTypes"] == LOGS
    assert cluster["accessConfig"] == {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}
    assert cluster["upgradePolicy"] == {"supportType": "STANDARD"}
    assert cluster["deletionProtection"] is True
    assert cluster["bootstrapSelfManagedAddons"] is False
    assert cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "172.20.0.0/16"
    assert inputs_of(recorded(deletion_protection=False).one(CLUSTER))["deletionProtection"] is False


def test_logs_go_to_a_group_that_is_there_first_and_encrypted(recording: Recording) -> None:
    group = recording.one("aws:cloudwatch/logGroup:LogGroup")
    assert inputs_of(group)["name"] == "/aws/eks/acme-production/cluster"
    assert inputs_of(group)["kmsKeyId"] == KEY_ARN
    assert inputs_of(group)["retentionInDays"] == 365
    assert group.urn in recording.one(CLUSTER).dependencies


def test_refused_requests_can_be_looked_up(recording: Recording) -> None:
    query = recording.one("aws:cloudwatch/queryDefinition:QueryDefinition")
    assert inputs_of(query)["name"] == "acme-production/refused requests"
    assert inputs_of(query)["logGroupNames"] == ["/aws/eks/acme-production/cluster"]
    assert "kube-apiserver-audit" in inputs_of(query)["queryString"]


def test_control_plane_waits_for_the_permissions_of_its_role(recording: Recording) -> None:
    before = waits_for(recording, recording.one(CLUSTER))
    assert "RolePolicyAttachment eks-control-AmazonEKSClusterPolicy" in before
    assert "RolePolicy eks-control-secrets" in before


def test_order_that_works_on_a_real_account(recording: Recording) -> None:
    for pool in ("eks-system", "eks-cpu"):
        group = waits_for(recording, recording.one(NODE_GROUP, pool))
        for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
            assert f"Addon eks-{name}" in group
    assert "PodIdentityAssociation eks-cni-aws-node" in waits_for(recording, recording.one(ADD_ON, "eks-vpc-cni"))
    assert "RolePolicyAttachment eks-cni-AmazonEKS_CNI_Policy" in group
    assert "RolePolicyAttachment eks-node-AmazonEKSWorkerNodePolicy" in group
    assert "RolePolicyAttachment eks-node-AmazonEC2ContainerRegistryPullOnly" in group
    for name in ("coredns", "metrics-server", "aws-ebs-csi-driver", "eks-node-monitoring-agent"):
        assert "NodeGroup eks-system" in waits_for(recording, recording.one(ADD_ON, f"eks-{name}"))


def test_what_other_node_groups_and_workloads_wait_for() -> None:
    made: list[Cluster] = []
    record(lambda: made.append(Cluster("eks", arguments())))
    further = {resource._name for resource in made[0].nodes_wait_for}
    assert {"eks-vpc-cni", "eks-kube-proxy", "eks-node-AmazonEKSWorkerNodePolicy"} <= further
    # GPU nodes start beside the system nodes.
    assert "eks-system" not in further
    ready = {resource._name for resource in made[0].ready}
    # Without an administrator's entry nothing is let in to make anything on the cluster.
    entries = {name for name in ready if name.startswith("eks-admin-")}
    assert len(entries) == len(ADMINS)
    assert ready - entries == {"eks-system", *(f"eks-{name}" for name in ADD_ONS)}


def test_network_plugin_enforces_policies_and_delegates_prefixes(recording: Recording) -> None:
    configuration = json.loads(inputs_of(recording.one(ADD_ON, "eks-vpc-cni"))["configurationValues"])
    assert configuration["enableNetworkPolicy"] == "true"
    assert configuration["env"]["ENABLE_PREFIX_DELEGATION"] == "true"
    assert "configurationValues" not in recording.one(ADD_ON, "eks-kube-proxy").inputs


def test_add_ons_take_the_version_that_is_given_or_the_clouds() -> None:
    add_ons = [{"name": name, "version": None} for name in ADD_ONS]
    add_ons[3]["version"] = "v1.12.4-eksbuild.1"
    recording = recorded(add_ons=add_ons)
    assert recording.one(ADD_ON, "eks-coredns").inputs["addonVersion"] == "v1.12.4-eksbuild.1"
    assert "addonVersion" not in recording.one(ADD_ON, "eks-vpc-cni").inputs
    for add_on in recording.of_type(ADD_ON):
        assert add_on.inputs["resolveConflictsOnCreate"] == "OVERWRITE"


def test_members_get_their_groups_and_no_right_of_ekss_own() -> None:
    member, admin = f"arn:aws:iam::{ACCOUNT}:role/vision", ADMINS[0]
    found = recorded(group_principal_arns={"team:vision": (member, admin), "team:speech": (member,)})
    entries = {
        entry.inputs["principalArn"]: entry.inputs.get("kubernetesGroups")
        for entry in found.of_type("aws:eks/accessEntry:AccessEntry")
    }
    assert entries == {admin: ["team:vision"], ADMINS[1]: None, member: ["team:speech", "team:vision"]}
    policies = found.of_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert {policy.inputs["principalArn"] for policy in policies} == set(ADMINS)


def test_administrators_by_name_however_alike(recording: Recording) -> None:
    entries = recording.of_type("aws:eks/accessEntry:AccessEntry")
    assert {entry.inputs["principalArn"] for entry in entries} == set(ADMINS)
    assert len(names(entries)) == 2
    associations = recording.of_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert {a.inputs["principalArn"] for a in associations} == set(ADMINS)
    for association in associations:
        assert association.inputs["policyArn"].endswith(":cluster-access-policy/AmazonEKSClusterAdminPolicy")
        assert association.inputs["accessScope"] == {"type": "cluster"}
        assert f"AccessEntry {association.name}" in waits_for(recording, association)
    fewer = recorded(admin_principal_arns=ADMINS[1:])
    assert names(fewer.of_type("aws:eks/accessEntry:AccessEntry")) < names(entries)


def test_whoever_deploys_administers_a_cluster_that_names_nobody() -> None:
    deployer = f"arn:aws:iam::{ACCOUNT}:role/deploy"
    found = recorded(admin_principal_arns=(), deployer_principal_arn=deployer)
    policy = found.one("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert (policy.name, policy.inputs["principalArn"]) == ("eks-deployer", deployer)
    assert policy.inputs["policyArn"].endswith("/AmazonEKSClusterAdminPolicy")
    # Where administrators are named, a second entry of one of them would be refused.
    named = recorded(deployer_principal_arn=ADMINS[0])
    assert len(named.of_type("aws:eks/accessEntry:AccessEntry")) == len(ADMINS)


def test_system_nodes(recording: Recording) -> None:
    group = recording.one(NODE_GROUP, "eks-system")
    inputs = inputs_of(group)
    assert inputs["amiType"] == "AL2023_x86_64_STANDARD"
    assert inputs["scalingConfig"] == {"desiredSize": 2, "maxSize": 5, "minSize": 2}
    assert group.ignore_changes == ("scalingConfig.desiredSize",)
    assert inputs["labels"] == {"ml.platform/pool": "system"}
    assert inputs["taints"] == [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NO_SCHEDULE"}]
    assert inputs["version"] == "1.35"
    assert inputs["nodeRepairConfig"]["enabled"] is True
    assert inputs["updateConfig"] == {"maxUnavailable": 1}
    assert inputs["instanceTypes"] == ["m7i.xlarge", "m6i.xlarge"]
    assert not {"diskSize", "remoteAccess"} & set(inputs)
    assert told_the_autoscaler(recording, "eks-system").keys() == DISCOVERY


DISCOVERY = {"k8s.io/cluster-autoscaler/enabled", "k8s.io/cluster-autoscaler/acme-production"}


def told_the_autoscaler(recording: Recording, group: str) -> dict[str, str]:
    tags = [tag.inputs["tag"] for tag in recording.of_type("aws:autoscaling/tag:Tag") if tag.name.startswith(group)]
    return {tag["key"]: tag["value"] for tag in tags}


def test_the_cpu_pool_starts_from_none_and_is_open(recording: Recording) -> None:
    inputs = inputs_of(recording.one(NODE_GROUP, "eks-cpu"))
    assert inputs["scalingConfig"] == {"desiredSize": 0, "maxSize": 3, "minSize": 0}
    assert inputs["labels"] == {"ml.platform/pool": "cpu"}
    assert "taints" not in inputs
    template = "k8s.io/cluster-autoscaler/node-template"
    told = told_the_autoscaler(recording, "eks-cpu")
    assert told.keys() - DISCOVERY == {f"{template}/label/ml.platform/pool", f"{template}/resources/ephemeral-storage"}
    assert told[f"{template}/label/ml.platform/pool"] == "cpu"
    assert told[f"{template}/resources/ephemeral-storage"] == "90Gi"


def test_a_cluster_may_do_without_a_cpu_pool() -> None:
    without = {key: value for key, value in arguments().items() if key != "cpu_pool"}
    found = record(lambda: Cluster("eks", without)).of_type(NODE_GROUP)
    assert [group.name for group in found] == ["eks-system"]


@pytest.mark.parametrize("add_on", ["coredns", "aws-ebs-csi-driver", "metrics-server"])
def test_add_ons_that_run_once_run_on_the_system_nodes(add_on: str) -> None:
    recording = recorded(add_ons=[{"name": name, "version": None} for name in {*ADD_ONS, add_on}])
    inputs = inputs_of(recording.one("aws:eks/addon:Addon", f"eks-{add_on}"))
    values = json.loads(inputs["configurationValues"])
    pods = values["controller"] if add_on == "aws-ebs-csi-driver" else values
    assert pods["nodeSelector"] == {"ml.platform/pool": "system"}
    assert pods["tolerations"] == [
        {"key": "CriticalAddonsOnly", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize(("pool", "gib"), [("system", 80), ("cpu", 100)])
def test_nodes_without_gpus_start_closed_and_encrypted(recording: Recording, pool: str, gib: int) -> None:
    template = inputs_of(recording.one(TEMPLATE, f"eks-{pool}-template"))
    assert template["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }
    ebs = template["blockDeviceMappings"][0]["ebs"]
    assert (ebs["encrypted"], ebs["kmsKeyId"], ebs["volumeType"], ebs["volumeSize"]) == ("true", KEY_ARN, "gp3", gib)
    group = recording.one(CLUSTER).outputs["vpcConfig"]["clusterSecurityGroupId"]
    assert template["vpcSecurityGroupIds"] == [group]
    assert "imageId" not in template
    for specification in template["tagSpecifications"]:
        assert TAGS.items() <= specification["tags"].items()
    assert {s["resourceType"] for s in template["tagSpecifications"]} == {"instance", "volume", "network-interface"}


def test_the_network_plugins_permissions_are_not_the_nodes(recording: Recording) -> None:
    assert create_roles(recording) == {
        "eks-control": {"AmazonEKSClusterPolicy", "eks-control-secrets"},
        "eks-node": {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"},
        "eks-cni": {"AmazonEKS_CNI_Policy"},
        "eks-ebs": {"AmazonEBSCSIDriverPolicy", "eks-ebs-policy"},
    }
    trust = {
        role.name: document(role, "assumeRolePolicy")["Statement"][0]["Principal"]["Service"]
        for role in recording.of_type(ROLE)
    }
    assert trust == {
        "eks-control": "eks.amazonaws.com",
        "eks-node": "ec2.amazonaws.com",
        "eks-cni": "pods.eks.amazonaws.com",
        "eks-ebs": "pods.eks.amazonaws.com",
    }


def test_services_assume_roles_and_do_nothing_else(recording: Recording) -> None:
    for name in ("eks-control", "eks-node"):
        (statement,) = document(recording.one(ROLE, name), "assumeRolePolicy")["Statement"]
        assert statement["Action"] == "sts:AssumeRole"


def test_policies_name_the_key(recording: Recording) -> None:
    for statement in statements(recording):
        assert statement["Resource"] == [KEY_ARN]
        if "kms:CreateGrant" in statement["Action"]:
            assert statement["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}


def test_no_role_for_a_driver_that_is_not_installed() -> None:
    without = recorded(add_ons=[{"name": name} for name in ADD_ONS if name != "aws-ebs-csi-driver"])
    assert "eks-ebs" not in names(without.of_type(ROLE))
    assert not any("EBSCSI" in a.inputs["policyArn"] for a in without.of_type(ATTACHMENT))


def test_kubeconfig_holds_no_credentials() -> None:
    kubeconfigs: list[dict[str, Any]] = []

    def program() -> None:
        cluster = Cluster("eks", arguments())
        pulumi.export("kubeconfig", cluster.kubeconfig.apply(lambda text: kubeconfigs.append(json.loads(text))))

    record(program)
    (kubeconfig,) = kubeconfigs
    user = kubeconfig["users"][0]["user"]
    assert set(user) == {"exec"}
    assert user["exec"]["command"] == "aws"
    assert user["exec"]["args"] == ["eks", "get-token", "--cluster-name", "acme-production", "--region", REGION]
    server = kubeconfig["clusters"][0]["cluster"]
    assert server["server"].startswith("https://")
    authority = cards.of("aws:eks/cluster:Cluster").outputs["certificateAuthority"]
    assert server["certificate-authority-data"] == authority["data"]
    assert kubeconfig["current-context"] == kubeconfig["contexts"][0]["name"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"add_ons": [{"name": "coredns"}]}, "vpc-cni, kube-proxy, eks-pod-identity-agent missing"),
        ({"add_ons": [{"name": name} for name in (*ADD_ONS, "coredns")]}, "coredns named twice"),
        (
            {"system_nodes": {"instance_types": ["m7i.large"], "min_nodes": 0, "max_nodes": 3, "disk_gib": 80}},
            "0 to 3 nodes; the minimum is 1",
        ),
        (
            {"system_nodes": {"instance_types": ["m7i.large"], "min_nodes": 4, "max_nodes": 3, "disk_gib": 80}},
            "4 to 3 nodes",
        ),
        (
            {"cpu_pool": {"instance_types": ["m7i.large"], "min_nodes": 0, "max_nodes": 0, "disk_gib": 80}},
            "cpu_pool: 0 to 0 nodes",
        ),
        (
            {"cpu_pool": {"instance_types": ["m7i.large"], "min_nodes": 4, "max_nodes": 3, "disk_gib": 80}},
            "cpu_pool: 4 to 3 nodes",
        ),
    ],
)
def test_what_would_never_run_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recorded(**changes)


def test_long_names_are_refused_before_iam_does() -> None:
    with pytest.raises(ValueError, match=r"role '.*-control': 58 characters"):
        record(lambda: Cluster("e" * 50, arguments()))


def test_first_preview_registers_the_same_resources_and_no_urn_twice(recording: Recording) -> None:
    unknown = recorded(preview=True)
    assert {(r.type, r.name) for r in recording.resources} == {(r.type, r.name) for r in unknown.resources}
    assert len({(r.type, r.name) for r in recording.resources}) == len(recording.resources)


def test_amazons_models_accept_cluster_and_add_ons(recording: Recording) -> None:
    cluster = inputs_of(recording.one(CLUSTER))
    vpc = cluster["vpcConfig"]
    request = {
        "name": cluster["name"],
        "version": cluster["version"],
        "roleArn": cluster["roleArn"],
        "resourcesVpcConfig": {
            "subnetIds": vpc["subnetIds"],
            "endpointPrivateAccess": vpc["endpointPrivateAccess"],
            "endpointPublicAccess": vpc["endpointPublicAccess"],
        },
        "kubernetesNetworkConfig": cluster["kubernetesNetworkConfig"],
        "accessConfig": cluster["accessConfig"],
        "encryptionConfig": [cluster["encryptionConfig"]],
        "logging": {"clusterLogging": [{"types": cluster["enabledClusterLogTypes"], "enabled": True}]},
        "upgradePolicy": cluster["upgradePolicy"],
        "deletionProtection": cluster["deletionProtection"],
        "bootstrapSelfManagedAddons": cluster["bootstrapSelfManagedAddons"],
    }
    assert refusals("eks", "CreateCluster", request) == []
    for add_on in recording.of_type(ADD_ON):
        inputs = inputs_of(add_on)
        call: dict[str, Any] = {
            key: inputs[key] for key in ("clusterName", "addonName", "configurationValues") if key in inputs
        }
        assert refusals("eks", "CreateAddon", {**call, "resolveConflicts": inputs["resolveConflictsOnCreate"]}) == []


@pytest.mark.parametrize("pool", ["eks-system", "eks-cpu"])
def test_ec2_and_eks_take_the_nodes_without_gpus(recording: Recording, pool: str) -> None:
    template = api_shape(plain(inputs_of(recording.one(TEMPLATE, f"{pool}-template"))))
    with mock_aws():
        ec2 = boto3.client("ec2", region_name=REGION)
        data = {
            "SecurityGroupIds": template["VpcSecurityGroupIds"],
            "MetadataOptions": template["MetadataOptions"],
            "Monitoring": template["Monitoring"],
        }
        launch_template = ec2.create_launch_template(LaunchTemplateName="system", LaunchTemplateData=data)
        template_id = launch_template["LaunchTemplate"]["LaunchTemplateId"]
        eks = boto3.client("eks", region_name=REGION)
        role = f"arn:aws:iam::{ACCOUNT}:role/node"
        eks.create_cluster(
            name="acme-production", roleArn=role, resourcesVpcConfig={"subnetIds": ["subnet-0a", "subnet-0b"]}
        )
        group = inputs_of(recording.one(NODE_GROUP, pool))
        eks.create_nodegroup(
            clusterName=group["clusterName"],
            nodegroupName=recording.one(NODE_GROUP, pool).name,
            nodeRole=role,
            subnets=group["subnetIds"],
            scalingConfig=group["scalingConfig"],
            amiType=group["amiType"],
            capacityType=group["capacityType"],
            instanceTypes=group["instanceTypes"],
            labels=group["labels"],
            launchTemplate={"id": template_id, "version": "1"},
        )
        made = eks.describe_nodegroup(clusterName="acme-production", nodegroupName=pool)["nodegroup"]
    assert made["status"] == "ACTIVE"
    assert made["labels"] == {"ml.platform/pool": pool.removeprefix("eks-")}


@pytest.mark.parametrize("preview", [True, False])
def test_the_control_planes_role_is_taken_for_this_cluster_alone(preview: bool) -> None:
    role = next(role for role in recorded(preview=preview).of_type(ROLE) if role.name.endswith("-control"))
    [statement] = document(role, "assumeRolePolicy")["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": ACCOUNT},
        "ArnLike": {"aws:SourceArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/acme-production"},
    }
