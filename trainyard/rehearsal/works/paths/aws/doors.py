"""Doors of security groups: of machines behind a load balancer, of stores, of the machines of one job.

Sources: Elastic Load Balancing, "Security groups for your Application Load Balancer" and "Target security groups"
(targets let the balancer in on their port and on that of the health check); Amazon EFS User Guide, "Using VPC security
groups" (2049); Amazon FSx for Lustre User Guide, "File system access control" (988); AWS Batch User Guide, "Multi-node
parallel jobs" (nodes talk to one another on whatever port the program takes) (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    AUTOSCALING_ATTACHMENT,
    AUTOSCALING_GROUP,
    BATCH_DEFINITION,
    BATCH_ENVIRONMENT,
    EC2_INSTANCE,
    EFS_MOUNT_TARGET,
    LUSTRE,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.aws.containers import TARGET_GROUP, target_group
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.paths.aws.calls import STORES, Store, addresses_of, before, place, port_of, reached
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network

_ATTACHMENT: Final = "aws:lb/targetGroupAttachment:TargetGroupAttachment"
_FILES: Final = (
    Store(EFS_MOUNT_TARGET, "securityGroups", "", 2049, "subnetId"),
    Store(LUSTRE, "securityGroupIds", "", 988, "subnetIds"),
)
_HIGH: Final = Port(49152)
"""A port of those that systems give programs which ask for any."""
_RENDEZVOUS: Final = Port(29500)
"""Where the processes of PyTorch look for the first."""
_KIND: Final = "computeResources.type"
_NO_GANGS: Final = ("FARGATE", "FARGATE_SPOT", "SPOT")
"""Kinds of environments that no job over several nodes runs in."""


def check(network: Network, groups: Groups) -> None:
    """Every door that is shut for sure."""
    stores(network, groups)
    gangs(network, groups)
    if network.stack.of_type(TARGET_GROUP):
        for target, view, subnets, stated in _machines(network, groups):
            _behind(network, groups, target, view, subnets, stated)


def stores(network: Network, groups: Groups) -> None:
    """A store whose groups let somebody in, and nobody on its own port: a number was mistyped."""
    for store in (*_FILES, *STORES):
        for view in network.stack.of_type(store.type):
            stated, port = groups.of(view, store.groups), port_of(view, store)
            if port and not view.resource.read and groups.lets_in_elsewhere(stated, Port(int(port))):
                names = " and ".join(sorted(groups.names.get(one, one) for one in stated or ()))
                view.warning(
                    "paths-store-closed", store.groups,
                    f"security group {names} lets others in, and nobody on {Port(int(port))}, where this listens",
                    allowed=f"a rule for {port:g}",
                )  # fmt: skip


def gangs(network: Network, groups: Groups) -> None:
    """The machines of a job over several let one another in."""
    stack = network.stack
    if not any(_nodes(view) > 1 for view in stack.of_type(BATCH_DEFINITION)):
        return
    fit = [
        (view, _deaf(network, groups, view))
        for view in stack.of_type(BATCH_ENVIRONMENT)
        if view.text(_KIND) not in _NO_GANGS and view.lacks("eksConfiguration")
    ]
    if not all(words for _, words in fit):
        return  # there is one that the job may be for
    for view, words in fit:
        view.error(
            "paths-gang-closed", "computeResources.securityGroupIds",
            f"{words}: the nodes of a job over several do not find one another",
            allowed="a rule of all traffic that names the group itself",
        )  # fmt: skip


def _deaf(network: Network, groups: Groups, environment: View) -> str:
    """Why the machines of an environment do not hear one another; empty where they do, or may."""
    own = place(
        network, groups, environment, f"machines of {environment.name}", "computeResources.subnets",
        "computeResources.securityGroupIds",
    )  # fmt: skip
    if own is None or not groups.closed("ingress", own.security_groups, own, _RENDEZVOUS):
        return ""
    return groups.closed("ingress", own.security_groups, own, _HIGH)


def _nodes(definition: View) -> float:
    try:
        found = json.loads(definition.text("nodeProperties") or "{}")
    except ValueError:
        return 0
    return (as_number(found.get("numNodes")) if isinstance(found, dict) else None) or 0


def _machines(network: Network, groups: Groups) -> Iterator[tuple[View, View, str, frozenset[str]]]:
    """Target groups, the machines that are in them, the input with their subnets, and their groups."""
    stack = network.stack
    for group in stack.of_type(AUTOSCALING_GROUP):
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        attached = [
            one
            for one in stack.of_type(AUTOSCALING_ATTACHMENT)
            if one.referred("autoscalingGroupName", group.type) is group
        ]
        arns = [*group.texts("targetGroupArns"), *(one.text("lbTargetGroupArn") or "" for one in attached)]
        stated = groups.of(template, "vpcSecurityGroupIds") if template is not None else None
        for arn in arns if stated and not group.resource.read else ():
            target = target_group(stack, arn)
            if target is not None:
                yield target, group, "vpcZoneIdentifiers", stated or frozenset()
    for attachment in stack.of_type(_ATTACHMENT):
        machine = attachment.referred("targetId", EC2_INSTANCE)
        target = target_group(stack, attachment.text("targetGroupArn"))
        stated = groups.of(machine, "vpcSecurityGroupIds") if machine is not None else None
        if machine is not None and target is not None and stated and not attachment.has("port"):
            yield target, machine, "subnetId", stated


def _behind(network: Network, groups: Groups, target: View, view: View, subnets: str, stated: frozenset[str]) -> None:
    """Machines let the balancer in on the port of their target group, and on that of its health check."""
    serving, asked = target.number("port"), target.number("healthCheck.port")
    if target.is_unknown("targetType") or target.text("targetType") not in (None, "instance") or serving is None:
        return
    checked = {int(asked if asked is not None else serving)}
    title = f"{view.type.rpartition(':')[2].lower()} {view.name}"
    for balancer in before(network, str(target.resource.outputs.get("arn"))):
        outer = place(network, groups, balancer, f"load balancer {balancer.name}", "subnets", "securityGroups")
        if outer is not None:
            # What comes by a balancer of the network comes from its clients' addresses, but for its checks.
            for port in sorted(checked | ({int(serving)} if balancer.text("loadBalancerType") != "network" else set())):
                why = "its targets are never healthy" if port in checked else "no request comes to its targets"
                inner = addresses_of(network, view, subnets)
                reached(groups, target, "port", outer, title, inner, stated, Port(port), why)
