"""Whether everybody in the recorded account may do what the environment needs them to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trainyard.recorded.model import Finding
from trainyard.recorded.types import ROLE
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.aws import (
    condition_keys,
    condition_values,
    never_met,
    statements,
    trusts,
    unreached,
    whole_names,
)
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.needs import (
    brakes,
    containers_run,
    figures,
    flows_of_data,
    functions,
    granted,
    hand_offs,
    images,
    keys,
    messages,
    pods,
    programs,
    service_jobs,
    services,
    told_folders,
    training,
    volumes,
)
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import installed
from trainyard.rehearsal.works.rights.aws.needs.model import Need, judge
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.own_account import accounts_it_may_be, in_account
from trainyard.rehearsal.works.rights.recorded_pods import recorded, templates
from trainyard.rehearsal.works.workloads.model import Workload
from trainyard.rehearsal.works.workloads.read import workloads

_ACCOUNT: Final = re.compile(r"[0-9]{12}")


MOST_ACCOUNTS: Final = 3
"""Accounts of which each is tried as the stack's own; where more are named nothing is told."""


def check(stack: Stack, made: Sequence[Workload]) -> None:
    """Notes what is refused for sure. `made`: everything that runs pods."""
    statements.check(stack)
    unreached.check(stack)
    never_met.check(stack)
    whole_names.check(stack)
    condition_keys.check(stack)
    condition_values.check(stack)
    if not stack.of_type(ROLE):
        return
    account = Account(stack.resources)
    if not _ACCOUNT.fullmatch(account.id):
        return
    trusts.check(stack, account.id)
    before = {view.resource.urn: len(view.findings) for view in stack.views}
    _play(stack, account, made)
    if any(len(view.findings) > before[view.resource.urn] for view in stack.views):
        _keep_what_is_so_anywhere(stack, account.id, before)


def _keep_what_is_so_anywhere(stack: Stack, synthesised: str, before: Mapping[str, int]) -> None:
    """Takes back what was noted since `before`, and would not be noted in each account that may be the stack's own."""
    others = accounts_it_may_be(stack, synthesised)
    told = []
    for other in others[:MOST_ACCOUNTS]:
        elsewhere = Stack(in_account(stack.resources.all, synthesised, other), stack.context)
        _play(elsewhere, Account(elsewhere.resources), workloads(elsewhere.resources))
        told.append({_place(finding) for finding in elsewhere.findings})
    if len(others) > MOST_ACCOUNTS:
        told.append(set())
    for view in stack.views:
        kept = before[view.resource.urn]
        view.findings[kept:] = [
            finding for finding in view.findings[kept:] if all(_place(finding) in places for places in told)
        ]


def _place(finding: Finding) -> tuple[str, str, str]:
    return finding.urn, finding.rule, finding.path


def _play(stack: Stack, account: Account, made: Sequence[Workload]) -> None:
    places = Places(stack, account)
    bindings = Bindings(places, installed(places))
    bindings.check()
    judge(places.account, needs(places, bindings, made))
    told_folders.check(places, bindings)
    keys.check(places)
    images.check(places)
    functions.check(places)


def needs(places: Places, bindings: Bindings, made: Sequence[Workload]) -> Iterator[Need]:
    """Everything that somebody has to be allowed, each once."""
    users = recorded(places.stack, made)
    yield from services.needs(places)
    yield from service_jobs.needs(places)
    yield from flows_of_data.needs(places)
    yield from hand_offs.needs(places)
    yield from containers_run.needs(places)
    yield from brakes.needs(places)
    yield from training.needs(places)
    yield from programs.needs(places, bindings)
    yield from volumes.needs(places, bindings, users, templates(places.stack, made))
    yield from pods.needs(places, bindings, users)
    yield from messages.needs(places, bindings, made)
    yield from figures.needs(places, bindings, made, users)
    yield from keys.needs(places, bindings)
    yield from granted.needs(places)
