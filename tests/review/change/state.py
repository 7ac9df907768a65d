"""A stack's state as an engine would export it after an `up` of a rehearsed program: with ids of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from trainyard.recorded.model import UNKNOWN, RecordedResource, Secret
from trainyard.rehearsal.rehearse import Rehearsal

ENCRYPTED = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    "ciphertext": "v1:abc:def",
}


def exported(rehearsal: Rehearsal) -> dict[str, Any]:
    """What `pulumi stack export` would write: another id for everything, and secrets encrypted."""
    stack = f"urn:pulumi:{rehearsal.stack}::trainyard::pulumi:pulumi:Stack::trainyard-{rehearsal.stack}"
    names = dict(_renamed(rehearsal))
    root = {"urn": stack, "custom": False, "type": "pulumi:pulumi:Stack", "outputs": {}}
    resources = [_state(each, stack, names) for each in rehearsal.known.resources if not each.read]
    return {"version": 3, "deployment": {"manifest": {}, "resources": [root, *resources]}}


def _renamed(rehearsal: Rehearsal) -> Iterator[tuple[str, str]]:
    """Ids of AWS as the account would have them, by those of the rehearsal."""
    for each in rehearsal.known.resources:
        if isinstance(each.id, str) and each.type.startswith("aws:ec2/"):
            kind = each.id.split("-")[0]
            yield each.id, f"{kind}-0{hashlib.sha256(each.urn.encode()).hexdigest()[:16]}"


def _state(each: RecordedResource, stack: str, names: dict[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "urn": each.urn,
        "custom": each.custom,
        "type": each.type,
        "inputs": _value(each.inputs, names),
        "outputs": _value(each.outputs, names),
        "parent": each.parent or stack,
        "dependencies": list(each.dependencies),
        "propertyDependencies": {key: list(urns) for key, urns in each.property_dependencies.items()},
        "provider": each.provider,
    }
    if each.custom:
        told["id"] = names.get(str(each.id), each.id)
    if each.from_check and each.type.startswith("aws:"):
        told["inputs"]["__defaults"] = [path for path in each.from_check if "." not in path and path != "tagsAll"]
    if "metadata.name" in each.from_check:
        told["inputs"]["metadata"].setdefault("annotations", {})["pulumi.com/autonamed"] = "true"
    return (
        told | ({"protect": True} if each.protect else {}) | ({"retainOnDelete": True} if each.retain_on_delete else {})
    )


def _value(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, Secret) or value is UNKNOWN:
        return ENCRYPTED
    if isinstance(value, dict):
        return {key: _value(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(item, names) for item in value]
    if isinstance(value, str):
        for here, there in names.items():
            if here in value:
                value = value.replace(here, there)
    return value
