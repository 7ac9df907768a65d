"""Node groups of EKS: what ends jobs, and what the service refuses.

Another launch template's version, release or Kubernetes version rolls the group: each node is cordoned and drained,
and EKS goes on without a pod that does not leave within 15 minutes only where the update is forced. It never rolls
back. The engine sends the recorded size where the desired one is ignored (EKS user guide, "Update a managed node
group"; `internal/service/eks/node_group.go` of Terraform's AWS provider 6.58.0; read 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.problems import count
from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import as_number, follow, value_at
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.change.occupants import leaves, standing
from trainyard.rehearsal.change.words import several, verb

ROLLING = ("launchTemplate.version", "releaseVersion", "version")
"""Inputs of which another value drains every node of a group, one after the other."""


def check(change: Change) -> Iterator[Finding]:
    """Which node groups end what runs on them, and which changes EKS refuses."""
    for step in change.of_type(EKS_NODE_GROUP):
        if step.goes:
            yield Finding.of(
                step.resource,
                "change-ends-jobs",
                f"would be {verb(step)}: the old nodes go, and with them every job that runs there"
                f"{standing(step, change).words}",
                path=step.forced_by[0] if step.forced_by else "",
                hint=leaves(step, change),
                level="warning",
            )
        elif step.operation is Operation.UPDATE:
            yield from _rolled(step, change)
            yield from _versions(step)
            yield from _sizes(step, change)


def rolling(step: Step) -> list[str]:
    """The inputs by which a change in place rolls the nodes of a group."""
    return [path for path in ROLLING if step.operation is Operation.UPDATE and step.changed(path) is not None]


def _rolled(step: Step, change: Change) -> Iterator[Finding]:
    paths = rolling(step)
    if paths:
        differing = [found for path in paths if (found := step.changed(path)) is not None]
        yield Finding.of(
            step.resource,
            "change-rolls-nodes",
            f"every node is drained and replaced, one after the other ({several(differing)}): a job that runs there"
            f" is moved or ended{standing(step, change).words}",
            path=paths[0],
            hint=leaves(step, change),
            level="warning",
        )


def _versions(step: Step) -> Iterator[Finding]:
    for path in ("releaseVersion", "version"):
        found = step.changed(path)
        if found is None:
            continue
        before, after = _order(found.before), _order(found.after)
        if before and after and after < before:
            yield Finding.of(
                step.resource,
                "change-node-version",
                f"{path} {found.before} -> {found.after}: EKS never rolls a node group back to an earlier one",
                path=path,
                hint="a new node group may have the earlier one, where the control plane allows it",
            )


def _order(version: object) -> tuple[int, ...]:
    """A version or a release (`1.35.6-20260714`) as numbers that can be compared; nothing for anything else."""
    text = str(version)
    return tuple(map(int, re.findall(r"\d+", text))) if re.fullmatch(r"[\d.]+(-\d+)?", text) else ()


def _sizes(step: Step, change: Change) -> Iterator[Finding]:
    """Where the desired size is left to an autoscaler, the engine sends the one that the state records."""
    if step.now is None or step.was is None or step.changed("scalingConfig") is None:
        return
    if not any(path in ("scalingConfig", "scalingConfig.desiredSize") for path in step.now.ignore_changes):
        return
    least, most = (_number(step.now, key) for key in ("minSize", "maxSize"))
    recorded, before = _number(step.was, "desiredSize"), _number(step.was, "maxSize")
    if recorded is not None and least is not None and least > recorded and step.changed("scalingConfig.minSize"):
        yield Finding.of(
            step.now,
            "change-size-recorded",
            f"at least {count(least, 'node')} are wanted, and the engine sends the {recorded:g} that the state records:"
            " EKS refuses a desired size below the least",
            path="scalingConfig.minSize",
            hint=f"run {count(least, 'node')} first, and `pulumi refresh`",
            level="error" if change.deployed else "warning",
        )
    if before is not None and most is not None and most < before:
        yield Finding.of(
            step.now,
            "change-size-smaller",
            f"at most {count(most, 'node')} instead of {before:g}: where more than {most:g} run, EKS "
            "refuses it or ends some",
            path="scalingConfig.maxSize",
            hint=f"let the jobs on it end until {most:g} nodes or fewer run",
            level="warning",
        )


def _number(group: RecordedResource, key: str) -> float | None:
    return as_number(value_at(follow(group.inputs, "scalingConfig"), key, unknown=None))
