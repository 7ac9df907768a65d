"""TPU slices of a cluster on Google Cloud: their node pools, and what jobs and queues know of them."""

from __future__ import annotations

from collections.abc import Iterator

import pulumi

from trainyard.components.gcp.tpu_nodes import TpuNodePoolArgs, TpuSlices
from trainyard.components.k8s.job_guard import PoolNodeArgs
from trainyard.components.k8s.kueue import FlavorArgs
from trainyard.components.k8s.runtimes import TpuRuntimeArgs
from trainyard.conventions import TPU_RESOURCE, gpu_node_labels, tpu_runtime
from trainyard.conventions.gcp import FLEX_START_LABEL, NODE_POOL_LABEL, TPU_ACCELERATOR_LABEL, TPU_TOPOLOGY_LABEL
from trainyard.plan.gcp.parts import TpuCapacityPlan, TpuPoolPlan
from trainyard.stacks.environment.ground import Slices, SliceToProve


def tpu_node_pools(pool: TpuPoolPlan) -> Iterator[TpuNodePoolArgs]:
    """The node pools of a pool: one a slice where a slice has several machines."""
    for each in pool.capacities:
        for name in each.node_pools:
            args: TpuNodePoolArgs = {
                "name": name,
                "pool": pool.name,
                "capacity": each.capacity,
                "machine_type": pool.instance_type,
                "chips": pool.chips_of_host,
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


def jobs_of_slices(pool: TpuPoolPlan, made: TpuSlices, version: pulumi.Output[str]) -> Slices:
    """What a job of a pool asks for, what queues count of it, and whose it is. Its node pools are `made`, of a
    version of the cluster."""
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
    if pool.hosts > 1:
        node["slice_label"] = NODE_POOL_LABEL
    return Slices(
        runtime=runtime,
        node=node,
        flavors=[_flavor(pool, each, labels) for each in pool.capacities],
        chip_hour_usd={each.name: each.chip_hour_usd for each in pool.capacities if each.chip_hour_usd is not None},
        quotas={
            each.name: {team: slices * pool.chips_of_slice for team, slices in each.owners} for each in pool.capacities
        },
        proofs=[
            SliceToProve(
                name=name,
                team=each.proof_team,
                capacity=each.capacity,
                node_labels={**gpu_node_labels(pool.name, each.capacity), NODE_POOL_LABEL: name},
                node_image=_once_there(version, made.node_pool_names[name]),
                advisory=each.has_choice,
            )
            for each in pool.capacities
            if each.proof_team is not None
            for name in each.proven
        ],
    )


def _once_there(version: pulumi.Output[str], node_pool: pulumi.Output[str]) -> pulumi.Output[str]:
    """What nodes start with, once their pool is there: a proof of a pool to come would count the time that it takes."""
    return pulumi.Output.all(version, node_pool).apply(lambda known: str(known[0]))


def _flavor(pool: TpuPoolPlan, each: TpuCapacityPlan, labels: dict[str, str]) -> FlavorArgs:
    """The machines of a capacity. An empty pool of flex-start is chosen by its label alone."""
    flexible = {FLEX_START_LABEL: "true"} if each.capacity == "flex-start" else {}
    return {
        "name": each.name,
        "capacity": each.capacity,
        "node_labels": {**gpu_node_labels(pool.name, each.capacity), **labels, **flexible},
        "resource": TPU_RESOURCE,
    }
