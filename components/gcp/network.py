"""The environment's network: a VPC with one regional subnet for nodes, pods and services, or for editors alone.

Nodes and editors have no addresses of the internet: they go out through Cloud NAT, and reach Google's own services by
private access. The control plane has a range of its own, so that a firewall rule can let it in to webhooks and nobody
else. The database and managed file systems are reached through private services access: a peering with Google's own
network, which takes a range of ours. Without a cluster there are neither pods nor services, and nobody is let in.
"""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.compute as compute
import pulumi_gcp.servicenetworking as servicenetworking

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

PODS, SERVICES = "pods", "services"
"""Names of the secondary ranges of the subnet."""

WEBHOOK_PORTS = ("443", "8443", "9443", "10250", "10260")
"""Ports of the pods that the control plane calls, besides those that GKE opens itself (443 and 10250): webhooks of
Kueue, JobSet, the Trainer and others listen on 8443, 9443 or 10260 as a rule."""

_FLOW_LOG_INTERVALS = (
    "INTERVAL_5_SEC",
    "INTERVAL_30_SEC",
    "INTERVAL_1_MIN",
    "INTERVAL_5_MIN",
    "INTERVAL_10_MIN",
    "INTERVAL_15_MIN",
)


class VpcNetworkArgs(TypedDict):
    """What `VpcNetwork` needs."""

    region: pulumi.Input[str]
    """Region of the subnet, the router and its NAT."""
    node_cidr: pulumi.Input[str]
    """CIDR block of the nodes: /18 to /24."""
    pod_cidr: NotRequired[pulumi.Input[str]]
    """CIDR block of the pods: a node takes a /24 of it at 110 pods, a /26 at 32. It grows by no change. Default: there
    are no pods."""
    service_cidr: NotRequired[pulumi.Input[str]]
    """CIDR block of Kubernetes services, where there are pods."""
    control_plane_cidr: NotRequired[pulumi.Input[str]]
    """CIDR block of 16 addresses that the control plane calls webhooks from. It overlaps none of the others. Default:
    nobody is let in."""
    private_services_prefix: NotRequired[int]
    """Prefix length of the range that Google puts databases and file systems into: /16 to /24. Default: there are
    none."""
    nat: NotRequired[bool]
    """Whether there is a way out to the internet. Default: yes."""
    private_services_address: NotRequired[str]
    """First address of that range, so that network policies can name it. Default: one that Google picks."""
    mtu: NotRequired[int]
    """Bytes of a packet, 1300 to 8896. Default: 8896, which GPU traffic over the network wants."""
    flow_log_interval: NotRequired[str]
    """How long flows are summed up before they are logged. Default: INTERVAL_5_MIN."""
    flow_log_sampling: NotRequired[float]
    """Share of the flows that is logged, above 0 up to 1. Default: 0.5."""


class VpcNetwork(pulumi.ComponentResource):
    """VPC, subnet, NAT, firewall and private services access.

    `depends_on` is what it waits for: the services compute and servicenetworking. `ways_out` lists what nodes wait for:
    a node that starts without NAT pulls no image from outside. `ways_in` lists what a cluster waits for, and what
    outlives it: without it no webhook is reached, and what a webhook guards is neither made nor deleted.
    `private` lists the connection that a database waits for, and is empty where the network has no range for it.
    """

    network_id: pulumi.Output[str]
    """Id of the network: projects/PROJECT/global/networks/NAME."""
    subnetwork_id: pulumi.Output[str]
    """Id of the subnet: projects/PROJECT/regions/REGION/subnetworks/NAME."""

    def __init__(self, name: str, args: VpcNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for packets, flow logs and ranges that Google refuses."""
        super().__init__("trainyard:index:VpcNetwork", name, None, opts)
        _check(args)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        after_services = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        self._network = compute.Network(
            f"{name}-vpc",
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            mtu=args.get("mtu", 8896),
            description="Training infrastructure: nodes, pods and what they reach privately",
            opts=after_services,
        )
        self._subnet = self._make_subnet()
        self.ways_out: list[pulumi.Resource] = [self._make_nat()] if args.get("nat", True) else []
        self.ways_in: list[pulumi.Resource] = [
            self._make_firewall(cidr) for cidr in [args.get("control_plane_cidr")] if cidr is not None
        ]
        prefix = args.get("private_services_prefix")
        self.private: list[pulumi.Resource] = [] if prefix is None else [self._make_private_services(prefix)]
        self.network_id, self.subnetwork_id = self._network.id, self._subnet.id
        register(self)

    def _make_subnet(self) -> compute.Subnetwork:
        args = self._args
        return compute.Subnetwork(
            f"{self._name}-nodes",
            network=self._network.id,
            region=args["region"],
            ip_cidr_range=args["node_cidr"],
            secondary_ip_ranges=[
                {"range_name": PODS, "ip_cidr_range": args["pod_cidr"]},
                {"range_name": SERVICES, "ip_cidr_range": args["service_cidr"]},
            ]
            if "pod_cidr" in args and "service_cidr" in args
            else None,
            private_ip_google_access=True,  # the object store and registries by Google's own network, not through NAT
            stack_type="IPV4_ONLY",  # networks of further interfaces know IPv4 alone
            log_config={
                "aggregation_interval": args.get("flow_log_interval", "INTERVAL_5_MIN"),
                "flow_sampling": args.get("flow_log_sampling", 0.5),
                "metadata": "INCLUDE_ALL_METADATA",
            },
            opts=self._child,
        )

    def _make_nat(self) -> compute.RouterNat:
        router = compute.Router(
            f"{self._name}-router", network=self._network.id, region=self._args["region"], opts=self._child
        )
        return compute.RouterNat(
            f"{self._name}-nat",
            router=router.name,
            region=self._args["region"],
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": self._subnet.id, "source_ip_ranges_to_nats": ["ALL_IP_RANGES"]}],
            # Many pods of a node pull and download at once: 64 ports, the default, run out.
            enable_dynamic_port_allocation=True,
            min_ports_per_vm=64,
            max_ports_per_vm=4096,
            log_config={"enable": True, "filter": "ERRORS_ONLY"},
            opts=self._child,
        )

    def _make_firewall(self, control_plane_cidr: pulumi.Input[str]) -> compute.Firewall:
        """What is not let in is refused: GKE opens what its own nodes and load balancers need."""
        return compute.Firewall(
            f"{self._name}-webhooks",
            network=self._network.id,
            description="The control plane calls webhooks",
            direction="INGRESS",
            priority=1000,
            source_ranges=[control_plane_cidr],
            allows=[{"protocol": "tcp", "ports": list(WEBHOOK_PORTS)}],
            log_config={"metadata": "INCLUDE_ALL_METADATA"},
            opts=self._child,
        )

    def _make_private_services(self, prefix_length: int) -> servicenetworking.Connection:
        address = compute.GlobalAddress(
            f"{self._name}-private-services",
            purpose="VPC_PEERING",
            address_type="INTERNAL",
            address=self._args.get("private_services_address"),
            prefix_length=prefix_length,
            network=self._network.id,
            opts=self._child,
        )
        return servicenetworking.Connection(
            f"{self._name}-private-services",
            network=self._network.id,
            service="servicenetworking.googleapis.com",
            reserved_peering_ranges=[address.name],
            # Google holds the peering for days after the last database: it goes with the network.
            deletion_policy="ABANDON",
            update_on_creation_fail=True,
            opts=self._child,
        )


def _check(args: VpcNetworkArgs) -> None:
    mtu, sampling = args.get("mtu", 8896), args.get("flow_log_sampling", 0.5)
    interval = args.get("flow_log_interval", "INTERVAL_5_MIN")
    if not 1300 <= mtu <= 8896:
        raise ValueError(f"mtu: got {mtu}; 1300 to 8896 bytes")
    if not 0 < sampling <= 1:
        raise ValueError(f"flow_log_sampling: got {sampling}; above 0, up to 1")
    if interval not in _FLOW_LOG_INTERVALS:
        raise ValueError(f"flow_log_interval: got {interval!r}; {', '.join(_FLOW_LOG_INTERVALS)}")
    prefix = args.get("private_services_prefix")
    if prefix is not None and not 16 <= prefix <= 24:
        raise ValueError(f"private_services_prefix: got {prefix}; 16 to 24")
    if ("pod_cidr" in args) != ("service_cidr" in args):
        raise ValueError("pod_cidr, service_cidr: got one of them; pods need services, and services are for pods")
