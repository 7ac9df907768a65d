"""Ways that end before they arrive on Google Cloud: mistakes put into the demo stack."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import Change, Mistake, Recorded, both, drop, edit, put
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import GCP_CONNECTION, GCP_GLOBAL_ADDRESS

STACK = "demo-gcp"
ZONE = "gcp:dns/managedZone:ManagedZone"
RECORDS = "gcp:dns/recordSet:RecordSet"
NETWORK = "gcp:compute/network:Network"
NEARLY = "network-private-service-507a1f5f"


def network(name: str) -> Change:
    """Adds a network beside the stack's."""

    def change(resources: Recorded) -> list[RecordedResource]:
        urn = f"urn:pulumi:demo-gcp::trainyard::{NETWORK}::{name}"
        return [*resources, RecordedResource(urn, NETWORK, name, "", "network", True, "p::p", {}, id=name)]

    return change


def mistake(name: str, what: str, change: Change, rule: str | None, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why=why, stack=STACK)


MISTAKES = [
    mistake(
        "a zone without its wildcard",
        "the private zone of Google's names has the record of private access and not that of all names",
        drop(RECORDS, "google-apis-all"),
        "paths-names",
    ),
    mistake(
        "a wildcard to nothing",
        "all names lead to a name that the zone has no address of",
        edit(RECORDS, "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])),
        "paths-names",
    ),
    mistake(
        "no addresses of private access",
        "the record that all names lead to is gone",
        drop(RECORDS, "google-apis-private"),
        "paths-names",
    ),
    mistake(
        "a zone for another network",
        "Google's names are private to the network of an office",
        both(
            network("office"),
            edit(ZONE, "google-apis-googleapis", put("privateVisibilityConfig.networks[0].networkUrl", "office")),
        ),
        "paths-names",
    ),
    mistake(
        "no private connection",
        "the database has an address in the network, and nothing connects that to Google's services",
        drop(GCP_CONNECTION, "network-private-services"),
        "paths-private-services",
    ),
    mistake(
        "a range of another purpose",
        "the addresses of the connection are not reserved for peering",
        edit(GCP_GLOBAL_ADDRESS, "network-private-services", put("purpose", "PRIVATE_SERVICE_CONNECT")),
        "paths-private-services",
    ),
    mistake(
        "a range misspelt",
        "the connection names nearly the address that there is",
        edit(
            GCP_CONNECTION,
            "network-private-services",
            put("reservedPeeringRanges", ["network-private-service-507a1f5f"]),
        ),
        "paths-private-services",
    ),
    mistake(
        "a range of somebody else's",
        "the connection names an address that the stack does not make",
        edit(GCP_CONNECTION, "network-private-services", put("reservedPeeringRanges", ["office"])),
        None,
        "somebody may have reserved it",
    ),
]
NO_ZONE = both(
    drop(RECORDS, "google-apis-all"), drop(RECORDS, "google-apis-private"), drop(ZONE, "google-apis-googleapis")
)
"""A network without the zone: its names lead to public addresses, which private access reaches too."""
