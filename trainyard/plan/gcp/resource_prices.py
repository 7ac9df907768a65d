"""What is paid besides GPUs, for the ledger: list prices of nodes without GPUs and of disks."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.catalog import gcp as catalog
from trainyard.conventions.gcp import BLOCK_STORAGE_CLASS
from trainyard.plan.parts import CpuNodesPlan

_DISKS = {
    BLOCK_STORAGE_CLASS: "disk.pd-balanced",
    "standard": "disk.pd-standard",
    "standard-rwo": "disk.pd-balanced",
    "premium-rwo": "disk.pd-ssd",
}
"""The platform's own class, and those that GKE makes (GKE documentation, as generally known)."""


def node_hour_usd(nodes: Iterable[CpuNodesPlan | None], region: str) -> dict[str, float]:
    """USD an hour by machine type, in the region where its price was read; types without a price are left out."""
    found = {}
    for type_ in (type_ for each in nodes if each is not None for type_ in each.instance_types):
        try:
            price = catalog.machine_price(type_, region)
        except KeyError:
            continue  # a problem is recorded where the type is no type, and else it is in no sum
        if price is not None:
            found[type_] = price.usd
    return found


def volume_gib_month_usd(region: str) -> dict[str, float]:
    """USD a GiB and month by storage class."""
    return {class_: catalog.service_price(key, region).usd for class_, key in _DISKS.items()}
