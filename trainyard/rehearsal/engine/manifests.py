"""Components of the Kubernetes provider that make objects of a text, a chart or a kustomization.

`ConfigGroup` of `kubernetes.yaml.v2` is made by the provider: no run of the program registers its objects. Those that
stand in its inputs are registered here as the provider would; of files it reads nothing is known (`rules`). Nor is
anything of what Helm and Kustomize render, or of what is read at an address: the `resources` of such a component are
unknown, and so is what `get_resource` finds there.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pulumi
import yaml
from pulumi.output import UNKNOWN as SDK_UNKNOWN
from pulumi.output import Unknown
from pulumi.runtime.settings import SETTINGS

from trainyard.recorded.model import UNKNOWN, bare
from trainyard.recorded.unseen import MADE, is_never_seen
from trainyard.rehearsal.engine.contents import Content
from trainyard.rehearsal.engine.invokes import invoke
from trainyard.rehearsal.engine.light_registration import Registration
from trainyard.rehearsal.engine.synthesised import Place

CONFIG_GROUP: Final = "kubernetes:yaml/v2:ConfigGroup"
_READS_A_FILE: Final = "kubernetes:yaml:ConfigFile"


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


def is_seen(type_: str, inputs: Mapping[str, Any]) -> bool:
    """Whether what a component makes is registered, as far as its inputs tell: those of `kubernetes.yaml` do not."""
    return not is_never_seen(type_) and (type_ != CONFIG_GROUP or is_whole(inputs))


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


def reads_no_address(type_: str) -> None:
    """Lets a component that reads a file read any text at an address, of which nothing is known: nothing is fetched."""
    module = sys.modules.get("pulumi_kubernetes.yaml.yaml")
    read = getattr(module, "_read_url", None)
    if type_ == _READS_A_FILE and isinstance(read, types.FunctionType):
        vars(module)["_read_url"] = functools.partial(_at_address, read)


def _at_address(read: Callable[[str], str], address: str) -> str:
    return Content.of(address) if hasattr(SETTINGS.monitor, "views") else read(address)


def finds_nothing_yet(component: pulumi.Resource, note: Callable[[str], None]) -> None:
    """Lets `get_resource` of a component find what a preview does not have, where that has nothing of it.

    A preview does not ask a provider whose cluster is to be made: there is no object then, and the SDK ends with a
    `KeyError`. `note` is told of what is asked for, and the rest of the program is rehearsed.
    """

    def find(key: str, found: Any) -> Any:
        if isinstance(found, Unknown):
            return SDK_UNKNOWN
        if found or key in found:
            return found[key]
        note(key)
        return SDK_UNKNOWN

    def get_resource(
        group_version_kind: str, name: pulumi.Input[str], namespace: pulumi.Input[str] | None = None
    ) -> pulumi.Output[Any]:
        named = pulumi.Output.from_input(name) if namespace is None else pulumi.Output.concat(namespace, "/", name)
        resources: pulumi.Output[Any] = vars(component)[MADE]
        return named.apply(
            lambda known: resources.apply(functools.partial(find, f"{group_version_kind}:{known}"), True)
        )

    vars(component)["get_resource"] = get_resource
