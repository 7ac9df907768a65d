"""Whether a network that somebody else made is what the stack file says of it, and enough for what is put in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.account.aws import Account, RefusedError, tags_in
from trainyard.account.marks import marks_of
from trainyard.plan.aws.existing_network import CONTROL_ADDRESSES, OTHER_SERVICES
from trainyard.plan.aws.network import ADDRESSES_PER_NODE, most_nodes
from trainyard.plan.aws.parts import ExistingNetworkPlan, NetworkPlan
from trainyard.plan.profiles import profile
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of
from trainyard.settings.existing_network import KEY

NAME: Final = "network"
_line = lines_of(NAME)

BALANCERS: Final = "kubernetes.io/role/internal-elb"
"""Tag of the subnets that an internal load balancer is put in (EKS user guide, "Amazon EKS networking requirements for
VPC and subnets", 2026-11)."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A subnet as the plan has it."""

    key: str  # of the settings
    id: str
    zone: str
    cidr: str
    kind: str  # nodes, controlPlane, services
    addresses: int  # that are put in it at most


def check(subject: AwsSubject, account: Account) -> Lines:
    """VPC, subnets, routes and endpoints of an existing network; one that the stack makes is not asked about."""
    network = subject.plan.ground.network
    existing = network.existing
    if existing is None:
        yield _line("VPC", Answer.FINE, "the stack makes its own")
        return
    try:
        found = account.call("ec2", "describe_vpcs", VpcIds=[existing.vpc_id])["Vpcs"]
    except RefusedError as error:
        if not error.is_absence:
            raise
        found = []
    if not found:
        told = f"there is no VPC {existing.vpc_id} in {account.region} of this account"
        yield _line(existing.vpc_id, Answer.FAILS, told, f"correct {KEY}.vpcId, or the account's credentials")
        return
    yield from _vpc(network, existing, found[0], account)
    filters = [{"Name": "vpc-id", "Values": [existing.vpc_id]}]
    endpoints = list(account.each("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters))
    marks = marks_of(subject.plan.core.tags)
    theirs = [each for each in endpoints if not marks.items() <= tags_in(each).items()]
    yield from _endpoints(network, existing, theirs, account)
    tables = list(account.each("ec2", "describe_route_tables", "RouteTables", Filters=filters))
    subnets = {each["SubnetId"]: each for each in account.each("ec2", "describe_subnets", "Subnets", Filters=filters)}
    for wanted in _wanted(subject, existing):
        yield from _subnet(wanted, existing, subnets.get(wanted.id), tables, stands=len(theirs) < len(endpoints))
    yield from _unknown_tables(existing, tables)


def _vpc(network: NetworkPlan, existing: ExistingNetworkPlan, vpc: Mapping[str, Any], account: Account) -> Lines:
    blocks = [
        each["CidrBlock"]
        for each in vpc.get("CidrBlockAssociationSet", ())
        if each.get("CidrBlockState", {}).get("State", "associated") == "associated"
    ]
    wrong = [cidr for cidr in network.cidrs if cidr not in {vpc["CidrBlock"], *blocks}]
    if vpc["CidrBlock"] != network.cidr:
        told = (
            f"its primary block is {vpc['CidrBlock']}, and network.cidr is {network.cidr}: its name server is elsewhere"
        )
        yield _line(existing.vpc_id, Answer.FAILS, told, f"set network.cidr to {vpc['CidrBlock']}")
    elif wrong:
        told = f"it has no block {', '.join(wrong)}, but {', '.join(blocks)}"
        yield _line(existing.vpc_id, Answer.FAILS, told, f"correct {KEY}.secondaryCidrs")
    else:
        yield _line(existing.vpc_id, Answer.FINE, f"the VPC is there, with {', '.join(network.cidrs)}")
    for attribute in ("enableDnsSupport", "enableDnsHostnames"):
        answer = account.call("ec2", "describe_vpc_attribute", VpcId=existing.vpc_id, Attribute=attribute)
        if not answer[f"{attribute[:1].upper()}{attribute[1:]}"]["Value"]:
            told = f"{attribute} is off: nodes do not register, and endpoints have no names"
            switch = "enable-dns-support" if attribute == "enableDnsSupport" else "enable-dns-hostnames"
            command = f"aws ec2 modify-vpc-attribute --vpc-id {existing.vpc_id} --{switch} --region {account.region}"
            yield _line(attribute, Answer.FAILS, told, "its owner switches it on", command)


def _endpoints(
    network: NetworkPlan, existing: ExistingNetworkPlan, theirs: list[Mapping[str, Any]], account: Account
) -> Lines:
    """A name of a service leads to one endpoint: a second one is refused, and one that is not there is missed."""
    prefix = f"com.amazonaws.{account.region}."
    there: dict[str, list[Mapping[str, Any]]] = {}
    for each in theirs:
        if each["ServiceName"].startswith(prefix):
            there.setdefault(each["ServiceName"].removeprefix(prefix), []).append(each)
    for service in (*network.gateway_endpoints, *network.interface_endpoints):
        found = [each for each in there.get(service, ()) if _clashes(each, service, existing)]
        if found:
            told = f"{found[0]['VpcEndpointId']} is there already, and a second one of the name is refused"
            yield _line(f"endpoint {service}", Answer.FAILS, told, f"add {service} to {KEY}.endpoints")
    for service in existing.endpoints:
        states = {str(each.get("State", "")).lower() for each in there.get(service, ())}
        if not states:
            told, remedy = "the VPC has none, and the stack makes none", f"take {service} out of {KEY}.endpoints"
            yield _line(f"endpoint {service}", Answer.FAILS, told, remedy)
        elif "available" not in states:
            told = f"it is {', '.join(sorted(states))}, and answers nobody"
            yield _line(f"endpoint {service}", Answer.FAILS, told, "its owner accepts or mends it")
        else:
            yield _line(f"endpoint {service}", Answer.FINE, "it is there, with its owner's policy")


def _clashes(endpoint: Mapping[str, Any], service: str, existing: ExistingNetworkPlan) -> bool:
    if endpoint.get("VpcEndpointType", "Gateway") == "Gateway":
        return service == "s3" and bool(set(endpoint.get("RouteTableIds", ())) & set(existing.route_tables))
    return bool(endpoint.get("PrivateDnsEnabled"))


def _wanted(subject: AwsSubject, existing: ExistingNetworkPlan) -> Iterator[_Wanted]:
    plan = subject.plan
    network, core = plan.ground.network, plan.core
    each = int(profile(core.profile).figure(ADDRESSES_PER_NODE).value) if plan.clusters else 0
    pools = [pool for cluster in plan.clusters for pool in cluster.pools]
    without = [nodes for cluster in plan.clusters for nodes in (cluster.system_nodes, cluster.cpu_pool) if nodes]
    for zone, ids in zip(network.zones, existing.subnets, strict=True):
        key = f"{KEY}.zones.{zone.name}"
        endpoints = len(network.interface_endpoints) if zone.name in network.endpoint_zones else 0
        yield _Wanted(
            f"{key}.nodes", ids.private, zone.name, zone.private_cidr, "nodes",
            most_nodes(zone.name, pools, without) * each,
        )  # fmt: skip
        yield _Wanted(
            f"{key}.controlPlane", ids.control, zone.name, zone.control_cidr, "controlPlane",
            CONTROL_ADDRESSES if plan.clusters else 0,
        )  # fmt: skip
        yield _Wanted(
            f"{key}.services", ids.isolated, zone.name, zone.isolated_cidr, "services", endpoints + OTHER_SERVICES
        )


def _subnet(
    wanted: _Wanted,
    existing: ExistingNetworkPlan,
    found: Mapping[str, Any] | None,
    tables: list[Mapping[str, Any]],
    *,
    stands: bool,
) -> Lines:
    if found is None:
        told = f"{wanted.key}: VPC {existing.vpc_id} has no such subnet"
        yield _line(wanted.id, Answer.FAILS, told, f"correct {wanted.key}.id")
        return
    wrong = [
        f"{key} is {found[name]} and not {value}"
        for key, name, value in (("its zone", "AvailabilityZone", wanted.zone), ("its block", "CidrBlock", wanted.cidr))
        if found[name] != value
    ]
    if wrong:
        yield _line(wanted.id, Answer.FAILS, f"{wanted.key}: {', '.join(wrong)}", f"correct {wanted.key}")
        return
    lines = [*_room(wanted, found, stands=stands)]
    if wanted.kind == "nodes":
        lines += [*_way_out(wanted, existing, tables), *_tags(wanted, found)]
    yield from lines or [_line(wanted.id, Answer.FINE, f"{wanted.kind} of {wanted.zone}: {wanted.cidr}")]


def _room(wanted: _Wanted, found: Mapping[str, Any], *, stands: bool) -> Lines:
    free = int(found["AvailableIpAddressCount"])
    if free < wanted.addresses:
        told = f"{wanted.key}: {free} addresses are free, and {wanted.addresses} are taken at most"
        if stands:  # what is taken already may be the stack's own
            yield _line(
                wanted.id, Answer.UNKNOWN, f"{told}, those of what stands among them", "look who has the others"
            )
        else:
            yield _line(wanted.id, Answer.FAILS, told, "name a subnet with more, or take fewer maxNodes")


def _way_out(wanted: _Wanted, existing: ExistingNetworkPlan, tables: list[Mapping[str, Any]]) -> Lines:
    """The default route of the nodes' subnet is the one that the stack file says."""
    table = _table_of(wanted.id, tables)
    if table is None:
        return
    name = table["RouteTableId"]
    if existing.route_tables and name not in existing.route_tables:
        told = f"its table {name} is not among {KEY}.routeTables: S3's endpoint has no route there"
        yield _line(wanted.id, Answer.FAILS, told, f"add {name} to {KEY}.routeTables")
    default = next((each for each in table["Routes"] if each.get("DestinationCidrBlock") == "0.0.0.0/0"), None)
    target = _target(default) if default else "none"
    if default and default.get("State") == "blackhole":
        told = f"the default route of {name} leads to what is gone"
        yield _line(wanted.id, Answer.FAILS, told, "its owner mends the route")
    elif target == "internet-gateway":
        told = f"the default route of {name} leads to an internet gateway, and nodes have no public address"
        yield _line(wanted.id, Answer.FAILS, told, "name a private subnet, with a NAT gateway or a transit gateway")
    elif target == "another":
        told = f"the default route of {name} leads to something else than a NAT or transit gateway: whether it leads on"
        yield _line(wanted.id, Answer.UNKNOWN, f"{told} is not known", "ask its owner")
    elif target != existing.way_out:
        told = f"{KEY}.wayOut is {existing.way_out}, and the default route of {name} is of {target}"
        yield _line(wanted.id, Answer.FAILS, told, f"correct {KEY}.wayOut, or its owner the route")


def _table_of(subnet: str, tables: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The table of a subnet: the one that it is associated with, else the main one of the VPC."""
    main = None
    for table in tables:
        for association in table.get("Associations", ()):
            if association.get("SubnetId") == subnet:
                return table
            main = table if association.get("Main") else main
    return main


def _target(route: Mapping[str, Any]) -> str:
    if route.get("NatGatewayId"):
        return "nat"
    if route.get("TransitGatewayId"):
        return "transit-gateway"
    return "internet-gateway" if str(route.get("GatewayId", "")).startswith("igw-") else "another"


def _tags(wanted: _Wanted, found: Mapping[str, Any]) -> Iterator[Line]:
    if BALANCERS not in tags_in(found):
        told = (
            f"{wanted.key} has no tag {BALANCERS}: nothing of the environment needs it, an internal load balancer would"
        )
        command = f"aws ec2 create-tags --resources {wanted.id} --tags Key={BALANCERS},Value=1"
        yield _line(wanted.id, Answer.UNKNOWN, told, "its owner sets it, if Services shall have one", command)


def _unknown_tables(existing: ExistingNetworkPlan, tables: list[Mapping[str, Any]]) -> Lines:
    known = {table["RouteTableId"] for table in tables}
    for name in existing.route_tables:
        if name not in known:
            told = f"VPC {existing.vpc_id} has no such route table"
            yield _line(name, Answer.FAILS, told, f"correct {KEY}.routeTables")
