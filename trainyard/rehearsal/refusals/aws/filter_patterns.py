"""Patterns of CloudWatch Logs: which lines a metric counts, or a subscription sends on.

Sources: CloudWatch Logs User Guide, "Filter pattern syntax for metric filters, subscription filters, filter log events,
and Live Tail"; what the service answers: "If a filter pattern starts with '{' it must end with '}'" (awslogs issue
210), "The specified filter pattern does not support dimensions" (terraform-provider-aws issue 28881) (read 2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.types import LOG_METRIC_FILTER, LOG_SUBSCRIPTION_FILTER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

RULE: Final = "log-filter-pattern"
_PATTERNS: Final = {LOG_METRIC_FILTER: "pattern", LOG_SUBSCRIPTION_FILTER: "filterPattern"}
_ENDS: Final = {"{": "}", "[": "]"}
_KEPT: Final = re.compile(r'"(?:\\.|[^"\\])*"|%[^%]*%|\[\s*\'[^\']*\'\s*\]')
"""What stands for itself: a text, a regular expression, and a key in brackets."""
_STANDS: Final = "k"
_SINGLE: Final = re.compile(r"(?<![&|])([&|])(?![&|])")
_WORD: Final = re.compile(r"\s(AND|OR)\s", re.IGNORECASE)
_PARTS: Final = re.compile(r"&&|\|\||[()]")
_TERM: Final = re.compile(
    r"\$[^\s=<>!]*(?:\s*(?:!=|>=|<=|=|<|>)\s*[^\s=<>!].*|\s+(?:IS\s+(?:NOT\s+)?\w+|(?:NOT\s+)?EXISTS))",
    re.IGNORECASE | re.DOTALL,
)


def pattern(view: View) -> None:
    """A pattern of JSON that reads as one, and dimensions from a pattern that has fields."""
    key = _PATTERNS[view.type]
    text = (view.text(key) or "").strip()
    end = _ENDS.get(text[:1])
    if end is None:
        if text and view.mapping("metricTransformation.dimensions"):
            view.error(RULE, key, f"got {show(text)}, which has no fields that dimensions are taken of",
                       allowed="a pattern in {} or []")  # fmt: skip
    elif not text.endswith(end):
        view.error(RULE, key, f"begins with {text[0]} and does not end with {end}", allowed=end)
    elif end == "}" and (wrong := wrong_in_json(text[1:-1])):
        view.error(RULE, key, wrong, allowed='terms like $.key = "text", with && and || between them')


def wrong_in_json(text: str) -> str:
    """What is wrong with what stands in the braces of a pattern for JSON, as far as it is sure; "" for nothing."""
    bare = _KEPT.sub(_STANDS, text)
    if found := _SINGLE.search(bare):
        return f"has a single {found[1]}"
    if bare.count("(") != bare.count(")"):
        return "has a parenthesis without its other"
    if "'" in bare:
        return "has text in single quotes"
    if found := _WORD.search(bare):
        return f"has the word {found[1]}"
    for term in filter(None, map(str.strip, _PARTS.split(bare))):
        if not term.startswith(("$", "!")):
            return f"has a term that begins with no $: {show(term)}"
        if term.startswith("$") and not _TERM.fullmatch(term):
            return f"has a term that compares nothing: {show(term)}"
    return ""


RULES: Final[Rules] = {pattern: tuple(_PATTERNS)}
