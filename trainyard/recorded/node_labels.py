"""Which labels the nodes of a group have: those that it states, and those that the cloud and the kubelet add.

Of a label that a driver, an operator or a start-up script may set nothing is known. Sources: EKS user guide, labels of
managed node groups; GKE, "node labels"; Kubernetes, "Well-Known Labels" (read 2026-11).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from trainyard.catalog import gcp
from trainyard.conventions import INSTANCE_TYPE_LABEL
from trainyard.conventions.gcp import (
    FLEX_START_LABEL,
    NODE_POOL_LABEL,
    TPU_ACCELERATOR_LABEL,
    TPU_COUNT_LABEL,
    TPU_TOPOLOGY_LABEL,
)
from trainyard.recorded.machines import may_be_nodes
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import (
    EKS_NODE_GROUP,
    GKE_NODE_POOL,
    NODE_GROUP_TYPES,
    NodeGroup,
    node_group,
)
from trainyard.recorded.read import UnknownInput, UnreadableInput, is_on, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AUTOSCALING_GROUP

_KARPENTER: Final = "kubernetes:karpenter.sh/*:NodePool"

_TYPE_LABELS = (INSTANCE_TYPE_LABEL, "beta.kubernetes.io/instance-type")
_OTHERS_LABELS = (
    "kubernetes.io", "k8s.io", "amazonaws.com", "cloud.google.com", "gke.io", "nvidia.com", "amd.com", "intel.com",
    "feature.node.kubernetes.io", "karpenter.sh",
)  # fmt: skip
"""Domains of labels that kubelets, clouds, drivers and operators set."""


def has_other_nodes(resources: Resources) -> bool:
    """Whether nodes may join that no node group describes: Karpenter's, or machines of an Auto Scaling group."""
    return bool(resources.of(_KARPENTER)) or any(
        may_be_nodes(one, resources) for one in resources.of(AUTOSCALING_GROUP)
    )


def node_groups_of(resources: Resources) -> list[NodeGroup] | None:
    """All node groups of a stack; None where one is not known, or nodes join another way as well."""
    if has_other_nodes(resources):
        return None
    try:
        return [node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES)]
    except UnreadableInput:
        return None


def have_labels(group: NodeGroup, labels: Mapping[str, str]) -> bool | None:
    """Whether all nodes of a group have all of these labels; None where that is not known."""
    answers = [_has(group, key, value) for key, value in labels.items()]
    if False in answers:
        return False
    return None if None in answers else True


def _has(group: NodeGroup, key: str, value: str) -> bool | None:
    try:
        own = labels_of_the_cloud(group.resource)
    except UnknownInput:
        own = {}
    if key in group.labels or key in own:
        return (group.labels.get(key) or own[key]) == value
    if key in _TYPE_LABELS and group.instance_types:
        if value not in group.instance_types:
            return False
        return True if len(group.instance_types) == 1 else None
    domain = key.partition("/")[0] if "/" in key else ""
    if any(domain == other or domain.endswith(f".{other}") for other in _OTHERS_LABELS):
        return None
    return None if _starts_with_labels(group) else False


def labels_of_the_cloud(group: RecordedResource) -> dict[str, str]:
    """What the cloud says of every node of a group. Raises UnknownInput."""
    inputs = group.inputs
    if group.type == EKS_NODE_GROUP:
        found = {"eks.amazonaws.com/capacityType": str(value_at(inputs, "capacityType", default="ON_DEMAND"))}
        name = value_at(inputs, "nodeGroupName", unknown=None)
        return found | ({"eks.amazonaws.com/nodegroup": str(name)} if name else {})
    if group.type == GKE_NODE_POOL:
        node = value_at(inputs, "nodeConfig")
        name = value_at(inputs, "name", unknown=None)
        found = {NODE_POOL_LABEL: str(name)} if name else {}
        found |= _of_slice(inputs, node)
        if is_on(node, "flexStart"):
            found[FLEX_START_LABEL] = "true"
        return found | {f"cloud.google.com/gke-{kind}": "true" for kind in ("spot", "preemptible") if is_on(node, kind)}
    return {}


def _of_slice(inputs: Mapping[str, Any], node: Any) -> dict[str, str]:
    """Labels of a TPU slice's nodes. Where the pool names no topology the machine has but one that needs no other."""
    type_ = str(value_at(node, "machineType", default=""))
    machine = next((tpu for tpu in gcp.tpus() if tpu.type == type_), None)
    if machine is None:
        return {}
    topology = value_at(inputs, "placementPolicy", "tpuTopology") or machine.topologies[0]
    count = str(machine.chips)
    return {TPU_ACCELERATOR_LABEL: machine.accelerator, TPU_TOPOLOGY_LABEL: str(topology), TPU_COUNT_LABEL: count}


def _starts_with_labels(group: NodeGroup) -> bool:
    """Whether the start-up data of the launch template sets labels, or is not known."""
    if group.template is None:
        return False
    data = value_at(group.template.inputs, "userData", default="", unknown=None)
    if not isinstance(data, str):
        return True
    try:
        text = base64.b64decode(data, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        text = data
    return "node-labels" in text or "nodeLabels" in text
