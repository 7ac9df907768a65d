"""Policy documents and the statements in them, asked about one request.

Sources (IAM User Guide, read 2026-11): "IAM JSON policy elements: Principal", "NotPrincipal", "NotAction",
"NotResource".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.recorded.policy_documents import document
from trainyard.recorded.read import is_set, list_at, mapping_at, mappings_at, value_at
from trainyard.rehearsal.works.rights.aws.callers import Caller, account_of
from trainyard.rehearsal.works.rights.aws.conditions import holds
from trainyard.rehearsal.works.rights.aws.patterns import Values, names_action, names_resource

Named = Literal["no", "account", "principal"]
"""How a statement names a caller: not at all, by leaving it to the caller's account, or itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to AWS. `context` has its keys in lower case."""

    caller: Caller
    action: str
    resource: str  # an ARN, or `*` for an action that knows none
    context: Values

    def __str__(self) -> str:
        """The request in words."""
        return f"{self.action} on {self.resource}"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a document, with what it needs to be asked and told."""

    raw: Mapping[str, Any]
    place: str  # "statement Read of the policy of role trainer"
    urn: str
    variables: bool
    allows: bool  # else it denies
    actions: tuple[str, ...]
    all_but_actions: bool  # whether it is about every other action
    resources: tuple[str, ...]  # none in a trust policy: it is about its role
    all_but_resources: bool  # whether it is about every other resource

    def covers(self, request: Request) -> bool:
        """Whether it is about what a request does, to what, and under which conditions; not: by whom."""
        return self.is_about(request) and self.conditions_hold(request)

    def is_about(self, request: Request) -> bool:
        """Whether it is about what a request does and to what, whatever its conditions say."""
        return self._is_about_action(request) and self._is_about_resource(request)

    def names(self, caller: Caller) -> Named:
        """How it names a caller, for a policy that has principals."""
        if is_set(self.raw, "NotPrincipal"):
            return "no" if _named_in(self.raw, "NotPrincipal", caller) != "no" else "principal"
        return _named_in(self.raw, "Principal", caller)

    def _is_about_action(self, request: Request) -> bool:
        return any(names_action(text, request.action) for text in self.actions) != self.all_but_actions

    def _is_about_resource(self, request: Request) -> bool:
        if not self.resources and not self.all_but_resources:
            return True
        found = any(
            names_resource(text, request.resource, request.context, variables=self.variables) for text in self.resources
        )
        return found != self.all_but_resources

    def conditions_hold(self, request: Request) -> bool:
        """Whether its conditions are met by a request that it is about. Raises `UnknownOperator`."""
        return holds(self.raw, request.context, variables=self.variables)


@dataclass(frozen=True, slots=True)
class Document:
    """A policy document: where it is, and its statements."""

    what: str  # "the policy of role trainer"
    urn: str
    statements: tuple[Statement, ...]

    def denying(self, request: Request, *, principals: bool) -> Statement | None:
        """The first statement that denies a request."""
        return next(self._about(request, allows=False, principals=principals), None)

    def allowing(self, request: Request, *, principals: bool) -> Statement | None:
        """The first statement that allows a request, by the principal itself where there is one."""
        found = list(self._about(request, allows=True, principals=principals))
        direct = (statement for statement in found if principals and statement.names(request.caller) == "principal")
        return next(direct, found[0] if found else None)

    def _about(self, request: Request, *, allows: bool, principals: bool) -> Iterator[Statement]:
        for statement in self.statements:
            if (
                statement.allows == allows
                and statement.is_about(request)  # asked first: few are, and it takes least
                and (not principals or statement.names(request.caller) != "no")
                and statement.conditions_hold(request)
            ):
                yield statement


def read_document(inputs: Any, *path: str | int, what: str, urn: str = "") -> Document:
    """The document at `path` of some inputs; without statements where there is none. Raises `UnknownInput`."""
    found = document(inputs, *path)
    variables = value_at(found, "Version", default="2008-10-17") != "2008-10-17"
    return Document(
        what,
        urn,
        tuple(
            _statement(raw, f"statement {value_at(raw, 'Sid') or number} of {what}", urn, variables=variables)
            for number, raw in enumerate(mappings_at(found, "Statement"), start=1)
        ),
    )


def _statement(raw: Mapping[str, Any], place: str, urn: str, *, variables: bool) -> Statement:
    but_actions, but_resources = is_set(raw, "NotAction"), is_set(raw, "NotResource")
    return Statement(
        raw,
        place,
        urn,
        variables,
        bool(value_at(raw, "Effect") == "Allow"),
        tuple(map(str, list_at(raw, "NotAction" if but_actions else "Action"))),
        but_actions,
        tuple(map(str, list_at(raw, "NotResource" if but_resources else "Resource"))),
        but_resources,
    )


def _named_in(raw: Mapping[str, Any], key: str, caller: Caller) -> Named:
    if value_at(raw, key) == "*":
        return "principal"
    found: Named = "no"
    for kind in mapping_at(raw, key):
        for text in map(str, list_at(raw, key, kind)):
            if kind == "Service":
                named: Named = "principal" if caller.is_service and text == caller.arn else "no"
            elif text == "*":
                named = "no" if caller.is_service else "principal"
            elif account_of(text):
                named = "account" if account_of(text) == caller.account else "no"
            else:
                named = "principal" if text == caller.arn else "no"
            if named == "principal":
                return named
            found = named if named == "account" else found
    return found
