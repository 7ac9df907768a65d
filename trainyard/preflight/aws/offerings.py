"""Whether the plan's zones are there for this account, hold a control plane, and sell the instance types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.account.aws import Account
from trainyard.catalog.instances import region
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "offerings"
_line = lines_of(NAME)


def check(subject: AwsSubject, account: Account) -> Lines:
    """The zones, whose names mean another place in every account; then every group of nodes."""
    zones = {
        each["ZoneName"]: each
        for each in account.each("ec2", "describe_availability_zones", "AvailabilityZones", AllAvailabilityZones=False)
    }
    yield from _zones(subject, zones)
    sold = sold_in(account, {type_ for _, types, _ in groups_of(subject) for type_ in types})
    for name, types, wanted in groups_of(subject):
        lacking = {zone: [type_ for type_ in types if zone not in sold[type_]] for zone in wanted}
        none = [zone for zone in wanted if len(lacking[zone]) == len(types)]
        some = sorted({type_ for types_ in lacking.values() for type_ in types_})
        places = ", ".join(wanted)
        if len(none) == len(wanted):
            elsewhere = sorted({zone for type_ in types for zone in sold[type_]})
            remedy = (
                f"sold in {', '.join(elsewhere)}: name one in network.zones"
                if elsewhere
                else "choose another type or region"
            )
            yield _line(name, Answer.FAILS, f"{places} sells no {' and no '.join(types)}", remedy)
        elif some:
            told = f"{', '.join(some)} is not sold in every zone of {places}; nodes come as the others"
            yield _line(name, Answer.FINE, told)
        else:
            yield _line(name, Answer.FINE, f"{', '.join(types)} is sold in {places}")


def groups_of(subject: AwsSubject) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Name, instance types and zones of every group of nodes."""
    for cluster in subject.plan.clusters:
        for group in cluster.node_groups:
            yield group.name, group.instance_types, group.zones
        for name, nodes in (("system", cluster.system_nodes), ("cpu", cluster.cpu_pool)):
            if nodes is not None:
                yield name, nodes.instance_types, nodes.zones


def sold_in(account: Account, types: set[str]) -> Mapping[str, set[str]]:
    """The zones of the region that sell each type."""
    found: dict[str, set[str]] = defaultdict(set)
    wanted = [{"Name": "instance-type", "Values": sorted(types)}]
    for each in account.each(
        "ec2",
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
        Filters=wanted,
    ):
        found[each["InstanceType"]].add(each["Location"])
    return found


def _zones(subject: AwsSubject, there: Mapping[str, Any]) -> Lines:
    ground = subject.plan.ground
    refused = {zone.id for zone in region(ground.region).zones if not zone.eks}
    for zone in ground.network.zones:
        found = there.get(zone.name)
        if found is None:
            others = ", ".join(sorted(there)) or "none"
            told = f"{zone.name} is no zone of this account"
            yield _line(zone.name, Answer.FAILS, told, f"name others in network.zones: {others}")
        elif found.get("State", "available") != "available":
            yield _line(zone.name, Answer.FAILS, f"{zone.name} is {found['State']}", "name another in network.zones")
        elif found["ZoneId"] in refused and any(zone.name in each.zones for each in ground.control_planes):
            told = f"{zone.name} is {found['ZoneId']} in this account, where EKS places no control plane"
            yield _line(zone.name, Answer.FAILS, told, "name another in network.zones")
        else:
            yield _line(zone.name, Answer.FINE, f"{zone.name} is {found['ZoneId']}")
