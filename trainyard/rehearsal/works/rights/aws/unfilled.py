"""Condition keys that decide about a request and that nobody here can fill in: from where it comes, with which tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from trainyard.recorded.read import mapping_at
from trainyard.rehearsal.works.rights.aws.conditions import holds
from trainyard.rehearsal.works.rights.aws.documents import Request, Statement
from trainyard.rehearsal.works.rights.aws.evaluate import Asked

_WHOLE: Final = (
    "aws:principaltag/",
    "aws:requesttag/",
    "aws:resourcetag/",
    "autoscaling:resourcetag/",
    "kms:encryptioncontext:",
    "elasticfilesystem:",
)
"""Families of keys of which a request that has one is told whole: another of the family it lacks for sure."""

_NEVER: Final = frozenset(
    {"sts:externalid", "s3:x-amz-server-side-encryption", "s3:x-amz-server-side-encryption-aws-kms-key-id"}
)
"""Keys that a request of a service or a plain client lacks unless it is told to send them."""


def unfilled(request: Request, asked: Asked) -> str:
    """The first such key in a statement that would decide otherwise; empty where none does."""
    about = list(_about(request, asked))
    denying = [statement for statement in about if not statement.allows and statement.covers(request)]
    keys = [_unfilled_in(statement, request) for statement in denying or about if denying or statement.allows]
    return "" if denying and not all(keys) else next(filter(None, keys), "")


def _unfilled_in(statement: Statement, request: Request) -> str:
    """The first such key of a statement whose other conditions hold; where one does not, no key helps."""
    found = ""
    filled: dict[str, dict[str, Any]] = {}
    for operator in mapping_at(statement.raw, "Condition"):
        for key, value in mapping_at(statement.raw, "Condition", operator).items():
            if key.lower() in request.context or _lacked_for_sure(key.lower(), request):
                filled.setdefault(operator, {})[key] = value
            else:
                found = found or str(key)
    rest = {"Condition": filled}
    return found if holds(rest, request.context, variables=statement.variables) else ""


def _about(request: Request, asked: Asked) -> Iterable[Statement]:
    own = (*(asked.identity or ()), *(asked.boundary or ()))
    for documents, principals in (
        (own, False),
        ((*asked.resource, *((asked.endpoint,) if asked.endpoint else ())), True),
    ):
        for document in documents:
            for statement in document.statements:
                if (not principals or statement.names(request.caller) != "no") and statement.is_about(request):
                    yield statement


def _lacked_for_sure(key: str, request: Request) -> bool:
    if key in _NEVER:
        return True
    return any(key.startswith(family) and any(told.startswith(family) for told in request.context) for family in _WHOLE)
