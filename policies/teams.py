"""The teams' namespaces, for every policy that asks for them."""

from __future__ import annotations

from trainyard.conventions import TEAM_LABEL
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE


def team_namespaces(resources: Resources) -> list[RecordedResource]:
    """The namespaces that carry a team's label, known or not."""
    return [found for found in resources.of(NAMESPACE) if is_set(found.inputs, "metadata", "labels", TEAM_LABEL)]
