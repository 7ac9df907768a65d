"""Security: nobody's pods run on the platform's nodes but the platform's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.conventions import CPU_POOL, RESERVED_TAINTS, SYSTEM_POOL
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.policies.security_devices import user_data
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import (
    GKE_NODE_POOL,
    LAUNCH_TEMPLATE,
    NODE_GROUP_PARTS,
    NODE_GROUP_TYPES,
    keeps_pods_off,
    node_group,
)
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GKE_CLUSTER, NAMESPACE

_ON: Final = r"[=\s\"':]+"
_ANYBODY: Final = rf"anonymous-auth{_ON}true|anonymous[\"']?:\s*\{{?\s*[\"']?enabled[\"']?:\s*true"
_EVERYTHING: Final = rf"authorization-mode{_ON}AlwaysAllow|mode[\"']?:\s*[\"']?AlwaysAllow"
_OPEN: Final = (
    (re.compile(_ANYBODY, re.I), "lets in whoever asks"),
    (re.compile(_EVERYTHING, re.I), "lets everybody do everything"),
    (re.compile(rf"read-?only-?port{_ON}[1-9]", re.I), "opens the port that asks nobody"),
)
"""What opens a kubelet, as its options and in its configuration (Kubernetes documentation, "Kubelet
authentication/authorization", read 2026-11)."""


@stack_rule(
    "platform-nodes-open-to-teams",
    "The nodes of the platform's own pods have a taint that pods of teams may not tolerate.",
    types=(NAMESPACE, *NODE_GROUP_PARTS),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-39", "ISO 27001:2022 A.8.22"),
    fix="Use the system nodes as they are; people's pods without GPUs have nodes of their own (cpuPool).",
)
def platform_nodes_open_to_teams(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Beside them a hole in the kernel is a way to the tracking server's database and to what admits jobs.

    The platform's are the nodes that say so; where none do, all that have no GPUs and are not people's.
    """
    if not team_namespaces(resources):
        raise NotApplicable("no teams")
    groups = [node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES)]
    without_gpus = [group for group in groups if not (group.gpu_models or group.tpu_chips_per_node)]
    said = [group for group in without_gpus if group.pool == SYSTEM_POOL]
    for group in said or [group for group in without_gpus if group.pool != CPU_POOL]:
        if not keeps_pods_off(group.resource, RESERVED_TAINTS):
            yield group.resource, "no taint keeps teams' pods off: they run beside the platform's own"
    for group in groups if without_gpus else []:
        if group.gpu_models and not keeps_pods_off(group.resource, RESERVED_TAINTS):
            yield group.resource, "no taint keeps off pods without GPUs: they hold nodes with GPUs, past the queue"
        if group.tpu_chips_per_node and not keeps_pods_off(group.resource, RESERVED_TAINTS):
            yield (
                group.resource,
                "no taint keeps off pods without TPU chips: they hold nodes of a slice, past the queue",
            )


@resource_rule(
    "kubelet-open-to-everybody",
    "The kubelet of a node asks who is there, and what he may.",
    types=(LAUNCH_TEMPLATE, GKE_CLUSTER, GKE_NODE_POOL),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 3.2.1", "CIS EKS 1.5.0 3.2.2", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Take it out of the node's user data; the defaults of EKS are anonymous off, authorization by webhook.",
)
def kubelet_open_to_everybody(resource: RecordedResource, _: Config) -> Iterator[str]:
    """No network policy stands between a pod and its own node: what holds is that the kubelet asks."""
    if resource.type == GKE_CLUSTER:
        if value_at(resource.inputs, "anonymousAuthenticationConfig", "mode") == "ENABLED":
            yield "anonymousAuthenticationConfig.mode is ENABLED: the API answers whoever asks"
        return
    if resource.type == GKE_NODE_POOL:
        read_only = value_at(resource.inputs, "nodeConfig", "kubeletConfig", "insecureKubeletReadonlyPortEnabled")
        if str(read_only).upper() == "TRUE":
            yield "nodeConfig.kubeletConfig opens the port that asks nobody"
        return
    text = user_data(resource)
    for pattern, what in _OPEN:
        if pattern.search(text):
            yield f"user data {what}"
