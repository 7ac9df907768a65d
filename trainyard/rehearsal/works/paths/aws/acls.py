"""Network ACLs on the way of nodes to the internet: there, and back with the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.works.flows.addresses import INTERNET
from trainyard.rehearsal.works.flows.aws.network_acls import ANSWERED_ON, ANSWERED_TO_NAT, NetworkAcls
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup

_HTTPS: Final = (443,)


def check(network: Network, groups: Sequence[NodeGroup]) -> None:
    """Notes lists that keep nodes from the internet, where a route leads there."""
    acls = NetworkAcls.recorded(network.stack.resources)
    told: set[str] = set()
    for group in groups:
        for subnet in group.subnets:
            if network.internet(subnet, public=group.is_public(network, subnet)).open is not True:
                continue
            for acl, what in _closed(network, acls, subnet):
                if acl.urn not in told:
                    told.add(acl.urn)
                    network.view_of(acl).error(
                        "paths-acl-closed",
                        "",
                        f"lets no {what} by, and nodes of {group.view.name} need it to get to the internet",
                        allowed="rules for TCP 443 there and for ports 1024 to 65535 back, in both lists on the way",
                    )


def _closed(network: Network, acls: NetworkAcls, subnet: str) -> Iterator[tuple[RecordedResource, str]]:
    """Every list on the way that shuts it, with what it does not let by."""
    own = acls.blocks.get(subnet)
    nat = network.nat_subnet_of(subnet)
    legs = [
        (subnet, INTERNET, _HTTPS, True, "TCP 443 out to the internet"),
        (subnet, INTERNET, ANSWERED_ON, False, "answers in from the internet"),
    ]
    if nat is not None and nat != subnet and own is not None:
        legs += [
            (nat, own, _HTTPS, False, "TCP 443 in from the nodes"),
            (nat, INTERNET, _HTTPS, True, "TCP 443 out to the internet"),
            (nat, INTERNET, ANSWERED_TO_NAT, False, "answers in from the internet"),
            (nat, own, ANSWERED_ON, True, "answers out to the nodes"),
        ]
    for where, peer, ports, egress, what in legs:
        if not acls.lets(where, peer, ports, "TCP", egress=egress):
            yield acls.by_subnet[where], what
