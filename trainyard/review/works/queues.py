"""`explain STACK queues`: who runs what now, may borrow from whom, and gets what back; what each promised job gets."""

from __future__ import annotations

from trainyard.problems import count
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.queues.kubernetes.model import Admitted, Pending, Verdict
from trainyard.rehearsal.works.queues.room import Room
from trainyard.rehearsal.works.queues.shapes import Part, parts, shapes
from trainyard.review.works.model import Table

_MOST_LENDERS = 4


def tables(resources: Resources) -> tuple[Table, ...]:
    """The queues' shares, then the jobs."""
    room = Room.of(resources)
    shares = tuple(
        (
            part.queue,
            part.flavor,
            part.resource,
            f"{part.owned:g}",
            f"{part.borrowable:g}",
            _lenders(part),
            part.back,
        )
        for part in parts(room)
    )
    jobs = tuple((shape.job, shape.queue, shape.pods, *_told(shape.verdict, room)) for shape in shapes(room))
    return (
        Table(
            "shares",
            "What each queue has of each flavor",
            ("queue", "flavor", "resource", "runs now", "may borrow", "from", "gets back from a borrower"),
            shares,
        ),
        Table(
            "jobs",
            "What each job gets where nothing else runs",
            ("job", "queue", "pods", "runs on", "borrows", "waits because"),
            jobs,
        ),
    )


def _lenders(part: Part) -> str:
    if not part.borrowable:
        return ""
    told = [f"{name} {amount:g}" for name, amount in part.lenders[:_MOST_LENDERS]]
    rest = part.lenders[_MOST_LENDERS:]
    if rest:
        told.append(f"{len(rest)} others {sum(amount for _, amount in rest):g}")
    return ", ".join(told)


def _told(verdict: Verdict, room: Room) -> tuple[str, str, str]:
    if isinstance(verdict, Admitted):
        flavors = {flavor for given in verdict.flavors.values() for flavor in given.values()}
        borrowed = [f"{amount:g} {resource} of {flavor}" for (flavor, resource), amount in verdict.borrowed.items()]
        fewer = [f"{count} pods of {name}" for name, count in verdict.counts.items()]
        runs_on = [*(sorted(flavors) or ["any node: nothing of it is counted"]), *fewer]
        return ", ".join(runs_on), ", ".join(borrowed), ""
    reserved = _reserved(verdict.reason, room) if isinstance(verdict, Pending) and verdict.reserved else ""
    return "", "", f"{verdict.reason}{reserved}"


def _reserved(reason: str, room: Room) -> str:
    """How long a job keeps quota while it waits for nodes that do not come."""
    waits = [check.retry for check in room.configuration.checks.values() if check.retry and check.name in reason]
    if not waits:
        return " (quota is reserved)"
    again = max(waits, key=lambda retry: retry.holds_seconds)
    return (
        f" (quota is reserved: where no nodes come, through {count(again.limit, 'pause')} of "
        f"{again.holds_seconds / 60:g} minutes in all, and then it is given up)"
    )
