"""Taints of node groups, as Kubernetes writes them."""

from __future__ import annotations

from typing import Final

from trainyard.conventions import ACCELERATORS
from trainyard.conventions.gcp import QUEUED_TAINT
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, NodeGroup
from trainyard.recorded.read import is_on, mappings_at, value_at

EFFECTS: Final = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
"""Effects of taints as the clouds spell them, and as Kubernetes does."""

TAINT_EFFECTS: Final = tuple(EFFECTS.values())


def taints_of(group: NodeGroup) -> list[dict[str, str]]:
    """The taints that a pod with GPUs or TPU chips has to tolerate itself on the nodes of a group, the cloud's too.

    GKE tolerates that of GPUs, and that of TPUs, in the name of each pod that asks for some (GKE documentation, "Run
    GPUs", read 2026-11; "Deploy TPU workloads", as generally known).

    Raises:
        UnknownInput: a part of them is not known yet.
    """
    google = group.resource.type == GKE_NODE_POOL
    found = [
        {
            "key": str(value_at(taint, "key", default="")),
            "value": str(value_at(taint, "value", default="")),
            "effect": EFFECTS.get(effect := str(value_at(taint, "effect", default="")), effect),
        }
        for taint in mappings_at(group.resource.inputs, *(("nodeConfig",) if google else ()), "taints")
    ]
    own = [taint for taint in found if not (google and taint["key"] in ACCELERATORS)]
    return [*own, *(taint for taint in taints_of_the_cloud(group.resource) if taint not in own)]


_QUEUED: Final = {"key": QUEUED_TAINT, "value": "true", "effect": "NoSchedule"}


def taints_of_the_cloud(group: RecordedResource) -> list[dict[str, str]]:
    """What the cloud puts on every node of a group, whether it is asked to or not, and tolerates for nobody.

    GKE does so with nodes that come by a ProvisioningRequest alone (GKE documentation, "About GPU obtainability with
    flex-start", and GoogleCloudPlatform/cluster-toolkit, read 2026-11).

    Raises:
        UnknownInput: whether it does is not known yet.
    """
    is_queued = group.type == GKE_NODE_POOL and is_on(value_at(group.inputs, "queuedProvisioning"), "enabled")
    return [dict(_QUEUED)] if is_queued else []
