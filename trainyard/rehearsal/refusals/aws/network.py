"""VPC, subnets, endpoints, flow logs and security groups.

Sources: VPC user guide as generally known; overlaps and subnets outside the VPC are refused by moto too (2026-11-21).
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from trainyard.catalog import region as region_of
from trainyard.catalog import regions
from trainyard.problems import nearest
from trainyard.recorded.types import (
    NETWORK_ACL,
    NETWORK_ACL_RULE,
    ROUTE_TABLE,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SUBNET,
    VPC,
    VPC_CIDR,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")


def _network(view: View) -> ipaddress.IPv4Network | None:
    """The IPv4 network of a VPC or subnet, or None where it is unknown or malformed."""
    text = view.text("cidrBlock")
    try:
        return ipaddress.IPv4Network(text) if text else None
    except ValueError:
        return None


def subnet(view: View) -> None:
    """Inside its VPC, apart from the VPC's other subnets, in a zone of the region."""
    own = _network(view)
    vpc = view.referred("vpcId", VPC)
    outer = _network(vpc) if vpc and _has_one_block(vpc) else None
    if own is not None and outer is not None and vpc is not None and not own.subnet_of(outer):
        view.error("subnet-outside-vpc", "cidrBlock", f"{own} lies outside VPC {vpc.name}", allowed=f"inside {outer}")
    if own is not None and vpc is not None:
        for other in view.stack.of_type(SUBNET):
            if other is view:
                break
            theirs = _network(other)
            if theirs is not None and theirs.overlaps(own) and other.referred("vpcId", VPC) is vpc:
                view.error(
                    "subnet-overlap",
                    "cidrBlock",
                    f"{own} overlaps {theirs} of subnet {other.name}",
                    allowed="blocks that do not overlap",
                )
    _zone(view, "availabilityZone")


def _has_one_block(vpc: View) -> bool:
    """Whether a VPC has no further blocks for sure: somebody else's may have, which the program only looks up."""
    return not vpc.resource.read and not any(
        other.referred("vpcId", VPC) in (vpc, None) for other in vpc.stack.of_type(VPC_CIDR)
    )


_OF_SOME_ACCOUNTS: Final = frozenset({"ap-northeast-1b", "us-west-1c"})
"""Zones that some accounts have and others do not: which letters a region's zones go by is each account's own."""


def _zone(view: View, path: str) -> None:
    zone, region = view.text(path), view.region
    if zone is None or not region:
        return
    known = tuple(item.name for item in region_of(region).zones) if region in regions() else ()
    standard = re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d[a-z]", zone) is not None
    if not zone.startswith(region) or (standard and known and zone not in known and zone not in _OF_SOME_ACCOUNTS):
        view.error(
            "zone-region",
            path,
            f"{show(zone)} is no zone of {region}",
            allowed=f"one of {', '.join(known) or region + 'a, …'}",
        )


def zone_of_region(view: View) -> None:
    """The resource's zone is one of the stack's region."""
    for path in ("availabilityZone", "availabilityZoneName"):
        _zone(view, path)


_PLACES: Final = {"cloud-watch-logs": "logs", "s3": "s3", "kinesis-data-firehose": "firehose"}
"""The service of each kind of place that a flow log writes to (EC2 API, `CreateFlowLogs`, 2026-11)."""


def flow_log(view: View) -> None:
    """A flow log watches one thing, writes to a place of the kind that it says, and has a role for CloudWatch alone."""
    keys = ("vpcId", "subnetId", "eniId", "transitGatewayId", "transitGatewayAttachmentId", "regionalNatGatewayId")
    given = [key for key in keys if view.has(key)]
    if len(given) != 1:
        view.error("flow-log-target", "vpcId", f"{len(given)} of {', '.join(keys)} given", allowed="exactly one")
    kind = view.text("logDestinationType")
    if kind in (None, "cloud-watch-logs") and view.lacks("iamRoleArn") and not view.is_unknown("logDestinationType"):
        view.error("flow-log-role", "iamRoleArn", "is missing", allowed="a role that may write to CloudWatch Logs")
    if kind == "s3" and view.has("iamRoleArn"):
        view.error("flow-log-role", "iamRoleArn", "given for a bucket", allowed="the bucket's own policy")
    place = re.match(r"arn:aws[\w-]*:([a-z0-9-]+):", view.text("logDestination") or "")
    if place and not view.is_unknown("logDestinationType") and _PLACES.get(kind or "cloud-watch-logs", "") != place[1]:
        view.error("flow-log-place", "logDestination", f"is of {place[1]}, and logDestinationType is {show(kind)}",
                   allowed="a place of that kind")  # fmt: skip
    if view.lacks("trafficType") and not any(key.startswith("transit") for key in given):
        view.error("flow-log-traffic", "trafficType", "is missing", allowed="one of ACCEPT, REJECT, ALL")


def route(view: View) -> None:
    """A route has one destination and one target."""
    targets = (
        "carrierGatewayId",
        "coreNetworkArn",
        "egressOnlyGatewayId",
        "gatewayId",
        "localGatewayId",
        "natGatewayId",
        "networkInterfaceId",
        "odbNetworkArn",
        "transitGatewayId",
        "vpcEndpointId",
        "vpcPeeringConnectionId",
    )
    given = [key for key in targets if view.has(key)]
    if len(given) != 1:
        view.error(
            "route-target",
            given[1] if given else "gatewayId",
            f"{len(given)} targets given",
            allowed="exactly one target",
        )


def endpoint(view: View) -> None:
    """Gateway endpoints have route tables, interface endpoints have subnets; the service is of this region."""
    kind = view.text("vpcEndpointType") or ("" if view.is_unknown("vpcEndpointType") else "Gateway")
    service = view.text("serviceName")
    short = service.rpartition(".")[2] if service else ""
    if kind == "Gateway":
        for key in ("subnetIds", "securityGroupIds", "privateDnsEnabled"):
            if view.has(key) and view.value(key) is not False:
                view.error(
                    "endpoint-kind", key, "given for a Gateway endpoint", allowed="routeTableIds, or type Interface"
                )
        if short and short not in ("s3", "dynamodb", "s3express"):
            view.error("endpoint-kind", "vpcEndpointType", f"{service} has no Gateway endpoint", allowed="Interface")
    elif kind == "Interface" and view.has("routeTableIds"):
        view.error(
            "endpoint-kind", "routeTableIds", "given for an Interface endpoint", allowed="subnetIds, or type Gateway"
        )
    if kind in ("Interface", "GatewayLoadBalancer"):
        _one_subnet_a_zone(view)
    region = view.region
    short = short.removesuffix("-fips")
    if service is not None and service.count(".") == 3 and (meant := _OTHERWISE.get(short)):
        view.error(
            "endpoint-service", "serviceName", f"there is no endpoint service {service}",
            allowed=" and ".join(f"com.amazonaws.{service.split('.')[2]}.{name}" for name in meant),
        )  # fmt: skip
    elif service is not None and short not in _SERVICES and service.count(".") == 3:
        hint = nearest(short, _SERVICES, cutoff=0.85)
        if hint:
            view.warning("endpoint-service", "serviceName", f"{service} is no service that is known here", hint=hint)
    foreign = service is not None and not service.startswith(
        (f"com.amazonaws.{region}.", "com.amazonaws.s3-global.", "com.amazonaws.vpce.", "cn.com.", "aws.")
    )
    if foreign and region and view.lacks("serviceRegion"):
        view.error(
            "endpoint-service", "serviceName", f"got {show(service)}", allowed=f"com.amazonaws.{region}.<service>"
        )


_SERVICES: Final = (
    "airflow", "application-autoscaling", "athena", "autoscaling", "backup", "batch", "bedrock", "bedrock-agent",
    "bedrock-agent-runtime", "bedrock-agentcore", "bedrock-agentcore-gateway", "bedrock-runtime",
    "cloudtrail-data", "codedeploy", "guardduty", "redshift-data",
    "cloudformation", "cloudtrail", "codeartifact", "codebuild", "codecommit", "codepipeline", "config", "datasync",
    "dms", "dynamodb", "ebs", "ec2", "ec2messages", "ecs", "ecs-agent", "ecs-telemetry", "eks", "eks-auth",
    "elasticache", "elasticfilesystem", "elasticloadbalancing", "elasticmapreduce", "email-smtp", "emr-containers",
    "events", "execute-api", "fsx", "git-codecommit", "glue", "grafana", "guardduty-data", "imagebuilder", "inspector2",
    "kafka", "kinesis-firehose", "kinesis-streams", "kms", "lambda", "logs", "monitoring", "notebook",
    "pricing", "rds", "rds-data", "redshift", "s3", "s3express", "scheduler", "secretsmanager", "securityhub",
    "servicecatalog", "servicequotas", "sns", "sqs", "ssm", "ssm-contacts", "ssmmessages", "states", "storagegateway",
    "sts", "studio", "sync-states", "synthetics", "tagging", "transfer", "xray",
)  # fmt: skip
"""Services with an endpoint of their own in a network, as generally known: what nearly is one of these is told."""


_OTHERWISE: Final = {
    **dict.fromkeys(("security-token", "securitytoken", "security-token-service"), ("sts",)),
    **dict.fromkeys(("ecr", "ecr-api", "ecr-dkr", "container-registry"), ("ecr.api", "ecr.dkr")),
    **dict.fromkeys(("sagemaker", "sagemaker-api", "sagemaker-runtime"), ("sagemaker.api", "sagemaker.runtime")),
    **dict.fromkeys(("cloudwatch", "cloud-watch"), ("monitoring",)),
    **dict.fromkeys(("cloudwatchlogs", "cloudwatch-logs", "cwlogs"), ("logs",)),
    **dict.fromkeys(("efs", "elastic-file-system", "elastic-filesystem"), ("elasticfilesystem",)),
    **dict.fromkeys(("elb", "elbv2", "elastic-load-balancing"), ("elasticloadbalancing",)),
    **dict.fromkeys(("asg", "auto-scaling"), ("autoscaling",)),
    **dict.fromkeys(("secrets-manager", "secretmanager"), ("secretsmanager",)),
    **dict.fromkeys(("eventbridge", "cloudwatch-events"), ("events",)),
    **dict.fromkeys(("stepfunctions", "step-functions", "sfn"), ("states",)),
    **dict.fromkeys(("amp", "prometheus"), ("aps-workspaces",)),
    **dict.fromkeys(("eks-pod-identity", "pod-identity", "eksauth"), ("eks-auth",)),
    **dict.fromkeys(("ssm-messages",), ("ssmmessages",)),
    **dict.fromkeys(("ec2-messages",), ("ec2messages",)),
    "emr": ("elasticmapreduce",), "msk": ("kafka",), "firehose": ("kinesis-firehose",), "kinesis": ("kinesis-streams",),
    "systemsmanager": ("ssm",), "cfn": ("cloudformation",), "resourcegroupstaggingapi": ("tagging",),
}  # fmt: skip
"""What services are called elsewhere, in an SDK, a console or a policy, and how their endpoints in a network are (AWS
PrivateLink guide, "AWS services that integrate with AWS PrivateLink", 2026-11)."""


def _one_subnet_a_zone(view: View) -> None:
    seen: dict[str, str] = {}
    for index, _ in enumerate(view.entries("subnetIds")):
        subnet = view.referred(f"subnetIds[{index}]", SUBNET)
        zone = subnet.text("availabilityZone") if subnet else None
        if subnet is None or zone is None:
            continue
        if zone in seen:
            view.error(
                "endpoint-zone", f"subnetIds[{index}]", f"{subnet.name} lies in {zone}, as {seen[zone]} does",
                allowed="one subnet a zone",
            )  # fmt: skip
        seen.setdefault(zone, subnet.name)


_DESTINATIONS = ("destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")


def route_destination(view: View) -> None:
    """A route leads to one destination, to which its table has no other route, nor its VPC the local one."""
    given = [key for key in _DESTINATIONS if view.has(key)]
    if len(given) != 1:
        view.error(
            "route-destination", given[1] if given else _DESTINATIONS[0], f"{len(given)} destinations given",
            allowed="exactly one",
        )  # fmt: skip
        return
    path, table = given[0], view.referred("routeTableId", ROUTE_TABLE)
    where = view.text(path)
    for other in view.stack.of_type(view.type) if table is not None and where is not None else ():
        if other is view:
            break
        if other.text(path) == where and other.referred("routeTableId", ROUTE_TABLE) is table:
            view.error(
                "route-destination", path, f"{other.name} leads from this table to {where} already",
                allowed="one route a destination",
            )  # fmt: skip


def gateway(view: View) -> None:
    """A public NAT gateway has an address of its own, a private one has none."""
    kind = None if view.is_unknown("connectivityType") else view.text("connectivityType") or "public"
    regional = view.text("availabilityMode") == "regional" or view.is_unknown("availabilityMode")
    if kind == "public" and view.lacks("allocationId") and not regional:
        view.error("nat-address", "allocationId", "is missing", allowed="the allocation of an Elastic IP")
    if kind == "private" and view.has("allocationId"):
        view.error("nat-address", "allocationId", "given for a private gateway", allowed="connectivityType public")


_DESCRIPTION = re.compile(r"[a-zA-Z0-9. _\-:/()#,@\[\]+=&;{}!$*]{0,255}")


def description(view: View) -> None:
    """A security group and its rules are described in characters that EC2 takes."""
    text = view.text("description")
    if text is not None and not _DESCRIPTION.fullmatch(text):
        view.error(
            "security-group-description", "description", f"got {show(text)}",
            allowed="at most 255 of letters, digits, blanks and ._-:/()#,@[]+=&;{}!$*",
        )  # fmt: skip


def security_group_rule(view: View) -> None:
    """Exactly one source or destination, ports where the protocol has them and nowhere else."""
    given = [key for key in _SOURCES if view.has(key)]
    if len(given) != 1:
        view.error(
            "security-group-source",
            given[1] if given else _SOURCES[0],
            f"{len(given)} of {', '.join(_SOURCES)} given",
            allowed="exactly one",
        )
    _ports(view, "", "ipProtocol")


def inline_rules(view: View) -> None:
    """Checks the ports of rules that are written into the group."""
    for side in ("ingress", "egress"):
        for path, _ in view.items(side):
            _ports(view, f"{path}.", "protocol")


def _ports(view: View, prefix: str, key: str) -> None:
    protocol = view.value(f"{prefix}{key}")
    if protocol is None:
        return
    name = str(protocol).lower()
    if name not in ("-1", "all", "tcp", "udp", "icmp", "icmpv6") and not name.isdigit():
        view.error(
            "security-group-protocol",
            f"{prefix}{key}",
            f"got {show(protocol)}",
            allowed="tcp, udp, icmp, icmpv6, a protocol number, or -1 for all",
        )
        return
    start, end = view.number(f"{prefix}fromPort"), view.number(f"{prefix}toPort")
    if name in ("tcp", "udp", "6", "17"):
        for port in ("fromPort", "toPort"):
            if view.lacks(f"{prefix}{port}"):
                view.error(
                    "security-group-port", f"{prefix}{port}", f"is missing for protocol {name}", allowed="both ports"
                )
        if start is not None and end is not None and start > end:
            view.error(
                "security-group-port",
                f"{prefix}fromPort",
                f"{start:g} is above toPort {end:g}",
                allowed="fromPort <= toPort",
            )
    elif name in ("-1", "all") and prefix == "" and (view.has("fromPort") or view.has("toPort")):
        view.warning(
            "security-group-port",
            "fromPort",
            "ports with protocol -1 show as a difference for ever",
            allowed="no ports",
        )


def access_list(view: View) -> None:
    """Rules of a network's access list: numbers that EC2 takes, each once a direction, ports in their order."""
    one = view.type == NETWORK_ACL_RULE
    for side in ("",) if one else ("ingress", "egress"):
        seen: set[float] = set()
        for path in [""] if one else [path for path, _ in view.items(side)]:
            dot = f"{path}." if path else ""
            key = f"{dot}{'ruleNumber' if one else 'ruleNo'}"
            number = view.number(key)
            if number is not None and not 1 <= number <= 32766:
                view.error("acl-rule", key, f"got {number:g}", allowed="1 to 32766")
            if number is not None and number in seen:
                view.error("acl-rule", key, f"{number:g} is given twice", allowed="each once a direction")
            seen.add(number or 0)
            start, end = view.number(f"{dot}fromPort"), view.number(f"{dot}toPort")
            if start is not None and end is not None and start > end:
                view.error("acl-rule", f"{dot}fromPort", f"{start:g} is above toPort {end:g}", allowed="at most it")
            action = view.text(f"{dot}{'ruleAction' if one else 'action'}")
            if action is not None and action.lower() not in ("allow", "deny"):
                view.error("acl-rule", f"{dot}{'ruleAction' if one else 'action'}", f"got {show(action)}",
                           allowed="allow or deny")  # fmt: skip
            protocol = str(view.value(f"{dot}protocol") or "").lower()
            portless = view.lacks(f"{dot}fromPort") or view.lacks(f"{dot}toPort")
            if protocol in ("tcp", "udp", "6", "17") and portless:
                view.error("acl-rule", f"{dot}fromPort", f"is missing for protocol {protocol}", allowed="both ports")


RULES: Final[Rules] = {
    access_list: (NETWORK_ACL, "aws:ec2/defaultNetworkAcl:DefaultNetworkAcl", NETWORK_ACL_RULE),
    subnet: (SUBNET,),
    zone_of_region: (
        "aws:ec2/capacityReservation:CapacityReservation",
        "aws:rds/instance:Instance",
        "aws:efs/fileSystem:FileSystem",
    ),
    flow_log: ("aws:ec2/flowLog:FlowLog",),
    route: ("aws:ec2/route:Route",),
    route_destination: ("aws:ec2/route:Route",),
    gateway: ("aws:ec2/natGateway:NatGateway",),
    description: (SECURITY_GROUP_INGRESS_RULE, SECURITY_GROUP_EGRESS_RULE, "aws:ec2/securityGroup:SecurityGroup"),
    endpoint: ("aws:ec2/vpcEndpoint:VpcEndpoint",),
    security_group_rule: (SECURITY_GROUP_INGRESS_RULE, SECURITY_GROUP_EGRESS_RULE),
    inline_rules: ("aws:ec2/securityGroup:SecurityGroup",),
}
