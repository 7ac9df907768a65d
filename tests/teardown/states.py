"""A state as `pulumi stack export` writes it, of what a rehearsal recorded."""

from __future__ import annotations

from typing import Any

from trainyard.recorded.model import RecordedResource, masked
from trainyard.rehearsal.rehearse import Rehearsal


def exported(rehearsal: Rehearsal) -> dict[str, Any]:
    """In the engine's order: what a resource depends on stands before it."""
    by_urn = {each.urn: each for each in rehearsal.resources}
    done: dict[str, RecordedResource] = {}

    def put(each: RecordedResource) -> None:
        if each.urn in done:
            return
        done[each.urn] = each  # a component may depend on its own parts
        for urn in (each.parent, each.provider.rpartition("::")[0], *each.dependencies):
            if urn in by_urn:
                put(by_urn[urn])
        del done[each.urn]
        done[each.urn] = each

    for each in rehearsal.resources:
        put(each)
    return {"version": 3, "deployment": {"manifest": {}, "resources": [_state(each) for each in done.values()]}}


def _state(each: RecordedResource) -> dict[str, Any]:
    found: dict[str, Any] = {"urn": each.urn, "custom": each.custom, "type": each.type, "inputs": masked(each.inputs)}
    found |= {"outputs": {**masked(each.inputs), **masked(each.outputs)}, "parent": each.parent}
    found |= {"dependencies": list(each.dependencies), "id": each.id if isinstance(each.id, str) else ""}
    found |= {"propertyDependencies": {key: list(urns) for key, urns in each.property_dependencies.items()}}
    found |= {"protect": each.protect, "retainOnDelete": each.retain_on_delete, "external": each.read}
    return found | ({"provider": each.provider} if each.provider else {})
