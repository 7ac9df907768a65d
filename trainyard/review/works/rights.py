"""`explain STACK rights`: who takes each role or is granted one, what it may do, and whether that is enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
from trainyard.rehearsal.works.rights.gcp.check import needs as needs_of_google
from trainyard.rehearsal.works.rights.gcp.grants import ANYWHERE, EVERYWHERE, Grant
from trainyard.rehearsal.works.rights.gcp.members import pod_of
from trainyard.rehearsal.works.rights.gcp.needs.model import Need as NeedOfGoogle
from trainyard.rehearsal.works.rights.gcp.needs.model import answer as answer_of_google
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.workloads.read import workloads
from trainyard.review.works.model import Table


def tables(resources: Resources) -> tuple[Table, ...]:
    """The needs, then the roles of AWS and the grants of Google Cloud. Raises UnreadableInput."""
    project = Project(resources)
    if not project.grants:
        return _of_aws(resources)
    stack = Stack(resources.all, ValueContext("", ""))
    asked = [row for need in needs_of_google(stack, project, workloads(resources)) for row in _granted(project, need)]
    grants = Table(
        "grants",
        "Who has which role, and on what",
        ("who", "role", "on", "if", "by"),
        tuple(row for grant in project.grants for row in _grant(resources, grant)),
    )
    others = _of_aws(resources) if resources.of(ROLE) else (_needs(()),)
    return (_needs((*others[0].rows, *asked)), *others[1:], grants)


def _needs(rows: Iterable[tuple[str, ...]]) -> Table:
    columns = ("who", "for", "action", "on", "answer", "because")
    return Table("needs", "What has to be allowed, and what decides", columns, tuple(dict.fromkeys(rows)))


def _of_aws(resources: Resources) -> tuple[Table, Table]:
    account = Account(resources)
    places = Places(Stack(resources.all, ValueContext("", account.region)), account)
    bindings = Bindings(places, installed(places))
    return (
        _needs(row for need in needs(places, bindings, workloads(resources)) for row in _need(account, need)),
        Table(
            "roles",
            "What each role may do, and who takes it",
            ("role", "taken by", "pods", "statement", "actions", "on", "if"),
            tuple(row for role in resources.of(ROLE) for row in _role(role, account, bindings)),
        ),
    )


def _granted(project: Project, need: NeedOfGoogle) -> Iterator[tuple[str, ...]]:
    for deed in need.deeds:
        verdict = answer_of_google(project, need, deed)
        yield need.words.rstrip(","), need.purpose, deed.permission, deed.resource, verdict.answer, verdict.words


def _grant(resources: Resources, grant: Grant) -> Iterator[tuple[str, ...]]:
    things = {found.urn: found.name for found in resources.all}
    on = {EVERYWHERE: "the project", ANYWHERE: "not known"}.get(grant.on) or things[grant.on]
    condition = "not known" if grant.condition is None else grant.condition
    for member in (*grant.members, *(["not known"] if grant.some_unknown else [])):
        pods = pod_of(member)
        who = f"pods of {pods[1].namespace}/{pods[1].service_account}" if pods else member
        yield who, grant.role or "not known", f"{on}, {grant.folder}" if grant.folder else on, condition, grant.by.name


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
        yield (*heading, name, "not in the table", "", "")
    for document in held.documents:
        for statement in document.statements:
            effect = "" if statement.allows else "none of: "
            actions = f"{effect}{'all but ' if statement.all_but_actions else ''}{_joined(statement.actions)}"
            on = f"{'all but ' if statement.all_but_resources else ''}{_joined(statement.resources)}"
            yield (*heading, statement.place, actions, on, _conditions(statement.raw.get("Condition")))


def _conditions(given: object) -> str:
    """What a request has to be for a statement to be about it, in the document's own words."""
    found = [
        f"{key} {operator} {_joined([text for _, text in known_texts(values)]) or 'not known'}"
        for operator, keys in (given.items() if isinstance(given, Mapping) else ())
        for key, values in (keys.items() if isinstance(keys, Mapping) else ())
    ]
    return "; ".join(found)


def _principals(statement: object) -> list[str]:
    found = statement.get("Principal") if isinstance(statement, dict) else None
    return [text for _, text in known_texts(found)]


def _joined(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:_MOST])
    return shown if len(texts) <= _MOST else f"{shown} and {len(texts) - _MOST} more"


_MOST = 6
