"""Settings: a Shared VPC, a network of another project's that this one may use (`gcp.sharedNetwork`)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from trainyard.problems import Problem, some_of
from trainyard.settings.types import SPECIAL, Cidr, Model, is_private, matching, not_private

if TYPE_CHECKING:
    from trainyard.settings.common import Settings

KEY: Final = "gcp.sharedNetwork"
HOST: Final = "gcp.networkProject"

ComputeName = Annotated[
    str,
    matching(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "must be a name: 1 to 63 of a-z, 0-9 and -, a letter first"),
]

_RANGES: Final = ("node_cidr", "pod_cidr", "service_cidr", "control_plane_cidr", "private_services_cidr")


class SharedNetwork(Model):
    """A network and a subnet of the host project. The environment makes nothing of them and changes nothing."""

    network: ComputeName = Field(description="name of the network")
    subnetwork: ComputeName = Field(description="name of the subnet of nodes, in the stack's region")
    node_cidr: Cidr = Field(description="the subnet's own range, of nodes")
    pod_range: ComputeName = Field(description="name of the subnet's secondary range for pods")
    pod_cidr: Cidr = Field(description="that range: a /24 a node")
    service_range: ComputeName = Field(description="name of the subnet's secondary range for Kubernetes services")
    service_cidr: Cidr = Field(description="that range")
    control_plane_cidr: Cidr = Field(
        description="a /28 for the control plane, which nothing else of the network has, and nothing that reaches it"
    )
    private_services_cidr: Cidr = Field(
        description="range of the network's private services access, for the database and shared files"
    )
    further_cidrs: list[Cidr] = Field(
        default=[],
        max_length=50,
        description="what else the network reaches and is nobody's of this environment: pods are walled off from it",
    )
    host_rights: Literal["host", "stack"] = Field(
        default="host",
        description=(
            "who gives Google's accounts of this project their rights in the host project: host, its administrators "
            "(`trainyard explain` lists them); stack, the environment, which then needs the right to"
        ),
    )


def shared_network_checks(settings: Settings) -> Iterator[Problem]:
    """The two keys go together, its ranges are apart, and no setting asks for a network of the environment's own."""
    own, host = settings.gcp.shared_network, settings.gcp.network_project
    if settings.cloud != "gcp":
        return
    if own is None:
        if host is not None:
            yield Problem(HOST, host, f"is read only beside {KEY}, which says what of its network is used")
        return
    if host is None:
        yield Problem(HOST, "nothing", f"must be the host project of the network that {KEY} names")
    elif host == settings.gcp.project:
        allowed = "must be another project than gcp.project, which has a network of its own otherwise"
        yield Problem(HOST, host, allowed, f"leave {KEY} out")
    for key, value in (("cidr", settings.network.cidr), ("serviceCidr", settings.network.service_cidr)):
        if value is not None:
            yield Problem(
                f"network.{key}", value, f"is not read beside {KEY}, which has ranges of its own", "leave it out"
            )
    if settings.network.reserved_cidrs:
        allowed = f"is not read beside {KEY}: the host's network has ranges already"
        yield Problem(
            "network.reservedCidrs", some_of(list(map(str, settings.network.reserved_cidrs))), allowed, "leave it out"
        )
    if (how := settings.gcp.fast_network) not in (None, "dranet"):
        allowed = f"makes networks in this project, and {KEY} has the nodes in another's"
        yield Problem("gcp.fastNetwork", how, allowed, "take dranet" if how == "networks" else "leave it out")
    yield from _ranges(own)


def shared_network_advice(settings: Settings) -> Iterator[str]:
    """Ranges that somebody has on the internet: a host may use them, and seldom means to."""
    own = settings.gcp.shared_network
    for name in _RANGES if own is not None and settings.cloud == "gcp" else ():
        network = ipaddress.IPv4Network(getattr(own, name))
        if not is_private(network):
            yield f"{KEY}.{to_camel(name)} {not_private(network)}"


def _ranges(own: SharedNetwork) -> Iterator[Problem]:
    found = [(f"{KEY}.{to_camel(name)}", ipaddress.IPv4Network(getattr(own, name))) for name in _RANGES]
    for key, network in found:
        what = next((what for other, what in SPECIAL.items() if network.overlaps(other)), None)
        if what is not None:
            yield Problem(key, str(network), f"must be addresses that a network can have, not {what} ones")
    plane = ipaddress.IPv4Network(own.control_plane_cidr)
    if plane.prefixlen != 28:
        yield Problem(f"{KEY}.controlPlaneCidr", str(plane), "must be a /28: GKE takes no other for a control plane")
    for (other_key, other), (key, network) in combinations(found, 2):
        if network.overlaps(other):
            yield Problem(key, str(network), f"must not overlap {other}, which is {other_key}")
    if own.pod_range == own.service_range:
        yield Problem(f"{KEY}.serviceRange", own.service_range, "must be another range than podRange")
