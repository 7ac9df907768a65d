"""What comes before what, on Google Cloud."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import View


def waits_for(view: View, by_urn: Mapping[str, RecordedResource] | None = None) -> set[str]:
    """Everything that has to be there before a resource is made, by URN. `by_urn`: all, for who asks often."""
    by_urn = by_urn or {resource.urn: resource for resource in view.stack.resources.all}
    found: set[str] = set()
    left = list(view.resource.dependencies)
    while left:
        urn = left.pop()
        if urn not in found:
            found.add(urn)
            left += by_urn[urn].dependencies if urn in by_urn else ()
    return found
