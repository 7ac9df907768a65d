"""Where AWS has what network policies can only name by address, and which names need no proxy."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network

from trainyard.components.aws.existing_network import AnyNetwork
from trainyard.components.aws.identity import AGENT_CIDR, AGENT_PORT
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.plan.aws.parts import NetworkPlan

LINK_LOCAL_RESOLVER = "169.254.169.253/32"
"""Where a VPC's resolver answers besides its second address (VPC User Guide, "DNS attributes", 2026-11)."""


def network_addresses(plan: NetworkPlan, network: AnyNetwork) -> AddressesArgs:
    """The service `kubernetes` has the first address of its range (Kubernetes, "Service ClusterIP allocation"), the
    resolver the VPC's second."""
    return {
        "own": list(plan.cidrs),
        "nodes": [zone.private_cidr for zone in plan.zones],
        "services": plan.service_cidr,
        "control_plane": [zone.control_cidr for zone in plan.zones],
        "api_service": f"{IPv4Network(plan.service_cidr)[1]}/32",
        "resolvers": [f"{IPv4Network(plan.cidr)[2]}/32", LINK_LOCAL_RESOLVER],
        "cloud_services": [zone.isolated_cidr for zone in plan.zones],
        "object_store": network.object_store_cidrs,
        "identity": [{"cidr": AGENT_CIDR, "port": AGENT_PORT}],
    }


def direct_names(region: str) -> Sequence[str]:
    """The region's S3 by all of its names: its traffic takes the gateway endpoint."""
    regional = [f".s3.{region}.amazonaws.com", f"s3.{region}.amazonaws.com", f".s3.dualstack.{region}.amazonaws.com"]
    # The names without a region, which older clients use, are this region's.
    return [*regional, ".s3.amazonaws.com", "s3.amazonaws.com"] if region == "us-east-1" else regional
