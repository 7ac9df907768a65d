"""Who is let in by a statement of an IAM policy document, and which networks are the internet."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from trainyard.recorded.read import is_set, list_at, mapping_at, value_at

NARROWING = re.compile(
    r"aws:(Source(Arn|Account|Ip|Vpc|Vpce|OrgID|OrgPaths|Owner)|Principal(Arn|Account|OrgID|OrgPaths)|userId)"
    r"|s3:DataAccessPoint(Arn|Account)|kms:CallerAccount|elasticfilesystem:AccessedViaMountTarget",
    re.IGNORECASE,
)
"""Condition keys that say who may come: those with which S3 itself does not take a statement as public (S3 user guide),
KMS's own for the caller's account, and EFS's for who is in the network."""

_OPERATOR = re.compile(r"(ForAnyValue:)?(StringEquals(IgnoreCase)?|StringLike|ArnEquals|ArnLike|IpAddress|Bool)")
"""Operators that hold for what is named, and only where the request says it: no `…Not…`, no `…IfExists`, and no
`ForAllValues:`, which holds for a request that says nothing."""

_ACCOUNT = re.compile(r"[0-9]{12}")
_ARN = re.compile(r"arn:[^:]*:[^:]*:[^:]*:(?P<account>[^:]*):(?P<rest>.*)")


def internet(network: Any) -> bool:
    """Whether a CIDR is the internet or a large part of it: wider than a /8 (IPv4) or a /16 (IPv6).

    Two halves of everything are everything; 10.0.0.0/8 is the widest network that anybody has at home.
    """
    try:
        found = ipaddress.ip_network(str(network), strict=False)
    except ValueError:
        return False
    return found.prefixlen < (8 if found.version == 4 else 16)


def everybody(statement: Any) -> bool:
    """Whether a statement is about everybody, with an account or without one."""
    principal = value_at(statement, "Principal")
    return principal == "*" or any("*" in list_at(principal, kind) for kind in mapping_at(statement, "Principal"))


def lets_everybody_in(statement: Any) -> bool:
    """Whether a statement allows something to everybody, or to all but some, and no condition says who may come."""
    allows = value_at(statement, "Effect") == "Allow"
    return allows and (everybody(statement) or is_set(statement, "NotPrincipal")) and not narrowed(statement)


def narrowed(statement: Any) -> bool:
    """Whether a condition names who may come; one on TLS or on the request lets everybody in still."""
    return any(
        NARROWING.fullmatch(key) and values and not any(map(_broad, values))
        for operator, test in mapping_at(statement, "Condition").items()
        if _OPERATOR.fullmatch(operator)
        for key, values in ((key, list_at(test, key)) for key in mapping_at(test))
    )


def _broad(value: Any) -> bool:
    """Whether a condition's value is met by anybody: nothing but wildcards, any account, or the internet."""
    text = str(value)
    arn = _ARN.fullmatch(text)
    anything = not text.strip("*?") or text.lower() == "false"
    return anything or internet(text) or (arn is not None and ("*" in arn["account"] or not arn["rest"].strip("*?")))


def named_accounts(statement: Any) -> Iterator[tuple[str, str]]:
    """Every principal of a statement that names an account, with it: a root, a bare account, a role, a user."""
    for principal in list_at(statement, "Principal", "AWS") if mapping_at(statement, "Principal") else ():
        account = account_of(str(principal))
        if account:
            yield account, str(principal)


def account_of(principal: str) -> str:
    """The account of a principal; empty where it names none, or any."""
    arn = _ARN.fullmatch(principal)
    account = arn["account"] if arn else principal
    return account if _ACCOUNT.fullmatch(account) else ""


def whole_account(principal: str) -> bool:
    """Whether a principal is whoever that account lets use it, rather than one role or user."""
    return principal.endswith((":root", ":*")) or bool(_ACCOUNT.fullmatch(principal))


DELIVERS = (
    "cloudtrail.amazonaws.com",
    "config.amazonaws.com",
    "logging.s3.amazonaws.com",
    "delivery.logs.amazonaws.com",
)
"""Services that write into a bucket whose name somebody gave them, of any account (IAM user guide, "The confused deputy
problem", as generally known, 2026-11)."""


def names_source(statement: Any) -> bool:
    """Whether a condition names the account, the organisation or the thing that a service acts for."""
    tests = mapping_at(statement, "Condition").values()
    return any(key.lower().startswith("aws:source") for test in tests for key in mapping_at(test))
