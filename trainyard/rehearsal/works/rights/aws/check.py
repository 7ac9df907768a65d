"""Whether everybody in the recorded account may do what the environment needs them to."""

from __future__ import annotations

from trainyard.recorded.types import ROLE
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.aws import statements
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.needs import images, keys, pods, programs, services, volumes
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import installed
from trainyard.rehearsal.works.rights.aws.needs.model import judge
from trainyard.rehearsal.works.rights.aws.needs.places import Places


def check(stack: Stack) -> None:
    """Notes what is refused for sure."""
    statements.check(stack)
    if not stack.of_type(ROLE):
        return
    account = Account(stack.resources)
    places = Places(stack, account)
    bindings = Bindings(places, installed(places))
    bindings.check()
    judge(account, services.needs(places))
    judge(account, programs.needs(places, bindings))
    made = pods.recorded(places)
    judge(account, volumes.needs(places, bindings, made))
    judge(account, pods.needs(places, bindings, made))
    judge(account, keys.needs(places, bindings))
    keys.check(places)
    images.check(places)
