"""Networks of the fast interfaces of A3 Ultra and A4, where GKE does not set them up itself (DRANET).

Beside the network that all nodes stand in, such a node has a second ordinary interface (gVNIC) and one RDMA interface a
GPU. The first is in a VPC of its own; the RDMA interfaces are in one VPC of a zone's RoCE profile, with a subnet each.
Traffic between jobs' nodes goes there and nowhere else: neither network has a way out, or in from outside. The profile
takes no firewall rules (cluster-toolkit, 2026-06-25).
"""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_gcp.compute as compute

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.gcp import ROCE_PROFILE
from trainyard.conventions.pod_networks import GVNIC_NETWORK, rdma_networks

MTU = 8896
"""Bytes of a packet: the largest, which gradients want (cluster-toolkit, 2026-06-25)."""


class FabricNetworksArgs(TypedDict):
    """What `FabricNetworks` needs."""

    project: pulumi.Input[str]
    """Id of the project, whose network profiles the RDMA network names."""
    region: pulumi.Input[str]
    """Region of the subnets."""
    zone: str
    """Zone of the nodes: the RDMA network is of it."""
    gvnic_cidr: pulumi.Input[str]
    """CIDR block of the second ordinary interfaces, an address a node."""
    rdma_cidrs: Sequence[pulumi.Input[str]]
    """CIDR blocks of the RDMA interfaces, one an interface of a node, an address a node in each."""


class FabricNetworks(pulumi.ComponentResource):
    """The two networks and their subnets. `depends_on` is what they wait for: the service compute."""

    networks: dict[str, pulumi.Output[str]]
    """Name on the cluster (`gvnic-1`, `rdma-0`…) to the name of its VPC network, in the order of a node's interfaces.
    """
    subnetworks: dict[str, pulumi.Output[str]]
    """The same names, each to the name of its subnet."""

    def __init__(self, name: str, args: FabricNetworksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError without a range for the RDMA interfaces."""
        super().__init__("trainyard:index:FabricNetworks", name, None, opts)
        if not args["rdma_cidrs"]:
            raise ValueError("rdma_cidrs: got none; one an RDMA interface of a node")
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        gvnic = compute.Network(f"{name}-gvnic", auto_create_subnetworks=False, mtu=MTU, opts=self._child)
        second = self._subnet("gvnic", gvnic, args["gvnic_cidr"], logged=True)
        compute.Firewall(
            f"{name}-gvnic-inside",
            network=gvnic.id,
            description="Nodes of one job talk over their second interface",
            direction="INGRESS",
            priority=1000,
            source_ranges=[args["gvnic_cidr"]],
            allows=[{"protocol": protocol} for protocol in ("tcp", "udp", "icmp")],
            log_config={"metadata": "INCLUDE_ALL_METADATA"},
            opts=self._child,
        )
        rdma = compute.Network(
            f"{name}-rdma",
            auto_create_subnetworks=False,
            mtu=MTU,
            network_profile=pulumi.Output.concat(
                "projects/", args["project"], "/global/networkProfiles/", ROCE_PROFILE.format(args["zone"])
            ),
            opts=self._child,
        )
        fast = [
            self._subnet(f"rdma-{index}", rdma, cidr, logged=False) for index, cidr in enumerate(args["rdma_cidrs"])
        ]
        names = rdma_networks(len(fast))
        self.networks = {GVNIC_NETWORK: gvnic.name, **dict.fromkeys(names, rdma.name)}
        self.subnetworks = {
            GVNIC_NETWORK: second.name,
            **{name: subnet.name for name, subnet in zip(names, fast, strict=True)},
        }
        register(self)

    def _subnet(
        self, short: str, network: compute.Network, cidr: pulumi.Input[str], *, logged: bool
    ) -> compute.Subnetwork:
        """A subnet; RDMA packets pass no point at which flows are logged."""
        log: compute.SubnetworkLogConfigArgsDict = {
            "aggregation_interval": "INTERVAL_5_MIN",
            "flow_sampling": 0.5,
            "metadata": "INCLUDE_ALL_METADATA",
        }
        return compute.Subnetwork(
            f"{self._name}-{short}",
            network=network.id,
            region=self._args["region"],
            ip_cidr_range=cidr,
            stack_type="IPV4_ONLY",
            private_ip_google_access=True if logged else None,
            log_config=log if logged else None,
            opts=self._child,
        )
