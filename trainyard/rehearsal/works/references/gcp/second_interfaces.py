"""Further networks of nodes (not of RDMA): machines of one job reach each other there only by a rule of the firewall.

GKE makes rules of its own in the cluster's network alone. Source: VPC, "VPC firewall rules" (what no rule lets by does
not come in); GKE, "Maximize GPU network bandwidth in Standard mode clusters", as generally known in 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.conventions.gcp import ROCE_NETWORK
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GCP_FIREWALL, GCP_NETWORK, GCP_SUBNETWORK
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.addresses import PRIVATE, Addresses
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_ATTACHED: Final = "networkConfig.additionalNodeNetworkConfigs"
_POLICIES: Final = (
    "gcp:compute/firewallPolicyAssociation:FirewallPolicyAssociation",
    "gcp:compute/networkFirewallPolicyAssociation:NetworkFirewallPolicyAssociation",
    "gcp:compute/regionNetworkFirewallPolicyAssociation:RegionNetworkFirewallPolicyAssociation",
)
"""What lets by besides rules, and is not read here."""
_TCP: Final = ("tcp", "6", "all")


def check(cluster: Cluster) -> None:
    """Each further network whose subnets nodes have an interface in."""
    stack = cluster.stack
    if any(stack.of_type(type_) for type_ in _POLICIES):
        return
    subnets: dict[str, View] = {}
    for pool in stack.of_type(GKE_NODE_POOL):
        for index, _ in enumerate(pool.entries(_ATTACHED)):
            subnet = pool.referred(f"{_ATTACHED}[{index}].subnetwork", GCP_SUBNETWORK)
            for found in (
                [subnet] if subnet is not None else _named(stack, pool.value(f"{_ATTACHED}[{index}].subnetwork"))
            ):
                subnets[found.resource.urn] = found
    for subnet in subnets.values():
        _inside(stack, subnet)


def _named(stack: Stack, name: object) -> list[View]:
    """A list of references is not told apart: the name says which."""
    last = name.rpartition("/")[2] if isinstance(name, str) else ""
    return [
        view for view in stack.of_type(GCP_SUBNETWORK)
        if last and last in (str(view.resource.id).rpartition("/")[2], view.resource.outputs.get("name"))
    ]  # fmt: skip


def _inside(stack: Stack, subnet: View) -> None:
    network, own = subnet.referred("network", GCP_NETWORK), subnet.text("ipCidrRange")
    if network is None or own is None or ROCE_NETWORK.search(network.text("networkProfile") or ""):
        return
    rules = [rule for rule in stack.of_type(GCP_FIREWALL) if rule.referred("network", GCP_NETWORK) is network]
    inward = [rule for rule in rules if rule.text("direction") in (None, "INGRESS") and not rule.flag("disabled")]
    if any(map(_unread, inward)):
        return
    letting = [rule for rule in inward if any(_is_tcp(entry.get("protocol")) for _, entry in rule.items("allows"))]
    try:
        admitted = Addresses.of(*(text for rule in letting for text in rule.texts("sourceRanges")))
        lacking = Addresses.of(own) - admitted
    except ValueError:  # told as what it is by the check of values
        return
    if not lacking:
        return
    meant = [rule for rule in letting if _of_machines(rule)]
    if meant:
        words = (
            f"does not let {lacking} in, the nodes' second interfaces in {subnet.name}: jobs across nodes stand still"
        )
        meant[0].error("reference-fabric-firewall", "sourceRanges", words, allowed=own)
    else:
        words = f"no rule lets its nodes in to each other ({own}): jobs across nodes stand still"
        network.warning("reference-fabric-firewall", "", words, allowed=f"a Firewall that lets TCP in from {own}")


def _unread(rule: View) -> bool:
    """Whether a rule lets by who is not known by address."""
    paths = ("sourceRanges", "allows", "direction", "disabled")
    return rule.has("sourceTags") or rule.has("sourceServiceAccounts") or any(map(rule.blurred, paths))


def _of_machines(rule: View) -> bool:
    """Whether a rule is for machines of private networks, and none for who comes by IAP or from without."""
    return bool(Addresses.of(*rule.texts("sourceRanges")) & PRIVATE)


def _is_tcp(protocol: object) -> bool:
    return isinstance(protocol, str) and protocol.lower() in _TCP
