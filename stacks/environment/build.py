"""Plan -> components. The only place that picks a ground."""

from __future__ import annotations

from typing import Any

import pulumi

from trainyard.plan.model import Plan
from trainyard.stacks.environment import cluster
from trainyard.stacks.environment.aws import build as aws


def build_environment(plan: Plan) -> dict[str, pulumi.Input[Any]]:
    """Makes every resource of the environment; returns the stack's outputs by name."""
    ground = aws.build(plan)
    workloads = cluster.build(plan, ground)
    return {
        "client": plan.client,
        "environment": plan.environment,
        "region": plan.region,
        **ground.outputs,
        "mlflowTrackingUri": workloads.tracking_uri,
        "gpuPools": [pool.name for pool in plan.pools],
        "queues": workloads.queues,
        "smokeJobs": workloads.smoke_jobs,
    }
