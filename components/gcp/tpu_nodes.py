"""Node pools of TPU slices on GKE.

A slice of several machines is one node pool: GKE starts all of its machines or none, and takes them away together. Its
topology is a field of the pool, and how many machines that is follows from it. Slices of one machine share a pool. TPU
nodes have no accelerator block, no driver to install and no local SSD: the machine type says it all.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.container as container

from trainyard.catalog import gcp as catalog
from trainyard.catalog import tpu_slices
from trainyard.components.gcp.gpu_nodes import CAPACITIES, reservation_affinity
from trainyard.components.gcp.nodes import MANAGEMENT, plain_config
from trainyard.components.k8s.objects import prerequisites
from trainyard.components.outputs import register
from trainyard.conventions import CAPACITY_LABEL, TPU_RESOURCE, gpu_node_labels
from trainyard.conventions.gcp import LONGEST_FLEX_START_SECONDS


class TpuNodePoolArgs(TypedDict):
    """A node pool: one slice of several machines, or some slices of one machine each."""

    name: str
    """Name, such as `slices-spot-1`: at most 40 of a-z, 0-9 and `-`, a letter first, no `-` last."""
    pool: str
    """The pool of slices that it belongs to: label `ml.platform/pool` of its nodes."""
    capacity: str
    """reserved, spot, on-demand or flex-start."""
    machine_type: str
    """Machine type, such as `ct6e-standard-4t`."""
    topology: str
    """How the chips of a slice are joined, such as `4x4`."""
    max_nodes: int
    """Most machines: of a slice of several exactly as many as it has."""
    zone: str
    """The zone of the slice."""
    disk_gib: int
    """Size of a machine's boot disk, GiB."""
    reservation: NotRequired[str]
    """The reservation, for reserved capacity: NAME, projects/PROJECT/reservations/NAME, or that with
    /reservationBlocks/BLOCK."""
    max_run_seconds: NotRequired[int]
    """How long a slice of flex-start runs at most. Default: seven days."""


class TpuSlicesArgs(TypedDict):
    """What `TpuSlices` needs."""

    cluster_id: pulumi.Input[str]
    """The cluster that the nodes join: `GkeCluster.cluster_id`."""
    region: pulumi.Input[str]
    """Region of the cluster."""
    node_account_email: pulumi.Input[str]
    """The account that the nodes act as: `GkeCluster.node_account_email`."""
    key_id: pulumi.Input[str]
    """Key of the nodes' disks."""
    labels: Mapping[str, pulumi.Input[str]]
    """Labels on the bill, besides the pool's and its capacity's."""
    pools: Sequence[TpuNodePoolArgs]
    """The node pools."""


class TpuSlices(pulumi.ComponentResource):
    """The TPU slices of a cluster. `depends_on` is what they wait for: `GkeCluster.nodes_wait_for`."""

    node_pool_names: dict[str, pulumi.Output[str]]
    """Name of each node pool, by itself; carries the dependency on it."""

    def __init__(self, name: str, args: TpuSlicesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the pool, for a combination that GKE refuses or that never gets a node."""
        super().__init__("trainyard:index:TpuSlices", name, None, opts)
        for pool in args["pools"]:
            check_slices(pool)
        self._child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        self.node_pool_names = {pool["name"]: self._make(name, pool, args).name for pool in args["pools"]}
        register(self)

    def _make(self, name: str, pool: TpuNodePoolArgs, args: TpuSlicesArgs) -> container.NodePool:
        flexible = pool["capacity"] == "flex-start"
        machine = catalog.tpu(pool["machine_type"])
        several = tpu_slices.machines(machine, pool["topology"]) > 1
        return container.NodePool(
            f"{name}-{pool['name']}",
            name=pool["name"],
            cluster=args["cluster_id"],
            location=args["region"],
            node_locations=[pool["zone"]],
            # Of a slice of several machines GKE takes none of the sizes in between.
            autoscaling={
                "total_min_node_count": 0,
                "total_max_node_count": pool["max_nodes"],
                "location_policy": "ANY",
            },
            management={"auto_repair": False, "auto_upgrade": True} if flexible else MANAGEMENT,
            upgrade_settings={"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1},
            placement_policy={"type": "COMPACT", "tpu_topology": pool["topology"]} if several else None,
            node_config=_node_config(pool, args),
            ignore_node_count_changes=True,
            opts=self._child,
        )


def _node_config(pool: TpuNodePoolArgs, args: TpuSlicesArgs) -> container.NodePoolNodeConfigArgsDict:
    """The machines of a slice. GKE adds the taint of TPUs and the labels of slice and topology itself; the taint is
    written too, since pods are placed by what an empty pool says."""
    capacity = pool["capacity"]
    labels = gpu_node_labels(pool["pool"], capacity)
    billed = {**args["labels"], "pool": pool["pool"], "capacity": capacity}
    config = plain_config(
        pool["machine_type"], pool["disk_gib"], args["node_account_email"], labels, billed, args["key_id"]
    )
    config["gvnic"] = {"enabled": True}
    taints: list[container.NodePoolNodeConfigTaintArgsDict] = [
        {"key": TPU_RESOURCE, "value": "present", "effect": "NO_SCHEDULE"}
    ]
    if capacity == "spot":
        config["spot"] = True
        taints.append({"key": CAPACITY_LABEL, "value": "spot", "effect": "NO_SCHEDULE"})
    if capacity == "flex-start":
        config["flex_start"] = True
        config["max_run_duration"] = f"{pool.get('max_run_seconds', LONGEST_FLEX_START_SECONDS)}s"
    config["taints"] = taints
    config["reservation_affinity"] = reservation_affinity(pool.get("reservation"))
    return config


def check_slices(pool: TpuNodePoolArgs) -> None:
    """Raises ValueError, naming the pool, for a combination that GKE refuses or that never gets a node."""
    where, capacity, type_ = f"node pool {pool['name']!r}", pool["capacity"], pool["machine_type"]
    name, allowed = pool["name"], set("abcdefghijklmnopqrstuvwxyz0123456789-")
    if not 0 < len(name) <= 40 or not set(name) <= allowed or not name[0].isalpha() or name[-1] == "-":
        raise ValueError(f"{where}: at most 40 of a-z, 0-9 and '-', a letter first, no '-' last")
    if capacity not in CAPACITIES:
        raise ValueError(f"{where}: capacity {capacity!r}; {', '.join(CAPACITIES)}")
    if (capacity == "reserved") != ("reservation" in pool):
        raise ValueError(f"{where}: capacity {capacity}; reserved capacity names a reservation, others none")
    known = {item.type: item for item in catalog.tpus()}
    if type_ not in known:
        raise ValueError(f"{where}: machine type {type_!r}; {', '.join(known)}")
    machine = known[type_]
    if not tpu_slices.takes(machine, pool["topology"]):
        raise ValueError(f"{where}: topology {pool['topology']!r} of {type_}; {tpu_slices.in_words(machine)}")
    machines = tpu_slices.machines(machine, pool["topology"])
    if machines > 1 and pool["max_nodes"] != machines:
        raise ValueError(
            f"{where}: {pool['max_nodes']} nodes of a slice of {pool['topology']}, which has {machines} of {type_}: "
            "GKE makes all of them or none"
        )
    if pool["max_nodes"] < 1:
        raise ValueError(f"{where}: {pool['max_nodes']} nodes; at least 1")
    seconds = pool.get("max_run_seconds", LONGEST_FLEX_START_SECONDS)
    if not 600 <= seconds <= LONGEST_FLEX_START_SECONDS:
        raise ValueError(f"{where}: runs {seconds} s at most; 600 to {LONGEST_FLEX_START_SECONDS}")
