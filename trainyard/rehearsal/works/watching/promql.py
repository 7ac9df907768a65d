"""What an expression of PromQL asks for: metrics, the labels that it compares, and those that it groups by.

Source: Prometheus documentation, "Querying basics" and "Operators" (v3, 2026-11). Nothing is evaluated; what is not
understood is left out. Variables of Grafana (`$team`, `${team}`) stand for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_TOKEN: Final = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|\$\{[^}]*\}|\$\w+|\[\[\w+\]\]|[a-zA-Z_:][\w:]*|\d[\w.]*|=~|!~|!=|==|>=|<=|#.*|\S"
)
_GROUPINGS: Final = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
_WORDS: Final = _GROUPINGS | {"and", "or", "unless", "bool", "offset", "atan2", "inf", "nan", "start", "end"}
_OPERATORS: Final = frozenset({"=", "!=", "=~", "!~"})


@dataclass(frozen=True, slots=True)
class Matcher:
    """A label that a selector compares."""

    label: str
    operator: str
    value: str  # without its quotes


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric that is asked for."""

    metric: str
    matchers: tuple[Matcher, ...]
    grouped_by: tuple[str, ...] = ()  # of the aggregation that has nothing but this selector in it


def tokens(expression: str) -> tuple[str, ...]:
    """The words of an expression, without what is said of it."""
    return tuple(one for one in _TOKEN.findall(expression) if not one.startswith("#"))


@lru_cache(maxsize=1024)
def selectors(expression: str) -> tuple[Selector, ...]:
    """Every metric that an expression asks for."""
    words = tokens(expression)
    found: list[tuple[int, int, Selector]] = []
    index = 0
    while index < len(words):
        word = words[index]
        after = words[index + 1] if index + 1 < len(words) else ""
        if word.lower() in _GROUPINGS and after == "(":
            index = closed(words, index + 1) + 1
        elif word == "[" or (word == "{" and not found):
            index = closed(words, index) + 1
        elif _is_metric(word, after):
            end = index + 1
            matchers: tuple[Matcher, ...] = ()
            if after == "{":
                end = closed(words, index + 1) + 1
                matchers = tuple(_matchers(words[index + 2 : end - 1]))
            found.append((index, end, Selector(word, matchers)))
            index = end
        elif word == "{":
            index = closed(words, index) + 1
        else:
            index += 1
    return tuple(
        Selector(one.metric, one.matchers, _grouping(words, start, end, [place for place, _, _ in found]))
        for start, end, one in found
    )


def _is_metric(word: str, after: str) -> bool:
    return (
        re.fullmatch(r"[a-zA-Z_:][\w:]*", word) is not None
        and after != "("
        and word.lower() not in _WORDS
        and not (after.lower() in ("by", "without") or word.startswith("__"))
    )


def closed(tokens: Sequence[str], start: int) -> int:
    """Where the bracket that opens at `start` is closed."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    opens, closes, depth = tokens[start], pairs[tokens[start]], 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] == opens) - (tokens[index] == closes)
        if depth == 0:
            return index
    return len(tokens) - 1


def _matchers(tokens: Sequence[str]) -> Iterator[Matcher]:
    for label, operator, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if operator in _OPERATORS and value[:1] in "\"'`":
            yield Matcher(label, operator, value[1:-1])


def _grouping(tokens: Sequence[str], start: int, end: int, places: Sequence[int]) -> tuple[str, ...]:
    """The labels of `sum by (a) (metric)`, also behind functions such as `rate`, where only this metric is inside."""
    low, high = start, end - 1
    while low > 0 and high + 1 < len(tokens):
        if tokens[high + 1] == "[":
            high = closed(tokens, high + 1)
            continue
        if tokens[low - 1] != "(" or tokens[high + 1] != ")":
            return ()
        low, high = low - 1, high + 1
        if any(low < place < high and place != start for place in places) or low == 0:
            return ()
        before = tokens[low - 1]
        if before == ")":
            opened = _opened(tokens, low - 1)
            return _names(tokens[opened + 1 : low - 1]) if opened and tokens[opened - 1].lower() == "by" else ()
        if high + 2 < len(tokens) and tokens[high + 1].lower() == "by" and tokens[high + 2] == "(":
            return _names(tokens[high + 3 : closed(tokens, high + 2)])
        if before.startswith("label_") or re.fullmatch(r"[a-z_]\w*", before) is None:
            return ()
        low -= 1
    return ()


def _opened(tokens: Sequence[str], end: int) -> int:
    depth = 0
    for index in range(end, -1, -1):
        depth += (tokens[index] == ")") - (tokens[index] == "(")
        if depth == 0:
            return index
    return 0


def _names(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in tokens if re.fullmatch(r"[a-zA-Z_]\w*", one))
