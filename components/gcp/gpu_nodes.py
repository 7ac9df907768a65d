"""GPU node pools of GKE: one a pool and capacity, each in the zones that sell its machines.

Every pool starts from zero nodes and has labels that queues find it by. GKE taints GPU nodes itself and installs the
driver; what it does not say in time is written here too, since a pod that is submitted before the first node exists is
placed by what the pool says.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.container as container

from trainyard.components.gcp.nodes import MANAGEMENT, plain_config
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import CAPACITY_LABEL, GPU_RESOURCE, gpu_node_labels, gpudirect
from trainyard.conventions.gcp import (
    DRANET_FAMILIES,
    DRANET_LABEL,
    FABRIC_INTERFACES,
    GIB_TUNERS,
    GKE_ACCELERATORS,
    LOCAL_SSDS,
    LONGEST_FLEX_START_SECONDS,
    QUEUED_TAINT,
    local_ssd_choices,
)

CAPACITIES = ("reserved", "spot", "on-demand", "flex-start")
"""How nodes are had: flex-start waits in Google's own queue for as many nodes as a job needs, for seven days at most.
"""

MOST_TIME_SLICES = 48
"""The most pods that GKE lets take turns on a GPU ("GPU time-sharing", `max-shared-clients-per-gpu`, 2026-11)."""


class GkeReservationArgs(TypedDict):
    """Capacity that is bought already. It has to be one that is used by name (`specific_reservation_required`)."""

    name: str
    """NAME, projects/PROJECT/reservations/NAME, or that with /reservationBlocks/BLOCK."""
    zone: str
    """The zone that it is in."""


class AdditionalNetworkArgs(TypedDict):
    """A network that a node has an interface in besides the cluster's."""

    network: pulumi.Input[str]
    """Name of the VPC network."""
    subnetwork: pulumi.Input[str]
    """Name of its subnet, in the cluster's region."""


class GkePoolArgs(TypedDict):
    """Nodes of a pool in one capacity."""

    name: str
    """Name, such as `train-spot`: at most 40 of a-z, 0-9 and `-`, a letter first, no `-` last."""
    pool: str
    """The GPU pool that it belongs to."""
    capacity: str
    """reserved, spot, on-demand or flex-start."""
    machine_type: str
    """Machine type, such as `a3-megagpu-8g`."""
    accelerator: str
    """Type of the GPUs, such as `nvidia-h100-mega-80gb`."""
    gpus: int
    """GPUs of a node."""
    min_nodes: int
    """Fewest nodes in all zones together: 0 to scale from zero."""
    max_nodes: int
    """Most nodes in all zones together."""
    zones: Sequence[str]
    """Zones of the nodes: one where they are placed together or reserved."""
    disk_gib: int
    """Size of a node's boot disk, GiB."""
    reservation: NotRequired[GkeReservationArgs]
    """The reservation, for reserved capacity."""
    compact: NotRequired[bool]
    """Whether the nodes are placed close together. Default: no."""
    fast_network: NotRequired[bool]
    """Whether GKE sets the machine's fast interfaces up (DRANET). Default: no."""
    additional_networks: NotRequired[Sequence[AdditionalNetworkArgs]]
    """Networks of the machine's further interfaces, in their order, where GKE does not set them up. Default: none."""
    local_ssds: NotRequired[int]
    """Local SSDs for pods' scratch files, where the machine takes a choice. Default: what the machine always has."""
    mig_profile: NotRequired[str]
    """Size of the instances that each GPU is partitioned into, such as `1g.10gb`, not beside `time_slices`. Default:
    GPUs are whole."""
    time_slices: NotRequired[int]
    """How many pods take turns on each GPU, at least 2; they share its memory. Default: a GPU is one pod's."""
    max_run_seconds: NotRequired[int]
    """How long a node of flex-start runs at most. Default: seven days."""


class GkeNodePoolsArgs(TypedDict):
    """What `GkeNodePools` needs."""

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
    pools: Sequence[GkePoolArgs]
    """The node pools."""


class GkeNodePools(pulumi.ComponentResource):
    """The GPU node pools of a cluster. `depends_on` is what they wait for: `GkeCluster.nodes_wait_for`."""

    node_pool_names: dict[str, pulumi.Output[str]]
    """Name of the pool in a capacity, such as `train-spot`, to the name of its node pool."""

    def __init__(self, name: str, args: GkeNodePoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the pool, for a combination that GKE refuses or that never gets a node."""
        super().__init__("trainyard:index:GkeNodePools", name, None, opts)
        for pool in args["pools"]:
            check_pool(pool)
        self._child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        self.node_pool_names = {pool["name"]: self._make(name, pool, args).name for pool in args["pools"]}
        register(self)

    def _make(self, name: str, pool: GkePoolArgs, args: GkeNodePoolsArgs) -> container.NodePool:
        flexible = pool["capacity"] == "flex-start"
        autoscaling: container.NodePoolAutoscalingArgsDict = {
            "total_min_node_count": pool["min_nodes"],
            "total_max_node_count": pool["max_nodes"],
            # What is scarce is taken where it is; what is always there is spread.
            "location_policy": "BALANCED" if pool["capacity"] == "on-demand" else "ANY",
        }
        network: container.NodePoolNetworkConfigArgsDict | None = None
        if pool.get("fast_network"):
            network = {"accelerator_network_profile": "auto"}
        elif further := pool.get("additional_networks"):
            network = {
                "additional_node_network_configs": [
                    {"network": each["network"], "subnetwork": each["subnetwork"]} for each in further
                ]
            }
        return container.NodePool(
            f"{name}-{pool['name']}",
            name=pool["name"],
            cluster=args["cluster_id"],
            location=args["region"],
            node_locations=list(pool["zones"]),
            autoscaling=autoscaling,
            # A node of flex-start that is mended would be another one, for which nobody has queued.
            management={"auto_repair": False, "auto_upgrade": True} if flexible else MANAGEMENT,
            # GPUs for a surge are not to be had: one node goes before its successor comes.
            upgrade_settings={"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1},
            placement_policy={"type": "COMPACT"} if pool.get("compact") else None,
            queued_provisioning={"enabled": True} if flexible else None,
            network_config=network,
            node_config=node_config(pool, args),
            ignore_node_count_changes=True,
            opts=self._child,
        )


def node_config(pool: GkePoolArgs, args: GkeNodePoolsArgs) -> container.NodePoolNodeConfigArgsDict:
    """The nodes of a pool: GPUs with their driver, how they are bought, labels and taints."""
    capacity = pool["capacity"]
    labels = gpu_node_labels(pool["pool"], capacity)
    if pool.get("fast_network"):
        labels[DRANET_LABEL] = "true"
    if capacity == "flex-start":
        labels[QUEUED_TAINT] = "true"
    billed = {**args["labels"], "pool": pool["pool"], "capacity": capacity}
    config = plain_config(
        pool["machine_type"], pool["disk_gib"], args["node_account_email"], labels, billed, args["key_id"]
    )
    gpus: container.NodePoolNodeConfigGuestAcceleratorArgsDict = {
        "type": pool["accelerator"],
        "count": pool["gpus"],
        "gpu_driver_installation_config": {"gpu_driver_version": "LATEST"},
    }
    if "mig_profile" in pool:
        gpus["gpu_partition_size"] = pool["mig_profile"]
    if "time_slices" in pool:
        gpus["gpu_sharing_config"] = {
            "gpu_sharing_strategy": "TIME_SHARING",
            "max_shared_clients_per_gpu": pool["time_slices"],
        }
    config["guest_accelerators"] = [gpus]
    config["gvnic"] = {"enabled": True}
    taints: list[container.NodePoolNodeConfigTaintArgsDict] = [
        {"key": GPU_RESOURCE, "value": "present", "effect": "NO_SCHEDULE"}
    ]
    if capacity == "spot":
        config["spot"] = True
        taints.append({"key": CAPACITY_LABEL, "value": "spot", "effect": "NO_SCHEDULE"})
    if capacity == "flex-start":
        config["flex_start"] = True
        config["max_run_duration"] = f"{pool.get('max_run_seconds', LONGEST_FLEX_START_SECONDS)}s"
    config["taints"] = taints
    reservation = pool.get("reservation")
    config["reservation_affinity"] = reservation_affinity(reservation["name"] if reservation is not None else None)
    ssds = pool.get("local_ssds", LOCAL_SSDS.get(pool["machine_type"], 0))
    if ssds:
        config["ephemeral_storage_local_ssd_config"] = {"local_ssd_count": ssds}
    return config


def reservation_affinity(name: str | None) -> container.NodePoolNodeConfigReservationAffinityArgsDict:
    """That nodes are of a reservation by its name and of no other, or of none."""
    if name is None:
        return {"consume_reservation_type": "NO_RESERVATION"}
    return {
        "consume_reservation_type": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [name],
    }


def check_pool(pool: GkePoolArgs) -> None:
    """Raises ValueError, naming the pool, for a combination that GKE refuses or that never gets a node."""
    where, capacity, machine = f"node pool {pool['name']!r}", pool["capacity"], pool["machine_type"]
    reservation, zones = pool.get("reservation"), list(pool["zones"])
    name, allowed = pool["name"], set("abcdefghijklmnopqrstuvwxyz0123456789-")
    if not 0 < len(name) <= 40 or not set(name) <= allowed or not name[0].isalpha() or name[-1] == "-":
        raise ValueError(f"{where}: at most 40 of a-z, 0-9 and '-', a letter first, no '-' last")
    if capacity not in CAPACITIES:
        raise ValueError(f"{where}: capacity {capacity!r}; {', '.join(CAPACITIES)}")
    if (capacity == "reserved") != (reservation is not None):
        raise ValueError(f"{where}: capacity {capacity}; reserved capacity names a reservation, others none")
    if pool["accelerator"] not in GKE_ACCELERATORS:
        raise ValueError(f"{where}: accelerator {pool['accelerator']!r}; {', '.join(GKE_ACCELERATORS)}")
    if reservation is not None and zones != [reservation["zone"]]:
        raise ValueError(f"{where}: zones {zones} with a reservation in {reservation['zone']} only")
    if pool.get("compact") and len(zones) != 1:
        raise ValueError(f"{where}: zones {zones}; nodes that are placed together are in one")
    if pool.get("compact") and capacity == "flex-start":
        raise ValueError(f"{where}: nodes that wait in Google's queue (queued provisioning) cannot be placed together")
    if capacity == "flex-start" and pool["min_nodes"]:
        raise ValueError(f"{where}: {pool['min_nodes']} nodes at least; flex-start starts from none")
    seconds = pool.get("max_run_seconds", LONGEST_FLEX_START_SECONDS)
    if not 600 <= seconds <= LONGEST_FLEX_START_SECONDS:
        raise ValueError(f"{where}: runs {seconds} s at most; 600 to {LONGEST_FLEX_START_SECONDS}")
    if pool.get("fast_network") and not machine.startswith(DRANET_FAMILIES):
        raise ValueError(f"{where}: {machine} has no fast interfaces; {', '.join(DRANET_FAMILIES)}… have")
    if pool.get("additional_networks"):
        with_them = (*GIB_TUNERS, *gpudirect.OF_MACHINE)
        interfaces = FABRIC_INTERFACES[machine] + (machine in GIB_TUNERS) if machine in with_them else 0
        if pool.get("fast_network") or len(pool["additional_networks"]) != interfaces:
            raise ValueError(
                f"{where}: {len(pool['additional_networks'])} additional networks of {machine}; "
                + (f"{interfaces}, or fast_network alone" if interfaces else f"only {', '.join(with_them)} take them")
            )
        if len(zones) != 1:
            raise ValueError(f"{where}: zones {zones}; networks of fast interfaces are of one")
    slices = pool.get("time_slices")
    if slices is not None and not 2 <= slices <= MOST_TIME_SLICES:
        raise ValueError(f"{where}: {slices} pods on a GPU; 2 to {MOST_TIME_SLICES}, or none of the setting")
    if slices is not None and "mig_profile" in pool:
        raise ValueError(f"{where}: {slices} pods on a GPU beside instances of {pool['mig_profile']}; one of the two")
    ssds, choices = pool.get("local_ssds"), local_ssd_choices(machine)
    if ssds is not None and ssds not in choices:
        takes = f"takes {' or '.join(map(str, choices))}" if choices else "is given no number of them"
        raise ValueError(f"{where}: {ssds} local SSDs; {machine} {takes}")
    if not 0 <= pool["min_nodes"] <= pool["max_nodes"] or pool["max_nodes"] < 1:
        raise ValueError(
            f"{where}: {pool['min_nodes']} to {pool['max_nodes']} nodes; 0 or more, and at least 1 at most"
        )
