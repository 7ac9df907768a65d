"""Whether AWS allows one request, given every policy that it would ask.

Rules and their source (IAM User Guide, "Policy evaluation logic", "How AWS enforcement code logic evaluates requests
to allow or deny access", "Cross-account policy evaluation logic", read 2026-11; AWS KMS Developer Guide, "Key policies
in AWS KMS"; AWS PrivateLink Guide, "Control access to VPC endpoints using endpoint policies"):

1. A statement that denies wins over everything, wherever it stands.
2. An endpoint that a request goes through has to allow it.
3. Within an account the policy of the resource or those of the caller are enough; keys and roles have to allow
   it themselves, or leave it to the account.
4. A boundary limits what the caller's own policies allow, and what a resource's policy allows to the account; not what
   that allows to a user, but what it allows to a role by the role's ARN.
5. Another account's caller needs both.

Nobody records the organisation's own policies (service and resource control policies): they only take away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trainyard.rehearsal.works.rights.aws.documents import Document, Request, Statement
from trainyard.rehearsal.works.rights.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Asked:
    """Every policy that AWS asks about one request."""

    identity: Sequence[Document] | None = ()  # the caller's own; None: nobody has recorded them
    boundary: Sequence[Document] | None = None  # None: there is none
    resource: Sequence[Document] = ()
    endpoint: Document | None = None
    same_account: bool = True
    resource_must_allow: bool = False  # keys and roles
    resource_unknown: bool = False  # a resource of another account, which may let in whom it likes
    not_in_the_table: tuple[str, ...] = ()  # managed policies of the caller whose text nobody has
    boundary_unknown: bool = False  # the boundary is such a policy


def evaluate(request: Request, asked: Asked) -> Verdict:
    """Whether a request is allowed, and which statement decides."""
    refused = _denied(request, asked) or _stopped_by_endpoint(request, asked)
    if refused is not None:
        return refused
    by_resource = _allowing(asked.resource, request, principals=True)
    directly = by_resource is not None and by_resource.names(request.caller) == "principal"
    if request.caller.is_service or request.caller.is_anonymous:
        return _by_resource_alone(request, asked, by_resource if directly else None)
    if by_resource is None and (asked.resource_must_allow or not asked.same_account) and not asked.resource_unknown:
        return Verdict("no", f"{_nothing_lets(asked)} {request.caller} do {request}")
    unbound = ":user/" in request.caller.arn or _within_boundary(request, asked)
    if asked.same_account and directly and by_resource is not None and unbound:
        return _yes(request, by_resource)
    return _by_own_policies(request, asked)


def _denied(request: Request, asked: Asked) -> Verdict | None:
    own = (*(asked.identity or ()), *(asked.boundary or ()))
    of_resource = (*asked.resource, *((asked.endpoint,) if asked.endpoint else ()))
    for documents, principals in ((own, False), (of_resource, True)):
        for document in documents:
            statement = document.denying(request, principals=principals)
            if statement is not None:
                return Verdict("no", f"{statement.place} denies {request}", statement.urn)
    return None


def _stopped_by_endpoint(request: Request, asked: Asked) -> Verdict | None:
    if asked.endpoint is None or asked.endpoint.allowing(request, principals=True) is not None:
        return None
    return Verdict("no", f"{asked.endpoint.what} lets {request} through for nobody like {request.caller}")


def _by_resource_alone(request: Request, asked: Asked, statement: Statement | None) -> Verdict:
    if statement is not None:
        return _yes(request, statement)
    if asked.resource_unknown:
        return Verdict("unknown", f"{request.resource} is not of this environment")
    return Verdict("no", f"{_nothing_lets(asked)} {request.caller} do {request}")


def _by_own_policies(request: Request, asked: Asked) -> Verdict:
    if asked.identity is None:
        whose = asked.resource[0].what if asked.resource else "no policy of the resource"
        words = f"{whose} leaves {request} to the policies of {request.caller}"
        return Verdict("unknown" if asked.same_account else "yes", words)  # another account gives itself what it likes
    statement = _allowing(asked.identity, request, principals=False)
    if statement is None:
        if asked.not_in_the_table:
            names = ", ".join(asked.not_in_the_table)
            return Verdict("unknown", f"{request.caller} has {names}, whose statements are not in the table")
        return Verdict("no", f"nothing that {request.caller} has allows {request}")
    if not _within_boundary(request, asked):
        return Verdict("no", f"the permissions boundary of {request.caller} does not allow {request}", statement.urn)
    if asked.boundary_unknown:
        return Verdict(
            "unknown", f"the statements of the permissions boundary of {request.caller} are not in the table"
        )
    return _yes(request, statement)


def _within_boundary(request: Request, asked: Asked) -> bool:
    return asked.boundary is None or _allowing(asked.boundary, request, principals=False) is not None


def _allowing(documents: Iterable[Document], request: Request, *, principals: bool) -> Statement | None:
    found = [
        statement
        for document in documents
        if (statement := document.allowing(request, principals=principals)) is not None
    ]
    direct = (statement for statement in found if principals and statement.names(request.caller) == "principal")
    return next(direct, found[0] if found else None)


def _yes(request: Request, statement: Statement) -> Verdict:
    return Verdict("yes", f"{statement.place} allows {request}", statement.urn)


def _nothing_lets(asked: Asked) -> str:
    return f"{asked.resource[0].what} does not let" if asked.resource else "no policy of the resource lets"
