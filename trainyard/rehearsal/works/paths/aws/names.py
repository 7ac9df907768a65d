"""Names that nodes and pods look up, and the DNS Firewall that answers some of them with nothing.

Rules are asked in the order of their priority, group by group, and the first whose list holds the name decides (Route
53 developer guide, "How Route 53 Resolver DNS Firewall works", 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.types import (
    DATABASE,
    DNS_FIREWALL_ASSOCIATION,
    DNS_FIREWALL_NAMES,
    DNS_FIREWALL_RULE,
    EKS_CLUSTER,
    LUSTRE,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.paths.aws.images import DOCKER_HUB
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup

_HOSTS_OF: Final = {
    DOCKER_HUB: ("registry-1.docker.io", "auth.docker.io"),
    "ghcr.io": ("ghcr.io", "pkg-containers.githubusercontent.com"),
}
"""Hosts that a registry's images are pulled from, where it is not the registry's own name alone (docs.docker.com,
"Allowlist for Docker"; docs.github.com, "About self-hosted runners": packages come from the second, 2026-11)."""

_ADDRESSES: Final = ("A",)
"""Types of questions that nodes ask for a host: networks of IPv4 alone ask nothing else (Route 53 API,
`FirewallRule.Qtype`: a rule without a type is for all)."""

_NAMED_OTHERWISE: Final = {"ecr.api": "api.ecr", "ecr.dkr": "dkr.ecr"}


def check(network: Network, groups: Sequence[NodeGroup], services: Sequence[str], registries: Sequence[str]) -> None:
    """Notes rules that keep a name from those who need it."""
    for vpc in {_vpc_of(network, group) for group in groups}:
        _resolvers(network, vpc)
        rules = _rules(network, vpc) if vpc else None
        if not rules:
            continue
        told: set[str] = set()
        for host, who in _needed(network, services, registries):
            rule = _deciding(network, rules, host)
            if rule is not None and rule.text("action") == "BLOCK" and rule.name not in told:
                told.add(rule.name)
                rule.error(
                    "paths-name-blocked",
                    "firewallDomainListId",
                    f"answers {host} with nothing, and {who} look it up",
                    allowed="a rule of a lower priority number that allows the name",
                )


def _resolvers(network: Network, vpc: str) -> None:
    """Hosts that ask resolvers of the internet alone: those do not know an endpoint's private name.

    The name of an EKS cluster is answered everywhere, by private addresses too, so that nodes may work all the same.

    A company's own resolvers may well send on to the network's (Amazon VPC User Guide, "DHCP option sets", 2026-11).
    """
    for bound in network.stack.of_type(_DHCP_BOUND):
        options = bound.referred("dhcpOptionsId", _DHCP)
        if options is None or not vpc or bound.text("vpcId") != vpc or options.blurred("domainNameServers"):
            continue
        servers = options.texts("domainNameServers")
        if servers and set(servers) <= _PUBLIC_RESOLVERS:
            options.warning(
                "paths-dns-of-vpc", "domainNameServers",
                f"are {', '.join(servers)}, resolvers of the internet: nodes find no endpoint of the network by its "
                "private name, and go by the way out, where there is one", allowed="AmazonProvidedDNS",
            )  # fmt: skip


_DHCP: Final = "aws:ec2/vpcDhcpOptions:VpcDhcpOptions"
_DHCP_BOUND: Final = "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation"
_PUBLIC_RESOLVERS: Final = frozenset(
    {"1.0.0.1", "1.1.1.1", "8.8.4.4", "8.8.8.8", "9.9.9.9", "149.112.112.112", "208.67.220.220", "208.67.222.222"}
)
"""Resolvers that everybody may ask (Cloudflare, Google, Quad9, OpenDNS; general knowledge)."""


def _vpc_of(network: Network, group: NodeGroup) -> str:
    return next((network.subnets[subnet].text("vpcId") or "" for subnet in group.subnets), "")


def _needed(network: Network, services: Sequence[str], registries: Sequence[str]) -> Iterator[tuple[str, str]]:
    region = network.stack.context.region
    if region and not region.startswith("cn-"):
        for service in services:
            yield f"{_NAMED_OTHERWISE.get(service, service)}.{region}.amazonaws.com", "nodes"
    for cluster in network.stack.of_type(EKS_CLUSTER):
        endpoint = cluster.resource.outputs.get("endpoint")
        if isinstance(endpoint, str):
            yield endpoint.removeprefix("https://"), f"nodes of {cluster.name}"
    for type_, key in ((DATABASE, "address"), (LUSTRE, "dnsName")):
        for view in network.stack.of_type(type_):
            host = view.resource.outputs.get(key)
            if isinstance(host, str):
                yield host, f"those who use {view.name}"
    for registry in registries:
        for host in _HOSTS_OF.get(registry, (registry,)):
            yield host, f"nodes that pull images of {registry}"


def _rules(network: Network, vpc: str) -> list[View] | None:
    """The rules in front of a VPC's resolver, in their order; None where that is not certain."""
    stack = network.stack
    ordered = []
    for association in stack.of_type(DNS_FIREWALL_ASSOCIATION):
        if association.text("vpcId") is None or association.text("firewallRuleGroupId") is None:
            return None
        if association.text("vpcId") == vpc:
            ordered.append((association.number("priority") or 0, association.text("firewallRuleGroupId")))
    found: list[View] = []
    for _, group in sorted(ordered, key=lambda item: item[0]):
        rules = [rule for rule in stack.of_type(DNS_FIREWALL_RULE) if rule.text("firewallRuleGroupId") == group]
        if any(rule.number("priority") is None for rule in rules):
            return None
        found += sorted(rules, key=lambda rule: rule.number("priority") or 0)
    return found


def _deciding(network: Network, rules: Sequence[View], host: str) -> View | None:
    """The first rule that holds a name; None where none does, or one before it may."""
    lists = {view.resource.id: view for view in network.stack.of_type(DNS_FIREWALL_NAMES)}
    for rule in rules:
        if rule.text("qType") not in (None, "", *_ADDRESSES) and not rule.is_unknown("qType"):
            continue  # a rule for questions of another type lets those for an address go on to the next
        named = lists.get(rule.text("firewallDomainListId"))
        if named is None or named.blurred("domains"):
            return None
        if any(_holds(domain, host) for domain in named.texts("domains")):
            return rule
    return None


def _holds(domain: str, host: str) -> bool:
    domain = domain.rstrip(".").lower()
    if domain.startswith("*"):
        return host.lower().endswith(domain[1:])
    return host.lower() == domain
