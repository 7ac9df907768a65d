"""What is reserved for the stack, and how likely AWS thinks that spot nodes come."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from trainyard.account.aws import Account, CannotAskError, RefusedError
from trainyard.plan.parts import NodeGroupPlan, ReservationPlan
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of
from trainyard.problems import count

NAME: Final = "capacity"
_line = lines_of(NAME)

LIKELY_SCORE: Final = 5
"""From 1 to 10: below it AWS itself thinks that a request may well not be met (EC2 User Guide, "Spot placement
score", 2026-11: a score is no promise at any height)."""

_GOOD: Final = ("active", "scheduled", "assessing", "pending", "payment-pending")


def check(subject: AwsSubject, account: Account) -> Lines:
    """Every reservation by its id, then the score of every group of spot nodes."""
    groups = [group for cluster in subject.plan.clusters for group in cluster.node_groups]
    for group in groups:
        if group.reservation is not None:
            yield from _reservation(group, group.reservation, account)
    for group in groups:
        if group.capacity == "spot":
            yield _score(group, account)


def _reservation(group: NodeGroupPlan, plan: ReservationPlan, account: Account) -> Lines:
    what = f"{group.name}: {plan.id}"
    try:
        found = account.call("ec2", "describe_capacity_reservations", CapacityReservationIds=[plan.id])[
            "CapacityReservations"
        ]
    except RefusedError as error:
        if not error.is_absence:
            raise
        found = []
    if not found:
        told = f"the account has no reservation {plan.id} in {account.region}, and none of that id is shared with it"
        yield _line(what, Answer.FAILS, told, "put the id of yours there, or take `reserved` out of the pool")
        return
    wrong = list(_wrong(group, plan, found[0]))
    for told, remedy in wrong:
        yield _line(what, Answer.FAILS, told, remedy)
    if not wrong:
        there, free = found[0].get("TotalInstanceCount", 0), found[0].get("AvailableInstanceCount", 0)
        told = (
            f"{found[0]['State']}, {there} × {found[0]['InstanceType']} in {found[0]['AvailabilityZone']}, {free} free"
        )
        if found[0]["State"] == "active" and free < group.max_nodes:
            # Nodes of this stack may be those that run in it: nobody can tell them from another's.
            told += f": the nodes are {group.max_nodes}"
            remedy = "end what else runs in it, unless that is this stack's own nodes; or lower maxNodes"
            yield _line(what, Answer.UNKNOWN, told, remedy)
        else:
            yield _line(what, Answer.FINE, told)


def _wrong(group: NodeGroupPlan, plan: ReservationPlan, found: dict[str, Any]) -> Any:
    """What is wrong with a reservation that is there, each with its remedy."""
    if found["State"] not in _GOOD:
        yield f"it is {found['State']}", "reserve anew and put the new id there"
    if found["InstanceType"] not in group.instance_types:
        yield (
            f"it is of {found['InstanceType']}, the nodes are {', '.join(group.instance_types)}",
            "correct the pool's gpu",
        )
    if found["AvailabilityZone"] not in group.zones:
        yield (
            f"it is in {found['AvailabilityZone']}, the nodes in {', '.join(group.zones)}",
            "correct its availabilityZone",
        )
    there = found.get("TotalInstanceCount", 0)
    if there < group.max_nodes:
        yield f"it has {count(there, 'machine')}, the nodes are {group.max_nodes}", "lower maxNodes"
    is_block = found.get("ReservationType") == "capacity-block"
    if is_block != (plan.kind == "block"):
        yield f"it is {'a Capacity Block' if is_block else 'no Capacity Block'}", "correct its kind"
    end = found.get("EndDate")
    if isinstance(end, datetime) and end <= datetime.now(UTC):
        yield f"it ended {end:%Y-%m-%d %H:%M} UTC", "reserve anew and put the new id there"


def _score(group: NodeGroupPlan, account: Account) -> Line:
    try:
        scores = list(
            account.each(
                "ec2",
                "get_spot_placement_scores",
                "SpotPlacementScores",
                InstanceTypes=list(group.instance_types),
                TargetCapacity=group.max_nodes,
                SingleAvailabilityZone=True,
                RegionNames=[account.region],
            )
        )
        names = {
            each["ZoneId"]: each["ZoneName"]
            for each in account.each("ec2", "describe_availability_zones", "AvailabilityZones")
        }
    except CannotAskError as error:
        return _line(group.name, Answer.UNKNOWN, f"the spot placement score: {error}", error.remedy)
    own = {names.get(each["AvailabilityZoneId"], ""): each["Score"] for each in scores}
    of_ours = [own[zone] for zone in group.zones if zone in own]
    if not of_ours:
        return _line(group.name, Answer.UNKNOWN, f"AWS scores no zone of {', '.join(group.zones)}", "see it by trying")
    told = f"{group.max_nodes} spot nodes in {', '.join(group.zones)} at once: {max(of_ours)} of 10"
    better = {zone: score for zone, score in own.items() if score > max(of_ours)}
    if max(of_ours) >= LIKELY_SCORE:
        return _line(group.name, Answer.FINE, told)
    remedy = "let the pool have another capacity beside spot"
    if better:
        remedy += "; " + ", ".join(f"{zone} has {score}" for zone, score in sorted(better.items()))
    return _line(group.name, Answer.UNKNOWN, told, remedy)
