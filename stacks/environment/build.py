"""Plan -> components. The only place that picks a cloud."""

from __future__ import annotations

from typing import Any

import pulumi

from trainyard.plan.parts import Plan
from trainyard.stacks.environment import aws as aws_environment
from trainyard.stacks.environment import cluster as cluster_workloads


def build_environment(plan: Plan) -> dict[str, pulumi.Input[Any]]:
    """Makes every resource of the environment; returns the stack's outputs by name."""
    cloud = aws_environment.build(plan)
    workloads = cluster_workloads.build(plan, cloud)
    return {
        "client": plan.core.client,
        "environment": plan.core.environment,
        "region": plan.ground.region,
        "clusterName": cloud.cluster_name,
        "kubeconfig": cloud.kubeconfig,
        "dataBucket": cloud.data_bucket,
        "checkpointsBucket": cloud.checkpoints_bucket,
        "artifactsBucket": cloud.artifacts_bucket,
        "mlflowTrackingUri": workloads.tracking_uri,
        "gpuPools": [pool.name for cluster in plan.clusters for pool in cluster.pools],
        "queues": workloads.queues,
        "smokeJobs": workloads.smoke_jobs,
        "budget": cloud.budget_name,
        "alertTopic": cloud.alert_topic_arn,
    }
