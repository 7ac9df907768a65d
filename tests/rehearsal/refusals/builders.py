"""Recorded resources without a recording: a good stack as plain data, for the tests of the value checks."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import steps
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values

CONTEXT = ValueContext(kubernetes_version="1.35", region="us-east-1")
ACCOUNT = "123456789012"
KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/0b8f2f3e-0000-4000-8000-0123456789ab"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/node"
DROP = object()
"""As a new value: take the input away."""


def resource(type_: str, name: str, inputs: Mapping[str, Any], id_: str = "", **outputs: Any) -> RecordedResource:
    """One custom resource; its id is made of its type and name unless given."""
    return RecordedResource(
        urn=f"urn:pulumi:test::trainyard::{type_}::{name}",
        type=type_,
        name=name,
        parent="",
        component="environment",
        custom=True,
        provider="p::p",
        inputs=copy.deepcopy(dict(inputs)),
        id=id_ or f"{name}-id",
        outputs=outputs,
    )


def obj(api: str, kind: str, name: str, namespace: str = "", **body: Any) -> RecordedResource:
    """A Kubernetes object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **body.pop("metadata", {})}
    package = api if "/" in api else f"core/{api}"
    token = (
        f"kubernetes:{package.replace('networking.k8s.io', 'networking').replace('.authorization.k8s.io', '')}:{kind}"
    )
    return resource(token, f"{kind.lower()}-{name}", {"apiVersion": api, "kind": kind, "metadata": metadata, **body})


def policy(*statements: Mapping[str, Any]) -> str:
    """A policy document."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def changed(resources: Iterable[RecordedResource], name: str, path: str, value: Any) -> list[RecordedResource]:
    """The same resources with one input of one of them set to `value`, or taken away (`DROP`)."""
    found = []
    for item in resources:
        if item.name == name:
            inputs = copy.deepcopy(dict(item.inputs))
            _set(inputs, steps(path), value)
            item = resource(item.type, item.name, inputs, str(item.id), **item.outputs)
        found.append(item)
    assert any(item.name == name for item in found), f"no resource {name}"
    return found


def _set(target: Any, path: list[str | int], value: Any) -> None:
    for step in path[:-1]:
        if isinstance(target, dict) and step not in target:
            target[step] = {}
        target = target[step]
    last = path[-1]
    if value is DROP:
        del target[last]
    elif isinstance(target, list) and last == len(target):
        target.append(value)
    else:
        target[last] = value


def findings(resources: Iterable[RecordedResource], context: ValueContext = CONTEXT) -> list[Finding]:
    return check_values(list(resources), context)
