"""The `Condition` element of IAM policies.

Rules and their source (IAM User Guide, "IAM JSON policy elements: Condition operators", "Conditions with multiple
context keys or values" and "Single-valued vs. multivalued context keys", read 2026-11): operators are joined by AND,
keys by AND, values by OR, values of a negated operator by NOR. A key that the request lacks fails an operator, but a
negated one, one with `…IfExists`, and `ForAllValues:`.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from trainyard.recorded.read import as_number, list_at, mapping_at
from trainyard.rehearsal.works.rights.aws.patterns import Values, matches

OPERATOR: Final = re.compile(
    r"(?:(?P<set>ForAllValues|ForAnyValue):)?(?P<base>[A-Za-z]+?)(?P<if_exists>IfExists)?", re.IGNORECASE
)
_FAMILY: Final = re.compile(
    r"(?P<kind>string|numeric|date|arn|bool|binary|ipaddress|notipaddress|null)"
    r"(?P<not>not)?(?P<how>equalsignorecase|equals|like|lessthanequals|lessthan|greaterthanequals|greaterthan)?"
)


class UnknownOperator(Exception):  # noqa: N818 (says what it is; IAM refuses such a policy before it is asked)
    """A condition operator that IAM does not have."""


def holds(statement: Mapping[str, Any], context: Values, *, variables: bool) -> bool:
    """Whether all conditions of a statement hold for a request. Raises `UnknownOperator`."""
    return all(
        _test(operator, [_text(value) for value in list_at(keys, key)], context, key, variables)
        for operator, keys in mapping_at(statement, "Condition").items()
        for key in mapping_at(keys)
    )


def _test(operator: str, wanted: list[str], context: Values, key: str, variables: bool) -> bool:
    parts, family = _read(operator)
    if parts is None or family is None:
        raise UnknownOperator(operator)
    given = context.get(key.lower())
    if family["kind"] == "null":
        return any((given is None) == (text.lower() == "true") for text in wanted)
    negated = bool(family["not"]) or family["kind"] == "notipaddress"
    if given is None or not given:
        return bool(parts["if_exists"]) or _without_a_value(parts["set"], negated)
    compare = _comparison(family, context, variables)

    def fits(value: str) -> bool:
        return any(compare(text, value) for text in wanted) != negated

    return all(map(fits, given)) if _asks_all(parts["set"], negated) else any(map(fits, given))


@lru_cache(maxsize=256)
def _read(operator: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """The parts of an operator, and what it compares."""
    parts = OPERATOR.fullmatch(operator)
    return parts, _FAMILY.fullmatch(parts["base"].lower() if parts else "")


def _without_a_value(of_a_set: str | None, negated: bool) -> bool:
    if of_a_set is not None:
        return of_a_set.lower() == "forallvalues"
    return negated


def _asks_all(of_a_set: str | None, negated: bool) -> bool:
    """Whether every value of the request has to fit. Without a set operator one value is expected."""
    return of_a_set.lower() == "forallvalues" if of_a_set else negated


def _comparison(family: re.Match[str], context: Values, variables: bool) -> Callable[[str, str], bool]:
    kind, how = family["kind"], family["how"] or ""
    if kind == "string":
        ignore_case = how == "equalsignorecase"
        mode = "like" if how == "like" else "exact"
        return lambda wanted, given: matches(
            wanted,
            given,
            context,
            "like" if mode == "like" else "exact",
            variables=variables,
            ignore_case=ignore_case,
        )
    if kind == "arn":
        return lambda wanted, given: wanted == "*" or matches(wanted, given, context, "arn", variables=variables)
    if kind == "bool":
        return lambda wanted, given: wanted.lower() == given.lower()
    if kind in ("ipaddress", "notipaddress"):
        return _in_network
    if kind == "numeric":
        return lambda wanted, given: _ordered(as_number(wanted), as_number(given), how)
    if kind == "date":
        return lambda wanted, given: _ordered(_moment(wanted), _moment(given), how)
    return lambda wanted, given: wanted == given  # binary: both are base64


def _ordered(wanted: float | None, given: float | None, how: str) -> bool:
    if wanted is None or given is None:
        return False
    return {
        "equals": given == wanted,
        "lessthan": given < wanted,
        "lessthanequals": given <= wanted,
        "greaterthan": given > wanted,
        "greaterthanequals": given >= wanted,
    }.get(how, False)


def _moment(text: str) -> float | None:
    seconds = as_number(text)
    if seconds is not None:
        return seconds
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _in_network(wanted: str, given: str) -> bool:
    try:
        return ipaddress.ip_address(given) in ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        return False


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
