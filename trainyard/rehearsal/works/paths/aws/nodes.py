"""Whether nodes get to what they must: the API of their cluster, and the services of AWS that they ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from ipaddress import ip_address, ip_network
from typing import Any, Final

from trainyard.catalog.tables import tree
from trainyard.recorded.model import bare
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    ADD_ON,
    CONFIG_MAP,
    EC2_INSTANCE,
    EKS_CLUSTER,
    HELM_RELEASE,
    INSTANCE_PROFILE,
    POD_IDENTITY_ASSOCIATION,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    SERVICE_ACCOUNT,
    VPC_CIDR,
)
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.paths.aws.endpoints import Endpoints
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network, Way
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup

ROLE_OF_ACCOUNT: Final = "eks.amazonaws.com/role-arn"
"""Annotation of a service account with the role that its token is changed for (EKS user guide, 2026-11)."""


def check(network: Network, endpoints: Endpoints, groups: list[NodeGroup], walls: Groups) -> None:
    """Notes node groups that stay cut off, and clusters whose API nobody there gets to."""
    _clusters(network)
    asked = asked_services(network.stack)
    for group in groups:
        _services_of(network, endpoints, group, asked)
        _api(network, group)
    _bastions(network, endpoints, walls)


def _bastions(network: Network, endpoints: Endpoints, walls: Groups) -> None:
    """An instance that Session Manager shall reach and that does not get to it is reached by nobody."""
    for view in network.stack.of_type(EC2_INSTANCE):
        subnet = view.text("subnetId") or ""
        profile = view.referred("iamInstanceProfile", INSTANCE_PROFILE)
        if profile is not None and view.text("metadataOptions.httpEndpoint") == "disabled":
            view.error(
                "paths-sessions-cut-off", "metadataOptions.httpEndpoint",
                f"is disabled, and it has profile {profile.name}: nothing on it gets the credentials of its role",
                allowed="enabled, with httpTokens required",
            )  # fmt: skip
        if view.resource.read or subnet not in network.subnets:
            continue
        if profile is None:
            _unreached(view, walls)
            continue
        if not _holds_sessions(network.stack, profile, "role"):
            continue
        way = network.internet(subnet, public=view.flag("associatePublicIpAddress") is not False)
        missing = [name for name in _OF_SESSIONS if not endpoints.serves(name, subnet)]
        if way.open is False and missing and not network.leads_elsewhere(subnet):
            view.error(
                "paths-sessions-cut-off",
                "subnetId",
                f"Session Manager does not reach it: it gets neither to the internet ({way.why}) nor to an endpoint of "
                f"{' and '.join(missing)}",
                allowed="a route to a NAT gateway, or VPC endpoints of these services",
            )
            continue
        own = walls.of(view, "vpcSecurityGroupIds")
        # A program that is told to it at its start may send the agent through a proxy in the network.
        told = any(view.has(key) for key in ("userData", "userDataBase64"))
        anything = told or not missing or network.leads_elsewhere(subnet) or walls.lets_nothing_out(own, _HTTPS)
        inside = () if anything else _blocks(network, subnet)
        if walls.lets_nothing_out(own, _HTTPS, but_to=inside):
            only = f" but to {' and '.join(inside)}, where no endpoint of {missing[0]} is" if inside else ""
            view.error(
                "paths-sessions-cut-off",
                "vpcSecurityGroupIds",
                "Session Manager does not reach it: its agent asks for sessions over HTTPS, and no security group of "
                f"it lets TCP 443 out{only}",
                allowed="an egress rule for TCP 443" + (" to everywhere, or endpoints in the VPC" if inside else ""),
            )


def _blocks(network: Network, subnet: str) -> tuple[str, ...]:
    """The addresses of a subnet's VPC, where it has no others; none where that is not known."""
    vpc = network.vpc_of(network.subnets[subnet])
    if vpc is None or vpc.resource.read or network.stack.of_type(VPC_CIDR):
        return ()
    block = vpc.text("cidrBlock") or ""
    try:
        Addresses.of(block)
    except ValueError:
        return ()
    return (block,)


def _unreached(view: View, walls: Groups) -> None:
    """An instance that nobody gets onto, and that is told nothing to do when it starts."""
    told = any(
        view.has(key) for key in ("userData", "userDataBase64", "keyName", "launchTemplate", "iamInstanceProfile")
    )
    if not told and walls.lets_nothing_in(walls.of(view, "vpcSecurityGroupIds")):
        view.warning(
            "paths-sessions-cut-off", "iamInstanceProfile",
            "is missing: nobody is let in to the instance, Session Manager does not know it, and it has nothing to do",
            allowed="a profile whose role may ask for sessions",
        )  # fmt: skip


_HTTPS: Final = Port(443)
_OF_SESSIONS: Final = ("ssm", "ssmmessages")
"""What the agent of Session Manager asks (Systems Manager user guide, "Improve the security of EC2 instances by using
VPC endpoints for Systems Manager", 2026-11: `ec2messages` no longer, since agent 3.3)."""

_MANAGED_SESSIONS: Final = "policy/AmazonSSMManagedInstanceCore"


def _holds_sessions(stack: Stack, view: View, path: str) -> bool:
    """Whether the role that something has lets its agent ask for sessions."""
    role = view.referred(path, ROLE)
    if role is None:
        return False
    return any(
        "ssmmessages:" in (policy.text("policy") or "") and policy.referred("role", ROLE) is role
        for policy in stack.of_type(ROLE_POLICY)
    ) or any(
        (attached.text("policyArn") or "").endswith(_MANAGED_SESSIONS) and attached.referred("role", ROLE) is role
        for attached in stack.of_type(ROLE_POLICY_ATTACHMENT)
    )


def asked_services(stack: Stack) -> list[Mapping[str, Any]]:
    """What nodes of a stack ask of AWS: entries of the table."""
    return [service for service in _services() if _asked(stack, service["when"])]


def _clusters(network: Network) -> None:
    """Nodes register with names of the VPC's resolver alone (EKS user guide, "Amazon EKS networking requirements")."""
    for cluster in network.stack.of_type(EKS_CLUSTER):
        vpcs = {
            vpc.resource.urn: vpc
            for subnet in cluster.texts("vpcConfig.subnetIds")
            if subnet in network.subnets and (vpc := network.vpc_of(network.subnets[subnet])) is not None
        }
        for vpc in vpcs.values():
            for path, standard in (("enableDnsSupport", True), ("enableDnsHostnames", False)):
                if vpc.is_unknown(path):
                    continue
                if (vpc.flag(path) if vpc.has(path) else standard) is False:
                    vpc.error(
                        "paths-dns-of-vpc",
                        path,
                        f"is off, and nodes of cluster {cluster.name} in this VPC cannot register without it",
                        allowed="true",
                    )


def _services_of(network: Network, endpoints: Endpoints, group: NodeGroup, asked: list[Mapping[str, Any]]) -> None:
    for subnet in group.subnets:
        way = network.internet(subnet, public=group.is_public(network, subnet))
        if way.open is not False or network.leads_elsewhere(subnet):
            continue
        missing = [service for service in asked if not endpoints.serves(service["name"], subnet)]
        if missing:
            names = ", ".join(service["name"] for service in missing)
            group.view.error(
                "paths-nodes-cut-off",
                "subnetIds",
                f"nodes in subnet {network.subnets[subnet].name} get neither to the internet ({way.why}) nor to an "
                f"endpoint of {names}: {missing[0]['why']}",
                allowed="a route to a NAT gateway, or VPC endpoints of these services",
            )
            return


def _api(network: Network, group: NodeGroup) -> None:
    """Nodes register with the API: by its private endpoint, else by the public one over the internet."""
    cluster = group.cluster
    if cluster is None or cluster.is_unknown("vpcConfig") or not cluster.has("vpcConfig"):
        return
    private, public = cluster.flag("vpcConfig.endpointPrivateAccess"), cluster.flag("vpcConfig.endpointPublicAccess")
    unknown = any(cluster.is_unknown(f"vpcConfig.{key}") for key in ("endpointPrivateAccess", "endpointPublicAccess"))
    if private or unknown or public is False:
        return
    for subnet in group.subnets:
        way: Way = network.internet(subnet, public=group.is_public(network, subnet))
        if way.open is False:
            group.view.error(
                "paths-api-cut-off",
                "subnetIds",
                f"the API of {cluster.name} has a public endpoint alone, and nodes in subnet "
                f"{network.subnets[subnet].name} do not get to the internet: {way.why}",
                allowed="endpointPrivateAccess of the cluster, or a route to a NAT gateway",
            )
            return
    admitted = cluster.texts("vpcConfig.publicAccessCidrs")
    if not admitted or "0.0.0.0/0" in admitted or cluster.blurred("vpcConfig.publicAccessCidrs"):
        return
    own = list(_own_addresses(network))
    if own and not _any_admitted(own, admitted):
        group.view.error(
            "paths-api-not-admitted",
            "clusterName",
            f"the API of {cluster.name} has a public endpoint alone that admits {', '.join(sorted(admitted)[:3])}: "
            "nodes come from the address of a NAT gateway, which is not among them",
            allowed="endpointPrivateAccess of the cluster, or the NAT gateways' addresses in publicAccessCidrs",
        )


def _own_addresses(network: Network) -> Iterator[str]:
    """Public addresses of the NAT gateways; none at all where one is not known."""
    found = []
    for nat in network.nats.values():
        address = nat.referred("allocationId", "aws:ec2/eip:Eip")
        text = address.resource.outputs.get("publicIp") if address and not address.resource.read else None
        if not isinstance(text, str) or (address is not None and address.has("publicIpv4Pool")):
            return
        found.append(text)
    yield from found


def _any_admitted(addresses: list[str], networks: list[str]) -> bool:
    try:
        return any(ip_address(one) in ip_network(network, strict=False) for one in addresses for network in networks)
    except ValueError:
        return True  # the check of values tells what is no block


def _asked(stack: Stack, when: str) -> bool:
    """Whether a stack asks a service on an occasion of the table."""
    if when == "pod identities":
        return bool(stack.of_type(POD_IDENTITY_ASSOCIATION))
    if when == "sessions":
        return any(_holds_sessions(stack, view, "nodeRoleArn") for view in stack.of_type(EKS_NODE_GROUP))
    if when == "roles of service accounts":
        return any(_has_role(view) for view in stack.of_type(SERVICE_ACCOUNT)) or any(
            view.has("serviceAccountRoleArn") for view in stack.of_type(ADD_ON)
        )
    if when in _SAID:
        type_, way, words = _SAID[when]
        return any(any(word in text for word in words) for view in stack.of_type(type_) for text in _texts(view, way))
    return when == "always" or _has_chart(stack, when)


_SAID: Final = {
    "alerts to a topic": (HELM_RELEASE, "values", ("sns_configs",)),
    "lines to CloudWatch": (CONFIG_MAP, "data", ("Name cloudwatch_logs",)),
    "secrets": (CONFIG_MAP, "data", ("get_secret_value(",)),
}
"""Occasions that a key or a line of a program tells: of what type, in which input, by which words (Alertmanager's and
Fluent Bit's configurations, boto3's call; 2026-11)."""


def _texts(view: View, path: str) -> Iterator[str]:
    """Every key and text below an input."""
    waiting = [bare(follow(view.resource.inputs, path))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += [*map(str, value), *value.values()]
        elif isinstance(value, list):
            waiting += value


def _has_role(account: View) -> bool:
    return ROLE_OF_ACCOUNT in account.mapping("metadata.annotations")


def _has_chart(stack: Stack, name: str) -> bool:
    return any((view.text("chart") or "").rpartition("/")[2] == name for view in stack.of_type(HELM_RELEASE))


@cache
def _services() -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = tree(files(__package__).joinpath("services.yaml"))["services"]
    return found
