"""Names of Google's own services, answered with the addresses of private access: a wall can then name them.

Without it storage.googleapis.com has whichever addresses Google's load balancers have that day, and a network policy
that lets pods read their buckets would let them reach half of the internet.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.dns as dns

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

ADDRESSES = ("199.36.153.8", "199.36.153.9", "199.36.153.10", "199.36.153.11")
"""Addresses of private.googleapis.com: `conventions.gcp.GOOGLE_APIS_CIDR`."""

DOMAIN = "googleapis.com."
TTL_SECONDS = 300


class GoogleApisArgs(TypedDict):
    """What `GoogleApis` needs."""

    network_id: pulumi.Input[str]
    """`VpcNetwork.network_id`: the names are answered so in there only."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Labels on the bill. Default: the provider's."""
    addresses: NotRequired[Sequence[str]]
    """Where they are reached. Default: private.googleapis.com."""


class GoogleApis(pulumi.ComponentResource):
    """A zone of the network's own for googleapis.com. `depends_on` is what it waits for: the service dns.

    `ready` lists what waits for it: pods that start earlier are answered with other addresses.
    """

    zone_name: pulumi.Output[str]
    """Name of the zone."""

    def __init__(self, name: str, args: GoogleApisArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:GoogleApis", name, None, opts)
        zone = dns.ManagedZone(
            f"{name}-googleapis",
            dns_name=DOMAIN,
            description="Google's services by the addresses of private access",
            visibility="private",
            private_visibility_config={"networks": [{"network_url": args["network_id"]}]},
            labels=args.get("labels"),
            opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
        )
        child = pulumi.ResourceOptions(parent=self)
        self.ready: list[pulumi.Resource] = [
            dns.RecordSet(
                f"{name}-private",
                managed_zone=zone.name,
                name=f"private.{DOMAIN}",
                type="A",
                ttl=TTL_SECONDS,
                rrdatas=list(args.get("addresses", ADDRESSES)),
                opts=child,
            ),
            dns.RecordSet(
                f"{name}-all",
                managed_zone=zone.name,
                name=f"*.{DOMAIN}",
                type="CNAME",
                ttl=TTL_SECONDS,
                rrdatas=[f"private.{DOMAIN}"],
                opts=child,
            ),
        ]
        self.zone_name = zone.name
        register(self)
