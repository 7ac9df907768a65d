"""Requests for nodes (`ProvisioningRequestConfig`): they ask for what the flavor's nodes are, for as long as those run.

Source: Kueue 0.19, "ProvisioningRequest admission check" (a job that asks for none of `managedResources` is let by
without a request); GKE, "Run a large-scale workload with flex-start with queued provisioning", as generally known in
2026-11: pods start no node of such a pool, only a request of its class does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.conventions.gcp import QUEUED_PROVISIONING
from trainyard.problems import nearest
from trainyard.recorded.node_groups import GKE_NODE_POOL, NodeGroup
from trainyard.recorded.read import as_number, value_at
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.queues.kubernetes.model import PROVISIONING
from trainyard.rehearsal.works.queues.room import Room

_CONFIGS: Final = "kubernetes:kueue.x-k8s.io/*:ProvisioningRequestConfig"
_CHECKS: Final = "kubernetes:kueue.x-k8s.io/*:AdmissionCheck"
_CLASSES: Final = (
    QUEUED_PROVISIONING, "check-capacity.autoscaling.x-k8s.io", "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
)  # fmt: skip
"""Classes of the autoscaler and of GKE; a controller of one's own may answer others."""
_LONGEST: Final = "spec.parameters.maxRunDurationSeconds"
_READY_SECONDS: Final = 300
_WEEK: Final = 604_800
"""A node of queued provisioning lives seven days at most (GKE, "Dynamic Workload Scheduler", 2026-11)."""


def check_provisioning(stack: Stack, room: Room) -> None:
    """Every request's configuration, and every queue with nodes that come by request alone."""
    for resource in room.resources.of(_CONFIGS):
        view = stack.view_of(resource)
        _class(view)
        pairs = list(_flavors(room, view.text("metadata.name")))
        groups = [group for _, flavor in pairs for group in room.groups.get(flavor, ())]
        _time(view, groups)
        _resources(view, room, pairs)
        _for_others(stack, view, room, pairs)
        if (
            view.text("spec.provisioningClassName") not in (None, QUEUED_PROVISIONING)
            and groups
            and all(map(_is_queued, groups))
        ):
            view.error(
                "queues-provisioning", "spec.provisioningClassName",
                f"{groups[0].name} starts nodes by requests of another class: jobs wait for ever",
                allowed=QUEUED_PROVISIONING,
            )  # fmt: skip
    _asked_for(stack, room)


def _class(view: View) -> None:
    name = view.text("spec.provisioningClassName")
    hint = "" if name is None or name in _CLASSES else nearest(name, _CLASSES, 0.8)
    if hint:
        words = f"nothing answers requests of class {show(name)}: jobs wait for ever"
        view.error("queues-provisioning", "spec.provisioningClassName", words, hint=hint)


def _time(view: View, groups: list[NodeGroup]) -> None:
    given, asked = view.value(_LONGEST), view.number(_LONGEST)
    if given is not None and (asked is None or not _READY_SECONDS <= asked <= _WEEK):
        view.error(
            "queues-provisioning", _LONGEST,
            f"got {show(given)}: nodes take {_READY_SECONDS} s to start, and live a week at most",
            allowed=f"seconds, {_READY_SECONDS} to {_WEEK}",
        )  # fmt: skip
    for group in groups:
        text = value_at(group.resource.inputs, "nodeConfig", "maxRunDuration", default="", unknown="")
        most = as_number(str(text).removesuffix("s")) if str(text).endswith("s") else None
        if asked is not None and most is not None and asked > most:
            view.error(
                "queues-provisioning", _LONGEST,
                f"{asked:g} s, and nodes of {group.name} are gone after {most:g}: a job that counts on more is cut off",
                allowed=f"at most {most:g}",
            )  # fmt: skip
            return


def _resources(view: View, room: Room, pairs: list[tuple[str, str]]) -> None:
    """What is requested is something that the queues count of the flavor."""
    managed = view.texts("spec.managedResources")
    covered = {
        resource
        for name, flavor in pairs
        if (queue := room.configuration.queues.get(name)) is not None
        for group in queue.groups
        if flavor in group.flavors
        for resource in group.covered
    }
    if managed and covered and not view.blurred("spec.managedResources") and covered.isdisjoint(managed):
        view.error(
            "queues-provisioning", "spec.managedResources",
            f"{', '.join(managed)}, and its queues count {', '.join(sorted(covered))}: no node is ever requested",
            allowed=f"one of {', '.join(sorted(covered))}",
        )  # fmt: skip


def _for_others(stack: Stack, view: View, room: Room, pairs: list[tuple[str, str]]) -> None:
    """A request of Google's queue is for nodes that come by it: of others none is ever made."""
    managed = set(view.texts("spec.managedResources"))
    if view.text("spec.provisioningClassName") != QUEUED_PROVISIONING or view.blurred("spec.managedResources"):
        return
    for name in dict.fromkeys(name for name, _ in pairs):
        covered = {
            flavor: set(group.covered) for group in room.configuration.queues[name].groups for flavor in group.flavors
        }
        # Where a job asks for none of what is managed, it is let by without a request: such flavors may be any.
        flavors = [
            flavor for queue, flavor in pairs
            if queue == name and (not managed or managed & covered.get(flavor, set()))
        ]  # fmt: skip
        asked = [flavor for flavor in flavors if room.groups.get(flavor) and any(map(_is_queued, room.groups[flavor]))]
        others = [flavor for flavor in flavors if room.groups.get(flavor) and flavor not in asked]
        if asked and others and room.is_sure(room.configuration.queues[name]):
            stack.view_of(room.resource("ClusterQueue", name)).error(
                "queues-provisioning", "spec.admissionChecksStrategy.admissionChecks",
                f"ask for nodes by request of {', '.join(others)} too, whose nodes come otherwise: jobs of theirs wait "
                "for ever", allowed=f"onFlavors: {', '.join(asked)}",
            )  # fmt: skip


def _flavors(room: Room, name: str | None) -> Iterator[tuple[str, str]]:
    """Queue and flavor of every check that goes by a configuration."""
    checks = {
        str(value_at(check.inputs, "metadata", "name", unknown=""))
        for check in room.resources.of(_CHECKS)
        if name is not None and value_at(check.inputs, "spec", "parameters", "name", unknown="") == name
    }
    for own, queue in room.configuration.queues.items():
        for check, flavors in queue.checks.items():
            if check in checks:
                yield from ((own, flavor) for flavor in flavors or queue.flavors)


def _asked_for(stack: Stack, room: Room) -> None:
    """A flavor whose nodes come by request alone has a check that makes the request."""
    for name, queue in room.configuration.queues.items():
        if not room.is_sure(queue):
            continue
        resource = room.resource("ClusterQueue", name)
        for flavor in queue.flavors:
            groups = room.groups.get(flavor, [])
            if not groups or not all(map(_is_queued, groups)):
                continue
            asked = [
                check for check, flavors in queue.checks.items()
                if flavor in (flavors or queue.flavors)
                and ((known := room.configuration.checks.get(check)) is None or known.controller == PROVISIONING)
            ]  # fmt: skip
            if not asked:
                stack.view_of(resource).error(
                    "queues-provisioning", "spec.admissionChecksStrategy.admissionChecks",
                    f"nodes of flavor {flavor} ({groups[0].name}) come by request alone, and no check of the queue "
                    "makes one: jobs are admitted and stay Pending",
                    allowed=f"an AdmissionCheck of {PROVISIONING} on {flavor}",
                )  # fmt: skip


def _is_queued(group: NodeGroup) -> bool:
    return (
        group.resource.type == GKE_NODE_POOL
        and value_at(group.resource.inputs, "queuedProvisioning", "enabled", default=False, unknown=False) is True
    )
