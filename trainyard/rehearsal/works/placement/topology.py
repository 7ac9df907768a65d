"""Labels of the topology that no node has: of what a job keeps to itself, and of the levels that Kueue places by.

Sources: JobSet 0.12, "Exclusive Placement" (the annotation `alpha.jobset.sigs.k8s.io/exclusive-topology` names the
label of nodes; its pods ask for one such part each); Kueue 0.19, "Topology Aware Scheduling" (nodes that lack the label
of a level are no part of the topology), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.placement.world import World

_EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_WELL_KNOWN: Final = frozenset({
    "cloud.google.com/gke-nodepool", "cloud.google.com/gke-tpu-topology", "cloud.google.com/gke-accelerator",
    "cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock",
    "cloud.google.com/gce-topology-host", "eks.amazonaws.com/nodegroup", "kubernetes.io/hostname",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.k8s.aws/network-node-layer-1",
    "topology.k8s.aws/zone-id", "topology.k8s.aws/ultraserver-id",
})  # fmt: skip
"""Labels of where a node is that clouds put on nodes (EKS, "Topology labels"; GKE, "Topology aware scheduling")."""
_SLIP: Final = 0.9
_SETS: Final = ("JobSet", "ClusterTrainingRuntime", "TrainingRuntime")
_TOPOLOGY: Final = "Topology"


def check_topology(world: World, views: Mapping[str, View]) -> None:
    """Every set of jobs that has the annotation, as a whole or in one of its jobs, and every topology of Kueue's."""
    groups = world.nodes
    if not groups:
        return
    known = {label for nodes in groups for label in nodes.labels} | _WELL_KNOWN
    numberless = {re.sub(r"\d+", "", one) for one in known}  # clouds count layers, and bring more of them
    for view in views.values():
        kind = view.text("kind") if view.type.startswith("kubernetes:") else None
        for path, key in _asked(view) if kind in _SETS else _levels(view) if kind == _TOPOLOGY else ():
            is_slip = re.sub(r"\d+", "", key) not in numberless and nearest(key, known, cutoff=_SLIP)
            if is_slip or (not world.installs_unknown and all(nodes.values(key) == frozenset() for nodes in groups)):
                why = "its pods wait for ever" if kind in _SETS else "no node is part of the topology"
                view.error(
                    "placement-topology", path, f"names {show(key)}, a label that no node has: {why}",
                    allowed="a label of nodes, such as topology.kubernetes.io/zone", hint=nearest(key, known),
                )  # fmt: skip


def _levels(view: View) -> Iterator[tuple[str, str]]:
    for path, level in view.items("spec.levels"):
        if isinstance(level.get("nodeLabel"), str):
            yield f"{path}.nodeLabel", level["nodeLabel"]


def _asked(view: View) -> Iterator[tuple[str, str]]:
    base = "spec" if view.text("kind") == "JobSet" else "spec.template.spec"
    over = "metadata" if base == "spec" else "spec.template.metadata"
    places: list[tuple[str, Any]] = [(over, view.mapping(over))]
    for index, job in enumerate(listed(view.value(f"{base}.replicatedJobs"))):
        at = f"{base}.replicatedJobs[{index}].template.metadata"
        places.append((at, view.mapping(at) if isinstance(job, Mapping) else {}))
    for at, metadata in places:
        given = metadata.get("annotations") if isinstance(metadata, Mapping) else None
        key = given.get(_EXCLUSIVE) if isinstance(given, Mapping) else None
        if isinstance(key, str):
            yield f"{at}.annotations", key
