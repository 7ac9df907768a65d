"""Kubernetes objects run on nodes that are paid for already, except those that make something in the cloud."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.cost.model import always
from trainyard.cost.rules.network import load_balancer
from trainyard.cost.scene import Found, NotPriced, Scene, read, read_list, unpriced
from trainyard.recorded.model import RecordedResource

_UNITS = {"Ki": 2**-20, "Mi": 2**-10, "Gi": 1.0, "Ti": 2.0**10, "Pi": 2.0**20}
_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def gib(quantity: str) -> float:
    """A Kubernetes quantity of storage in GiB.

    Raises:
        NotPriced: it is not a quantity.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]i|[kMGTP]?)", quantity)
    if match is None:
        raise NotPriced("storage", f"{quantity!r} is not a quantity")
    amount, unit = match.groups()
    return float(amount) * (_UNITS[unit] if unit in _UNITS else _DECIMAL[unit] / 2**30)


def service(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """A service of type LoadBalancer makes one in the cloud."""
    if read(resource, "spec", "type") == "LoadBalancer":
        yield from load_balancer(resource, scene)


def volume_claim(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """A claim without a volume of its own gets a disk from its storage class; a bound one costs nothing."""
    storage_class = read(resource, "spec", "storageClassName")
    if read(resource, "spec", "volumeName") or storage_class == "":
        return
    size = gib(str(read(resource, "spec", "resources", "requests", "storage")))
    if storage_class not in ("gp3", "gp2"):
        what = f"{size:g} GiB of storage class {storage_class or 'by default'}"
        yield unpriced(resource, what, "what the class makes is not in the recording")
        return
    yield scene.line(resource, f"disk, {size:g} GiB", f"ebs.{storage_class}", always(size))


def stateful_set(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Its claim templates make a disk a replica."""
    del scene
    claims = len(read_list(resource, "spec", "volumeClaimTemplates"))
    if claims:
        what = "a disk a replica" if claims == 1 else f"{claims} disks a replica"
        yield unpriced(resource, what, "made by a storage class that is not in the recording")


def ingress(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """An ingress of a cloud's class makes a load balancer."""
    name = read(resource, "spec", "ingressClassName")
    if name == "alb":
        yield from load_balancer(resource, scene)
