"""Network ACLs: what a subnet lets in and out (VPC user guide, "Control subnet traffic with network access control
lists", 2026-11).

- Rules are asked in the order of their numbers, and the first that holds the packet decides; what none holds is denied.
- Answers are packets as others are: they go back to a port that the asking side chose, and need a rule of their own.
- What stays in a subnet meets none.

A subnet that no recorded list is for has its VPC's own, which lets everything by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnreadableInput, as_number, is_on, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NETWORK_ACL, NETWORK_ACL_RULE, SUBNET
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.model import Flow, Judgement, Port

NETWORK_ACL_ASSOCIATION: Final = "aws:ec2/networkAclAssociation:NetworkAclAssociation"
DEFAULT_NETWORK_ACL: Final = "aws:ec2/defaultNetworkAcl:DefaultNetworkAcl"

ANSWERED_ON: Final = (32768, 60999)
"""First and last port that Linux chooses for a connection that it opens (kernel documentation, ip_local_port_range)."""

ANSWERED_TO_NAT: Final = (1024, 65535)
"""First and last port that a NAT gateway chooses (VPC user guide, "NAT gateway basics", 2026-11)."""

_PROTOCOLS: Final = {"6": "TCP", "17": "UDP", "-1": "", "ALL": ""}


@dataclass(frozen=True, slots=True)
class AclRule:
    """One numbered rule."""

    number: float
    allows: bool
    transport: str  # "TCP"; empty: every protocol
    first: int
    last: int
    addresses: Addresses

    def holds(self, port: int, transport: str) -> bool:
        """Whether it is about packets to a port."""
        return self.transport in ("", transport) and self.first <= port <= self.last


@dataclass(frozen=True, slots=True)
class NetworkAcls:
    """All recorded lists: a wall."""

    by_subnet: Mapping[str, RecordedResource]  # the list of a subnet, by the subnet's id
    rules: Mapping[tuple[str, bool], tuple[AclRule, ...]]  # by URN of the list, and whether they are of egress
    blocks: Mapping[str, Addresses]  # of subnets

    @classmethod
    def recorded(cls, resources: Resources) -> NetworkAcls:
        """Reads those that are known; one that is not known whole is passed over, and lets everything by."""
        by_subnet: dict[str, RecordedResource] = {}
        rules: dict[tuple[str, bool], tuple[AclRule, ...]] = {}
        for acl in resources.of(NETWORK_ACL, DEFAULT_NETWORK_ACL):
            try:
                found = {
                    egress: tuple(sorted(_rules(resources, acl, egress=egress), key=_number))
                    for egress in (True, False)
                }
                subnets = list(_subnets(resources, acl))
            except (UnreadableInput, ValueError):
                continue
            for egress, listed in found.items():
                rules[acl.urn, egress] = listed
            by_subnet.update((subnet, acl) for subnet in subnets)
        return cls(by_subnet, rules, dict(_blocks(resources)))

    def judge(self, flow: Flow) -> Judgement | None:
        """What is left of a flow between subnets, there and back; None where no list stands between them."""
        starts = [subnet for subnet in flow.source.subnets if subnet in self.blocks]
        ends = [subnet for subnet in flow.destination.subnets if subnet in self.blocks]
        if not any(subnet in self.by_subnet for subnet in (*starts, *ends)) or not starts or not ends:
            return None
        if len(starts) < len(flow.source.subnets) or len(ends) < len(flow.destination.subnets):
            return None
        shut = {(start, end): acl for start in starts for end in ends if (acl := self.between(start, end, flow.port))}
        if not shut:
            return None
        by = tuple({acl.urn: acl for acl in shut.values()}.values())
        names = ", ".join(acl.name for acl in by)
        open_from = [start for start in starts if any((start, end) not in shut for end in ends)]
        open_to = [end for end in ends if all((start, end) not in shut for start in open_from)]
        left = flow.narrowed(
            from_addresses=Addresses.union(self.blocks[subnet] for subnet in open_from),
            to_addresses=Addresses.union(self.blocks[subnet] for subnet in open_to),
        )
        words = f"network ACL {names} does not let {flow.port} by, or not the answers"
        return Judgement(left, words, by)

    def ports(self) -> Iterable[int]:
        """The first and last port of every rule."""
        return {port for rules in self.rules.values() for rule in rules for port in (rule.first, rule.last)}

    def between(self, start: str, end: str, port: Port) -> RecordedResource | None:
        """The list that shuts a connection between two subnets, or its answers."""
        if start == end:
            return None
        here, there = self.blocks[start], self.blocks[end]
        for subnet, egress, peer in ((start, True, there), (end, False, here)):
            if not self.lets(subnet, peer, (port.number,), port.transport, egress=egress):
                return self.by_subnet[subnet]
        for subnet, egress, peer in ((end, True, here), (start, False, there)):
            if not self.lets(subnet, peer, ANSWERED_ON, port.transport, egress=egress):
                return self.by_subnet[subnet]
        return None

    def lets(self, subnet: str, peer: Addresses, ports: Iterable[int], transport: str, *, egress: bool) -> bool:
        """Whether packets to all of some ports get out of a subnet to a peer, or in from one: to a part of it."""
        acl = self.by_subnet.get(subnet)
        return acl is None or all(self._part(acl, peer, port, transport, egress=egress) for port in ports)

    def _part(self, acl: RecordedResource, peer: Addresses, port: int, transport: str, *, egress: bool) -> Addresses:
        open_: list[Addresses] = []
        left = peer
        for rule in self.rules[acl.urn, egress]:
            if rule.holds(port, transport):
                if rule.allows:
                    open_.append(left & rule.addresses)
                left = left - rule.addresses
        return Addresses.union(open_)


def _number(rule: AclRule) -> float:
    return rule.number


def _rules(resources: Resources, acl: RecordedResource, *, egress: bool) -> Iterator[AclRule]:
    for inline in mappings_at(acl.inputs, "egress" if egress else "ingress"):
        yield from _rule(inline, "ruleNo", "action")
    for found in resources.of(NETWORK_ACL_RULE):
        if value_at(found.inputs, "networkAclId") == acl.id and is_on(found.inputs, "egress") == egress:
            yield from _rule(found.inputs, "ruleNumber", "ruleAction")


def _rule(given: Mapping[str, Any], number: str, action: str) -> Iterator[AclRule]:
    block = value_at(given, "cidrBlock")
    if not block:
        return  # of IPv6
    protocol = str(value_at(given, "protocol", default="-1")).upper()
    transport = _PROTOCOLS.get(protocol, protocol)
    first, last = as_number(value_at(given, "fromPort")), as_number(value_at(given, "toPort"))
    every = not transport or (not first and not last)
    yield AclRule(
        float(as_number(value_at(given, number)) or 0),
        str(value_at(given, action)).lower() == "allow",
        transport,
        0 if every or first is None else int(first),
        65535 if every or last is None else int(last),
        Addresses.of(str(block)),
    )


def _subnets(resources: Resources, acl: RecordedResource) -> Iterator[str]:
    yield from texts_at(acl.inputs, "subnetIds")
    for found in resources.of(NETWORK_ACL_ASSOCIATION):
        if value_at(found.inputs, "networkAclId") == acl.id:
            yield str(value_at(found.inputs, "subnetId"))


def _blocks(resources: Resources) -> Iterator[tuple[str, Addresses]]:
    for subnet in resources.of(SUBNET):
        block = value_at(subnet.inputs, "cidrBlock", unknown=None)
        if isinstance(subnet.id, str) and isinstance(block, str):
            try:
                yield subnet.id, Addresses.of(block)
            except ValueError:
                continue  # the check of values tells it
