"""A Shared VPC: a network of a host project's, used and not made.

Its subnet, its ranges, its NAT, its firewall and its private services access are the host's, whose administrators make
and keep them. What may be made here are the rights that Google's accounts of this project need there: GKE's, to put
nodes into the subnet, and the one that makes machines for it.
"""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.compute as compute
import pulumi_gcp.projects as projects

from trainyard.components.gcp.network import VpcNetwork
from trainyard.components.k8s.objects import prerequisites
from trainyard.components.outputs import register


class HostRightsArgs(TypedDict):
    """Who gets rights in the host project."""

    project_number: pulumi.Input[str]
    """Number of the project that the clusters are in."""
    gke_agent_email: pulumi.Input[str]
    """GKE's account in that project."""


class SharedVpcArgs(TypedDict):
    """What `SharedVpc` needs."""

    host_project: pulumi.Input[str]
    """Id of the host project."""
    region: pulumi.Input[str]
    """Region of the subnet."""
    network: pulumi.Input[str]
    """Name of the network."""
    subnetwork: pulumi.Input[str]
    """Name of the subnet."""
    rights: NotRequired[HostRightsArgs]
    """Rights that are given here. Default: none, the host's administrators have given them."""


class SharedVpc(pulumi.ComponentResource):
    """The network as what stands in it needs it, in place of `VpcNetwork`.

    `depends_on` is what it waits for: the services compute and container. `ways_in` lists what a cluster waits for: the
    rights. `ways_out` and `private` are empty: NAT and private services access are there.
    """

    network_id: pulumi.Output[str]
    """Id of the network: projects/HOST/global/networks/NAME."""
    subnetwork_id: pulumi.Output[str]
    """Id of the subnet: projects/HOST/regions/REGION/subnetworks/NAME."""

    def __init__(self, name: str, args: SharedVpcArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:SharedVpc", name, None, opts)
        host = args["host_project"]
        self.network_id = pulumi.Output.concat("projects/", host, "/global/networks/", args["network"])
        self.subnetwork_id = pulumi.Output.concat(
            "projects/", host, "/regions/", args["region"], "/subnetworks/", args["subnetwork"]
        )
        self.ways_out: list[pulumi.Resource] = []
        self.ways_in: list[pulumi.Resource] = self._rights(name, args, opts) if "rights" in args else []
        self.private: list[pulumi.Resource] = []
        register(self)

    def _rights(self, name: str, args: SharedVpcArgs, opts: pulumi.ResourceOptions | None) -> list[pulumi.Resource]:
        rights = args["rights"]
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        gke = pulumi.Output.concat("serviceAccount:", rights["gke_agent_email"])
        machines = pulumi.Output.concat(
            "serviceAccount:", rights["project_number"], "@cloudservices.gserviceaccount.com"
        )
        made: list[pulumi.Resource] = [
            compute.SubnetworkIAMMember(
                f"{name}-{who}",
                project=args["host_project"],
                region=args["region"],
                subnetwork=args["subnetwork"],
                role="roles/compute.networkUser",
                member=member,
                opts=child,
            )
            for who, member in (("gke", gke), ("machines", machines))
        ]
        host = projects.IAMMember(
            f"{name}-host",
            project=args["host_project"],
            role="roles/container.hostServiceAgentUser",
            member=gke,
            opts=child,
        )
        return [*made, host]


AnyVpc = VpcNetwork | SharedVpc
"""What stands in a network takes either."""
