"""TPU slices of a cluster on Google Cloud: their node pools, and what jobs and queues know of them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.gcp.tpu_nodes import TpuNodePoolArgs
from trainyard.components.k8s.job_guard import PoolNodeArgs
from trainyard.components.k8s.kueue import FlavorArgs
from trainyard.components.k8s.runtimes import TpuRuntimeArgs
from trainyard.conventions import TPU_RESOURCE, gpu_node_labels, tpu_runtime
from trainyard.conventions.gcp import FLEX_START_LABEL, NODE_POOL_LABEL, TPU_ACCELERATOR_LABEL, TPU_TOPOLOGY_LABEL
from trainyard.plan.gcp.parts import TpuCapacityPlan, TpuPoolPlan
from trainyard.stacks.environment.ground import Slices


def tpu_node_pools(pool: TpuPoolPlan) -> Iterator[TpuNodePoolArgs]:
    """The node pools of a pool: one a slice where a slice has several machines."""
    for each in pool.capacities:
        for name in each.node_pools:
            args: TpuNodePoolArgs = {
                "name": name,
                "pool": pool.name,
                "capacity": each.capacity,
                "machine_type": pool.instance_type,
                "topology": pool.topology,
                "max_nodes": each.nodes_of_pool,
                "zone": pool.zone,
                "disk_gib": pool.root_disk_gib,
            }
            if each.reservation is not None:
                args["reservation"] = each.reservation
            if each.max_hours is not None:
                args["max_run_seconds"] = each.max_hours * 3600
            yield args


def jobs_of_slices(pool: TpuPoolPlan) -> Slices:
    """What a job of a pool asks for, what queues count of it, and whose it is."""
    labels = {TPU_ACCELERATOR_LABEL: pool.accelerator, TPU_TOPOLOGY_LABEL: pool.topology}
    runtime: TpuRuntimeArgs = {
        "pool": pool.name,
        "image": pool.image,
        "nodes": pool.hosts,
        "chips": pool.chips_of_host,
        "cpu": pool.job_cpu,
        "memory_gib": pool.job_memory_gib,
        "node_labels": labels,
    }
    if pool.hosts > 1:
        runtime["slice_label"] = NODE_POOL_LABEL
    node: PoolNodeArgs = {
        "pool": pool.name,
        "cpu": pool.vcpus,
        "memory_gib": pool.memory_gib,
        "devices": {TPU_RESOURCE: pool.chips_of_host},
        "resource": TPU_RESOURCE,
        "largest_flavor_gpus": pool.chips_of_slice * max(each.slices for each in pool.capacities),
        "whole_nodes_only": True,
        "slice_nodes": pool.hosts,
        "runtime": tpu_runtime(pool.name),
    }
    return Slices(
        runtime=runtime,
        node=node,
        flavors=[_flavor(pool, each, labels) for each in pool.capacities],
        quotas={
            each.name: {team: slices * pool.chips_of_slice for team, slices in each.owners} for each in pool.capacities
        },
    )


def _flavor(pool: TpuPoolPlan, each: TpuCapacityPlan, labels: dict[str, str]) -> FlavorArgs:
    """The machines of a capacity. An empty pool of flex-start is chosen by its label alone."""
    flexible = {FLEX_START_LABEL: "true"} if each.capacity == "flex-start" else {}
    return {
        "name": each.name,
        "capacity": each.capacity,
        "node_labels": {**gpu_node_labels(pool.name, each.capacity), **labels, **flexible},
        "resource": TPU_RESOURCE,
    }
