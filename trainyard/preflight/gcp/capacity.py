"""What is reserved for the stack: whether it is there, of its machine, in its zone, and large enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, ask, is_absence
from trainyard.plan.parts import NodeGroupPlan, ReservationPlan
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "capacity"
_line = lines_of(NAME)

COMING: Final = "CREATING"
READY: Final = "READY"
"""States of a reservation that is to be had, or will be (Compute Engine API, `Reservation.status`)."""


def check(subject: GcpSubject) -> Lines:
    """Every reservation by its name."""
    groups = [group for cluster in subject.plan.clusters for group in cluster.node_groups]
    reserved = [(group, group.reservation) for group in groups if group.reservation is not None]
    if not reserved:
        yield _line("reservations", Answer.FINE, "the stack names none")
    for group, reservation in reserved:
        yield from _reservation(group, reservation, subject.plan.ground.project)


def _reservation(group: NodeGroupPlan, plan: ReservationPlan, own_project: str) -> Lines:
    what = f"{group.name}: {plan.id}"
    name, project = _name_and_project(plan.id, own_project)
    try:
        found = ask(
            "compute", "reservations", "describe", name,
            f"--zone={plan.availability_zone}", f"--project={project}",
        )  # fmt: skip
    except CannotAskError as error:
        if not is_absence(error):
            raise
        told = f"{project} has no reservation {name} in {plan.availability_zone}"
        yield _line(
            what, Answer.FAILS, told, "put the name and zone of yours there, or take `reserved` out of the pool"
        )
        return
    wrong = list(_wrong(group, found, shared=project != own_project))
    for told, remedy in wrong:
        yield _line(what, Answer.FAILS, told, remedy)
    if wrong:
        return
    there, used = _count(found, "count"), _count(found, "inUseCount")
    told = f"{str(found.get('status', '')).lower()}, {there} × {_machine(found)}, {there - used} free"
    if found.get("status") == COMING:
        yield _line(what, Answer.UNKNOWN, told, "wait until it is ready before the first `up`")
    elif there - used < group.max_nodes:
        # Nodes of this stack may be those that run in it: nobody can tell them from another's.
        remedy = "end what else runs in it, unless that is this stack's own nodes; or lower its nodes"
        yield _line(what, Answer.UNKNOWN, f"{told}: the nodes are {group.max_nodes}", remedy)
    else:
        yield _line(what, Answer.FINE, told)


def _name_and_project(id_: str, own: str) -> tuple[str, str]:
    """The name and the project that a reservation is spelt by: NAME, projects/PROJECT/reservations/NAME, or a block."""
    whole = id_.partition("/reservationBlocks/")[0]
    project, _, name = whole.removeprefix("projects/").partition("/reservations/")
    return (name, project) if name else (whole, own)


def _wrong(group: NodeGroupPlan, found: Any, *, shared: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with a reservation that is there, each with its remedy."""
    status, machine = found.get("status"), _machine(found)
    if status not in (COMING, READY):
        yield f"it is {status}", "reserve anew and put the new name there"
    if machine and machine not in {type_.partition("+")[0] for type_ in group.instance_types}:
        yield f"it is of {machine}, the nodes are {', '.join(group.instance_types)}", "correct the pool's machine"
    if not found.get("specificReservationRequired"):
        told = "whatever runs in the project takes from it: it is not used by name"
        yield told, "make it anew with --require-specific-reservation"
    if _count(found, "count") < group.max_nodes:
        yield f"it has {_count(found, 'count')} machines, the nodes are {group.max_nodes}", "lower its nodes"
    if shared and found.get("shareSettings", {}).get("shareType", "LOCAL") == "LOCAL":
        yield "it is another project's, which shares it with nobody", "its owner shares it with this project"


def _count(found: Any, key: str) -> int:
    return int(found.get("specificReservation", {}).get(key, 0))


def _machine(found: Any) -> str:
    return str(found.get("specificReservation", {}).get("instanceProperties", {}).get("machineType", ""))
