"""What is paid besides the GPUs that jobs hold: nodes without GPUs, volumes, and what nobody uses of any node.

From kube-state-metrics and the plan's own prices. A pod pays for the part of its node that it keeps from others: the
larger of its shares of cores and of memory, by what it requests. What is left of the nodes is idle. Pods on nodes with
GPUs pay by the GPUs that they hold, and nothing here. Volumes pay by what their claims request; file systems and
buckets that are mounted in several namespaces are of a class without a price here, and in nobody's sum.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.conventions import HOURS_A_MONTH, INSTANCE_TYPE_LABEL
from trainyard.monitoring import names as n
from trainyard.monitoring.model import Recording

INSTANCE_TYPE: Final = "label_" + re.sub("[^a-z]", "_", INSTANCE_TYPE_LABEL)
"""The label of a node's type as kube-state-metrics spells it."""

_NODES = (
    f'label_replace(max by (node, {INSTANCE_TYPE}) (kube_node_labels{{{INSTANCE_TYPE}!=""}}),'
    f' "instance_type", "$1", "{INSTANCE_TYPE}", "(.+)")'
)
_NODE_USD = f"({_NODES} * on (instance_type) group_left () max by (instance_type) ({n.NODE_HOUR_USD}))"
"""USD an hour of each node without GPUs: types with GPUs have no price of a node."""
_RUNNING = 'max by (namespace, pod) (kube_pod_status_phase{phase=~"Running|Pending"}) == 1'
_ASKED = (
    "sum by (namespace, pod, node, resource) (max by (namespace, pod, container, node, resource)"
    ' (kube_pod_container_resource_requests{resource=~"cpu|memory", node!=""}))'
)
_OFFERED = 'max by (node, resource) (kube_node_status_allocatable{resource=~"cpu|memory"})'
_CLAIMS = "namespace, persistentvolumeclaim"


def _not_held(provisioned: str, held: str) -> str:
    return f"clamp_min(sum({provisioned}) - (sum({held}) or vector(0)), 0)"


RESOURCES: Final[tuple[Recording, ...]] = (
    Recording(
        n.CPU_USD_PER_HOUR,
        "sum by (namespace) (max by (namespace, pod, node)"
        f" ({_ASKED} / on (node, resource) group_left () {_OFFERED} and on (namespace, pod) ({_RUNNING}))"
        f" * on (node) group_left () max by (node) ({_NODE_USD}))",
        "USD an hour of what pods ask for on nodes without GPUs, by namespace.",
    ),
    Recording(
        n.IDLE_CPU_USD_PER_HOUR,
        f"clamp_min(sum(max by (node) ({_NODE_USD})) - (sum({n.CPU_USD_PER_HOUR}) or vector(0)), 0)",
        "USD an hour of what nobody asks for of the nodes without GPUs.",
    ),
    Recording(
        n.IDLE_GPU_USD_PER_HOUR,
        _not_held(n.PROVISIONED_USD_PER_HOUR, n.USD_PER_HOUR),
        "USD an hour of the GPUs of nodes that no job holds: reserved ones that wait, and nodes that are still there.",
    ),
    Recording(
        n.VOLUME_USD_PER_HOUR,
        f"sum by (namespace) (max by ({_CLAIMS}) (kube_persistentvolumeclaim_resource_requests_storage_bytes)"
        f" / 1024 ^ 3 * on ({_CLAIMS}) group_left (storageclass)"
        f" max by ({_CLAIMS}, storageclass) (kube_persistentvolumeclaim_info)"
        f" * on (storageclass) group_left () max by (storageclass) ({n.VOLUME_GIB_MONTH_USD})) / {HOURS_A_MONTH}",
        "USD an hour of the volumes that claims ask for, by namespace.",
    ),
)
"""Every five minutes, as the ledger: each counts as that long."""
IDLE_CHIPS: Final[tuple[Recording, ...]] = (
    Recording(
        n.IDLE_CHIP_USD_PER_HOUR,
        _not_held(n.CHIP_PROVISIONED_USD_PER_HOUR, n.CHIP_USD_PER_HOUR),
        "USD an hour of the TPU chips of nodes that no job holds.",
    ),
)
"""After them, where a stack has TPU slices."""
