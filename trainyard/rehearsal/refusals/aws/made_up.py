"""Texts that no program wrote and no cloud: what a rehearsal made up for resources of which nobody knows the names."""

from __future__ import annotations

from typing import Final

from trainyard import cards
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import Stack, View

_LEAST_NAME: Final = 8
"""Characters of a name that is looked for in a text: a shorter one stands in many by chance."""


def is_made_up(view: View, value: str) -> bool:
    """Whether a text is, or has in it, what another resource is known by of which nobody knows how AWS names it."""
    return any(name in value for name in view.stack.once(made_up_texts))


def made_up_texts(stack: Stack) -> frozenset[str]:
    """Ids and outputs that nobody gave: an output that says an input again is what the program wrote itself."""
    others = (one for one in stack.resources.all if one.type not in cards.BY_TYPE)
    found = (
        text
        for one in others
        for text in (
            None if _is_given(one) else one.id,
            *(text for key, text in one.outputs.items() if key != "region" and text != one.inputs.get(key)),
        )
        if isinstance(text, str)
    )
    return frozenset(text for text in found if len(text) >= _LEAST_NAME)


def _is_given(resource: RecordedResource) -> bool:
    """Whether the program named it: an object of Kubernetes is known by its namespace and the name that it gives."""
    name = follow(resource.inputs, "metadata", "name")
    return isinstance(name, str) and isinstance(resource.id, str) and resource.id.rpartition("/")[2] == name
