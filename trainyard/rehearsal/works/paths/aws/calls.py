"""Who calls whom beside clusters: a load balancer its containers, a service and a function what they are told of.

A load balancer reaches a container on its port, and what a program is told the address of is meant to be reached: by
security groups, both ways.

Sources: Elastic Load Balancing, "Security groups for your Application Load Balancer"; Amazon ECS Developer Guide, "Use
load balancing"; Amazon ElastiCache, RDS, OpenSearch and EFS user guides on access (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    DATABASE,
    DATABASE_CLUSTER,
    DATABASE_SUBNETS,
    ECS_SERVICE,
    EFS_ACCESS_POINT,
    EFS_MOUNT_TARGET,
    FUNCTION,
    LISTENER_RULE,
    LOAD_BALANCER,
    REPLICATION_GROUP,
)
from trainyard.rehearsal.context import Stack, View, listed
from trainyard.rehearsal.refusals.aws.balancers import LISTENER
from trainyard.rehearsal.refusals.aws.containers import containers, target_group, target_groups
from trainyard.rehearsal.refusals.aws.texts import TASK
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.aws.places import NFS
from trainyard.rehearsal.works.flows.model import Place, Port
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network

RULE: Final = "paths-call-closed"


@dataclass(frozen=True, slots=True)
class Store:
    """Something that programs reach on a port of its own."""

    type: str
    groups: str
    port: str  # the input with its port
    default: int
    subnets: str  # the input with its subnets, or with a group of them
    subnet_group: str = ""  # the type of that group


_OF_CACHES: Final = "aws:elasticache/subnetGroup:SubnetGroup"
STORES: Final = (
    Store(
        REPLICATION_GROUP,
        "securityGroupIds",
        "port",
        6379,
        "subnetGroupName",
        _OF_CACHES,
    ),
    Store("aws:elasticache/cluster:Cluster", "securityGroupIds", "port", 0, "subnetGroupName", _OF_CACHES),
    Store("aws:opensearch/domain:Domain", "vpcOptions.securityGroupIds", "", 443, "vpcOptions.subnetIds"),
    Store(DATABASE, "vpcSecurityGroupIds", "port", 0, "dbSubnetGroupName", DATABASE_SUBNETS),
    Store(DATABASE_CLUSTER, "vpcSecurityGroupIds", "port", 0, "dbSubnetGroupName", DATABASE_SUBNETS),
    Store(
        "aws:docdb/cluster:Cluster",
        "vpcSecurityGroupIds",
        "port",
        27017,
        "dbSubnetGroupName",
        "aws:docdb/subnetGroup:SubnetGroup",
    ),
    Store(
        "aws:memorydb/cluster:Cluster",
        "securityGroupIds",
        "port",
        6379,
        "subnetGroupName",
        "aws:memorydb/subnetGroup:SubnetGroup",
    ),
)
_ENGINES: Final = (
    ("postgres", 5432),
    ("mysql", 3306),
    ("mariadb", 3306),
    ("sqlserver", 1433),
    ("oracle", 1521),
    ("memcached", 11211),
    ("redis", 6379),
    ("valkey", 6379),
)


def check(network: Network) -> None:
    """Every service and every function."""
    stack = network.stack
    if not stack.of_type(ECS_SERVICE) and not stack.of_type(FUNCTION):
        return
    groups = Groups(network)
    for service in stack.of_type(ECS_SERVICE):
        task = service.referred("taskDefinition", TASK)
        inner = place(
            network,
            groups,
            service,
            f"service {service.name}",
            "networkConfiguration.subnets",
            "networkConfiguration.securityGroups",
        )
        if inner is None or service.resource.read:
            continue
        _balanced(network, groups, service, inner)
        if task is not None:
            _told(network, groups, task, ("containerDefinitions",), inner)
            _checked(service, task)
    for function in stack.of_type(FUNCTION):
        inner = place(
            network, groups, function, f"function {function.name}", "vpcConfig.subnetIds", "vpcConfig.securityGroupIds"
        )
        if inner is not None and not function.resource.read:
            _told(network, groups, function, ("environment",), inner)
            _mounted(network, groups, function, inner)


def place(network: Network, groups: Groups, view: View, name: str, subnets: str, ids: str) -> Place | None:
    """What stands in some subnets, with its groups; None where they are not all known."""
    given = groups.of(view, ids)
    addresses = addresses_of(network, view, subnets)
    return Place(name, "node", addresses, security_groups=given) if given and addresses else None


def addresses_of(network: Network, view: View, path: str) -> Addresses | None:
    """The blocks of the subnets that an input names, one or several; None where they are not all known."""
    given = view.entries(path) or [view.value(path)]
    blocks = [network.subnets[one].text("cidrBlock") for one in given if one in network.subnets]
    if None in blocks or len(blocks) < len(given):
        return None
    try:
        return Addresses.of(*(block for block in blocks if block))
    except ValueError:
        return None


def _balanced(network: Network, groups: Groups, service: View, inner: Place) -> None:
    for path, entry in service.items("loadBalancers"):
        port, arn = as_number(entry.get("containerPort")), entry.get("targetGroupArn")
        for balancer in before(network, arn) if port is not None and isinstance(arn, str) else ():
            outer = place(network, groups, balancer, f"load balancer {balancer.name}", "subnets", "securityGroups")
            if outer is not None and port is not None:
                reached(
                    groups,
                    service,
                    path,
                    outer,
                    inner.name,
                    inner.addresses,
                    inner.security_groups,
                    Port(int(port)),
                    "its targets are never healthy",
                )
                _let_in_to_check(groups, service, arn, outer, inner)


def _let_in_to_check(groups: Groups, service: View, arn: Any, outer: Place, inner: Place) -> None:
    """A health check on a port of its own is let in there, whether a container maps that port or not."""
    group = target_group(service.stack, arn)
    asked = group.number("healthCheck.port") if group is not None else None
    if group is None or asked is None:
        return
    shut = groups.closed("ingress", inner.security_groups, outer, Port(int(asked)))
    if shut:
        told = f"asks port {asked:g}: {shut}"
        group.warning("paths-health-check", "healthCheck.port", told, allowed=f"a rule for {asked:g}")


def _senders(stack: Stack) -> list[tuple[str, View]]:
    """What each listener and each of its rules does, as a text, with the listener."""
    listeners = {str(one.resource.outputs.get("arn")): one for one in stack.of_type(LISTENER)}
    found = [(str(one.inputs.get("defaultActions")), one) for one in listeners.values()]
    for rule in stack.of_type(LISTENER_RULE):
        if (arn := rule.text("listenerArn")) in listeners:
            found.append((str(rule.inputs.get("actions")), listeners[str(arn)]))
    return found


def before(network: Network, group: str) -> Iterator[View]:
    """The load balancers before a group of targets, by its ARN."""
    names = [listener for text, listener in network.stack.once(_senders) if group in text]
    seen: set[str] = set()
    for listener in names:
        balancer = listener.referred("loadBalancerArn", LOAD_BALANCER)
        if balancer is not None and balancer.resource.urn not in seen:
            seen.add(balancer.resource.urn)
            yield balancer


def _told(network: Network, groups: Groups, view: View, inputs: tuple[str, ...], inner: Place) -> None:
    """Stores whose address stands in what a program is told."""
    named = {urn for name in inputs for urn in view.resource.property_dependencies.get(name, ())}
    for store in STORES:
        for one in network.stack.of_type(store.type):
            if one.resource.urn not in named or one.resource.read or not _is_addressed(view, inputs, one):
                continue
            port = port_of(one, store)
            stated = groups.of(one, store.groups)
            if port and stated:
                at = one.referred(store.subnets, store.subnet_group) if store.subnet_group else one
                path = "subnetIds" if store.subnet_group else store.subnets
                reached(
                    groups,
                    one,
                    store.groups,
                    inner,
                    f"{one.type.rpartition(':')[2]} {one.name}",
                    addresses_of(network, at, path) if at is not None else None,
                    stated,
                    Port(int(port)),
                    f"{inner.name} is told of it, and never reaches it",
                )


def _mounted(network: Network, groups: Groups, function: View, inner: Place) -> None:
    """A function that mounts files reaches a mount target."""
    named = function.text("fileSystemConfig.arn")
    points = [
        one for one in network.stack.of_type(EFS_ACCESS_POINT) if named and one.resource.outputs.get("arn") == named
    ]
    system = points[0].text("fileSystemId") if points else None
    for target in network.stack.of_type(EFS_MOUNT_TARGET):
        stated = groups.of(target, "securityGroups")
        if system is not None and stated and target.text("fileSystemId") == system:
            reached(
                groups,
                target,
                "securityGroups",
                inner,
                f"mount target {target.name}",
                addresses_of(network, target, "subnetId"),
                stated,
                NFS,
                f"{inner.name} never mounts its files",
            )


def _is_addressed(view: View, inputs: tuple[str, ...], store: View) -> bool:
    text = " ".join(str(view.inputs.get(name)) for name in inputs)
    outputs = store.resource.outputs
    found = [
        outputs.get(key)
        for key in (
            "address",
            "endpoint",
            "primaryEndpointAddress",
            "configurationEndpointAddress",
            "readerEndpoint",
            "readerEndpointAddress",
            "clusterAddress",
        )
    ]
    return any(isinstance(one, str) and one and one in text for one in found)


def port_of(view: View, store: Store) -> float | None:
    """The port of a store; 0 or None where it is not known."""
    if store.port and view.has(store.port):
        return as_number(view.value(store.port))
    return store.default or _engine(view)


def _engine(view: View) -> int:
    engine = view.text("engine") or ""
    return next((port for word, port in _ENGINES if word in engine), 0)


def reached(
    groups: Groups,
    view: View,
    path: str,
    outer: Place,
    name: str,
    addresses: Addresses | None,
    stated: frozenset[str],
    port: Port,
    why: str,
) -> None:
    """Notes a call that is let in or out by no rule; out, where it is known which addresses it is let out to."""
    shut = groups.closed("ingress", stated, outer, port)
    if not shut and addresses is not None:
        inner = Place(name, "node", addresses, security_groups=stated)
        shut = groups.closed("egress", outer.security_groups, inner, port)
    if shut:
        view.error(RULE, path, f"{outer} does not reach {name} on {port}: {shut}; {why}", allowed=f"a rule for {port}")


def _checked(service: View, task: View) -> None:
    """A health check asks a port that a container maps; in awsvpc every port of a task is there without that."""
    if task.is_unknown("networkMode") or task.text("networkMode") == "awsvpc":
        return
    ports = {
        number
        for one in containers(task)
        for port in listed(one.get("portMappings"))
        if isinstance(port, dict) and (number := as_number(port.get("containerPort"))) is not None
    }
    for group in target_groups(service, "loadBalancers"):
        asked = group.number("healthCheck.port")
        if asked is not None and ports and asked not in ports:
            group.warning(
                "paths-health-check",
                "healthCheck.port",
                f"asks port {asked:g}, which no container of {service.name} maps",
                allowed=", ".join(f"{port:g}" for port in sorted(ports)),
            )
