"""How the machines of a GPU node group start: network cards, local disks, and how they are bought.

Pure functions from a pool and a node group to the nested inputs of `ec2.LaunchTemplate`, so that every rule about
reservations, placement and Elastic Fabric Adapters stands, and is tested, in one place.
"""

import base64
from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.eks as eks

from trainyard.components.aws.nodes import ACCELERATOR_LABEL, USABLE_LOCAL_STORAGE
from trainyard.conventions import (
    CAPACITY_LABEL,
    DEVICE_PLUGIN_LABEL,
    GPU_RESOURCE,
    STANDING,
    gpu_node_labels,
    mig_config,
    time_slices_config,
)
from trainyard.conventions.aws import EFA_HUGEPAGES_MIB, EFA_RESOURCE, RESERVATION_KINDS


class ReservationArgs(TypedDict):
    """A reservation: capacity that is held, and paid for, whether nodes run or not."""

    id: str
    """Id of the reservation, `cr-…`."""
    kind: str
    """`odcr`, an On-Demand Capacity Reservation, or `capacity-block`, a Capacity Block for ML."""
    availability_zone: str
    """The one zone that it is in."""
    empty_at: NotRequired[str]
    """When the nodes of a Capacity Block are taken away, UTC, `2026-12-01T10:45:00Z`. Default "": never."""


class GpuNodeGroupArgs(TypedDict):
    """One managed node group: a pool in one capacity."""

    name: str
    """Unique among all pools, such as `train-spot`."""
    capacity: str
    """How its nodes are paid for: `reserved`, `spot` or `on-demand`."""
    instance_types: Sequence[str]
    """One instance type; for spot also alternatives with the same GPU and GPU count."""
    min_nodes: int
    """Nodes that always run, and that it starts with."""
    max_nodes: int
    """Nodes that the autoscaler may go up to, at least 1."""
    zones: Sequence[str]
    """Names of its availability zones; exactly one for a pool with a fabric and for reserved capacity."""
    placement_group: bool
    """Whether to pack its nodes into a cluster placement group. Never with a reservation."""
    reservation: NotRequired[ReservationArgs | None]
    """The reservation that `reserved` capacity is bound to; absent or None for the others."""


class MigArgs(TypedDict):
    """Into what each GPU of a node is partitioned."""

    profile: str
    """Size of the instances, NVIDIA's name of it: `1g.10gb`."""
    instances: int
    """How many of it each GPU holds."""


class GpuPoolArgs(TypedDict):
    """GPU nodes of one instance family, in up to three capacities."""

    name: str
    """Name of the pool, the value of the label `ml.platform/pool`."""
    gpu: str
    """Model of the GPU, such as `A100-40GB`."""
    gpus_per_node: int
    """GPUs of one node."""
    time_slices: NotRequired[int]
    """How many pods take turns on each GPU; they share its memory. Default 1: a GPU is one pod's."""
    mig: NotRequired[MigArgs]
    """The instances that each GPU is partitioned into, not beside `time_slices`. Default: GPUs are whole."""
    efa_interfaces: int
    """Elastic Fabric Adapters of one node; 0 for a pool without a fabric."""
    network_cards: int
    """Network cards of one node."""
    local_nvme_gb: int
    """Local NVMe of one node, GB (decimal); 0 for none."""
    root_disk_gib: int
    """Size of a node's root volume, GiB."""
    node_groups: Sequence[GpuNodeGroupArgs]
    """The node groups of the pool: reserved, spot, on-demand."""


_USER_DATA = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="trainyard"

{parts}--trainyard--
"""

_NODE_CONFIG = """\
--trainyard
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
{spec}
"""

_ONLY_GIVEN_GPUS = """\
--trainyard
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
set -euo pipefail
nvidia-ctk config --in-place \\
  --set accept-nvidia-visible-devices-envvar-when-unprivileged=false \\
  --set accept-nvidia-visible-devices-as-volume-mounts=true

"""
"""The container runtime of the nodes is NVIDIA's, which takes a pod's variable NVIDIA_VISIBLE_DEVICES for a request:
`all` shows every GPU of the node to a pod that asked for none, and many images set it. With this only the device plugin
gives GPUs, by mounts of /dev/null from the host, which no team's pod may make; containers with SYS_ADMIN, which pod
security refuses to teams, still may ask by the variable, as the agents of the nodes do.

Where the script fails, the node gives no pod its GPUs, and the smoke job says so: the plugin and the toolkit then speak
of different things. It runs before the kubelet starts (awslabs/amazon-eks-ami, nodeadm-run.service is after
cloud-final.service; its NewNvidiaRuntimeConfigMixin sets the runtime; NVIDIA/nvidia-container-toolkit, internal/config
and internal/runtime/runtime_factory.go; all read 2026-11-22). The toolkit reads its configuration at every start of a
container."""

_PARTITIONED = """\
--trainyard
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
set -euo pipefail
cat > /usr/local/sbin/partition-gpus <<'END'
#!/bin/bash
set -euo pipefail
for _ in $(seq 60); do
  nvidia-smi -L > /dev/null 2>&1 && break
  sleep 2
done
nvidia-smi -mig 1
nvidia-smi mig -dci || true
nvidia-smi mig -dgi || true
nvidia-smi mig -cgi {profiles} -C
END
chmod 0755 /usr/local/sbin/partition-gpus
cat > /etc/systemd/system/partition-gpus.service <<'END'
[Unit]
Description=Partitions the GPUs of this node
After=nvidia-kmod-load.service nvidia-persistenced.service nvidia-fabricmanager.service
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/usr/local/sbin/partition-gpus
[Install]
RequiredBy=kubelet.service
END
systemctl daemon-reload
systemctl enable --now partition-gpus.service

"""
"""Neither the mode of a GPU from Hopper on nor its instances outlive a restart, so a service makes them at each, and
the kubelet does not start without it. At a restart it comes after what loads the driver and what knows the GPUs'
fabric, and waits two minutes for the driver besides: an image whose units are called otherwise has its own order
(awslabs/amazon-eks-ami, `nvidia-kmod-load.service`, and pull request 2795; NVIDIA/mig-parted, issue 11 and pull request
105; read 2026-11-26). `After` asks for nothing: a unit that an image lacks holds nothing up. A node whose GPUs could
not be partitioned does not join, where otherwise it would tell pods of fewer GPUs than the queue hands out. There is
nothing to take away at the first start, hence `|| true`. Source: NVIDIA MIG user guide, "Enable MIG mode" and "Creating
GPU instances"; that scripts run before the kubelet, as above. Not run on a GPU."""

_LOCAL_STORAGE = """\
  instance:
    localStorage:
      strategy: RAID0
"""

_LOCKED_MEMORY_BYTES = 2**50
"""Locked memory that containers may have, bytes: more than any node has. `unlimited` is 2^64 - 1, which nodeadm's
passage through JSON rounds up to a number that no limit can hold; containers would not start."""

_CONTAINER_LIMITS = f"""\
  containerd:
    baseRuntimeSpec:
      process:
        rlimits:
        - {{type: RLIMIT_NOFILE, soft: 65536, hard: 1048576}}
        - {{type: RLIMIT_MEMLOCK, soft: {_LOCKED_MEMORY_BYTES}, hard: {_LOCKED_MEMORY_BYTES}}}
"""
"""An adapter's driver pins the memory that it reads and writes, gigabytes of it, as locked memory of the process.

Pods have no field for the limit, and take over what containerd starts with (8 MiB is systemd's default). The capability
IPC_LOCK would lift it, but for root only (a process of another user starts without it, whatever its pod adds:
NVIDIA/nvidia-container-toolkit#2037, 2026-08-31), and pod security `baseline` and `restricted` refuse it. So the node's
containers start with a limit that is none: the memory limit of the pod still holds, for locked pages count towards it.
A list replaces the image's own, hence its RLIMIT_NOFILE here (awslabs/amazon-eks-ami, nodeadm's base-runtime-spec.json,
2026-07-23; `baseRuntimeSpec` in nodeadm/doc/examples.md)."""


def check_node_group(pool: GpuPoolArgs, group: GpuNodeGroupArgs) -> None:
    """Raises ValueError, naming the node group, for a combination that AWS refuses or that never gets a node."""
    where = f"node group {group['name']!r}"
    reservation, zones = group.get("reservation"), list(group["zones"])
    if group["capacity"] not in STANDING:
        raise ValueError(f"{where}: capacity {group['capacity']!r}; {', '.join(STANDING)}")
    if reservation is not None and reservation["kind"] not in RESERVATION_KINDS.values():
        raise ValueError(
            f"{where}: reservation of kind {reservation['kind']!r}; {', '.join(RESERVATION_KINDS.values())}"
        )
    if (group["capacity"] == "reserved") != (reservation is not None):
        held = f"reservation {reservation['id']}" if reservation else "no reservation"
        raise ValueError(f"{where}: capacity {group['capacity']} with {held}; reserved capacity names one, others none")
    if reservation is not None:
        if group["placement_group"]:
            raise ValueError(
                f"{where}: placement group with reservation {reservation['id']}; a reservation is placed already, and "
                "its capacity may lie outside the group, so that no node would ever start"
            )
        if zones != [reservation["availability_zone"]]:
            raise ValueError(
                f"{where}: zones {zones} with reservation {reservation['id']}, which is in "
                f"{reservation['availability_zone']} only"
            )
    if len(zones) != 1 and (pool["efa_interfaces"] > 0 or group["placement_group"]):
        raise ValueError(f"{where}: zones {zones}; a fabric and a placement group stay within one")
    if len(group["instance_types"]) != 1 and group["capacity"] != "spot":
        raise ValueError(f"{where}: instance types {list(group['instance_types'])}; only spot takes alternatives")
    if not 0 <= group["min_nodes"] <= group["max_nodes"] or group["max_nodes"] < 1:
        raise ValueError(
            f"{where}: {group['min_nodes']} to {group['max_nodes']} nodes; EKS takes a minimum of 0 or more and a "
            "maximum of 1 or more that is no less"
        )


def network_interfaces(
    pool: GpuPoolArgs, security_group_ids: Sequence[pulumi.Input[str]]
) -> list[ec2.LaunchTemplateNetworkInterfaceArgsDict]:
    """One interface a network card, with an Elastic Fabric Adapter on each that has one.

    Card 0 holds the node's address (device 0), so it is `efa` there: an adapter with an IP address. The others are
    `efa-only` (device 1) and take no address from the subnet. Where the instance has one card more than adapters
    (p6-b300: 17 and 16), card 0 is an ordinary interface and the adapters are on the rest. Security groups stand in
    each interface: a launch template with interfaces may have none beside them.

    Source: EC2 User Guide, "Maximize network bandwidth on instances with multiple network cards", and
    `NetworkInfo` of DescribeInstanceTypes (2026-11). Raises ValueError for a number of cards that fits neither.
    """
    adapters, cards = pool["efa_interfaces"], pool["network_cards"]
    if adapters not in (cards, cards - 1):
        raise ValueError(
            f"pool {pool['name']!r}: {adapters} Elastic Fabric Adapters on {cards} network cards; one a card, or one a "
            "card except the first"
        )
    interfaces: list[ec2.LaunchTemplateNetworkInterfaceArgsDict] = []
    for card in range(cards):
        if card > 0:
            kind = "efa-only"
        else:
            kind = "efa" if adapters == cards else "interface"
        interfaces.append(
            {
                "network_card_index": card,
                "device_index": 0 if card == 0 else 1,
                "interface_type": kind,
                "security_groups": list(security_group_ids),
                "delete_on_termination": "true",
            }
        )
    return interfaces


def user_data(pool: GpuPoolArgs) -> str:
    """What a node does first, base64: it gives GPUs only to who asked for them, makes local NVMe one RAID 0 that holds
    images, logs and scratch space of pods, and lets containers lock memory where there is a fabric."""
    spec = _LOCAL_STORAGE if pool["local_nvme_gb"] > 0 else ""
    spec += _CONTAINER_LIMITS if pool["efa_interfaces"] > 0 else ""
    mig = pool.get("mig")
    parts = (
        _ONLY_GIVEN_GPUS
        + (_partitions(mig) if mig is not None else "")
        + (_NODE_CONFIG.format(spec=spec) if spec else "")
    )
    return base64.b64encode(_USER_DATA.format(parts=parts).encode()).decode()


def _partitions(mig: MigArgs) -> str:
    return _PARTITIONED.format(profiles=",".join([mig["profile"]] * mig["instances"]))


def capacity_reservation(
    group: GpuNodeGroupArgs,
) -> ec2.LaunchTemplateCapacityReservationSpecificationArgsDict | None:
    """Which reservation the nodes go into. On-demand nodes keep out of all, so that they never use up one."""
    reservation = group.get("reservation")
    if reservation is None:
        return {"capacity_reservation_preference": "none"} if group["capacity"] == "on-demand" else None
    target: ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgsDict = {
        "capacity_reservation_id": reservation["id"]
    }
    if reservation["kind"] == "capacity-block":
        return {"capacity_reservation_target": target}
    return {"capacity_reservation_preference": "capacity-reservations-only", "capacity_reservation_target": target}


def in_capacity_block(group: GpuNodeGroupArgs) -> bool:
    """Whether the nodes come out of a Capacity Block: then the launch template says so and names the type."""
    reservation = group.get("reservation")
    return reservation is not None and reservation["kind"] == "capacity-block"


def capacity_type(group: GpuNodeGroupArgs) -> str:
    """The node group's capacity type as EKS calls it; a node in an ODCR is an on-demand node."""
    if in_capacity_block(group):
        return "CAPACITY_BLOCK"
    return "SPOT" if group["capacity"] == "spot" else "ON_DEMAND"


def node_labels(pool: GpuPoolArgs, group: GpuNodeGroupArgs) -> dict[str, str]:
    """Labels that queues select by, and the one that tells the autoscaler to wait for the GPUs of a new node.

    Where pods share GPUs, a third names what the device plugin does there.
    """
    mig, slices = pool.get("mig"), pool.get("time_slices", 1)
    shared = mig_config(mig["instances"], mig["profile"]) if mig is not None else time_slices_config(slices)
    return {
        **gpu_node_labels(pool["name"], group["capacity"]),
        ACCELERATOR_LABEL: f"nvidia-{pool['gpu'].lower().replace(' ', '-')}",
        **({DEVICE_PLUGIN_LABEL: shared} if mig is not None or slices > 1 else {}),
    }


def node_taints(group: GpuNodeGroupArgs) -> list[eks.NodeGroupTaintArgsDict]:
    """GPU nodes are for GPU pods; spot nodes, besides, for pods that say that they can be interrupted."""
    taints: list[eks.NodeGroupTaintArgsDict] = [{"key": GPU_RESOURCE, "value": "true", "effect": "NO_SCHEDULE"}]
    if group["capacity"] == "spot":
        taints.append({"key": CAPACITY_LABEL, "value": "spot", "effect": "NO_SCHEDULE"})
    return taints


def node_resources(pool: GpuPoolArgs) -> dict[str, str]:
    """What a node offers beside CPU and memory, as quantities: GPUs, adapters with their huge pages, scratch space."""
    if pool["local_nvme_gb"] > 0:
        scratch = f"{int(pool['local_nvme_gb'] * USABLE_LOCAL_STORAGE)}G"
    else:
        scratch = f"{int(pool['root_disk_gib'] * USABLE_LOCAL_STORAGE)}Gi"
    mig = pool.get("mig")
    pods = mig["instances"] if mig is not None else pool.get("time_slices", 1)
    resources = {GPU_RESOURCE: str(pool["gpus_per_node"] * pods), "ephemeral-storage": scratch}
    if pool["efa_interfaces"] > 0:
        resources[EFA_RESOURCE] = str(pool["efa_interfaces"])
        # A pod that pins them starts a node from zero only if this says so.
        resources["hugepages-2Mi"] = f"{EFA_HUGEPAGES_MIB}Mi"
    return resources
