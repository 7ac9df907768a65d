"""What machines and databases that the catalogue does not have cost at most: plain ones whose name tells their size."""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, GKE_NODE_POOL, node_group
from trainyard.recorded.read import is_on, is_set, text_at
from trainyard.recorded.replicas import source_of
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DATABASE, EC2_INSTANCE

DEAREST_REGION: Final = 1.75
"""What a machine costs in a region at most, as a multiple of us-east-1: São Paulo, the dearest of both clouds, sells
c5, m5 and r5 at 1.54 to 1.6 times, and n2 at 1.59 (as generally known, 2026-11)."""

PLAIN_VCPU_USD: Final = round(0.13 * DEAREST_REGION, 2)
"""At most, an hour, in any region, on demand, Linux. The dearest vCPU of a plain family in us-east-1 is 0.129, of r8idn
(Karpenter's generated pricing, of the AWS Price List, 2026-07-20); of Google's plain families less (as generally known,
2026-11)."""

PLAIN_DATABASE_VCPU_USD: Final = round(0.20 * DEAREST_REGION, 2)
"""The same of an instance of RDS with an engine that has no licence, in one zone. In us-east-1 the dearest vCPU of a
plain family is some 0.15, of r6id; most are 0.08 to 0.13 (as generally known, 2026-11)."""
_FREE_ENGINES: Final = ("postgres", "mysql", "mariadb")

_AWS: Final = re.compile(
    r"[acmrtz]\d(?![a-z]*b)[a-z]*(?:-flex)?\."
    r"(?:metal-)?(?:(?P<many>\d*)x(?:large|l)|large|medium|small|micro|nano)"
)
"""Plain families of EC2; a size of `xlarge` has 4 vCPUs, a smaller one 2 at most (Amazon EC2 instance types).

Not those whose vCPUs come with more than a plain one's memory, disks or bandwidth to disks, and cost what these do: d,
h, i, u and x, and whatever has a `b` (r8gb: 0.193 in us-east-1)."""
_GOOGLE: Final = re.compile(
    r"(?:e2|n1|n2d?|n4d?a?|c2d?|c3d?|c4[ad]?|t2[ad]|h3|h4d)-"
    r"(?:(?:standard|highcpu|highmem)-(?P<count>\d+)(?:-metal)?|custom-(?P<own>\d+)-\d+|micro|small|medium)"
)
"""Plain families of Compute Engine; the first number of a size is that of its vCPUs. Not m, x and z3, nor what has
disks of its own (`-lssd`) or memory without a limit by vCPU (`-ext`)."""


def vcpus(type_: str) -> int | None:
    """vCPUs of a plain machine type, by its name; None of an accelerated one, and of a name that does not tell."""
    found = _AWS.fullmatch(type_)
    if found is not None:
        return 4 * int(found["many"] or 1) if found["many"] is not None else 2
    found = _GOOGLE.fullmatch(type_)
    if found is not None:
        return int(found["count"] or found["own"] or 2)
    return None


def at_most(resource: RecordedResource, resources: Resources) -> float | None:
    """USD an hour that a machine, or a group of nodes at its largest, does not pass; None where that is not known."""
    if resource.type == EC2_INSTANCE:
        types: tuple[str, ...] = (text_at(resource.inputs, "instanceType") or "",)
        count = 1
    elif resource.type in (EKS_NODE_GROUP, GKE_NODE_POOL) and not is_set(
        resource.inputs, "nodeConfig", "guestAccelerators"
    ):
        group = node_group(resource, resources)
        types, count = group.instance_types, group.max_nodes
    elif resource.type == DATABASE:
        return _of_a_database(resource, resources)
    else:
        return None
    sizes = [vcpus(type_) for type_ in types]
    if not sizes or None in sizes:
        return None
    return count * max(size for size in sizes if size is not None) * PLAIN_VCPU_USD


def _of_a_database(resource: RecordedResource, resources: Resources) -> float | None:
    source = source_of(resource, resources) or resource
    engine = text_at(resource.inputs, "engine") or text_at(source.inputs, "engine")
    size = vcpus((text_at(resource.inputs, "instanceClass") or "").removeprefix("db."))
    if engine not in _FREE_ENGINES or size is None:
        return None
    return (2 if is_on(resource.inputs, "multiAz") else 1) * size * PLAIN_DATABASE_VCPU_USD
