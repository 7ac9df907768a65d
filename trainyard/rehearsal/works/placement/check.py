"""What of a stack's pods no node would take, and what would have no room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.conventions import GPU_RESOURCE
from trainyard.problems import nearest
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.placement.autoscaler import check_autoscaler
from trainyard.rehearsal.works.placement.aws.from_zero import check_from_zero
from trainyard.rehearsal.works.placement.aws.scaling_tags import check_tags
from trainyard.rehearsal.works.placement.drains import check_budgets
from trainyard.rehearsal.works.placement.hosts import check_host_ports
from trainyard.rehearsal.works.placement.kubernetes.said import amount_text
from trainyard.rehearsal.works.placement.logs import check_logs
from trainyard.rehearsal.works.placement.room import STANDING, most_at_once, shortages, unpacked
from trainyard.rehearsal.works.placement.shared_gpus import check_plugin, check_shared
from trainyard.rehearsal.works.placement.spread import check_spread
from trainyard.rehearsal.works.placement.topology import check_topology
from trainyard.rehearsal.works.placement.world import Refusal, Verdict, World
from trainyard.rehearsal.works.workloads.scaled import scaled

_TOLD_GROUPS: Final = 3
_DEFAULT_SCHEDULER: Final = "default-scheduler"
_GANGS: Final = ("TrainJob", "JobSet")


def check(stack: Stack) -> None:
    """Plays the scheduler with every pod that the recording says of."""
    world = World(stack.resources, stack.context.region, stack.providers, stack.components)
    views = {view.resource.urn: view for view in stack.views}
    check_budgets(world, views, stack.once(scaled))
    check_tags(stack, world.nodes)
    if world.nodes is None:
        return
    told = {id(one) for one in world.verdicts if _place(one, world, views[one.workload.resource.urn])}
    for verdict in world.verdicts:
        _scheduler(verdict, world, views[verdict.workload.resource.urn])
        if verdict.fits:
            check_spread(verdict, world, views[verdict.workload.resource.urn])
    check_topology(world, views)
    check_shared(world, views)
    check_plugin(stack, world)
    check_host_ports(world, views)
    check_autoscaler(world, views)
    check_from_zero(stack, world, views)
    check_logs(world, views)
    _devices(world, views)
    _measured(world, views)
    _share(world, views, [one for one in world.verdicts if id(one) not in told])


def _place(verdict: Verdict, world: World, view: View) -> bool:
    """Whether something was to be told of a workload by itself."""
    workload = verdict.workload
    if workload.replicas == 0:
        return False
    if not verdict.fits:
        if not verdict.refusals:
            return False
        meant = [one for one in verdict.refusals if one.farness == verdict.refusals[0].farness]
        nearest = meant[:_TOLD_GROUPS]
        key = nearest[0].misses[0].key
        told = "; ".join(_why(one) for one in nearest)
        more = len(verdict.refusals) - len(nearest)
        rest = f"; {more} other group{'s' if more > 1 else ''} still less" if more > 0 else ""
        if workload.every_node:
            words = f"{workload.told()} runs nowhere: {told}{rest}"
            view.warning("placement-daemon-nowhere", workload.at(key), words, hint=_cure(nearest[0]))
        else:
            words = f"no node takes {workload.told()}: {told}{rest}"
            view.error("placement-no-node", workload.at(key), words, hint=_cure(nearest[0]))
        return True
    if workload.every_node or workload.is_template:
        return False
    if all(nodes.most == 0 for nodes in verdict.groups):
        groups = ", ".join(nodes.name for nodes in verdict.groups)
        words = f"{workload.told()} waits: the node groups that take it ({groups}) have at most 0 nodes"
        view.warning("placement-no-node-yet", workload.at("nodeSelector"), words, allowed="maxSize of 1 or more")
        return True
    _drivers(verdict, world, view)
    return _gang(verdict, world, view)


def _scheduler(verdict: Verdict, world: World, view: View) -> None:
    """A scheduler that nothing of the stack runs: nobody else looks at its pods."""
    workload = verdict.workload
    name = workload.spec.get("schedulerName")
    if not isinstance(name, str) or name == _DEFAULT_SCHEDULER or world.installs_unknown:
        return
    if not any(name in one.name for one in world.workloads):
        words = f"{workload.told()} waits for scheduler {name}, which nothing in this stack runs"
        hint = nearest(name, (_DEFAULT_SCHEDULER,))
        view.warning("placement-scheduler", workload.at("schedulerName"), words, hint=hint)


def _why(refusal: Refusal) -> str:
    way = f" as flavor {refusal.way.flavor}" if refusal.way.flavor else ""
    return f"{refusal.nodes.told()}{way}: {', '.join(miss.words for miss in refusal.misses)}"


def _cure(refusal: Refusal) -> str:
    return "; ".join(dict.fromkeys(miss.cure for miss in refusal.misses))


def _gang(verdict: Verdict, world: World, view: View) -> bool:
    """Pods that have to run at once, or that are told to, and for which there are too few nodes."""
    workload = verdict.workload
    most = most_at_once(verdict, world)
    if most is None or workload.replicas is None or workload.replicas <= most:
        return False
    groups = ", ".join(nodes.name for nodes in verdict.groups)
    words = (
        f"{workload.replicas} pods of {workload.told()} run at once, the nodes that take them ({groups}) hold {most}"
    )
    cure = "fewer pods, smaller requests, or a larger maxSize"
    path = workload.at("containers")
    if workload.kind in (*STANDING, *_GANGS) or _indexed(workload.resource):
        view.error("placement-capacity", path, words, hint=cure)
    else:
        view.warning("placement-capacity", path, words, hint=cure)
    return True


def _indexed(resource: RecordedResource) -> bool:
    spec = resource.inputs.get("spec")
    return isinstance(spec, dict) and spec.get("completionMode") == "Indexed"


def _drivers(verdict: Verdict, world: World, view: View) -> None:
    """Nodes that would take a pod and cannot mount its volumes, as the driver does not run there."""
    for driver in verdict.drivers:
        running = [one for one in world.workloads if one.driver == driver]
        if not running:
            continue
        without = [
            nodes.name for nodes in verdict.groups if not any(one.driver == driver for one in world.daemons[nodes.name])
        ]
        if not without:
            continue
        workload, by = verdict.workload, running[0].told()
        words = f"{workload.told()} has volumes of {driver}, and {by} does not run on {', '.join(without)}"
        note = view.error if len(without) == len(verdict.groups) else view.warning
        note("placement-driver", workload.at("volumes"), words, hint=f"let {by} tolerate the taints of these nodes")


def _devices(world: World, views: dict[str, View]) -> None:
    """Hardware of nodes that a plugin of the stack would offer, and does not, as it does not run there."""
    for nodes in world.nodes or ():
        offer = world.offer(nodes)
        for name, count in nodes.hardware.items():
            plugins = world.offering.get(name, [])
            if plugins and offer(name) == 0:
                refused = {
                    refusal.nodes.name: refusal
                    for verdict in world.verdicts
                    if verdict.workload is plugins[0]
                    for refusal in verdict.refusals
                }
                plugin = plugins[0]
                why = (
                    f" ({', '.join(miss.words for miss in refused[nodes.name].misses)})"
                    if nodes.name in refused
                    else ""
                )
                path = plugin.at(refused[nodes.name].misses[0].key) if nodes.name in refused else plugin.path
                words = f"{plugin.told()} does not run on {nodes.told()}{why}: "
                words += f"its {amount_text(name, count)} {name} a node are offered to no pod"
                hint = _cure(refused[nodes.name]) if nodes.name in refused else ""
                views[plugin.resource.urn].error("placement-device-plugin", path, words, hint=hint)


_EXPORTER: Final = "dcgm-exporter"


def _measured(world: World, views: dict[str, View]) -> None:
    """GPUs of which nothing is told: their exporter runs on other nodes, and on these it may not."""
    for verdict in world.verdicts:
        workload, runs_on = verdict.workload, {nodes.name for nodes in verdict.groups}
        if not workload.every_node or workload.name != _EXPORTER or not runs_on:
            continue
        for refusal in verdict.refusals:
            if any(name.startswith(GPU_RESOURCE) for name in refusal.nodes.hardware) and refusal.nodes.most:
                if refusal.nodes.name in runs_on:
                    continue
                words = f"{workload.told()} does not run on {refusal.nodes.told()}"
                words += f" ({', '.join(miss.words for miss in refusal.misses)}): nothing is told of its GPUs"
                view = views[workload.resource.urn]
                view.warning("placement-exporter", workload.at(refusal.misses[0].key), words, hint=_cure(refusal))


def _share(world: World, views: dict[str, View], verdicts: list[Verdict]) -> None:
    """Pods that run on and on, together on the nodes that they may run on."""
    standing = [one for one in verdicts if one.workload.kind in STANDING and not one.workload.is_template]
    told = False
    for short in shortages(world, standing):
        told = True
        largest = max(
            short.verdicts, key=lambda one: one.requests.get(short.resource, 0) * (one.workload.replicas or 0)
        )
        has = f"{amount_text(short.resource, short.had)} of {short.resource}"
        words = f"{', '.join(_names(short.verdicts))} request {amount_text(short.resource, short.wanted)} of "
        words += f"{short.resource} together, the {short.nodes} nodes of {', '.join(short.groups)} have {has} for them"
        workload = largest.workload
        view = views[workload.resource.urn]
        view.error(
            "placement-shared-room", workload.at("containers"), words, hint="smaller requests or a larger maxSize"
        )
    if told:
        return
    for surge in (False, True):
        left = unpacked(world, standing, surge)
        if left:
            verdict, count = left[0]
            when = "while it is updated " if surge else ""
            words = f"{count} of {verdict.workload.told()} may find no room {when}beside the other pods of "
            words += ", ".join(nodes.name for nodes in verdict.groups)
            view = views[verdict.workload.resource.urn]
            rule = "placement-update-room" if surge else "placement-shared-room"
            view.warning(rule, verdict.workload.at("containers"), words, hint="a larger maxSize or larger nodes")
            return


def _names(verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    for verdict in verdicts[:4]:
        yield verdict.workload.told()
    if len(verdicts) > 4:
        yield f"{len(verdicts) - 4} more"
