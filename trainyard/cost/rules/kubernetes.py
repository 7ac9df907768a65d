"""Kubernetes objects run on nodes that are paid for already, except those that make something in the cloud."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.conventions.quantities import GIBIBYTE
from trainyard.conventions.quantities import quantity as parsed
from trainyard.cost.context import CostEntry, NotPriced, PriceContext, unpriced
from trainyard.cost.model import always
from trainyard.cost.rules.network import load_balancer
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import length_at, value_at


def gib(quantity: str) -> float:
    """A Kubernetes quantity of storage in GiB.

    Raises:
        NotPriced: it is not a quantity.
    """
    amount = parsed(quantity)
    if amount is None or amount < 0:
        raise NotPriced("storage", f"{quantity!r} is not a quantity")
    return float(amount / GIBIBYTE)


def service(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A service of type LoadBalancer makes one in the cloud."""
    if value_at(resource.inputs, "spec", "type") == "LoadBalancer":
        yield from load_balancer(resource, context)


def volume_claim(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A claim without a volume of its own gets a disk from its storage class; a bound one costs nothing."""
    storage_class = value_at(resource.inputs, "spec", "storageClassName")
    if value_at(resource.inputs, "spec", "volumeName") or storage_class == "":
        return
    size = gib(str(value_at(resource.inputs, "spec", "resources", "requests", "storage")))
    if storage_class not in ("gp3", "gp2"):
        what = f"{size:g} GiB of storage class {storage_class or 'by default'}"
        yield unpriced(resource, what, "what the class makes is not in the recording")
        return
    yield context.line(resource, f"disk, {size:g} GiB", f"ebs.{storage_class}", always(size))


def stateful_set(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A stateful set's claim templates make a disk for each replica, at a price that is not known."""
    del context
    claims = length_at(resource.inputs, "spec", "volumeClaimTemplates")
    if claims:
        what = "a disk a replica" if claims == 1 else f"{claims} disks a replica"
        yield unpriced(resource, what, "made by a storage class that is not in the recording")


def ingress(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """An ingress of a cloud's class makes a load balancer."""
    name = value_at(resource.inputs, "spec", "ingressClassName")
    if name == "alb":
        yield from load_balancer(resource, context)
