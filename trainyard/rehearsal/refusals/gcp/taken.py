"""What two resources cannot both have: a range of one network, a CNAME beside other records.

Who copies a neighbour's lines and changes all but one of them makes the second of these. Sources: VPC, "Subnets"
(ranges of one network lie apart); RFC 1034, 3.6.2, and Cloud DNS, "Records overview" (a name with a CNAME has nothing
else, and the name of the zone itself has SOA and NS).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import GCP_DNS_RECORDS, GCP_DNS_ZONE, GCP_NETWORK, GCP_SUBNETWORK
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.gcp.together import ranges_of
from trainyard.rehearsal.refusals.rules import Rules


def apart(view: View) -> None:
    """Subnets of one network lie apart; ranges within one are told where that is made."""
    for path, words in view.stack.once(_overlaps).get(view.resource.urn, ()):
        view.error("gcp-range-overlap", path, words, allowed="a range of its own in the network")


def _overlaps(stack: Stack) -> dict[str, list[tuple[str, str]]]:
    """By the URN of the later of two subnets: the input, and what it overlaps."""
    of_network: dict[str, list[tuple[int, int, View, str]]] = defaultdict(list)
    for subnet in stack.of_type(GCP_SUBNETWORK):
        network = subnet.referred("network", GCP_NETWORK)
        for path, found in ranges_of(subnet) if network is not None and not subnet.resource.read else ():
            span = int(found.network_address), int(found.broadcast_address)
            of_network[network.resource.urn if network else ""].append((*span, subnet, path))
    told: dict[str, list[tuple[str, str]]] = defaultdict(list)
    order = {view.resource.urn: place for place, view in enumerate(stack.of_type(GCP_SUBNETWORK))}
    for ranges in of_network.values():
        for one, other in _neighbours(ranges):
            first, second = sorted((one, other), key=lambda each: order[each[2].resource.urn])
            if first[2] is not second[2]:
                words = f"{second[2].value(second[3])} overlaps {first[2].value(first[3])} of {first[2].name}"
                told[second[2].resource.urn].append((second[3], words))
    return told


def _neighbours(
    ranges: list[tuple[int, int, View, str]],
) -> Iterator[tuple[tuple[int, int, View, str], tuple[int, int, View, str]]]:
    """Each range that begins before all earlier ones have ended, with the one that ends last."""
    reaching: tuple[int, int, View, str] | None = None
    for one in sorted(ranges, key=lambda each: each[:2]):
        if reaching is not None and one[0] <= reaching[1]:
            yield reaching, one
        if reaching is None or one[1] > reaching[1]:
            reaching = one


def alone(view: View) -> None:
    """A name with a CNAME has no other record, and is not the zone's own."""
    name = view.text("name")
    if view.text("type") != "CNAME" or name is None:
        return
    zone = view.referred("managedZone", GCP_DNS_ZONE)
    if zone is not None and zone.text("dnsName") == name:
        words = f"{name} is the zone's own name, which has SOA and NS"
        view.error("gcp-dns", "name", words, allowed="a name below it, or A and AAAA")
    for other in view.stack.once(_records).get((view.resource.provider, view.value("managedZone"), name), ()):
        if other is not view and other.text("type") not in (None, "CNAME"):
            words = f"{name} has a CNAME and, by {other.name}, {other.text('type')}"
            view.error("gcp-dns", "name", words, allowed="a CNAME alone, or other records")
            return


def _records(stack: Stack) -> dict[tuple[object, ...], list[View]]:
    found: dict[tuple[object, ...], list[View]] = defaultdict(list)
    for view in stack.of_type(GCP_DNS_RECORDS):
        zone, name = view.value("managedZone"), view.text("name")
        if isinstance(zone, str) and name is not None:
            found[(view.resource.provider, zone, name)].append(view)
    return found


RULES: Final[Rules] = {apart: (GCP_SUBNETWORK,), alone: (GCP_DNS_RECORDS,)}
