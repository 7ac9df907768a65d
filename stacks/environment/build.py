"""Plan -> components. The only place that picks a ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi

from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment import cluster as on_cluster
from trainyard.stacks.environment.aws import build as aws
from trainyard.stacks.environment.ground import Foundation, Ground

_GROUNDS: Mapping[str, Callable[[Plan], Foundation]] = {"aws": aws.build}
"""What makes the ground of a plan, by its kind."""


def build_environment(plan: Plan) -> dict[str, pulumi.Input[Any]]:
    """Makes every resource of the environment; returns the stack's outputs by name."""
    made = _GROUNDS[plan.ground.kind](plan)
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
    workloads = on_cluster.build(plan, planned, ground)
    return {
        "clusterName": planned.name,
        "kubeconfig": ground.kubeconfig,
        "mlflowTrackingUri": workloads.tracking_uri,
        "queues": workloads.queues,
        "smokeJobs": workloads.smoke_jobs,
    }
