"""Classes that pods and disks ask for: runtime classes that are made, zones of storage classes that nodes are in.

Sources: Kubernetes documentation, "Runtime Class" (a pod of a class that is not there is refused when it is made) and
"Storage Classes", `allowedTopologies`; GKE, "GKE Sandbox"; the GPU operator's documentation, `nvidia` (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.quantities import quantity
from trainyard.recorded.types import GKE_CLUSTER, GKE_NODE_POOL, SUBNET
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_ZONE_KEYS: Final = re.compile(r"topology\.kubernetes\.io/zone|topology\.[a-z.]+\.com/zone|topology\.gke\.io/zone")
_SANDBOX: Final = "gvisor"


def check(cluster: Cluster) -> None:
    """Every class that a pod names, and every zone that a class allows."""
    for pod in cluster.pods:
        _runtime(pod, cluster)
    _defaults(cluster)
    for view in cluster.of("StorageClass"):
        zones = zones_of(cluster)
        for path, topology in view.items("allowedTopologies"):
            for expression in listed(topology.get("matchLabelExpressions")):
                key = str(expression.get("key")) if isinstance(expression, dict) else ""
                values = [one for one in listed(expression.get("values")) if isinstance(one, str)] if key else []
                if _ZONE_KEYS.fullmatch(key) and values and zones and not set(values) & zones:
                    view.error(
                        "reference-class-zone",
                        f"{path}.matchLabelExpressions",
                        f"allows volumes in {', '.join(values)} alone, and no node starts there: no pod gets one",
                        allowed=f"among {', '.join(sorted(zones))}",
                    )


def _defaults(cluster: Cluster) -> None:
    """A class of priority that every pod has which names none: one of them, and none that a quota lets no pod have."""
    every = [view for view in cluster.of("PriorityClass") if view.flag("globalDefault")]
    for view in every[1:]:
        view.error(
            "reference-default-priority", "globalDefault",
            f"is true, and PriorityClass {every[0].text('metadata.name')} is the default already: one of them is "
            "refused", allowed="false",
        )  # fmt: skip
    for view in every[:1]:
        name = view.text("metadata.name")
        counted = sorted(
            f"{quota.text('metadata.namespace')}/{quota.text('metadata.name')}"
            for quota in cluster.of("ResourceQuota")
            if _lets_nobody(quota)
            for _, one in quota.items("spec.scopeSelector.matchExpressions")
            if one.get("scopeName") == "PriorityClass"
            and one.get("operator") == "In"
            and name in listed(one.get("values"))
        )
        if counted:
            view.error(
                "reference-default-priority", "globalDefault",
                f"gives class {show(name)} to every pod that names none, and ResourceQuota {', '.join(counted[:3])} "
                "lets none of them be: they are refused", allowed="false",
            )  # fmt: skip


def _lets_nobody(quota: View) -> bool:
    """Whether a quota has room for no pod; one that counts pods of a class is a ration, and any class may have one."""
    given = quota.mapping("spec.hard")
    return any(
        isinstance(most, (int, str)) and quantity(most) == 0 for most in (given.get("pods"), given.get("count/pods"))
    )


def _runtime(pod: Pod, cluster: Cluster) -> None:
    name = pod.spec.get("runtimeClassName")
    made = cluster.names("RuntimeClass", "")
    if not isinstance(name, str) or name in made or cluster.is_blurred("RuntimeClass", ""):
        return
    near = nearest_of(name, made)
    if name == _SANDBOX and any(_SANDBOX in text for text in _sandboxes(cluster)):
        return
    if near or cluster.makes_everything:
        pod.view.error(
            "reference-runtime-class",
            f"{pod.path}.runtimeClassName",
            f"no RuntimeClass {show(name)} is made, so no pod of {pod.title} is",
            allowed=f"one of {', '.join(made)}" if made else "no class, or a RuntimeClass that the stack makes",
            hint=f"did you mean {near}?" if near else "",
        )


def _sandboxes(cluster: Cluster) -> list[str]:
    """What pools of nodes say of a sandbox."""
    return [
        text
        for view in cluster.stack.views
        if not view.type.startswith("kubernetes:")
        for path, text in view.known_texts
        if "sandbox" in path.lower()
    ]


def zones_of(cluster: Cluster) -> set[str]:
    """Zones that the recorded subnets and pools name; empty where none is known, or one is not."""
    found: set[str] = set()
    for view in cluster.stack.views:
        if view.type == SUBNET:
            zone = view.text("availabilityZone")
            if zone is None:
                return set()
            found.add(zone)
        elif view.type in (GKE_NODE_POOL, GKE_CLUSTER):
            found |= set(view.texts("nodeLocations"))
    return found
