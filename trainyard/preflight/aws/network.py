"""Whether the stack's addresses clash with networks of the account, or with those that shall reach its cluster."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_network
from typing import Any, Final

from trainyard.account.aws import Account, tags_in
from trainyard.account.marks import marks_of
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "addresses"
_line = lines_of(NAME)


def check(subject: AwsSubject, account: Account) -> Lines:
    """The VPC and the services' range, against who shall reach the API, then against every VPC of the region."""
    plan = subject.plan.ground.network
    own = {"Kubernetes services": IPv4Network(plan.service_cidr)}
    if plan.existing is None:  # of one that is there, its owner has chosen
        own = {"the VPC": IPv4Network(plan.cidr), **own}
    for control_plane in subject.plan.ground.control_planes:
        for text in control_plane.access.networks:
            for what, cidr in own.items():
                if _overlap(cidr, text):
                    told = f"{what} ({cidr}) overlaps {text}, which shall reach the API: no answer finds its way back"
                    yield _line(
                        text, Answer.FAILS, told, "choose another network.cidr; name this one in network.reservedCidrs"
                    )
    marks = marks_of(subject.plan.core.tags)
    there = plan.existing.vpc_id if plan.existing else None
    others = [
        each
        for each in account.each("ec2", "describe_vpcs", "Vpcs")
        if each["VpcId"] != there and not marks.items() <= tags_in(each).items()
    ]
    joined = _joined(account)
    clashes = 0
    for vpc in others:
        for text in _cidrs(vpc):
            for what, cidr in own.items():
                if not _overlap(cidr, text):
                    continue
                clashes += 1
                how = joined.get(vpc["VpcId"])
                told = f"{what} ({cidr}) overlaps {text} of {_name(vpc)}"
                if how is None:
                    told += ", which is joined to nothing now: the two can never be"
                    yield _line(
                        vpc["VpcId"], Answer.UNKNOWN, told, "choose another network.cidr where they shall be joined"
                    )
                else:
                    told += (
                        f", which {how} joins to others: once this VPC is joined there too, it cannot be told from it"
                    )
                    yield _line(
                        vpc["VpcId"], Answer.UNKNOWN, told, "choose another network.cidr before anything is made"
                    )
    if not clashes:
        ours = " and ".join(str(cidr) for cidr in own.values())
        verb = "overlaps" if len(own) == 1 else "overlap"
        yield _line("VPCs", Answer.FINE, f"{ours} {verb} none of {len(others)} VPCs there")


def _overlap(cidr: IPv4Network, text: str) -> bool:
    other = ip_network(text, strict=False)
    return isinstance(other, IPv4Network) and cidr.overlaps(other)


def _cidrs(vpc: dict[str, Any]) -> list[str]:
    found = [each["CidrBlock"] for each in vpc.get("CidrBlockAssociationSet", ()) if "CidrBlock" in each]
    return list(dict.fromkeys([vpc["CidrBlock"], *found]))


def _name(vpc: dict[str, Any]) -> str:
    name = tags_in(vpc).get("Name")
    return f"{vpc['VpcId']} ({name})" if name else str(vpc["VpcId"])


def _joined(account: Account) -> dict[str, str]:
    """By VPC, what joins it to other networks: a peering, or a transit gateway."""
    found: dict[str, str] = {}
    for peering in account.each("ec2", "describe_vpc_peering_connections", "VpcPeeringConnections"):
        if peering.get("Status", {}).get("Code") == "active":
            for side in ("AccepterVpcInfo", "RequesterVpcInfo"):
                found[peering[side]["VpcId"]] = f"peering {peering['VpcPeeringConnectionId']}"
    for each in account.each("ec2", "describe_transit_gateway_vpc_attachments", "TransitGatewayVpcAttachments"):
        if each.get("State") == "available":
            found[each["VpcId"]] = f"transit gateway {each['TransitGatewayId']}"
    return found
