"""Security groups: what an interface lets out and in (EC2 user guide, "Security groups", 2026-11).

- All groups of an interface hold together: what one rule of one group allows is allowed. There are no denials.
- A group without rules lets nothing in and nothing out. Answers to an allowed connection need no rule.
- A rule names addresses, a prefix list or a group: the group stands for the interfaces that have it.
- A connection needs both: a rule that lets it out at the source and one that lets it in at the destination.

The group that EKS makes for a cluster is in no recording: it lets everything in from itself and everything out (EKS
user guide, "Amazon EKS security group requirements", 2026-11). Rules that a stack adds to it are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, is_on, known_texts, list_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    DEFAULT_SECURITY_GROUP,
    EKS_CLUSTER,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.model import Flow, Judgement, Place, Port

Way = Literal["ingress", "egress"]

_PROTOCOLS: Mapping[str, str] = {"6": "TCP", "17": "UDP", "132": "SCTP"}
"""Protocol numbers that a rule may have instead of a name (IANA)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a group: which ports, and which peers."""

    resource: RecordedResource | None  # None: of the group that EKS makes
    transport: str  # "TCP"; empty: every protocol
    first: int
    last: int
    addresses: Addresses
    groups: frozenset[str]  # ids
    prefix_lists: frozenset[str]  # ids or names

    def opens(self, port: Port) -> bool:
        """Whether it is about a port."""
        return self.transport in ("", port.transport) and self.first <= port.number <= self.last

    def peers(self, peer: Place, addresses: Addresses) -> Addresses:
        """The addresses of a place that it opens for."""
        if self.groups & peer.security_groups or self.prefix_lists & peer.prefix_lists:
            return addresses
        return addresses & self.addresses


@dataclass(frozen=True, slots=True)
class SecurityGroups:
    """All security groups of a stack: a wall."""

    rules: Mapping[tuple[str, Way], tuple[Rule, ...]]  # by the group's id
    names: Mapping[str, str]
    sure: frozenset[str] | None = None
    """Ids of groups whose rules are all known: an end with another is passed over. None: all are taken for known."""

    def but_for_sure(self, resources: Resources) -> SecurityGroups:
        """The same wall, that shuts nothing which somebody else may have opened: for who asks what is broken."""
        made = {str(found.id) for found in resources.of(SECURITY_GROUP, DEFAULT_SECURITY_GROUP) if not found.read}
        own = {cluster_group(cluster) for cluster in resources.of(EKS_CLUSTER) if not cluster.read}
        return replace(self, sure=frozenset(made | own))

    @classmethod
    def recorded(cls, resources: Resources) -> SecurityGroups:
        """Reads the recorded ones. Raises UnknownInput where a rule is not known yet."""
        rules: dict[tuple[str, Way], list[Rule]] = {}
        names = {}
        for group, way, rule in _all_rules(resources):
            rules.setdefault((group, way), []).append(rule)
        for found in resources.of(SECURITY_GROUP, DEFAULT_SECURITY_GROUP):
            names[str(found.id)] = found.name
        for cluster in resources.of(EKS_CLUSTER):
            names[cluster_group(cluster)] = f"the cluster security group of {value_at(cluster.inputs, 'name')}"
        return cls({key: tuple(found) for key, found in rules.items()}, names)

    def judge(self, flow: Flow) -> Judgement | None:
        """Out of the source's groups, into the destination's; None where no end has a group."""
        if "own node" in (flow.source.kind, flow.destination.kind) or flow.destination.kind == "link-local":
            return None  # it leaves no interface, or is what security groups do not filter: metadata, names, …
        said: dict[str, list[str]] = {}
        by: list[RecordedResource] = []
        ends: tuple[tuple[Way, Place], ...] = (("egress", flow.source), ("ingress", flow.destination))
        for way, end in ends:
            if not end.security_groups or (self.sure is not None and not end.security_groups <= self.sure):
                continue
            left, opening = self._one_end(flow, way, end)
            if not left.passes:
                closed = f"no rule of {self._names(end)} lets {flow.port} {'out to' if way == 'egress' else 'in from'} "
                closed += str(flow.destination if way == "egress" else flow.source)
                return Judgement(left, closed)
            flow = left
            by.extend(rule.resource for rule in opening if rule.resource is not None)
            said.setdefault(self._names(end), []).append("out" if way == "egress" else "in")
        words = "; ".join(
            f"{names} {'let' if ' and ' in names else 'lets'} it {' and '.join(ways)}" for names, ways in said.items()
        )
        return Judgement(flow, words, tuple(by)) if words else None

    def ports(self) -> Iterable[int]:
        """The first and last port of every rule."""
        return {port for rules in self.rules.values() for rule in rules for port in (rule.first, rule.last)}

    def _one_end(self, flow: Flow, way: Way, end: Place) -> tuple[Flow, list[Rule]]:
        peer, addresses = (
            (flow.destination, flow.to_addresses) if way == "egress" else (flow.source, flow.from_addresses)
        )
        parts = [
            (rule, addresses if self.sure is not None and rule.prefix_lists else rule.peers(peer, addresses))
            for group in sorted(end.security_groups)
            for rule in self.rules.get((group, way), ())
            if rule.opens(flow.port)
        ]
        allowed = Addresses.union(part for _, part in parts)
        left = flow.narrowed(to_addresses=allowed) if way == "egress" else flow.narrowed(from_addresses=allowed)
        return left, [rule for rule, part in parts if part]

    def _names(self, place: Place) -> str:
        names = sorted(self.names.get(group, group) for group in place.security_groups)
        return " and ".join(name if name.startswith("the ") else f"security group {name}" for name in names)


def cluster_group(cluster: RecordedResource) -> str:
    """Id of the security group that EKS makes for a cluster. Raises UnknownInput."""
    return str(value_at(cluster.outputs, "vpcConfig", "clusterSecurityGroupId", default=""))


def _all_rules(resources: Resources) -> Iterator[tuple[str, Way, Rule]]:
    everywhere = Addresses.of("0.0.0.0/0", "::/0")
    for cluster in resources.of(EKS_CLUSTER):
        group = cluster_group(cluster)
        yield group, "ingress", Rule(None, "", 0, 65535, Addresses(), frozenset((group,)), frozenset())
        yield group, "egress", Rule(None, "", 0, 65535, everywhere, frozenset(), frozenset())
    ways: tuple[tuple[str, Way], ...] = (
        (SECURITY_GROUP_INGRESS_RULE, "ingress"),
        (SECURITY_GROUP_EGRESS_RULE, "egress"),
    )
    for type_, way in ways:
        for found in resources.of(type_):
            group = str(value_at(found.inputs, "securityGroupId"))
            yield group, way, _rule(found, found.inputs, group)
    for found in resources.of(SECURITY_GROUP_RULE):
        group = str(value_at(found.inputs, "securityGroupId"))
        yield (
            group,
            "egress" if value_at(found.inputs, "type") == "egress" else "ingress",
            _rule(found, found.inputs, group),
        )
    for found in resources.of(SECURITY_GROUP, DEFAULT_SECURITY_GROUP):
        for way in ("ingress", "egress"):
            for inline in mappings_at(found.inputs, way):
                yield str(found.id), way, _rule(found, inline, str(found.id))


def _rule(resource: RecordedResource, given: Mapping[str, Any], group: str) -> Rule:
    protocol = str(value_at(given, "ipProtocol") or value_at(given, "protocol", default="-1")).upper()
    protocol = _PROTOCOLS.get(protocol, protocol)
    first, last = as_number(value_at(given, "fromPort")), as_number(value_at(given, "toPort"))
    every = protocol in ("-1", "ALL") or -1 in (first, last)
    networks = [
        network for key in ("cidrIpv4", "cidrIpv6", "cidrBlocks", "ipv6CidrBlocks") for network in texts_at(given, key)
    ]
    groups = {
        # "123456789012/sg-…" names a group of another account.
        text.rpartition("/")[2]
        for key in ("referencedSecurityGroupId", "sourceSecurityGroupId", "securityGroups")
        for _, text in known_texts(list_at(given, key))
    }
    return Rule(
        resource,
        "" if protocol in ("-1", "ALL") else protocol,
        0 if every or first is None else int(first),
        65535 if every or last is None else int(last),
        Addresses.of(*networks),
        frozenset(groups | ({group} if is_on(given, "self") else set())),
        frozenset(text for key in ("prefixListId", "prefixListIds") for text in texts_at(given, key)),
    )
