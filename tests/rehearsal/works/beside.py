"""What is right and unusual, put beside what an example stack makes, as a program that makes both would record it.

A file holds cases by what they are, each a list of resources. In their inputs `$(vpc network-vpc)` stands for the id,
which begins with `vpc-`, of what the stack makes under that name, `the tags` for the stack's tags, and a mapping with
`json` alone for a text of that.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from trainyard import cards
from trainyard.catalog.tables import YamlLoader
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import HELM_RELEASE, NAMESPACE

TAGS: Final = "the tags"
_NAME: Final = re.compile(r"\$\(([a-z0-9 -]+)\)")
_KNOWN_BY: Final = ("arn", "email", "keyId", "name")
_WAITED_FOR: Final = (
    "aws:eks/addon:Addon",
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
)
"""What a node group waits for, as the stack's own do."""


def cases(which: str) -> dict[str, list[dict[str, Any]]]:
    """The cases of a file, by what they are."""
    text = Path(__file__).with_name(f"beside_{which}.yaml").read_text(encoding="utf-8")
    found: dict[str, list[dict[str, Any]]] = yaml.load(text, Loader=YamlLoader)
    return found


def beside(stack: Sequence[RecordedResource], rows: Sequence[Mapping[str, Any]]) -> list[RecordedResource]:
    """A stack with resources more, each made of the others that its inputs name."""
    ids = {f"{str(one.id).partition('-')[0]} {one.name}": str(one.id) for one in stack if one.is_made}
    bucket = next(one for one in stack if one.type in ("aws:s3/bucket:Bucket", "gcp:storage/bucket:Bucket"))
    tags = bucket.inputs["tagsAll"] if "tagsAll" in bucket.inputs else bucket.inputs["labels"]
    made = [_made(row, ids, tags) for row in rows]
    every = [*stack, *made]
    return [*stack, *(_wired(one, every, stack) for one in made)]


def classes(resources: Sequence[RecordedResource]) -> dict[str, type]:
    """The classes of the SDKs that a program makes such resources with."""
    found = {}
    for type_ in {one.type for one in resources if one.custom}:
        package, module, name = type_.split(":")
        if package in ("aws", "gcp"):
            place = {"lambda": "lambda_"}.get(module.split("/")[0], module.split("/")[0])
            found[type_] = getattr(getattr(importlib.import_module(f"pulumi_{package}"), place), name)
    return found


def _made(row: Mapping[str, Any], ids: Mapping[str, str], tags: Mapping[str, Any]) -> RecordedResource:
    type_, inputs = row["type"], _filled(row["inputs"], ids, tags)
    package, module, last = type_.split(":")
    from_check: tuple[str, ...] = ()
    if package == "kubernetes":
        inputs = {"apiVersion": module.removeprefix("core/"), "kind": last, **inputs}
    elif package == "aws" and cards.of(type_).taggable:
        inputs, from_check = {**inputs, "tagsAll": {**tags, **inputs.get("tags", {})}}, ("tagsAll",)
    return RecordedResource(
        f"urn:pulumi:demo::trainyard::{type_}::beside-{row['name']}", type_, f"beside-{row['name']}", "", "", True, "",
        inputs, id=row["id"], outputs=row.get("outputs", {}), from_check=from_check, protect=cards.of(type_).stateful,
    )  # fmt: skip


def _filled(value: Any, ids: Mapping[str, str], tags: Mapping[str, Any]) -> Any:
    if value == TAGS:
        return dict(tags)
    if isinstance(value, str):
        return _NAME.sub(lambda found: ids[found[1]], value)
    if isinstance(value, Mapping):
        filled = {key: _filled(item, ids, tags) for key, item in value.items()}
        return json.dumps(filled["json"]) if filled.keys() == {"json"} else filled
    return [_filled(item, ids, tags) for item in value] if isinstance(value, list) else value


def _wired(
    one: RecordedResource, every: Sequence[RecordedResource], stack: Sequence[RecordedResource]
) -> RecordedResource:
    """A resource that depends on all that its inputs name, by the provider of the stack."""
    package = one.type.partition(":")[0]
    of = {key: _named(value, one, every) for key, value in one.inputs.items() if key not in one.from_check}
    waits = {urn for urns in of.values() for urn in urns}
    if package == "kubernetes":
        namespace = one.inputs["metadata"].get("namespace")
        of["metadata"] = tuple(
            found.urn for found in every
            if found.type == NAMESPACE and namespace and found.inputs["metadata"].get("name") == namespace
        )  # fmt: skip
        waits |= {*of["metadata"], *(found.urn for found in stack if found.type == HELM_RELEASE)}
    elif one.type == "aws:eks/nodeGroup:NodeGroup":
        waits |= {found.urn for found in stack if found.type in _WAITED_FOR}
    elif package == "gcp":
        waits |= {found.urn for found in every if found.type == "gcp:projects/service:Service"}
    provider = next(found.provider for found in stack if found.is_made and found.type.startswith(f"{package}:"))
    dependencies = tuple(sorted(waits - {one.urn}))
    return replace(one, property_dependencies=of, dependencies=dependencies, provider=provider)


def _named(value: Any, one: RecordedResource, every: Sequence[RecordedResource]) -> tuple[str, ...]:
    texts = list(_texts(value))
    if one.type.startswith("kubernetes:") or not texts:
        return ()
    found = set()
    for other in every:
        if other.urn == one.urn or not other.is_made or other.type.startswith("kubernetes:"):
            continue
        known = {other.id, other.inputs.get("name"), *(other.outputs.get(key) for key in _KNOWN_BY)}
        if any(isinstance(name, str) and len(name) > 3 and name in text for name in known for text in texts):
            found.add(other.urn)
    return tuple(sorted(found))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
