"""Networks of the fast interfaces of A3 and A4, where GKE does not set them up itself (DRANET).

Beside the network that all nodes stand in, a node of A3 Ultra or A4 has a second ordinary interface (gVNIC) and one
RDMA interface a GPU. The first is in a VPC of its own; the RDMA interfaces are in one VPC of a zone's RoCE profile,
with a subnet each. The profile takes no firewall rules. A3 High and A3 Mega have four and eight ordinary interfaces
instead, each in a VPC of its own (TCPX, TCPXO). Traffic between jobs' nodes goes there and nowhere else: no network has
a way out, or in from outside (cluster-toolkit, 2026-06-25).
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.compute as compute

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import gpudirect
from trainyard.conventions.gcp import ROCE_PROFILE
from trainyard.conventions.pod_networks import GVNIC_NETWORK, rdma_networks, tcp_networks

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
    gvnic_cidr: NotRequired[pulumi.Input[str]]
    """CIDR block of the second ordinary interfaces, an address a node. Goes with `rdma_cidrs`."""
    rdma_cidrs: NotRequired[Sequence[pulumi.Input[str]]]
    """CIDR blocks of the RDMA interfaces, one an interface of a node, an address a node in each. Default: there are
    none."""
    tcp_cidrs: NotRequired[Sequence[pulumi.Input[str]]]
    """CIDR blocks of the fast ordinary interfaces of A3 High or A3 Mega, one an interface of a node, each of a network
    of its own. Default: there are none."""


class FabricNetworks(pulumi.ComponentResource):
    """The networks and their subnets. `depends_on` is what they wait for: the service compute."""

    networks: dict[str, pulumi.Output[str]]
    """Name on the cluster (`gvnic-1`, `rdma-0`…; `vpc1`…) to the name of its VPC network, in the order of a node's
    interfaces."""
    subnetworks: dict[str, pulumi.Output[str]]
    """The same names, each to the name of its subnet."""

    def __init__(self, name: str, args: FabricNetworksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for ranges of neither kind of interface, or of both."""
        super().__init__("trainyard:index:FabricNetworks", name, None, opts)
        rdma_cidrs, tcp_cidrs = args.get("rdma_cidrs", ()), args.get("tcp_cidrs", ())
        if bool(rdma_cidrs) == bool(tcp_cidrs) or bool(rdma_cidrs) != ("gvnic_cidr" in args):
            raise ValueError(
                f"rdma_cidrs: got {len(rdma_cidrs)}, tcp_cidrs: {len(tcp_cidrs)}; one an interface of a node, of one "
                "kind, and gvnic_cidr beside those of RDMA"
            )
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        self.networks, self.subnetworks = {}, {}
        if tcp_cidrs:
            for network, cidr in zip(tcp_networks(len(tcp_cidrs)), tcp_cidrs, strict=True):
                self._ordinary(network, network, cidr, gpudirect.MTU, "the fast interfaces of their GPUs")
        else:
            self._ordinary(GVNIC_NETWORK, "gvnic", args["gvnic_cidr"], MTU, "their second interface")
            self._rdma(rdma_cidrs)
        register(self)

    def _ordinary(self, network: str, short: str, cidr: pulumi.Input[str], mtu: int, what: str) -> None:
        """A network of ordinary interfaces, whose nodes talk to each other."""
        name = self._name
        made = compute.Network(f"{name}-{short}", auto_create_subnetworks=False, mtu=mtu, opts=self._child)
        subnet = self._subnet(short, made, cidr, logged=True)
        compute.Firewall(
            f"{name}-{short}-inside",
            network=made.id,
            description=f"Nodes of one job talk over {what}",
            direction="INGRESS",
            priority=1000,
            source_ranges=[cidr],
            allows=[{"protocol": protocol} for protocol in ("tcp", "udp", "icmp")],
            log_config={"metadata": "INCLUDE_ALL_METADATA"},
            opts=self._child,
        )
        self.networks[network], self.subnetworks[network] = made.name, subnet.name

    def _rdma(self, cidrs: Sequence[pulumi.Input[str]]) -> None:
        """The network of the RDMA interfaces, a subnet each."""
        name, args = self._name, self._args
        rdma = compute.Network(
            f"{name}-rdma",
            auto_create_subnetworks=False,
            mtu=MTU,
            network_profile=pulumi.Output.concat(
                "projects/", args["project"], "/global/networkProfiles/", ROCE_PROFILE.format(args["zone"])
            ),
            opts=self._child,
        )
        for index, (network, cidr) in enumerate(zip(rdma_networks(len(cidrs)), cidrs, strict=True)):
            subnet = self._subnet(f"rdma-{index}", rdma, cidr, logged=False)
            self.networks[network], self.subnetworks[network] = rdma.name, subnet.name

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
