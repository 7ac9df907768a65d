"""What a cluster of GKE collects by itself, and somebody in it counts on: the exporter of the GPUs' figures.

Source: GKE, "Collect and view DCGM metrics" (2026-11): the exporter runs where `monitoringConfig.enableComponents` has
DCGM; where nothing is said it is on for new clusters.
"""

from __future__ import annotations

from typing import Final

from trainyard.conventions.gcp import DCGM_PODS
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_COMPONENTS: Final = "monitoringConfig.enableComponents"


def check(cluster: Cluster) -> None:
    """Notes a cluster without that exporter, whose figures are scraped."""
    without = [
        view
        for view in cluster.stack.of_type(GKE_CLUSTER)
        if view.has(_COMPONENTS) and not view.blurred(_COMPONENTS) and "DCGM" not in view.texts(_COMPONENTS)
    ]
    if not without or len(without) != len(cluster.stack.of_type(GKE_CLUSTER)):
        return
    for monitor in cluster.of("PodMonitor.monitoring.coreos.com", "PodMonitoring.monitoring.googleapis.com"):
        if any(text == DCGM_PODS[1] for _, text in monitor.known_texts):
            without[0].error(
                "programs-figure", _COMPONENTS,
                f"has no DCGM, and {monitor.name} collects from {DCGM_PODS[1]}: there are no figures of GPUs",
                allowed="DCGM among them",
            )  # fmt: skip
            return
