"""How many pods an autoscaler keeps of what it scales.

Sources: Kubernetes documentation, "Horizontal Pod Autoscaling" (`minReplicas` is 1 where it is not said); KEDA,
"ScaledObject specification" (`minReplicaCount` is 0), as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.rehearsal.context import Stack

Target = tuple[str, str, str]
"""Namespace, kind and name of what is scaled."""

_LEAST: Final = {"HorizontalPodAutoscaler": ("spec.minReplicas", 1), "ScaledObject": ("spec.minReplicaCount", 0)}
"""Where an autoscaler says how many pods it keeps, and how many where it does not say."""


def scaled(stack: Stack) -> Mapping[Target, int | None]:
    """The fewest pods that an autoscaler keeps, by its target; None where that is not known."""
    found: dict[Target, int | None] = {}
    for view in stack.views:
        least = _LEAST.get(view.type.rpartition(":")[2]) or _LEAST.get(view.text("kind") or "")
        if least is None or not view.type.startswith("kubernetes:"):
            continue
        path, otherwise = least
        target = view.mapping("spec.scaleTargetRef")
        namespace = view.text("metadata.namespace") or "default"
        what = target.get("kind") or "Deployment"  # which a ScaledObject may leave out
        given = view.number(path)
        known = given if given is not None else otherwise if view.lacks(path) else None
        found[namespace, str(what), str(target.get("name"))] = None if known is None else int(known)
    return found


def kept(target: Target, replicas: int | None, fewest: Mapping[Target, int | None]) -> int | None:
    """Pods that are there at least: an autoscaler's figure where the object leaves the number to it; None where it is
    not known.

    One that has both begins with its own, which the autoscaler raises.
    """
    least = fewest.get(target, replicas)
    if replicas is None or least is None:
        return None
    return least if replicas == 1 else max(least, replicas)
