"""Claims on volumes: what the API server refuses, and which of them hold data that goes with them.

A claim's request grows only, and only where its volume is provisioned by a class that allows it: "only dynamically
provisioned pvc can be resized and the storageclass that provisions the pvc must support resize" (admission plugin
PersistentVolumeClaimResize, Kubernetes 1.34). With a class's reclaim policy `Delete`, which is the default, the volume
goes with the claim. A volume that is bound, and a claim that a pod uses, stay until they are not any more ("Storage
Object in Use Protection", Kubernetes documentation, persistent-volumes; read 2026-11): a deletion waits for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow, value_at
from trainyard.recorded.types import DAEMON_SET, DEPLOYMENT, STATEFUL_SET, STORAGE_CLASS, VOLUME, VOLUME_CLAIM
from trainyard.rehearsal.change.data import LOSES_DATA
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.change.words import verb

_REQUEST: Final = ("spec", "resources", "requests", "storage")


def check(change: Change) -> Iterator[Finding]:
    """What is refused of claims, and what goes with them."""
    yield from _held(change)
    for step in change.of_type(VOLUME_CLAIM):
        if step.operation is Operation.UPDATE:
            yield from _resized(step, change)
        elif step.goes and step.was is not None and not step.was.protect and not _is_static(step.was):
            yield from _lost(step, step.was, change)


def _held(change: Change) -> Iterator[Finding]:
    """Volumes and claims whose deletion would wait for what stays, so that the update never ends."""
    users, later = _users(change.before.values()), _users(change.after.values())
    claims = {_name(each): each for each in change.before.values() if each.type == VOLUME_CLAIM}
    by_volume = {follow(each.inputs, "spec", "volumeName"): each for each in claims.values()}
    for step in change.of_type(VOLUME, VOLUME_CLAIM):
        if not step.goes or step.was is None:
            continue
        held_by = by_volume.get(_name(step.was)[1]) if step.type == VOLUME else users.get(_name(step.was))
        let_go = step.type == VOLUME_CLAIM and not step.deleted_first and _name(step.was) not in later
        if held_by is None or let_go or _gone_before(held_by, step, change):
            continue
        how = "bound to" if step.type == VOLUME else "used by"
        yield Finding.of(
            step.resource,
            "change-waits-for-ever",
            f"would be {verb(step)} while it is {how} {held_by.name}: the cluster keeps it until it is not,"
            " and the update waits for that until it gives up",
            path=step.forced_by[0] if step.forced_by else "",
            hint=f"give the new one another name, or take {held_by.name} out first",
        )


def _gone_before(holder: RecordedResource, step: Step, change: Change) -> bool:
    """Whether what holds a volume or a claim goes before it: with it, or in the same round of deletions."""
    theirs = next((each for each in change.steps if each.was is not None and each.was.urn == holder.urn), None)
    if theirs is None or not theirs.goes:
        return False
    if step.operation is Operation.DELETE or not step.deleted_first:
        return True
    return theirs.operation is Operation.REPLACE and theirs.made_with == step.urn and theirs.deleted_first


def _users(resources: Iterable[RecordedResource]) -> dict[tuple[str, str], RecordedResource]:
    """What runs pods for ever and mounts a claim, by the claim's namespace and name."""
    found: dict[tuple[str, str], RecordedResource] = {}
    for each in resources:
        if each.type in (DEPLOYMENT, STATEFUL_SET, DAEMON_SET):
            volumes = value_at(each.inputs, "spec", "template", "spec", "volumes", unknown=None)
            for volume in volumes if isinstance(volumes, list) else ():
                claim = follow(volume, "persistentVolumeClaim", "claimName")
                if isinstance(claim, str):
                    found[_name(each)[0], claim] = each
    return found


def _name(resource: RecordedResource) -> tuple[str, str]:
    """An object's namespace and name."""
    namespace, name = (follow(resource.inputs, "metadata", key) for key in ("namespace", "name"))
    return str(namespace or ""), str(name)


def _lost(step: Step, claim: RecordedResource, change: Change) -> Iterator[Finding]:
    """A volume that was provisioned for a claim goes with it, unless its class retains it."""
    class_ = _class_of(claim, change)
    policy = follow(class_.inputs, "reclaimPolicy") if class_ is not None else UNKNOWN
    if policy not in (None, "Delete", UNKNOWN):
        return
    certain = policy is not UNKNOWN
    lost = "goes with what it holds" if certain else "goes with what it holds unless its class retains it"
    yield Finding.of(
        step.resource,
        LOSES_DATA,
        f"would be {verb(step)}: its volume was made for it, and {lost}",
        path=step.forced_by[0] if step.forced_by else "",
        hint="set the volume's reclaim policy to Retain first, or copy what it holds",
        level="error" if certain else "warning",
    )


def _resized(step: Step, change: Change) -> Iterator[Finding]:
    if step.was is None or step.now is None:
        return
    before, after = (quantity(value_at(each.inputs, *_REQUEST, unknown=None)) for each in (step.was, step.now))
    if before is None or after is None or before == after:
        return
    told = " -> ".join(str(value_at(each.inputs, *_REQUEST, unknown=None)) for each in (step.was, step.now))
    class_ = _class_of(step.was, change)
    if after < before:
        message, hint = "a claim never shrinks", "make a smaller one beside it and copy"
    elif _is_static(step.was):
        message, hint = "a claim on a volume of its own does not grow", "leave the request as it is: it bounds nothing"
    elif class_ is not None and follow(class_.inputs, "allowVolumeExpansion") in (None, False):
        message, hint = f"the class {class_.name} does not let volumes grow", "set allowVolumeExpansion on it"
    else:
        return
    yield Finding.of(
        step.now,
        "change-claim-size",
        f"{told}: {message}, the API server refuses it",
        path=".".join(_REQUEST),
        hint=hint,
    )


def _is_static(claim: RecordedResource) -> bool:
    """Whether a claim is on a volume that somebody made for it: it names one, or no class at all."""
    return bool(follow(claim.inputs, "spec", "volumeName")) or follow(claim.inputs, "spec", "storageClassName") == ""


def _class_of(claim: RecordedResource, change: Change) -> RecordedResource | None:
    name = follow(claim.inputs, "spec", "storageClassName")
    for each in change.before.values():
        if each.type == STORAGE_CLASS and name is not None and follow(each.inputs, "metadata", "name") == name:
            return each
    return None
