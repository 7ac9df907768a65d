"""Ports of nodes that two pods want."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.placement.kubernetes.requests import host_ports
from trainyard.rehearsal.works.placement.world import World
from trainyard.rehearsal.works.workloads.model import Workload


def check_host_ports(world: World, views: Mapping[str, View]) -> None:
    """A port of the node is one pod's: of two that run everywhere one waits, of replicas one a node runs."""
    ports = {id(one): found for one in world.workloads if (found := host_ports(one.spec))}
    told: set[tuple[int, int]] = set()
    for name, daemons in world.daemons.items():
        first: dict[tuple[int, str], Workload] = {}
        for workload in daemons:
            for port in ports.get(id(workload), ()):
                other = first.setdefault(port, workload)
                if other is not workload and (id(other), id(workload)) not in told:
                    told.add((id(other), id(workload)))
                    words = f"{workload.told()} and {other.told()} both take port {port[0]} of every node of {name}"
                    views[workload.resource.urn].error("placement-host-port", workload.at("containers"), words)
    for verdict in world.verdicts:
        workload = verdict.workload
        sizes = [nodes.most for nodes in verdict.groups]
        if workload.every_node or id(workload) not in ports or None in sizes or not sizes:
            continue
        most = sum(size for size in sizes if size is not None)
        if workload.replicas is not None and workload.replicas > most:
            words = (
                f"{workload.replicas} pods of {workload.told()} take a port of their node, and {most} nodes take them"
            )
            hint = f"at most {most} replicas, or no hostPort"
            views[workload.resource.urn].error("placement-host-port", workload.at("containers"), words, hint=hint)
