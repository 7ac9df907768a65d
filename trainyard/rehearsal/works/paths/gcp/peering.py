"""The private connection to Google's services within a network: a database of Cloud SQL has its address there,
and so have file systems of Managed Lustre and of Filestore that ask for it.

What is reserved for it are addresses of the same network, by name (VPC, "Configure private services access", as
generally known in 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import CLOUD_SQL, FILESTORE, GCP_CONNECTION, GCP_GLOBAL_ADDRESS, GCP_LUSTRE, GCP_NETWORK
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.gcp.places import by_number

_ON_NETWORK: Final = "settings.ipConfiguration.privateNetwork"
_BLOCK: Final = 24
"""What a service takes at least, as a prefix's length (VPC, "Configure private services access": a single /24 is the
least, and each service has its own; as generally known in 2026-11)."""
_SERVICE: Final = "servicenetworking.googleapis.com"


def check(stack: Stack) -> None:
    """Notes databases in a network of the stack's that nothing connects, and connections to nothing."""
    connections = [view for view in stack.of_type(GCP_CONNECTION) if (view.text("service") or _SERVICE) == _SERVICE]
    peered = [view.referred("network", GCP_NETWORK) for view in connections]
    for view, path, what in _inside(stack):
        network = view.referred(path, GCP_NETWORK)
        if network is None or network.resource.read or view.resource.read or None in peered or network in peered:
            continue
        view.error(
            "paths-private-services",
            path,
            f"network {network.name} has no private connection to Google's services: the {what} gets no address",
            allowed=f"a servicenetworking.Connection of network {network.name}",
        )
    _sizes(stack)
    for view, network in zip(connections, peered, strict=True):
        if network is not None and not network.resource.read:
            _reserved(stack, view, network)


def _inside(stack: Stack) -> Iterator[tuple[View, str, str]]:
    """What gets its address by the connection, with the input that names the network."""
    for view in stack.of_type(CLOUD_SQL):
        yield view, _ON_NETWORK, "database"
    for view in stack.of_type(GCP_LUSTRE):
        yield view, "network", "file system"
    for view in stack.of_type(FILESTORE):
        if view.text("networks[0].connectMode") == "PRIVATE_SERVICE_ACCESS":
            yield view, "networks[0].network", "file system"


def _sizes(stack: Stack) -> None:
    """Each service takes a block of its own of what is reserved, a /24 at least for databases and file systems."""
    ranges = [view for view in stack.of_type(GCP_GLOBAL_ADDRESS) if view.text("purpose") == "VPC_PEERING"]
    if len(ranges) != 1 or len(stack.of_type(GCP_CONNECTION)) != 1:
        return
    services = {what: view for view, _, what in reversed(list(_inside(stack))) if not view.resource.read}
    length, kinds = ranges[0].number("prefixLength"), {view.type for view, _, _ in _inside(stack)}
    room = 2 ** (_BLOCK - length) if length is not None else len(kinds)
    if services and room < len(kinds):
        names = " and the ".join(sorted(services))
        ranges[0].error(
            "paths-private-services", "prefixLength",
            f"a /{length:g} has no room for the {names}: {len(kinds)} services take a /{_BLOCK} each",
            allowed=f"a /{_BLOCK - (len(kinds) - 1).bit_length()} or larger",
        )  # fmt: skip


def _reserved(stack: Stack, connection: View, network: View) -> None:
    ranges = {name: view for view in stack.of_type(GCP_GLOBAL_ADDRESS) for name in _names(view)}
    for index, name in enumerate(connection.texts("reservedPeeringRanges")):
        path = f"reservedPeeringRanges[{index}]"
        found = ranges.get(name)
        if found is None:
            if close := nearest(name, list(ranges)):
                connection.error("paths-private-services", path, f"no address is called {name}", hint=close)
            continue
        of = found.referred("network", GCP_NETWORK)
        if found.text("purpose") != "VPC_PEERING":
            connection.error(
                "paths-private-services", path, f"{found.name} is not reserved for peering", allowed="VPC_PEERING"
            )
            continue
        theirs = of.name if of is not None else found.text("network")
        if theirs and of is not network and not (of is None and by_number(theirs)):
            words = f"{found.name} is of network {theirs}, the connection of {network.name}"
            connection.error("paths-private-services", path, words, allowed=f"an address of network {network.name}")


def _names(view: View) -> list[str]:
    return [name for name in (view.resource.outputs.get("name"), view.text("name")) if isinstance(name, str)]
