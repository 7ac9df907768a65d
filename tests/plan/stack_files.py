"""Stack files that the planner's tests start from: mappings with the keys that a stack file has."""

from typing import Any

from pydantic.alias_generators import to_camel

from tests.shared import as_configuration
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve
from trainyard.settings.read import read_settings

STACK = "demo"


def keys(**fields: Any) -> dict[str, Any]:
    """A mapping of a stack file: snake_case in, camelCase out; what is None is left out."""
    return {to_camel(name): value for name, value in fields.items() if value is not None}


def people(name: str, members: int, share: float | None = None) -> dict[str, Any]:
    return keys(name=name, members=members, share=share)


def node_range(min_nodes: int | None = None, max_nodes: int | None = None) -> dict[str, Any]:
    return keys(min_nodes=min_nodes, max_nodes=max_nodes)


def bought(id_: str, size: int, zone: str, kind: str | None = None, max_nodes: int | None = None) -> dict[str, Any]:
    return keys(reservation_id=id_, nodes=size, availability_zone=zone, kind=kind, max_nodes=max_nodes)


def gpu_pool(*, spot_instance_types: list[str] | None = None, **fields: Any) -> dict[str, Any]:
    """A GPU pool; `spot_instance_types` go where a stack file has them, below `spot`."""
    if spot_instance_types is not None:
        fields["spot"] = {**(fields.get("spot") or {}), "instanceTypes": list(spot_instance_types)}
    return keys(**fields)


BASE: dict[str, Any] = {
    "client": "acme",
    "cloud": "aws",
    "environment": "production",
    "region": "us-east-1",
    "owner": "ml-platform",
    "costCentre": "research",
    "teams": [people("vision", 6), people("language", 4), people("platform", 2)],
}
"""Twelve people in three teams in us-east-1; everything else is the medium profile's."""


def plan_of(**changes: Any) -> Plan:
    """The plan of the base stack file with some keys (camelCase) replaced; None takes a key out."""
    return resolve(configuration(**changes), STACK).plan


def settings_of(**changes: Any):
    reading = read_settings(configuration(**changes))
    assert not reading.problems, reading.problems
    return reading.settings


def configuration(**changes: Any) -> dict[str, str]:
    return as_configuration({**BASE, **changes})
