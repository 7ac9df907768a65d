"""What an admission policy says of a request, as the API server would have it.

Source: Kubernetes documentation, "Validating Admission Policy" (read 2026-11): the conditions first, which all have to
hold for it to judge; then every validation. What ends in an error is refused where the policy says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

from trainyard.recorded.read import mappings_at, value_at
from trainyard.rehearsal.works.rights.kubernetes.cel import CannotSay, Fails, evaluate, scope, texts

CREATE: Final = "CREATE"
_OF_A_NAMESPACE: Final = re.compile(r"namespaceObject|request\.(namespace|userInfo\.groups)|metadata\.namespace")


@dataclass(frozen=True, slots=True)
class Request:
    """What the API server tells a policy."""

    item: Mapping[str, Any] | None  # None: a deletion
    user: str
    groups: Sequence[str] = ()
    operation: str = CREATE
    old: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict)  # of the namespace

    def told(self) -> dict[str, Any]:
        """The variables of an expression."""
        user = {"username": self.user, "groups": list(self.groups)}
        item = self.item or self.old or {}
        name = str((item.get("metadata") or {}).get("name", ""))
        request = {"userInfo": user, "operation": self.operation, "options": self.options}
        place = {"metadata": {"name": self.namespace, "labels": dict(self.labels)}}
        return {
            "object": self.item,
            "oldObject": self.old,
            "request": {**request, "namespace": self.namespace, "name": name, "dryRun": False},
            "namespaceObject": place,
        }


class Judge:
    """The expressions of one policy."""

    def __init__(self, spec: Any) -> None:
        self._conditions = _expressions(spec, "matchConditions")
        self._variables = [
            (str(value_at(one, "name")), str(value_at(one, "expression", default="")))
            for one in mappings_at(spec, "variables")
        ]
        self._validations = _expressions(spec, "validations")
        self.ignores_failures = value_at(spec, "failurePolicy", default="Fail") != "Fail"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All of its expressions."""
        return (*self._conditions, *(text for _, text in self._variables), *self._validations)

    @cached_property
    def literals(self) -> frozenset[str]:
        """The texts in its expressions."""
        return frozenset(texts(self.texts))

    def tells_apart(self, namespace: str) -> bool:
        """Whether its answer may be another one in this namespace than elsewhere."""
        return self._is_of_a_namespace or any(namespace in text for text in self.texts)

    @cached_property
    def _is_of_a_namespace(self) -> bool:
        return any(map(_OF_A_NAMESPACE.search, self.texts))

    def refuses(self, request: Request, params: Any = None) -> bool | None:
        """Whether it refuses a request; None where that cannot be said. `params` None: none that are known."""
        asked = _Asked(scope_of(request, params))
        conditions = set()
        for text in self._conditions:
            outcome = asked.outcome(text)
            if outcome is False:
                return False
            conditions.add(outcome)
        if Fails in conditions:
            return not self.ignores_failures
        if CannotSay in conditions:
            return None
        for name, text in self._variables:
            asked.keep(name, text)
        refusing = {False} if self.ignores_failures else {False, Fails}
        unknown = False
        for text in self._validations:  # the first that refuses is enough
            outcome = asked.outcome(text)
            if outcome in refusing:
                return True
            unknown = unknown or outcome is CannotSay
        return None if unknown else False

    def denies(self, told: Any) -> bool:
        """Whether a validation is plainly false; one that ends in an error may read a field that has a default.

        `told`: what an expression may name of the request (`scope_of`), which serves every policy that is asked.
        """
        asked = _Asked(told)
        if not all(asked.outcome(text) is True for text in self._conditions):
            return False
        for name, text in self._variables:
            asked.keep(name, text)
        return any(asked.outcome(text) is False for text in self._validations)


Outcome = bool | type[Exception]


def scope_of(request: Request, params: Any = None) -> Any:
    """What an expression may name of a request. `params` None: none that are known."""
    return scope({**request.told(), **({} if params is None else {"params": params})})


class _Asked:
    """One request to one policy, and what has been worked out about it."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._values: dict[str, Any] = {}
        self._hidden: set[str] = set()  # variables of which nothing can be said
        self._told: Mapping[str, Any] | None = None  # the variables that the context knows; None: another policy's

    def keep(self, name: str, text: str) -> None:
        """Works a variable out. One that ends in an error is not there, which is an error of whoever reads it."""
        if name in self._values:  # of the same name as one before
            self._told = None
        try:
            self._values[name] = self._value(text)
        except Fails:
            return
        except CannotSay:
            self._hidden.add(name)

    def outcome(self, text: str) -> Outcome:
        """Whether an expression holds, or why it has no value."""
        try:
            return bool(self._value(text))
        except (Fails, CannotSay) as error:
            return type(error)

    def _value(self, text: str) -> Any:
        if any(re.search(rf"\bvariables\.{re.escape(name)}\b", text) for name in self._hidden):
            raise CannotSay(text)
        if (
            "variables" in text
        ):  # told of those that it names: a pod's whole specification takes longer than to judge it
            names = _named(text)
            told = {name: value for name, value in self._values.items() if names is None or name in names}
            if self._told is None or self._told.keys() != told.keys():
                self._context.add_variable("variables", told)
                self._told = told
        return evaluate(text, self._context)


_VARIABLE: Final = re.compile(r"\bvariables\b(?:\.([A-Za-z_]\w*))?")


@lru_cache(maxsize=4096)
def _named(text: str) -> frozenset[str] | None:
    """The variables that an expression names; None where it may read any of them."""
    found = _VARIABLE.findall(text)
    return frozenset(found) if all(found) else None


def _expressions(spec: Any, key: str) -> list[str]:
    return [str(value_at(one, "expression", default="")) for one in mappings_at(spec, key)]
