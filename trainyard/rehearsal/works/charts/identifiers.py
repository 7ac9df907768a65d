"""Networks, queues and endpoints that a chart's values name, against those that the stack makes for its cluster.

A program of another network's id finds no subnet, one of another queue's name hears of no interruption. What the stack
makes none of is somebody else's, and believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.types import EKS_CLUSTER, QUEUE, SUBNET, VPC
from trainyard.rehearsal.context import Stack, View, show

_OF_A_QUEUE: Final = ("url", "name", "id", "arn")


def check_identifiers(release: View, known: Mapping[str, Any], stack: Stack) -> None:
    """Everything of a release that is the name of something. `known`: its chart's entry in `programs.yaml`."""
    clusters = stack.of_type(EKS_CLUSTER)
    if len(clusters) != 1:
        return  # nobody knows in which of them it runs
    _is_one(release, known.get("vpc"), _networks(stack, clusters[0]), "charts-network", "the cluster is in")
    endpoint = clusters[0].resource.outputs.get("endpoint")
    _is_one(
        release, known.get("endpoint"), {endpoint} if isinstance(endpoint, str) else set(), "charts-cluster",
        "the cluster answers at",
    )  # fmt: skip
    _queue(release, known.get("queue"), stack)


def _is_one(release: View, path: str | None, names: set[str], rule: str, words: str) -> None:
    given = release.text(f"values.{path}") if path is not None else None
    if given and names and given not in names:
        told = " or ".join(sorted(names))
        release.error(rule, f"values.{path}", f"got {show(given)}, and {words} {told}", allowed=told)


def _networks(stack: Stack, cluster: View) -> set[str]:
    """The network whose subnets the cluster is in, where the stack makes both."""
    made = {str(vpc.resource.id) for vpc in stack.of_type(VPC)}
    subnets = {str(subnet.resource.id): subnet.text("vpcId") for subnet in stack.of_type(SUBNET)}
    found = {subnets.get(subnet) for subnet in cluster.texts("vpcConfig.subnetIds")}
    return {str(vpc) for vpc in found} if found and found <= made else set()


def _queue(release: View, path: str | None, stack: Stack) -> None:
    given = release.text(f"values.{path}") if path is not None else None
    queues = stack.of_type(QUEUE)
    if not given or not queues:
        return
    names = {
        str(name)
        for queue in queues
        for name in (queue.resource.id, *(queue.resource.outputs.get(key) for key in _OF_A_QUEUE), queue.text("name"))
        if name is not None
    }
    hint = nearest(given, names)
    if given not in names and hint:
        release.error(
            "charts-queue", f"values.{path}",
            f"the stack makes no queue {show(given)}: nobody is told of interruptions", hint=hint,
        )  # fmt: skip
