"""Where a ground of the tests has what network policies name by address."""

from __future__ import annotations

from trainyard.components.aws.identity import AGENT_CIDR, AGENT_PORT
from trainyard.components.k8s.network_rules import AddressesArgs

STORE = ["52.216.0.0/15", "54.231.0.0/16"]
ADDRESSES: AddressesArgs = {
    "own": ["10.0.0.0/16"],
    "nodes": ["10.0.0.0/19", "10.0.32.0/19"],
    "services": "172.20.0.0/16",
    "control_plane": ["10.0.224.0/23", "10.0.226.0/23"],
    "api_service": "172.20.0.1/32",
    "resolvers": ["10.0.0.2/32", "169.254.169.253/32"],
    "cloud_services": ["10.0.208.0/23"],
    "object_store": STORE,
    "identity": [{"cidr": AGENT_CIDR, "port": AGENT_PORT}],
}


def addresses(**changes: object) -> AddressesArgs:
    """Those, with changes."""
    return {**ADDRESSES, **changes}  # type: ignore[typeddict-item]
