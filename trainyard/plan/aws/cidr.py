"""Splits a VPC's address range into subnets.

The range is cut into eight equal blocks. Block i is the private subnet of the zone in slot i (six zones at most, the
most that a region has); block 6 is cut into sixteen, of which the first eight are public and the last eight isolated;
of block 7, cut into sixteen too, the first eight are the control plane's, and the rest stays free.

A zone's slot is its letter's: `us-east-1c` has slot 2, whichever other zones there are and in whatever order. So a zone
that comes or goes moves no other. A stack's lock may say otherwise, and is followed.

For 10.0.0.0/16: private 10.0.0.0/19, 10.0.32.0/19, …; public 10.0.192.0/23, …; isolated 10.0.208.0/23, …;
control plane 10.0.224.0/23, ….
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from trainyard.plan.aws.parts import Zone

MAX_ZONES = 6
LARGEST_PREFIX = 16
SMALLEST_PREFIX = 20
RESERVED_BY_AWS = 5
"""Addresses of every subnet that AWS keeps for itself."""


def slots_of(zone_names: Sequence[str], locked: Mapping[str, int]) -> dict[str, int]:
    """The slot of each zone: the lock's, else its letter's, else the first that is free, by name."""
    slots = {name: locked[name] for name in zone_names if name in locked}
    for name in sorted(set(zone_names) - slots.keys()):
        letter = ord(name[-1:] or "?") - ord("a")
        if 0 <= letter < MAX_ZONES and letter not in slots.values():
            slots[name] = letter
    for name in sorted(set(zone_names) - slots.keys()):
        slots[name] = next(slot for slot in range(MAX_ZONES) if slot not in slots.values())
    return slots


def plan_zones(vpc_cidr: str, zone_names: Sequence[str], locked: Mapping[str, int] | None = None) -> tuple[Zone, ...]:
    """The subnets of each zone, disjoint and inside the VPC.

    Args:
        vpc_cidr: an IPv4 network of /16 to /20.
        zone_names: at most six names, each once.
        locked: slots that zones have already.

    Raises:
        ValueError: the range is no such network, or there are too many zones or one twice.
    """
    network = IPv4Network(vpc_cidr)
    if not LARGEST_PREFIX <= network.prefixlen <= SMALLEST_PREFIX:
        raise ValueError(f"{vpc_cidr}: a VPC is /{LARGEST_PREFIX} to /{SMALLEST_PREFIX}")
    if len(zone_names) > MAX_ZONES or len(set(zone_names)) != len(zone_names):
        raise ValueError(f"{', '.join(zone_names)}: at most {MAX_ZONES} zones, each once")
    blocks = list(network.subnets(prefixlen_diff=3))
    small, control = (list(block.subnets(prefixlen_diff=4)) for block in blocks[MAX_ZONES:])
    slots = slots_of(zone_names, locked or {})
    return tuple(
        Zone(
            name,
            slot=slots[name],
            public_cidr=str(small[slots[name]]),
            private_cidr=str(blocks[slots[name]]),
            isolated_cidr=str(small[8 + slots[name]]),
            control_cidr=str(control[slots[name]]),
        )
        for name in zone_names
    )


def usable_addresses(cidr: str) -> int:
    """How many addresses of a subnet can be given to interfaces."""
    return IPv4Network(cidr).num_addresses - RESERVED_BY_AWS
