"""The entry: Kueue's queues of a stack, played; what would wait for ever, or run beside every quota."""

from __future__ import annotations

from trainyard.recorded.queues import KUEUE_OBJECTS
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.queues.check_annotations import check_annotations
from trainyard.rehearsal.works.queues.check_jobs import check_jobs
from trainyard.rehearsal.works.queues.check_provisioning import check_provisioning
from trainyard.rehearsal.works.queues.check_queues import check_queues
from trainyard.rehearsal.works.queues.check_remote import check_remote
from trainyard.rehearsal.works.queues.room import Room


def check(stack: Stack) -> None:
    """Every rule about queues and the jobs in them; reads nothing where the stack has no object of Kueue's."""
    if not stack.resources.of(KUEUE_OBJECTS):
        return
    room = Room.of(stack.resources)
    check_queues(stack, room)
    check_jobs(stack, room)
    check_annotations(stack, room)
    check_provisioning(stack, room)
    check_remote(stack, room)
