"""Whether everybody in the recorded account may do what the environment needs them to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import ROLE
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.aws import statements
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.needs import images, keys, pods, programs, services, volumes
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import installed
from trainyard.rehearsal.works.rights.aws.needs.model import Need, judge
from trainyard.rehearsal.works.rights.aws.needs.places import Places

_ACCOUNT: Final = re.compile(r"[0-9]{12}")


def check(stack: Stack) -> None:
    """Notes what is refused for sure."""
    statements.check(stack)
    if not stack.of_type(ROLE):
        return
    places = Places(stack, Account(stack.resources))
    if not _ACCOUNT.fullmatch(places.account.id):
        return
    bindings = Bindings(places, installed(places))
    bindings.check()
    judge(places.account, needs(places, bindings))
    keys.check(places)
    images.check(places)


def needs(places: Places, bindings: Bindings) -> Iterator[Need]:
    """Everything that somebody has to be allowed, each once."""
    made = pods.recorded(places)
    yield from services.needs(places)
    yield from programs.needs(places, bindings)
    yield from volumes.needs(places, bindings, made)
    yield from pods.needs(places, bindings, made)
    yield from keys.needs(places, bindings)
