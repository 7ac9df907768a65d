"""A reservation and the nodes that it is for: of one type, in one zone."""

from __future__ import annotations

from typing import Final

from trainyard.conventions import CAPACITY_LABEL
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.types import CAPACITY_RESERVATION
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.aws.eks import zones_of

_CAPACITY: Final = "capacityReservationSpecification"
_TARGET = "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"


def check(stack: Stack) -> None:
    """Looks at every node group whose template is bound to a reservation that the stack makes."""
    for group in stack.of_type(EKS_NODE_GROUP):
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        reservation = template.referred(_TARGET, CAPACITY_RESERVATION) if template is not None else None
        if template is not None:
            _bought(group, template)
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


def _bought(group: View, template: View) -> None:
    """Nodes that say of themselves how they are bought, and are not bought so.

    A template without a word takes any open reservation of its type (EC2 user guide, "Launch instances into an existing
    Capacity Reservation", 2026-11); with `none` it takes no reservation at all. Nodes that say "on-demand" and
    only start inside open reservations may be meant so; inside one that is named they are what a pool calls reserved.
    """
    preference = template.text(f"{_CAPACITY}.capacityReservationPreference")
    said = group.mapping("labels").get(CAPACITY_LABEL)
    if said == "reserved" and preference == "none" and not template.has(_TARGET):
        template.error(
            "machines-reservation", f"{_CAPACITY}.capacityReservationPreference",
            f"is none, and nodes of {group.name} say that they are reserved: they start beside the reservation, and "
            "both are paid", allowed="capacity-reservations-only, with the reservation",
        )  # fmt: skip
    only = preference == "capacity-reservations-only" and template.has(_TARGET)
    if said in ("on-demand", "spot") and only:
        template.error(
            "machines-reservation", f"{_CAPACITY}.capacityReservationPreference",
            f"is capacity-reservations-only, and nodes of {group.name} say that they are bought {said}: none starts "
            "outside the reservation", allowed="a template of their own",
        )  # fmt: skip
