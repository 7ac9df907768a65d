"""Subnetworks that live: whose addresses are taken while new ones come before old ones go, and what still uses them.

Compute Engine refuses a range that overlaps with another of the network, and deletes no subnetwork or secondary range
that is in use (Compute Engine API, subnetworks: insert, patch, delete; VPC documentation, "Subnets"; read 2026-11).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.types import GCP_SUBNETWORK, GKE_CLUSTER
from trainyard.rehearsal.change.model import Change, Operation

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def check(change: Change) -> Iterator[Finding]:
    """New ranges that are taken, and ranges that cannot go while pods or services have addresses of them."""
    living = [each for each in change.before.values() if each.type == GCP_SUBNETWORK]
    for step in change.of_type(GCP_SUBNETWORK):
        if step.now is not None and step.operation in (Operation.CREATE, Operation.REPLACE) and not step.deleted_first:
            yield from _taken(step.now, [each for each in living if _same_network(each, step.now)])
        if step.operation is Operation.UPDATE and step.was is not None and step.now is not None:
            yield from _in_use(step.was, step.now, change)


def _taken(now: RecordedResource, living: list[RecordedResource]) -> Iterator[Finding]:
    for name, wanted in _ranges(now).items():
        for each in living:
            overlap = next((other for other in _ranges(each).values() if _overlap(wanted, other)), None)
            if overlap is not None:
                yield Finding.of(
                    now,
                    "change-subnet-cidr-taken",
                    f"the new subnetwork's {name} {wanted} is taken by {overlap} of {each.name}, which goes only after"
                    " the new one is made: Compute Engine refuses it",
                    path="ipCidrRange" if name == _PRIMARY else "secondaryIpRanges",
                    hint="a network's addresses are decided once; another network is another environment beside this",
                )
                return


def _in_use(was: RecordedResource, now: RecordedResource, change: Change) -> Iterator[Finding]:
    """Secondary ranges of a cluster that stays, which are taken away or given other addresses."""
    before, after = _ranges(was), _ranges(now)
    for cluster in change.of(Operation.SAME, Operation.UPDATE):
        if cluster.type != GKE_CLUSTER or cluster.was is None:
            continue
        if was.urn not in cluster.was.property_dependencies.get("subnetwork", (was.urn,)):
            continue
        for key, of in (("clusterSecondaryRangeName", "pods"), ("servicesSecondaryRangeName", "services")):
            name = str(value_at(cluster.was.inputs, "ipAllocationPolicy", key, unknown=None))
            if name in before and after.get(name) != before[name]:
                yield Finding.of(
                    now,
                    "change-subnet-in-use",
                    f"range {name} {before[name]} -> {after.get(name) or 'nothing'}: {of} of {cluster.resource.name}"
                    " have addresses of it, and Compute Engine changes no range in use",
                    path="secondaryIpRanges",
                    hint="add a range beside it, and a node pool that takes its pods' addresses from there",
                )


_PRIMARY = "range"


def _ranges(subnetwork: RecordedResource) -> Mapping[str, _Network]:
    """A subnetwork's ranges by their names; the one of its nodes is `range`."""
    texts = {_PRIMARY: value_at(subnetwork.inputs, "ipCidrRange", unknown=None)}
    secondary = value_at(subnetwork.inputs, "secondaryIpRanges", unknown=None)
    for each in secondary if isinstance(secondary, list) else ():
        texts[str(value_at(each, "rangeName", unknown=None))] = value_at(each, "ipCidrRange", unknown=None)
    found = {}
    for name, text in texts.items():
        try:
            found[name] = ipaddress.ip_network(text if isinstance(text, str) else "")
        except ValueError:
            continue
    return found


def _overlap(one: _Network, other: _Network) -> bool:
    return type(one) is type(other) and one.overlaps(other)


def _same_network(before: RecordedResource, after: RecordedResource) -> bool:
    """Whether both are certain to be in one network: made of the same one of the stack, or named alike."""
    made_of = [set(each.property_dependencies.get("network", ())) for each in (before, after)]
    if made_of[0] or made_of[1]:
        return bool(made_of[0] & made_of[1])
    names = [value_at(each.inputs, "network", unknown=None) for each in (before, after)]
    return names[0] is not None and names[0] == names[1]
