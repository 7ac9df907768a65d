"""What only one thing may have, or a few: an Elastic IP address, a zone's place for a mount target, a rule's targets.

Sources: EC2 API, CreateNatGateway and AssociateAddress (`Resource.AlreadyAssociated`); EFS API, CreateMountTarget
(`MountTargetConflict`: one mount target a zone); quotas that nobody raises: EventBridge User Guide, "Amazon EventBridge
quotas"; CloudWatch Logs User Guide, "CloudWatch Logs quotas", read 2026-11.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import (
    EFS_MOUNT_TARGET,
    EVENT_TARGET,
    LOAD_BALANCER,
    LOG_SUBSCRIPTION_FILTER,
    NAT_GATEWAY,
    SUBNET,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.rules import Rules

_HOLDERS: Final = (
    (NAT_GATEWAY, "allocationId", ""),
    (NAT_GATEWAY, "secondaryAllocationIds", ""),
    ("aws:ec2/eipAssociation:EipAssociation", "allocationId", ""),
    (LOAD_BALANCER, "subnetMappings", "allocationId"),
)
"""What takes an Elastic IP address: the type, and where it says which."""
_TYPES: Final = tuple(dict.fromkeys(type_ for type_, _, _ in _HOLDERS))


def address(view: View) -> None:
    """An Elastic IP address is one thing's; of two that take one the later is told."""
    every = [one for type_ in _TYPES for one in view.stack.of_type(type_)]
    if view is not every[0]:
        return  # all are looked at together
    held: dict[str, View] = {}
    for holder in every:
        for type_, key, inner in _HOLDERS:
            for path, taken in _taken(holder, key, inner) if type_ == holder.type else ():
                other = held.setdefault(taken, holder)
                if other is not holder and _is_one(holder, taken):
                    message = f"{other.name} has this address already"
                    holder.error("eip-taken", path, message, allowed="an Eip of its own")


def _is_one(view: View, value: object) -> bool:
    """Whether an id is one thing's: stand-ins of two of a logical name, in two components, are the same."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        return True
    return sum(1 for resource in view.stack.resources.all if resource.id == value) <= 1


_ID: Final = re.compile(r"(vpc|subnet|sg|rtb|eipalloc|fs|d|igw)-[0-9a-f]+")


def _taken(view: View, key: str, inner: str) -> Iterator[tuple[str, str]]:
    """Paths and ids of the addresses that an input names."""
    if inner:
        paths = [f"{path}.{inner}" for path, _ in view.items(key)]
    elif isinstance(view.value(key), list):
        paths = [f"{key}[{index}]" for index, _ in enumerate(view.entries(key))]
    else:
        paths = [key]
    for path in paths:
        taken = view.text(path)
        if taken:
            yield path, taken


def mount_target(view: View) -> None:
    """A file system of EFS has one mount target a zone."""
    every = view.stack.of_type(EFS_MOUNT_TARGET)
    if view is not every[0]:
        return  # all are looked at together
    seen: dict[tuple[str, str], View] = {}
    for target in every:
        subnet, system = target.referred("subnetId", SUBNET), target.text("fileSystemId")
        zone = subnet.text("availabilityZone") if subnet else None
        place = zone or target.text("subnetId")
        if place is None or system is None:
            continue
        other = seen.setdefault((system, place), target)
        if other is not target and _is_one(target, system) and _is_one(target, target.text("subnetId")):
            message = f"lies in {place}, where the file system has {other.name}"
            target.error("efs-mount-target", "subnetId", message, allowed="one mount target a zone")


_DEFAULT_BUS: Final = "default"
_A_FEW: Final = {
    EVENT_TARGET: (("eventBusName", "rule"), 5, "targets"),
    LOG_SUBSCRIPTION_FILTER: (("logGroupName",), 2, "subscriptions"),
}
"""What a thing has few of: by type, which inputs name the thing, how many it takes, and what they are called."""


def a_few(view: View) -> None:
    """No more than a thing takes; the first that is too many is told."""
    keys, most, called = _A_FEW[view.type]
    every = view.stack.of_type(view.type)
    if view is not every[0] or len(every) <= most:
        return  # all are looked at together
    seen: Counter[tuple[str | None, ...]] = Counter()
    for one in every:
        of = tuple(None if one.text(key) == _DEFAULT_BUS else one.text(key) for key in keys)
        if of[-1] is None:
            continue
        seen[of] += 1
        if seen[of] == most + 1:
            one.error("too-many", keys[-1], f"{of[-1]} has {most} {called} already", allowed=f"at most {most}")


RULES: Final[Rules] = {address: _TYPES, mount_target: (EFS_MOUNT_TARGET,), a_few: tuple(_A_FEW)}
