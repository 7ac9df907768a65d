"""What the engine shows a stack's policies at the end of a first preview.

They see the preview's outputs, where policies on one resource see its inputs after Check. So what a provider computes
is unknown even where the program says nothing of it (`inlinePolicies` of a role), and a resource whose provider is not
configured yet, as every Kubernetes object before its cluster exists, has no properties at all (engine 3.260.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.rehearsal.engine.outputs import shown_at_preview
from trainyard.rehearsal.engine.sdk_types import resource_class


def seen_by_stack_policies(preview: Iterable[RecordedResource]) -> list[RecordedResource]:
    """The resources of a preview run, each with those properties as inputs that a stack's policies are shown."""
    preview = list(preview)
    unconfigured = {found.urn for found in preview if found.is_provider and has_unknown(found.inputs)}
    return [_shown(found, unconfigured) if found.is_made else found for found in preview]


def _shown(found: RecordedResource, unconfigured: set[str]) -> RecordedResource:
    inputs = _properties(found, unconfigured)
    return found if inputs is found.inputs else replace(found, inputs=inputs)


def _properties(resource: RecordedResource, unconfigured: set[str]) -> Mapping[str, Any]:
    if resource.provider_urn in unconfigured:
        return {}
    cls = resource_class(resource.type)
    return resource.inputs if cls is None else shown_at_preview(resource.type, resource.name, resource.inputs, cls)
