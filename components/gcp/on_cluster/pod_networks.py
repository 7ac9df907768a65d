"""The networks that a pod may ask for by annotation, besides the cluster's own: two objects a network, of one name.

Source: cluster-toolkit of 2026-06-25; GKE brings the kinds where `enable_multi_networking` is on.
"""

from collections.abc import Sequence
from typing import Any, TypedDict

import pulumi

from trainyard.components.k8s import custom_resources as cr
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.pod_networks import NETWORK_API, NETWORK_PARAMETERS, POD_NETWORK

DEVICE_MODES = ("NetDevice", "RDMA")


class PodNetworkArgs(TypedDict):
    """A network."""

    name: str
    """Its name on the cluster, by which pods ask for it."""
    vpc: pulumi.Input[str]
    """Name of the VPC network."""
    subnet: pulumi.Input[str]
    """Name of its subnet. The node pool has it among its additional networks."""
    device_mode: str
    """NetDevice, an ordinary interface that goes into the pod, or RDMA."""


class PodNetworksArgs(TypedDict):
    """What `PodNetworks` needs."""

    networks: Sequence[PodNetworkArgs]
    """The networks."""


class PodNetworks(pulumi.ComponentResource):
    """Networks by which pods get further interfaces of a node.

    `ready` lists what a pod waits for that asks for one: without it the API server refuses the pod.
    """

    def __init__(self, name: str, args: PodNetworksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a mode that GKE does not have."""
        super().__init__("trainyard:index:PodNetworks", name, {}, opts)
        self.ready: list[pulumi.Resource] = []
        for of in args["networks"]:
            if of["device_mode"] not in DEVICE_MODES:
                raise ValueError(
                    f"network {of['name']!r}: device_mode {of['device_mode']!r}; {', '.join(DEVICE_MODES)}"
                )
            parameters = cr.CustomResource(
                f"{name}-{of['name']}-parameters",
                _object(
                    NETWORK_PARAMETERS,
                    of["name"],
                    {"vpc": of["vpc"], "vpcSubnet": of["subnet"], "deviceMode": of["device_mode"]},
                ),
                pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
            )
            group, _, _ = NETWORK_API.partition("/")
            network = cr.CustomResource(
                f"{name}-{of['name']}",
                _object(
                    POD_NETWORK,
                    of["name"],
                    {
                        "type": "Device",
                        "parametersRef": {"group": group, "kind": NETWORK_PARAMETERS, "name": of["name"]},
                    },
                ),
                pulumi.ResourceOptions(parent=self, depends_on=[parameters]),
            )
            self.ready += [parameters, network]
        register(self)


def _object(kind: str, name: str, spec: dict[str, Any]) -> cr.Manifest:
    return {"apiVersion": NETWORK_API, "kind": kind, "metadata": {"name": name}, "spec": spec}
