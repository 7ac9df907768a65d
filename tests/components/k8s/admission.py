"""Evaluates an admission policy as the API server does: variables in order, then every validation."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import Any

import cel

_QUANTITY = re.compile(r"([0-9.]+)([A-Za-z]*)")
_UNITS = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNITS |= {f"{unit}i": 2.0 ** (10 * power) for power, unit in enumerate("KMGTP", start=1)}

JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"


def _quantity(text: str) -> float:
    found = _QUANTITY.fullmatch(text)
    assert found, f"{text!r} is no quantity"
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class Request:
    """What the API server tells a policy besides the object."""

    username: str = JOB_CONTROLLER
    operation: str = "CREATE"
    old: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)


def refusals(policy: Any, item: dict[str, Any] | None, username: str = JOB_CONTROLLER, **request: Any) -> list[str]:
    """The messages of the validations that an object fails. `policy` is the spec, in either spelling of its keys.

    `request` are fields of a `Request`. None are found where the policy does not judge such a request.
    """
    asked = Request(username, **request)
    rules = policy.get("match_constraints", policy.get("matchConstraints"))
    operations = {
        operation
        for rule in rules.get("resource_rules", rules.get("resourceRules"))
        for operation in rule["operations"]
    }
    context = _context(item, asked)
    conditions = policy.get("match_conditions", policy.get("matchConditions", []))
    if asked.operation not in operations or not all(_evaluate(c["expression"], context) for c in conditions):
        return []
    variables: dict[str, Any] = {}
    for variable in policy.get("variables", []):
        variables[variable["name"]] = _evaluate(variable["expression"], context)
        context.add_variable("variables", dict(variables))
    return [
        validation["message"]
        for validation in policy["validations"]
        if not _evaluate(validation["expression"], context)
    ]


def _context(item: dict[str, Any] | None, asked: Request) -> cel.Context:
    """What every expression about an object sees; variables come to it one by one."""
    context = cel.Context()
    context.add_variable("object", item)
    context.add_variable("oldObject", asked.old)
    context.add_variable("variables", {})
    request = {"userInfo": {"username": asked.username}, "operation": asked.operation, "options": asked.options}
    context.add_variable("request", request)
    # Libraries of the API server's that the evaluator does not have.
    context.add_function("quantity", _quantity)
    context.add_function("asApproximateFloat", float)
    context.add_function("sum", lambda numbers: float(sum(numbers)))
    context.add_function("max", max)
    context.add_function("dyn", lambda value: value)
    return context


def _evaluate(expression: str, context: cel.Context) -> Any:
    return _compiled(expression).execute(context)


_compiled = functools.lru_cache(maxsize=None)(cel.compile)
"""The expressions of a policy are asked of many objects."""
