"""What is paid besides GPUs, for the ledger: list prices of nodes without GPUs and of volumes."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard import catalog
from trainyard.catalog import service_price
from trainyard.conventions.aws import BLOCK_STORAGE_CLASS
from trainyard.plan.parts import CpuNodesPlan

_VOLUMES = {BLOCK_STORAGE_CLASS: "ebs.gp3", "gp2": "ebs.gp2"}
"""The platform's own class, and the one that EKS makes (EKS User Guide, as generally known)."""


def node_hour_usd(nodes: Iterable[CpuNodesPlan | None]) -> dict[str, float]:
    """USD an hour by instance type, of us-east-1; types without a price are left out."""
    found = {}
    for type_ in (type_ for each in nodes if each is not None for type_ in each.instance_types):
        try:
            found[type_] = catalog.cpu_instance(type_).usd_per_hour
        except KeyError:
            continue  # a problem is recorded where the type is no type, and else it is in no sum
    return found


def volume_gib_month_usd() -> dict[str, float]:
    """USD a GiB and month by storage class."""
    return {class_: service_price(key).usd for class_, key in _VOLUMES.items()}
