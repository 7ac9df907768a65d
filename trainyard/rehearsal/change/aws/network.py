"""Networks that live: what keeps to its VPC, and whose addresses are taken while new subnets come before old ones go.

EC2 answers `InvalidSubnet.Conflict` where a subnet's CIDR overlaps with another of the VPC (EC2 API reference, client
error codes); a control plane's subnets and those of a group of RDS stay in one VPC (EKS user guide, network-reqs; RDS
API reference, ModifyDBSubnetGroup; read 2026-11).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.types import DATABASE_SUBNETS, EKS_CLUSTER, SUBNET, VPC
from trainyard.rehearsal.change.model import Change, Operation

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def check(change: Change) -> Iterator[Finding]:
    """What would have to move to another VPC, and new subnets whose addresses one has that still stands then."""
    yield from _moved(change)
    if any(step.goes for step in change.of_type(VPC)):
        return  # the new ones are in another VPC
    living = [
        (each, network)
        for each in change.before.values()
        if each.type == SUBNET and (network := _network(each)) is not None
    ]
    for step in change.of_type(SUBNET):
        if step.now is None or step.operation not in (Operation.CREATE, Operation.REPLACE) or step.deleted_first:
            continue
        wanted = _network(step.now)
        taken = [
            each
            for each, network in living
            if wanted is not None
            and type(network) is type(wanted)
            and network.overlaps(wanted)
            and _same_vpc(each, step.now)
        ]
        if taken:
            yield Finding.of(
                step.now,
                "change-subnet-cidr-taken",
                f"the new subnet's {wanted} is taken by {taken[0].name}, which goes only after the new one is made:"
                " EC2 refuses it",
                path="cidrBlock",
                hint="give each zone the same addresses for ever, and a new zone addresses that no subnet had",
            )


def _moved(change: Change) -> Iterator[Finding]:
    """What is changed in place and would have to go to subnets of another VPC."""
    for step in change.of_type(EKS_CLUSTER, DATABASE_SUBNETS):
        if step.operation is not Operation.UPDATE:
            continue
        subnets = [found for each in step.differences if each.of and (found := change.step_of(each.of)) is not None]
        moved = next((each for each in subnets if each.type == SUBNET and each.changed("vpcId") is not None), None)
        if moved is not None:
            yield Finding.of(
                step.resource,
                "change-other-network",
                f"would have to move to another VPC with {moved.resource.name}: it keeps to the one it was made in",
                path=next(each.path for each in step.differences if each.of == moved.urn),
                hint="a network's addresses are decided once; another network is another environment beside this one",
            )


def _network(subnet: RecordedResource) -> _Network | None:
    text = value_at(subnet.inputs, "cidrBlock", unknown=None)
    try:
        return ipaddress.ip_network(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _same_vpc(before: RecordedResource, after: RecordedResource) -> bool:
    """Whether both are certain to be in one VPC: made of the same one of the stack, or named alike."""
    made_of = [set(each.property_dependencies.get("vpcId", ())) for each in (before, after)]
    if made_of[0] or made_of[1]:
        return bool(made_of[0] & made_of[1])
    ids = [value_at(each.inputs, "vpcId", unknown=None) for each in (before, after)]
    return ids[0] is not None and ids[0] == ids[1]
