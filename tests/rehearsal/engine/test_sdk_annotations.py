"""Annotations of the SDKs that wait are, to whoever asks, those of an SDK that is imported as ever."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rehearsal.engine.conftest import Fresh

MODULES = (
    "pulumi_aws.ec2.launch_template",
    "pulumi_aws.rds.instance",
    "pulumi_gcp.container.node_pool",
    "pulumi_kubernetes.core.v1.Pod",
    "pulumi_kubernetes.core.v1._inputs",
    "pulumi_aws.eks.get_cluster",
)

PROGRAM = """
import contextlib, importlib, inspect, json, sys, typing
import pulumi
from pulumi import _types
from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
from trainyard.rehearsal.engine.sdk_annotations import property_types, return_hints

WITHIN = {'Output': pulumi.Output, 'T': type(None)}


def hints_of(made, module):
    return typing.get_type_hints(made, vars(module), WITHIN) if inspect.isfunction(made) else {}


waits = sys.argv[1] == "waiting"
with piecewise_imports() if waits else contextlib.nullcontext():
    found = {}
    for name in sys.argv[2:]:
        module = importlib.import_module(name)
        for title, cls in [(title, getattr(module, title)) for title in dir(module)]:
            if inspect.isfunction(cls) and cls.__module__ == name:
                found[title] = {
                    key: repr(hint) for key, hint in hints_of(cls, module).items()}
            if not (isinstance(cls, type) and cls.__module__ == name) or typing.is_typeddict(cls):
                continue
            raw = return_hints(cls) if waits else _types._raw_return_hints(cls)
            types = property_types(cls) if waits else _types._types_from_py_properties(cls)
            made = vars(cls).get("__init__")
            found[title] = {
                "hints": {key: repr(hint) for key, hint in raw.items()},
                "types": {key: repr(type_) for key, type_ in types.items() if type_ is not None},
                "signature": {"": str(inspect.signature(cls))},
                "init": {key: repr(hint) for key, hint in hints_of(made, module).items()},
            }
        names = {key: repr(getattr(module, key)) for key in ("Optional", "Mapping", "Union", "Sequence", "pulumi")}
        found[f"{name} names"] = names
json.dump(found, sys.stdout)
"""


def told(fresh: Fresh, how: str, module: str) -> Any:
    return json.loads(fresh(PROGRAM, how, module))


@pytest.mark.parametrize("module", MODULES)
def test_annotations_are_the_same(fresh: Fresh, module: str) -> None:
    waiting, at_once = told(fresh, "waiting", module), told(fresh, "at once", module)
    assert waiting == at_once
    assert sum(len(each.get("hints", each)) for each in at_once.values()) > 10
