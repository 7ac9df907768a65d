"""A cluster autoscaler that can start nodes: one that runs, and that finds the groups of its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.recorded.read import as_number
from trainyard.recorded.types import EKS_CLUSTER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.placement.world import World
from trainyard.rehearsal.works.workloads.charts import chart_of

AUTOSCALER: Final = "cluster-autoscaler"


def check_autoscaler(world: World, views: Mapping[str, View]) -> None:
    """Nodes that only the autoscaler starts, and it waits for one itself; groups that it looks for by another name."""
    for verdict in world.verdicts:
        workload = verdict.workload
        if workload.origin != "chart" or workload.name != AUTOSCALER or chart_of(workload.resource) != AUTOSCALER:
            continue
        view = views[workload.resource.urn]
        if verdict.groups and all(nodes.least == 0 and nodes.desired == 0 for nodes in verdict.groups):
            groups = ", ".join(nodes.name for nodes in verdict.groups)
            words = (
                f"{workload.told()} may only run on {groups}, which start with 0 nodes: nothing starts the first one"
            )
            path = workload.at("nodeSelector")
            view.error("placement-autoscaler", path, words, allowed="a group with minSize of 1 or more")
        _finds(view, views)
        _total(view, world)


def _total(view: View, world: World) -> None:
    """As many nodes at most as run anyway: none is ever started. Where queues have what the groups may have at most,
    a limit below that breaks their word."""
    path = "values.extraArgs.max-nodes-total"
    total = as_number(view.value(path))
    least, most = [nodes.least for nodes in world.nodes or ()], [nodes.most for nodes in world.nodes or ()]
    running, may = sum(one for one in least if one is not None), sum(one for one in most if one is not None)
    if not total or not least or None in (*least, *most):
        return
    if total <= running < may:  # groups that may have no more need no other
        words = f"is {total:g}, and {running} nodes run at least: no other is ever started"
        view.error("placement-autoscaler", path, words, allowed=f"more than {running}, or 0 for no limit")
    elif total < may and view.stack.context.ours:
        words = f"is {total:g}, and the groups, of which queues count all, may have {may}: jobs are admitted and wait"
        view.warning("placement-autoscaler", path, words, allowed=f"{may} or more, or 0 for no limit")


def _finds(view: View, views: Mapping[str, View]) -> None:
    clusters = [other for other in views.values() if other.type == EKS_CLUSTER]
    names = [other.text("name") for other in clusters]
    given = view.text("values.autoDiscovery.clusterName")
    if given is not None and None not in names and given not in names and not view.has("values.autoDiscovery.tags"):
        words = f"got {show(given)}: groups are looked for by their tags, which name {show(names[0])}"
        view.error("placement-autoscaler", "values.autoDiscovery.clusterName", words, allowed=show(names[0]))
    region, own = view.text("values.awsRegion"), view.stack.context.region
    if region and own and region != own:
        words = f"got {show(region)}: its cluster and the groups are in {own}"
        view.error("placement-autoscaler", "values.awsRegion", words, allowed=own)
