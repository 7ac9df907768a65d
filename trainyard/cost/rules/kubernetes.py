"""Kubernetes objects run on nodes that are paid for already, except those that make something in the cloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions.quantities import GIBIBYTE
from trainyard.conventions.quantities import quantity as parsed
from trainyard.cost.context import CostEntry, NotPriced, PriceContext, unpriced
from trainyard.cost.model import Amounts, always
from trainyard.cost.rules import network
from trainyard.cost.rules.gcp import network as gcp_network
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.monitoring import CLAIM, SPEC, is_prometheus_stack, storage_class
from trainyard.recorded.notebooks import is_hub
from trainyard.recorded.read import length_at, number_at, value_at
from trainyard.recorded.types import RESOURCE_QUOTA

VOLUMES: Final[Mapping[str, Mapping[str, str]]] = {
    "aws": {"gp2": "ebs.gp2", "gp3": "ebs.gp3"},
    "gcp": {kind: f"disk.{kind}" for kind in ("pd-balanced", "pd-ssd", "pd-standard")},
}
"""By the `type` that a StorageClass gives the cloud's driver, the price of a GiB-month."""

DISKS: Final[Mapping[str, Mapping[str, str]]] = {
    "aws": {"gp2": "ebs.gp2", "gp3": "ebs.gp3"},
    "gcp": {"standard": "disk.pd-standard", "standard-rwo": "disk.pd-balanced", "premium-rwo": "disk.pd-ssd"},
}
"""Storage class to the price of what it makes, by cloud: GKE's are its own (GKE documentation, as generally known)."""

INGRESS_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {"aws": ("alb",), "gcp": ("gce", "gce-internal")}
"""Ingress classes that make a load balancer in the cloud."""


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
        yield from _load_balancer(resource, context)


def _load_balancer(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    rule = gcp_network.load_balancer if context.cloud_of(resource) == "gcp" else network.load_balancer
    yield from rule(resource, context)


def volume_claim(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A claim without a volume of its own gets a disk from its storage class; a bound one costs nothing."""
    storage_class = value_at(resource.inputs, "spec", "storageClassName")
    if value_at(resource.inputs, "spec", "volumeName") or storage_class == "":
        return
    size = gib(str(value_at(resource.inputs, "spec", "resources", "requests", "storage")))
    disks = DISKS[context.cloud_of(resource)]
    if storage_class not in disks:
        what = f"{size:g} GiB of storage class {storage_class or 'by default'}"
        yield unpriced(resource, what, "what the class makes is not in the recording")
        return
    yield context.line(resource, f"disk, {size:g} GiB", disks[storage_class], always(size))


def stateful_set(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A stateful set's claim templates make a disk for each replica, at a price that is not known."""
    del context
    claims = length_at(resource.inputs, "spec", "volumeClaimTemplates")
    if claims:
        what = "a disk a replica" if claims == 1 else f"{claims} disks a replica"
        yield unpriced(resource, what, "made by a storage class that is not in the recording")


def release(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Pods of a chart run on the nodes; Prometheus has a volume besides, one a replica, and JupyterHub its people's."""
    if is_hub(resource):
        yield from _volumes_of_a_hub(resource, context)
        return
    claim = value_at(resource.inputs, *CLAIM) if is_prometheus_stack(resource) else None
    if claim is None:
        return
    size = gib(str(value_at(claim, "resources", "requests", "storage")))
    replicas = number_at(resource.inputs, *SPEC, "replicas", default=1)
    made = storage_class(context.resources, value_at(claim, "storageClassName"))
    kind = value_at(made.inputs, "parameters", "type") if made is not None else None
    price = VOLUMES[context.cloud_of(resource)].get(str(kind))
    if price is None:
        yield unpriced(resource, f"{size:g} GiB for Prometheus", "what its storage class makes is not in the recording")
        return
    yield context.line(resource, f"volume of Prometheus, {size:g} GiB", price, always(size * replicas))


def _volumes_of_a_hub(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A volume for everybody who ever began a notebook: as many as the namespace's quota allows."""
    values = value_at(resource.inputs, "values", default={})
    if value_at(values, "singleuser", "storage", "type", default="dynamic") != "dynamic":
        return
    size = gib(str(value_at(values, "singleuser", "storage", "capacity", default="10Gi")))
    name = value_at(values, "singleuser", "storage", "dynamic", "storageClass")
    namespace = value_at(resource.inputs, "namespace")
    counted = (
        parsed(str(value_at(quota.inputs, "spec", "hard", "persistentvolumeclaims", default="")))
        for quota in context.resources.of(RESOURCE_QUOTA)
        if value_at(quota.inputs, "metadata", "namespace") == namespace
    )
    people = next((float(count) - 1 for count in counted if count is not None), None)
    made = storage_class(context.resources, name)
    kind = value_at(made.inputs, "parameters", "type") if made is not None else None
    cloud = context.cloud_of(resource)
    price = VOLUMES[cloud].get(str(kind)) or DISKS[cloud].get(str(name))
    if price is None or people is None:
        why = "how many people there are is not in the recording" if people is None else "its storage class is not"
        yield unpriced(resource, f"{size:g} GiB for everybody who has a notebook", why)
        return
    what = f"volumes of notebooks, {size:g} GiB each, up to {people:g}"
    yield context.line(resource, what, price, Amounts(0.0, size * people, size * people))


def ingress(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """An ingress of a cloud's class makes a load balancer."""
    name = value_at(resource.inputs, "spec", "ingressClassName")
    if name in INGRESS_CLASSES[context.cloud_of(resource)]:
        yield from _load_balancer(resource, context)
