"""AWS Batch: jobs for which no machine is large enough stay RUNNABLE for ever, and nobody is told.

Sources: AWS Batch User Guide, "Jobs stuck in RUNNABLE status" and "Compute environment template"; the sizes are the
catalogue's. Which queue a job is sent to is told when it is sent: it is held against all that the stack makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.catalog import instances
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import BATCH_DEFINITION, BATCH_ENVIRONMENT, BATCH_QUEUE
from trainyard.rehearsal.context import Stack, View, listed

_MIB: Final = 1024
_ALONE: Final = "containerProperties"
NODES: Final = "nodeProperties"
"""The input of a job over several nodes."""


def check(stack: Stack) -> None:
    """Every job that is written down, against every environment."""
    quotas(stack)
    environments = stack.of_type(BATCH_ENVIRONMENT)
    if not environments or not stack.of_type(BATCH_QUEUE):
        return
    known = {one.type: one for one in instances()}
    types: set[str] = set()
    most = 0.0
    for environment in environments:
        if environment.blurred("computeResources.instanceTypes") or environment.resource.read:
            return
        named = environment.texts("computeResources.instanceTypes")
        limit = environment.number("computeResources.maxVcpus")
        if not named or limit is None or any(name not in known for name in named):
            return  # a family, a type without GPUs, a machine of Fargate
        types.update(named)
        most = max(most, limit)
    offered = {
        "GPU": max(known[name].gpus for name in types),
        "VCPU": min(most, max(known[name].vcpus for name in types)),
        "MEMORY": max(known[name].memory_gib for name in types) * _MIB,
    }
    for definition in stack.of_type(BATCH_DEFINITION):
        for path, asked in _asked(definition):
            for kind, number in asked.items():
                have = offered.get(kind)
                if have is not None and (number > have or (kind == "MEMORY" and number >= have)):
                    left = ", and a part of it is the system's" if kind == "MEMORY" else ""
                    definition.error(
                        "programs-batch-room", path,
                        f"asks for {number:g} of {kind}, and the largest machine of the environments has "
                        f"{have:g}{left}: the job stays RUNNABLE",
                        allowed=f"less, or a larger type than {', '.join(sorted(types))}",
                    )  # fmt: skip
        _together(definition, environments, min(known[name].vcpus for name in types), most)


def _together(definition: View, environments: list[View], least: float, most: float) -> None:
    """All nodes of a job over several start at once, each on a machine of its own, and none on spot ("Multi-node
    parallel jobs", "Compute environment considerations"). `least`: vCPUs of the smallest machine; `most`: of all.
    """
    count = as_number(_read(definition, NODES).get("numNodes"))
    if count is None:
        return
    if count * least > most:
        definition.error(
            "programs-batch-room", NODES,
            f"has {count:g} nodes, which are {count * least:g} vCPUs at the least, and the environments have "
            f"{most:g} at most: the job stays RUNNABLE", allowed=f"fewer nodes, or maxVcpus of {count * least:g}",
        )  # fmt: skip
    if all(one.text("computeResources.type") == "SPOT" for one in environments):
        definition.error(
            "programs-batch-room", NODES, "has several nodes, and every environment is of spot, which takes none such",
            allowed="an environment of type EC2",
        )  # fmt: skip


_QUOTA: Final = "aws:servicequotas/serviceQuota:ServiceQuota"
_CODES: Final = {
    "L-417A185B": ("p", False), "L-7212CCBC": ("p", True), "L-DB2E81BA": ("gv", False), "L-3819A6DF": ("gv", True),
}  # fmt: skip
"""Quotas of vCPUs by their codes (Amazon EC2 User Guide, "EC2 instance type quotas"): of which families they are, by
their first letters, and whether of spot."""


def quotas(stack: Stack) -> None:
    """A quota that is asked for bears one machine of those that the stack starts."""
    known = {one.type: one for one in instances()}
    wanted: list[tuple[str, bool, str]] = []
    for view in stack.of_type(BATCH_ENVIRONMENT):
        spot = view.text("computeResources.type") == "SPOT"
        wanted += [(type_, spot, view.name) for type_ in view.texts("computeResources.instanceTypes")]
    for view in stack.of_type(EKS_NODE_GROUP):
        spot = view.text("capacityType") == "SPOT"
        wanted += [(type_, spot, view.name) for type_ in view.texts("instanceTypes")]
    for quota in stack.of_type(_QUOTA):
        families, spot = _CODES.get(quota.text("quotaCode") or "", ("", False))
        value = quota.number("value")
        ours = [
            (known[type_].vcpus, type_, name)
            for type_, is_spot, name in wanted
            if type_ in known and is_spot == spot and families and type_[0] in families
        ]
        if value is not None and ours and value < min(ours)[0]:
            least, type_, name = min(ours)
            quota.warning(
                "programs-quota", "value", f"asks for {value:g} vCPUs, and one {type_} of {name} has {least}: none "
                "starts by this quota", allowed=f"at least {least}",
            )  # fmt: skip


def _asked(definition: View) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Path, and what a machine has to have: of the job's container, or of those of each range of its nodes."""
    yield _ALONE, _required([_read(definition, _ALONE)])
    for each in listed(_read(definition, NODES).get("nodeRangeProperties")):
        if isinstance(each, dict):
            tasks = listed(follow(each, "ecsProperties", "taskProperties"))
            yield NODES, _required([each.get("container"), *(one for task in tasks for one in _containers(task))])


def _containers(task: Any) -> list[Any]:
    return listed(follow(task, "containers"))


def _required(containers: list[Any]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for container in containers:
        for one in listed(follow(container, "resourceRequirements")):
            number = as_number(follow(one, "value"))
            if number is not None:
                kind = str(follow(one, "type"))
                found[kind] = found.get(kind, 0) + number
    return found


def _read(definition: View, key: str) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(definition.text(key) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
