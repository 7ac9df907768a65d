"""Networks that live: what keeps to its VPC, and whose addresses are taken while new subnets come before old ones go.

EC2 answers `InvalidSubnet.Conflict` where a subnet's CIDR overlaps with another of the VPC (EC2 API reference, client
error codes); a control plane's subnets and those of a group of RDS stay in one VPC (EKS user guide, network-reqs; RDS
API reference, ModifyDBSubnetGroup; read 2026-11).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import follow, value_at
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
        if step.operation is not Operation.UPDATE or step.was is None or step.now is None:
            continue
        subnets = [found for each in step.differences if each.of and (found := change.step_of(each.of)) is not None]
        moved = next((each for each in subnets if each.type == SUBNET and each.changed("vpcId") is not None), None)
        key = "vpcConfig.subnetIds" if step.type == EKS_CLUSTER else "subnetIds"
        before = _vpcs_of(step.was, key, change.before)
        after = _vpcs_of(step.now, key, change.after)
        if moved is not None:
            where, path = moved.resource.name, next(each.path for each in step.differences if each.of == moved.urn)
        elif before and after and before.isdisjoint(after):
            where, path = f"subnets of {min(after, key=len).rpartition('::')[2]}", key
        else:
            continue
        yield Finding.of(
            step.resource,
            "change-other-network",
            f"would have to move to another VPC with {where}: it keeps to the one it was made in",
            path=path,
            hint="a network's addresses are decided once; another network is another environment beside this one",
        )


def _vpcs_of(resource: RecordedResource, key: str, resources: Mapping[str, RecordedResource]) -> frozenset[str]:
    """How the VPCs are called whose subnets an input names; nothing where one of them is not known."""
    top, *below = key.split(".")
    ids = follow(resource.inputs, top, *below)
    by_id = {each.id: each for each in resources.values() if each.type == SUBNET and isinstance(each.id, str)}
    if isinstance(ids, list) and ids and all(each in by_id for each in ids):
        subnets = [by_id[each] for each in ids]
    else:  # a rehearsal's JSON has no ids: what the input is made of
        made_of = resource.property_dependencies.get(top, ())
        subnets = [each for urn in made_of if (each := resources.get(urn)) is not None and each.type == SUBNET]
    found = [_names_of_vpc(subnet, resources) for subnet in subnets]
    return frozenset[str]().union(*found) if all(found) else frozenset()


def _names_of_vpc(subnet: RecordedResource, resources: Mapping[str, RecordedResource]) -> frozenset[str]:
    """How the VPC of a subnet is called: by its URN and its id where the stack makes it, by its id where it is somebody
    else's; by nothing where that is not known."""
    named = value_at(subnet.inputs, "vpcId", unknown=None)
    made_of = [urn for urn in subnet.property_dependencies.get("vpcId", ()) if urn in resources]
    made = [each for each in resources.values() if each.type == VPC and not each.read and named and each.id == named]
    vpcs = [*(resources[urn] for urn in made_of if resources[urn].type == VPC), *made]
    known = {text for vpc in vpcs for text in (vpc.urn, vpc.id) if isinstance(text, str)}
    return frozenset(known | ({named} if isinstance(named, str) else set()))


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
