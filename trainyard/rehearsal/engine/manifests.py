"""Objects that a component of the Kubernetes provider makes of what the program gives it inline.

`ConfigGroup` of `kubernetes.yaml.v2` is made by the provider: no run of the program registers its objects. Those that
stand in its inputs are registered here as the provider would; of files it reads nothing is known (`rules`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from trainyard.recorded.model import UNKNOWN, bare
from trainyard.rehearsal.engine.invokes import invoke
from trainyard.rehearsal.engine.light_registration import Registration
from trainyard.rehearsal.engine.synthesised import Place

CONFIG_GROUP: Final = "kubernetes:yaml/v2:ConfigGroup"


def inline(asked: Registration, urn: str) -> Iterator[Registration]:
    """What the provider registers for a component with that URN; nothing of what is not known yet."""
    if asked.type != CONFIG_GROUP:
        return
    prefix = bare(asked.inputs.get("resourcePrefix")) or asked.name
    try:
        objects = list(_objects(asked.inputs))
    except yaml.YAMLError:  # the provider says where; here nothing of it is judged
        return
    for found in objects:
        version, kind = found.get("apiVersion"), found.get("kind")
        metadata = found.get("metadata")
        if not isinstance(version, str) or not isinstance(kind, str) or not isinstance(metadata, Mapping):
            continue
        token = version if "/" in version else f"core/{version}"
        place = "/".join(
            str(metadata[key]) for key in ("namespace", "name") if metadata.get(key) not in (None, UNKNOWN)
        )
        yield Registration(
            type=f"kubernetes:{token}:{kind}",
            name=f"{prefix}:{place}",
            parent=urn,
            custom=True,
            inputs=found,
            provider=asked.provider,
            dependencies=asked.dependencies,
        )


def is_whole(inputs: Mapping[str, Any]) -> bool:
    """Whether all objects of a group stand in its inputs, and are known."""
    try:
        found = list(_objects(inputs))
    except yaml.YAMLError:
        return False
    given = bare(inputs.get("objs"))
    known = given is not UNKNOWN and not any(bare(each) is UNKNOWN for each in given or ())
    return bool(found) and known and not inputs.get("files") and bare(inputs.get("yaml")) is not UNKNOWN


def _objects(inputs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    given, text = bare(inputs.get("objs")), bare(inputs.get("yaml"))
    found = list(given) if isinstance(given, list) else []
    if isinstance(text, str):
        found += invoke("kubernetes:yaml:decode", {"text": text}, Place())["result"]
    for each in map(bare, found):
        if isinstance(each, dict):
            items = bare(each.get("items")) if str(each.get("kind", "")).endswith("List") else None
            yield from (
                (one for one in map(bare, items) if isinstance(one, dict)) if isinstance(items, list) else (each,)
            )
