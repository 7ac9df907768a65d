"""What charts for GPUs and balancers are told of the nodes and the network that a stack makes.

Sources: Amazon EKS user guide, "Use the NVIDIA GPU Operator" and "EKS-optimized accelerated AMIs" (they hold the driver
and the container toolkit, so that `driver.enabled` and `toolkit.enabled` are false), and "Install the AWS Load Balancer
Controller" (nodes whose metadata answers one hop alone, or none: `region` and `vpcId` are given), 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.types import EKS_CLUSTER, TRAINING_RUNTIME
from trainyard.rehearsal.context import Stack, View, show

_OF_NODES: Final = ("driver", "toolkit")


def check_driver(release: View, chart: str, stack: Stack) -> None:
    """The GPU operator brings a driver to nodes whose image has one."""
    if chart != "gpu-operator" or release.is_unknown("values") or release.has("valueYamlFiles"):
        return
    types = {group.text("amiType") or "" for group in stack.of_type(EKS_NODE_GROUP)}
    with_driver = sorted(one for one in types if one.endswith("_NVIDIA"))
    if not with_driver or "CUSTOM" in types:
        return
    for part in _OF_NODES:
        if release.flag(f"values.{part}.enabled") is not False and not release.is_unknown(f"values.{part}.enabled"):
            release.warning(
                "charts-driver", f"values.{part}.enabled",
                f"brings a {part} to nodes whose image ({with_driver[0]}) has one: Amazon's guide has "
                "it switched off there", allowed="false",
            )  # fmt: skip


def check_network(release: View, chart: str, stack: Stack) -> None:
    """The network of a balancer's controller is told where it cannot be asked for (which it is: `identifiers`)."""
    if chart != "aws-load-balancer-controller" or release.is_unknown("values") or release.has("valueYamlFiles"):
        return
    if any(not group.has("launchTemplate") for group in stack.of_type(EKS_NODE_GROUP)):
        return  # nodes of EKS's own template answer pods: two hops
    hops = [view.number("metadataOptions.httpPutResponseHopLimit") for view in stack.of_type(LAUNCH_TEMPLATE)]
    if hops and all(one == 1 for one in hops) and release.flag("values.hostNetwork") is not True:
        for key in ("region", "vpcId"):
            by_tags = key == "vpcId" and release.has("values.vpcTags")
            if release.lacks(f"values.{key}") and not by_tags:
                release.error(
                    "charts-network", f"values.{key}",
                    "is missing, and the nodes' metadata answers no pod (httpPutResponseHopLimit 1): it ends",
                    allowed="the stack's own",
                )  # fmt: skip


_ON_EKS: Final = ("aws", "clusterapi", "externalgrpc")


def check_cloud(release: View, chart: str, stack: Stack) -> None:
    """The autoscaler is told the cloud whose groups it is to change."""
    given = release.text("values.cloudProvider")
    if chart == "cluster-autoscaler" and given is not None and stack.of_type(EKS_CLUSTER) and given not in _ON_EKS:
        release.error(
            "charts-cloud", "values.cloudProvider", f"got {show(given)}, and the cluster is EKS: no group is found",
            allowed="aws",
        )  # fmt: skip


_DEFAULTS: Final = ("torch-distributed", "deepspeed-distributed", "mlx-distributed", "jax-distributed")
"""Runtimes that the trainer's chart makes where `runtimes.defaultEnabled` is true (kubeflow/trainer 2.3)."""


def check_runtimes(release: View, chart: str, stack: Stack) -> None:
    """A runtime that the chart makes is none that the stack makes too."""
    if chart != "kubeflow-trainer" or release.flag("values.runtimes.defaultEnabled") is not True:
        return
    for view in stack.of_type(TRAINING_RUNTIME):
        name = view.text("metadata.name")
        if name in _DEFAULTS:
            release.error(
                "charts-twice", "values.runtimes.defaultEnabled",
                f"makes the runtime {show(name)}, which {view.name} makes too: the second one fails", allowed="false",
            )  # fmt: skip
