"""Plan -> components. The only place that picks a ground."""

from __future__ import annotations

from typing import Any

import pulumi

from trainyard.plan.parts import Plan
from trainyard.stacks.environment import cluster as on_cluster
from trainyard.stacks.environment.aws import build as aws


def build_environment(plan: Plan) -> dict[str, pulumi.Input[Any]]:
    """Makes every resource of the environment; returns the stack's outputs by name."""
    ground = aws.build(plan)
    workloads = on_cluster.build(plan, ground)
    return {
        "client": plan.core.client,
        "environment": plan.core.environment,
        "region": plan.ground.region,
        **ground.outputs,
        "mlflowTrackingUri": workloads.tracking_uri,
        "gpuPools": [pool.name for cluster in plan.clusters for pool in cluster.pools],
        "queues": workloads.queues,
        "smokeJobs": workloads.smoke_jobs,
    }
