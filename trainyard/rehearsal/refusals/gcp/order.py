"""What comes before what, on Google Cloud."""

from __future__ import annotations

from trainyard.rehearsal.context import View


def waits_for(view: View) -> set[str]:
    """Everything that has to be there before a resource is made, by URN."""
    by_urn = {resource.urn: resource for resource in view.stack.resources.all}
    found: set[str] = set()
    left = list(view.resource.dependencies)
    while left:
        urn = left.pop()
        if urn not in found:
            found.add(urn)
            left += by_urn[urn].dependencies if urn in by_urn else ()
    return found
