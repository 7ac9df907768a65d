"""Labels that a service puts on the nodes of a group without being asked."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.model import RecordedResource, bare
from trainyard.recorded.read import follow

EKS_LABELS: Final = "eks.amazonaws.com/"
"""Beginning of the labels that EKS puts on nodes."""


def eks_labels(group: RecordedResource) -> dict[str, frozenset[str] | None]:
    """What EKS itself labels the nodes of a managed node group with; None for a value that is not known.

    Source: EKS User Guide, "Simplify node lifecycle with managed node groups" (2026-11).
    """
    kind = bare(follow(group.inputs, "capacityType"))
    name = bare(follow(group.inputs, "nodeGroupName"))
    return {
        f"{EKS_LABELS}capacityType": frozenset(("ON_DEMAND",)) if kind is None else _one(kind),
        f"{EKS_LABELS}nodegroup": _one(name),
        f"{EKS_LABELS}compute-type": None,
    }


def _one(value: object) -> frozenset[str] | None:
    return frozenset((value,)) if isinstance(value, str) else None
