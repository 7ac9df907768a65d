"""Whether everybody may do on Google Cloud what the environment needs them to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp import order, prefixes, scopes, strangers
from trainyard.rehearsal.works.rights.gcp.grants import home_of
from trainyard.rehearsal.works.rights.gcp.needs import (
    access_logs,
    bindings,
    delivery,
    keys,
    managed,
    nodes,
    pods,
    profiles,
    run,
    told_folders,
)
from trainyard.rehearsal.works.rights.gcp.needs.model import Need, judge
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.recorded_pods import recorded, templates
from trainyard.rehearsal.works.workloads.model import Workload


def check(stack: Stack, made: Sequence[Workload]) -> None:
    """Notes what is refused for sure. `made`: everything that runs pods."""
    scopes.check(stack)
    project = Project(stack.resources, home_of(stack.providers))
    if project.grants or stack.of_type(GKE_CLUSTER):
        bindings.check(stack, project)
        judge(project, needs(stack, project, made))
        order.check(stack, project)
        prefixes.check(stack, project)
        strangers.check(stack, project)


def needs(stack: Stack, project: Project, made: Sequence[Workload]) -> Iterator[Need]:
    """Everything that somebody has to be allowed, each once."""
    yield from nodes.needs(stack, project, made)
    yield from keys.needs(stack)
    yield from access_logs.needs(stack, project)
    yield from managed.needs(stack, project)
    yield from run.needs(stack, project)
    yield from delivery.needs(stack, project)
    yield from profiles.needs(stack, project)
    yield from pods.needs(stack, project, recorded(stack, made), templates(stack, made))
    yield from told_folders.needs(stack, project)
