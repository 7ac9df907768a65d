"""The firewall of the network that a cluster is in (VPC, "VPC firewall rules", and GKE, "Automatically created firewall
rules", as generally known in 2026-11).

The rule of the lowest priority number that holds for a connection decides, and of two with one number the one that
denies. What no rule holds for goes out and does not come in. GKE makes rules of its own, of priority 1000: nodes and
pods of a cluster reach each other, and the control plane reaches ports 443 and 10250 of them.

A rule for targets that have a tag or an account holds for nodes that have it: one that lets by counts where some have,
or where it is not known, one that denies does not. Rules of firewall policies are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import is_set, mappings_at, number_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_FIREWALL, GCP_NETWORK, GKE_CLUSTER
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.gcp.network import control_plane, node_addresses, pod_addresses
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Flow, Judgement, Port

Direction = Literal["INGRESS", "EGRESS"]
_EVERYWHERE: Final = "0.0.0.0/0"
_BY_DEFAULT: Final = 1000
_PARTS: Final = 2
"""Dashes of a tag of GKE's own at least: gke-CLUSTER-HASH-node has three."""
_OF_GKE: Final = (HTTPS, KUBELET)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: of the ends of a connection, the addresses at the other one."""

    resource: RecordedResource | None  # None: one of GKE's own
    direction: Direction
    allows: bool
    priority: int
    addresses: Addresses
    entries: tuple[Mapping[str, Any], ...]  # none: every protocol

    def holds(self, port: Port) -> bool:
        """Whether it is about a port."""
        return not self.entries or any(_about(entry, port) for entry in self.entries)

    def __str__(self) -> str:
        return f"firewall rule {self.resource.name}" if self.resource is not None else "GKE's own firewall rules"


def _about(entry: Mapping[str, Any], port: Port) -> bool:
    protocol = str(value_at(entry, "protocol", default="")).lower()
    if protocol not in ("all", port.transport.lower(), {"TCP": "6", "UDP": "17"}.get(port.transport, "")):
        return False
    ports = [str(found) for found in texts_at(entry, "ports")]
    return not ports or any(_within(found, port.number) for found in ports)


def _within(text: str, number: int) -> bool:
    first, _, last = text.partition("-")
    return int(first) <= number <= int(last or first)


@dataclass(frozen=True, slots=True)
class Firewall:
    """All rules for the nodes and pods of the recorded clusters: a wall."""

    rules: Sequence[Rule]  # as they are asked
    is_ours: bool  # whether the network is recorded: of another one rules are, that nobody knows

    @classmethod
    def recorded(cls, resources: Resources) -> Firewall:
        """Reads the rules of the clusters' networks. Raises UnknownInput."""
        networks = {
            network.urn: network
            for cluster in resources.of(GKE_CLUSTER)
            for network in resources.referred(cluster, "network", GCP_NETWORK)
            if not network.read
        }
        own = [rule for found in resources.of(GCP_FIREWALL) for rule in _read(resources, found, networks)]
        planes = Addresses.union(control_plane(cluster) for cluster in resources.of(GKE_CLUSTER))
        inside = node_addresses(resources) | pod_addresses(resources)
        ports = tuple({"protocol": "tcp", "ports": [str(port.number)]} for port in _OF_GKE)
        of_gke = (
            Rule(None, "INGRESS", True, _BY_DEFAULT, inside, ()),
            Rule(None, "INGRESS", True, _BY_DEFAULT, planes, ports),
        )
        rules = sorted((*own, *of_gke), key=lambda rule: (rule.priority, rule.allows))
        return cls(tuple(rules), bool(networks))

    def judge(self, flow: Flow) -> Judgement | None:
        """Out of nodes and pods, then into them; None for what has neither at its ends, or of an unknown network."""
        outward, inward = (end.kind in ("pods", "node") for end in (flow.source, flow.destination))
        inward = inward and (outward or flow.source.kind in ("service", "internet"))
        if not self.is_ours or not (outward or inward):
            return None
        left, rules = flow, list[Rule]()
        if outward:
            passed, decided = self._passing("EGRESS", left.to_addresses, flow.port)
            left, rules = left.narrowed(to_addresses=passed), decided
        if inward and left.passes:
            passed, decided = self._passing("INGRESS", left.from_addresses, flow.port)
            left, rules = left.narrowed(from_addresses=passed), [*rules, *decided]
        by = tuple(rule.resource for rule in rules if rule.resource is not None)
        names = " and ".join(dict.fromkeys(map(str, rules)))
        if left.passes:
            return Judgement(left, f"{names} let it by" if names else "no firewall rule holds it back", by)
        denied = names or f"no firewall rule lets it in to {flow.destination}"
        return Judgement(left, f"{names} holds it back" if names else denied, by)

    def _passing(self, direction: Direction, ends: Addresses, port: Port) -> tuple[Addresses, list[Rule]]:
        """Which addresses at the other end pass, and the rules that decided."""
        rest, passed, decided = ends, Addresses(), list[Rule]()
        for rule in self.rules:
            if rule.direction != direction or not rule.holds(port) or not rest & rule.addresses:
                continue
            decided.append(rule)
            if rule.allows:
                passed = passed | (rest & rule.addresses)
            rest = rest - rule.addresses
        return (passed | rest if direction == "EGRESS" else passed), decided

    def ports(self) -> Iterable[int]:
        """Those that rules name."""
        for rule in self.rules:
            for entry in rule.entries:
                for text in texts_at(entry, "ports"):
                    yield from (int(number) for number in str(text).split("-"))


def _read(resources: Resources, found: RecordedResource, networks: Mapping[str, RecordedResource]) -> Iterator[Rule]:
    of = resources.referred(found, "network", GCP_NETWORK)
    if not any(network.urn in networks for network in of) or value_at(found.inputs, "disabled") is True:
        return
    direction: Direction = "EGRESS" if value_at(found.inputs, "direction") == "EGRESS" else "INGRESS"
    priority = int(number_at(found.inputs, "priority", default=_BY_DEFAULT))
    ranges = texts_at(found.inputs, "sourceRanges" if direction == "INGRESS" else "destinationRanges")
    by_name = is_set(found.inputs, "sourceTags") or is_set(found.inputs, "sourceServiceAccounts")
    if not ranges and not by_name:
        ranges = [_EVERYWHERE]
    for_some = is_set(found.inputs, "targetTags") or is_set(found.inputs, "targetServiceAccounts")
    for key, allows in (("allows", True), ("denies", False)):
        entries = tuple(mappings_at(found.inputs, key))
        if entries and ranges and (_has_targets(resources, found) if allows else not for_some):
            yield Rule(found, direction, allows, priority, Addresses.of(*ranges), entries)


def _has_targets(resources: Resources, found: RecordedResource) -> bool:
    """Whether some nodes may be those that a rule is for: by a tag or by their account."""
    tags, accounts = (set(texts_at(found.inputs, key)) for key in ("targetTags", "targetServiceAccounts"))
    pools = resources.of(GKE_NODE_POOL)
    if not (tags or accounts) or not pools:
        return True
    if any(str(tag).startswith("gke-") and str(tag).endswith("-node") and tag.count("-") > _PARTS for tag in tags):
        return True  # the tag that GKE gives the nodes of a cluster, which ends in what chance put there
    for pool in pools:
        if tags & set(texts_at(pool.inputs, "nodeConfig", "tags")):
            return True
        account = value_at(pool.inputs, "nodeConfig", "serviceAccount", default="")
        if accounts and (not account or account in accounts):
            return True
    kept = ("nodePoolAutoConfig", "networkTags", "tags")
    return any(tags & set(texts_at(cluster.inputs, *kept)) for cluster in resources.of(GKE_CLUSTER))
