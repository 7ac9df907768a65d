"""Names of Google's services in a network: a private zone answers for all of them, or for none.

A zone that is private to a network hides what everybody else is told of its names: where it has no record, nothing is
found (Cloud DNS, "Name resolution order", and VPC, "Configure DNS for googleapis.com", as generally known in 2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GCP_DNS_RECORDS, GCP_DNS_ZONE, GCP_NETWORK, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View, expand

GOOGLE: Final = "googleapis.com."


def check(stack: Stack) -> None:
    """Notes a zone of Google's names that is not seen where it is meant to be, or that leads nowhere."""
    clusters = stack.of_type(GKE_CLUSTER)
    networks = [found for one in clusters if (found := one.referred("network", GCP_NETWORK)) is not None]
    for zone in stack.of_type(GCP_DNS_ZONE):
        if zone.text("dnsName") != GOOGLE or zone.text("visibility") != "private" or zone.resource.read:
            continue
        path = "privateVisibilityConfig.networks"
        # A text that names no network of a cluster's is of another one, whatever it was made of.
        named = [str(text).rpartition("/")[2] for _, text in expand(zone.inputs, f"{path}[].networkUrl")]
        own = {name.rpartition("/")[2] for network in networks for name in _names(network)}
        is_sure = len(named) == len(zone.entries(path)) and len(networks) == len(clusters) > 0
        if is_sure and not own.intersection(named):
            names = ", ".join(network.name for network in networks)
            zone.error(
                "paths-names",
                path,
                f"network {names} of the cluster does not see the zone: its nodes take the public addresses",
                allowed=f"the network {names}",
            )
        else:
            _leads_somewhere(stack, zone)


def _names(network: View) -> set[str]:
    """What a network is referred to by: its id, its name and its address."""
    found = (network.resource.id, network.text("name"), *map(network.resource.outputs.get, ("name", "selfLink")))
    return {str(text) for text in found if isinstance(text, str) and text}


def _leads_somewhere(stack: Stack, zone: View) -> None:
    records = [view for view in stack.of_type(GCP_DNS_RECORDS) if view.referred("managedZone", GCP_DNS_ZONE) is zone]
    if any(view.text("name") is None or view.text("type") is None for view in records):
        return
    kinds = {(view.text("name"), view.text("type")) for view in records}
    every = f"*.{GOOGLE}"
    if (every, "CNAME") not in kinds and (every, "A") not in kinds:
        zone.error(
            "paths-names",
            "dnsName",
            f"the zone has no record for {every}: storage.{GOOGLE} and all others are not found in its network",
            allowed=f"a CNAME of {every} to private.{GOOGLE}, and its addresses",
        )
    for view in records:
        for index, target in enumerate(view.texts("rrdatas") if view.text("type") == "CNAME" else ()):
            if target.endswith(f".{GOOGLE}") and (target, "A") not in kinds and (target, "AAAA") not in kinds:
                view.error(
                    "paths-names",
                    f"rrdatas[{index}]",
                    f"{target} is of this zone, which has no address of it",
                    allowed=f"a record of type A for {target}",
                )
