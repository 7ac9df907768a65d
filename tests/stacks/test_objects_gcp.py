"""What demo-gcp makes on its cluster: objects that an API server of the version takes, as the definitions have them."""

from __future__ import annotations

from typing import Any

from tests.components.k8s.checkers import check_custom_resources, check_plain_objects
from trainyard.recorded.types import VOLUME


def test_built_in_objects_are_valid_against_their_strict_schemas(rehearsed: Any) -> None:
    run = rehearsed("demo-gcp").known
    assert check_plain_objects(run) > 100
    assert any(resource.type == VOLUME for resource in run.resources)


def test_custom_resources_are_valid_against_the_definitions_of_their_charts(rehearsed: Any) -> None:
    assert check_custom_resources(rehearsed("demo-gcp").known) > 20


def test_those_of_nodes_that_are_waited_for_too(rehearsed: Any) -> None:
    """large-gcp has what demo-gcp has not: checks of admission, their configurations, claims of devices."""
    assert check_custom_resources(rehearsed("large-gcp").known) > 20
