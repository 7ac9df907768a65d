"""Machines and what starts them: launch templates, reservations, placement; functions and studios."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, estimate, service_model

CARDS: Final = (
    Card(
        "aws:ec2/launchTemplate:LaunchTemplate",
        estimate(6),
        Free("a description; the nodes that start from it are billed with their node group"),
        taggable=True,
        stateful=False,
        id="lt-{hex:.17}",
        outputs={"latestVersion": 1, "defaultVersion": 1},
        model=service_model(
            "ec2.CreateLaunchTemplate.LaunchTemplateData",
            "ec2.CreateLaunchTemplate",
            names={
                "name": "LaunchTemplateName",
                "description": "VersionDescription",
                "networkInterfaces.ipv4AddressCount": "SecondaryPrivateIpAddressCount",
                "networkInterfaces.ipv4Addresses": "PrivateIpAddresses.PrivateIpAddress",
                "networkInterfaces.securityGroups": "Groups",
                "securityGroupNames": "SecurityGroups",
                "vpcSecurityGroupIds": "SecurityGroupIds",
            },
            undescribed="defaultVersion updateDefaultVersion",
        ),
        automatic_name=AutomaticName("name", 128, r"[A-Za-z0-9()./_-]+"),
        key_input="blockDeviceMappings",
    ),
    Card(
        "aws:ec2/placementGroup:PlacementGroup",
        estimate(11),
        Free("placement groups are free"),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        model=service_model("ec2.CreatePlacementGroup", names={"name": "GroupName"}),
        automatic_name=AutomaticName("name", 255, r"[ -~]+"),
    ),
    Card(
        "aws:ec2/capacityBlockReservation:CapacityBlockReservation",
        API_CALL,
        None,
        taggable=True,
        stateful=False,
        id="cr-{hex:.17}",
        model=service_model("ec2.PurchaseCapacityBlock"),
    ),
    Card(
        "aws:ec2/capacityReservation:CapacityReservation",
        API_CALL,
        Priced("compute.capacity_reservation"),
        taggable=True,
        stateful=False,
        id="cr-{hex:.17}",
        model=service_model("ec2.CreateCapacityReservation"),
    ),
    Card(
        "aws:ec2/instance:Instance",
        API_CALL,
        Priced("compute.instance"),
        taggable=True,
        stateful=False,
        id="i-{hex:.17}",
    ),
    Card("aws:autoscaling/group:Group", API_CALL, None, taggable=True, stateful=False, id="{cloud_name}"),
    Card(
        "aws:autoscaling/tag:Tag",
        API_CALL,
        Free("a tag"),
        taggable=False,
        stateful=False,
        model=service_model(
            "autoscaling.CreateOrUpdateTags", names={"autoscalingGroupName": "Tags.ResourceId", "tag": "Tags"}
        ),
    ),
    Card("aws:ec2/tag:Tag", API_CALL, Free("a tag"), taggable=False, stateful=False),
    Card("aws:lambda/function:Function", API_CALL, None, taggable=True, stateful=False, arn="function:{cloud_name}"),
    Card(
        "aws:sagemaker/domain:Domain",
        API_CALL,
        None,
        taggable=True,
        stateful=False,
        id="d-{hex:.17}",
        model=service_model("sagemaker.CreateDomain", undescribed="retentionPolicy"),
        key_input="kmsKeyId",
    ),
)
