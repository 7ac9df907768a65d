"""Jobs that keep a part of the topology to themselves, by a label that no node has.

Source: JobSet 0.12, "Exclusive Placement" (the annotation `alpha.jobset.sigs.k8s.io/exclusive-topology` names the label
of nodes; its pods ask for one such part each), 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.placement.world import World

_EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
WELL_KNOWN: Final = frozenset({
    "cloud.google.com/gke-nodepool", "cloud.google.com/gke-tpu-topology", "cloud.google.com/gke-accelerator",
    "cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock",
    "cloud.google.com/gce-topology-host", "eks.amazonaws.com/nodegroup", "kubernetes.io/hostname",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.k8s.aws/network-node-layer-1",
    "topology.k8s.aws/network-node-layer-2", "topology.k8s.aws/network-node-layer-3", "topology.k8s.aws/zone-id",
    "topology.k8s.aws/ultraserver-id",
})  # fmt: skip
"""Labels of where a node is that clouds put on nodes (EKS, "Topology labels"; GKE, "Topology aware scheduling")."""
_SLIP: Final = 0.9
_SETS: Final = ("JobSet", "ClusterTrainingRuntime", "TrainingRuntime")


def check_exclusive(world: World, views: Mapping[str, View]) -> None:
    """Every set of jobs that has the annotation, as a whole or in one of its jobs."""
    groups = world.nodes or ()
    for view in views.values():
        if view.type.startswith("kubernetes:") and view.text("kind") in _SETS and groups:
            for path, key in _asked(view):
                known = {label for nodes in groups for label in nodes.labels} | WELL_KNOWN
                is_slip = key not in known and nearest(key, known, cutoff=_SLIP)
                if is_slip or all(nodes.values(key) == frozenset() for nodes in groups):
                    view.error(
                        "placement-spread", path, f"names {show(key)}, a label that no node has: pods wait for ever",
                        allowed="a label of nodes, such as topology.kubernetes.io/zone", hint=nearest(key, known),
                    )  # fmt: skip


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
