"""Virtual networks: subnets, gateways, routes, security groups, endpoints."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, Seconds, estimate, service_model

_ROUTING: Final = "part of a VPC, which is free"

CARDS: Final = (
    Card(
        "aws:ec2/vpc:Vpc",
        Seconds(
            22, "21s and 22s with DNS host names in DevopsArtFactory/terraform-provisioning#4 and #7", "2024-10-03"
        ),
        Priced("network.vpc"),
        taggable=True,
        stateful=False,
        id="vpc-{hex:.17}",
        outputs={
            "defaultSecurityGroupId": "sg-{digest:default.17}",
            "mainRouteTableId": "rtb-{digest:main.17}",
            "defaultRouteTableId": "rtb-{digest:main.17}",
            "defaultNetworkAclId": "acl-{digest:acl.17}",
        },
        model=service_model(
            "ec2.CreateVpc",
            names={"assignGeneratedIpv6CidrBlock": "AmazonProvidedIpv6CidrBlock"},
            undescribed="enableDnsHostnames enableDnsSupport enableNetworkAddressUsageMetrics",
        ),
    ),
    Card(
        "aws:ec2/subnet:Subnet",
        Seconds(4, "4s in turbot/steampipe-plugin-aws#693", "2021-09-01"),
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="subnet-{hex:.17}",
        model=service_model(
            "ec2.CreateSubnet",
            undescribed=(
                "assignIpv6AddressOnCreation customerOwnedIpv4Pool enableDns64 enableLniAtDeviceIndex "
                "enableResourceNameDnsARecordOnLaunch enableResourceNameDnsAaaaRecordOnLaunch "
                "mapCustomerOwnedIpOnLaunch mapPublicIpOnLaunch privateDnsHostnameTypeOnLaunch"
            ),
        ),
    ),
    Card(
        "aws:ec2/internetGateway:InternetGateway",
        Seconds(1, "1s in DevopsArtFactory/terraform-provisioning#7", "2024-10-03"),
        Priced("network.internet_gateway"),
        taggable=True,
        stateful=False,
        id="igw-{hex:.17}",
    ),
    Card(
        "aws:ec2/egressOnlyInternetGateway:EgressOnlyInternetGateway",
        API_CALL,
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="eigw-{hex:.17}",
    ),
    Card(
        "aws:ec2/natGateway:NatGateway",
        estimate(110, "about two minutes"),
        Priced("network.nat_gateway"),
        taggable=True,
        stateful=False,
        id="nat-{hex:.17}",
        model=service_model("ec2.CreateNatGateway", names={"privateIp": "PrivateIpAddress"}),
    ),
    Card(
        "aws:ec2/eip:Eip",
        Seconds(1, "1s in DevopsArtFactory/terraform-provisioning#7", "2024-10-03"),
        Priced("network.elastic_ip"),
        taggable=True,
        stateful=False,
        id="eipalloc-{hex:.17}",
        outputs={"publicIp": "203.0.113.{octet}", "allocationId": "{id}"},
        model=service_model("ec2.AllocateAddress", undescribed="associateWithPrivateIp instance networkInterface"),
    ),
    Card(
        "aws:ec2/route:Route",
        API_CALL,
        Free(_ROUTING),
        taggable=False,
        stateful=False,
        model=service_model("ec2.CreateRoute", names={"egressOnlyGatewayId": "EgressOnlyInternetGatewayId"}),
    ),
    Card(
        "aws:ec2/routeTable:RouteTable",
        Seconds(1, "1s in DevopsArtFactory/terraform-provisioning#7", "2024-10-03"),
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="rtb-{hex:.17}",
    ),
    Card(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        Seconds(1, "1s in terraform-aws-modules/terraform-aws-eks#2203", "2022-08-01"),
        Free(_ROUTING),
        taggable=False,
        stateful=False,
        id="rtbassoc-{hex:.17}",
    ),
    Card(
        "aws:ec2/defaultRouteTable:DefaultRouteTable",
        API_CALL,
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="rtb-{hex:.17}",
    ),
    Card(
        "aws:ec2/securityGroup:SecurityGroup",
        Seconds(2, "2s in DevopsArtFactory/terraform-provisioning#45", "2024-11-01"),
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="sg-{hex:.17}",
        model=service_model(
            "ec2.CreateSecurityGroup", names={"name": "GroupName"}, undescribed="egress ingress revokeRulesOnDelete"
        ),
        automatic_name=AutomaticName("name", 255, r"(?!sg-).+"),
    ),
    Card(
        "aws:ec2/securityGroupRule:SecurityGroupRule",
        API_CALL,
        Free(_ROUTING),
        taggable=False,
        stateful=False,
        id="sgrule-{hex:.17}",
    ),
    Card(
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        API_CALL,
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="sg-{hex:.17}",
    ),
    Card(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        estimate(1),
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="sgr-{hex:.17}",
        model=service_model(
            "ec2.AuthorizeSecurityGroupEgress.IpPermissions",
            names={
                "cidrIpv4": "IpRanges.CidrIp",
                "cidrIpv6": "Ipv6Ranges.CidrIpv6",
                "description": "IpRanges.Description",
                "referencedSecurityGroupId": "UserIdGroupPairs.GroupId",
            },
            undescribed="securityGroupId",
        ),
    ),
    Card(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        estimate(1),
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="sgr-{hex:.17}",
        model=service_model(
            "ec2.AuthorizeSecurityGroupIngress.IpPermissions",
            names={
                "cidrIpv4": "IpRanges.CidrIp",
                "cidrIpv6": "Ipv6Ranges.CidrIpv6",
                "description": "IpRanges.Description",
                "referencedSecurityGroupId": "UserIdGroupPairs.GroupId",
            },
            undescribed="securityGroupId",
        ),
    ),
    Card("aws:ec2/networkAcl:NetworkAcl", API_CALL, Free(_ROUTING), taggable=True, stateful=False, id="acl-{hex:.17}"),
    Card(
        "aws:ec2/defaultNetworkAcl:DefaultNetworkAcl",
        API_CALL,
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="acl-{hex:.17}",
    ),
    Card(
        "aws:ec2/networkInterface:NetworkInterface",
        API_CALL,
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="eni-{hex:.17}",
    ),
    Card(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        estimate(75, "interface endpoints; gateway endpoints take seconds"),
        Priced("network.endpoint"),
        taggable=True,
        stateful=False,
        id="vpce-{hex:.17}",
        model=service_model("ec2.CreateVpcEndpoint", undescribed="autoAccept"),
    ),
    Card(
        "aws:ec2/vpcDhcpOptions:VpcDhcpOptions",
        API_CALL,
        Free(_ROUTING),
        taggable=True,
        stateful=False,
        id="dopt-{hex:.17}",
    ),
    Card(
        "aws:ec2/flowLog:FlowLog",
        API_CALL,
        Priced("network.flow_log"),
        taggable=True,
        stateful=False,
        id="fl-{hex:.17}",
        model=service_model(
            "ec2.CreateFlowLogs",
            names={
                "eniId": "ResourceIds",
                "iamRoleArn": "DeliverLogsPermissionArn",
                "regionalNatGatewayId": "ResourceIds",
                "subnetId": "ResourceIds",
                "transitGatewayAttachmentId": "ResourceIds",
                "transitGatewayId": "ResourceIds",
                "vpcId": "ResourceIds",
            },
        ),
    ),
    Card("aws:lb/loadBalancer:LoadBalancer", API_CALL, Priced("network.load_balancer"), taggable=True, stateful=False),
)
