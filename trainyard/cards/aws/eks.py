"""Kubernetes clusters with their node groups, add-ons and access."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, Seconds, estimate, service_model

_PART: Final = "comes with the cluster or the nodes that it belongs to"
CERTIFICATE: Final = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCnJlaGVhcnNhbAotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg=="
"""Base64 of a PEM frame without a certificate in it: decodes, and opens nothing."""

CARDS: Final = (
    Card(
        "aws:eks/accessEntry:AccessEntry",
        Seconds(1, "1s in DevopsArtFactory/terraform-provisioning#47", "2024-11-01"),
        Free(_PART),
        taggable=True,
        stateful=False,
        id="{input:clusterName|cluster}:{input:principalArn}",
        arn="access-entry/{input:clusterName|cluster}/role/{uuid}",
        model=service_model("eks.CreateAccessEntry"),
    ),
    Card(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        API_CALL,
        Free(_PART),
        taggable=False,
        stateful=False,
        model=service_model("eks.AssociateAccessPolicy"),
    ),
    Card(
        "aws:eks/addon:Addon",
        estimate(45, "with nodes at hand; without nodes it never ends"),
        Free("AWS's own add-ons are free; they run on the nodes"),
        taggable=True,
        stateful=False,
        id="{input:clusterName|cluster}:{input:addonName|{name}}",
        arn="addon/{input:clusterName|cluster}/{input:addonName|{name}}/{uuid}",
        model=service_model(
            "eks.CreateAddon",
            names={"resolveConflictsOnCreate": "resolveConflicts", "resolveConflictsOnUpdate": "resolveConflicts"},
            undescribed="preserve",
        ),
    ),
    Card(
        "aws:eks/cluster:Cluster",
        Seconds(
            583,
            "median of three logs: 8m33s (DevopsArtFactory/terraform-provisioning#46), 9m43s "
            "(terraform-aws-modules/terraform-aws-eks#2203), 10m06s "
            "(terraform-aws-modules/terraform-aws-eks#3218)",
            "2024-11-01",
        ),
        Priced("compute.control_plane"),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        arn="cluster/{cloud_name}",
        outputs={
            "endpoint": "https://{HEX:.32}.gr7.{region}.eks.{dns_suffix}",
            "certificateAuthority": {"data": CERTIFICATE},
            "certificateAuthorities": [{"data": CERTIFICATE}],
            "identities": [{"oidcs": [{"issuer": "https://oidc.eks.{region}.{dns_suffix}/id/{HEX:.32}"}]}],
            "vpcConfig": {"clusterSecurityGroupId": "sg-{digest:group.17}", "vpcId": "vpc-{digest:vpc.17}"},
            "platformVersion": "eks.1",
            "status": "ACTIVE",
        },
        model=service_model(
            "eks.CreateCluster",
            names={"vpcConfig": "resourcesVpcConfig", "enabledClusterLogTypes": "logging.clusterLogging.types"},
            undescribed=(
                "vpcConfig.clusterSecurityGroupId vpcConfig.vpcId defaultAddonsToRemoves "
                "forceUpdateVersion kubernetesNetworkConfig.serviceIpv6Cidr"
            ),
        ),
        automatic_name=AutomaticName("name", 100, r"[0-9A-Za-z][0-9A-Za-z_-]*"),
        key_input="encryptionConfig",
    ),
    Card(
        "aws:eks/nodeGroup:NodeGroup",
        Seconds(119, "1m48s and 1m59s in DevopsArtFactory/terraform-provisioning#46", "2024-11-01"),
        Priced("compute.node_group"),
        taggable=True,
        stateful=False,
        id="{input:clusterName|cluster}:{input:nodeGroupName|{name}}",
        arn="nodegroup/{input:clusterName|cluster}/{input:nodeGroupName|{name}}/{uuid}",
        outputs={
            "resources": [
                {
                    "autoscalingGroups": [{"name": "eks-{input:nodeGroupName|{name}}-{uuid}"}],
                    "remoteAccessSecurityGroupId": "",
                }
            ],
            "status": "ACTIVE",
        },
        outputs_with={
            "launchTemplate": {"launchTemplate": {"name": "{input:nodeGroupName|{name}}-template", "version": "1"}}
        },
        model=service_model(
            "eks.CreateNodegroup",
            names={
                "nodeRoleArn": "nodeRole",
                "subnetIds": "subnets",
                "remoteAccess.sourceSecurityGroupIds": "sourceSecurityGroups",
            },
            undescribed="forceUpdateVersion nodeGroupNamePrefix",
        ),
        automatic_name=AutomaticName("nodeGroupName", 63, r"[0-9A-Za-z][0-9A-Za-z_-]*"),
    ),
    Card(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        estimate(2),
        Free(_PART),
        taggable=True,
        stateful=False,
        id="a-{hex:.17}",
        arn="podidentityassociation/{input:clusterName|cluster}/{id}",
        model=service_model("eks.CreatePodIdentityAssociation"),
    ),
)
