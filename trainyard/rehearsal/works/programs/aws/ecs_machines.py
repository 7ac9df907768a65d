"""Machines of Amazon ECS: they join the cluster whose tasks they are for, and one of them has room for a task.

Sources: Amazon ECS Developer Guide, "Amazon ECS container agent configuration" (`ECS_CLUSTER`, which is `default` where
nobody says), "Reserving Amazon ECS Linux container instance memory" (a part is the system's) and "Container instance
memory management"; the sizes are the catalogue's (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard.catalog import Instance, instances
from trainyard.recorded.machines import ECS_IMAGES, JOINS_ECS
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import AUTOSCALING_GROUP, CAPACITY_PROVIDER, ECS_SERVICE, SCHEDULE
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.refusals.aws.containers import containers
from trainyard.rehearsal.refusals.aws.texts import TASK
from trainyard.rehearsal.works.programs.aws.user_data import script_of, template_of

_OF_CLUSTER: Final = "aws:ecs/clusterCapacityProviders:ClusterCapacityProviders"
_MIB: Final = 1024
_UNITS: Final = 1024
"""CPU units of a vCPU."""


def check(stack: Stack) -> None:
    """Every capacity provider of machines, and whatever runs tasks on them alone."""
    groups = {}
    for provider in stack.of_type(CAPACITY_PROVIDER):
        group = provider.referred("autoScalingGroupProvider.autoScalingGroupArn", AUTOSCALING_GROUP)
        name = provider.text("name")
        if group is None or group.resource.read or name is None:
            continue
        groups[name] = group
        _joins(stack, name, group)
    if groups:
        for view, task, names in _run(stack):
            machines = [_machines(groups[name]) if name in groups else () for name in names]
            if machines and all(machines):
                _has_room(view, task, [one for of in machines for one in of])


def _joins(stack: Stack, provider: str, group: View) -> None:
    """The cluster that a group's machines join is one of those that the provider is of."""
    clusters = []
    for bound in stack.of_type(_OF_CLUSTER):
        if bound.blurred("capacityProviders") or provider in bound.texts("capacityProviders"):
            clusters.append(bound.text("clusterName"))
    template = template_of(group)
    if template is None or not clusters or None in clusters:
        return
    wanted = ", ".join(str(name) for name in clusters)
    found = JOINS_ECS.search(script_of(template))
    if found is not None and "$" not in found["name"] and found["name"] not in clusters:
        template.error(
            "programs-ecs-cluster", "userData",
            f"machines of {group.name} join cluster {show(found['name'])}, and capacity provider {provider} is of "
            f"{wanted}: no task is placed on them", allowed=f"ECS_CLUSTER={wanted}",
        )  # fmt: skip
    elif template.lacks("userData") and ECS_IMAGES in (template.text("imageId") or "") and "default" not in clusters:
        template.error(
                "programs-ecs-cluster", "userData",
                f"is missing: machines of {group.name} join the cluster default, and capacity provider {provider} is "
                f"of {wanted}", allowed=f"ECS_CLUSTER={wanted} in /etc/ecs/ecs.config",
            )  # fmt: skip


def _machines(group: View) -> Sequence[Instance]:
    """The types of a group's machines; none where they are not all known."""
    template = template_of(group)
    overrides = "mixedInstancesPolicy.launchTemplate.overrides"
    if template is None or group.blurred(overrides):
        return ()
    names = [follow(entry, "instanceType") for _, entry in group.items(overrides)] or [template.text("instanceType")]
    known = {one.type: one for one in instances()}
    return [known[str(name)] for name in names] if all(name in known for name in names) else ()


def _run(stack: Stack) -> Iterator[tuple[View, View, list[str]]]:
    """Who runs tasks of which providers: the view, the task, the providers' names."""
    for type_, at, strategies in (
        (ECS_SERVICE, "taskDefinition", "capacityProviderStrategies"),
        (SCHEDULE, "target.ecsParameters.taskDefinitionArn", "target.ecsParameters.capacityProviderStrategies"),
    ):
        for view in stack.of_type(type_):
            named = view.text(at)
            tasks = [
                one
                for one in stack.of_type(TASK)
                if named and named in (one.resource.outputs.get("arn"), one.resource.outputs.get("arnWithoutRevision"))
            ]
            names = [entry.get("capacityProvider") for _, entry in view.items(strategies)]
            if len(tasks) == 1 and names and all(isinstance(name, str) for name in names):
                yield view, tasks[0], [str(name) for name in names]


def _has_room(view: View, task: View, machines: Sequence[Instance]) -> None:
    asked = _asked(task)
    offered = {
        "memory": max(one.memory_gib for one in machines) * _MIB,
        "cpu": float(max(one.vcpus for one in machines) * _UNITS),
        "GPU": float(max(one.gpus for one in machines)),
    }
    for kind, number in asked.items():
        if number > offered[kind] or (kind == "memory" and number == offered[kind]):
            left = ", and a part of it is the system's" if kind == "memory" else ""
            task.error(
                "programs-ecs-room", "containerDefinitions" if task.lacks(kind) else kind,
                f"asks for {number:g} of {kind}, and the largest machine that {view.name} may run it on has "
                f"{offered[kind]:g}{left}: it is never placed",
                allowed=f"less, or a larger type than {', '.join(sorted({one.type for one in machines}))}",
            )  # fmt: skip


def _asked(task: View) -> Mapping[str, float]:
    """What a machine has to have for a task: its own size, else that of its containers."""
    found: dict[str, float] = {}
    for one in containers(task):
        held = as_number(one.get("memoryReservation")) or as_number(one.get("memory")) or 0
        found["memory"] = found.get("memory", 0) + held
        found["cpu"] = found.get("cpu", 0) + (as_number(one.get("cpu")) or 0)
        found["GPU"] = found.get("GPU", 0) + sum(_gpus(one))
    for key in ("memory", "cpu"):
        if task.has(key):
            found[key] = task.number(key) or 0  # 0: it is not known, or written otherwise
    return found


def _gpus(container: Mapping[str, Any]) -> Iterator[float]:
    for one in listed(container.get("resourceRequirements")):
        if isinstance(one, dict) and one.get("type") == "GPU":
            yield as_number(one.get("value")) or 0
