"""Node pools of GKE: what ends jobs.

Another machine, disk, image or configuration of the node upgrades the pool: its nodes are drained and made anew, as
many at a time as `upgradeSettings` allow, and a pod that does not leave within an hour is ended. Labels and taints
reach running nodes and disrupt nothing. Zones that a pool loses take their nodes along. (Cluster API v1,
UpdateNodePoolRequest; GKE documentation, "Update node labels and taints for existing node pools" and "Node upgrade
strategies"; read 2026-11.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.problems import count
from trainyard.recorded.model import Finding
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import as_number, follow, value_at
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.change.occupants import leaves, standing
from trainyard.rehearsal.change.words import several, verb

ROLLING: Final = (
    "version",
    *(
        f"nodeConfig.{name}"
        for name in (
            "bootDisk",
            "containerdConfig",
            "diskSizeGb",
            "diskType",
            "fastSocket",
            "gcfsConfig",
            "gvnic",
            "imageType",
            "kubeletConfig",
            "linuxNodeConfig",
            "loggingVariant",
            "machineType",
            "windowsNodeConfig",
            "workloadMetadataConfig",
        )
    ),
)
"""Inputs of which another value, in place, makes every node of a pool anew."""

_MOST: Final = (("autoscaling", "totalMaxNodeCount"), ("autoscaling", "maxNodeCount"))


def check(change: Change) -> Iterator[Finding]:
    """Which node pools end what runs on them."""
    for step in change.of_type(GKE_NODE_POOL):
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
            yield from _zones(step, change)
            yield from _sizes(step)


def rolling(step: Step) -> list[str]:
    """The inputs by which a change in place makes the nodes of a pool anew."""
    return [path for path in ROLLING if step.operation is Operation.UPDATE and step.changed(path) is not None]


def zones_lost(step: Step) -> list[str]:
    """Zones in which a pool has nodes and will have none."""
    if step.was is None or step.now is None or step.changed("nodeLocations") is None:
        return []
    before, after = (
        [str(zone) for zone in value_at(each.inputs, "nodeLocations", unknown=None) or ()]
        for each in (step.was, step.now)
    )
    return [zone for zone in before if zone not in after]


def _rolled(step: Step, change: Change) -> Iterator[Finding]:
    paths = rolling(step)
    if paths:
        differing = [found for path in paths if (found := step.changed(path)) is not None]
        yield Finding.of(
            step.resource,
            "change-rolls-nodes",
            f"every node is drained and made anew ({several(differing)}): a job that runs there has an hour to leave"
            f"{standing(step, change).words}",
            path=paths[0],
            hint=leaves(step, change),
            level="warning",
        )


def _zones(step: Step, change: Change) -> Iterator[Finding]:
    lost = zones_lost(step)
    if lost:
        yield Finding.of(
            step.resource,
            "change-ends-jobs",
            f"leaves {', '.join(lost)}: its nodes there go, and with them every job that runs on them"
            f"{standing(step, change).words}",
            path="nodeLocations",
            hint=f"{leaves(step, change)}; a pool more in the zones that are left takes new ones",
            level="warning",
        )


def _sizes(step: Step) -> Iterator[Finding]:
    """A smaller limit leaves what runs; a count that the program sets is carried out at once."""
    for way in _MOST:
        before, after = (_number(each, *way) for each in (step.was, step.now))
        if before is not None and after is not None and after < before:
            yield Finding.of(
                step.resource,
                "change-size-smaller",
                f"at most {count(after, 'node')} instead of {before:g}: where more than {after:g} run, "
                "they stay until they"
                " are idle, and what the queues think is there is not",
                path=".".join(way),
                hint=f"let the jobs on it end until {after:g} nodes or fewer run",
                level="warning",
            )
    before, after = (_number(each, "nodeCount") for each in (step.was, step.now))
    if before is not None and after is not None and after < before and step.changed("nodeCount") is not None:
        yield Finding.of(
            step.resource,
            "change-ends-jobs",
            f"{count(after, 'node')} instead of {before:g}, at once: GKE chooses which go, with the jobs on them",
            path="nodeCount",
            hint="let an autoscaler take away what is idle",
            level="warning",
        )


def _number(resource: object, *way: str) -> float | None:
    return as_number(follow(getattr(resource, "inputs", None), *way))
