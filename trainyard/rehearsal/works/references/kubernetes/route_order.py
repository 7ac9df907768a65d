"""Routes of alerts that no alert gets to, because one before them takes it, and what the first of all may not have.

Sources: Alertmanager documentation, "Configuration", `route` (an alert goes to the first child that it matches, and no
further unless that one says `continue`); its config.go, v0.28 (`root route must not have any matchers`, `... mute time
intervals`, `duplicated label ... in group_by`, `notification config name ... is not unique`), as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.rehearsal.context import View, listed, show

_MATCHER: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(=~|!~|!=|=)\s*(\"(?:[^\"\\]|\\.)*\"|[^,}\"\s]*)\s*(?:,|$)")
_ESCAPED: Final = re.compile(r"\\([\\\"])")
_EVERYTHING: Final = (".*", "|.*", ".*|")
_OF_NO_ROOT: Final = ("matchers", "match", "match_re", "mute_time_intervals", "active_time_intervals")

Matcher = tuple[str, str, str]
"""Label, operator and value."""


def check(view: View, path: str, root: Any, receivers: Any) -> None:
    """The routes below `path`, whose receivers are `receivers`."""
    if not isinstance(root, Mapping):
        return
    for key in _OF_NO_ROOT:
        if root.get(key) and root[key] is not UNKNOWN:
            view.error(
                "reference-alert-route", f"{path}.{key}",
                "the first route is every alert's, and Alertmanager does not start with one that chooses",
                allowed="none there: a route below it",
            )  # fmt: skip
    names = [one.get("name") if isinstance(one, Mapping) else None for one in listed(receivers)]
    for index, name in enumerate(names):
        if isinstance(name, str) and names.index(name) < index:
            view.error(
                "reference-alert-route", f"{path.rpartition('.')[0]}.receivers[{index}].name",
                f"there is a receiver {show(name)} already: Alertmanager does not start", allowed="a name of its own",
            )  # fmt: skip
            break
    unreached(view, path, root)


def unreached(view: View, path: str, route: Any) -> None:
    """The routes below one, each against those beside it that come first."""
    if not isinstance(route, Mapping):
        return
    before: list[tuple[int, frozenset[Matcher], Mapping[str, Any]]] = []
    for index, one in enumerate(listed(route.get("routes"))):
        if not isinstance(one, Mapping):
            continue
        here, asked = f"{path}.routes[{index}]", _matchers(one)
        if asked is not None:
            first = next((found for found in before if _covers(found[1], asked)), None)
            if first is not None:
                words = f"every alert that it means is taken by routes[{first[0]}], which comes first and does not "
                told = _told(first[2]) == _told(one)
                (view.warning if told else view.error)(
                    "reference-alert-route", here, f"{words}continue: none gets here",
                    allowed=f"before routes[{first[0]}], or continue: true there",
                )  # fmt: skip
            if not one.get("continue"):
                before.append((index, asked, one))
        unreached(view, here, one)


def _told(route: Mapping[str, Any]) -> tuple[Any, Any]:
    return route.get("receiver"), route.get("routes")


def _matchers(route: Mapping[str, Any]) -> frozenset[Matcher] | None:
    """What a route asks of an alert, whichever way it is written; None where that cannot be read."""
    if has_unknown({key: route.get(key) for key in ("matchers", "match", "match_re", "continue")}):
        return None
    found: set[Matcher] = set()
    for key, operator in (("match", "="), ("match_re", "=~")):
        given = route.get(key) or {}
        if not isinstance(given, Mapping):
            return None
        found |= {(str(label), operator, str(value)) for label, value in given.items()}
    for one in listed(route.get("matchers")):
        if isinstance(one, Mapping):  # as an AlertmanagerConfig has them
            usual = "=~" if one.get("regex") else "="  # as one without `matchType` says it
            found.add((str(one.get("name")), str(one.get("matchType") or usual), str(one.get("value", ""))))
            continue
        read = list(_read(str(one)))
        if None in read:
            return None
        found |= {matcher for matcher in read if matcher is not None}
    return frozenset(found)


def _read(text: str) -> Iterator[Matcher | None]:
    text = text.strip().removeprefix("{").removesuffix("}").strip()
    at = 0
    while at < len(text):
        found = _MATCHER.match(text, at)
        if found is None:
            yield None
            return
        value = found[3]
        yield found[1], found[2], _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
        at = found.end()


def _covers(one: frozenset[Matcher], other: frozenset[Matcher]) -> bool:
    """Whether every alert that the other means is meant by the one."""
    return all(matcher in other or any(_follows(matcher, known) for known in other) or _always(matcher)
               for matcher in one)  # fmt: skip


def _always(matcher: Matcher) -> bool:
    return matcher[1] == "=~" and matcher[2] in _EVERYTHING


def _follows(matcher: Matcher, known: Matcher) -> bool:
    """Whether a matcher holds wherever a label is known to have a value."""
    label, operator, value = matcher
    if known[0] != label or known[1] != "=":
        return False
    if operator in ("=", "!="):
        return (known[2] == value) is (operator == "=")
    try:
        return (re.fullmatch(value, known[2]) is not None) is (operator == "=~")
    except re.error:  # an expression of Go's
        return False
