"""One thing made by two resources: the second is refused, or overwrites the first, and each update the other's again.

What is given twice is mostly a block that was copied, of which one line was to be changed. What makes a thing the same
is what its id is made of, which the card of its type says; of types whose ids the service draws, or say too little, a
cloud's table says it (`aws/identities.py`, `gcp/identities.py`), and of objects of a cluster it is told here. A name
that Pulumi makes has a part that is drawn, and is never the same.

Sources: errors of the services' operations that make a resource (botocore's models: `EntityAlreadyExists`,
`ResourceInUseException`, `InvalidPermission.Duplicate`, `Resource.AlreadyAssociated`), Google's `ALREADY_EXISTS`,
Kubernetes' `AlreadyExists`; two with server-side apply have a conflict of field managers (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Final

from trainyard import cards
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import View
from trainyard.rehearsal.engine.synthesised import name_inputs
from trainyard.rehearsal.refusals.kubernetes.index import object_name
from trainyard.rehearsal.works.clusters import cluster_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, kind_of, place

_RELEASE: Final = ("namespace?", "name")
_NAME: Final = "cloud_name"
_FIELD: Final = re.compile(r"\{(\w+)(?::(\w+))?[^}]*\}")
_GIVEN: Final = frozenset({"account", "region", "partition", "dns_suffix", "project", "path", "cloud_name", "arn",
                           "input", "tail", "end"})  # fmt: skip
"""Fields of an id that say what a thing is, and draw nothing."""


@dataclass(frozen=True, slots=True)
class Identities:
    """What a cloud's types say of themselves beyond their cards."""

    inputs: Mapping[str, tuple[str, ...]]
    """By type, the inputs that make two of them the same, its name last; `?` behind one that may be missing."""
    everywhere: Set[str] = frozenset()
    """Types of which a name is one in all projects."""
    harmless: Set[str] = frozenset()
    """Types that may be said twice: the second call finds all as it should be."""


def check(cluster: Cluster, clouds: Iterable[Identities]) -> None:
    """Every resource against those of its type that came before it."""
    by_type: dict[str, list[View]] = {}
    for view in cluster.stack.views:
        if not view.type.startswith("kubernetes:"):
            by_type.setdefault(view.type, []).append(view)
    by_type[HELM_RELEASE] = cluster.releases
    known = tuple(clouds)
    said = {HELM_RELEASE: _RELEASE, **{type_: inputs for cloud in known for type_, inputs in cloud.inputs.items()}}
    everywhere = {type_ for cloud in known for type_ in cloud.everywhere}
    harmless = {type_ for cloud in known for type_ in cloud.harmless}
    for type_, views in by_type.items():
        if len(views) > 1 and type_ not in harmless:
            inputs = said[type_] if type_ in said else inputs_of_id(type_)
            if inputs is not None:
                tell(views, inputs, everywhere=type_ in everywhere)
    _objects(cluster.objects)


def tell(views: Iterable[View], inputs: tuple[str, ...], *, everywhere: bool = False) -> None:
    """Tells of each resource that has all inputs as one before it has them."""
    first: dict[tuple[object, ...], View] = {}
    for view in views:
        paths = [_path(view, each) for each in inputs]
        key = _key(view, paths)
        if key is None:
            continue
        # Since version 7 of the provider a resource of AWS says its region itself.
        place = () if everywhere else (cluster_of(view), view.value("region"), view.value("project"))
        other = first.setdefault((*place, *key), view)
        if other is not view and not any(are_apart(view, other, path) for path in paths):
            _note(view, other, next((given for path in reversed(paths) if view.has(given := path.rstrip("?"))), ""))


def _note(view: View, other: View, path: str) -> None:
    """Notes that a resource makes what another one makes."""
    view.error(
        "reference-twice", path,
        f"{other.name} makes the same: the second is refused or overwrites the first, and with one of them "
        "the other is gone", allowed="one of them, or what tells them apart",
    )  # fmt: skip


def _path(view: View, said: str) -> str:
    return next((key for key in name_inputs(view.type) if view.text(key)), "name") if said == _NAME else said


def _key(view: View, paths: list[str]) -> tuple[object, ...] | None:
    """The values of what makes it the same; None where one is not known, is missing, or is made by Pulumi."""
    values = [view.value(path.rstrip("?")) for path in paths]
    if view.resource.read or (paths and (all(value is None for value in values) or _is_made_up(view, paths[-1]))):
        return None
    if any(
        view.is_unknown(path.rstrip("?")) or (value is None and not path.endswith("?"))
        for path, value in zip(paths, values, strict=True)
    ):
        return None
    return tuple(map(_plain, values))


def _is_made_up(view: View, name: str) -> bool:
    return name.rstrip("?") in view.resource.from_check


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


def are_apart(one: View, other: View, path: str) -> bool:
    """Whether one text stands for two things: ids are made of the logical name, which two components may have."""
    key = re.split(r"[.\[?]", path, maxsplit=1)[0]
    ours, theirs = (set(each.resource.property_dependencies.get(key, ())) for each in (one, other))
    return not {_type_and_name(urn) for urn in ours - theirs}.isdisjoint(map(_type_and_name, theirs - ours))


def _type_and_name(urn: str) -> tuple[str, str]:
    types, _, name = urn.rpartition("::")
    return re.split(r"::|\$", types)[-1], name


@cache
def inputs_of_id(type_: str) -> tuple[str, ...] | None:
    """The inputs that an id of a type is made of; None where the service draws it, or nothing is said of it.

    Where a thing is may be missing, which is then the provider's or a default; not its name, which is last.
    """
    card = cards.BY_TYPE.get(type_)
    if card is None:
        return None
    fields = _FIELD.findall(card.id.replace("{arn}", card.arn or "{hex}"))
    if not fields or any(name not in _GIVEN for name, _ in fields):
        return None
    found = list(dict.fromkeys(_NAME if name in ("cloud_name", "path") else key for name, key in fields
                               if name in ("cloud_name", "path", "input", "tail", "end")))  # fmt: skip
    return (*(f"{key}?" for key in found[:-1]), found[-1]) if found else None


def _objects(views: Iterable[View]) -> None:
    first: dict[tuple[object, ...], View] = {}
    for view in views:
        name, namespace = object_name(view), place(view)
        if name is None or namespace is None or view.resource.read or "metadata.name" in view.resource.from_check:
            continue
        other = first.setdefault((cluster_of(view), kind_of(view), namespace, name), view)
        if other is not view and not are_apart(view, other, "metadata"):
            _note(view, other, "metadata.name")
