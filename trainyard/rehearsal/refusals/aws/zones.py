"""What has to stand in one zone: a disk and its machine, a file system of one zone and its mount target.

Sources: Amazon EC2 API, AttachVolume ("the volume and instance must be in the same Availability Zone"),
AttachNetworkInterface and RunInstances; Amazon EFS User Guide, "Managing mount targets" (one of One Zone storage has
one, in its zone); Amazon RDS API, CreateDBInstance (the zone is one of the subnet group's) (2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import (
    DATABASE,
    DATABASE_SUBNETS,
    EBS_VOLUME,
    EC2_INSTANCE,
    EFS,
    EFS_MOUNT_TARGET,
    SUBNET,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

RULE: Final = "aws-zone"
_ZONE: Final = "availabilityZone"
_INTERFACE: Final = "aws:ec2/networkInterface:NetworkInterface"


def _zone_of(view: View | None) -> str | None:
    """The zone that something names, or that its subnet does; None where that is not known."""
    if view is None:
        return None
    subnet = view.referred("subnetId", SUBNET)
    return view.text(_ZONE) or (subnet.text(_ZONE) if subnet is not None else None)


def attached(view: View) -> None:
    """A disk, or an interface, and the machine that it is attached to."""
    machine = view.referred("instanceId", EC2_INSTANCE)
    path, type_ = ("volumeId", EBS_VOLUME) if view.has("volumeId") else ("networkInterfaceId", _INTERFACE)
    part = view.referred(path, type_)
    theirs, own = _zone_of(machine), _zone_of(part)
    if machine is not None and part is not None and theirs and own and theirs != own:
        words = f"{part.name} is in {own}, and {machine.name} in {theirs}"
        view.error(RULE, path, words, allowed="both in one zone")


def machine(view: View) -> None:
    """A zone that is named is that of the subnet."""
    subnet = view.referred("subnetId", SUBNET)
    _same(view, _ZONE, view.text(_ZONE), subnet.text(_ZONE) if subnet is not None else None, subnet)


def mounted(view: View) -> None:
    """The mount target of a file system of one zone."""
    system, subnet = view.referred("fileSystemId", EFS), view.referred("subnetId", SUBNET)
    theirs = system.text("availabilityZoneName") if system is not None else None
    _same(view, "subnetId", subnet.text(_ZONE) if subnet is not None else None, theirs, system)


def _same(view: View, path: str, own: str | None, theirs: str | None, other: View | None) -> None:
    if own and theirs and other is not None and own != theirs:
        view.error(RULE, path, f"in {own}, and {other.name} is in {theirs}", allowed=theirs)


def database(view: View) -> None:
    """A database's zone has a subnet of its group."""
    group, own = view.referred("dbSubnetGroupName", DATABASE_SUBNETS), view.text(_ZONE)
    if group is None or own is None or group.blurred("subnetIds"):
        return
    ids = set(group.texts("subnetIds"))
    subnets = [one for one in view.stack.of_type(SUBNET) if one.resource.id in ids]
    zones = {one.text(_ZONE) for one in subnets}
    if len(subnets) == len(ids) and None not in zones and own not in zones:
        there = ", ".join(sorted(str(zone) for zone in zones))
        view.error(RULE, _ZONE, f"{show(own)}, where subnet group {group.name} has no subnet", allowed=there)


RULES: Final[Rules] = {
    attached: (
        "aws:ec2/volumeAttachment:VolumeAttachment",
        "aws:ec2/networkInterfaceAttachment:NetworkInterfaceAttachment",
    ),
    machine: (EC2_INSTANCE,),
    mounted: (EFS_MOUNT_TARGET,),
    database: (DATABASE,),
}
