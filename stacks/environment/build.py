"""Plan -> components. The only place that picks a ground."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pulumi

from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment.ground import Foundation, Ground

_GROUNDS: Mapping[str, str] = {
    "aws": "trainyard.stacks.environment.aws.build",
    "gcp": "trainyard.stacks.environment.gcp.build",
}
"""The module that makes the ground of a plan, by its kind: imported when it is asked for, since a cloud's SDK takes a
second or two."""


def build_environment(plan: Plan) -> dict[str, pulumi.Input[Any]]:
    """Makes every resource of the environment; returns the stack's outputs by name."""
    made: Foundation = import_module(_GROUNDS[plan.ground.kind]).build(plan)
    first, *further = [_on_cluster(plan, planned, made.clusters[planned.name]) for planned in plan.clusters] or [{}]
    return {
        "client": plan.core.client,
        "environment": plan.core.environment,
        **made.outputs,
        "gpuPools": [pool.name for cluster in plan.clusters for pool in cluster.pools],
        **first,
        **({"furtherClusters": further} if further else {}),
    }


def _on_cluster(plan: Plan, planned: ClusterPlan, ground: Ground) -> dict[str, pulumi.Input[Any]]:
    # The SDK of Kubernetes takes a second, which an environment without a cluster does not have to wait for.
    from trainyard.stacks.environment.cluster import build

    workloads = build(plan, planned, ground)
    return {
        "clusterName": planned.name,
        "kubeconfig": ground.kubeconfig,
        "mlflowTrackingUri": workloads.tracking_uri,
        "queues": workloads.queues,
        "smokeJobs": {name: proof["job"] for name, proof in workloads.smoke_proofs.items()},
        "smokeProofs": workloads.smoke_proofs,
    }
