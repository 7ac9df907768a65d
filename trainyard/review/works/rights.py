"""`explain STACK rights`: who takes each role, what it is for, what it may do, and whether that is enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import known_texts
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ROLE
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.check import needs
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import installed
from trainyard.rehearsal.works.rights.aws.needs.model import Need, answer
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.review.works.model import Table


def tables(resources: Resources) -> tuple[Table, ...]:
    """The needs, then the roles. Raises UnreadableInput."""
    account = Account(resources)
    places = Places(Stack(resources.all, ValueContext("", account.region)), account)
    bindings = Bindings(places, installed(places))
    asked = [row for need in needs(places, bindings) for row in _need(account, need)]
    return (
        Table(
            "needs",
            "What has to be allowed, and what decides",
            ("who", "for", "action", "on", "answer", "because"),
            tuple(dict.fromkeys(asked)),
        ),
        Table(
            "roles",
            "What each role may do, and who takes it",
            ("role", "taken by", "pods", "statement", "actions", "on"),
            tuple(row for role in resources.of(ROLE) for row in _role(role, account, bindings)),
        ),
    )


def _need(account: Account, need: Need) -> Iterator[tuple[str, ...]]:
    for deed in need.deeds:
        verdict = answer(account, need, deed)
        yield need.words.rstrip(","), need.purpose, deed.action, deed.resource, verdict.answer, verdict.words


def _role(role: RecordedResource, account: Account, bindings: Bindings) -> Iterator[tuple[str, ...]]:
    taken = sorted({text for one in statements(role.inputs, "assumeRolePolicy") for text in _principals(one)})
    pods = sorted(
        f"{binding.pod.namespace}/{binding.pod.service_account}"
        for binding in bindings.all
        if account.role(binding.role_arn) is role
    )
    held = account.held_by(role)
    heading = (role.name, _joined(taken), _joined(pods))
    for name in held.not_in_the_table:
        yield (*heading, name, "not in the table", "")
    for document in held.documents:
        for statement in document.statements:
            effect = "" if statement.allows else "none of: "
            actions = f"{effect}{'all but ' if statement.all_but_actions else ''}{_joined(statement.actions)}"
            on = f"{'all but ' if statement.all_but_resources else ''}{_joined(statement.resources)}"
            yield (*heading, statement.place, actions, on)


def _principals(statement: object) -> list[str]:
    found = statement.get("Principal") if isinstance(statement, dict) else None
    return [text for _, text in known_texts(found)]


def _joined(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:_MOST])
    return shown if len(texts) <= _MOST else f"{shown} and {len(texts) - _MOST} more"


_MOST = 6
