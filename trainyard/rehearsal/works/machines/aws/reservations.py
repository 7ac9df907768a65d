"""A reservation and the nodes that it is for: of one type, in one zone."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.refusals.aws.eks import zones_of

RESERVATION: Final = "aws:ec2/capacityReservation:CapacityReservation"
_TARGET = "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"


def check(stack: Stack) -> None:
    """Looks at every node group whose template is bound to a reservation that the stack makes."""
    for group in stack.of_type(EKS_NODE_GROUP):
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        reservation = template.referred(_TARGET, RESERVATION) if template is not None else None
        if template is None or reservation is None:
            continue
        types = group.texts("instanceTypes") or [template.text("instanceType") or ""]
        reserved = reservation.text("instanceType")
        if reserved is not None and types != [""] and reserved not in types:
            template.error(
                "machines-reservation",
                _TARGET,
                f"reservation {reservation.name} is of {reserved}, and {group.name} asks for {', '.join(types)}",
                allowed=f"instance type {reserved}",
            )
        zone, zones = reservation.text("availabilityZone"), zones_of(group, "subnetIds")
        if zone is not None and zones and zone not in zones:
            template.error(
                "machines-reservation",
                _TARGET,
                f"reservation {reservation.name} lies in {zone}, and {group.name} in {', '.join(sorted(zones))}",
                allowed=f"a subnet in {zone}",
            )
