"""Whom a change on a cluster interrupts: teams, services with one pod, charts, and smoke jobs that run again."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import cards
from trainyard.conventions import SMOKE_COMPONENT_PREFIX, TEAM_LABEL
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow, is_set, value_at
from trainyard.recorded.types import DEPLOYMENT, HELM_RELEASE, JOB, NAMESPACE, STATEFUL_SET, VOLUME_CLAIM
from trainyard.rehearsal.change.model import Change, Effect, Operation, Step
from trainyard.rehearsal.graph import seconds_to_create


def of(change: Change) -> Iterator[Effect]:
    """What stops, restarts or runs again."""
    for step in change.steps:
        if step.operation is Operation.SAME or not step.type.startswith("kubernetes:"):
            continue
        if step.type == NAMESPACE and step.goes:
            gone = step.was or step.resource
            happens = "goes, with everything in it: jobs that run, claims, logins"
            before = "; `trainyard drain` empties it before" if _is_a_teams(gone) else ""
            yield Effect(f"namespace {_called(gone)}", f"{happens}{before}", 0, step.urn)
        elif step.type in (DEPLOYMENT, STATEFUL_SET):
            yield from _service(step)
        elif step.type == HELM_RELEASE and step.goes:
            yield _effect(f"chart {step.resource.name}", "is taken out, with what it runs", step)
        elif step.type == VOLUME_CLAIM and step.operation is Operation.REPLACE:
            yield _effect(f"claim {_called(step.resource)}", "is made anew once no pod uses the old one", step)
        elif step.type == JOB and step.operation is not Operation.UPDATE:
            yield from _smoke_job(step)


def _is_a_teams(namespace: RecordedResource) -> bool:
    return is_set(namespace.inputs, "metadata", "labels", TEAM_LABEL)


def _smoke_job(step: Step) -> Iterator[Effect]:
    if step.now is not None and step.now.component.startswith(SMOKE_COMPONENT_PREFIX):
        again = "runs again" if step.operation is Operation.REPLACE else "runs"
        happens = f"{again} and takes nodes of its pool"
        takes = cards.of(JOB).seconds_in_smoke_job
        yield Effect(f"smoke job {step.now.component}", happens, takes.value if takes is not None else 0.0, step.urn)


def _service(step: Step) -> Iterator[Effect]:
    name = f"service {step.resource.name}"
    if step.operation is Operation.DELETE:
        yield _effect(name, "goes", step)
    elif step.operation is Operation.REPLACE:
        gap = "is down until the new one runs" if step.deleted_first else "is made anew; the old one goes afterwards"
        yield _effect(name, gap, step)
    elif step.operation is Operation.UPDATE and step.now is not None and step.changed("spec.template") is not None:
        alone = value_at(step.now.inputs, "spec", "replicas", unknown=None) in (None, 1)
        recreated = follow(step.now.inputs, "spec", "strategy", "type") == "Recreate"
        if recreated or (step.type == STATEFUL_SET and alone):
            seconds = seconds_to_create(step.now)
            yield Effect(name, "is down while its pod starts anew", seconds, step.urn)


def _called(resource: RecordedResource) -> str:
    """An object's name on its cluster."""
    name = follow(resource.inputs, "metadata", "name")
    return name if isinstance(name, str) else resource.name


def _effect(what: str, happens: str, step: Step) -> Effect:
    seconds = seconds_to_create(step.now) if step.now is not None else 0.0
    return Effect(what, happens, seconds, step.urn)
