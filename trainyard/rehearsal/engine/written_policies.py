"""The document that the data source `aws.iam.getPolicyDocument` writes of its arguments.

Source: terraform-provider-aws, internal/service/iam/policy_document_data_source.go and policy_model.go (v6, 2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.rehearsal.engine import synthesised
from trainyard.rehearsal.engine.wire import LOOKED_UP

_LISTS: Final = (
    ("actions", "Action"),
    ("notActions", "NotAction"),
    ("resources", "Resource"),
    ("notResources", "NotResource"),
)


def policy_document(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result: what is written, upon what it builds on, under what overrides it, by the ids of statements. A
    text that may be any where something in it is unknown, which a call that waits for nothing may have in a preview."""
    version = str(arguments.get("version") or "2012-10-17")
    statements: list[dict[str, Any]] = []
    for text in arguments.get("sourcePolicyDocuments") or []:
        statements += _read(text)
    _put(statements, [_statement(given, version) for given in arguments.get("statements") or []])
    for text in arguments.get("overridePolicyDocuments") or []:
        _put(statements, _read(text))
    named = {"Id": arguments["policyId"]} if arguments.get("policyId") else {}
    if has_unknown(statements):
        return dict.fromkeys(("json", "minifiedJson", "id"), f"{LOOKED_UP}-{synthesised.digest(repr(statements))[:8]}")
    text = json.dumps({"Version": version, **named, "Statement": statements})
    return {"json": text, "minifiedJson": text, "id": synthesised.digest(text)[:10]}


def _read(text: Any) -> list[dict[str, Any]]:
    """The statements of a document; none of one that is not there or cannot be read."""
    try:
        document = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return []
    found = document.get("Statement", []) if isinstance(document, dict) else []
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]


def _put(statements: list[dict[str, Any]], more: Iterable[dict[str, Any]]) -> None:
    """Adds statements; one with an id takes the place of that with the same id."""
    for one in more:
        sid = one.get("Sid")
        place = next((at for at, other in enumerate(statements) if sid and other.get("Sid") == sid), None)
        if place is None:
            statements.append(one)
        else:
            statements[place] = one


def _statement(given: Mapping[str, Any], version: str) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": given.get("effect", "Allow")}
    if given.get("sid"):
        statement["Sid"] = given["sid"]
    for key, wire in _LISTS:
        if given.get(key):
            statement[wire] = _alone(_with_variables(given[key], version))
    for key, wire in (("principals", "Principal"), ("notPrincipals", "NotPrincipal")):
        if given.get(key):
            statement[wire] = _principals(given[key], version)
    conditions: dict[str, dict[str, list[Any]]] = {}
    for condition in given.get("conditions") or []:
        of_test = conditions.setdefault(condition["test"], {})
        of_test.setdefault(condition["variable"], []).extend(_with_variables(condition["values"], version))
    if conditions:
        statement["Condition"] = {
            test: {variable: _alone(values) for variable, values in of_test.items()}
            for test, of_test in conditions.items()
        }
    return statement


def _principals(given: Any, version: str) -> Any:
    """Principals by their types; everybody is a text, which a trust policy does not take in any other way."""
    found: dict[str, list[Any]] = {}
    for who in given:
        found.setdefault(who["type"], []).extend(_with_variables(who["identifiers"], version))
    return "*" if found == {"*": ["*"]} else {kind: _alone(values) for kind, values in found.items()}


def _alone(values: list[Any]) -> Any:
    """A value that is alone is written without its list."""
    return values[0] if len(values) == 1 else values


def _with_variables(values: list[Any], version: str) -> list[Any]:
    """Texts with IAM's variables, for which the arguments write `&{...}`."""
    if version == "2008-10-17":
        return values
    return [one.replace("&{", "${") if isinstance(one, str) else one for one in values]
