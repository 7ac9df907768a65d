"""The offline judges of Kubernetes objects: JSON schemas, definitions of custom resources, values of charts."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import kubernetes_validate

from tests.pulumi_harness import Recorded, Recording, plain
from tests.shared import shared

KUBERNETES_VERSION = "1.35"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"shared_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def _schemas() -> tuple[ModuleType, dict[tuple[str, str], Any]]:
    module = _load(shared("crds", "validate.py"))
    return module, module.load_schemas()


def custom_resource_problems(manifest: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    """What the definition of the pinned version refuses; KeyError for a kind that has none."""
    module, schemas = _schemas()
    record = schemas[manifest["apiVersion"], manifest["kind"]]
    return [str(problem) for problem in module.validate(manifest, record, old=old)]


def chart_value_problems(release: Recorded, chart_file: str) -> list[str]:
    """Values of a release that its chart does not know, or that no template reads."""
    module = _load(shared("charts", "check_values.py"))
    tree = module.load_chart(shared("charts", chart_file))
    values = release.inputs.get("values", {})
    unknown = [f"{path}: {problem}" for path, problem in module.unknown_values(values, tree).items()]
    return unknown + [f"{path}: read by no template" for path in module.unread_values(values, tree)]


def whole_numbers(value: Any) -> Any:
    """Inputs as JSON on the way to the server: a request to the engine knows doubles only."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole_numbers(item) for key, item in value.items()}
    return [whole_numbers(item) for item in value] if isinstance(value, list) else value


def is_custom(resource: Recorded) -> bool:
    return any(group in resource.type for group in (".x-k8s.io/", ".kubeflow.org/", ":monitoring.coreos.com/"))


def custom_resources(recording: Recording) -> list[Recorded]:
    return [resource for resource in recording.resources if is_custom(resource)]


def check_plain_objects(recording: Recording) -> int:
    """Holds every built-in Kubernetes object against its strict schema; returns how many there were."""
    built_in = [
        resource
        for resource in recording.resources
        if resource.type.startswith("kubernetes:") and not is_custom(resource) and ":helm.sh/" not in resource.type
    ]
    for resource in built_in:
        kubernetes_validate.validate(whole_numbers(plain(resource.inputs)), KUBERNETES_VERSION, strict=True)
    return len(built_in)


def check_custom_resources(recording: Recording) -> int:
    """Holds every custom resource against its definition; returns how many there were."""
    found = custom_resources(recording)
    for resource in found:
        problems = custom_resource_problems(whole_numbers(resource.inputs))
        assert not problems, f"{resource.name}: {problems}"
    return len(found)


def depends_on(recording: Recording, resource: Recorded) -> set[str]:
    """Logical names of everything that a resource waits for, directly or by way of others."""
    by_urn = {other.urn: other for other in recording.resources}
    waiting, seen = list(resource.dependencies), set()
    while waiting:
        urn = waiting.pop()
        if urn in by_urn and urn not in seen:
            seen.add(urn)
            waiting += by_urn[urn].dependencies
    return {by_urn[urn].name for urn in seen}
