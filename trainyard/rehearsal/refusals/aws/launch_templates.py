"""Launch templates, placement groups and capacity reservations.

Sources: EC2 and EFA user guides as generally known; counts of interfaces and cards from the project's catalogue
(EC2 DescribeInstanceTypes).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from trainyard.catalog import Instance, instances
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import EFA_INTERFACES, LAUNCH_TEMPLATE
from trainyard.recorded.read import as_number
from trainyard.recorded.types import CAPACITY_RESERVATION, EC2_INSTANCE, PLACEMENT_GROUP
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.eks import instance_types
from trainyard.rehearsal.refusals.rules import Rules


def catalogue(instance_type: str | None) -> Instance | None:
    """The catalogue's entry of a GPU instance type; None for any other."""
    return next((item for item in instances() if item.type == instance_type), None)


def template_conflicts(view: View) -> None:
    """Inputs that exclude or need each other."""
    cards = view.entries("networkInterfaces")
    if cards:
        for key in ("vpcSecurityGroupIds", "securityGroupNames"):
            if view.has(key):
                view.error(
                    "launch-template-security-groups",
                    key,
                    "cannot be given beside networkInterfaces",
                    allowed="securityGroups of each network interface",
                )
    if view.has("vpcSecurityGroupIds") and view.has("securityGroupNames"):
        view.error(
            "launch-template-security-groups",
            "securityGroupNames",
            "given beside vpcSecurityGroupIds",
            allowed="one of them",
        )
    if view.has("instanceType") and view.has("instanceRequirements"):
        view.error(
            "launch-template-conflict", "instanceRequirements", "given beside instanceType", allowed="one of them"
        )
    if view.has("capacityReservationSpecification.capacityReservationTarget") and view.text(
        "capacityReservationSpecification.capacityReservationPreference"
    ) in ("open", "none"):
        view.error(
            "capacity-reservation",
            "capacityReservationSpecification.capacityReservationPreference",
            "given beside a target",
            allowed="capacity-reservations-only, or only the target",
        )
    market = view.text("instanceMarketOptions.marketType")
    if market == "capacity-block" and view.has("instanceMarketOptions.spotOptions"):
        view.error(
            "capacity-block",
            "instanceMarketOptions.spotOptions",
            "given with market type capacity-block",
            allowed="spotOptions with market type spot only",
        )
    for path, mapping in view.items("blockDeviceMappings"):
        _volume(view, path, mapping)


def _volume(view: View, path: str, mapping: Mapping[str, Any]) -> None:
    disk = mapping.get("ebs")
    if not isinstance(disk, Mapping):
        return
    kind, throughput, iops = disk.get("volumeType"), as_number(disk.get("throughput")), as_number(disk.get("iops"))
    if throughput is not None:
        if isinstance(kind, str) and kind != "gp3":
            view.error(
                "ebs-throughput", f"{path}.ebs.throughput", f"given for {kind}", allowed="only gp3 has a throughput"
            )
        elif not 125 <= throughput <= 2000:
            view.error(
                "ebs-throughput", f"{path}.ebs.throughput", f"got {throughput:g}", allowed="must be 125 to 2000 MiB/s"
            )
        elif iops is not None and throughput > iops * 0.25:
            view.error(
                "ebs-throughput",
                f"{path}.ebs.throughput",
                f"got {throughput:g} with {iops:g} IOPS",
                allowed="at most a quarter MiB/s per provisioned IOPS",
            )
    if iops is not None and isinstance(kind, str) and kind not in ("gp3", "io1", "io2"):
        view.error("ebs-iops", f"{path}.ebs.iops", f"given for {kind}", allowed="gp3, io1 and io2 have IOPS")
    elif kind in ("io1", "io2") and disk.get("iops") is None:
        view.error("ebs-iops", f"{path}.ebs.iops", f"is missing for {kind}", allowed="IOPS, which it is sold by")
    elif iops is not None and kind == "gp3" and not 3000 <= iops <= 80000:
        view.error("ebs-iops", f"{path}.ebs.iops", f"got {iops:g}", allowed="must be 3000 to 80000 for gp3")
    if disk.get("kmsKeyId") is not None and str(disk.get("encrypted")).lower() in ("false", "f", "0", "none"):
        view.error("ebs-encrypted", f"{path}.ebs.encrypted", "a key is given without encryption", allowed='"true"')


def efa_layout(view: View) -> None:
    """Network interfaces by card: what the instance has, one primary, indexes that do not collide."""
    items = [(path, item) for path, item in view.items("networkInterfaces")]
    places_known = all(UNKNOWN not in (item.get("networkCardIndex"), item.get("deviceIndex")) for _, item in items)
    if not items or not places_known:
        return
    places = Counter((_index(item, "networkCardIndex"), _index(item, "deviceIndex")) for _, item in items)
    for path, item in items:
        card, device = _index(item, "networkCardIndex"), _index(item, "deviceIndex")
        if places[card, device] > 1:
            view.error(
                "efa-layout",
                path,
                f"network card {card} has device index {device} twice",
                allowed="one interface a place",
            )
            break
        if card > 0 and device == 0:
            view.error(
                "efa-layout",
                f"{path}.deviceIndex",
                f"0 on network card {card}",
                allowed="0 is the primary interface, on card 0 alone; 1 on the other cards",
            )
        if len(items) > 1 and str(item.get("associatePublicIpAddress")).lower() == "true":
            view.error(
                "efa-public-address",
                f"{path}.associatePublicIpAddress",
                f"true with {len(items)} interfaces",
                allowed="a public address needs a single interface",
            )
    if (0, 0) not in places and not view.blurred("networkInterfaces"):
        view.error(
            "efa-layout",
            "networkInterfaces",
            "no interface on network card 0 with device index 0",
            allowed="the primary interface",
        )
    primary = next(
        (item for _, item in items if _index(item, "networkCardIndex") == _index(item, "deviceIndex") == 0), None
    )
    if primary is not None and primary.get("interfaceType") == "efa-only":
        view.error("efa-layout", "networkInterfaces", "the primary interface is efa-only", allowed="efa or interface")
    name = view.text("instanceType")
    if name is not None:
        against_catalogue(view, name)


def _index(item: Mapping[str, Any], key: str) -> int:
    return int(as_number(item.get(key)) or 0)


def against_catalogue(view: View, name: str) -> None:
    """Network interfaces of a template against what an instance type has, as far as the catalogue knows it."""
    found = catalogue(name)
    items = list(view.items("networkInterfaces"))
    if found is None:
        return
    efa = [(path, item) for path, item in items if item.get("interfaceType") in EFA_INTERFACES]
    if efa and not found.efa_interfaces:
        view.error(
            "efa-unsupported",
            f"{efa[0][0]}.interfaceType",
            f"{name} has no Elastic Fabric Adapter",
            allowed="interface",
        )
        return
    if len(efa) > found.efa_interfaces > 0:
        view.error(
            "efa-count",
            "networkInterfaces",
            f"{len(efa)} EFA interfaces on {name}",
            allowed=f"at most {found.efa_interfaces}",
        )
    for path, item in items:
        card = _index(item, "networkCardIndex")
        if card >= found.network_cards:
            view.error(
                "efa-card",
                f"{path}.networkCardIndex",
                f"{card} on {name}",
                allowed=f"0 to {found.network_cards - 1}: it has {found.network_cards} network cards",
            )


def template_placement(view: View) -> None:
    """A placement group that does not suit the reservation, or the spreading of the group."""
    for key in ("groupName", "groupId"):
        group = view.referred(f"placement.{key}", PLACEMENT_GROUP)
        if group is None:
            continue
        if view.has("placement.partitionNumber") and group.text("strategy") not in (None, "partition"):
            view.error(
                "placement-partition",
                "placement.partitionNumber",
                f"placement group {group.name} has no partitions",
                allowed="strategy partition",
            )
        if group.text("strategy") != "cluster":
            continue  # instances of the others are spread over what there is, in a reservation too
        target = "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"
        reservation = view.referred(target, CAPACITY_RESERVATION)
        outside = view.has(target) and reservation is None  # made before the group, then
        if outside or (reservation is not None and reservation.lacks("placementGroupArn")):
            view.warning(
                "placement-reservation",
                f"placement.{key}",
                f"placement group {group.name} beside a reservation that was not made in it: its machines may stand "
                "too far apart, and instances then do not start",
                allowed="no placement group, or a reservation with placementGroupArn",
            )


def placement_group(view: View) -> None:
    """Partition count and spread level belong to one strategy each."""
    strategy = view.text("strategy")
    count = view.number("partitionCount")
    if view.has("partitionCount") and strategy is not None and strategy != "partition":
        view.error(
            "placement-partition",
            "partitionCount",
            f"given with strategy {strategy}",
            allowed="strategy partition only",
        )
    elif count is not None and not 1 <= count <= 7:
        view.error("placement-partition", "partitionCount", f"got {count:g}", allowed="must be 1 to 7")
    if view.has("spreadLevel") and strategy is not None and strategy != "spread":
        view.error("placement-spread", "spreadLevel", f"given with strategy {strategy}", allowed="strategy spread only")


def capacity_reservation(view: View) -> None:
    """The end date and its type go together; the instance type exists."""
    kind = view.text("endDateType")
    if kind == "limited" and view.lacks("endDate"):
        view.error("capacity-reservation", "endDate", "is missing", allowed="a date with endDateType limited")
    if view.has("endDate") and kind != "limited" and not view.is_unknown("endDateType"):
        view.error("capacity-reservation", "endDateType", f"got {show(kind)} with an end date", allowed="limited")
    count = view.number("instanceCount")
    if count is not None and count < 1:
        view.error("capacity-reservation", "instanceCount", f"got {count:g}", allowed="at least 1")
    name = view.text("instanceType")
    if name is not None and name not in instance_types():
        view.error(
            "instance-type",
            "instanceType",
            f"EC2 has no instance type {show(name)}",
            hint=nearest(name, instance_types()),
        )


_SHARED: Final = re.compile(
    r"(t1|t2|cc2|cr1|hs1)\.|c1\.medium|m1\.(small|medium)|m2\.xlarge|m3\.(medium|large)"
    r"|(c3|r3)\.(large|8xlarge)|(g2|i2)\.8xlarge"
)
"""Types whose network is that of their disks too (EC2 User Guide, "Amazon EBS-optimized instance types", 2026-11)."""


def optimized(view: View) -> None:
    """A type that has no way of its own to its disks cannot be asked for one."""
    name = view.text("instanceType")
    if name is not None and str(view.value("ebsOptimized")).lower() == "true" and _SHARED.match(name):
        view.error(
            "ebs-optimized", "ebsOptimized", f"got true for {name}", allowed="false, or a type of a later generation"
        )


RULES: Final[Rules] = {
    optimized: (LAUNCH_TEMPLATE, EC2_INSTANCE),
    template_conflicts: (LAUNCH_TEMPLATE,),
    efa_layout: (LAUNCH_TEMPLATE,),
    template_placement: (LAUNCH_TEMPLATE,),
    placement_group: (PLACEMENT_GROUP,),
    capacity_reservation: (CAPACITY_RESERVATION,),
}
