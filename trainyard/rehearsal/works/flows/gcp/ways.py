"""Ways in and out of the network: to Google's services by private access, elsewhere through NAT.

Inside of a network everything is routed. Nodes without public addresses reach Google's services where their subnet has
private access, and everything else of the internet where a NAT is for the ranges of the subnet; both take the route to
the internet that a network has by default. The addresses of private access are reached by private access alone. From
the internet only what has a public address is found: never a pod, and a node where nodes are not private.

Sources: VPC, "Private Google Access"; Cloud NAT, "Overview"; GKE, "About private nodes", as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_NAT, GCP_NETWORK, GCP_SUBNETWORK, GKE_CLUSTER
from trainyard.rehearsal.works.flows.addresses import INTERNET, Addresses
from trainyard.rehearsal.works.flows.gcp.network import subnet_of
from trainyard.rehearsal.works.flows.gcp.places import GOOGLE, PRIVATE_ACCESS
from trainyard.rehearsal.works.flows.model import Flow, Judgement

_ROUTE: Final = "gcp:compute/route:Route"


@dataclass(frozen=True, slots=True)
class WaysOut:
    """How nodes and pods leave the network of the recorded clusters: a wall."""

    subnet: RecordedResource | None  # None: what nobody records may be there
    network: RecordedResource | None
    has_private_access: bool
    nat: RecordedResource | None
    is_routed: bool  # whether the network has a route to the internet
    has_public_nodes: bool = False

    @classmethod
    def recorded(cls, resources: Resources) -> WaysOut:
        """Reads the ways of the one subnet that all recorded clusters are in. Raises UnknownInput."""
        clusters = resources.of(GKE_CLUSTER)
        subnets = {found.urn: found for one in clusters if (found := subnet_of(resources, one)) is not None}
        private = all(value_at(one.inputs, "privateClusterConfig", "enablePrivateNodes") is True for one in clusters)
        if len(subnets) != 1 or not private:
            return cls(None, None, True, None, True, has_public_nodes=not private)
        (subnet,) = subnets.values()
        networks = resources.referred(subnet, "network", GCP_NETWORK)
        nats = [nat for nat in resources.of(GCP_NAT) if _is_for(resources, nat, subnet)]
        if len(networks) != 1 or networks[0].read:
            return cls(None, None, True, None, True)  # somebody else's, with a NAT of theirs perhaps
        routed = value_at(networks[0].inputs, "deleteDefaultRoutesOnCreate") is not True or resources.of(_ROUTE)
        has_access = value_at(subnet.inputs, "privateIpGoogleAccess") is True
        return cls(subnet, networks[0], has_access, nats[0] if nats else None, bool(routed))

    def judge(self, flow: Flow) -> Judgement | None:
        """What of a flow from nodes or pods to public addresses has a way, and of one from the internet; None for every
        other flow."""
        if flow.source.kind == "internet":
            return self._inward(flow)
        outside = flow.to_addresses & INTERNET
        if self.subnet is None or flow.source.kind not in ("pods", "node", "own node") or not outside:
            return None
        if not self.is_routed and self.network is not None:
            nothing = flow.narrowed(to_addresses=flow.to_addresses - INTERNET)
            return Judgement(nothing, f"network {self.network.name} has no route to the internet", (self.network,))
        google = outside if flow.destination.name == GOOGLE else outside & PRIVATE_ACCESS
        by_nat = outside - (google if self.has_private_access else PRIVATE_ACCESS)
        lost, words, by = Addresses(), list[str](), [self.subnet]
        if google and self.has_private_access:
            words.append(f"subnet {self.subnet.name} has private access to Google's services")
        elif google:
            lost = google & PRIVATE_ACCESS
            if self.nat is None or not by_nat:
                words.append(f"subnet {self.subnet.name} has no private access to Google's services")
        if by_nat and self.nat is not None:
            words.append(f"NAT {self.nat.name} takes it out")
            by.append(self.nat)
        elif by_nat:
            lost = lost | by_nat
            words.append(f"no NAT is for subnet {self.subnet.name}, whose nodes have no public address")
        return Judgement(flow.narrowed(to_addresses=flow.to_addresses - lost), "; ".join(words), tuple(by))

    def _inward(self, flow: Flow) -> Judgement | None:
        place = flow.destination
        if place.kind in ("internet", "object store") or (place.kind == "node" and self.has_public_nodes):
            return None
        left = flow.narrowed(from_addresses=flow.from_addresses & place.public_to)
        return Judgement(left, f"{place} has {'a public address' if place.public_to else 'no public address'}")

    def ports(self) -> Iterable[int]:
        """None: it is the addresses that count."""
        return ()


def _is_for(resources: Resources, nat: RecordedResource, subnet: RecordedResource) -> bool:
    """Whether a NAT is for the addresses of nodes and pods of a subnet, or that is not known.

    A private one is between networks, and one for gateways or load balancers is for no machine.
    """
    served = texts_at(nat.inputs, "endpointTypes")
    if value_at(nat.inputs, "type") == "PRIVATE" or (served and "ENDPOINT_TYPE_VM" not in served):
        return False
    which = value_at(nat.inputs, "sourceSubnetworkIpRangesToNat")
    if which == "ALL_SUBNETWORKS_ALL_IP_RANGES":
        return True
    if which == "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES":
        return True  # pods go out by the address of their node
    for index, _ in enumerate(mappings_at(nat.inputs, "subnetworks")):
        if subnet in resources.referred(nat, f"subnetworks[{index}].name", GCP_SUBNETWORK):
            ranges = texts_at(nat.inputs, "subnetworks", index, "sourceIpRangesToNats")
            return not ranges or "ALL_IP_RANGES" in ranges or "PRIMARY_IP_RANGE" in ranges
    return False
