"""Ports of a cluster's nodes that a load balancer outside of it sends to: a service has to have each of them.

Sources: Kubernetes documentation, "Service" (`nodePort`, 30000 to 32767 unless the API server is told otherwise);
Elastic Load Balancing, "Target groups for your Application Load Balancers" (`port` of instances); Cloud Load Balancing,
"Instance groups" (named ports), as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import as_number, known_texts
from trainyard.recorded.types import AUTOSCALING_ATTACHMENT, EKS_CLUSTER, EKS_NODE_GROUP, GKE_CLUSTER, GKE_NODE_POOL
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.aws.containers import TARGET_GROUP
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_FIRST, _LAST = 30000, 32767
_OPEN: Final = ("NodePort", "LoadBalancer")
_NAMED: Final = "gcp:compute/instanceGroupNamedPort:InstanceGroupNamedPort"


def check(stack: Stack, cluster: Cluster) -> None:
    """Ports of nodes, where each service that has some says which."""
    if len(stack.of_type(EKS_CLUSTER)) + len(stack.of_type(GKE_CLUSTER)) != 1:
        return
    open_ = [view for view in cluster.of("Service") if view.text("spec.type") in _OPEN]
    ports = [port for view in open_ for _, port in view.items("spec.ports")]
    given = [as_number(port.get("nodePort")) for port in ports]
    if not ports or None in given or any(has_unknown(view.value("spec")) for view in cluster.of("Service")):
        return
    given += [view.number("spec.healthCheckNodePort") for view in open_]
    known = sorted({int(number) for number in given if number is not None})
    for view, path, number in _asked(stack):
        # A chart's values, or a port of the host's, may be what is meant.
        if number not in known and not any(str(number) in str(one.inputs) for one in cluster.views):
            tell = view.error if cluster.makes_everything else view.warning
            tell(
                "reference-node-port", path,
                f"is {number}, and no service has that port on the nodes: no target is ever healthy",
                allowed=f"one of {', '.join(map(str, known))}",
            )  # fmt: skip


def _asked(stack: Stack) -> Iterator[tuple[View, str, int]]:
    """Ports in the range of nodes' that load balancers send to nodes of the stack's."""
    nodes = {text for view in stack.of_type(EKS_NODE_GROUP) for _, text in known_texts(view.resource.outputs)}
    attached = {
        one.text("lbTargetGroupArn")
        for one in stack.of_type(AUTOSCALING_ATTACHMENT)
        if one.text("autoscalingGroupName") in nodes - {None}
    }
    for view in stack.of_type(TARGET_GROUP):
        if view.text("targetType") in (None, "instance") and view.resource.outputs.get("arn") in attached - {None}:
            yield from _of(view, "port", "healthCheck.port")
    pools = {text for view in stack.of_type(GKE_NODE_POOL) for _, text in known_texts(view.resource.outputs)}
    groups = {text.rpartition("/")[2] for text in pools if "/instanceGroup" in text}
    for view in stack.of_type(_NAMED):
        if (view.text("group") or "").rpartition("/")[2] in groups:
            yield from _of(view, "port")


def _of(view: View, *paths: str) -> Iterator[tuple[View, str, int]]:
    for path in paths:
        number = as_number(view.value(path))
        if number is not None and _FIRST <= number <= _LAST and not view.resource.read:
            yield view, path, int(number)
