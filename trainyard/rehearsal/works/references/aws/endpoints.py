"""Endpoints of a network that keep each other out: of one service's own names there is one, and one in a route table.

Sources: EC2 API, CreateVpcEndpoint (a conflicting DNS domain; `RouteAlreadyExists`), 2026-11.
"""

from __future__ import annotations

from trainyard.recorded.types import VPC_ENDPOINT
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.references.taken import are_apart, tell


def check(stack: Stack) -> None:
    """Each endpoint against those before it."""
    views = stack.of_type(VPC_ENDPOINT)
    named = (view for view in views if view.text("vpcEndpointType") == "Interface" and view.flag("privateDnsEnabled"))
    tell(named, ("vpcId", "serviceName"))
    tables: dict[tuple[str, str, str], View] = {}
    for view in views:
        service = view.text("serviceName")
        for index, table in enumerate(view.entries("routeTableIds") if service and not view.resource.read else ()):
            if not isinstance(table, str):
                continue
            other = tables.setdefault((view.resource.provider, str(service), table), view)
            if other is not view and not are_apart(view, other, "routeTableIds"):
                view.error(
                    "reference-twice", f"routeTableIds[{index}]",
                    f"{other.name} leads from this table to {service} already: the second is refused",
                    allowed="one endpoint for a route table",
                )  # fmt: skip
                break
