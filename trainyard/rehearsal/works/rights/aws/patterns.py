"""How IAM compares texts: `*` and `?`, policy variables, and ARNs by their parts.

Rules and their source (IAM User Guide, read 2026-11):

- "IAM JSON policy elements: Resource": a wildcard stays within its part of an ARN (the parts are apart by colons),
  but one that ends its part reaches beyond it.
- "IAM JSON policy elements: Condition operators", "ARN condition operators": each of the six parts is compared apart.
- "IAM policy elements: Variables and tags": a variable that the request lacks makes the comparison fail; a default may
  stand behind a comma; `${*}`, `${?}` and `${$}` are the characters; only policies of version 2012-10-17 have any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

Mode = Literal["exact", "like", "resource", "arn"]
Values = Mapping[str, tuple[str, ...]]
"""A request's context: keys in lower case, each with its values."""

_PARTS: Final = re.compile(r"\$\{(?P<variable>[^}]*)\}|(?P<wildcard>[*?])|(?P<text>[^*?$]+|\$)")
_DEFAULT: Final = re.compile(r"(?P<key>[^,]+?)\s*,\s*'(?P<default>[^']*)'")
_WILDCARD: Final = re.compile(r"[*?]")
_BEFORE_THE_RESOURCE: Final = 5  # colons of an ARN before its last part, which may have more of them


def matches(
    pattern: str, text: str, context: Values, mode: Mode, *, variables: bool = True, ignore_case: bool = False
) -> bool:
    """Whether a text of a policy means a text of a request."""
    asks = variables and "${" in pattern
    expression = _expression(pattern, context, mode) if asks else _without_variables(pattern, mode)
    return expression is not None and _compiled(expression, ignore_case).fullmatch(text) is not None


def names_resource(pattern: str, arn: str, context: Values, *, variables: bool = True) -> bool:
    """Whether an entry of `Resource` means an ARN."""
    if "$" not in pattern and not _WILDCARD.search(pattern[:-1]):  # most are plain, or a beginning
        if pattern.endswith("*"):
            return arn.startswith(pattern[:-1])
        if not pattern.endswith("?"):
            return pattern == arn
    return matches(pattern, arn, context, "resource", variables=variables)


@lru_cache(maxsize=16_384)
def names_action(pattern: str, action: str) -> bool:
    """Whether an entry of `Action` means an action: in any case, with wildcards, without variables."""
    if not _WILDCARD.search(pattern):
        return pattern.lower() == action.lower()
    return matches(pattern, action, {}, "like", variables=False, ignore_case=True)


@lru_cache(maxsize=8192)
def _compiled(expression: str, ignore_case: bool) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


@lru_cache(maxsize=8192)
def _without_variables(pattern: str, mode: Mode) -> str | None:
    return _expression(pattern, None, mode)


def _expression(pattern: str, context: Values | None, mode: Mode) -> str | None:
    """A regular expression; None where a variable is not in the request."""
    found, colons = [], 0
    for part in _PARTS.finditer(pattern):
        if part["wildcard"]:
            found.append(_wildcard(part["wildcard"], mode, colons, pattern[part.end() : part.end() + 1]))
        elif part["variable"] is not None:
            text = part[0] if context is None else _value(part["variable"], context)
            if text is None:
                return None
            found.append(re.escape(text))
        else:
            colons += part["text"].count(":")
            found.append(re.escape(part["text"]))
    return "".join(found)


def _wildcard(character: str, mode: Mode, colons: int, following: str) -> str:
    if mode == "exact":
        return re.escape(character)
    within = mode == "arn" or (mode == "resource" and following not in ("", ":"))
    any_character = "[^:]" if within and colons < _BEFORE_THE_RESOURCE else "."
    return any_character if character == "?" else f"{any_character}*"


def _value(variable: str, context: Values) -> str | None:
    if variable in ("*", "?", "$"):
        return variable
    default = _DEFAULT.fullmatch(variable.strip())
    values = context.get((default["key"] if default else variable).strip().lower(), ())
    if len(values) == 1:  # a key of several values can stand for none
        return values[0]
    return default["default"] if default and not values else None
