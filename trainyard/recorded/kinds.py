"""Inputs of a wrong kind: told once, by the check of schemas, and from then on as good as unknown.

A text where a list belongs means nothing. Whoever reads the recording afterwards would have to expect every kind
everywhere, and what he said of it would repeat that the input is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource, Secret

WRONG_KINDS: Final = frozenset({"wrong-type", "k8s-type", "k8s-quantity"})
"""Rules of findings whose path holds a value of a kind that the service cannot read."""


def without_wrong_kinds(
    resources: Sequence[RecordedResource], findings: Iterable[Finding]
) -> Sequence[RecordedResource]:
    """The resources, with what these findings call of a wrong kind unknown."""
    wrong: dict[str, list[str]] = {}
    for finding in findings:
        if finding.level == "error" and finding.rule in WRONG_KINDS and finding.path:
            wrong.setdefault(finding.urn, []).append(finding.path)
    if not wrong:
        return resources
    return [
        replace(resource, inputs=_all_blurred(resource.inputs, wrong[resource.urn]))
        if resource.urn in wrong
        else resource
        for resource in resources
    ]


def _all_blurred(inputs: Mapping[str, Any], paths: Iterable[str]) -> Mapping[str, Any]:
    blurred: Any = inputs
    for path in paths:
        found = _blurred(blurred, path)
        blurred = blurred if found is None else found
    return blurred if isinstance(blurred, Mapping) else inputs


def _blurred(value: Any, path: str) -> Any:
    """The value with what lies at a path unknown; None where nothing does. Keys may hold dots, as those of labels."""
    if not path:
        return UNKNOWN
    if isinstance(value, Secret):
        inner = _blurred(value.value, path)
        return None if inner is None else Secret(inner)
    if isinstance(value, Mapping):
        for key, item in value.items():
            rest = path[len(key) :]
            if path.startswith(key) and (not rest or rest[0] in ".["):
                inner = _blurred(item, rest.removeprefix("."))
                if inner is not None:
                    return {**value, key: inner}
    elif isinstance(value, (list, tuple)) and path.startswith("["):
        index, _, rest = path[1:].partition("]")
        if index.isdigit() and int(index) < len(value):
            inner = _blurred(value[int(index)], rest.removeprefix("."))
            if inner is not None:
                return [*value[: int(index)], inner, *value[int(index) + 1 :]]
    return None
